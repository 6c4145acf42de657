"""What all tests share: one thread for each process, and what runs in which process."""

import gc
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

import tests.early  # noqa: F401  # for those who call pytest themselves
from tests.browser import page_of

# No example has a limit of time: a machine with other work is no fault of the course.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")

# Files of many tests, of which each exercise, or family of cases, makes a group.
LARGEST = ("test_exercises.py", "test_hostile.py", "test_mutants.py")
# Lessons whose notebooks ``make test`` leaves to ``make test-all``: they train models.
THOROUGH_LESSONS = tuple(f"{number:02}" for number in range(4, 17))


# Lesson 16 has exercises named test_attention and the like. Their answers, and the
# tests of course_lib that are handed a function, are no tests of the course.
collect_ignore_glob = ["answers/*.py"]
OTHER_TESTS = ("course_lib.", "autograder.", "tests.answers.")


def pytest_pycollect_makeitem(obj: object) -> list[pytest.Item] | None:
    """Collect no function that a test's module has imported from one of those."""
    module = getattr(obj, "__module__", None) or ""
    return [] if str(module).startswith(OTHER_TESTS) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no examples in the docstrings of a file of tests that has none."""
    collectors = yield
    if file_path.name.startswith("test_") and b">>>" not in file_path.read_bytes():
        return [each for each in collectors if not isinstance(each, DoctestModule)]
    return collectors


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected, and none of theirs afterwards.

    Modules and some 19,000 tests stay to the end: to look through them takes a second,
    each time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class ByFile(LoadScopeScheduling):
    """Assign each file to one process, but of the largest ones each group of tests."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if not file.endswith(LARGEST):
            return file
        parameters = test.partition("[")[2].rstrip("]").split("-")
        return f"{file} {next((p for p in parameters if not p.isdecimal()), '')}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByFile:
    """Share the tests as ``ByFile`` says (loadgroup does nothing with pytest 9.2)."""
    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the notebooks that take long, before marks are selected.

    A browser's test that fails is tried once more: on a machine with other work one in
    some hundreds meets a page that is not yet drawn. pytest counts these as reruns.
    They come first, since the longest file is theirs: at the end the others would wait.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
        if item.path.suffix == ".ipynb" and item.path.name.startswith(THOROUGH_LESSONS):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Open an empty page in headless Chromium, the same one for a file's tests."""
    with page_of("about:blank") as page:
        yield page


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int | str | None, str, str]]:
    """Call ``autograder`` in this process; return exit code, output and errors."""

    def called(*arguments: object) -> tuple[int | str | None, str, str]:
        from autograder.commands import app  # most tests call no command

        monkeypatch.setattr(sys, "argv", ["autograder", *map(str, arguments)])
        code: int | str | None = 0
        try:
            app.run()
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return code, out, err

    return called


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a course folder without submissions: seconds, so once for a module."""
    from tests.submissions import open_course  # most tests need no course folder

    return open_course(tmp_path_factory.mktemp("original") / "course")


@pytest.fixture
def root(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy that course folder for one test, and change into the copy."""
    folder = shutil.copytree(original, tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder
