"""Notebooks as other programs save them: ids, metadata, outputs, language.

The file's own form (version, line breaks, encoding) is in ``files``.
"""

import hashlib
from collections.abc import Mapping

from tests.honest import honest
from tests.honest.writing import code_cells
from tests.submissions import Submission

IPYTHON = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": "3.12.7",
}


def _kernel(submission: Submission, display_name: str, name: str = "python3") -> None:
    spec = {"display_name": display_name, "language": "python", "name": name}
    submission.notebook.metadata.kernelspec = spec
    submission.notebook.metadata.language_info = dict(IPYTHON)


def _executed(submission: Submission, **metadata: object) -> None:
    """Number the code cells, and add an output and metadata to each."""
    text = {"name": "stdout", "output_type": "stream", "text": "printed\n"}
    for number, cell in enumerate(code_cells(submission), 1):
        cell.execution_count = number
        cell.outputs = [text]
        cell.metadata.update(metadata)


def _hashed(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def _without_ids(submission: Submission, minor: int) -> None:
    for cell in submission.notebook.cells:
        cell.pop("id", None)
    submission.notebook.nbformat_minor = minor


def _timestamps(name: str) -> Mapping[str, str]:
    second = int(_hashed(name, 6), 16) % 60
    time = f"2026-11-20T09:15:{second:02}"
    return {
        "iopub.execute_input": f"{time}.214305Z",
        "iopub.status.busy": f"{time}.213912Z",
        "iopub.status.idle": f"{time}.220187Z",
        "shell.execute_reply": f"{time}.219554Z",
    }


@honest
def jupyterlab(submission: Submission) -> None:
    _kernel(submission, "Python [conda env:attention]", "conda-env-attention-py")
    _executed(submission, trusted=True, jupyter={"source_hidden": False})
    for cell in code_cells(submission):
        cell.metadata.execution = _timestamps(cell.id)
        cell.metadata.collapsed = False
    submission.cell("softmax").metadata.jupyter = {"outputs_hidden": True}
    submission.notebook.metadata.toc = {"base_numbering": 1}
    submission.own("2 + 2", above="softmax").metadata.tags = ["mine", "hide-input"]


@honest
def jupyterlab_with_new_ids(submission: Submission) -> None:
    _kernel(submission, "Python 3 (ipykernel)")
    for cell in submission.notebook.cells:
        digits = _hashed(cell.id, 32)
        parts = digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]
        cell.id = "-".join(parts)


@honest
def classic_notebook(submission: Submission) -> None:
    _kernel(submission, "Python 3")
    _executed(submission, scrolled=True, collapsed=True)
    _without_ids(submission, 4)
    submission.notebook.metadata.update(
        celltoolbar="Create Assignment", varInspector={"window_display": False}
    )


@honest
def vs_code(submission: Submission) -> None:
    _executed(submission)
    submission.notebook.metadata = {
        "kernelspec": {
            "display_name": ".venv (3.11.2)",
            "language": "python",
            "name": "python3",
        },
        "language_info": dict(IPYTHON),
    }
    own = submission.own("some notes, not code", above="softmax")
    own.id = _hashed("own", 8)
    own.metadata = {"vscode": {"languageId": "plaintext"}}
    for cell in submission.notebook.cells:
        cell.metadata.setdefault("vscode", {"languageId": "python"})


@honest
def vs_code_with_ids_of_its_own(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        cell.metadata.language = "python" if cell.cell_type == "code" else "markdown"
        cell.id = f"#VSC-{_hashed(cell.id, 8)}"


@honest
def vs_code_of_2022(submission: Submission) -> None:
    _without_ids(submission, 2)
    submission.notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3.10.6 64-bit",
            "language": "python",
            "name": "python3",
        },
        "language_info": dict(IPYTHON),
        "orig_nbformat": 4,
        "vscode": {"interpreter": {"hash": _hashed("interpreter", 64)}},
    }


def _colab(submission: Submission) -> None:
    """Save as Colab does: ids go into the metadata, 4.0, source as a list of lines."""
    for cell in code_cells(submission):
        cell.metadata.outputId = _hashed(cell.id, 8) + "-fc0b-4e9c-d8c7-49d0eea7ff51"
        cell.metadata.colab = {"base_uri": "https://localhost:8080/", "height": 34}
        cell.execution_count = 1
    for cell in submission.notebook.cells:
        cell.metadata.id = cell.id
        cell.source = cell.source.splitlines(keepends=True)
    _without_ids(submission, 0)
    submission.notebook.metadata = {
        "colab": {"provenance": [], "toc_visible": True, "gpuType": "T4"},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
        "accelerator": "GPU",
    }


@honest
def colab(submission: Submission) -> None:
    own = submission.own(
        "#@title My helper { run: 'auto' }\nn = 3 #@param", above="softmax"
    )
    own.metadata = {"cellView": "form"}
    _colab(submission)
    own.metadata.id = "LQ6Jm3w_ZqeX"


@honest
def colab_with_its_own_imports(submission: Submission) -> None:
    submission.own(
        "from google.colab import drive\ndrive.mount('/content/drive')", above="softmax"
    )
    submission.own("!nvidia-smi", above="softmax")
    _colab(submission)


@honest
def colab_without_the_metadata_of_nbgrader(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        cell.metadata = {}
    _colab(submission)


@honest
def kaggle(submission: Submission) -> None:
    _executed(submission, _kg_hide_input=False, trusted=True)
    for cell in code_cells(submission):
        cell.metadata._uuid = _hashed(cell.id, 40)
        cell.metadata.execution = _timestamps(cell.id)
    _without_ids(submission, 4)
    submission.notebook.metadata.kaggle = {"accelerator": "none", "dataSources": []}
    submission.notebook.metadata.papermill = {"exception": None, "version": "2.5.0"}


@honest
def pycharm(submission: Submission) -> None:
    _kernel(submission, "Python 3")
    info = submission.notebook.metadata.language_info
    info.update(version="2.7.6", pygments_lexer="ipython2")
    info["codemirror_mode"] = {"name": "ipython", "version": 2}
    _executed(submission, collapsed=False)
    for cell in submission.notebook.cells:
        kind = "" if cell.cell_type == "code" else " md"
        cell.metadata.pycharm = {"name": f"#%%{kind}\n", "is_executing": False}
    _without_ids(submission, 0)


@honest
def dataspell(submission: Submission) -> None:
    for cell in code_cells(submission):
        times = {"end_time": "2026-11-20T09:15:30", "start_time": "2026-11-20T09:15:29"}
        cell.metadata.ExecuteTime = times
    submission.notebook.cells[0].id = "initial_id"


@honest
def jupytext(submission: Submission) -> None:
    _kernel(submission, "Python 3 (ipykernel)")
    del submission.notebook.metadata["language_info"]
    submission.notebook.metadata.jupytext = {
        "formats": "ipynb,py:percent",
        "text_representation": {"extension": ".py", "jupytext_version": "1.19.1"},
    }
    for cell in submission.notebook.cells:
        cell.id = _hashed(cell.id, 8)
        cell.metadata.lines_to_next_cell = 2


@honest
def no_kernel_and_no_language(submission: Submission) -> None:
    submission.notebook.metadata = {}


@honest
def newer_kernel_of_another_name(submission: Submission) -> None:
    _kernel(submission, "My venv 🐍", "my-venv")
    submission.notebook.metadata.language_info["version"] = "3.14.0"
