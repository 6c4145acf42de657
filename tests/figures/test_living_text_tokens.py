"""The view of tokens in a real browser: any text, its ids, what languages pay."""

import json
import random
import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from course_lib import fast_bpe, figures
from course_lib.byte_bpe import (
    byte_vocabulary,
    encode_bytes,
    pre_token_counts,
    pre_tokens,
)
from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.figures import living
from course_lib.figures.drawing import read_asset
from course_lib.lessons import typed_text
from tests.browser import ATTACK, TOO_WIDE, becomes_true, page_of
from tests.figures.living import assert_accessible, opened, page_text

ALT = "English words are tokens, a German word is several, Greek letters are two each."
SAMPLES = {
    "English": "where did the umbrella go, where is the umbrella of the other one " * 3,
    "both": "wo ist der Regenschirm, where is the umbrella, που είναι η ομπρέλα " * 3,
}
MERGES = {
    name: fast_bpe.train_bpe_fast(pre_token_counts(sample), 60)
    for name, sample in SAMPLES.items()
}
# Where letters, digits, signs and white space of several scripts are.
SCRIPTS = {
    "latin": (0x20, 0x7E), "accents": (0xA0, 0x17F), "greek": (0x391, 0x3C9),
    "cyrillic": (0x410, 0x44F), "hebrew": (0x5D0, 0x5EA), "arabic": (0x620, 0x64A),
    "devanagari": (0x904, 0x94D), "thai": (0xE01, 0xE3A), "signs": (0x2000, 0x206F),
    "kana": (0x3041, 0x30FE), "chinese": (0x4E00, 0x4FFF), "korean": (0xAC00, 0xACFF),
    "controls": (0x0, 0x20), "marks": (0x300, 0x36F), "emoji": (0x1F300, 0x1F64F),
    "variants": (0xFE00, 0xFE0F), "gothic": (0x10330, 0x1034A), "nel": (0x85, 0x85),
}  # fmt: skip


@pytest.fixture
def figure():
    return figures.text_tokens(**typed_text.tokens(MERGES), alt=ALT)


def random_texts(n):
    """Return texts of several scripts each, some with words that merges have."""
    draw = random.Random(0)
    words = SAMPLES["both"].split()
    texts = []
    for _ in range(n):
        pieces = []
        for _ in range(draw.randint(1, 8)):
            if draw.random() < 0.4:
                pieces.append(draw.choice(words) + draw.choice(["", " ", "  ", "\n"]))
                continue
            low, high = SCRIPTS[draw.choice([*SCRIPTS])]
            pieces += [chr(draw.randint(low, high)) for _ in range(draw.randint(1, 6))]
        texts.append("".join(pieces))
    return texts


def ids_of_page(page):
    return page.eval_on_selector_all(
        ".tk-token", "all => all.map(e => Number(e.dataset.value))"
    )


def sentence(page):
    return re.sub("[\u2068\u2069]", "", page.locator(".said").inner_text())


def type_text(page, text):
    page.get_by_label("your text").fill(text)


def test_page_encodes_a_thousand_texts_as_python_does(tmp_path):
    texts = random_texts(1000)
    code = read_asset("tokenizer.js") + read_asset("text_tokens.js")
    code = code.replace("export default { render };", "")
    path = tmp_path / "empty.html"
    path.write_text("<!doctype html><title>empty</title>", encoding="utf-8")
    joined = 0
    for merges in MERGES.values():
        pairs = [
            token_id for pair in typed_text.pairs_of_ids(merges) for token_id in pair
        ]
        with page_of(path.as_uri()) as page:
            encoded = page.evaluate(
                f"([pairs, texts]) => {{ {code}\n"
                "return texts.map(tokenizerOf(pairs).split); }",
                [pairs, texts],
            )
        parts = [[part for part, _ in each] for each in encoded]
        assert parts == [pre_tokens(each) for each in texts]
        encoded = [[i for _, ids in each for i in ids] for each in encoded]
        tokenizer = ByteTokenizer(merges)
        expected = [tokenizer.encode(each) for each in texts]
        assert encoded == expected
        assert expected[:50] == [encode_bytes(each, merges) for each in texts[:50]]
        joined += sum(token_id > 255 for ids in expected for token_id in ids)
    assert joined > 1000


def test_of_two_merges_with_the_same_text_the_later_one_names_it(tmp_path):
    # abc is made twice, and each of the two may be joined with d.
    merges = [("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc"), ("abc", "d")]
    texts = ["abc", "abcd", "bcabc", "ababcd"]
    view = typed_text.tokens({"letters": merges})
    with opened(tmp_path, figures.text_tokens(**view, alt=ALT)) as page:
        for text in texts:
            type_text(page, text)
            assert ids_of_page(page) == encode_bytes(text, merges)


def test_examples_show_what_each_language_pays(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        for name, merges in MERGES.items():
            page.get_by_role("combobox").select_option(name)
            numbers = page.eval_on_selector_all(
                ".tk-example", "all => all.map(e => [e.dataset.name, +e.dataset.value])"
            )
            assert dict(numbers) == {
                language: len(encode_bytes(text, merges))
                for language, text in typed_text.TEXTS.items()
            }
            page.get_by_role("button", name="Greek").click()
            expected = encode_bytes(typed_text.TEXTS["Greek"], merges)
            assert ids_of_page(page) == expected
            total = page.locator(".tk-total").get_attribute("data-value")
            assert total == str(len(expected))


def test_counts_of_tokens_and_words_are_told(tmp_path):
    view = typed_text.tokens({"English": [*MERGES["English"]]})
    with opened(tmp_path, figures.text_tokens(**view, alt=ALT)) as page:
        assert page.get_by_role("combobox").count() == 0  # nothing to choose from
        text = "where is the zoo?"
        type_text(page, text)
        tokens = [byte_vocabulary(MERGES["English"])[i] for i in ids_of_page(page)]
        assert tokens == ["where", "Ġis", "Ġthe", "Ġ", "z", "o", "o", "?"]
        counts = page.locator(".tk-counts").inner_text()
        assert counts == (
            "8 tokens for 17 characters, 17 bytes; 4 words (runs of letters), "
            "1.8 tokens per word"
        )
        assert sentence(page) == "3 of 4 words are one token each."


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "No text, no tokens. Type something, or take an example below."),
        ("x", "“x” is one token: there is nothing to split."),
        ("xyz", "No merge that was learned joins anything here: each byte is a token"),
        ("zzthe kowhere", "No word here is one token"),
        ("שלום", "it has only a part of a character: “ש”, “ל”, “ו”, “ם”."),
        ("☂\ufe0f", "it has only a part of a character: “☂”, “U+FE0F”."),
        ("the the", "2 of 2 words are one token each."),
        ("\u202eabc", "only a part of a character: “U+202E”."),
    ],
)
def test_odd_texts_get_a_sentence(text, part, figure, tmp_path):
    with opened(tmp_path, figure) as page:
        type_text(page, text)
        assert part in sentence(page)
        assert ids_of_page(page) == encode_bytes(text, MERGES["English"])
        assert page.locator(".tk-boxes").is_visible() == bool(text)


def test_text_of_html_stays_text(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        type_text(page, ATTACK)
        assert page.title() == "figures"
        assert page.locator(".living-view img").count() == 0
        assert ids_of_page(page) == encode_bytes(ATTACK, MERGES["English"])
    assert "<b>" not in page_text(
        figures.text_tokens({"x": "<b>"}, {"x": [b"<b>"]}, {"x": []}, alt=ALT)
    )


def test_long_text_is_counted_whole_and_drawn_in_part(figure, tmp_path):
    text = ("where is the 雨 " * 1000)[:5000]
    with opened(tmp_path, figure) as page:
        type_text(page, text)
        expected = ByteTokenizer(MERGES["English"]).encode(text)
        assert page.locator(".tk-total").get_attribute("data-value") == str(
            len(expected)
        )
        assert ids_of_page(page) == expected[:600]
        assert "The first 600 tokens are drawn" in sentence(page)
        assert "Only the first" not in sentence(page)
        type_text(page, text + "more")
        assert "Only the first 5,000 characters are taken." in sentence(page)
        assert page.locator(".tk-total").get_attribute("data-value") == str(
            len(expected)
        )


def test_half_a_surrogate_pair_is_told(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.evaluate(
            """() => { const field = document.querySelector(".tk-field");
            field.value = "a" + String.fromCharCode(0xd800);
            field.dispatchEvent(new Event("input")); }"""
        )
        assert "Half a character is in the text" in sentence(page)
        assert ids_of_page(page) == [97, 0xEF, 0xBF, 0xBD]


def test_parts_of_a_character_stand_over_it(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        type_text(page, "雨 the")
        group = page.locator(".tk-group")
        assert group.locator(".tk-text").all_inner_texts() == ["E9", "9B", "A8"]
        assert group.locator(".tk-of").inner_text() == "雨"
        assert page.locator(".tk-boxes > .tk-token .tk-text").all_inner_texts() == [
            "␣the"
        ]


def test_tokens_are_reached_by_arrow_keys_and_told(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        type_text(page, "the 雨")
        page.locator(".tk-token").first.focus()
        the = encode_bytes("the", MERGES["English"])[0]
        merge = (
            f"“the” has the id {the}: merge {the - 255} made it, 3 bytes in one token."
        )
        assert sentence(page) == f"Token 1: {merge}"
        page.keyboard.press("End")
        expected = "“A8” is a byte, id 168. It is a part of “雨”, which no merge"
        assert sentence(page).startswith(f"Token 5: {expected}")
        page.keyboard.press("ArrowLeft")
        assert sentence(page).startswith("Token 4: “9B”")


def test_text_from_right_to_left_runs_so(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        type_text(page, "שלום")
        left = page.eval_on_selector_all(
            ".tk-of", "all => all.map(e => e.getBoundingClientRect().left)"
        )
        assert left == sorted(left, reverse=True) and len({*left}) == 4
        page.locator(".tk-token").first.focus()
        page.keyboard.press("ArrowLeft")
        assert sentence(page).startswith("Token 2:")


@pytest.mark.thorough
def test_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)
    for ground in ("light", "dark"):
        with opened(tmp_path, figure, ground=ground) as page:
            page.set_viewport_size({"width": 360, "height": 900})
            type_text(page, "x" * 500 + " 雨 \u202e שלום")
            becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])
            assert Axe().run(page).response["violations"] == []


def test_notebook_that_does_not_answer_leaves_the_courses_tokens(tmp_path):
    view = typed_text.tokens(MERGES, lambda word, merges: [*word])
    with opened(tmp_path, figures.text_tokens(**view, alt=ALT)) as page:
        type_text(page, "the")
        page.wait_for_timeout(600)
        assert page.locator(".tk-whose").inner_text() == ""
        assert ids_of_page(page) == encode_bytes("the", MERGES["English"])


def asked(function, text):
    """Return what the kernel answers to a text that was typed."""
    figure = figures.text_tokens(**typed_text.tokens(MERGES, function), alt=ALT)
    name = re.search(r'id="(living-\w+)"', figure.html())[1]
    question = json.dumps({"text": text, "vocabulary": "English"})
    return living.answer(name, question).data["answer"]


def not_written(word, merges):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (lambda word, merges: [*word], {"ids": [*b"the umbrella"]}),
        (lambda word, merges: ["?!"], {"error": "it returned '?!', which is no token"}),
        (lambda word, merges: None, {"error": "it raised TypeError"}),
        (not_written, {"error": "it is not written yet."}),
    ],
)
def test_own_function_is_asked_for_what_was_typed(function, answer):
    got = asked(function, "the umbrella")
    assert got.keys() == answer.keys()
    assert got.get("ids") == answer.get("ids")
    assert got.get("error", "").startswith(answer.get("error", ""))


def test_figure_of_another_kernel_has_no_answer():
    assert living.answer("living-000000000000", "{}") is None


def test_own_tokens_are_drawn_where_a_notebook_answers(tmp_path):
    view = typed_text.tokens(MERGES, lambda word, merges: [*word])
    with opened(tmp_path, figures.text_tokens(**view, alt=ALT)) as page:
        page.evaluate(
            """() => document.addEventListener("attention-course-ask", event => {
            window.asked = event.detail.question;
            event.detail.answer = Promise.resolve(window.reply); })"""
        )
        right = encode_bytes("the zoo", MERGES["English"])
        whose = page.locator(".tk-whose")
        for reply, part, ids in (
            ({"ids": right}, "your own encode_word, the same as the course's", right),
            (
                {"ids": [*b"the zoo"]},
                "the first that differs is token 1",
                [*b"the zoo"],
            ),
            ({"error": "it raised X."}, "does not give any: it raised X.", right),
        ):
            page.evaluate("reply => { window.reply = reply; }", reply)
            type_text(page, "")
            type_text(page, "the zoo")
            becomes_true(page, lambda text=part: text in whose.inner_text())
            assert ids_of_page(page) == ids
        question = {"text": "the zoo", "vocabulary": "English"}
        assert page.evaluate("window.asked") == question


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": {}}, r"texts \[\] and tokens"),
        ({"tokens": {"y": [b"at"]}}, "must have the same 1 to 12 names"),
        ({"texts": {"x": ""}, "tokens": {"x": []}}, "text 'x' has 0 characters"),
        ({"tokens": {"x": [b"a"]}}, "tokens of 'x' are not the bytes of its text"),
        ({"vocabularies": {}}, "there is nothing to encode with"),
        ({"vocabularies": {"v": [(97, 256)]}}, "two token ids below 256"),
        ({"vocabularies": {"v": np.ones((8001, 2), int)}}, "8,001 merges from v"),
    ],
)
def test_unfit_data_is_refused(change, message):
    fit = {"texts": {"x": "at"}, "tokens": {"x": [b"a", b"t"]}}
    fit |= {"vocabularies": {"v": [(97, 116)]}}
    with pytest.raises(ValueError, match=message):
        figures.text_tokens(**(fit | change), alt=ALT)
