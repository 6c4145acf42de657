"""The trained models in the book: copied, found by the views, allowed by the policy."""

import contextlib
import functools
import http.server
import threading

import numpy as np
import pytest

from autograder.book.live import HERE, LIVE, copy_models, with_policy
from course_lib.lessons import own_words
from course_lib.nn.model_file import read_model_file
from tests.browser import becomes_true, page_of, recorded
from tests.figures.living import page_text
from tests.figures.small_models import small_language_model
from tests.figures.test_living_writing import figure_of

# As the book's scripts have it before pictures.js.
BEFORE = "const attentionCourse = { editing: { make() {}, nodesOf() {} } };"

ICON = '<link rel="icon" href="data:,">'  # which browsers would ask for


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return the folder of the models of ``make models``, empty."""
    monkeypatch.setenv("ATTENTION_COURSE_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "models").mkdir(parents=True)
    return tmp_path / "data" / "models"


def test_book_takes_the_models_along_or_says_what_is_missing(data, tmp_path):
    site = tmp_path / "site"
    (site / LIVE).mkdir(parents=True)
    assert "make models" in copy_models(site)[0]
    (data / "poet.bin").write_bytes(b"poems")
    assert copy_models(site) == []
    assert (site / LIVE / "models" / "poet.bin").read_bytes() == b"poems"
    (data / "poet.bin").unlink()
    copy_models(site)
    assert not (site / LIVE / "models").exists()


def test_view_in_the_book_loads_the_model_beside_its_page(data, tmp_path):
    site = tmp_path / "site"
    (site / LIVE).mkdir(parents=True)
    model = read_model_file(small_language_model(data)).load()
    copy_models(site)
    scripts = site / "_static"
    (scripts / "before.js").write_text(BEFORE, encoding="utf-8")
    pictures = (HERE / "pictures.js").read_text(encoding="utf-8")
    (scripts / "pictures.js").write_text(pictures, encoding="utf-8")
    tags = "".join(
        f'<script src="_static/{name}.js"></script>' for name in ("before", "pictures")
    )
    text = page_text(figure_of(model, None)).replace("</head>", f"{ICON}{tags}</head>")
    html = with_policy(text.replace('utf-8">', 'utf-8" />'), "")
    assert "Content-Security-Policy" in html
    (site / "index.html").write_text(html, encoding="utf-8")
    with served(site) as address:
        with (
            page_of(address, bypass_csp=False) as page,
            recorded(page) as requests,
        ):
            page.locator("textarea").focus()
            status = page.locator(".model-status")
            becomes_true(page, lambda: "You typed" in status.inner_text())
        own = [each for each in requests if not each.startswith("blob:")]
        assert own == [f"{address}/{LIVE}/models/small.bin"]
        (site / LIVE / "models" / "small.bin").unlink()
        # A page of another browser: this one keeps a file for a tenth of its age.
        with page_of(address, bypass_csp=False) as page:
            page.locator("textarea").focus()
            status = page.locator(".model-status")
            becomes_true(page, lambda: "file is not there" in status.inner_text())
    with page_of((site / "index.html").as_uri()) as page:
        page.locator("textarea").focus()
        status = page.locator(".model-status")
        becomes_true(page, lambda: "could not be loaded" in status.inner_text())
        assert "stored example" in status.inner_text()


def test_stored_example_carries_no_model_where_outputs_are_made(data, monkeypatch):
    assert own_words.next_token_example()["file"] is None
    path = data / own_words.LANGUAGE_MODEL
    path.write_bytes(b"numbers")
    assert own_words.next_token_example()["file"] == b"numbers"
    monkeypatch.setenv(own_words.APART, "yes")
    assert own_words.next_token_example()["file"] is None


def test_stored_example_is_what_its_alternative_text_says():
    example = own_words.next_token_example()
    logits = np.array(example["contexts"][tuple(example["start"])])
    likeliest = [example["vocabulary"][i].strip() for i in np.argsort(-logits)[:2]]
    assert likeliest == ["you", "thee"]
    assert all(word in own_words.ALT for word in likeliest)
    start = "".join(example["vocabulary"][i] for i in example["start"])
    assert start == example["text"]
    assert len(example["vocabulary"]) == 1024 == len(logits)
