"""A class's folder: who hands in, and what a command leaves and says."""

import json

from autograder.demo.sample_class import right_answer
from tests.submissions import LESSON, Submission

RESULTS = f"build/grading/{LESSON}.jsonl"
TIMES = f"build/grading/{LESSON}.times.jsonl"


def hand_in(root, *students):
    for student in students:
        submission = Submission()
        submission.answer("softmax", f"{right_answer('softmax')}\n# {student}")
        submission.write(root, student)


def files(root):
    """Return the names of the results' files."""
    return {path.name for path in (root / RESULTS).parent.iterdir()}


def refusal(called):
    """Return the one sentence of a call that was refused."""
    code, out, err = called
    assert code == 1
    assert out == ""
    assert "Traceback" not in err
    assert err.count("\n") == 1
    return err


def lines(root, path=RESULTS):
    return (root / path).read_text(encoding="utf-8").splitlines()


def students(root, path=RESULTS):
    return [json.loads(line)["student"] for line in lines(root, path)]
