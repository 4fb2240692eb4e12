"""A headless Chromium over its debugging pipe, with the standard library alone: open a page, run script, move the pointer,
take pictures; what it asked the network for and what its console said are kept.

FOXHUNT_BROWSER names the program; else chromium or google-chrome of the PATH.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def program():
    """The browser's path, or None."""
    named = os.environ.get("FOXHUNT_BROWSER")
    if named is not None:
        return named if shutil.which(named) else None
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    def __init__(self, timeout=120):
        self.timeout, self.number, self.buffer, self.events = timeout, 0, b"", []
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def wire():  # the browser reads commands from 3 and answers on 4
            spare_in, spare_out = os.dup(to_browser), os.dup(from_browser)
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        environment["HOME"] = self.profile.name
        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", f"--user-data-dir={self.profile.name}",
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=wire, env=environment, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        target = self.call("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write_end)
        os.close(self.read_end)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.read_end, 1 << 20) if ready else b""
            if not chunk:
                raise TimeoutError("the browser does not answer" if not ready else "the browser is gone")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, params=None, session="own"):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if session == "own" and self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, height=900, dark=False, touch=False):
        """Events of earlier pages are forgotten."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch})
        self.call("Emulation.setEmulatedMedia",
                  {"media": "", "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.call("Page.navigate", {"url": f"file://{path}"})
        deadline = time.monotonic() + self.timeout
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._receive(deadline))
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script):
        """The value of an expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def point_at(self, x, y):
        self.call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def requests(self):
        """Addresses that were asked for, but data: and the page itself."""
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith("data:")]

    def complaints(self):
        """What the console and the log said that no page should make them say, and exceptions."""
        said = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                said.append(event["params"])
            if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning", "assert"):
                said.append(event["params"])
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"):
                said.append(event["params"]["entry"])
        return said

    def picture(self, file, whole=True):
        params = {"format": "png"}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            params |= {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size["width"],
                                                               "height": size["height"], "scale": 1}}
        data = base64.b64decode(self.call("Page.captureScreenshot", params)["data"])
        with open(file, "wb") as out:
            out.write(data)
        return data
