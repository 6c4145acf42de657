"""The API reference: a page for each public module, which Sphinx makes of docstrings.

``setup`` is what Sphinx calls: this module is also an extension of it, which lets the
lists of our docstrings ("name : meaning") stand on a page as lists.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from autograder.course import CourseError

FOLDER = "reference"
EXTENSIONS = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
SETTINGS: dict[str, Any] = {
    "default_role": "literal",  # `softmax` in a docstring is code
    "add_module_names": False,
    "autoclass_content": "both",  # what a class is, and what makes one
    "autodoc_inherit_docstrings": False,
    "autodoc_default_options": {"members": True},
    "autodoc_member_order": "bysource",
    "autodoc_preserve_defaults": True,
    "autodoc_typehints_format": "short",
    "autosummary_generate": False,
    "python_use_unqualified_type_names": True,
    "smartquotes_action": "qD",  # "..." of a shape stays as it is
    "toc_object_entries_show_parents": "hide",
}
INTRODUCTION = """\
Each page is made of a module's docstrings, which are also what `help` prints. Rows are
tokens; a shape such as `(..., n, d_k)` stands after the name of an argument.

*[source]* leads to the code. Where a function is an exercise, that is its solution."""
GATHERING = ("course_lib.figures",)  # packages whose page has what their modules have
COMMANDS = {
    "autograder": "autograder.commands.app",
    "attention-course": "autograder.commands.start",
}
# A definition's term and meaning: "q, k : (..., n, d_k), one vector per row".
NAME = r"\*{0,2}\w[\w.]*"
ITEM = re.compile(rf"(?P<term>{NAME}(?:, {NAME})*) : (?P<meaning>\S.*)")
# Words after which a paragraph of its own begins.
APART = ("Source: ", "Sources: ", "Raises ``")


class ModuleGroup(NamedTuple):
    """Modules that belong together, in the order in which they are understood.

    text : what stands above their table
    """

    title: str
    text: str
    modules: tuple[str, ...]


def _of(package: str, names: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in names.split())


SUBJECTS = (
    ModuleGroup(
        "Attention in NumPy",
        "The references of lessons 00 to 05, 14 and 15: pure functions.",
        _of(
            "course_lib",
            "warm_up attention self_attention heads masks positions tiling costs "
            "attention_changes linear_attention routing",
        ),
    ),
    ModuleGroup(
        "Tokens and texts",
        "Lesson 06, n-grams beside it, and how translations are measured.",
        _of(
            "course_lib",
            "bpe byte_bpe byte_tokenizer fast_bpe merges_file preprocessing "
            "n_grams fast_n_grams bleu",
        ),
    ),
    ModuleGroup(
        "Parts in PyTorch",
        "From lesson 07 on: functions first, then the modules that are trained.",
        _of(
            "course_lib.nn",
            "first_steps training_loop functional losses modern_block attention layers "
            "transformer sequence_to_sequence recurrent language_model flash device",
        ),
    ),
    ModuleGroup(
        "Trained models at work",
        "Decoding, sampling, and what is measured in a model.",
        _of(
            "course_lib.nn",
            "decoding sampling generating translator pretrained model_file head_roles "
            "patching pruning language_data",
        ),
    ),
    ModuleGroup(
        "Tests of parts",
        "Lesson 16: each gets a function and says whether it is right.",
        ("course_lib.tests_of_parts", "course_lib.nn.tests_of_layers"),
    ),
    ModuleGroup(
        "Pictures and data",
        "What lessons draw with, and what they read.",
        (
            "course_lib.figures",
            *_of("course_lib.corpora", "pairs translations plays encoder generated"),
        ),
    ),
    ModuleGroup(
        "Exercises, for authors",
        "`from autograder import Exercise, check, families` is what a bank and a "
        "notebook begin with.",
        (
            "autograder.in_notebook.check",
            *_of(
                "autograder.checking",
                "exercise inputs student standard_cases families learners_tests "
                "registry bank matrix result",
            ),
        ),
    ),
    ModuleGroup(
        "Grades, for instructors",
        "What `nbgrader_config.py` names, and what a script of yours may call.",
        (
            "autograder.course.folder",
            *_of("autograder.gradebook", "late_policy plugins own_maximum"),
        ),
    ),
)


def reference_pages() -> dict[str, str]:
    """Return the texts of the reference's pages by file name."""
    names = [name for subject in SUBJECTS for name in subject.modules]
    pages = {f"{FOLDER}/{name}.rst": _module_page(name) for name in names}
    pages |= {f"{FOLDER}/{name}.md": _commands_page(name) for name in COMMANDS}
    parts = [_section(each.title, each.text, each.modules) for each in SUBJECTS]
    commands = "".join(f"- :doc:`{name}`\n" for name in COMMANDS)
    listed = "\n".join(f"   {name}" for name in (*names, *COMMANDS))
    pages[f"{FOLDER}/index.rst"] = "\n".join(
        [
            _heading("API reference", "="),
            INTRODUCTION + "\n",
            *parts,
            _heading("Command line", "-"),
            commands,
            f".. toctree::\n   :hidden:\n\n{listed}\n",
        ]
    )
    return pages


def _heading(title: str, mark: str) -> str:
    return f"{title}\n{mark * len(title)}\n"


def _section(title: str, text: str, modules: Sequence[str]) -> str:
    listed = "\n".join(f"   {name}" for name in modules)
    table = f".. autosummary::\n   :nosignatures:\n\n{listed}\n"
    return f"{_heading(title, '-')}\n{text}\n\n{table}"


def _module_page(name: str) -> str:
    """Return a module's page; what it has from another module stands on that one's."""
    option = "imported-members" if name in GATHERING else "ignore-module-all"
    return f"{_heading(name, '=')}\n.. automodule:: {name}\n   :{option}:\n"


def _commands_page(name: str) -> str:
    """Return what a command's help says, all its parts, as Typer writes it."""
    arguments = ["-m", "typer", COMMANDS[name], "utils", "docs", "--name", name]
    run = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode:
        raise CourseError(f"the help of {name} cannot be had: {run.stderr.strip()}")
    # The list of commands cuts their sentences off; they follow in full.
    text = re.sub(r"\*\*Commands\*\*:\n\n(\* .*\n)+\n?", "", run.stdout)
    return text.strip() + "\n"


# As an extension of Sphinx


def as_lists(lines: Iterable[str]) -> list[str]:
    """Return a docstring's lines with its lists as reStructuredText's.

    >>> as_lists(["q, k : one vector", "    per row", "Returns", "- scores"])
    ['', '``q, k``', '    one vector', '    per row', '', 'Returns', '', '- scores']
    """
    result: list[str] = []
    kind = ""  # of the list in which a line stands
    above = ""  # the line above, or above an empty one
    for line in lines:
        item = ITEM.fullmatch(line)
        indented = line.startswith("    ")
        if item:
            now = "names"
        elif line.startswith(("- ", "1. ")):
            now = "points"
        elif indented and above and not above.startswith(" ") and not result[-1]:
            now = "code"
        elif indented or (kind == "points" and re.match(r" |\d\. ", line)):
            now = kind
        else:
            now = ""
        nested = now == "names" and line.startswith("    - ")
        begins = nested and not any(each[:6] == "    - " for each in result[-4:])
        if now == "code" != kind:
            result.append("::")
        if now != kind or begins or line.startswith(APART):
            result.append("")
        if item:
            result += [f"``{item['term']}``", f"    {item['meaning']}"]
        else:
            result.append(line)
        kind = now
        above = line or above
    return result


def _mend_docstring(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    made = "Create new instance of "  # what Python says of every named tuple
    lines[:] = as_lists(line for line in lines if not line.startswith(made))


def _mend_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, text: Any, result: Any
) -> tuple[Any, Any]:
    """Write what Sphinx can read where a field of a dataclass is made anew."""
    return text and text.replace("<factory>", "..."), result


def _skip_fields(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what no docstring of ours describes: a named tuple's fields."""
    docstring = str(getattr(obj, "__doc__", None) or "")
    return True if docstring.startswith("Alias for field number") else None


def setup(app: Any) -> dict[str, bool]:
    """Enter what this module adds to Sphinx."""
    app.connect("autodoc-process-docstring", _mend_docstring)
    app.connect("autodoc-process-signature", _mend_signature)
    app.connect("autodoc-skip-member", _skip_fields)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
