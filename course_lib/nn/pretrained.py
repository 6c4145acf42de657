"""A real pretrained encoder, run by the parts of this course.

``encode_pretrained`` is the exercise of lesson 13: parameters that others trained go
in as data. Around it are sentences and their similarity, the weights of all heads, and
gates that switch heads off. The parameters are from ``course_lib.corpora.encoder``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from course_lib.corpora.encoder import pretrained_encoder
from course_lib.nn import arguments
from course_lib.nn.attention import attention, for_all_heads, merge_heads, split_heads
from course_lib.nn.functional import layer_norm

EPS = 1e-12  # of all norms of BERT and MiniLM
WORDS = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
TYPES = "embeddings.token_type_embeddings.weight"
PADDING_ID = 0
Parameters = dict[str, Tensor]
Encode = Callable[[Tensor, Parameters, int, Tensor | None], Tensor]


def encode_pretrained(
    token_ids: Tensor,
    parameters: dict[str, Tensor],
    n_heads: int,
    may_attend: Tensor | None = None,
) -> Tensor:
    """Run a pretrained BERT or MiniLM: token ids in, the last layer's vectors out.

    token_ids : (..., n), integers
    parameters : tensors by the names of the file, see below; others may be there too
    n_heads : number of heads of each attention
    may_attend : booleans of two axes or more that fit (..., n, n), True where a token
        may attend, to one at least; None if all may attend to all

    A linear map is two parameters: NAME.weight of shape (out, in), as in PyTorch, and
    NAME.bias. A norm is NAME.LayerNorm.weight, its gain, and NAME.LayerNorm.bias; its
    eps is 1e-12. The parameters are

    - embeddings.word_embeddings.weight (vocab_size, d_model),
      embeddings.position_embeddings.weight (n_positions, d_model) and
      embeddings.token_type_embeddings.weight (2, d_model): a token is the sum of its
      own row, its position's and that of type 0; then comes the norm "embeddings"
    - of layer i, counted from 0, with the prefix encoder.layer.i. in front:
      attention.self.query, .key and .value, attention.output.dense, and the norm
      attention.output; then intermediate.dense, the exact GELU (x Φ(x), with Φ the
      distribution function of the standard normal), output.dense, and the norm output

    Each layer is post-norm, norm(x + sublayer(x)), twice. Returns the vectors
    (..., n, d_model) after the last layer. The arguments are not modified.
    Source: Devlin et al. (2019), BERT, section 3; Wang et al. (2020), MiniLM; GELU:
    Hendrycks and Gimpel (2016).

    >>> zeros = {"weight": torch.zeros(2, 2), "bias": torch.zeros(2)}
    >>> linear = ("attention.self.query", "attention.self.key", "attention.self.value")
    >>> linear += ("attention.output.dense", "intermediate.dense", "output.dense")
    >>> p = {f"encoder.layer.0.{m}.{n}": zeros[n] for m in linear for n in zeros}
    >>> norms = ("embeddings", "encoder.layer.0.attention.output")
    >>> for norm in (*norms, "encoder.layer.0.output"):
    ...     p[f"{norm}.LayerNorm.weight"] = torch.ones(2)
    ...     p[f"{norm}.LayerNorm.bias"] = torch.zeros(2)
    >>> for table in ("word", "position", "token_type"):
    ...     p[f"embeddings.{table}_embeddings.weight"] = torch.eye(2)
    >>> encode_pretrained(torch.tensor([0, 0]), p, n_heads=1)
    tensor([[ 1., -1.],
            [ 1., -1.]])
    """
    arguments.tensors_by_name("parameters", parameters)
    arguments.heads(parameters[WORDS].shape[-1], n_heads)
    arguments.token_ids(
        "token_ids", token_ids, vocab_size=len(parameters[WORDS]), from_end=True
    )
    arguments.axes("token_ids (..., n)", token_ids)
    arguments.rows(POSITIONS, parameters[POSITIONS], token_ids.shape[-1])
    arguments.mask("may_attend", may_attend, (*token_ids.shape, token_ids.shape[-1]))
    p = parameters

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        gain, bias = p[f"{name}.LayerNorm.weight"], p[f"{name}.LayerNorm.bias"]
        return layer_norm(x, gain, bias, eps=1e-12)

    words, positions, types = (
        p[f"embeddings.{name}_embeddings.weight"]
        for name in ("word", "position", "token_type")
    )
    x = words[token_ids] + positions[: token_ids.shape[-1]] + types[0]
    x = norm(x, "embeddings")  # (..., n, d_model)
    n_layers = sum(name.endswith("self.query.weight") for name in p)
    for layer in (f"encoder.layer.{i}" for i in range(n_layers)):
        q, k, v = (
            split_heads(linear(x, f"{layer}.attention.self.{name}"), n_heads)
            for name in ("query", "key", "value")
        )
        heads, _ = attention(q, k, v, for_all_heads(may_attend))
        attended = linear(merge_heads(heads), f"{layer}.attention.output.dense")
        x = norm(x + attended, f"{layer}.attention.output")
        hidden = nn.functional.gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(hidden, f"{layer}.output.dense"), f"{layer}.output")
    return x


def encode_with_heads(
    token_ids: Tensor,
    parameters: Parameters,
    n_heads: int,
    may_attend: Tensor | None = None,
    gates: Tensor | None = None,
    changed_weights: Callable[[int, Tensor], Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Run the encoder and return the weights of its heads too; gates may close some.

    token_ids, parameters, n_heads, may_attend : as for ``encode_pretrained``
    gates : (n_layers, n_heads), each multiplies the output of one head before the heads
        are joined: 1 leaves it, 0 prunes it. Gradients flow to them. None is ones
    changed_weights : of a layer's number and its weights (..., n_heads, n, n), those
        with which the values are mixed instead; None leaves them

    Returns the vectors (..., n, d_model), and the weights (..., n_layers, n_heads, n,
    n) with which the values were mixed.
    """
    _check(token_ids, parameters, n_heads, may_attend)
    p, n_layers = parameters, count_layers(parameters)
    if gates is None:
        gates = torch.ones(n_layers, n_heads, dtype=p[WORDS].dtype)
    shape = "gates (n_layers, n_heads)"
    arguments.tensors(shape, gates, n_layers=n_layers, n_heads=n_heads)

    def linear(x: Tensor, name: str) -> Tensor:
        return nn.functional.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])

    def norm(x: Tensor, name: str) -> Tensor:
        gain, bias = p[f"{name}.LayerNorm.weight"], p[f"{name}.LayerNorm.bias"]
        return layer_norm(x, gain, bias, EPS)

    x = p[WORDS][token_ids] + p[POSITIONS][: token_ids.shape[-1]] + p[TYPES][0]
    x = norm(x, "embeddings")
    by_layer = []
    for i in range(n_layers):
        layer = f"encoder.layer.{i}"
        q, k, v = (
            split_heads(linear(x, f"{layer}.attention.self.{name}"), n_heads)
            for name in ("query", "key", "value")
        )
        heads, weights = attention(q, k, v, for_all_heads(may_attend))
        if changed_weights is not None:
            weights = changed_weights(i, weights)
            heads = weights @ v
        by_layer.append(weights)
        heads = heads * gates[i, :, None, None]  # (..., n_heads, n, d_k)
        attended = linear(merge_heads(heads), f"{layer}.attention.output.dense")
        x = norm(x + attended, f"{layer}.attention.output")
        hidden = nn.functional.gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(hidden, f"{layer}.output.dense"), f"{layer}.output")
    return x, torch.stack(by_layer, dim=-4)


def count_layers(parameters: Parameters) -> int:
    """Count the layers of a pretrained encoder by the names of its parameters."""
    return sum(name.endswith("attention.self.query.weight") for name in parameters)


def _check(
    token_ids: Tensor, parameters: Parameters, n_heads: int, may_attend: Tensor | None
) -> None:
    arguments.tensors_by_name("parameters", parameters)
    d_model = parameters[WORDS].shape[-1]
    arguments.heads(d_model, n_heads)
    vocab_size = len(parameters[WORDS])
    arguments.token_ids("token_ids", token_ids, vocab_size=vocab_size, from_end=True)
    arguments.axes("token_ids (..., n)", token_ids)
    n = token_ids.shape[-1]
    arguments.rows(POSITIONS, parameters[POSITIONS], n)
    arguments.mask("may_attend", may_attend, (*token_ids.shape, n))


def pool(vectors: Tensor, is_token: Tensor) -> Tensor:
    """Average the vectors of each sentence's tokens, and scale the mean to length 1.

    vectors : (..., n, d_model), of the tokens and of padding
    is_token : (..., n), booleans, False at padding

    Returns sentence vectors (..., d_model): the dot product of two is the cosine of the
    angle between them.
    Source: Reimers and Gurevych (2019), Sentence-BERT, section 3.

    >>> vectors = torch.tensor([[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]])
    >>> pool(vectors, torch.tensor([True, True, False]))
    tensor([0.6000, 0.8000])
    """
    arguments.tensors(pool, vectors)
    arguments.mask("is_token", is_token, vectors.shape[:-1])
    share = is_token.to(vectors.dtype) / is_token.sum(dim=-1, keepdim=True)
    mean = (share.unsqueeze(-2) @ vectors).squeeze(-2)  # (..., d_model)
    return mean / mean.norm(dim=-1, keepdim=True)


@dataclass(frozen=True)
class SentenceEncoder:
    """MiniLM with its tokenizer: sentences in, vectors and weights out.

    parameters : those of the file that are floats, as for ``encode_pretrained``
    n_heads : number of heads of each layer
    tokenizer : WordPiece, no capitals; puts [CLS] in front and [SEP] behind
    """

    parameters: Parameters
    n_heads: int
    tokenizer: Tokenizer

    @classmethod
    @cache
    def load(cls) -> Self:
        """Load all-MiniLM-L6-v2: 6 layers of 12 heads, d_model 384.

        Raises ``DataError``, which says what to run, if the data is not there.
        """
        source = pretrained_encoder()
        tokenizer = Tokenizer.from_str(source.tokenizer)
        tokenizer.no_padding()
        parameters = {
            name: torch.tensor(values)
            for name, values in source.parameters.items()
            if values.dtype.kind == "f"  # not the numbers 0 … 511 of the positions
        }
        return cls(parameters, source.config["num_attention_heads"], tokenizer)

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return count_layers(self.parameters)

    def tokens(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, [CLS] and [SEP] included."""
        return list(self.tokenizer.encode(sentence).tokens)

    def encode_texts(self, sentences: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Turn sentences into a padded batch.

        Returns token ids (batch, n), and booleans (batch, n), False at padding. A
        sentence has 128 tokens at most; what follows is cut.
        """
        if isinstance(sentences, str) or not sentences:
            raise ValueError(f"sentences must be one or more, got {sentences!r:.40}")
        ids = [self.tokenizer.encode(each).ids for each in sentences]
        longest = max(map(len, ids))
        rows = [[*row, *[PADDING_ID] * (longest - len(row))] for row in ids]
        lengths = torch.tensor([len(row) for row in ids])
        return torch.tensor(rows), torch.arange(longest) < lengths[:, None]

    def sentence_vectors(
        self, sentences: Sequence[str], encode: Encode = encode_pretrained
    ) -> Tensor:
        """Compute a vector of length 1 for each sentence: (batch, d_model).

        encode : computes the same as ``encode_pretrained``, such as a learner's own
        """
        token_ids, is_token = self.encode_texts(sentences)
        may_attend = is_token.unsqueeze(-2)  # (batch, 1, n)
        with torch.no_grad():
            vectors = encode(token_ids, self.parameters, self.n_heads, may_attend)
        return pool(vectors, is_token)

    def similarities(
        self, sentences: Sequence[str], encode: Encode = encode_pretrained
    ) -> Tensor:
        """Compute the cosines (batch, batch) between the vectors of sentences."""
        vectors = self.sentence_vectors(sentences, encode)
        return vectors @ vectors.T

    def weights(self, sentence: str) -> Tensor:
        """Compute the weights (n_layers, n_heads, n, n) of a sentence's tokens."""
        token_ids, _ = self.encode_texts([sentence])
        with torch.no_grad():
            return encode_with_heads(token_ids[0], self.parameters, self.n_heads)[1]

    def gated_vectors(self, sentences: Sequence[str], gates: Tensor) -> Tensor:
        """Compute sentence vectors (batch, d_model) with some heads closed.

        gates : (n_layers, n_heads), as for ``encode_with_heads``; gradients flow to
            them
        """
        token_ids, is_token = self.encode_texts(sentences)
        vectors, _ = encode_with_heads(
            *(token_ids, self.parameters, self.n_heads),
            may_attend=is_token.unsqueeze(-2),
            gates=gates,
        )
        return pool(vectors, is_token)
