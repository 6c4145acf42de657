"""``autograder package``: what another grading system takes, for one lesson."""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat

from autograder.adapters.editions import (
    Files,
    labelled_version,
    new_folder,
    package_files,
    wheel_name,
    wheel_of,
    write_whole,
)
from autograder.adapters.package import (
    REQUIREMENTS,
    SEED,
    SETTINGS,
    GradingSystem,
    Package,
    requirements,
)
from autograder.adapters.systems import SYSTEMS
from autograder.course import Course, CourseError, private
from autograder.course.releases import release_name
from autograder.gradebook.database import Gradebook
from autograder.gradebook.settings import optional_exercises
from autograder.grading.identity import SEED_BITS, fresh_seed, read_seed
from autograder.grading.release import load_release
from autograder.workspace import installed

# What judging does not call.
LEFT_OUT = re.compile(
    r"autograder/(?:book|commands|dashboard|demo|notebooks|similarity)/"
    r"|autograder/gradebook/(?!__init__\.py|safe_html\.py|settings\.py)"
    r"|autograder/workspace/(?!__init__\.py|installed\.py)"
    r"|autograder/(?:grading/dask|adapters/pages)/"
)
CONFIG = b'"""The lesson of a package for another grading system."""\n'


def make_package(
    course: Course,
    lesson: str,
    system: str,
    *,
    folder: Path | None = None,
    seed: Path | None = None,
    unsafe: bool = False,
) -> Path:
    """Make a package, whole or not at all; return its folder.

    folder : a new one; ``build/packages/LESSON-SYSTEM`` if not given
    seed : the file with the seed of the inputs; else one is made where the system
        keeps it from students, and elsewhere inputs are drawn for each submission
    unsafe : whether submissions may run with the judge's rights

    Raises ``CourseError``.
    """
    if system not in SYSTEMS:
        raise CourseError(f"there is no package for {system!r}; there are: {_known()}")
    lesson = course.find_lesson(lesson, built=True)
    folder = folder or course.root / "build" / "packages" / f"{lesson}-{system}"
    folder = new_folder(folder)
    if course.is_private(lesson) and not SYSTEMS[system].KEEPS_SEED:
        raise CourseError(
            f"{lesson} is private, and whoever hands in to {system} can read what "
            f"judges there: package it for {' or '.join(_closed())}"
        )
    if course.is_private(lesson) and unsafe:
        raise CourseError(
            f"{lesson} is private, and a submission with the judge's rights could read "
            "what judges it: package it without --unsafe"
        )
    package = package_of(course, lesson, system, unsafe=unsafe)
    files = _wheel_files(course, package)
    if seed is not None or SYSTEMS[system].KEEPS_SEED:
        value = fresh_seed() if seed is None else read_seed(seed)
        files[SEED] = f"{value:0{SEED_BITS // 4}x}\n".encode()
    write_whole(folder, SYSTEMS[system].files(package, files))
    return folder


def try_package(folder: Path, system: str, notebooks: Sequence[Path]) -> str:
    """Judge notebooks in a system's layout of folders; return the result's text."""
    adapter: GradingSystem = SYSTEMS[system]
    with tempfile.TemporaryDirectory(prefix="package-") as name:
        Path(name).chmod(0o755)
        trial = adapter.lay_out(Path(name), folder, notebooks)
        adapter.run(trial.arguments)
        return trial.result.read_text(encoding="utf-8")


def package_of(course: Course, lesson: str, system: str, *, unsafe: bool) -> Package:
    """Return the settings of a package."""
    release = load_release(course, lesson)
    optional = optional_exercises(course)
    gradebook = Gradebook(course)
    dropped = gradebook.dropped(lesson)
    counted = [
        name
        for name in release.exercises
        if name not in dropped
        and (optional == "required" or name not in release.points.optional)
    ]
    if not release.exercises:
        raise CourseError(f"{lesson} has no exercise: there is nothing to judge")
    if not counted:
        raise CourseError(
            f"no exercise of {lesson} counts: there is nothing to judge (`autograder "
            "drop NAME --undo` lets one count again)"
        )
    return Package(
        system,
        lesson,
        _title(course, lesson),
        release_name(release.points),
        sum(release.points[name] for name in counted),
        release.exercises,
        optional,
        wheel_name(labelled_version("package")),
        unsafe,
        tuple(sorted(dropped)),
        gradebook.worth(lesson),
    )


def _wheel_files(course: Course, package: Package) -> Files:
    """Return the files that judge: the wheel, what it needs, and the settings."""
    releases = course.root / installed.RELEASES
    if not releases.is_file():
        releases = installed.installed_lessons() / installed.RELEASES
    notebook = course.learner(package.lesson)
    shared = {
        installed.SETTINGS: CONFIG,
        installed.RELEASES: releases.read_bytes(),
        f"{installed.NOTEBOOKS}/{package.lesson}/{notebook.name}": (
            notebook.read_bytes()
        ),
    }
    if course.is_private(package.lesson):
        shared |= _private_files(course)
    version = labelled_version("package")
    return {
        package.wheel: wheel_of(version, dict(package_files(LEFT_OUT)), shared),
        REQUIREMENTS: requirements(package.lesson),
        SETTINGS: package.as_json(),
    }


def _private_files(course: Course) -> Files:
    """Return what judges private lessons: banks, references, releases."""
    parts = (private.EXERCISES, private.REFERENCES)
    paths = [path for part in parts for path in course.private.glob(f"{part}/**/*.py")]
    paths.append(course.private / installed.RELEASES)
    return {course.relative(path): path.read_bytes() for path in sorted(paths)}


def _title(course: Course, lesson: str) -> str:
    """Return a lesson's title, the first heading of its notebook."""
    notebook = nbformat.read(course.learner(lesson), as_version=4)
    heading = re.search(r"(?m)^# (.+)$", notebook.cells[0].source)
    return heading[1].strip() if heading else lesson


def _closed() -> list[str]:
    """Return the systems whose students cannot read a package."""
    return [name for name, system in SYSTEMS.items() if system.KEEPS_SEED]


def _known() -> str:
    return ", ".join(SYSTEMS)
