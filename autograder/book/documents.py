"""The documentation in the book: the pages of ``docs/`` and what they lead to.

They are the repository's own files, at their own paths, so that a link between them
holds in both. A course folder without ``docs/`` has a book without them.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from autograder.book import reference
from autograder.course import CourseError

INDEX = "docs/index"
INTRODUCTION = (
    "One page a subject. Tests run the commands in their blocks; those that need "
    "Docker, a package index or many minutes are listed with the reason in "
    "`tests/test_documented_commands.py`."
)


class Document(NamedTuple):
    """A page.

    path : of its file, below the course folder
    about : what it is about, in a few words
    """

    path: str
    about: str

    @property
    def page(self) -> str:
        """Its name in the book."""
        return self.path.removesuffix(".md")


GROUPS = {
    "For learners": (
        Document("docs/learning.md", "start, buttons, commands, what goes wrong"),
        Document("docs/accessibility.md", "keyboard, contrast, screen readers, paper"),
    ),
    "For instructors": (
        Document("docs/running-a-term.md", "from an empty machine to the last grade"),
        Document("docs/grading.md", "what is graded, and for what"),
        Document("docs/safety.md", "what the sandbox withstands"),
        Document("docs/private-exercises.md", "an examination of your own"),
        Document("docs/feedback-and-grades.md", "what students get, and the class"),
        Document("docs/late-days.md", "due dates, late penalties, extensions"),
        Document("docs/lms.md", "names and submissions in, grades out"),
        Document("docs/judgement.md", "what `judge --json` says, field by field"),
        Document("docs/other-systems.md", "Gradescope, PrairieLearn, Exercism, GitHub"),
        Document("docs/similarity.md", "pairs of submissions with much in common"),
        Document("docs/several-machines.md", "one class, graded by many"),
        Document("hub/README.md", "fetch, submit and feedback in JupyterLab"),
    ),
    "About the course": (
        Document("docs/coverage.md", "topic by topic"),
        Document("docs/diagnosis.md", "how often what is said of an error is true"),
        Document("docs/data-and-models.md", "real texts, trained models, their scores"),
        Document("docs/book.md", "how its pages answer, and what they load"),
    ),
    "For authors": (
        Document("CONTRIBUTING.md", "an exercise, a lesson, a change"),
        Document(".github/CODE_OF_CONDUCT.md", "how we treat each other"),
        Document("autograder/grading/README.md", "the engine, module by module"),
        Document("CHANGELOG.md", "what is new"),
    ),
}
SCHEMA = "docs/judgement.schema.json"  # no page: two pages offer it
FOLDERS = ("docs/", f"{reference.FOLDER}/", "hub/", "autograder/", "_modules/")
FILES = ("CONTRIBUTING", "CHANGELOG")


def document_pages(root: Path) -> dict[str, str]:
    """Return the documentation's texts by file name, of pages and of a schema.

    {} where there is none.

    Raises ``CourseError`` if a page is missing.
    """
    if not (root / "docs").is_dir():
        return {}
    pages = {}
    paths = [each.path for group in GROUPS.values() for each in group]
    for path in (*paths, SCHEMA):
        try:
            pages[path] = (root / path).read_text(encoding="utf-8")
        except OSError as error:
            raise CourseError(f"the book has no {path}: {error}") from None
    pages[f"{INDEX}.md"] = _index(pages)
    return pages | reference.reference_pages()


def _index(pages: Mapping[str, str]) -> str:
    """Return the page that lists the others, which it is above."""
    lines = ["# Documentation", "", INTRODUCTION, ""]
    for title, group in GROUPS.items():
        lines += [f"## {title}", ""]
        lines += [
            f"- [{title_of(pages[each.path])}](/{each.path}): {each.about}"
            for each in group
        ]
        lines += ["", "```{toctree}", ":hidden:", ""]
        lines += [f"/{each.page}" for each in group]
        lines += ["```", ""]
    lines += [
        "## Reference",
        "",
        "- [API reference](/reference/index.rst): `course_lib`, what authors and "
        "instructors call of `autograder`, and the command line",
        "",
    ]
    return "\n".join(lines)


def title_of(text: str) -> str:
    """Return a page's title; raise ``CourseError`` if it does not begin with one."""
    match = re.match(r"# (.+)\n", text)
    if not match:
        raise CourseError(f"a page begins with {text[:40]!r} and not with a title")
    return match[1]


def documents_in_sidebar(pages: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what the template of the sidebar needs: its pages by group.

    pages : all texts of the book, by file name
    """
    if f"{INDEX}.md" not in pages:
        return []
    return [
        {
            "title": title,
            "pages": [(each.page, title_of(pages[each.path])) for each in group],
        }
        for title, group in GROUPS.items()
    ]


def modules_in_sidebar() -> list[dict[str, Any]]:
    """Return the same for the reference: its pages by subject."""
    groups = [(each.title, each.modules) for each in reference.SUBJECTS]
    groups.append(("Command line", tuple(reference.COMMANDS)))
    return [
        {
            "title": title,
            "pages": [
                (f"{reference.FOLDER}/{name}", name.partition(".")[2] or name)
                for name in names
            ],
        }
        for title, names in groups
    ]


def is_document(page: str) -> bool:
    """Decide whether a page of the book is one of the documentation: none answers."""
    return page.startswith(FOLDERS) or page in FILES


def setup(app: Any) -> dict[str, bool]:
    """Enter into Sphinx that these pages have none of the scripts of pages that answer.

    Its setting ``book_scripts_of_answers`` names those.
    """
    app.add_config_value("book_scripts_of_answers", (), "html")
    app.connect("html-page-context", _drop_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _drop_scripts(app: Any, page: str, template: str, context: Any, tree: Any) -> None:
    if is_document(page):
        left_out = app.config.book_scripts_of_answers
        context["script_files"] = [
            each
            for each in context["script_files"]
            if str(each.filename).rpartition("/")[2] not in left_out
        ]
