"""The command that fills the folder: what it says, and how it ends."""

import functools

import pytest

from course_lib.corpora import __main__ as command
from course_lib.corpora import download


def test_second_call_prints_where_the_data_is(monkeypatch, capsys):
    monkeypatch.setattr(command, "prepare", lambda console, sources: 0)
    command.main([])
    assert "All data is in" in capsys.readouterr().out


def test_error_is_one_sentence_with_the_command(monkeypatch, folder):
    def offline(dataset, folder, on_progress=None):
        raise download.error_of_log(dataset, "connection refused")

    prepare = functools.partial(command.prepare, download=offline)
    monkeypatch.setattr(command, "prepare", prepare)
    with pytest.raises(SystemExit, match="package index was not reached: run `make d"):
        command.main([])


def test_ctrl_c_message_says_how_to_continue(monkeypatch):
    def interrupted(console, sources):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "prepare", interrupted)
    with pytest.raises(SystemExit, match="Interrupted: run `make data` again"):
        command.main([])


def test_unknown_argument_is_named():
    with pytest.raises(SystemExit, match=r"unknown argument '--tabel'"):
        command.main(["--tabel"])
