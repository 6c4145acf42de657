"""Judge a submission's answers with the exercises' own cases, and word the results.

The cases run here, in the trusted process; only calls and their results cross to the
sandbox. The inputs of the cases are drawn from the course's seed, so every submission
asks the spec the same: ``remembering`` answers from the second submission on.

What an answer returns is compared, explained and diagnosed here, without the sandbox's
limits. So this has a clock of its own, which runs while the sandbox does not.
"""

import copy
import functools
import inspect
import itertools
import textwrap
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from autograder.checking.call import (
    CallResult,
    Raised,
    Runner,
    copied,
    local_runner,
)
from autograder.checking.exercise import Case, Exercise, Function
from autograder.checking.judging import inputs_of, judge, judge_case
from autograder.checking.own_answer import as_answer
from autograder.checking.registry import load
from autograder.checking.result import (
    CaseStatus,
    CaseVerdict,
    ExerciseResult,
    Flag,
)
from autograder.checking.student import StudentFunction
from autograder.checking.time_limit import (
    TimeLimitExceeded,
    paused_limit,
    time_limit,
)
from autograder.grading.budget import TimedOutOnce
from autograder.grading.child_client import (
    PlannedCall,
    When,
    clean_text,
    key_of,
    planned_call,
)
from autograder.grading.inside.form import forms_of
from autograder.grading.inside.library import ALSO_RECORDED
from autograder.grading.session import Session
from autograder.messages.explanation import explain
from autograder.messages.report import CheckReport

Times = dict[str, float]  # "exercise.case" to seconds, of all its runs
Plan = dict[str, tuple[PlannedCall, ...]]  # what each case calls, by the case's name
JUDGING_SECONDS = 5.0  # of one exercise; most take some hundredths, none one second
MAX_NAMED = 2  # kinds or lines of exceptions that hidden cases name
TEST_SECONDS = 30.0  # of one test, with all that it asks of the functions it gets
TOO_LONG = "Your function returned more than can be compared in time."
TEST_TOO_LONG = "Your test asks more of the functions it gets than there is time for."


def judge_all(
    session: Session,
    exercises: Sequence[Exercise],
    seed: int,
    times: Times,
    plans: Mapping[str, Plan],
) -> tuple[ExerciseResult, ...]:
    """Judge a submission's exercises.

    seed : of the cases' inputs; the course's secret
    times : gets the seconds of each case
    plans : each exercise's

    An answer that fails without a diagnosis is judged once more by itself if something
    else may have made it fail: a cell below its check, or another exercise's answer
    that ran in the same process.
    """
    results: dict[str, ExerciseResult] = {}
    doubtful = []
    n_all = len(exercises)
    session.account.reserve(n_all, n_all)
    answers = [
        _Answer(session, each, seed, times, plans[each.name]) for each in exercises
    ]
    for answer in answers:
        answer.rehearse()
    for number, answer in enumerate(answers, 1):
        session.account.reserve(n_all - number, n_all)
        exercise, result = answer.exercise, answer.judged()
        touched = not all(before.solved for before in results.values())
        touched = touched or session.goes_on_below(exercise.name)
        if touched and not _is_clear(result):
            doubtful.append(answer)
        results[exercise.name] = replace(result, calls=())  # they may be large
    for number, answer in enumerate(doubtful, 1):
        session.account.reserve(len(doubtful) - number, n_all)
        with session.alone(answer.exercise.name):
            answer.rehearse()
            alone = answer.judged()
        if alone.points > results[answer.exercise.name].points:
            results[answer.exercise.name] = replace(alone, calls=())
    flags = _said_once({name: _flags(session, name) for name in results}, session)
    return tuple(
        replace(
            result,
            blamed=_earlier(result, [*results.values()]),
            flags=flags[name],
            as_in_solutions=result.solved and is_as_in_solutions(session, name),
        )
        for name, result in results.items()
    )


def _earlier(
    result: ExerciseResult, in_order: Sequence[ExerciseResult]
) -> tuple[str, ...]:
    """Return which exercises are to blame, without those that a lesson asks for later.

    The course lends its own version of these, so that one is not written is no error.
    """
    later = in_order[in_order.index(result) + 1 :]
    lent = {each.exercise for each in later if each.is_unwritten}
    return tuple(name for name in result.blamed if name not in lent)


def is_as_in_solutions(session: Session, exercise: str) -> bool:
    """Decide whether a function in an answer's cell is the course's own.

    Names, comments, docstrings, annotations and layout play no part.
    """
    forms = (session.forms or {}).get(exercise, ())
    return not own_forms(exercise).isdisjoint(forms)


@functools.cache
def own_forms(exercise: str) -> frozenset[str]:
    """Return the forms of the course's answer: in the teacher's notebook, and here."""
    loaded = load(exercise)
    texts = (
        as_answer(loaded.reference),
        textwrap.dedent(inspect.getsource(loaded.reference)),
    )
    cells = [("solution", text, exercise) for text in texts]
    return frozenset(forms_of(cells).get(exercise, ()))


def _is_clear(result: ExerciseResult) -> bool:
    """Decide whether an answer is solved, has a diagnosis, or is but the stub."""
    known = result.solved or bool(result.diagnosis)
    raised = [call.result.raised for call in result.calls]
    at_the_stub = all(each is not None and each.line for each in raised)
    return known or (result.is_unwritten and at_the_stub)


@dataclass
class _Rehearsed:
    """A visible case that has run already, and what it has raised."""

    student: StudentFunction
    rng: np.random.Generator
    error: Exception | None = None


@dataclass
class _SessionRunner:
    """Calls an answer in the sandbox, without the judge's clock."""

    session: Session
    exercise: str
    when: When
    bound: Mapping[str, Function]

    def __call__(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> CallResult:
        with paused_limit():
            return self.session.call(
                self.exercise, self.when, arguments, keywords, self.bound
            )

    def forget(self) -> None:
        """Let the next call be the first of a child."""
        with paused_limit():
            self.session.forget()


class _Answer:
    """One exercise's answer, and the way to judge it.

    The visible cases of all exercises come first. What a child replies in them can tell
    nothing of a hidden input, so it may be shown; and one child serves all of them,
    then all the hidden cases.
    """

    def __init__(
        self,
        session: Session,
        exercise: Exercise,
        seed: int,
        times: Times,
        plan: Plan,
    ) -> None:
        self.session = session
        self.exercise = exercise
        self.seed = seed
        self.times = times
        self.plan = plan
        self.planned: tuple[When, tuple[str, ...], bool] | None = None
        self.when: When = "check"
        self.bound: tuple[str, ...] = ()
        self.rehearsed: dict[tuple[str, tuple[str, ...]], _Rehearsed] = {}
        self.takes_too_long = False
        self.seconds = TEST_SECONDS if exercise.is_test else JUDGING_SECONDS
        self.seconds *= 2 if session.last_try else 1

    def rehearse(self) -> None:
        """Run the visible cases; ``judged`` finds them done.

        If one fails, run them as they will be judged next: with right answers to the
        earlier exercises.
        """
        self.rehearsed.clear()
        self.planned = None
        self.takes_too_long = False
        try:
            with time_limit(self.seconds):
                self._rehearse(())
                failed = any(rehearsed.error for rehearsed in self.rehearsed.values())
                if failed and self.exercise.uses:
                    self._rehearse(self.exercise.uses)
        except TimeLimitExceeded:
            self._give_up()

    def _rehearse(self, bound: tuple[str, ...]) -> None:
        when = self.session.answer_moments(self.exercise.name)[0]
        runner = self._make_runner(when, bound)
        for case in filter(lambda case: case.visible, self.exercise.cases):
            student = StudentFunction(self.exercise, runner, [], case)
            rng = inputs_of(self.exercise, case, self.seed)
            rehearsed = _Rehearsed(student, rng)
            try:
                self._timed(case).run(student, rng)
            except Exception as error:
                rehearsed.error = error
            if any(call.result.kind == "untried" for call in student.calls):
                return  # there is more time for it later
            self.rehearsed[case.name, bound] = rehearsed

    def judged(self) -> ExerciseResult:
        """Return the result in words, with the calls."""
        try:
            if not self.takes_too_long:
                with time_limit(self.seconds):
                    result = self._judged()
                    for verdict in result.cases:
                        self._restrict(verdict)
                    return _worded(self.exercise, result)
        except TimeLimitExceeded:
            self._give_up()
        why = TEST_TOO_LONG if self.exercise.is_test else TOO_LONG
        return no_answer(self.exercise, "output", why)

    def _restrict(self, verdict: CaseVerdict) -> None:
        """Let hidden cases name few exceptions of a submission, whatever it raises.

        Which kind, in which line: that may spell a part of the inputs, and each case,
        of each exercise, another part.
        """
        failure, named = verdict.failure, self.session.named
        raised = failure.call.result.raised if failure and failure.call else None
        if failure is None or failure.call is None or raised is None or verdict.visible:
            return
        named.add((raised.types, raised.line_number))
        if len(named) > MAX_NAMED:
            result = replace(failure.call.result, raised=Raised(("",)))
            failure.call = replace(failure.call, result=result)

    def _give_up(self) -> None:
        """Record that there was too much to do; raise that on the first try."""
        if not self.session.last_try:
            raise TimedOutOnce from None
        self.takes_too_long = True

    def _judged(self) -> ExerciseResult:
        """Judge the answer at the check, and one at the end that earns more.

        Who mends an answer in a cell further below has run its check again.
        """
        cases = [self._timed(case) for case in self.exercise.cases]
        cases.sort(key=lambda case: not case.visible)
        results = []
        for when in self.session.answer_moments(self.exercise.name):
            make_runner = partial(self._make_runner, when)
            judged = judge(self.exercise, make_runner, cases=cases, seed=self.seed)
            results.append(judged)
            if judged.passed:
                break
            self.rehearsed.clear()
        result = max(results, key=lambda each: (not each.is_unwritten, each.points))
        order = [case.name for case in self.exercise.cases]
        verdicts = sorted(result.cases, key=lambda verdict: order.index(verdict.case))
        return replace(result, cases=tuple(verdicts))

    def _make_runner(self, when: When, bound: tuple[str, ...]) -> Runner:
        self.when, self.bound = when, bound
        functions = {used: load(used).reference for used in bound}
        return _SessionRunner(self.session, self.exercise.name, when, functions)

    @property
    def is_counted_only(self) -> bool:
        """Whether the answer is judged to find out which earlier answer is to blame."""
        return self.bound not in ((), self.exercise.uses)

    def _plan(self, visible: bool) -> None:
        """Hand the session the calls of the cases that follow."""
        planned = self.when, self.bound, visible
        if planned != self.planned:
            self.planned = planned
            cases = [case for case in self.exercise.cases if case.visible == visible]
            if self.is_counted_only:  # it ends at the first claim that does not hold
                cases = []
            self.session.plan([call for case in cases for call in self.plan[case.name]])

    def _timed(self, case: Case) -> Case:
        """Return the case with a clock on it."""
        key = f"{self.exercise.name}.{case.name}"

        def run(student: Any, rng: np.random.Generator) -> None:
            visible = case.visible and not self.is_counted_only
            self.session.hidden = not visible
            rehearsed = self.rehearsed.pop((case.name, self.bound), None)
            start = time.perf_counter()
            try:
                if rehearsed is None:
                    self._plan(visible)
                    case.run(student, rng)
                else:
                    student.calls.extend(rehearsed.student.calls)
                    student.has_compared = rehearsed.student.has_compared
                    student.is_single = rehearsed.student.is_single
                    rng.bit_generator.state = rehearsed.rng.bit_generator.state
                    if rehearsed.error:
                        raise rehearsed.error
            finally:
                seconds = time.perf_counter() - start
                self.times[key] = self.times.get(key, 0.0) + seconds

        return replace(case, run=run)


def _worded(exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
    """Return a result with its words."""
    cases = tuple(
        replace(verdict, why=clean_text(explain(exercise, verdict)), failure=None)
        for verdict in result.cases
    )
    report = clean_text(str(CheckReport(exercise, result, together=False)))
    return replace(result, cases=cases, report=report)


def no_answer(
    exercise: Exercise, status: CaseStatus = "invalid", why: str = ""
) -> ExerciseResult:
    """Return the result of an exercise that could not be read, or not be judged."""
    cases = tuple(
        CaseVerdict(
            *(case.name, case.claim, status, 0.0, case.points, case.visible),
            why=why,
            fine_point=case.fine_point,
        )
        for case in exercise.cases
    )
    return ExerciseResult(exercise.name, 0.0, exercise.points, cases, report=why)


def _flags(session: Session, exercise: str) -> tuple[Flag, ...]:
    """Return the library functions called in an exercise, each with a line if any."""
    flags: dict[str, Flag] = {}
    for flag in sorted(session.flags, key=lambda flag: (not flag.line, str(flag))):
        if flag.exercise == exercise:
            flags.setdefault(flag.what, flag)
    return tuple(
        flag if flag.line else replace(flag, line=_import_line(session, name))
        for name, flag in sorted(flags.items())
    )


def _said_once(
    flags: Mapping[str, tuple[Flag, ...]], session: Session
) -> dict[str, tuple[Flag, ...]]:
    """Return the flags; what marks every answer marks the notebook instead, once.

    A cell that reaches around the watch on libraries may have done it for any answer.
    """
    marked = [
        {flag.what for flag in flags[name]} & {*ALSO_RECORDED}
        for name in flags
        if name in session.called
    ]
    shared = set.intersection(*marked) if len(marked) > 1 else set()
    once: dict[str, Flag] = {}
    for flag in sorted(
        itertools.chain(*flags.values()), key=lambda flag: not flag.line
    ):
        if flag.what in shared:
            once.setdefault(flag.what, replace(flag, exercise=""))
    rest = {
        name: tuple(flag for flag in each if flag.what not in shared)
        for name, each in flags.items()
    }
    first = next(iter(flags), "")
    return rest | ({first: (*once.values(), *rest[first])} if once else {})


def _import_line(session: Session, function: str) -> str:
    """Return the learner's line that brings a name in, where no frame shows it."""
    name = function.rpartition(".")[2]
    for cell in session.cells:
        lines = cell.source.splitlines()
        for line in lines if cell.role in ("solution", "own") else ():
            if name in line and ("import" in line or "=" in line):
                return clean_text(line.strip())[:500]
    return ""


MOST_ANSWERS = 500  # of one exercise: a case asks for ten at most


def remembering(exercise: Exercise) -> Exercise:
    """Return the exercise with a spec that remembers its answers."""
    spec = exercise.expected_function
    answers: OrderedDict[bytes, Any] = OrderedDict()

    def remembered(*arguments: Any, **keywords: Any) -> Any:
        key = key_of(arguments, keywords)
        if key not in answers:
            answer = spec(*arguments, **keywords)
            if not key:
                return answer
            answers[key] = answer
            if len(answers) > MOST_ANSWERS:
                answers.popitem(last=False)
        return copied(answers[key])

    twin = copy.copy(exercise)
    twin.spec(remembered)
    return twin


def plan_of(exercise: Exercise, seed: int) -> Plan:
    """Return which calls the cases make if an answer is right."""
    runner, plan = local_runner(exercise.reference), {}
    for case in exercise.cases:
        student = StudentFunction(exercise, runner, [])
        judge_case(case, student, seed)
        calls = (planned_call(call.arguments, call.keywords) for call in student.calls)
        plan[case.name] = tuple(call for call in calls if call.key)
    return plan
