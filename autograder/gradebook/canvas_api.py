"""Canvas's REST API, as far as grades need it: reading lists, and grading a submission.

What holds is in Canvas's documentation (developerdocs.instructure.com/services/canvas;
the same pages are at canvas.instructure.com/doc/api):

- ``basics/file.pagination``: a list comes in pages; the header ``Link`` has the address
  of the next one.
- ``basics/file.throttling``: too many requests are answered 403, whose text ends with
  "Limit Exceeded)"; one request at a time is seldom too many.
- ``oauth2/file.oauth``: the token goes into the header ``Authorization``. Of answers
  401, that of a token that is not valid has the header ``WWW-Authenticate``; without
  it, the user may not do what was asked.
- ``resources/courses``, ``resources/assignments``: what is said of a course's users and
  assignments.
- ``resources/submissions``: *List assignment submissions* and *Grade or comment on a
  submission*, whose ``submission[posted_grade]`` may be points, above the assignment's
  maximum too. What a person has entered is ``entered_score``; ``score`` is that without
  the ``points_deducted`` by Canvas's own late policy.

Grades are sent one by one, not by ``submissions/update_grades``: each is answered with
what Canvas has stored, and a bad one stops no other.
"""

import http.client
import json
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from autograder.course import CourseError
from autograder.grading.reading import spelled_out

TIMEOUT = 30.0  # seconds without a byte
WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before the next try; then none
LONGEST_WAIT = 120.0  # seconds that Canvas may ask us to wait
TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
UNTOUCHED = {429, 500, 503}  # Canvas's own words; a gateway's are no answer of Canvas's
LOCAL = {"localhost", "127.0.0.1", "::1"}
NEXT = re.compile(r"""<([^>]*)>\s*;[^,]*\brel="?next\b""")
PAGE = ("per_page", "100")
MAX_DETAIL = 200  # characters of what Canvas says

Fields = Sequence[tuple[str, str]]


class RefusedError(CourseError):
    """Canvas does not do what was asked, and would not if it were asked again."""


class TemporaryError(Exception):
    """A fault that may be over soon.

    wait : how long Canvas asks us to wait, in seconds; None if it does not say
    untouched : whether Canvas has said that it has done nothing
    """

    def __init__(
        self, reason: str, wait: float | None = None, *, untouched: bool = False
    ) -> None:
        """Keep what has happened."""
        super().__init__(reason)
        self.wait = wait
        self.untouched = untouched


@dataclass(frozen=True)
class CanvasGrade:
    """What Canvas has of a student's grade for an assignment.

    points : as entered, to two decimals; None: no grade
    deducted : what Canvas's own late policy takes off
    excused : whether a person has excused the student
    """

    points: float | None = None
    deducted: float = 0.0
    excused: bool = False

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "CanvasGrade":
        """Read Canvas's Submission object."""
        deducted = float(data.get("points_deducted") or 0.0)
        points = data.get("entered_score")
        if points is None and data.get("score") is not None:
            points = float(data["score"]) + deducted
        rounded = None if points is None else round(float(points), 2)
        return cls(rounded, deducted, bool(data.get("excused")))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token is for the address that was given, and no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse; the answer becomes an ``HTTPError``."""


class Canvas:
    """A Canvas, asked one thing at a time.

    address : its beginning, ``https://canvas.example.edu``
    token : an instructor's access token, which is shown nowhere
    sleep : waits so many seconds
    """

    def __init__(
        self,
        address: str,
        token: str,
        *,
        timeout: float = TIMEOUT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Check the address and the token; nothing is asked yet."""
        self.address = checked_address(address)
        self._token = checked_token(token)
        self._timeout = timeout
        self._sleep = sleep
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if self.address.startswith("http:"):  # a proxy would read the token
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    # What is asked

    def course(self, course: str) -> str:
        """Return the number of a course; raises ``RefusedError`` for an unknown one."""
        try:
            return str(self._get(f"courses/{quote(course, safe='')}")[0]["id"])
        except RefusedError as error:
            raise RefusedError(
                f"{error} The course asked for is {spelled_out(course)!r}: its number "
                f"ends the address of its page, {self.address}/courses/NUMBER"
            ) from None

    def students(self, course: str) -> list[dict[str, Any]]:
        """Return the User objects of a course's students."""
        students = ("enrollment_type[]", "student")
        return self._get_all(f"courses/{course}/users", [students, PAGE])

    def assignments(self, course: str) -> list[dict[str, Any]]:
        """Return the Assignment objects of a course."""
        return self._get_all(f"courses/{course}/assignments", [PAGE])

    def submissions(self, course: str, assignment: str) -> dict[str, CanvasGrade]:
        """Return what Canvas has of each student of an assignment, by the number."""
        path = f"courses/{course}/assignments/{assignment}/submissions"
        return {
            str(each["user_id"]): CanvasGrade.from_json(each)
            for each in self._get_all(path, [PAGE])
            if each.get("user_id") is not None
        }

    def submission(self, course: str, assignment: str, student: str) -> CanvasGrade:
        """Return what Canvas has of a student's grade for an assignment."""
        return CanvasGrade.from_json(self._get(_path(course, assignment, student))[0])

    def grade(
        self,
        course: str,
        assignment: str,
        student: str,
        points: str,
        before: CanvasGrade,
    ) -> CanvasGrade:
        """Set a student's points; return what Canvas has then.

        before : what Canvas is known to have

        Where a try ends without Canvas's answer, it is not known whether it has written
        the grade. So what it has is asked before the next one. Raises ``RefusedError``
        if that is a third thing: somebody is at work there.
        """
        path = _path(course, assignment, student)
        fields = [("submission[posted_grade]", points)]
        for wait in (*WAITS, None):
            try:
                return CanvasGrade.from_json(self._ask("PUT", path, fields)[0])
            except TemporaryError as fault:
                self._pause(fault, wait)
                if fault.untouched:
                    continue
            now = self.submission(course, assignment, student)
            if now.points == round(float(points), 2) and not now.excused:
                return now
            if now != before:
                raise RefusedError("The grade has changed in Canvas meanwhile.")
        raise AssertionError("the last pause raises")

    # How it is asked

    def _get(self, path: str, query: Fields = ()) -> tuple[Any, Message]:
        """Return what Canvas answers, and the headers; tries again."""
        for wait in (*WAITS, None):
            try:
                return self._ask("GET", path, query)
            except TemporaryError as fault:
                self._pause(fault, wait)
        raise AssertionError("the last pause raises")

    def _get_all(self, path: str, query: Fields) -> list[dict[str, Any]]:
        """Return all pages of a list."""
        items, headers = self._get(path, query)
        asked = {path}
        while link := NEXT.search(headers.get("Link") or ""):
            # The whole address is Canvas's; only the part below ours gets the token.
            ours, _, path = link[1].partition("/api/v1/")
            if ours.rstrip("/") != self.address or path in asked:
                raise CourseError(
                    f"Canvas names {spelled_out(link[1])!r} as the next page of a "
                    f"list, which is not at {self.address}, or was read already: give "
                    "the address by which Canvas knows itself"
                )
            asked.add(path)
            page, headers = self._get(path)
            items += page
        return items

    def _pause(self, fault: TemporaryError, wait: float | None) -> None:
        """Wait before the next try; raises ``CourseError`` if there is to be none."""
        if wait is None:
            raise CourseError(
                f"Canvas at {self.address} does not answer ({fault}), tried "
                f"{len(WAITS) + 1} times: call again later"
            ) from None
        if fault.wait is not None and fault.wait > LONGEST_WAIT:
            raise CourseError(
                f"Canvas asks to wait {fault.wait:.0f} seconds ({fault}): call again "
                "then"
            ) from None
        self._sleep(max(wait, fault.wait or 0.0))

    def _ask(self, method: str, path: str, fields: Fields) -> tuple[Any, Message]:
        """Ask once; raises ``TemporaryError``, or ``CourseError`` for what stays."""
        url = f"{self.address}/api/v1/{path}"
        data = urlencode(fields).encode() if method != "GET" else None
        if fields and data is None:
            url += f"?{urlencode(fields)}"
        request = urllib.request.Request(url, data, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Accept", "application/json")
        request.add_header("User-Agent", "attention-course")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                content = answer.read()
                headers = answer.headers
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error) from None
        try:
            return json.loads(content), headers
        except ValueError:
            raise CourseError(
                f"{self.address} does not answer as Canvas does: correct the address"
            ) from None

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """Return what an answer that is none means."""
        try:
            text = error.read(10_000).decode(errors="replace")
        except (OSError, http.client.HTTPException):
            text = ""
        throttled = error.code == 403 and "limit exceeded" in text.lower()
        if error.code in TEMPORARY or throttled:
            words = f"{error.code} {http.client.responses.get(error.code, '')}".strip()
            untouched = throttled or error.code in UNTOUCHED
            wait = _retry_after(error.headers)
            return TemporaryError(words, wait, untouched=untouched)
        if 300 <= error.code < 400:
            target = urlsplit(error.headers.get("Location") or "")
            return CourseError(
                f"{self.address} sends on to {spelled_out(target.netloc)!r}, where the "
                "token is not sent: if that is your Canvas, give it as the address"
            )
        if error.code == 401 and error.headers.get("WWW-Authenticate"):
            return CourseError(
                "Canvas refuses the token: make a new one (Account, Settings, New "
                "Access Token) and put it into CANVAS_TOKEN"
            )
        why = {
            401: "The token's user may not do that",
            403: "The token's user may not do that",
            404: "Canvas knows no such thing",
        }.get(error.code, f"Canvas answers {error.code}")
        reason = _reason(text)
        return RefusedError(f"{why} ({reason})." if reason else f"{why}.")

    def _broken(self, error: Exception) -> Exception:
        """Return what a connection that failed means."""
        reason = getattr(error, "reason", error)
        if isinstance(reason, socket.gaierror):
            return CourseError(
                f"{self.address} is not found: connect to the network, or correct the "
                "address"
            )
        if isinstance(reason, ssl.SSLCertVerificationError):
            return CourseError(
                f"the certificate of {self.address} is not valid "
                f"({reason.verify_message}): nothing is sent there"
            )
        words = getattr(reason, "strerror", None) or str(reason)
        return TemporaryError(words or type(reason).__name__)


def checked_address(address: str) -> str:
    """Return where a Canvas is, without an end; raises ``CourseError``.

    >>> checked_address("https://Canvas.example.edu/")
    'https://canvas.example.edu'
    """
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    wrong = not host or parts.path.strip("/") or parts.query or "@" in parts.netloc
    if wrong or parts.scheme not in ("https", "http"):
        raise CourseError(
            f"{spelled_out(address)!r} is not the address of a Canvas: it must be like "
            "https://canvas.example.edu"
        )
    if parts.scheme == "http" and host not in LOCAL:
        raise CourseError(
            f"{spelled_out(address)!r} would send the token for everybody to read: the "
            "address must begin with https://"
        )
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def checked_token(token: str) -> str:
    """Return a token that can be in a header; raises ``CourseError`` without it."""
    token = token.strip()
    if not token:
        raise CourseError(
            "the environment has no CANVAS_TOKEN: make an access token in Canvas "
            "(Account, Settings, New Access Token) and call with it, as "
            "`CANVAS_TOKEN=… autograder export …`"
        )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise CourseError("CANVAS_TOKEN is no access token: copy it from Canvas anew")
    return token


def _path(course: str, assignment: str, student: str) -> str:
    return f"courses/{course}/assignments/{assignment}/submissions/{student}"


def _retry_after(headers: Message) -> float | None:
    """Return what the header says: seconds, or a time."""
    value = (headers.get("Retry-After") or "").strip()
    if value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _reason(text: str) -> str:
    """Return the words of Canvas's reason, in a line; "" where it gives none."""
    try:
        data = json.loads(text)
    except ValueError:
        return ""
    errors = data.get("errors", data.get("error")) if isinstance(data, dict) else None
    first = errors[0] if isinstance(errors, list) and errors else errors
    message = first.get("message") if isinstance(first, dict) else first
    if not isinstance(message, str):
        return ""
    return spelled_out(" ".join(message.split()))[:MAX_DETAIL].rstrip(".")
