"""Figures: the same everywhere, readable by everyone, honest about what they show."""

import base64
import functools
import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from course_lib import figures
from course_lib.attention import attention, attention_step_by_step, softmax
from course_lib.figures import drawing
from course_lib.figures.drawing import AccessibleFigure
from course_lib.lessons import pronoun
from course_lib.lessons.scale import scale_effect

ALT = "Nothing but a test."
INCHES = 6.0
POINTS = 10
MINUS = "\N{MINUS SIGN}"


def numbers(*shape):
    return np.random.default_rng(5).normal(size=shape)


def words(n, text="word"):
    return [f"{text} {i}" for i in range(n)]


def pronoun_weights(alt=ALT):
    rows = []
    for last_word in pronoun.LAST_WORDS:
        k = pronoun.keys(last_word)
        rows.append(attention(pronoun.query_of_it(last_word), k, k)[1][0])
    keys = [*pronoun.sentence("tired")[:-1], "(last)"]
    return figures.attention_weights(
        np.array(rows), ["it … tired", "it … wide"], keys, alt=alt
    )


def jacobians():
    sizes = [1, 4, 16, 64, 256, 512]
    series = {
        name: [scale_effect(d, scaled=s, n=200).jacobian_norm for d in sizes]
        for name, s in (("raw", False), ("divided by √d_k", True))
    }
    labels = {"xlabel": "d_k", "ylabel": "size of the Jacobian"}
    return figures.curves(sizes, series, **labels, logarithmic=True, alt=ALT)


KINDS = {
    "choices": lambda: figures.curves_to_choose(
        [0, 1, 2],
        {"norms": ["without", "with"]},
        {"size": numbers(2, 3), "share": numbers(2, 3)},
        ["one", "two"],
        xlabel="layers",
        alt=ALT,
    ),
    "backward": lambda: figures.backward_pass(
        1.5, 2.0, 7.0, learning_rate=0.05, alt=ALT
    ),
    "weights_3": lambda: figures.attention_weights(
        softmax(numbers(3, 3)),
        ["the", "red", "car"],
        ["la", "voiture", "rouge"],
        alt=ALT,
    ),
    "weights_1": lambda: figures.attention_weights(
        np.ones((1, 1)), ["a"], ["b"], alt=ALT
    ),
    "weights_8": lambda: figures.attention_weights(
        softmax(numbers(8, 8)), words(8, "query"), words(8, "because"), alt=ALT
    ),
    "weights_pronoun": pronoun_weights,
    "weights_20": lambda: figures.attention_weights(
        softmax(numbers(20, 20)), words(20, "Niederschlag"), words(20, "Wind"), alt=ALT
    ),
    "signed": lambda: figures.signed_heatmap(
        numbers(5, 6) * 100, words(5), words(6), alt=ALT
    ),
    "signed_blocked": lambda: figures.signed_heatmap(
        np.array([[1.0, -np.inf], [np.nan, -2.0]]), words(2), words(2), alt=ALT
    ),
    "softmax": lambda: figures.softmax(
        numbers(8) * 4, words(8, "because"), divisor=2.0, alt=ALT
    ),
    "softmax_below_zero": lambda: figures.softmax([-3.0, -1.0], words(2), alt=ALT),
    "six_steps": lambda: figures.six_steps(
        numbers(6),
        numbers(6, 6),
        numbers(6, 6),
        attention_step_by_step(numbers(6), numbers(6, 6), numbers(6, 6)),
        alt=ALT,
        names=words(6, "because"),
    ),
    "six_steps_of_one": lambda: figures.six_steps(
        numbers(1),
        numbers(1, 1),
        numbers(1, 1),
        attention_step_by_step(numbers(1), numbers(1, 1), numbers(1, 1)),
        alt=ALT,
    ),
    "arrows": lambda: figures.arrows_in_the_plane(
        {
            "cat": np.array([3.0, 0.5]),
            "bird": np.array([2.5, 3.0]),
            "car": np.array([0.5, 0.2]),
            "kitten": np.array([3.2, 0.1]),
        },
        alt=ALT,
        xlabel="alive",
        ylabel="flies",
    ),
    "arrows_all_round": lambda: figures.arrows_in_the_plane(
        {"west": [-2.0, 0.0], "south": [0.0, -1.5], "nowhere": [0.0, 0.0]}, alt=ALT
    ),
    "curves": jacobians,
    "curves_six": lambda: figures.curves(
        range(30),
        {f"series {i}": row for i, row in enumerate(numbers(6, 30))},
        xlabel="step",
        ylabel="loss",
        alt=ALT,
    ),
    "who": lambda: figures.attention_lines(
        softmax(numbers(2, 11)), words(2, "a longer word"), words(11), alt=ALT
    ),
    "steps": lambda: figures.steps(
        attention_step_by_step(numbers(4), numbers(5, 4), numbers(5, 6)), alt=ALT
    ),
}


@functools.cache
def drawn(name):
    picture = KINDS[name]()
    return picture, picture.svg()


@pytest.fixture(params=KINDS)
def picture(request):
    return drawn(request.param)[0]


@pytest.fixture(params=KINDS)
def svg(request):
    return drawn(request.param)[1]


def texts(picture):
    """Return the texts that are drawn: not those of ticks outside the axes."""
    drawn = []
    draw = Text.draw

    def record(self, renderer):
        if self.get_text().strip() and self.get_visible():
            drawn.append(self)
        draw(self, renderer)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", record)
        picture.figure.draw_without_rendering()
    return drawn


def strings(picture):
    return [text.get_text() for text in texts(picture)]


# The same everywhere


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.thorough
def test_svg_is_the_same_at_every_call(name):
    picture, svg = drawn(name)
    assert picture.svg() == svg
    assert KINDS[name]().svg() == svg


def test_coordinates_have_two_decimals_at_most(svg):
    paths = re.findall(r' d="([^"]*)"', svg)
    assert paths and not re.search(r"\.\d{3}|\n", "|".join(paths))
    assert "scale(0.015625)" in svg or "scale(0.1 -0.1)" in svg  # sizes stay exact


def test_svg_is_the_same_in_another_process():
    code = """
import hashlib, sys, matplotlib
names = {*matplotlib.rcParams} - {"backend"}  # looking at that one imports pyplot
before = {name: matplotlib.rcParams[name] for name in names}
from tests.figures.test_figures import KINDS
for name in sys.argv[1:]:
    print(hashlib.sha256(KINDS[name]().svg().encode()).hexdigest())
assert before == {name: matplotlib.rcParams[name] for name in names}
assert "matplotlib.pyplot" not in sys.modules
"""
    kinds = [name for name in KINDS if name not in ("weights_8", "weights_20")]  # slow
    done = subprocess.run(
        [sys.executable, "-c", code, *kinds],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    here = [hashlib.sha256(drawn(name)[1].encode()).hexdigest() for name in kinds]
    assert done.stdout.split() == here
    assert len({*here}) == len(kinds)


def test_svg_contains_no_date_and_no_font(svg):
    assert "<dc:date>" not in svg and "<text" not in svg and "font-family" not in svg


def test_arguments_are_not_changed():
    weights, labels = softmax(numbers(3, 4)), words(3)
    before = weights.copy(), [*labels]
    figures.attention_weights(weights, labels, words(4), alt=ALT)
    figures.attention_lines(weights, labels, words(4), alt=ALT)
    figures.signed_heatmap(weights, labels, words(4), alt=ALT)
    figures.steps({"weights": weights}, alt=ALT)
    np.testing.assert_array_equal(weights, before[0])
    assert labels == before[1]


# Readable


def test_figures_fit_on_a_page(svg):
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg).groups()
    assert float(width) / 72 <= INCHES
    assert float(height) / 72 <= 7


def test_texts_have_at_least_ten_points(picture):
    small = {t.get_text(): t.get_fontsize() for t in texts(picture)}
    assert min(small.values()) >= POINTS, small
    assert not any("$" in text or "^" in text for text in small)  # smaller exponents


def boxes(picture):
    """Return the bounding box of each level or upright text, in dots."""
    return [
        (text.get_text(), text.get_window_extent())
        for text in texts(picture)
        if not text.get_rotation() % 90
    ]


def overlaps(picture):
    """Return the pairs of level or upright texts of which one covers the other."""
    return [
        (name, other)
        for (name, one), (other, two) in itertools.combinations(boxes(picture), 2)
        if not (one.x1 <= two.x0 + 1 or two.x1 <= one.x0 + 1)
        and not (one.y1 <= two.y0 + 1 or two.y1 <= one.y0 + 1)
    ]


def test_texts_do_not_overlap(picture):
    assert overlaps(picture) == []


def test_texts_are_not_cut_off(picture):
    limits = picture.figure.get_tightbbox().padded(0.1).frozen()
    for name, box in boxes(picture):
        dots = picture.figure.dpi
        assert limits.x0 <= box.x0 / dots and box.x1 / dots <= limits.x1, name
        assert limits.y0 <= box.y0 / dots and box.y1 / dots <= limits.y1, name


def contrast(one, two):
    """Compute the contrast ratio of two colours as WCAG 2.1 defines it, 1 to 21."""

    def luminance(colour):
        parts = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
            for c in to_rgb(colour)
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted([luminance(one), luminance(two)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", ["cividis", "PuOr"])
def test_numbers_contrast_with_every_cell_colour(name):
    from matplotlib import colormaps

    for colour in colormaps[name](np.linspace(0, 1, 256)):
        assert contrast(drawing.text_colour(tuple(colour)), tuple(colour[:3])) >= 4.5


def test_texts_contrast_with_white(picture):
    for text in texts(picture):
        if text.get_color() != "white":
            assert contrast(text.get_color(), "white") >= 4.5


def test_lines_differ_in_more_than_colour():
    lines = KINDS["curves_six"]().figure.axes[0].lines
    assert len({line.get_marker() for line in lines}) == 6
    assert len({line.get_color() for line in lines}) == 6


def test_arrows_and_lines_are_labelled():
    assert {"cat", "bird", "car", "kitten", "alive", "flies"} <= {
        *strings(KINDS["arrows"]())
    }
    assert {"attends", "is attended to"} <= {*strings(KINDS["who"]())}


def test_arrows_are_inside_the_axes():
    axes = KINDS["arrows_all_round"]().figure.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < -2.0 and right > 0.0 and bottom < -1.5 and top > 0.0


def test_logarithmic_scales_have_plain_numbers():
    texts_ = strings(jacobians())
    assert {"1", "4", "16", "64", "256", "512", "0.1", "0.01", "0.001"} <= {*texts_}


def test_narrow_logarithmic_scale_has_labels():
    picture = figures.curves(
        [1, 2, 4],
        {"a": [0.2, 0.4, 0.9]},
        xlabel="x",
        ylabel="y",
        alt=ALT,
        logarithmic=True,
    )
    assert {"0.2", "0.5"} <= {*strings(picture)}


# Honest


def image_of(picture):
    (image,) = picture.figure.findobj(AxesImage)
    return image


def test_colours_of_weights_range_from_0_to_1():
    for weights in (np.full((2, 2), 0.5), np.array([[0.4, 0.6], [0.41, 0.59]])):
        image = image_of(
            figures.attention_weights(weights, words(2), words(2), alt=ALT)
        )
        assert image.get_clim() == (0.0, 1.0)
        assert image.get_cmap().name == "cividis"


@pytest.mark.parametrize(
    ("values", "largest"),
    [([[1.0, -3.0]], 3.0), ([[0.0, 0.0]], 1.0), ([[5.0, -np.inf]], 5.0)],
)
def test_colours_of_signed_numbers_are_symmetric(values, largest):
    image = image_of(figures.signed_heatmap(np.array(values), ["a"], words(2), alt=ALT))
    assert image.get_clim() == (-largest, largest)
    assert image.get_cmap().name == "PuOr"
    assert min(image.cmap(image.norm(0.0))[:3]) > 0.94


def test_rows_are_queries_and_columns_are_keys():
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]])
    picture = figures.attention_weights(
        weights, ["red", "car"], ["la", "voiture", "rouge"], alt=ALT
    )
    axes = picture.figure.axes[0]
    assert (axes.get_ylabel(), axes.get_xlabel()) == (
        "query (attends)",
        "key (attended to)",
    )
    assert [t.get_text() for t in axes.get_yticklabels()] == ["red", "car"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["la", "voiture", "rouge"]
    numbers_at = {t.get_position(): t.get_text() for t in axes.texts}
    assert numbers_at == {
        (j, i): f"{weights[i, j]:.2f}" for i, j in np.ndindex(weights.shape)
    }
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first query is on top


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (3, 8), (8, 2), (2, 11)])
def test_numbers_are_printed_up_to_eight_by_eight(shape):
    weights = softmax(numbers(*shape))
    picture = figures.attention_weights(
        weights, words(shape[0]), words(shape[1]), alt=ALT
    )
    wanted = Counter(f"{w:.2f}" for w in weights.flat)
    assert Counter(t.get_text() for t in picture.figure.axes[0].texts) == wanted


@pytest.mark.parametrize("shape", [(9, 9), (2, 40)])
def test_larger_tables_have_a_scale_and_no_numbers(shape):
    weights = softmax(numbers(*shape))
    picture = figures.attention_weights(
        weights, words(shape[0], "q"), words(shape[1], "k"), alt=ALT
    )
    assert not picture.figure.axes[0].texts
    assert len(picture.figure.axes) == 2
    assert {"0.0", "1.0"} <= {*strings(picture)}


def test_blocked_cells_are_hatched():
    axes = KINDS["signed_blocked"]().figure.axes[0]
    hatched = [p for p in axes.patches if isinstance(p, Rectangle) and p.get_hatch()]
    assert {p.get_xy() for p in hatched} == {(0.5, -0.5), (-0.5, 0.5)}
    assert f"{MINUS}inf" in [t.get_text() for t in axes.texts]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (-0.004, "0.00"),
        (-0.005001, f"{MINUS}0.01"),
        (-12.5, f"{MINUS}12.50"),
        (1e-9, "0.00"),
        (-np.inf, f"{MINUS}inf"),
    ],
)
def test_format_number_by_hand(number, text):
    assert drawing.format_number(number) == text


def test_attention_lines_are_as_thick_as_weights():
    weights = np.array([[0.25, 0.75], [1.0, 0.0]])
    picture = figures.attention_lines(weights, words(2), words(2), alt=ALT)
    widths = [line.get_linewidth() for line in picture.figure.axes[0].lines]
    np.testing.assert_allclose(widths, 6 * weights.ravel())
    starts = [line.get_ydata() for line in picture.figure.axes[0].lines]
    np.testing.assert_allclose(starts, [[0, 0], [0, -1], [-1, 0], [-1, -1]])


def test_steps_contain_every_number_and_name():
    parts = attention_step_by_step(numbers(4), numbers(3, 4), numbers(3, 2))
    drawn_texts = strings(figures.steps(parts, alt=ALT))
    names = ["scores", "scaled", "weights", *words(4, "weighted_values")[1:], "output"]
    assert [text for text in drawn_texts if not re.search(r"\d\.\d", text)] == names
    wanted = [
        drawing.format_number(x) for part in parts.values() for x in np.ravel(part)
    ]
    assert [text for text in drawn_texts if re.search(r"\d\.\d", text)] == wanted


def test_dollar_signs_are_no_formulas():
    labels = ["$a$", "cost $5"]
    weights = np.array([[0.5, 0.5], [0.1, 0.9]])
    for picture in (
        figures.attention_weights(weights, labels, labels, alt=ALT),
        figures.attention_lines(weights, labels, labels, alt=ALT),
        figures.steps({"$a$": weights[0]}, alt=ALT),
    ):
        assert "$a$" in strings(picture)
        assert not any(
            t.get_parse_math() for t in texts(picture) if "$" in t.get_text()
        )


# Refused


@pytest.mark.parametrize("draw", [figures.attention_weights, figures.signed_heatmap])
@pytest.mark.parametrize(("rows", "columns"), [(3, 2), (2, 4), (0, 3), (3, 3)])
def test_heatmaps_refuse_labels_that_do_not_fit(draw, rows, columns):
    with pytest.raises(
        ValueError, match=r"^values of shape \(2, 3\) do not fit"
    ) as caught:
        draw(np.full((2, 3), 0.5), words(rows), words(columns), alt=ALT)
    message = f"{rows} row labels and {columns} column labels"
    assert message in str(caught.value)


def test_weights_refuse_labels_that_do_not_fit():
    with pytest.raises(ValueError, match=r"shape \(2, 3\) do not fit 3 row labels"):
        figures.attention_lines(np.full((2, 3), 0.5), words(3), words(2), alt=ALT)
    with pytest.raises(ValueError, match=r"shape \(3,\) do not fit 1 row labels"):
        figures.attention_weights(np.full(3, 0.5), words(1), words(3), alt=ALT)


@pytest.mark.parametrize("draw", [figures.attention_weights, figures.attention_lines])
@pytest.mark.parametrize("worst", [3.25, -0.5, np.nan, np.inf])
def test_scores_are_not_taken_for_weights(draw, worst):
    with pytest.raises(ValueError, match=f"one of these is {worst:g}: are they scores"):
        draw(np.array([[0.5, worst]]), ["a"], words(2), alt=ALT)


def test_rounded_weights_are_accepted():
    weights = np.array([[1.0000001, -1e-8]], dtype=np.float32)
    figures.attention_weights(weights, ["a"], words(2), alt=ALT)


def test_empty_table_is_refused():
    with pytest.raises(ValueError, match=r"shape \(0, 3\): there is nothing to draw"):
        figures.signed_heatmap(np.ones((0, 3)), [], words(3), alt=ALT)


def test_curves_refuse_series_of_another_length():
    with pytest.raises(ValueError, match=r"^'raw' has 2 values for 3 numbers x$"):
        figures.curves([1, 2, 3], {"raw": [1, 2]}, xlabel="x", ylabel="y", alt=ALT)


def test_steps_refuse_rows_too_long_for_a_page():
    with pytest.raises(ValueError, match=r"^16 numbers in a row are too wide to draw$"):
        figures.steps({"scores": np.ones(16)}, alt=ALT)


# Alternative text


@pytest.mark.parametrize("alt", ["", " ", "picture", "A picture"])
def test_empty_alternative_text_is_refused(alt):
    with pytest.raises(ValueError, match="must say in words what the picture shows"):
        pronoun_weights(alt=alt)


def test_picture_without_a_text_outside_a_lesson_says_so():
    figure = figures.signed_heatmap(np.ones((1, 1)), ["a"], ["b"])
    assert figure.alt == (
        "A picture by figures.signed_heatmap, drawn by code that the course does not "
        "describe"
    )


def test_alternative_text_reaches_the_page_escaped():
    alt = """The words "a" & <b> aren't 'c'."""
    data = pronoun_weights(alt=alt)._repr_mimebundle_()
    assert data["text/plain"] == f"Figure: {alt}"
    assert (
        'alt="The words &quot;a&quot; &amp; &lt;b&gt; aren&#x27;t' in data["text/html"]
    )
    image = pronoun_weights(alt=alt).image()
    assert image.count("<") == image.count(">") == 1 and image in data["text/html"]


def test_page_contains_the_svg():
    picture = pronoun_weights()
    html = picture._repr_mimebundle_()["text/html"]
    src = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)[1]
    assert base64.b64decode(src).decode() == picture.svg()
    assert isinstance(picture, AccessibleFigure)
