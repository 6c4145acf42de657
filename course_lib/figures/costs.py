"""Figures of what layers cost: operations, steps, paths and memory against length."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from course_lib import arguments
from course_lib.figures.drawing import FONT_SIZE, MAX_WIDTH, line_styles
from course_lib.figures.living import LivingFigure, numbers

MAX_KINDS = 4  # each has a dash and a symbol of its own
MAX_COSTS = 6
MAX_SIZES = 40  # lengths on a slider, and numbers d_model
BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
WORDS = ("", "", " million", " billion", " trillion", " quadrillion")


def costs_by_length(
    lengths: Sequence[int],
    d_models: Sequence[int],
    costs: Mapping[str, Mapping[str, np.ndarray]],
    *,
    alt: str | None = None,
    in_bytes: Collection[str] = (),
    blocks: Sequence[int] = (),
    number_bytes: int = 4,
    names: Mapping[int, str] | None = None,
    start: tuple[int, int] | None = None,
) -> LivingFigure:
    """Draw what kinds of layers cost against the length of a sequence.

    Where scripts run, the length and d_model are sliders.

    lengths : (n_lengths,), increasing
    d_models : (n_d_models,), increasing
    costs : name of a cost to name of a kind of layer to (n_d_models, n_lengths) numbers
        above 0; the kinds are the same for each cost
    in_bytes : names of the costs that are counted in bytes
    blocks : sizes of the tiles in which the attention table is drawn, increasing; none
        leaves that picture out
    number_bytes : bytes of one attention weight
    names : words for some lengths: {512: "a page"}
    start : the length and the d_model at first; without it those in the middle

    Raises ``ValueError`` for shapes that do not fit, numbers that are not above 0 or
    not finite, or more than a view can show.
    """
    sizes = {"lengths": lengths, "d_models": d_models, "blocks": blocks}
    whole = {name: _increasing(name, values) for name, values in sizes.items()}
    if not whole["lengths"] or not whole["d_models"] or not costs:
        raise ValueError("lengths, d_models and costs must not be empty")
    arguments.whole("number_bytes ≥ 1", number_bytes)
    if len(costs) > MAX_COSTS:
        raise ValueError(f"{len(costs)} costs are too many: at most {MAX_COSTS}")
    kinds = [*next(iter(costs.values()))]
    if not 1 <= len(kinds) <= MAX_KINDS:
        raise ValueError(f"{len(kinds)} kinds of layers, and 1 to {MAX_KINDS} can be")
    for name, by_kind in costs.items():
        if [*by_kind] != kinds:
            raise ValueError(f"{name!r} has the kinds {[*by_kind]}, not {kinds}")
        for kind, values in by_kind.items():
            _check(name, kind, values, (len(whole["d_models"]), len(whole["lengths"])))
    if strange := {*in_bytes} - {*costs}:
        raise ValueError(f"in_bytes={sorted(strange)} are not names of costs")
    middle = [values[len(values) // 2] for values in [*whole.values()][:2]]
    start = (middle[0], middle[1]) if start is None else start
    if start[0] not in whole["lengths"] or start[1] not in whole["d_models"]:
        raise ValueError(f"start={start} is not one of the lengths and one d_model")
    first = whole["lengths"].index(start[0]), whole["d_models"].index(start[1])
    data = {
        **whole,
        "names": {str(n): str(name) for n, name in (names or {}).items()},
        "kinds": [*map(str, kinds)],
        "costs": [
            {
                "name": str(name),
                "bytes": name in in_bytes,
                "values": [numbers(values) for values in by_kind.values()],
            }
            for name, by_kind in costs.items()
        ],
        "number_bytes": int(number_bytes),
        "shown": [*first, len(blocks) // 2],
    }
    series = {
        name: {str(kind): np.asarray(v, float)[first[1]] for kind, v in by_kind.items()}
        for name, by_kind in costs.items()
    }
    figure = _draw(whole["lengths"], start, series, in_bytes)
    return LivingFigure(figure, alt, "timeline", data)


def amount(number: float, *, in_bytes: bool = False) -> str:
    """Write a number with at most three digits and a word, from a million on.

    >>> amount(1000), amount(25e6), amount(2**25, in_bytes=True)
    ('1,000', '25 million', '32 MiB')
    """
    if in_bytes:
        step = min(int(np.log2(max(number, 1)) / 10), len(BYTES) - 1)
        return f"{number / 1024**step:.3g} {BYTES[step]}"
    if number < 1_000_000:
        return f"{number:.3g}" if number < 100 else f"{number:,.0f}"
    step = min(int(np.log10(number) / 3 + 1e-9), len(WORDS) - 1)
    return f"{number / 1000**step:.3g}{WORDS[step]}"


def _increasing(name: str, values: Sequence[int]) -> list[int]:
    """Return whole numbers from 1 on that increase; raise ``ValueError`` for others."""
    checked = [arguments.whole(f"each of {name} ≥ 1", value) for value in values]
    if checked != sorted({*checked}):
        raise ValueError(f"{name} must increase, got {checked}")
    if len(checked) > MAX_SIZES:
        raise ValueError(f"{len(checked)} {name} are too many: at most {MAX_SIZES}")
    return checked


def _check(cost: str, kind: str, values: np.ndarray, shape: tuple[int, int]) -> None:
    """Refuse numbers of a cost and a kind that cannot be on logarithmic axes."""
    if np.shape(values) != shape:
        raise ValueError(
            f"{cost!r} of {kind!r} has shape {np.shape(values)}, not {shape}: a row "
            "for each d_model, a column for each length"
        )
    values = np.asarray(values, float)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(
            f"{cost!r} of {kind!r} must be finite and above 0 for a logarithmic axis"
        )


def _draw(
    lengths: Sequence[int],
    start: tuple[int, int],
    series: Mapping[str, Mapping[str, np.ndarray]],
    in_bytes: Collection[str],
) -> Figure:
    """Draw a pair of axes for each cost, at one d_model, and one legend for all."""
    down = -(-len(series) // 2)
    across = min(2, len(series))
    size = (MAX_WIDTH if across == 2 else 4.0, 2.1 * down + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False, sharex=True)
    for axes, (name, by_kind) in zip(grid.flat, series.items(), strict=False):
        styles = line_styles(len(by_kind))
        for i, ((kind, values), (colour, marker)) in enumerate(
            zip(by_kind.items(), styles, strict=True)
        ):
            # Lines that coincide are all seen: each is thinner than those below.
            line = {"lw": (5, 3, 1.5, 1)[i], "alpha": 0.5 if i == 0 else 1.0}
            axes.plot(
                lengths,
                values,
                color=colour,
                marker=marker,
                markersize=(9, 6, 4, 3)[i],
                markevery=max(1, len(lengths) // 6),
                ls=("-", "--", "-", ":")[i],
                label=kind,
                **line,
            )
        axes.set_title(name, fontsize=FONT_SIZE)
        _scales(axes, lengths, by_kind, name in in_bytes)
    for axes in [*grid.flat][len(series) :]:
        axes.set_axis_off()
    for column in range(across):
        axes = [*grid.flat][: len(series)][-across:][column]
        axes.set_xlabel("length n", fontsize=FONT_SIZE)
        axes.tick_params(labelbottom=True)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.suptitle(f"d_model = {start[1]:,}", fontsize=FONT_SIZE)
    figure.legend(
        handles,
        labels,
        edgecolor="none",
        fontsize=FONT_SIZE,
        loc="outside lower center",
        ncols=2 + across // 2,
    )
    return figure


def _scales(
    axes: Axes,
    lengths: Sequence[int],
    by_kind: Mapping[str, np.ndarray],
    in_bytes: bool,
) -> None:
    """Make both scales logarithmic, with a few ticks in words."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    some = lengths[:: -(-len(lengths) // 3)]
    axes.xaxis.set_major_locator(FixedLocator([*some]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    values = np.concatenate([*by_kind.values()])
    base = 32 if in_bytes else 10
    low, high = (np.log(f(values)) / np.log(base) for f in (np.min, np.max))
    step = max(1, int(np.ceil((high - low) / 4)))
    powers = np.arange(np.floor(low), np.ceil(high) + 1, step)
    axes.yaxis.set_major_locator(FixedLocator([*(float(base) ** powers)]))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda v, _: amount(v, in_bytes=in_bytes))
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.tick_params(labelsize=FONT_SIZE)
    axes.grid(color="0.9")
