"""What all tests share: one thread for each process, and what runs in which process."""

import os

import pytest

# Tests share the processors by processes. Several threads in each of them wait for one
# another: with three processes on two cores, tiny tensors took ten times as long.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Assign each file to one process, and of the banks' tests each exercise."""
    for item in items:
        group = item.nodeid.partition("::")[0]
        if item.path.name == "test_exercises.py" and hasattr(item, "callspec"):
            parameters = item.callspec.params
            group += f" {parameters.get('exercise') or parameters.get('name')}"
        item.add_marker(pytest.mark.xdist_group(group))
