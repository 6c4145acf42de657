"""What a page has, in a process of CPython: the wheel, NumPy, the standard library.

Run as a program it prints verdicts as JSON:
``python -I -S bare.py WHEEL SITE_PACKAGES COUNT NAME…``. It imports nothing of the
course before it has shut out everything else.
"""

import importlib.abc
import json
import signal
import sys

ABSENT = {"fcntl", "multiprocessing", "_multiprocessing", "ctypes.util", "termios"}
ALLOWED = {"autograder", "course_lib", "numpy"}


class Refusing(importlib.abc.MetaPathFinder):
    """Refuse whatever a page does not have."""

    def find_spec(self, name, path=None, target=None):
        """Raise ``ImportError`` for what is neither allowed nor of Python."""
        top = name.partition(".")[0]
        if name in ABSENT or top in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if top.startswith("_sysconfigdata"):  # Python's own, named after the system
            return None
        if top not in ALLOWED and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def functions_of(exercise, count):
    """Return the right versions of a bank and its misconceptions, the first of them.

    count : of misconceptions; None for all
    """
    functions = dict(exercise.functions_that_are_right)
    for each in exercise.misconceptions[:count]:
        functions[f"misconception {each.name}"] = each.function
    return functions


def verdicts(name, make_factory, count=None):
    """Return by function what the judge says of it: points, statuses, diagnosis, text.

    make_factory : from an answer to what ``judge`` calls it by
    """
    from autograder.checking.judging import judge
    from autograder.checking.registry import load
    from autograder.messages.report import CheckReport

    exercise = load(name)
    cases = [case for case in exercise.cases if case.visible]
    verdict = {}
    for which, function in functions_of(exercise, count).items():
        result = judge(exercise, make_factory(function), cases=cases)
        report = CheckReport(exercise, result)
        verdict[which] = {**report.data(), "text": str(report)}
    return verdict


def main(wheel, packages, count, *names):
    """Print the verdicts on some exercises, and what was imported for them."""
    sys.path += [wheel, packages]
    sys.meta_path.insert(0, Refusing())
    del signal.setitimer
    from autograder.book.in_page.check import check_json, page_runner_factory
    from autograder.checking.registry import exercises_of

    number = None if count == "all" else int(count)
    judged = {name: verdicts(name, page_runner_factory, number) for name in names}
    assert {*names} <= {exercise.name for exercise in exercises_of()}
    missing = json.loads(check_json(json.dumps({"name": "adam_step", "text": ""})))
    files = {getattr(each, "__file__", None) or "" for each in sys.modules.values()}
    ours = [file for file in files if file.startswith(wheel)]
    modules = sorted({name.partition(".")[0] for name in sys.modules})
    done = {"judged": judged, "modules": modules, "files": ours, "missing": missing}
    print(json.dumps(done))


if __name__ == "__main__":
    main(*sys.argv[1:])
