"""A folder of Pyodide offers more than the book pins: packages, another version."""

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import numpy as np
import pytest

from autograder.book import live
from autograder.book.build import build_book
from autograder.book.folder import LOCK_FILE
from autograder.book.live import (
    DIGESTS,
    DRAWING,
    LIVE,
    LOCK,
    NUMPY,
    VERSION,
    editor,
    release_of,
    write_live,
)
from autograder.book.wheel import (
    MAX_BYTES,
    PACKAGES,
    exercises_that_run,
    files_of_wheel,
    packages_wanted,
    wheel,
)
from autograder.checking.registry import load
from autograder.course import Course, CourseError
from tests.site import bare_offer
from tests.site.stand_in import REGEX, wheel_of
from tests.site.test_live import sha256

CORE = [name for name in DIGESTS if name != NUMPY]
WITH_REGEX = {"encode_bytes", "decode_bytes"}
TORCH = "torch-2.1.2-cp312-cp312-pyodide_2024_0_wasm32.whl"


def entry(file, data, imports, depends=()):
    """Return what a lock says of a package."""
    return {
        "name": file.split("-")[0].replace("_", "-"),
        "version": file.split("-")[1],
        "file_name": file,
        "install_dir": "site",
        "sha256": hashlib.sha256(data).hexdigest(),
        "package_type": "package",
        "imports": [*imports],
        "depends": [*depends],
        "unvendored_tests": False,
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a made-up folder of Pyodide whose lock has all that the book pins."""
    source = tmp_path / "source"
    source.mkdir()
    data = {name: name.encode() for name in DIGESTS | DRAWING}
    hexes = {name: hashlib.sha256(each).hexdigest() for name, each in data.items()}
    monkeypatch.setattr(live, "DIGESTS", {name: hexes[name] for name in DIGESTS})
    monkeypatch.setattr(live, "DRAWING", {name: hexes[name] for name in DRAWING})
    for name, each in data.items():
        (source / name).write_bytes(each)
    entries = {
        name: {**each, "sha256": hexes[each["file_name"]]}
        for name, each in LOCK["packages"].items()
    }
    write_lock(source, {"info": LOCK["info"], "packages": entries})
    return source


def write_lock(folder, lock):
    """Write a folder's lock."""
    (folder / LOCK_FILE).write_text(json.dumps(lock), encoding="utf-8")


def add(folder, file, data, imports, depends=()):
    """Add a package to a folder and its lock."""
    lock = json.loads((folder / LOCK_FILE).read_text())
    each = entry(file, data, imports, depends)
    lock["packages"][each["name"]] = each
    (folder / file).write_bytes(data)
    write_lock(folder, lock)


def site_of(tmp_path):
    """Return a folder with one page."""
    site = tmp_path / "site"
    site.mkdir(exist_ok=True)
    page = f'<html><meta charset="utf-8" />{live.EDITOR}</html>'
    (site / "page.html").write_text(page, encoding="utf-8")
    return site


def test_folder_without_a_lock_offers_what_is_pinned(folder):
    (folder / LOCK_FILE).unlink()
    release = release_of(folder)
    assert release.packages == PACKAGES == release_of(None).packages
    assert release.digests() == live.DIGESTS | live.DRAWING
    assert release.lock is LOCK and release.remarks == ()


def test_lock_without_further_packages_changes_nothing(folder):
    release = release_of(folder)
    assert release.packages == PACKAGES
    assert (
        release.files == live.DIGESTS and release.lock["packages"] == LOCK["packages"]
    )


def test_package_of_a_folder_makes_its_exercises_answer(folder):
    add(folder, REGEX, wheel_of("regex", ""), ["regex"])
    packages = release_of(folder).packages
    assert packages == {"numpy", "regex"}
    assert {*exercises_that_run(packages)} - {*exercises_that_run()} == WITH_REGEX
    assert "course_lib/byte_bpe.py" in files_of_wheel(packages)
    assert "course_lib/byte_bpe.py" not in files_of_wheel()


def test_editor_names_the_packages_that_its_exercise_needs():
    course = Course.here()
    notebook = nbformat.read(course.teacher("06_byte_pair_encoding"), as_version=4)
    packages = frozenset({"numpy", "regex", "torch"})
    assert editor(load("encode_bytes"), notebook) == ""
    html = editor(load("encode_bytes"), notebook, packages)
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    about = json.loads(text)
    assert about["extras"] == ["regex"]
    assert not any("torch" in line for line in about["imports"])
    assert '"extras"' not in editor(load("encode_word"), notebook, packages)


def test_config_and_lock_of_a_book_have_the_further_files(folder, tmp_path):
    add(folder, "typing_things-1.0-py3-none-any.whl", b"t", ["typing_things"])
    add(folder, TORCH, b"torch", ["torch"], ["numpy", "typing_things"])
    add(folder, "unused-1.0-py3-none-any.whl", b"u", ["unused"])
    site = site_of(tmp_path)
    write_live(site, folder)
    config = json.loads((site / LIVE / "config.json").read_text())
    torch = config["extras"]["torch"]
    assert torch["packages"] == ["torch", "typing-things"]
    assert torch["files"][TORCH] == sha256(b"torch") and len(torch["files"]) == 2
    assert torch["step"] == "Loading PyTorch: about 1 MB, once"
    lock = (site / LIVE / LOCK_FILE).read_bytes()
    assert config["lockIntegrity"] == sha256(lock)
    packages = json.loads(lock)["packages"]
    assert packages["torch"]["depends"] == ["typing_things"]
    assert {*packages} == {*LOCK["packages"], "torch", "typing-things"}
    copied = {path.name for path in (site / LIVE / "pyodide").iterdir()}
    assert copied == {*DIGESTS, *DRAWING, *torch["files"]}
    html = (site / "page.html").read_text()
    assert "connect-src 'self';" in html and "https:" not in html


@pytest.mark.parametrize("part", ["file", "dependency"])
def test_package_that_is_not_whole_is_left_out(folder, part):
    add(folder, TORCH, b"torch", ["torch"], ["sympy"])
    if part == "file":
        add(folder, "sympy-1.0-py3-none-any.whl", b"s", ["sympy"])
        (folder / "sympy-1.0-py3-none-any.whl").unlink()
    release = release_of(folder)
    assert release.packages == PACKAGES
    (remark,) = release.remarks
    assert remark.startswith("torch is left out") and "sympy" in remark


def test_package_that_is_not_the_file_of_the_lock_is_refused(folder):
    add(folder, REGEX, b"regex", ["regex"])
    (folder / REGEX).write_bytes(b"another")
    with pytest.raises(CourseError, match="not the file that pyodide-lock"):
        release_of(folder)


def test_file_outside_the_folder_is_never_taken(folder):
    add(folder, REGEX, b"regex", ["regex"])
    (folder.parent / REGEX).write_bytes(b"regex")
    lock = json.loads((folder / LOCK_FILE).read_text())
    lock["packages"]["regex"]["file_name"] = f"../{REGEX}"
    write_lock(folder, lock)
    assert release_of(folder).packages == PACKAGES


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"info": {"version": 1}}'])
def test_what_is_no_lock_is_refused(folder, text):
    (folder / LOCK_FILE).write_text(text)
    with pytest.raises(CourseError, match="is no lock of Pyodide: expected"):
        release_of(folder)


def test_folder_of_another_version_is_taken_with_a_remark(folder, tmp_path):
    lock = json.loads((folder / LOCK_FILE).read_text())
    lock["info"]["version"] = "0.28.3"
    numpy = "numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"
    (folder / numpy).write_bytes(b"newer")
    lock["packages"]["numpy"] = entry(numpy, b"newer", ["numpy"], ["libopenblas"])
    write_lock(folder, lock)
    for name in CORE:
        (folder / name).write_bytes(b"another")
    release = release_of(folder)
    (remark,) = release.remarks
    assert "Pyodide 0.28.3" in remark and VERSION in remark
    site = site_of(tmp_path)
    write_live(site, folder)
    config = json.loads((site / LIVE / "config.json").read_text())
    digests = {**dict.fromkeys(CORE, sha256(b"another")), numpy: sha256(b"newer")}
    assert config["files"] == digests
    written = json.loads((site / LIVE / LOCK_FILE).read_text())
    assert written["info"]["version"] == "0.28.3"
    assert written["packages"]["numpy"]["depends"] == []
    assert {path.name for path in (site / LIVE / "pyodide").iterdir()} == {
        *digests,
        *DRAWING,
    }


@pytest.mark.parametrize("name", ["pyodide.asm.js", "six-1.16.0-py2.py3-none-any.whl"])
def test_another_version_without_a_file_is_refused(folder, name):
    lock = json.loads((folder / LOCK_FILE).read_text())
    lock["info"]["version"] = "0.28.3"
    write_lock(folder, lock)
    (folder / name).unlink()
    with pytest.raises(CourseError, match=f"has no {name}"):
        release_of(folder)


def test_build_prints_each_remark_once(folder, tmp_path, monkeypatch, capsys):
    add(folder, TORCH, b"torch", ["torch"], ["sympy"])
    asked = []
    monkeypatch.setattr(live, "write_service", asked.append)
    with pytest.raises(CourseError):  # a course without lessons has no book
        build_book(Course(tmp_path), ["99_none"], tmp_path, tmp_path, folder)
    assert capsys.readouterr().err.count("torch is left out") == 1


def test_every_exercise_runs_with_all_packages():
    packages = PACKAGES | packages_wanted()
    assert len(exercises_that_run(packages)) == 103
    assert len(wheel(packages)) <= MAX_BYTES


@pytest.mark.thorough
def test_wheel_of_all_packages_is_whole(tmp_path):
    packages = PACKAGES | packages_wanted()
    with zipfile.ZipFile(io.BytesIO(wheel(packages))) as archive:
        archive.extractall(tmp_path)
    names = [*({*exercises_that_run(packages)} - {*exercises_that_run()})]
    installed = Path(np.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-I", "-S", bare_offer.__file__, tmp_path, installed, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == dict.fromkeys(names, True)
