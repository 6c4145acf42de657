"""Batches by length: each example once, little padding, the same for the same seed."""

from itertools import chain

import numpy as np
import torch

from course_lib.corpora.pairs import Pair
from course_lib.nn.training.batches import Example, collate, examples, plan, share
from course_lib.nn.training.subwords import END, PADDING, START, learn_subwords


def random_examples(n=500, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 30, size=(n, 2)).tolist()
    return [Example([*[5] * (m - 1), END], [*[6] * (k - 1), END]) for m, k in lengths]


def test_each_example_is_in_one_batch():
    batches = plan(random_examples(), 100, seed=0, epoch=0)
    assert sorted(chain(*batches)) == list(range(500))


def test_no_batch_has_more_places_than_allowed():
    found = random_examples()
    for batch in plan(found, 100, seed=0, epoch=0):
        longest = max(len(found[each].target) for each in batch)
        assert longest * len(batch) <= 100


def test_an_example_that_is_too_long_is_a_batch_of_its_own():
    found = [*random_examples(20), Example([END], [*[6] * 200, END])]
    assert [20] in plan(found, 100, seed=0, epoch=0)


def test_little_of_a_batch_is_padding():
    found = random_examples()
    batches = [
        collate([found[each] for each in batch])
        for batch in plan(found, 200, seed=0, epoch=0)
    ]
    padding = sum(int((batch.target == PADDING).sum()) for batch in batches)
    places = sum(batch.target.numel() for batch in batches)
    # In batches of any lengths it is .45.
    assert padding / places < 0.05


def test_seed_and_epoch_alone_decide():
    found = random_examples()
    one = plan(found, 100, seed=1, epoch=2)
    assert one == plan(found, 100, seed=1, epoch=2)
    assert one != plan(found, 100, seed=1, epoch=3)
    assert one != plan(found, 100, seed=2, epoch=2)


def test_partners_and_order_change_but_not_the_number_of_batches():
    found = random_examples()
    one, two = (plan(found, 100, seed=0, epoch=epoch) for epoch in (0, 1))
    assert len(one) == len(two)
    assert {frozenset(batch) for batch in one} != {frozenset(batch) for batch in two}


def test_the_shares_of_processes_are_the_batch():
    batch = list(range(7))
    shares = [share(batch, rank, 3) for rank in range(3)]
    assert sorted(chain(*shares)) == batch


def test_a_batch_is_filled_up_and_shifted():
    batch = collate([Example([7, 8, END], [9, END]), Example([7, END], [9, 9, END])])
    assert batch.source.tolist() == [[7, 8, END], [7, END, PADDING]]
    assert batch.shifted.tolist() == [[START, 9, PADDING], [START, 9, 9]]
    assert batch.target.tolist() == [[9, END, PADDING], [9, 9, END]]


def test_no_examples_are_a_row_without_anything_to_write():
    batch = collate([])
    assert batch.source.shape == batch.shifted.shape == (1, 1)
    assert torch.equal(batch.target, torch.tensor([[PADDING]]))


def test_pairs_end_with_the_end():
    subwords = learn_subwords(["ab ab"], 0)
    (found,) = examples([Pair("ab", "a")], subwords)
    assert found.source == [*subwords.encode("ab"), END]
    assert found.target == [*subwords.encode("a"), END]
