"""The instructor's page as a file: what it says, what it may not hold, where it is."""

import base64
import errno
import hashlib
import itertools
import os
import re
from html.parser import HTMLParser

import nbformat
import pytest

from autograder.checking.registry import load
from autograder.checking.result import Flag
from autograder.course import Course, CourseError
from autograder.dashboard import page as page_module
from autograder.dashboard import rendering
from autograder.dashboard.class_results import Roster
from autograder.dashboard.page import (
    MAX_UNFOLDED_ROWS,
    MAX_UNFOLDED_STUDENTS,
    render_page,
    write_report,
)
from autograder.gradebook.grades import Grade, StudentGrades
from tests.dashboard.classes import (
    LESSON,
    TIMES,
    answer,
    graded,
    invalid,
    many,
    roster,
    six,
)

VOID = {"meta", "wbr", "br", "link", "img", "input"}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</details></main><h1>all points",
    "' onclick='alert(1)",
    "{{ roster }}{% raw %}",
    "a\x00b\x1b[2J\x85\u2028",
    "\udcff\udc80",
    "\u202eslortnoc",
    "x" * 5000,
]


class Outline(HTMLParser):
    """Reads a page: its tags in order, their nesting, its text, tables and links."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words, self.faults = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def all(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


def hostile_class(text):
    """Return a class that says a text wherever somebody untrusted can say something."""
    flag = Flag("softmax", text, text)
    return roster(
        [
            graded(text, answer("softmax", "wrong", flags=(flag,)), repairs=(text,)),
            graded(f"b{text}", answer("softmax", "timeout", diagnosis=text)),
            graded(f"c{text}", answer("attention", blamed=("softmax",))),
            invalid(f"d{text}", text),
        ],
        {text: {"all": 1.0, f"{text}.small": 1.0}},
        {f"e{text}": StudentGrades(f"e{text}", (), submitted=False)},
    )


@pytest.fixture
def course(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("")
    source = Course.here().learner(LESSON)
    target = Course(tmp_path).learner(LESSON)
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    return Course(tmp_path)


@pytest.fixture
def journal(monkeypatch):
    """Return the results that stand in a journal, to be filled."""
    results = []

    class Journal:
        def __init__(self, _):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def results(self, lesson):
            return [each for each in results if each.lesson == lesson]

        def times(self, lesson):
            return TIMES

    monkeypatch.setattr(page_module, "Journal", Journal)
    return results


# --- what it says ----------------------------------------------------------------


def test_page_shows_what_was_counted():
    text = Outline(render_page(roster(six(), TIMES), written="today")).text
    diagnoses = {each.name: each.diagnosis for each in load("softmax").misconceptions}
    for words in (
        "Dot-product attention",
        "written today",
        "Half of the class has at least 7 of 10 points.",
        "no_max_subtraction in softmax, shown by 2 students",
        diagnoses["no_max_subtraction"],
        "2 students · 40",
        "softmax, cell 18",
        "did not come to an end in time",
        "mha = nn.Multihead()",
        "The file is empty",
        "Identical solutions are graded once: they share verdicts and times.",
    ):
        assert words in text, words


def test_page_marks_points_given_by_hand():
    grades = {
        "eva": StudentGrades(
            "eva", (Grade("attention", 6.0, manual=5.0),), late_penalty=1.0
        ),
        "zoe": StudentGrades("zoe", (), submitted=False),
    }
    text = Outline(render_page(roster(six(), TIMES, grades))).text
    assert "1 submission was graded by hand" in text
    assert "graded by hand, 1 taken off, late" in text
    assert "1 student has handed in nothing" in text
    assert "Submissions6 of 7" in text
    assert "With a late penalty1" in text
    plain = Outline(render_page(roster(six(), TIMES))).text
    assert "was graded by hand" not in plain
    assert "late penalty" not in plain


@pytest.mark.parametrize(
    "group",
    [
        roster([graded("amara", answer("softmax"))]),
        roster([invalid("amara", "The file is empty")]),
        roster([graded("amara")]),
        roster(
            [graded(name, answer("softmax", "missing", "missing")) for name in "ab"]
        ),
        roster(six(), TIMES),
        Roster(LESSON, "Title", tuple(roster(six()).rows)),  # cells are not known
        hostile_class("quiet"),
    ],
    ids=["one", "one broken", "grader failed", "nobody tried", "six", "no cells", "q"],
)
def test_page_is_well_formed_for_every_class(group):
    outline = Outline(render_page(group))
    assert outline.faults == outline.open == []
    ids = [about["id"] for _, about in outline.tags if "id" in about]
    assert len({*ids}) == len(ids)
    for link in outline.all("a"):
        assert link["href"].startswith("#")
        assert link["href"][1:] in ids
    for labelled in outline.all("section"):
        assert labelled["aria-labelledby"] in ids


def test_page_has_ordered_headings_captions_and_scopes():
    outline = Outline(render_page(roster(many(40))))
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(new <= old + 1 for old, new in itertools.pairwise(levels))
    tables = [tag for tag, _ in outline.tags if tag in ("table", "caption")]
    assert tables[::2] == ["table"] * (len(tables) // 2)
    assert tables[1::2] == ["caption"] * (len(tables) // 2)
    assert all(head.get("scope") in ("col", "row") for head in outline.all("th"))


def test_every_picture_has_a_label_in_words():
    outline = Outline(render_page(roster(six(), TIMES)))
    labels = [about["aria-label"] for _, about in outline.tags if _is_picture(about)]
    assert len(labels) == 3
    assert "the median is 7 of 10 points" in labels[0]
    assert "rarest in attention" in labels[1]
    assert labels[2].startswith("2 of 5 students")
    assert outline.all("img", "svg", "canvas") == []


def _is_picture(about):
    return about.get("role") == "img"


def test_long_lists_are_folded_and_complete():
    for count, folded in (
        (MAX_UNFOLDED_STUDENTS, False),
        (MAX_UNFOLDED_STUDENTS + 1, True),
    ):
        text = Outline(render_page(roster(many(count)))).text
        assert (f"{count} students, by name" in text) == folded
        assert f"student-{count - 1:05d}" in text
    outline = Outline(render_page(roster(many(300))))
    assert re.search(r"\d+ rarer misconceptions", outline.text)
    (second,) = [each for each in outline.all("ol") if "start" in each]
    assert second["start"] == str(MAX_UNFOLDED_ROWS + 1)


def test_page_on_5000_students_is_below_5_megabytes():
    text = render_page(roster(many(5000)))
    assert len(text.encode()) < 5e6
    assert text.count("student-04999") >= 3  # in the table, a call and a repair


# --- what it may not hold --------------------------------------------------------


def test_page_has_our_script_only_and_may_load_nothing():
    page = render_page(roster(six(), TIMES))
    outline = Outline(page)
    names = {tag for tag, _ in outline.tags}
    assert not names & {"link", "iframe", "object", "embed", "form", "base"}
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert outline.all("script") == [{}]
    assert script == rendering.SCRIPT.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policies = [
        about["content"]
        for about in outline.all("meta")
        if about.get("http-equiv") == "Content-Security-Policy"
    ]
    (policy,) = policies
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    for _, about in outline.tags:
        assert not [name for name in about if name.startswith("on") or name == "src"]
    assert not re.search(r"url\(|@import", render_page(roster(six())))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_untrusted_text_stays_text(text):
    """Compare the tags with those of a harmless class."""
    harmless, hostile = (
        Outline(render_page(hostile_class(t))) for t in ("quiet", text)
    )
    assert hostile.faults == []
    assert _shape(hostile) == _shape(harmless)


def _shape(outline):
    """Return tags and their attributes' names; a long name may break between parts."""
    return [(tag, sorted(about)) for tag, about in outline.tags if tag != "wbr"]


def test_untrusted_text_cannot_turn_the_reading_direction():
    text = render_page(hostile_class("a\x00\x1b\udcff\u202e\u2067b<i>"))
    assert "a" + 5 * "\N{REPLACEMENT CHARACTER}" + "b&lt;i&gt;" in text
    assert not re.search("[\0\x1b\u202e\u2067\ud800-\udfff]", text)
    text.encode("utf-8")
    assert "x" * 501 not in render_page(hostile_class("x" * 5000))


# --- colours ---------------------------------------------------------------------


def _colours():
    """Return the style's colours by name, light and dark."""
    style = (rendering.FOLDER / "dashboard.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    light, dark = (
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in blocks
    )
    return {"light": light, "dark": light | dark}


def _luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one, other):
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_bars_contrast_with_their_background(scheme):
    colours = _colours()[scheme]
    assert _contrast("#ffffff", "#000000") == pytest.approx(21)
    for text in ("text", "quiet"):
        assert _contrast(colours[text], colours["heat"]) >= 4.5, text
    for behind in ("page", "panel"):
        for text in ("text", "quiet", "link"):
            contrast = _contrast(colours[text], colours[behind])
            assert contrast >= 4.5, (text, behind, contrast)
        for drawn in ("bar", "full", "part", "none"):
            contrast = _contrast(colours[drawn], colours[behind])
            assert contrast >= 3, (drawn, behind, contrast)


# --- how it is written -----------------------------------------------------------


def test_write_report_writes_to_build_or_to_the_output(course, journal):
    journal.extend(six())
    path = write_report(course, LESSON, written="today")
    assert path == course.root / "build" / "report" / f"{LESSON}.html"
    first = path.read_bytes()
    text = Outline(first.decode()).text
    assert "Dot-product attention" in text
    cells = nbformat.read(course.learner(LESSON), as_version=4).cells
    number = 1 + [cell.id for cell in cells].index("softmax")
    assert f"softmax, cell {number}" in text
    assert write_report(course, LESSON, written="today").read_bytes() == first
    grades = {"eva": StudentGrades("eva", (Grade("attention", 6.0, manual=5.0),))}
    elsewhere = course.root / "new" / "report.html"
    assert write_report(course, LESSON, elsewhere, grades=grades) == elsewhere
    assert re.search(r"written \d{4}-\d\d-\d\d, \d\d:\d\d", elsewhere.read_text())
    assert "graded by hand" in elsewhere.read_text()


def test_write_report_of_an_ungraded_class_is_refused(course, journal):
    with pytest.raises(CourseError) as refused:
        write_report(course, LESSON)
    assert str(refused.value) == (
        f"nobody has been graded for {LESSON} yet: run `autograder grade 01`"
    )
    assert not (course.root / "build").exists()


def test_full_disk_leaves_the_old_report(course, journal, monkeypatch):
    journal.extend(six())
    path = write_report(course, LESSON, written="before")
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CourseError, match="No space left on device"):
        write_report(course, LESSON, written="after")
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_unwritable_output_is_one_sentence(course, journal):
    journal.extend(six())
    (course.root / "file").write_text("")
    for name in ("file/report.html", "notebooks"):
        with pytest.raises(CourseError, match="could not be written") as refused:
            write_report(course, LESSON, course.root / name)
        assert "\n" not in str(refused.value)
