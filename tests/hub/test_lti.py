"""The hub's settings for login by the LMS, with the library that they are for."""

import subprocess
import venv

import pytest

from tests.documented import ROOT, blocks

LIBRARY = "jupyterhub-ltiauthenticator==1.6.3"
(SETTINGS,) = (
    code
    for language, code in blocks((ROOT / "hub/README.md").read_text(encoding="utf-8"))
    if language == "python" and "LTI13Authenticator" in code
)

# What runs where the library is: it plays an LMS that signs a token for each person.
LAUNCH = """
import asyncio, csv, grp, json, os, pwd, sys, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jupyterhub.app import JupyterHub
from jupyterhub.auth import Authenticator
from ltiauthenticator.lti13.auth import LTI13Authenticator
from ltiauthenticator.lti13.validator import LTI13LaunchValidator
from tornado.web import HTTPError
from traitlets.config.loader import PyFileConfigLoader
from traitlets.utils.importstring import import_item

folder = sys.argv[1]
config = PyFileConfigLoader("jupyterhub_config.py", path=folder).load_config()
for each in (JupyterHub, Authenticator, LTI13Authenticator):
    unknown = {*config[each.__name__]} - {*each.class_trait_names(config=True)}
    assert not unknown, (each, unknown)
assert import_item(config.JupyterHub.authenticator_class) is LTI13Authenticator
config.LTI13Authenticator.client_id.add("another")
authenticator = LTI13Authenticator(config=config)
hook = authenticator.post_auth_hook
hook.__globals__["LMS_NUMBERS"] = numbers = Path(folder) / "numbers.csv"

key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))


class Keys(BaseHTTPRequestHandler):
    def do_GET(self):
        content = json.dumps({"keys": [public | {"kid": "1", "use": "sig"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Keys)
threading.Thread(target=server.serve_forever, daemon=True).start()
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"


def launch(custom, signed_with=key):
    claims = {
        "iss": authenticator.issuer,
        "aud": "125900000000000329",
        "sub": "0f4e0c2a",
        "nonce": "n",
        "iat": int(time.time()),
        "exp": int(time.time()) + 600,
        CLAIM + "version": "1.3.0",
        CLAIM + "message_type": "LtiResourceLinkRequest",
        CLAIM + "deployment_id": "1",
        CLAIM + "target_link_uri": "https://hub.example.edu",
        CLAIM + "resource_link": {"id": "1"},
        CLAIM + "roles": [],
        CLAIM + "custom": custom,
    }
    encoded = jwt.encode(claims, signed_with, "RS256", headers={"kid": "1"})
    validator = LTI13LaunchValidator()
    token = validator.verify_and_decode_jwt(
        encoded,
        issuer=authenticator.issuer,
        audience=authenticator.client_id,
        jwks_endpoint=f"http://127.0.0.1:{server.server_port}",
        jwks_algorithms=authenticator.jwks_algorithms,
    )
    validator.validate_id_token(token)
    logging_in = authenticator.get_authenticated_user(None, token)
    return asyncio.run(logging_in)


GROUPS = {"amara": ["students"], "vera": ["instructors", "staff"], "root": ["root"]}
NAMES = ["students", "instructors", "staff", "root"]


def account(name):
    if name not in GROUPS:
        raise KeyError(name)
    return SimpleNamespace(pw_gid=0)


pwd.getpwnam = account
os.getgrouplist = lambda name, _: [NAMES.index(each) for each in GROUPS[name]]
grp.getgrgid = lambda number: SimpleNamespace(gr_name=NAMES[number])

amara = launch({"login": "Amara", "canvas_user_id": "1042"})
assert (amara["name"], amara["groups"]) == ("amara", ["students"]), amara
assert launch({"login": "vera"})["groups"] == ["instructors"]
launch({"login": "vera", "canvas_user_id": "$Canvas.user.id"})
launch({"login": "vera", "canvas_user_id": 7})
launch({"login": "amara", "canvas_user_id": "1043"})
assert numbers.read_text() == "id,lms_user_id\\namara,1043\\nvera,7\\n"
for custom, why in (
    ({"login": "root"}, "neither in students nor in instructors"),
    ({"login": "eve"}, "eve has no account here"),
    ({}, "0f4e0c2a has no account here"),
):
    try:
        launch(custom)
    except HTTPError as error:
        assert error.status_code == 403 and why in error.log_message, error
    else:
        raise AssertionError(custom)
try:
    stolen = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    launch({"login": "vera"}, signed_with=stolen)
except Exception as error:
    assert "Signature verification failed" in str(error), error
else:
    raise AssertionError("a token with another signature was taken")
print("done")
"""


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


@pytest.mark.thorough
def test_launch_lets_in_who_has_an_account_and_notes_the_number(
    python_with_library, tmp_path
):
    own = (ROOT / "hub/jupyterhub_config.py").read_text(encoding="utf-8")
    path = tmp_path / "jupyterhub_config.py"
    path.write_text(f"{own}\n\n{SETTINGS}\n", encoding="utf-8")
    done = subprocess.run(
        [python_with_library, "-c", LAUNCH, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
