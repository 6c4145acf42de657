"""What a server of files gives to 1,000 readers who open a page of the book at once.

The server is the one of ``make site SERVE=1``, in a process of its own; readers are
coroutines with a connection each, who ask for one file after the other, as it is and
not compressed. A host of static files has more to give: this is a lower bound.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup

from autograder.book.live import LIVE, write_live
from autograder.course import Course
from tests.benchmarks.figure import Figure
from tests.site import pyodide
from tests.site.book import make_site, small_course

READERS = 1000
PAGE = "exercises/softmax.html"
ADDRESS = "127.0.0.1"
SERVE = """import sys
from pathlib import Path
from autograder.book.serve import server_of
server = server_of(Path(sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
"""


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    if not pyodide.at_hand():
        raise SystemExit(pyodide.MISSING)
    readers = 20 if quick else READERS
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        root = small_course(Path(folder))
        make_site(root).check_returncode()
        site = root / "build" / "site"
        write_live(site, pyodide.FOLDER)
        page, live = files_of_page(site), files_of_live(site)
        own = [each for each in live if "pyodide/" not in each]
        # A later visit asks whether there is a new build; the rest is in the browser.
        later = [PAGE, f"{LIVE}/config.json", f"{LIVE}/worker.js", "service.js"]
        command = [sys.executable, "-c", SERVE, str(site)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            port = int(server.stdout.readline())
            try:
                for name, files in {
                    "page and its scripts": page,
                    "the course's own files": [*page, *own],
                    "all, with Pyodide": [*page, *live],
                    "a later visit": later,
                }.items():
                    # Pyodide is 17 MB, which take this machine minutes for them all.
                    count = readers // 10 if "Pyodide" in name else readers
                    figures += _figures(name, count, port, site, files)
            finally:
                server.terminate()
    return [*figures, Figure("load of the machine after", os.getloadavg()[0], "")]


def files_of_page(site: Path) -> list[str]:
    """Return the paths of a page and of what stands in it as its own to be loaded."""
    soup = BeautifulSoup((site / PAGE).read_text(encoding="utf-8"), "lxml")
    addresses = [each.get("src") for each in soup.select("script[src], img[src]")]
    addresses += [each.get("href") for each in soup.select("link[rel=stylesheet]")]
    base = (site / PAGE).parent
    names = [urlsplit(str(each)).path for each in addresses if each]
    paths = dict.fromkeys((base / name).resolve() for name in names if name)
    root = site.resolve()
    own = [path.relative_to(root).as_posix() for path in paths if path.is_file()]
    return [PAGE, *own]


def files_of_live(site: Path) -> list[str]:
    """Return the paths of what a page loads for a first check."""
    paths = [path for path in (site / LIVE).rglob("*") if path.is_file()]
    return [path.relative_to(site).as_posix() for path in sorted(paths)]


def _figures(
    name: str, readers: int, port: int, site: Path, files: Sequence[str]
) -> list[Figure]:
    n_bytes = sum((site / each).stat().st_size for each in files)
    start = time.perf_counter()
    took = asyncio.run(_all(readers, port, files))
    seconds = time.perf_counter() - start
    return [
        Figure(f"{name}: files for a reader", len(files), ""),
        Figure(f"{name}: for a reader", n_bytes / 1e6, "MB"),
        Figure(f"{name}: requests", readers * len(files) / seconds, "1/s"),
        Figure(f"{name}: sent", readers * n_bytes / seconds / 1e6, "MB/s"),
        Figure(f"{name}: half of {readers:,} readers done", took[len(took) // 2], "s"),
        Figure(f"{name}: all of {readers:,} readers done", took[-1], "s"),
    ]


async def _all(readers: int, port: int, files: Sequence[str]) -> list[float]:
    return sorted(await asyncio.gather(*[_read(port, files) for _ in range(readers)]))


async def _read(port: int, files: Sequence[str]) -> float:
    """Get files over one connection; return the seconds until all of them are there."""
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection(ADDRESS, port)
    for name in files:
        writer.write(f"GET /{name} HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode())
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if not head.startswith("HTTP/1.1 200 "):
            raise ValueError(f"{name}: {head.splitlines()[0]}")
        left = int(head.lower().partition("content-length:")[2].split()[0])
        while left:
            part = await reader.read(min(left, 1 << 20))
            if not part:
                raise ConnectionError(f"{name}: {left} bytes are missing")
            left -= len(part)
    writer.close()
    return time.perf_counter() - start
