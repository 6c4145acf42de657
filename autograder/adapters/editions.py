"""What is handed out of the course: wheels of its packages, and folders written whole.

A class's edition for learners and a package for another grading system are made of it.
"""

import base64
import hashlib
import re
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import autograder
import course_lib
from autograder.course import CourseError
from autograder.workspace.installed import PROJECT, SHARED

Files = dict[str, bytes]  # by path

PACKAGES = (Path(autograder.__file__).parent, Path(course_lib.__file__).parent)
LEFTOVERS = re.compile(r".*(?:__pycache__|\.ipynb_checkpoints|node_modules)/")
EXTENSION = "labextensions/attention-course/"
DISTRIBUTION = PROJECT.replace("-", "_")
OLDEST = (1980, 1, 1, 0, 0, 0)  # a zip file's first day: no file says when it was made
SCRIPT = b"#!"  # what begins so may be executed


def package_files(left_out: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the packages' files, by path from the folder that holds them.

    left_out : matches the paths that are not wanted
    """
    for package in PACKAGES:
        for path in sorted(package.rglob("*")):
            name = path.relative_to(package.parent).as_posix()
            if (
                path.is_file()
                and not left_out.match(name)
                and not LEFTOVERS.match(name)
            ):
                yield name, path.read_bytes()


def new_folder(folder: Path) -> Path:
    """Return a folder's whole path; raise ``CourseError`` if it holds something."""
    folder = folder.expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} holds something already: name a new folder")
    return folder


def write_whole(folder: Path, files: Files) -> None:
    """Write files into a new folder, all of them or none.

    Raises ``CourseError`` if it cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            staging = Path(name, "whole")
            for path, content in files.items():
                file = staging / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                if content.startswith(SCRIPT):
                    file.chmod(0o755)
            if folder.exists():
                folder.rmdir()
            staging.chmod(0o755)
            staging.rename(folder)
    except OSError as error:
        raise CourseError(
            f"{error.filename or folder} cannot be written ({error.strerror}): nothing "
            "is half made. Name another folder"
        ) from None


def labelled_version(label: str) -> str:
    """Return the packages' version with a label behind ``+``."""
    return f"{metadata.version(PROJECT).partition('+')[0]}+{label}"


def wheel_name(version: str) -> str:
    """Return the name of a version's wheel."""
    return f"{DISTRIBUTION}-{version}-py3-none-any.whl"


def about_wheel(version: str) -> Files:
    """Return what describes a version to pip, with the licences."""
    installed = metadata.distribution(PROJECT)
    folder = f"{DISTRIBUTION}-{version}.dist-info"
    text = installed.read_text("METADATA") or ""
    text = re.sub(r"(?m)^Version: .*$", f"Version: {version}", text, count=1)
    kind = "Wheel-Version: 1.0\nGenerator: attention-course\nRoot-Is-Purelib: true\n"
    files = {
        f"{folder}/METADATA": text.encode(),
        f"{folder}/WHEEL": f"{kind}Tag: py3-none-any\n".encode(),
        f"{folder}/entry_points.txt": (
            installed.read_text("entry_points.txt") or ""
        ).encode(),
    }
    for each in installed.files or ():
        if each.parts[-2:-1] == ("licenses",):
            files[f"{folder}/licenses/{each.name}"] = each.read_binary()
    return files


def wheel_of(version: str, files: Files, shared: Files) -> bytes:
    """Return a wheel, the same bytes for the same files.

    files : of the packages
    shared : the lessons, for the environment's ``share`` folder
    """
    data = f"{DISTRIBUTION}-{version}.data/data/share"
    parts = dict(files)
    for name, content in shared.items():
        parts[f"{data}/{Path(SHARED).name}/{name}"] = content
    for name, content in files.items():
        _, extension, rest = name.partition(EXTENSION)
        if extension:
            parts[f"{data}/jupyter/{EXTENSION}{rest}"] = content
    parts |= about_wheel(version)
    record = f"{DISTRIBUTION}-{version}.dist-info/RECORD"
    rows = [
        f"{name},{_digest(content)},{len(content)}" for name, content in parts.items()
    ]
    parts[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    return zip_of(parts)


def zip_of(files: Files) -> bytes:
    """Return a zip archive, the same bytes for the same files."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in files.items():
                entry = zipfile.ZipInfo(name, OLDEST)
                mode = 0o755 if content.startswith(SCRIPT) else 0o644
                entry.external_attr = mode << 16
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
        file.seek(0)
        return file.read()


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode().rstrip('=')}"
