"""What honest code asks of the machine: files, programs, processes, clocks.

Each of them stands in the cell of an answer, so that it costs points where it fails.
"""

from tests.honest import honest
from tests.honest.writing import on_top, typed
from tests.submissions import Submission


def _asking(name: str, text: str) -> None:
    def build(submission: Submission) -> None:
        on_top(submission, "softmax", typed(text))

    build.__name__ = name
    honest(build)


_asking(
    "database_in_a_file",
    """
        import os, shelve, sqlite3, tempfile

        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                with sqlite3.connect(f"{folder}/notes.db") as notes:
                    notes.execute("create table if not exists note (text)")
                    notes.execute("insert into note values ('a softmax')")
            assert len(notes.execute("select * from note").fetchall()) == 2
            notes.execute("pragma journal_mode=wal")
            notes.close()
            with shelve.open(f"{folder}/shelf") as shelf:
                shelf["rows"] = np.ones(3)
            with shelve.open(f"{folder}/shelf") as shelf:
                assert shelf["rows"].sum() == 3
    """,
)
_asking(
    "lock_of_a_file",
    """
        import fcntl, tempfile

        with tempfile.TemporaryFile() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX)
            file.write(b"mine")
            fcntl.flock(file, fcntl.LOCK_UN)
    """,
)
_asking(
    "files_copied_and_moved",
    """
        import os, shutil, tempfile

        with tempfile.TemporaryDirectory() as folder:
            one = f"{folder}/one"
            np.save(open(one, "wb"), np.arange(1000))
            os.chmod(one, 0o640)
            os.utime(one, (10**9, 10**9))
            shutil.copy(one, f"{folder}/two")
            shutil.copy2(one, f"{folder}/three")
            shutil.copytree(folder, f"{folder}/in/side")
            shutil.move(one, "/dev/shm/one")
            shutil.make_archive(f"{folder}/all", "zip", f"{folder}/in")
            shutil.rmtree(f"{folder}/in")
            os.symlink("two", f"{folder}/link")
            rows = np.memmap(f"{folder}/map", dtype=float, mode="w+", shape=(3, 4))
            rows[:] = 1
            rows.flush()
            with open(f"{folder}/link", "r+b") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
                file.truncate(10)
                os.fsync(file.fileno())
            os.sync()
            assert len(os.listdir(folder)) == 5
            os.remove("/dev/shm/one")
    """,
)
_asking(
    "programs_started",
    """
        import asyncio, os, subprocess

        assert subprocess.run(["echo", "a"], capture_output=True).stdout == b"a\\n"
        assert os.popen("echo b | cat").read() == "b\\n"
        assert subprocess.getoutput("ls -l / | sort | tail -n 1")
        lines = !stty size; mktemp; cp /etc/localtime copied; tail -n 1 /etc/ld.so.cache
        assert len(lines) > 1
        process = await asyncio.create_subprocess_exec("true")
        assert await process.wait() == 0
    """,
)
_asking(
    "processes_that_talk",
    """
        import multiprocessing
        from multiprocessing import shared_memory

        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]
        queue, lock = context.Queue(), context.Lock()
        process = context.Process(target=queue.put, args=(np.ones(3),))
        process.start()
        assert queue.get().sum() == 3
        process.join()
        with lock:
            shared = shared_memory.SharedMemory(create=True, size=100)
            shared.close()
            shared.unlink()
    """,
)
_asking(
    "connections_within_the_process",
    """
        import asyncio, os, selectors, socket

        one, other = socket.socketpair()
        one.settimeout(1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 5000)
        one.sendall(b"query")
        assert other.recv(9) == b"query"
        with selectors.DefaultSelector() as selector:
            selector.register(one, selectors.EVENT_WRITE)
            assert selector.select(1)


        async def answer(reader, writer):
            writer.write(await reader.readline())
            writer.close()


        server = await asyncio.start_unix_server(answer, "here")
        reader, writer = await asyncio.open_unix_connection("here")
        writer.write(b"key\\n")
        assert await reader.readline() == b"key\\n"
        writer.close()
        server.close()
        one.close()
        other.close()
    """,
)
_asking(
    "clocks_signals_and_limits",
    """
        import os, resource, signal, time

        beats = []
        signal.signal(signal.SIGALRM, lambda *_: beats.append(time.monotonic()))
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        time.sleep(0.01)
        signal.alarm(0)
        assert len(beats) == 1
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 8
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert os.cpu_count() and os.sched_getaffinity(0) and os.uname()
        os.sched_setaffinity(0, os.sched_getaffinity(0))
        os.nice(1)
        os.urandom(8), os.times(), os.umask(0o22), os.getpgid(0)
    """,
)
_asking(
    "loader_with_workers",
    """
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        rows = TensorDataset(torch.arange(8.0))
        loader = DataLoader(rows, 2, num_workers=1)
        assert sum(float(batch.sum()) for [batch] in loader) == 28
    """,
)
