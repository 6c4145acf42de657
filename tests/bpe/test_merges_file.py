"""Merges as a text file: what is written is read, and what is wrong is named."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.bpe import word_counts
from course_lib.byte_bpe import pre_token_counts
from course_lib.fast_bpe import train_bpe_fast
from course_lib.merges_file import load_merges, save_merges

exact = settings(max_examples=200, derandomize=True)
MERGES = [("a", "t</w>"), ("#", "#"), ("Ġ", "ä"), ("#version:", "0.2")]


def test_merges_file_is_readable_lines(tmp_path):
    path = tmp_path / "merges.txt"
    save_merges(path, MERGES)
    wanted = "#version: 0.2\na t</w>\n# #\nĠ ä\n#version: 0.2\n"
    assert path.read_bytes() == wanted.encode()
    assert load_merges(path) == load_merges(str(path)) == MERGES
    assert path.stat().st_mode & 0o777 == 0o644
    save_merges(path, [])
    assert path.read_text() == "#version: 0.2\n" and load_merges(path) == []


@exact
@given(text=st.text())
def test_load_merges_returns_all_saved_merges(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    for words in (word_counts(text * 2), pre_token_counts(text * 2)):
        merges = train_bpe_fast(words, 50)
        save_merges(path, merges)
        assert load_merges(path) == merges


@pytest.mark.parametrize(
    "pair", [("a b", "c"), ("a", ""), ("a", "b\n"), ("a", "\u2028")]
)
def test_save_refuses_white_space_and_keeps_the_file(pair, tmp_path):
    path = tmp_path / "merges.txt"
    save_merges(path, MERGES)
    message = f"merges[1] is {pair!r}: a symbol has at least"
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        save_merges(path, [MERGES[0], pair])
    assert load_merges(path) == MERGES
    assert [each.name for each in tmp_path.iterdir()] == ["merges.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failed_write_leaves_only_the_old_file(step, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "merges.txt"
    save_merges(path, MERGES)
    monkeypatch.setattr(os if step == "fsync" else Path, step, full)
    with pytest.raises(OSError, match="No space left"):
        save_merges(path, [])
    assert load_merges(path) == MERGES
    assert [each.name for each in tmp_path.iterdir()] == ["merges.txt"]


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save_merges(tmp_path / "nowhere" / "merges.txt", MERGES)
    with pytest.raises(FileNotFoundError, match=r"none\.txt"):
        load_merges(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: '' is not '#version: 0.2', with which a merges file begins"),
        (b"a t\n", "line 1: 'a t' is not '#version: 0.2'"),
        (b"#version: 0.2\na t\na\n", "line 3: 'a' is not two symbols with a space"),
        (b"#version: 0.2\na b c\n", "line 2: 'a b c' is not two symbols"),
        (b"#version: 0.2\na  b\n", "line 2: 'a  b' is not two symbols"),
        (b"#version: 0.2\n\na b\n", "line 2: '' is not two symbols"),
        (b"#version: 0.2\na b ", "line 2: 'a b ' is not two symbols"),
    ],
)
def test_invalid_merges_file_is_named_with_its_line(content, message, tmp_path):
    path = tmp_path / "merges.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="^" + re.escape(f"{path}, {message}")):
        load_merges(path)


def test_file_not_in_utf_8_is_named_with_its_byte(tmp_path):
    path = tmp_path / "merges.txt"
    path.write_bytes(b"#version: 0.2\n\xff\xfe b\n")
    with pytest.raises(ValueError, match=r"byte 14 is not UTF-8, so this is no merges"):
        load_merges(path)


def test_load_reads_windows_and_unfinished_lines(tmp_path):
    path = tmp_path / "merges.txt"
    path.write_bytes(b"#version: 0.2\r\na t</w>\r\nb c")
    assert load_merges(path) == [("a", "t</w>"), ("b", "c")]
