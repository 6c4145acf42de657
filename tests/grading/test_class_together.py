"""A class that works together against the hidden inputs: what it learns, and for long.

Each submission is right or wrong in a hidden case by one bit of the case's input: its
points tell the bit. As long as the seed stays, so do the inputs, and an answer that
computes nothing can hold the results. New inputs make all of that worthless.
"""

import numpy as np
import pytest

from autograder.checking.judging import inputs_of, judge
from autograder.checking.registry import load
from autograder.grading.engine import Engine
from tests.grading.engines import SEED, SHORT, process_number
from tests.grading.sessions import check, own, session_of, solution
from tests.submissions import COURSE

pytestmark = pytest.mark.sandbox

LESSON, NAME, CASE = "04_masking", "padding_mask", "as_many_as_tokens"
N_LENGTHS, N_BITS = 6, 4  # of the case's input: six numbers below ten
RIGHT = """
def padding_mask(lengths, m):
    return np.arange(m) < np.asarray(lengths)[..., np.newaxis, np.newaxis]
"""
# Right everywhere, but in the case's call only where the bit is set.
ONE_BIT = """
def padding_mask(lengths, m):
    lengths = np.asarray(lengths)
    right = np.arange(m) < lengths[..., np.newaxis, np.newaxis]
    asked = lengths.shape == (6,) and m == 9
    return right ^ True if asked and not lengths[{index}] >> {bit} & 1 else right
"""
# Computes nothing: it holds one result.
BY_HEART = """
def padding_mask(lengths, m):
    known = {known}
    if np.asarray(lengths).tolist() == known:
        rows = {rows}
        return np.array(rows, dtype=bool)[:, np.newaxis]
    return np.zeros((*np.shape(lengths), 1, m), dtype=bool)
"""
# Right by chance; each grading draws other lots.
BY_LOT = """
import random
lots = random.Random({grading})
def padding_mask(lengths, m):
    right = np.arange(m) < np.asarray(lengths)[..., np.newaxis, np.newaxis]
    return right if lots.randrange(256) == 0 else right ^ True
"""


@pytest.fixture(scope="module")
def engine():
    options = {"seed": SEED, "budget": SHORT, "worker": process_number()}
    with Engine(COURSE, LESSON, **options) as started:
        yield started


def points(engine, text, seed):
    """Return the points of each case of an answer."""
    cells = own("import numpy as np"), solution(NAME, text), check(NAME)
    with session_of(engine.sandbox, *cells) as session:

        def run(arguments, keywords):
            return session.call(NAME, "check", arguments, keywords, {})

        result = judge(load(NAME), lambda bound: run, seed=seed)
    return {case.case: case.points for case in result.cases}


def hidden_input(seed):
    (case,) = (each for each in load(NAME).cases if each.name == CASE)
    return inputs_of(load(NAME), case, seed).integers(0, 10, size=N_LENGTHS).tolist()


def learned_input(engine, seed):
    """Return what a class learns of the case's input, a bit from each submission."""
    lengths = [0] * N_LENGTHS
    for index, bit in np.ndindex(N_LENGTHS, N_BITS):
        text = ONE_BIT.format(index=index, bit=bit)
        lengths[index] |= (points(engine, text, seed)[CASE] > 0) << bit
    return lengths


def test_class_learns_a_hidden_input_while_the_seed_stays(engine):
    learned = learned_input(engine, SEED)
    assert learned == hidden_input(SEED)
    rows = [[j < n for j in range(9)] for n in learned]
    text = BY_HEART.format(known=learned, rows=rows)
    nothing = BY_HEART.format(known=[], rows=[[]])
    under_the_seed = points(engine, text, SEED), points(engine, nothing, SEED)
    assert under_the_seed[0][CASE] > under_the_seed[1][CASE] == 0
    for seed in range(20):  # new inputs: what was learned is worth nothing
        assert points(engine, text, seed) == points(engine, nothing, seed)


def test_answer_by_lot_earns_next_to_nothing(engine):
    gradings = [points(engine, BY_LOT.format(grading=i), SEED) for i in range(40)]
    everything = load(NAME).points * len(gradings)
    assert sum(sum(each.values()) for each in gradings) < 0.02 * everything


def test_right_answer_has_full_marks_under_every_seed(engine):
    everything = points(engine, RIGHT, SEED)
    assert sum(everything.values()) == load(NAME).points
    for seed in range(5):
        assert points(engine, RIGHT, seed) == everything
