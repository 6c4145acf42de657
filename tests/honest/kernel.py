"""What a cell asks of Jupyter's kernel, above the answer that stands in the same cell.

Each was tried in ipykernel: it goes through there.
"""

from tests.honest import honest
from tests.honest.writing import on_top
from tests.submissions import Submission


def _above_the_answer(name: str, text: str) -> None:
    def build(submission: Submission) -> None:
        on_top(submission, "softmax", text)

    build.__name__ = name
    honest(build)


_above_the_answer(
    "descriptors_of_the_streams",
    """
        import os, sys

        for stream in (sys.stdout, sys.stderr):
            os.write(stream.fileno(), b"shown in the terminal")
            assert stream.name in ("stdout", "stderr") and not stream.isatty()
    """,
)
_above_the_answer(
    "faults_shown",
    """
        import faulthandler, signal

        faulthandler.enable()
        faulthandler.dump_traceback()
        faulthandler.dump_traceback_later(50)
        faulthandler.cancel_dump_traceback_later()
        faulthandler.register(signal.SIGUSR1)
    """,
)
_above_the_answer(
    "programs_that_write_to_the_streams",
    """
        import subprocess, sys

        subprocess.run(["echo", "a"], stdout=sys.stdout, stderr=sys.stderr, check=True)
        subprocess.run(["sh", "-c", "echo b >&2"], stderr=sys.stderr, stdin=sys.stdin)
    """,
)
_above_the_answer(
    "variables_stored",
    """
        rows = [1, 2]
        %store rows
        %store
        del rows
        %store -r
        assert rows == [1, 2]
    """,
)
_above_the_answer(
    "kernel_asked_about_itself",
    """
        kernel = get_ipython().kernel
        assert kernel.shell is get_ipython()
        print(kernel.session.session, kernel.implementation, kernel.banner)
        kernel.comm_manager.register_target("mine", print)
        get_ipython().parent_header, get_ipython().get_parent()
    """,
)
_above_the_answer(
    "magics_of_the_kernel",
    """
        %autosave 60
        %clear
        %connect_info
    """,
)
_above_the_answer(
    "tasks_beside_the_cell",
    """
        import asyncio


        async def slow(number):
            await asyncio.sleep(0.001)
            return number


        task = asyncio.create_task(slow(3))
        assert await task == 3
        assert await asyncio.gather(slow(1), slow(2)) == [1, 2]
    """,
)


@honest
def task_started_in_one_cell_and_awaited_in_another(submission: Submission) -> None:
    submission.own(
        "import asyncio\n\n\nasync def slow():\n    await asyncio.sleep(0.01)\n"
        "    return 3\n\n\nassert asyncio.get_running_loop().is_running()\n"
        "one, other = asyncio.create_task(slow()), asyncio.ensure_future(slow())",
        above="softmax",
    )
    on_top(submission, "softmax", "assert one.done()\nassert await other == 3")
    submission.own(
        "get_ipython().run_cell('inner = 1')\nasyncio.create_task(slow())",
        below="softmax",
    )
    on_top(submission, "attention", "assert inner == 1\nawait asyncio.sleep(0)")


@honest
def task_that_never_ends(submission: Submission) -> None:
    submission.own(
        "import asyncio\n\n\nasync def beat():\n    while True:\n"
        "        await asyncio.sleep(0.01)\n\n\nheart = asyncio.create_task(beat())",
        above="softmax",
    )
    on_top(submission, "attention", "assert not heart.done()\nheart.cancel()")
