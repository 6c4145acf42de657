"""What packages do not judge: which notebook is taken, and faults of the package."""

import json
import os

import pytest

from autograder.adapters import exercism, gradescope, judging
from autograder.adapters.judging import NotJudged, find_notebook
from autograder.adapters.package import Package
from autograder.course import CourseError
from autograder.grading.sandbox import NoSandbox
from tests.adapters.packages import NAME, check_problem, files_in, unpack, untouched
from tests.submissions import LESSON, REQUIRED_POINTS


def test_notebook_is_found_below_and_beside_leftovers(tmp_path):
    for name in (".ipynb_checkpoints", "__MACOSX", "week 1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(untouched())
    (tmp_path / "._x.ipynb").write_bytes(b"")
    assert find_notebook(tmp_path, LESSON) == (tmp_path / "week 1" / NAME, [])


def test_only_notebook_of_the_lesson_is_taken(tmp_path):
    (tmp_path / "a.ipynb").write_bytes(untouched())
    (tmp_path / "b.ipynb").write_bytes(untouched("02_self_attention"))
    path, words = find_notebook(tmp_path, LESSON)
    assert path.name == "a.ipynb" and words == ["a.ipynb was judged, not b.ipynb."]


def test_two_of_the_right_name_are_none(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(untouched())
    with pytest.raises(NotJudged, match="2 notebooks were handed in"):
        find_notebook(tmp_path, LESSON)
    with pytest.raises(
        NotJudged, match=rf"^No notebook was handed in\. Hand in {NAME}"
    ):
        find_notebook(tmp_path / "nothing", LESSON)


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("package.json", '{"format": "attention-course/package"}', "make the package"),
        ("package.json", None, "make the package again"),
        ("seed", "12", "holds no seed"),
    ],
)
def test_damaged_package_is_a_sentence(file, text, sentence, made, tmp_path):
    path = unpack(made, tmp_path / "source") / file
    path.unlink() if text is None else path.write_text(text)
    files_in(tmp_path / "submission", {NAME: untouched()})
    assert gradescope.run(["--root", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "results" / "results.json").read_text())
    check_problem("gradescope", data, sentence)
    assert "no fault of yours: tell your instructor" in data["output"]


def test_newer_package_is_refused(made):
    package = Package.read(made / "exercism" / "test-runner")
    assert package.points == REQUIRED_POINTS and package.slug == LESSON.replace(
        "_", "-"
    )
    newer = json.loads(package.as_json()) | {"version": 2}
    (made / "package.json").write_text(json.dumps(newer))
    with pytest.raises(CourseError, match="of a newer version"):
        Package.read(made)


def refusing(tried, allowed):
    class FakeEngine:
        def __init__(self, *_, isolation, **__):
            self.isolation = isolation

        def __enter__(self):
            tried.append(self.isolation)
            if self.isolation not in allowed:
                raise NoSandbox("no sandbox here (no namespaces): change this")
            return self

        def __exit__(self, *_):
            pass

    return FakeEngine


@pytest.mark.parametrize(
    ("allowed", "unsafe", "used"),
    [
        ({"namespaces", "user", "none"}, True, "namespaces"),
        ({"user", "none"}, True, "user"),
        ({"none"}, True, "none"),
        ({"none"}, False, None),
    ],
)
def test_layers_are_tried_in_order(allowed, unsafe, used, made, monkeypatch, tmp_path):
    tried = []
    monkeypatch.setattr(judging, "Engine", refusing(tried, allowed))
    monkeypatch.setattr(judging, "close", lambda *_: None)
    settings = json.loads(Package.read(made / "exercism/test-runner").as_json())
    (tmp_path / "package.json").write_text(json.dumps(settings | {"unsafe": unsafe}))
    package = Package.read(tmp_path)
    arguments = package, tmp_path, tmp_path, gradescope.BUDGET, 1
    if used is None:
        files_in(tmp_path / "handed-in", {NAME: untouched()})
        verdict = judging.judge(
            tmp_path, tmp_path / "handed-in", tmp_path, gradescope.BUDGET
        )
        assert "cannot be kept apart from the judge here" in verdict.problem
        assert verdict.is_fault and verdict.points == 0
        assert tried == ["namespaces", "user"]
        return
    with judging.engine_for(*arguments) as (_, isolation):
        assert isolation == used
    assert tried == ["namespaces", "user", "none"][: len(tried)]
    assert bool(judging.LOST[isolation]) == (used != "namespaces")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as in a container")
def test_package_and_results_are_closed(tmp_path):
    for name in ("source", "results"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    (tmp_path / "source" / "seed").write_text("1")
    judging.close(tmp_path / "source", tmp_path / "results")
    assert (tmp_path / "source").stat().st_mode & 0o077 == 0
    assert (tmp_path / "source" / "seed").stat().st_mode & 0o077 == 0
    assert (tmp_path / "results").stat().st_mode & 0o022 == 0


def test_exercise_of_another_slug_is_an_error(made, tmp_path):
    arguments = ["two-fer", f"{tmp_path}/", f"{tmp_path}/out/", "--package"]
    assert exercism.run([*arguments, str(made / "exercism" / "test-runner")]) == 0
    data = json.loads((tmp_path / "out" / "results.json").read_text())
    assert data["status"] == "error" and "not two-fer" in data["message"]
