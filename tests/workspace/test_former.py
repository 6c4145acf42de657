"""What a learner wrote under a lesson's former name comes into the lesson of today."""

import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import Course
from autograder.course.releases import SUCCESSORS
from autograder.workspace.answer_cell import earlier_answers
from autograder.workspace.copies import Copy, former_copies, open_workspace
from autograder.workspace.former import bring_former
from autograder.workspace.home import HOME
from autograder.workspace.progress import keep_check, read_progress
from autograder.workspace.reset import reset
from autograder.workspace.update import update
from tests.workspace.course_of_one import nbgrader, stub, write_notebook

OLD, NEW = "07_sequence_to_sequence", "08_sequence_to_sequence"
SPLIT = "09_translation"
TRAINING, TRANSLATION = SUCCESSORS[SPLIT]
EXERCISES = {
    OLD: ("gru_step", "luong_score"),
    SPLIT: ("cross_entropy", "warmup_rate", "beam_search"),
    TRAINING: ("cross_entropy", "warmup_rate"),
    TRANSLATION: ("beam_search",),
}
EXERCISES[NEW] = EXERCISES[OLD]
HEADING = "### Exercise: {} · 20 min · ●●○"


def cells_of(lesson):
    """Return a small lesson: a title, and for each exercise what a lesson has."""
    cells = [new_markdown_cell(f"# {lesson[3:]}", id=lesson[3:].replace("_", "-"))]
    for name in EXERCISES[lesson]:
        answered = {"metadata": {"nbgrader": nbgrader(name, solution=True)}}
        check = {"metadata": {"nbgrader": nbgrader(f"check_{name}")}}
        cells += [
            new_markdown_cell(HEADING.format(name), id=f"about-{name}"),
            new_code_cell(stub(name), id=name, **answered),
            new_code_cell(f"check({name})", id=f"check-{name}", **check),
            new_code_cell(f"try_{name} = 1", id=f"try-{name}"),
        ]
    return cells


def answer(name, number=1):
    return f"def {name}(x):\n    return {number} * x"


class FormerLearner:
    """A learner whose copies have the names of before; the course has today's."""

    def __init__(self, root):
        self.course = Course(root)
        (root / "nbgrader_config.py").write_text("")
        for lesson in (OLD, SPLIT):
            self.release(lesson)
        open_workspace(self.course)
        shutil.rmtree(root / "notebooks")
        for lesson in (NEW, TRAINING, TRANSLATION):
            self.release(lesson)

    def release(self, lesson, **texts):
        cells = cells_of(lesson)
        for cell in cells:
            cell.source = texts.get(cell.id, cell.source)
        write_notebook(Copy(self.course, lesson).newer, cells)

    def path(self, lesson):
        return Copy(self.course, lesson).mine

    def cells(self, lesson):
        return nbformat.read(self.path(lesson), as_version=4).cells

    def sources(self, lesson):
        return {cell.id: cell.source for cell in self.cells(lesson)}

    def write(self, lesson, *own, **answers):
        """Type into cells; ``own`` are added below the first cell with an answer."""
        cells = self.cells(lesson)
        for cell in cells:
            cell.source = answers.get(cell.id.replace("-", "_"), cell.source)
        first = [c.id for c in cells].index(next(iter(answers)))
        write_notebook(
            self.path(lesson), [*cells[: first + 1], *own, *cells[first + 1 :]]
        )

    def update(self):
        """Do what ``autograder update`` does; return its lines by lesson."""
        brought = bring_former(self.course)
        rows = [*brought, *update(self.course, done=[row.lesson for row in brought])]
        return {row.lesson: row.line for row in rows}

    def files(self):
        work = self.course.root / "work"
        paths = [p for p in work.rglob("*") if p.is_file() and p.name != HOME]
        return {path.relative_to(work).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def learner(tmp_path):
    return FormerLearner(tmp_path)


def test_former_names_lead_to_lessons_of_the_course():
    lessons = Course.here().lessons
    assert not {*SUCCESSORS} & {*lessons}
    assert {name for names in SUCCESSORS.values() for name in names} <= {*lessons}


def test_answers_come_into_the_renamed_lesson(learner):
    learner.write(OLD, new_code_cell("mine = 1", id="own"), gru_step=answer("gru_step"))
    before = learner.path(OLD).read_bytes()
    line = learner.update()[NEW]
    assert line == (
        f"was {OLD}; updated, with your answers to gru_step, 1 cell of your own; your "
        f"old file is work/{OLD}/{OLD}.before-update-1.ipynb; where it is open, close "
        "its tab"
    )
    sources = learner.sources(NEW)
    assert sources["gru_step"] == answer("gru_step")
    assert sources["luong_score"] == stub("luong_score")
    assert [*sources].index("own") == [*sources].index("gru_step") + 1
    assert not learner.path(OLD).exists()
    old_file = learner.path(OLD).with_name(f"{OLD}.before-update-1.ipynb")
    assert old_file.read_bytes() == before


def test_answers_of_a_split_lesson_go_to_their_exercises(learner):
    learner.write(
        SPLIT,
        new_code_cell("of_training = 1", id="own-1"),
        cross_entropy=answer("cross_entropy"),
        beam_search=answer("beam_search"),
        try_beam_search="try_beam_search = 9",
    )
    learner.write(
        SPLIT,
        new_markdown_cell("My note", id="own-2"),
        beam_search=answer("beam_search"),
    )
    before = learner.path(SPLIT).read_bytes()
    lines = learner.update()
    assert "your answers to cross_entropy, 1 cell of your own" in lines[TRAINING]
    assert (
        "your answers to beam_search, 1 cell of your own, 1 cell as you"
        in (lines[TRANSLATION])
    )
    first, second = learner.sources(TRAINING), learner.sources(TRANSLATION)
    assert first["cross_entropy"] == answer("cross_entropy")
    assert first["warmup_rate"] == stub("warmup_rate")
    assert second["beam_search"] == answer("beam_search")
    assert second["try-beam_search"] == "try_beam_search = 9"
    assert "own-1" in first and "own-2" not in first
    assert "own-2" in second and "own-1" not in second
    assert {*first} - {"own-1"} == {cell.id for cell in cells_of(TRAINING)}
    assert {*second} - {"own-2"} == {cell.id for cell in cells_of(TRANSLATION)}
    old_file = learner.path(SPLIT).with_name(f"{SPLIT}.before-update-1.ipynb")
    assert old_file.read_bytes() == before


def test_updating_twice_changes_nothing_more(learner):
    learner.write(SPLIT, new_code_cell("own = 1"), warmup_rate=answer("warmup_rate"))
    learner.update()
    before = learner.files()
    assert {*learner.update().values()} == {"nothing new"}
    assert learner.files() == before
    assert former_copies(learner.course) == {}


@pytest.mark.parametrize("lesson", [NEW, TRAINING, TRANSLATION])
def test_fresh_copy_of_today_takes_the_answers(learner, lesson):
    former = OLD if lesson == NEW else SPLIT
    name = EXERCISES[lesson][-1]
    learner.write(former, **{name: answer(name)})
    open_workspace(learner.course)  # `make lab`, before anybody has updated
    learner.update()
    assert learner.sources(lesson)[name] == answer(name)
    assert not list(learner.path(lesson).parent.glob("*before-update*"))


def test_older_stub_in_the_copy_of_today_is_no_answer(learner):
    learner.write(OLD, gru_step=answer("gru_step"))
    open_workspace(learner.course)
    newer = {name: stub(name, "A new contract.") for name in EXERCISES[NEW]}
    learner.release(NEW, **newer)
    assert "has changed the text of gru_step since" in learner.update()[NEW]
    sources = learner.sources(NEW)
    assert sources["gru_step"] == answer("gru_step")
    assert sources["luong_score"] == newer["luong_score"]


def test_stub_that_was_typed_in_is_no_answer(learner):
    learner.write(OLD, gru_step=answer("gru_step"))
    open_workspace(learner.course)
    newer = stub("gru_step", "A new contract.")
    learner.release(NEW, gru_step=newer)
    learner.write(NEW, gru_step=newer)
    learner.update()
    assert learner.sources(NEW)["gru_step"] == answer("gru_step")


def test_answers_in_both_copies_are_joined(learner):
    learner.write(OLD, new_code_cell("a = 1", id="a"), gru_step=answer("gru_step"))
    open_workspace(learner.course)
    own = new_code_cell("b = 1", id="b")
    learner.write(NEW, own, luong_score=answer("luong_score", 2))
    today = learner.path(NEW).read_bytes()
    learner.update()
    sources = learner.sources(NEW)
    assert sources["gru_step"] == answer("gru_step")
    assert sources["luong_score"] == answer("luong_score", 2)
    assert {"a", "b"} <= {*sources}
    old_file = learner.path(NEW).with_name(f"{NEW}.before-update-1.ipynb")
    assert old_file.read_bytes().strip() == today.strip()


def test_two_answers_to_one_exercise_are_refused(learner):
    learner.write(OLD, gru_step=answer("gru_step"))
    open_workspace(learner.course)
    learner.write(NEW, gru_step=answer("gru_step", 2))
    before = learner.files()
    line = learner.update()[OLD]
    assert line == (
        f"work/{OLD}/{OLD}.ipynb and work/{NEW}/{NEW}.ipynb both have an answer to "
        "gru_step: rename the first if you want those in the second; if not, "
        "`autograder reset gru_step` puts the second's aside; then call again"
    )
    after = learner.files()
    mine = [name for name in before if SPLIT not in name]
    assert {name: after[name] for name in mine} == {name: before[name] for name in mine}


def test_reset_answer_gives_way_to_the_former_one(learner):
    learner.write(OLD, gru_step=answer("gru_step"))
    open_workspace(learner.course)
    learner.write(NEW, gru_step=answer("gru_step", 2))
    reset(learner.course, "gru_step")
    learner.update()
    (cell,) = [cell for cell in learner.cells(NEW) if cell.id == "gru_step"]
    assert cell.source == answer("gru_step")
    earlier = [row["source"] for row in earlier_answers(cell)]
    assert earlier == [answer("gru_step", 2)]


def test_same_answer_in_both_is_no_conflict(learner):
    learner.write(OLD, gru_step=answer("gru_step"))
    open_workspace(learner.course)
    learner.write(NEW, gru_step=answer("gru_step"))
    assert learner.update()[NEW].startswith(f"was {OLD}; updated")


def test_earlier_answers_are_kept(learner):
    open_workspace(learner.course)
    for lesson, number in ((OLD, 1), (NEW, 2)):
        cells = learner.cells(lesson)
        for cell in cells:
            if cell.id == "gru_step":
                row = {"time": f"2026-11-0{number}", "source": answer("x", number)}
                cell.metadata["attention"] = {"earlier": [row]}
        write_notebook(learner.path(lesson), cells)
    learner.update()
    (cell,) = [cell for cell in learner.cells(NEW) if cell.id == "gru_step"]
    sources = [row["source"] for row in earlier_answers(cell)]
    assert sources == [answer("x", 1), answer("x", 2)]


def test_progress_belongs_to_the_lesson_of_today(learner):
    work = learner.course.root / "work"
    about = {"holding": 3, "claims": 3, "points": 5.0, "max_points": 8.0}
    for exercise in ("cross_entropy", "beam_search"):
        learner.write(SPLIT, **{exercise: answer(exercise)})
        keep_check(work, SPLIT, exercise, **about)
    before = read_progress(work)
    learner.update()
    after = read_progress(work)
    assert after["cross_entropy"].lesson == TRAINING
    assert after["beam_search"].lesson == TRANSLATION
    for exercise, was in before.items():
        now = after[exercise]
        assert (now.points, now.solved, now.checked) == (
            was.points,
            was.solved,
            was.checked,
        )


def test_answers_come_without_the_original(learner):
    learner.write(SPLIT, cross_entropy=answer("cross_entropy"))
    Copy(learner.course, SPLIT).base.unlink()
    learner.update()
    assert learner.sources(TRAINING)["cross_entropy"] == answer("cross_entropy")
    assert learner.sources(TRAINING)["warmup_rate"] == stub("warmup_rate")


def test_interrupted_update_is_finished_by_the_next(learner):
    learner.write(OLD, new_code_cell("own = 1", id="own"), gru_step=answer("gru_step"))
    learner.update()
    old_file = learner.path(OLD).with_name(f"{OLD}.before-update-1.ipynb")
    old_file.rename(learner.path(OLD))  # as if the last step had not happened
    before = learner.path(NEW).read_bytes()
    learner.update()
    assert learner.path(NEW).read_bytes() == before
    assert not learner.path(OLD).exists()
    assert [*learner.sources(NEW)].count("own") == 1


def test_broken_old_copy_is_left_alone_and_stops_no_other(learner):
    learner.path(OLD).write_text("{")
    learner.write(SPLIT, warmup_rate=answer("warmup_rate"))
    lines = learner.update()
    assert f"work/{OLD}/{OLD}.ipynb cannot be read and is left alone" in lines[OLD]
    assert learner.path(OLD).read_text() == "{"
    assert learner.sources(TRAINING)["warmup_rate"] == answer("warmup_rate")


def test_old_copy_waits_for_all_lessons_of_today(learner):
    learner.write(SPLIT, warmup_rate=answer("warmup_rate"))
    shutil.rmtree(Copy(learner.course, TRANSLATION).newer.parent)
    before = learner.path(SPLIT).read_bytes()
    learner.update()
    assert learner.path(SPLIT).read_bytes() == before


def test_other_files_of_the_old_folder_are_named(learner):
    learner.path(OLD).with_name("helpers.py").write_text("x = 1")
    line = learner.update()[NEW]
    assert line.endswith("also there, in case your notebook needs it: helpers.py")
    assert learner.path(OLD).with_name("helpers.py").exists()


def test_command_names_each_lesson_once(learner, monkeypatch):
    monkeypatch.chdir(learner.course.root)
    learner.write(OLD, gru_step=answer("gru_step"))
    done = CliRunner().invoke(app, ["update"])
    assert done.exit_code == 0
    lines = [line for line in done.output.splitlines() if line[:2].isdecimal()]
    assert [line.partition(":")[0] for line in lines] == [NEW, TRAINING, TRANSLATION]


def test_command_fails_where_two_answers_meet(learner, monkeypatch):
    monkeypatch.chdir(learner.course.root)
    learner.write(OLD, gru_step=answer("gru_step"))
    open_workspace(learner.course)
    learner.write(NEW, gru_step=answer("gru_step", 2))
    done = CliRunner().invoke(app, ["update"])
    assert done.exit_code == 1
    assert "both have an answer to gru_step" in " ".join(done.output.split())
    assert json.loads(learner.path(OLD).read_text())
