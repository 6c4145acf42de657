"""What makes the book's pages answer: what a page is told, and the files that it loads.

Python for the browser, Pyodide, is of one version, each file known by its digest. It
comes from the network that publishes it, or from a folder and is then part of the book.
Such a folder may offer more packages, or another version.
"""

import ast
import base64
import hashlib
import json
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.book.cells import ARCHIVE, IN_WORDS, write_cells
from autograder.book.folder import (
    LOCK_FILE,
    Extra,
    check_digest,
    closed,
    digest_of,
    offer_of,
    read_lock,
)
from autograder.book.lessons import as_data, solution_cell, text_above_solution
from autograder.book.wheel import (
    PACKAGES,
    exercises_that_run,
    file_of,
    files_of_wheel,
    is_ours,
    packages_of,
    packages_wanted,
    runs,
    wheel,
    wheel_name,
)
from autograder.checking.exercise import Exercise
from autograder.checking.own_answer import NO_ANSWER
from autograder.checking.registry import load
from autograder.checking.way_on import course_version
from autograder.course import CourseError
from course_lib.corpora.download import folder as data_folder

HERE = Path(__file__).parent
LIVE = "_static/live"  # in the site
SERVICE = "service.js"  # there too, in its root
BUILD = '"development"'  # in that file, until it is written for a book
OWN = "pyodide/"  # below that, if the book has a Pyodide of its own
VERSION = "0.27.7"
NETWORK = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
NUMPY = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"
DIGESTS = {  # of the release, in hexadecimal
    "pyodide.js": "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
    "pyodide.asm.js": (
        "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51"
    ),
    "pyodide.asm.wasm": (
        "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f"
    ),
    "python_stdlib.zip": (
        "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16"
    ),
    NUMPY: "ebb61241d962b98b21597d7ce43b67668a6d5bab3acec4fbe958657320d7cd08",
}
DRAWING = {  # what matplotlib needs to draw, loaded when the first picture is drawn
    "contourpy-1.3.0-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        "f6ca0437a039c40691be53ff5bd3c9774868add8d5c2d032167495c6ff1f1c4b"
    ),
    "cycler-0.12.1-py3-none-any.whl": (
        "e33687b4269fe3eda13c2d38006f9a5daa602c95f5c4f8d0576aff0717d001a6"
    ),
    "kiwisolver-1.4.5-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        "d7652d88b3390d9d1d0175d6c79da675b42bac2cd748cc9b5766a3235da4b762"
    ),
    "matplotlib-3.8.4-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        "50d4641b32e84ecb0a2c271728d4be73b1e0a0f5f29aa7dd6ea280f888b91340"
    ),
    "packaging-24.2-py3-none-any.whl": (
        "fbf6a5ace596eb8e28fe0089ecfc0bca2eb3930563e9ca06acb98ea5302b99f7"
    ),
    "pillow-10.2.0-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        "43eab147a9355385a99eeac18fb577d4af2fe4bd0bbd23d3ba3ddb92e72c2815"
    ),
    "pyparsing-3.1.2-py3-none-any.whl": (
        "9070866557845375d8180e9236021fdecb2b93be75a7c8de48841f1465133a60"
    ),
    "python_dateutil-2.9.0.post0-py2.py3-none-any.whl": (
        "02811ea3714f6697d639c07dc5ec63f5774dc7a688e4e1cbbe9beb2f33c3e6c9"
    ),
    "six-1.16.0-py2.py3-none-any.whl": (
        "f61235bc3a15086f0369585e5071ae9ba0bd244a111d12b37f683862e6850c0a"
    ),
}
MEGABYTES_OF_DRAWING = 8


def package_of(file: str) -> str:
    """Return the name of a package as Pyodide knows it.

    >>> package_of("python_dateutil-2.9.0.post0-py2.py3-none-any.whl")
    'python-dateutil'
    """
    return file.split("-")[0].replace("_", "-")


def _package(file: str, digest: str) -> dict[str, Any]:
    """Return what Pyodide reads of a package."""
    return {
        "depends": [],
        "file_name": file,
        "imports": [],
        "install_dir": "site",
        "name": package_of(file),
        "package_type": "package",
        "sha256": digest,
        "unvendored_tests": True,
        "version": file.split("-")[1],
    }


LOCK = {  # what Pyodide reads of its packages
    "info": {
        "abi_version": "2024_0",
        "arch": "wasm32",
        "platform": "emscripten_3_1_58",
        "python": "3.12.7",
        "version": VERSION,
    },
    "packages": {
        package_of(file): _package(file, digest)
        for file, digest in {NUMPY: DIGESTS[NUMPY], **DRAWING}.items()
    },
}
INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
HANDLER = re.compile(r'\son[a-z]+="([^"]*)"')
POLICY = re.compile(r'\s*<meta http-equiv="Content-Security-Policy"[^>]*>')
SOLUTION = '<details class="solution">'
WITHOUT_SCRIPTS = (
    "Where scripts run and the page comes from a web server, this is an editor that "
    "checks your answer: <code>make site SERVE=1</code> serves the book on your own "
    "machine, and <code>make lab</code> opens the lesson in JupyterLab."
)
EDITOR = '<div class="live">'  # of pages that answer
KEEPING = '<div class="your-'  # of pages that show or hand out what the browser keeps
ENCODING = '<meta charset="utf-8" />'


@dataclass(frozen=True)
class PyodideRelease:
    """The files of Pyodide that pages load, by name with their digests in hexadecimal.

    files : what each page loads
    drawing : what matplotlib needs
    lock : what Pyodide reads of its packages
    extras : further packages, by the name under which Python imports them
    remarks : what whoever builds the book should know
    """

    files: Mapping[str, str]
    drawing: Mapping[str, str]
    lock: Mapping[str, Any]
    extras: Mapping[str, Extra] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def packages(self) -> frozenset[str]:
        """What modules may import beside the standard library."""
        return PACKAGES | self.extras.keys()

    def digests(self) -> dict[str, str]:
        """Return the digests of all files by name."""
        all_files = {**self.files, **self.drawing}
        for extra in self.extras.values():
            all_files |= extra.digests
        return all_files


def release_of(folder: Path | None) -> PyodideRelease:
    """Return what pages load of Pyodide: of the tested version, if no folder has more.

    Raises ``CourseError`` if a file of a folder's lock is missing, or is another one.
    """
    lock = read_lock(folder)
    if not folder or not lock:
        return PyodideRelease(DIGESTS, DRAWING, LOCK)
    release = PyodideRelease(DIGESTS, DRAWING, LOCK)
    if (version := lock["info"]["version"]) != VERSION:
        remark = f"{folder} has Pyodide {version}; the course is tested with {VERSION}."
        release = _other_release(folder, lock, remark)
    offer = offer_of(folder, lock, packages_wanted())
    packages = {**offer.entries, **release.lock["packages"]}
    return PyodideRelease(
        release.files,
        release.drawing,
        {**release.lock, "packages": packages},
        offer.extras,
        (*release.remarks, *offer.remarks),
    )


def _other_release(
    folder: Path, lock: Mapping[str, Any], remark: str
) -> PyodideRelease:
    """Return what is loaded of a version that was not tested, as its lock has it."""
    entries = {}
    for name in ("numpy", *map(package_of, DRAWING)):
        if name not in lock["packages"]:
            raise CourseError(f"{folder / LOCK_FILE} has no {name}: pages need it")
        entries[name] = lock["packages"][name]
    files = {name: "" for name in DIGESTS if name != NUMPY}
    files |= {entry["file_name"]: entry["sha256"] for entry in entries.values()}
    for name, digest in files.items():
        if not (folder / name).is_file():
            raise CourseError(f"{folder} has no {name}: pages load it")
        if digest:
            check_digest(folder / name, digest)
        else:
            files[name] = digest_of(folder / name)
    drawing = {entries[name]["file_name"] for name in entries if name != "numpy"}
    return PyodideRelease(
        {name: digest for name, digest in files.items() if name not in drawing},
        {name: digest for name, digest in files.items() if name in drawing},
        {"info": lock["info"], "packages": closed(entries)},
        remarks=(remark,),
    )


def about_answering(
    exercise: Exercise, notebook: NotebookNode, packages: frozenset[str] = PACKAGES
) -> dict[str, Any]:
    """Return what a page needs to let readers answer an exercise.

    notebook : the lesson's
    packages : that modules may import beside the standard library
    """
    above = text_above_solution(solution_cell(notebook, exercise.name))
    uses = [*_all_uses(exercise)]
    needed = packages_of(exercise.name).union(*map(packages_of, uses))
    here = PACKAGES | (needed & packages)
    about = {
        "name": exercise.name,
        "stub": f"{above}\n{NO_ANSWER}\n",
        "uses": uses,
        "imports": list(imports_above(notebook, exercise.name, here)),
        "courseVersion": f"{course_version(exercise)}\n",
    }
    extras = sorted(here - PACKAGES)
    return about | ({"extras": extras} if extras else {})


def editor(
    exercise: Exercise, notebook: NotebookNode, packages: frozenset[str] = PACKAGES
) -> str:
    """Return what becomes the editor of an exercise; "" if no page can check it.

    Without scripts it is a sentence on how to get more.
    """
    if exercise.name not in exercises_that_run(packages):
        return ""
    data = as_data(about_answering(exercise, notebook, packages))
    return (
        f'{EDITOR}<script type="application/json">{data}</script>'
        f"<p>{WITHOUT_SCRIPTS}</p></div>"
    )


def add_editor(
    page: NotebookNode,
    exercise: Exercise,
    notebook: NotebookNode,
    packages: frozenset[str] = PACKAGES,
) -> None:
    """Put the editor of an exercise into its lesson's page, above the solution."""
    html = editor(exercise, notebook, packages)
    for cell in page.cells:
        if html and cell.id == exercise.name:
            above, solution, below = cell.source.partition(SOLUTION)
            cell.source = f"{above}\n{html}\n\n{solution}{below}"


def _all_uses(exercise: Exercise) -> Iterator[str]:
    """Yield what an answer may call, and what that calls, once each."""
    names: dict[str, None] = {}
    for used in exercise.uses:
        names |= dict.fromkeys([*_all_uses(load(used)), used])
    yield from names


def imports_above(
    notebook: NotebookNode, name: str, packages: frozenset[str] = PACKAGES
) -> Iterator[str]:
    """Yield the imports above an exercise that a page has, a line for each name."""
    modules = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in files_of_wheel(packages)
    }
    for cell in notebook.cells:
        if cell.get("id") == name:
            return
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata:
            for node in ast.parse(cell.source).body:
                yield from _import_lines(node, modules, packages)


def _import_lines(
    node: ast.stmt, modules: Collection[str], packages: frozenset[str]
) -> Iterator[str]:
    def is_there(module: str) -> bool:
        if is_ours(module):
            return module in modules and module.partition(".")[0] != "autograder"
        return runs(module, packages)

    if isinstance(node, ast.Import):
        for alias in node.names:
            if is_there(alias.name):
                yield ast.unparse(ast.Import([alias]))
    elif isinstance(node, ast.ImportFrom) and node.module and is_there(node.module):
        for alias in node.names:
            # A part of a package is a module of its own, and may be absent.
            whole = f"{node.module}.{alias.name}"
            if not file_of(whole) or is_there(whole):
                yield ast.unparse(ast.ImportFrom(node.module, [alias], 0))


def write_live(
    site: Path, pyodide: Path | None = None, release: PyodideRelease | None = None
) -> None:
    """Write what pages load into a site, and shut those pages against everything else.

    pyodide : a folder with the release of Pyodide; else it comes from its network
    release : what that folder has, if it is known

    Raises ``CourseError`` if that folder has not what is needed.
    """
    folder = site / LIVE
    folder.mkdir(parents=True, exist_ok=True)
    release = release or release_of(pyodide)
    data = wheel(release.packages)
    pages = {
        path: path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    archive = write_cells(folder, pages.values())
    lock = json.dumps(release.lock).encode()
    config = _config(release, NETWORK if pyodide is None else OWN, data, archive, lock)
    for old in folder.glob("*.whl"):
        old.unlink()
    (folder / wheel_name()).write_bytes(data)
    (folder / LOCK_FILE).write_bytes(lock)
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    shutil.copyfile(HERE / "worker.js", folder / "worker.js")
    shutil.rmtree(folder / OWN, ignore_errors=True)
    if pyodide:
        copy_pyodide(pyodide, folder / OWN, release.digests())
    for path, text in pages.items():
        if EDITOR in text or KEEPING in text:
            html = with_policy(text, "" if pyodide else NETWORK)
            path.write_text(html, encoding="utf-8")
    write_service(site)


def copy_models(site: Path) -> list[str]:
    """Copy the trained models that pages run; return a remark if there is none.

    They are those of ``make models``; without them views show stored examples.
    """
    target = site / LIVE / "models"
    shutil.rmtree(target, ignore_errors=True)
    files = sorted((data_folder() / "models").glob("*.bin"))
    if not files:
        return ["The book has no trained models: run `make models`, then call again."]
    target.mkdir(parents=True)
    for path in files:
        shutil.copyfile(path, target / path.name)
    return []


def _config(
    release: PyodideRelease, pyodide: str, data: bytes, archive: bytes, lock: bytes
) -> dict[str, Any]:
    """Return where a page finds what it loads, and the digests of all that.

    pyodide : the address of its files
    data, archive, lock : the course's wheel, what cells need, and the list of packages
    """
    return {
        "pyodide": pyodide,
        "files": _of_release(release.files),
        "lock": _versioned(LOCK_FILE, lock),
        "lockIntegrity": _integrity(hashlib.sha256(lock).digest()),
        "wheel": _versioned(wheel_name(), data),
        "wheelIntegrity": _integrity(hashlib.sha256(data).digest()),
        "extras": {
            "lessons": {
                "archive": _versioned(ARCHIVE, archive),
                "archiveIntegrity": _integrity(hashlib.sha256(archive).digest()),
            },
            "drawing": {
                "files": _of_release(release.drawing),
                "packages": [*map(package_of, DRAWING)],
                "step": f"Loading matplotlib: about {MEGABYTES_OF_DRAWING} MB, once",
            },
            **{name: _as_extra(name, each) for name, each in release.extras.items()},
        },
    }


def write_service(site: Path) -> None:
    """Write the service worker, which keeps pages for a visit without a network.

    It stands in the book's root, which it serves, and has the digest of all files: a
    browser that meets another one forgets the pages of the book before.
    """
    service = site / SERVICE
    digest = hashlib.sha256()
    for path in sorted(site.rglob("*")):
        if path.is_file() and path != service:
            digest.update(path.relative_to(site).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    text = (HERE / SERVICE).read_text(encoding="utf-8")
    service.write_text(
        text.replace(BUILD, f'"{digest.hexdigest()[:16]}"', 1), encoding="utf-8"
    )


def _as_extra(name: str, extra: Extra) -> dict[str, Any]:
    """Return what pages are told of a package that not all of them load."""
    megabytes = f"about {extra.megabytes} MB"
    return {
        "files": _of_release(extra.digests),
        "packages": [*extra.packages],
        "step": f"Loading {IN_WORDS.get(name, name)}: {megabytes}, once",
    }


def copy_pyodide(
    source: Path, target: Path, digests: Mapping[str, str] | None = None
) -> None:
    """Copy the files of Pyodide that pages load.

    digests : of these, by name; those of the tested version if they are left out

    Raises ``CourseError`` if one is missing, or is not of the version that was tested.
    """
    target.mkdir(parents=True)
    for name, digest in (digests or DIGESTS | DRAWING).items():
        path = source / name
        if not path.is_file():
            raise CourseError(
                f"{source} has no {name}: PYODIDE names the folder of Pyodide {VERSION}"
            )
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise CourseError(f"{path} is not the file of Pyodide {VERSION}")
        (target / name).write_bytes(data)


def with_policy(html: str, network: str) -> str:
    """Return a page that may run and load what the book has, and nothing else.

    network : where Pyodide comes from; "" if it is part of the book

    Scripts that stand in the page are known by their digests. Workers are made of the
    book's own text, as are the scripts in them, so that this holds for them too.
    """
    scripts = dict.fromkeys([*INLINE.findall(html), *HANDLER.findall(html)])
    hashes = (
        f"'{_integrity(hashlib.sha256(each.encode()).digest())}'" for each in scripts
    )
    policy = {
        "default-src": "'none'",
        "script-src": " ".join(
            ["'self'", "blob:", "'wasm-unsafe-eval'", "'unsafe-hashes'", *hashes]
        ),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": f"'self' {network}".strip(),
        "worker-src": "'self' blob:",
        "form-action": "'self'",
        "base-uri": "'none'",
    }
    content = "; ".join(f"{name} {value}" for name, value in policy.items())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{content}" />'
    return POLICY.sub("", html).replace(ENCODING, f"{ENCODING}\n    {meta}", 1)


def _versioned(name: str, data: bytes) -> str:
    """Return the address of a file, another one for other data."""
    return f"{name}?v={hashlib.sha256(data).hexdigest()[:16]}"


def _of_release(digests: Mapping[str, str]) -> dict[str, str]:
    return {name: _integrity(bytes.fromhex(hex)) for name, hex in digests.items()}


def _integrity(digest: bytes) -> str:
    """Return a SHA-256 as browsers read it."""
    return f"sha256-{base64.b64encode(digest).decode()}"
