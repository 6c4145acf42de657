"""Untrusted text that tries to run in a browser, and a check of whether it can.

Also graded submissions that hold it wherever a submission has text.
"""

from dataclasses import replace
from html.parser import HTMLParser

from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.grading.release import Cell, load_release
from autograder.grading.result import SubmissionResult
from tests.submissions import COURSE, LESSON

LINES = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</pre></code></div><script>alert(1)</script>",
    "</style></script><iframe src='https://evil.example/'></iframe>",
    '" onmouseover="alert(1)" x=\'',
    "[click](javascript:alert(1))",
    "<javascript:alert(1)>",
    "![picture](https://evil.example/p.png)",
    r"$\href{javascript:alert(1)}{click}$",
    r"\(\href{javascript:alert(1)}{click}\)",
    r"$$\href{javascript:alert(1)}{click}$$ \[\href{javascript:alert(1)}{x}\]",
    r"\begin{align}\href{javascript:alert(1)}{click}\end{align}",
    "{{7*7}} {% raw %} {#",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "]]> <![CDATA[ <!-- --> <?php",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62; &amp;lt;svg onload=alert(1)&amp;gt;",
    "\u202egnp.live\u2066 \x00\x08",
    "<style>*{display:none}</style>",
    "<a href='javascript:alert(1)'>click</a>",
    "`<b>` `` $x$ ```",
    "~~~ <b>x</b>",
    "# <svg onload=alert(1)>",
    "attachment:x files/x.html",
)
TEXT = "\n\n".join(LINES)
SENTENCE = " ".join(LINES)
MARKS = ("javascript:", "onerror", "<script", "{{7*7}}", "evil.example")  # of them
HARMLESS = "Harmless words."


def graded(text=TEXT, sentence=SENTENCE):
    """Return cells, result and outputs of a submission that holds a text everywhere."""
    cells = []
    for cell in load_release(COURSE, LESSON).cells:
        source = text if cell.role == "solution" else cell.source
        cells.append(replace(cell, source=source))
        if cell.role == "solution":
            cells.append(Cell("own", text, id=f"note-{cell.id}", is_code=False))
            cells.append(Cell("own", text, id=f"code-{cell.id}"))
    indices = range(sum(cell.is_code for cell in cells))
    return cells, result(sentence), dict.fromkeys(indices, recorded(text))


def result(sentence=SENTENCE, student="amara"):
    names = load_release(COURSE, LESSON).exercises
    verdicts = tuple(verdict(name, sentence) for name in names)
    sentences = {"repairs": (sentence,), "troubles": (sentence,)}
    return SubmissionResult(student, LESSON, "graded", verdicts, **sentences)


def verdict(name, sentence):
    cases = (
        CaseVerdict("one", "It holds", "ok", 2.0, 2.0, True),
        CaseVerdict("two", sentence, "wrong", 0.0, 1.0, False, sentence),
    )
    report = [f"{name}: {sentence}", f"  {sentence}", "  ✓ It holds", "  ✗ Other"]
    report += [f"      {sentence}", f"→ {sentence}", sentence]
    flags = (Flag(name, sentence, sentence),)
    return ExerciseResult(name, 2.0, 3.0, cases, "", (), flags, "\n".join(report))


def recorded(text):
    """Return outputs as the sandbox records them; much of it is forged."""
    forms = ("text/plain", "text/html", "text/latex", "text/markdown", "image/png")
    return [
        {"name": "stdout", "text": text},
        {"name": "stderr", "text": text, "cut": True},
        {"name": text, "text": text},
        {"data": dict.fromkeys([*forms, "application/javascript", text], text)},
        {"data": {"image/png": 'x" onerror="alert(1)'}, "metadata": {text: text}},
        {"data": {"text/plain": [text]}},
        {"text": 4},
        {"data": text},
        text,
        None,
    ]


class Page(HTMLParser):
    """The elements of a page, what they carry, and the text in them.

    texts : each piece of text, with the names of the elements around it
    """

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = []
        self._open = []
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attributes):
        self.handle_startendtag(name, attributes)
        if name not in ("meta", "br", "link", "img", "input"):
            self._open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        if name in self._open:  # nbgrader closes more than it opens
            while self._open.pop() != name:
                pass

    def handle_data(self, data):
        self.texts.append((data, tuple(self._open)))

    def handle_comment(self, data):
        self.elements.append(("!", {"comment": data}))

    @property
    def names(self):
        return {name for name, _ in self.elements}

    @property
    def text(self):
        return "".join(data for data, around in self.texts if "style" not in around)

    def assert_inert(self):
        """Fail if anything runs, loads or leads away."""
        bad = {"!", "script", "iframe", "img", "svg", "object", "embed", "link", "base"}
        assert not self.names & (bad | {"form", "input", "button", "video", "math"})
        for name, attributes in self.elements:
            for attribute, value in attributes.items():
                assert not attribute.startswith("on"), (name, attribute)
                assert attribute not in ("src", "srcset", "action", "srcdoc")
                assert attribute != "href" or value.startswith("#")
                assert "url(" not in (value or "")

    def assert_no_formula(self):
        """Fail if MathJax would find a formula, which may hold a link."""
        for data, around in self.texts:
            if not {"code", "pre", "style"} & {*around}:
                assert len(data) == 1 or not {"$", "\\"} & {*data}, data
