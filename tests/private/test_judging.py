"""A private exercise is judged as any other, and no submission reads of it."""

import compileall
import json

import nbformat
import pytest

from autograder.checking.registry import load
from autograder.course import private
from autograder.grading import course_copy
from autograder.grading.engine import Engine, sandbox_of
from autograder.grading.identity import course_version
from autograder.grading.release import load_all_releases, load_release
from tests.grading.engines import SEED, SHORT, process_number
from tests.private.sample_course import HERE, LESSON, MARKERS, NAME, RIGHT, WRONG
from tests.submissions import LESSON as PUBLIC

# What a submission tries; what it reads or can import it puts into its exception.
READS = """
def distance_scores(q, k):
    from pathlib import Path

    found = []
    for path in PATHS:
        try:
            found.append(Path(path).read_text(errors="replace"))
        except OSError:
            pass
    raise ValueError(f"TRIED {len(PATHS)}, READ {len(found)}: {found}")
"""
IMPORTS = """
def distance_scores(q, k):
    import importlib
    import sys

    found = []
    sys.path[:0] = FOLDERS
    for name in NAMES:
        try:
            found.append(importlib.import_module(name).__name__)
        except ImportError:
            pass
    found += [each for each in sys.modules if "distance_scores" in each]
    raise ValueError(f"TRIED {len(NAMES)}, READ {len(found)}: {found}")
"""
REMEMBERS = """
def distance_scores(q, k):
    import gc
    from pathlib import Path

    words = ["marker-" + "of-the-" + each for each in ("bank", "reference")]
    found = [w for w in words for o in gc.get_objects() if o is not words
             and isinstance(o, (dict, list, tuple)) and w in str(o)[:100_000]]
    for path in ("cmdline", "environ", "mounts"):
        try:
            text = Path("/proc/self", path).read_text(errors="replace")
        except OSError:
            continue
        found += [path for word in ("course_lib.private", "exercises") if word in text]
    raise ValueError(f"TRIED {len(words)}, READ {len(found)}: {found}")
"""


@pytest.fixture(scope="module")
def engine(built):
    private.use(HERE.root)  # the engine finds the folder by the course alone
    options = {"budget": SHORT, "seed": SEED, "worker": process_number()}
    with Engine(built, LESSON, **options) as engine:
        yield engine


def submitted(course, answer):
    """Hand in the notebook with an answer; return its file."""
    notebook = nbformat.read(course.learner(LESSON), as_version=4)
    for cell in notebook.cells:
        if cell.id == NAME:
            cell.source = answer
    path = course.root / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("answer", "points", "named"), [(RIGHT, 14, []), (WRONG, 0, ["positive"])]
)
def test_answer_gets_points_and_diagnosis(built, engine, answer, points, named):
    result, _ = engine.grade(submitted(built, answer), "ada")
    (exercise,) = result.exercises
    assert (result.points, result.max_points) == (points, 14)
    assert [*exercise.misconceptions] == named


def hostile(course):
    """Return hostile answers by what they do."""
    compileall.compile_dir(course.private, quiet=1)
    paths = [str(path) for path in course.private.rglob("*") if path.is_file()]
    assert any(path.endswith(".pyc") for path in paths)
    inner = [f"/proc/1/root{path}" for path in paths]
    beside = ["/course/course_lib/private/exam.py", "private/references/exam.py"]
    names = ["course_lib.private", "course_lib.private.exam"]
    names += [f"autograder.exercises.{NAME}", NAME, "exam"]
    folders = [str(course.private / each) for each in ("exercises", "references")]
    return {
        "reads": f"PATHS = {paths + inner + beside}\n{READS}",
        "imports": f"NAMES = {names}\nFOLDERS = {folders}\n{IMPORTS}",
        "remembers": REMEMBERS,
    }


@pytest.mark.sandbox
@pytest.mark.parametrize("way", ["reads", "imports", "remembers"])
def test_submission_gets_nothing_of_a_private_exercise(built, engine, way):
    result, _ = engine.grade(submitted(built, hostile(built)[way]), "ada")
    text = repr(result)
    assert result.points == 0
    assert "TRIED" in text and "READ 0" in text, text
    assert not any(marker in text for marker in MARKERS)


def test_copy_for_submissions_has_neither_bank_nor_reference(built, tmp_path):
    release = load_release(built, LESSON)
    course_copy.make_copy(tmp_path, [load(NAME)], release.own_code, release.set_up)
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert texts and not any(m in text for text in texts for m in (*MARKERS, NAME))
    sandbox = sandbox_of(built, release, tmp_path)
    assert not [each for each in sandbox.settings["modules"] if "private" in each]
    assert "course_lib.private" not in json.dumps(sandbox.settings)
    assert built.private in sandbox.private


def test_verdicts_depend_on_the_private_bank_of_their_lesson(course, built):
    (course.root / "notebooks" / LESSON).mkdir(parents=True)
    course.learner(LESSON).write_bytes(built.learner(LESSON).read_bytes())
    course.learner(PUBLIC).parent.mkdir()
    course.learner(PUBLIC).write_bytes(HERE.learner(PUBLIC).read_bytes())
    lessons = LESSON, PUBLIC
    before = [course_version(course, lesson) for lesson in lessons]
    bank = course.private / "exercises" / f"{NAME}.py"
    bank.write_text(f"{bank.read_text()}\n# changed\n")
    after = [course_version(course, lesson) for lesson in lessons]
    assert (before[0] == after[0], before[1] == after[1]) == (False, True)


def test_exercise_that_the_lesson_no_longer_has_is_still_judged(course, built):
    releases = json.loads((built.private / "releases.json").read_text())
    releases[LESSON]["0" * 12] = {NAME: 14.0}
    (course.private / "releases.json").write_text(json.dumps(releases))
    notebook = nbformat.read(built.learner(LESSON), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if NAME not in cell.id]
    course.learner(LESSON).parent.mkdir(parents=True)
    nbformat.write(notebook, course.learner(LESSON))
    release = load_all_releases(course, LESSON)
    assert release.exercises == (NAME,)
    assert not any("course_lib.private" in cell.source for cell in release.cells)
