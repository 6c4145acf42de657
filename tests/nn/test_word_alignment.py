"""IBM Model 1: what it learns of pairs, and what an embedding begins with."""

import numpy as np
import torch

from course_lib.nn.training.batches import Example, encode_pairs
from course_lib.nn.training.subwords import END_ID, START_ID, train_tokenizer
from course_lib.nn.training.word_alignment import (
    NEARNESS,
    align_embedding,
    translation_probabilities,
)

PAIRS = [
    ("the door", "die Tür"),
    ("the house", "das Haus"),
    ("a house", "ein Haus"),
    ("a door", "eine Tür"),
    ("the", "das"),
    ("door", "Tür"),
    ("house", "Haus"),
]
TOKENIZER = train_tokenizer([text for pair in PAIRS for text in pair], 200)
EXAMPLES = encode_pairs(PAIRS, TOKENIZER)


def by_loops(examples, vocab_size, steps):
    """Do one step of EM after another, for each target token of each example."""
    table = np.ones((vocab_size, vocab_size))
    for _ in range(steps):
        counts = np.zeros((vocab_size, vocab_size))
        for example in examples:
            source = [START_ID, *example.source[:-1]]
            for target in example.target[:-1]:
                total = sum(table[each, target] for each in source)
                for each in source:
                    counts[each, target] += table[each, target] / total
        sums = counts.sum(axis=1, keepdims=True)
        table = np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)
    return table


def test_probabilities_match_those_of_loops():
    table = translation_probabilities(EXAMPLES, len(TOKENIZER), steps=4)
    expected = by_loops(EXAMPLES, len(TOKENIZER), 4)
    np.testing.assert_allclose(table, expected, atol=1e-6)  # float32


def test_rows_sum_to_1_or_0():
    table = translation_probabilities(EXAMPLES, len(TOKENIZER))
    sums = table.sum(dim=-1)
    assert ((sums - 1).abs().lt(1e-5) | sums.eq(0)).all()
    assert sums[START_ID] > 0 and sums[END_ID] == 0


def test_translations_become_likely():
    table = translation_probabilities(EXAMPLES, len(TOKENIZER), steps=20)
    for source, target in (("door", "Tür"), ("house", "Haus")):
        (source_id,), (target_id,) = map(TOKENIZER.encode, (source, target))
        assert table[source_id].argmax() == target_id


def test_aligned_embedding_is_near_translations_and_as_long():
    torch.manual_seed(0)
    before = torch.randn(len(TOKENIZER), 400)  # so many that others are far away
    after = before.clone()
    align_embedding(after, EXAMPLES)
    torch.testing.assert_close(
        after.norm(dim=-1), before.norm(dim=-1), rtol=0.1, atol=0
    )
    (door,), (tuer,), (haus,) = map(TOKENIZER.encode, ("door", "Tür", "Haus"))
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(before[door], before[tuer], dim=0).abs() < 0.2
    assert cosine(after[door], after[tuer], dim=0) > NEARNESS / 2
    assert cosine(after[door], after[haus], dim=0) < 0.2


def test_tokens_of_targets_stay_as_they_are():
    before = torch.randn(len(TOKENIZER), 8)
    after = before.clone()
    align_embedding(after, EXAMPLES)
    ids = {each for example in EXAMPLES for each in example.target}
    for token_id in ids:
        assert torch.equal(after[token_id], before[token_id])
    moved = (after != before).any(dim=-1).nonzero().flatten().tolist()
    assert set(moved) == {TOKENIZER.encode(w)[0] for w in ("the", "a", "door", "house")}


def test_empty_targets_have_no_part():
    examples = [Example([5, END_ID], [END_ID]), Example([5, END_ID], [6, END_ID])]
    assert translation_probabilities(examples, 8)[5, 6] == 1
