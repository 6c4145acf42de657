"""The workflow file: what it runs exists, and what it may do is little."""

import re

import pytest
import yaml

from autograder.course import Course

ROOT = Course.here().root
(PATH,) = (ROOT / ".github" / "workflows").iterdir()
WORKFLOW = yaml.safe_load(PATH.read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
MAIN = "github.event_name == 'push' && github.ref == 'refs/heads/main'"


def targets():
    """Return what the Makefile can make."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):(?!=)", makefile, re.MULTILINE))


def test_commands_are_targets_of_the_makefile():
    commands = "\n".join(step.get("run", "") for step in STEPS)
    called = re.findall(r"^make (.+)$", commands, re.MULTILINE)
    assert called == ["${{ matrix.target }}", "site"]
    both = JOBS["test"]["strategy"]["matrix"]["target"]
    assert both == ["test", "test-all"]
    assert {*both, "site"} <= targets()


def test_python_is_the_one_that_was_tested():
    versions = [
        step["with"] for step in STEPS if "setup-python" in step.get("uses", "")
    ]
    assert len(versions) == 2
    for each in versions:
        assert each["python-version"] == "3.11" and each["cache"] == "pip"
        assert (ROOT / each["cache-dependency-path"]).is_file()


def test_actions_are_pinned_to_a_commit_with_its_version():
    text = PATH.read_text(encoding="utf-8")
    uses = re.findall(r"^ +(?:- )?uses: (.*)$", text, re.MULTILINE)
    assert len(uses) == sum("uses" in step for step in STEPS) > 4
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
    assert 5 <= JOBS[job]["timeout-minutes"] <= 60


def test_workflow_runs_on_pushes_to_main_and_pull_requests():
    # YAML reads the key "on" as True.
    assert WORKFLOW[True] == {"push": {"branches": ["main"]}, "pull_request": None}
    assert "refs/heads/main" in WORKFLOW["concurrency"]["cancel-in-progress"]
