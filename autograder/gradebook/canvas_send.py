"""Grades into Canvas: who changes from what to what, and sending that.

Each column of ``canvas.csv`` is an assignment of that title; what is sent are its
cells. Canvas is read first, so that only what differs is sent, and a call that was
stopped is called again. Which grades are ours is in ``build/export/canvas-sent.json``:
what Canvas has and is neither what was sent last nor was on its way is somebody's.
"""

import contextlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.checking.points import format_number
from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.canvas_api import Canvas, CanvasGrade, RefusedError
from autograder.gradebook.grades import StudentGrades
from autograder.gradebook.sheets import (
    MAX_LISTED,
    CourseGrades,
    LessonColumn,
    MissingAs,
    lesson_columns,
    require_finite,
    several_maxima,
)
from autograder.grading.reading import listed, spelled_out

SENT = "build/export/canvas-sent.json"
LOCK = "build/export/canvas-sent.lock"
BY_POINTS = ("points", "percent")  # ways of grading in which a number is points
# Of whom Canvas has another grade, has one that was taken back, or takes points off.
KEPT_OR_ODD = (
    "Canvas has grades that were not sent from here, which are kept (--overwrite "
    "replaces them)",
    "Canvas has grades that were sent from here, and here there are none any more: "
    "remove them there",
    "Canvas's own late policy takes points off what is sent: switch it off there, "
    "since penalties are taken off here",
)


@dataclass(frozen=True)
class Change:
    """A grade to send.

    title : the assignment's
    user : Canvas's number of the student
    before : what Canvas has
    points : what it is to have, as text
    """

    student: str
    title: str
    assignment: str
    user: str
    before: CanvasGrade
    points: str

    def __str__(self) -> str:
        """Return who changes from what to what."""
        old = _in_words(self.before)
        return f"{spelled_out(self.student)}  {self.title}: {old} → {self.points}"


@dataclass
class Plan:
    """What a call would do.

    n_same : grades that Canvas has already
    left_out : a sentence for what cannot be sent
    notes : sentences on what somebody should know
    """

    changes: list[Change] = field(default_factory=list)
    n_same: int = 0
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class SentGrades:
    """What was sent to a course in Canvas, as it is remembered.

    To each assignment and student belong two grades: ``sent``, which Canvas has
    confirmed, and ``sending``, whose answer has not been read.
    """

    def __init__(self, root: Path, key: str) -> None:
        """Read the file, if there is one; raises ``CourseError`` for a damaged one."""
        self._path = root / SENT
        try:
            self._courses: dict[str, Any] = json.loads(self._path.read_text("utf-8"))
            self._grades = self._courses.setdefault(key, {})
            if not all(_is_numbers(of_user) for of_user in self._grades.values()):
                raise ValueError
        except FileNotFoundError:
            self._grades = {}
            self._courses = {key: self._grades}
        except (OSError, ValueError, AttributeError):
            raise CourseError(
                f"{self._path} cannot be read: remove it. Grades in Canvas that differ "
                "are kept then, unless you say --overwrite"
            ) from None

    def ours(self, assignment: str, user: str) -> tuple[float | None, ...]:
        """Return what Canvas may have by us; None is no grade."""
        grade = self._grades.get(assignment, {}).get(user, {})
        return (grade.get("sent"), grade.get("sending", grade.get("sent")))

    def begin(self, assignment: str, user: str, points: str) -> None:
        """Remember, on the disk, that a grade is on its way."""
        self._of(assignment, user)["sending"] = float(points)
        self.save()

    def confirm(self, assignment: str, user: str, points: float) -> None:
        """Remember what Canvas has taken; the next ``begin`` or ``save`` writes it."""
        self._grades.setdefault(assignment, {})[user] = {"sent": points}

    def abandon(self, assignment: str, user: str) -> None:
        """Forget a grade that Canvas has refused."""
        self._of(assignment, user).pop("sending", None)

    def save(self) -> None:
        """Write the file, for its owner's eyes; raises ``CourseError``."""
        text = json.dumps(self._courses, indent=1, sort_keys=True)
        try:
            write_atomically(self._path, f"{text}\n", mode=0o600)
        except OSError as error:
            raise CourseError(
                f"{self._path} cannot be written ({error.strerror}), and without it "
                "nothing is sent: make room, and call again"
            ) from None

    def _of(self, assignment: str, user: str) -> dict[str, Any]:
        grades: dict[str, dict[str, Any]] = self._grades.setdefault(assignment, {})
        return grades.setdefault(user, {})


class Sender:
    """Sends a class's grades to a course in Canvas.

    overwrite : whether grades that somebody has set in Canvas are replaced
    """

    def __init__(
        self, course: Course, canvas: Canvas, number: str, *, overwrite: bool = False
    ) -> None:
        """Look the course up, and read what was sent to it."""
        self._root = course.root
        self._canvas = canvas
        self._number = canvas.course(number)
        self._overwrite = overwrite
        self._sent = SentGrades(course.root, f"{canvas.address}/courses/{self._number}")

    def plan(self, course_grades: CourseGrades, missing: MissingAs = "empty") -> Plan:
        """Read what Canvas has, and return what there is to do; nothing is changed."""
        require_finite(course_grades)
        plan = Plan(notes=several_maxima(course_grades))
        assignments = defaultdict(list)
        for each in self._canvas.assignments(self._number):
            assignments[each.get("name")].append(each)
        users = CanvasUsers(self._canvas.students(self._number))
        people: dict[str, StudentGrades] = {}
        for lesson_grades in course_grades.values():
            people |= lesson_grades
        numbers, faults = users.find_all(people)
        unknown: dict[str, None] = {}
        for column in lesson_columns(course_grades):
            lesson_grades = course_grades[column.lesson]
            cells = {
                student: cell
                for student in sorted(lesson_grades)
                if (cell := column.cell(lesson_grades[student], missing))
            }
            unknown |= dict.fromkeys(each for each in cells if each not in numbers)
            of_title = assignments[column.title]
            if fault := assignment_fault(column, of_title):
                if cells:
                    plan.left_out.append(fault)
                continue
            own = {s: numbers[s] for s in sorted(lesson_grades) if s in numbers}
            self._compare(plan, column, str(of_title[0]["id"]), own, cells)
        plan.left_out += [faults[student] for student in sorted(unknown)]
        return plan

    def _compare(
        self,
        plan: Plan,
        column: LessonColumn,
        assignment: str,
        numbers: Mapping[str, str],
        cells: Mapping[str, str],
    ) -> None:
        """Add to a plan what an assignment needs.

        numbers : student to Canvas's number
        cells : student to points; those without a grade are not in it
        """
        submissions = self._canvas.submissions(self._number, assignment)
        by_hand, withdrawn, deducted = [], [], []
        for student, user in numbers.items():
            now = submissions.get(user, CanvasGrade())
            ours = self._sent.ours(assignment, user)
            name = spelled_out(student)
            if student not in cells:
                if now.points is not None and now.points in ours:
                    withdrawn.append(f"{name} ({_in_words(now)})")
                continue
            points = cells[student]
            if now.deducted:
                deducted.append(name)
            if now.points == float(points) and not now.excused:
                plan.n_same += 1
                self._sent.confirm(assignment, user, now.points)
            elif self._overwrite or (now.points in ours and not now.excused):
                change = Change(student, column.title, assignment, user, now, points)
                plan.changes.append(change)
            else:
                by_hand.append(f"{name} ({_in_words(now)}, here {points})")
        for students, sentence in zip(
            (by_hand, withdrawn, deducted), KEPT_OR_ODD, strict=True
        ):
            if students:
                names = listed(students, MAX_LISTED)
                plan.notes.append(f"{column.title}: {sentence}: {names}")

    def send(
        self,
        plan: Plan,
        on_sent: Callable[[str], None],
        on_left_out: Callable[[str], None],
    ) -> int:
        """Send what a plan says; return how many grades Canvas has confirmed.

        on_sent : is called with a line for each
        on_left_out : is called with a sentence for what Canvas has refused

        Raises ``CourseError`` where Canvas cannot be reached any more, and lets Ctrl-C
        through. The next call goes on from there.
        """
        refused: dict[tuple[str, str], list[str]] = defaultdict(list)
        n_sent = 0
        try:
            for change in plan.changes:
                fault = self._send(change)
                if fault:
                    refused[change.title, fault].append(spelled_out(change.student))
                    continue
                n_sent += 1
                on_sent(str(change))
        except CourseError as error:
            raise CourseError(
                f"{error}. {n_sent} of {len(plan.changes)} grades are sent: the next "
                "call goes on from there"
            ) from None
        finally:
            self._sent.save()
            for (title, fault), students in refused.items():
                names = listed(students, MAX_LISTED)
                on_left_out(f"{title}: not sent: {names}. {fault}")
        return n_sent

    def _send(self, change: Change) -> str:
        """Send a grade; return why Canvas does not take it, "" if it does."""
        self._sent.begin(change.assignment, change.user, change.points)
        try:
            now = self._canvas.grade(
                self._number,
                change.assignment,
                change.user,
                change.points,
                change.before,
            )
        except RefusedError as error:
            self._sent.abandon(change.assignment, change.user)
            return str(error)
        self._sent.confirm(change.assignment, change.user, float(change.points))
        if now.points == float(change.points):
            return ""
        return f"Canvas has made {_in_words(now)} of {change.points}."


def _is_numbers(of_user: Any) -> bool:
    """Return whether the grades of an assignment are as ``SentGrades`` writes them."""
    return all(
        isinstance(points, int | float)
        for grade in of_user.values()
        for points in grade.values()
    )


@contextlib.contextmanager
def one_sender(root: Path) -> Iterator[None]:
    """Let one call at a time send; raises ``CourseError`` for a second one.

    A killed process leaves no lock behind.
    """
    path = root / LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file, contextlib.suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                "another call is sending grades of this course: wait until it has ended"
            ) from None
        except OSError:  # a file system without locks
            pass
        yield


def assignment_fault(
    column: LessonColumn, of_title: Sequence[Mapping[str, Any]]
) -> str:
    """Return why a column's grades cannot go into its assignment; "" if they can.

    of_title : the assignments of its title, as Canvas describes them
    """
    points = format_number(column.max_points)
    title = repr(column.title)
    if not of_title:
        return (
            f"Canvas has no assignment {title}: make one of exactly this title, out of "
            f"{points} points, graded by points"
        )
    if len(of_title) > 1:
        return f"Canvas has {len(of_title)} assignments {title}: rename all but one"
    assignment = of_title[0]
    possible = round(float(assignment.get("points_possible") or 0.0), 2)
    grading = assignment.get("grading_type", "points")
    if possible != column.max_points:
        return (
            f"{title} is out of {format_number(possible)} points in Canvas and of "
            f"{points} here: set its points there to {points}"
        )
    if grading not in BY_POINTS:
        return (
            f"{title} is graded by {spelled_out(str(grading))!r} in Canvas: let it "
            "display grades as points there"
        )
    if assignment.get("published") is False:
        return f"{title} is not published in Canvas: publish it there"
    of_groups = assignment.get("group_category_id") is not None
    if of_groups and not assignment.get("grade_group_students_individually"):
        return (
            f"{title} gives one grade to a whole group in Canvas: let it assign grades "
            "to each student individually"
        )
    if assignment.get("anonymize_students"):
        return f"{title} hides its students' names in Canvas: end that there"
    return ""


class CanvasUsers:
    """The students of a course in Canvas, found as its importer finds them.

    By Canvas's own number or the SIS id, which is the LMS id here, and by the login,
    which is a student's id here.
    """

    def __init__(self, users: Sequence[Mapping[str, Any]]) -> None:
        """Keep Canvas's User objects, by what is known of each."""
        self._known: dict[str, dict[str, set[str]]] = {}
        for key in ("id", "sis_user_id", "login_id"):
            self._known[key] = defaultdict(set)
            for user in users:
                if user.get(key) is not None:
                    value = str(user[key]).casefold()
                    self._known[key][value].add(str(user["id"]))
        self._has_logins = bool(self._known["login_id"])

    def find_all(
        self, people: Mapping[str, StudentGrades]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return Canvas's number of each student, and why others have none."""
        numbers: dict[str, str] = {}
        faults: dict[str, str] = {}
        of_user: dict[str, list[str]] = defaultdict(list)
        for student, person in people.items():
            own = self._find(person.lms_user_id, student)
            if len(own) == 1:
                numbers[student] = (user := own.pop())
                of_user[user].append(student)
            else:
                faults[student] = self._fault(person, ambiguous=bool(own))
        for students in of_user.values():
            for student in students if len(students) > 1 else ():
                del numbers[student]
                names = listed(sorted(map(spelled_out, students)), MAX_LISTED)
                faults[student] = (
                    f"{spelled_out(student)} is left out: one student in Canvas is "
                    f"{names} here; correct the roster"
                )
        return numbers, faults

    def _find(self, lms_user_id: str, login: str) -> set[str]:
        """Return who it may be: of a number of one and a login of another, both."""
        users = set[str]()
        for key, value in (
            ("id", lms_user_id),
            ("sis_user_id", lms_user_id),
            ("login_id", login),
        ):
            users |= self._known[key].get(value.casefold(), set()) if value else set()
        return users

    def _fault(self, person: StudentGrades, *, ambiguous: bool) -> str:
        name = spelled_out(person.student)
        lms = spelled_out(person.lms_user_id)
        if ambiguous:
            return (
                f"{name} is left out: the login {name!r} and the LMS id {lms!r} are of "
                "several students in Canvas; correct the roster"
            )
        tried = f"the login {name!r}" + (f" and the LMS id {lms!r}" if lms else "")
        hint = "" if self._has_logins else " (the token's user may not see logins)"
        return (
            f"{name} is left out: Canvas's course has no student with {tried}{hint}; "
            "enter Canvas's number as lms_user_id (`autograder roster`)"
        )


def _in_words(submission: CanvasGrade) -> str:
    if submission.excused:
        return "excused"
    return "–" if submission.points is None else format_number(submission.points)
