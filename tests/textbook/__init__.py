"""The field's own code, written anew, with what each form must get.

A form is how a paper, a textbook or a well-known repository writes an exercise, in the
exercise's signature. ``forms_NN.py`` holds those of lesson NN. A careful teacher calls
them right, or wrong by a convention that the exercise fixes: then the report names it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.checking.result import ExerciseResult
from autograder.in_notebook.check import local_runner_factory

Function = Callable[..., Any]


@dataclass(frozen=True)
class Form:
    """How one source writes an exercise.

    exercise : its name
    source : where the form is from, such as "d2l 11.3"
    function : the form, written anew in the exercise's signature
    expected : "full", "fine point open", or "refused: " and the convention, which is
        the name of a misconception, or of two with " & " between
    before : what it got while edges were claims and float32 was refused, with points
    """

    exercise: str
    source: str
    function: Function
    expected: str
    before: str

    @property
    def name(self) -> str:
        """Exercise, source and the function's name, as a test's id."""
        return f"{self.exercise}-{self.source}-{self.function.__name__}"


class Forms(list[Form]):
    """The forms of one module; called, it is the decorator that adds one."""

    def __call__(
        self, exercise: str, source: str, *, expected: str = "full", before: str = "?"
    ) -> Callable[[Function], Function]:
        """Add the decorated function as a form of an exercise."""

        def add(function: Function) -> Function:
            self.append(Form(exercise, source, function, expected, before))
            return function

        return add


def all_forms() -> list[Form]:
    """Return the forms of every module ``forms_*.py``, in their order."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("forms_*.py"))
    return [
        form for name in names for form in import_module(f"{__name__}.{name}").FORMS
    ]


def result_of(form: Form) -> ExerciseResult:
    """Judge a form with all cases, those that are hidden in the notebook too."""
    return judge(load(form.exercise), local_runner_factory(form.function))


def verdict(result: ExerciseResult) -> str:
    """Return what a form got, in the words of ``Form.expected``."""
    if result.passed:
        return "full"
    if result.solved:
        return "fine point open"
    return f"refused: {result.diagnosis}" if result.diagnosis else "refused, no name"
