"""What the course needs of the machine: Python's packages, a browser, a sandbox.

``make`` runs this before anything is installed (``python -I autograder/system.py``), so
it imports nothing but the standard library. It does not find Python: ``make`` does.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMP = Path(".venv", ".stamp")
SIZE = re.compile(r"^\s*Downloading .*\(([\d.]+) (kB|MB|GB)\)")
MEGABYTES = {"kB": 0.001, "MB": 1.0, "GB": 1000.0}
BROWSERS = (
    "chromium-headless-shell",  # without windows: a third less to compute
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


class SystemFault(Exception):
    """Something that the machine lacks, as one sentence that says what to do."""


def is_ready(root: Path) -> bool:
    """Return whether ``.venv`` is finished and fits the folder's requirements."""
    return _read(root / STAMP) == _expected_stamp(root) and _python(root).exists()


def set_up(root: Path) -> None:
    """Make ``.venv``, or bring it up to date.

    The stamp is written last: without it, an environment counts as half made, since
    pip cannot tell a package that was cut short from a whole one.
    """
    stamp, expected = _read(root / STAMP), _expected_stamp(root)
    (root / STAMP).unlink(missing_ok=True)
    if stamp.get("root") != expected["root"] or not _python(root).exists():
        _make_environment(root)
    pins = _count_pins(root / "requirements.lock")
    _say(
        f"Installing {pins} packages: two gigabytes or more on the disk, one to ten "
        "minutes the first time …"
    )
    _pip(root, "--requirement", "requirements.lock", progress=Progress(pins))
    _pip(root, "--no-deps", "--no-build-isolation", "--editable", ".")
    _compile(root)
    (root / STAMP).write_text(json.dumps(expected))


def find_browser() -> str | None:
    """Return the path of a Chromium or Chrome for the browser tests, if any."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def require_browser() -> None:
    """Install a browser if there is none, or raise ``SystemFault``."""
    if not find_browser():
        purpose = "the browser tests, or run `make test NO_BROWSER=1`"
        _install("chromium", purpose, better="chromium-headless-shell")


def require_sandbox() -> None:
    """Install bubblewrap if there is none, or raise ``SystemFault``."""
    if not shutil.which("bwrap"):
        _install("bubblewrap", "grading, or run `make test NO_SANDBOX=1`")


def _expected_stamp(root: Path) -> dict[str, str]:
    """Return the stamp of an environment that fits the folder."""
    files = [root / "requirements.lock", root / "pyproject.toml"]
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in files))
    # Scripts and the editable install hold the folder's path: a moved one is remade.
    return {"root": str(root), "content": digest.hexdigest()}


def _read(stamp: Path) -> dict[str, str]:
    try:
        content = json.loads(stamp.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _python(root: Path) -> Path:
    return root / ".venv" / "bin" / "python"


def _make_environment(root: Path) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        _install(f"python{version}-venv", "virtual environments")
    folder = root / ".venv"
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        _say("Removing .venv: its set-up was not finished, or it was made elsewhere.")
        shutil.rmtree(folder)
    _say(f"Making .venv with Python {sys.version.split()[0]} …")
    _run(root, [sys.executable, "-m", "venv", ".venv"])


def _count_pins(lock: Path) -> int:
    return sum("==" in line for line in lock.read_text().splitlines())


class Progress:
    """Says how far pip is, from the lines that it prints.

    count : packages to come
    """

    def __init__(self, count: int) -> None:
        """Begin with nothing loaded."""
        self.count, self.begun, self.megabytes = count, 0, 0.0
        self.installing = False
        self.start = self.printed = time.monotonic()

    def read(self, line: str) -> None:
        """Read a line of pip's, and print how far it is if it is time to."""
        self.begun += line.startswith(("Collecting ", "Requirement already satisfied"))
        if size := SIZE.search(line):
            self.megabytes += float(size[1]) * MEGABYTES[size[2]]
        was, self.installing = self.installing, line.startswith("Installing collected")
        now, pause = time.monotonic(), 1 if sys.stdout.isatty() else 15
        if now - self.printed >= pause or (self.installing and not was):
            self.printed = now
            _say_over(str(self))

    def __str__(self) -> str:
        """Return how far it is: packages, megabytes and seconds."""
        seconds = round(time.monotonic() - self.start)
        if self.installing:
            return f"  {self.megabytes:.0f} MB loaded after {seconds} s; unpacking …"
        return (
            f"  {self.begun} of {self.count} packages, {self.megabytes:.0f} MB loaded, "
            f"{seconds} s"
        )


def _pip(root: Path, *arguments: str, progress: Progress | None = None) -> None:
    options = ["--no-compile", "--disable-pip-version-check"]
    options += ["--progress-bar=off"] if progress else ["--quiet"]
    command = [str(_python(root)), "-m", "pip", "install", *options, *arguments]
    _run(root, command, progress)


def _compile(root: Path) -> None:
    """Compile the packages to bytecode: pip would do it too, but on one core only.

    A fifth of the code is packages' own tests and torch's compiler, which nothing runs.
    """
    packages = (root / ".venv" / "lib").glob("python*/site-packages")
    leave_out = r"/(tests?|testing|_inductor)/"
    command = [str(_python(root)), "-m", "compileall", "-qq", "-j0", "-x", leave_out]
    # Not every file of every package is meant for this Python; pip ignores that too.
    subprocess.run([*command, *map(str, packages)], cwd=root, check=False)


def _install(package: str, purpose: str, better: str | None = None) -> None:
    """Install a system package; raise ``SystemFault`` where that is not allowed.

    better : a package to install instead where the system has it
    """
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise SystemFault(
            f"A system package is missing: install {package} (on Debian and Ubuntu: "
            f"`sudo apt-get install {package}`) for {purpose}."
        )
    _say(f"Asking the system for {package} (apt-get update) …")
    _run(ROOT, ["apt-get", "update", "-qq"])
    if better and _apt_knows(better):
        package = better
    _say(f"Installing the system package {package} …")
    command = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends"]
    _run(ROOT, ["env", "DEBIAN_FRONTEND=noninteractive", *command, package])


def _apt_knows(package: str) -> bool:
    command = ["apt-cache", "show", package]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(folder: Path, command: list[str], progress: Progress | None = None) -> None:
    """Run a command; raise ``SystemFault`` if it fails.

    progress : gets its lines, which are shown as they are without it
    """
    output = subprocess.PIPE if progress else None
    with subprocess.Popen(
        command, cwd=folder, stdout=output, encoding="utf-8", errors="replace"
    ) as process:
        for line in process.stdout or ():
            if progress:
                progress.read(line)
    if progress and sys.stdout.isatty():
        print()
    if process.returncode:
        raise SystemFault(
            f"`{' '.join(command)}` failed: its message is above; mend that and call "
            "make again."
        )


def _say_over(sentence: str) -> None:
    """Print over the line before in a terminal, and a line of its own elsewhere."""
    if sys.stdout.isatty():
        print(f"\r{sentence:<72}", end="", flush=True)
    else:
        _say(sentence)


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def main() -> None:
    """Run one of the jobs; a fault is one sentence on stderr and exit code 1."""
    jobs = {
        "check": lambda: sys.exit(not is_ready(ROOT)),
        "setup": lambda: set_up(ROOT),
        "browser": require_browser,
        "sandbox": require_sandbox,
    }
    parser = argparse.ArgumentParser(description="Prepare this machine for the course.")
    parser.add_argument("job", choices=jobs)
    try:
        jobs[parser.parse_args().job]()
    except SystemFault as fault:
        sys.exit(str(fault))
    except KeyboardInterrupt:
        sys.exit("Interrupted: call make again, and it starts over.")


if __name__ == "__main__":
    main()
