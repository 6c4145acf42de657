"""What says that a course folder belongs to a class, so that points are shown."""

import pytest

from autograder.course import Course
from autograder.course.in_class import in_class


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Leave nothing of this machine's settings: who calls this is alone."""
    for name in ("NBGRADER_EXECUTION", "JUPYTERHUB_USER", "JUPYTER_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "own"))
    monkeypatch.setattr("autograder.course.in_class.EVERYBODY", ())


def test_course_as_it_comes_is_no_class():
    assert not in_class(Course.here().root)
    assert not in_class(None)


@pytest.mark.parametrize("name", ["NBGRADER_EXECUTION", "JUPYTERHUB_USER"])
def test_nbgrader_and_a_hub_are_for_a_class(monkeypatch, name):
    monkeypatch.setenv(name, "x")
    assert in_class(None)


def test_folder_of_submissions_is_of_a_class(tmp_path):
    (tmp_path / "submitted").mkdir()
    assert in_class(tmp_path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('c.CourseDirectory.course_id = "attention"', False),
        ('c.CourseDirectory.course_id = "attention"  # ours', False),
        ("c.CourseDirectory.course_id = 'nlp-2027'", True),
        ("c.CourseDirectory.course_id = name", True),
        ('# c.CourseDirectory.course_id = "nlp-2027"', False),
        ('c.Exchange.root = "/srv/nbgrader/exchange"', True),
        ("c.ExchangeFactory.collect = 1", False),
        ("", False),
    ],
)
def test_course_id_or_exchange_in_a_configuration(
    tmp_path, monkeypatch, line, expected
):
    course, everybody = tmp_path / "course", tmp_path / "etc"
    for folder in (course, everybody):
        folder.mkdir()
    (course / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n")
    assert in_class(course) is expected
    (everybody / "nbgrader_config.py").write_text(line)
    assert not in_class(None)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", f"/nowhere:{everybody}")
    assert in_class(None) is expected


def test_configuration_that_cannot_be_read_says_nothing(tmp_path):
    (tmp_path / "nbgrader_config.py").write_bytes(b"\xff\xfe")
    assert not in_class(tmp_path)
