"""The command that fills the folder: what it says, and how it ends."""

import functools

import pytest

from course_lib.corpora import __main__ as command
from course_lib.corpora import download as faults


def test_a_second_call_says_where_the_data_is(monkeypatch, capsys):
    monkeypatch.setattr(command, "prepare", lambda console, sources: 0)
    command.main([])
    assert "All data is in" in capsys.readouterr().out


def test_a_fault_is_one_sentence_that_names_the_command(monkeypatch, folder):
    def offline(source, folder, seen=None):
        raise faults.no_network(source.requirement)

    prepare = functools.partial(command.prepare, download=offline)
    monkeypatch.setattr(command, "prepare", prepare)
    with pytest.raises(SystemExit, match="package index was not reached: run `make d"):
        command.main([])


def test_ctrl_c_says_how_to_go_on(monkeypatch):
    def interrupted(console, sources):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "prepare", interrupted)
    with pytest.raises(SystemExit, match="Interrupted: run `make data` again"):
        command.main([])


def test_an_unknown_argument_is_named():
    with pytest.raises(SystemExit, match=r"unknown argument '--tabel'"):
        command.main(["--tabel"])
