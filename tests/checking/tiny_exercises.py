"""Exercises of a line each, and how an answer to one is judged, for several tests."""

import numpy as np

from autograder.checking.call import local_runner
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge

# The course's versions, under the names that an answer looks up.
COURSE = {}


def course(function):
    COURSE[function.__name__] = function
    return function


@course
def double(x):
    return 2 * x


@course
def shift(x):
    return x + 1.0


def both(x):
    return COURSE["shift"](COURSE["double"](x))


def tiny(reference=double, uses=(), returns=()):
    """Return an exercise of three cases, for 2, 4 and 1 points, with an empty bank."""
    made = Exercise(
        reference, lesson="none", minutes=7, difficulty=1, uses=uses, returns=returns
    )
    made.spec(reference)

    @made.case("Three numbers", weight=1)
    def three_numbers(student, rng):
        student.agrees(np.array([1.0, -2.0, 0.5]))

    @made.case("A table", weight=2)
    def a_table(student, rng):
        student.agrees(rng.normal(size=(4, 5)))

    @made.case("An empty array", weight=0.5, visible=False)
    def an_empty_array(student, rng):
        student.agrees(np.zeros((0, 3)))

    return made


def judged(exercise, answer, **terms):
    def make(names):
        return local_runner(answer, {name: COURSE[name] for name in names})

    return judge(exercise, make, **terms)


def statuses(result):
    return [verdict.status for verdict in result.cases]
