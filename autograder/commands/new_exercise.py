"""``autograder new``: the skeletons of a new exercise, so that the rest is filling in.

What is left to write is marked with TODO; ``autograder check-bank`` lists it.
"""

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.checking.bank import MIN_MISCONCEPTIONS, MIN_OTHERS
from autograder.checking.registry import bank_file, exercise_names
from autograder.checking.way_on import SENTENCES
from autograder.course import Course, CourseError, private, write_together
from autograder.notebooks.source import ID, LessonSource, bound_names

NAME = re.compile(r"[a-z][a-z0-9_]*")
CLOSING = "# ## In three lines"
FURTHER_ROW = "# ## Going further\n"
SECTION = re.compile(r"^# %% \[markdown\]\n# ## (?P<name>.+?)[ \t]*$", re.MULTILINE)
LIBRARY = "course_lib"
# How a module or a lesson's set-up cells call an array, by a name that they bind.
ARRAYS = {"np": "np.ndarray", "Tensor": "Tensor"}
IMPORTS = {"np.ndarray": "import numpy as np", "Tensor": "from torch import Tensor"}

REFERENCE = '''\
def NAME(ANNOTATED) -> RESULT:
    """TODO: return … : what the result means, in one line that begins with a verb.

DESCRIBED

    Returns TODO: its shape, and what each row of it is.
    Source: TODO: paper and section.

    TODO: an example with literal numbers, >>> NAME(…), and its result below.
    """
    raise NotImplementedError("TODO: the reference")
'''
BANK = '''\
"""Cases and misconceptions of ``NAME``."""

BANK_IMPORT

from autograder import Exercise
from MODULE import NAME

exercise = Exercise(
    NAME,
    lesson="LESSON",
    minutes=10,  # TODO: how long a first reader needs
    difficulty=2,  # TODO: 1, 2 or 3
    uses=(),  # TODO: names of earlier exercises that the reference calls
)


@exercise.spec
def spec(PARAMETERS):
    raise NotImplementedError("TODO: the obvious version, with loops")


@exercise.usual
def usual(rng):
    # TODO: arguments as most calls have them, with sizes that all differ; if their
    # shapes are in the docstring, inputs = exercise.inputs(n=5, m=7) draws them
    return DRAWN


@exercise.case("TODO: the claim about small numbers, a sentence without a full stop")
def small_example_by_hand(student, rng):
    # TODO: literal arguments, and the result that you computed by hand
    student.expect(student(*usual(rng)), ZEROS)
    # TODO: others of the same kind: without drawn ones a case pays nothing by itself
    student.agrees(*usual(rng))


@exercise.case("TODO: what else must hold", visible=False)
def usual_inputs(student, rng):
    student.agrees(*usual(rng))  # TODO: inputs that show what the case claims


# TODO: cases that are stated by sizes alone, of autograder/checking/standard_cases.py


exercise.edits(
    """
'''
EDIT = """\
edit_NUMBER: raise NotImplementedError("TODO: the line that a learner writes")
  TODO: what the learner's numbers are, true also where another thing is wrong.
  ? TODO: a question that does not give the answer away?
  # TODO: why people do it, or where it was seen
"""
END = '"""\n)\n'
ANSWERS = """\
from tests.answers import Answers

answers = Answers("NAME")


@answers.correct
def another_formula(PARAMETERS):
    raise NotImplementedError("TODO: a right answer, another way")
"""
OTHER = """

@answers.other
def other_NUMBER(PARAMETERS):
    raise NotImplementedError("TODO: a wrong answer that is not in the bank")
"""
CELLS = """\
# %% [markdown]
# ### Exercise: NAME
#
# TODO: what to write, and what for, in a sentence or two.
#
# <details><summary>Hint 1</summary>
#
# TODO: a question that leads on.
#
# </details>
# <details><summary>Hint 2</summary>
#
# TODO: what may be missing: a shape, a function of NumPy. Never the solution.
#
# </details>

# %%
from MODULE import NAME  # exercise

# %%
check(NAME)

"""
PRIVATE_LESSON = """\
# %% [markdown]
# # TODO: a title
#
# TODO: what this is about. **About 20 minutes.** Each exercise is judged when you
# hand this notebook in.

# %%
import numpy as np

from autograder import check

# %% [markdown]
# ## Before you hand it in
#
# Run all cells from top to bottom, save the notebook, and hand it in.
"""
SENTENCE = """\
NAME = "TODO: what it makes possible, such as: You can now …"
"""


def begin_lesson(course: Course, lesson: str) -> Path:
    """Write the skeleton of a private lesson; return its file."""
    path = course.private / private.SOLUTIONS / lesson / f"{lesson}.py"
    write_together({path: PRIVATE_LESSON})
    return path


def new_exercise(
    course: Course,
    name: str,
    lesson: str,
    module: str,
    parameters: Sequence[str],
    section: str = "",
) -> list[Path]:
    """Write the skeletons of an exercise, all of them or none; return their files.

    lesson : its folder's name
    module : of ``course_lib``, for the reference, made if there is none; "" for the
        one that most exercises of the lesson are in
    parameters : names of the function's arguments
    section : the heading of the lesson's section that gets the cells, as its last; ""
        for before the closing section

    Raises ``CourseError`` if a name cannot be used, or is used already.
    """
    source = LessonSource(course.source(lesson))
    _require_names(name, parameters, source)
    if source.is_private:
        own = module or lesson.partition("_")[2]
        module = _full_name(own, private.PACKAGE)
        references = course.private / private.REFERENCES
        reference = references.joinpath(*own.split(".")).with_suffix(".py")
        bank = course.private / private.EXERCISES / f"{name}.py"
        answers = course.private / private.ANSWERS / f"{name}.py"
    else:
        module = _full_name(module or _main_module(source))
        reference = course.root.joinpath(*module.split(".")).with_suffix(".py")
        bank = course.root / "autograder" / "exercises" / f"{name}.py"
        answers = course.root / "tests" / "answers" / f"{name}.py"
        _require_folders(course, reference, bank, answers)
    _require_room(course, bank, answers)
    library = _library(course, reference, name, source)
    array = _array_type(bound_names(library) & source.set_up)
    words = _words(name, lesson, module, parameters, array)
    texts = {
        reference: library + _with_words(REFERENCE, words),
        bank: _with_words(BANK + _numbered(EDIT, MIN_MISCONCEPTIONS) + END, words),
        answers: _with_words(ANSWERS + _numbered(OTHER, MIN_OTHERS), words),
        source.path: _with_cells(source, _with_words(CELLS, words), section),
    }
    texts |= _shared_files(course, bank, source, words, section)
    write_together(texts)
    return list(texts)


def _shared_files(
    course: Course,
    bank: Path,
    source: LessonSource,
    words: Mapping[str, str],
    section: str,
) -> dict[Path, str]:
    """Return the texts of files that know all exercises, with the new one in them."""
    texts: dict[Path, str] = {}
    sentences = bank.with_name(SENTENCES)
    if sentences.is_file():
        text = sentences.read_text(encoding="utf-8")
        texts[sentences] = text + _with_words(SENTENCE, words)
    readme = course.root / "README.md"
    if readme.is_file() and not source.is_private:
        further = f"# ## {section}\n" in _further(source)
        n_exercises = len(source.exercises) + 1
        texts[readme] = _with_counts(readme, source.path.stem, n_exercises, further)
    return texts


def _require_folders(course: Course, *paths: Path) -> None:
    """Raise ``CourseError`` if a folder is not there."""
    for path in paths:
        if not path.parent.is_dir():
            raise CourseError(
                f"there is no folder {course.relative(path.parent)}: call this in a "
                "checkout of the course, and name a module in a folder that is there"
            )


def _require_room(course: Course, *paths: Path) -> None:
    """Raise ``CourseError`` if a new file is there already."""
    for path in paths:
        if path.exists():
            raise CourseError(f"{course.relative(path)} is there already")


def _require_names(name: str, parameters: Sequence[str], source: LessonSource) -> None:
    for each in (name, *parameters):
        if not (NAME.fullmatch(each) and ID.fullmatch(each)):
            raise CourseError(
                f"{each!r} cannot be a function's or an argument's name: take "
                "lower-case letters, digits and _, a letter first, at most 58"
            )
        if keyword.iskeyword(each):
            raise CourseError(f"{each!r} is a keyword of Python: take another name")
    if name in exercise_names():
        raise CourseError(
            f"there is an exercise {name!r}, in {bank_file(name)}: take another name"
        )
    if name in source.set_up or hasattr(builtins, name):
        raise CourseError(
            f"{name!r} means something else already, to Python or in the lesson's "
            "set-up cells: take another name"
        )
    if not parameters or len({name, *parameters}) <= len(parameters):
        raise CourseError(
            f"the arguments of {name} must differ, from each other and from its name, "
            f"and there must be one: got {', '.join(parameters) or 'none'}"
        )


def _main_module(source: LessonSource) -> str:
    """Return the module that most references of a lesson are in."""
    modules = Counter(each.reference.__module__ for each in source.exercises)
    if not modules:
        raise CourseError(
            f"{source.lesson} has no exercise yet: name the reference's module with "
            "--module"
        )
    return modules.most_common(1)[0][0]


def _full_name(module: str, package: str = LIBRARY) -> str:
    """Return a module's dotted name with its package in front."""
    parts = module.removeprefix(f"{package}.").split(".")
    if not all(NAME.fullmatch(part) for part in parts):
        raise CourseError(
            f"{module!r} is no module of {package}: name one as attention, or as "
            "nn.functional"
        )
    return ".".join([package, *parts])


def _library(course: Course, path: Path, name: str, source: LessonSource) -> str:
    """Return the text of the reference's module, up to where the reference begins."""
    if path.with_suffix("").is_dir():
        folder = course.relative(path.with_suffix(""))
        raise CourseError(f"{folder} is a package: name a module in it with --module")
    if not path.exists():
        needed = IMPORTS.get(_array_type(source.set_up), "")
        return f'"""TODO: what this module is about."""\n\n{needed}'.rstrip() + "\n\n\n"
    text = path.read_text(encoding="utf-8")
    if name in bound_names(text):
        raise CourseError(
            f"{course.relative(path)} has a {name} already: take another name, or "
            "another module with --module"
        )
    return text.rstrip() + "\n\n\n"


def _array_type(names: set[str]) -> str:
    """Return the type of the arguments in the skeleton, of what the names allow."""
    return next((ARRAYS[name] for name in ARRAYS if name in names), "object")


def _words(
    name: str, lesson: str, module: str, parameters: Sequence[str], array: str
) -> dict[str, str]:
    """Return what stands for each word in capitals of the skeletons."""
    drawn = [f"rng.normal(size=(2, {5 + 2 * i}, 4))" for i in range(len(parameters))]
    tensors = array == "Tensor"
    if tensors:
        drawn = [f"torch.tensor({each})" for each in drawn]
    return {
        "ANNOTATED": ", ".join(f"{each}: {array}" for each in parameters),
        "BANK_IMPORT": "import torch" if tensors else "import numpy as np",
        "DESCRIBED": "\n".join(
            f"    {each} : TODO: shape, meaning" for each in parameters
        ),
        "DRAWN": ", ".join(drawn) if len(drawn) > 1 else f"({drawn[0]},)",
        "LESSON": lesson,
        "MODULE": module,
        "NAME": name,
        "PARAMETERS": ", ".join(parameters),
        "RESULT": array,
        "ZEROS": "torch.zeros(2)" if tensors else "np.zeros(2)",
    }


def _numbered(skeleton: str, count: int) -> str:
    """Return a skeleton several times, with numbers from 1."""
    return "".join(skeleton.replace("NUMBER", str(i + 1)) for i in range(count))


def _with_words(skeleton: str, words: Mapping[str, str]) -> str:
    """Return a skeleton with the words in capitals replaced."""
    return re.sub(rf"\b({'|'.join(words)})\b", lambda match: words[match[1]], skeleton)


def _with_cells(source: LessonSource, cells: str, section: str) -> str:
    """Return a lesson's text with new cells at the end of a section."""
    text = source.path.read_text(encoding="utf-8")
    if not section:
        end = text.rfind(CLOSING)
        start = text.rfind("# %%", 0, end if end >= 0 else len(text))
        return text[:start] + cells + text[start:]
    headings = [*SECTION.finditer(text)]
    names = [each["name"] for each in headings]
    if section not in names:
        raise CourseError(
            f"{source.lesson} has no section {section!r}: name one of "
            + ", ".join(repr(each) for each in names)
        )
    following = [each.start() for each in headings[names.index(section) + 1 :]]
    if following:
        return text[: following[0]] + cells + text[following[0] :]
    return f"{text.rstrip()}\n\n{cells.rstrip()}\n"


def _further(source: LessonSource) -> str:
    """Return the part of a lesson's text that can be skipped."""
    text = source.path.read_text(encoding="utf-8")
    return text[text.index(FURTHER_ROW) :] if FURTHER_ROW in text else ""


def _with_counts(readme: Path, lesson: str, count: int, further: bool) -> str:
    """Return the README with another number of exercises in the lesson's row.

    further : whether the sum of those that go further grows, not that of the cores
    """
    text = readme.read_text(encoding="utf-8")
    row = rf"^(\| `{lesson}` \|.*\| )\d+( \|)$"
    text = re.sub(row, rf"\g<1>{count}\g<2>", text, flags=re.MULTILINE)
    total = r"\d+(?= more exercises, about)" if further else r"\d+(?= exercises, about)"
    return re.sub(total, lambda match: str(int(match[0]) + 1), text, count=1)
