"""Three decoders, of which some let a position use later ones (lesson 04).

Their parameters are random: no training is needed to see which of them leak.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.attention import scaled_scores
from course_lib.masks import causal_mask, masked_softmax


@dataclass(frozen=True)
class DecoderVariant:
    """One block of a decoder: attention through a mask, then a normalisation.

    offset : that of the causal mask; 0 is right
    norm_axis : along which axis numbers are normalised: −1 means each token by itself,
        0 means each number over all tokens
    """

    offset: int
    norm_axis: int

    def weights(self, x: np.ndarray) -> np.ndarray:
        """Return the attention weights (n, n) for tokens x (n, d_model)."""
        w_q, w_k, _ = self._parameters(x.shape[-1])
        may_attend = causal_mask(len(x), len(x), self.offset)
        return masked_softmax(scaled_scores(x @ w_q, x @ w_k), may_attend)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Turn tokens (n, d_model) into as many of the same size."""
        x = x + self.weights(x) @ (x @ self._parameters(x.shape[-1])[2])
        centred = x - x.mean(axis=self.norm_axis, keepdims=True)
        return centred / x.std(axis=self.norm_axis, keepdims=True)

    @staticmethod
    def _parameters(d_model: int) -> np.ndarray:
        """Draw w_q, w_k and w_v (3, d_model, d_model), the same at every call."""
        rng = np.random.default_rng(4)
        return rng.normal(size=(3, d_model, d_model)) / np.sqrt(d_model)


DECODER_VARIANTS = {
    "A": DecoderVariant(0, -1),
    "B": DecoderVariant(1, -1),
    "C": DecoderVariant(0, 0),
}
