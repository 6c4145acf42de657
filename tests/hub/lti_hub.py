"""A JupyterHub with the page's settings for LTI, and a browser that walks to it.

Nothing of the machine is changed: accounts are names in the hub's process, servers are
one small program's, and the browser speaks to the hub as the web server before it does.
"""

import http.client
import subprocess
import time
from contextlib import contextmanager
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.documented import ROOT
from tests.hub.machine import free_port

HUB = "https://hub.example.edu"
# After the settings, which stay as they are: what a machine would have.
OF_THE_MACHINE = """
import grp
import os
import pwd
from types import SimpleNamespace

from jupyterhub.proxy import Proxy
from jupyterhub.spawner import Spawner

ACCOUNTS = {{"amara": ["students"], "vera": ["instructors", "staff"], "root": ["root"]}}
NAMES = ["students", "instructors", "staff", "root"]


def account(name):
    if name not in ACCOUNTS:
        raise KeyError(name)
    return SimpleNamespace(pw_gid=0)


pwd.getpwnam = account
os.getgrouplist = lambda name, _: [NAMES.index(each) for each in ACCOUNTS[name]]
grp.getgrgid = lambda number: SimpleNamespace(gr_name=NAMES[number])


class NoProxy(Proxy):
    should_start = False

    async def add_route(self, routespec, target, data):
        self.routes = getattr(self, "routes", {{}})
        self.routes[routespec] = dict(routespec=routespec, target=target, data=data)

    async def delete_route(self, routespec):
        self.routes.pop(routespec, None)

    async def get_all_routes(self):
        return getattr(self, "routes", {{}})


class OneServer(Spawner):
    running = False

    async def start(self):
        with open("{folder}/started", "a") as file:
            print(self.user.name, file=file)
        self.running = True
        return ("127.0.0.1", {server})

    async def stop(self, now=False):
        self.running = False

    async def poll(self):
        return None if self.running else 0


c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.spawner_class = OneServer
c.JupyterHub.services = []
c.JupyterHub.load_roles = []
c.JupyterHub.bind_url = "http://127.0.0.1:{public}"
c.JupyterHub.hub_port = {port}
"""


@contextmanager
def running(python, folder, settings, server):
    """Run a hub; yield its port.

    server : the port of what stands for everybody's server
    """
    folder.mkdir()
    own = (ROOT / "hub/jupyterhub_config.py").read_text(encoding="utf-8")
    own = own.replace("/srv/jupyterhub", str(folder))
    port = free_port()
    machine = OF_THE_MACHINE.format(
        folder=folder, port=port, public=free_port(), server=server
    )
    path = folder / "jupyterhub_config.py"
    path.write_text(f"{own}\n\n{settings}\n{machine}", encoding="utf-8")
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [python, "-m", "jupyterhub", "--config", path],
            cwd=folder,
            stdout=file,
            stderr=file,
        )
    try:
        for _ in range(600):
            if "JupyterHub is now running" in log.read_text():
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.2)
        yield port
    finally:
        process.terminate()
        process.wait()


class Form(HTMLParser):
    """The address and the fields of a page's form."""

    def __init__(self, text):
        super().__init__()
        self.action, self.fields = "", {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "form":
            self.action = attributes["action"]
        elif tag == "input":
            self.fields[attributes["name"]] = attributes["value"]


class Browser:
    """A browser of one person; the hub's cookies go to the hub alone.

    port : the hub's, where the web server that ends HTTPS would send on
    """

    def __init__(self, port, platform):
        self.port, self.platform = port, platform
        self.cookies = {}

    def ask(self, address, form=None):
        """Return the status, the headers and the text of an answer; follows nothing."""
        parts = urlsplit(address)
        to_hub = address.startswith(f"{HUB}/")
        assert to_hub or address.startswith(f"{self.platform.address}/"), address
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port if to_hub else parts.port, timeout=120
        )
        headers = {"Host": parts.netloc}
        if to_hub:
            headers |= {"X-Scheme": "https", "X-Forwarded-Proto": "https"}
            pairs = [f"{name}={value}" for name, value in self.cookies.items()]
            headers["Cookie"] = "; ".join(pairs)
        body = None
        if form is not None:
            body = urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request("GET" if form is None else "POST", path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        for line in answer.headers.get_all("Set-Cookie") or () if to_hub else ():
            for name, cookie in SimpleCookie(line).items():
                self.cookies[name] = cookie.value
                if not cookie.value:
                    del self.cookies[name]
        return answer.status, answer.headers, text

    def follow(self, address):
        """Follow redirections; return the last answer's status and text."""
        for _ in range(10):
            status, headers, text = self.ask(address)
            if status != 302:
                return status, text
            address = headers["Location"]
            address = f"{HUB}{address}" if address.startswith("/") else address
        raise AssertionError("ten redirections")

    def until_launch(self, person, target="/hub/home"):
        """Click the link of the course; return the form that the platform answers."""
        status, headers, text = self.ask(self.platform.link(person, target))
        assert status == 302, text
        asked = urlsplit(headers["Location"])
        assert dict(parse_qsl(asked.query))["login_hint"] == person
        status, _, text = self.ask(headers["Location"])
        assert status == 200, text
        form = Form(text)
        return form.action, form.fields

    def launch(self, person, target="/hub/home"):
        """Click the link, and send the launch; return the hub's answer to it."""
        return self.ask(*self.until_launch(person, target))

    def is_logged_in(self):
        """Return whether the hub shows its own pages to this browser."""
        return self.ask(f"{HUB}/hub/home")[0] == 200
