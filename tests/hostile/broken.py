"""Files that are no notebook, or are not where or what they should be."""

import io
import json
import os
import shutil
import socket
import zipfile
import zlib
from pathlib import Path

from autograder.demo.sample_class import right_answer
from autograder.grading.reading import MAX_BYTES, MAX_CELLS
from tests.hostile import hostile
from tests.hostile.world import OTHER
from tests.submissions import COURSE, EXERCISES

FAMILY = "broken files"
LINK = "is a link, not a file"


def path_of(submission, world):
    """Return the path of the file; so far only its folder exists."""
    submission.absent = True
    world.submission.parent.mkdir(parents=True)
    return world.submission


def deep(levels):
    """Return JSON of lists in lists."""
    return b"[" * levels + b"]" * levels


@hostile(FAMILY, invalid="is empty")
def empty_file(submission, world):
    submission.raw = b""


@hostile(FAMILY, invalid="is empty")
def file_of_blanks(submission, world):
    submission.raw = b" \n\t\n" * 1000


@hostile(FAMILY, invalid="is no notebook")
def bad_json(submission, world):
    submission.raw = b'{"cells": [}'


@hostile(FAMILY, invalid="is no notebook")
def two_notebooks_in_one_file(submission, world):
    submission.raw = submission.text().encode() * 2


@hostile(FAMILY, invalid="has no cells")
def empty_object(submission, world):
    submission.raw = b"{}"


@hostile(FAMILY, invalid="is no notebook, but a list")
def list_instead_of_an_object(submission, world):
    submission.raw = json.dumps(submission.notebook["cells"]).encode()


@hostile(FAMILY, invalid="is no notebook")
def single_number(submission, world):
    submission.raw = b"60.0"


@hostile(FAMILY, invalid="ends in the middle")
def cut_in_the_middle(submission, world):
    whole = submission.text().encode()
    submission.raw = whole[: len(whole) // 2]


@hostile(FAMILY, invalid="ends in the middle")
def cut_before_the_last_brace(submission, world):
    submission.raw = submission.text().encode().rstrip()[:-1]


@hostile(FAMILY, invalid="has no cells")
def cells_are_no_list(submission, world):
    submission.raw = json.dumps({"cells": {"0": submission.notebook.cells[0]}}).encode()


@hostile(FAMILY, invalid="has no cells")
def cells_are_given_twice(submission, world):
    submission.raw = submission.text().encode().rstrip()[:-1] + b', "cells": []}'


@hostile(FAMILY, invalid="has no cells with code or text")
def cells_are_no_cells(submission, world):
    submission.raw = b'{"cells": [null, 8, "x", [], {}, {"cell_type": "quantum"}]}'


@hostile(FAMILY, invalid="not text in UTF-8")
def text_in_another_encoding(submission, world):
    submission.note("Schönes Übungsblatt")
    submission.raw = submission.text().encode("latin-1", "replace")


@hostile(FAMILY, invalid="not text in UTF-8")
def random_bytes(submission, world):
    submission.raw = zlib.compress(b"nothing", 9) * 1000


@hostile(FAMILY)
def utf_8_byte_order_mark(submission, world):
    submission.raw = submission.text().encode("utf-8-sig")


@hostile(FAMILY)
def utf_16_with_byte_order_mark(submission, world):
    submission.raw = submission.text().encode("utf-16")


@hostile(FAMILY)
def lone_surrogates_in_texts(submission, world):
    submission.note("\ud83d alone, and \udc00")
    submission.raw = json.dumps(submission.notebook).encode()


@hostile(FAMILY)
def nan_and_numbers_of_too_many_digits(submission, world):
    head = b'{"a": NaN, "b": -Infinity, "c": 1e999, "d": ' + b"9" * 100_000 + b","
    submission.raw = head + submission.text().encode().lstrip()[1:]


@hostile(FAMILY, invalid="nested too deep")
def deeply_nested_json(submission, world):
    submission.raw = b'{"cells": ' + deep(500_000) + b"}"


@hostile(FAMILY, invalid="nested too deep")
def deeply_nested_metadata(submission, world):
    head = b'{"metadata": ' + deep(100_000) + b","
    submission.raw = head + submission.text().encode().lstrip()[1:]


@hostile(FAMILY, invalid="more than 3,000,000 values")
def ten_million_values(submission, world):
    submission.raw = b'{"cells": [' + b"0," * 10_000_000 + b"0]}"


@hostile(FAMILY, invalid="cells, more than the")
def one_cell_too_many(submission, world):
    submission.notebook.cells += [{}] * MAX_CELLS


@hostile(FAMILY, invalid="MiB of code in one cell")
def cell_of_two_megabytes_of_code(submission, world):
    submission.own("x = 123\n" * (2 << 20 >> 3))


@hostile(FAMILY, invalid="MiB of code in all")
def five_cells_of_a_megabyte_of_code_each(submission, world):
    for _ in range(5):
        submission.own("#" * ((1 << 20) - 1))


@hostile(FAMILY, invalid="more than the")
def one_byte_too_many(submission, world):
    path = path_of(submission, world)
    path.write_bytes(b"{")
    os.truncate(path, MAX_BYTES + 1)


@hostile(FAMILY, invalid="more than the")
def two_hundred_megabytes(submission, world):
    path = path_of(submission, world)
    path.write_bytes(submission.text().encode())
    os.truncate(path, 200 << 20)


@hostile(FAMILY, invalid="is a web page")
def web_page(submission, world):
    submission.raw = b"<!DOCTYPE html>\n<title>Log in to the university</title>"


@hostile(FAMILY, invalid="is a PDF file")
def pdf_file(submission, world):
    submission.raw = b"%PDF-1.7\n" + bytes(1000)


@hostile(FAMILY, invalid="is no notebook")
def python_script(submission, world):
    submission.raw = "\n".join(right_answer(name) for name in EXERCISES).encode()


@hostile(FAMILY, invalid="two versions of itself")
def unresolved_merge_conflict(submission, world):
    lines = submission.text().splitlines(keepends=True)
    lines[30:30] = ["<<<<<<< HEAD\n", "=======\n", ">>>>>>> mine\n"]
    submission.raw = "".join(lines).encode()


def archive(entries):
    """Return a zip archive of names and contents."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archived:
        for name, content in entries.items():
            archived.writestr(name, content)
    return file.getvalue()


@hostile(FAMILY, invalid="is a zip archive")
def zip_archive_with_paths_outside_its_folder(submission, world):
    steps = "../" * 12
    target = f"{steps}{world.folder}/gradebook.db".replace("//", "/")
    submission.raw = archive({target: "999", f"{steps}tmp/climbed": "999"})


@hostile(FAMILY, invalid="is a zip archive")
def zip_bomb_of_a_hundred_megabytes(submission, world):
    submission.raw = archive({world.submission.name: bytes(100 << 20)})


@hostile(FAMILY, invalid="is a gzip archive")
def gzip_bomb_of_a_hundred_megabytes(submission, world):
    packer = zlib.compressobj(wbits=31)
    submission.raw = packer.compress(bytes(100 << 20)) + packer.flush()


@hostile(FAMILY, invalid="only homework.ipynb")
def notebook_has_another_name(submission, world):
    path = path_of(submission, world)
    path.with_name("homework.ipynb").write_text(submission.text())


@hostile(FAMILY, invalid="only 01_Dot_Product_Attention.ipynb")
def notebook_has_another_case(submission, world):
    path = path_of(submission, world)
    path.with_name(f"{path.stem.title()}.ipynb").write_text(submission.text())


@hostile(FAMILY, invalid="There is no")
def ending_of_the_name_has_another_case(submission, world):
    path_of(submission, world).with_suffix(".IPYNB").write_text(submission.text())


@hostile(FAMILY, invalid="There is no")
def names_of_other_notebooks_are_odd(submission, world):
    path = path_of(submission, world)
    for name in ("\x1b[2J\n8.ipynb", "<b>.ipynb", "x" * 249 + ".ipynb", "-rf.ipynb"):
        path.with_name(name).write_text(submission.text())


@hostile(FAMILY, invalid="There is no")
def folder_without_the_notebook(submission, world):
    path_of(submission, world)


@hostile(FAMILY, invalid="is not in the submission")
def nothing_handed_in(submission, world):
    submission.absent = True


@hostile(FAMILY, invalid="is a folder, not a file")
def folder_instead_of_the_notebook(submission, world):
    path_of(submission, world).mkdir()
    (world.submission / world.submission.name).write_text(submission.text())


@hostile(FAMILY, invalid=LINK)
def link_to_the_solution(submission, world):
    solution = COURSE.teacher(world.submission.stem)
    path_of(submission, world).symlink_to(solution)


@hostile(FAMILY, invalid=LINK)
def link_to_another_submission(submission, world):
    parts = world.submission.relative_to(world.folder / "submitted").parts
    others = world.folder.joinpath("submitted", OTHER, *parts[1:])
    path_of(submission, world).symlink_to(
        os.path.relpath(others, world.submission.parent)
    )


@hostile(FAMILY, invalid=LINK)
def link_to_the_seed(submission, world):
    path_of(submission, world).symlink_to(world.folder / "gradebook.seed")


@hostile(FAMILY, invalid=LINK)
def link_to_the_root(submission, world):
    path_of(submission, world).symlink_to("/")


@hostile(FAMILY, invalid=LINK)
def link_to_itself(submission, world):
    path_of(submission, world).symlink_to(world.submission)


@hostile(FAMILY, invalid=LINK)
def link_to_dev_zero(submission, world):
    path_of(submission, world).symlink_to("/dev/zero")


@hostile(FAMILY, invalid="is a link: hand in the notebook in an ordinary folder")
def folder_is_a_link_to_another_submission(submission, world):
    submission.absent = True
    lesson = world.submission.parent
    lesson.parent.mkdir(parents=True)
    lesson.symlink_to(world.folder / "submitted" / OTHER / lesson.name)


@hostile(FAMILY, invalid="hand in the notebook in an ordinary folder")
def folder_is_a_file(submission, world):
    submission.absent = True
    lesson = world.submission.parent
    lesson.parent.mkdir(parents=True)
    lesson.write_text(submission.text())


@hostile(FAMILY, invalid="is no notebook")
def hard_link_to_the_seed(submission, world):
    # What it holds is not told, though it is an ordinary file.
    path_of(submission, world).hardlink_to(world.folder / "gradebook.seed")


@hostile(FAMILY, invalid="is a pipe, not a file")
def pipe_that_nobody_writes_to(submission, world):
    os.mkfifo(path_of(submission, world))


@hostile(FAMILY, invalid="is a socket, not a file")
def socket_that_nobody_answers(submission, world):
    path = path_of(submission, world)
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's path has at most a hundred characters
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(before)


@hostile(FAMILY, lost={name: "missing" for name in EXERCISES})
def notebook_of_another_lesson(submission, world):
    submission.raw = COURSE.learner("00_start_here").read_bytes()


MODULES = ("softmax", "numpy", "autograder", "json", "sitecustomize", "conftest")


@hostile(FAMILY)
def importable_files_next_to_the_notebook(submission, world):
    folder = world.submission.parent
    folder.mkdir(parents=True)
    for name in MODULES:
        (folder / f"{name}.py").write_text("raise SystemExit(8)")
    (folder / "nbgrader_config.py").write_text("raise SystemExit(8)")
    copies = folder / ".ipynb_checkpoints"
    shutil.copytree(COURSE.learner(folder.name).parent, copies)
