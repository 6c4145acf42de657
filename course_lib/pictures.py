"""A picture as a notebook shows it: SVG inside an image tag with alternative text.

What is drawn is in ``course_lib.figures``.
"""

import base64
import io
from html import escape
from typing import Any

import matplotlib
from matplotlib.figure import Figure


class Picture:
    """A drawn figure and the sentence that says what it shows.

    figure : a matplotlib figure
    alt : what a reader who cannot see it must know: the finding, not the colours
    """

    def __init__(self, figure: Figure, alt: str) -> None:
        """Keep the figure; raises ``ValueError`` if alt says nothing."""
        if len(alt.split()) < 3:
            raise ValueError(f"alt={alt!r} must say in words what the picture shows")
        self.figure = figure
        self.alt = alt

    def svg(self) -> str:
        """Give the picture as SVG text, the same at every call."""
        # The layout would move a little at every drawing: it is made once and kept.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        file = io.StringIO()
        # Paths for fonts look the same everywhere; the salt makes ids repeatable.
        style = matplotlib.rc_context(
            {"svg.hashsalt": "attention-course", "svg.fonttype": "path"}
        )
        with style:
            self.figure.savefig(
                file,
                format="svg",
                bbox_inches="tight",
                facecolor="white",
                metadata={"Date": None, "Creator": None},
            )
        return file.getvalue()

    def __repr__(self) -> str:
        """Give the alternative text, which stands where no picture can."""
        return f"Picture: {self.alt}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        data = base64.b64encode(self.svg().encode()).decode()
        html = (
            f'<img alt="{escape(self.alt, quote=True)}" style="max-width:100%" '
            f'src="data:image/svg+xml;base64,{data}">'
        )
        return {"text/plain": repr(self), "text/html": html}
