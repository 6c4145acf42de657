"""The calls to Canvas: addresses, the token, waits, pages of a list."""

import itertools

import pytest

from autograder.course import CourseError
from autograder.gradebook.canvas_api import Canvas
from tests.gradebook.canvas_class import (
    client,
    send,
    the_class,
)
from tests.gradebook.fake_canvas import COURSE, TOKEN, FakeCanvas


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
