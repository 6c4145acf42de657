"""From an empty machine to a student who fetches the feedback, as the page says."""

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from autograder.grading.release import load_release
from autograder.system import find_browser
from tests.hub import journey
from tests.hub.machine import HUB, Machine, blocks, free_port, why_not
from tests.submissions import COURSE

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.sandbox,
    pytest.mark.skipif(why_not() != "", reason=why_not() or "it can be done"),
    pytest.mark.skipif(not find_browser(), reason="no Chromium is here"),
]
SETTINGS = "/opt/attention/hub/settings"
COURSE_SERVER = (
    "export HOME=/srv/attention PATH=/opt/attention/bin:/usr/bin:/bin "
    f"JUPYTER_CONFIG_PATH={SETTINGS}/course:{SETTINGS}/everyone;"
)
OF_THE_COURSE = (
    "/srv/attention/course/solutions",
    "/srv/attention/course/gradebook.db",
    "/srv/attention/course/gradebook.seed",
    "/srv/attention/course/submitted",
    "/srv/nbgrader/exchange/attention/inbound",
    "/srv/nbgrader/exchange/attention/feedback",
)
TRY_DATA = """
find /srv/attention-data -type f -exec cat {} + > /dev/null
test -z "$(find /srv/attention-data -writable)"
"""


@pytest.fixture  # for each try anew: a lesson is released once
def machine():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder))
        machine.set_up()
        yield machine


@pytest.fixture
def address(machine):
    port, hub, api = free_port(), free_port(), free_port()
    options = (
        f"--JupyterHub.bind_url=http://127.0.0.1:{port} --JupyterHub.hub_port={hub} "
        f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{api} "
        "--ConfigurableHTTPProxy.pid_file=/srv/jupyterhub/proxy.pid "
        "--Spawner.start_timeout=300 --Spawner.http_timeout=300"  # a busy machine
    )
    command = machine.command("bash", "-c", f"exec {HUB} {options}", account="root")
    log = machine.folder / "hub.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            command, env=machine.variables(), stdout=file, stderr=file
        )
    try:
        for _ in range(600):
            if "JupyterHub is now running" in log.read_text():
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.kill(process.pid, signal.SIGKILL)  # and with it all that it has started
        process.wait()


def test_lesson_from_release_to_feedback(machine, address):
    release, *others = [line for b in blocks("A lesson") for line in b.splitlines()]
    call(machine, release)
    for student in ("amara", "bjarne"):
        with journey.person(address, student) as page:
            assert set(journey.menu_entries(page)) == {"Assignment List", ""}
            journey.fetch(page)
            if student == "amara":
                assert "all 5 claims" in journey.answer(page, address, student)
            journey.submit(page, 1)
            for closed in (f"user/{student}/formgrader", "services/course/"):
                assert page.goto(f"{address}/{closed}").status in (403, 404)
    output = [call(machine, line) for line in others]
    worth = load_release(COURSE, journey.LESSON).points
    expected = rf"amara +{worth['softmax_by_hand']:g} of {sum(worth.values()):g}\b"
    assert any(re.search(expected, text) for text in output), output
    for student, other in (("amara", "bjarne"), ("bjarne", "amara")):
        with journey.person(address, student) as page:
            journey.fetch_feedback(page)
            journey.pictures(page, "list")
            lines = journey.open_feedback(page)
            journey.pictures(page, "feedback")
        assert any(f"Feedback for {student}" in line for line in lines), lines
        assert not any(other in line for line in lines)
    with journey.person(address, "vera") as page:
        assert journey.LESSON in journey.lessons_in_formgrader(page, address)
        journey.pictures(page, "formgrader")
    for path in OF_THE_COURSE:
        assert machine.run(f"ls {path}", account="attention", start="/").returncode == 0
        assert machine.run(f"ls {path}", account="bjarne", start="/").returncode != 0
    for path in ("/home/amara", "/srv/jupyterhub"):
        assert machine.run(f"ls {path}", account="bjarne", start="/").returncode != 0
    for student in ("amara", "bjarne"):
        data = machine.run(TRY_DATA, account=student, start="/")
        assert data.returncode == 0, data.stderr


def call(machine, line):
    """Call a command as in a terminal of the course's server; return what it prints."""
    where = {"account": "attention", "start": "/srv/attention/course"}
    done = machine.run(COURSE_SERVER + line, **where)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
