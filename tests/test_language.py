"""Hold the field's words in names, messages, docstrings and lessons.

Each ``Rule`` is a row of the table "one thing, one word". What is left to mend:

    python -m tests.test_language [paths…]
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
AREAS = "autograder course_lib solutions tests docs hub".split()
AREAS += ["README.md", "CONTRIBUTING.md"]
SUFFIXES = (".py", ".md", ".j2")
LONGEST_FAILURE = 40  # lines; the command prints all
LONGEST_TEST_NAME = 60  # characters: a unit and a claim fit, a story does not

NAMES = frozenset({"name"})
TEXT = frozenset({"docstring", "comment", "message", "prose"})
BOTH = NAMES | TEXT


class Rule(NamedTuple):
    """A word of the wrong column, and what to say instead.

    wrong : pattern over running text, or over the words of a name: ``OneHead`` is
        "one head"
    where : the kinds of passage to which it applies
    bad, good : what it must find, and what it must leave alone
    unless : patterns of phrases in which the word may stay, each with its reason
    files : pattern of the paths to which it applies, "" for all
    """

    wrong: str
    say: str
    where: frozenset[str]
    bad: str
    good: str
    unless: Mapping[str, str] = MappingProxyType({})
    files: str = ""


RESULT = "(found|kept|given|told|seen|shown|said)"
SEEMS = (
    "like|as|alike|different|the same|strange|odd|good|better|right|wrong|harmless"
    "|larger|smaller|small|simple|random|crude|ready|ugly|tidy|clever|perfect|natural"
)
PEOPLE = "you|we|people|person|instructor|reader"
BEAM = "beam|greedy|decoding|search|generat"
BPE = "bpe|subwords|encode_bytes|encode_word|decode_bytes|merge|pair_counts"
EMBEDDING = "embed|layers|transformer|seq2seq|cach|decoding|decoder_step"
NO_ATTENTION = (
    "autograder/(?!exercises)|tests/(grad|dash|host|honest|plain|check|notebooks|demo)"
)

# A table, so it is set like one.
# fmt: off
RULES = (
    Rule(r"\bplaces?\b", "position (or what it is: device, path, index, line)", BOTH,
         bad="several_places", good="query at position i, in the first place", unless={
             r"in the first place|(takes?|took|taking|taken) (the )?place": "idioms",
             r"in(to)? place\b|in-place": "PyTorch's term; and 'in place of'",
             r"decimal places?|last place\b": "terms of arithmetic"}),
    Rule(r"\blook(s|ed|ing)?\b", "attend(s) to; head; else read, search, seem", BOTH,
         bad="three_looks", good="the row that Python looks up at step 3", unless={
             r"look(s|ed|ing)?( [\w`*'’.-]+){0,4}?[ -]up\b": "to look something up",
             r"look(s|ed|ing)? (for|through|again|closely|whether)\b": "to search",
             r"look-arounds?": "a term of regular expressions",
             rf"look(s|ed)? ([a-z]+ )?({SEEMS})\b": "to seem",
             r"(?-i:\bLook) (again |once more )?at\b": "the reader is asked to",
             rf"\b({PEOPLE})( \w+)? look(s|ed|ing)?\b": "people do"},
         files=f"^(?!{NO_ATTENTION})"),
    Rule(rf"^((those|the|all|never|longest|largest|most|n) )?{RESULT}"
         rf"( (by|in|from|as|at|to|back|up))?$|\bwhat (is|was|has been) {RESULT}\b",
         "a name that says what it is", NAMES, bad="found_by", good="kept_merges"),
    Rule(r"^again$", "a name that says what it is: retry, repeated …", NAMES,
         bad="AGAIN", good="opened_again"),
    Rule(r"\bstrangers?\b", "untrusted (code), unknown (type)", BOTH,
         bad="Stranger", good="untrusted"),
    Rule(r"\bmistakes?\b", "misconception (the wrong idea), error", BOTH,
         bad="known mistakes of softmax", good="typed by mistake",
         unless={r"by mistake": "an idiom"},
         files="^(autograder|tests|README|CONTRIBUTING)"),
    Rule(r"\b(known|named?|names|naming|which) (the |your )?mistakes?\b",
         "misconception", TEXT, bad="the check names the mistake",
         good="a mistake costs one letter", files="^(solutions|course_lib)"),
    Rule(r"^(\w+ )*findings?( of)?$|\b(the|a|its|each|every|one|no) findings?\b",
         "diagnosis (what a learner is told)", BOTH,
         bad="the finding", good="a cell for finding the student",
         files="^(autograder|tests|CONTRIBUTING)"),
    Rule(r"\bfillings?\b|\bfill(s|ed|ing)?( [\w`-]+){0,3} up\b|^filled$",
         "padding, pad, padded", BOTH,
         bad="filled_up", good="filled with 0 before filling in the answer", unless={
             r"filling in\b": "a form, or an answer",
             r"fill(s|ed|ing)?( up)? (the |a )?(disk|memory)( up)?": "to the brim"}),
    Rule(r"^fill$", "pad", frozenset({"message"}), bad="fill", good="to be filled in"),
    Rule(r"\brates?\b", "learning rate (or what it is a rate of)", BOTH,
         bad="rate", good="the learning rates and the dropout rate",
         unless={
             r"(learning|dropout|error|sampling|compression) rates?": "in full",
            r"warm-?up rates?": "the exercise",
             r"--rate\b": "an option of the command line"}),
    Rule(r"\bthinks\b|^think$|\bthen think\b|\bthink (each )?for itself",
         "feed-forward network, feed_forward", BOTH,
         bad="thinks", good="It is tempting to think so."),
    Rule(r"\bnumbers? of (a|the|each|every|its) token\b|\bnumbers of (the )?tokens\b"
         r"|\btokens?['’]s? numbers?\b|\bnumbers? for (a|each) token\b",
         "token id (or: entry, feature of a token's vector)", TEXT,
         bad="the number of a token", good="the number of tokens"),
    Rule(r"\bscores of (all )?(the )?tokens\b", "logits", TEXT,
         bad="scores of all tokens", good="scores of the keys"),
    Rule(r"^((small|big|far|large|transposed) )?table$|\btables? of (all )?tokens\b",
         "embedding (rows of vectors), vocabulary (list of tokens)", BOTH,
         bad="table", good="the embedding table", files=EMBEDDING),
    Rule(r"\bpieces?\b", "pre_tokens, pre-tokenisation (or subwords)", BOTH,
         bad="pieces", good="a piece of cake, piece by piece", unless={
             r"word piece( score|\b(?!s))": "WordPiece is an algorithm's name",
             r"piece by piece|a piece of": "idioms"},
         files=BPE),
    Rule(r"\bmerits?\b", "length penalty; score of a hypothesis", BOTH,
         bad="merit", good="length_penalty"),
    Rule(r"\bbeginnings\b", "hypotheses", BOTH,
         bad="it keeps several beginnings", good="at the beginning",
         files=f"1[01]_|{BEAM}"),
    Rule(r"\b(beginning|texts?)\b", "hypothesis (partial output), sequence", BOTH,
         bad="texts", good="at the beginning of a hypothesis",
         unless={r"(at|from|in) the beginning": "an idiom"}, files=BEAM),
    Rule(r"\bwhat (it|the \w+) (has )?remember(s|ed)\b", "hidden state", TEXT,
         bad="what the decoder remembers", good="its hidden state",
         files="course_lib|solutions|exercises"),
    Rule(r"\bwhat (went|goes|came|comes) in(to it)? is added\b", "residual connection",
         TEXT, bad="what went in is added", good="the residual connection"),
    Rule(r"\bno matter of course\b|\b(goes|go|went) along with\b|\bone hears\b"
         r"|\b(stands?|stood) beside\b|\b(what|that) comes? of (it|that|this)\b",
         "it in plain English", TEXT,
         bad="One hears that it stands beside it.", good="It is next to it."),
)
# fmt: on

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


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that code chooses itself, with their lines.

    Uses, keywords of calls and attributes of other objects may be a library's.
    """
    for node in ast.walk(tree):
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


def strings(tree: ast.AST) -> Iterator[Passage]:
    """Yield docstrings and messages, with … for the values in f-strings."""
    docstrings, parts = set(), set()
    for node in ast.walk(tree):  # parents come before their children
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


def passages(path: str, source: str) -> Iterator[Passage]:
    """Yield what a file says: the names that it binds, and its running text."""
    if not path.endswith(".py"):
        lines = enumerate(source.splitlines(), 1)
        yield from blocks("prose", ((n, line) for n, line in lines if line.strip()))
        return
    tree = ast.parse(source, path)
    for name, line in {(Path(path).stem, 0), *bound_names(tree)}:
        yield Passage("name", name_in_words(name), line, line)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    yield from blocks("comment", ((t.start[0], t.string.strip("# ")) for t in comments))
    for passage in strings(tree):  # what tests feed may say anything
        if passage.kind == "docstring" or not path.startswith("tests/"):
            yield passage


def wrong_words(rule: Rule, text: str, phrase: str = "") -> list[re.Match[str]]:
    """Find a rule's words outside the phrases in which they may stay."""
    matches = list(re.finditer(rule.wrong, text, re.IGNORECASE))
    patterns = [*rule.unless, re.escape(phrase)] if matches else []
    allowed = [m for each in patterns for m in re.finditer(each, text, re.IGNORECASE)]

    def stays(word: re.Match[str]) -> bool:
        return any(a.start() <= word.start() and word.end() <= a.end() for a in allowed)

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


def docstring_starts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the first words of functions' docstrings; a property's may be a noun."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            docstring = ast.get_docstring(node)
            if docstring and "property" not in decorators:
                yield node.body[0].lineno, re.split(r"[\s,;:.]", docstring)[0]


def hits_of(path: Path) -> list[Hit]:
    """List what is to be mended in one file."""
    name, source = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    lines, marked = source.splitlines(), []
    introduction, _ = INTRODUCTIONS.get(path.stem, ("", ""))
    rules = [rule for rule in RULES if re.search(rule.files, name)]
    for passage in passages(name, source):
        text = re.sub(r"\s+", " ", passage.text)
        for rule in rules:
            if passage.kind in rule.where:
                for match in wrong_words(rule, text, introduction):
                    line = line_of(passage, text, match, lines)
                    marked.append((line, match.group(), rule.say))
    if path.suffix == ".py":
        tree = ast.parse(source)
        for line, word in docstring_starts(tree):
            if not is_standard_verb(word):
                marked.append((line, word, "a standard verb: Return, Compute, Load …"))
        for test, line in bound_names(tree):
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


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.wrong)
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
        if re.search(rule.files, path):
            of_kind |= {kind: path for kind in kinds & rule.where - of_kind.keys()}
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


@pytest.mark.parametrize("lesson", INTRODUCTIONS)
def test_introduction_occurs_once_in_lesson(lesson):
    phrase, reason = INTRODUCTIONS[lesson]
    path = f"solutions/{lesson}/{lesson}.py"
    text = " ".join(each.text for each in passages(path, (ROOT / path).read_text()))
    assert text.count(phrase) == 1, f"{phrase!r} ({reason})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
