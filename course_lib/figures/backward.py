"""Figure of lesson 07: the gradients of the smallest model, from its loss back."""

import math

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib.figures.drawing import format_number, new_axes, write_text
from course_lib.figures.living import LivingFigure

BOX, GAP = 1.1, 0.45  # inches, of a value and of what leads to the next one
BACK = "#B34E00"  # what goes back; dark enough for text
MAX_SIZE = 100.0  # of a number, so that it fits its box


def backward_pass(
    w: float, x: float, target: float, *, learning_rate: float, alt: str | None = None
) -> LivingFigure:
    """Draw a model of one parameter with its loss, and each value's gradient.

    The model's guess is w · x, its error is guess − target and its loss error². Where
    scripts run, the reader moves w, goes back from the loss one value at a time, and
    takes steps against the gradient.

    w : the parameter at first
    x, target : the model's input, and what it should answer
    learning_rate : of a step
    Raises ``ValueError`` for numbers that are not finite or beyond 100, for x = 0 and
    for a learning rate that is not positive.
    """
    if not all(math.isfinite(each) for each in (w, x, target, learning_rate)):
        raise ValueError("w, x, target and learning_rate must be finite numbers")
    if max(map(abs, (w, x, target))) > MAX_SIZE or x == 0 or learning_rate <= 0:
        raise ValueError(
            f"{w=}, {x=}, {target=}, {learning_rate=}: numbers up to {MAX_SIZE:g}, x "
            "other than 0 and a learning rate above 0 are drawn"
        )
    data = {
        "w": float(w),
        "x": float(x),
        "target": float(target),
        "learning_rate": float(learning_rate),
    }
    return LivingFigure(_draw(w, x, target), alt, "backward_pass", data)


def _draw(w: float, x: float, target: float) -> Figure:
    error = w * x - target
    values = {
        "w": (w, 2 * error * x),
        f"guess = w · {x:g}": (w * x, 2 * error),
        f"error = guess − {target:g}": (error, 2 * error),
        "loss = error²": (error**2, 1.0),
    }
    figure, axes = new_axes(5.8, 1.7)
    axes.set_axis_off()
    axes.set(xlim=(-0.1, 4 * BOX + 3 * GAP + 0.1), ylim=(0, 1.5))
    for index, (name, (value, gradient)) in enumerate(values.items()):
        left = index * (BOX + GAP)
        middle = left + BOX / 2
        axes.add_patch(Rectangle((left, 0.65), BOX, 0.4, fill=False, ec="black"))
        write_text(axes, middle, 1.25, name, ha="center")
        write_text(axes, middle, 0.85, format_number(value), ha="center")
        text = f"gradient {format_number(gradient)}"
        write_text(axes, middle, 0.25, text, ha="center", color=BACK)
        if index:
            begin, end = left - GAP + 0.05, left - 0.05
            for x_0, x_1, y, colour in (
                (begin, end, 0.85, "black"),
                (end, begin, 0.25, BACK),
            ):
                arrow = FancyArrowPatch((x_0, y), (x_1, y), arrowstyle="-|>")
                arrow.set(color=colour, mutation_scale=12)
                axes.add_patch(arrow)
    return figure
