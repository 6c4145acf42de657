"""The page's wheel: small, whole, and enough for the same verdicts with NumPy alone."""

import base64
import csv
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from autograder.book.wheel import (
    DATA,
    ENTRY,
    MAX_BYTES,
    exercises_that_run,
    files_of_wheel,
    runs,
    wheel,
    wheel_name,
)
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory
from tests.site import bare

RUNNING = exercises_that_run()
FIRST_LESSONS = [name for name in RUNNING if load(name).lesson < "07"]
# With PyTorch, or regex, which a page does not have.
NOT_OF_FIRST_LESSONS = {"load_torch_parameters", "encode_bytes", "decode_bytes"}
QUICK_COUNT = 2  # misconceptions of each exercise that `make test` compares


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """Return a folder with what the wheel has."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(io.BytesIO(wheel())) as archive:
        archive.extractall(folder)
    return folder


def in_a_bare_process(folder: Path, count, names):
    """Run the verdicts on some exercises where there is the wheel and NumPy."""
    packages = Path(np.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-I", "-S", bare.__file__, folder, packages, count, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def quick(unpacked):
    """Return verdicts on right versions and some misconceptions, from one process."""
    return in_a_bare_process(unpacked, str(QUICK_COUNT), FIRST_LESSONS)


def as_json(value):
    """Return data as it is after a way through JSON."""
    return json.loads(json.dumps(value))


def test_all_but_three_of_the_first_exercises_run():
    assert len(FIRST_LESSONS) == 36
    assert not NOT_OF_FIRST_LESSONS & set(RUNNING)
    assert {"online_softmax", "flops", "test_attention", "bleu"} < set(RUNNING)
    assert not runs("autograder.exercises.adam_step")


def test_wheel_is_small_and_the_same_each_time():
    data = wheel()
    assert len(data) <= MAX_BYTES and data == wheel()
    assert wheel_name().endswith("-py3-none-any.whl")


def test_record_has_each_file_with_its_digest():
    with zipfile.ZipFile(io.BytesIO(wheel())) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith("/RECORD")]
        rows = [*csv.reader(archive.read(record).decode().splitlines())]
        assert [name for name, _, _ in rows] == names
        for name, digest, size in rows:
            if name != record:
                data = archive.read(name)
                own = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
                assert digest == f"sha256={own.rstrip('=')}" and int(size) == len(data)
    assert {*files_of_wheel()} < {*names}


def test_wheel_has_what_is_imported_and_nothing_else(quick, unpacked):
    imported = {Path(file).relative_to(unpacked).as_posix() for file in quick["files"]}
    assert imported == {*files_of_wheel()} - {*DATA}
    assert ENTRY.replace(".", "/") + ".py" in imported


def test_page_needs_no_package_but_numpy(quick):
    ours = {"autograder", "course_lib", "numpy"}
    absent = {"torch", "rich", "regex", "tokenizers", "IPython", *bare.ABSENT}
    assert not absent & {*quick["modules"]}
    others = {*quick["modules"]} - ours - {*sys.stdlib_module_names}
    # NumPy's compiled parts bring some of their own.
    assert {name for name in others if "cython" not in name.lower()} == {"__main__"}


def test_exercise_that_is_not_there_is_a_sentence(quick):
    assert quick["missing"]["kind"] == "error"
    assert "cannot be checked here" in quick["missing"]["text"]


@pytest.mark.parametrize("name", FIRST_LESSONS)
def test_verdicts_are_those_of_the_whole_package(quick, name):
    whole = bare.verdicts(name, local_runner_factory, QUICK_COUNT)
    assert quick["judged"][name] == as_json(whole)
    assert whole["reference"]["solved"]
    assert any(verdict["diagnosis"] for verdict in whole.values())


@pytest.mark.thorough
@pytest.mark.parametrize("name", RUNNING)
def test_all_verdicts_are_those_of_the_whole_package(unpacked, name):
    alone = in_a_bare_process(unpacked, "all", [name])["judged"][name]
    assert alone == as_json(bare.verdicts(name, local_runner_factory))
