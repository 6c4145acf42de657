"""What of a result goes into the gradebook, and which names are students' ids."""

import pytest

from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.gradebook.writing import gradebook_entry, student_id_fault
from autograder.grading.result import SubmissionResult


def exercise(name, *statuses, points=0.0, flags=()):
    cases = tuple(CaseVerdict("case", "claim", s, 0.0, 1.0, True) for s in statuses)
    return ExerciseResult(name, points, 8.0, cases, flags=flags)


def result(*exercises, status="graded", reason=""):
    return SubmissionResult("amara", "01", status, exercises, reason)


def test_gradebook_entry_points_are_python_floats():
    entry = gradebook_entry(result(exercise("softmax", "ok", points=3)), None)
    assert (entry.student, entry.points) == ("amara", {"softmax": 3.0})
    assert type(entry.points["softmax"]) is float
    assert entry.comment("softmax") is None


def test_only_an_unwritten_answer_gets_no_response():
    entry = gradebook_entry(
        result(exercise("one", "missing", "missing"), exercise("two", "missing", "ok")),
        None,
    )
    assert entry.unwritten == {"one"}
    assert (entry.comment("one"), entry.comment("two")) == ("No response.", None)


def test_library_call_is_for_review_and_named_once():
    flags = (
        Flag("softmax", "torch.softmax", "torch.softmax(x)"),
        Flag("softmax", "torch.softmax", "again"),
    )
    entry = gradebook_entry(result(exercise("softmax", "ok", flags=flags)), None)
    assert entry.review == {"softmax"}
    assert entry.comment("softmax") == "For review: the answer calls torch.softmax"


def test_mark_of_the_notebook_says_so_at_one_exercise():
    flags = (
        Flag("", "gc.get_objects", "gc.get_objects()"),
        Flag("softmax", "torch.softmax"),
    )
    entry = gradebook_entry(result(exercise("softmax", "ok", flags=flags)), None)
    assert entry.review == {"softmax"}
    assert entry.comment("softmax") == (
        "For review: a cell of the notebook calls gc.get_objects; "
        "the answer calls torch.softmax"
    )


def test_invalid_result_gives_its_reason_in_every_comment():
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
def test_untrusted_text_in_a_comment_stays_text(reason):
    """Render it as nbgrader's feedback does, with whatever HTML is in it."""
    from nbconvert.filters import markdown2html

    invalid = result(exercise("one", "invalid"), status="invalid", reason=reason)
    page = markdown2html(gradebook_entry(invalid, None).comment("one"))
    assert page.startswith("<p>")
    assert page.strip().removeprefix("<p>").removesuffix("</p>").count("<") == 0
    assert "$" not in page


def test_long_reason_is_cut():
    invalid = result(exercise("one", "invalid"), status="invalid", reason="x" * 9999)
    assert len(gradebook_entry(invalid, None).comment("one")) == 1000


@pytest.mark.parametrize(
    "student", ["amara", "o.neil_2", "a@b.org", "Éva Ö", "李", "a" * 128, "1"]
)
def test_student_id_fault_accepts_ordinary_names(student):
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
def test_student_id_fault_names_the_unsafe_character(student, what):
    fault = student_id_fault(student)
    assert what in fault
    assert fault.endswith("rename it")
    assert fault.isprintable()
