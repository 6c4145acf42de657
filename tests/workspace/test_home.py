"""The learner's home: where to go on, what is solved, links that lead somewhere."""

import json
import re

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from typer.testing import CliRunner

from autograder.checking.registry import exercises_of
from autograder.commands.app import app
from autograder.course import Course
from autograder.messages import pytorch
from autograder.messages.report import CheckReport, NextStep
from autograder.workspace.after_check import next_steps
from autograder.workspace.copies import Copy, open_workspace
from autograder.workspace.home import Home, write_home
from autograder.workspace.outline import read_outline, read_outlines
from autograder.workspace.progress import keep_check, keep_put_off, reopen
from tests.browser import course_copy
from tests.checking.test_judging import double, judged, tiny
from tests.workspace.course_of_two import FIRST, SECOND, Learner

COURSE = Course.here()


@pytest.fixture
def learner(tmp_path):
    return Learner(tmp_path)


@pytest.fixture
def beyond(tmp_path):
    """Return a learner whose first lesson goes further."""
    return Learner(tmp_path, further=True)


def keep(learner, exercise, lesson=FIRST, holding=2):
    about = {"claims": 2, "points": 3.5 * holding, "max_points": 8.0}
    keep_check(learner.work, lesson, exercise, holding=holding, **about)


def continues(learner):
    here = Home.of(learner.course).continue_here()
    return here and (here[0].lesson, here[1].name)


def test_outline_of_each_lesson_has_its_exercises():
    for outline in read_outlines(COURSE):
        exercises = {each.name: each for each in exercises_of(outline.lesson)}
        assert {each.name for each in outline.exercises} == {*exercises}
        for each in outline.exercises:
            bank = exercises[each.name]
            assert (each.minutes, each.points) == (bank.minutes, bank.points)
            assert each.section or each.optional, each.name
        assert outline.minutes > sum(each.minutes for each in outline.required)
        optional = sum(each.minutes for each in outline.optional)
        assert outline.further >= optional
        assert bool(outline.further) == bool(outline.going_further)
        assert outline.question.endswith("?"), outline.lesson


def test_links_of_home_lead_to_files_and_cells(tmp_path):
    course = Course(course_copy(tmp_path))
    open_workspace(course)
    write_home(course)
    work = tmp_path / "work"
    text = (work / "home.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    n_exercises = sum(len(each.exercises) for each in read_outlines(course))
    assert len(links) == 1 + len(course.built_lessons) + n_exercises
    for link in links:
        path, _, fragment = link.partition("#cell-id=")
        cells = json.loads((work / path).read_text(encoding="utf-8"))["cells"]
        assert not fragment or fragment in {cell["id"] for cell in cells}


def test_home_begins_with_the_first_lesson(learner):
    write_home(learner.course)
    start = f"**Start here:** [01 Dot products]({FIRST}/{FIRST}.ipynb) · "
    assert f"{start}80\u00a0min *What is alike?* <small>In 2 lessons " in learner.home
    assert "0 of 3 exercises solved" in learner.home


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([], (FIRST, "softmax")),
        ([("softmax", FIRST, 1)], (FIRST, "softmax")),
        ([("softmax", FIRST, 2)], (FIRST, "scaled_scores")),
        ([("scaled_scores", FIRST, 2)], (FIRST, "softmax")),
        ([("project", SECOND, 1)], (SECOND, "project")),
        ([("softmax", FIRST, 1), ("project", SECOND, 2)], (FIRST, "softmax")),
        (
            [("softmax", FIRST, 2), ("scaled_scores", FIRST, 2)],
            (SECOND, "project"),
        ),
        (
            [
                ("softmax", FIRST, 2),
                ("scaled_scores", FIRST, 2),
                ("project", SECOND, 2),
            ],
            None,
        ),
    ],
)
def test_home_continues_where_the_learner_worked_last(learner, checks, expected):
    for exercise, lesson, holding in checks:
        keep(learner, exercise, lesson, holding)
    assert continues(learner) == expected


def test_what_was_put_off_comes_last_and_is_named(learner):
    keep(learner, "softmax", holding=1)
    assert keep_put_off(learner.work, FIRST, "softmax", 8.0)
    assert not keep_put_off(learner.work, FIRST, "softmax", 8.0)
    assert continues(learner) == (FIRST, "scaled_scores")
    write_home(learner.course)
    link = f"[softmax]({FIRST}/{FIRST}.ipynb#cell-id=about-softmax)"
    assert f"\n\nPut off until later: {link}\n" in learner.home
    keep(learner, "scaled_scores")
    assert continues(learner) == (SECOND, "project")
    keep_put_off(learner.work, SECOND, "project", 8.0)  # never tried
    assert continues(learner) == (FIRST, "softmax")
    keep(learner, "softmax", holding=1)  # taken up again
    assert continues(learner) == (FIRST, "softmax")
    keep(learner, "softmax")
    assert not keep_put_off(learner.work, FIRST, "softmax", 8.0)  # it is solved
    assert continues(learner) == (SECOND, "project")
    write_home(learner.course)
    assert "Put off" not in learner.home  # the link above leads to it


def test_home_counts_claims_and_minutes_and_no_points(learner):
    keep(learner, "softmax")
    keep(learner, "scaled_scores", holding=1)
    write_home(learner.course)
    home = learner.home.replace("\u00a0", " ")
    bar = '<progress value="1" max="2"></progress>'
    assert f"| 1 of 2<br>{bar} | 60 min |" in home
    assert "**1 of 3 exercises solved** · 110 minutes left" in home
    softmax = f"✓ [softmax]({FIRST}/{FIRST}.ipynb#cell-id=about-softmax)"
    assert f"{softmax} · solved\n" in home
    assert "· begun, 1 of 2 claims hold, 30 min" in home
    assert "· open, 8 min\n" in home
    assert "points" not in home


def test_home_of_a_class_counts_points(learner):
    (learner.course.root / "submitted").mkdir()
    keep(learner, "softmax")
    keep(learner, "scaled_scores", holding=1)
    write_home(learner.course)
    home = learner.home.replace("\u00a0", " ")
    bar = '<progress value="1" max="2"></progress>'
    assert f"| 1 of 2<br>{bar} | 10.5 of 16 | 60 min |" in home
    assert "**1 of 3 exercises solved** · 10.5 of 24 points so far · 110 min" in home
    assert " · solved, 7 of 8 points so far\n" in home
    assert "· open, 8 min, 8 points" in home
    assert "Points so far are those of the claims that you see" in home


def test_home_counts_optional_exercises_apart(beyond):
    keep(beyond, "softmax")
    keep(beyond, "self_attention")
    write_home(beyond.course)
    home = beyond.home.replace("\u00a0", " ")
    core = "**1 of 3 exercises solved** · 110 minutes left<br>"
    assert f"{core}*Going further*: 1 of 2 solved · 15 minutes more\n" in home
    bar = '<progress value="1" max="2"></progress>'
    further = "<br><small>Going further: 1 of 2 solved · 15 min</small>"
    assert f"| 1 of 2<br>{bar}{further} | 60 min |" in home
    assert "<summary>01 Dot products: 1 of 2 solved, and 1 of 2 optional</summary>" in (
        home
    )
    attention = f"[attention]({FIRST}/{FIRST}.ipynb#cell-id=about-attention)"
    assert f"- ○ {attention} · optional · open, 10 min\n" in home
    assert home.count("<small>") == 1  # the second lesson has no such part


def test_home_of_a_class_counts_the_points_of_the_core(beyond):
    (beyond.course.root / "submitted").mkdir()
    keep(beyond, "softmax")
    keep(beyond, "attention")
    write_home(beyond.course)
    home = beyond.home.replace("\u00a0", " ")
    assert "7 of 24 points so far" in home and " | 7 of 16 | 60 min |" in home
    assert " · optional · solved, 7 of 8 points so far\n" in home


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([("attention", FIRST, 1)], (FIRST, "softmax")),
        ([("softmax", FIRST, 2), ("attention", FIRST, 2)], (FIRST, "scaled_scores")),
        ([("softmax", FIRST, 2), ("scaled_scores", FIRST, 2)], (SECOND, "project")),
    ],
)
def test_home_leads_along_the_core(beyond, checks, expected):
    for exercise, lesson, holding in checks:
        keep(beyond, exercise, lesson, holding)
    assert continues(beyond) == expected


def test_home_of_a_solved_core_names_what_goes_further(beyond):
    for exercise in ("softmax", "scaled_scores", "attention"):
        keep(beyond, exercise)
    keep(beyond, "project", SECOND)
    assert continues(beyond) is None
    write_home(beyond.course)
    assert "**Every exercise of the core is solved. Well done.**" in beyond.home
    assert "** Going further: [self_attention](" in beyond.home
    assert re.search(r"What is alike\?.* done \|", beyond.home)
    keep(beyond, "self_attention")
    write_home(beyond.course)
    assert "**Every exercise is solved. Well done.**" in beyond.home
    assert "Going further: 2 of 2 solved</small>" in beyond.home


def test_optional_exercise_is_never_put_off(beyond):
    keep_put_off(beyond.work, FIRST, "attention", 8.0)
    write_home(beyond.course)
    assert "Put off" not in beyond.home


def test_finished_lesson_is_done(learner):
    keep(learner, "project", SECOND)
    write_home(learner.course)
    assert re.search(r"Who attends\?.* done \|", learner.home)


def test_lesson_without_a_copy_is_named_without_a_link(learner):
    Copy(learner.course, SECOND).mine.unlink()
    write_home(learner.course)
    assert "02 Self-attention" in learner.home
    assert f"{SECOND}.ipynb" not in learner.home


def test_title_with_marks_of_markdown_breaks_no_table(learner):
    base = Copy(learner.course, FIRST).base
    title = "# A | B [c] <b>"
    base.write_text(base.read_text().replace("# Dot products", title))
    write_home(learner.course)
    assert r"[01 A \| B \[c\] &lt;b&gt;](" in learner.home


def test_unchanged_home_is_not_written_again(learner):
    assert write_home(learner.course)
    before = (learner.work / "home.md").stat().st_mtime_ns
    assert not write_home(learner.course)
    assert (learner.work / "home.md").stat().st_mtime_ns == before


def test_update_command_writes_home_anew(learner, monkeypatch):
    monkeypatch.chdir(learner.course.root)
    path = learner.course.learner(FIRST)
    path.write_text(path.read_text().replace("# Dot products", "# Products"))
    assert CliRunner().invoke(app, ["update"]).exit_code == 0
    assert f"[01 Products]({FIRST}/{FIRST}.ipynb)" in learner.home


def test_own_words_in_home_are_kept_aside(learner):
    path = learner.work / "home.md"
    for text in ("My own page", None):
        if text is None:
            text = path.read_text(encoding="utf-8") + "My notes\n"
        path.write_text(text, encoding="utf-8")
        keep(learner, "softmax", holding=1)
        assert write_home(learner.course)
        reopen(learner.work, "softmax")
    assert (learner.work / "home.md.yours-1").read_text() == "My own page"
    assert "My notes" in (learner.work / "home.md.yours-2").read_text()


@pytest.mark.parametrize("kind", ["folder", "bytes"])
def test_unreadable_home_is_kept_aside(learner, kind):
    path = learner.work / "home.md"
    path.mkdir() if kind == "folder" else path.write_bytes(b"\xff")
    assert write_home(learner.course)
    assert (learner.work / "home.md.unreadable-1").exists()


def test_broken_original_and_lesson_leave_a_bare_title(learner):
    Copy(learner.course, FIRST).base.write_text("{")
    assert read_outline(learner.course, FIRST).title == "Dot products"
    Copy(learner.course, FIRST).newer.write_text('{"cells": 3}')
    assert read_outline(learner.course, FIRST).title == "dot product attention"
    write_home(learner.course)
    assert "dot product attention" in learner.home


def test_next_step_is_the_next_thing_on_the_page(learner):
    steps = steps_after(learner)
    address = f"{FIRST}.ipynb#cell-id=about-scaled_scores"
    assert steps(FIRST, "softmax") == [NextStep("Next: ", "scaled_scores", address)]
    below, after = steps(SECOND, "project")
    assert str(after) == "After this lesson: 01 Dot products."
    assert str(below) == "Next: right below."
    assert below.address == f"{SECOND}.ipynb#cell-id=below"
    assert steps("notes", "softmax") == []
    assert steps(FIRST, "project") == []  # checked in a lesson that does not ask it


def test_next_step_jumps_over_no_section(learner):
    section = new_markdown_cell("## Now get it wrong on purpose", id="wrong")
    insert_below(learner, FIRST, "check-softmax", section)
    (step,) = steps_after(learner)(FIRST, "softmax")
    assert step.text == "Now get it wrong on purpose"
    assert step.address == f"{FIRST}.ipynb#cell-id=wrong"


def test_next_step_at_the_end_is_what_is_open_or_the_next_lesson(learner):
    steps = steps_after(learner)
    (left,) = steps(FIRST, "scaled_scores")
    assert str(left) == "Still open in this lesson: softmax."
    keep(learner, "softmax")
    solved, following = steps(FIRST, "scaled_scores")
    assert solved == "All 2 exercises of 01 Dot products are solved."
    assert str(following) == "Next: 02 Self-attention."
    assert (learner.folder() / following.address).resolve().is_file()
    keep(learner, "project", SECOND)
    _, home = steps(FIRST, "scaled_scores")
    assert home.address == "../home.md"
    insert_below(learner, FIRST, "check-scaled_scores", new_markdown_cell("## End"))
    _, *below = steps(FIRST, "scaled_scores")
    assert [each.text for each in below] == ["End", "Home"]


def test_next_step_at_the_end_of_the_core_is_the_next_lesson(beyond):
    steps = steps_after(beyond)
    assert [str(each) for each in steps(FIRST, "softmax")] == ["Next: scaled_scores."]
    solved, below, after, further = steps(FIRST, "scaled_scores")
    assert solved == "All 2 required exercises of 01 Dot products are solved."
    assert str(below) == "Next: In three lines."
    assert str(after) == "After this lesson: 02 Self-attention."
    assert str(further) == "If you like: Going further, 45 min."
    assert further.address == f"{FIRST}.ipynb#cell-id=further"


def test_core_that_ends_with_an_exercise_leads_onward(beyond):
    base = Copy(beyond.course, FIRST).base
    notebook = nbformat.read(base, as_version=4)
    notebook.cells = [each for each in notebook.cells if each.id != "closing"]
    nbformat.write(notebook, base)
    left, further = steps_after(beyond)(FIRST, "scaled_scores")
    assert str(left) == "Still open in this lesson: softmax."
    assert further.text == "Going further, 45 min"


def test_next_step_of_an_optional_exercise_is_below_it(beyond):
    steps = steps_after(beyond)
    below, after = steps(FIRST, "attention")
    assert str(below) == "Next: About self_attention."
    assert str(after) == "Still open in this lesson: softmax."
    keep(beyond, "softmax")
    keep(beyond, "scaled_scores")
    below, after = steps(FIRST, "attention")
    assert str(after) == "After this lesson: 02 Self-attention."
    solved, after = steps(FIRST, "self_attention")
    assert solved == "All 4 exercises of 01 Dot products are solved."
    assert str(after) == "Next: 02 Self-attention."
    keep(beyond, "project", SECOND)
    *_, home = steps(FIRST, "self_attention")
    assert str(home) == "Every required exercise of the course is solved: Home."
    # A lesson that was fetched alone is not the course, and has no Home next to it.
    whole = Home.of(beyond.course)
    alone = Home(whole.lessons[:1], whole.progress)
    assert [*next_steps(alone, FIRST, "self_attention")] == [solved]


def steps_after(learner):
    """Return a function that gives what follows an exercise which is solved now."""

    def steps(lesson, exercise):
        keep(learner, exercise, lesson)
        return [*next_steps(Home.of(learner.course), lesson, exercise)]

    return steps


def insert_below(learner, lesson, name, cell):
    base = Copy(learner.course, lesson).base
    notebook = nbformat.read(base, as_version=4)
    at = [each.id for each in notebook.cells].index(name)
    notebook.cells.insert(at + 1, cell)
    nbformat.write(notebook, base)


def test_next_step_is_a_link_in_the_report():
    notes = [NextStep("Next: ", "a<b", 'x.ipynb#cell-id="')]
    report = CheckReport(tiny(), judged(tiny(), double), notes)
    assert str(report).endswith("\nNext: a<b.")
    link = '<p>Next: <a href="x.ipynb#cell-id=&quot;">a&lt;b</a>.</p>'
    assert link in report.html()


def test_progress_command_prints_lessons_and_where_to_go_on(learner, monkeypatch):
    monkeypatch.chdir(learner.course.root)
    keep(learner, "softmax")
    done = CliRunner().invoke(app, ["progress"])
    assert done.exit_code == 0
    assert re.search(r"01 Dot products +1 of 2 +60", done.output)
    assert "Continue with scaled_scores: make lab LESSON=01" in done.output
    assert "✓ softmax (solved)" in done.output and "points" not in done.output
    monkeypatch.setenv("JUPYTERHUB_USER", "amara")
    done = CliRunner().invoke(app, ["progress"])
    assert re.search(r"01 Dot products +1 of 2 +7 of 16 +60", done.output)
    assert "✓ softmax (solved, 7 of 8 points so far)" in done.output


def test_progress_command_prints_optional_exercises_apart(beyond, monkeypatch):
    monkeypatch.chdir(beyond.course.root)
    monkeypatch.setenv("COLUMNS", "100")
    keep(beyond, "softmax")
    keep(beyond, "attention")
    output = CliRunner().invoke(app, ["progress"]).output.replace("\u00a0", " ")
    assert re.search(r"01 Dot products +1 of 2 +60 min +1 of 2 solved · 30 min", output)
    assert "✓ attention (optional, solved)" in output
    for each in ("scaled_scores", "self_attention"):
        keep(beyond, each)
    keep(beyond, "project", SECOND)
    output = CliRunner().invoke(app, ["progress"]).output
    assert "Every exercise is solved. Well done." in output


def test_progress_as_json_has_each_exercise(learner, monkeypatch):
    monkeypatch.chdir(learner.course.root)
    keep(learner, "softmax")
    data = json.loads(CliRunner().invoke(app, ["progress", "--json"]).output)
    assert data["continue"] == {"lesson": FIRST, "exercise": "scaled_scores"}
    softmax = data["lessons"][0]["exercises"][0]
    assert (softmax["state"], softmax["attempts"]) == ("solved", 1)
    assert "points" not in softmax
    assert data["lessons"][0]["minutes_left"] == 60


def test_missing_pytorch_is_said_below_the_lessons(learner, monkeypatch):
    text = Home.of(learner.course).markdown()
    monkeypatch.setattr(pytorch, "is_here", lambda: False)
    without = Home.of(learner.course).markdown()
    assert "PyTorch" not in text and "PyTorch, which is not installed" in without
