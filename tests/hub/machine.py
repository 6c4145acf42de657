"""A machine to set up as root, of which nothing stays: what ``hub/README.md`` does.

Its ``/etc`` is a copy; ``/home``, ``/opt`` and ``/srv`` are new. Accounts that are made
there are real ones for the kernel, and unknown outside.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.grading import ordinary
from tests.submissions import COURSE

README = (COURSE.root / "hub" / "README.md").read_text(encoding="utf-8")
OWN = ("etc", "home", "opt", "srv")
ENVIRONMENT = Path("/opt/attention")
PASSWORD = "correct horse battery staple"
HUB = f"{ENVIRONMENT}/bin/jupyterhub --config {ENVIRONMENT}/hub/jupyterhub_config.py"
NO_NETWORK = (
    r"NewConnectionError|ConnectionError|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT"
)


def why_not() -> str:
    """Return why no such machine can be made here; "" if one can."""
    missing = [
        name for name in ("npm", "node", "unshare", "useradd") if not shutil.which(name)
    ]
    return ordinary.why_not() or (f"needs {', '.join(missing)}" if missing else "")


def blocks(heading: str) -> list[str]:
    """Return the commands below a heading of the page, block by block."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```console\n(.*?)^```", section, re.M | re.S)


def instead(line: str) -> str:
    """Return what is called for a command of the page; nearly all as they stand."""
    if line.startswith("passwd "):
        return f"echo '{line.split()[1]}:{PASSWORD}' | chpasswd"
    return INSTEAD.get(line, line)


# The course's packages are here, and need not be downloaded; nor is systemd everywhere.
PACKAGES = sysconfig.get_path("purelib")
INSTEAD = {
    "apt-get install --yes python3-venv nodejs npm bubblewrap": "which npm node bwrap",
    "/opt/attention/bin/pip install --requirement requirements.lock": (
        f"cp -a {PACKAGES}/. {ENVIRONMENT}/lib/python3*/site-packages; "
        f"cp -a {sys.prefix}/share {sys.prefix}/etc {ENVIRONMENT}; "
        "for name in nbgrader alembic; do "
        "printf '#!/bin/sh\\nexec %s -m %s \"$@\"\\n' "
        f"{ENVIRONMENT}/bin/python $name > {ENVIRONMENT}/bin/$name; "
        f"chmod 755 {ENVIRONMENT}/bin/$name; done"
    ),
    "ATTENTION_COURSE_DATA=/srv/attention-data /opt/attention/bin/python "
    "-m course_lib.corpora": f"cp -rL {COURSE.root}/data /srv/attention-data",
    "cp hub/attention-hub.service /etc/systemd/system/": "true",
    "systemctl enable --now attention-hub": "true",
}


class Machine:
    """Folders that take the place of the machine's own.

    folder : where they are
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)
        self.checkout = folder / "checkout"
        self.checkout.mkdir(mode=0o700)
        _copy_checkout(self.checkout)
        for name in OWN[1:]:
            (folder / name).mkdir(mode=0o755)
        subprocess.run(["cp", "-a", "/etc", folder / "etc"], check=True)
        # Other numbers than those of the accounts outside.
        definitions = folder / "etc" / "login.defs"
        text = re.sub(
            r"^([UG]ID_(MIN|MAX))\b.*\n", "", definitions.read_text(), flags=re.M
        )
        numbers = ("UID_MIN 23000", "UID_MAX 23999", "GID_MIN 23000", "GID_MAX 23999")
        definitions.write_text("\n".join([text, *numbers, ""]))

    def path(self, inside: str | Path) -> Path:
        """Return where a file of one of the machine's own folders really is."""
        return self.folder / Path(inside).relative_to("/")

    def command(
        self, *command: str, account: str = "", start: str | Path = ""
    ) -> list[str]:
        """Return a command, as it is called from outside.

        account : whose; without one, root calls it who can reach packages' indexes
        """
        # No process survives its command. bwrap's own /proc is partly read-only, and
        # submissions could not be isolated.
        alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        options = ["--dev-bind", "/", "/"]
        for name in OWN:
            options += ["--bind", str(self.folder / name), f"/{name}"]
        for child in Path("/opt").iterdir():  # packages, perhaps
            options += ["--ro-bind", str(child), str(child)]
        person = ["runuser", "--user", account, "--"] if account else []
        options += ordinary.opened() if account else []
        options += ["--cap-add", "ALL", "--chdir", str(start or self.checkout)]
        return [*alone, "bwrap", *options, "--", *person, *command]

    def set_up(self) -> None:
        """Do what the page says; skip the test if there is no network."""
        for block in blocks("Set up"):
            for line in block.splitlines():
                done = self.run(instead(line))
                if done.returncode and re.search(NO_NETWORK, done.stdout + done.stderr):
                    pytest.skip(f"needs a network: {line}")
                assert done.returncode == 0, line + done.stdout + done.stderr

    def run(self, script: str, **options) -> subprocess.CompletedProcess[str]:
        """Run a script of the shell."""
        return subprocess.run(
            self.command("bash", "-euc", script, **options),
            env=self.variables(),
            capture_output=True,
            text=True,
            timeout=600,
        )

    def variables(self) -> dict[str, str]:
        """Return the environment of root's shell: this Python is its ``python3``."""
        left_out = ("PYTHON", "VIRTUAL_ENV", "JUPYTER", "HOME")
        variables = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(left_out)
        }
        path = [f"{sys.base_prefix}/bin", "/usr/local/sbin", "/usr/local/bin"]
        path += ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        return variables | {"HOME": "/root", "PATH": ":".join(path)}


def _copy_checkout(folder: Path) -> None:
    """Copy what a checkout holds: files that git has, and those that it would take."""
    files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(files, cwd=COURSE.root, capture_output=True, check=True)
    copying = ["xargs", "-0", "cp", "--parents", "--no-dereference", "-t", str(folder)]
    subprocess.run(copying, cwd=COURSE.root, input=listed.stdout, check=True)


def free_port() -> int:
    """Return a port of the loopback address that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
