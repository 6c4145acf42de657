"""The view of merges in a real browser: tokens after each merge, pairs, keys, words."""

import re
from itertools import pairwise

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from course_lib import figures
from tests.figures.living import assert_accessible, opened, page_text
from tests.figures.test_figures import overlaps, texts

pytestmark = pytest.mark.thorough  # attention, softmax, steps and heads stand for all

ALT = "First a and t are joined, then m and at."
MERGES = [("a", "t"), ("m", "at"), ("at", "e")]
COUNTS = [19, 10, 3]
WORDS = {
    "mats": [["m", "a", "t", "s"], ["m", "at", "s"], ["mat", "s"], ["mat", "s"]],
    "ate": [["a", "t", "e"], ["at", "e"], ["at", "e"], ["ate"]],
    "<b>": [["<", "b", ">"]] * 4,
    "שלום": [["ש", "ל", "ו", "ם"]] * 4,
}
NOW = ".words .token[data-joined=now]"
NEXT = ".words .token[data-next]"


@pytest.fixture
def figure():
    return figures.merge_steps(WORDS, MERGES, COUNTS, alt=ALT)


def tokens(page):
    return page.eval_on_selector_all(
        ".word",
        "all => all.map(row => [row.dataset.word, "
        "[...row.querySelectorAll('.token')].map(e => e.dataset.value)])",
    )


def values(page, selector):
    return page.eval_on_selector_all(selector, "all => all.map(e => e.dataset.value)")


def test_tokens_on_the_page_are_those_after_each_merge(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator("input").focus()
        for n in range(len(MERGES) + 1):
            assert dict(tokens(page)) == {
                word: lists[n] for word, lists in WORDS.items()
            }
            totals = [str(len(lists[n])) for lists in WORDS.values()]
            assert values(page, ".total") == totals
            assert values(page, ".merges button") == [str(c) for c in COUNTS[:n]]
            text = page.locator("[data-pair=next]").inner_text()
            assert n == 3 or f"{COUNTS[n]} times" in text
            page.keyboard.press("ArrowRight")
        assert "all merges are made" in page.locator("[data-pair=next]").inner_text()


def test_pair_that_is_next_and_token_that_is_new_are_marked(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert values(page, NEXT) == ["a", "t", "a", "t"] and not values(page, NOW)
        page.get_by_role("button", name="merge →").click()
        assert values(page, NEXT) == ["m", "at"] and values(page, NOW) == ["at", "at"]
        page.get_by_role("button", name="merge →").click()
        assert values(page, NEXT) == ["at", "e"] and values(page, NOW) == ["mat"]
        page.get_by_role("button", name="← back").click()
        assert values(page, NOW) == ["at", "at"]


def test_merges_are_made_and_taken_back_by_keyboard_alone(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        state = page.locator(".said")
        page.keyboard.press("Tab")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        expected = "Merge 2 joins \u2068m\u2069 and \u2068at\u2069, 10 times; "
        assert state.inner_text() == expected + "here in \u2068mats\u2069."
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert tokens(page)[0][1] == WORDS["mats"][1]
        for _ in range(3):  # no further back than the beginning, and the stop stays
            page.keyboard.press("Enter")
        assert tokens(page)[0][1] == WORDS["mats"][0]
        assert state.inner_text() == "No merge yet: each word is its symbols."
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert tokens(page)[0][1] == WORDS["mats"][1]


def test_tokens_and_merges_are_reached_by_arrow_keys_and_told(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        state = page.locator(".said")
        page.locator("input").focus()
        page.keyboard.press("End")
        page.locator(".words .token").first.focus()
        expected = "\u2068mat\u2069 in \u2068mats\u2069: merge 2 joins"
        assert state.inner_text().startswith(expected)
        page.keyboard.press("ArrowRight")
        assert state.inner_text().endswith("a symbol from the beginning.")
        page.keyboard.press("ArrowDown")
        assert state.inner_text().startswith(
            "\u2068ate\u2069 in \u2068ate\u2069: merge 3"
        )
        page.keyboard.press("Tab")
        assert state.inner_text().startswith("Merge 3 joins")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        assert state.inner_text().startswith("Merge 1 joins \u2068a\u2069 and \u2068t")
        page.keyboard.press("Enter")  # back to this merge, and the keyboard stays
        assert tokens(page)[0][1] == WORDS["mats"][1]
        assert page.evaluate("document.activeElement.dataset.merge") == "1"


def test_pointing_at_a_token_tells_its_merge(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="merge →").click()
        page.locator(".words .token").nth(1).hover()
        assert (
            "at\u2069 in \u2068mats\u2069: merge 1"
            in page.locator(".said").inner_text()
        )


def test_words_are_hidden_and_shown_by_keyboard(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator(".choose button").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert [word for word, _ in tokens(page)] == ["mats", "<b>", "שלום"]
        page.keyboard.press("Enter")
        assert [word for word, _ in tokens(page)] == [*WORDS]
        page.keyboard.press("End")
        for _ in WORDS:
            page.keyboard.press("Enter")
            page.keyboard.press("ArrowLeft")
        assert tokens(page) == []
        assert page.locator(".said").inner_text().endswith("No word is shown.")


def test_word_from_right_to_left_runs_so(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        left = page.eval_on_selector_all(
            "[data-word='שלום'] .token", "all => all.map(e => e.offsetLeft)"
        )
        assert left == sorted(left, reverse=True) and len({*left}) == 4


def test_token_keeps_its_position_when_it_is_joined(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        last = page.locator("[data-word=mats] .token").last
        before = last.bounding_box()
        page.locator("input").focus()
        page.keyboard.press("End")
        assert abs(last.bounding_box()["x"] - before["x"]) < 1


def test_nothing_moves_where_motion_is_not_wanted(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="merge →").click()
        name = "e => getComputedStyle(e).animationName"
        assert page.locator(NOW).first.evaluate(name) != "none"
        page.emulate_media(reduced_motion="reduce")
        assert page.locator(NOW).first.evaluate(name) == "none"
        page.emulate_media(reduced_motion="no-preference")


def test_view_is_accessible_before_and_after_the_merges(figure, tmp_path):
    assert_accessible(tmp_path, figure)
    with opened(tmp_path, figure, ground="dark") as page:
        page.locator("input").focus()
        page.keyboard.press("End")
        page.wait_for_timeout(500)  # the new token's ring has faded
        assert Axe().run(page).response["violations"] == []


def test_ranks_of_training_are_told(tmp_path):
    figure = figures.merge_steps(
        WORDS, MERGES, COUNTS, ranks=[4, 7, 1203], alt="Three merges of many."
    )
    with opened(tmp_path, figure) as page:
        page.locator("input").focus()
        page.keyboard.press("End")
        assert page.locator(".said").inner_text().startswith("Merge 1,203 joins")
        assert page.locator(".merges .number").all_inner_texts() == ["4", "7", "1,203"]
        assert page.get_by_text("merges so far that change these words").is_visible()


def test_token_of_html_stays_text(figure):
    assert "<b>" not in page_text(figure)


def test_picture_shows_words_after_each_merge(figure):
    labels = {text.get_text() for text in texts(figure)}
    assert {"symbols", "1: a + t (19)", "2: m + at (10)", "mat", "ate"} <= labels
    assert overlaps(figure) == []


def test_picture_of_many_merges_and_words_fits_a_page():
    word = [f"{i % 10}" for i in range(25)]
    lists = [word]
    for _ in range(20):
        lists.append(["".join(lists[-1][:2]), *lists[-1][2:]])
    merges = [(now[0], now[1]) for now, _ in pairwise(lists)]
    words = {f"word {i}": lists for i in range(5)}
    svg = figures.merge_steps(words, merges, [2] * 20, alt=ALT).svg()
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg).groups()
    assert float(width) / 72 <= 6 and float(height) / 72 <= 9


@pytest.mark.parametrize(
    ("words", "merges", "counts", "message"),
    [
        ({}, MERGES, COUNTS, "^0 words: a picture shows 1 to 24"),
        (WORDS, [], [], "^0 merges: a picture shows 1 to 1000"),
        (WORDS, MERGES * 400, COUNTS * 400, "^1200 merges: a picture shows 1 to 1000"),
        (WORDS, MERGES, [19, 10], "^2 counts for 3 merges"),
        (WORDS, MERGES, [19, 10, np.nan], "^counts must be whole numbers from 1"),
        (WORDS, MERGES, [19, 10, 0], "^counts must be whole numbers from 1"),
        (
            {"ate": WORDS["ate"][:3]},
            MERGES,
            COUNTS,
            "has 3 lists of tokens for 3 merges",
        ),
        ({"": [[]] * 4}, MERGES, COUNTS, "must have 1 to 40 symbols"),
        ({"a": [["a", ""]] * 4}, MERGES, COUNTS, "none of them empty"),
        ({"a": [["a"] * 41] * 4}, MERGES, COUNTS, "must have 1 to 40 symbols"),
        ({"a": [["W" * 90]] * 4}, MERGES, COUNTS, "too wide to draw"),
    ],
)
def test_unfit_data_is_refused(words, merges, counts, message):
    with pytest.raises(ValueError, match=message):
        figures.merge_steps(words, merges, counts, alt=ALT)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (["a", "t"], ["ta"]),
        (["a", "t", "e"], ["at"]),
        (["a", "t"], ["at", "e"]),
        (["m", "a", "t"], ["ma", "t"]),
        (["a", "t"], ["a"]),
    ],
)
def test_lists_that_the_merge_does_not_make_are_refused(before, now):
    with pytest.raises(ValueError, match=r"^word 'x': merge 1 joins \('a', 't'\)"):
        figures.merge_steps({"x": [before, now]}, [("a", "t")], [2], alt=ALT)


def test_ranks_must_grow():
    with pytest.raises(ValueError, match=r"^ranks must grow, got \[1, 3, 3\]"):
        figures.merge_steps(WORDS, MERGES, COUNTS, ranks=[1, 3, 3], alt=ALT)


LEARNED = [("a", "t", 19), ("m", "at", 10), ("o", "o", 4), ("at", "e", 3)]


@pytest.fixture
def typed():
    return figures.typed_word("mate", LEARNED, alt=ALT)


def test_typed_word_is_split_by_the_merges_that_change_it(typed, tmp_path):
    with opened(tmp_path, typed) as page:
        assert tokens(page) == [["mate", ["m", "a", "t", "e"]]]
        page.locator(".typed").fill("Ooate ")  # capitals and spaces are left out
        assert tokens(page) == [["ooate", ["o", "o", "a", "t", "e"]]]
        page.get_by_role("slider").focus()
        page.keyboard.press("End")
        assert tokens(page) == [["ooate", ["oo", "ate"]]]
        assert page.locator(".merges .number").all_inner_texts() == ["1", "3", "4"]


def test_typed_word_without_a_merge_keeps_its_letters(typed, tmp_path):
    with opened(tmp_path, typed) as page:
        page.locator(".typed").fill("xyz")
        page.get_by_role("slider").focus()
        page.keyboard.press("End")
        assert tokens(page) == [["xyz", ["x", "y", "z"]]]
        page.locator(".typed").fill("")
        assert tokens(page)[0][0] == "xyz"


def test_typed_word_joins_from_left_to_right(typed, tmp_path):
    with opened(tmp_path, typed) as page:
        page.locator(".typed").fill("ooo")
        page.get_by_role("button", name="merge →").click()
        assert tokens(page) == [["ooo", ["oo", "o"]]]
        assert figures.typed_word("ooo", LEARNED, alt=ALT).data["words"] == [
            {"name": "ooo", "steps": [[0, ["o", "o", "o"]], [1, ["oo", "o"]]]}
        ]


def test_view_of_a_typed_word_is_accessible(typed, tmp_path):
    assert_accessible(tmp_path, typed)


def test_word_that_no_merge_changes_is_refused():
    with pytest.raises(ValueError, match=r"^no merge changes word='xyz'"):
        figures.typed_word("xyz", LEARNED, alt=ALT)
