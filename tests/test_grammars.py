"""What is compiled on import of nbformat: no grammar, until one is asked for."""

import subprocess
import sys

import pytest

from autograder import grammars

NOTEBOOKS = """
import sys, autograder, nbformat, jsonschema
assert "rfc3987_syntax.syntax_helpers" not in sys.modules
assert nbformat.validator.validate(nbformat.v4.new_notebook()) is None
"""
CHECKED = f"""{NOTEBOOKS}
conforms = jsonschema.FormatChecker().conforms
assert conforms("https://example.org/é", "iri") and not conforms("::a b", "iri")
import rfc3987_syntax
assert rfc3987_syntax.is_valid_syntax_iri("https://example.org/é")
assert "rfc3987_syntax.syntax_helpers" in sys.modules
"""
OTHER_NAMES = """
import autograder, rfc3987_syntax, rfc3987_syntax.utils
assert rfc3987_syntax.is_valid_syntax_port("80")
"""


@pytest.mark.parametrize("code", [CHECKED, OTHER_NAMES])
def test_grammars_are_compiled_when_they_are_asked_for(code):
    pytest.importorskip("rfc3987_syntax")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_package_that_is_missing_or_already_in_stays_so(monkeypatch):
    module = object()
    monkeypatch.setitem(sys.modules, grammars.NAME, module)
    grammars.compile_when_asked()
    assert sys.modules[grammars.NAME] is module
    monkeypatch.delitem(sys.modules, grammars.NAME)
    monkeypatch.setattr(grammars, "find_spec", lambda name: None)
    grammars.compile_when_asked()
    assert grammars.NAME not in sys.modules
