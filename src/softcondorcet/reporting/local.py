"""A finished page on this machine's own address, for the one who made it."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}


def server(html: str, port: int = 0) -> ThreadingHTTPServer:
    """A server of this page and nothing else, bound to 127.0.0.1; port 0 takes a free one."""
    body = html.encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200 if self.path == "/" else 404, body if self.path == "/" else b"not here: see /\n")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """No line per request: the terminal shows the table."""

    return ThreadingHTTPServer(("127.0.0.1", port), Page)
