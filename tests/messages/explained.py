"""Exercises with one case, and what is said of an answer to them."""

import numpy as np

from autograder.checking.exercise import Exercise
from autograder.messages.explanation import explain
from autograder.messages.report import CheckReport
from tests.checking.test_judging import double, judged

X = np.array([1.0, -2.0])
FED = "For x = [1, -2], your `double` "


def about(spec, *arguments, visible=True, returns=(), precise=False, **keywords):
    """Return an exercise with one case: a call with these arguments."""
    made = Exercise(spec, lesson="none", minutes=1, difficulty=1, returns=returns)
    made.spec(spec)

    @made.case("It is so", visible=visible, precise=precise)
    def it_is_so(student, rng):
        student.agrees(*arguments, **keywords)

    return made


def explained(exercise, answer):
    result = judged(exercise, answer)
    (verdict,) = result.cases
    return explain(exercise, verdict)


def tiny_weight(x):
    return np.exp(x)


def changing(x):
    x[-1] = 7.0
    return 2 * x


def expecting(compare, what, visible=True):
    """Return an exercise whose case checks something computed from the result."""
    exercise = Exercise(double, lesson="none", minutes=1, difficulty=1)
    exercise.spec(double)

    @exercise.case("It is so", visible=visible)
    def it_is_so(student, rng):
        compare(student, what)

    return exercise


def report_of(exercise, answer):
    return str(CheckReport(exercise, judged(exercise, answer)))


def steps(x):
    return {"scores": x * 2.0, "weights": x / x.sum()}


def no_arguments():
    return 1
