"""The view of the translator in a real browser: stored, typed, marked, and asked."""

import base64
import re
from collections import Counter

import numpy as np
import pytest
import torch

from course_lib import figures
from course_lib.figures.drawing import read_asset
from course_lib.figures.translator import packed_words
from course_lib.lessons import typed_translation
from course_lib.nn.decoding import beam_search, greedy_decode, translate
from course_lib.nn.model_file import read_model_file, write_model_file
from course_lib.nn.training.subwords import END_ID, START_ID, train_pair_tokenizer
from course_lib.nn.transformer import Transformer, TransformerConfig
from tests.browser import ATTACK, TOO_WIDE, becomes_true
from tests.figures.living import assert_accessible, opened, page_text

ALT = "Startet attends to starts, Wiedergabe to play."
PAIRS = [
    ("The Wi-Fi is off.", "Das WLAN ist aus."),
    ("the fan of the device is on", "der Lüfter ist an"),
    ("Is the fan off?", "Ist der Lüfter aus?"),
] * 3
COUNTS = Counter(
    {"the": 9, "fan": 7, "is": 6, "off": 5, "device": 3, "wi": 1, "fi": 1, "starts": 8}
    | {"play": 1, "playback": 6}
)
STORED = [
    {
        "text": "Starts playback.",
        "translation": "Startet die <b>Wiedergabe</b>.",
        "sources": ["starts ", "play", "back ", ". ", "<end>"],
        "targets": ["startet ", "die ", "<b>Wieder", "gabe</b> ", ". ", "<end>"],
        "weights": np.array(
            [
                [0.8, 0.1, 0.05, 0.05, 0.0],
                [0.1, 0.5, 0.3, 0.1, 0.0],
                [0.0, 0.6, 0.4, 0.0, 0.0],
                [0.2, 0.2, 0.4, 0.2, 0.0],
                [0.0, 0.0, 0.1, 0.7, 0.2],
                [0.0, 0.0, 0.0, 0.5, 0.5],
            ]
        ),
    }
]


ON_TOP = """() => {
    document.querySelector(".overlay").style.pointerEvents = "all";
    return [...document.querySelectorAll(".tr-word")].map(word => {
        const { left, top, width, height } = word.getBoundingClientRect();
        const met = document.elementFromPoint(left + width / 2, top + height / 2);
        return [word.contains(met), getComputedStyle(word).backgroundColor, top];
    });
}"""


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Return the file of a small translator with random parameters."""
    torch.manual_seed(1)
    tokenizer = train_pair_tokenizer(PAIRS, 120)
    config = TransformerConfig(len(tokenizer), 24, 3, 2, 40, n_positions=30)
    model = Transformer(config, device="cpu")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    path = tmp_path_factory.mktemp("model") / "translator.bin"
    write_model_file(path, model.eval(), tokenizer)
    return path


def as_text(path):
    return base64.b64encode(path.read_bytes()).decode()


def view_of(answer=None, path=None):
    """Return the figure; with a model's file in it if there is one."""
    figure = figures.translator(
        STORED, COUNTS, examples=["Is the fan off?"], answer=answer, alt=ALT
    )
    if path is not None:
        figure.data["model"]["base64"] = as_text(path)
    return figure


def words(page, line):
    selector = ".tr-targets .tr-word" if line == "target" else ".tr-line .tr-word"
    boxes = page.eval_on_selector_all(
        selector, "all => all.map(e => [e.dataset.word, e.dataset.mark || null])"
    )
    if line == "target":
        return [word for word, _ in boxes]
    targets = page.locator(".tr-targets .tr-word").count()
    return boxes[: len(boxes) - targets]


def sentence(page):
    return re.sub("[\u2068\u2069]", "", page.locator(".said").inner_text())


def why(page):
    return re.sub("[\u2068\u2069]", "", page.locator(".tr-why").inner_text())


def type_text(page, text):
    page.get_by_label("English text").fill(text)


def german(page):
    return page.locator(".tr-german").inner_text()


def by_python(path, text, beams):
    """Return the translation by the course's own decoding."""
    model, tokenizer = read_model_file(path).load()
    source = [*tokenizer.encode(text), END_ID]
    options = {"beam_size": beams, "max_length": 29}
    (ids,) = translate(model, [source], START_ID, END_ID, **options)
    return tokenizer.decode(ids)


def test_stored_example_says_that_it_is_stored(tmp_path):
    with opened(tmp_path, view_of()) as page:
        assert (
            "Stored when the course was made" in page.locator(".tr-state").inner_text()
        )
        assert german(page) == "Startet die <b>Wiedergabe</b>."
        marks = [["starts", None], ["playback", None], [".", None], ["(end)", None]]
        assert words(page, "source") == marks
        assert words(page, "target") == ["startet", "die", "<b>Wiedergabe</b>", "."]
    assert "<b>Wieder" not in page_text(view_of())


def test_weights_of_words_are_sums_and_means_of_those_of_tokens(tmp_path):
    weights = STORED[0]["weights"]
    by_word = np.stack(
        [weights[:, 0], weights[:, 1:3].sum(axis=1), weights[:, 3], weights[:, 4]], 1
    )
    wiedergabe = by_word[2:4].mean(axis=0)
    with opened(tmp_path, view_of()) as page:
        page.locator(".tr-targets .tr-word").nth(2).hover()
        texts = page.locator(".tr-line").first.locator(".tr-weight").all_inner_texts()
        assert texts == [f"{weight:.2f}" for weight in wiedergabe]
        assert sentence(page) == (
            "“<b>Wiedergabe</b>” attended most to “playback”, 0.80, and next to "
            "“starts”, 0.10. It is 2 tokens: <b>Wieder · gabe</b>."
        )
        lines = page.locator(".tr-link:not(.tr-aside)").evaluate_all(
            "all => all.map(e => +e.dataset.value)"
        )
        np.testing.assert_allclose(lines, wiedergabe[wiedergabe > 0.02], atol=1e-9)


def test_words_are_reached_by_arrow_keys_on_both_sides(tmp_path):
    with opened(tmp_path, view_of()) as page:
        page.locator(".tr-word").first.focus()
        assert sentence(page).endswith("Most attended to by “startet”.")
        page.keyboard.press("ArrowRight")
        assert sentence(page).startswith(
            "“playback” is known from training. It is 2 tokens"
        )
        page.keyboard.press("Tab")
        assert sentence(page).startswith("“startet” attended most to “starts”, 0.80")
        page.keyboard.press("End")
        assert sentence(page).startswith("“.” attended most to “.”, 0.70")


def test_missing_file_leaves_the_stored_example_and_a_sentence(tmp_path):
    with opened(tmp_path, view_of()) as page:
        page.get_by_label("English text").focus()
        state = page.locator(".tr-state")
        becomes_true(
            page, lambda: "The model is not in this page." in state.inner_text()
        )
        assert "What you see is stored: 1 translation" in state.inner_text()
        assert page.get_by_label("English text").get_attribute("readonly") is not None
        assert german(page) == "Startet die <b>Wiedergabe</b>."
        examples = page.locator(".tr-examples button").all_inner_texts()
        assert examples == ["Starts playback."]


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda content: content[:-1], "cut off"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "damaged"),
        (lambda content: content[:7] + b"9" + content[8:], "of another version"),
        (lambda content: b"<html>", "no model of this course"),
    ],
)
def test_unusable_file_gets_a_sentence(harm, sentence, model_file, tmp_path):
    path = tmp_path / "translator.bin"
    path.write_bytes(harm(model_file.read_bytes()))
    with opened(tmp_path, view_of(path=path)) as page:
        type_text(page, "Is the fan off?")
        state = page.locator(".tr-state")
        becomes_true(page, lambda: "What you see is stored" in state.inner_text())
        page.wait_for_timeout(600)  # what was typed is not tried after this
        assert sentence in state.inner_text()
        assert page.get_by_label("English text").input_value() == "Starts playback."


@pytest.mark.parametrize("beams", [1, 2, 4])
def test_typed_text_is_translated_as_python_does(beams, model_file, tmp_path):
    with opened(tmp_path, view_of(path=model_file)) as page:
        page.get_by_label("search").select_option(index=[1, 2, 4].index(beams))
        for text in ("Is the fan off?", "the Wi-Fi of the device is on"):
            type_text(page, text)
            expected = by_python(model_file, text, beams) or "–"
            becomes_true(page, lambda text=expected: german(page) == text)
        rows = page.locator(".tr-others li")
        assert rows.count() == (0 if beams == 1 else beams)
        if beams > 1:
            assert rows.first.locator("bdi").inner_text() == expected
            scores = rows.locator(".tr-score").evaluate_all(
                "all => all.map(e => +e.dataset.value)"
            )
            assert scores == sorted(scores, reverse=True)
        assert "million parameters" in page.locator(".tr-state").inner_text()


def test_cross_attention_is_that_of_pytorch(model_file, tmp_path):
    text = "Is the fan off?"
    model, tokenizer = read_model_file(model_file).load()
    source = [*tokenizer.encode(text), END_ID]
    (target,) = translate(model, [source], START_ID, END_ID, max_length=29)
    with torch.inference_mode():
        both = torch.tensor([source]), torch.tensor([[START_ID, *target]])
        weights = model.attention_weights(*both)[0].numpy()[: len(target)]
    with opened(tmp_path, view_of(path=model_file)) as page:
        page.get_by_label("search").select_option("greedy")
        type_text(page, text)
        expected = tokenizer.decode(target)
        becomes_true(page, lambda: german(page) == expected)
        page.locator(".tr-targets .tr-word").first.focus()
        row = page.locator(".tr-line").first.locator(".tr-weight").all_inner_texts()
        names = [tokenizer.vocabulary[token_id] for token_id in target]
        ends = [name.endswith("</w>") for name in names]
        first = weights[: (ends.index(True) if True in ends else len(ends) - 1) + 1]
        columns = [
            0,
            *np.cumsum([tokenizer.vocabulary[i].endswith("</w>") for i in source]),
        ][:-1]
        sums = np.zeros(columns[-1] + 1)
        np.add.at(sums, columns, first.mean(axis=0))
        np.testing.assert_allclose([*map(float, row)], sums, atol=0.0051)


def test_words_never_seen_are_marked_with_the_reason(model_file, tmp_path):
    with opened(tmp_path, view_of(path=model_file)) as page:
        type_text(page, "the node device 雨!")
        becomes_true(page, lambda: "node" in why(page))
        assert words(page, "source") == [
            ["the", None],
            ["node", "never"],
            ["device", "rare"],
            ["雨", "unread"],
            ["!", "unread"],
            ["(end)", None],
        ]
        assert "“node” was in none of the training texts" in why(page)
        assert "“device” was there fewer than 5 times" in why(page)
        assert "“雨”, “!”: a character was in no training text" in why(page)
        type_text(page, "node")
        becomes_true(page, lambda: "No word here is known to it" in why(page))


@pytest.mark.parametrize("text", ["a", "שלום", "👩‍👩‍👧 ☂", ATTACK])
def test_odd_texts_are_translated_or_told(text, model_file, tmp_path):
    with opened(tmp_path, view_of(path=model_file)) as page:
        type_text(page, text)
        becomes_true(page, lambda: why(page) != "")
        assert "No word here is known to it" in why(page)
        assert page.title() == "figures"
        assert page.locator(".living-view img").count() == 0


def test_empty_text_has_nothing_to_translate(model_file, tmp_path):
    with opened(tmp_path, view_of(path=model_file)) as page:
        type_text(page, " \n ")
        becomes_true(page, lambda: "Nothing is typed" in why(page))
        assert german(page) == "–" and page.locator(".stage").is_hidden()


def test_long_text_is_cut_and_that_is_told(model_file, tmp_path):
    with opened(tmp_path, view_of(path=model_file)) as page:
        type_text(page, "the fan is off " * 400)
        becomes_true(page, lambda: "words and signs are translated" in why(page))
        assert f"first {len(words(page, 'source')) - 1} words" in why(page)
        type_text(page, "x" * 5000)
        sentence = "That word alone has more tokens than the model has positions."
        becomes_true(page, lambda: why(page) == sentence)


def test_few_words_of_many_tokens_are_cut_and_that_is_told(model_file, tmp_path):
    with opened(tmp_path, view_of(path=model_file)) as page:
        type_text(page, "the fan is off " * 9)
        becomes_true(page, lambda: "words and signs are translated" in why(page))
        assert len(words(page, "source")) - 1 < 36


def test_last_text_is_the_one_that_is_shown(model_file, tmp_path):
    with opened(tmp_path, view_of(path=model_file)) as page:
        field = page.get_by_label("English text")
        field.fill("")
        field.press_sequentially("the fan is off", delay=60)
        expected = by_python(model_file, "the fan is off", 4)
        becomes_true(page, lambda: german(page) == expected)
        page.get_by_role("button", name="Is the fan off?").click()
        other = by_python(model_file, "Is the fan off?", 4)
        becomes_true(page, lambda: german(page) == other)


def test_notebook_gives_the_file_and_its_own_translation(model_file, tmp_path):
    with opened(tmp_path, view_of(answer=lambda question: None)) as page:
        page.evaluate(
            """base64 => document.addEventListener("attention-course-ask", event => {
            const { question } = event.detail;
            event.detail.answer = Promise.resolve(question.want === "model"
                ? { base64 } : { name: "beam_search", translation: "Nein" }); })""",
            as_text(model_file),
        )
        type_text(page, "Is the fan off?")
        own = page.locator(".tr-own")
        becomes_true(page, lambda: own.inner_text() != "")
        assert german(page) == by_python(model_file, "Is the fan off?", 4)
        assert own.inner_text() == "Your own beam_search writes: Nein"


@pytest.fixture
def in_data(model_file, monkeypatch):
    """Let the course's data have the small translator."""
    made = type("Made", (), {"path": model_file, "file": "translator.bin"})()
    monkeypatch.setattr(typed_translation, "MODELS", {"translator": made})
    return model_file


def test_kernel_answers_with_the_learners_functions(in_data):
    text = "Is the fan off?"
    names = {"greedy_decode": greedy_decode, "beam_search": beam_search}
    for beams, name in ((1, "greedy_decode"), (2, "beam_search")):
        question = {"want": "translation", "text": text, "beams": beams}
        answer = typed_translation.answer(question, names)
        assert answer["name"] == name
        assert answer["translation"] == by_python(in_data, text, beams)
        assert typed_translation.answer(question, {}) is None

    def wrong(*arguments):
        raise ValueError("no")

    answer = typed_translation.answer(question, {"beam_search": wrong})
    assert answer == {"error": "Your own beam_search raised ValueError: no."}


def test_kernel_gives_the_models_file_or_says_what_to_run(in_data, monkeypatch):
    answer = typed_translation.answer({"want": "model"}, {})
    assert base64.b64decode(answer["base64"]) == in_data.read_bytes()
    made = type("Made", (), {"path": in_data.parent / "none.bin", "file": "none.bin"})()
    monkeypatch.setattr(typed_translation, "MODELS", {"translator": made})
    answer = typed_translation.answer({"want": "model"}, {})
    assert "run `make models`" in answer["error"]


@pytest.mark.thorough
def test_view_is_accessible(model_file, tmp_path):
    assert_accessible(tmp_path, view_of())
    with opened(tmp_path, view_of(path=model_file), ground="dark") as page:
        page.set_viewport_size({"width": 360, "height": 900})
        type_text(page, "the node device of " + "x" * 60)
        becomes_true(page, lambda: "node" in why(page))
        becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_lines_run_behind_words_where_a_sentence_wraps(ground, tmp_path):
    """Make the lines catch the pointer: what it meets at a word is then on top."""
    with opened(tmp_path, view_of(), ground=ground) as page:
        page.set_viewport_size({"width": 150, "height": 1500})
        words = page.evaluate(ON_TOP)
        assert len({y for *_, y in words}) > 3 and all(top for top, *_ in words)
        shade = {"light": 255, "dark": 18}[ground]
        assert {alpha for _, alpha, _ in words} == {f"rgba({f'{shade}, ' * 3}0.85)"}


def test_words_are_packed_and_read_back(tmp_path):
    counts = {
        "lights": 1,
        "light": 9,
        "a": 2,
        "a_very_long_word": 4,
        "a_very_long_w": 5,
    }
    counts |= {"ärger": 3, "10c4": 1}
    with opened(tmp_path, view_of()) as page:
        code = read_asset("translator.js").replace("export default { render };", "")
        read = page.evaluate(
            f"text => {{ {code}\nreturn [...unpackedWords(text)]; }}",
            packed_words(counts),
        )
    assert dict(map(tuple, read)) == {word: min(n, 5) for word, n in counts.items()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stored": []}, "0 stored translations: expected 1 to 12"),
        ({"stored": [STORED[0] | {"sources": ["a"]}]}, "shape"),
        ({"counts": {"Big": 1}}, "words must be in small letters"),
    ],
)
def test_unfit_data_is_refused(change, message):
    fit = {"stored": STORED, "counts": COUNTS}
    with pytest.raises(ValueError, match=message):
        figures.translator(**(fit | change), alt=ALT)
