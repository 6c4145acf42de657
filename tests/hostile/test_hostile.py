"""Grade the hostile corpus: no undeserved points, none lost, nothing left outside."""

import importlib
import pkgutil
import re
import shutil
import time

import pytest

import tests.hostile as corpus
from autograder.checking.registry import load
from autograder.grading import reading
from autograder.grading.inside.library import ALSO_RECORDED
from tests.grading.engines import adopting_orphans, engine_of, stray_processes
from tests.hostile.world import OTHER, Outside
from tests.submissions import COURSE, EXERCISES, MAX_POINTS, Submission

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]

for module in pkgutil.iter_modules(corpus.__path__):
    if not module.name.startswith("test_"):
        importlib.import_module(f"tests.hostile.{module.name}")

MOST_LINES = 1000  # of a cell in the corpus
MAX_RESULT_BYTES = 100_000  # a right submission's has 11,000
# Far above the time of a submission: what takes longer would hold the grader for good.
ENDLESS = 400  # seconds
# The first word stands in the ids of the cases; one process runs the whole family.
FAMILIES = sorted({case.family.split()[0] for case in corpus.CASES.values()})


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    folder = Outside(tmp_path_factory.mktemp("outside"), COURSE)
    yield folder
    folder.close()


@pytest.fixture(scope="module")
def engine(outside):
    with adopting_orphans(), engine_of(outside.course) as started:
        yield started


def cases():
    """Yield the cases; one in three is quick, if it does not take long."""
    for turn, case in enumerate(corpus.CASES.values()):
        family = case.family.split()[0]
        marks = pytest.mark.thorough if case.long or turn % 3 else ()
        yield pytest.param(case, id=f"{family}-{case.name}", marks=marks)


@pytest.mark.parametrize("case", [*cases()])
def test_hostile_submission_gets_its_verdicts_and_leaves_nothing(case, outside, engine):
    world = outside.world(case.name)
    submission = Submission()
    case.build(submission, world)
    if not submission.absent:
        submission.write(outside.folder, case.name)
    before, start = outside.state(), time.monotonic()
    result, _ = engine.grade(world.submission, case.name)
    seconds = time.monotonic() - start
    assert outside.got == []
    assert stray_processes(engine) == []
    assert outside.state() == before
    shutil.rmtree(world.submission.parents[1], ignore_errors=True)
    data = result.as_json()
    assert len(data.encode()) < MAX_RESULT_BYTES
    assert world.secret not in data
    lines = [int(number) for number in re.findall(r"\(line (\d+)", data)]
    assert max(lines, default=0) <= MOST_LINES  # a longer number may tell something
    assert seconds < ENDLESS
    expect(case, result)


def expect(case, result):
    if case.invalid:
        assert result.status == "invalid"
        assert case.invalid in result.reason
        assert result.points == 0
        return
    assert result.status == "graded", result.reason
    assert {exercise.exercise for exercise in result.exercises} == {*EXERCISES}
    for exercise in result.exercises:
        name = exercise.exercise
        statuses = {verdict.status for verdict in exercise.cases} - {"ok"}
        if name in case.lost:
            cases = load(name).cases
            fails = case.fails.get(name, [each.name for each in cases])
            expected = sum(each.points for each in cases if each.name not in fails)
            assert exercise.points == expected, exercise.report
            assert statuses == {case.lost[name]} or case.lost[name] == "any"
            assert exercise.report
        else:
            assert exercise.points == load(name).points, exercise.report
    flagged = [(flag.exercise, flag.what) for flag in result.flags]
    # Ways to reach around the watch on libraries may be marked in any attack.
    around = () if case.family.startswith("answers") else ALSO_RECORDED
    assert {exercise for exercise, _ in flagged} >= {*case.flagged}
    assert {*result.as_in_solutions} == {*case.pasted}
    marked = {exercise for exercise, what in flagged if what not in around}
    assert marked <= {*case.flagged}
    assert len(flagged) == len({*flagged})


@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_family_does_not_harm_the_next_student(family, outside, engine):
    """Run after the family, in its process: the next student gets full marks."""
    path = outside.world(OTHER).submission
    result, _ = engine.grade(path, OTHER)
    assert result.points == MAX_POINTS


def test_the_corpus_has_every_family():
    assert len(FAMILIES) == 9
    assert len(corpus.CASES) >= 80
    assert reading.MAX_BYTES  # the limits that broken files are built against
