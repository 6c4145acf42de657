"""A term of random operations on a course folder.

Each operation happens twice: in the folder, by the command or nbgrader's API that an
instructor would use, and in the model. ``check`` of ``term_outputs`` compares them.
"""

import copy
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
from datetime import datetime, timedelta

from autograder.course import Course
from autograder.course.releases import (
    ANSWER_KEY,
    METADATA_KEY,
    ON_TOP,
    OPTIONAL,
    Points,
    keep_release,
    release_name,
)
from autograder.grading.release import CHECK
from tests.gradebook.stand_in import call, call_killed
from tests.gradebook.term_model import POLICIES, Contents, HandedIn, Model
from tests.gradebook.term_outputs import Outputs, difference, rounded, rows_of, same
from tests.submissions import COURSE

LESSONS = {
    "00_start_here": ["rotary", "leak"],  # and which exercises it may get in the term
    "02_self_attention": ["softmax", "decode"],
    "03_multi_head_attention": ["layer_norm"],
}
STUDENTS = ["amara", "ben", "cora", "dimitri", "eva"]
DUE = datetime(2026, 3, 1, 12)
ODD_TIMES = ["yesterday", "", "9999-12-31 23:59:59 UTC", "x" * 300]
OPERATIONS = {  # and how often, beside the others
    "hand_in": 14,
    "change_time": 3,
    "grade": 10,
    "grade_one": 6,
    "press_button": 4,
    "grade_anew": 2,
    "excuse": 3,
    "grade_by_hand": 10,
    "comment": 4,
    "extend": 5,
    "extend_in_nbgrader": 2,
    "change_due_date": 3,
    "change_policy": 2,
    "add_exercise": 2,
    "remove_exercise": 2,
    "change_points": 2,
    "change_optional": 4,
    "change_setting": 2,
    "drop": 5,
    "enter_roster": 4,
    "give_feedback": 3,
    "export": 3,
    "delete_autograded": 1,
    "delete_journal": 1,
    "move_course": 1,
}


class Term(Outputs):
    """A course folder, its model, and the chance that decides what happens next.

    kills : the share of commands that are killed before they run to their end
    log : what has happened, a line each
    """

    def __init__(self, folder, seed, *, kills=0.0, kills_from_start=0.0):
        self.rng = random.Random(seed)
        self.folder, self.root = folder, folder / "course-0"
        self.kills, self.kills_from_start = kills, kills_from_start
        self.log = []
        self.n_killed = self.n_files = self.n_moves = 0
        self.n_events = {}
        self.settled = set()  # lessons that were graded after all that matters
        for lesson in LESSONS:
            target = self.root / "notebooks" / lesson / f"{lesson}.ipynb"
            target.parent.mkdir(parents=True)
            shutil.copy(COURSE.learner(lesson), target)
        shutil.copy(COURSE.root / "nbgrader_config.py", self.root)
        self.originals = {
            lesson: json.loads(Course(self.root).learner(lesson).read_text())
            for lesson in LESSONS
        }
        points = {each: points_of(nb) for each, nb in self.originals.items()}
        self.model = Model(points, {each: [points[each]] for each in LESSONS})
        self.notebooks = {}
        for lesson in LESSONS:
            self.model.dropped[lesson] = set()
            self.notebooks[lesson] = [(points[lesson], self.originals[lesson])]
        os.chdir(self.root)
        for lesson in LESSONS:
            assert call("open", lesson)[0] == 0
            self.model.open(lesson)

    # --- how things are done ----------------------------------------------------------

    def happen(self):
        """Do one thing at random."""
        names, weights = zip(*OPERATIONS.items(), strict=True)
        (name,) = self.rng.choices(names, weights)
        lesson = self.rng.choice([*LESSONS])
        student = self.rng.choice(STUDENTS)
        self.log.append(f"{name} {lesson[:2]} {student}")
        getattr(self, name)(lesson, student)

    def do(self, *words, steps=(), code=0, kills=True):
        """Run a command, perhaps killed once or twice before.

        steps : what it does to the model, one after the other
        """
        self.log[-1] += f": {' '.join(words)}"
        while kills and self.rng.random() < self.kills:
            self.kill(words, steps)
        if kills and self.rng.random() < self.kills_from_start:
            self.kill(words, steps, from_start=True)
        got, out, err = call(*words)
        assert got == code, f"{words}: {out}{err}"
        for step in steps:
            step(self.model)
        return out, err

    def kill(self, words, steps, *, from_start=False):
        """Kill the command at some moment; what it was to do is done as far as a step.

        from_start : a new process, at a random time; else a copy of this one, after a
            random number of events, which a seed repeats
        """
        if from_start:
            self.kill_new_process(words)
        else:
            at_borders = self.rng.random() < 0.6
            key = words[0], at_borders
            after = self.rng.randint(0, self.n_events.get(key, 40))
            ended, n_events = call_killed(words, after, at_borders=at_borders)
            if ended or after > self.n_events.get(key, 0):
                self.n_events[key] = n_events
            self.log[-1] += f" (killed after {after})"
        self.n_killed += 1
        stages = [copy.deepcopy(self.model)]
        for step in steps:
            stages.append(copy.deepcopy(stages[-1]))
            step(stages[-1])
        self.require_whole()
        rows = self.stored_rows()
        fitting = [each for each in stages if same(rows, rows_of(each))]
        assert fitting, f"killed {words} left {difference(rows, rows_of(self.model))}"
        self.model = fitting[-1]
        self.settled.clear()
        while self.rng.random() < 0.3:  # go on with something else first
            lesson, student = self.rng.choice([*LESSONS]), self.rng.choice(STUDENTS)
            self.rng.choice([self.grade_by_hand, self.comment])(lesson, student)

    def kill_new_process(self, words):
        command = [sys.executable, "-m", "tests.gradebook.stand_in", *words]
        process = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": str(COURSE.root)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(self.rng.uniform(0.3, 2.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.log[-1] += " (killed from its start on)"

    # --- what students do -------------------------------------------------------------

    def hand_in(self, lesson, student):
        rng, key = self.rng, (student, lesson)
        releases = self.notebooks[lesson]
        points, notebook = releases[-1] if rng.random() < 0.7 else rng.choice(releases)
        n_missing = min(rng.choice([0, 0, 0, 1, 2]), len(points))
        missing = rng.sample([*points], n_missing)
        earns = {
            name: rng.choice([0.0, 0.25, 0.5, 1.0, 1.0])
            for name in points
            if name not in missing and rng.random() < 0.85
        }
        named = rng.random() < 0.75
        kinds = ["right"] * 8 + ["renamed", "two", "neither", "broken", "absent"]
        kind = rng.choice(kinds)
        self.n_files += 1
        self.log[-1] += f" {kind} {named=} {missing=} of {len(points)}"
        text = answered(notebook, earns, missing, named, self.n_files)
        folder = self.root / "submitted" / student / lesson
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names = {"renamed": ["mine (1).IPYNB"], "neither": ["a.ipynb", "b.ipynb"]}
        names |= {"two": [f"{lesson}.ipynb", "a.ipynb"], "absent": []}
        for name in names.get(kind, [f"{lesson}.ipynb"]):
            cut = len(text) // 2 if kind == "broken" else None
            (folder / name).write_text("{}" if name == "a.ipynb" else text[:cut])
        file = HandedIn(self.n_files)
        if kind in ("right", "renamed", "two"):
            own = points if named else None
            cells = frozenset(points) - {*missing}
            optional = cells & points.optional
            file = HandedIn(self.n_files, own, cells, earns, optional)
        self.model.files[key] = file
        self.change_time(lesson, student)

    def change_time(self, lesson, student):
        key = student, lesson
        if key not in self.model.files:
            return
        path = self.root / "submitted" / student / lesson / "timestamp.txt"
        path.unlink(missing_ok=True)
        self.model.stamps[key] = None
        draw = self.rng.random()
        if draw < 0.7:
            moment = DUE + timedelta(seconds=self.rng.randint(-2 * 86400, 6 * 86400))
            path.write_text(f"{moment} UTC\n")
            self.model.stamps[key] = moment
        elif draw < 0.85:
            path.write_text(self.rng.choice(ODD_TIMES))
        self.settled.discard(lesson)

    # --- grading ----------------------------------------------------------------------

    def grade(self, lesson, _="", *options, flag=lambda model: None, kills=True):
        students = self.model.students(lesson)
        if not students:
            assert call("grade", lesson)[0] == 1
            return

        def graded(model):
            for student in students:
                model.grade(student, lesson)

        steps = [lambda model: model.open(lesson), flag, graded]
        out, _ = self.do("grade", lesson, *options, steps=steps, kills=kills)
        self.settled.add(lesson)
        rows = re.findall(r"^(\w+) +([\d.e+-]+) of ([\d.]+)", out, re.MULTILINE)
        assert sorted(row[0] for row in rows) == students
        for student, *row in rows:
            numbers = self.model.numbers(student, lesson)
            wanted = numbers.points, numbers.max_points
            assert tuple(map(float, row)) == rounded(wanted), student

    def grade_one(self, lesson, student, *options, flag=lambda model: None):
        if (student, lesson) not in self.model.files:
            return
        steps = [lambda model: model.open(lesson), flag]
        steps.append(lambda model: model.grade(student, lesson))
        self.do("grade", lesson, "--student", student, *options, steps=steps)
        self.settled.discard(lesson)

    def grade_anew(self, lesson, _):
        self.grade(lesson, "", "--anew")

    def excuse(self, lesson, student):
        one = self.rng.random() < 0.5
        students = [student] if one else self.model.students(lesson)
        keys = {(each, lesson) for each in students}
        if self.rng.random() < 0.6:
            option, change = "--excuse-missing", set.update
        else:
            option, change = "--no-excuse-missing", set.difference_update
        grade = self.grade_one if one else self.grade
        grade(lesson, student, option, flag=lambda model: change(model.excused, keys))

    def press_button(self, lesson, student):
        """Grade as formgrader's button does."""
        key = student, lesson
        if key not in self.model.files:
            return
        if self.model.extension.get(key) and not self.model.due.get(lesson):
            return  # nbgrader's own code adds an extension to no date, and stops
        outcome = self.api().autograde(lesson, student)
        assert outcome["success"], outcome
        self.model.open(lesson)
        self.model.grade(student, lesson)
        self.settled.discard(lesson)

    # --- what instructors do ----------------------------------------------------------

    def graded_exercises(self, lesson, student):
        numbers = self.model.numbers(student, lesson)
        return [*numbers.auto] if numbers else []

    def grade_by_hand(self, lesson, student):
        """Enter points, extra credit or neither, as formgrader does."""
        names = self.graded_exercises(lesson, student)
        if not names:
            return
        name = self.rng.choice(names)
        key = student, lesson, name
        manual = self.rng.choice([None, 0.0, 2.5, 7.0])
        extra = self.rng.choice([None, None, 0.0, 1.0, 1.5])
        self.log[-1] += f" by hand {key}: {manual}, {extra}"
        with self.nbgrader() as book:
            on_top = name in self.model.on_top[student, lesson]
            cell = (ON_TOP if on_top else CHECK) + name
            grade = book.find_grade(cell, lesson, lesson, student)
            grade.manual_score, grade.extra_credit = manual, extra
            grade.needs_manual_grade = False
            book.db.commit()
        self.model.manual[key], self.model.extra[key] = manual, extra

    def comment(self, lesson, student):
        names = self.graded_exercises(lesson, student)
        if not names:
            return
        name = self.rng.choice(names)
        text = f"Comment {self.rng.randint(0, 999)}"
        with self.nbgrader() as book:
            book.find_comment(name, lesson, lesson, student).manual_comment = text
            book.db.commit()
        self.model.comments[student, lesson, name] = text

    def extend(self, lesson, student):
        days = self.rng.choice([0, 1, 2, 5])
        fits = self.model.due.get(lesson) and student in self.model.people
        steps = [
            lambda model: model.extension.__setitem__((student, lesson), 24 * days)
        ]
        words = "extend", student, lesson, "--days", str(days)
        self.do(*words, steps=steps if fits else [], code=0 if fits else 1)

    def extend_in_nbgrader(self, lesson, student):
        if (student, lesson) in self.model.grades:
            days = self.rng.choice([0, 1, 3])
            with self.nbgrader() as book:
                book.grant_extension(lesson, student, days=days)
            self.model.extension[student, lesson] = 24 * days

    def change_due_date(self, lesson, _):
        due = self.rng.choice([None, DUE, DUE, DUE + timedelta(days=2)])
        with self.nbgrader() as book:
            book.find_assignment(lesson).duedate = due
            book.db.commit()
        self.model.due[lesson] = due

    def change_policy(self, *_):
        self.model.policy = self.rng.choice([*POLICIES])
        self.write_config()

    def change_setting(self, *_):
        self.model.setting = self.rng.choice(["extra", "extra", "required", "left out"])
        self.write_config()
        self.settled.clear()

    def write_config(self):
        text = (COURSE.root / "nbgrader_config.py").read_text()
        for name, value in (
            ("LatePolicy.late", self.model.policy),
            ("AutogradeExporter.optional_exercises", self.model.setting),
        ):
            text += f"\nc.{name} = {value!r}\n"
            self.log[-1] += f" {value!r}"
        (self.root / "nbgrader_config.py").write_text(text)

    def drop(self, lesson, _):
        names = sorted({*self.model.worth[lesson], *self.model.release[lesson]})
        name = self.rng.choice(names)
        undo = name in self.model.dropped[lesson]
        change = set.discard if undo else set.add
        steps = [
            lambda model: model.open(lesson),
            lambda model: change(model.dropped[lesson], name),
        ]
        words = "drop", name, "--lesson", lesson, *["--undo"] * undo
        if name not in (*self.model.release[lesson], *self.exercises_ever(lesson)):
            return
        if (
            not self.model.release[lesson].required
            - self.model.dropped[lesson]
            - {name}
        ):
            return  # something counts for who has handed in nothing
        graded = {key for key in self.model.grades if key[1] == lesson}
        known = graded <= self.model.verdicts
        self.do(*words, steps=steps, kills=known)
        if not known:  # the points are right again when both have come to their ends
            self.grade(lesson, kills=False)
        self.settled.discard(lesson)

    def exercises_ever(self, lesson):
        """Return what the gradebook keeps, of whatever release."""
        if any(each == lesson for _, each in self.model.grades):
            return {*self.model.worth[lesson]}
        return set()

    def enter_roster(self, *_):
        students = self.rng.sample([*STUDENTS, "zoe"], self.rng.randint(1, 6))
        rows = []
        for student in students:
            row = {
                "first_name": self.rng.choice(["", student.title(), "Åsa, née X"]),
                "last_name": self.rng.choice(["", "Ngũgĩ", "O'Neill"]),
                "email": self.rng.choice(["", f"{student}@example.org"]),
                "lms_user_id": self.rng.choice(["", str(self.rng.randint(1, 9999))]),
            }
            rows.append({"id": student} | row)
        path = self.folder / "roster.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*rows[0]])
            writer.writeheader()
            writer.writerows(rows)

        def entered(model):
            for row in rows:
                known = model.people.setdefault(row["id"], {})
                known |= {k: v for k, v in row.items() if v and k != "id"}

        self.do("roster", str(path), steps=[entered])

    def give_feedback(self, lesson, _):
        is_graded = any((self.root / "autograded").glob(f"*/{lesson}/*.ipynb"))
        if self.rng.random() < 0.3 and is_graded:
            assert self.api().generate_feedback(lesson)["success"]
        else:
            self.do("feedback", lesson)

    def export(self, *_):
        if self.model.grades:
            self.do("export", "--to", self.rng.choice(["csv", "canvas", "moodle"]))

    # --- releases ---------------------------------------------------------------------

    def add_exercise(self, lesson, _):
        new = [
            each for each in LESSONS[lesson] if each not in self.model.release[lesson]
        ]
        gone = [
            each
            for each in points_of(self.originals[lesson])
            if each not in self.model.release[lesson]
        ]
        if new + gone:
            name = self.rng.choice(new + gone)
            self.new_release(lesson, self.model.release[lesson] | {name: 6.0})

    def remove_exercise(self, lesson, _):
        points = dict(self.model.release[lesson])
        points.pop(self.rng.choice([*points]))
        optional = self.model.release[lesson].optional
        if points.keys() - optional - self.model.dropped[lesson]:
            self.new_release(lesson, points)

    def change_optional(self, lesson, _):
        release = self.model.release[lesson]
        optional = release.optional ^ {self.rng.choice([*release])}
        if release.keys() - optional - self.model.dropped[lesson]:
            self.new_release(lesson, release, optional)

    def change_points(self, lesson, _):
        name = self.rng.choice([*self.model.release[lesson]])
        worth = self.rng.choice([4.0, 6.0, 10.0])
        self.new_release(lesson, self.model.release[lesson] | {name: worth})

    def new_release(self, lesson, points, optional=None):
        """Release a lesson, as ``make build`` does, which also keeps its name."""
        if optional is None:
            optional = self.model.release[lesson].optional
        self.log[-1] += f" {points} {[*optional]}"
        notebook = released(self.originals[lesson], points, optional)
        points = points_of(notebook)  # in the order of the notebook
        Course(self.root).learner(lesson).write_text(json.dumps(notebook))
        keep_release(Course(self.root), lesson, Points(points, points.optional))
        self.notebooks[lesson].append((points, notebook))
        self.model.release[lesson] = points
        if points not in self.model.known[lesson]:
            self.model.known[lesson].append(points)
        self.settled.discard(lesson)

    # --- what is lost and moved -------------------------------------------------------

    def delete_autograded(self, *_):
        shutil.rmtree(self.root / "autograded", ignore_errors=True)

    def delete_journal(self, *_):
        shutil.rmtree(self.root / "build/grading", ignore_errors=True)
        self.model.verdicts.clear()
        self.settled.clear()

    def move_course(self, *_):
        self.n_moves += 1
        new = self.folder / f"course-{self.n_moves}"
        shutil.copytree(self.root, new)
        os.chdir(new)
        shutil.rmtree(self.root)
        self.root = new


# --- notebooks --------------------------------------------------------------------


def marks(cell):
    return cell["metadata"].get("nbgrader", {})


def points_of(notebook):
    """Return what each exercise of a released notebook is worth."""
    points, optional = {}, set()
    for cell in notebook["cells"]:
        if marks(cell).get("grade"):
            name = marks(cell)["grade_id"].removeprefix(CHECK)
            points[name] = float(marks(cell)["points"])
            if cell["metadata"].get(ANSWER_KEY, {}).get(OPTIONAL):
                optional.add(name)
    return Contents(points, optional)


def released(original, points, optional):
    """Return a release of a lesson with these exercises; new ones come last."""
    notebook = copy.deepcopy(original)
    first = next(iter(points_of(original)))
    models = [
        c for c in notebook["cells"] if marks(c).get("grade_id", "").endswith(first)
    ]
    for name in points.keys() - points_of(original).keys():
        for model in copy.deepcopy(models):
            model["id"] = model["id"].replace(first, name)
            new = marks(model)["grade_id"].replace(first, name)
            model["metadata"]["nbgrader"]["grade_id"] = new
            model["source"] = "".join(model["source"]).replace(first, name)
            notebook["cells"].append(model)
    cells = []
    for cell in notebook["cells"]:
        name = marks(cell).get("grade_id", "").removeprefix(CHECK)
        if marks(cell).get("grade") and name in points:
            cell["metadata"]["nbgrader"]["points"] = points[name]
            cell["metadata"].pop(ANSWER_KEY, None)
            if name in optional:
                cell["metadata"][ANSWER_KEY] = {OPTIONAL: True}
        if name in points or not (
            marks(cell).get("grade") or marks(cell).get("solution")
        ):
            cells.append(cell)
    notebook["cells"] = cells
    own = points_of(notebook)
    notebook["metadata"][METADATA_KEY] = release_name(Points(own, own.optional))
    return notebook


def answered(notebook, earns, missing, named, number):
    """Return the text of a file that is handed in."""
    notebook = copy.deepcopy(notebook)
    cells = []
    for cell in notebook["cells"]:
        name = marks(cell).get("grade_id", "").removeprefix(CHECK)
        if name in missing:
            continue
        if marks(cell).get("solution") and name in earns:
            source = "".join(cell["source"])
            cell["source"] = f"{source}\n    # earns {earns[name]}"
        cells.append(cell)
    own = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": []}
    own |= {"execution_count": None, "source": f"# file {number}"}
    notebook["cells"] = [*cells, own]
    if not named:
        notebook["metadata"].pop(METADATA_KEY, None)
    return json.dumps(notebook)
