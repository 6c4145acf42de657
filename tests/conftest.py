"""What all tests share: one thread for each process, and what runs in which process."""

import os

import pytest

# Tests share the processors by processes. Several threads in each of them wait for one
# another: with three processes on two cores, tiny tensors took ten times as long.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Files whose tests are many and independent, and what of a test's id makes a group.
GROUPS = {"test_exercises.py": ("exercise", "name"), "test_hostile.py": ("family",)}
# Lessons whose notebooks ``make test`` leaves to ``make test-all``: they train models.
THOROUGH_LESSONS = ("04", "05", "06", "07", "08", "09")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Assign each file to one process, but of the largest ones each group of tests."""
    file = item.nodeid.partition("::")[0]
    item.add_marker(pytest.mark.xdist_group(f"{file} {_group(item)}"))
    if item.path.suffix == ".ipynb" and item.path.name.startswith(THOROUGH_LESSONS):
        item.add_marker(pytest.mark.thorough)


def _group(item: pytest.Item) -> str:
    """Return what a test shares with others of its file; nothing for whole files."""
    parameters = getattr(item, "callspec", None)
    if parameters and item.path.name in GROUPS:
        for name in GROUPS[item.path.name]:
            if name in parameters.params:
                return str(parameters.params[name])
        return parameters.id.partition("-")[0]
    return ""
