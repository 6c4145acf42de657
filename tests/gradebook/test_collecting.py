"""Submissions from archives of Canvas and Moodle, put where nbgrader collects them."""

import os
import subprocess
import sys
import zipfile
from datetime import UTC, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.commands import collect as command
from autograder.course import Course, CourseError
from autograder.gradebook import archives as archives_module
from autograder.gradebook import collecting
from autograder.gradebook.archives import archived_file
from tests.gradebook.archives import (
    CLASS,
    PACKED,
    Unsaid,
    canvas_name,
    moments,
    moodle_flat,
    moodle_folder,
    write_zip,
)
from tests.quick import all_but
from tests.submissions import LESSON, open_course

AMIRA, ALI = (each for each in CLASS if each.first in ("Amira", "Ali"))
ANNA, BJORN = CLASS[:2]
OTHER = "02_self_attention"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    root = open_course(tmp_path_factory.mktemp("opened") / "course")
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        for each in CLASS:
            book.add_student(each.login, first_name=each.first, last_name=each.last)
    return (root / "gradebook.db").read_bytes()


@pytest.fixture
def root(tmp_path, opened):
    """Return a course folder with the class in its gradebook, without numbers."""
    course = tmp_path / "course"
    for lesson in (LESSON, OTHER):
        notebook = course / "notebooks" / lesson / f"{lesson}.ipynb"
        notebook.parent.mkdir(parents=True)
        notebook.write_bytes(Course.here().learner(lesson).read_bytes())
    config = Course.here().root / "nbgrader_config.py"
    (course / "nbgrader_config.py").write_bytes(config.read_bytes())
    (course / "gradebook.db").write_bytes(opened)
    return course


@pytest.fixture
def numbered(root):
    """Return the same with Canvas's numbers."""
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        for each in CLASS:
            book.update_or_create_student(each.login, lms_user_id=str(each.number))
    return root


def collect(root, *archives, lesson="", zone="", times="auto", force=False):
    return command.collect(Course(root), archives, lesson, zone, times, force)


def submitted(root):
    """Return all files below ``submitted``, by their paths."""
    folder = root / "submitted"
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def path_of(learner, name=f"{LESSON}.ipynb"):
    return f"{learner.login}/{LESSON}/{name}"


def expected(rows):
    """Return the files that (learner, bytes, time) rows must become."""
    files = {}
    for learner, raw, moment in rows:
        files[path_of(learner)] = raw
        text = f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC\n"
        files[path_of(learner, "timestamp.txt")] = text.encode()
    return dict(sorted(files.items()))


def a_class(name_of, learners=CLASS, **more):
    """Return the rows of an archive, and those that must come of it."""
    rows = [
        (learner, f"notebook of {learner.login}".encode(), moment)
        for learner, moment in zip(learners, moments(len(learners)), strict=True)
    ]
    files = [
        (name_of(learner, 500 + i, **more), raw, moment)
        for i, (learner, raw, moment) in enumerate(rows)
    ]
    return files, rows


def test_class_has_odd_names():
    assert len(CLASS) >= 30
    assert len({each.in_canvas for each in CLASS}) == len(CLASS)


@pytest.mark.parametrize("name_of", [canvas_name, moodle_folder, moodle_flat])
def test_class_is_collected_by_name(root, tmp_path, capsys, name_of):
    files, rows = a_class(name_of)
    archive = write_zip(tmp_path / "class.zip", files)
    assert collect(root, archive) == 1
    printed = capsys.readouterr()
    # "Ben Ali, Amira" and "Amira Ben, Ali" are told apart by spaces and commas alone
    ambiguous = ALI if name_of is canvas_name else AMIRA
    certain = [row for row in rows if row[0] != ambiguous]
    assert submitted(root) == expected(certain)
    assert "may be s27 or s28" in printed.err
    assert "Times are the archive's, which has them in UTC." in printed.out
    assert len(printed.err.splitlines()) == 1


def test_class_is_collected_by_canvas_number(numbered, tmp_path, capsys):
    files, rows = a_class(canvas_name)
    assert collect(numbered, write_zip(tmp_path / "class.zip", files)) == 0
    assert submitted(numbered) == expected(rows)
    assert capsys.readouterr().err == ""
    assert collect(numbered, tmp_path / "class.zip") == 0
    out = capsys.readouterr().out
    assert f"{len(CLASS)} submissions: {len(CLASS)} as before." in out


def test_class_of_300_is_collected(root, tmp_path):
    learners = [
        CLASS[0]._replace(login=f"n{i:03}", number=9000 + i) for i in range(300)
    ]
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        for each in learners:
            book.add_student(each.login, lms_user_id=str(each.number))
    files, rows = a_class(canvas_name, learners)
    assert collect(root, write_zip(tmp_path / "class.zip", files)) == 0
    assert submitted(root) == expected(rows)


@pytest.mark.parametrize("name_of", [canvas_name, moodle_folder])
def test_names_that_do_not_say_they_are_utf_8(root, tmp_path, name_of):
    learners = [each for each in CLASS if each not in (AMIRA, ALI)]
    files, rows = a_class(name_of, learners)
    archive = write_zip(tmp_path / "class.zip", files, kind=Unsaid)
    with zipfile.ZipFile(archive) as opened:
        assert opened.namelist() != [name for name, *_ in files]
    assert collect(root, archive) == 0
    assert submitted(root) == expected(rows)


def test_times_without_a_zone_are_read_in_the_zone_that_is_named(
    root, tmp_path, capsys
):
    local = moments(2, hours=24)
    rows = [(ANNA, b"a", local[0]), (BJORN, b"b", local[1])]
    files = [(moodle_folder(who, 7), raw, when) for who, raw, when in rows]
    archive = write_zip(tmp_path / "class.zip", files, utc=False)
    assert collect(root, archive, zone="Asia/Tokyo") == 0
    tokyo = [
        (who, raw, when.replace(tzinfo=ZoneInfo("Asia/Tokyo")))
        for who, raw, when in rows
    ]
    assert submitted(root) == expected(tokyo)
    assert "read in Asia/Tokyo, written in UTC" in capsys.readouterr().out
    with pytest.raises(CourseError, match="no time zone 'Berlin'"):
        collect(root, archive, zone="Berlin")


def test_time_of_packing_is_no_time_of_handing_in(root, tmp_path, capsys):
    late, punctual = canvas_name(ANNA, 5, late=True), canvas_name(BJORN, 6)
    rows = [(late, b"a", PACKED), (punctual, b"b", PACKED + timedelta(seconds=4))]
    archive = write_zip(tmp_path / "class.zip", rows)
    assert collect(root, archive) == 0
    assert submitted(root) == {path_of(ANNA): b"a", path_of(BJORN): b"b"}
    printed = capsys.readouterr()
    assert "No timestamp.txt is written" in printed.out
    assert "by how much the archive does not say: s00; " in printed.err
    assert collect(root, archive, times="archive") == 0
    assert submitted(root)[path_of(ANNA, "timestamp.txt")].startswith(b"2026-03-09 08:")


# --- which of several -------------------------------------------------------------


def test_newest_of_several_is_taken_and_said(root, tmp_path, capsys):
    first, second, third = moments(3)
    rows = [
        (canvas_name(ANNA, 9, f"{LESSON}-2.ipynb", late=True), b"newest", second),
        (canvas_name(ANNA, 8, f"{LESSON}-1.ipynb", late=True), b"older", second),
        (canvas_name(ANNA, 7, late=True), b"oldest", first),
        (canvas_name(ANNA, 10, "scratch.ipynb", late=True), b"scratch", third),
        (canvas_name(ANNA, 11, "picture.png", late=True), b"png", third),
    ]
    assert collect(root, write_zip(tmp_path / "a.zip", rows)) == 0
    assert submitted(root)[path_of(ANNA)] == b"newest"
    assert (
        f"new: marked late; the newest is taken, {LESSON}-2.ipynb, and not "
        f"{LESSON}-1.ipynb, {LESSON}.ipynb" in capsys.readouterr().out
    )


def test_newest_of_two_archives_is_taken(root, tmp_path, capsys):
    paths = [tmp_path / "a.zip", tmp_path / "b.zip", tmp_path / "other_lesson.zip"]
    write_zip(paths[0], [(moodle_folder(ANNA, 1), b"new", PACKED)])
    write_zip(paths[1], [(moodle_folder(ANNA, 1), b"old", PACKED.replace(day=2))])
    other = moodle_folder(ANNA, 7, f"{OTHER}.ipynb")
    write_zip(paths[2], [(other, b"other", PACKED)])
    assert collect(root, *paths) == 0
    assert submitted(root) == {
        path_of(ANNA): b"new",
        f"{ANNA.login}/{OTHER}/{OTHER}.ipynb": b"other",
    }


@pytest.mark.parametrize(
    "name", [f"{LESSON} (1).ipynb", f"{LESSON}_copy.ipynb", f"{LESSON}-Copy1.IPYNB"]
)
def test_copies_names_say_the_lesson(name):
    file = archived_file(canvas_name(ANNA, 3, name), bytes)
    assert collecting.version(file, LESSON)
    assert not collecting.version(file, OTHER)


def test_notebook_of_another_name_is_taken_and_said(root, tmp_path, capsys):
    rows = [
        (moodle_folder(ANNA, 1), b"a", PACKED),
        (moodle_folder(BJORN, 2, "homework/Meine Lösung.ipynb"), b"b", PACKED),
    ]
    assert collect(root, write_zip(tmp_path / "a.zip", rows)) == 0
    assert submitted(root)[path_of(BJORN)] == b"b"
    assert "new: called Meine Lösung.ipynb" in capsys.readouterr().out
    only = write_zip(tmp_path / "b.zip", rows[1:])
    with pytest.raises(CourseError, match="name it with --lesson"):
        collect(root, only)
    assert collect(root, only, lesson="01") == 0


def test_what_is_no_notebook_of_the_lesson_is_named(root, tmp_path, capsys):
    rows = [
        (canvas_name(CLASS[0], 1), b"a", PACKED),
        (canvas_name(CLASS[1], 2, f"{OTHER}.ipynb"), b"b", PACKED),
        (canvas_name(CLASS[2], 3, "work.zip"), b"c", PACKED),
        (f"{CLASS[3].in_canvas}_{CLASS[3].number}_text.html", b"d", PACKED),
        ("anon_x1Yz2_77_01_dot_product_attention.ipynb", b"e", PACKED),
        ("noone_4711_78_01_dot_product_attention.ipynb", b"f", PACKED),
        ("readme.txt", b"g", PACKED),
        (f"__MACOSX/._{canvas_name(CLASS[0], 1)}", b"h", PACKED),
    ]
    assert collect(root, write_zip(tmp_path / "a.zip", rows), lesson="01") == 1
    assert [*submitted(root)] == [path_of(CLASS[0])]
    lines = capsys.readouterr().err.splitlines()
    for words in (
        f"only {OTHER}.ipynb",
        "only work.zip: ask for the .ipynb file itself",
        "only a text entered online",
        "the assignment is marked anonymously",
        "noone (Canvas's number 4711) is nobody in the gradebook",
        "readme.txt is not named as Canvas or Moodle name submissions",
    ):
        assert sum(words in line for line in lines) == 1, words
    assert len(lines) == 6


def test_two_people_who_may_be_one_student_are_named(root, tmp_path, capsys):
    twin = ANNA._replace(number=5555)
    rows = [(canvas_name(each, 1), b"a", PACKED) for each in (ANNA, twin)]
    assert collect(root, write_zip(tmp_path / "a.zip", rows)) == 1
    assert submitted(root) == {}
    err = capsys.readouterr().err
    assert err.count("is not the only one who may be s00") == 2


def test_student_of_another_number_is_not_meant(numbered, tmp_path, capsys):
    twin = ANNA._replace(number=5555)
    rows = [
        (canvas_name(BJORN, 1), b"b", PACKED),
        (canvas_name(twin, 2), b"another Anna", PACKED),
    ]
    assert collect(numbered, write_zip(tmp_path / "a.zip", rows)) == 1
    assert submitted(numbered) == {path_of(BJORN): b"b"}
    assert "5555) is nobody in the gradebook" in capsys.readouterr().err


def test_moodle_number_is_nobodys(numbered, tmp_path):
    rows = [(moodle_folder(ANNA, BJORN.number), b"a", PACKED)]
    assert collect(numbered, write_zip(tmp_path / "a.zip", rows)) == 0
    assert submitted(numbered) == {path_of(ANNA): b"a"}


def test_login_finds_a_student_without_names(root, tmp_path):
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        book.add_student("m.curie")
    name = f"m.curie_5_assignsubmission_file_/{LESSON}.ipynb"
    assert collect(root, write_zip(tmp_path / "a.zip", [(name, b"a", PACKED)])) == 0
    assert f"m.curie/{LESSON}/{LESSON}.ipynb" in submitted(root)


def test_gradebook_without_students_is_said(root, tmp_path):
    (root / "gradebook.db").unlink()
    archive = write_zip(tmp_path / "a.zip", [(canvas_name(ANNA, 1), b"", PACKED)])
    with pytest.raises(CourseError, match="autograder roster"):
        collect(root, archive)
    assert not (root / "gradebook.db").exists()


# --- what is there already --------------------------------------------------------


def pair(path, raw, moment):
    """Write an archive of two, so that its times are those of handing in."""
    early = moment - timedelta(days=3)
    rows = [(canvas_name(ANNA, 1), raw, moment), (canvas_name(BJORN, 2), b"b", early)]
    return write_zip(path, rows)


def test_newer_submission_stays_unless_forced(root, tmp_path, capsys):
    new = pair(tmp_path / "new.zip", b"newer", PACKED)
    old = pair(tmp_path / "old.zip", b"older", PACKED - timedelta(hours=2))
    assert collect(root, old) == 0
    assert collect(root, new) == 0
    assert f"{LESSON}  replaced" in capsys.readouterr().out
    files = submitted(root)
    assert collect(root, old) == 1
    assert submitted(root) == files and files[path_of(ANNA)] == b"newer"
    assert "what is there is newer (2026-03-09 08:00:00 UTC" in capsys.readouterr().err
    assert collect(root, old, force=True) == 0
    assert submitted(root)[path_of(ANNA)] == b"older"


def test_older_archive_without_times_replaces_nothing(root, tmp_path):
    for raw, moment, code in ((b"new", PACKED, 0), (b"old", PACKED.replace(day=2), 1)):
        rows = [(canvas_name(ANNA, 1), raw, moment)]
        assert collect(root, write_zip(tmp_path / "a.zip", rows)) == code
    assert submitted(root) == {path_of(ANNA): b"new"}


def test_time_that_was_put_right_by_hand_stays(root, tmp_path):
    archive = pair(tmp_path / "a.zip", b"a", PACKED)
    assert collect(root, archive) == 0
    time = root / "submitted" / path_of(ANNA, "timestamp.txt")
    time.write_text("2026-03-01 12:00:00 UTC\n")
    assert collect(root, archive) == 0
    assert time.read_text() == "2026-03-01 12:00:00 UTC\n"


def test_link_in_the_way_is_named_and_not_followed(root, tmp_path, capsys):
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "submitted").mkdir()
    (root / "submitted" / ANNA.login).symlink_to(outside)
    assert collect(root, pair(tmp_path / "a.zip", b"a", PACKED)) == 1
    assert [*outside.iterdir()] == []
    assert "submitted/s00 is no ordinary folder" in capsys.readouterr().err


def test_full_disk_leaves_what_was_there(root, tmp_path, monkeypatch, capsys):
    assert collect(root, pair(tmp_path / "a.zip", b"old", PACKED)) == 0
    files = submitted(root)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    later = pair(tmp_path / "b.zip", b"new", PACKED + timedelta(hours=1))
    assert collect(root, later) == 1
    assert submitted(root) == files
    assert "cannot be written (No space left on device)" in capsys.readouterr().err


def test_ctrl_c_leaves_whole_submissions(root, tmp_path, monkeypatch, capsys):
    files, rows = a_class(moodle_folder, CLASS[:5])
    archive = write_zip(tmp_path / "class.zip", files)
    read, count = archives_module._read, []

    def interrupted(*arguments):
        count.append(1)
        if len(count) == 3:
            raise KeyboardInterrupt
        return read(*arguments)

    monkeypatch.setattr(archives_module, "_read", interrupted)
    assert collect(root, archive) == 130
    assert len(submitted(root)) == 4
    assert "Stopped with 3 left" in capsys.readouterr().err
    assert collect(root, archive) == 0
    assert submitted(root) == expected(rows)


# --- hostile and broken archives --------------------------------------------------


def test_paths_that_lead_out_and_links_are_left_out(root, tmp_path, capsys):
    archive = write_zip(
        tmp_path / "a.zip",
        [
            (canvas_name(ANNA, 1), b"a", PACKED),
            (f"../../{canvas_name(BJORN, 2)}", b"b", PACKED),
            (f"/tmp/{canvas_name(BJORN, 3)}", b"b", PACKED),
            (f"C:\\{canvas_name(BJORN, 3)}", b"b", PACKED),
        ],
    )
    with zipfile.ZipFile(archive, "a") as opened:
        link = zipfile.ZipInfo(canvas_name(BJORN, 4), (2026, 3, 9, 8, 0, 0))
        link.external_attr = 0o120777 << 16
        opened.writestr(link, "/etc/passwd")
    before = {path for path in tmp_path.rglob("*") if path.parent != root}
    assert collect(root, archive) == 1
    assert submitted(root) == {path_of(ANNA): b"a"}
    lines = capsys.readouterr().err.splitlines()
    assert sum("leads out of the archive" in line for line in lines) == 3
    assert sum("is a link; it is left out" in line for line in lines) == 1
    after = {path for path in tmp_path.rglob("*") if path.parent != root}
    assert {path.relative_to(root).parts[0] for path in after - before} == {"submitted"}


def test_bomb_is_not_unpacked(root, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(archives_module, "MAX_BYTES", 1 << 20)
    rows = [
        (canvas_name(ANNA, 1), bytes(50 << 20), PACKED),
        (canvas_name(BJORN, 2), b"b", PACKED),
    ]
    archive = write_zip(tmp_path / "a.zip", rows)
    assert archive.stat().st_size < 1 << 17
    assert collect(root, archive) == 1
    assert submitted(root) == {path_of(BJORN): b"b"}
    assert f"{LESSON}.ipynb has more than the 1 MiB" in capsys.readouterr().err


def test_archive_of_very_many_entries_is_refused(root, tmp_path, monkeypatch):
    monkeypatch.setattr(archives_module, "MAX_ENTRIES", 3)
    rows = [(canvas_name(ANNA, i), b"", PACKED) for i in range(4)]
    with pytest.raises(CourseError, match="more than 3 entries"):
        collect(root, write_zip(tmp_path / "a.zip", rows))


def change_header(path, offset, value):
    """Change a byte in the first entry's two headers."""
    raw = bytearray(path.read_bytes())
    raw[offset] = value
    raw[raw.index(b"PK\x01\x02") + 2 + offset] = value
    path.write_bytes(raw)


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [
        (6, 1, "is encrypted"),
        (8, 14, "is compressed as neither Canvas nor Moodle do it"),
        (14, 99, "is damaged in the archive"),
        (6, 1 << 5, "is damaged in the archive"),  # a feature that Python has not
    ],
)
def test_entry_that_cannot_be_read_is_named(
    root, tmp_path, capsys, offset, value, words
):
    rows = [
        (canvas_name(ANNA, 1), b"a" * 99, PACKED),
        (canvas_name(BJORN, 2), b"b", PACKED),
    ]
    archive = write_zip(tmp_path / "a.zip", rows)
    change_header(archive, offset, value)
    assert collect(root, archive) == 1
    assert submitted(root) == {path_of(BJORN): b"b"}
    assert f"not collected: {LESSON}.ipynb {words}" in capsys.readouterr().err


@pytest.mark.parametrize("raw", [b"", b"no archive", b"PK\x03\x04" + bytes(30)])
def test_file_that_is_no_archive_is_refused(root, tmp_path, raw):
    path = tmp_path / "a.zip"
    path.write_bytes(raw)
    with pytest.raises(CourseError, match=r"a\.zip is no zip archive"):
        collect(root, path)
    with pytest.raises(CourseError, match="is not there"):
        collect(root, tmp_path / "other.zip")


def test_truncated_archive_is_refused(root, tmp_path):
    archive = pair(tmp_path / "a.zip", b"a", PACKED)
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(CourseError, match="download it anew"):
        collect(root, archive)


def test_archive_of_a_later_version_is_refused(root, tmp_path):
    archive = pair(tmp_path / "a.zip", b"a", PACKED)
    change_header(archive, 4, 200)
    with pytest.raises(CourseError, match=r"a\.zip is no zip archive"):
        collect(root, archive)


def test_unpacked_archive_is_collected_too(root, tmp_path):
    files, rows = a_class(moodle_folder, CLASS[:4])
    folder = tmp_path / "unpacked"
    for name, raw, moment in files:
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(raw)
        os.utime(folder / name, (moment.timestamp(), moment.timestamp()))
    assert collect(root, folder) == 0
    assert submitted(root) == expected(rows)


# --- nbgrader's own command -------------------------------------------------------


def run(root, *command):
    environment = os.environ | {"PYTHONPATH": str(Course.here().root)}
    return subprocess.run(
        [*map(str, command)],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


NAMES = canvas_name, moodle_folder, moodle_flat


@pytest.mark.parametrize("name_of", all_but([canvas_name], NAMES))
def test_zip_collect_collects_the_same(numbered, tmp_path, name_of):
    learners = [each for each in CLASS if each not in (AMIRA, ALI)]
    files, rows = a_class(name_of, learners)
    files += [(name_of(ANNA, 500, f"{LESSON}-1.ipynb"), b"old", moments(999)[0])]
    folder = numbered / "downloaded" / LESSON / "archive"
    folder.mkdir(parents=True)
    write_zip(folder / "class.zip", files)
    nbgrader = Path(sys.executable).with_name("nbgrader")
    done = run(numbered, nbgrader, "zip_collect", LESSON)
    assert done.returncode == 0, done.stderr
    taken = submitted(numbered)
    assert {path: raw for path, raw in taken.items() if path.endswith(".ipynb")} == {
        path_of(learner): raw for learner, raw, _ in rows
    }
    for learner, _, moment in rows:
        text = taken[path_of(learner, "timestamp.txt")].decode()
        assert text.startswith(f"{moment:%Y-%m-%d %H:%M:%S}")


def test_command_collects_and_says_so(numbered, tmp_path):
    files, rows = a_class(canvas_name, CLASS[:3])
    archive = write_zip(tmp_path / "class.zip", files)
    done = run(numbered, sys.executable, "-m", "autograder", "collect", archive)
    assert (done.returncode, done.stderr) == (0, "")
    assert submitted(numbered) == expected(rows)
    assert "3 submissions: 3 new." in done.stdout


# --- whose it is ------------------------------------------------------------------

INNER = (
    f"{moodle_folder(BJORN, 9)}",
    f"{moodle_flat(BJORN, 9)}",
    f"{canvas_name(BJORN, 99)}",
    f"deep/er/{moodle_folder(BJORN, 9)}",
    f"x\\{canvas_name(BJORN, 99)}",
    f"x\\{moodle_folder(BJORN, 9)}",
)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", [canvas_name, moodle_folder, moodle_flat])
def test_folder_named_like_another_student_changes_nothing(
    root, tmp_path, capsys, outer, inner
):
    own, later = moments(2)
    honest = outer(BJORN, 4), b"Bjorn's own", own
    files = [honest, (outer(ANNA, 5, inner), b"empty", later)]
    collect(root, write_zip(tmp_path / "class.zip", files))
    alone = expected([(BJORN, b"Bjorn's own", own)])
    assert alone.items() <= submitted(root).items()
    there = {path.partition("/")[0] for path in submitted(root)}
    assert there <= {ANNA.login, BJORN.login}
    printed = capsys.readouterr()
    assert ANNA.login in printed.out + printed.err  # what became of hers is said


@given(
    suffix=st.text(st.sampled_from("ab_1/\\ \u202e.") | st.characters(), max_size=40)
)
@example(suffix=f"/{moodle_folder(BJORN, 9)}")
@example(suffix=f"\\{canvas_name(BJORN, 9)}")
@pytest.mark.parametrize("name_of", [canvas_name, moodle_folder, moodle_flat])
def test_owner_is_the_first_part_whatever_follows(name_of, suffix):
    owner = archived_file(name_of(ANNA, 5, "x"), bytes).owner
    for name in (suffix, suffix.replace("\\", "/"), f"{suffix}.ipynb"):
        file = archived_file(name_of(ANNA, 5, name), bytes)
        assert file is None or file.owner == owner
