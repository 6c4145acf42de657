"""The warm parent: it has imported what a lesson needs, and forks a child on request.

It never receives a byte of a submission: what it gets is a number and the end of a
connection, which it passes on to the child and closes. So no child can find another
student's text in its memory. It has one thread and computes nothing with tensors, for
a fork copies only the thread that forks.
"""

import contextlib
import json
import os
import platform
import selectors
import signal
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import msgpack

from . import child, library, seccomp, shell, wire
from . import isolation as steps
from .isolation import Isolation

CONNECTION = 3  # the child's only open file descriptor besides /dev/null


def main(preloading: Thread) -> None:
    """Serve until the control connection ends.

    preloading : loads PyTorch's libraries

    Arguments of the command: the connection's file descriptor, and settings in JSON.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(sys.argv[2])
    limits = steps.Limits(**settings["limits"])
    shell.warm_up(settings["modules"], settings["cells"], preloading)
    library_calls = library.watch(settings["library"])
    Parent(control, limits, settings["isolation"], library_calls).serve()


class _Process(NamedTuple):
    """A child's process.

    descriptor : of the file that reports its end
    user, home : whose it is and its folder, where no namespace ends and removes both
    """

    id: int
    descriptor: int
    user: int
    home: Path | None


@dataclass
class _Client:
    """Who asks for children: a connection, and the children by their numbers."""

    control: socket.socket
    children: dict[int, _Process] = field(default_factory=dict)

    def report(self, *words: Any) -> None:
        """Send a message; a client that has gone need not know."""
        with contextlib.suppress(OSError):
            self.control.send(msgpack.packb(words))


class Parent:
    """Forks children, ends them, and reports when they have ended.

    isolation : what keeps them apart; "none" sets no limits either
    """

    def __init__(
        self,
        control: socket.socket,
        limits: steps.Limits,
        isolation: Isolation,
        library_calls: library.LibraryCalls,
    ) -> None:
        """Store the first connection, with which the parent ends; no child runs yet."""
        self.control = control
        self.limits = limits
        self.isolation = isolation
        self.library_calls = library_calls
        self.address_space = 0 if isolation == "none" else steps.address_space()
        self.filter = seccomp.program(platform.machine())
        self.selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Answer requests until the first connection ends.

        ["fork", number, user, processor] and ["join"] come with a socket, of the child
        and of a further client; ["end", number] without.
        """
        self._join(self.control)
        while True:
            for key, _ in self.selector.select():
                client, number = key.data
                if number is not None:
                    self._remove(client, number)
                elif not self._handle_request(client):
                    if client.control is self.control:
                        return
                    self._dismiss(client)

    def _join(self, control: socket.socket) -> None:
        client = _Client(control)
        self.selector.register(control, selectors.EVENT_READ, (client, None))
        client.report("ready")

    def _dismiss(self, client: _Client) -> None:
        """End the children of a client that has gone."""
        self.selector.unregister(client.control)
        client.control.close()
        for process in client.children.values():
            os.kill(process.id, signal.SIGKILL)

    def _handle_request(self, client: _Client) -> bool:
        """Handle a request; return False at the end of the connection."""
        try:
            message, descriptors, _, _ = socket.recv_fds(client.control, 1024, 1)
        except ConnectionError:
            return False
        if not message:
            return False
        word, *fields = msgpack.unpackb(message)
        if word == "join":
            self._join(socket.socket(fileno=descriptors[0]))
        elif word == "fork":
            number, user, processor = fields
            connection = socket.socket(fileno=descriptors[0])
            self._fork(client, number, user, processor, connection)
        elif fields[0] in client.children:
            os.kill(client.children[fields[0]].id, signal.SIGKILL)
        return True

    def _fork(
        self,
        client: _Client,
        number: int,
        user: int,
        processor: int | None,
        connection: socket.socket,
    ) -> None:
        wait, go = os.pipe()
        root = os.geteuid() == 0  # each child gets a user of its own, else ours
        user_and_group = (user, user) if root else (os.geteuid(), os.getegid())
        home = steps.make_home(user) if self.isolation == "user" else None
        in_namespaces = self.isolation == "namespaces"
        process_id = steps.fork() if in_namespaces else os.fork()
        if process_id == 0:
            os.close(go)
            if processor is not None:
                with contextlib.suppress(OSError):  # taken away meanwhile
                    os.sched_setaffinity(0, {processor})
            self._be_the_child(user_and_group, root, home, wait, connection)
        os.close(wait)
        connection.close()
        process = _Process(process_id, os.pidfd_open(process_id), user, home)
        client.children[number] = process
        data = client, number
        self.selector.register(process.descriptor, selectors.EVENT_READ, data)
        if in_namespaces:
            steps.map_user(process_id, *user_and_group)
        os.close(go)  # the child continues

    def _remove(self, client: _Client, number: int) -> None:
        """Remove a child that has ended, and report its exit code."""
        process = client.children.pop(number)
        self.selector.unregister(process.descriptor)
        os.close(process.descriptor)
        _, status = os.waitpid(process.id, 0)
        if process.home:
            steps.end_user(process.user, process.home)
        client.report("ended", number, os.waitstatus_to_exitcode(status))

    def _be_the_child(
        self,
        user_and_group: tuple[int, int],
        root: bool,
        home: Path | None,
        wait: int,
        connection: socket.socket,
    ) -> None:
        """Isolate this process, then serve the submission; never returns."""
        try:
            steps.die_with_parent()
            os.setsid()  # a signal to its group must not reach the parent
            self.selector.close()
            connection = _only_open_file(connection, wait)
            if self.isolation != "none":
                steps.die_first()
                steps.become(*user_and_group, drop_groups=root)
                steps.die_with_parent()  # a change of user forgets it
                if home:
                    steps.move_into(home)
                else:
                    steps.hide_files(self.limits)
                steps.set_limits(self.limits, self.address_space)
                steps.give_up_privileges()
                if self.filter:  # else the namespaces alone have to do
                    seccomp.install(self.filter)
        except BaseException as error:
            _send_failure(connection, error)
            os._exit(1)
        try:
            child.serve(connection, self.library_calls)
        finally:
            os._exit(0)


def _only_open_file(connection: socket.socket, wait: int) -> socket.socket:
    """Close everything but the child's connection; wait until it may continue."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.read(wait, 1)
    os.dup2(connection.detach(), CONNECTION)
    os.closerange(CONNECTION + 1, 4096)
    return socket.socket(fileno=CONNECTION)


def _send_failure(connection: socket.socket, error: BaseException) -> None:
    reason = f"{type(error).__name__}: {error}"
    wire.send(connection, wire.pack(["failed", reason]))
