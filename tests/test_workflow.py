"""The workflow file: what it runs exists, and what it may do is little."""

import json
import re
from itertools import chain

import pytest
import yaml

from autograder.course import Course

ROOT = Course.here().root
WORKFLOWS = ROOT / ".github" / "workflows"
PATH = WORKFLOWS / "course.yml"
RELEASE = yaml.safe_load((WORKFLOWS / "release.yml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load(PATH.read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]
TARGET = JOBS["test"]["strategy"]["matrix"]["target"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
# The events of a change, what these run, and what all others run.
TESTED = list(map(json.loads, re.findall(r"\[.*?\]", TARGET)))
MAIN = "github.event_name == 'push' && github.ref == 'refs/heads/main'"


def targets():
    """Return what the Makefile can make."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):(?!=)", makefile, re.MULTILINE))


def test_commands_are_targets_of_the_makefile():
    commands = "\n".join(step.get("run", "") for step in STEPS)
    called = re.findall(r"^make (.+)$", commands, re.MULTILINE)
    assert called == ["${{ matrix.target }}", "site"]
    assert {*chain(*TESTED[1:]), "site"} <= targets()


def test_changes_run_ci_run_and_nights_run_test_all():
    events, by_change, each_night = TESTED
    assert events == ["push", "pull_request"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall("^make ([a-z-]+)", script, re.MULTILINE) == by_change
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (parts,) = re.findall(r"^test-all: (.+)$", makefile, re.MULTILINE)
    assert set(each_night) == {"test", *parts.split()}


def test_python_is_the_one_that_was_tested():
    versions = [
        step["with"]
        for job in (*JOBS.values(), *RELEASE["jobs"].values())
        for step in job["steps"]
        if "setup-python" in step.get("uses", "")
    ]
    assert len(versions) == 4
    for each in versions:
        assert each["python-version"] in ("3.11", "${{ matrix.python }}")
        assert each["cache"] == "pip"
        assert (ROOT / each["cache-dependency-path"]).is_file()


def test_learners_path_is_tried_where_no_make_is():
    job = JOBS["learner"]
    systems, pythons = job["strategy"]["matrix"].values()
    assert {name.partition("-")[0] for name in systems} == {
        "windows",
        "macos",
        "ubuntu",
    }
    assert pythons[0] == "3.11" and len(pythons) > 1
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    assert "make" not in commands
    for path in re.findall(r"tests/\S+", commands):
        assert (ROOT / path).is_file(), path


def test_release_is_tried_from_the_wheel_and_keeps_no_secret():
    (job,) = RELEASE["jobs"].values()
    assert RELEASE["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert "secrets." not in (WORKFLOWS / "release.yml").read_text(encoding="utf-8")
    runs = [step for step in job["steps"] if "run" in step]
    order = ["uv build", "attention-course new-course", "sigstore sign", "uv publish"]
    positions = [
        next(i for i, step in enumerate(runs) if words in step["run"])
        for words in order
    ]
    assert positions == sorted(positions)
    for step in runs[positions[2] :]:
        assert step["if"] == "github.ref_type == 'tag'"


@pytest.mark.parametrize("path", sorted(WORKFLOWS.iterdir()), ids=lambda p: p.stem)
def test_actions_are_pinned_to_a_commit_with_its_version(path):
    text = path.read_text(encoding="utf-8")
    uses = re.findall(r"^ +(?:- )?uses: (.*)$", text, re.MULTILINE)
    assert uses
    for each in uses:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)


def test_only_publishing_may_write_and_only_on_main():
    assert WORKFLOW["permissions"] == {}
    rights = {name: job["permissions"] for name, job in JOBS.items()}
    assert rights.pop("publish") == {"pages": "write", "id-token": "write"}
    assert set(map(str, rights.values())) == {"{'contents': 'read'}"}
    assert JOBS["publish"]["if"] == MAIN
    assert set(JOBS["publish"]["needs"]) == {"test", "site"}
    for step in STEPS:
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_pages_that_are_published_are_those_of_make_site():
    uploads = [each for each in STEPS if "upload-pages" in each.get("uses", "")]
    assert [each["with"] for each in uploads] == [{"path": "build/site"}]
    assert [each["if"] for each in uploads] == ["github.event_name == 'push'"]


@pytest.mark.parametrize("job", JOBS)
def test_each_job_has_a_limit_of_time(job):
    assert 5 <= JOBS[job]["timeout-minutes"] <= 90


def test_workflow_runs_on_changes_each_night_and_on_demand():
    # YAML reads the key "on" as True.
    events = WORKFLOW[True]
    assert events.pop("push") == {"branches": ["main"]}
    (night,) = events.pop("schedule")
    assert re.fullmatch(r"\d+ \d+ \* \* \*", night["cron"])
    assert events == {"pull_request": None, "workflow_dispatch": None}
    assert "refs/heads/main" in WORKFLOW["concurrency"]["cancel-in-progress"]
