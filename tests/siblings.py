"""Misconceptions that a sibling bank does not name: ``python -m tests.siblings``.

``python -m tests.siblings softmax masked_softmax online_softmax`` makes each edit of
one bank in the others' right answers too, where the edited text stands there as well,
and lists what is refused without a name. ``--rename x=scores`` tries an edit with other
names too. Which of them people write, and what is then true of it, is for the author.
"""

import argparse
import ast
import importlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.checking.call import Call
from autograder.checking.edits import EditError, Entry, read_entries
from autograder.checking.exercise import Exercise
from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.matrix import judge_function
from autograder.checking.registry import load


def entries(name: str) -> Iterator[Entry]:
    """Read the misconceptions of a bank that are edits, as they are written there."""
    module = importlib.import_module(f"autograder.exercises.{name}")
    tree = ast.parse(Path(f"{module.__file__}").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="edits"), args=[ast.Constant(value=str(text))]
            ):
                yield from read_entries(text)


def renamed(edits: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Return edits with other names.

    >>> renamed(["np.max(x -> np.min(x"], {"x": "scores"})
    ['np.max(scores -> np.min(scores']
    """
    return [
        re.sub(r"(?<!\.)\b\w+\b", lambda match: names.get(match[0], match[0]), edit)
        for edit in edits
    ]


def unnamed(
    one: Exercise, other: Exercise, names: Mapping[str, str]
) -> Iterator[tuple[Entry, str]]:
    """Yield edits of one bank that the other refuses and does not name.

    Each comes with the sentence that is told instead, or "".
    """
    code = other.code
    code.names.update(
        {name: one.code.names[name] for name in {*one.code.names} - {*code.names}}
    )
    known = {each.name for each in other.misconceptions}
    for entry in entries(one.name):
        for edits in (list(entry.edits), renamed(entry.edits, names)):
            try:
                function = code.function(code.read(edits))
            except EditError:
                continue
            if entry.name not in known:
                result = judge_function(other, function, other.cases, NOTEBOOK_SEED)
                if result.passed or result.diagnosis:
                    break
                if not any(map(_lacks_a_name, result.calls)):
                    yield entry, result.evidence
            break


def _lacks_a_name(call: Call) -> bool:
    """Decide whether an edit speaks of what the other answer has not."""
    raised = call.result.raised
    return raised is not None and "NameError" in raised.types


def main(exercises: Sequence[str], names: Mapping[str, str]) -> None:
    for one, other in itertools.permutations(map(load, exercises), 2):
        for entry, evidence in unnamed(one, other, names):
            print(f"{other.name} has no {entry.name} ({one.name}): {entry.diagnosis}")
            print(*(f"    | {edit}" for edit in entry.edits), sep="\n")
            print(f"    {evidence or 'Nothing is told.'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.siblings")
    parser.add_argument("exercises", nargs="+", metavar="exercise")
    parser.add_argument("--rename", nargs="*", default=[], metavar="name=other")
    options = parser.parse_args()
    main(options.exercises, dict(each.split("=") for each in options.rename))
