"""What a submission may use: its time, its processes, and how often it may fail."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """How long a submission may take, and how often it may fail.

    Seconds are of its own time (``own_time``): what else runs plays no part.

    call : seconds of one call; once an exercise has used them up, its later calls get
        a tenth
    cell, cells : seconds of one cell, and of all of them
    deadly : cells that may end the process before all of the learner's own are skipped
    timeouts, crashes : of calls of one exercise, judged in one way, until its other
        calls are not tried
    submission : seconds of one try of everything, the judge's own work too, and running
        the cells again so that a test remembers nothing
    children : processes for one try of everything
    """

    call: float = 5.0
    cell: float = 20.0
    cells: float = 60.0
    deadly: int = 4
    timeouts: int = 4
    crashes: int = 8
    submission: float = 300.0
    children: int = 200


class TimedOutOnce(BaseException):
    """Something took too long while other submissions ran: it is tried once more."""
