"""The living figures in the executed notebooks: of today's scripts, or older.

``python -m tests.figures.stored_views`` writes today's scripts into them. The pictures
and numbers stay: what changes these is ``autograder build``.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course import Course, write_atomically
from course_lib.figures import living

PARTS = re.compile(
    r'(?P<head><figure class="living" id="(?P<name>living-\w+)">.*?</figure>\n)'
    r"<script>\(\(\) => \{ const data = (?P<data>.*?);\nconst css = .*",
    re.DOTALL,
)


def outputs(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the data of outputs that hold a living figure."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if 'class="living"' in "".join(data.get("text/html", "")):
                yield data


def of_today(html: str) -> str:
    """Return a stored figure with the scripts and styles of today."""
    parts = PARTS.fullmatch(html)
    assert parts, html[:200]
    data, name = parts["data"], parts["name"]
    view = _view(html)
    return (
        f"{parts['head']}<script>(() => {{ const data = {data};\n"
        f"const css = {json.dumps(living._style(view))};\n"
        f"{living._script(view, 'model' in json.loads(data))}\n"
        f"mount('{name}', data, css); }})();</script>"
    )


def _view(html: str) -> str:
    """Return the view whose script is most like the stored one."""
    lines = {*html.splitlines()}
    views = [name for name, _ in living.page_scripts() if name != "drawing"]
    return max(views, key=lambda view: len(lines & _own_lines(view)))


def _own_lines(view: str) -> set[str]:
    code = living.read_script(view)
    return {line.strip() for line in code.splitlines()} - {""}


def main() -> None:
    course = Course.here()
    for lesson in course.built_lessons:
        path: Path = course.teacher(lesson)
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for data in outputs(notebook):
            html = of_today("".join(data["text/html"]))
            data["text/html"] = html.splitlines(keepends=True)
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        if text != path.read_text(encoding="utf-8"):
            write_atomically(path, text)
            print(lesson)


if __name__ == "__main__":
    main()
