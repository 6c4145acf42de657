"""The report of a check as a page: markup, escaping, marks and their contrast."""

import re
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory
from autograder.messages.report import (
    CLOSING,
    FAILED,
    FAILS,
    HOLDS,
    CheckReport,
)
from autograder.workspace.lab import EXTENSIONS
from tests.checking.test_judging import double, judged, tiny


def scaled_scores(q, k):
    return 1.0 * q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5


def evil(x):
    raise ValueError("<script>alert('1')</script> & `tick <b>\x1b[31m\x00\ud800")


NAMES = (
    "right",
    "wrong",
    "evil",
    "evil text",
    "evil key",
    "evil class",
    "stub",
    "tiny",
)


@cache  # each of the tests reads them
def reports():
    exercise = load("scaled_scores")

    def judged_here(answer):
        result = judge(exercise, local_runner_factory(answer))
        return CheckReport(exercise, result, ["<i>a note</i>"])

    def stub(q, k):
        raise NotImplementedError

    return {
        "right": judged_here(scaled_scores),
        "wrong": judged_here(lambda q, k: q @ k.swapaxes(-1, -2)),
        "evil": judged_here(lambda q, k: evil(q)),
        "evil text": judged_here(lambda q, k: "<img src=x onerror=alert(1)>`"),
        "evil key": judged_here(lambda q, k: {"</div><script>": 1, "`": 2}),
        "evil class": judged_here(lambda q, k: type("<b>", (), {})()),
        "stub": judged_here(stub),
        "tiny": CheckReport(tiny(), judged(tiny(), double)),
    }


@pytest.mark.parametrize("name", NAMES)
def test_html_is_well_formed_without_markup_of_the_learner(name):
    page = ElementTree.fromstring(reports()[name].html())
    allowed = {"div", "strong", "p", "ul", "li", "span", "code", "details", "summary"}
    assert {element.tag for element in page.iter()} <= allowed
    attributes = {key for element in page.iter() for key in element.attrib}
    assert attributes <= {"style", "role", "aria-label", "class", "open"}
    classes = {element.get("class", FAILED) for element in page.iter()}
    assert classes == {FAILED}


def without_folded_examples(html):
    """Return a report without the examples of claims that stand together."""
    page = ElementTree.fromstring(html)
    for claim in page.findall(".//details//details"):
        claim.remove(claim.find("div"))
    return ElementTree.tostring(page, encoding="unicode")


@pytest.mark.parametrize("name", NAMES)
def test_html_says_what_the_plain_text_says(name):
    class Text(HTMLParser):
        text = ""

        def handle_data(self, data):
            self.text += data

    reader = Text()
    reader.feed(without_folded_examples(reports()[name].html()))
    reader.close()
    expected = str(reports()[name]).replace("`", "")
    assert re.sub(r"\s", "", reader.text.replace("`", "")) == re.sub(
        r"\s", "", expected
    )


def test_backtick_of_the_learner_makes_nothing_else_code():
    page = ElementTree.fromstring(reports()["evil text"].html())
    codes = [code.text for code in page.iter("code")]
    assert codes == []
    assert "your `scaled_scores` returned the text" in "".join(page.itertext())


@pytest.mark.parametrize("name", NAMES)
def test_both_texts_can_be_encoded(name):
    report = reports()[name]
    for text in (str(report), report.html()):
        text.encode()
        assert all(sign.isprintable() or sign == "\n" for sign in text)


def test_each_mark_has_a_label():
    page = ElementTree.fromstring(reports()["wrong"].html())
    marks = list(page.iter("span"))
    assert {
        (mark.text, mark.get("role"), mark.get("aria-label")) for mark in marks
    } == {
        ("✓", "img", "holds"),
        ("✗", "img", "does not hold"),
    }


def luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
@pytest.mark.parametrize("colour", [HOLDS, FAILS, CLOSING])
def test_marks_have_contrast_on_light_and_dark_pages(colour, page):
    # WCAG 2 asks for 3 to 1 for marks; all text has the page's own colour.
    low, high = sorted((luminance(colour), luminance(page)))
    assert (high + 0.05) / (low + 0.05) >= 3
    assert "color" not in reports()["wrong"].html().replace(
        f"color:{HOLDS}", ""
    ).replace(f"color:{FAILS}", "").replace("border-left:4px solid " + CLOSING, "")


def test_report_data():
    assert reports()["wrong"].data() == {
        "exercise": "scaled_scores",
        "points": reports()["wrong"].result.points,
        "max_points": load("scaled_scores").points,
        "cases": {
            verdict.case: verdict.status for verdict in reports()["wrong"].result.cases
        },
        "solved": False,
        "open_fine_points": ["whole_numbers"],
        "diagnosis": "no_scale",
        "evidence": None,
        "blamed": [],
        "judged": None,
        "course_version": None,
    }


def test_only_a_failed_report_hides_the_error_below():
    pages = {name: reports()[name].html() for name in ("wrong", "right")}
    failed = {name for name, page in pages.items() if f'class="{FAILED}"' in page}
    assert failed == {"wrong"}
    script = EXTENSIONS / "attention-course" / "static" / "reports.js"
    assert f":has(.{FAILED})" in script.read_text()


def test_one_failed_claim_is_unfolded_and_the_others_are_folded():
    page = ElementTree.fromstring(reports()["wrong"].html())
    (unfolded,) = page.iterfind(".//li/details[@open='open']")
    verdicts = reports()["wrong"].result.claims
    failed = sum(each.status != "ok" for each in verdicts)
    together = page.findall(".//li/details[ul]")
    assert len(page.findall(".//li/details")) == failed + len(together) > 2
    assert "q = [" in "".join(unfolded.itertext())  # numbers that can be retyped
