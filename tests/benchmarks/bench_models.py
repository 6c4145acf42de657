"""How fast the trained models run in a page, and how large they are.

Tokens per second are those of the view: with the cache, up to a full context. At a
quarter of the speed the model runs in the page itself, since Chromium slows the page
down, not its workers. Beside them: what the course has set itself.
"""

import base64
import statistics
import tempfile
from pathlib import Path

from autograder.course import Course
from course_lib.corpora.translations import translation_pairs
from course_lib.figures.living import LANGUAGE_MODEL, read_script
from course_lib.nn.models import MODELS, is_made
from tests.benchmarks.figure import Figure, above, against
from tests.browser import one_browser, page_of
from tests.figures.runtime import OPEN, script

MAX_MEGABYTES = 4.0
TOKENS_PER_SECOND, SLOWED_DOWN = 60.0, 15.0
SLOWER = 4
ROUNDS = 5
# Reads a context token by token, as the view does while the model writes on.
IN_A_WORKER = """async ([nTokens, round]) => {
    const ids = Array.from({ length: nTokens }, (_, i) => (31 * i + round) % 1000);
    const start = performance.now();
    for (let n = 1; n <= nTokens; n++) await model.read(ids.slice(0, n));
    return 1000 * nTokens / (performance.now() - start);
}"""
IN_THE_PAGE = """([base64, nTokens, round]) => {
    const bytes = Uint8Array.from(atob(base64), each => each.charCodeAt(0));
    const own = new LanguageModel(readModelFile(bytes.buffer));
    const ids = Array.from({ length: nTokens }, (_, i) => (31 * i + round) % 1000);
    const start = performance.now();
    for (let n = 1; n <= nTokens; n++) own.read(ids.slice(0, n));
    return 1000 * nTokens / (performance.now() - start);
}"""
TRANSLATE = """async ([text, beamSize]) => {
    const { ids } = await model.encode(text);
    const answer = await model.translate(ids, { beamSize });
    return [answer.ids.length + 1, answer.milliseconds];
}"""


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    figures = []
    with one_browser(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        page_text = f"<!doctype html><title>models</title><script>{script()}</script>"
        path.write_text(page_text, encoding="utf-8")
        for name, model in MODELS.items():
            if not is_made(model):
                continue
            content = model.path.read_bytes()
            size = len(content) / 1e6
            figures.append(against(f"{name}: file", size, "MB", "limit", MAX_MEGABYTES))
            measured = _written if name == "language model" else _translated
            figures += measured(path, content, 2 if quick else ROUNDS)
    return figures


def _written(path: Path, content: bytes, rounds: int) -> list[Figure]:
    n_tokens, encoded = 128, base64.b64encode(content).decode()
    with page_of(path.as_uri()) as page:
        page.evaluate(OPEN, encoded)
        fast = [page.evaluate(IN_A_WORKER, [n_tokens, i]) for i in range(rounds)]
        names = LANGUAGE_MODEL[:2]  # without what a worker alone has
        page.add_script_tag(content="\n".join(map(read_script, names)))
        slowed = page.context.new_cdp_session(page)
        slowed.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        slow = [
            page.evaluate(IN_THE_PAGE, [encoded, n_tokens, i]) for i in range(rounds)
        ]
    unit = "tokens/s"
    return [
        above(
            "language model, a context of 128",
            statistics.median(fast),
            unit,
            "target",
            TOKENS_PER_SECOND,
        ),
        above(
            f"the same with a processor {SLOWER} times slower",
            statistics.median(slow),
            unit,
            "target",
            SLOWED_DOWN,
        ),
    ]


def _translated(path: Path, content: bytes, rounds: int) -> list[Figure]:
    texts = [pair.source for pair in translation_pairs().test[: 4 * rounds]]
    figures = []
    with page_of(path.as_uri()) as page:
        page.evaluate(OPEN, base64.b64encode(content).decode())
        for size, kind in ((1, "greedy"), (4, "4 beams")):
            answers = [page.evaluate(TRANSLATE, [text, size]) for text in texts]
            n_tokens = sum(tokens for tokens, _ in answers)
            seconds = sum(milliseconds for _, milliseconds in answers) / 1000
            speed = n_tokens / seconds
            figures.append(
                above(
                    f"translator, {kind}",
                    speed,
                    "tokens/s",
                    "target",
                    TOKENS_PER_SECOND,
                )
            )
    return figures
