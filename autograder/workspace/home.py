"""The learner's home, ``work/home.md``: where to go on, and what is solved.

It is made from the lessons' notebooks and ``work/.progress/``, and made anew when one
of them changes. JupyterLab shows it as a page; it is also plain text to read anywhere.
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from autograder.checking.points import format_number, format_number_of
from autograder.course import Course, write_atomically
from autograder.course.in_class import in_class
from autograder.messages import pytorch
from autograder.workspace.copies import Copy
from autograder.workspace.outline import (
    ExerciseOutline,
    LessonOutline,
    read_outlines,
)
from autograder.workspace.progress import ExerciseProgress, read_progress, unused_name

HOME = "home.md"
TIE = "\u00a0"  # a space at which no line breaks
MARKS = {"solved": "✓", "begun": "…", "open": "○"}
ALL_SOLVED = "Every exercise is solved. Well done."
CORE_SOLVED = "Every exercise of the core is solved. Well done."
FURTHER = "Going further"
ABOUT_POINTS = (
    "Points so far are those of the claims that you see; grading tries more inputs for "
    "the rest."
)
ABOUT = (
    "In {count} lessons you write attention yourself, from a sum of three numbers to a "
    "Transformer that translates. Every answer is checked as you go."
)
ABOUT_TORCH = (
    "Lessons 07 to 15 need PyTorch, which is not installed here: open one, and it says "
    "how to get it."
)
FOOT = re.compile(r"\n---\n\n<!-- autograder (\w+) -->\n(?:Updated|Made on) .*\n\Z")


@dataclass(frozen=True)
class Home:
    """The lessons and what a learner has done of them.

    lessons : all of the course, in order
    progress : by exercise
    missing : lessons of which the learner has no copy yet
    in_class : whether it shows points
    has_torch : whether this Python has PyTorch
    """

    lessons: Sequence[LessonOutline]
    progress: Mapping[str, ExerciseProgress]
    missing: frozenset[str] = frozenset()
    in_class: bool = False
    has_torch: bool = True

    @classmethod
    def of(cls, course: Course) -> "Home":
        """Read a course's lessons and the progress in its ``work/``."""
        lessons = read_outlines(course)
        missing = (
            each.lesson
            for each in lessons
            if not Copy(course, each.lesson).mine.is_file()
        )
        progress = read_progress(course.records)
        return cls(
            lessons,
            progress,
            frozenset(missing),
            in_class(course.root),
            pytorch.is_here(),
        )

    def state(self, exercise: ExerciseOutline) -> str:
        """Return ``solved``, ``begun`` or ``open``."""
        known = self.progress.get(exercise.name)
        return known.state if known else "open"

    def solved(self, lesson: LessonOutline) -> int:
        """Return how many exercises of a lesson's core are solved."""
        return self.n_solved(lesson.required)

    def n_solved(self, exercises: Sequence[ExerciseOutline]) -> int:
        """Return how many of these exercises are solved."""
        return sum(self.state(each) == "solved" for each in exercises)

    def points(self, lesson: LessonOutline) -> float:
        """Return the points that the checks of a lesson's core have earned."""
        return sum(self.earned(each) for each in lesson.required)

    def earned(self, exercise: ExerciseOutline) -> float:
        """Return the points that the check of an exercise has earned.

        What was checked while it was worth something else is of its worth now.
        """
        known = self.progress.get(exercise.name)
        return known.out_of(exercise.points) if known else 0.0

    def minutes_left(self, lesson: LessonOutline) -> int:
        """Return the minutes that the rest of a lesson's core takes, in steps of five.

        Reading is shared out by the exercises' minutes.
        """
        return self._left(lesson.required, lesson.minutes)

    def further_left(self, lesson: LessonOutline) -> int:
        """Return the minutes that the rest of *Going further* takes, likewise.

        Without exercises it is never done, and takes what it takes.
        """
        if not lesson.optional:
            return lesson.further
        return self._left(lesson.optional, lesson.further)

    def _left(self, exercises: Sequence[ExerciseOutline], minutes: int) -> int:
        left = [each for each in exercises if self.state(each) != "solved"]
        everything = sum(each.minutes for each in exercises)
        if not left or not everything:
            return 0
        share = sum(each.minutes for each in left) / everything
        return max(5, 5 * round(share * minutes / 5))

    def rest(self, lesson: LessonOutline) -> str:
        """Return what is left of a lesson's core, such as ``85 min`` or ``done``."""
        if minutes := self.minutes_left(lesson):
            return f"{minutes}{TIE}min"
        return "done" if lesson.required else ""

    def further(self, lesson: LessonOutline) -> str:
        """Return what is solved and left of *Going further*, "" without one."""
        if not lesson.going_further:
            return ""
        words = []
        if count := len(lesson.optional):
            words.append(f"{self.n_solved(lesson.optional)} of {count} solved")
        if minutes := self.further_left(lesson):
            words.append(f"{minutes}{TIE}min")
        return " · ".join(words)

    def next_in(
        self, lesson: LessonOutline, after: str = "", *, unless_put_off: bool = False
    ) -> ExerciseOutline | None:
        """Return a core's next exercise that is not solved, None if all are.

        after : the exercise below which to look first
        unless_put_off : whether to leave out what the learner goes on without
        """
        put_off = [each.name for _, each in self.put_off()] if unless_put_off else []
        names = [each.name for each in lesson.required]
        start = names.index(after) + 1 if after in names else 0
        for each in (*lesson.required[start:], *lesson.required[:start]):
            if self.state(each) != "solved" and each.name not in (after, *put_off):
                return each
        return None

    def put_off(self) -> list[tuple[LessonOutline, ExerciseOutline]]:
        """Return the required exercises that the learner goes on without, in order."""
        return [
            (lesson, each)
            for lesson in self.lessons
            for each in lesson.required
            if (known := self.progress.get(each.name))
            and known.put_off
            and not known.solved
        ]

    def next_lesson(self, lesson: LessonOutline) -> LessonOutline | None:
        """Return the next lesson whose core has something to solve, None if all is."""
        start = self.lessons.index(lesson) + 1
        for each in (*self.lessons[start:], *self.lessons[:start]):
            if each != lesson and self.next_in(each):
                return each
        return None

    def continue_here(self) -> tuple[LessonOutline, ExerciseOutline] | None:
        """Return where to go on: in the core of the lesson worked in last, or after it.

        What was put off comes when nothing else is left. None if all of it is solved.
        """
        last = max(self.progress.values(), key=lambda each: each.checked, default=None)
        lessons = list(self.lessons)
        for index, lesson in enumerate(self.lessons):
            if last and lesson.lesson == last.lesson:
                for each in lesson.required:
                    is_last = each.name == last.exercise
                    if is_last and last.state != "solved" and not last.put_off:
                        return lesson, each
                name = last.exercise
                if following := self.next_in(lesson, name, unless_put_off=True):
                    return lesson, following
                lessons = lessons[index + 1 :] + lessons[:index]
        for lesson in lessons:
            if exercise := self.next_in(lesson, unless_put_off=True):
                return lesson, exercise
        return next(iter(self.put_off()), None)

    def data(self) -> dict[str, Any]:
        """Return all of it for programs to read."""
        here = self.continue_here()
        return {
            "continue": {"lesson": here[0].lesson, "exercise": here[1].name}
            if here
            else None,
            "lessons": [self._lesson_data(lesson) for lesson in self.lessons],
        }

    def _lesson_data(self, lesson: LessonOutline) -> dict[str, Any]:
        exercises = []
        for each in lesson.exercises:
            known = self.progress.get(each.name)
            points = {"points": self.earned(each), "max_points": each.points}
            exercises.append(
                {
                    "exercise": each.name,
                    "state": self.state(each),
                    **(points if self.in_class else {}),
                    "minutes": each.minutes,
                    "optional": each.optional,
                    "attempts": known.attempts if known else 0,
                    "checked": known.checked if known else None,
                    "solved": known.solved if known else None,
                }
            )
        return {
            "lesson": lesson.lesson,
            "title": lesson.title,
            "solved": self.solved(lesson),
            "minutes": lesson.minutes,
            "minutes_left": self.minutes_left(lesson),
            "further": {
                "solved": self.n_solved(lesson.optional),
                "minutes": lesson.further,
                "minutes_left": self.further_left(lesson),
            },
            "exercises": exercises,
        }

    def markdown(self) -> str:
        """Return the page, without its foot."""
        parts = [
            "# The Attention Course",
            self._continue_line(),
            self._totals(),
            self._table(),
            *([] if self.has_torch else [ABOUT_TORCH]),
            *([ABOUT_POINTS] if self.in_class else []),
            "## Exercises",
            *(self._exercises(lesson) for lesson in self.lessons if lesson.exercises),
        ]
        return "\n\n".join(parts) + "\n"

    def _totals(self) -> str:
        required = [each for lesson in self.lessons for each in lesson.required]
        optional = [each for lesson in self.lessons for each in lesson.optional]
        count, done = len(required), self.n_solved(required)
        totals = [f"{_bar(done, count)} **{done} of {count} exercises solved**"]
        if self.in_class:
            points = sum(map(self.points, self.lessons))
            worth = sum(lesson.points for lesson in self.lessons)
            totals.append(f"{format_number_of(points, worth)} points so far")
        left = sum(map(self.minutes_left, self.lessons))
        if left:
            totals.append(f"{_duration(left)} left")
        beyond = []
        if optional:
            beyond.append(f"{self.n_solved(optional)} of {len(optional)} solved")
        if further := sum(map(self.further_left, self.lessons)):
            beyond.append(f"{_duration(further)}{' more' if left else ''}")
        core = " · ".join(totals)
        return f"{core}<br>*{FURTHER}*: {' · '.join(beyond)}" if beyond else core

    def continue_lines(self, how: str = "attention-course open {number}") -> list[str]:
        """Return as plain text where to go on, with that lesson's exercises.

        how : the way to open a lesson, with ``{number}`` or ``{lesson}`` in it
        """
        here = self.continue_here()
        if not here:
            return self._all_solved()
        lesson, next_one = here
        verb = "Continue" if self.progress else "Start"
        number = lesson.lesson.partition("_")[0]
        exercises = [
            f"  {MARKS[self.state(each)]} {each.name} "
            f"({'optional, ' if each.optional else ''}{self._rest(each)})"
            for each in lesson.exercises
        ]
        return [
            f"{verb} with {next_one.name}: "
            f"{how.format(number=number, lesson=lesson.lesson)}",
            f"{lesson.heading}:",
            *exercises,
        ]

    def _all_solved(self) -> list[str]:
        """Return as plain text that the core is solved, and what else is open."""
        further = self._open_further()
        if not further:
            return [ALL_SOLVED]
        lesson, exercise = further
        return [CORE_SOLVED, f"{FURTHER}: {exercise.name}, in {lesson.heading}"]

    def _open_further(self) -> tuple[LessonOutline, ExerciseOutline] | None:
        """Return the first optional exercise that is not solved, None if all are."""
        for lesson in self.lessons:
            for each in lesson.optional:
                if self.state(each) != "solved":
                    return lesson, each
        return None

    def _continue_line(self) -> str:
        here = self.continue_here()
        if not here:
            further = self._open_further()
            if not further:
                return f"**{ALL_SOLVED}**"
            lesson, exercise = further
            name = self._exercise_link(lesson, exercise)
            return f"**{CORE_SOLVED}** {FURTHER}: {name}, in {self._link(lesson)}"
        lesson, exercise = here
        question = f" *{_plain(lesson.question)}*" if lesson.question else ""
        if not self.progress:
            about = ABOUT.format(count=len(self.lessons))
            line = f"**Start here:** {self._link(lesson)} · {lesson.minutes}{TIE}min"
            return f"{line}{question} <small>{about}</small>"
        if any(each.name in self.progress for each in lesson.exercises):
            line = f"**Continue in {_plain(lesson.heading)}:**{question}"
            name = self._exercise_link(lesson, exercise)
            line += f" {name} · {exercise.minutes}{TIE}min"
        else:  # from its beginning, not in the middle
            line = f"**Continue:**{question} {self._link(lesson)}"
            line += f" · {self.minutes_left(lesson)}{TIE}min"
        later = [each for each in self.put_off() if each != here]
        if later:
            links = ", ".join(self._exercise_link(*each) for each in later)
            line += f"\n\nPut off until later: {links}"
        return line

    def _table(self) -> str:
        points = ("points so far", "---:") if self.in_class else ()
        head, marks = ["lesson", "solved", *points[:1]], [":---", ":---", *points[1:]]
        rows = [[*head, "left"], [*marks, "---:"]]
        for lesson in self.lessons:
            count, solved = len(lesson.required), self.solved(lesson)
            question = f"<br>{_plain(lesson.question)}" if lesson.question else ""
            row = [f"{self._link(lesson)}{question}"]
            state = f"{_of(solved, count)}<br>{_bar(solved, count)}"
            if further := self.further(lesson):
                state += f"<br><small>{FURTHER}: {further}</small>"
            row.append(state)
            if self.in_class:
                row.append(_of(self.points(lesson), lesson.points))
            rows.append([*row, self.rest(lesson)])
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def _exercises(self, lesson: LessonOutline) -> str:
        here = self.continue_here()
        is_open = " open" if here and here[0] == lesson else ""
        summary = (
            f"{_plain(lesson.heading)}: {self.solved(lesson)} of "
            f"{len(lesson.required)} solved"
        )
        if optional := lesson.optional:
            summary += f", and {self.n_solved(optional)} of {len(optional)} optional"
        rows = [self._exercise(lesson, each) for each in lesson.exercises]
        return "\n".join(
            [
                f"<details{is_open}><summary>{summary}</summary>",
                "",  # only between empty lines is what stands inside read as Markdown
                *rows,
                "",
                "</details>",
            ]
        )

    def _exercise(self, lesson: LessonOutline, exercise: ExerciseOutline) -> str:
        name = self._exercise_link(lesson, exercise)
        mark = MARKS[self.state(exercise)]
        optional = " · optional" if exercise.optional else ""
        return f"- {mark} {name}{optional} · {self._rest(exercise)}"

    def _rest(self, exercise: ExerciseOutline) -> str:
        """Return an exercise's state in words, and what it is worth or takes."""
        known = self.progress.get(exercise.name)
        state = self.state(exercise)
        if known and state == "solved":
            points = format_number_of(self.earned(exercise), exercise.points)
            return f"solved, {points} points so far" if self.in_class else "solved"
        if known and state == "begun":
            claims = f"{known.holding} of {known.claims} claims hold"
            return f"begun, {claims}, {exercise.minutes} min"
        before = ", solved before" if known and known.solved_before else ""
        most = f", {format_number(exercise.points)} points" if self.in_class else ""
        return f"open{before}, {exercise.minutes} min{most}"

    def _exercise_link(self, lesson: LessonOutline, exercise: ExerciseOutline) -> str:
        if lesson.lesson in self.missing:
            return exercise.name
        return f"[{exercise.name}]({lesson.address(exercise)})"

    def _link(self, lesson: LessonOutline) -> str:
        if lesson.lesson in self.missing:
            return _plain(lesson.heading)
        return f"[{_plain(lesson.heading)}]({lesson.notebook})"


def write_home(course: Course, home: Home | None = None) -> bool:
    """Write ``work/home.md`` if it has changed; return whether it has.

    home : what it is to show, if that has been read already

    A file of that name with a learner's own words is kept under another name.

    Raises ``OSError`` if it cannot be written; then the old one stands.
    """
    if course.records != course.work:  # fetched lessons lie where a home is not ours
        return False
    path = course.work / HOME
    text = (home or Home.of(course)).markdown()
    old = _read(path)
    if old is not None:
        body, digest = _parts(old)
        if body == text:
            return False
        if digest != _digest(body):
            path.rename(unused_name(path, "yours"))
    elif os.path.lexists(path):
        path.rename(unused_name(path, "unreadable"))
    time = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    foot = (
        f"\n---\n\n<!-- autograder {_digest(text)} -->\n"
        f"Updated {time}; rewritten by every check, `attention-course` and `autograder "
        "update`. Write notes of your own elsewhere.\n"
    )
    write_atomically(path, text + foot)
    return True


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else None
    except (OSError, ValueError):
        return None


def _parts(text: str) -> tuple[str, str]:
    """Return the page without its foot, and the digest that the foot names."""
    foot = FOOT.search(text)
    return (text[: foot.start()], foot[1]) if foot else (text, "")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _bar(done: int, count: int) -> str:
    return f'<progress value="{done}" max="{max(count, 1)}"></progress>'


def _of(part: float, whole: float) -> str:
    return f"{format_number(part)}{TIE}of{TIE}{format_number(whole)}"


def _duration(minutes: int) -> str:
    """Return a time in words; in half hours, so that each solved lesson shows.

    >>> _duration(110), _duration(33 * 60 + 15), _duration(33 * 60 - 20)
    ('110 minutes', 'about 33 hours', 'about 32½ hours')
    """
    if minutes < 120:
        return f"{minutes} minutes"
    hours, half = divmod(round(minutes / 30), 2)
    return f"about {hours}{'½' * half} hours"


def _plain(text: str) -> str:
    """Return a text that Markdown leaves as it is, for links, tables and HTML."""
    return re.sub(r"([\\`\[\]|])", r"\\\1", escape(text, quote=False))
