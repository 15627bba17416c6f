"""Transports that let clients, which always write https, reach a mock org on this machine.

Only the transport knows; the clients themselves are unmodified. Whatever host a client makes up
(`x.salesforce.com`) leads to the one mock org.
"""

from urllib.parse import urlsplit, urlunsplit

import requests
from requests.adapters import HTTPAdapter


class PlainLoopback(HTTPAdapter):
    def __init__(self, url):
        self.target = urlsplit(url)
        super().__init__()

    def send(self, request, *args, **kwargs):
        parts = urlsplit(request.url)
        request.url = urlunsplit(
            (self.target.scheme, self.target.netloc, parts.path, parts.query, "")
        )
        request.headers["Host"] = self.target.netloc
        return super().send(request, *args, **kwargs)


def session(url):
    made = requests.Session()
    made.mount("https://", PlainLoopback(url))
    return made


class Cases:
    """Counts cases and stops at the first that does not hold."""

    def __init__(self):
        self.passed = 0

    def __call__(self, name, holds):
        if not holds:
            raise SystemExit(f"FAILED: {name}")
        self.passed += 1
