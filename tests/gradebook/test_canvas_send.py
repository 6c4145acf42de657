"""Grades into Canvas, tried on a fake one that speaks the documented calls."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import Course, CourseError
from autograder.gradebook import canvas_send
from autograder.gradebook import export as export_module
from autograder.gradebook.canvas_api import Canvas
from autograder.gradebook.canvas_send import SENT, Sender
from autograder.gradebook.database import Gradebook
from autograder.gradebook.settings import canvas_course
from tests.gradebook.classes import grade_class, hand_in
from tests.gradebook.fake_canvas import COURSE, TOKEN, FakeCanvas, assignment, user
from tests.gradebook.test_export import (
    FIRST,
    SECOND,
    a_class,
    absent,
    grades,
)
from tests.submissions import LESSON

WORTH = 5.5  # of each lesson
NAMES = ("ann", "bob", "cem", "dan", "eve", "fay", "gil")
# ann by her login, bob by Canvas's number, cem by the SIS id, …
LMS_IDS = {"bob": "102", "cem": "S-103", "dan": "104", "eve": "0105"}


@pytest.fixture
def canvas():
    """Yield a Canvas with two assignments, in which nobody has a grade."""
    users = [
        user(101, "ANN"),
        user(102, "bob@example.org"),
        user(103, "c.em", "S-103"),
        user(104, "dan", "D"),
        user(105, "e", "0105"),
        user(106, "fay"),
        user(107, "gil"),
    ]
    fake = FakeCanvas(
        users, [assignment(11, FIRST, WORTH), assignment(12, SECOND, WORTH)]
    )
    with fake.serving():
        yield fake


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def the_class(points=1.0):
    """Return everybody's grades: fay has not handed in the second lesson."""
    first = [
        grades(each, points / 4, index / 4, lms_user_id=LMS_IDS.get(each, ""))
        for index, each in enumerate(NAMES)
    ]
    second = [
        absent(each) if each == "fay" else grades(each, points, 0.0) for each in NAMES
    ]
    with_ids = [
        each
        if each.student not in LMS_IDS
        else grades(each.student, points, 0.0, lms_user_id=LMS_IDS[each.student])
        for each in second
    ]
    return {FIRST: a_class(*first), SECOND: a_class(*with_ids)}


def expected(book):
    """Return what Canvas must have, by assignment and number."""
    numbers = {name: str(101 + index) for index, name in enumerate(NAMES)}
    return {
        (number, numbers[name]): round(each.points, 2)
        for number, lesson in (("11", FIRST), ("12", SECOND))
        for name, each in book[lesson].items()
        if each.submitted
    }


def client(canvas, **options):
    options.setdefault("sleep", lambda _: None)
    return Canvas(canvas.address, TOKEN, **options)


def plan_of(course, canvas, book, missing="empty", **options):
    sender = Sender(course, client(canvas), COURSE, **options)
    return sender, sender.plan(book, missing)


def send(course, canvas, book, **options):
    """Send a class's grades; return the plan, the lines and what Canvas refused."""
    sender, plan = plan_of(course, canvas, book, **options)
    lines, refused = [], []
    n_sent = sender.send(plan, lines.append, refused.append)
    assert n_sent == len(lines)
    return plan, lines, refused


def written_once(canvas, book):
    """Return whether Canvas has exactly these grades, each written once."""
    wanted = expected(book)
    assert canvas.grades == wanted
    return canvas.writes == {key: [points] for key, points in wanted.items()}


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


@pytest.mark.parametrize(
    ("fault", "waits"),
    [
        ("500", [1, 2, 4, 8, 16]),
        ("429 5", [5, 5, 5, 8, 16]),
        ("503 Fri, 31 Dec 1999 23:59:59 GMT", [1, 2, 4, 8, 16]),
        ("503 soon", [1, 2, 4, 8, 16]),
        ("drop", [1, 2, 4, 8, 16]),
    ],
)
def test_waits_grow_and_end(canvas, fault, waits):
    canvas.faults, slept = itertools.repeat(fault), []
    with pytest.raises(CourseError, match="tried 6 times: call again later"):
        client(canvas, sleep=slept.append).course(COURSE)
    assert slept == waits
    assert len(canvas.requests) == 6


def test_long_wait_is_left_to_the_user(canvas):
    canvas.faults = itertools.repeat("429 3600")
    with pytest.raises(CourseError, match="asks to wait 3600 seconds"):
        client(canvas).course(COURSE)
    assert len(canvas.requests) == 1


def test_answer_that_does_not_come_is_not_waited_for(canvas):
    canvas.seconds, slept = 1.0, []
    with pytest.raises(CourseError, match=r"does not answer \(.*timed out"):
        client(canvas, timeout=0.01, sleep=slept.append).course(COURSE)
    assert slept == [1, 2, 4, 8, 16]


# --- the address and the token ------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("http://canvas.example.edu", "would send the token for everybody to read"),
        ("canvas.example.edu", "is not the address of a Canvas"),
        ("ftp://canvas.example.edu", "is not the address of a Canvas"),
        ("https://canvas.example.edu/courses/7", "is not the address of a Canvas"),
        ("https://ann:secret@canvas.example.edu", "is not the address of a Canvas"),
        ("https://canvas.example.edu:port", "is not the address of a Canvas"),
        ("", "is not the address of a Canvas"),
    ],
)
def test_address_that_is_not_safe_is_refused(address, sentence):
    with pytest.raises(CourseError, match=sentence):
        Canvas(address, TOKEN)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8080", "[::1]:80"])
def test_this_machine_may_be_without_https(host):
    assert Canvas(f"http://{host}/", TOKEN).address == f"http://{host}"


@pytest.mark.parametrize("token", ["", " \n"])
def test_missing_token_is_said(token):
    with pytest.raises(CourseError, match="the environment has no CANVAS_TOKEN"):
        Canvas("https://canvas.example.edu", token)


@pytest.mark.parametrize("token", ["se\ncret", "se cret", "sécret"])
def test_token_that_cannot_be_sent_is_not_shown(token):
    with pytest.raises(CourseError) as caught:
        Canvas("https://canvas.example.edu", token)
    assert "CANVAS_TOKEN is no access token" in str(caught.value)
    assert "cret" not in str(caught.value)


def test_refused_token_is_said(canvas):
    with pytest.raises(CourseError, match="Canvas refuses the token: make a new one"):
        Canvas(canvas.address, "other").course(COURSE)
    assert len(canvas.requests) == 1


def test_unknown_course_is_said(canvas):
    with pytest.raises(CourseError, match="course asked for is '8': its number ends"):
        client(canvas).course("8")


def test_page_that_is_none_of_canvas_is_said(canvas):
    canvas.faults = iter(["html"])
    with pytest.raises(CourseError, match="does not answer as Canvas does"):
        client(canvas).course(COURSE)


def test_unknown_host_is_said_at_once(monkeypatch):
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    slept = []
    nowhere = Canvas("https://canvas.invalid", TOKEN, sleep=slept.append)
    with pytest.raises(CourseError, match="connect to the network, or correct"):
        nowhere.course(COURSE)
    assert slept == []


def test_token_does_not_follow_to_another_host(canvas):
    other = FakeCanvas(canvas.users, canvas.assignments)
    with other.serving():
        canvas.faults = iter([f"redirect {other.address}/api/v1/courses/7"])
        with pytest.raises(CourseError, match="where the token is not sent"):
            client(canvas).course(COURSE)
        canvas.link_base = other.address
        with pytest.raises(CourseError, match="as the next page of a list, which is"):
            client(canvas).students(COURSE)
        assert other.requests == []


def test_token_does_not_pass_a_proxy_in_the_clear(canvas, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    proxy = FakeCanvas([], [])
    with proxy.serving():
        monkeypatch.setenv("http_proxy", proxy.address)
        assert client(canvas).course(COURSE) == COURSE
        assert proxy.requests == []


def test_token_is_only_in_the_header(course, canvas):
    send(course, canvas, the_class())
    for _, path, headers in canvas.requests:
        assert TOKEN not in path
        assert headers["Authorization"] == f"Bearer {TOKEN}"


def test_lists_are_read_to_their_last_page(canvas):
    students = client(canvas).students(COURSE)
    assert [each["id"] for each in students] == [*range(101, 108)]
    asked = [path for _, path, _ in canvas.requests]
    assert asked[0].endswith("users?enrollment_type%5B%5D=student&per_page=100")
    assert len(asked) == 4


# --- the command --------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, canvas, monkeypatch):
    """Return what calls the command in a course that is set up for the Canvas."""
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        f"c.CanvasExportPlugin.address = '{canvas.address}'\n"
        f"c.CanvasExportPlugin.course = {COURSE}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    monkeypatch.setattr(
        export_module, "read_course_grades", lambda course, lessons: the_class()
    )

    def call(*options):
        done = CliRunner().invoke(app, ["export", *options])
        assert TOKEN not in done.output
        return done

    return call


def test_settings_are_those_of_the_plugin(here, tmp_path, canvas):
    from autograder.gradebook.plugins import CanvasExportPlugin
    from autograder.gradebook.settings import load_config

    assert canvas_course(Course(tmp_path)) == (canvas.address, COURSE)
    plugin = CanvasExportPlugin(config=load_config(Course(tmp_path), "Canvas"))
    assert (plugin.address, plugin.course) == (canvas.address, COURSE)
    (tmp_path / "nbgrader_config.py").write_text("")
    assert canvas_course(Course(tmp_path)) == ("", "")


def test_command_sends_only_with_yes(here, canvas, tmp_path):
    done = here("--to", "canvas", "--send")
    assert done.exit_code == 0
    assert f"ann  {FIRST}: – → 0.25\n" in done.stdout
    end = "13 grades to send, 0 in Canvas already; nothing is sent without --yes\n"
    assert done.stdout.endswith(end)
    assert canvas.grades == {}
    assert not (tmp_path / "build").exists()
    done = here("--to", "canvas", "--send", "--yes")
    assert done.exit_code == 0
    assert done.stdout.endswith("\n13 grades sent, 0 in Canvas already\n")
    done = here("--to", "canvas", "--send", "--yes")
    assert done.stdout == "0 grades sent, 13 in Canvas already\n"
    assert not (tmp_path / "build/export/canvas.csv").exists()


def test_command_names_what_is_left_out(here, canvas):
    canvas.users.pop()
    canvas.not_assigned.add("102")
    done = here("--to", "canvas", "--send")
    assert done.exit_code == 1
    assert done.stderr.startswith("gil is left out: Canvas's course has no student")
    done = here("--to", "canvas", "--send", "--yes")
    assert done.exit_code == 1
    assert "01_first: not sent: bob. The token's user may not" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--send",),
        ("--to", "moodle", "--send"),
        ("--to", "canvas", "--send", "--drop-lowest", "1"),
        ("--to", "canvas", "--send", "--output", "a.csv"),
        ("--to", "canvas", "--yes"),
        ("--to", "canvas", "--overwrite"),
        ("--to", "canvas", "--course", "7"),
    ],
)
def test_options_that_do_not_go_together_are_refused(here, canvas, options):
    assert here(*options).exit_code == 2
    assert canvas.requests == []


def test_command_needs_an_address_and_a_token(here, canvas, tmp_path, monkeypatch):
    monkeypatch.delenv("CANVAS_TOKEN")
    done = here("--to", "canvas", "--send")
    assert "has no CANVAS_TOKEN" in str(done.exception)
    (tmp_path / "nbgrader_config.py").write_text("")
    done = here("--to", "canvas", "--send", "--address", canvas.address)
    assert "c.CanvasExportPlugin.course" in str(done.exception)
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    done = here("--to", "canvas", "--send", "--address", canvas.address, "--course=7")
    assert done.exit_code == 0


# --- a call that is killed ----------------------------------------------------------


def start(root, canvas):
    options = ("--to", "canvas", "--send", "--yes", "--course", COURSE)
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "autograder",
            "export",
            *options,
            "--address",
            canvas.address,
        ],
        cwd=root,
        env=os.environ | {"CANVAS_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_call_that_was_killed_is_gone_on_with(root, canvas, number):
    for name in NAMES:
        hand_in(root, name)
    grade_class(root, {(name, "softmax"): i / 4 for i, name in enumerate(NAMES)})
    lesson = Gradebook(Course(root)).grades(LESSON)
    worth = lesson["ann"].max_points
    canvas.users = [user(101 + index, name) for index, name in enumerate(NAMES)]
    canvas.assignments = [assignment(11, LESSON, worth)]
    canvas.hold_after = 3
    first = start(root, canvas)
    assert canvas.held.wait(timeout=300)
    first.send_signal(number)
    _, errors = first.communicate()
    if number == signal.SIGINT:
        assert first.returncode == 130
        assert errors == "stopped: the next call goes on from there\n"
    assert len(canvas.writes) == 3
    (sent,) = json.loads((root / SENT).read_text()).values()
    assert [[*each] for each in sent["11"].values()] == [
        ["sent"],
        ["sent"],
        ["sending"],
    ]
    canvas.released.set()
    second = start(root, canvas)
    output, errors = second.communicate()
    assert (second.returncode, errors) == (0, "")
    assert output.endswith("4 grades sent, 3 in Canvas already\n")
    numbers = {name: ("11", str(101 + index)) for index, name in enumerate(NAMES)}
    assert canvas.writes == {
        numbers[name]: [each.points] for name, each in lesson.items()
    }
    assert "sending" not in (root / SENT).read_text()
