"""The scripts of a page that need no page, in Node.js, with a storage of their own."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from autograder.book.live import HERE

SCRIPTS = ("storage.js", "notebooks.js")
NODE = shutil.which("node")
NEEDS_NODE = pytest.mark.skipif(not NODE, reason="Node.js is not installed")
# As browsers have it: texts by key, and room for a number of characters.
STORAGE = """
class Storage {
    #texts = new Map();
    room = Infinity;
    getItem(key) { return this.#texts.get(key) ?? null; }
    removeItem(key) { this.#texts.delete(key); delete this[key]; }
    clear() { [...this.#texts.keys()].forEach((key) => this.removeItem(key)); }
    setItem(key, text) {
        const after = new Map(this.#texts).set(key, String(text));
        const size = () =>
            [...after].reduce((sum, each) => sum + each.join("").length, 0);
        const isFull = this.room < Infinity && size() > this.room;
        if (isFull) throw new Error("QuotaExceededError");
        this.#texts = after;
        this[key] = String(text);
    }
    texts() { return Object.fromEntries([...this.#texts].sort()); }
    fill(texts) {
        this.clear();
        Object.entries(texts).forEach(([key, text]) => this.setItem(key, text));
    }
}
Object.defineProperty(Storage.prototype, "room", { writable: true, value: Infinity });
const localStorage = new Storage();
Object.defineProperty(localStorage, "room", { writable: true, enumerable: false });
"""
UPLOAD = """
function upload(text, course, frames) {
    const data = attentionCourse.notebooks.parsed(text, "mine.ipynb");
    const { lessonsOf, taken, takenFromWhole, account, WHOLE } =
        attentionCourse.notebooks;
    const all = WHOLE in data ? takenFromWhole(data) : taken(data, new Map(
        lessonsOf(data, course, "mine.ipynb").map((each) => [each, frames[each]])));
    const isKept = attentionCourse.storage.keepAll([...all.changes.values()]);
    return isKept ? account(all) : "no room";
}
"""


def in_node(body: str, data: Any = None, texts: dict[str, str] | None = None) -> Any:
    """Run a function's body after the page's scripts; return what it returns.

    data : what it knows as ``data``
    texts : what the browser has before the scripts are loaded, by key
    """
    assert NODE
    scripts = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    program = f"""
const {{ data, before }} = JSON.parse(require("fs").readFileSync(0, "utf-8"));
{STORAGE}
localStorage.fill(before);
{scripts}
{UPLOAD}
console.log(JSON.stringify((() => {{ {body} }})() ?? null));
"""
    done = subprocess.run(
        [NODE, "-e", program],
        input=json.dumps({"data": data, "before": texts or {}}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def read_json(path: Path) -> Any:
    """Return what a JSON file holds."""
    return json.loads(path.read_text(encoding="utf-8"))
