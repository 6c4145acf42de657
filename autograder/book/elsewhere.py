"""A lesson in Colab or Kaggle: the links to it, and the cell that it needs there first.

Both open notebooks of a public repository, which the environment names: nobody knows
its address while it is only on the author's machine, and then there are no links.

The first cell installs the course without what it depends on: both have all of that, in
versions of their own, and break if those are replaced.
"""

import os
import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.book.lessons import Lesson

REPOSITORY = "ATTENTION_COURSE_REPOSITORY"  # of the environment: owner/name at GitHub
NAME = re.compile(r"[\w.-]+/[\w.-]+")
FIRST_WITH_DATA, FIRST_WITH_TORCH = "06", "07"


def repository() -> str:
    """Return the repository that pages link to, such as ``owner/name``; "" for none."""
    name = os.environ.get(REPOSITORY, "")
    return name if NAME.fullmatch(name) else ""


def first_cell(lesson: str, repository: str) -> str:
    """Return what a notebook's first cell holds in Colab and Kaggle.

    lesson : the folder's name

    >>> print(first_cell("01_dot_product_attention", "owner/name"))
    %pip install -q --no-deps "git+https://github.com/owner/name"
    """
    lines = [f'%pip install -q --no-deps "git+https://github.com/{repository}"']
    if lesson >= FIRST_WITH_TORCH:
        lines.append("%pip install -q num2words sacrebleu")
    if lesson >= FIRST_WITH_DATA:
        lines.append("!python -m course_lib.corpora  # the texts that it reads: 150 MB")
    return "\n".join(lines)


def elsewhere(lesson: Lesson, repository: str) -> NotebookNode:
    """Return the cell of a lesson's page that opens it in Colab or Kaggle."""
    file = f"github.com/{repository}/blob/main/notebooks/{lesson.page}.ipynb"
    colab = f"https://colab.research.google.com/{file.replace('.com', '', 1)}"
    kaggle = f"https://kaggle.com/kernels/welcome?src=https://{file}"
    text = f"""\
<details class="elsewhere"><summary>In Colab or Kaggle</summary>

[Open in Colab]({colab}) · [Open in Kaggle]({kaggle}). Make a cell above all others,
put this into it and run it. Kaggle needs *Internet* switched on for that.

```ipython
{first_cell(lesson.name, repository)}
```

The buttons are JupyterLab's: here, run the cell with your answer, then the cell with
`check(…)` below it, and read the report there. Save a copy of your own: what you write
is kept by Colab or Kaggle, and progress is not counted.

</details>"""
    return new_markdown_cell(text, id="elsewhere")
