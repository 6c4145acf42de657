"""From what is counted to a page: the templates, the script and what they may do.

A page loads nothing, and the one script that may run on it is ``search.js``, by its
hash. Ids, names, lines and reasons are untrusted text: the templates escape them all.
"""

import base64
import functools
import hashlib
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from autograder.course import CourseError, write_atomically
from autograder.dashboard import charts, wording
from autograder.grading.reading import spelled_out

FOLDER = Path(__file__).parent
SCRIPT = FOLDER / "search.js"
MAX_LINE = 160  # characters of a learner's line of code


def render(template: str, **values: Any) -> str:
    """Return a page."""
    script = SCRIPT.read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    return (
        environment()
        .get_template(template)
        .render(
            script=Markup(script),
            script_hash="sha256-" + base64.b64encode(digest).decode(),
            **values,
        )
    )


def write_page(path: Path, text: str) -> None:
    """Write a page; raises ``CourseError`` if that cannot be done."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise CourseError(
            f"the report could not be written to {path} ({error.strerror}): make room "
            "or name another file with --output; an earlier report is as it was"
        ) from None


def now() -> str:
    """Return when a page is written."""
    return f"{datetime.now():%Y-%m-%d, %H:%M}"


@functools.cache
def environment() -> jinja2.Environment:
    """Return the templates, with the filters that they use."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=wording.legible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "breakable": breakable,
        "counted": wording.format_count,
        "cut": lambda line: (
            line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"
        ),
        "lesson": wording.short_lesson,
        "number": wording.format_number,
        "parts": charts.bar_parts,
        "prose": prose,
        "remarks": wording.remarks,
        "seconds": wording.format_seconds,
        "share": wording.format_share,
        "signed": wording.format_signed,
        "spelled_out": spelled_out,
    }
    return templates


def breakable(name: str) -> Markup:
    """Let a long identifier go on in the next line, after an underscore or a dot.

    >>> breakable("a_<b>.c")
    Markup('a_<wbr>&lt;b&gt;.<wbr>c')
    """
    escaped = str(escape(wording.legible(name)))
    return Markup(re.sub("([_.])", r"\1<wbr>", escaped))


def prose(text: str) -> Markup:
    """Return a bank's sentence, what stands between backticks as code.

    >>> prose("Is `a < b` so?")
    Markup('Is <code>a &lt; b</code> so?')
    """
    escaped = str(escape(wording.legible(text)))
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", escaped))
