"""``attention-course class-edition``: what learners of a class get, without answers.

Left out are ``solutions/``, the tests, what only instructors call, and the notebooks
and banks of lessons that the class does not get. A check needs a reference, a spec and
the misconceptions where the learner is, so of a lesson that is open these are *packed*:
they run as ever, and no file shows them. That keeps an honest learner from stumbling
over an answer, no more: whoever unpacks a file on purpose reads it.
"""

import ast
import base64
import re
import textwrap
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from autograder.adapters.editions import (
    PACKAGES,
    Files,
    about_wheel,
    labelled_version,
    new_folder,
    package_files,
    wheel_name,
    wheel_of,
    write_whole,
)
from autograder.checking.registry import exercises_of
from autograder.course import Course, CourseError
from autograder.course.in_class import OWN_ID
from autograder.gradebook.settings import course_id
from autograder.workspace.installed import (
    NOTEBOOKS,
    RELEASES,
    SETTINGS,
    installed_lessons,
)

EditionForm = Literal["wheel", "folder", "container"]

BANKS = "autograder/exercises/"
# Instructors' and authors' packages; the module of this command; leftovers.
LEFT_OUT = re.compile(
    r"autograder/(?:adapters|book|dashboard|demo|grading|notebooks|similarity)/"
    r"|autograder/gradebook/(?!__init__\.py|safe_html\.py)"
    r"|autograder/(?:commands/class_edition|editions)\.py"
)
# Whose text a lesson shows, or Triton reads: by the lesson that does.
DISPLAYED = {
    "course_lib/nn/flash_kernels.py": "14",
    "course_lib/lessons/patients/": "16",
}
LABEL = re.compile(r"[a-z0-9]+(?:\.[a-z0-9]+)*")

PACKED = '''"""{first}"""

# Packed in a class's edition, since a lesson that asks for such code is open.
packed = __import__("zlib").decompress(__import__("base64").b85decode(
{text}
))
exec(
    compile(
        packed,
        "<{name}, packed>",
        "exec",
        dont_inherit=True,
    )
)
'''
CONFIG = '''"""A learner's folder; {course} is the class in nbgrader's exchange."""

c = get_config()  # noqa: F821 - nbgrader puts it here

c.CourseDirectory.course_id = {course!r}
'''
READ_ME = """# {course}: the course's edition for learners

Lessons: {lessons}.

{how}

Answers stay in the folder `work/`. A newer edition is installed over this one: `work/`
is left as it is, and `autograder update` brings changed lessons into it.
"""
HOW: Mapping[EditionForm, str] = {
    "wheel": """With Python 3.11 or newer, in an environment of its own:

    python -m pip install {wheel}
    attention-course

`"{wheel}[torch]"` adds PyTorch, for the lessons from 07 on.""",
    "folder": """In a computer room whose Python has the packages that the course needs:
put this folder where all may read it, and let learners call

    PYTHONPATH={folder} python -m autograder.commands.start

which makes a folder of their own below the current one.""",
    "container": """    docker build --tag {tag} .
    docker run --rm --publish 127.0.0.1:8888:8888 \\
        --volume attention-work:/course/work \\
        {tag}""",
}
DOCKERFILE = """# A learner's JupyterLab. Grading is for the instructor's machine alone.
FROM python:3.11-slim
COPY {wheel} /tmp/
RUN pip install --no-cache-dir "/tmp/{wheel}{extra}" && rm /tmp/{wheel} \\
    && useradd --create-home learner && install -d -o learner /course /course/work
USER learner
EXPOSE 8888
CMD ["attention-course", "--no-browser", "--folder", "/course", "--address", "0.0.0.0"]
"""


@dataclass(frozen=True)
class Edition:
    """What a class gets.

    lessons : names of the lessons in it
    closed : names of the lessons whose answers may be read
    label : of its version, behind ``+``
    """

    course: Course
    lessons: tuple[str, ...]
    closed: frozenset[str]
    label: str

    @property
    def version(self) -> str:
        """The packages' version and the label."""
        return labelled_version(self.label)

    @property
    def wheel(self) -> str:
        """Name of the wheel's file."""
        return wheel_name(self.version)


def edition_of(course: Course, lessons: str, closed: str, label: str) -> Edition:
    """Return the edition that a user's words mean; raises ``CourseError``.

    lessons, closed : as ``chosen_lessons`` reads them
    label : "" for the minute, by UTC: a later edition is a newer version
    """
    label = label or f"class.{datetime.now(UTC):%Y%m%d%H%M}"
    if not LABEL.fullmatch(label):
        raise CourseError(
            f"--label {label!r} cannot be part of a version: write small letters, "
            "digits and single dots, such as week03"
        )
    everything = [n for n in course.built_lessons if not course.is_private(n)]
    names = chosen_lessons(course, lessons) if lessons else everything
    if not names:
        raise CourseError(f"{course.root} has no lesson in notebooks/")
    for each in names:
        if course.is_private(each):
            file = course.relative(course.learner(each))
            raise CourseError(
                f"{each} is private, and in no edition: hand out {file} by itself"
            )
    return Edition(
        course, tuple(names), frozenset(chosen_lessons(course, closed)), label
    )


def chosen_lessons(course: Course, words: str) -> list[str]:
    """Return the lessons that words such as ``00-03,05`` mean; none for ""."""
    names: set[str] = set()
    for part in filter(None, re.split(r"[,\s]+", words)):
        first, dash, last = part.partition("-")
        ends = [course.find_lesson(each, built=True) for each in (first, last or first)]
        if dash and ends[0] > ends[1]:
            raise CourseError(f"{part!r} begins after its end: write {last}-{first}")
        names |= {each for each in course.built_lessons if ends[0] <= each <= ends[1]}
    return sorted(names)


def make_edition(folder: Path, edition: Edition, form: str, *, torch: bool) -> str:
    """Make a class's edition in a folder, whole or not at all; return what to say.

    Raises ``CourseError`` if the folder holds something, or cannot be written.
    """
    if form not in get_args(EditionForm):
        forms = ", ".join(get_args(EditionForm))
        raise CourseError(f"there is no edition as {form!r}; there are: {forms}")
    folder = new_folder(folder)
    files = files_of_edition(edition)
    write_whole(folder, _written(edition, files, form, folder, torch=torch))  # type: ignore[arg-type]  # it is one of them
    return in_words(folder, edition, form)


def in_words(folder: Path, edition: Edition, form: str) -> str:
    """Return what an instructor should know of an edition."""
    still_open = [each[:2] for each in edition.lessons if each not in edition.closed]
    packed = (
        f"those of {', '.join(still_open)} are packed" if still_open else "none are"
    )
    return (
        f"{folder} is an edition of {len(edition.lessons)} "
        f"lesson{'' if len(edition.lessons) == 1 else 's'} for learners, as {form}, "
        f"version {edition.version}; its README.md says how to start it. It has no "
        f"solutions; of references and banks, {packed}. Packed is "
        "not secret: who unpacks a file on purpose reads it."
    )


# --- what is in it ------------------------------------------------------------------


def files_of_edition(edition: Edition) -> Files:
    """Return the edition's packages, by path from the folder that holds them."""
    modules = packed_modules(edition)
    banks = banks_of(edition)
    files = {}
    for path, content in package_files(LEFT_OUT):
        if path.startswith(BANKS) and path.endswith(".py"):
            if path.removeprefix(BANKS).removesuffix(".py") not in (*banks, "__init__"):
                continue
        files[path] = packed(path, content) if path in modules else content
    return files


def banks_of(edition: Edition) -> set[str]:
    """Return the exercises whose banks the edition's checks need."""
    todo = [each.name for each in exercises_of() if each.lesson in edition.lessons]
    uses = {each.name: each.uses for each in exercises_of()}
    banks: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in banks:
            banks.add(name)
            todo += [*uses[name], *(_imported_banks(name) & {*uses})]
    return banks


def _imported_banks(name: str) -> set[str]:
    """Return the banks that a bank imports."""
    text = (PACKAGES[0].parent / f"{BANKS}{name}.py").read_text(encoding="utf-8")
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "autograder.exercises":
                names |= {alias.name for alias in node.names}
            elif node.module.startswith("autograder.exercises."):
                names.add(node.module.rpartition(".")[2])
    return names


def packed_modules(edition: Edition) -> set[str]:
    """Return the paths of the modules that may show an answer to an open lesson.

    Open is every lesson that is not closed, in the edition or not. Figures and
    experiments compute what exercises ask for, too, so all of ``course_lib`` is packed
    but for the references of closed lessons and what lessons show as text.
    """
    still_open = [each for each in exercises_of() if each.lesson not in edition.closed]
    if not still_open:
        return set()
    asked_for = {each.reference.__module__ for each in still_open}
    known = {each.reference.__module__ for each in exercises_of()} - asked_for
    plain = {f"{name.replace('.', '/')}.py" for name in known}
    displayed = tuple(
        path
        for path, number in DISPLAYED.items()
        if any(each.startswith(number) for each in edition.lessons)
    )
    return {f"{BANKS}{each.name}.py" for each in still_open} | {
        path
        for path, content in package_files(LEFT_OUT)
        if path.startswith("course_lib/") and path.endswith(".py") and content.strip()
        if path not in plain and not path.startswith(displayed)
    }


def packed(path: str, content: bytes) -> bytes:
    """Return a module that runs as before, and shows the first line of its docstring.

    >>> text = packed("course_lib/a.py", b'"Of a."\\nsecret = 6 * 7\\n').decode()
    >>> "secret" in text, "Of a." in text
    (False, True)
    >>> exec(text); secret
    42
    """
    first = (ast.get_docstring(ast.parse(content)) or "").partition("\n")[0]
    code = base64.b85encode(zlib.compress(content, 9)).decode()
    rows = textwrap.wrap(code, 76, break_on_hyphens=False)
    text = "\n".join(f'    b"{row}"' for row in rows)
    name = path.removesuffix(".py").replace("/", ".")
    first = first.replace("\\", "").replace('"', "'")
    return PACKED.format(first=first, text=text, name=name).encode()


def _shared_files(edition: Edition) -> Files:
    """Return what ``attention-course`` makes a learner's folder of."""
    course = edition.course
    config = CONFIG.format(course=course_id(course) or OWN_ID)
    files = {SETTINGS: config.encode()}
    releases = course.root / RELEASES
    if not releases.is_file():
        releases = installed_lessons() / RELEASES
    files[RELEASES] = releases.read_bytes()
    for lesson in edition.lessons:
        path = course.learner(lesson)
        files[f"{NOTEBOOKS}/{lesson}/{path.name}"] = path.read_bytes()
    return files


# --- its forms ----------------------------------------------------------------------


def _written(
    edition: Edition,
    files: Files,
    form: EditionForm,
    folder: Path,
    *,
    torch: bool,
) -> Files:
    """Return the files of an edition in one of its forms.

    folder : where it is going to lie
    """
    shared = _shared_files(edition)
    about = about_wheel(edition.version)
    if form == "folder":
        written = {**files, **shared, **about}
    else:
        written = {edition.wheel: wheel_of(edition.version, files, shared)}
    if form == "container":
        extra = "[torch]" if torch else ""
        dockerfile = DOCKERFILE.format(wheel=edition.wheel, extra=extra)
        written |= {"Dockerfile": dockerfile.encode()}
    name = course_id(edition.course) or OWN_ID
    how = HOW[form].format(
        wheel=edition.wheel,
        folder=folder,
        tag=re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "course",
    )
    lessons = ", ".join(edition.lessons)
    read_me = READ_ME.format(course=name, lessons=lessons, how=how)
    return {**written, "README.md": read_me.encode()}
