"""The sample class: invented students of lesson 01, and what each of them wrote."""

from collections.abc import Callable
from dataclasses import dataclass, field

from autograder.demo import typed
from autograder.demo.answers import mistaken, right
from autograder.registry import exercises_of

LESSON = "01_dot_product_attention"


@dataclass(frozen=True)
class Student:
    """One student and what the submission holds.

    name : an invented first name, the student's id
    answers : source text by exercise; an exercise without one stays untouched
    own_cells : by exercise, a new cell that the student put above the answer
    saved : what the student's editor or network made of the file's text
    """

    name: str
    answers: dict[str, str]
    own_cells: dict[str, str] = field(default_factory=dict)
    saved: Callable[[str], str] = str


def sample_class() -> list[Student]:
    """Give the whole class, in the order of the names."""
    return [
        Student("amara", _right()),
        _mistakes("bjarne", scaled_scores="no_scale"),
        _mistakes(
            "chiyo",
            scaled_scores="divided_by_d_k",
            attention_step_by_step="softmax_of_unscaled",
        ),
        _mistakes("dario", softmax="no_max_subtraction"),
        _mistakes("elif", attention="softmax_over_queries"),
        _mistakes(
            "farid",
            similarity_attention="rows_of_x_mixed",
            softmax_jacobian="diagonal_only",
        ),
        _mistakes(
            "gudrun",
            scaled_scores="no_scale",  # like bjarne: a class's mistakes are ranked
            additive_scores="no_tanh",
            bilinear_scores="w_transposed",
        ),
        # All that calls this softmax is right by itself.
        _mistakes("hamid", softmax="keepdims_missing_in_the_sum"),
        Student("ines", _first_half()),
        Student("jomo", {}),
        Student(
            "kalea",
            _right(
                bilinear_scores=typed.BILINEAR_THAT_STOPS,
                additive_scores=typed.ADDITIVE_THAT_DOES_NOT_PARSE,
            ),
        ),
        Student("lior", _right(softmax=typed.SOFTMAX_WITH_WARNINGS)),
        Student(
            "mirela",
            _right(
                scaled_scores=typed.SCORES_WITH_HELPER,
                attention=typed.ATTENTION_WITH_HELPER,
            ),
            own_cells={"scaled_scores": typed.HELPER},
        ),
        Student("nuru", _right(), saved=_on_windows),
        Student("orla", _right(attention=typed.COURSE_VERSION)),
        Student("pavel", _right(), saved=_cut_off),
    ]


def _mistakes(student: str, **misconceptions: str) -> Student:
    """Give a student with these mistakes; all other answers are right."""
    answers = {name: mistaken(name, wrong) for name, wrong in misconceptions.items()}
    return Student(student, _right(**answers))


def _right(**others: str) -> dict[str, str]:
    """Give right answers to all exercises, but for the others that are given."""
    return {each.name: right(each.name) for each in exercises_of(LESSON)} | others


def _first_half() -> dict[str, str]:
    done = ("softmax", "similarity_attention", "softmax_jacobian", "scaled_scores")
    return {name: right(name) for name in done}


def _on_windows(text: str) -> str:
    """Give a file its line ends, and the cells' own text inside it too."""
    return text.replace("\\n", "\\r\\n").replace("\n", "\r\n")


def _cut_off(text: str) -> str:
    return text[: 2 * len(text) // 3]
