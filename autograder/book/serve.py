"""Serve the book on this machine alone: pages from files may not check answers."""

import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ADDRESS = "127.0.0.1"


class BookRequestHandler(SimpleHTTPRequestHandler):
    """Answer with files, and say nothing of each request."""

    protocol_version = "HTTP/1.1"  # one connection for all files of a page
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


class BookServer(ThreadingHTTPServer):
    """A server that says nothing of readers who leave before a file is there."""

    request_queue_size = 1024  # a class opens a page at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error that is not of a connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server_of(site: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a site's files; port 0 takes one that is free."""
    handler = functools.partial(BookRequestHandler, directory=str(site))
    return BookServer((ADDRESS, port), handler)


def serve(site: Path, port: int) -> None:
    """Serve a site until the user interrupts; print its address."""
    try:
        server = server_of(site, port)
    except OSError:  # somebody listens there
        server = server_of(site)
    with server:
        print(
            f"Open http://{ADDRESS}:{server.server_port}/ (Ctrl+C ends it)", flush=True
        )
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
