"""Batches by length: each example once, little padding, the same for the same seed."""

from itertools import chain

import numpy as np
import torch

from course_lib.corpora.pairs import Pair
from course_lib.nn.training.batches import (
    Example,
    batches_by_length,
    collate,
    encode_pairs,
    shard,
)
from course_lib.nn.training.subwords import (
    END_ID,
    PADDING_ID,
    START_ID,
    train_tokenizer,
)


def random_examples(n=500, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 30, size=(n, 2)).tolist()
    return [
        Example([*[5] * (m - 1), END_ID], [*[6] * (k - 1), END_ID]) for m, k in lengths
    ]


def test_each_example_is_in_one_batch():
    batches = batches_by_length(random_examples(), 100, seed=0, epoch=0)
    assert sorted(chain(*batches)) == list(range(500))


def test_no_batch_has_more_positions_than_allowed():
    examples = random_examples()
    for batch in batches_by_length(examples, 100, seed=0, epoch=0):
        longest = max(len(examples[each].target) for each in batch)
        assert longest * len(batch) <= 100


def test_an_overlong_example_is_a_batch_of_its_own():
    examples = [*random_examples(20), Example([END_ID], [*[6] * 200, END_ID])]
    assert [20] in batches_by_length(examples, 100, seed=0, epoch=0)


def test_little_of_a_batch_is_padding():
    examples = random_examples()
    batches = [
        collate([examples[each] for each in batch])
        for batch in batches_by_length(examples, 200, seed=0, epoch=0)
    ]
    n_padding = sum(int((batch.target == PADDING_ID).sum()) for batch in batches)
    n_positions = sum(batch.target.numel() for batch in batches)
    # In batches of any lengths it is .45.
    assert n_padding / n_positions < 0.05


def test_batches_follow_from_seed_and_epoch():
    examples = random_examples()
    one = batches_by_length(examples, 100, seed=1, epoch=2)
    assert one == batches_by_length(examples, 100, seed=1, epoch=2)
    assert one != batches_by_length(examples, 100, seed=1, epoch=3)
    assert one != batches_by_length(examples, 100, seed=2, epoch=2)


def test_epochs_mix_anew_in_as_many_batches():
    examples = random_examples()
    one, two = (
        batches_by_length(examples, 100, seed=0, epoch=epoch) for epoch in (0, 1)
    )
    assert len(one) == len(two)
    assert {frozenset(batch) for batch in one} != {frozenset(batch) for batch in two}


def test_shards_together_are_the_batch():
    batch = list(range(7))
    shards = [shard(batch, rank, 3) for rank in range(3)]
    assert sorted(chain(*shards)) == batch


def test_collate_pads_and_shifts():
    batch = collate(
        [Example([7, 8, END_ID], [9, END_ID]), Example([7, END_ID], [9, 9, END_ID])]
    )
    assert batch.source.tolist() == [[7, 8, END_ID], [7, END_ID, PADDING_ID]]
    assert batch.decoder_input.tolist() == [[START_ID, 9, PADDING_ID], [START_ID, 9, 9]]
    assert batch.target.tolist() == [[9, END_ID, PADDING_ID], [9, 9, END_ID]]


def test_collate_of_nothing_is_a_row_of_padding():
    batch = collate([])
    assert batch.source.shape == batch.decoder_input.shape == (1, 1)
    assert torch.equal(batch.target, torch.tensor([[PADDING_ID]]))


def test_encoded_pairs_end_with_the_end():
    tokenizer = train_tokenizer(["ab ab"], 0)
    (example,) = encode_pairs([Pair("ab", "a")], tokenizer)
    assert example.source == [*tokenizer.encode("ab"), END_ID]
    assert example.target == [*tokenizer.encode("a"), END_ID]
