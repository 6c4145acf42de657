"""Windows of a text: what a language model reads in each step.

The counterpart of ``PairData`` in ``course_lib.nn.training.batches``.
"""

from collections.abc import Sequence

import numpy as np
import torch

from course_lib.nn import arguments
from course_lib.nn.language_data import language_model_batch
from course_lib.nn.training.batches import shard
from course_lib.nn.training.distributed import ProcessGroup
from course_lib.nn.training.loop import Batch, TrainingConfig


class WindowData:
    """A text to be trained on, in windows at random positions: a ``TrainingData``.

    The positions of a step are drawn from the seed and the step. An epoch is as many
    steps as it takes to read as many tokens as the text has; some are read twice then,
    others not at all.

    ignore_index : PyTorch's mark for a position without a target, no token's id
    """

    ignore_index = -100

    def __init__(self, token_ids: Sequence[int], length: int) -> None:
        """Prepare windows of a text.

        token_ids : the text
        length : how many tokens a window has: the model's context

        Raises ``ValueError`` if the text is too short for one window.
        """
        arguments.whole(1, length=length)
        if len(token_ids) <= length:
            raise ValueError(
                f"a window of {length} tokens and the one behind it need {length + 1} "
                f"tokens, and the text has {len(token_ids)}"
            )
        self._token_ids = torch.tensor(token_ids, dtype=torch.long)
        self._length = length

    def batches_per_epoch(self, config: TrainingConfig) -> int:
        """Return in how many batches as many tokens are read as the text has."""
        n_tokens = self._n_windows(config) * self._length
        return max(1, len(self._token_ids) // n_tokens)

    def batch(self, step: int, config: TrainingConfig, group: ProcessGroup) -> Batch:
        """Return this process's shard of the batch of a step."""
        n_windows = self._n_windows(config)
        rng = np.random.default_rng((config.seed, step))
        starts = rng.integers(len(self._token_ids) - self._length, size=n_windows)
        own = shard(starts.tolist(), group.rank, group.world_size)
        # A process without a window reads one, and predicts nothing.
        inputs, target = language_model_batch(
            self._token_ids, self._length, torch.tensor(own or [0])
        )
        if not own:
            target = torch.full_like(target, self.ignore_index)
        return Batch((inputs,), target, n_windows * self._length)

    def _n_windows(self, config: TrainingConfig) -> int:
        """Return how many windows a batch has: one, if it is too small for any."""
        return max(1, config.batch_tokens // self._length)
