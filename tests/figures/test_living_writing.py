"""The reader's own text in the view of the next token, in a real browser."""

import base64

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from course_lib import figures
from course_lib.nn.model_file import read_model_file
from tests.browser import TOO_WIDE, becomes_true
from tests.figures.living import GROUNDS, assert_accessible, opened
from tests.figures.small_models import small_language_model

ALT = "Of 270 tokens a few are probable."
BEGUN = "To be"
SETTINGS = {"temperature": 0.8, "top_k": 40, "top_p": 0.9}
ODD = {
    "": "knows Shakespeare's plays alone",
    "a": "You typed 1 token.",
    "x" * 5000: "its context has 40.",
    "😀🤷🏽‍♀️": "Most are single letters or bytes",
    "עולם שלם": "Most are single letters or bytes",
    "Qzxj wvqk": "Most are single letters or bytes",
    "<img src=x onerror=alert(1)><b>": "You typed",
    "\u0000\ud7ff\n\n\t": "You typed",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return small_language_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def model(file):
    return read_model_file(file).load()


def figure_of(model, content, vocabulary=None):
    _, tokenizer = model
    ids = tokenizer.encode(BEGUN)
    names = [*map(str, tokenizer.vocabulary)]
    stored = {tuple(ids): np.linspace(2, -2, len(vocabulary or names))}
    return figures.next_token(
        *(stored, vocabulary or names, ids),
        alt=ALT,
        model="small.bin",
        text=BEGUN,
        file=content,
        **SETTINGS,
    )


@pytest.fixture
def figure(file, model):
    return figure_of(model, file.read_bytes())


def begin(page, text=None):
    """Focus the box; wait until the model has read what is in it."""
    box = page.locator("textarea")
    box.focus()
    page.wait_for_selector(".inside:not([hidden])")
    if text is not None:
        box.fill(text)
    page.wait_for_function(
        "text => document.querySelector('.model-status').textContent.includes(text)",
        arg="leaves your browser",
    )


def after(model, ids):
    with torch.inference_mode():
        return model[0](torch.tensor([ids]))[0, -1]


def bars(page):
    rows = page.eval_on_selector_all(
        ".bar", "all => all.map(e => [Number(e.dataset.id), Number(e.dataset.before)])"
    )
    return dict(map(tuple, rows))


def assert_bars(page, logits):
    p = (logits / SETTINGS["temperature"]).softmax(dim=-1)
    expected = p.topk(12)
    becomes_true(page, lambda: [*bars(page)] == expected.indices.tolist())
    assert [*bars(page).values()] == pytest.approx(expected.values.tolist(), abs=1e-5)


def test_typed_text_goes_through_the_model(figure, model, tmp_path):
    tokenizer = model[1]
    with opened(tmp_path, figure) as page:
        assert "stored example" in page.locator(".model-status").inner_text()
        assert_bars(page, torch.linspace(2, -2, len(tokenizer)))
        begin(page)
        assert_bars(page, after(model, tokenizer.encode(BEGUN)))
        for text in ("To be, or", "that", "o"):
            page.locator("textarea").fill(text)
            ids = tokenizer.encode(text)
            assert_bars(page, after(model, ids))
            assert page.locator(".sequence button").count() == len(ids)


def test_model_writes_on_by_button_and_keys(figure, model, tmp_path):
    tokenizer = model[1]
    count = "document.querySelectorAll('.sequence button').length"
    with opened(tmp_path, figure) as page:
        begin(page, "To be")
        n = len(tokenizer.encode("To be"))
        page.get_by_role("button", name="one token").click()
        page.wait_for_function(f"{count} === {n + 1}")
        page.locator("textarea").press("Control+Enter")
        page.wait_for_function(f"{count} >= {n + 5}")
        page.get_by_role("button", name="stop").click()
        page.wait_for_timeout(300)
        drawn = page.evaluate(count) - n
        assert drawn >= 5 and page.locator(".sequence .drawn").count() == drawn
        assert page.locator("textarea").input_value().startswith("To be")
        assert len(page.locator("textarea").input_value()) > len("To be")
        page.get_by_role("button", name="from the start").click()
        page.wait_for_function(f"{count} === {n}")
        assert page.locator("textarea").input_value() == "To be"
        page.get_by_role("button", name="most likely").click()
        page.wait_for_function(f"{count} === {n + 1}")
        likely = int(after(model, tokenizer.encode("To be")).argmax())
        written = tokenizer.decode([*tokenizer.encode("To be"), likely])
        becomes_true(page, lambda: page.locator("textarea").input_value() == written)


def test_full_context_is_read_from_its_later_half(figure, model, tmp_path):
    tokenizer = model[1]
    text = "To be, or not to be: that is the question. " * 3
    ids = tokenizer.encode(text)
    start = 21 * -(-(len(ids) - 40) // 21)
    with opened(tmp_path, figure) as page:
        begin(page, text)
        assert_bars(page, after(model, ids[start:]))
        assert page.locator(".cut-off").inner_text() == f"… {start} tokens"


def test_every_head_of_the_token_in_focus_is_drawn(figure, model, tmp_path):
    network, tokenizer = model
    text = "To be, or not"
    with opened(tmp_path, figure) as page:
        begin(page, text)
        ids = tokenizer.encode(text)
        assert_bars(page, after(model, ids))
        with torch.inference_mode():
            weights = network.attention_weights(torch.tensor([ids]))[0]
        page.locator(".sequence button").first.focus()
        for i in (1, 2):
            page.keyboard.press("ArrowRight")
            becomes_true(page, lambda i=i: len(drawn_heads(page)[0]) == i + 1)
            expected = weights[:, :, i, : i + 1].flatten(0, 1).numpy()
            np.testing.assert_allclose(drawn_heads(page), expected, atol=6e-5)
            shares = token_shares(page)[: i + 1]
            np.testing.assert_allclose(shares, expected.mean(axis=0), atol=1e-5)
        head = page.get_by_role("button", name="layer 2, head 3")
        head.press("Enter")
        assert head.get_attribute("aria-pressed") == "true"
        own = weights[1, 2, 2, :3].numpy()
        becomes_true(page, lambda: np.allclose(token_shares(page)[:3], own, atol=1e-5))
        assert "by head 3 of layer 2" in page.locator(".attends").inner_text()


def drawn_heads(page):
    texts = page.eval_on_selector_all(
        ".head", "all => all.map(each => each.dataset.weights)"
    )
    return [[float(each) for each in text.split()] for text in texts]


def token_shares(page):
    return page.eval_on_selector_all(
        ".sequence button", "all => all.map(each => Number(each.dataset.share))"
    )


def test_cache_fills_and_says_what_was_reused(figure, model, tmp_path):
    encode = model[1].encode
    with opened(tmp_path, figure) as page:
        begin(page)
        for text, reused in (("To be", 0), ("To be, or", len(encode("To be")))):
            page.locator("textarea").fill(text)
            n = len(encode(text))
            cache = page.locator(".cache")
            label = f"cache: {n} of 40 positions filled"
            becomes_true(
                page, lambda c=cache, t=label: t in c.get_attribute("aria-label")
            )
            if reused:
                assert int(cache.get_attribute("data-reused")) == reused
                assert int(cache.get_attribute("data-computed")) == n - reused
            numbers = n * 2 * 2 * 4 * 2  # keys and values, layers, d_k, shared heads
            assert (
                f"{numbers:,} numbers" in page.locator(".in-cache").first.inner_text()
            )


@pytest.mark.parametrize("text", ODD, ids=[each[:4] for each in map(ascii, ODD)])
def test_odd_text_gets_a_sentence(text, figure, model, tmp_path):
    with opened(tmp_path, figure) as page:
        begin(page)
        page.locator("textarea").fill(text)
        status = page.locator(".model-status")
        becomes_true(page, lambda: ODD[text] in status.inner_text())
        for name in ("one token", "most likely"):
            page.get_by_role("button", name=name).press("Enter")
        page.wait_for_timeout(200)
        assert page.locator(".living-view img, .living-view b").count() == 0
        if not text:
            line = page.locator(".said")
            assert line.inner_text().startswith("There is no token yet")
        assert page.evaluate(TOO_WIDE) == []


def test_model_that_cannot_be_had_leaves_the_stored_example(file, model, tmp_path):
    content = file.read_bytes()
    old = content[:7] + b"0" + content[8:]
    names = [f"token {i}" for i in range(300)]
    cases = {
        "The model is not in this page.": figure_of(model, None),
        "The model file is cut off.": figure_of(model, content[:-1]),
        "The model file is of another version of the course.": figure_of(model, old),
        "The model file is damaged.": figure_of(model, content[:-1] + b"~"),
        "The file is no model of this course.": figure_of(model, b"<html>"),
        "The model file is of another version of the course. What": figure_of(
            model, content, names
        ),
    }
    for sentence, figure in cases.items():
        with opened(tmp_path, figure) as page:
            page.locator("textarea").focus()
            status = page.locator(".model-status")
            becomes_true(page, lambda s=status, t=sentence: t in s.inner_text())
            assert status.inner_text().endswith("What you see is a stored example.")
            assert page.locator("textarea").get_attribute("readonly") is not None
            assert page.locator(".bar").count() == 12
            page.locator(".bar").first.click()
            assert "Here the data end" in page.locator(".said").inner_text()


def test_view_with_a_text_box_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


@pytest.mark.parametrize("ground", GROUNDS)
def test_open_model_is_accessible(ground, figure, tmp_path):
    with opened(tmp_path, figure, ground=ground) as page:
        begin(page, "To be, or not to be")
        page.get_by_role("button", name="one token").click()
        page.get_by_role("button", name="layer 1, head 2").click()
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])
            assert Axe().run(page).response["violations"] == []


def test_figure_carries_small_files_alone(model, file):
    data = figure_of(model, file.read_bytes()).data["model"]
    assert base64.b64decode(data["base64"]) == file.read_bytes()
    assert figure_of(model, None).data["model"] == {"name": "small.bin"}
    with pytest.raises(ValueError, match="leave file out"):
        figure_of(model, bytes(1_200_001))
