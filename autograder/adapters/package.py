"""A package: what judges one lesson inside another grading system.

``autograder package`` makes it, and ``judging`` reads it where the system runs it. It
holds a wheel of the course, what the wheel needs, and ``package.json``; in a system
that keeps it from students, also the seed of the inputs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import NamedTuple, Protocol

from autograder.adapters.editions import Files
from autograder.course import CourseError
from autograder.grading.result import OptionalExercises

SETTINGS, SEED, REQUIREMENTS = "package.json", "seed", "requirements.txt"
FORMAT, FORMAT_VERSION = "attention-course/package", 1
# What judging imports: PyTorch's profiler notices library calls in every lesson. A
# lesson's own cells import the rest. From which lesson on.
NEEDED = {
    "00": ("ipython", "matplotlib", "msgpack", "numpy", "regex", "torch"),
    "06": ("tokenizers",),
    "07": ("babel", "num2words", "sacrebleu", "safetensors"),
}
PYTORCH = "--extra-index-url https://download.pytorch.org/whl/cpu"  # without CUDA


@dataclass(frozen=True)
class Package:
    """The settings of a package.

    system : the grading system that it is for
    release : name of the lesson's release
    points : that the lesson is out of
    optional : how optional exercises count
    wheel : name of the wheel's file
    unsafe : whether a submission may run with the judge's rights where nothing better
        can be had
    dropped : exercises that count for nobody, by the course's gradebook
    worth : what the gradebook says that exercises are worth; only those count that the
        lesson no longer has, and a submission of an earlier release has
    """

    system: str
    lesson: str
    title: str
    release: str
    points: float
    exercises: tuple[str, ...]
    optional: OptionalExercises
    wheel: str
    unsafe: bool = False
    dropped: tuple[str, ...] = ()
    worth: Mapping[str, float] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The lesson's name as systems write names: 01-dot-product-attention."""
        return self.lesson.replace("_", "-")

    def as_json(self) -> bytes:
        """Return the settings as the text of their file."""
        data = {"format": FORMAT, "version": FORMAT_VERSION, **asdict(self)}
        return f"{json.dumps(data, indent=1)}\n".encode()

    @classmethod
    def read(cls, folder: Path) -> "Package":
        """Return the package in a folder; raises ``CourseError``."""
        path = folder / SETTINGS
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.pop("format") != FORMAT or data.pop("version") > FORMAT_VERSION:
                raise ValueError
            for name in ("exercises", "dropped"):
                data[name] = tuple(data[name])
            return cls(**data)
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            raise CourseError(
                f"{path} is not there, damaged, or of a newer version of the course "
                "than the one that is installed: make the package again"
            ) from None


class LaidOut(NamedTuple):
    """A package as the system would lay it out, to be run here.

    arguments : of ``run``
    result : the file that it writes
    """

    arguments: list[str]
    result: Path


class GradingSystem(Protocol):
    """A grading system: one module has all that is said of it.

    KEEPS_SEED : whether students cannot read the package
    """

    KEEPS_SEED: bool

    def files(self, package: Package, wheel: Files) -> Files:
        """Return the folder that an instructor gets.

        wheel : the files that judge: wheel, requirements, settings and seed
        """

    def lay_out(self, folder: Path, made: Path, notebooks: Sequence[Path]) -> LaidOut:
        """Put a package and a submission where the system would have them.

        made : the folder with what ``files`` has returned
        """

    def run(self, arguments: Sequence[str]) -> int:
        """Judge as the system calls it, write its result; return the exit code."""


def requirements(lesson: str) -> bytes:
    """Return what a lesson's judge needs, in the versions that are installed here."""
    names = [n for first, some in NEEDED.items() if lesson[:2] >= first for n in some]
    versions = [metadata.version(name).partition("+")[0] for name in names]
    rows = (f"{n}=={v}\n" for n, v in zip(names, versions, strict=True))
    return "".join([f"{PYTORCH}\n", *sorted(rows)]).encode()


def installing(package: Package, environment: str, here: str) -> list[str]:
    """Return the commands that install a package, once there is an environment.

    The course's modules and lessons are closed to all other users: a submission that
    runs as one of these must not read what answers exercises.

    environment : its path
    here : the folder with wheel and requirements
    """
    modules = f"{environment}/lib/python3*/site-packages"
    pip = f"{environment}/bin/python -m pip install --no-cache-dir"
    return [
        f"{pip} --requirement {here}/{REQUIREMENTS}",
        f"{pip} --no-deps {here}/{package.wheel}",
        f"chmod -R go-rwx {modules}/autograder {modules}/course_lib "
        f"{environment}/share/attention-course",
    ]
