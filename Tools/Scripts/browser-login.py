#!/usr/bin/env python3
"""Logs in through a real browser: headless Chromium types the mock org's user name and password.

    Tools/Scripts/browser-login.py            builds nothing; the tool is .build/debug/fieldforce
    Tools/Scripts/browser-login.py TOOL       with another tool
    Tools/Scripts/browser-login.py --if-there without Chromium, says so and succeeds

Goes through `fieldforce login --browser` in both flows, with a wrong password first, and checks that the
account that comes of it works. Needs Chromium; without it, it fails.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parents[2]
# Longer than any step takes, shorter than a person's patience.
PATIENCE = 60


class Browser:
    """Chromium without a window, driven over a pair of pipes by its DevTools protocol."""

    def __init__(self, program, folder):
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()

        def connect():
            # Chromium reads from 3 and writes to 4.
            ends = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(end, 100 + index) for index, end in enumerate(ends)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-dev-shm-usage", "--disable-background-networking", "--no-proxy-server",
                f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank",
            ],
            close_fds=False, preexec_fn=connect, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.unread = b""
        self.number = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call(
            "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    session = None

    def call(self, method, **parameters):
        """Calls a method of the page, or of the browser before there is one, and gives its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def read(self):
        while b"\0" not in self.unread:
            part = os.read(self.reader, 65536)
            if not part:
                raise RuntimeError("the browser ended")
            self.unread += part
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def evaluate(self, expression):
        try:
            result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        except RuntimeError:
            # The page is on its way to the next one.
            return None
        return result["result"].get("value")

    def wait_for(self, condition):
        """Waits until an expression holds on the page that is there then."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.evaluate(condition) is True:
                return
            time.sleep(0.05)
        text = self.evaluate("document.title + ': ' + document.body?.innerText")
        raise RuntimeError(f"the page never showed {condition}; it shows {text}")

    def type(self, field, text):
        """Types into an empty field, as keys would."""
        self.evaluate(f"(() => {{ const f = document.querySelector('{field}');"
                      " f.focus(); f.select(); })()")
        self.call("Input.insertText", text=text)

    def close(self):
        try:
            self.session = None
            os.write(self.writer, json.dumps(
                {"id": 0, "method": "Browser.close", "params": {}}).encode() + b"\0")
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def log_in(tool, browser, org, folder, options):
    """One login through the browser, with a state folder of its own."""
    state = folder / ("state" + "".join(options))
    pages = folder / ("pages" + "".join(options))
    os.mkfifo(pages)
    programs = folder / ("bin" + "".join(options))
    programs.mkdir()
    opener = programs / "xdg-open"
    opener.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$1\" > '{pages}'\n")
    opener.chmod(0o755)
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}")
    login = subprocess.Popen(
        [
            tool, "login", "--url", org["url"], "--browser", "--client-id", org["clientId"],
            "--redirect-uri", "http://localhost:0/OauthRedirect", "--state", str(state), "--json",
            *options,
        ],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # A file that leads to the login page, so that its URL is in no argument of a process.
        page = pathlib.Path(pages.read_text().strip())
        browser.call("Page.navigate", url=page.as_uri())
        form = "document.querySelector('#password') !== null && document.readyState == 'complete'"
        browser.wait_for(form)
        browser.type("#username", org["username"])
        browser.type("#password", "guessed")
        browser.evaluate("document.querySelector('#Login').click()")
        browser.wait_for("document.querySelector('.problem') !== null && " + form)
        browser.type("#username", org["username"])
        browser.type("#password", org["password"])
        browser.evaluate("document.querySelector('#Login').click()")
        browser.wait_for("document.body?.innerText.includes('You are logged in') === true")
        address = browser.evaluate("location.href")
        if "access_token" in address:
            raise RuntimeError("the tokens are still in the browser's address")
        output, errors = login.communicate(timeout=PATIENCE)
    except BaseException:
        login.kill()
        login.wait()
        raise
    if login.returncode != 0:
        raise RuntimeError(f"fieldforce login failed: {errors}")
    account = json.loads(output)
    assert account["username"] == org["username"], account
    assert account["userId"] == org["userId"], account
    limits = subprocess.run(
        [tool, "rest", "GET", "/limits", "--state", str(state), "--json"],
        capture_output=True, text=True, timeout=PATIENCE)
    if limits.returncode != 0:
        raise RuntimeError(f"the account does not work: {limits.stderr}")
    return account


def main():
    arguments = sys.argv[1:]
    may_skip = "--if-there" in arguments
    tool = next((argument for argument in arguments if argument != "--if-there"),
                str(root / ".build/debug/fieldforce"))
    program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])),
                   None)
    if program is None:
        print("NOT TRIED: there is no Chromium here to log in with", file=sys.stderr)
        sys.exit(0 if may_skip else 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = subprocess.Popen([tool, "org", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
        browser = None
        try:
            org = json.loads(server.stdout.readline())
            browser = Browser(program, folder / "profile")
            for options in [[], ["--user-agent-flow"]]:
                start = time.monotonic()
                account = log_in(tool, browser, org, folder, options)
                print(f"logged in as {account['username']} {' '.join(options)}"
                      f"({time.monotonic() - start:.1f} s)", file=sys.stderr)
        finally:
            if browser:
                browser.close()
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
