"""Rebuilding: whatever was done to a notebook, the lesson stands and the answers count.

Most tests change a right submission of lesson 01 and look at what became of it.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course import Course, CourseError
from autograder.grading.reading import SubmittedCell, read_submission
from autograder.grading.rebuild import Rebuilt, match_cells, moved, rebuild
from autograder.grading.release import Cell, load_release
from tests.submissions import COURSE, EXERCISES, LESSON, Submission

RELEASE = load_release(COURSE, LESSON)
IMPORTS, DEMO = "dot-product-attention-2", "looking-something-up-7"
STUB = next(cell.source for cell in RELEASE.cells if cell.id == "softmax")


def rebuilt(submission: Submission) -> Rebuilt:
    """Rebuild a submission; the lesson must be whole and in order."""
    written = tuple(
        SubmittedCell(
            cell.cell_type,
            cell.source,
            cell.get("id", ""),
            cell.metadata.get("nbgrader", {}).get("grade_id", ""),
        )
        for cell in submission.notebook.cells
    )
    found = rebuild(RELEASE, written)
    given = [(c.role, c.id, c.exercise) for c in found.cells if c.role != "own"]
    assert given == [(c.role, c.id, c.exercise) for c in RELEASE.cells]
    assert len({cell.id for cell in found.cells}) == len(found.cells)
    for cell, placed in zip(
        RELEASE.cells, [c for c in found.cells if c.role != "own"], strict=True
    ):
        assert placed.source == cell.source or cell.role == "solution"
    return found


def answer(found: Rebuilt, name: str = "softmax") -> str:
    """Return what stands as the answer to an exercise."""
    return found.cells[place(found, name)].source


def place(found: Rebuilt, name: str) -> int:
    """Return where a cell stands, by its id or a piece of its text."""
    ids = [cell.id for cell in found.cells]
    if name in ids:
        return ids.index(name)
    (at,) = [at for at, cell in enumerate(found.cells) if name in cell.source]
    return at


def own(found: Rebuilt) -> list[Cell]:
    """Return the learner's own cells."""
    return [cell for cell in found.cells if cell.role == "own"]


def copied(submission: Submission, name: str, text: str, below: str) -> None:
    """Copy a cell as JupyterLab does: another id, the same metadata."""
    copy = submission.own(text, below=below)
    copy.metadata = submission.cell(name).metadata


def test_an_unchanged_lesson_needs_no_repair_and_keeps_the_answers() -> None:
    found = rebuilt(Submission())
    assert found.repairs == () and own(found) == []
    for name in EXERCISES:
        assert answer(found, name) == Submission().cell(name).source
    kinds = {(cell.role, cell.is_code) for cell in found.cells}
    assert kinds == {
        ("setup", True),
        ("solution", True),
        ("check", True),
        ("demo", True),
        ("prose", False),
    }


def test_blanks_and_line_ends_are_no_change(tmp_path: Path) -> None:
    submission = Submission()
    for cell in submission.notebook.cells:
        cell.source = "\n" + cell.source.replace("\n", "  \r\n") + "\r\n\r\n  "
    path = submission.write(tmp_path, "amara")
    found = rebuild(RELEASE, read_submission(path))
    assert found.repairs == () and own(found) == []


def test_a_stub_with_blanks_is_the_stub() -> None:
    submission = Submission()
    submission.answer("softmax", f"\n{STUB}  \n\n")
    assert answer(rebuilt(submission)) == STUB


def test_blank_cells_vanish() -> None:
    submission = Submission()
    submission.own(" \n", above="softmax")
    submission.note("", above="softmax")
    assert own(rebuilt(submission)) == []


def test_own_cells_stay_where_they_stand() -> None:
    submission = Submission()
    submission.own("top = 1", above="dot-product-attention-1")
    submission.own("above = 1", above="softmax")
    submission.own("between = 1", below="softmax")
    submission.note("a *note*", below="check-softmax")
    submission.own("bottom = 1")
    found = rebuilt(submission)
    assert found.repairs == ()
    assert place(found, "top = 1") == 0
    assert place(found, "above = 1") + 1 == place(found, "softmax")
    assert place(found, "between = 1") - 1 == place(found, "softmax")
    assert place(found, "a *note*") - 1 == place(found, "check-softmax")
    assert place(found, "bottom = 1") == len(found.cells) - 1
    assert [cell.is_code for cell in own(found)] == [True, True, True, False, True]


def test_deleted_cells_come_back_and_the_answer_with_them_as_a_stub() -> None:
    submission = Submission()
    for name in (IMPORTS, "softmax", "check-softmax", "attention-1"):
        del submission.notebook.cells[submission.index(name)]
    found = rebuilt(submission)
    assert answer(found) == STUB
    assert found.repairs == (
        "Cells of the course that were missing are back: "
        f"{IMPORTS}, softmax, check-softmax, attention-1.",
    )


def test_long_lists_in_a_repair_are_cut() -> None:
    (repair,) = rebuild(RELEASE, [SubmittedCell("code", "x = 1")]).repairs
    assert repair.endswith(f" and {len(RELEASE.cells) - 6} more.")
    assert repair.count(",") == 5


@pytest.mark.parametrize("name", [DEMO, IMPORTS])
def test_a_changed_cell_of_the_course_stands_beside_the_courses_own(name: str) -> None:
    submission = Submission()
    submission.cell(name).source += "\nmine = 1"
    found = rebuilt(submission)
    (mine,) = own(found)
    assert mine.source.endswith("mine = 1") and mine.is_code
    assert place(found, mine.id) == place(found, name) + 1
    (repair,) = found.repairs
    assert repair.startswith("Changed cells") and name in repair


def test_notes_in_the_courses_text_are_kept_and_are_no_repair() -> None:
    submission = Submission()
    submission.cell("attention-1").source += "\n\nMy guess: 7."
    found = rebuilt(submission)
    assert found.repairs == () and not own(found)[0].is_code


LOST = ["ids", "grade_ids", "both", "softmax repeated", f"{DEMO} repeated", "renamed"]


@pytest.mark.parametrize("lost", LOST)
def test_answers_are_found_whatever_happens_to_the_marks(lost: str) -> None:
    submission = Submission()
    for number, cell in enumerate(submission.notebook.cells):
        if lost in ("ids", "both"):
            del cell["id"]
        if lost in ("grade_ids", "both"):
            cell.metadata = {}
        if "repeated" in lost:
            cell.id = lost.split()[0]
        if lost == "renamed" and "nbgrader" in cell.metadata:
            cell.id = f"renamed-{number}"
            cell.metadata.nbgrader.grade_id = f"other-{number}"
    found = rebuilt(submission)
    assert own(found) == []
    for name in EXERCISES:
        assert answer(found, name) == Submission().cell(name).source
    marks = [repair for repair in found.repairs if "grade_id" in repair]
    assert bool(marks) == (lost in ("grade_ids", "both", "renamed"))


def test_a_grade_id_alone_is_enough() -> None:
    submission = Submission()
    submission.answer("softmax", "from my_answers import *")
    submission.cell("softmax").id = "another"
    found = rebuilt(submission)
    assert answer(found) == "from my_answers import *" and own(found) == []


def test_a_copied_demonstration_is_an_own_cell_and_the_original_is_not_moved() -> None:
    submission = Submission()
    submission.own(submission.cell(DEMO).source, above="dot-product-attention-1")
    found = rebuilt(submission)
    assert found.repairs == () and found.cells[0].role == "own"


def test_exchanged_grade_ids_do_not_exchange_the_answers() -> None:
    submission = Submission()
    softmax, attention = submission.cell("softmax"), submission.cell("attention")
    softmax.metadata, attention.metadata = attention.metadata, softmax.metadata
    found = rebuilt(submission)
    assert "def softmax" in answer(found)
    assert "def attention" in answer(found, "attention")
    assert "softmax, attention" in found.repairs[0]


def test_a_cell_with_the_grade_id_of_another_exercise_keeps_its_own_answer() -> None:
    submission = Submission()
    submission.cell("softmax").metadata = submission.cell("attention").metadata
    found = rebuilt(submission)
    assert "def softmax" in answer(found)
    assert "def attention" in answer(found, "attention")


def test_without_marks_the_last_try_above_the_check_is_the_answer() -> None:
    submission = Submission()
    first = "def softmax(x):\n    return x  # a first try"
    late = "def softmax(x):\n    return x  # an experiment at the end"
    submission.own(first, above="softmax")
    submission.own(late)
    for cell in submission.notebook.cells:
        cell.metadata = {}
        del cell["id"]
    found = rebuilt(submission)
    assert answer(found) == Submission().cell("softmax").source
    assert [cell.source for cell in own(found)] == [first, late]
    assert place(found, "a first try") < place(found, "softmax")


def test_marks_are_believed_more_than_what_a_cell_defines() -> None:
    submission = Submission()
    draft = "def softmax(x):\n    return x  # a draft"
    submission.own(draft, above="softmax")
    found = rebuilt(submission)
    assert answer(found) == Submission().cell("softmax").source
    assert [cell.source for cell in own(found)] == [draft]


def test_an_answer_in_a_copy_of_its_cell_runs_and_the_stub_stays_one() -> None:
    submission = Submission()
    right = submission.cell("softmax").source
    submission.answer("softmax", STUB)
    copied(submission, "softmax", right, below="softmax")
    found = rebuilt(submission)
    assert answer(found) == STUB
    assert found.cells[place(found, "softmax") + 1].source == right


def test_of_two_cells_with_all_the_marks_the_one_with_an_answer_counts() -> None:
    submission = Submission()
    stub = submission.own(STUB, above="softmax")
    stub.metadata = submission.cell("softmax").metadata
    stub.id = "softmax"
    found = rebuilt(submission)
    assert answer(found) == Submission().cell("softmax").source
    assert own(found) == []


def test_a_copied_stub_never_hides_the_answer() -> None:
    submission = Submission()
    copied(submission, "softmax", STUB, below="softmax")
    submission.own(STUB, below="softmax")
    found = rebuilt(submission)
    assert own(found) == []
    (repair,) = found.repairs
    assert repair == "Copies of exercises and checks are left out: softmax."


def test_a_copied_answer_that_differs_stays_where_it_is() -> None:
    submission = Submission()
    copied(submission, "softmax", "softmax = 3", below="attention-4")
    copied(submission, "softmax", submission.cell("softmax").source, below="softmax")
    found = rebuilt(submission)
    assert [cell.source for cell in own(found)] == ["softmax = 3"]
    assert place(found, "softmax = 3") == place(found, "attention-4") + 1


@pytest.mark.parametrize("kept", [0, 1])
def test_both_parts_of_a_split_answer_run_in_order(kept: int) -> None:
    submission = Submission()
    rows = submission.cell("softmax").source
    parts = ["import math", rows]
    submission.answer("softmax", parts[kept])
    where = {"below": "softmax"} if kept == 0 else {"above": "softmax"}
    other = submission.own(parts[1 - kept], **where)
    other.metadata = submission.cell("softmax").metadata
    found = rebuilt(submission)
    both = [c.source for c in found.cells if c.source in parts]
    assert both == parts
    assert found.cells[place(found, "check-softmax") - 1].source == rows


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_an_answer_in_a_text_cell_is_taken_as_code(kind: str) -> None:
    submission = Submission()
    submission.cell("softmax").cell_type = kind
    found = rebuilt(submission)
    assert answer(found) == submission.cell("softmax").source
    assert found.cells[place(found, "softmax")].is_code
    assert found.repairs == (
        "Answers that stood in text cells are taken as code: softmax.",
    )


def test_an_answer_without_marks_in_a_text_cell_is_only_text() -> None:
    submission = Submission()
    cell = submission.cell("softmax")
    cell.cell_type, cell.metadata = "markdown", {}
    del cell["id"]
    found = rebuilt(submission)
    assert answer(found) == STUB
    assert [placed.is_code for placed in own(found)] == [False]


def test_a_check_in_a_text_cell_is_known_by_its_id_alone() -> None:
    submission = Submission()
    cell = submission.cell("check-softmax")
    cell.cell_type, cell.metadata = "markdown", {}
    assert "missing are back" not in " ".join(rebuilt(submission).repairs)


def _reversed(submission: Submission) -> None:
    submission.notebook.cells.reverse()


def _answers_last(submission: Submission) -> None:
    submission.notebook.cells.sort(key=lambda cell: cell.id in EXERCISES)


@pytest.mark.parametrize("shuffle", [_reversed, _answers_last])
def test_moved_cells_are_back_in_their_places(
    shuffle: Callable[[Submission], None],
) -> None:
    submission = Submission()
    shuffle(submission)
    found = rebuilt(submission)
    assert own(found) == [] and "moved" in found.repairs[0]
    for name in EXERCISES:
        assert answer(found, name) == Submission().cell(name).source


def test_only_the_moved_cell_is_named() -> None:
    submission = Submission()
    cells = submission.notebook.cells
    cells.append(cells.pop(submission.index("softmax")))
    (repair,) = rebuilt(submission).repairs
    assert repair.endswith("back where they belong: softmax.")


def test_a_moved_answer_takes_the_own_cell_below_it_along() -> None:
    submission = Submission()
    cells = submission.notebook.cells
    cells.append(cells.pop(submission.index("softmax")))
    submission.own("right_below = 1", below="softmax")
    found = rebuilt(submission)
    assert place(found, "right_below = 1") == place(found, "softmax") + 1


@pytest.mark.parametrize("text", ["", "pass_all()", "# check(softmax)", "check(1)"])
def test_a_changed_check_is_the_courses_again(text: str) -> None:
    submission = Submission()
    submission.cell("check-softmax").source = text
    found = rebuilt(submission)
    assert answer(found, "check-softmax") == "check(softmax)"
    assert found.repairs == (
        "Checks that were changed are the course's again: check-softmax.",
    )


def test_a_check_in_a_text_cell_is_code_again() -> None:
    submission = Submission()
    submission.cell("check-softmax").cell_type = "markdown"
    found = rebuilt(submission)
    assert found.cells[place(found, "check-softmax")].is_code
    assert "Checks" in found.repairs[0] and own(found) == []


def test_an_answer_typed_below_the_check_stands_above_it() -> None:
    submission = Submission()
    right = submission.cell("softmax").source
    submission.answer("softmax", STUB)
    submission.cell("check-softmax").source = f"check(softmax)\n\n{right}"
    found = rebuilt(submission)
    at = place(found, "check-softmax")
    assert [c.role for c in found.cells[at - 2 : at + 1]] == [
        "solution",
        "own",
        "check",
    ]
    assert right in found.cells[at - 1].source


def test_copies_of_a_check_are_left_out_and_what_was_typed_into_one_is_kept() -> None:
    submission = Submission()
    submission.own("check(softmax)  ", above="softmax")
    copied(submission, "check-softmax", "# nothing", below="softmax")
    copied(submission, "check-softmax", "check(softmax)\nhelp_me = 1", below="softmax")
    found = rebuilt(submission)
    assert [c.source for c in own(found)] == ["check(softmax)\nhelp_me = 1"]
    assert found.repairs == (
        "Copies of exercises and checks are left out: check-softmax.",
    )


@pytest.mark.parametrize("name", ["softmax", "", "zwölf", "a b", "x" * 65, "own-0"])
def test_own_cells_have_ids_that_a_notebook_allows_once(name: str) -> None:
    cells = [SubmittedCell("code", f"x = {n}", name) for n in range(3)]
    ids = [cell.id for cell in own(rebuild(RELEASE, cells))]
    assert len({*ids}) == len(ids)
    assert all(each.isascii() and 0 < len(each) <= 64 for each in ids)
    assert not {*ids} & {cell.id for cell in RELEASE.cells}
    assert " " not in "".join(ids)


def test_a_note_that_reads_like_a_check_is_kept() -> None:
    submission = Submission()
    submission.note("check(softmax)", above="softmax")
    found = rebuilt(submission)
    assert found.repairs == () and not own(found)[0].is_code


def test_an_id_that_is_free_is_kept() -> None:
    (cell,) = own(rebuild(RELEASE, [SubmittedCell("code", "x = 1", "LQ6Jm3w_ZqeX")]))
    assert cell.id == "LQ6Jm3w_ZqeX"


def test_a_notebook_of_another_lesson_has_no_answers() -> None:
    path = COURSE.learner("00_start_here")
    found = rebuild(RELEASE, read_submission(path))
    assert [c.source for c in found.cells if c.role == "solution"] == [
        c.source for c in RELEASE.cells if c.role == "solution"
    ]


def test_each_learners_cell_is_used_once() -> None:
    both = SubmittedCell("code", "def softmax(x): ...\ndef attention(q, k, v): ...")
    assert rebuilt_ids(match_cells(RELEASE.cells, [both])) == ["softmax"]
    assert rebuilt_ids(match_cells(RELEASE.cells, [both] * 3)) == [
        "softmax",
        "attention",
    ]


@pytest.mark.parametrize(
    ("places", "out"),
    [([], []), ([0, 1], []), ([1, 0], [1]), ([5, 0, 1, 2], [5]), ([0, 1, 3, 2], [3])],
)
def test_the_fewest_cells_count_as_moved(places: list[int], out: list[int]) -> None:
    assert moved(places) == out


def rebuilt_ids(found: dict[int, int]) -> list[str]:
    """Return the ids of the lesson's cells that were found."""
    return [RELEASE.cells[to].id for to in sorted(found.values())]


def _course(folder: Path, change: Callable[[dict], None] | str) -> Course:
    """Make a course whose only lesson is a changed one."""
    path = folder / "notebooks" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True)
    notebook = json.loads(COURSE.learner(LESSON).read_text())
    if isinstance(change, str):
        path.write_text(change)
    else:
        change(notebook)
        path.write_text(json.dumps(notebook))
    return Course(folder)


def test_the_master_knows_what_each_cell_is_for() -> None:
    roles = {cell.id: cell.role for cell in RELEASE.cells}
    assert roles[IMPORTS] == "setup" and roles[DEMO] == "demo"
    assert roles["the-same-in-pytorch-2"] == "demo"
    assert [r for r in roles.values()].count("setup") == 1
    assert {*RELEASE.exercises} == {*EXERCISES}
    places = [list(roles).index(name) for name in RELEASE.exercises]
    assert places == sorted(places)


def test_imports_below_the_first_exercise_are_a_demonstration(tmp_path: Path) -> None:
    def add(notebook: dict) -> None:
        more = {"cell_type": "code", "id": "late", "source": "import os"}
        notebook["cells"].append(more | {"metadata": {}})

    release = load_release(_course(tmp_path, add), LESSON)
    assert release.cells[-1].role == "demo"


def _unknown(notebook: dict) -> None:
    (cell,) = [c for c in notebook["cells"] if c["id"] == "softmax"]
    cell["metadata"]["nbgrader"]["grade_id"] = "sotfmax"


def _without_check(notebook: dict) -> None:
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] != "check-softmax"]


@pytest.mark.parametrize(
    ("change", "piece"),
    [
        ("{", "cannot be graded with"),
        ("[]", "cannot be graded with"),
        ('{"cells": [{}]}', "cannot be graded with"),
        (_unknown, "'sotfmax', which is no exercise"),
        (_without_check, "one cell and one check for softmax"),
    ],
)
def test_a_broken_master_is_the_courses_fault(
    tmp_path: Path, change: Callable[[dict], None] | str, piece: str
) -> None:
    with pytest.raises(CourseError, match="make build") as error:
        load_release(_course(tmp_path, change), LESSON)
    assert piece in str(error.value)


def test_a_lesson_without_a_notebook_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"99_none\.ipynb is missing"):
        load_release(Course(tmp_path), "99_none")
