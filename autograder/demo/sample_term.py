"""The demo's class over a term: who they are, and what they hand in for each lesson.

For lesson 01, half of them hand in what ``sample_class`` has written by hand. All else
are right answers and misconceptions in turns, and what happens in any term: late, under
another name, broken, not at all.
"""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.demo.sample_class import (
    SampleStudent,
    cut_off,
    make_folder,
    sample_class,
    submit,
    with_misconceptions,
)
from autograder.gradebook.grades import Person

ONE, TWO, THREE = LESSONS = (
    "01_dot_product_attention",
    "02_self_attention",
    "03_multi_head_attention",
)
DUE = {  # in UTC
    ONE: datetime(2025, 10, 20, 22),
    TWO: datetime(2025, 11, 3, 23),
    THREE: datetime(2025, 11, 17, 23),
}
IN_TIME = timedelta(hours=-20)
LATE = {  # by how much after the due date
    ("kalea", TWO): timedelta(hours=30),
    ("elif", TWO): timedelta(hours=30),
    ("dario", THREE): timedelta(hours=5),
}
EXTENSIONS = {("elif", TWO): timedelta(days=2)}
NOT_HANDED_IN = {("ines", TWO), ("ines", THREE), ("bjarne", THREE), ("wanda", ONE)}
RENAMED = {("pavel", TWO): "02 (1).ipynb"}
BROKEN = {("nuru", THREE)}
POLICY = '\nc.LatePolicy.late = "10 % a day, at most 50 %"\n'
ROSTER = "class.csv"

# Each as the roster has it: first and last name. The first name is the id.
NAMES = (
    *("Amara Okafor", "Bjarne Holm", "Chiyo Tanaka", "Dario Conti", "Elif Yıldız"),
    *("Farid Rahimi", "Gudrun Berg", "Hamid Saleh", "Ines da Silva", "Jomo Kariuki"),
    *("Kalea Kahale", "Lior Peretz", "Mirela Popescu", "Nuru Mwangi", "Orla Byrne"),
    *("Pavel Novák", "Quentin Roux", "Ravi Menon", "Sanna Laine", "Tomasz Zając"),
    *("Ulla Jensen", "Viktor Petrov", "Wanda Kowalska", "Xinyi Chen", "Yara Haddad"),
    *("Zoltan Nagy", "Ayla Demir", "Bruno Alves", "Carmen Ortiz", "Dmitri Volkov"),
    *("Eun-ji Park", "Fiona MacLeod"),
)
SECTIONS = ("Monday", "Thursday")

# What is handed in, in turns: exercise to misconception, nothing where all is right.
IN_TURNS: dict[str, tuple[dict[str, str], ...]] = {
    ONE: (
        {"scaled_scores": "no_scale"},
        {},
        {"attention": "softmax_over_queries"},
        {},
        {"softmax": "no_max_subtraction"},
    ),
    TWO: (
        {},
        {"self_attention": "no_scale"},
        {},
        {"cross_attention": "values_from_x"},
        {"project": "one_matrix_for_all"},
        {},
        {
            "self_attention": "divided_by_root_of_d_model",
            "equivariance_gap": "result_not_permuted",
        },
        {"self_attention_gradients": "scale_forgotten"},
    ),
    THREE: (
        {},
        {"split_heads": "reshape_without_transpose"},
        {"merge_heads": "reshape_without_transpose"},
        {},
        {"count_parameters": "w_o_forgotten"},
        {
            "multi_head_attention": "no_w_o",
            "load_torch_parameters": "transposes_missing",
        },
        {},
    ),
}


def people() -> list[Person]:
    """Return the class, as its roster has it."""
    persons = []
    for number, name in enumerate(NAMES):
        first, _, last = name.partition(" ")
        student = first.lower()
        email = f"{student}@students.example.org"
        section = SECTIONS[number % len(SECTIONS)]
        persons.append(Person(student, first, last, email, f"{4100 + number}", section))
    return persons


def submissions(lesson: str) -> Iterator[SampleStudent]:
    """Yield what is handed in for a lesson."""
    by_hand = {each.name: each for each in sample_class()} if lesson == ONE else {}
    turns = IN_TURNS[lesson]
    for number, person in enumerate(people()):
        wrong = turns[number % len(turns)]
        if (person.id, lesson) in NOT_HANDED_IN:
            continue
        if person.id in by_hand:
            yield by_hand[person.id]
            continue
        submission = with_misconceptions(person.id, lesson, **wrong)
        if (person.id, lesson) in BROKEN:
            submission = SampleStudent(person.id, submission.answers, as_saved=cut_off)
        yield submission


def make_term(course: Course, folder: Path) -> None:
    """Make a course folder with a term's lessons, roster and submissions.

    folder : an earlier one is replaced
    """
    make_folder(course, folder, [], LESSONS)
    with (folder / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(POLICY)
    with (folder / ROSTER).open("w", encoding="utf-8", newline="") as file:
        roster = csv.writer(file)
        roster.writerow(vars(people()[0]))
        roster.writerows(vars(person).values() for person in people())
    for lesson in LESSONS:
        learner = nbformat.read(course.learner(lesson), as_version=4)
        for student in submissions(lesson):
            which = student.name, lesson
            path = submit(folder, lesson, learner, student, RENAMED.get(which, ""))
            moment = (DUE[lesson] + LATE.get(which, IN_TIME)).replace(tzinfo=UTC)
            text = f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC\n"
            path.with_name("timestamp.txt").write_text(text)
