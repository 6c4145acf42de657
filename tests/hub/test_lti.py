"""The hub's settings for login by the LMS, with the library that they are for."""

import sqlite3
import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.documented import ROOT, blocks
from tests.hub.lti_hub import HUB, Browser, running
from tests.hub.lti_platform import CLAIM, LtiPlatform, new_key

LIBRARY = "jupyterhub-ltiauthenticator==1.6.3"
(SETTINGS,) = (
    code
    for language, code in blocks((ROOT / "hub/README.md").read_text(encoding="utf-8"))
    if language == "python" and "LTI13Authenticator" in code
)

DEPLOYMENT = "329:8865aa05b4b79b64a91a86042e43af5ea8ae79eb"
PEOPLE = {
    "0f4e0c2a": {"login": "Amara", "canvas_user_id": "1042"},
    "1b6d3f90": {"login": "vera", "canvas_user_id": "$Canvas.user.id"},
    "2c7e4a01": {"login": "root", "canvas_user_id": "1"},
    "3d8f5b12": {"login": "eve"},
    "4e906c23": {},
}


def test_settings_are_python_and_use_the_names_of_the_hubs_own():
    compile(SETTINGS, "jupyterhub_config.py", "exec")
    own = (ROOT / "hub/jupyterhub_config.py").read_text(encoding="utf-8")
    assert "with_unix_groups(" in SETTINGS and "def with_unix_groups(" in own
    assert "STATE /" in SETTINGS and "\nSTATE = " in own
    assert f"`/opt/attention/bin/pip install {LIBRARY}`" in (
        ROOT / "hub/README.md"
    ).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def python_with_library(tmp_path_factory):
    """Return the Python of an environment that has the library and the hub."""
    folder = tmp_path_factory.mktemp("library") / "environment"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    hub = ["--constraint", str(ROOT / "hub/requirements.txt"), "jupyterhub"]
    install = [python, "-m", "pip", "install", "--quiet", LIBRARY, *hub]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{LIBRARY} cannot be had: {done.stderr[-200:]}")
    return python


@pytest.fixture(scope="module")
def walk(python_with_library, tmp_path_factory):
    """Yield a platform, the hub that trusts it, and the hub's folder."""
    folder = tmp_path_factory.mktemp("hub") / "hub"
    platform = LtiPlatform(
        "https://canvas.instructure.com", HUB, "125900000000000329", DEPLOYMENT, PEOPLE
    )
    with platform.serving():
        assert "https://canvas.example.edu" in SETTINGS
        own = SETTINGS.replace("https://canvas.example.edu", platform.address)
        server = urlsplit(platform.address).port
        with running(python_with_library, folder, own, server) as port:
            yield Walk(platform, port, folder)


@dataclass
class Walk:
    platform: LtiPlatform
    port: int
    folder: Path

    def browser(self):
        return Browser(self.port, self.platform)


@pytest.mark.thorough
def test_launch_leads_a_student_to_their_own_server(walk):
    browser = walk.browser()
    assert not browser.is_logged_in()
    status, headers, text = browser.launch("0f4e0c2a", "/hub/spawn")
    assert (status, headers["Location"]) == (302, "/hub/spawn"), text
    status, text = browser.follow(f"{HUB}/hub/home")
    assert status == 200 and 'user: "amara"' in text
    browser.ask(f"{HUB}/hub/spawn")
    assert (walk.folder / "started").read_text() == "amara\n"
    assert "not recognized" not in (walk.folder / "log").read_text()


@pytest.mark.thorough
def test_launch_notes_groups_and_numbers(walk, monkeypatch):
    for number in ("1041", 1042):
        monkeypatch.setitem(PEOPLE["0f4e0c2a"], "canvas_user_id", number)
        walk.browser().launch("0f4e0c2a")
    browser = walk.browser()
    assert browser.launch("1b6d3f90")[0] == 302
    assert 'user: "vera"' in browser.follow(f"{HUB}/hub/home")[1]
    numbers = walk.folder / "lms-numbers.csv"
    assert numbers.read_text() == "id,lms_user_id\namara,1042\n"
    with sqlite3.connect(walk.folder / "jupyterhub.sqlite") as database:
        rows = database.execute(
            "SELECT u.name, g.name FROM user_group_map m JOIN users u ON u.id = "
            "m.user_id JOIN groups g ON g.id = m.group_id ORDER BY u.name"
        ).fetchall()
    assert rows == [("amara", "students"), ("vera", "instructors")]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("person", "why"),
    [
        ("2c7e4a01", "root is neither in students nor in instructors"),
        ("3d8f5b12", "eve has no account here"),
        ("4e906c23", "4e906c23 has no account here"),
    ],
)
def test_person_without_an_account_of_the_course_is_refused(walk, person, why):
    browser = walk.browser()
    status, _, text = browser.launch(person)
    assert status == 403 and why in text and not browser.is_logged_in()


def expired(claims):
    claims["exp"] = claims["iat"] - 1


def issued_long_ago(claims):
    claims["iat"] -= 3600


def changed(**values):
    return lambda claims: claims.update(values)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (changed(nonce="another"), (400, "OAuth nonce mismatch")),
        (expired, (400, "Signature has expired")),
        (issued_long_ago, (400, "id_token issued too long ago")),
        (changed(aud="another"), (401, "Audience doesn&#39;t match")),
        (changed(iss="https://evil.example.edu"), (400, "Invalid issuer")),
        (
            changed(**{f"{CLAIM}deployment_id": "330:another"}),
            (403, "deployment 330:another is not of this course"),
        ),
    ],
)
def test_launch_with_a_wrong_claim_is_refused(walk, change, refusal, monkeypatch):
    monkeypatch.setattr(walk.platform, "change", change)
    browser = walk.browser()
    status, _, text = browser.launch("0f4e0c2a")
    assert (status, refusal[1] in text) == (refusal[0], True), text
    assert not browser.is_logged_in()


@pytest.mark.thorough
def test_launch_that_another_key_has_signed_is_refused(walk, monkeypatch):
    monkeypatch.setattr(walk.platform, "signs_with", new_key())
    browser = walk.browser()
    status, _, text = browser.launch("0f4e0c2a")
    assert status == 400 and "Signature verification failed" in text
    assert not browser.is_logged_in()


@pytest.mark.thorough
def test_launch_and_state_are_taken_once(walk):
    browser = walk.browser()
    address, form = browser.until_launch("0f4e0c2a")
    before = dict(browser.cookies)
    other = walk.browser()
    status, _, text = other.ask(address, form)  # who has caught it, in their browser
    assert (status, "OAuth state missing from cookies" in text) == (400, True)
    wrong = form | {"state": other.until_launch("0f4e0c2a")[1]["state"]}
    browser.cookies = dict(before)
    status, _, text = browser.ask(address, wrong)
    assert (status, "OAuth state mismatch" in text) == (400, True)
    assert not browser.is_logged_in()
    browser.cookies = dict(before)
    assert browser.ask(address, form)[0] == 302 and browser.is_logged_in()
    other.cookies = before  # who has caught the cookies, too
    status, _, text = other.ask(address, form)
    assert (status, "this launch has come already" in text) == (403, True)
    assert not other.is_logged_in()
