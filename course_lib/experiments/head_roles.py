"""Which roles have the heads of MiniLM, and those of the course's translator (13)?

All heads are scored with ``head_role_scores`` on the same 50 sentences, and beside it
uniform weights, which attend to nothing in particular. The translator is that of lesson
11, trained or taken from its checkpoint. Voita et al. (2019) and Clark et al. (2019)
found such heads in larger models.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from course_lib.corpora.pairs import Pair
from course_lib.experiments.translation import (
    FOLDER,
    STEPS,
    train_system,
    trained_model,
)
from course_lib.lessons.environment import one_thread
from course_lib.nn.attention import MultiHeadAttention, attention, split_heads
from course_lib.nn.head_roles import (
    RoleScores,
    Sentence,
    best_heads,
    head_role_scores,
    mean_role_scores,
)
from course_lib.nn.pretrained import SentenceEncoder
from course_lib.nn.pruning import attentions_of
from course_lib.nn.training.batches import collate, encode_pairs
from course_lib.nn.training.checkpoints import load
from course_lib.nn.training.scoring import sample_pairs
from course_lib.nn.training.subwords import END_ID, START_ID, SubwordTokenizer
from course_lib.nn.training.tasks import TASKS
from course_lib.nn.transformer import Transformer

SEEDS = (0, 1, 2)  # of the translator; MiniLM is one, and in the record of seed 0
N_SENTENCES, MIN_WORDS = 50, 8
N_BEST = 3  # heads that a record names for each role
# Voita et al. (2019), section 5.1: a head is positional if its largest weight is at one
# relative position, −1 or +1, for at least this share of the queries.
POSITIONAL = 0.9


@cache
def sentence_pairs() -> tuple[Pair, ...]:
    """Return 50 pairs of the translation task's test part, the same ones each time.

    Their English has at least eight words. No system was trained on them.
    """
    drawn = sample_pairs(TASKS["translation"].load_split().test)
    long = [pair for pair in drawn if len(pair.source.split()) >= MIN_WORDS]
    return tuple(long[:N_SENTENCES])


def frequencies(
    token_ids: Sequence[int], counts: Counter[int], dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return how often a corpus has each of some tokens: (n)."""
    return torch.tensor([counts[each] for each in token_ids], dtype=dtype)


@cache
def minilm_counts() -> Counter[int]:
    """Count MiniLM's tokens in the English of the translation task's training part."""
    tokenizer = SentenceEncoder.load().tokenizer
    texts = [pair.source for pair in TASKS["translation"].load_split().train]
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    return Counter(token_id for each in encoded for token_id in each.ids)


def minilm_sentences() -> Iterator[Sentence]:
    """Run MiniLM on the sentences: weights (n_layers, n_heads, n, n) and the rest."""
    encoder, counts = SentenceEncoder.load(), minilm_counts()
    for pair in sentence_pairs():
        encoded = encoder.tokenizer.encode(pair.source)
        is_separator = torch.tensor(encoded.special_tokens_mask).bool()
        weights = encoder.weights(pair.source)
        yield weights, is_separator, frequencies(encoded.ids, counts)


def minilm_roles(role_scores: RoleScores = head_role_scores) -> dict[str, Tensor]:
    """Score the heads of MiniLM: for each role (n_layers, n_heads).

    role_scores : computes the same as ``head_role_scores``, such as a learner's own
    """
    with one_thread():
        return mean_role_scores(minilm_sentences(), role_scores)


def weights_of(
    modules: Sequence[MultiHeadAttention],
    run: Callable[[], Any],
    may_attend: Tensor | None = None,
) -> Tensor:
    """Run a model, and compute the weights of some of its attentions.

    modules : one for each layer; each runs once, on one sentence
    run : runs the model
    may_attend : (n, m), their mask

    Returns weights (n_layers, n_heads, n, m).
    """
    projected: dict[nn.Module, Tensor] = {}

    def record(module: nn.Module, _: Any, output: Tensor) -> None:
        projected[module] = output[0]  # of the one sentence: (n, d_model)

    with ExitStack() as stack:
        for module in modules:
            for part in (module.query, module.key):
                stack.callback(part.register_forward_hook(record).remove)
        with torch.no_grad():
            run()
    by_layer = []
    for module in modules:
        q, k = (
            split_heads(projected[part], module.n_heads)
            for part in (module.query, module.key)
        )
        by_layer.append(attention(q, k, k, may_attend)[1])
    return torch.stack(by_layer)


def translator_sentences(
    model: Transformer,
    tokenizer: SubwordTokenizer,
    pairs: Sequence[Pair],
    counts: Counter[int],
) -> dict[str, list[Sentence]]:
    """Run a translator on pairs: what ``head_role_scores`` takes, for two attentions.

    counts : of the tokens of training texts, in both languages

    Under "encoder" the separator is the end of the source; under "decoder" it is the
    start, in front of the tokens of the right translation.
    """
    attentions = attentions_of(model.eval())
    sentences: dict[str, list[Sentence]] = {"encoder": [], "decoder": []}
    for example in encode_pairs(pairs, tokenizer):
        batch = collate([example])
        read = {"encoder": batch.source[0], "decoder": batch.decoder_input[0]}
        for kind, token_ids in read.items():
            n = len(token_ids)
            causal = torch.ones(n, n, dtype=torch.bool).tril()
            weights = weights_of(
                attentions[kind],
                partial(model, batch.source, batch.decoder_input),
                causal if kind == "decoder" else None,
            )
            is_separator = (token_ids == END_ID) | (token_ids == START_ID)
            how_often = frequencies(token_ids.tolist(), counts, weights.dtype)
            sentences[kind].append((weights, is_separator, how_often))
    return sentences


def cross_shares(
    model: Transformer, tokenizer: SubwordTokenizer, pairs: Sequence[Pair]
) -> Tensor:
    """Compute each cross-attention head's mean weight on the source's end.

    Returns (n_layers, n_heads): a mean over the target tokens of a pair, and then over
    the pairs.
    """
    shares = []
    for example in encode_pairs(pairs, tokenizer):
        batch = collate([example])
        with torch.no_grad():
            weights = model.attention_weights_by_head(batch.source, batch.decoder_input)
        shares.append(weights[0, ..., -1].mean(dim=-1))  # (n_layers, n_heads)
    return torch.stack(shares).mean(dim=0)


def largest_only(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Put all the weight of each query on its largest weight.

    The scores of these are shares of queries, as Voita et al. (2019) count them.
    """
    result = []
    for weights, is_separator, how_often in sentences:
        largest = one_hot(weights.argmax(dim=-1), weights.shape[-1])
        result.append((largest.to(weights.dtype), is_separator, how_often))
    return result


def uniform(sentences: Iterable[Sentence], *, causal: bool = False) -> list[Sentence]:
    """Replace the weights by those of one head that attends to all tokens alike.

    causal : whether to all tokens up to the query, or to all of the sentence
    """
    result = []
    for weights, is_separator, how_often in sentences:
        n = weights.shape[-1]
        ones = torch.ones(1, 1, n, n, dtype=weights.dtype)
        ones = ones.tril() if causal else ones
        result.append((ones / ones.sum(dim=-1, keepdim=True), is_separator, how_often))
    return result


def full(seed: int, folder: Path = FOLDER) -> dict[str, Any]:
    """Score all heads of a translator, and for seed 0 those of MiniLM.

    Returns what ``summary`` does after "encoder, ", "decoder, " and "minilm, ", and
    "cross, end", the rows of ``cross_shares``.
    """
    path = train_system("transformer", seed, STEPS["transformer"], folder)
    checkpoint = load(path)
    model, tokenizer = trained_model(checkpoint), checkpoint["tokenizer"]
    with one_thread():
        counts: Counter[int] = Counter()
        examples = encode_pairs(TASKS["translation"].load_split().train, tokenizer)
        for example in examples:
            counts.update([*example.source, *example.target])
        pairs = sentence_pairs()
        by_model = translator_sentences(model, tokenizer, pairs, counts)
        if seed == 0:
            by_model["minilm"] = list(minilm_sentences())
        results: dict[str, Any] = {"sentences": [pair.source for pair in pairs]}
        for name, sentences in by_model.items():
            measures = summary(sentences, causal=name == "decoder")
            results |= {f"{name}, {key}": value for key, value in measures.items()}
        end = cross_shares(model, tokenizer, pairs)
    results["cross, end"] = _rounded(end)
    return results


def summary(sentences: Sequence[Sentence], *, causal: bool = False) -> dict[str, Any]:
    """Score heads on sentences, as plain data.

    Returns, by role,

    - "scores": a row for each layer, one number for each head;
    - "best": the best heads as [layer, head, score];
    - "uniform": what a head scores that attends to all tokens alike;
    - "largest": as "scores", for shares of queries whose largest weight is there,

    and "positional heads": how many heads are positional as Voita et al. count.
    """
    scores = mean_role_scores(sentences)
    largest = mean_role_scores(largest_only(sentences))
    chance = mean_role_scores(uniform(sentences, causal=causal))
    positional = torch.maximum(largest["previous"], largest["next"]) >= POSITIONAL
    return {
        "scores": {role: _rounded(rows) for role, rows in scores.items()},
        "best": {
            role: [
                [each.layer, each.head, round(each.score, 3)]
                for each in best_heads(rows, N_BEST)
            ]
            for role, rows in scores.items()
        },
        "uniform": {role: round(rows.item(), 3) for role, rows in chance.items()},
        "largest": {role: _rounded(rows) for role, rows in largest.items()},
        "positional heads": int(positional.sum()),
    }


def _rounded(rows: Tensor) -> list[list[float]]:
    return [[round(score, 3) for score in row] for row in rows.tolist()]
