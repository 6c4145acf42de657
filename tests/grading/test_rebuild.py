"""Rebuilding: whatever was done to a notebook, the lesson stands and the answers count.

Most tests change a right submission of lesson 01 and look at what became of it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course.releases import cell_digest
from autograder.grading.reading import SubmittedCell, read_submission
from autograder.grading.rebuild import Rebuilt, match_cells, moved, rebuild
from autograder.grading.release import Cell, Release, load_release
from tests.submissions import COURSE, EXERCISES, LESSON, Submission

RELEASE = load_release(COURSE, LESSON)
IMPORTS, DEMO = "dot-product-attention-2", "looking-something-up-6"
STUB = next(cell.source for cell in RELEASE.cells if cell.id == "softmax")


def rebuild_and_check(submission: Submission) -> Rebuilt:
    """Rebuild a submission; the lesson must be whole and in order."""
    submitted = tuple(
        SubmittedCell(
            cell.cell_type,
            cell.source,
            cell.get("id", ""),
            cell.metadata.get("nbgrader", {}).get("grade_id", ""),
        )
        for cell in submission.notebook.cells
    )
    rebuilt = rebuild(RELEASE, submitted)
    cells = [(c.role, c.id, c.exercise) for c in rebuilt.cells if c.role != "own"]
    assert cells == [(c.role, c.id, c.exercise) for c in RELEASE.cells]
    assert len({cell.id for cell in rebuilt.cells}) == len(rebuilt.cells)
    for cell, rebuilt_cell in zip(
        RELEASE.cells, [c for c in rebuilt.cells if c.role != "own"], strict=True
    ):
        assert rebuilt_cell.source == cell.source or cell.role == "solution"
    return rebuilt


def answer(rebuilt: Rebuilt, name: str = "softmax") -> str:
    """Return the source of the answer to an exercise."""
    return rebuilt.cells[index_of(rebuilt, name)].source


def index_of(rebuilt: Rebuilt, name: str) -> int:
    """Return the index of a cell, by its id or a part of its text."""
    ids = [cell.id for cell in rebuilt.cells]
    if name in ids:
        return ids.index(name)
    (index,) = [i for i, cell in enumerate(rebuilt.cells) if name in cell.source]
    return index


def own(rebuilt: Rebuilt) -> list[Cell]:
    """Return the learner's own cells."""
    return [cell for cell in rebuilt.cells if cell.role == "own"]


def copied(submission: Submission, name: str, text: str, below: str) -> None:
    """Copy a cell as JupyterLab does: another id, the same metadata."""
    copy = submission.own(text, below=below)
    copy.metadata = submission.cell(name).metadata


def test_unchanged_lesson_needs_no_repair() -> None:
    rebuilt = rebuild_and_check(Submission())
    assert rebuilt.repairs == () and own(rebuilt) == []
    for name in EXERCISES:
        assert answer(rebuilt, name) == Submission().cell(name).source
    kinds = {(cell.role, cell.is_code) for cell in rebuilt.cells}
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
    rebuilt = rebuild(RELEASE, read_submission(path))
    assert rebuilt.repairs == () and own(rebuilt) == []


def test_stub_with_blanks_is_the_stub() -> None:
    submission = Submission()
    submission.answer("softmax", f"\n{STUB}  \n\n")
    assert answer(rebuild_and_check(submission)) == STUB


def test_blank_cells_are_removed() -> None:
    submission = Submission()
    submission.own(" \n", above="softmax")
    submission.note("", above="softmax")
    assert own(rebuild_and_check(submission)) == []


def test_own_cells_stay_where_they_are() -> None:
    submission = Submission()
    submission.own("top = 1", above="dot-product-attention-1")
    submission.own("above = 1", above="softmax")
    submission.own("between = 1", below="softmax")
    submission.note("a *note*", below="check-softmax")
    submission.own("bottom = 1")
    rebuilt = rebuild_and_check(submission)
    assert rebuilt.repairs == ()
    assert index_of(rebuilt, "top = 1") == 0
    assert index_of(rebuilt, "above = 1") + 1 == index_of(rebuilt, "softmax")
    assert index_of(rebuilt, "between = 1") - 1 == index_of(rebuilt, "softmax")
    assert index_of(rebuilt, "a *note*") - 1 == index_of(rebuilt, "check-softmax")
    assert index_of(rebuilt, "bottom = 1") == len(rebuilt.cells) - 1
    assert [cell.is_code for cell in own(rebuilt)] == [True, True, True, False, True]


def test_deleted_cells_are_restored_the_answer_as_a_stub() -> None:
    submission = Submission()
    for name in (IMPORTS, "softmax", "check-softmax", "attention-1"):
        del submission.notebook.cells[submission.index(name)]
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == STUB
    assert rebuilt.repairs == (
        "Cells of the course that were missing are back: "
        f"{IMPORTS}, softmax, check-softmax, attention-1.",
    )


def test_long_list_in_a_repair_is_cut() -> None:
    (repair,) = rebuild(RELEASE, [SubmittedCell("code", "x = 1")]).repairs
    assert repair.endswith(f" and {len(RELEASE.cells) - 6} more.")
    assert repair.count(",") == 5


@pytest.mark.parametrize("name", [DEMO, IMPORTS])
def test_changed_cell_of_the_course_is_kept_below_its_own(name: str) -> None:
    submission = Submission()
    submission.cell(name).source += "\nmine = 1"
    rebuilt = rebuild_and_check(submission)
    (mine,) = own(rebuilt)
    assert mine.source.endswith("mine = 1") and mine.is_code
    assert index_of(rebuilt, mine.id) == index_of(rebuilt, name) + 1
    (repair,) = rebuilt.repairs
    assert repair.startswith("Changed cells") and name in repair


def test_assertions_of_an_older_copy_are_no_change() -> None:
    drawn = Cell("demo", 'figures.bars(rows, alt="01-3f2a")', id="drawn")
    computed = Cell("demo", "x = 1\n\ny = 2", id="computed")
    claims = "# So it is.\nassert (\n    x == 1\n)"
    submitted = [
        SubmittedCell("code", f"x = 1\n{claims}\n\ny = 2\nassert y == 2", "computed"),
        SubmittedCell("code", claims, "computed-claims"),
        SubmittedCell("code", 'alt = "Two."\nfigures.bars(rows, alt=alt)', "drawn"),
    ]
    rebuilt = rebuild(Release(LESSON, (computed, drawn)), submitted)
    assert [cell.source for cell in rebuilt.cells] == [computed.source, drawn.source]
    assert rebuilt.repairs == ()


def test_cells_of_earlier_releases_are_the_courses_own() -> None:
    answer = Cell("solution", "def f(): ...", "f", id="f")
    drawn = Cell("demo", "draw(2)", id="drawn")
    earlier = "draw(1)", "from course_lib import f", "Text.", "x = 3"
    submitted = [
        SubmittedCell("code", "draw(1)", "drawn"),
        SubmittedCell("code", "from course_lib import f", "gone"),
        SubmittedCell("markdown", "Text.", "text"),
        SubmittedCell("code", "x = 3  ", "drawn"),
        SubmittedCell("code", "x = 4", "mine"),
    ]
    digests = frozenset(map(cell_digest, earlier))
    rebuilt = rebuild(Release(LESSON, (answer, drawn), earlier=digests), submitted)
    assert [(cell.role, cell.source) for cell in rebuilt.cells] == [
        ("solution", "def f(): ..."),
        ("demo", "draw(2)"),
        ("demo", "draw(1)"),
        ("demo", "x = 3  "),  # what names an exercise might bind it, and is left out
        ("own", "x = 4"),
    ]
    assert len({cell.id for cell in rebuilt.cells}) == 5
    assert rebuilt.repairs == ("Cells of the course that were missing are back: f.",)


def test_own_assertions_are_kept() -> None:
    submission = Submission()
    submission.own("assert 1 == 1", below=DEMO)
    (mine,) = own(rebuild_and_check(submission))
    assert mine.source == "assert 1 == 1"


def test_mended_function_is_kept_without_repair() -> None:
    broken = Cell("demo", "def part(): ...", id="part", to_mend=True)
    mended = SubmittedCell("code", "def part(): return 1", "part")
    rebuilt = rebuild(Release("16_bug_hunt", (broken,)), [mended])
    assert [cell.source for cell in rebuilt.cells] == [broken.source, mended.source]
    assert rebuilt.repairs == ()


def test_notes_in_the_courses_text_are_kept_without_repair() -> None:
    submission = Submission()
    submission.cell("attention-1").source += "\n\nMy guess: 7."
    rebuilt = rebuild_and_check(submission)
    assert rebuilt.repairs == () and not own(rebuilt)[0].is_code


LOST = ["ids", "grade_ids", "both", "softmax repeated", f"{DEMO} repeated", "renamed"]


@pytest.mark.parametrize("lost", LOST)
def test_answers_are_matched_whatever_marks_are_lost(lost: str) -> None:
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
    rebuilt = rebuild_and_check(submission)
    assert own(rebuilt) == []
    for name in EXERCISES:
        assert answer(rebuilt, name) == Submission().cell(name).source
    marks = [repair for repair in rebuilt.repairs if "grade_id" in repair]
    assert bool(marks) == (lost in ("grade_ids", "both", "renamed"))


def test_grade_id_alone_matches_an_answer() -> None:
    submission = Submission()
    submission.answer("softmax", "from my_answers import *")
    submission.cell("softmax").id = "another"
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == "from my_answers import *" and own(rebuilt) == []


def test_copied_demonstration_is_an_own_cell() -> None:
    submission = Submission()
    submission.own(submission.cell(DEMO).source, above="dot-product-attention-1")
    rebuilt = rebuild_and_check(submission)
    assert rebuilt.repairs == () and rebuilt.cells[0].role == "own"


def test_exchanged_grade_ids_do_not_exchange_the_answers() -> None:
    submission = Submission()
    softmax, attention = submission.cell("softmax"), submission.cell("attention")
    softmax.metadata, attention.metadata = attention.metadata, softmax.metadata
    rebuilt = rebuild_and_check(submission)
    assert "def softmax" in answer(rebuilt)
    assert "def attention" in answer(rebuilt, "attention")
    assert "softmax, attention" in rebuilt.repairs[0]


def test_grade_id_of_another_exercise_moves_no_answer() -> None:
    submission = Submission()
    submission.cell("softmax").metadata = submission.cell("attention").metadata
    rebuilt = rebuild_and_check(submission)
    assert "def softmax" in answer(rebuilt)
    assert "def attention" in answer(rebuilt, "attention")


def test_without_marks_the_last_try_above_the_check_counts() -> None:
    submission = Submission()
    first = "def softmax(x):\n    return x  # a first try"
    late = "def softmax(x):\n    return x  # an experiment at the end"
    submission.own(first, above="softmax")
    submission.own(late)
    for cell in submission.notebook.cells:
        cell.metadata = {}
        del cell["id"]
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == Submission().cell("softmax").source
    assert [cell.source for cell in own(rebuilt)] == [first, late]
    assert index_of(rebuilt, "a first try") < index_of(rebuilt, "softmax")


def test_marks_outweigh_what_a_cell_defines() -> None:
    submission = Submission()
    draft = "def softmax(x):\n    return x  # a draft"
    submission.own(draft, above="softmax")
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == Submission().cell("softmax").source
    assert [cell.source for cell in own(rebuilt)] == [draft]


def test_answer_in_a_copy_of_its_cell_runs_below_the_stub() -> None:
    submission = Submission()
    right = submission.cell("softmax").source
    submission.answer("softmax", STUB)
    copied(submission, "softmax", right, below="softmax")
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == STUB
    assert rebuilt.cells[index_of(rebuilt, "softmax") + 1].source == right


def test_of_two_cells_with_all_marks_the_answer_counts() -> None:
    submission = Submission()
    stub = submission.own(STUB, above="softmax")
    stub.metadata = submission.cell("softmax").metadata
    stub.id = "softmax"
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == Submission().cell("softmax").source
    assert own(rebuilt) == []


def test_copied_stub_never_hides_the_answer() -> None:
    submission = Submission()
    copied(submission, "softmax", STUB, below="softmax")
    submission.own(STUB, below="softmax")
    rebuilt = rebuild_and_check(submission)
    assert own(rebuilt) == []
    (repair,) = rebuilt.repairs
    assert repair == "Copies of exercises and checks are left out: softmax."


def test_copied_answer_that_differs_stays_where_it_is() -> None:
    submission = Submission()
    copied(submission, "softmax", "softmax = 3", below="attention-8")
    copied(submission, "softmax", submission.cell("softmax").source, below="softmax")
    rebuilt = rebuild_and_check(submission)
    assert [cell.source for cell in own(rebuilt)] == ["softmax = 3"]
    assert index_of(rebuilt, "softmax = 3") == index_of(rebuilt, "attention-8") + 1


@pytest.mark.parametrize("part", [0, 1])
def test_both_parts_of_a_split_answer_run_in_order(part: int) -> None:
    submission = Submission()
    rows = submission.cell("softmax").source
    parts = ["import math", rows]
    submission.answer("softmax", parts[part])
    where = {"below": "softmax"} if part == 0 else {"above": "softmax"}
    other = submission.own(parts[1 - part], **where)
    other.metadata = submission.cell("softmax").metadata
    rebuilt = rebuild_and_check(submission)
    both = [c.source for c in rebuilt.cells if c.source in parts]
    assert both == parts
    assert rebuilt.cells[index_of(rebuilt, "check-softmax") - 1].source == rows


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_answer_in_a_text_cell_is_taken_as_code(kind: str) -> None:
    submission = Submission()
    submission.cell("softmax").cell_type = kind
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == submission.cell("softmax").source
    assert rebuilt.cells[index_of(rebuilt, "softmax")].is_code
    assert rebuilt.repairs == (
        "Answers that stood in text cells are taken as code: softmax.",
    )


def test_unmarked_answer_in_a_text_cell_is_only_text() -> None:
    submission = Submission()
    cell = submission.cell("softmax")
    cell.cell_type, cell.metadata = "markdown", {}
    del cell["id"]
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt) == STUB
    assert [placed.is_code for placed in own(rebuilt)] == [False]


def test_check_in_a_text_cell_is_matched_by_its_id_alone() -> None:
    submission = Submission()
    cell = submission.cell("check-softmax")
    cell.cell_type, cell.metadata = "markdown", {}
    assert "missing are back" not in " ".join(rebuild_and_check(submission).repairs)


def _reversed(submission: Submission) -> None:
    submission.notebook.cells.reverse()


def _answers_last(submission: Submission) -> None:
    submission.notebook.cells.sort(key=lambda cell: cell.id in EXERCISES)


@pytest.mark.parametrize("shuffle", [_reversed, _answers_last])
def test_moved_cells_are_back_in_order(
    shuffle: Callable[[Submission], None],
) -> None:
    submission = Submission()
    shuffle(submission)
    rebuilt = rebuild_and_check(submission)
    assert own(rebuilt) == [] and "moved" in rebuilt.repairs[0]
    for name in EXERCISES:
        assert answer(rebuilt, name) == Submission().cell(name).source


def test_only_the_moved_cell_is_named() -> None:
    submission = Submission()
    cells = submission.notebook.cells
    cells.append(cells.pop(submission.index("softmax")))
    (repair,) = rebuild_and_check(submission).repairs
    assert repair.endswith("back where they belong: softmax.")


def test_own_cell_below_a_moved_answer_moves_with_it() -> None:
    submission = Submission()
    cells = submission.notebook.cells
    cells.append(cells.pop(submission.index("softmax")))
    submission.own("right_below = 1", below="softmax")
    rebuilt = rebuild_and_check(submission)
    assert index_of(rebuilt, "right_below = 1") == index_of(rebuilt, "softmax") + 1


@pytest.mark.parametrize("text", ["", "pass_all()", "# check(softmax)", "check(1)"])
def test_changed_check_is_restored(text: str) -> None:
    submission = Submission()
    submission.cell("check-softmax").source = text
    rebuilt = rebuild_and_check(submission)
    assert answer(rebuilt, "check-softmax") == "check(softmax)"
    assert rebuilt.repairs == (
        "Checks that were changed are the course's again: check-softmax.",
    )


def test_check_in_a_text_cell_is_code_again() -> None:
    submission = Submission()
    submission.cell("check-softmax").cell_type = "markdown"
    rebuilt = rebuild_and_check(submission)
    assert rebuilt.cells[index_of(rebuilt, "check-softmax")].is_code
    assert "Checks" in rebuilt.repairs[0] and own(rebuilt) == []


def test_answer_typed_into_the_check_is_put_above_it() -> None:
    submission = Submission()
    right = submission.cell("softmax").source
    submission.answer("softmax", STUB)
    submission.cell("check-softmax").source = f"check(softmax)\n\n{right}"
    rebuilt = rebuild_and_check(submission)
    at = index_of(rebuilt, "check-softmax")
    assert [c.role for c in rebuilt.cells[at - 2 : at + 1]] == [
        "solution",
        "own",
        "check",
    ]
    assert right in rebuilt.cells[at - 1].source


def test_copies_of_a_check_are_removed_but_typed_text_is_kept() -> None:
    submission = Submission()
    submission.own("check(softmax)  ", above="softmax")
    copied(submission, "check-softmax", "# nothing", below="softmax")
    copied(submission, "check-softmax", "check(softmax)\nhelp_me = 1", below="softmax")
    rebuilt = rebuild_and_check(submission)
    assert [c.source for c in own(rebuilt)] == ["check(softmax)\nhelp_me = 1"]
    assert rebuilt.repairs == (
        "Copies of exercises and checks are left out: check-softmax.",
    )


@pytest.mark.parametrize("name", ["softmax", "", "zwölf", "a b", "x" * 65, "own-0"])
def test_own_cells_have_valid_and_unique_ids(name: str) -> None:
    cells = [SubmittedCell("code", f"x = {n}", name) for n in range(3)]
    ids = [cell.id for cell in own(rebuild(RELEASE, cells))]
    assert len({*ids}) == len(ids)
    assert all(each.isascii() and 0 < len(each) <= 64 for each in ids)
    assert not {*ids} & {cell.id for cell in RELEASE.cells}
    assert " " not in "".join(ids)


def test_note_that_reads_like_a_check_is_kept() -> None:
    submission = Submission()
    submission.note("check(softmax)", above="softmax")
    rebuilt = rebuild_and_check(submission)
    assert rebuilt.repairs == () and not own(rebuilt)[0].is_code


def test_free_id_is_kept() -> None:
    (cell,) = own(rebuild(RELEASE, [SubmittedCell("code", "x = 1", "LQ6Jm3w_ZqeX")]))
    assert cell.id == "LQ6Jm3w_ZqeX"


def test_notebook_of_another_lesson_has_no_answers() -> None:
    path = COURSE.learner("00_start_here")
    rebuilt = rebuild(RELEASE, read_submission(path))
    assert [c.source for c in rebuilt.cells if c.role == "solution"] == [
        c.source for c in RELEASE.cells if c.role == "solution"
    ]


def test_each_submitted_cell_is_matched_once() -> None:
    both = SubmittedCell("code", "def softmax(x): ...\ndef attention(q, k, v): ...")
    assert matched_ids(match_cells(RELEASE.cells, [both])) == ["softmax"]
    assert matched_ids(match_cells(RELEASE.cells, [both] * 3)) == [
        "softmax",
        "attention",
    ]


@pytest.mark.parametrize(
    ("indices", "out"),
    [([], []), ([0, 1], []), ([1, 0], [1]), ([5, 0, 1, 2], [5]), ([0, 1, 3, 2], [3])],
)
def test_moved_names_the_fewest_cells(indices: list[int], out: list[int]) -> None:
    assert moved(indices) == out


def matched_ids(pairs: dict[int, int]) -> list[str]:
    """Return the ids of the lesson's cells that were matched."""
    return [RELEASE.cells[j].id for j in sorted(pairs.values())]
