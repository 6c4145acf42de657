"""The records of the experiments: written whole, read back, and up to date."""

import pytest

from course_lib.experiments import record
from course_lib.experiments.__main__ import names, seeds_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    return tmp_path


def test_saved_record_is_read_back(folder):
    made = record.run_and_save(
        "tried", lambda seed: {"score": seed / 4, "curve": [1, 2]}
    )
    assert record.read("tried") == made
    assert made.values("score") == [0.0, 0.25, 0.5]
    assert made.median("score") == 0.25
    assert made.runs[2] == {"seed": 2, "score": 0.5, "curve": [1, 2]}
    assert [path.name for path in folder.iterdir()] == ["tried.json"]


def test_failed_run_leaves_the_older_record(folder):
    before = record.run_and_save("tried", lambda seed: {"score": 1.0})

    def fails(seed):
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError):
        record.run_and_save("tried", fails)
    assert record.read("tried") == before


def test_missing_record_error_says_how_to_make_it(folder):
    with pytest.raises(FileNotFoundError, match=r"python -m course_lib\.experiments x"):
        record.read("x")


def test_every_experiment_has_a_record_of_its_seeds():
    for name in names():
        result = record.read(name)
        assert result.experiment == name
        assert result.values("seed") == [*seeds_of(name)]
        assert result.command == f"python -m course_lib.experiments {name}"
        assert result.environment.keys() == record.environment().keys()


def test_three_seeds_are_the_rule():
    others = {name: seeds_of(name) for name in names() if len(seeds_of(name)) != 3}
    # Nothing is drawn in two of them; the five models are those that lesson 16 trains,
    # and the translator that is patched is the one of `make models`.
    assert others == {
        "five_models": (0,),
        "patched_translator": (0,),
        "pronouns": (0,),
        "syntax_heads": (0,),
    }


def test_environments_are_one_line_that_names_every_version():
    for name in names():
        result = record.read(name)
        line = result.made_with()
        assert len(line) <= 88 and not set(line) & set("{}'\n")
        assert all(value in line for value in result.environment.values())


def test_committed_records_are_as_the_writer_writes_them():
    for name in names():
        text = record.path(name).read_text(encoding="utf-8")
        assert text == record.read(name).as_json()
        assert len(text.splitlines()) == 8 + len(seeds_of(name))
