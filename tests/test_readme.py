"""What the README and the pages beside it show is what the course does."""

import re

import numpy as np
import pytest

from autograder.book.wheel import exercises_that_run
from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.matrix import judge_function
from autograder.checking.registry import exercises_of, load
from autograder.commands import authors, instructors, learners
from autograder.course import Course
from autograder.messages.report import CheckReport
from autograder.notebooks.source import LessonSource
from course_lib.figures.cover import cover, cover_svg
from tests.lesson_parts import minutes_of

ROOT = Course.here().root
PARTS = (authors, instructors, learners)
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *(ROOT / name / "README.md" for name in ("hub", "autograder/grading")),
]
LINKING = [
    *PAGES,
    *(ROOT / name for name in ("CHANGELOG.md", "LICENSE-prose.md")),
    *sorted(ROOT.glob(".github/**/*.md")),
]
# A link's or picture's target, in Markdown or HTML.
LINK = re.compile(r"""(?:(?<=\]\()|(?<=href=")|(?<=src="))([^)"\s]+)(?=[)"])""")
TEXTS = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def no_scale_message():
    exercise = load("scaled_scores")
    visible = [case for case in exercise.cases if case.visible]

    def scaled_scores(q, k):
        return q @ np.swapaxes(k, -1, -2)

    result = judge_function(exercise, scaled_scores, visible, NOTEBOOK_SEED)
    return str(CheckReport(exercise, result))


def test_shown_message_is_the_real_one():
    block = re.search(r"```text\n(.*?)```", README, re.DOTALL)[1]
    assert block == no_scale_message() + "\n"


def without_numbers(svg):
    """Leave out glyphs' numbers: a system's own copy of the font has others."""
    return re.sub(r"DejaVuSans-[0-9a-f]+", "DejaVuSans", svg)


def test_cover_is_what_the_course_draws():
    assert without_numbers((ROOT / "cover.svg").read_text("utf-8")) == without_numbers(
        cover_svg()
    )
    assert cover().alt in README


def test_moving_picture_is_small_and_described():
    path, alt = re.search(
        r'<img src="(docs/\S+\.gif)"[^>]* alt="([^"]+)">', README
    ).groups()
    assert 1000 < (ROOT / path).stat().st_size <= 500_000
    # What it says is what the page said when it was recorded.
    assert re.search(r"Your dot products are not divided\.", alt)
    assert "Your dot products are not divided." in no_scale_message()


def test_table_of_lessons_counts_the_exercises():
    rows = dict(re.findall(r"^\| `(\d\d_\w+)` \|.*\| (\d+) \|$", README, re.MULTILINE))
    assert list(rows) == Course.here().lessons, "README.md: a row for each lesson"
    for lesson, count in rows.items():
        exercises = len(exercises_of(lesson))
        assert int(count) == exercises, (
            f"{lesson} has {exercises} exercises: write that instead of {count} into "
            "its row of the table in README.md"
        )


def sums(lessons):
    """Return the line above the table.

    lessons : of each, the minutes of both its parts, and their numbers of exercises
    """
    core, further, required, optional = map(sum, zip(*lessons, strict=True))
    line = f"{len(lessons)} lessons with {required} exercises, about {core / 60:.0f}"
    if not further:
        return f"{line} hours in all."
    return (
        f"{line} hours; {optional} more exercises, about {further / 60:.0f} hours, go "
        "further."
    )


def test_sums_above_the_table_are_those_of_the_lessons():
    course = Course.here()
    lessons = []
    for name in course.lessons:
        lesson = LessonSource(course.source(name))
        optional = len(lesson.optional)
        required = len(lesson.exercises) - optional
        lessons.append((*minutes_of(lesson), required, optional))
    line = sums(lessons)
    assert line in README, f"README.md: write above the table of lessons: {line}"


def test_sums_count_what_goes_further_apart():
    assert sums([(90, 0, 5, 0), (35, 0, 3, 0)]) == (
        "2 lessons with 8 exercises, about 2 hours in all."
    )
    assert sums([(90, 45, 5, 2), (35, 20, 3, 1)]) == (
        "2 lessons with 8 exercises, about 2 hours; 3 more exercises, about 1 hours, "
        "go further."
    )


def test_number_of_exercises_that_pages_check_is_right():
    line = f"the pages of {len(exercises_that_run())} exercises check"
    assert line in README, f"README.md: write in the table below Start: {line}"


def test_named_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:^|`)make (\w+)", TEXTS, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_named_commands_exist():
    commands = {
        each.name for part in PARTS for each in part.commands.registered_commands
    }
    for name in set(re.findall(r"(?:bin/|`)autograder ([a-z][a-z-]*)", TEXTS)):
        assert name in commands, name


def headings_of(page):
    """Return the anchors of a page's headings, as Git hosts make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


def broken_links_of(page):
    """Return a sentence for each link to a file or heading that is not there."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    sentences = []
    for target in LINK.findall(text):
        link, _, heading = target.partition("#")
        path = page.parent / link if link else page
        if re.match(r"[a-z]+:", target):
            continue
        if not path.exists():
            sentences.append(f"{page} links {link}, which is no file")
        elif heading and heading not in headings_of(path):
            sentences.append(f"{page} links {target}, which has no such heading")
    return sentences


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.parent.name + page.name)
def test_linked_files_and_headings_exist(page):
    assert broken_links_of(page) == []


def test_broken_links_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](#here) [b](page.md#here) [c](https://example.org/x#y)\n"
        "[d](#there) [e](page.md#there) [f](none.md)\n"
        '<img src="none.svg" alt="x"> <a href="page.md#gone">g</a>\n'
    )
    assert [each.partition(" links ")[2] for each in broken_links_of(page)] == [
        "#there, which has no such heading",
        "page.md#there, which has no such heading",
        "none.md, which is no file",
        "none.svg, which is no file",
        "page.md#gone, which has no such heading",
    ]


def test_pages_that_code_names_exist():
    tracked = [
        *ROOT.glob("autograder/**/*.py"),
        *ROOT.glob("autograder/**/*.j2"),
        *ROOT.glob("course_lib/**/*.py"),
        *ROOT.glob("tests/**/*.py"),
        *(ROOT / name for name in ("Makefile", "pyproject.toml")),
    ]
    for path in tracked:
        for name in re.findall(r"docs/[a-z-]+\.md", path.read_text("utf-8")):
            assert (ROOT / name).is_file(), f"{path} names {name}"


def test_engine_page_names_every_module():
    folder = ROOT / "autograder" / "grading"
    page = (folder / "README.md").read_text(encoding="utf-8")
    for path in [*folder.glob("*.py"), *folder.glob("inside/*.py")]:
        name = path.relative_to(folder).with_suffix("").as_posix()
        assert path.stem == "__init__" or f"`{name}`" in page, name
