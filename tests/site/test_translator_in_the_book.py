"""The translator in the built book, served: what one types becomes what Python says."""

import contextlib
import re
from urllib.parse import urlsplit

import pytest

from autograder.book.live import NETWORK
from course_lib import figures
from course_lib.lessons.typed_translation import MAX_LENGTH
from course_lib.nn.decoding import translate
from course_lib.nn.model_file import read_model_file
from course_lib.nn.training.subwords import END_ID, START_ID
from tests.browser import ATTACK, TOO_WIDE, becomes_true, page_of
from tests.figures.small_models import small_translator
from tests.site.book import LESSON, make_site, small_course
from tests.site.test_in_a_browser import SHOW_ALL
from tests.site.test_models_in_the_book import served

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
STORED = {
    "text": "The fan is on.",
    "translation": "Der Lüfter ist an.",
    "sources": ["the ", "fan ", "is ", "on ", ". "],
    "targets": ["der ", "lüfter ", "ist ", "an ", ". "],
    "weights": [[float(i == j) for j in range(5)] for i in range(5)],
}
COUNTS = {"the": 9, "fan": 7, "is": 6, "off": 5, "on": 9, "wi": 5, "fi": 2, "device": 5}
# The beams write other German than the greedy search.
TEXTS = ("Is the fan off?", 'The "Wi-Fi" of the device is on.', "USB port.")
NEVER, RARE = "never seen", "rare"
# What is typed, and what the reader reads below it.
ODD = {
    "": "Nothing is typed",
    "fan is off " * 455: "words and signs are translated",
    "x" * 5000: "That word alone has more tokens",
    "👩‍👩‍👧 ☂": "No word here is known to it",
    "המאוורר כבוי": "No word here is known to it",
    ATTACK: "in none of the training texts",
    "<b>The fan</b> is on": "a character was in no training text",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return the address of a built book with the view, and its model's file."""
    data = tmp_path_factory.mktemp("data")
    (data / "models").mkdir()
    file = small_translator(data / "models", ends=0.0)  # it goes on and on
    figure = figures.translator(
        [STORED],
        COUNTS,
        examples=["Is the fan off?"],
        answer=lambda question: None,  # as in the lesson: but no notebook is here
        alt="The words have the same order.",
    )
    root = small_course(tmp_path_factory.mktemp("course"), figure)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_COURSE_DATA", str(data))
        built = make_site(root, "01")
    assert built.returncode == 0, built.stderr
    with served(root / "build" / "site") as address:
        yield address, file


@contextlib.contextmanager
def opened(book, **options):
    """Open the lesson under the book's own policy; nothing else may be asked for."""
    address, _ = book
    with page_of("about:blank", bypass_csp=False, **options) as page:
        errors, requests = [], []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console",
            lambda line: line.type != "error" or errors.append(line.text),
        )
        page.on("request", lambda request: requests.append(request.url))
        page.route("https://**", lambda route: route.abort())  # Python, for exercises
        page.goto(f"{address}/{LESSON}")
        page.locator("figure.living[data-live]").first.wait_for(state="attached")
        page.evaluate(SHOW_ALL)
        page.locator(".tr-field").wait_for()
        yield page
        assert [each for each in errors if "Failed to load" not in each] == []
        hosts = {urlsplit(each).netloc for each in requests} - {""}
        assert hosts <= {urlsplit(address).netloc, urlsplit(NETWORK).netloc}


def by_python(file, text, beams):
    model, tokenizer = read_model_file(file).load()
    longest = min(MAX_LENGTH, model.config.n_positions - 1)
    options = {"beam_size": beams, "max_length": longest}
    source = [*tokenizer.encode(text), END_ID]
    (ids,) = translate(model, [source], START_ID, END_ID, **options)
    return tokenizer.decode(ids)


def type_text(page, text):
    page.get_by_label("English text").fill(text)


def german(page):
    return page.locator(".tr-german").inner_text()


def why(page):
    return re.sub("[\u2068\u2069]", "", page.locator(".tr-why").inner_text())


def test_german_is_what_python_translates(book):
    for text in TEXTS:
        assert len({by_python(book[1], text, beams) for beams in (1, 2, 4)}) > 1
    with opened(book) as page:
        assert german(page) == STORED["translation"]
        assert (
            "Stored when the course was made" in page.locator(".tr-state").inner_text()
        )
        for beams, name in enumerate(("greedy", "2 beams", "4 beams")):
            page.locator(".living-translator").get_by_label("search").select_option(
                name
            )
            for text in TEXTS:
                type_text(page, text)
                expected = by_python(book[1], text, 2**beams) or "–"
                assert expected != STORED["translation"]
                becomes_true(page, lambda e=expected, p=page: german(p) == e)
        assert "runs in this page" in page.locator(".tr-state").inner_text()
        assert page.locator(".tr-own").inner_text() == ""


def test_words_that_it_never_read_are_marked(book):
    with opened(book) as page:
        type_text(page, "the fi of the node is off")
        becomes_true(page, lambda: "node" in why(page))
        marks = page.locator(".tr-line").first.locator(".tr-word")
        texts = [each.split("\n")[:2] for each in marks.all_inner_texts()]
        assert ["fi", RARE] in texts and ["node", NEVER] in texts
        assert ["off"] in [[part for part in each if part] for each in texts]
        assert "“of”, “node” were in none of the training texts" in why(page)


@pytest.mark.parametrize("text", ODD, ids=["empty", "5000", "x", *"ehat"])
def test_odd_texts_get_a_sentence(text, book):
    with opened(book) as page:
        title = page.title()
        page.set_viewport_size({"width": 360, "height": 800})
        type_text(page, text)
        becomes_true(page, lambda: ODD[text] in why(page))
        assert page.title() == title
        view = page.locator(".living-translator")
        assert view.locator("img, script, b").count() == 0
        inside = page.evaluate(TOO_WIDE)
        assert [each for each in inside if "tr-" in each] == []
        type_text(page, "Is the fan off?")
        expected = by_python(book[1], "Is the fan off?", 4) or "–"
        becomes_true(page, lambda: german(page) == expected)


def test_model_that_is_gone_leaves_what_is_stored(book):
    _, file = book
    with opened(book) as page:
        page.route(f"**/{file.name}", lambda route: route.fulfill(status=404))
        type_text(page, "Is the fan off?")
        state = page.locator(".tr-state")
        becomes_true(page, lambda: "file is not there" in state.inner_text())
        assert "What you see is stored: 1 translation" in state.inner_text()
        assert german(page) == STORED["translation"]
