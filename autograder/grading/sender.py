"""Which process has sent a message of a child's, as the kernel says."""

import contextlib
import os
import socket
import struct
from collections.abc import Callable

CREDENTIALS = struct.Struct("3i")  # process, user and group of who has sent a message


def ask_for_sender(connection: socket.socket) -> None:
    """Turn on that the kernel names the sender of each message."""
    with contextlib.suppress(AttributeError, OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)


def sender(connection: socket.socket, seconds_left: Callable[[], float]) -> int:
    """Return the number of the process that has sent what comes next, 0 if unknown.

    Nothing is taken out of the connection. Raises ``TimeoutError`` if nothing comes.
    """
    connection.settimeout(max(seconds_left(), 0.001))
    try:
        room = socket.CMSG_SPACE(CREDENTIALS.size)
        _, extras, _, _ = connection.recvmsg(1, room, socket.MSG_PEEK)
    except TimeoutError:
        raise
    except (AttributeError, OSError):
        return 0
    for level, kind, data in extras:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            process = int(CREDENTIALS.unpack(data[: CREDENTIALS.size])[0])
            return process if process != os.getpid() else 0
    return 0
