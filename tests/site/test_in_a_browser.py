"""The book in Chromium, from the file system: formulas, pictures, themes, search."""

import contextlib
import itertools

import pytest
from axe_playwright_python.sync_playwright import Axe

from autograder.course import Course
from course_lib.figures.cover import cover_weights
from course_lib.lessons import pronoun
from tests.figures.living import ALIVE, assert_keys_stay
from tests.site.book import LESSON, LESSONS, WORDS

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
WIDTHS = {"phone": 360, "desk": 1280}
EXERCISE = "exercises/softmax.html"
START = "00_start_here/00_start_here.html"
SEARCH = "search.html?q=softmax"
PAGES = ["index.html", "exercises/index.html", LESSON, EXERCISE, SEARCH]
# Axe would read the style sheets again, which a page from a file may not.
AXE = {"preload": False}
SHOW_ALL = """document.querySelectorAll(".attention-cover button")
    .forEach(each => each.click())"""
VIEWS = [*itertools.product(PAGES, WIDTHS, ("light", "dark"))]
TYPESET = "document.querySelectorAll('mjx-container svg').length > 5"
# The theme reports in the console which colours it uses: no fault.
THEME = "[PST]"


@contextlib.contextmanager
def opened(browser, site, name, *, theme="light", width=1280):
    """Open a page of the book from its file; what a script stops at is a failure."""
    browser.set_viewport_size({"width": width, "height": 900})
    browser.goto("about:blank")
    browser.emulate_media(media="screen", color_scheme=theme)
    errors: list[str] = []
    requests: list[str] = []
    listeners = {
        "console": lambda line: THEME in line.text or errors.append(line.text),
        "pageerror": lambda error: errors.append(str(error)),
        "requestfailed": lambda request: errors.append(request.url),
        "request": lambda request: requests.append(request.url),
    }
    for event, listener in listeners.items():
        browser.on(event, listener)
    try:
        browser.goto(f"{site.as_uri()}/{name}")
        yield browser
        assert errors == []
        assert {each.partition(":")[0] for each in requests} <= {"file", "data", "blob"}
    finally:
        for event, listener in listeners.items():
            browser.remove_listener(event, listener)


CUT_OFF = """() => [...document.querySelectorAll("article pre")].filter(
    each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"""


def settle(page, name):
    """Wait until a page is as it stays: formulas, search results, colours."""
    if name == LESSON:
        page.wait_for_function(TYPESET)
    if name == SEARCH:
        page.locator("#search-results li a").first.wait_for()
    page.evaluate("Promise.all(document.getAnimations().map(each => each.finished))")


def luminance(page, selector):
    colour = page.locator(selector).first.evaluate(
        "each => getComputedStyle(each).backgroundColor.match(/[0-9.]+/g).map(Number)"
    )
    return sum(colour[:3]) / 3


def test_formulas_are_typeset_without_a_network(browser, site):
    with opened(browser, site, LESSON) as page:
        page.wait_for_function(TYPESET)
        formulas = page.locator("mjx-container")
        assert formulas.count() == page.locator(".math").count() > 5
        assert page.locator("mjx-container [data-mjx-error]").count() == 0
        assert "$" not in page.locator(".bd-article p").first.inner_text()
        # Screen readers get MathML.
        assert page.locator("mjx-assistive-mml math").count() == formulas.count()


def test_living_picture_answers_pointing_and_keys(browser, site):
    with opened(browser, site, LESSON) as page:
        pictures = page.locator(".living[data-live='yes']")
        picture = pictures.filter(has_text=WORDS[1]).locator("visible=true").first
        picture.wait_for()
        assert not picture.locator("> img").is_visible()
        words = picture.locator("[data-side='query'], .query, text, button")
        assert {*WORDS} <= {*words.all_inner_texts(), *words.all_text_contents()}
        before = picture.locator(".said").inner_text()
        page.keyboard.press("Tab")
        picture.get_by_role("button").first.focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        assert picture.locator(".said").inner_text() != before


def test_print_has_static_pictures_and_no_solution(browser, site):
    with opened(browser, site, LESSON) as page:
        page.locator(".living[data-live='yes']").first.wait_for(state="attached")
        page.emulate_media(media="print")
        assert page.locator(".living > img").first.is_visible()
        assert page.locator(".living-view").first.is_hidden()
        assert page.locator("details.solution").first.is_hidden()
        assert page.locator(".bd-sidebar-primary").is_hidden()
        wide = page.locator("pre").evaluate_all(
            "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
        )
        assert wide == 0
        assert page.pdf(format="A4").count(b"/Type /Page") > 5


@pytest.mark.parametrize("width", WIDTHS)
def test_cover_is_switched_and_typed_in(browser, site, width):
    with opened(browser, site, "index.html", width=WIDTHS[width]) as page:
        cover = page.locator(".front-cover")

        def attended_most():
            sentence = cover.locator(".said").inner_text()
            word = sentence.partition("attends most to ")[2].partition(",")[0]
            return word.strip("“”\u2068\u2069")

        cover.get_by_role("button", name="tired", exact=True).first.focus()
        assert attended_most() == "animal"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert attended_most() == "street"
        heaviest = cover.locator(".lw-line.lw-most")
        row = dict(zip(pronoun.LAST_WORDS, cover_weights(), strict=True))["wide"]
        weight = float(heaviest.get_attribute("data-value"))
        assert weight == pytest.approx(max(row), abs=1e-4)
        cover.get_by_role("button", name="tired", exact=True).first.click()
        assert attended_most() == "animal"
        field = cover.get_by_role("textbox", name="last word")
        field.fill("muddy")
        assert attended_most() == "street"
        field.fill("purple")
        assert "nobody has made a vector" in cover.locator(".said").inner_text()


def test_front_page_stands_still_without_scripts(browser, site):
    context = browser.context.browser.new_context(java_script_enabled=False)
    with contextlib.closing(context):
        page = context.new_page()
        page.goto(f"{site.as_uri()}/index.html")
        picture = page.locator(".front-cover figure > img")
        assert picture.is_visible() and "animal" in picture.get_attribute("alt")
        assert page.get_by_text("make site SERVE=1").is_visible()
        assert page.locator(".front-card").count() == len(LESSONS)


@pytest.mark.parametrize("name", [LESSON, EXERCISE])
def test_solution_opens_on_a_click_only(browser, site, name):
    with opened(browser, site, name) as page:
        solution = page.locator("details.solution", has_text="exponentials").first
        assert not solution.locator("pre").is_visible()
        solution.locator("summary").click()
        assert solution.locator("pre").is_visible()


def test_prediction_covers_the_answer_until_a_choice(browser, site):
    with opened(browser, site, START) as page:
        page.evaluate("localStorage.clear()")
        page.reload()
        covers = page.locator(".attention-cover")
        count = covers.count()
        came_out = page.locator(".cell_output").filter(has_text="[1.0, 0.5, -0.5]")
        options = page.get_by_role("radiogroup", name="divide 2, 1").get_by_label(
            "0.67"
        )
        assert covers.first.is_visible() and came_out.is_hidden()
        violations = (
            Axe().run(page, context=".bd-article", options=AXE).violations_count
        )
        assert violations == 0
        page.emulate_media(media="print")
        assert covers.first.is_hidden() and came_out.is_visible()
        page.emulate_media(media="screen")
        options.first.focus()
        page.keyboard.press("Space")
        assert came_out.is_visible() and covers.count() == count - 1
        text = "You predicted “0.67, 0.33 and 0”. What came out: “1, 0.5 and −0.5”."
        page.get_by_text(text).wait_for()
        page.reload()
        assert options.first.is_checked() and came_out.is_visible()
        page.evaluate("localStorage.clear()")
        page.reload()
        page.get_by_role("button", name="Show it anyway").nth(1).click()
        assert came_out.is_visible()
        assert page.get_by_text("You predicted").count() == 0


def test_theme_button_makes_the_page_dark_and_back(browser, site):
    with opened(browser, site, LESSON) as page:
        assert luminance(page, "body") > 200
        page.get_by_role("button", name="Color mode").locator("visible=true").click()
        page.get_by_role("button", name="Dark").locator("visible=true").click()
        assert luminance(page, "body") < 60
        assert page.locator(".living-view[data-theme='dark']").count() > 0
        page.evaluate("localStorage.clear()")


def test_search_finds_softmax(browser, site):
    with opened(browser, site, SEARCH) as page:
        page.locator("#search-results li a").first.wait_for()
        links = page.locator("#search-results li a")
        addresses = links.evaluate_all("all => all.map(e => e.href)")
        assert any("exercises/softmax.html" in each for each in addresses)
        assert any("01_dot_product_attention.html" in each for each in addresses)


@pytest.mark.parametrize(
    "name", ["index.html", LESSON, EXERCISE, "exercises/index.html"]
)
def test_no_page_scrolls_sideways_on_a_phone(browser, site, name):
    with opened(browser, site, name, width=WIDTHS["phone"]) as page:
        page.wait_for_load_state("load")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= WIDTHS["phone"]
        assert page.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("name, width, theme", VIEWS)
def test_axe_finds_no_violation(browser, site, name, width, theme):
    with opened(browser, site, name, width=WIDTHS[width], theme=theme) as page:
        settle(page, name)
        violations = [
            (each["id"], node["html"][:200])
            for each in Axe().run(page, options=AXE).response["violations"]
            for node in each["nodes"]
        ]
        assert violations == []


@pytest.mark.parametrize("lesson", Course.here().built_lessons[1:])
def test_every_view_of_a_lesson_lives_in_the_book(browser, whole_site, lesson):
    with opened(browser, whole_site, f"{lesson}/{lesson}.html") as page:
        count = page.locator("figure.living").count()
        assert count > 0
        page.wait_for_function(f"{ALIVE} === {count}")
        page.evaluate(SHOW_ALL)  # views below predictions are covered
        assert_keys_stay(page, count)
