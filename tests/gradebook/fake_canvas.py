"""A Canvas that speaks the documented calls, with faults on demand.

It keeps users, assignments and grades, and counts each grade that it writes.
"""

import json
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "1234~token"
COURSE = "7"
PAGE = 2  # items in a page, whatever is asked for


def user(number, login, sis=None):
    return {"id": number, "login_id": login, "sis_user_id": sis, "name": login.title()}


def assignment(number, title, points, **more):
    return {
        "id": number,
        "name": title,
        "points_possible": points,
        "grading_type": "points",
        "published": True,
        "group_category_id": None,
    } | more


class FakeCanvas:
    """What Canvas has, and what is asked of it.

    grades : (assignment, user) to the points that somebody has entered
    writes : (assignment, user) to all points that were written there, in order
    excused : (assignment, user) of those who are excused
    deducted : what its late policy takes off, of each grade
    faults : yields what happens to each call: "" or one of ``fail``
    seconds : before each answer
    link_base : of the addresses of next pages, if not its own
    not_assigned : users to whom no assignment is given
    hold_after : so many writes; the answer to the last one never comes
    """

    def __init__(self, users, assignments):
        self.users, self.assignments = users, assignments
        self.grades, self.writes = {}, defaultdict(list)
        self.excused, self.deducted = set(), 0.0
        self.faults, self.seconds, self.hold_after = iter(()), 0.0, None
        self.held, self.released = threading.Event(), threading.Event()
        self.requests, self.lock = [], threading.Lock()
        self.address = self.link_base = ""
        self.not_assigned = set()

    @contextmanager
    def serving(self):
        """Serve until the end of the block; yields the fake."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """Print nothing of a client that has gone."""

        handler = type("Handler", (Handler,), {"canvas": self})
        server = Server(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield self
        finally:
            self.released.set()
            server.shutdown()
            thread.join()
            server.server_close()

    def submission(self, key):
        points = self.grades.get(key)
        return {
            "assignment_id": int(key[0]),
            "user_id": int(key[1]),
            "entered_score": points,
            "score": None if points is None else points - self.deducted,
            "points_deducted": self.deducted or None,
            "excused": key in self.excused,
        }

    def write(self, key, points):
        with self.lock:
            self.grades[key] = float(points)
            self.excused.discard(key)
            self.writes[key].append(float(points))
            n_writes = sum(map(len, self.writes.values()))
        if n_writes == self.hold_after:
            self.held.set()
            self.released.wait()


class Handler(BaseHTTPRequestHandler):
    canvas: FakeCanvas

    def log_message(self, *_):
        """Print nothing."""

    def do_GET(self):
        self.answer_call()

    def do_PUT(self):
        self.answer_call()

    def answer_call(self):
        length = int(self.headers.get("Content-Length") or 0)
        form = parse_qs(self.rfile.read(length).decode())
        with self.canvas.lock:
            self.canvas.requests.append((self.command, self.path, dict(self.headers)))
            fault = next(self.canvas.faults, "")
        time.sleep(self.canvas.seconds)
        if fault and fault != "lost":
            self.fail(fault)
            return
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            more = {"WWW-Authenticate": 'Bearer realm="canvas-lms"'}
            self.answer(401, {"errors": [{"message": "Invalid access token."}]}, more)
            return
        answer = self.carry_out(urlsplit(self.path).path.split("/")[3:], form)
        if fault != "lost":  # written, and nobody hears of it
            self.answer(*answer)

    def fail(self, fault):
        kind, _, wait = fault.partition(" ")
        if kind == "drop":
            return
        if kind == "html":
            self.answer(200, None)
        elif kind == "throttled":
            self.answer(403, None, text="403 Forbidden (Rate Limit Exceeded)")
        elif kind == "redirect":
            self.answer(302, None, {"Location": wait})
        else:
            self.answer(int(kind), None, {"Retry-After": wait} if wait else {})

    def carry_out(self, parts, form):
        """Return the status, the data and the headers of an answer."""
        canvas = self.canvas
        match parts:
            case ["courses", number, *_] if number != COURSE:
                return 404, {"errors": [{"message": "The specified resource …"}]}
            case ["courses", _]:
                return 200, {"id": int(COURSE)}
            case ["courses", _, "users"]:
                return self.page(canvas.users)
            case ["courses", _, "assignments"]:
                return self.page(canvas.assignments)
            case ["courses", _, "assignments", number, "submissions"]:
                keys = [(number, str(each["id"])) for each in canvas.users]
                return self.page([canvas.submission(key) for key in keys])
            case ["courses", _, "assignments", number, "submissions", student]:
                key = (number, student)
                if student in canvas.not_assigned:
                    return 401, {
                        "status": "unauthorized",
                        "errors": [
                            {"message": "user not authorized to perform that action"}
                        ],
                    }
                if self.command == "PUT":
                    canvas.write(key, form["submission[posted_grade]"][0])
                return 200, canvas.submission(key)
        return 404, {}

    def page(self, items):
        query = parse_qs(urlsplit(self.path).query)
        start = int(query.get("page", ["0"])[0])
        headers = {}
        if start + PAGE < len(items):
            path = urlsplit(self.path).path
            base = self.canvas.link_base or self.canvas.address
            more = f"<{base}{path}?page={start + PAGE}&per_page={PAGE}>"
            headers["Link"] = f'<{base}{path}>; rel="current",{more}; rel="next"'
        return 200, items[start : start + PAGE], headers

    def answer(self, status, data, headers=None, text="<html>"):
        content = (text if data is None else json.dumps(data)).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
