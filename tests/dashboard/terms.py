"""A term: a course folder whose gradebook and journal are filled without grading."""

import functools
import json
import random
import shutil

from autograder.checking.registry import exercises_of
from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.course import Course
from autograder.demo.sample_class import (
    right_answer,
    written_misconceptions,
    wrong_answer,
)
from autograder.gradebook.autograded import METADATA_KEY
from autograder.gradebook.database import Gradebook
from autograder.gradebook.folders import autograded_path
from autograder.gradebook.grades import Person
from autograder.gradebook.writing import gradebook_entry
from autograder.grading.journal import Journal, JournalEntry
from autograder.grading.result import SubmissionResult

LESSONS = ("01_dot_product_attention", "02_self_attention", "03_multi_head_attention")
FIRST = "Amara Bjarne Chiyo Dario Elif Farid Gudrun Hamid Inés Jomo Kalea Lior".split()
LAST = "Okafor Lindqvist Sato Rossi Yılmaz Haddad Jónsdóttir Khan García Kamau".split()


def open_term(root, lessons=LESSONS):
    """Make a course folder with these lessons in its gradebook, and nobody in it."""
    here = Course.here()
    for lesson in lessons:
        target = Course(root).learner(lesson)
        target.parent.mkdir(parents=True)
        shutil.copy(here.learner(lesson), target)
    shutil.copy(here.root / "nbgrader_config.py", root)
    course = Course(root)
    for lesson in lessons:
        Gradebook(course).open_lesson(lesson)
    return course


def exercise_result(exercise, wrong="", holds=0.4, **about):
    """Return the result of an answer: right, or with a misconception's name.

    wrong : "" for right, "missing" for an unwritten one, else the misconception
    holds : the share of cases that hold of a wrong answer
    """
    n_holding = len(exercise.cases)
    if wrong:
        n_holding = 0 if wrong == "missing" else int(holds * len(exercise.cases))
    rest = "missing" if wrong == "missing" else "wrong"
    cases = tuple(
        CaseVerdict(
            case.name,
            case.claim,
            "ok" if index < n_holding else rest,
            case.points if index < n_holding else 0.0,
            case.points,
            case.visible,
        )
        for index, case in enumerate(exercise.cases)
    )
    points = sum(case.points for case in cases)
    diagnosis = wrong if wrong != "missing" else ""
    return ExerciseResult(
        exercise.name, points, exercise.points, cases, diagnosis, **about
    )


def submission(student, lesson, wrong=None, holds=0.4):
    """Return a graded submission, right but for ``wrong``, by exercise."""
    wrong = wrong or {}
    answers = tuple(
        exercise_result(exercise, wrong.get(exercise.name, ""), holds)
        for exercise in exercises_of(lesson)
    )
    return SubmissionResult(student, lesson, "graded", answers)


def hand_in(course, results, timestamp=None):
    """Enter results of one lesson into the journal and the gradebook."""
    (lesson,) = {each.lesson for each in results}
    with Journal(course) as journal:
        for each in results:
            entry = JournalEntry(each.student, "digest", "key", each.as_json())
            journal.add_result(lesson, entry)
    entries = [gradebook_entry(each, timestamp) for each in results]
    Gradebook(course).enter(lesson, entries)


def write_answers(course, result):
    """Write the graded notebook of a result, with the answers that it was got for."""
    cells = []
    for each in result.exercises:
        source = _source(each.exercise, each.diagnosis)
        marks = {"nbgrader": {"grade_id": each.exercise, "solution": True}}
        cells.append({"cell_type": "code", "metadata": marks, "source": source})
    metadata = {METADATA_KEY: {"result": json.loads(result.as_json())}}
    path = autograded_path(course, result.lesson, result.student)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": metadata}))


@functools.cache
def _source(exercise, misconception):
    if misconception:
        return wrong_answer(exercise, misconception)
    return right_answer(exercise)


def person(number):
    first, last = FIRST[number * 7 % 12], LAST[number * 3 % 10]
    return Person(
        f"s{240000 + number}",
        first,
        last,
        f"s{240000 + number}@example.org",
        section=f"Group {'ABCDE'[number % 5]}",
    )


def large_term(root, count, seed=1):
    """Make a term of three lessons as a class might go through it; return the course.

    Abilities differ; a few fall behind, a few were never there.
    """
    course, draw = open_term(root), random.Random(seed)
    people = [person(number) for number in range(count)]
    Gradebook(course).enter_people(people)
    ability = {each.id: min(0.98, max(0.2, draw.gauss(0.8, 0.15))) for each in people}
    for index, lesson in enumerate(LESSONS):
        results = []
        for number, each in enumerate(people):
            leaving = number % 19 == 7 and index > 0
            if number % 29 == 5 or leaving or draw.random() < 0.03:
                continue
            results.append(_drawn(draw, each.id, lesson, ability[each.id]))
        for result in results:
            if result.status == "graded" and count <= 1000:
                write_answers(course, result)
        hand_in(course, results)
    return course


def _drawn(draw, student, lesson, ability):
    if draw.random() < 0.01:
        answers = tuple(
            exercise_result(each, "missing") for each in exercises_of(lesson)
        )
        reason = "The file ends in the middle: it was not saved or sent to its end."
        return SubmissionResult(student, lesson, "invalid", answers, reason)
    answers = []
    for position, exercise in enumerate(exercises_of(lesson)):
        wrong, about = "", {}
        if draw.random() > ability - 0.04 * position:
            bank = [each.name for each in written_misconceptions(exercise)]
            rank = min(int(draw.expovariate(0.5)), len(bank) - 1)
            wrong = bank[rank] if draw.random() < 0.7 else "missing"
        elif draw.random() < 0.01:
            call = "torch.nn.functional.scaled_dot_product_attention"
            line = "return F.scaled_dot_product_attention(q, k, v)"
            about["flags"] = (Flag(exercise.name, call, line),)
        answers.append(exercise_result(exercise, wrong, draw.random(), **about))
    return SubmissionResult(student, lesson, "graded", tuple(answers))
