"""A private lesson's notebooks: built as all others, and nothing private in them."""

import json
import subprocess
import sys

import nbformat
import pytest

from autograder.checking.registry import public_names
from autograder.commands import start
from autograder.course import private
from autograder.course.releases import kept_releases
from autograder.notebooks.build import differences
from autograder.notebooks.cells import SourceError
from autograder.notebooks.functions_table import MARK, with_functions
from autograder.notebooks.source import LessonSource
from tests.private.sample_course import HERE, LESSON, NAME, RIGHT, secrets

LATER = f"{NAME} is judged when you hand the notebook in"


def test_learners_notebook_has_nothing_private(built):
    text = built.learner(LESSON).read_text(encoding="utf-8")
    assert [each for each in secrets() if each in text] == []
    assert NAME in text


def test_check_in_the_learners_notebook_says_that_it_is_private(built):
    cells = nbformat.read(built.learner(LESSON), as_version=4).cells
    (check,) = (cell for cell in cells if cell.id == f"check-{NAME}")
    assert check.source == f"check({NAME}, private=True)"
    assert not any("](../" in cell.source for cell in cells), "it is handed out alone"
    (answer,) = (cell for cell in cells if cell.id == NAME)
    assert "course_version" not in answer.metadata["attention"]


def test_teachers_notebook_lies_in_the_private_folder(built):
    assert built.teacher(LESSON).is_relative_to(built.private)
    cells = nbformat.read(built.teacher(LESSON), as_version=4).cells
    (check,) = (cell for cell in cells if cell.id == f"check-{NAME}")
    assert "solved" in json.dumps(check.outputs)
    assert differences(built, LESSON) == []


def test_releases_of_the_course_do_not_change(built):
    assert (built.root / "releases.json").read_bytes() == (
        HERE.root / "releases.json"
    ).read_bytes()
    assert [*kept_releases(built)[LESSON].values()] == [{NAME: 14.0}]


def test_table_of_functions_has_the_courses_own_alone(built):
    text = with_functions(MARK, built, lambda lesson: lesson)
    assert f"{len(public_names())} functions" in text and NAME not in text


@pytest.mark.parametrize(
    "line",
    [
        "from course_lib.private.exam import distance_scores",
        "from course_lib import private",
        "import course_lib.private.exam as exam",
    ],
)
def test_cell_that_learners_could_not_run_is_refused(course, line):
    path = course.source(LESSON)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("import numpy as np", f"import numpy as np\n{line}"))
    with pytest.raises(SourceError, match="learners do not have course_lib") as caught:
        LessonSource(path)
    assert f"{path.name}:9" in str(caught.value)


def test_alternative_texts_stay_in_the_notebook(course):
    path = course.source(LESSON)
    picture = 'alt = "Dots."\nfigures.bars([1.0], alt=alt)\n'
    path.write_text(f"{path.read_text()}\n# %%\n{picture}", encoding="utf-8")
    source = LessonSource(path)
    assert source.texts == {} and source.cells[-1].text == picture.strip()


def called(folder, code):
    """Run code of a learner, who has no private folder."""
    return subprocess.run(
        [sys.executable, "-c", f"from autograder import check\n{code}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_check_says_when_a_private_exercise_is_judged(tmp_path):
    result = called(tmp_path, f"{RIGHT}\nassert check({NAME}, private=True) is None")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(LATER)


def test_check_of_a_private_exercise_needs_a_function(tmp_path):
    result = called(tmp_path, f"{NAME} = 1\ncheck({NAME}, private=True)")
    assert result.returncode == 1 and LATER not in result.stdout
    assert "check needs a function, and was given" in result.stderr


def test_check_judges_where_the_bank_is(built):
    result = called(built.root, f"{RIGHT}\ncheck({NAME}, private=True)")
    assert f"{NAME}: solved" in result.stdout, result.stderr


@pytest.mark.parametrize("lessons", ["90", "00-90", LESSON])
def test_class_edition_refuses_it_by_name(built, monkeypatch, capsys, lessons):
    monkeypatch.chdir(built.root)
    monkeypatch.setattr(
        sys, "argv", ["start", "class-edition", "x", "--lessons", lessons]
    )
    for each in HERE.lessons[:1]:
        path = built.learner(each)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(HERE.learner(each).read_bytes())
    with pytest.raises(SystemExit) as ended:
        start.run()
    assert ended.value.code == 1
    assert f"{LESSON} is private" in capsys.readouterr().err
    assert private.folder() == built.private
