"""Reading a submitted file: cells come out, or one sentence why not."""

import gzip
import io
import json
import os
import socket
import zipfile
from pathlib import Path

import pytest

from autograder.grading import reading
from autograder.grading.reading import (
    SubmittedCell,
    Unreadable,
    json_to_look_at,
    read_submission,
)

NAME = "lesson.ipynb"


def code(source: object, **more: object) -> dict:
    """Return a code cell as it stands in a file."""
    return {"cell_type": "code", "metadata": {}, "source": source} | more


def as_bytes(*cells: object, **more: object) -> bytes:
    """Return a notebook's file."""
    return json.dumps({"cells": list(cells), "nbformat": 4} | more).encode()


def read(folder: Path, raw: bytes) -> tuple[SubmittedCell, ...]:
    """Write a file and read it."""
    path = folder / NAME
    path.write_bytes(raw)
    return read_submission(path)


def refused(folder: Path, raw: bytes) -> str:
    """Return the sentence with which a file is refused; it must be one."""
    with pytest.raises(Unreadable) as error:
        read(folder, raw)
    return sentence(error)


def sentence(error: pytest.ExceptionInfo[Unreadable]) -> str:
    text = str(error.value)
    assert "\n" not in text and text.endswith(".") and len(text) < 300
    return text


def test_only_kind_source_and_marks_are_read(tmp_path: Path) -> None:
    metadata = {"nbgrader": {"grade_id": "f", "points": 99}, "tags": ["skip"]}
    (cell,) = read(tmp_path, as_bytes(code(["a\n", "b"], id="x", metadata=metadata)))
    assert cell == SubmittedCell("code", "a\nb", "x", "f")


@pytest.mark.parametrize(
    ("raw", "piece"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"{}", "has no cells"),
        (b"[]", "but a list"),
        (b"NaN", "but a single value"),
        (b"print(1)", "begins with a brace"),
        (b'{"cells": 3}', "has no cells"),
        (b'{"cells": []}', "has no cells"),
        (b'{"cells": [3, null, {}]}', "no cells with code or text"),
        (b'{"cells": [{"cell_type": "art"}]}', "no cells with code or text"),
        (as_bytes(code("x"))[:-9], "ends in the middle"),
        (b'{"cells": [,]}', "in line 1"),
        (b'{\n<<<<<<< HEAD\n"cells": 1}', "merge conflict"),
        (b'{"cells": "\xff"}', "not text in UTF-8"),
        (b"<!DOCTYPE html><p>sign in", "is a web page"),
        (b"%PDF-1.7", "a PDF file"),
        (gzip.compress(as_bytes(code("x")), mtime=0), "a gzip archive"),
        (b'{"cells": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deep"),
    ],
)
def test_what_is_no_notebook_is_named(tmp_path: Path, raw: bytes, piece: str) -> None:
    assert piece in refused(tmp_path, raw)


def test_zip_archive_is_named_and_not_unpacked(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../outside.ipynb", as_bytes(code("x")))
    assert "a zip archive" in refused(tmp_path, packed.getvalue())
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_any_unicode_with_its_byte_order_mark_is_read(
    tmp_path: Path, encoding: str
) -> None:
    text = json.dumps({"cells": [code("größe 🙂")]}, ensure_ascii=False)
    assert read(tmp_path, text.encode(encoding))[0].source == "größe 🙂"


@pytest.mark.parametrize(
    ("written", "source"),
    [
        ('"a\\ud800b"', "a\ufffdb"),
        ('["\\ud83d", "\\ude42"]', "🙂"),
        ('"a\\u0000b"', "a\ufffdb"),
        ('"a\\r\\nb\\rc"', "a\nb\nc"),
        ('["a", 3, null, "b"]', "ab"),
        ("7", ""),
        ("null", ""),
        ('{"text": "a"}', ""),
    ],
)
def test_every_source_becomes_text_that_can_be_sent(
    tmp_path: Path, written: str, source: str
) -> None:
    raw = b'{"cells": [{"cell_type": "code", "source": %s}]}' % written.encode()
    (cell,) = read(tmp_path, raw)
    assert cell.source == source
    cell.source.encode()


def test_odd_numbers_harm_nothing(tmp_path: Path) -> None:
    raw = b'{"nbformat": %s, "x": NaN, "y": -1e999, "cells": [%s]}'
    cells = read(tmp_path, raw % (b"9" * 5000, json.dumps(code("x")).encode()))
    assert [cell.source for cell in cells] == ["x"]


@pytest.mark.parametrize("value", [None, 3, "text", [], [{}], {"nbgrader": 3}, True])
def test_metadata_of_a_wrong_type_counts_as_none(tmp_path: Path, value: object) -> None:
    cell = code("x", metadata=value, id=["not", "text"])
    assert read(tmp_path, as_bytes(cell)) == (SubmittedCell("code", "x"),)


def test_marks_of_a_wrong_type_or_length_count_as_none(tmp_path: Path) -> None:
    metadata = {"nbgrader": {"grade_id": {"a": 1}}, "id": 7}
    cell = code("x", metadata=metadata, id="i" * 10_000)
    assert read(tmp_path, as_bytes(cell)) == (SubmittedCell("code", "x"),)


def test_id_in_colabs_metadata_is_read(tmp_path: Path) -> None:
    (cell,) = read(tmp_path, as_bytes(code("x", metadata={"id": "softmax"})))
    assert cell.id == "softmax"


def test_cells_of_unknown_kinds_are_skipped(
    tmp_path: Path,
) -> None:
    strange = [{"cell_type": "art", "source": "x"}, {"source": "y"}, 3, None, []]
    strange.append({"cell_type": ["code"], "source": "z"})
    cells = read(tmp_path, as_bytes(*strange, code("kept")))
    assert [cell.source for cell in cells] == ["kept"]


def test_format_3_is_read(tmp_path: Path) -> None:
    old = [
        {"cell_type": "heading", "level": 1, "source": ["Title"]},
        {"cell_type": "code", "input": ["x = 1\n", "y"], "prompt_number": 3},
    ]
    raw = json.dumps({"nbformat": 3, "worksheets": [{"cells": old[:1]}, 3]}).encode()
    assert read(tmp_path, raw) == (SubmittedCell("markdown", "Title"),)
    raw = json.dumps({"nbformat": 3, "worksheets": [{"cells": old}]}).encode()
    assert read(tmp_path, raw)[1] == SubmittedCell("code", "x = 1\ny")


@pytest.mark.parametrize("version", [None, 2, 5, "four", [4]])
def test_any_version_with_cells_is_read(tmp_path: Path, version: object) -> None:
    assert read(tmp_path, as_bytes(code("x"), nbformat=version))


def test_file_above_the_limit_is_refused_without_reading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / NAME
    with path.open("wb") as file:
        file.truncate(200 << 20)
    opened = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda *arguments: _Unread(opened(*arguments)))
    with pytest.raises(Unreadable) as error:
        read_submission(path)
    assert "200.0 MiB, more than the 32 MiB" in sentence(error)


class _Unread:
    """An open file that breaks the test when it is read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self.file = file

    def __enter__(self) -> "_Unread":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def read(self, size: int) -> bytes:
        raise AssertionError("it was read")


@pytest.mark.parametrize(
    ("limit", "value", "cells", "piece"),
    [
        ("MAX_CELLS", 3, ["a", "b", "c", "d"], "4 cells, more than the 3"),
        (
            "MAX_CELL_CODE_BYTES",
            2 << 20,
            ["é" * (1 << 20) + "e"],
            "2.0 MiB of code in one",
        ),
        ("MAX_CODE_BYTES", 2 << 20, ["e" * (1 << 20)] * 3, "3.0 MiB of code in all"),
    ],
)
def test_too_much_is_refused_with_the_limit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
    cells: list[str],
    piece: str,
) -> None:
    monkeypatch.setattr(reading, limit, value)
    assert piece in refused(tmp_path, as_bytes(*map(code, cells)))


def test_too_many_values_are_refused_before_parsing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_VALUES", 1000)
    raw = as_bytes(code("x"), filler=[[] for _ in range(600)])
    assert "more than 1,000 values" in refused(tmp_path, raw)


def test_picture_in_a_text_cell_is_cut_and_costs_nothing(tmp_path: Path) -> None:
    note = {"cell_type": "markdown", "source": "p" * 5_000_000}
    cells = read(tmp_path, as_bytes(note, code("x")))
    assert len(cells[0].source) < 200_000 and cells[1].source == "x"


def test_missing_and_renamed_files_have_their_own_reasons(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="There is no submission"):
        read_submission(tmp_path / "nobody" / NAME)
    with pytest.raises(Unreadable) as error:
        read_submission(tmp_path / NAME)
    assert sentence(error) == "There is no lesson.ipynb in the submission."
    (tmp_path / "Lesson\n(1).ipynb").touch()
    with pytest.raises(Unreadable) as error:
        read_submission(tmp_path / NAME)
    assert "only Lesson⟨U+000A⟩(1).ipynb: give" in sentence(error)


def test_what_is_no_file_is_named_and_never_waited_for(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.mkdir()
    with pytest.raises(Unreadable, match="is a folder"):
        read_submission(path)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(Unreadable, match="is a pipe"):
        read_submission(path)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        with pytest.raises(Unreadable, match="is a socket"):
            read_submission(path)
    path.unlink()


@pytest.mark.parametrize("target", ["solution.ipynb", "nowhere", "/", NAME])
def test_link_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "solution.ipynb").write_bytes(as_bytes(code("x")))
    (tmp_path / NAME).symlink_to(target)
    with pytest.raises(Unreadable, match="is a link"):
        read_submission(tmp_path / NAME)


def test_linked_folder_of_the_submission_is_not_followed(
    tmp_path: Path,
) -> None:
    solutions = tmp_path / "solutions" / "lesson"
    solutions.mkdir(parents=True)
    (solutions / NAME).write_bytes(as_bytes(code("x")))
    student = tmp_path / "submitted" / "mallory"
    student.mkdir(parents=True)
    (student / "lesson").symlink_to(solutions)
    with pytest.raises(Unreadable, match="The folder lesson is a link"):
        read_submission(student / "lesson" / NAME)


def test_linked_student_is_not_followed_below_the_class(
    tmp_path: Path,
) -> None:
    read_in = tmp_path / "alice" / "lesson"
    read_in.mkdir(parents=True)
    (read_in / NAME).write_bytes(as_bytes(code("x")))
    (tmp_path / "mallory").symlink_to("alice")
    path = tmp_path / "mallory" / "lesson" / NAME
    with pytest.raises(Unreadable, match="The folder mallory is a link"):
        read_submission(path, trusted_root=tmp_path)


def test_course_folder_behind_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / NAME).write_bytes(as_bytes(code("x")))
    (tmp_path / "here").symlink_to("there")
    assert read_submission(tmp_path / "here" / NAME)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(as_bytes(code("x")))
    path.chmod(0)
    with pytest.raises(Unreadable, match="may not be read"):
        read_submission(path)


def test_json_to_look_at_escapes_what_no_eye_sees():
    value = {"name": "Zoë √ \u202e\x9b\u200b 🎓", "tag": "\U000e0041"}
    text = json_to_look_at(value, indent=1)
    assert text.replace("\n", "").isprintable()
    assert "Zoë √" in text and "🎓" in text
    assert json.loads(text) == value
    assert json.loads(json_to_look_at("half \ud83d")) == "half ?"
