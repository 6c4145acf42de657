"""Graded notebooks: whole, as nbgrader reads them, and with nothing active in them."""

import base64
import json
import os
import shutil
import stat
import struct
import zlib
from dataclasses import replace

import nbformat
import nbgrader.server_extensions.formgrader
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.utils import determine_grade
from traitlets.config import Config

from autograder.checking.result import ExerciseResult
from autograder.course import CourseError
from autograder.gradebook import autograded
from autograder.gradebook.autograded import (
    MAX_TEXT,
    METADATA_KEY,
    autograded_notebook,
    safe_outputs,
)
from autograder.gradebook.folders import clear_folder, write_autograded
from autograder.gradebook.safe_html import inert_html, verdicts_html
from autograder.grading.release import Cell
from autograder.grading.result import SubmissionResult
from autograder.messages.report import DATA_TYPE
from autograder.system import find_browser
from tests.browser import page_of
from tests.gradebook import untrusted
from tests.gradebook.untrusted import HARMLESS, SENTENCE, TEXT, Page, graded
from tests.submissions import COURSE, EXERCISES, LEARNER, LESSON

FORMGRADER = nbgrader.server_extensions.formgrader
REASON = "01.ipynb ends in the middle: it was not saved or sent to its end."


def notebook_of(cells, result, outputs):
    """Return a graded notebook as nbformat reads it; it has to be valid."""
    notebook = nbformat.reads(autograded_notebook(COURSE, cells, result, outputs), 4)
    nbformat.validate(notebook)
    return notebook


def cell_of(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def rendered(notebook):
    """Return a notebook as formgrader renders it."""
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    folder = FORMGRADER.handlers.template_path
    config.HTMLExporter.extra_template_basedirs = [folder]
    names = ("assignment_id", "notebook_id", "submission_id", "student", "first_name")
    resources = dict.fromkeys([*names, "last_name", "notebook_path", "base_url"], "x")
    resources |= {"index": 0, "total": 1}
    return HTMLExporter(config=config).from_notebook_node(notebook, resources)[0]


def png(width, height):
    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" * (width + 1)) * height if width < 100 else b"")
    raw = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + raw).decode()


@pytest.fixture(scope="module")
def hostile():
    return notebook_of(*graded())


# --- what is in it ----------------------------------------------------------------


def test_cells_are_the_lessons_with_the_learners_sources(hostile):
    released = [cell for cell in LEARNER.cells]
    cells = [
        cell for cell in hostile.cells if not cell.id.startswith(("note-", "code-"))
    ]
    assert [cell.id for cell in cells] == [cell.id for cell in released]
    for cell, original in zip(cells, released, strict=True):
        assert cell.metadata == original.metadata
        assert cell.cell_type == original.cell_type
        expected = TEXT if cell.id in EXERCISES else original.source
        assert cell.source == expected


def test_own_cells_keep_their_order_and_lose_their_metadata(hostile):
    ids = [cell.id for cell in hostile.cells]
    index = ids.index("softmax")
    assert ids[index : index + 3] == ["softmax", "note-softmax", "code-softmax"]
    assert cell_of(hostile, "note-softmax").metadata == {}
    code = cell_of(hostile, "code-softmax")
    assert (code.cell_type, code.metadata, code.source) == ("code", {}, TEXT)


def test_metadata_holds_the_result(hostile):
    stored = hostile.metadata[METADATA_KEY]["result"]
    assert SubmissionResult.from_json(json.dumps(stored)) == untrusted.result()


def test_same_submission_gives_the_same_bytes():
    assert autograded_notebook(COURSE, *graded()) == autograded_notebook(
        COURSE, *graded()
    )


def test_nbgrader_reads_the_points_of_the_checks(hostile):
    """Read them all: nbgrader takes a check without a value for full marks."""
    checks = [cell for cell in hostile.cells if cell.metadata.get("nbgrader")]
    checks = [cell for cell in checks if cell.metadata.nbgrader.grade]
    points = [LEARNER_POINTS[cell.metadata.nbgrader.grade_id] for cell in checks]
    assert [determine_grade(cell) for cell in checks] == [(2.0, p) for p in points]


LEARNER_POINTS = {
    cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
    for cell in LEARNER.cells
    if cell.metadata.get("nbgrader", {}).get("grade")
}


def test_check_shows_its_verdicts_as_html_text_and_data(hostile):
    output = cell_of(hostile, "check-softmax").outputs[0]
    assert output.output_type == "display_data"
    assert "does not hold" in output.data["text/html"]
    assert "→ " in output.data["text/plain"]
    data = output.data[DATA_TYPE]
    assert (data["points"], data["max_points"]) == (2.0, 3.0)
    assert data["cases"] == {"one": "ok", "two": "wrong"}


def test_exercise_without_a_verdict_has_no_points():
    cells, result, _ = graded(HARMLESS, HARMLESS)
    notebook = notebook_of(cells, replace(result, exercises=()), {})
    check = cell_of(notebook, "check-softmax")
    assert determine_grade(check)[0] == 0


def test_unreadable_file_becomes_the_lesson_with_a_reason():
    result = SubmissionResult("pavel", LESSON, "invalid", (), REASON + TEXT)
    notebook = notebook_of((), result, {})
    first, *others = notebook.cells
    page = Page(rendered(nbformat.v4.new_notebook(cells=[first])))
    assert REASON in page.text
    assert not {"iframe", "svg"} & page.names
    assert [cell.source for cell in others] == [cell.source for cell in LEARNER.cells]


def test_cell_with_the_reason_has_an_id_of_its_own():
    course_ids = {cell.id for cell in LEARNER.cells}
    notebook = notebook_of(
        (), SubmissionResult("pavel", LESSON, "invalid", (), REASON), {}
    )
    assert notebook.cells[0].id not in course_ids


def test_student_id_that_is_no_utf8_is_written():
    cells, result, outputs = graded(HARMLESS, HARMLESS)
    notebook = notebook_of(cells, replace(result, student="am\udcffra"), outputs)
    assert notebook.metadata[METADATA_KEY]["result"]["student"] == "am?ra"


def test_rebuilt_lesson_is_read_again(course):
    path = course.learner(LESSON)
    path.parent.mkdir(parents=True)
    shutil.copy(COURSE.learner(LESSON), path)
    result = SubmissionResult("pavel", LESSON, "invalid", (), REASON)
    assert "built anew" not in autograded_notebook(course, (), result, {})
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["cells"][0]["source"] = "# built anew"
    path.write_text(json.dumps(changed), encoding="utf-8")
    assert "built anew" in autograded_notebook(course, (), result, {})
    path.unlink()
    with pytest.raises(CourseError, match="is missing"):
        autograded_notebook(course, (), result, {})


# --- nothing is active --------------------------------------------------------------


def test_verdicts_html_with_attacks_is_inert():
    page = Page(verdicts_html(untrusted.verdict("softmax", SENTENCE)))
    page.assert_inert()
    page.assert_no_formula()
    for mark in untrusted.MARKS:
        assert mark in page.text  # shown, not dropped
    allowed = {"div", "strong", "p", "ul", "li", "span", "code"}
    assert page.names <= allowed


def test_formgrader_page_gets_no_untrusted_element():
    before, after = (
        Page(rendered(few(notebook_of(*graded(text, sentence)))))
        for text, sentence in [(HARMLESS, HARMLESS), (TEXT, SENTENCE)]
    )
    ours = {"span", "code"}  # of the colouring of code, and around signs of formulas
    assert [each for each in after.elements if each[0] not in ours] == [
        each for each in before.elements if each[0] not in ours
    ]
    assert after.text.count("onerror") > before.text.count("onerror") + 8


@pytest.mark.browser
@pytest.mark.skipif(not find_browser(), reason="neither Chromium nor Chrome is here")
@pytest.mark.thorough
def test_formgrader_page_requests_nothing_untrusted(tmp_path):
    asked = {}
    for name, texts in {"before": [HARMLESS] * 2, "after": [TEXT, SENTENCE]}.items():
        path = tmp_path / "page.html"
        path.write_text(rendered(few(notebook_of(*graded(*texts)))), encoding="utf-8")
        asked[name], spoken = visited(path)
        assert not spoken
    assert asked["after"] == asked["before"]
    assert path.as_uri() in asked["after"]


def visited(path):
    """Open a file without a network; give what it asks for, and what it says."""
    asked, spoken = set(), []
    with page_of("about:blank") as page:

        def answer(route):
            asked.add(route.request.url)
            own = route.request.url == path.as_uri()
            return route.continue_() if own else route.abort()

        page.route("**/*", answer)
        page.on("dialog", lambda dialog: (spoken.append(dialog), dialog.dismiss()))
        page.goto(path.as_uri())
        page.wait_for_load_state("networkidle")
    return asked, spoken


def few(notebook):
    """Return the cells of one exercise: to render all takes long."""
    names = ("softmax", "note-softmax", "code-softmax", "check-softmax")
    notebook.cells = [cell for cell in notebook.cells if cell.id in names]
    return notebook


def test_inert_html_survives_markdown_and_mathjax():
    source = inert_html(TEXT)
    assert "\n" not in source
    page = Page(rendered(nbformat.v4.new_notebook(cells=[markdown(source)])))
    text = next(data for data, around in page.texts if "alert(1)" in data)
    for mark in untrusted.MARKS:
        assert mark in text
    assert "49" not in text
    assert {"pre"} <= {*next(a for data, a in page.texts if "alert(1)" in data)}


def markdown(source):
    return nbformat.v4.new_markdown_cell(source)


def test_long_prose_is_cut():
    cells = [Cell("own", "$" * 100_000, id="note", is_code=False)]
    notebook = notebook_of(cells, untrusted.result(HARMLESS), {})
    assert 100_000 < len(notebook.cells[0].source) < 150_000


def test_own_output_is_text_or_a_picture(hostile):
    kinds = {
        kind
        for cell in hostile.cells
        for output in cell.get("outputs", [])
        if not cell.id.startswith("check-")
        for kind in output.get("data", ["stream"])
    }
    assert kinds == {"stream", "text/plain"}


def test_stderr_becomes_stdout_without_colours():
    outputs = safe_outputs(
        [{"name": "stderr", "text": "\x1b[31mred\x1b[0m\r\nb\x08\u202e"}]
    )
    (output,) = outputs
    assert output["name"] == "stdout"
    assert output["text"] == "red\nb⟨U+0008⟩⟨U+202E⟩"


def test_cut_text_is_marked_and_long_text_is_cut():
    (cut,) = safe_outputs([{"name": "stdout", "text": "x", "cut": True}])
    assert cut["text"] == "x\n… (the rest is not kept)\n"
    (long,) = safe_outputs([{"name": "stdout", "text": "x" * 20_000}])
    assert len(long["text"]) == MAX_TEXT


def test_picture_is_kept_only_if_it_is_a_small_png():
    small = png(3, 2)
    lines = "\n".join([small[:20], small[20:], ""])
    (output,) = safe_outputs([{"data": {"image/png": lines}}])
    assert output["data"] == {"image/png": small}
    for bad in (
        png(50_000, 50_000),
        png(0, 5),
        "x" + small,
        small[:-3] + '"><',
        small[:12],
        base64.b64encode(b"<svg onload=alert(1)>").decode(),
        small + "A" * autograded.MAX_PICTURE,
        "é",
        3,
        None,
    ):
        assert safe_outputs([{"data": {"image/png": bad}}]) == []


@pytest.mark.parametrize("bad", [None, 3, "text", {"a": 1}, [None, 3, [], {}, "x"]])
def test_malformed_output_is_left_out(bad):
    assert safe_outputs(bad) == []


def test_cell_has_at_most_max_outputs():
    recorded = [{"name": "stdout", "text": "x"}] * 100
    assert len(safe_outputs(recorded)) == autograded.MAX_OUTPUTS


def test_report_that_does_not_match_its_cases_keeps_reasons():
    verdict = untrusted.verdict("softmax", "Why it is so")
    other = replace(verdict, report="softmax: 1 of 2 claims hold\n  ✓ It holds")
    assert verdicts_html(other).count("Why it is so") >= 2  # the claim, and why


def test_unwritten_answer_shows_no_claims():
    report = "softmax is not written yet\n  Write your answer in the cell of `softmax`."
    verdict = replace(untrusted.verdict("softmax", HARMLESS), report=report, flags=())
    page = Page(verdicts_html(verdict))
    assert "Write your answer in the cell of softmax." in page.text
    assert "li" not in page.names


def test_exercise_without_a_report_could_not_be_graded():
    page = Page(verdicts_html(ExerciseResult("softmax", 0.0, 8.0, ())))
    assert page.text == "softmax could not be graded"


# --- files ----------------------------------------------------------------------------


def folder_of(course, student="amara"):
    return course.root / "autograded" / student / LESSON


def test_notebook_is_read_only_and_can_be_replaced(course):
    path = folder_of(course) / f"{LESSON}.ipynb"
    write_autograded(course, LESSON, "amara", "old")
    write_autograded(course, LESSON, "amara", "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_unchanged_notebook_stays_the_same_file(course):
    path = folder_of(course) / f"{LESSON}.ipynb"
    write_autograded(course, LESSON, "amara", "text")
    before = path.stat()
    path.chmod(0o644)
    write_autograded(course, LESSON, "amara", "text")
    assert path.stat().st_ino == before.st_ino
    assert path.stat().st_mode == before.st_mode


def test_other_files_are_removed_and_no_link_is_followed(course, tmp_path):
    folder, outside = folder_of(course), tmp_path / "outside"
    for each in (folder / "files", outside):
        each.mkdir(parents=True)
        (each / "page.html").write_text("<script>")
    (folder / "link").symlink_to(outside)
    (folder / f"{LESSON}.ipynb").symlink_to(outside / "page.html")
    write_autograded(course, LESSON, "amara", "text")
    assert [each.name for each in folder.iterdir()] == [f"{LESSON}.ipynb"]
    assert (outside / "page.html").read_text() == "<script>"


def test_link_under_the_notebooks_name_is_removed(tmp_path):
    (tmp_path / "solution").write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "timestamp.txt").symlink_to(tmp_path / "solution")
    clear_folder(folder, keep={"timestamp.txt"})
    assert [*folder.iterdir()] == []
    assert (tmp_path / "solution").exists()
    clear_folder(tmp_path / "absent", keep=())


@pytest.mark.parametrize(
    ("timestamp", "written"),
    [
        ("2026-03-01 12:00:00.000000 UTC", True),
        ("2026-03-01 12:00:00 Europe/Berlin", True),
        ("tomorrow", False),
        ("<script>", False),
        ("", False),
        (None, False),
    ],
)
def test_timestamp_is_written_if_nbgrader_can_read_it(course, timestamp, written):
    write_autograded(course, LESSON, "amara", "text", "2026-01-01 00:00:00 UTC")
    write_autograded(course, LESSON, "amara", "text", timestamp)
    path = folder_of(course) / "timestamp.txt"
    assert path.exists() == written
    assert not written or path.read_text().strip() == timestamp


@pytest.mark.parametrize("name", ["", ".", "..", "../other", "a/b", "/tmp"])
def test_student_that_is_no_folder_name_is_refused(course, name):
    with pytest.raises(CourseError, match="no name of a student's folder"):
        write_autograded(course, LESSON, name, "text")
    assert not [*course.root.rglob("*.ipynb")]


def test_full_disk_leaves_the_old_notebook(course, monkeypatch):
    write_autograded(course, LESSON, "amara", "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CourseError, match="No space left on device") as refusal:
        write_autograded(course, LESSON, "amara", "new")
    assert "\n" not in str(refusal.value)
    assert (folder_of(course) / f"{LESSON}.ipynb").read_text() == "old"
