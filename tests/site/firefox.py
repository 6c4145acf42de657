"""Firefox without a window, driven over WebDriver BiDi, which it speaks by itself."""

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

PATIENCE = 300  # seconds
PROGRAM = shutil.which("firefox") or shutil.which("firefox-esr")
MISSING = "Firefox is not installed"
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
SHIFT, ENTER, CONTROL = "\ue008", "\ue007", "\ue009"
# No other machine is asked: what is not local goes to a port that nobody listens at.
PREFERENCES = """user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("network.proxy.allow_hijacking_localhost", false);
"""


class Firefox:
    """A page in Firefox."""

    def __init__(self, address: str, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._count = 0
        self._socket: WebSocketClientConnection = self._wait(
            lambda: websocket_connect(f"{address}/session")
        )
        self.call("session.new", capabilities={})
        self._page = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def _wait(self, begin: Callable[[], Awaitable[Any]]) -> Any:
        async def limited() -> Any:
            return await asyncio.wait_for(begin(), PATIENCE)

        return self._loop.run_until_complete(limited())

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command; return its result."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        self._wait(lambda: self._socket.write_message(json.dumps(message)))
        while True:
            answer = json.loads(self._wait(self._socket.read_message))
            if answer.get("id") == self._count:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]

    def goto(self, address: str) -> None:
        """Open an address, and wait until it is loaded."""
        parameters = {"context": self._page, "url": address, "wait": "complete"}
        self.call("browsingContext.navigate", **parameters)

    def evaluate(self, expression: str) -> Any:
        """Return the text, number or boolean that an expression becomes."""
        result = self.call(
            "script.evaluate",
            expression=expression,
            target={"context": self._page},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def close(self) -> None:
        """End the connection."""
        self._socket.close()
        self._loop.run_until_complete(asyncio.sleep(0.1))

    def press(self, *keys: str) -> None:
        """Hold keys down one after the other, and let them go."""
        down = [{"type": "keyDown", "value": each} for each in keys]
        up = [{"type": "keyUp", "value": each} for each in reversed(keys)]
        source = {"type": "key", "id": "keyboard", "actions": [*down, *up]}
        self.call("input.performActions", context=self._page, actions=[source])


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """Open Firefox with a profile of its own; yield its page."""
    loop = asyncio.new_event_loop()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        Path(profile, "user.js").write_text(PREFERENCES, encoding="utf-8")
        assert PROGRAM
        command = [PROGRAM, "--headless", "--remote-debugging-port", "0"]
        with subprocess.Popen(
            [*command, "--profile", profile, "--no-remote"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stderr
                lines = map(LISTENING.search, process.stderr)
                address = next(filter(None, lines))[1]
                page = Firefox(address, loop)
                yield page
                page.close()
            finally:
                process.terminate()
                loop.close()
