"""Leave 38 grammars uncompiled until one is asked for.

What imports nbformat imports jsonschema, and that the package ``rfc3987_syntax``, which
compiles them at once: 1.3 s of processor time, of 1.5 s in all, in each command that
opens a notebook (``python -X importtime -c "import rfc3987_syntax"``). They decide
whether a text is an IRI; no notebook asks for that.
"""

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

NAME = "rfc3987_syntax"


class _NotYetImported(ModuleType):
    """Stands for the package until one of its functions is called."""

    def is_valid_syntax(self, term: str, value: str) -> bool:
        """Decide whether a text has the syntax of a term, such as ``iri``."""
        valid: bool = _imported().is_valid_syntax(term, value)
        return valid

    def __getattr__(self, name: str) -> Any:
        """Return anything else from the package itself."""
        if name.startswith("__"):  # Python's own questions to a module
            raise AttributeError(name)
        return getattr(_imported(), name)


def compile_when_asked() -> None:
    """Let the package be imported where it is used, if it is there and not yet in."""
    if NAME in sys.modules:
        return
    try:
        spec = find_spec(NAME)
    except ModuleNotFoundError:  # a finder that refuses it, as a page's may
        return
    if spec:
        module = _NotYetImported(NAME)
        module.__spec__ = spec
        module.__path__ = list(spec.submodule_search_locations or ())
        sys.modules[NAME] = module


def _imported() -> ModuleType:
    if isinstance(sys.modules.get(NAME), _NotYetImported):
        del sys.modules[NAME]
    return importlib.import_module(NAME)
