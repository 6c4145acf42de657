"""The file itself: version of the format, form of the JSON, encoding, what fills it."""

import base64
import json
import warnings
from collections.abc import Callable

import nbformat
from nbformat.v4 import nbformat as newest

from tests.honest import honest
from tests.honest.writing import code_cells
from tests.submissions import Submission


def _version_4(minor: int) -> None:
    def build(submission: Submission) -> None:
        submission.notebook.nbformat_minor = minor
        if minor < 5:
            for cell in submission.notebook.cells:
                del cell["id"]

    build.__name__ = f"version_{newest}_{minor}"
    honest(build)


for each in range(5):  # 4.5 is what the lesson itself has
    _version_4(each)


@honest
def version_3(submission: Submission) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the format is old: nbformat says so
        old = nbformat.convert(submission.notebook, 3)
    submission.raw = json.dumps(old).encode()


@honest
def version_4_4_with_ids(submission: Submission) -> None:
    submission.notebook.nbformat_minor = 4


@honest
def version_of_the_future(submission: Submission) -> None:
    submission.notebook.nbformat_minor = 6
    submission.notebook.future = {"of": ["the", "format"]}


def _encoded(name: str, encode: Callable[[Submission], bytes]) -> None:
    def build(submission: Submission) -> None:
        submission.raw = encode(submission)

    build.__name__ = name
    honest(build)


def _json(submission: Submission, **form: object) -> bytes:
    return json.dumps(submission.notebook, **form).encode()


_encoded("byte_order_mark", lambda s: b"\xef\xbb\xbf" + s.text().encode())
_encoded("windows_lines_in_the_file", lambda s: s.text().replace("\n", "\r\n").encode())
_encoded("json_in_ascii", lambda s: _json(s, ensure_ascii=True))
_encoded("json_in_one_line", lambda s: _json(s, separators=(",", ":")))
_encoded(
    "json_sorted_and_indented_by_tabs", lambda s: _json(s, indent="\t", sort_keys=True)
)
_encoded("json_without_a_last_line_end", lambda s: s.text().rstrip().encode())
_encoded(
    "blank_lines_around_the_json", lambda s: b"\n \n" + s.text().encode() + b"\n\n"
)


@honest
def source_as_a_list_of_lines(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        cell.source = cell.source.splitlines(keepends=True)


@honest
def source_as_a_list_of_one_text(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        cell.source = [cell.source]


@honest
def source_cut_anywhere(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        text = cell.source
        cell.source = [text[i : i + 9] for i in range(0, len(text), 9)] + [""]


@honest
def outputs_of_every_kind(submission: Submission) -> None:
    data = {
        "text/plain": ["1"],
        "text/html": "<b>1</b>",
        "application/json": {"a": [1]},
    }
    outputs = [
        {"output_type": "stream", "name": "stderr", "text": ["Warning: old\n"]},
        {"output_type": "display_data", "data": data, "metadata": {"isolated": True}},
        {
            "output_type": "execute_result",
            "execution_count": 7,
            "data": data,
            "metadata": {},
        },
        {
            "output_type": "error",
            "ename": "NotImplementedError",
            "evalue": "",
            "traceback": ["\x1b[31mNotImplementedError\x1b[0m"],
        },
    ]
    for cell in code_cells(submission):
        cell.execution_count = 7
        cell.outputs = outputs


@honest
def five_megabytes_of_pictures(submission: Submission) -> None:
    png = base64.b64encode(bytes(range(256)) * 1500).decode()
    picture = {
        "output_type": "display_data",
        "data": {"image/png": png},
        "metadata": {},
    }
    for cell in list(code_cells(submission))[:10]:
        cell.outputs = [picture]


@honest
def picture_in_a_note(submission: Submission) -> None:
    note = submission.note("![mine](attachment:mine.png)", below="attention-1")
    note.attachments = {"mine.png": {"image/png": "iVBORw0KGgo="}}


@honest
def raw_cell(submission: Submission) -> None:
    raw = nbformat.v4.new_raw_cell("def softmax(x): ...", id="raw-1")
    submission.notebook.cells.insert(submission.index("softmax"), raw)


@honest
def widget_state(submission: Submission) -> None:
    state = {_id: {"model_name": "SliderModel", "state": {}} for _id in "abc"}
    submission.notebook.metadata.widgets = {
        "application/vnd.jupyter.widget-state+json": {
            "state": state,
            "version_major": 2,
            "version_minor": 0,
        }
    }
