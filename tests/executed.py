"""Cells that a real kernel executes, and what they display."""

import os

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.checking.registry import load

RIGHT = """def scaled_scores(q, k):
    return 1.0 * q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
"""
WRONG = RIGHT.replace(" ** 0.5", "")
CRASH = """import numpy as np

def scaled_scores(q, k):
    scores = q @ k
    return scores
"""
CHATTY = """import logging
import sys
import warnings
import nbformat
import numpy as np

def scaled_scores(q, k):
    print("on stdout")
    print("on stderr", file=sys.stderr)
    warnings.warn("a warning of the learner's own")
    np.log(np.zeros(1))
    return 1.0 * q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
"""
SLIP = "def scaled_scores(q, k):\n    return q @ k.swapaxes(-1, -2) / ("
HEAD = "from autograder import check"
CASES = load("scaled_scores").cases
VISIBLE = sum(case.visible and not case.fine_point for case in CASES)
ALL_HOLD = f"scaled_scores: solved, all {VISIBLE} claims hold"
ONE_HOLDS = f"scaled_scores: 1 of {VISIBLE} claims hold"
NONE_HOLDS = f"scaled_scores: 0 of {VISIBLE} claims hold"


def executed(*sources, mode=None):
    """Run cells in a real kernel; give each cell's outputs."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(
        notebook, timeout=300, allow_errors=True, kernel_name="python3"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NBGRADER_EXECUTION"}
    if mode:
        environment["NBGRADER_EXECUTION"] = mode
    client.execute(env=environment)
    return [cell.outputs for cell in notebook.cells]


def of_type(outputs, kind):
    return [output for output in outputs if output.output_type == kind]


def error(outputs):
    (output,) = of_type(outputs, "error")
    return output


def plain(outputs):
    (output,) = of_type(outputs, "display_data")
    return output.data["text/plain"]


def stderr(cells):
    return [out.text for cell in cells for out in cell if out.get("name") == "stderr"]
