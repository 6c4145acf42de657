"""The learner's top_p_filter and sample in the view of the next token, in a browser."""

import pytest
import torch

from course_lib import figures
from course_lib.lessons import own_draws
from course_lib.nn import sampling
from course_lib.nn.model_file import read_model_file
from tests.browser import becomes_true
from tests.figures.living import opened
from tests.figures.small_models import small_language_model
from tests.figures.test_living_writing import after, bars, begin

TEXT = "To be"
P = 0.9
TOP_K = 40
# A notebook that answers by Python's function, one question after another.
NOTEBOOK = """kind => document.addEventListener("attention-course-ask", event => {
    const { question } = event.detail;
    const isIdle = !window.isBusy;
    window.isBusy = kind === "python";
    event.detail.answer = kind === "python" && isIdle
        ? window.answer(question).then(answer => new Promise(done => setTimeout(() => {
            window.isBusy = false;
            done(answer);
        }, 200)))
        : kind === "slow" ? new Promise(done => window.done = done)
        : Promise.resolve(null);
})"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return small_language_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def figure(file):
    """Return the view as a notebook draws it, for the text with one stored context."""
    _, tokenizer = read_model_file(file).load()
    ids = tokenizer.encode(TEXT)
    return figures.next_token(
        {tuple(ids): torch.linspace(2, -2, len(tokenizer)).numpy()},
        [*map(str, tokenizer.vocabulary)],
        ids,
        alt="A few tokens are probable.",
        top_k=TOP_K,
        top_p=P,
        model="small.bin",
        text=TEXT,
        file=file.read_bytes(),
        answer=lambda question: None,
    )


def listen(page, kind, **names):
    """Let a notebook with these functions answer the page; return what it is asked."""
    questions = []

    def answer(question):
        questions.append(question)
        return own_draws.answer(question, names)

    if kind == "python":
        page.expose_function("answer", answer)
    page.evaluate(NOTEBOOK, kind)
    return questions


def whose(page):
    return page.locator(".whose").inner_text()


def tokens(page):
    return page.locator(".sequence button").count()


def test_learners_functions_cut_and_draw(figure, file, tmp_path):
    model = read_model_file(file).load()
    ids = model[1].encode(TEXT)
    right = after(model, ids).softmax(dim=-1)
    first, second = right.topk(2).indices.tolist()

    def top_p_filter(probabilities, p):
        return torch.eye(len(probabilities))[second]

    def sample(probabilities, u):
        return torch.tensor(first)

    with opened(tmp_path, figure, own_page=True) as page:
        names = {"top_p_filter": top_p_filter, "sample": sample}
        questions = listen(page, "python", **names)
        begin(page)
        becomes_true(page, lambda: "Your own top_p_filter" in whose(page))
        assert whose(page).startswith(
            "Your own top_p_filter makes the cut: it leaves 1"
        )
        values = page.eval_on_selector_all(
            ".bar", "all => all.map(e => e.dataset.value)"
        )
        assert [float(each) for each in values[:3]] == [0, 1, 0]
        assert page.locator(".bar .why").first.inner_text() == "cut by top-p"
        assert "After your text 1 of" in page.locator(".said").inner_text()
        question = questions[-1]
        top = right.topk(TOP_K)
        assert (question["p"], question["size"]) == (P, len(right))
        assert question["ids"] == top.indices.tolist() and question["u"] is None
        expected = (top.values / top.values.sum()).tolist()
        assert question["probabilities"] == pytest.approx(expected, abs=1e-5)
        page.get_by_role("button", name="one token").click()
        becomes_true(page, lambda: tokens(page) == len(ids) + 1)
        drawn = page.locator(".sequence .drawn").last
        assert drawn.locator("small").inner_text() == "0.00"
        name = model[1].vocabulary[first].strip()
        assert drawn.locator("span").first.inner_text() == name
        assert "it chose a token that is cut" in whose(page)
        assert 0 <= next(each["u"] for each in questions if each["u"] is not None) < 1


def test_text_is_written_by_the_learners_functions(figure, tmp_path):
    def top_p_filter(probabilities, p):
        return sampling.top_p_filter(probabilities, p)

    def sample(probabilities, u):
        return int(sampling.sample(probabilities, u))

    with opened(tmp_path, figure, own_page=True) as page:
        questions = listen(page, "python", top_p_filter=top_p_filter, sample=sample)
        begin(page)
        n = tokens(page)
        becomes_true(page, lambda: len(questions) > 0)  # and the answer is not there
        page.locator("textarea").press("Control+Enter")
        becomes_true(page, lambda: tokens(page) >= n + 5)
        page.get_by_role("button", name="stop").click()
        page.wait_for_timeout(600)
        assert whose(page) == (
            "Your own top_p_filter makes the cut, the same as the course's. "
            "Your own sample draws, the same as the course's."
        )
        drawn = tokens(page) - n
        assert sum(each["u"] is not None for each in questions) in (drawn, drawn + 1)
        assert questions[-1]["u"] is None  # once it rests, the cut alone


def test_failing_functions_leave_the_draw_to_the_courses(figure, tmp_path):
    def sample(probabilities, u):
        raise ValueError("<b>no</b>")

    with opened(tmp_path, figure, own_page=True) as page:
        listen(page, "python", sample=sample, top_p_filter=lambda values, p: [])
        begin(page)
        n = tokens(page)
        page.get_by_role("button", name="one token").click()
        becomes_true(page, lambda: "sample" in whose(page))
        assert tokens(page) == n + 1
        assert whose(page) == (
            "Your own top_p_filter returned a value of type list, where a tensor was "
            "expected. The course's top_p_filter makes the cut. Your own sample raised "
            "ValueError: <b>no</b>. The course's sample draws."
        )


def test_notebook_that_does_not_answer_is_not_waited_for(figure, tmp_path):
    with opened(tmp_path, figure, own_page=True) as page:
        listen(page, "slow")
        begin(page)
        n = tokens(page)
        page.locator("textarea").press("Control+Enter")
        becomes_true(
            page, lambda: whose(page) == "Your own functions are being asked …"
        )
        becomes_true(page, lambda: tokens(page) >= n + 5)
        assert whose(page) == (
            "Your own functions have not answered for 5 seconds. The course's are used."
        )


def test_stop_while_a_notebook_is_asked_draws_nothing(figure, tmp_path):
    with opened(tmp_path, figure, own_page=True) as page:
        listen(page, "slow")
        begin(page)
        n = tokens(page)
        page.get_by_role("button", name="write on").click()
        becomes_true(page, lambda: "are being asked" in whose(page))
        page.get_by_role("button", name="stop").click()
        page.evaluate(
            """() => window.done({ kept: [[0, 1]], cut: "", id: 0, probability: 1 })"""
        )
        page.wait_for_timeout(300)
        assert tokens(page) == n


def test_busy_kernel_is_told_and_a_page_of_the_book_says_nothing(figure, tmp_path):
    for kind, sentence in (("busy", "The notebook's kernel is busy"), (None, "")):
        with opened(tmp_path, figure, own_page=True) as page:
            if kind:
                listen(page, kind)
            begin(page)
            n, before = tokens(page), bars(page)
            page.get_by_role("button", name="one token").click()
            becomes_true(page, lambda page=page, n=n: tokens(page) == n + 1)
            becomes_true(page, lambda page=page, t=sentence: whose(page).startswith(t))
            page.wait_for_timeout(500)
            assert bool(whose(page)) == bool(sentence) and bars(page) != before
