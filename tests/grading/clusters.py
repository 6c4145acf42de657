"""Dask clusters for tests: a scheduler and workers, each a process as users start it."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

HERE = "127.0.0.1"


class DaskCluster:
    """A scheduler and workers of one thread each, on ports that the system chooses.

    folder : gets their files
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        self.address = self._scheduler()

    def worker(self, course: Path, *options: str, **environment: str) -> psutil.Process:
        """Start a worker in a course's folder; give its process."""
        command = ["worker", self.address, "--nthreads", "1", "--no-nanny", *options]
        process = self._start(command, course, environment)
        return psutil.Process(process.pid)

    def close(self) -> None:
        """End all of it."""
        for process in self.processes:
            process.kill()
            process.wait()

    def _scheduler(self) -> str:
        file = self.folder / "scheduler.json"
        options = ["--host", HERE, "--port", "0", "--scheduler-file", str(file)]
        scheduler = self._start(["scheduler", *options], self.folder, {})
        for _ in range(600):
            assert scheduler.poll() is None
            with contextlib.suppress(OSError, ValueError):
                return json.loads(file.read_text())["address"]
            time.sleep(0.05)
        raise TimeoutError("the scheduler does not start")

    def _start(self, arguments, folder, environment) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        with (self.folder / f"log-{len(self.processes)}").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | environment,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process
