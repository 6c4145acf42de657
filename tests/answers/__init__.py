"""Answers that learners might write, per exercise: right, wrong, and wrong again."""

import importlib
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


class Answers:
    """The answers to one exercise.

    right : correct answers, each a different way of doing it
    again : by misconception, a second way of writing the same mistake
    strangers : wrong answers that are no misconception of the bank
    """

    def __init__(self, exercise: str) -> None:
        self.exercise = exercise
        self.right: dict[str, Function] = {}
        self.again: dict[str, Function] = {}
        self.strangers: dict[str, Function] = {}

    def correct(self, function: Function) -> Function:
        self.right[function.__name__] = function
        return function

    def also(self, misconception: str) -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            self.again[misconception] = function
            return function

        return add

    def stranger(self, function: Function) -> Function:
        self.strangers[function.__name__] = function
        return function


def answers_to(exercise: str) -> Answers:
    return importlib.import_module(f"tests.answers.{exercise}").answers
