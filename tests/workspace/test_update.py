"""The learner's copies are brought up to date, and keep what is the learner's."""

import json
import os
from copy import deepcopy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.workspace import copies as workspace
from autograder.workspace.copies import Copy, open_workspace
from autograder.workspace.update import merge, update
from tests.workspace.course_of_one import (
    ANSWER,
    LESSON,
    OTHER,
    FullDisk,
    lesson_cells,
    make_cell,
    opened_course,
    stub,
    write_notebook,
)


@pytest.fixture
def learner(tmp_path):
    return opened_course(tmp_path)


def test_update_without_a_newer_lesson_writes_nothing(learner):
    learner.write(softmax=ANSWER, try_it="temperature = 9")
    before = learner.files()
    assert learner.update().line == "nothing new"
    assert learner.files() == before


def test_update_brings_the_newer_text_and_keeps_the_answer(learner):
    learner.write(softmax=ANSWER)
    old = learner.path.read_bytes()
    learner.release(title="# A better title", scores=stub("scores", "Say more."))
    done = learner.update()
    expected = lesson_cells(
        title="# A better title", softmax=ANSWER, scores=stub("scores", "Say more.")
    )
    assert learner.texts == [cell.source for cell in expected]
    assert not done.failed
    assert done.line == (
        "updated, with your answers to softmax; your old file is "
        f"work/{LESSON}/{LESSON}.before-update-1.ipynb; where it is open, choose "
        "File → Reload Notebook from Disk"
    )
    old_file = learner.path.with_name(f"{LESSON}.before-update-1.ipynb")
    assert old_file.read_bytes() == old


def test_updated_notebook_shows_no_output_of_the_older_lesson(learner):
    learner.write(softmax=ANSWER)
    learner.release(title="# Newer")
    learner.update()
    assert [c.outputs for c in learner.cells if c.cell_type == "code"] == [[]] * 5


def test_updating_twice_changes_nothing_more(learner):
    learner.write(softmax=ANSWER)
    learner.insert(new_code_cell("mine = 1", id="abc"), after="softmax")
    learner.release(title="# Newer", between=None)
    learner.update()
    before = learner.files()
    assert learner.update().line == "nothing new"
    assert learner.files() == before


def test_old_files_are_numbered_and_all_kept(learner):
    for number in (1, 2, 3):
        learner.release(title=f"# Version {number}")
        learner.write(softmax=f"{ANSWER}  # {number}")
        learner.update()
        old_file = learner.path.with_name(f"{LESSON}.before-update-{number}.ipynb")
        assert f"# {number}" in old_file.read_text()
    assert learner.texts[2] == f"{ANSWER}  # 3"


def test_changed_stub_is_reported_and_keeps_the_answer(learner):
    learner.write(softmax=ANSWER)
    learner.release(softmax=stub("softmax", "A new contract."))
    line = learner.update().line
    assert learner.texts[2] == ANSWER
    assert "has changed the text of softmax since you answered" in line
    assert f"notebooks/{LESSON}/{LESSON}.ipynb" in line
    assert line.startswith("your notebook stays as it is")
    assert learner.update().line == "nothing new"


def test_unchanged_stub_is_no_answer(learner):
    learner.write(softmax=stub("softmax").replace("\n", "  \r\n") + "\n\n")
    learner.release(softmax=stub("softmax", "A new contract."))
    assert "answers" not in learner.update().line
    assert learner.texts[2] == stub("softmax", "A new contract.")


@pytest.mark.parametrize("after", ["", "softmax", "between", "end"])
def test_own_cells_stay_after_the_cell_they_followed(learner, after):
    learner.insert(new_code_cell("second = 2", id="own-2"), after=after)
    learner.insert(new_markdown_cell("My first note", id="own-1"), after=after)
    learner.release(title="# Newer", try_it="temperature = 3.0")
    assert "2 cells of your own" in learner.update().line
    ids = [cell.id for cell in learner.cells]
    start = ids.index(after) + 1 if after else 0
    assert ids[start : start + 2] == ["own-1", "own-2"]
    assert len(ids) == 10


def test_own_cells_keep_their_outputs(learner):
    learner.insert(new_code_cell("mine = 1", id="own"), after="softmax")
    learner.write()
    learner.release(title="# Newer")
    learner.update()
    (own,) = [cell for cell in learner.cells if cell.id == "own"]
    assert own.outputs[0].text == "old\n"


def test_own_cells_stay_when_the_cell_before_them_is_gone(learner):
    learner.insert(new_code_cell("mine = 1", id="own"), after="between")
    learner.release(between=None)
    learner.update()
    ids = [cell.id for cell in learner.cells]
    assert ids[3:6] == ["check-softmax", "own", "scores"]
    assert "between" not in ids


def test_changed_demonstration_stays_unless_changed_upstream(learner):
    learner.write(try_it="temperature = 9", between="My words.")
    learner.release(between="Better words.", end="A better end.")
    line = learner.update().line
    assert learner.texts[1] == "temperature = 9"
    assert learner.texts[4] == "Better words."
    assert "1 cell as you changed it" in line
    assert "1 cell of the lesson that had another text" in line


CLAIM = "# So it is.\nassert temperature == 1"


def older_copy(learner):
    """Release a lesson with assertions, below its code and in a cell of their own."""
    newer = Copy(learner.course, LESSON).newer
    cells = lesson_cells(try_it=f"temperature = 1.0\n{CLAIM}")
    cells.insert(2, new_code_cell(CLAIM, id="try-it-claims"))
    write_notebook(newer, cells)
    learner.update()
    assert learner.texts[1].endswith(CLAIM) and learner.texts[2] == CLAIM


def test_update_drops_the_assertions_of_an_older_copy(learner):
    older_copy(learner)
    learner.write(softmax=ANSWER)
    learner.release()
    learner.update()
    assert learner.texts == [cell.source for cell in lesson_cells(softmax=ANSWER)]


def test_changed_demonstration_stays_when_its_assertions_go(learner):
    older_copy(learner)
    learner.write(try_it=f"temperature = 9.0\n{CLAIM}")
    learner.release()
    assert "1 cell as you changed it" in learner.update().line
    assert learner.texts[1] == f"temperature = 9.0\n{CLAIM}"
    assert len(learner.cells) == len(lesson_cells())


def test_assertions_go_without_the_original(learner):
    older_copy(learner)
    Copy(learner.course, LESSON).base.unlink()
    learner.release()
    assert "that had another text" not in learner.update().line
    assert learner.texts == [cell.source for cell in lesson_cells()]


def prediction(text, **prediction):
    """Return a notebook of one prediction, with what its metadata say."""
    cell = new_markdown_cell(text, id="guess")
    cell.metadata["attention"] = {"prediction": prediction}
    return new_notebook(cells=[cell])


@pytest.mark.parametrize("choice", [0, 1, "1", None])
def test_choice_is_kept_while_the_text_is_the_same(choice):
    mine = prediction("which?", right=0, choice=choice)
    (cell,) = merge(prediction("which?", right=1), mine).notebook.cells
    expected = {"choice": choice} if isinstance(choice, int) else {}
    assert cell.metadata["attention"]["prediction"] == {"right": 1, **expected}


def test_choice_of_another_question_is_not_kept():
    mine, base = prediction("which?", right=0, choice=1), prediction("which?", right=0)
    merged = merge(prediction("which one?", right=0), mine, base)
    (cell,) = merged.notebook.cells
    assert cell.source == "which one?"
    assert cell.metadata["attention"]["prediction"] == {"right": 0}


def test_cells_are_known_by_their_text_where_ids_count_anew():
    # The section lost its first cell, and what was its second is its first now.
    first, guess = (
        new_markdown_cell("First.", id="s-1"),
        prediction("which?", right=0).cells[0],
    )
    guess.id, code = "s-2", new_code_cell("x = 1", id="s-3")
    base = new_notebook(cells=[first, guess, code])
    newer, mine = deepcopy(base), deepcopy(base)
    del newer.cells[0]
    newer.cells[0].id, newer.cells[1].id = "s-1", "s-2"
    newer.cells.append(new_code_cell("y = 2", id="s-3"))
    mine.cells[1].metadata["attention"]["prediction"]["choice"] = 1
    mine.cells[2].source = "x = 10"
    merged = merge(newer, mine, base)
    guess, *code = merged.notebook.cells
    assert guess.metadata["attention"]["prediction"] == {"right": 0, "choice": 1}
    assert [cell.source for cell in code] == ["x = 10", "y = 2"]
    assert (merged.changed, merged.replaced, merged.own) == (1, 0, 0)


def test_changed_check_is_replaced_by_the_courses(learner):
    learner.write(check_softmax="pass")
    learner.release(title="# Newer")
    assert "1 cell of the lesson that had another text" in learner.update().line
    assert learner.texts[3] == "check(softmax)"


def test_deleted_cell_of_the_lesson_comes_back(learner):
    cells = [cell for cell in learner.cells if cell.id != "check-softmax"]
    write_notebook(learner.path, cells)
    learner.release(title="# Newer")
    learner.update()
    assert learner.texts[3] == "check(softmax)"


def test_answer_to_a_dropped_exercise_is_kept_as_an_own_cell(learner):
    learner.write(softmax=ANSWER)
    learner.release(softmax=None, check_softmax=None)
    assert "1 cell of your own" in learner.update().line
    (own,) = [cell for cell in learner.cells if cell.source == ANSWER]
    assert "nbgrader" not in own.metadata


def test_copied_answer_cell_is_kept_without_the_exercises_name(learner):
    learner.write(softmax=ANSWER)
    copied = make_cell("softmax", "def softmax(x): return 'an attempt'")
    copied.id = "copy"
    learner.insert(copied, after="try-it")
    learner.release(title="# Newer")
    learner.update()
    assert learner.texts[2] == copied.source
    named = [cell for cell in learner.cells if cell.metadata.get("nbgrader")]
    assert [cell.source for cell in named][:2] == [ANSWER, "check(softmax)"]
    assert len(named) == 4


def test_cells_without_ids_are_matched_by_their_text(learner):
    learner.write(softmax=ANSWER)
    learner.insert(new_code_cell("mine = 1"), after="between")
    notebook = json.loads(learner.path.read_text())
    for cell in notebook["cells"]:
        del cell["id"]
    notebook["nbformat_minor"] = 4
    learner.path.write_text(json.dumps(notebook))
    learner.release(end="A better end.")
    learner.update()
    expected = lesson_cells(softmax=ANSWER, end="A better end.")
    texts = [cell.source for cell in expected]
    assert learner.texts == [*texts[:5], "mine = 1", *texts[5:]]
    nbformat.validate(nbformat.read(learner.path, as_version=4))


@pytest.mark.parametrize("harm", ["delete", "break"])
def test_answer_is_kept_without_the_original(learner, harm):
    learner.write(softmax=ANSWER)
    learner.insert(new_code_cell("mine = 1", id="own"), after="softmax")
    base = Copy(learner.course, LESSON).base
    base.unlink() if harm == "delete" else base.write_text("{")
    learner.release(title="# Newer")
    learner.update()
    assert learner.texts[2:4] == [ANSWER, "mine = 1"]
    assert learner.texts[0] == "# Newer"
    assert base.read_bytes() == Copy(learner.course, LESSON).newer.read_bytes()


BROKEN = {
    "not JSON": b'{"cells": [',
    "empty": b"",
    "a list": b"[1, 2]",
    "no notebook": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "a cell without source": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, '
    b'"cells": [{"cell_type": "code"}]}',
    "a number for a source": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, '
    b'"cells": [{"cell_type": "raw", "id": "a", "metadata": {}, "source": 5}]}',
    "not text": b"\xff\xfe\x00\x01",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_broken_notebook_is_left_alone_and_stops_no_other(learner, broken):
    learner.release(OTHER)
    open_workspace(learner.course)
    learner.path.write_bytes(broken)
    learner.release(title="# Newer")
    learner.release(OTHER, title="# Newer")
    first, second = update(learner.course)
    assert first.failed
    assert (
        f"work/{LESSON}/{LESSON}.ipynb cannot be read and is left alone" in first.line
    )
    assert len(first.line.splitlines()) == 1
    assert learner.path.read_bytes() == broken
    assert second.line.startswith("updated")


def test_lesson_that_is_new_is_copied(learner):
    learner.release(OTHER)
    assert [row.line for row in update(learner.course)] == [
        "nothing new",
        f"copied to work/{OTHER}/{OTHER}.ipynb",
    ]


def test_interrupted_update_is_finished_by_the_next(learner, monkeypatch):
    learner.write(softmax=ANSWER)
    learner.insert(new_code_cell("mine = 1", id="own"), after="softmax")
    learner.release(title="# Newer", between=None, try_it=None)
    base = Copy(learner.course, LESSON).base
    before = base.read_bytes()
    learner.update()
    after = learner.path.read_bytes()
    base.write_bytes(before)  # as if the last step had not happened
    assert learner.update().line == "nothing new"
    assert learner.path.read_bytes() == after
    assert base.read_bytes() != before


def test_full_disk_during_an_update_leaves_the_notebook(learner, monkeypatch):
    learner.write(softmax=ANSWER)
    learner.release(title="# Newer")
    before = learner.files()
    monkeypatch.setattr(workspace, "os", FullDisk())
    done = learner.update()
    assert done.failed
    assert "No space left on device" in done.line
    assert learner.files() == before


@pytest.mark.parametrize(
    "odd",
    [
        {"nbformat_minor": "5"},
        {"nbformat": 1},
        {"nbformat": "\x1b]0;title\x07"},
        {"metadata": []},
    ],
    ids=str,
)
def test_update_names_a_notebook_of_an_odd_form(learner, monkeypatch, odd):
    monkeypatch.chdir(learner.course.root)
    learner.release(title="# Newer")
    learner.path.write_text(json.dumps(json.loads(learner.path.read_text()) | odd))
    before = learner.files()
    done = CliRunner().invoke(app, ["update"])
    assert done.exit_code == 1
    assert "cannot be read and is left alone" in done.output
    assert "\x1b" not in done.output
    assert learner.files() == before


@pytest.mark.parametrize("marks", [[], {"grade_id": ["softmax"]}, "softmax"])
def test_update_takes_odd_marks_for_none(learner, marks):
    notebook = json.loads(learner.path.read_text())
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"] = marks
    learner.path.write_text(json.dumps(notebook))
    learner.release(title="# Newer")
    assert learner.update().line.startswith("updated")


def test_update_does_not_wait_at_a_pipe(learner):
    learner.release(title="# Newer")
    learner.path.unlink()
    os.mkfifo(learner.path)
    assert "it is no file" in learner.update().line


def test_update_command_prints_a_line_per_lesson(learner, monkeypatch):
    monkeypatch.chdir(learner.path.parent)
    learner.release(title="# Newer")
    done = CliRunner().invoke(app, ["update"])
    assert done.exit_code == 0
    assert done.output.startswith(f"{LESSON}: updated")


def test_update_command_fails_after_all_lessons(learner, monkeypatch):
    monkeypatch.chdir(learner.course.root)
    learner.release(OTHER)
    learner.path.write_text("{")
    learner.release(title="# Newer")
    done = CliRunner().invoke(app, ["update"])
    assert done.exit_code == 1
    assert f"{OTHER}: copied" in done.output
    assert f"{LESSON}: work/{LESSON}/{LESSON}.ipynb cannot be read" in done.output
