"""Which cause an exception has: by what it says, and what the failing code holds.

A sentence is about the failing expression and true of it; where nothing certain can be
said, there is none. It names no number of the inputs, so that it is the same in every
call that ends for the same cause.
"""

import re
import types
from collections.abc import Sequence

from autograder.checking.causes.failing_code import FailingCode
from autograder.checking.causes.of_arrays import CAUSES as OF_ARRAYS
from autograder.checking.causes.of_calls import inside_a_call
from autograder.checking.causes.of_dictionaries import going_through_keys
from autograder.checking.causes.of_names import CAUSES as OF_NAMES
from autograder.checking.causes.of_tensors import CAUSES as OF_TENSORS
from autograder.checking.causes.of_values import CAUSES as OF_VALUES

MAX_CAUSE = 400  # characters


def cause_of(
    kinds: tuple[str, ...],
    message: str,
    traces: Sequence[types.TracebackType],
) -> str:
    """Return what an exception means, or "".

    kinds : names of its class and of the class's bases
    traces : the learner's part of its traceback, the outermost function first
    """
    try:
        message, code = " ".join(message.split()), FailingCode(traces)
        inner = traces[-1].tb_next if traces else None
        if sentence := inside_a_call(message, code, inner):
            return sentence[:MAX_CAUSE]
        return _cause(kinds, message, code)
    except Exception:  # a value of the learner's own that nothing here foresaw
        return ""


def _cause(kinds: tuple[str, ...], message: str, code: FailingCode) -> str:
    if sentence := going_through_keys(message, code):
        return sentence[:MAX_CAUSE]
    for kind, pattern, explain in (*OF_ARRAYS, *OF_TENSORS, *OF_NAMES, *OF_VALUES):
        if kind not in kinds:
            continue
        if match := re.search(pattern, message):
            if sentence := explain(match, code):
                return sentence[:MAX_CAUSE]
    return ""
