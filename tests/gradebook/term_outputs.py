"""What every output says of a term: its numbers are those of the model.

Ours, nbgrader's API and its files, Canvas, Moodle, formgrader and feedback pages.
"""

import csv
import io
import json
import re
import sqlite3
from contextlib import closing

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import PyFileConfigLoader

from autograder.course import Course
from autograder.dashboard.class_results import StudentRow
from autograder.gradebook import plugins
from autograder.gradebook.database import Gradebook
from autograder.gradebook.own_maximum import count_own_maximum
from autograder.grading.journal import Journal
from tests.gradebook.stand_in import call

ROWS = (
    "SELECT s.student_id, a.name, "
    "substr(b.name, instr(b.name, '_') + 1), g.auto_score, g.manual_score, "
    "g.extra_credit FROM grade g JOIN base_cell b ON b.id = g.cell_id "
    "JOIN submitted_notebook n ON n.id = g.notebook_id "
    "JOIN submitted_assignment s ON s.id = n.assignment_id "
    "JOIN assignment a ON a.id = s.assignment_id"
)
ORPHANS = {
    "grade": "notebook_id NOT IN (SELECT id FROM submitted_notebook) "
    "OR cell_id NOT IN (SELECT id FROM base_cell)",
    "comment": "notebook_id NOT IN (SELECT id FROM submitted_notebook) "
    "OR cell_id NOT IN (SELECT id FROM base_cell)",
    "submitted_notebook": "assignment_id NOT IN (SELECT id FROM submitted_assignment)",
    "submitted_assignment": "student_id NOT IN (SELECT id FROM student) "
    "OR id NOT IN (SELECT assignment_id FROM submitted_notebook)",
    "grade_cells": "id NOT IN (SELECT id FROM base_cell)",
    "solution_cells": "id NOT IN (SELECT id FROM base_cell)",
    "set_aside_grade": "EXISTS (SELECT 1 FROM grade g WHERE g.cell_id = "
    "set_aside_grade.cell_id AND g.notebook_id = set_aside_grade.notebook_id)",
}


def close(value):
    return pytest.approx(value, abs=1e-4)


def rounded(value):
    """Return what equals the value when it is shown with two decimals."""
    return pytest.approx(value, abs=0.0051)


class Outputs:
    """Compares what is said of a course folder with the model of its term.

    folder, root : where files may be written, and the course in it
    rng : the chance that decides what is looked at
    settled : lessons that were graded after all that matters
    """

    def database(self):
        return closing(sqlite3.connect(self.root / "gradebook.db"))

    def nbgrader(self):
        return NbgraderGradebook(f"sqlite:///{self.root}/gradebook.db", "attention")

    def config(self):
        path = str(self.root)
        config = PyFileConfigLoader("nbgrader_config.py", path=path).load_config()
        config.CourseDirectory.root = path
        return config

    def api(self):
        config = self.config()
        return NbGraderAPI(CourseDirectory(config=config), config=config)

    def stored_rows(self):
        with self.database() as database:
            return {tuple(row[:3]): row[3:] for row in database.execute(ROWS)}

    def require_whole(self):
        """Require a database without damage and without anything half-made."""
        with self.database() as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            tables = database.execute("SELECT name FROM sqlite_master").fetchall()
            for table, orphans in ORPHANS.items():
                if (table,) in tables:
                    query = f"SELECT count(*) FROM {table} WHERE {orphans}"
                    assert database.execute(query).fetchone() == (0,), table
            twice = (
                "SELECT count(*) - count(DISTINCT notebook_id || cell_id) FROM grade"
            )
            assert database.execute(twice).fetchone() == (0,)

    def check(self):
        """Compare what every output says with the model."""
        self.require_whole()
        rows, expected = self.stored_rows(), rows_of(self.model)
        assert same(rows, expected), difference(rows, expected)
        self.check_comments()
        graded = sorted({lesson for _, lesson in self.model.grades})
        if not graded:
            return
        self.check_exports(graded)
        self.check_nbgrader(graded)
        self.check_formgrader(graded)
        self.check_feedback(graded)
        for lesson in self.settled & {*graded}:
            self.check_results(lesson)

    def check_comments(self):
        with self.nbgrader() as book:
            for (student, lesson, name), text in self.model.comments.items():
                stored = book.find_comment(name, lesson, lesson, student)
                assert stored.manual_comment == text

    def check_exports(self, graded):
        n_drop = self.rng.randint(0, len(graded) - 1)
        options = ["--drop-lowest", str(n_drop)] if n_drop else []
        table = self.exported("csv", *options)
        assert [row["student"] for row in table] == sorted(self.model.people)
        for row in table:
            person = self.model.people[row["student"]]
            for column in ("first_name", "last_name", "email"):
                assert row[column] == person.get(column, "")
            for lesson in graded:
                self.check_row(row, lesson)
            if n_drop:
                self.check_total(row, graded, n_drop)
        names = {"canvas": "SIS Login ID", "moodle": "Username"}
        for kind, column in names.items():
            rows = self.exported(kind, *options)
            if kind == "canvas":
                possible = rows.pop(0)
                self.check_points_possible(possible, graded)
            for row in rows:
                for lesson in graded:
                    numbers = self.model.numbers(row[column], lesson)
                    names = [n for n in possible if n.partition(" (")[0] == lesson]
                    says = [n for n in names if row[n].strip("-")]
                    counts = bool(numbers and numbers.auto)
                    if not counts or numbers.max_points or numbers.points:
                        assert bool(says) == counts, (row, lesson)
                    for name in says:
                        assert float(row[name]) == rounded(numbers.points), kind
                        own = numbers.max_points
                        assert float(possible[name]) == rounded(own), (row, lesson)
            self.check_plugin(kind, n_drop)

    def exported(self, kind, *options):
        code, out, err = call("export", "--to", kind, *options)
        assert code == 0, out + err
        text = (self.root / f"build/export/{kind}.csv").read_text("utf-8-sig")
        return [*csv.DictReader(io.StringIO(text))]

    def check_row(self, row, lesson):
        student = row["student"]
        numbers = self.model.numbers(student, lesson)
        worth = float(row[f"{lesson} max"])
        assert worth == close(self.model.max_points(student, lesson)), (student, lesson)
        exercises = {
            name.partition(".")[2]: float(value)
            for name, value in row.items()
            if name.startswith(f"{lesson}.") and value
        }
        assert exercises == rounded(numbers.by_exercise if numbers else {})
        assert bool(row[f"{lesson} points"]) == bool(numbers and numbers.auto)
        if numbers and numbers.auto:
            says = float(row[f"{lesson} points"]), float(row[f"{lesson} late penalty"])
            assert says == rounded((numbers.points, numbers.penalty)), (student, lesson)

    def check_total(self, row, graded, n_drop):
        points, worth = self.model.total(row["student"], graded, n_drop)
        assert float(row["total max"]) == close(worth), row["student"]
        assert bool(row["total"]) == (points is not None)
        if points is not None:
            assert float(row["total"]) == rounded(points)

    def check_points_possible(self, row, graded):
        for lesson in graded:
            own = [
                self.model.max_points(student, each)
                for student, each in self.model.grades
                if each == lesson
            ]
            assert float(row[lesson]) == close(max(own))

    def check_plugin(self, kind, n_drop):
        """Require of our plugin of nbgrader's export the bytes of our command."""
        plugin = getattr(plugins, f"{kind.title()}ExportPlugin")()
        plugin.drop_lowest = n_drop
        plugin.to = str(self.folder / "plugin.csv")
        with self.nbgrader() as book:
            plugin.export(book)
        ours = self.root / f"build/export/{kind}.csv"
        assert (self.folder / "plugin.csv").read_bytes() == ours.read_bytes()

    def check_nbgrader(self, graded):
        count_own_maximum()
        sums = dict.fromkeys(self.model.people, 0.0)
        with self.nbgrader() as book:
            plugin = CsvExportPlugin()
            plugin.to = str(self.folder / "nbgrader.csv")
            plugin.export(book)
            for lesson in graded:
                for each in book.assignment_submissions(lesson):
                    self.check_submission(each, lesson, sums)
                for each in book.notebook_submissions(lesson, lesson):
                    numbers = self.model.numbers(each.student.id, lesson)
                    says = each.score, each.max_score
                    assert says == close((numbers.score, numbers.max_points))
            opened = [each.name for each in book.assignments]
            for each in book.student_dicts():
                assert each["score"] == close(sums[each["id"]]), each
                most = sum(self.model.max_points(each["id"], one) for one in opened)
                assert each["max_score"] == close(most), each
        self.check_nbgraders_file()

    def check_submission(self, submission, lesson, sums):
        student = submission.student.id
        numbers = self.model.numbers(student, lesson)
        says = submission.score, submission.max_score
        assert says == close((numbers.score, numbers.max_points)), (student, lesson)
        says = submission.late_submission_penalty or 0.0
        assert says == close(numbers.penalty), (student, lesson)
        sums[student] += submission.score

    def check_nbgraders_file(self):
        with (self.folder / "nbgrader.csv").open() as file:
            text = re.sub(r'"?Åsa, née X"?', "Åsa", file.read())  # it quotes nothing
        for row in csv.DictReader(io.StringIO(text)):
            numbers = self.model.numbers(row["student_id"], row["assignment"])
            if numbers:
                assert float(row["score"]) == close(numbers.points)
                assert float(row["late_submission_penalty"]) == close(numbers.penalty)
            else:
                assert float(row["score"]) == 0.0

    def check_formgrader(self, graded):
        api = self.api()
        for lesson in graded:
            for each in api.get_submissions(lesson):
                numbers = self.model.numbers(each["student"], lesson)
                if each["autograded"]:
                    says = each["score"], each["max_score"]
                    assert says == close((numbers.score, numbers.max_points))

    def check_feedback(self, graded):
        for path in (self.root / "autograded").glob("*/*/*.ipynb"):
            student, lesson = path.parts[-3:-1]
            numbers = self.model.numbers(student, lesson)
            if self.rng.random() > 0.2 or numbers is None:  # graded, but not entered
                continue
            code, out, err = call("feedback", lesson, "--student", student)
            assert code == 0, out + err
            page = (
                self.root / "feedback" / student / lesson / f"{lesson}.html"
            ).read_text()
            (total,) = re.findall(r'<p class="total">(\S+) of (\S+) point', page)
            says = tuple(map(float, total))
            assert says == rounded((numbers.points, numbers.max_points)), path
            taken = re.findall(r">(\S+) points? taken off", page)
            assert sum(map(float, taken)) == rounded(numbers.penalty)

    def check_results(self, lesson):
        """Compare the results as data, the page about the class, and the table."""
        text = (self.root / f"build/grading/{lesson}.jsonl").read_text()
        results = {each["student"]: each for each in map(json.loads, text.splitlines())}
        assert sorted(results) == self.model.students(lesson)
        for student, result in results.items():
            numbers = self.model.numbers(student, lesson)
            says = result["points"], result["max_points"]
            wanted = sum(numbers.auto.values()), numbers.max_points
            assert says == close(wanted), (student, lesson)
        course = Course(self.root)
        grades = Gradebook(course).grades(lesson)
        with Journal(course) as journal:
            for result in journal.results(lesson):
                row = StudentRow(result, {}, grades[result.student])
                numbers = self.model.numbers(row.student, lesson)
                wanted = numbers.points, numbers.max_points
                assert (row.points, row.max_points) == close(wanted)


def rows_of(model):
    """Return the grades that the gradebook should have: engine's, person's, extra."""
    rows = {}
    for student, lesson in model.grades:
        for name, auto in model.numbers(student, lesson).auto.items():
            key = student, lesson, name
            rows[key] = auto, model.manual.get(key), model.extra.get(key)
    return rows


def same(rows, expected):
    return rows.keys() == expected.keys() and all(
        row == close(expected[key]) for key, row in rows.items()
    )


def difference(rows, expected):
    return {
        key: (rows.get(key), expected.get(key))
        for key in rows.keys() | expected.keys()
        if key not in rows or key not in expected or rows[key] != close(expected[key])
    }
