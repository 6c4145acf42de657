"""An exercise: its reference, its spec, its cases and its misconceptions.

One module in ``autograder/exercises`` defines one ``Exercise`` under the name
``exercise``.

A case is ordinary Python. It never assumes that the learner's function lives in this
process: it hands data to ``student(...)`` and checks the result.
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from autograder.checking.edits import (
    Edited,
    EditError,
    Edits,
    Entry,
    read_entries,
)
from autograder.checking.inputs import DeclaredInputs
from autograder.checking.own_answer import as_answer
from autograder.checking.points import UNITS, apportion, worth
from course_lib.arguments import parse

Function = Callable[..., Any]
MOST_OF_THREES = 8  # misconceptions in a list of those made three at a time: 56 threes
MOST_OF_FINE_POINTS = Fraction(1, 10)  # of an exercise's points, all of them together


@dataclass(frozen=True)
class Case:
    """One claim about the learner's function.

    name : the claim as an identifier (``each_row_sums_to_one``)
    claim : the claim as a sentence for the learner, without a final stop
    weight : its part of the exercise's points, beside the weights of the other cases
    visible : whether the learner sees it in the notebook; hidden ones run in grading
    run : ``run(student, rng)``, which raises ``ClaimFailure`` if the claim does not
        hold
    pays_alone : whether it may earn its points where no other case holds; a case that
        draws no inputs, or compares no result, never does (``judging.with_points``)
    exercise : the one that it is a case of
    precise : whether results are held to every digit of float64, as its subject
    fine_point : whether an answer is solved without it
    """

    name: str
    claim: str
    weight: float
    visible: bool
    run: Callable[[Any, np.random.Generator], None]
    pays_alone: bool
    exercise: "Exercise" = field(compare=False, repr=False)
    precise: bool = False
    fine_point: bool = False

    @property
    def points(self) -> float:
        """What it earns: its share of the exercise's points, a Python float."""
        return self.exercise.shares[self.name]


@dataclass(frozen=True)
class Misconception:
    """One way to get the exercise wrong, as code.

    name : the wrong idea as an identifier (``softmax_over_queries``)
    diagnosis : what the learner's numbers are, one sentence ("Your numbers are …")
    question : a question that leads on without giving the answer away
    why : why people do it, or where it was seen
    function : the wrong implementation
    code, edits : the right answer that it is an edit of, and how, where it is one
    wrap : makes of a function the same one with this error, where that can be done
        to any (``families``)
    """

    name: str
    diagnosis: str
    question: str
    why: str
    function: Function
    code: Edited | None = None
    edits: Edits = ()
    wrap: Callable[[Function], Function] | None = None

    @property
    def kind(self) -> Literal["edit", "family", "function"]:
        """Which it is: an edit of a right answer, a family's, or code of its own."""
        if self.wrap is not None:
            return "family"
        return "edit" if self.code else "function"


def together(errors: Sequence[Misconception]) -> Function | None:
    """Return the function that has all these errors; None if they exclude each other.

    Of edits one function is made; what families make comes on top of it.
    """
    made = [each for each in errors if each.wrap is None] or [*errors[:1]]
    wraps = [each.wrap for each in errors if each.wrap and each not in made]
    function: Function | None = made[0].function
    if len(made) > 1:
        code = made[0].code
        if not code or any(each.code is not code for each in made):
            return None
        edits = code.joined(*(each.edits for each in made))
        try:
            function = None if edits is None else code.function(edits)
        except EditError:  # side by side, they may be no Python
            return None
    for wrap in wraps:
        function = function and wrap(function)
    return function


class Exercise:
    """Everything that is known about one exercise, except its text in the lesson.

    is_test : whether an answer is a test of other functions (``learners_tests``)
    """

    is_test: ClassVar[bool] = False

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
        precise: bool = False,
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
        precise : whether digits are its subject, and its docstring says so: then what
            is computed in float32 is wrong for numbers of float64
        """
        self.reference = reference
        self.name: str = reference.__name__
        self.lesson = lesson
        self.minutes = minutes
        self.difficulty = difficulty
        self.uses = uses
        self.returns = returns
        self.library = library
        self.precise = precise
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
        self._right: dict[Function, Edited] = {}
        self.often_together: tuple[Misconception, ...] = ()

    @property
    def points(self) -> float:
        """What it is worth: ``minutes + 4 * (difficulty - 1)``, as ``points.worth``."""
        return worth(self.minutes, self.difficulty)

    @property
    def shares(self) -> dict[str, float]:
        """Points of each case, by name: the exercise's, shared by weight.

        A fine point is worth a quarter of a point; the other cases share the rest.

        Raises ``ValueError`` where there is not a quarter of a point for each case.
        """
        claims = [case for case in self.cases if not case.fine_point]
        rest = self.points - (len(self.cases) - len(claims)) / UNITS
        parts = iter(apportion(rest, tuple(case.weight for case in claims)))
        return {
            case.name: 1 / UNITS if case.fine_point else next(parts)
            for case in self.cases
        }

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

    def inputs(self, *, scaled: tuple[str, ...] = (), **usual: int) -> DeclaredInputs:
        """Return ``inputs(rng, leading, **sizes)``: arrays of the right shapes.

        scaled : parameters to be divided by the root of their first axis, so that
            numbers around 1 stay so when they are multiplied by them
        usual : lengths of the axes in the reference's docstring, where none is given

        They are normal numbers for what the docstring has a shape of floats of, in its
        order: arrays of float64, or tensors of float32 where PyTorch is the subject.
        ``DeclaredInputs.__call__`` says what else can be asked for.

        Raises ``ValueError`` where no shape is declared for one that is scaled.
        """
        shapes = [each for each in parse(self.reference) if not each.kind]
        if unknown := {*scaled} - {each.name for each in shapes}:
            raise ValueError(
                f"exercise {self.name}: its docstring has no shape of "
                f"{', '.join(sorted(unknown))}"
            )
        of_torch = self.reference.__module__.startswith("course_lib.nn.")
        return DeclaredInputs(shapes, usual, scaled, of_torch)

    def case(
        self,
        claim: str,
        *,
        weight: float = 1,
        visible: bool = True,
        pays_alone: bool = True,
        precise: bool = False,
    ) -> Callable[[Function], Function]:
        """Add the decorated function as a case; its name is the case's name.

        weight : its part of the exercise's points; a case of 2 gets twice as much as
            one of 1, to a quarter of a point
        pays_alone : False where an answer that computes nothing passes, such as zeros
            where they are right; ``check-bank`` says which cases need it
        precise : whether digits are its subject, and the docstring says so
        """
        if not 0 < weight < math.inf:
            raise ValueError(
                f"exercise {self.name}: the weight of a case must be above 0, "
                f"got {weight}"
            )

        def add(run: Function) -> Function:
            self._add_case(run, claim, weight, visible, pays_alone, precise=precise)
            return run

        return add

    def fine_point(
        self, claim: str, *, visible: bool = True
    ) -> Callable[[Function], Function]:
        """Add the decorated function as a case without which an answer is solved.

        It is for an edge clause of the docstring that the lesson does not teach. It is
        worth a quarter of a point, never pays alone, and is listed apart.

        Raises ``ValueError`` where fine points get more than a tenth of the points.
        """

        def add(run: Function) -> Function:
            self._add_case(run, claim, 1, visible, False, fine_point=True)
            count = sum(case.fine_point for case in self.cases)
            if count / UNITS > self.points * MOST_OF_FINE_POINTS:
                raise ValueError(
                    f"exercise {self.name} (autograder/exercises/{self.name}.py): "
                    f"{count} fine points of a quarter each are more than a tenth of "
                    f"its {self.points:g} points: leave out {run.__name__}"
                )
            return run

        return add

    def _add_case(
        self,
        run: Function,
        claim: str,
        weight: float,
        visible: bool,
        pays_alone: bool,
        **kind: bool,
    ) -> None:
        name = run.__name__
        self._refuse_duplicate(name, [case.name for case in self.cases])
        case = Case(name, claim, weight, visible, run, pays_alone, self, **kind)
        self.cases.append(case)

    def misconception(
        self, diagnosis: str, question: str, *, why: str
    ) -> Callable[[Function], Function]:
        """Add the decorated wrong function; its name is the misconception's name."""

        def add(wrong: Function) -> Function:
            self._add(Misconception(wrong.__name__, diagnosis, question, why, wrong))
            return wrong

        return add

    def right_answer(self, function: Function) -> Function:
        """Add another right answer, whose code ``edits`` may edit."""
        self._right[function] = Edited(function)
        return function

    def edits(
        self,
        text: str,
        *,
        of: Function | None = None,
        words: "Mapping[str, Misconception | Entry] | None" = None,
        **names: Any,
    ) -> None:
        """Add misconceptions that are edits of a right answer (``checking.edits``).

        text : each misconception's name, edits and words
        of : the answer that is edited, added by ``right_answer``; if it is None, the
            reference without the course's own checks of arguments
        words : for names without words in the text, such as another bank's ``words``
        names : what edits use beside the names of the answer's module

        Raises ``EditError`` where an edit cannot be made.
        """
        code = self._right[of] if of else self.code
        code.names |= names
        try:
            entries = [*read_entries(text)]
        except EditError as error:
            raise EditError(f"exercise {self.name}, {error}", error.row) from None
        for entry in entries:
            sentences = words[entry.name] if words else entry
            try:
                edits = code.read(entry.edits)
                function = code.function(edits)
            except EditError as error:
                raise EditError(
                    f"exercise {self.name}, {entry.name}: {error}", f"{entry.name}:"
                ) from None
            self._add(
                Misconception(
                    entry.name,
                    sentences.diagnosis,
                    sentences.question,
                    sentences.why,
                    function,
                    code=code,
                    edits=edits,
                )
            )

    def threes_of(self, *names: str) -> None:
        """Add the short list of misconceptions that are often made three at a time.

        Any two are tried together as they are; of three, only those of the list.

        Raises ``ValueError`` where one is not there, or the list is not short.
        """
        bank = {each.name: each for each in self.misconceptions}
        if unknown := [name for name in names if name not in bank]:
            raise ValueError(f"exercise {self.name} has no {', '.join(unknown)}")
        if not 3 <= len(names) <= MOST_OF_THREES:
            raise ValueError(
                f"exercise {self.name}: threes of {len(names)} misconceptions, not of "
                f"3 to {MOST_OF_THREES}"
            )
        self.often_together = tuple(bank[name] for name in names)

    @property
    def words(self) -> "dict[str, Misconception | Entry]":
        """The misconceptions by name, for another bank's ``edits``."""
        return {each.name: each for each in self.misconceptions}

    @property
    def code(self) -> Edited:
        """The reference's code, without the course's own checks of arguments."""
        if self.reference not in self._right:
            self._right[self.reference] = Edited(
                self.reference, source=as_answer(self.reference)
            )
        return self._right[self.reference]

    def family(self, *families: "Family") -> None:
        """Add misconceptions that can be made of any function (``families``)."""
        for each in families:
            self._add(each(self))

    @property
    def functions_that_are_right(self) -> dict[str, Function]:
        """The reference, the spec, and the other right answers of the bank."""
        functions = {"reference": self.reference, "spec": self.expected_function}
        return functions | {
            f"right answer {function.__name__}": code.function(())
            for function, code in self._right.items()
        }

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

    def _add(self, misconception: Misconception) -> None:
        names = [each.name for each in self.misconceptions]
        self._refuse_duplicate(misconception.name, names)
        self.misconceptions.append(misconception)

    def _refuse_duplicate(self, name: str, names: list[str]) -> None:
        if name in names:
            raise ValueError(f"exercise {self.name} has {name} twice")


Family = Callable[[Exercise], Misconception]
