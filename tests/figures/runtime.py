"""The runtime of trained models in a page of headless Chromium, asked from Python."""

import base64
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.figures.drawing import read_asset
from course_lib.figures.living import TRANSLATOR, model_script
from tests.browser import page_of, recorded

BYTES = "Uint8Array.from(atob(text), each => each.charCodeAt(0)).buffer"
OPEN = """async base64 => {
    window.model = await openModel({ name: "test.bin", base64 });
    return model.about;
}"""
# The largest difference of logits after each of many contexts, each read alone, from
# those of PyTorch, which come as bytes.
LARGEST = f"""async ([contexts, text]) => {{
    const expected = new Float32Array({BYTES});
    let largest = 0, at = 0;
    for (const ids of contexts) {{
        const {{ logits }} = await model.read(ids);
        for (const logit of logits) {{
            const difference = Math.abs(logit - expected[at++]);
            if (!(difference <= largest)) largest = difference;
        }}
    }}
    return [largest, at];
}}"""


def script() -> str:
    """Return what a page has of the runtime: model.js, a worker of both kinds."""
    worker = [*TRANSLATOR[:-1], "language_model", TRANSLATOR[-1]]
    return "\n".join([model_script(worker), read_asset("sampling.js")])


@contextlib.contextmanager
def page_with(folder: Path, file: bytes) -> Iterator[Any]:
    """Open a page that has a model as ``model``; it asks for nothing else."""
    path = folder / "runtime.html"
    path.write_text(f"<!doctype html><title>model</title><script>{script()}</script>")
    with page_of(path.as_uri()) as page, recorded(page) as requests:
        page.evaluate(OPEN, base64.b64encode(file).decode())
        yield page
        assert {each.split(":")[0] for each in requests} <= {"blob"}


def as_bytes(array: Any) -> str:
    """Return float32 numbers as a page reads them."""
    return base64.b64encode(np.asarray(array, "<f4").tobytes()).decode()
