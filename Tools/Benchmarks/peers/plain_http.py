"""A requests session that speaks plain http to loopback, for clients that always write https."""

import requests
from requests.adapters import HTTPAdapter


class PlainLoopback(HTTPAdapter):
    def send(self, request, *args, **kwargs):
        request.url = request.url.replace("https://", "http://", 1)
        return super().send(request, *args, **kwargs)


def session():
    session = requests.Session()
    session.mount("https://127.0.0.1", PlainLoopback())
    return session
