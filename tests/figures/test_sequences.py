"""Figures of lesson 02: queries point at keys, equal numbers lie on a line."""

import re

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.patches import Arc

from course_lib import figures
from course_lib.figures.drawing import COLOURS
from tests.figures.test_figures import (
    ALT,
    POINTS,
    contrast,
    numbers,
    overlaps,
    strings,
    texts,
)

GROUPS = {"she": ("queen", "girl"), "it": ("kite", "car", "boat")}


def plane(queries=None):
    queries = queries or {"she": np.array([2.0, 0.0]), "it": np.array([-1.0, -3.0])}
    keys = {
        group: dict(zip(nouns, numbers(len(nouns), 2), strict=True))
        for group, nouns in GROUPS.items()
    }
    return figures.queries_and_keys(queries, keys, alt=ALT), keys


def diagonal(others=None):
    by_hand = numbers(12)
    return figures.agreement(
        by_hand,
        others or {"autograd": by_hand, "finite differences": by_hand + 1e-9},
        xlabel="by hand",
        ylabel="by others",
        alt=ALT,
    )


def arrows():
    meanings = {"bank": [1.5, 1.5], "beside": [2.25, 0.75], "loan": [0.75, 2.25]}
    named = {f"{name} with a long name": tip for name, tip in meanings.items()}
    return figures.arrows_in_the_plane(named, xlabel="water", ylabel="money", alt=ALT)


def points(picture):
    return [c for c in picture.figure.findobj(PathCollection) if c.get_zorder() == 3]


KINDS = {"plane": lambda: plane()[0], "diagonal": diagonal, "arrows": arrows}


@pytest.fixture(params=KINDS, scope="module")
def picture(request):
    return KINDS[request.param]()


def test_svg_is_the_same_at_every_call_and_fits_a_page(picture):
    assert picture.svg() == picture.svg()
    width, height = re.search(
        r'width="([\d.]+)pt" height="([\d.]+)pt"', picture.svg()
    ).groups()
    assert float(width) / 72 <= 6 and float(height) / 72 <= 7


def test_texts_are_readable(picture):
    for text in texts(picture):
        assert text.get_fontsize() >= POINTS
        assert contrast(text.get_color(), "white") >= 4.5


def test_texts_do_not_overlap(picture):
    assert overlaps(picture) == []


@pytest.mark.parametrize(
    "tips",
    [
        {"she": [2.0, 0.0], "it": [-1.0, -3.0]},
        {"she": [9.0, 0.5], "it": [-9.0, -0.5]},
        {"she": [0.5, 9.0], "it": [-0.5, -9.0]},
    ],
)
def test_names_of_queries_are_inside_the_frame(tips):
    assert_names_are_inside(plane(tips)[0])


def test_names_of_arrows_are_inside_the_frame():
    assert_names_are_inside(arrows())
    down = {"to the far west": [-2.0, -0.1], "to the far east": [2.0, -0.1]}
    assert_names_are_inside(figures.arrows_in_the_plane(down, alt=ALT))


def assert_names_are_inside(picture):
    picture.figure.draw_without_rendering()
    (axes,) = picture.figure.axes
    frame = axes.get_window_extent()
    names = [text for text in axes.texts if text.get_text()]
    assert names
    for name in names:
        box = name.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1, name.get_text()
        assert frame.y0 <= box.y0 and box.y1 <= frame.y1, name.get_text()


def test_each_group_has_its_own_marks_at_its_keys():
    picture, keys = plane()
    marks = points(picture)
    for group, mark in zip(GROUPS, marks, strict=True):
        np.testing.assert_allclose(mark.get_offsets(), [*keys[group].values()])
    assert not np.array_equal(
        marks[0].get_paths()[0].vertices, marks[1].get_paths()[0].vertices
    )


def test_queries_and_keys_have_their_names():
    nouns = {noun for names in GROUPS.values() for noun in names}
    assert {"query of she", "query of it", *nouns} <= {*strings(plane()[0])}


def test_names_of_crowded_keys_do_not_overlap():
    """Sixteen keys in four heaps, as they are learned in lesson 02."""
    rng = np.random.default_rng(0)
    groups = {"she": (0, -3), "he": (4, 0), "it": (-4, 0), "they": (0, 3)}
    queries = {group: 2 * np.array(middle) for group, middle in groups.items()}
    keys = {
        group: {f"{group} noun {i}": middle + rng.normal(size=2) / 3 for i in range(4)}
        for group, middle in groups.items()
    }
    picture = figures.queries_and_keys(queries, keys, alt=ALT)
    assert overlaps(picture) == []
    assert_names_are_inside(picture)


def arcs(sentences=("the dog bit the man", "the man bit the dog"), query=2):
    weights = {each: np.array([0.01, 0.95, 0.02, 0.01, 0.01]) for each in sentences}
    fetched = {each: each.split()[1] for each in sentences}
    return figures.attention_arcs(weights, query, fetched, alt=ALT)


def test_arcs_are_as_thick_as_weights():
    widths = [arc.get_linewidth() for arc in arcs().figure.findobj(Arc)]
    np.testing.assert_allclose(widths, 2 * [0.06, 5.7, 0.12, 0.06, 0.06])


def test_arcs_show_the_words_and_what_is_fetched():
    drawn = strings(arcs())
    assert [*drawn].count("bit") == 2
    assert {"→ dog", "→ man", "0.95"} <= {*drawn}
    assert overlaps(arcs()) == []


@pytest.mark.parametrize(
    ("rows", "query", "message"),
    [
        ({"a b": [0.5, 0.5]}, 2, "query=2 is no position"),
        ({"a b": [0.5, 0.4, 0.1]}, 0, "do not fit"),
        ({"a b": [5.0, 0.5]}, 0, "between 0 and 1"),
        ({}, 0, "do not fit"),
    ],
)
def test_unfit_arcs_are_refused(rows, query, message):
    rows = {name: np.array(row) for name, row in rows.items()}
    with pytest.raises(ValueError, match=message):
        figures.attention_arcs(rows, query, dict.fromkeys(rows, "a"), alt=ALT)


def test_fetched_words_of_other_sentences_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        figures.attention_arcs({"a": np.ones(1)}, 0, {"b": "a"}, alt=ALT)


def test_queries_and_keys_are_inside_the_axes():
    picture, keys = plane({"she": [9.0, 0.0], "it": [0.0, -7.0]})
    axes = picture.figure.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    members = [key for group in keys.values() for key in group.values()]
    tips = np.array([[9.0, 0.0], [0.0, -7.0], *members])
    assert np.all(tips > (left, bottom)) and np.all(tips < (right, top))


def test_queries_without_keys_are_refused():
    with pytest.raises(ValueError, match=r"queries of \['she'\] and keys of \[\]"):
        figures.queries_and_keys({"she": np.ones(2)}, {}, alt=ALT)


def test_equal_numbers_are_on_the_diagonal():
    picture = diagonal()
    first, second = points(picture)
    np.testing.assert_allclose(first.get_offsets(), np.stack([numbers(12)] * 2, axis=1))
    assert first.get_sizes()[0] > second.get_sizes()[0]  # both can be seen
    axes = picture.figure.axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), axes.lines[0].get_ydata())
    assert axes.get_xlim() == axes.get_ylim()


def test_unequal_numbers_are_off_the_diagonal():
    (mark,) = points(diagonal({"wrong": -numbers(12)}))
    assert np.abs(np.diff(mark.get_offsets(), axis=1)).max() > 1


def test_series_have_different_colours():
    edges = [tuple(mark.get_edgecolor()[0][:3]) for mark in points(diagonal())]
    assert len({*edges}) == 2 <= len(COLOURS)


def test_series_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"'autograd' has numbers of shape \(3,\)"):
        diagonal({"autograd": np.ones(3)})
