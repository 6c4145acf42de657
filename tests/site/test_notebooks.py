"""From the browser's storage into a notebook and back: nothing is lost on the way."""

import copy
import json
import random

import nbformat
import pytest

from autograder.book.home import course_data
from autograder.book.lessons import read_lesson
from autograder.checking.registry import exercises_of
from autograder.course import Course
from autograder.course.releases import PAGE_KEY
from autograder.demo.sample_class import right_answer
from autograder.workspace.answer_cell import earlier_answers, prediction_of
from autograder.workspace.update import merge
from tests.site.page_scripts import NEEDS_NODE, in_node, read_json

pytestmark = NEEDS_NODE
COURSE = Course.here()
LESSONS = COURSE.built_lessons
LESSON, OTHER = "01_dot_product_attention", "04_masking"
FRAMES = {name: read_json(COURSE.learner(name)) for name in LESSONS}
EXERCISES = {name: [each.name for each in exercises_of(name)] for name in LESSONS}
KEY = "attention-course"
TIME = "2026-01-02T03:04:05.678Z"
MINE = "def softmax(x, axis=-1):\n    return x"
THEIRS = "def softmax(x, axis=-1):\n    return 2 * x"
FILL = "return data.lessons.map(each => filled(data.frames[each], each));"
OUT = "const { filled, textOf } = attentionCourse.notebooks;"
IN = "const sentence = upload(data.text, data.course, data.frames);"


@pytest.fixture(scope="module")
def course():
    """Return what the pages are told of the whole course."""
    known = {each.name: each for each in exercises_of()}
    notebooks = {
        name: nbformat.read(COURSE.learner(name), as_version=4) for name in LESSONS
    }
    lessons = [read_lesson(name, notebooks[name], known) for name in LESSONS]
    return course_data(lessons, notebooks)


@pytest.fixture
def upload(course):
    """Upload a notebook or a text; return the sentence, and what the browser has."""

    def uploaded(notebook, texts=None, room=None):
        text = notebook if isinstance(notebook, str) else json.dumps(notebook)
        data = {"text": text, "course": course, "frames": FRAMES, "room": room}
        return in_node(
            f"""localStorage.room = data.room ?? Infinity;
            try {{ {IN} return [sentence, localStorage.texts()]; }}
            catch (error) {{ return [error.message, localStorage.texts()]; }}""",
            data,
            texts,
        )

    return uploaded


def download(texts, *lessons):
    """Return the notebooks of lessons from what a browser has."""
    data = {"lessons": lessons, "frames": FRAMES}
    return in_node(f"{OUT} {FILL}", data, texts)


def notebook_of(lesson=LESSON, **answers):
    """Return a learner's notebook with answers in it."""
    notebook = copy.deepcopy(FRAMES[lesson])
    for cell in notebook["cells"]:
        if cell["id"] in answers:
            cell["source"] = answers[cell["id"]]
    return notebook


def cell_of(notebook, name):
    """Return the cell of an id."""
    return next(each for each in notebook["cells"] if each.get("id") == name)


def as_read(notebook):
    """Return a notebook as other programs read it."""
    return nbformat.reads(json.dumps(notebook), as_version=4)


def rows(*sources, time=TIME):
    """Return earlier answers as the browser keeps them."""
    return json.dumps([{"time": time, "source": each} for each in sources])


def everything(seed):
    """Return what a browser may have of the whole course, drawn at random."""
    drawn = random.Random(seed)
    texts = {}
    for lesson in LESSONS:
        for name in EXERCISES[lesson]:
            pool = [f"def {name}(x):\n    return {i} # é\u2028\n" for i in range(9)]
            if drawn.random() < 0.7:
                texts[f"{KEY} answer {name}"] = answer = drawn.choice(pool)
                others = drawn.sample(pool, drawn.randrange(9))
                earlier = [answer, *(each for each in others if each != answer)]
                texts[f"{KEY} earlier {name}"] = rows(*earlier)
            if drawn.random() < 0.4:
                texts[f"{KEY} solved {name}"] = TIME
                check = {"time": TIME, "holding": 2, "claims": 5, "attempts": 3}
                texts[f"{KEY} checked {name}"] = json.dumps(check)
        for cell in FRAMES[lesson]["cells"]:
            if prediction_of(cell) and drawn.random() < 0.6:
                texts[f"{KEY} prediction {lesson}/{cell['id']}"] = "1"
            is_free = cell["cell_type"] == "code" and "nbgrader" not in cell["metadata"]
            if is_free and drawn.random() < 0.2:
                texts[f"{KEY} cell {lesson} {cell['id']}"] = "print(1)\n"
    return texts


def test_download_without_answers_is_the_lesson_itself():
    data = {"lessons": LESSONS, "frames": FRAMES}
    texts = in_node(
        f"""{OUT} const {{ lessons, frames }} = data;
        return lessons.map(each => filled(frames[each], each)).map(each => {{
            delete each.metadata.attention_page;
            return textOf(each);
        }});""",
        data,
    )
    for lesson, text in zip(LESSONS, texts, strict=True):
        assert text == COURSE.learner(lesson).read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(3))
def test_round_trip_through_notebooks_changes_nothing(course, seed):
    before = everything(seed)
    data = {"lessons": LESSONS, "frames": FRAMES, "course": course}
    after, sentences, repeated = in_node(
        f"""{OUT} const texts = data.lessons.map(
            each => textOf(filled(data.frames[each], each)));
        localStorage.clear();
        texts.forEach(text => upload(text, data.course, data.frames));
        const after = localStorage.texts();
        const sentences = texts.map(text => upload(text, data.course, data.frames));
        return [after, sentences, localStorage.texts()];""",
        data,
        before,
    )
    assert _without_times(after) == _without_times(before)
    assert {*sentences} <= {
        "Nothing in it is new here.",
        "It holds no answer and no prediction yet.",
    }
    assert repeated == after


def _without_times(texts):
    """Return a browser's texts without the time of the answer that is there now."""
    plain = dict(texts)
    for key, text in texts.items():
        if key.startswith(f"{KEY} earlier "):
            plain[key] = [each["source"] for each in json.loads(text)]
    return plain


@pytest.mark.parametrize("lesson", [LESSON, OTHER])
def test_download_is_valid_and_update_keeps_it(lesson):
    texts = everything(7) | {f"{KEY} solved {EXERCISES[lesson][0]}": TIME}
    (notebook,) = download(texts, lesson)
    mine = as_read(notebook)
    nbformat.validate(mine)
    frame = as_read(FRAMES[lesson])
    newer = copy.deepcopy(frame)
    newer.cells[0].source += "\n\nMore."
    for base in (None, frame):
        merged = merge(newer, mine, base).notebook
        assert merged.metadata[PAGE_KEY] == mine.metadata[PAGE_KEY]
        for cell in merged.cells:
            own = cell_of(mine, cell.id)
            if cell.id in EXERCISES[lesson]:
                assert cell.source == own.source
                assert earlier_answers(cell) == earlier_answers(own)
            assert prediction_of(cell) == prediction_of(own)


def test_answer_of_a_cell_is_the_text_of_the_page():
    (notebook,) = download({f"{KEY} answer softmax": MINE + "\n"}, LESSON)
    cell = cell_of(notebook, "softmax")
    assert "".join(cell["source"]) == MINE + "\n"
    assert cell["metadata"] == cell_of(FRAMES[LESSON], "softmax")["metadata"]


def test_upload_keeps_what_stood_here_among_the_earlier(upload):
    notebook = notebook_of(softmax=THEIRS)
    ours = cell_of(notebook, "softmax")["metadata"]["attention"]
    ours["earlier"] = [{"time": TIME, "source": "old"}, {"time": TIME, "source": "new"}]
    texts = {f"{KEY} answer softmax": MINE, f"{KEY} earlier softmax": rows("mine")}
    sentence, after = upload(notebook, texts)
    assert sentence == (
        "1 answer and 2 earlier answers taken; 1 of yours is kept among the earlier "
        "ones."
    )
    assert after[f"{KEY} answer softmax"] == THEIRS
    earlier = [each["source"] for each in json.loads(after[f"{KEY} earlier softmax"])]
    assert earlier[:2] == [THEIRS, MINE] and {*earlier[2:]} == {"mine", "new", "old"}


@pytest.mark.parametrize("seed", range(3))
def test_no_text_of_either_side_is_lost(upload, seed):
    one, other = everything(seed), everything(seed + 100)
    (notebook,) = download(other, LESSON)
    _, after = upload(notebook, one)
    for name in EXERCISES[LESSON]:
        written = {text for side in (one, other) for text in _sources(side, name)}
        assert _sources(after, name) == written
        if f"{KEY} solved {name}" in {**one, **other}:
            assert f"{KEY} solved {name}" in after


def _sources(texts, name):
    answer = texts.get(f"{KEY} answer {name}")
    earlier = json.loads(texts.get(f"{KEY} earlier {name}", "[]"))
    return {each["source"] for each in earlier} | ({answer} if answer else set())


def test_stub_is_no_answer_of_any_release(upload):
    stub = (
        'def softmax(\n    x: dict[str, int],\n) -> None:\n    """Older: words."""\n'
        "    raise NotImplementedError  # replace this line\n"
    )
    notebook = notebook_of(softmax=stub, attention=" \n")
    cell_of(notebook, "softmax")["metadata"].pop("attention")
    texts = {f"{KEY} answer softmax": MINE}
    assert upload(notebook, texts) == [
        "It holds no answer and no prediction yet.",
        texts,
    ]
    written = stub.replace("    raise", "    x = 1\n    raise")
    sentence, after = upload(notebook_of(softmax=written))
    assert (sentence, after[f"{KEY} answer softmax"]) == ("1 answer taken.", written)


def test_older_release_is_read_by_the_names_of_its_exercises(upload):
    notebook = notebook_of(softmax=THEIRS)
    notebook["metadata"].pop("attention_release")
    for cell in notebook["cells"]:
        cell.pop("id")
        cell["metadata"].pop("attention", None)
    notebook["cells"] = [
        each for each in notebook["cells"] if "nbgrader" in each["metadata"]
    ]
    sentence, after = upload(notebook)
    assert sentence == "1 answer taken." and after[f"{KEY} answer softmax"] == THEIRS


def test_prediction_of_another_text_is_not_taken(upload):
    notebook = notebook_of()
    first, second, third = [each for each in notebook["cells"] if prediction_of(each)][
        :3
    ]
    for cell in (first, second):
        cell["metadata"]["attention"]["prediction"]["choice"] = 1
    third["metadata"]["attention"]["prediction"]["choice"] = 99
    first["source"] = ["Another question\n", "\n", "- a\n", "- b"]
    sentence, after = upload(notebook)
    assert sentence == "1 prediction taken."
    assert after == {f"{KEY} prediction {LESSON}/{second['id']}": "1"}
    second["metadata"]["attention"]["prediction"]["choice"] = 0
    sentence, same = upload(notebook, after)
    assert (
        sentence == "Nothing in it is new here; 1 prediction that you made here stays."
    )
    assert same == after


def test_cells_of_ones_own_come_back_where_they_stood(upload):
    notebook = notebook_of()
    marks = cell_of(notebook, "softmax")["metadata"]
    own = [
        {"cell_type": "markdown", "id": "0a1b2c3d", "metadata": {}, "source": "mine"},
        {
            "cell_type": "code",
            "id": "1a1b2c3d",
            "metadata": marks,
            "outputs": [],
            "source": "copied",
            "execution_count": None,
        },
    ]
    at = notebook["cells"].index(cell_of(notebook, "softmax")) + 1
    notebook["cells"][at:at] = own
    sentence, after = upload(notebook)
    assert sentence == "2 cells of your own taken."
    (back,) = download(after, LESSON)
    nbformat.validate(as_read(back))
    ids = [each["id"] for each in back["cells"]]
    assert ids == [each["id"] for each in notebook["cells"]]
    assert cell_of(back, "1a1b2c3d")["metadata"] == {}
    assert upload(notebook, after) == ["Nothing in it is new here.", after]
    own[0]["source"] = "mine, newer"
    _, later = upload(notebook, after)
    (back,) = download(later, LESSON)
    cell = cell_of(back, "0a1b2c3d")
    assert "".join(cell["source"]) == "mine, newer"
    assert [each["source"] for each in earlier_answers(cell)] == ["mine"]


def test_changed_cell_of_the_same_text_of_the_lesson_is_taken(upload):
    (notebook,) = download({}, LESSON)
    cell = next(
        each
        for each in notebook["cells"]
        if each["cell_type"] == "code" and "nbgrader" not in each["metadata"]
    )
    cell["source"] = "mine"
    key = f"{KEY} cell {LESSON} {cell['id']}"
    assert upload(notebook) == ["1 changed cell taken.", {key: "mine"}]
    sentence, after = upload(notebook, {key: "other"})
    assert sentence == "Nothing in it is new here; 1 cell that you changed here stays."
    assert after == {key: "other"}
    notebook["metadata"]["attention_page"]["text"] = "of another release"
    assert upload(notebook)[1] == {}


def test_check_in_jupyterlab_counts_as_solved(upload):
    notebook = notebook_of(softmax=THEIRS)
    report = {"exercise": "softmax", "solved": True}
    data = {"application/vnd.attention-course.check+json": report}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    cell_of(notebook, "check-softmax")["outputs"] = [output]
    _, after = upload(notebook)
    assert f"{KEY} solved softmax" in after


def test_all_that_a_browser_keeps_comes_back(upload):
    texts = everything(5) | {f"{KEY} theme x": "y", "other site": "z"}
    whole = in_node("return attentionCourse.notebooks.whole();", None, texts)
    sentence, after = upload(whole)
    assert "answers" in sentence and "predictions" in sentence
    del texts["other site"]
    assert _without_times(after) == _without_times(texts)
    assert upload(whole, after) == ["Nothing in it is new here.", after]


FOREIGN = {
    "cells": [
        {
            "cell_type": "code",
            "id": name,
            "metadata": {"nbgrader": {"grade_id": name, "solution": True}},
            "source": "1",
        }
        for name in ("softmax", "sort", "search")
    ],
    "metadata": {},
}


@pytest.mark.parametrize(
    "text, reason",
    [
        ("{", "what it holds is not JSON"),
        ("", "what it holds is not JSON"),
        ("[" * 100_000, "what it holds is not JSON"),
        ("<!DOCTYPE html>", "a web page: take the notebook itself"),
        ("[]", "it has no cells"),
        ('{"worksheets": []}', "it has no cells"),
        ('{"cells": [1]}', "it has no cells"),
        ('{"cells": []}', "no notebook of this course"),
        (json.dumps(FOREIGN), "no notebook of this course"),
        ('{"attention-course": 2, "kept": {}}', "another version of this book"),
    ],
)
def test_what_is_no_notebook_of_ours_is_refused(upload, text, reason):
    texts = {f"{KEY} answer softmax": MINE}
    sentence, after = upload(text, texts)
    assert sentence.startswith("mine.ipynb is ") and reason in sentence
    assert after == texts


@pytest.mark.parametrize(
    "odd",
    [
        {"attention": {"earlier": {"a": 1}, "stub": 3}},
        {"attention": [1], "nbgrader": {"grade_id": "softmax", "solution": True}},
        {"attention": {"earlier": [None, 1, {"source": 2}]}},
    ],
)
def test_odd_metadata_costs_no_answer(upload, odd):
    notebook = notebook_of(softmax=THEIRS)
    cell_of(notebook, "softmax")["metadata"] |= odd
    notebook["metadata"]["attention_page"] = {"solved": 1, "checked": {"softmax": []}}
    sentence, after = upload(notebook)
    assert sentence == "1 answer taken."
    assert json.loads(after[f"{KEY} earlier softmax"])[0]["source"] == THEIRS


def test_storage_that_is_full_takes_all_or_nothing(upload):
    answers = {name: right_answer(name) for name in EXERCISES[LESSON]}
    texts = {f"{KEY} answer {name}": f"# {name}" for name in answers}
    notebook = notebook_of(**answers)
    _, whole = upload(notebook, texts)
    size = sum(len(key) + len(text) for key, text in whole.items())
    for room in range(0, size, size // 12):
        room = max(room, sum(len(key) + len(text) for key, text in texts.items()))
        assert upload(notebook, texts, room) == ["no room", texts]
    assert upload(notebook, texts, size + 40)[0] != "no room"


def test_predictions_of_former_addresses_are_renamed():
    texts = {
        f"{KEY} /book/{LESSON}/{LESSON}.html first": "2",
        f"{KEY} /{LESSON}/{LESSON} second": "1",
        f"{KEY} /x/{LESSON}/{LESSON}.html third": "1",
        f"{KEY} prediction {LESSON}/third": "0",
        f"{KEY} answer softmax": "/a/b c",
    }
    assert in_node("return localStorage.texts();", None, texts) == {
        f"{KEY} answer softmax": "/a/b c",
        f"{KEY} prediction {LESSON}/first": "2",
        f"{KEY} prediction {LESSON}/second": "1",
        f"{KEY} prediction {LESSON}/third": "0",
    }


def test_earlier_versions_without_times_are_read():
    texts = {f"{KEY} earlier softmax": json.dumps(["a", 1, "b"])}
    names = in_node("return attentionCourse.storage.earlierOf('softmax');", None, texts)
    assert names == ["a", "b"]
