"""Answers that learners might write, per exercise: right ones and wrong ones."""

import importlib
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


class Answers:
    """The answers to one exercise.

    right : correct answers, each a different way of doing it
    spellings : by misconception, another way of writing it
    others : wrong answers that are no misconception of the bank
    """

    def __init__(self, exercise: str) -> None:
        self.exercise = exercise
        self.right: dict[str, Function] = {}
        self.spellings: dict[str, Function] = {}
        self.others: dict[str, Function] = {}

    def correct(self, function: Function) -> Function:
        self.right[function.__name__] = function
        return function

    def also(self, misconception: str) -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            self.spellings[misconception] = function
            return function

        return add

    def other(self, function: Function) -> Function:
        self.others[function.__name__] = function
        return function


def answers_to(exercise: str) -> Answers:
    return importlib.import_module(f"tests.answers.{exercise}").answers
