"""Which grades go into Canvas, tried on a fake one that speaks the documented calls."""

import itertools
import json
import random

import pytest

from autograder.course import CourseError
from autograder.gradebook import canvas_send
from autograder.gradebook.canvas_send import SENT, Sender
from tests.gradebook.canvas_class import (
    client,
    expected,
    plan_of,
    send,
    the_class,
    written_once,
)
from tests.gradebook.fake_canvas import COURSE, TOKEN, assignment
from tests.gradebook.test_export import (
    FIRST,
    SECOND,
    a_class,
    absent,
    grades,
)

# --- what is sent -------------------------------------------------------------------


def test_dry_run_says_who_changes_and_writes_nothing(course, canvas):
    canvas.grades["11", "102"] = 0.5  # equal to what is here
    _, plan = plan_of(course, canvas, the_class())
    assert str(plan.changes[0]) == f"ann  {FIRST}: – → 0.25"
    assert (len(plan.changes), plan.n_same) == (12, 1)
    assert (plan.left_out, plan.notes) == ([], [])
    assert {method for method, *_ in canvas.requests} == {"GET"}
    assert [*course.root.iterdir()] == []


def test_sends_each_grade_once_and_then_nothing(course, canvas):
    book = the_class()
    send(course, canvas, book)
    assert written_once(canvas, book)
    assert ("12", "106") not in canvas.grades
    plan, lines, refused = send(course, canvas, book)
    assert (plan.changes, lines, refused) == ([], [], [])
    assert plan.n_same == 13
    assert written_once(canvas, book)


def test_only_changed_grades_are_sent(course, canvas):
    send(course, canvas, the_class())
    book = the_class()
    book[FIRST]["gil"] = grades("gil", 2.0, 3.5)
    _, lines, _ = send(course, canvas, book)
    assert lines == [f"gil  {FIRST}: 1.75 → 5.5"]
    assert canvas.writes["11", "107"] == [1.75, 5.5]


def test_points_are_those_of_the_gradebook(course, canvas):
    book = {
        FIRST: a_class(
            grades("ann", 2.0, 1.0, hand=3.0, extra=4.0, late_penalty=1.25),
            grades("fay", 1 / 3, 0.0),
            absent("gil"),
        )
    }
    send(course, canvas, book, missing="zero")
    # above the maximum, which extra credit and optional exercises reach
    assert canvas.grades == {("11", "101"): 7.75, ("11", "106"): 0.33, ("11", "107"): 0}


def test_missing_is_no_grade_unless_asked_for(course, canvas):
    send(course, canvas, {FIRST: a_class(grades("ann", 1.0, 1.0), absent("gil"))})
    assert [*canvas.grades] == [("11", "101")]


def test_grade_set_by_hand_is_named_and_kept(course, canvas):
    send(course, canvas, the_class())
    canvas.grades["11", "101"] = 3.0  # changed
    canvas.grades["11", "102"] = None  # taken away
    canvas.excused.add(("11", "103"))
    plan, lines, _ = send(course, canvas, the_class(2.0))
    (note,) = plan.notes
    assert note.startswith(f"{FIRST}: Canvas has grades that were not sent from here")
    assert note.endswith("ann (3, here 0.5), bob (–, here 0.75), cem (excused, here 1)")
    assert (canvas.grades["11", "101"], canvas.grades["11", "102"]) == (3.0, None)
    assert len(lines) == 10
    _, lines, _ = send(course, canvas, the_class(2.0), overwrite=True)
    assert len(lines) == 3
    assert canvas.grades == expected(the_class(2.0))
    assert canvas.excused == set()


def test_grade_that_was_there_before_is_kept(course, canvas):
    canvas.grades["12", "107"] = 4.0
    plan, _, _ = send(course, canvas, the_class())
    assert "gil (4, here 1)" in plan.notes[0]
    assert canvas.grades["12", "107"] == 4.0


def test_grade_that_is_gone_here_is_named(course, canvas):
    send(course, canvas, the_class())
    book = the_class()
    book[SECOND]["gil"] = absent("gil")
    plan, lines, _ = send(course, canvas, book)
    assert lines == []
    assert plan.notes == [
        f"{SECOND}: Canvas has grades that were sent from here, and here there are "
        "none any more: remove them there: gil (1)"
    ]


def test_what_was_sent_is_for_its_owner_only(course, canvas):
    send(course, canvas, the_class())
    path = course.root / SENT
    assert path.stat().st_mode & 0o777 == 0o600
    assert TOKEN not in path.read_text()
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    (sent,) = json.loads(path.read_text()).values()
    assert sent["11"]["101"] == {"sent": 0.25}


@pytest.mark.parametrize("text", ["{", "[]", '{"A": []}', '{"A": {"11": {"1": 3}}}'])
def test_damaged_record_is_refused(course, canvas, text):
    path = course.root / SENT
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("A", f"{canvas.address}/courses/{COURSE}"))
    with pytest.raises(CourseError, match=r"canvas-sent\.json cannot be read: remove"):
        Sender(course, client(canvas), COURSE)


def test_second_sender_waits_for_the_first(course):
    with canvas_send.one_sender(course.root):
        with pytest.raises(CourseError, match="another call is sending"):
            with canvas_send.one_sender(course.root):
                pass
    with canvas_send.one_sender(course.root):
        pass


# --- what cannot be sent ------------------------------------------------------------


def test_unknown_student_is_named_and_the_others_are_sent(course, canvas):
    book = the_class()
    book[FIRST]["zoe"] = grades("zoe", 1.0, 1.0, lms_user_id="999")
    book[FIRST]["nil"] = absent("nil")
    plan, lines, _ = send(course, canvas, book)
    (fault,) = plan.left_out
    assert fault.startswith(
        "zoe is left out: Canvas's course has no student with the login 'zoe' and the "
        "LMS id '999'; enter Canvas's number"
    )
    assert len(lines) == 13


def test_student_who_may_be_two_is_left_out(course, canvas):
    book = {
        FIRST: a_class(
            grades("ann", 1.0, 1.0, lms_user_id="106"),  # fay's number
            grades("gil", 1.0, 1.0),
            grades("guy", 1.0, 1.0, lms_user_id="107"),  # gil's number
        )
    }
    plan, lines, _ = send(course, canvas, book)
    assert lines == []
    assert "'ann' and the LMS id '106' are of several students" in plan.left_out[0]
    assert plan.left_out[1:] == [
        f"{each} is left out: one student in Canvas is gil, guy here; correct the "
        "roster"
        for each in ("gil", "guy")
    ]


def test_login_that_may_not_be_seen_is_said(course, canvas):
    for each in canvas.users:
        del each["login_id"], each["sis_user_id"]
    plan, lines, _ = send(course, canvas, {FIRST: the_class()[FIRST]})
    assert [line.split()[0] for line in lines] == ["bob", "dan"]
    assert "(the token's user may not see logins)" in plan.left_out[0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            None,
            "Canvas has no assignment '01_first': make one of exactly this title, "
            "out of 5.5 points, graded by points",
        ),
        ({"points_possible": 10}, "is out of 10 points in Canvas and of 5.5 here"),
        ({"points_possible": None}, "is out of 0 points in Canvas and of 5.5 here"),
        ({"grading_type": "pass_fail"}, "is graded by 'pass_fail' in Canvas"),
        ({"grading_type": "letter_grade"}, "is graded by 'letter_grade' in Canvas"),
        ({"published": False}, "is not published in Canvas"),
        ({"group_category_id": 5}, "gives one grade to a whole group"),
        ({"anonymize_students": True}, "hides its students' names"),
        ("twice", "Canvas has 2 assignments '01_first'"),
    ],
)
def test_assignment_that_does_not_fit_is_named(course, canvas, change, sentence):
    first = canvas.assignments[0]
    if change is None:
        first["name"] = "01 first"
    elif change == "twice":
        canvas.assignments.append(first | {"id": 13})
    else:
        first |= change
    plan, lines, _ = send(course, canvas, the_class())
    (fault,) = plan.left_out
    assert sentence in fault
    assert {key[0] for key in canvas.writes} == {"12"}
    assert len(lines) == 6


def test_assignment_by_percent_takes_points(course, canvas):
    canvas.assignments[0]["grading_type"] = "percent"
    _, lines, _ = send(course, canvas, the_class())
    assert len(lines) == 13


def test_students_of_fewer_exercises_have_their_own_assignment(course, canvas):
    book = the_class()
    gil = grades("gil", 1.0, 1.0)
    book[FIRST]["gil"] = type(gil)("gil", gil.exercises[:1])
    plan, _, _ = send(course, canvas, book)
    assert plan.left_out == [
        "Canvas has no assignment '01_first (2 points)': make one of exactly this "
        "title, out of 2 points, graded by points"
    ]
    assert "01_first: not everybody was graded on scores" in plan.notes[0]
    canvas.assignments.append(assignment(13, "01_first (2 points)", 2))
    _, lines, _ = send(course, canvas, book)
    assert lines == ["gil  01_first (2 points): – → 1"]


def test_what_canvas_refuses_for_one_student_stops_no_other(course, canvas):
    canvas.not_assigned.add("102")
    _, lines, refused = send(course, canvas, the_class())
    assert len(lines) == 11
    assert refused == [
        f"{lesson}: not sent: bob. The token's user may not do that (user not "
        "authorized to perform that action)."
        for lesson in (FIRST, SECOND)
    ]
    canvas.not_assigned.clear()
    _, lines, _ = send(course, canvas, the_class())
    assert len(lines) == 2


def test_own_late_policy_of_canvas_is_said(course, canvas):
    canvas.deducted = 0.5
    send(course, canvas, the_class())
    plan, lines, _ = send(course, canvas, the_class())
    assert lines == []
    assert "Canvas's own late policy takes points off what is sent" in plan.notes[0]


def test_infinite_grade_is_refused(course, canvas):
    with pytest.raises(CourseError, match="ann's grade for 01_first is no number"):
        plan_of(course, canvas, {FIRST: a_class(grades("ann", float("inf"), 0.0))})


# --- a Canvas that fails ------------------------------------------------------------


def every_second(*faults):
    """Yield one of the faults, in turn, for every second call."""
    for fault in itertools.cycle(faults):
        yield ""
        yield fault


@pytest.mark.parametrize(
    "faults",
    [
        ("500",),
        ("429 1",),
        ("429",),
        ("503 2",),
        ("throttled",),
        ("lost",),
        ("500", "429 1", "drop", "lost", "502", "throttled"),
    ],
)
def test_every_second_call_fails_and_every_grade_is_written_once(
    course, canvas, faults
):
    canvas.faults, canvas.seconds = every_second(*faults), 0.002
    book = the_class()
    _, lines, refused = send(course, canvas, book)
    assert (len(lines), refused) == (13, [])
    assert written_once(canvas, book)
    n_faults = len(canvas.requests) // 2
    assert n_faults >= 13
    _, lines, _ = send(course, canvas, book)
    assert lines == []
    assert written_once(canvas, book)


@pytest.mark.parametrize("seed", range(5))
def test_calls_until_all_is_sent_write_every_grade_once(course, canvas, seed):
    rng = random.Random(seed)
    kinds = ["500", "429", "drop", "lost", "502", "503", *[""] * 6]
    canvas.faults = (rng.choice(kinds) for _ in itertools.count())
    book, n_calls = the_class(), 0
    while n_calls < 100:
        n_calls += 1
        try:
            if not send(course, canvas, book)[0].changes:
                break
        except CourseError as error:
            assert "tried 6 times: call again later" in str(error)
    assert n_calls > 1
    assert written_once(canvas, book)


def test_next_call_goes_on_after_canvas_went_down(course, canvas):
    sender, plan = plan_of(course, canvas, the_class())
    canvas.faults = itertools.chain([""] * 4, itertools.repeat("503"))
    with pytest.raises(CourseError, match=r"503 .* 4 of 13 grades are sent: the next"):
        sender.send(plan, lambda _: None, lambda _: None)
    canvas.faults = iter(())
    _, lines, _ = send(course, canvas, the_class())
    assert len(lines) == 9
    assert written_once(canvas, the_class())


def test_grade_whose_answer_was_lost_is_known_as_ours(course, canvas):
    sender, plan = plan_of(course, canvas, the_class())
    canvas.faults = itertools.chain(["lost"], itertools.repeat("drop"))
    with pytest.raises(CourseError, match="0 of 13 grades are sent"):
        sender.send(plan, lambda _: None, lambda _: None)
    canvas.faults = iter(())
    assert canvas.grades == {("11", "101"): 0.25}
    book = the_class()
    book[FIRST]["ann"] = grades("ann", 2.0, 0.0)  # it has changed meanwhile
    plan, lines, _ = send(course, canvas, book)
    assert (plan.notes, lines[0]) == ([], f"ann  {FIRST}: 0.25 → 2")


def test_grade_that_changes_between_two_tries_is_kept(course, canvas):
    sender, plan = plan_of(course, canvas, {FIRST: a_class(grades("ann", 1.0, 1.0))})

    def somebody_grades():
        canvas.grades["11", "101"] = 4.0
        yield "drop"

    canvas.faults = somebody_grades()
    refused = []
    assert sender.send(plan, lambda _: None, refused.append) == 0
    assert refused == [
        f"{FIRST}: not sent: ann. The grade has changed in Canvas meanwhile."
    ]
    assert canvas.grades == {("11", "101"): 4.0}
