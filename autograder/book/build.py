"""Build the book: its pages as Markdown and notebooks, then Sphinx.

Pages are written only where they change, and Sphinx reads only what did: a second build
takes seconds.
"""

import functools
import importlib.util
import io
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
from nbformat import NotebookNode

from autograder.book import reference
from autograder.book.cards import COLOUR_MAPS, card_pictures
from autograder.book.cells import add_cells
from autograder.book.documents import (
    document_pages,
    documents_in_sidebar,
    modules_in_sidebar,
)
from autograder.book.elsewhere import elsewhere, repository
from autograder.book.executed import executed_notebook
from autograder.book.experiments import (
    experiment_page,
    experiments_of,
    links_to_experiments,
)
from autograder.book.front import facts, front_page, further_facts, plain, sidebar
from autograder.book.home import (
    course_data,
    home_page,
    write_notebooks,
    your_notebook,
)
from autograder.book.lessons import (
    Lesson,
    contract,
    folded_solution,
    hints,
    lesson_page,
    read_lesson,
    solution_cell,
)
from autograder.book.live import (
    add_editor,
    copy_models,
    editor,
    release_of,
    write_live,
)
from autograder.book.wheel import PACKAGES
from autograder.checking.exercise import Exercise
from autograder.checking.points import format_number
from autograder.checking.registry import exercises_of
from autograder.course import Course, CourseError, write_atomically
from autograder.course.in_class import in_class
from autograder.notebooks.build import as_text
from autograder.notebooks.citations import papers_in
from autograder.notebooks.execute import COLOUR
from autograder.workspace.lab import EXTENSIONS

HERE = Path(__file__).parent
MISSING = (
    "the book needs Sphinx, MyST-NB, a theme and MathJax: run `make setup`, or "
    '`pip install -e ".[site]"`, then call again'
)
NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline")
MATHJAX = "tex-svg-full.js"  # draws formulas without fonts or other files to load
ASSETS = (
    *("book.css", "book.js", "predictions.js", "favicon.svg"),
    *("storage.js", "python.js", "editing.js", "live.js"),
    *("pictures.js", "cells.js", "notebooks.js", "home.js"),
)
CARDS = "_assets/cards/"  # pictures on the front page, made anew as pages are
CHOICES = EXTENSIONS / "attention-course" / "static" / "choices.js"
OF_SPHINX = {"genindex", "search"}  # pages that it adds
ANSWERING = (
    *("choices.js", "storage.js", "predictions.js", "python.js", "editing.js"),
    *("live.js", "pictures.js", "cells.js", "notebooks.js", "home.js"),
)
SETTINGS: dict[str, Any] = reference.SETTINGS | {
    "project": "The Attention Course",
    "author": "The authors of the course",
    "copyright": "the authors; code BSD-3-Clause, prose and pictures CC BY 4.0",
    "language": "en",
    "extensions": [
        "myst_nb",
        *reference.EXTENSIONS,
        "autograder.book.reference",
        "autograder.book.documents",
    ],
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},  # would come from a network
    "nb_merge_streams": True,
    "myst_enable_extensions": ["amsmath", "dollarmath"],
    "myst_dmath_double_inline": True,
    "myst_heading_anchors": 3,
    "html_theme": "sphinx_book_theme",
    "html_title": "The Attention Course",
    "html_static_path": ["_assets"],
    "html_css_files": ["book.css"],
    "html_js_files": ["book.js", *ANSWERING],
    "book_scripts_of_answers": ANSWERING,
    "templates_path": [str(HERE / "templates")],
    "html_sidebars": {
        "**": ["book-home.html", "search-button-field.html", "book-sidebar.html"]
    },
    "html_favicon": "_assets/favicon.svg",
    "html_copy_source": False,  # would hold the solutions unfolded
    "html_show_sphinx": False,
    "html_use_index": False,
    "html_context": {"default_mode": "auto"},
    "html_theme_options": {
        "show_toc_level": 2,
        "use_download_button": False,
        "use_source_button": False,
        "use_issues_button": False,
        "use_repository_button": False,
        "navbar_persistent": [],  # the search stands in the sidebar
        "footer_content_items": ["copyright.html"],
        "footer_start": [],
        "footer_end": [],
    },
    "mathjax_path": f"mathjax/{MATHJAX}",
    "mathjax3_config": {
        "svg": {"fontCache": "local"},
        "options": {"enableMenu": False},  # its entries load files that are not there
    },
    # myst.mathjax: MyST says that it sets which classes MathJax reads, as it should.
    "suppress_warnings": ["myst.mathjax"],
}


def build_book(
    course: Course,
    lessons: Sequence[str],
    site: Path,
    work: Path,
    pyodide: Path | None = None,
) -> None:
    """Build the book of some lessons as HTML; that of all has the documentation.

    site : the folder for the pages
    work : the folder for what makes the next build quick
    pyodide : a folder with Pyodide, to become part of the book

    Raises ``CourseError`` if a lesson cannot be executed, a link leads nowhere, or a
    folder cannot be written.
    """
    require_sphinx()
    release = release_of(pyodide)
    whole = {*lessons} == {*course.public_lessons}
    for remark in release.remarks:
        print(remark, file=sys.stderr)
    notebooks = {
        name: executed_notebook(course, name, work / "executed") for name in lessons
    }
    try:
        # Who builds single lessons wants to see them soon.
        documents = document_pages(course.root) if whole else {}
        pages = book_pages(course, notebooks, release.packages, documents)
        _write_pages(pages, work / "pages")
        _copy_assets(work / "pages" / "_assets")
        parts = read_lessons(notebooks)
        context = {
            "book_parts": sidebar(parts),
            "book_documents": documents_in_sidebar(pages),
            "book_modules": modules_in_sidebar(),
        }
        run_sphinx(work / "pages", site, work / "doctrees", context)
        _copy_mathjax(site / "_static" / "mathjax")
        data = course_data(parts, notebooks, release.packages)
        write_notebooks(course, data, site)
        for remark in copy_models(site):
            print(remark, file=sys.stderr)
        write_live(site, pyodide, release)
    except OSError as error:
        raise CourseError(f"the book is not finished: {error}") from None
    except ValueError as error:
        raise CourseError(f"the book is not built: {error}") from None


def require_sphinx() -> None:
    """Raise ``CourseError`` if a package that makes the book is not installed."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise CourseError(MISSING)


def book_pages(
    course: Course,
    notebooks: Mapping[str, NotebookNode],
    packages: frozenset[str] = PACKAGES,
    documents: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the texts of all pages by file name, from executed notebooks by lesson.

    packages : with which pages check answers
    documents : the pages of the documentation
    """
    lessons, render = read_lessons(notebooks), _templates(in_class(course.root))
    pictures = card_pictures(notebooks)
    pages = {
        "exercises/index.md": render(
            "exercises.md.j2",
            lessons=lessons,
            count=sum(len(lesson.exercises) for lesson in lessons),
        ),
    }
    pages |= {f"{CARDS}{name}.svg": text for name, text in pictures.items()}
    recorded: dict[str, list[str]] = {}
    in_book = {each.name for lesson in lessons for each in lesson.exercises}
    for lesson in lessons:
        notebook = notebooks[lesson.name]
        page = lesson_page(notebook, notebooks)
        for exercise in lesson.exercises:
            add_editor(page, exercise, notebook, packages)
        add_cells(page, lesson.name, notebook)
        page.cells.append(your_notebook(lesson))
        if address := repository():
            page.cells.append(elsewhere(lesson, address))
        if names := experiments_of(notebook):
            page.cells.append(links_to_experiments(names))
            recorded[lesson.name] = names
        pages[f"{lesson.page}.ipynb"] = as_text(page)
        for exercise in lesson.exercises:
            pages[f"exercises/{exercise.name}.md"] = render(
                "exercise.md.j2",
                **_about(exercise, lesson, notebook, notebooks, packages),
                uses=[_name(each, in_book) for each in exercise.uses],
            )
    pages |= documents
    pages["home.md"] = home_page(course_data(lessons, notebooks, packages))
    for name in sorted({name for each in recorded.values() for name in each}):
        pages[f"experiments/{name}.md"] = experiment_page(name)
    pages["index.md"] = render(
        "index.md.j2",
        **front_page(lessons, notebooks),
        lessons=lessons,
        documented=bool(documents),
        pictures=pictures,
        colour_maps=COLOUR_MAPS,
    )
    return pages


def read_lessons(notebooks: Mapping[str, NotebookNode]) -> list[Lesson]:
    """Return what executed notebooks, by lesson, say about their lessons."""
    exercises = {exercise.name: exercise for exercise in exercises_of()}
    return [
        read_lesson(name, notebook, exercises) for name, notebook in notebooks.items()
    ]


def _about(
    exercise: Exercise,
    lesson: Lesson,
    notebook: NotebookNode,
    lessons: Mapping[str, NotebookNode],
    packages: frozenset[str],
) -> dict[str, Any]:
    cell = solution_cell(notebook, exercise.name)
    return {
        "editor": editor(exercise, notebook, packages),
        "exercise": exercise,
        "lesson": lesson,
        "task": hints(notebook, exercise.name, lessons),
        "contract": contract(cell),
        "sources": papers_in(cell),
        "solution": folded_solution(cell),
        "visible": [case for case in exercise.cases if case.visible],
        "hidden": sum(case.points for case in exercise.cases if not case.visible),
    }


def _name(exercise: str, in_book: set[str]) -> str:
    return f"[{exercise}]({exercise}.md)" if exercise in in_book else f"`{exercise}`"


def _templates(in_class: bool) -> Any:
    """Return a function that fills a template; only pages of a class show points."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals |= {
        "facts": functools.partial(facts, in_class=in_class),
        "further_facts": further_facts,
        "in_class": in_class,
        "number": format_number,
        "points": points,
        "sentence": as_markdown,
    }
    environment.filters["plain"] = plain

    def render(name: str, **values: Any) -> str:
        return environment.get_template(name).render(**values)

    return render


def points(number: float) -> str:
    """Return a number of points in words.

    >>> points(1), points(2.5)
    ('1 point', '2.5 points')
    """
    return f"{format_number(number)} point{'' if number == 1 else 's'}"


def as_markdown(sentence: str) -> str:
    r"""Return a claim as it is, where Markdown would read marks into it.

    >>> as_markdown("d_k * 2 with `a*b`")
    'd\\_k \\* 2 with `a*b`'
    """
    parts = sentence.split("`")
    for index in range(0, len(parts), 2):
        for mark in "\\*_[]<>$":
            parts[index] = parts[index].replace(mark, f"\\{mark}")
    return "`".join(parts)


def _write_pages(pages: Mapping[str, str], folder: Path) -> None:
    """Write what changed, and remove what is no page any more."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        is_copied = name.startswith("_assets/") and not name.startswith(CARDS)
        if path.is_file() and name not in pages and not is_copied:
            path.unlink()


def _copy_assets(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ASSETS:
        shutil.copyfile(HERE / name, folder / name)
    # A page from the file system may load no module: as an ordinary script it may.
    choices = CHOICES.read_text(encoding="utf-8").replace("export ", "")
    write_atomically(folder / CHOICES.name, choices)


def _copy_mathjax(folder: Path) -> None:
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    assert spec and spec.origin  # `require_sphinx` has refused the rest
    folder.mkdir(parents=True, exist_ok=True)
    package = Path(spec.origin).parent / "static" / "mathjax"
    shutil.copyfile(package / MATHJAX, folder / MATHJAX)


def run_sphinx(
    pages: Path, site: Path, doctrees: Path, context: Mapping[str, Any]
) -> None:
    """Run Sphinx; raise ``ValueError`` with its warnings if it has any.

    pages : the folder of what is read, with ``index.md``
    context : what the sidebar's template needs
    """
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    warnings = io.StringIO()
    try:
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                pages,
                None,
                site,
                doctrees,
                "html",
                SETTINGS | {"html_context": SETTINGS["html_context"] | dict(context)},
                status=None,
                warning=warnings,
                parallel=2,
            )
            app.build(force_all=True)  # each page names the others
    except SphinxError as error:
        raise ValueError(str(error)) from None
    if complaints := COLOUR.sub("", warnings.getvalue()).strip():
        # What was read with a warning would not be read again: the next build is whole.
        with suppress(OSError):
            shutil.rmtree(doctrees)
        raise ValueError(complaints)
    remove_old_pages(site, {*app.env.found_docs, *OF_SPHINX})
    if f"{reference.FOLDER}/index" not in app.env.found_docs:
        shutil.rmtree(
            site / "_modules", ignore_errors=True
        )  # sources for the reference


def remove_old_pages(site: Path, names: Collection[str]) -> None:
    """Remove the pages of an earlier build that are none of these."""
    for path in site.rglob("*.html"):
        name = path.relative_to(site).with_suffix("").as_posix()
        if name not in names and not name.startswith("_"):
            path.unlink()
