"""What a worker answers, as text, and what its client takes of that.

Dask unpickles whatever its scheduler and workers send: they are trusted machines. But
one of them may have another version of this course, or be broken; its answer is checked
field by field, so that it costs that worker its work and no class its grades.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

from autograder.checking.result import ExerciseResult
from autograder.grading.child_client import clean_text
from autograder.grading.release import checked_exercises
from autograder.grading.result import CodeResult
from autograder.grading.workers import GradingTask, GradingTaskResult

MAX_ANSWER = 256 << 20  # characters: pictures of eight submissions are far from it
MAX_SENTENCE = 2000  # characters of a fault or a refusal, from its end
MAX_ADDRESS = 200  # characters


class OddAnswer(ValueError):
    """An answer that does not fit what was asked."""


@dataclass(frozen=True)
class ChunkResult:
    """The results of some tasks.

    worker : address of the one that answers
    slow : tasks that took too long, to be tried once more
    ungraded : tasks to which nothing happened, since the worker refused
    refusal : why it refused to go on, "" if it did not
    note : what its client should know although it grades, "" if nothing
    """

    worker: str
    results: list[GradingTaskResult] = field(default_factory=list)
    slow: list[GradingTask] = field(default_factory=list)
    ungraded: list[GradingTask] = field(default_factory=list)
    refusal: str = ""
    note: str = ""


def written(chunk_result: ChunkResult) -> str:
    """Return a chunk's result as the text that ``read`` reads.

    What is ungraded goes without saying.
    """
    results = [
        {
            "key": each.task.key,
            "judged": each.code_result.as_json() if each.code_result else "",
            "times": each.times,
            "fault": each.fault,
        }
        for each in chunk_result.results
    ]
    return json.dumps(
        {
            "worker": chunk_result.worker,
            "results": results,
            "slow": [task.key for task in chunk_result.slow],
            "refusal": chunk_result.refusal,
            "note": chunk_result.note,
        }
    )


def read(
    answer: object, tasks: Sequence[GradingTask], expected: Sequence[ExerciseResult]
) -> ChunkResult:
    """Return what a worker has answered; raises ``OddAnswer``.

    tasks : what it was sent
    expected : results of the lesson's exercises, for their names and points, and of
        those that only earlier releases had
    """
    if not isinstance(answer, str) or len(answer) > MAX_ANSWER:
        raise OddAnswer(f"no text of {MAX_ANSWER} characters at most")
    left = {task.key: task for task in tasks}
    try:
        data = json.loads(answer)
        chunk_result = ChunkResult(
            _text(data["worker"], MAX_ADDRESS),
            [
                _result(each, left.pop(each["key"]), expected)
                for each in data["results"]
            ],
            [_once_more(left.pop(key)) for key in data["slow"]],
            [*left.values()],
            _text(data["refusal"]),
            _text(data["note"]),
        )
    except OddAnswer:
        raise
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise OddAnswer(f"what cannot be read ({type(error).__name__})") from None
    if chunk_result.ungraded and not chunk_result.refusal:
        raise OddAnswer("no result for a submission, and no reason")
    return chunk_result


def _once_more(task: GradingTask) -> GradingTask:
    """Return a task that took too long, to be tried alone."""
    if task.last_try:
        raise OddAnswer("a last try that is no result")
    return replace(task, last_try=True, deaths=0)


def _result(
    data: dict[str, Any], task: GradingTask, expected: Sequence[ExerciseResult]
) -> GradingTaskResult:
    """Return one submission's result; its task is ours, whatever the worker says."""
    fault = _text(data["fault"])
    if not data["judged"] and fault:
        return GradingTaskResult(task, None, {}, fault)
    code_result = CodeResult.from_json(data["judged"])
    if not fits(code_result, CodeResult) or not fits(data["times"], dict[str, float]):
        raise OddAnswer("verdicts with fields of other types")
    checked = checked_exercises(task.cells or ())
    _check_verdicts(
        code_result, [e for e in expected if not checked or e.exercise in checked]
    )
    return GradingTaskResult(task, code_result, data["times"])


def _check_verdicts(
    code_result: CodeResult, expected: Sequence[ExerciseResult]
) -> None:
    exercises = [(each.exercise, each.max_points) for each in code_result.exercises]
    if exercises != [(each.exercise, each.max_points) for each in expected]:
        raise OddAnswer("the verdicts of other exercises")
    points = [(each.points, each.max_points) for each in code_result.exercises]
    for each in code_result.exercises:
        points += [(case.points, case.max_points) for case in each.cases]
    if not all(0 <= earned <= most for earned, most in points):
        raise OddAnswer("points that are not there to be earned")


def _text(value: object, length: int = MAX_SENTENCE) -> str:
    if not isinstance(value, str):
        raise OddAnswer("a sentence that is no text")
    return clean_text(value[-length:])


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type, as deep as our records go.

    >>> fits((1.5, 2), tuple[float, ...]), fits({"a": "b"}, dict[str, float])
    (True, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, origin) and all(
            fits(key, inner[0]) and fits(each, inner[1]) for key, each in value.items()
        )
    if origin in (tuple, list):
        return isinstance(value, origin) and all(fits(each, inner[0]) for each in value)
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        return isinstance(value, hint) and all(
            fits(getattr(value, each.name), hints[each.name])
            for each in fields(hint)
            if each.compare
        )
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    return hint is Any or isinstance(value, hint)
