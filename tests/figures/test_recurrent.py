"""The way of the gradient, through one vector and with attention (lesson 08)."""

import pytest

from course_lib import figures
from tests.figures.test_figures import overlaps, texts

ALT = "From vier back to four: seven arrows through one vector, two with attention."
SOURCE = ["four", "hundred", "and", "seventy", "three", "thousand"]
TARGET = ["vier", "hundert", "drei", "und", "siebzig", "tausend"]


def marked_arrows(figure):
    return [patch for patch in figure.figure.axes[0].patches if patch.get_zorder() == 3]


@pytest.mark.parametrize("m", [2, 3, 6])
def test_way_back_has_an_arrow_for_each_state_without_attention(m):
    figure = figures.gradient_paths(SOURCE[:m], TARGET, alt=ALT)
    assert len(marked_arrows(figure)) == (m + 1) + 2
    titles = {text.get_text() for text in texts(figure)}
    expected = {f"through one vector: {m + 1} arrows", "with attention: 2 arrows"}
    assert expected <= titles
    assert overlaps(figure) == []


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (["four"], TARGET, "^the source has 1 tokens: give 2 to 8"),
        (SOURCE, TARGET * 2, "^the target has 12 tokens: give 2 to 8"),
    ],
)
def test_too_few_and_too_many_tokens_are_refused(source, target, message):
    with pytest.raises(ValueError, match=message):
        figures.gradient_paths(source, target, alt=ALT)
