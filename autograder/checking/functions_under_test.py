"""Functions as learners' tests get them: calls are held to limits, and recorded.

A test sees of a function what it returns, and nothing else: all have one name and one
kind, and arguments and results are copies. What the test does then is its verdict.
"""

import builtins
import inspect
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from autograder.checking.call import Call, Raised, copied, silenced
from autograder.checking.exercise import Function
from autograder.checking.student import StudentFunction
from autograder.checking.values import is_array, is_tensor, leaves

# What a test may ask of one function: numbers, not seconds, so that the notebook and
# grading say the same, however busy the machine is.
MAX_NUMBERS = 4000  # in the arguments of one call; they cross to another process
MAX_RESULTS = 400_000  # in the results of all calls
MAX_CALLS = 4000
MAX_RECORDED = 1_000_000  # numbers in the calls that are kept to explain a verdict
Way = Literal["passes", "rejects", "breaks", "answers", "stops", "ends"]
CAUGHT = ("rejects", "breaks")
Asked = tuple[tuple[Any, ...], dict[str, Any]]  # arguments by position, and by name


def under_test(
    function: Function,
    contract: Function | None = None,
    record: "CallsMade | None" = None,
) -> Function:
    """Return a function as a test gets it: data go in, copies of the results come out.

    contract : a right version of it, which says what may be asked; by default the
        function itself
    record : gets the calls that the test makes of it

    Its name, signature and source are the same for every function. So is what happens
    to a call that ``contract`` does not take, by its parameters or by an error that it
    raises: the error is of ``contract``, whatever the function would do. Where the
    function itself fails, the error's kind is told, and nothing else of it.

    >>> under_test(abs)(-3)
    3
    """

    def function_under_test(*arguments: Any, **keywords: Any) -> Any:
        return _answer(function_under_test, arguments, keywords)

    _FUNCTIONS[function_under_test] = function
    _CONTRACTS[function_under_test] = contract or function
    _USED[function_under_test] = Counter()
    if record is not None:
        _RECORDS[function_under_test] = record
    return function_under_test


class HandedOutCall(NamedTuple):
    """A call of a function under test, as it was recorded.

    arguments : by position and by name
    expected : what a right version returns
    result : what the function returned; None if it stopped with an error
    stopped : the kind of its error, "" if there is none
    refused : whether a right version refuses the call by an error, too
    """

    arguments: Asked
    expected: Any
    result: Any
    stopped: str = ""
    refused: bool = False


class CallsMade:
    """The calls of one function under test, up to ``MAX_RECORDED`` numbers.

    is_complete : whether none was left out
    """

    def __init__(self) -> None:
        """Begin with no call."""
        self.calls: list[HandedOutCall] = []
        self.is_complete = True
        self._numbers = 0

    def add(self, call: HandedOutCall) -> None:
        """Add a call, unless there are too many numbers to keep."""
        self._numbers += number_count([*call[:3]])
        self.is_complete &= self._numbers <= MAX_RECORDED
        if self.is_complete:
            self.calls.append(call)


# Not in the closure, where a test could look at what it is given.
_FUNCTIONS: WeakKeyDictionary[Function, Function] = WeakKeyDictionary()
_CONTRACTS: WeakKeyDictionary[Function, Function] = WeakKeyDictionary()
# What has been asked of each: "calls" and "numbers".
_USED: WeakKeyDictionary[Function, Counter[str]] = WeakKeyDictionary()
# The last error of each function itself, as its type's name and its message.
_ERRORS: WeakKeyDictionary[Function, tuple[str, str]] = WeakKeyDictionary()
# What is recorded of each, where its verdict is to be explained.
_RECORDS: WeakKeyDictionary[Function, CallsMade] = WeakKeyDictionary()
STOPPED = "the function under test stopped with this error"


def _answer(
    handed_out: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    require_small_data([arguments, keywords])
    function, contract = _FUNCTIONS[handed_out], _CONTRACTS[handed_out]
    asked = _asked(contract, arguments, keywords)
    used = _USED[handed_out]
    used["calls"] += 1
    if used["calls"] > MAX_CALLS:
        raise ValueError(
            f"a test calls a function under test at most {MAX_CALLS:,} times: fewer "
            "calls show the same"
        )
    result, expected, error = None, None, None
    if function is not contract:
        expected, error = _outcome(contract, asked)
    refused = error is not None
    if error is None:
        result, error = _outcome(function, asked)
        if error is not None and function is not contract:
            error = _of_its_kind(error)
        if error is not None:
            _ERRORS[handed_out] = type(error).__name__, str(error)
    if record := _RECORDS.get(handed_out):
        expected = result if function is contract else expected
        stopped = type(error).__name__ if error else ""
        refused |= function is contract and error is not None
        call = HandedOutCall(copied(asked), expected, copied(result), stopped, refused)
        record.add(call)
    used["numbers"] += number_count(result)
    if used["numbers"] > MAX_RESULTS:
        raise ValueError(
            f"the results of a function under test hold at most {MAX_RESULTS:,} "
            "numbers in all calls of a test: smaller arguments show the same"
        )
    # Raised here, it leads to no frame of a function, nor to another error.
    if error is not None:
        raise error.with_traceback(None)
    return result


def _asked(
    contract: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Asked:
    """Return a call by position as far as it goes, so that names do not matter.

    Raises ``TypeError``, the same for every function, if it does not fit.
    """
    try:
        signature = inspect.signature(contract)
    except ValueError:  # one of Python's own, that has none
        return arguments, keywords
    try:
        bound = signature.bind(*arguments, **keywords)
    except TypeError as error:
        reason = str(error)
    else:
        return bound.args, bound.kwargs
    parameters = ", ".join(signature.parameters)
    raise TypeError(f"the function under test takes ({parameters}): {reason}")


def _outcome(function: Function, asked: Asked) -> tuple[Any, Exception | None]:
    """Return what a function returns, or the exception that it raises."""
    arguments, keywords = copied(asked)
    try:
        with silenced():
            return copied(function(*arguments, **keywords)), None
    except Exception as error:
        return None, error


def _of_its_kind(error: Exception) -> Exception:
    """Return an exception of Python's own kind that says nothing else."""
    for kind in type(error).__mro__:
        if getattr(builtins, kind.__name__, None) is kind:
            try:
                return kind(STOPPED)
            except TypeError:  # one that asks for more, as UnicodeDecodeError
                continue
    return Exception(STOPPED)


def require_small_data(arguments: Any) -> None:
    """Raise where arguments hold functions, or too many numbers to be sent.

    Raises ``TypeError`` or ``ValueError``.
    """
    for _, leaf in leaves(arguments):
        if callable(leaf):
            raise TypeError(
                "a function under test takes data such as numbers, lists and arrays, "
                "and got a function"
            )
    size = number_count(arguments)
    if size > MAX_NUMBERS:
        raise ValueError(
            f"the arguments of a function under test hold at most {MAX_NUMBERS:,} "
            f"numbers in all, got {size:,}: smaller ones show the same"
        )


def number_count(value: Any) -> int:
    """Return how many numbers a value holds; eight characters count as one.

    >>> number_count([np.ones((2, 3)), "in all", 5])
    8
    """
    size = 0
    for _, leaf in leaves(value):
        if is_array(leaf) or is_tensor(leaf):
            size += int(np.prod(leaf.shape))
        else:
            size += 1 + len(leaf) // 8 if isinstance(leaf, str | bytes) else 1
    return size


# How a test answers


class Verdict(NamedTuple):
    """What a test says of one function.

    way : "passes"; "rejects", by an AssertionError; "breaks", with an error that the
        function itself raised, which any test shows; "answers", with a value in place
        of raising; "stops", with another error; "ends", if there is no result
    """

    way: Way
    call: Call

    @property
    def raised(self) -> Raised:
        """The exception, if there is one; else one without a name."""
        return self.call.result.raised or Raised(("",))


def verdict_of(
    student: StudentFunction,
    function: Function,
    contract: Function,
    record: CallsMade | None = None,
) -> Verdict:
    """Return what a learner's test says of a function.

    record : gets the calls that the test makes of it
    """
    handed_out = under_test(function, contract, record)
    call = student.record(handed_out)
    result = call.result
    if result.raised:
        raised = result.raised
        return Verdict(_way_of_error(handed_out, raised.types, raised.message), call)
    if result.kind != "value":
        return Verdict("ends", call)
    return Verdict("passes" if result.value is None else "answers", call)


def way_of(test: Function, function: Function, contract: Function | None = None) -> Way:
    """Return how a test of this process answers to a function."""
    handed_out = under_test(function, contract)
    try:
        with silenced():
            value = test(handed_out)
    except Exception as error:
        types = [each.__name__ for each in type(error).__mro__]
        return _way_of_error(handed_out, types, str(error))
    return "passes" if value is None else "answers"


def _way_of_error(handed_out: Function, types: Sequence[str], message: str) -> Way:
    """Return how a test answered that ended with this error."""
    if "AssertionError" in types:
        return "rejects"
    kind, text = _ERRORS.get(handed_out, ("", ""))
    return "breaks" if kind in types and message == text else "stops"


def function_of(call: Call) -> Function | None:
    """Return the function that a test got in a call."""
    return _FUNCTIONS.get(call.arguments[0]) if call.arguments else None


def without_repetitions(calls: Sequence[Call]) -> list[Call]:
    """Return the calls, of those with one function and one answer the first."""
    first: dict[Any, Call] = {}
    for call in calls:
        raised = call.result.raised
        answer = call.result.kind, str(call.result.value), raised and raised.types
        function = function_of(call)
        first.setdefault((function or id(call), answer), call)
    return [*first.values()]
