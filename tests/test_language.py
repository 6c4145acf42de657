"""Hold the field's words in names, messages, docstrings and lessons.

``words.toml`` is the table "one thing, one word". What is left to mend:

    python -m tests.test_language [paths…]
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
AREAS = "autograder course_lib solutions tests docs hub".split()
AREAS += ["README.md", "CONTRIBUTING.md"]
SUFFIXES = (".py", ".md", ".j2")
LONGEST_FAILURE = 40  # lines; the command prints all
LONGEST_TEST_NAME = 60  # characters: a unit and a claim fit, a story does not

TEXT = frozenset({"docstring", "comment", "message", "prose"})
KINDS = {
    "names": frozenset({"name"}),
    "messages": frozenset({"message"}),
    "text": TEXT,
    "names and text": TEXT | {"name"},
}


@dataclass(frozen=True, eq=False)
class Rule:
    """A row of ``words.toml``, which says what is in it."""

    words: list[str]
    say: str
    bad: str
    good: str
    wrong: re.Pattern[str]
    kinds: frozenset[str]
    files: re.Pattern[str]
    unless: list[re.Pattern[str]]

    def may_be_in(self, lower: str) -> bool:
        """Return whether a text, in lower case, has one of the words in it."""
        return any(map(lower.__contains__, self.words))


def rule_of(
    words: list[str],
    patterns: Iterable[str] = (r"\b<words>s?\b",),
    where: str = "names and text",
    files: str = "",
    unless: Iterable[str] = (),
    **row: str,
) -> Rule:
    """Compile a row of the table."""
    wrong = "|".join(patterns).replace("<words>", f"({'|'.join(words)})")
    return Rule(
        words=words,
        wrong=re.compile(wrong, re.IGNORECASE | re.MULTILINE),
        kinds=KINDS[where],
        files=re.compile(files),
        unless=[re.compile(phrase, re.IGNORECASE) for phrase in unless],
        **row,
    )


TABLE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
RULES = [rule_of(**row) for row in TABLE["rule"]]
# Words with which a function's docstring does not begin.
NOT_STANDARD = "Give Say Take Have Tell".split()
NOT_IMPERATIVE = (
    "A An All Another Everything How In It Its The Those To True What When Where "
    "Whether Which Why With"
).split()

# A picture in plain words may introduce a term, once in a lesson: phrase and reason.
INTRODUCTIONS = {
    "01_dot_product_attention": ("looked back from *it*", "before 'attends' is known"),
}


class Hit(NamedTuple):
    path: str
    line: int
    word: str
    say: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word} → {self.say} : {self.text}"


class Passage(NamedTuple):
    """A name's words, or running text; and its first and last line in the file."""

    kind: str
    text: str
    first: int
    last: int


def name_in_words(name: str) -> str:
    """Split a name: ``OneHead`` and ``one_head`` are "one head"."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return " ".join(words).lower()


def bound_names(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield the names that code chooses itself, with their lines.

    Uses, keywords of calls and attributes of other objects may be a library's.
    """
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
                yield node.attr, node.lineno
            case ast.alias(asname=str()):
                yield node.asname, node.lineno
            case ast.ExceptHandler(name=str()):
                yield node.name, node.lineno


def strings(nodes: list[ast.AST]) -> Iterator[Passage]:
    """Yield docstrings and messages, with … for the values in f-strings."""
    docstrings, parts = set(), set()
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                docstrings.add(node.value)
            case ast.JoinedStr() if node not in parts:
                parts.update(node.values)
                texts = (getattr(part, "value", "…") for part in node.values)
                text = "".join(text if isinstance(text, str) else "…" for text in texts)
                yield Passage("message", text, node.lineno, node.end_lineno)
            case ast.Constant(value=str()) if node not in parts:
                kind = "docstring" if node in docstrings else "message"
                yield Passage(kind, node.value, node.lineno, node.end_lineno)


def blocks(kind: str, numbered: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """Join lines that follow each other: paragraphs, comments, cells of a lesson."""
    block: list[tuple[int, str]] = []
    for line, text in [*numbered, (-1, "")]:
        if block and line != block[-1][0] + 1:
            joined = " ".join(text for _, text in block)
            yield Passage(kind, joined, block[0][0], block[-1][0])
            block = []
        block.append((line, text))


COMMENT_OR_STRING = re.compile(
    r'''(\#.*|"""(?:\\[\s\S]|[^\\])*?"""|\'\'\'(?:\\[\s\S]|[^\\])*?\'\'\''''
    r"""|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')"""
)
# Imports and decorators, which bind no name.
BINDS_NONE = re.compile(r"^ *(?:(?:from .*)?import (?!.* as ).*$|@\w+)", re.MULTILINE)
INSIDE_F_STRING = re.compile(r"{[^\0{}]*(?:{[^\0{}]*}[^\0{}]*)*}")
DOCSTRING = re.compile(r''':(?: *#.*)?\n\s*[rR]?"""([^\s,;:.]*)''')
PROPERTY = re.compile(r"@.*property.*\n *def .*$")
LONG_TEST = re.compile(rf"test_\w{{{LONGEST_TEST_NAME - 4},}}")


def unparsed(source: str) -> tuple[str, list[tuple[int, str]], list[str]]:
    """Split a module into code, numbered lines of comments, and strings.

    This takes a twentieth of the time in which it is parsed, and says of most modules
    that they need not be.
    """
    parts, line, between = COMMENT_OR_STRING.split(source), 1, "nothing yet"
    comments, strings = [], []
    for code, part in zip(parts[::2], parts[1::2], strict=False):
        line, between = line + code.count("\n"), between + code
        if part.startswith("#"):
            comments.append((line, part.strip("# ")))
        else:
            goes_on = not between.strip("rbfuRBFU \\\n")
            before, between = (strings.pop() if goes_on else ""), ""
            quotes = 3 if part.startswith(('"""', "'''")) else 1
            strings.append(before + part[quotes:-quotes])
        line += part.count("\n")
    return " ".join(parts[::2]), comments, strings


def suspects(path: str, source: str) -> list[Rule]:
    """List the rules that a file may break: mostly none, and it need not be parsed."""
    names, texts = [], re.split(r"\n\s*\n", source)
    if path.endswith(".py"):
        code, comments, strings = unparsed(source)
        inside = INSIDE_F_STRING.findall("\0".join(strings))
        code = BINDS_NONE.sub("", code)
        names = {Path(path).stem, *re.findall(r"[^\W\d]\w*", " ".join([code, *inside]))}
        texts = [*strings, *(each.text for each in blocks("comment", comments))]
        # Strings may be raw, as in r"\text", or not, as in "\text".
        escaped = [each.replace("\\'", "'") for each in strings if "\\" in each]
        texts += [re.sub(r"\\[nrt\n]", " ", each) for each in escaped]
    text = " ".join("\0".join(texts).split()).replace("\0", "\n")
    broken, lower = set(chain.from_iterable(map(rules_of_name, names))), text.lower()

    def is_broken(rule: Rule) -> bool:
        may_be_in_text = rule.kinds & TEXT and rule.may_be_in(lower)
        return rule in broken or bool(may_be_in_text and wrong_words(rule, text))

    return [rule for rule in RULES if rule.files.search(path) and is_broken(rule)]


@cache
def rules_of_name(name: str) -> list[Rule]:
    """List the rules that a name breaks in some files."""
    words = name_in_words(name)
    rules = (rule for rule in RULES if "name" in rule.kinds and rule.may_be_in(words))
    return [rule for rule in rules if wrong_words(rule, words)]


def passages(path: str, source: str, nodes: list[ast.AST]) -> Iterator[Passage]:
    """Yield what a file says: the names that it binds, and its running text."""
    if not path.endswith(".py"):
        lines = enumerate(source.splitlines(), 1)
        yield from blocks("prose", ((n, line) for n, line in lines if line.strip()))
        return
    for name, line in {(Path(path).stem, 0), *bound_names(nodes)}:
        yield Passage("name", name_in_words(name), line, line)
    yield from blocks("comment", unparsed(source)[1])
    for passage in strings(nodes):  # what tests feed may say anything
        if passage.kind == "docstring" or not path.startswith("tests/"):
            yield passage


def may_be_misnamed(source: str) -> bool:
    """Return whether a module may have long names of tests or unusual docstrings."""
    starts = (m for m in DOCSTRING.finditer(source) if not is_standard_verb(m[1]))
    headers = (source[: start.start()].rpartition("\n\n")[2] for start in starts)
    return bool(LONG_TEST.search(source)) or any(
        "def " in each and not PROPERTY.search(each) for each in headers
    )


def wrong_words(rule: Rule, text: str, phrase: str = "") -> list[re.Match[str]]:
    """Find a rule's words outside the phrases in which they may stay."""
    matches = list(rule.wrong.finditer(text))
    if not matches:
        return []
    patterns = [*rule.unless, re.compile(re.escape(phrase), re.IGNORECASE)]

    def stays(word: re.Match[str]) -> bool:
        first = text.rfind("\n", 0, word.start()) + 1
        last = text.find("\n", word.end()) + 1 or len(text)
        return any(
            phrase.start() <= word.start() and word.end() <= phrase.end()
            for pattern in patterns
            for phrase in pattern.finditer(text, first, last)
        )

    return [word for word in matches if not stays(word)]


def line_of(passage: Passage, text: str, match: re.Match[str], lines: list[str]) -> int:
    """Find the line of a match: the passage's n-th such word is the lines' n-th."""
    word = re.escape(match.group().split()[0])
    to_pass = len(re.findall(word, text[: match.start()]))
    for line in range(passage.first, passage.last):
        to_pass -= len(re.findall(word, lines[line - 1]))
        if to_pass < 0:
            return line
    return passage.first if passage.kind == "name" else passage.last


def is_standard_verb(word: str) -> bool:
    """Distinguish "Return" from "Give", "Gives", "The" and ``f(x)``."""
    if word in NOT_IMPERATIVE or word.removesuffix("s") in NOT_STANDARD:
        return False
    third_person = word.endswith("s") and not word.endswith(("ss", "us"))
    return bool(re.fullmatch("[A-Z][a-z-]+", word)) and not third_person


def docstring_starts(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the first words of functions' docstrings; a property's may be a noun."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            docstring = ast.get_docstring(node)
            if docstring and "property" not in decorators:
                yield node.body[0].lineno, re.split(r"[\s,;:.]", docstring)[0]


def hits_of(path: Path) -> list[Hit]:
    """List what is to be mended in one file."""
    name, source = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    rules, lines, marked = suspects(name, source), source.splitlines(), []
    introduction, _ = INTRODUCTIONS.get(path.stem, ("", ""))
    if not rules and not (path.suffix == ".py" and may_be_misnamed(source)):
        return []
    # Parents come before their children.
    nodes = [*ast.walk(ast.parse(source, name))] if path.suffix == ".py" else []
    for passage in passages(name, source, nodes):
        text = re.sub(r"\s+", " ", passage.text)
        for rule in rules:
            if passage.kind in rule.kinds:
                for match in wrong_words(rule, text, introduction):
                    line = line_of(passage, text, match, lines)
                    marked.append((line, match.group(), rule.say))
    for line, word in docstring_starts(nodes):
        if not is_standard_verb(word):
            marked.append((line, word, "a standard verb: Return, Compute, Load …"))
    for test, line in bound_names(nodes):
        if test.startswith("test_") and len(test) > LONGEST_TEST_NAME:
            marked.append((line, test, f"a claim of ≤ {LONGEST_TEST_NAME} letters"))
    return [
        Hit(
            name,
            line,
            word,
            say,
            lines[line - 1].strip() if line else "the file's name",
        )
        for line, word, say in sorted(set(marked))
    ]


def files(area: str) -> list[Path]:
    """List the files of a folder, or the file itself, that are in our language."""
    top = ROOT / area
    paths = sorted(top.rglob("*")) if top.is_dir() else [top]
    return [path for path in paths if path.suffix in SUFFIXES]


def main(areas: list[str]) -> int:
    """Print what is to be mended, then counts per file; return the exit status."""
    hits = [
        hit for area in areas or AREAS for path in files(area) for hit in hits_of(path)
    ]
    for hit in hits:
        print(hit)
    for path, count in Counter(hit.path for hit in hits).most_common():
        print(f"{count:6} {path}")
    print(f"{len(hits):6} in all")
    return 1 if hits else 0


@pytest.mark.parametrize("area", AREAS)
def test_language_of_area(area):
    hits = [hit for path in files(area) for hit in hits_of(path)]
    if hits:
        first = "\n".join(map(str, hits[: LONGEST_FAILURE - 1]))
        pytest.fail(f"{first}\n{len(hits)} in all of {area}", pytrace=False)


# An example in each kind of passage: a name on the first line, all else on the second.
EXAMPLES = {
    "name": "{} = 1\n",
    "docstring": '\n"""{}"""\n',
    "comment": "\n# {}\n",
    "message": 'print(\n    "{}"\n)\n',
    "prose": "\n{}\n",
}


@pytest.fixture(scope="module")
def paths() -> list[str]:
    """List the files of all areas, none of the tests' before all others."""
    each = (path.relative_to(ROOT).as_posix() for area in AREAS for path in files(area))
    return sorted(each, key=lambda path: path.startswith("tests/"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.wrong.pattern)
def test_rule_refuses_bad_and_leaves_good_example(rule, paths, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)

    def lines(kind: str, example: str) -> set[int]:
        """Return the lines in which the rule finds an example, said in that kind."""
        words = name_in_words(example) if example.isidentifier() else example
        name = re.sub(r"\W+", "_", example)
        path = tmp_path / of_kind[kind]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(EXAMPLES[kind].format(name if kind == "name" else words))
        return {hit.line for hit in hits_of(path) if hit.say == rule.say}

    of_kind = {}
    for path in paths:
        kinds = EXAMPLES.keys() - {"prose"} if path.endswith(".py") else {"prose"}
        if rule.files.search(path):
            of_kind |= {kind: path for kind in kinds & rule.kinds - of_kind.keys()}
    assert of_kind, "the rule applies to no file of the course"
    for kind in of_kind:
        assert lines(kind, rule.bad) == {1 if kind == "name" else 2}, kind
        assert not lines(kind, rule.good), kind


def test_standard_verbs():
    assert all(map(is_standard_verb, ["Return", "Process", "Warm-up", "Focus"]))
    assert not any(
        map(is_standard_verb, ["Give", "Says", "Returns", "The", "f(x)", ""])
    )


SOURCE = '''
# A comment that goes
# on, and the query
# looks at a key.
import numpy as place

class OneLook:
    found: int

def forward(self, given, *, rate=0.1):
    """Gives the mean."""
    self.kept = legend(place="left").merit
    print(f"{given} may look"
          " ahead")
'''


@pytest.mark.parametrize("folder", ["course_lib", "tests"])
def test_bindings_and_text_are_flagged_but_not_uses(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / folder / "test_module.py"
    path.parent.mkdir()
    names = ["test_".ljust(LONGEST_TEST_NAME + extra, "x") for extra in (0, 1)]
    path.write_text(SOURCE + "".join(f"def {name}(): pass\n" for name in names))
    comment, message = [(4, "looks")], [(13, "look")] if folder == "course_lib" else []
    bound = [(5, "place"), (7, "look"), (8, "found"), (10, "given"), (10, "rate")]
    rest = [(11, "Gives"), (12, "kept"), *message, (16, names[1])]
    assert [(hit.line, hit.word) for hit in hits_of(path)] == comment + bound + rest


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('def mean():\n    """Gives it."""\n', 1),
        ('@property\ndef mean():\n    """The mean."""\n', 0),
        (f"def {'test_'.ljust(LONGEST_TEST_NAME + 1, 'x')}(): pass\n", 1),
    ],
)
def test_module_without_wrong_words_is_read(source, count, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / "module.py"
    path.write_text(source)
    assert len(hits_of(path)) == count


@pytest.mark.parametrize("lesson", INTRODUCTIONS)
def test_introduction_occurs_once_in_lesson(lesson):
    phrase, reason = INTRODUCTIONS[lesson]
    path = f"solutions/{lesson}/{lesson}.py"
    source = (ROOT / path).read_text()
    nodes = [*ast.walk(ast.parse(source))]
    texts = [each.text for each in passages(path, source, nodes)]
    assert " ".join(texts).count(phrase) == 1, f"{phrase!r} ({reason})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
