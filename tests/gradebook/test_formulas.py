"""Formulas in formgrader: from this machine where it has MathJax, else not missed."""

import json
import re

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers

from autograder.gradebook.formulas import mathjax_folder, with_formulas
from autograder.system import find_browser
from tests.browser import page_of

FORMULA = r"The scores are $q k^\top / \sqrt{d_k}$."


@pytest.fixture(scope="module")
def html():
    """Return a submission's page as nbgrader makes it."""
    exporter = HTMLExporter(
        template_name="formgrade", extra_template_basedirs=[handlers.template_path]
    )
    cell = nbformat.v4.new_markdown_cell(FORMULA)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    resources = dict.fromkeys(
        ("assignment_id", "notebook_id", "submission_id", "student", "base_url"), "x"
    )
    resources |= {"index": 0, "total": 1, "notebook_path": "x"}
    resources |= {"last_name": "", "first_name": ""}
    return exporter.from_notebook_node(notebook, resources=resources)[0]


def test_page_asks_this_machine_where_mathjax_is_installed(html):
    assert "cdnjs.cloudflare.com" in html
    offline = with_formulas(html, "/base/", installed=True)
    assert "cdnjs.cloudflare.com/ajax/libs/mathjax" not in offline
    assert '<script src="/base/formgrader/mathjax/tex-chtml.js">' in offline
    assert (mathjax_folder() / "tex-chtml.js").is_file()


def test_page_goes_on_where_no_mathjax_can_be_had(html):
    page = with_formulas(html, "/", installed=False)
    public, ours = page.index("cdnjs.cloudflare.com"), page.index("MathJax.Hub =")
    assert public < ours


@pytest.mark.browser
@pytest.mark.skipif(not find_browser(), reason="neither Chromium nor Chrome is here")
@pytest.mark.parametrize("installed", [True, False])
def test_formulas_are_set_without_a_network(html, tmp_path, installed):
    text = with_formulas(html, tmp_path.as_uri(), installed=installed)
    text = re.sub(r'<script src="x/[^"]*"></script>', "", text)
    (tmp_path / "formgrader").mkdir()
    (tmp_path / "formgrader" / "mathjax").symlink_to(mathjax_folder())
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    with page_of("about:blank") as page:
        page.route("https://**", lambda route: route.abort())
        page.goto((tmp_path / "page.html").as_uri())
        page.evaluate("new Promise(done => MathJax.Hub.Startup.signal.Interest(done))")
        set_ = page.locator("#notebook-container mjx-container").count()
        assert set_ == installed, json.dumps(page.content()[-2000:])
