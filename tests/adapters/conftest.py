"""A package for each system, and one engine that judges for all of them."""

import contextlib

import pytest

from autograder.adapters import judging
from autograder.adapters.systems import SYSTEMS
from autograder.commands.package import make_package
from tests.grading.engines import SEED, engine_of
from tests.submissions import COURSE

ENVIRONMENT = {
    "CLASSROOM": "cs-principles",
    "ASSIGNMENT": "01-dot-product-attention",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "alice",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit/a1b2c3d",
    "RELEASE_URL": "https://example.org/releases/1",
}


@pytest.fixture(scope="module")
def seed_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("seed") / "seed"
    path.write_text(f"{SEED:032x}\n", encoding="ascii")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory, seed_file):
    """Make a package for each system; return their folders."""
    folder = tmp_path_factory.mktemp("packages")
    for name, system in SYSTEMS.items():
        seed = seed_file if system.KEEPS_SEED else None
        make_package(COURSE, "01", name, folder=folder / name, seed=seed)
    return folder


@pytest.fixture(scope="module")
def graded(made):
    """Grade in one engine, each file once; return what grades a file's bytes."""
    known = {}
    with engine_of(COURSE) as engine:
        grade = engine.grade

        def remembering(path, **options):
            key = path.is_symlink(), path.read_bytes()
            if key not in known:
                known[key] = grade(path, **options)
            return known[key]

        engine.grade = remembering

        @contextlib.contextmanager
        def engine_for(package, folder, results, budget, seed):
            if SYSTEMS[package.system].KEEPS_SEED:
                assert seed == SEED
            yield engine, "namespaces"

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(judging, "engine_for", engine_for)
            for name, value in ENVIRONMENT.items():
                patch.setenv(name, value)
            patch.delenv("GITHUB_STEP_SUMMARY", raising=False)
            yield remembering
