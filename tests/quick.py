"""Parameters of which ``make test`` tries a few and ``make test-all`` the others."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def all_but(quick: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """Return a test's parameters; all but the ``quick`` ones are thorough."""
    return [
        pytest.param(each, marks=() if each in quick else pytest.mark.thorough)
        for each in values
    ]
