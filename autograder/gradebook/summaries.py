"""A short message for each student, ready for a mailer: ``autograder summaries``.

Nothing is sent here. Each message is an ``.eml`` file, which mailers open as a draft
and ``msmtp -t`` or ``sendmail -t`` send; a CSV file has the same for a mail merge. The
words are the course's and the instructor's: of what a student has written nothing is
quoted. Headers come from the gradebook, and no line end gets into them.
"""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from urllib.parse import quote

from autograder.checking.points import format_number_of
from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.feedback import feedback_page
from autograder.gradebook.folders import AUTOGRADED, student_folder
from autograder.gradebook.grades import StudentGrades
from autograder.gradebook.safe_html import format_points, format_points_of, visible
from autograder.gradebook.spreadsheet_text import csv_text, safe_text
from autograder.gradebook.student_feedback import (
    ExerciseFeedback,
    LessonFeedback,
    NoFeedback,
    lesson_title,
    student_feedback,
)
from autograder.gradebook.writing import id_fault
from autograder.grading.reading import printable_name, spelled_out
from autograder.grading.submission import SUBMITTED, read_secret

WIDTH = 78  # columns of a message
COLUMNS = ("id", "first_name", "last_name", "email", "status", "subject", "body")
BOUNDARY = "=_of-a-summary"  # no encoded part can hold it; always the same bytes
TRY_AGAIN = (
    "What to do: open your own notebook in JupyterLab, see that it opens and that your "
    "answers are in it, save it, and hand it in again under its own name. This is a "
    "matter of the file, and says nothing about your answers."
)
GO_ON = (
    "You can go on with what is not full yet: change your answer in your own notebook, "
    "and run the check below the exercise."
)
QUESTIONS = "If something seems wrong to you, or is not clear, answer this message."


@dataclass(frozen=True)
class Delivery:
    """How the messages reach the students, and what they can read more of.

    sender : for From, "Ada Lovelace <ada@example.org>"; "" leaves it to the mailer
    link : address of a feedback page, with ``{student}`` and ``{lesson}`` in it
    attach : whether the page comes with the message
    """

    sender: str = ""
    link: str = ""
    attach: bool = False


@dataclass(frozen=True)
class Summary:
    """One student's message.

    status : "graded", "not final", "invalid" or "not handed in"
    page : the feedback page, "" if there is none
    """

    person: StudentGrades
    status: str
    subject: str
    body: str
    page: str = ""


def write_summaries(
    course: Course,
    lesson: str,
    grades: Mapping[str, StudentGrades],
    due: Mapping[str, datetime],
    delivery: Delivery,
    on_left_out: Callable[[str], None] = print,
    *,
    whole_class: bool = True,
) -> list[Path]:
    """Write a class's messages and the CSV file of them; return their paths.

    grades : by student, as the gradebook has them; those without a submission too
    due : by student, until when there is time to hand in, in UTC
    on_left_out : is called with a sentence for each student who gets no message
    whole_class : whether the folder is to hold no other messages afterwards, since an
        old one could be sent; otherwise the CSV file stays, too
    """
    folder = course.root / "build" / "summaries" / lesson
    rows: list[Sequence[str]] = [COLUMNS]
    written: list[Path] = []
    _check_sender(delivery.sender)
    try:
        for student, person in grades.items():
            try:
                summary = student_summary(
                    course, lesson, person, due.get(student), delivery
                )
            except NoFeedback as error:
                on_left_out(str(error))
                continue
            rows.append(_row(summary))  # a mail merge can be done by other means
            try:
                message = as_message(summary, lesson, delivery.sender)
            except NoFeedback as error:
                on_left_out(f"{error}; only the CSV file has the message until then")
                continue
            path = folder / f"{student}.eml"
            write_atomically(path, message.as_bytes().decode("ascii"))
            written.append(path)
        if whole_class:
            for path in {*folder.glob("*.eml")} - {*written}:
                path.unlink()
            write_atomically(folder.with_suffix(".csv"), csv_text(rows))
    except OSError as error:
        raise CourseError(
            f"the messages could not be written to {course.relative(folder)} "
            f"({error.strerror}): mend that and call again"
        ) from None
    return written


def _row(summary: Summary) -> tuple[str, ...]:
    person = summary.person
    names = map(
        safe_text, (spelled_out(person.student), person.first_name, person.last_name)
    )
    email = safe_text(person.email)
    return *names, email, summary.status, summary.subject, summary.body


# --- the message --------------------------------------------------------------------


def as_message(summary: Summary, lesson: str, sender: str = "") -> EmailMessage:
    """Return a message as the standard library writes it.

    Raises ``NoFeedback`` for somebody without an address.
    """
    person = summary.person
    message = EmailMessage(policy=SMTP)
    message["Subject"] = summary.subject
    if sender:
        message["From"] = sender
    message["To"] = _address(person)
    message["X-Unsent"] = "1"  # Outlook opens it as a draft
    message.set_content(summary.body, cte="quoted-printable")
    if summary.page:
        page = summary.page.encode()
        name = f"{lesson}.html"
        message.add_attachment(page, maintype="text", subtype="html", filename=name)
        message.set_boundary(BOUNDARY)
    return message


def _address(person: StudentGrades) -> Address:
    """Return where a student's message goes; raises ``NoFeedback``."""
    name = printable_name(person.student)
    if not person.email.strip():
        raise NoFeedback(
            f"{name} has no e-mail address: enter it (`autograder roster FILE.csv`)"
        )
    try:
        address = Address(addr_spec=person.email.strip())
        if not address.domain or not person.email.isascii():
            raise ValueError
    except (MessageError, ValueError, IndexError):
        raise NoFeedback(
            f"{name} has an e-mail address that is none, "
            f"{printable_name(person.email)}: correct it (`autograder roster FILE.csv`)"
        ) from None
    full_name = _line(f"{person.first_name} {person.last_name}")
    return Address(full_name, address.username, address.domain)


def _check_sender(sender: str) -> None:
    """Raise ``CourseError`` for what is not one address."""
    if not sender:
        return
    message = EmailMessage(policy=SMTP)
    try:
        message["From"] = sender
        if len(message["From"].addresses) == 1 and not message["From"].defects:
            return
    except (MessageError, ValueError, IndexError):
        pass
    raise CourseError(
        f"--from {sender!r} is no address: write it as 'Ada Lovelace <ada@example.org>'"
    )


def _line(text: str) -> str:
    """Return untrusted text as one line."""
    return " ".join(visible(text).split())


# --- its words ----------------------------------------------------------------------


def student_summary(
    course: Course,
    lesson: str,
    person: StudentGrades,
    due: datetime | None,
    delivery: Delivery | None = None,
) -> Summary:
    """Return a student's message; raises ``NoFeedback``."""
    delivery = delivery or Delivery()
    name = printable_name(person.student)
    if fault := id_fault(person.student):
        raise NoFeedback(f"{name} is no student's id, it {fault}: rename the folder")
    subject = f"Feedback on {_in_a_sentence(lesson)}"
    if not person.submitted:
        if (course.root / SUBMITTED / person.student / lesson).exists():
            raise NoFeedback(
                f"the submission of {name} is not graded yet: call `autograder grade` "
                "first"
            )
        parts = _nothing_handed_in(lesson, person, due)
        return Summary(person, "not handed in", subject, _body(person, parts))
    feedback = student_feedback(course, lesson, person.student, person)
    parts = [*_result(feedback, lesson), *_more(course, lesson, person, delivery)]
    status = "not final" if feedback.under_review else "graded"
    return Summary(
        person,
        "invalid" if feedback.reason else status,
        subject,
        _body(person, parts),
        feedback_page(feedback) if delivery.attach else "",
    )


def _in_a_sentence(lesson: str) -> str:
    number, _, title = lesson_title(lesson).partition(": ")
    return f"{number.lower()} ({title})"


def _body(person: StudentGrades, parts: Sequence[str]) -> str:
    first_name = _line(person.first_name)
    greeting = f"Hello {first_name}," if first_name else "Hello,"
    return "\n\n".join([_wrapped(greeting), *parts]) + "\n"


def _nothing_handed_in(
    lesson: str, person: StudentGrades, due: datetime | None
) -> list[str]:
    parts = [f"nothing has come in from you for {_in_a_sentence(lesson)} so far."]
    if due:
        parts.append(f"Your due date is {due:%Y-%m-%d %H:%M} UTC.")
    parts.append(
        "If you have handed it in, answer this message and attach the notebook, so "
        "that we can find out where it went."
    )
    return [*map(_wrapped, parts)]


def _result(feedback: LessonFeedback, lesson: str) -> Iterator[str]:
    """Yield the paragraphs about a submission."""
    title = _in_a_sentence(lesson)
    when = f", handed in {feedback.handed_in} UTC," if feedback.handed_in else ""
    points = format_points_of(feedback.points, feedback.max_points)
    if feedback.reason:
        yield _wrapped(f"your notebook for {title}{when} could not be graded yet:")
        yield _wrapped(_line(feedback.reason), "  ")
        yield _wrapped(TRY_AGAIN)
        yield _wrapped(f"Until then it has {points}.")
    else:
        so_far = " so far" if feedback.under_review else ""
        whole = feedback.points >= feedback.max_points and not so_far
        end = ". Well done!" if whole else "."
        yield _wrapped(
            f"your notebook for {title}{when} is graded: {points}{so_far}{end}"
        )
    yield from map(_wrapped, _circumstances(feedback))
    graded = [each for each in feedback.exercises if not feedback.reason or each.points]
    if graded:
        yield "\n".join(map(_exercise, graded))
    for each in feedback.exercises:
        if each.comment:
            yield _wrapped(f"Comment on {each.name}: {_line(each.comment)}")
    if feedback.unfinished and not feedback.reason:
        yield _wrapped(GO_ON)


def _circumstances(feedback: LessonFeedback) -> Iterator[str]:
    """Yield sentences on what the points depend on."""
    if feedback.under_review:
        names = ", ".join(feedback.under_review)
        yield f"This is not final: a person is going to decide about {names}."
    if feedback.penalty:
        taken = format_points(feedback.penalty)
        are = "is" if feedback.penalty == 1 else "are"
        late = f"{feedback.late_by} " if feedback.late_by else ""
        rule = f" The rule: {feedback.late_rule}." if feedback.late_rule else ""
        yield (
            f"It came in {late}after the due date, for which {taken} {are} taken off."
            f"{rule}"
        )
    if feedback.extension:
        yield f"You had {feedback.extension} more than the due date."
    if feedback.excused:
        yield (
            "Not counted for you, since your notebook did not contain it: "
            f"{', '.join(feedback.excused)}."
        )
    if feedback.dropped:
        yield f"Not counted any more, for anybody: {', '.join(feedback.dropped)}."
    if feedback.left_out:
        yield f"Optional, and not counted: {', '.join(feedback.left_out)}."
    if feedback.on_top:
        yield f"Of it, {format_points(feedback.on_top)} for optional exercises, on top."


def _exercise(exercise: ExerciseFeedback) -> str:
    """Return an exercise's points, name and diagnosis, later lines set in."""
    points = format_number_of(exercise.points, exercise.max_points)
    points = "" if exercise.is_not_done else points
    words = [_diagnosis(exercise), exercise.by_hand]
    line = f"{points:>9}  {exercise.name}"
    line += f": {_line(' '.join(filter(None, words)))}" if any(words) else ""
    return _wrapped(line, "", " " * 11)


def _diagnosis(exercise: ExerciseFeedback) -> str:
    """Return why an exercise is not full, in the course's own words."""
    if exercise.is_full:
        return exercise.summary if exercise.diagnosed or exercise.optional else ""
    if exercise.diagnosed and exercise.verdicts:
        return exercise.verdicts.diagnosis[0]
    return exercise.summary


def _more(
    course: Course, lesson: str, person: StudentGrades, delivery: Delivery
) -> Iterator[str]:
    """Yield where the feedback page is, and what to do with questions."""
    if delivery.attach:
        yield _wrapped("The page with your answers and what they returned is attached.")
    if delivery.link:
        yield "The page with your answers and what they returned:"
        link = delivery.link.replace("{student}", quote(person.student))
        yield link.replace("{lesson}", quote(lesson))
    graded = student_folder(course, AUTOGRADED, lesson, person.student)
    if not (delivery.attach or delivery.link) and read_secret(
        graded, course.root / AUTOGRADED
    ):
        yield _wrapped(
            "The page with your answers and what they returned comes to you with this "
            "command:"
        )
        yield f"  nbgrader fetch_feedback {lesson}"
    yield _wrapped(QUESTIONS)


def _wrapped(text: str, indent: str = "", later: str | None = None) -> str:
    """Return lines of a message; ``later`` is the indent of all but the first."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if later is None else later,
        break_on_hyphens=False,
    )
