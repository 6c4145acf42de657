"""All numbers agree after any sequence of what students and instructors do in a term.

``OPERATIONS=20000 pytest tests/gradebook/test_random_term.py -m thorough`` does more of
them; ``SEED`` draws others.
"""

import os

import pytest

from tests.gradebook.stand_in import judging_at_once
from tests.gradebook.term import LESSONS, Term

# nbgrader's own way of adding a submission warns
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
OPERATIONS = int(os.environ.get("OPERATIONS", "2000"))
SEED = int(os.environ.get("SEED", "812596690"))
BETWEEN_CHECKS = 8
A_TERM = 250  # operations on one folder


def live(folder, seed, n_operations, **kills):
    with judging_at_once():
        term = Term(folder, seed, **kills)
        try:
            for number in range(n_operations):
                term.happen()
                if number % BETWEEN_CHECKS == 0:
                    term.check()
            for lesson in LESSONS:
                term.log.append("at the end")
                term.grade(lesson)
            term.check()
        except BaseException:
            print(f"SEED={seed}, operation {len(term.log)}:", *term.log[-60:], sep="\n")
            raise
    return term


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # and back at the end
    return tmp_path


@pytest.mark.parametrize("seed", [1, 2])
def test_numbers_agree_after_a_few_operations(folder, seed):
    live(folder, seed, 40, kills=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("term", range(-(-OPERATIONS // A_TERM)))
def test_numbers_agree_after_a_term(folder, term):
    seed = SEED + term
    done = live(
        folder, seed, min(A_TERM, OPERATIONS), kills=0.25, kills_from_start=0.02
    )
    assert done.n_killed
