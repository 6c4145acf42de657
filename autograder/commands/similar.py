"""``autograder similar``: pairs whose answers share more than their class explains."""

import itertools
from collections.abc import Sequence
from pathlib import Path

from autograder.commands import terminal
from autograder.course import Course, output_file
from autograder.grading.reading import printable_name
from autograder.similarity.answers import ClassAnswers, read_class
from autograder.similarity.page import write_page
from autograder.similarity.pairs import Comparison, compare

INTERRUPTED = 130
NO_VERDICT = (
    "Similar does not mean copied: students may have worked together, or had the same "
    "source or idea. Look at both codes."
)


def similar(
    course: Course,
    lessons: Sequence[str],
    *,
    limit: int,
    least: float | None,
    anonymous: bool,
    output: str,
) -> int:
    """Compare the submissions to some lessons; print the pairs, write the page."""
    full = (course.find_lesson(lesson, built=True) for lesson in lessons)
    chosen = [*dict.fromkeys(full)]
    name = chosen[0]
    if len(chosen) > 1:
        name = "-".join(each.partition("_")[0] for each in chosen)
    path = course.root / f"build/similar/{name}.html"
    if output:
        path = output_file(Path(output))
    try:
        answers = read_class(course, chosen)
        comparison = compare(answers, limit, least)
        names = _names(comparison, anonymous)
        write_page(comparison, path, names)
    except KeyboardInterrupt:
        terminal.warn("Stopped: nothing is written.")
        return INTERRUPTED
    _print(comparison, names)
    for each in answers.left_out:
        terminal.warn(f"{names[each.student]}, {each.lesson}: {each.reason}")
    terminal.say(f"Written: {path}")
    return 0


def _names(comparison: Comparison, anonymous: bool) -> dict[str, str]:
    """Return how each student is called, in the order of the page."""
    answers: ClassAnswers = comparison.answers
    in_pairs = ((each.left, each.right) for each in comparison.pairs)
    students = dict.fromkeys(
        [
            *itertools.chain.from_iterable(in_pairs),
            *(each.student for each in answers.left_out),
        ]
    )
    if anonymous:
        return {name: f"Student {n}" for n, name in enumerate(students, 1)}
    return {name: printable_name(name) for name in students}


def _print(comparison: Comparison, names: dict[str, str]) -> None:
    lessons = ", ".join(comparison.answers.lessons)
    terminal.say(
        f"{lessons}: {len(comparison.students)} students, {comparison.n_pairs:,} "
        f"{'pair' if comparison.n_pairs == 1 else 'pairs'}; {comparison.n_above} more "
        "similar than the class, the lesson and chance explain."
    )
    if comparison.pairs:
        terminal.say("rarity  same answer in")
    for pair in comparison.pairs:
        same = f"{len(pair.same)} of {len(pair.both)}"
        both = f"{names[pair.left]}, {names[pair.right]}"
        terminal.say(f"{pair.rarity:6.1f}  {same:>14}  {both}")
    terminal.say(
        f"By chance, a pair's rarity is at most {comparison.by_chance:.1f}. Nine of "
        f"ten pairs have the same answer in at most {comparison.usual_same}."
    )
    terminal.say(NO_VERDICT)
