"""Dask clusters for tests: a scheduler and workers, processes as users start them."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
from distributed.core import rpc

HERE = "127.0.0.1"
EMPTY: Mapping[str, str] = {}


class DaskCluster:
    """A scheduler and workers of one thread each, on ports that the system chooses.

    folder : gets their files
    temporary : where they make temporary folders
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.processes: list[subprocess.Popen] = []
        self.address = self._scheduler()

    def worker(self, course: Path, **environment: str) -> psutil.Process:
        """Start a worker in a folder; return its process."""
        options = [self.address, "--nthreads", "1", "--no-nanny"]
        started = self._start(["worker", *options], course, environment)
        return psutil.Process(started.pid)

    def wait_for(self, count: int) -> list[str]:
        """Wait until there are so many workers; return their addresses."""
        wait(lambda: len(self._workers()) == count)
        return self._workers()

    def kill(self, worker: psutil.Process) -> None:
        """Kill a worker, and wait until the scheduler has noticed."""
        left = max(0, len(self._workers()) - worker.is_running())
        for process in self.processes:
            if process.pid == worker.pid:
                process.kill()
                process.wait()
        self.wait_for(left)

    def close(self) -> None:
        """End all of it."""
        for process in self.processes:
            process.kill()
            process.wait()

    def _workers(self) -> list[str]:
        async def ask() -> list[str]:
            async with rpc(self.address) as scheduler:
                return [*await scheduler.ncores()]

        return asyncio.run(ask()) if self.processes[0].poll() is None else []

    def _scheduler(self) -> str:
        file = self.folder / "scheduler.json"
        options = ["--host", HERE, "--port", "0", "--scheduler-file", str(file)]
        # Dask waits five minutes for a worker that has stopped.
        soon = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s"}
        self._start(["scheduler", *options], self.folder, soon)

        def address() -> str:
            with contextlib.suppress(OSError, ValueError):
                return json.loads(file.read_text())["address"]
            return ""

        return wait(address)

    def _start(
        self, arguments: list[str], folder: Path, environment: Mapping[str, str] = EMPTY
    ) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        with (self.folder / f"log-{len(self.processes)}").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "TMPDIR": str(self.temporary), **environment},
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process


def wait(ready):
    """Wait until a function returns something true; return that."""
    for _ in range(1200):
        if value := ready():
            return value
        time.sleep(0.05)
    raise TimeoutError("it does not start")
