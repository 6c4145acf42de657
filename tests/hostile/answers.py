"""Answers for hostile cases: one without a right number, and changed right ones."""

from autograder.demo.sample_class import right_answer

# Plausible numbers, never the same twice, and a changed argument: no case holds.
GUESS = """\
def softmax(x, axis=-1):
    x += 1
    return np.random.random(np.shape(x))
"""
GUESSED = {"softmax": "wrong"}


def renamed(name: str) -> str:
    """Return the right answer under the name ``correct_`` and the exercise's."""
    return right_answer(name).replace(f"def {name}(", f"def correct_{name}(", 1)


def twisted(name: str, twist: str, above: str = "") -> str:
    """Return a source that computes the right answer and returns something made of it.

    twist : an expression over ``answer`` and ``given``, the arguments
    above : what the expression needs
    """
    return f"""\
{above}

{renamed(name)}


def {name}(*given, **named):
    answer = correct_{name}(*given, **named)
    return {twist}
"""
