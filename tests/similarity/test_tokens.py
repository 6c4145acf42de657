"""Tokens: equal for what is the same but for names and layout, whatever the text."""

import pytest

from autograder.similarity.tokens import MAX_RESTARTS, tokens
from tests.grading.mangled import JUNK

ANSWER = """\
def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
"""
RENAMED = '''\
def softmax(scores, over=-1.0):
    """My own docstring."""
    # and a remark
    e = np.exp(
        scores - scores.max(axis=over, keepdims=True)
    )

    return e / e.sum(axis=over, keepdims=True)  # done
'''


def kinds(source):
    return [each.kind for each in tokens(source, 10_000)]


def test_names_comments_numbers_and_layout_do_not_count():
    assert kinds(ANSWER) == kinds(RENAMED)


@pytest.mark.parametrize("change", ["np.exp→np.log", "x - x→x + x", "return→yield"])
def test_other_code_has_other_tokens(change):
    old, new = change.split("→")
    assert kinds(ANSWER) != kinds(ANSWER.replace(old, new))


def test_tokens_say_where_they_stand():
    source = f"é = 'ü'\n\n{RENAMED}"
    for token in tokens(source, 10_000):
        if token.kind not in ("end", "indent", "dedent"):
            assert source[token.start : token.end] == token.text


def test_code_below_a_line_that_is_no_python_is_read():
    broken = "def f(x):\n        a = 1\n    return x\n"
    assert kinds(f"{broken}{ANSWER}")[-20:] == kinds(ANSWER)[-20:]


@pytest.mark.parametrize(
    "source",
    [
        *(each for each in JUNK if isinstance(each, str) and "\ud800" not in each),
        "(" * 10_000 + ")" * 10_000,
        "\n".join(" " * depth + "if x:" for depth in range(150)),
        "'''\n\"\"\"\n" * 2_000,
        "x = '\n" * 2_000,
        " a\n  b\n c\n" * 2_000,
        "\x0c\x0b\x85\u2028x = 1\r\n",
        "?$!" * 3_000,
        "9" * 50_000,
    ],
    ids=lambda source: repr(source[:12]),
)
def test_any_text_has_tokens_within_it(source):
    result = tokens(source, 500)
    assert len(result) <= 500
    assert all(0 <= each.start <= each.end <= len(source) for each in result)


def test_restarts_are_limited():
    source = "'''" + "\n  '''\n x\n" * 50
    assert MAX_RESTARTS < 50
    assert tokens(source, 10_000) is not None
