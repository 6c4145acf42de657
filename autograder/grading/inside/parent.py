"""The warm parent: it has imported what a lesson needs, and forks a child on request.

It never receives a byte of a submission: what it gets is a number and the end of a
connection, which it passes on to the child and closes. So no child can find another
student's text in its memory. It has one thread and computes nothing with tensors, for
a fork copies only the thread that forks.
"""

import json
import os
import selectors
import signal
import socket
import sys
from typing import Any

import msgpack

from . import child, isolation, library, shell, wire

CONNECTION = 3  # the child's only open file besides nothing


def main() -> None:
    """Serve until the control connection ends.

    Arguments of the command: the connection's file number, and settings in JSON.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(sys.argv[2])
    limits = isolation.Limits(**settings["limits"])
    shell.warm_up(settings["modules"], settings["cells"])
    seen = library.watch(settings["library"])
    Parent(control, limits, settings["isolated"], seen).serve()


class Parent:
    """Forks children, ends them, and says when they have ended.

    isolated : False runs them without namespaces and limits (``--no-sandbox``)
    """

    def __init__(
        self,
        control: socket.socket,
        limits: isolation.Limits,
        isolated: bool,
        seen: library.Seen,
    ) -> None:
        """Take over the control connection."""
        self.control = control
        self.limits = limits
        self.isolated = isolated
        self.seen = seen
        self.space = isolation.address_space() if isolated else 0
        self.children: dict[int, tuple[int, int]] = {}  # number: (process, its handle)
        self.waiting = selectors.DefaultSelector()

    def serve(self) -> None:
        """Answer requests: ["fork", number, user] (with a socket), ["end", number]."""
        self.waiting.register(self.control, selectors.EVENT_READ)
        self._tell("ready")
        while True:
            for key, _ in self.waiting.select():
                if key.data is not None:
                    self._ended(key.data)
                elif not self._request():
                    return

    def _request(self) -> bool:
        text, handles, _, _ = socket.recv_fds(self.control, 1024, 1)
        if not text:
            return False
        what, number, *rest = msgpack.unpackb(text)
        if what == "fork":
            self._fork(number, rest[0], socket.socket(fileno=handles[0]))
        elif number in self.children:
            os.kill(self.children[number][0], signal.SIGKILL)
        return True

    def _fork(self, number: int, user: int, connection: socket.socket) -> None:
        wait, go = os.pipe()
        root = os.geteuid() == 0  # each child gets a user of its own, else ours
        who = (user, user) if root else (os.geteuid(), os.getegid())
        process = isolation.fork() if self.isolated else os.fork()
        if process == 0:
            os.close(go)
            self._be_the_child(who, root, wait, connection)
        os.close(wait)
        connection.close()
        handle = os.pidfd_open(process)
        self.children[number] = process, handle
        self.waiting.register(handle, selectors.EVENT_READ, number)
        if self.isolated:
            isolation.map_user(process, *who)
        os.close(go)  # it may go on

    def _ended(self, number: int) -> None:
        process, handle = self.children.pop(number)
        self.waiting.unregister(handle)
        os.close(handle)
        _, status = os.waitpid(process, 0)
        self._tell("ended", number, os.waitstatus_to_exitcode(status))

    def _tell(self, *words: Any) -> None:
        self.control.send(msgpack.packb(words))

    def _be_the_child(
        self, who: tuple[int, int], root: bool, wait: int, connection: socket.socket
    ) -> None:
        """Isolate this process step by step, then serve the submission; never returns."""
        try:
            isolation.die_with_parent()
            os.setsid()  # a signal to its group must not reach the parent
            self.waiting.close()
            connection = _alone(connection, wait)
            if self.isolated:
                isolation.become(*who, alone=root)
                isolation.die_with_parent()  # a change of user forgets it
                isolation.hide_files(self.limits)
                isolation.limit(self.limits, self.space)
                isolation.give_up_privileges()
                isolation.forbid()
        except BaseException as error:
            _say_failed(connection, error)
            os._exit(1)
        try:
            child.serve(connection, self.seen)
        finally:
            os._exit(0)


def _alone(connection: socket.socket, wait: int) -> socket.socket:
    """Leave the child nothing open but its connection; wait until it may go on."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.read(wait, 1)
    os.dup2(connection.detach(), CONNECTION)
    os.closerange(CONNECTION + 1, 4096)
    return socket.socket(fileno=CONNECTION)


def _say_failed(connection: socket.socket, error: BaseException) -> None:
    text = f"{type(error).__name__}: {error}"
    wire.send(connection, wire.pack(["failed", text]))
