"""What a term's grades should be, by a model that knows nothing of the course's code.

It holds facts (who handed in what and when, what people have entered), and all numbers
follow from them by a few rules of docs/grading.md.
"""

import math
from dataclasses import dataclass, field
from datetime import timedelta

DAY, HOUR = 86400, 3600
# The words, and the same as a formula of the points earned and the seconds late.
POLICIES = {
    "": lambda score, late: 0.0,
    "10 % a day, at most 50 %": lambda score, late: (
        score * min(0.1 * math.ceil(late / DAY), 0.5)
    ),
    "1 point an hour, at most 3 points": lambda score, late: min(
        math.ceil(late / HOUR), 3.0, score
    ),
    "50 %, after 2 hours": lambda score, late: score / 2 if late > 2 * HOUR else 0.0,
}


class Contents(dict):
    """What each exercise of a release is worth, and which are optional."""

    def __init__(self, points, optional):
        super().__init__(points)
        self.optional = frozenset(optional)

    def __eq__(self, other):
        return dict.__eq__(self, other) and self.optional == other.optional

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    @property
    def required(self):
        return self.keys() - self.optional


@dataclass(frozen=True)
class HandedIn:
    """What lies in a student's folder.

    number : differs between files
    own : the release that the file names; None if it names none
    cells : exercises of which it has a cell; None if it cannot be read
    earns : exercise to its share of the points
    optional : exercises whose cells say that they are optional
    """

    number: int
    own: Contents | None = None
    cells: frozenset | None = None
    earns: dict = field(default_factory=dict)
    optional: frozenset = frozenset()


@dataclass
class Numbers:
    """What every output should say of a student's lesson."""

    auto: dict
    by_exercise: dict
    score: float
    penalty: float
    max_points: float

    @property
    def points(self):
        return max(0.0, self.score - self.penalty)


@dataclass
class Model:
    """A term. Keys of two are (student, lesson), of three (student, lesson, exercise).

    release : lesson to exercise to points, as in ``notebooks/``
    known : lesson to all releases so far, the oldest first
    worth : lesson to exercise to points, of what counts as required for somebody
    present : lesson to what was required of its release when the gradebook saw it
    files, times : what was handed in; what ``timestamp.txt`` said when it was graded
    verdicts : whose submissions the journal has judged
    grades : points by exercise that count unless they are dropped
    setting : how optional exercises count; "extra", "required" or "left out"
    on_top : exercises whose points were on top when the submission was graded
    """

    release: dict
    known: dict
    worth: dict = field(default_factory=dict)
    present: dict = field(default_factory=dict)
    dropped: dict = field(default_factory=dict)
    excused: set = field(default_factory=set)
    files: dict = field(default_factory=dict)
    stamps: dict = field(default_factory=dict)
    times: dict = field(default_factory=dict)
    verdicts: set = field(default_factory=set)
    grades: dict = field(default_factory=dict)
    manual: dict = field(default_factory=dict)
    extra: dict = field(default_factory=dict)
    comments: dict = field(default_factory=dict)
    due: dict = field(default_factory=dict)
    extension: dict = field(default_factory=dict)
    policy: str = ""
    people: dict = field(default_factory=dict)
    setting: str = "extra"
    on_top: dict = field(default_factory=dict)

    def open(self, lesson):
        """Enter the release; what is gone stays as soon as somebody has handed in."""
        if not any(each == lesson for _, each in self.grades):
            self.worth[lesson] = {}
        release, worth = self.release[lesson], self.worth[lesson]
        required = {*release} if self.setting == "required" else release.required
        worth |= {n: release[n] for n in release if n in required or n in worth}
        self.present[lesson] = {*required}

    def grade(self, student, lesson):
        """Grade what is in a student's folder."""
        key, file = (student, lesson), self.files[student, lesson]
        release = self._own(lesson, file)
        own = {*release} - (release.optional if self.setting == "left out" else set())
        on_top = release.optional if self.setting == "extra" else frozenset()
        shares = {name: file.earns.get(name, 0.0) for name in own}
        self.verdicts.add(key)
        counted = own & file.cells if key in self.excused and file.cells else own
        worth = {name: self._worth(lesson, name) for name in own}
        self.worth[lesson] |= {n: worth[n] for n in counted - on_top}
        self.grades[key] = {name: worth[name] * shares[name] for name in counted}
        self.on_top[key] = on_top
        self.people.setdefault(student, {})
        self.times[key] = self.stamps.get(key) or self.times.get(key)

    def _worth(self, lesson, name):
        """Return what an exercise is worth, required or not."""
        release, worth = self.release[lesson], self.worth[lesson]
        last = [r[name] for r in self.known[lesson] if name in r][-1]
        return release.get(name, worth.get(name, last))

    def _own(self, lesson, file):
        if file.cells is None:
            return self.release[lesson]
        if file.own is not None:
            return file.own
        current = self.release[lesson]
        oldest_first = [r for r in self.known[lesson] if r != current] + [current]
        fitting = [r for r in oldest_first if file.cells and file.cells <= {*r}]
        if not fitting:
            return current
        fewest = min(map(len, fitting))
        smallest = [r for r in fitting if len(r) == fewest]
        says = [r for r in smallest if r.optional & file.cells == file.optional]
        return (says or smallest)[-1]

    def students(self, lesson):
        return sorted(student for student, each in self.files if each == lesson)

    def numbers(self, student, lesson):
        """Return what counts; None for who has no grade."""
        if (student, lesson) not in self.grades:
            return None
        auto = {
            name: points
            for name, points in self.grades[student, lesson].items()
            if name not in self.dropped[lesson]
        }
        by_exercise = {}
        for name, points in auto.items():
            key = student, lesson, name
            manual = self.manual.get(key)
            points = points if manual is None else manual
            by_exercise[name] = points + (self.extra.get(key) or 0.0)
        score = sum(by_exercise.values())
        penalty = self._penalty(student, lesson, score)
        required = auto.keys() - self.on_top[student, lesson]
        worth = sum(self.worth[lesson][name] for name in required)
        return Numbers(auto, by_exercise, score, penalty, worth)

    def _penalty(self, student, lesson, score):
        handed_in, due = self.times.get((student, lesson)), self.due.get(lesson)
        if not handed_in or not due:
            return 0.0
        due += timedelta(hours=self.extension.get((student, lesson), 0))
        late = (handed_in - due).total_seconds()
        return POLICIES[self.policy](score, late) if late > 0 else 0.0

    def max_points(self, student, lesson):
        """Return what a lesson is worth: for who has not handed in, as it is now."""
        numbers = self.numbers(student, lesson)
        if numbers:
            return numbers.max_points
        names = self.present[lesson] - self.dropped[lesson]
        return sum(self.worth[lesson][name] for name in names)

    def total(self, student, lessons, n_drop):
        """Return points, maximum without the lowest lessons; points may be None."""
        rows, on_top = [], 0.0
        for lesson in lessons:
            numbers = self.numbers(student, lesson)
            worth = self.max_points(student, lesson)
            points = numbers.points if numbers else None
            share = -1.0 if points is None else points / (worth or 1.0)
            if worth:  # where nothing counts, nothing is the lowest
                rows.append((share, points, worth))
            else:
                on_top += points or 0.0
        counted = sorted(rows, key=lambda row: row[0])[n_drop:]
        worth = sum(row[2] for row in counted)
        if None in (row[1] for row in counted):
            return None, worth
        return sum(row[1] for row in counted) + on_top, worth
