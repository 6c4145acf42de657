"""What of a result goes into the gradebook, and which names are students' ids."""

import pytest

from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.gradebook.lateness import format_for_sqlite, parse_timestamp
from autograder.gradebook.writing import gradebook_entry, student_id_fault
from autograder.grading.result import SubmissionResult


def exercise(name, *statuses, points=0.0, flags=()):
    cases = tuple(CaseVerdict("case", "claim", s, 0.0, 1.0, True) for s in statuses)
    return ExerciseResult(name, points, 8.0, cases, flags=flags)


def result(*exercises, status="graded", reason=""):
    return SubmissionResult("amara", "01", status, exercises, reason)


def test_points_are_pythons_numbers_by_exercise():
    entry = gradebook_entry(result(exercise("softmax", "ok", points=3)), None)
    assert (entry.student, entry.points) == ("amara", {"softmax": 3.0})
    assert type(entry.points["softmax"]) is float
    assert entry.comment("softmax") is None


def test_only_a_stub_that_was_left_gets_nbgraders_comment():
    entry = gradebook_entry(
        result(exercise("one", "missing", "missing"), exercise("two", "missing", "ok")),
        None,
    )
    assert entry.unwritten == {"one"}
    assert (entry.comment("one"), entry.comment("two")) == ("No response.", None)


def test_a_library_call_is_for_review_and_its_comment_names_it_once():
    flags = (
        Flag("softmax", "torch.softmax", "torch.softmax(x)"),
        Flag("softmax", "torch.softmax", "again"),
    )
    entry = gradebook_entry(result(exercise("softmax", "ok", flags=flags)), None)
    assert entry.review == {"softmax"}
    assert entry.comment("softmax") == "For review: the answer calls torch.softmax"


def test_a_file_that_could_not_be_read_says_so_in_every_comment():
    entry = gradebook_entry(
        result(exercise("one", "invalid"), status="invalid", reason="It is empty."),
        None,
    )
    assert entry.points == {"one": 0.0}
    assert entry.comment("one") == "Nothing could be graded: It is empty."


@pytest.mark.parametrize(
    "reason",
    [
        "<script>alert(1)</script>",
        "![x](http://example.org/seen.png)",
        "[x](javascript:alert(1))",
        "<http://example.org> https://example.org www.example.org a@example.org",
        "&lt;b&gt; $\\href{javascript:alert(1)}{x}$ `<b>`",
        "a\n\n# b\n\n<b>",
    ],
)
def test_a_strangers_words_in_a_comment_are_no_page(reason):
    """nbgrader's feedback turns comments into HTML, with whatever HTML is in them."""
    from nbconvert.filters import markdown2html

    given = result(exercise("one", "invalid"), status="invalid", reason=reason)
    page = markdown2html(gradebook_entry(given, None).comment("one"))
    assert page.startswith("<p>")
    assert page.strip().removeprefix("<p>").removesuffix("</p>").count("<") == 0
    assert "$" not in page


def test_a_long_reason_is_cut():
    given = result(exercise("one", "invalid"), status="invalid", reason="x" * 9999)
    assert len(gradebook_entry(given, None).comment("one")) == 1000


@pytest.mark.parametrize(
    "student", ["amara", "o.neil_2", "a@b.org", "Éva Ö", "李", "a" * 128, "1"]
)
def test_ordinary_names_are_ids(student):
    assert student_id_fault(student) == ""


@pytest.mark.parametrize(
    ("student", "what"),
    [
        ("", "has 0 characters"),
        ("a" * 129, "has 129 characters"),
        (".hidden", "begins with ."),
        ("-rf", "begins with -"),
        *((f"a{c}b", f"holds {c}, which is no part") for c in "<>&\"'\\/"),
        ("a\nb", "holds U+000A"),
        ("a\x7fb", "holds U+007F"),
        ("a\u202eb", "holds U+202E"),
        ("a\u2028b", "holds U+2028"),
        ("a\udcffb", "holds U+DCFF"),
    ],
)
def test_a_name_that_a_page_or_a_terminal_would_misread_is_no_id(student, what):
    fault = student_id_fault(student)
    assert what in fault
    assert fault.endswith("rename it")
    assert fault.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "2015-02-02 15:58:23.948203 UTC",
        "2015-02-02 15:58:23 UTC",
        "2015-02-02 15:58:23",
        "2015-02-02 15:58:23 Europe/Berlin",
        "2015-02-02 15:58:23 +0100",
        "2015-02-02T15:58:23+05:30",
        "Mon Feb 2 15:58:23 2015",
    ],
)
def test_a_timestamp_is_read_as_nbgrader_reads_it(text):
    from nbgrader.utils import parse_utc

    assert parse_timestamp(f" {text}\n") == parse_utc(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "soon", "12:30", "7", "Monday", "2015-13-45 99:99:99 UTC"),
        *("0001-01-01 00:00:00 +9999", "2015-02-02 15:58:23 99999999999999999999"),
        *(
            "9" * 60,
            "2015-02-02" + " " * 60 + "x",
            "\x00",
            "\ud800",
            "2015-02-02 1 2 3 4",
        ),
    ],
)
def test_what_is_no_moment_is_none(text):
    assert parse_timestamp(text) is None


@pytest.mark.parametrize("zone", ["/etc/passwd", ":/etc/passwd", "a/../../passwd"])
def test_a_time_zone_opens_no_file(zone, monkeypatch):
    monkeypatch.setattr("dateutil.tz.gettz", None)
    assert format_for_sqlite(parse_timestamp(f"2015-02-02 15:58:23 {zone}")).startswith(
        "2015-02-02 15:58:23"
    )


def test_a_moment_is_stored_as_sqlalchemy_stores_it():
    assert (
        format_for_sqlite(parse_timestamp("0999-02-02 15:58:23 UTC"))
        == "0999-02-02 15:58:23.000000"
    )
