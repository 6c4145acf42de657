"""The kept results of the experiments: written whole, read back, and up to date."""

import pytest

from course_lib.experiments import record
from course_lib.experiments.__main__ import names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    return tmp_path


def test_what_is_made_is_read_back(folder):
    made = record.run_and_save(
        "tried", lambda seed: {"score": seed / 4, "curve": [1, 2]}
    )
    assert record.read("tried") == made
    assert made.values("score") == [0.0, 0.25, 0.5]
    assert made.median("score") == 0.25
    assert made.runs[2] == {"seed": 2, "score": 0.5, "curve": [1, 2]}
    assert [path.name for path in folder.iterdir()] == ["tried.json"]


def test_a_run_that_fails_leaves_the_older_record(folder):
    before = record.run_and_save("tried", lambda seed: {"score": 1.0})

    def fails(seed):
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError):
        record.run_and_save("tried", fails)
    assert record.read("tried") == before


def test_a_missing_record_says_how_to_make_it(folder):
    with pytest.raises(FileNotFoundError, match=r"python -m course_lib\.experiments x"):
        record.read("x")


def test_every_experiment_has_its_record_of_three_seeds():
    for name in names():
        kept = record.read(name)
        assert kept.experiment == name
        assert kept.values("seed") == [0, 1, 2]
        assert kept.command == f"python -m course_lib.experiments {name}"
        assert kept.environment.keys() == record.environment().keys()
