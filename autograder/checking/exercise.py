"""An exercise: its reference, its spec, its cases and its misconceptions.

One module in ``autograder/exercises`` defines one ``Exercise`` under the name
``exercise``.

A case is ordinary Python. It never assumes that the learner's function lives in this
process: it hands data to ``student(...)`` and checks the result.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One claim about the learner's function.

    name : the claim as an identifier (``each_row_sums_to_one``)
    claim : the claim as a sentence for the learner, without a final stop
    points : what it earns
    visible : whether the learner sees it in the notebook; hidden ones run in grading
    run : ``run(student, rng)``, which raises ``ClaimFailure`` if the claim does not
        hold
    pays_alone : whether it may earn its points where no other case holds; a case that
        draws no inputs, or compares no result, never does (``judging.with_points``)
    """

    name: str
    claim: str
    points: float
    visible: bool
    run: Callable[[Any, np.random.Generator], None]
    pays_alone: bool = True


@dataclass(frozen=True)
class Misconception:
    """One way to get the exercise wrong, as code.

    name : the wrong idea as an identifier (``softmax_over_queries``)
    diagnosis : what the learner's numbers are, one sentence ("Your numbers are …")
    question : a question that leads on without giving the answer away
    why : why people do it, or where it was seen
    function : the wrong implementation
    """

    name: str
    diagnosis: str
    question: str
    why: str
    function: Function


class Exercise:
    """Everything that is known about one exercise, except its text in the lesson."""

    def __init__(
        self,
        reference: Function,
        *,
        lesson: str,
        minutes: int,
        difficulty: int,
        uses: tuple[str, ...] = (),
        returns: tuple[str, ...] = (),
        library: tuple[str, ...] = (),
    ) -> None:
        """Define an exercise, without a spec and cases yet.

        reference : the function of ``course_lib``; its name is the exercise's name
        lesson : the lesson's folder name
        minutes : how long a first reader needs
        difficulty : 1, 2 or 3
        uses : names of earlier exercises that the reference calls
        returns : names of the parts of the result, where it is a tuple
        library : functions and layers of libraries, with dotted names, that would
            answer it: an answer that calls one is shown to the instructor
        """
        self.reference = reference
        self.name: str = reference.__name__
        self.lesson = lesson
        self.minutes = minutes
        self.difficulty = difficulty
        self.uses = uses
        self.returns = returns
        self.library = library
        parameters = inspect.signature(reference).parameters
        self.parameters = tuple(parameters)
        self._repeated = [
            name
            for name, parameter in parameters.items()
            if parameter.kind is parameter.VAR_POSITIONAL
        ]
        self.cases: list[Case] = []
        self.misconceptions: list[Misconception] = []
        self._spec: Function | None = None
        self._usual: Callable[[np.random.Generator], tuple[Any, ...]] | None = None

    @property
    def points(self) -> float:
        """Points of all cases together."""
        return float(sum(case.points for case in self.cases))

    def argument_names(self, count: int) -> tuple[str, ...]:
        """Name the first arguments of a call; of ``*masks``, masks[0] is one."""
        if not self._repeated:
            return self.parameters[:count]
        first = self.parameters.index(self._repeated[0])
        many = (f"{self._repeated[0]}[{index}]" for index in range(count - first))
        return (*self.parameters[:first], *many)[:count]

    def spec(self, function: Function) -> Function:
        """Set the obvious, slow version: the oracle of the cases."""
        self._spec = function
        return function

    def usual(self, function: Function) -> Function:
        """Set ``inputs(rng)``: a tuple of arguments as most calls have them."""
        self._usual = function
        return function

    def case(
        self,
        claim: str,
        *,
        points: float = 1,
        visible: bool = True,
        pays_alone: bool = True,
    ) -> Callable[[Function], Function]:
        """Add the decorated function as a case; its name is the case's name.

        pays_alone : False where an answer that computes nothing passes, such as zeros
            where they are right; ``check-bank`` says which cases need it
        """

        def add(run: Function) -> Function:
            self._refuse_duplicate(run.__name__, [case.name for case in self.cases])
            self.cases.append(
                Case(run.__name__, claim, points, visible, run, pays_alone)
            )
            return run

        return add

    def misconception(
        self, diagnosis: str, question: str, *, why: str
    ) -> Callable[[Function], Function]:
        """Add the decorated wrong function; its name is the misconception's name."""

        def add(wrong: Function) -> Function:
            names = [each.name for each in self.misconceptions]
            self._refuse_duplicate(wrong.__name__, names)
            self.misconceptions.append(
                Misconception(wrong.__name__, diagnosis, question, why, wrong)
            )
            return wrong

        return add

    @property
    def expected_function(self) -> Function:
        """The spec; raises ``TypeError`` if there is none."""
        if self._spec is None:
            raise TypeError(f"exercise {self.name} has no spec")
        return self._spec

    def expected(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return the spec's answer to a call."""
        return self.expected_function(*arguments, **keywords)

    def usual_inputs(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return arguments of a usual call, drawn with rng."""
        if self._usual is None:
            raise TypeError(f"exercise {self.name} has no usual inputs")
        return self._usual(rng)

    def _refuse_duplicate(self, name: str, names: list[str]) -> None:
        if name in names:
            raise ValueError(f"exercise {self.name} has {name} twice")
