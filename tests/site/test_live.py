"""What makes a page answer, as files: what it is told, what it loads, its policy."""

import base64
import gzip
import hashlib
import json
import re

import nbformat
import pytest
from bs4 import BeautifulSoup

from autograder.book import live
from autograder.book.in_page.check import check_text
from autograder.book.live import (
    DIGESTS,
    DRAWING,
    LIVE,
    NETWORK,
    as_data,
    copy_pyodide,
    imports_above,
    with_policy,
    write_live,
)
from autograder.book.wheel import wheel
from autograder.checking.registry import exercises_of, load
from autograder.course import Course, CourseError
from tests.browser import REPOSITORY
from tests.site import pyodide
from tests.site.book import LESSONS
from tests.site.test_wheel import FIRST_LESSONS

EXERCISES = [each.name for lesson in LESSONS for each in exercises_of(lesson)]
PAGE = '<html><meta charset="utf-8" /><script>1</script><p onclick="2"></html>'


def data_of(site, name):
    """Return what the page of an exercise is told."""
    html = (site / "exercises" / f"{name}.html").read_text(encoding="utf-8")
    (editor,) = BeautifulSoup(html, "lxml").select(".live")
    return json.loads(editor.select_one("script[type='application/json']").string)


def learner_cell(exercise):
    """Return the cell of an exercise in its learner's notebook."""
    path = Course.here().root / "notebooks" / exercise.lesson
    notebook = nbformat.read(path / f"{exercise.lesson}.ipynb", as_version=4)
    return next(cell for cell in notebook.cells if cell.id == exercise.name)


def sha256(data):
    """Return a digest as browsers read it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"


@pytest.mark.parametrize("name", EXERCISES)
def test_page_begins_with_the_stub_of_the_notebook(site, name):
    about = data_of(site, name)
    cell = learner_cell(load(name))
    assert about["name"] == name
    assert about["stub"].rstrip() == cell.source
    assert about["courseVersion"].rstrip() == cell.metadata.attention.course_version


@pytest.mark.parametrize("name", EXERCISES)
def test_stub_of_a_page_is_not_written_yet(site, name):
    about = data_of(site, name)
    report = check_text(name, about["stub"], imports=about["imports"])
    assert report["headline"] == f"{name} is not written yet"
    course = check_text(name, about["courseVersion"])
    assert course["kind"] == "course version"


def test_page_names_what_an_answer_may_call_and_what_that_calls():
    uses = live._all_uses(load("encode_bytes"))
    assert [*uses] == ["merge_pair", "encode_word"]


@pytest.mark.parametrize("lesson", Course.here().built_lessons[:7])
def test_stubs_run_with_the_imports_above_them(lesson):
    course = Course.here()
    notebook = nbformat.read(course.teacher(lesson), as_version=4)
    for exercise in exercises_of(lesson):
        if exercise.name in FIRST_LESSONS:
            stub = learner_cell(exercise).source
            lines = [*imports_above(notebook, exercise.name)]
            report = check_text(exercise.name, stub, imports=lines)
            assert report["kind"] == "report"
            assert "raise NotImplementedError" in report["text"]
            for line in lines:
                exec(line, {})
            assert not re.search("torch|figures|autograder|tokenizers", " ".join(lines))


def test_imports_of_what_a_page_has_not_are_left_out():
    source = """
import torch, math
from course_lib import attention, figures
from course_lib.lessons import decoder_variants, patients
from course_lib.attention import softmax as s
from autograder import check
"""
    cells = [nbformat.v4.new_code_cell(source, id="set-up")]
    cells += [nbformat.v4.new_code_cell("", id="leak")]
    cells += [nbformat.v4.new_code_cell("import re", id="below")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert [*imports_above(notebook, "leak")] == [
        "import math",
        "from course_lib import attention",
        "from course_lib.lessons import patients",
        "from course_lib.attention import softmax as s",
    ]


def test_lesson_has_an_editor_above_each_solution(site):
    for lesson in LESSONS:
        html = (site / lesson / f"{lesson}.html").read_text(encoding="utf-8")
        soup = BeautifulSoup(html, "lxml")
        blocks = soup.select(".live script[type='application/json']")
        names = [json.loads(block.string)["name"] for block in blocks]
        assert sorted(names) == sorted(each.name for each in exercises_of(lesson))
        for name, block in zip(names, blocks, strict=True):
            assert json.loads(block.string) == data_of(site, name)
            after = block.find_parent(class_="live").find_next_sibling()
            assert after["class"] == ["solution"]
        assert 'http-equiv="Content-Security-Policy"' in html


def test_page_without_scripts_has_a_way_to_more(site):
    html = (site / "exercises" / "softmax.html").read_text(encoding="utf-8")
    text = BeautifulSoup(html, "lxml").select_one(".live p").get_text()
    assert "make site SERVE=1" in text and "make lab" in text


def test_data_cannot_end_their_block():
    text = "</script><!-- & \u2028"
    assert not re.search("[<>&\u2028]", as_data({"text": text}))
    assert json.loads(as_data({"text": text})) == {"text": text}


def test_config_names_pinned_files_with_their_digests(site):
    folder = site / LIVE
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["pyodide"] == NETWORK and live.VERSION in NETWORK
    assert config["files"].keys() == DIGESTS.keys()
    address, _, query = config["wheel"].partition("?v=")
    data = (folder / address).read_bytes()
    assert config["wheelIntegrity"] == sha256(data)
    assert query == hashlib.sha256(data).hexdigest()[:16]
    address, _, query = config["lock"].partition("?v=")
    lock = (folder / address).read_bytes()
    assert query == hashlib.sha256(lock).hexdigest()[:16]
    assert config["lockIntegrity"] == sha256(lock)
    packages = json.loads(lock)["packages"]
    for package in packages.values():
        assert package["sha256"] == (DIGESTS | DRAWING)[package["file_name"]]
    lessons, drawing = config["extras"]["lessons"], config["extras"]["drawing"]
    assert drawing["files"].keys() == DRAWING.keys()
    assert {*packages} == {"numpy", *drawing["packages"]}
    address, _, query = lessons["archive"].partition("?v=")
    data = (folder / address).read_bytes()
    assert lessons["archiveIntegrity"] == sha256(data)
    assert query == hashlib.sha256(data).hexdigest()[:16]


@pytest.mark.skipif(not pyodide.at_hand(), reason=pyodide.MISSING)
def test_what_a_page_loads_is_about_10_mb_on_the_network():
    # The network sends scripts and compiled code compressed, archives as they are.
    n_bytes = len(wheel())
    for name in DIGESTS:
        data = (pyodide.FOLDER / name).read_bytes()
        is_archive = name.endswith((".zip", ".whl"))
        n_bytes += len(data if is_archive else gzip.compress(data))
    assert 9_000_000 < n_bytes < 10_000_000
    for path in (REPOSITORY / "README.md", live.HERE / "python.js"):
        assert "about 10 MB, " in path.read_text(encoding="utf-8")


@pytest.mark.skipif(not pyodide.at_hand(), reason=pyodide.MISSING)
def test_matplotlib_is_as_large_as_the_page_says():
    sizes = [(pyodide.FOLDER / name).stat().st_size for name in DRAWING]
    assert round(sum(sizes) / 1e6) == live.MEGABYTES_OF_DRAWING


def test_policy_lets_a_page_load_its_own_and_pyodide_alone():
    (content,) = re.findall('content="([^"]*)"', with_policy(PAGE, NETWORK))
    policy = dict(each.split(" ", 1) for each in content.split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == f"'self' {NETWORK}"
    scripts = policy["script-src"].split()
    assert {f"'{sha256(b'1')}'", f"'{sha256(b'2')}'"} < {*scripts}
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "https:"} & {*scripts}
    assert "connect-src 'self';" in with_policy(PAGE, "")


def test_pages_that_answer_have_a_policy(site):
    for name in EXERCISES:
        html = (site / "exercises" / f"{name}.html").read_text(encoding="utf-8")
        head, _, rest = html.partition('http-equiv="Content-Security-Policy"')
        assert rest and "<script" not in head


def test_folder_of_another_pyodide_is_refused(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    with pytest.raises(CourseError, match="PYODIDE names the folder"):
        copy_pyodide(source, tmp_path / "one")
    for name in DIGESTS | DRAWING:
        (source / name).write_bytes(b"another")
    with pytest.raises(CourseError, match="is not the file of Pyodide"):
        copy_pyodide(source, tmp_path / "two")


def test_book_of_its_own_pyodide_asks_no_network(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    data = {name: name.encode() for name in DIGESTS | DRAWING}
    hexes = {name: hashlib.sha256(each).hexdigest() for name, each in data.items()}
    monkeypatch.setattr(live, "DIGESTS", hexes)
    monkeypatch.setattr(live, "DRAWING", {})
    for name, each in data.items():
        (source / name).write_bytes(each)
    site = tmp_path / "site"
    site.mkdir()
    (site / "page.html").write_text(f"{PAGE}{live.EDITOR}", encoding="utf-8")
    (site / "other.html").write_text(PAGE, encoding="utf-8")
    for _ in range(2):  # a second build finds the first
        write_live(site, source)
    assert {path.name for path in (site / LIVE / "pyodide").iterdir()} == {*data}
    config = json.loads((site / LIVE / "config.json").read_text(encoding="utf-8"))
    assert config["pyodide"] == "pyodide/"
    assert "https:" not in (site / "page.html").read_text(encoding="utf-8")
    assert (site / "other.html").read_text(encoding="utf-8") == PAGE
    write_live(site)
    assert not (site / LIVE / "pyodide").exists()


def test_scripts_call_functions_that_are_there():
    scripts = [path.read_text(encoding="utf-8") for path in live.HERE.glob("*.js")]
    (text,) = re.findall(r"const FIND = `(.+?)`", "".join(scripts), re.DOTALL)
    *lines, find = text.strip().splitlines()
    names = {}
    exec("\n".join(lines), names)
    called = set(re.findall(r'(?:find|\.ask)\("([\w.]+)"', "".join(scripts)))
    compared = set(re.findall(r'call === "([\w.]+)"', "".join(scripts)))
    assert called == {"cells.run_json", "check.check_json", "check.prepare"}
    assert compared <= called
    assert all(callable(names[find](name)) for name in called)
