"""Formulas in formgrader without a network.

nbgrader's page of a submission loads MathJax 2 from a public server, and where that
cannot be reached, formulas stay as they are written and the page's keys do nothing. The
environment of ``make setup`` has a MathJax of its own, for the book: it is served
instead. Where there is none, the page asks the public server and goes on without it.
"""

import importlib.util
import re
from functools import wraps
from pathlib import Path
from typing import Any

PACKAGE = "sphinx-mathjax-offline"
PATH = "formgrader/mathjax"
PUBLIC = re.compile(
    r'<script src="https://cdnjs\.cloudflare\.com/ajax/libs/mathjax/[^"]*">\s*</script>'
)
SETTINGS = r"""<script>
window.MathJax = {
  tex: {
    inlineMath: [["$", "$"], ["\\(", "\\)"]],
    displayMath: [["$$", "$$"], ["\\[", "\\]"]],
    processEscapes: true,
    tags: "ams"
  },
  options: {enableMenu: false}
};
</script>"""
# What nbgrader's page asks of MathJax 2: to be told when it has finished.
AS_MATHJAX_2 = """<script>
window.MathJax = window.MathJax || {};
window.MathJax.Hub = window.MathJax.Hub || {
  Config() {},
  Queue() {},
  Startup: {signal: {Interest(tell) {
    const done = window.MathJax.startup && window.MathJax.startup.promise;
    Promise.resolve(done).finally(() => tell("End"));
  }}}
};
</script>"""


def mathjax_folder() -> Path | None:
    """Return the folder of an installed MathJax, None if there is none."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "static" / "mathjax"
    return folder if (folder / "tex-chtml.js").is_file() else None


def with_formulas(html: str, base_url: str, *, installed: bool) -> str:
    """Return a page of formgrader's that needs no network for its formulas.

    installed : whether a MathJax is served below ``base_url``
    """

    def scripts(public: re.Match[str]) -> str:
        if not installed:
            return f"{public[0]}\n{AS_MATHJAX_2}"
        address = f"{base_url.rstrip('/')}/{PATH}/tex-chtml.js"
        return f'{SETTINGS}\n<script src="{address}"></script>\n{AS_MATHJAX_2}'

    return PUBLIC.sub(scripts, html, count=1)


def serve_formulas() -> None:
    """Make formgrader serve MathJax and its page of a submission ask for that."""
    from nbgrader.server_extensions.formgrader import handlers
    from tornado.web import StaticFileHandler

    page = handlers.SubmissionHandler
    if "write" in vars(page):
        return
    folder = mathjax_folder()
    write = page.write

    @wraps(write)
    def write_with_formulas(handler: Any, chunk: Any) -> None:
        if isinstance(chunk, str):
            base = handler.base_url
            chunk = with_formulas(chunk, base, installed=folder is not None)
        write(handler, chunk)

    page.write = write_with_formulas
    if folder:
        route = rf"/{PATH}/(.*)", StaticFileHandler, {"path": str(folder)}
        handlers.default_handlers.append(route)
