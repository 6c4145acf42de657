"""Figures of scores by length and of losses by time have the numbers passed in."""

import numpy as np
import pytest

from course_lib import figures

ALT = "Nothing but a test."
LENGTHS = ["1–2", "3", "4–5"]


def axes_of(picture):
    return picture.figure.axes[0]


def test_line_goes_through_the_medians():
    runs = [[1.0, 5.0, 9.0], [3.0, 6.0, 7.0], [2.0, 7.0, 8.0]]
    picture = figures.scores_by_length(LENGTHS, {"a": runs}, ylabel="BLEU", alt=ALT)
    line = axes_of(picture).lines[0]
    assert [*line.get_ydata()] == [2.0, 6.0, 8.0]
    assert [each.get_text() for each in axes_of(picture).get_xticklabels()] == LENGTHS


def test_bars_reach_from_smallest_to_greatest_run():
    runs = [[1.0, 5.0, 9.0], [3.0, 6.0, 7.0], [2.0, 7.0, 8.0]]
    picture = figures.scores_by_length(LENGTHS, {"a": runs}, ylabel="BLEU", alt=ALT)
    (bars,) = axes_of(picture).collections
    ends = [[*segment[:, 1]] for segment in bars.get_segments()]
    assert ends == [[1.0, 3.0], [5.0, 7.0], [7.0, 9.0]]


def test_systems_differ_in_more_than_colour():
    runs = {name: [[1.0, 2.0, 3.0]] for name in "abc"}
    picture = figures.scores_by_length(LENGTHS, runs, ylabel="BLEU", alt=ALT)
    texts = [each.get_text() for each in axes_of(picture).get_legend().get_texts()]
    assert texts == ["a", "b", "c"]
    handles = axes_of(picture).containers
    assert len({each.lines[0].get_marker() for each in handles}) == 3


def test_scores_that_do_not_fit_lengths_are_refused():
    with pytest.raises(ValueError, match=r"\(1, 2\) for 3 lengths"):
        figures.scores_by_length(LENGTHS, {"a": [[1, 2]]}, ylabel="BLEU", alt=ALT)


def test_curves_end_with_their_training():
    drawn = figures.losses_by_time({"a": (5.0, [8, 4]), "b": (2.0, [8])}, alt=ALT)
    minutes = [[*line.get_xdata()] for line in axes_of(drawn).lines]
    assert minutes == [[1.25, 3.75], [1.0]]


def test_training_without_losses_is_refused():
    with pytest.raises(ValueError, match="'a' has no losses"):
        figures.losses_by_time({"a": (1.0, [])}, alt=ALT)


def test_arguments_are_not_changed():
    runs = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    figures.scores_by_length(LENGTHS, {"a": runs}, ylabel="BLEU", alt=ALT)
    assert runs.tolist() == [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]


def test_gains_end_at_medians_and_show_each_run():
    scores = {"a": [1.0, 3.0, 2.0], "b": [6.0, 4.0], "c": [3.0]}
    axes = axes_of(figures.gains(scores, xlabel="BLEU", alt=ALT))
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert ends == [2.0, 2.0, 5.0, 3.0]  # b has a part that it gained
    assert [[*line.get_xdata()] for line in axes.lines] == [
        [*runs] for runs in scores.values()
    ]
    labels = [each.get_text() for each in axes.texts]
    assert labels == ["2.0", "5.0 (+3.0)", "3.0 (−2.0)"]


def test_gains_of_no_runs_are_refused():
    for scores in ({}, {"a": []}):
        with pytest.raises(ValueError, match="one run at least"):
            figures.gains(scores, xlabel="BLEU", alt=ALT)
