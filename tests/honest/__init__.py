"""The corpus of honest submissions: each of them must get full marks.

A case is a function that changes a right submission of lesson 01 as honest people do.
"""

import importlib
import pkgutil
from collections.abc import Callable

from tests.submissions import Submission

Build = Callable[[Submission], None]
CASES: dict[str, Build] = {}
OUT_OF_ORDER: set[str] = set()


def honest(build: Build) -> Build:
    """Add the decorated builder to the corpus; its name says what is special."""
    if build.__name__ in CASES:
        raise ValueError(f"two honest cases are called {build.__name__}")
    CASES[build.__name__] = build
    return build


def out_of_order(build: Build) -> Build:
    """Mark a case whose cells were run in another order than they stand in.

    Running the saved cells once from top to bottom gives such a case less.
    """
    OUT_OF_ORDER.add(build.__name__)
    return build


def cases() -> dict[str, Build]:
    """Return all cases by name, from every module of this folder."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("test_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return CASES
