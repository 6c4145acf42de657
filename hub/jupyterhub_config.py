"""A JupyterHub for the course, on one machine with Unix accounts: see README.md here.

Everybody gets a server of their own, for students' work. Formgrader, the gradebook and
the commands run in one more, the service ``course``: it belongs to the Unix account
``attention``, as the course's folder does, and members of ``instructors`` may use it.
"""

import grp
import os
import pwd
from pathlib import Path

from jupyterhub.utils import random_port

c = get_config()  # noqa: F821 - JupyterHub puts it here

HUB = Path(__file__).resolve().parent
PROGRAMS = HUB.parent / "bin"
STATE = Path("/srv/jupyterhub")
COURSE = Path("/srv/attention/course")
# The buttons in the toolbar of a lesson are in labextensions/ there.
TOOLBAR = HUB.parent / "course" / "autograder" / "workspace"
GROUPS = {"instructors", "students"}  # of this machine's accounts


def environment(*settings):
    """Return a server's environment, with folders of Jupyter's settings."""
    folders = [str(HUB / "settings" / name) for name in settings]
    return {
        "ATTENTION_COURSE_DATA": "/srv/attention-data",
        "JUPYTER_CONFIG_PATH": os.pathsep.join(folders),
        "OMP_NUM_THREADS": "1",  # many servers share the processors
        "PATH": f"{PROGRAMS}:/usr/local/bin:/usr/bin:/bin",
    }


c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # behind a web server with HTTPS
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = "/run/jupyterhub-proxy.pid"  # not after a restart
c.ConfigurableHTTPProxy.command = [
    str(HUB / "node_modules" / ".bin" / "configurable-http-proxy")
]

# --- who may come in, and as what ---------------------------------------------------

# Another authenticator goes here (OAuth, LTI); its names must be those of accounts.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.open_sessions = False
c.LocalAuthenticator.allowed_groups = GROUPS


def with_unix_groups(authenticator, handler, authentication):
    """Make the account's Unix groups the person's groups in the hub, at each login."""
    name = authentication["name"]
    numbers = os.getgrouplist(name, pwd.getpwnam(name).pw_gid)
    names = {grp.getgrgid(number).gr_name for number in numbers}
    return {**authentication, "groups": sorted(names & GROUPS)}


c.Authenticator.manage_groups = True
c.Authenticator.post_auth_hook = with_unix_groups

# --- everybody's own server ---------------------------------------------------------

c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(PROGRAMS / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.environment = environment("own_server", "everyone") | {
    "JUPYTER_PATH": str(TOOLBAR)
}

# --- the course's server, for instructors -------------------------------------------

c.JupyterHub.services = [
    {
        "name": "course",
        "url": f"http://127.0.0.1:{random_port()}",
        "command": [str(PROGRAMS / "jupyterhub-singleuser")],
        "user": "attention",
        "cwd": str(COURSE),
        "environment": environment("course", "everyone")
        | {"JUPYTERHUB_DEFAULT_URL": "/lab"},
        "oauth_no_confirm": True,
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "instructor",
        "groups": ["instructors"],
        "scopes": ["access:services!service=course", "list:services", "self"],
    }
]
