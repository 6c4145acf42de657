"""The outside that hostile submissions try to reach, and its state afterwards."""

import hashlib
import secrets
import shutil
import socket
import threading
from pathlib import Path

from autograder.course import Course
from tests.hostile import World
from tests.submissions import LESSON, Submission

OTHER = "the-other-student"


class Outside:
    """A course folder with secrets in it, and servers that nobody may reach.

    folder : the course folder
    secret : what stands in each of its files
    """

    def __init__(self, folder: Path, course: Course) -> None:
        """Make the folder and start listening."""
        self.folder = folder / "course"
        self.secret = f"SECRET-{secrets.token_hex(16)}"
        self.course = Course(self.folder)
        self.got: list[str] = []
        self._copy(course)
        self._sockets = self._listen(folder / "socket")
        self.port = self._sockets[0].getsockname()[1]
        self.socket = folder / "socket"
        for listening in self._sockets:
            threading.Thread(target=self._serve, args=(listening,), daemon=True).start()

    def world(self, student: str) -> World:
        """Return what a hostile submission of a student's may want to reach."""
        path = self.folder / "submitted" / student / LESSON / f"{LESSON}.ipynb"
        return World(self.folder, self.secret, self.port, self.socket, path)

    def state(self) -> dict[str, str]:
        """Return a digest of each file outside, to compare later."""
        digests = {}
        for path in sorted(self.folder.parent.rglob("*")):
            digest = "folder"
            if path.is_symlink():
                digest = f"link to {path.readlink()}"
            elif path.is_file():
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
            digests[str(path)] = digest
        return digests

    def close(self) -> None:
        """Stop listening."""
        for listening in self._sockets:
            listening.close()

    def _copy(self, course: Course) -> None:
        (self.folder / "build").mkdir(parents=True)
        for part in ("notebooks", "solutions"):
            shutil.copytree(course.root / part, self.folder / part)
        shutil.copy(course.root / "nbgrader_config.py", self.folder)
        private = ("gradebook.db", "gradebook.seed", "solutions/answers.txt")
        for name in private:
            (self.folder / name).write_text(self.secret)
        other = Submission()
        other.own(f"mine = {self.secret!r}")
        other.write(self.folder, OTHER)

    def _listen(self, path: Path) -> list[socket.socket]:
        tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        tcp.bind(("127.0.0.1", 0))
        udp.bind(tcp.getsockname())
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(str(path))
        for listening in (tcp, unix):
            listening.listen()
        return [tcp, udp, unix]

    def _serve(self, listening: socket.socket) -> None:
        """Record that something was received, whatever it is."""
        while True:
            try:
                if listening.type == socket.SOCK_DGRAM:
                    self.got.append(repr(listening.recv(100)))
                else:
                    listening.accept()[0].close()
                    self.got.append("a connection")
            except OSError:
                return
