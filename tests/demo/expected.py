"""The sample class, and what each of its students has wrong."""

import nbformat

from autograder.checking.registry import exercises_of
from autograder.course import Course
from autograder.demo.sample_class import LESSON, sample_class

COURSE = Course.here()
CLASS = {student.name: student for student in sample_class()}
LEARNER = nbformat.read(COURSE.learner(LESSON), as_version=4)
EXERCISES = {exercise.name for exercise in exercises_of(LESSON)}
IN_LESSON_ORDER = [
    cell.metadata.nbgrader.grade_id
    for cell in LEARNER.cells
    if cell.metadata.get("nbgrader", {}).get("solution")
]
MISCONCEPTIONS = {
    "bjarne": {"scaled_scores": "no_scale"},
    "chiyo": {
        "scaled_scores": "divided_by_d_k",
        "attention_step_by_step": "softmax_of_unscaled",
    },
    "dario": {"softmax": "no_max_subtraction"},
    "elif": {"attention": "softmax_over_queries"},
    "farid": {
        "similarity_attention": "rows_of_x_mixed",
        "softmax_jacobian": "diagonal_only",
    },
    "gudrun": {
        "scaled_scores": "no_scale",
        "additive_scores": "no_tanh",
        "bilinear_scores": "w_transposed",
    },
    "hamid": {"softmax": "keepdims_missing_in_the_sum"},
}
