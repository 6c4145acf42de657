"""A class whose grades go to a fake Canvas, and what has become of them there."""

from autograder.gradebook.canvas_api import Canvas
from autograder.gradebook.canvas_send import Sender
from tests.gradebook.fake_canvas import COURSE, TOKEN
from tests.gradebook.test_export import (
    FIRST,
    SECOND,
    a_class,
    absent,
    grades,
)

WORTH = 5.5  # of each lesson
NAMES = ("ann", "bob", "cem", "dan", "eve", "fay", "gil")
# ann by her login, bob by Canvas's number, cem by the SIS id, …
LMS_IDS = {"bob": "102", "cem": "S-103", "dan": "104", "eve": "0105"}


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
