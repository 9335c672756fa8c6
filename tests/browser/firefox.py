"""Firefox, driven by the WebDriver BiDi protocol that it speaks itself (https://w3c.github.io/webdriver-bidi)."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import websocket

SECONDS = 300  # for one answer


class Firefox:
    """One window. `address` opens a page; `evaluate` gives the value of an expression, which may be a promise."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, suppress_origin=True, timeout=SECONDS)
        self._sent = 0
        self._call("session.new", capabilities={})
        self._window = self._call("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, address: str) -> None:
        self._call("browsingContext.navigate", context=self._window, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value must be one that JSON can hold. Raises RuntimeError for what the page throws."""
        code = f"(async () => JSON.stringify((await ({expression})) ?? null))()"
        found = self._call("script.evaluate", expression=code, target={"context": self._window}, awaitPromise=True)
        if found["type"] != "success":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return json.loads(found["result"]["value"])

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._sent:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return dict(answer["result"])

    def close(self) -> None:
        self._socket.close()


@contextmanager
def firefox() -> Iterator[Firefox]:
    """A running Firefox with a profile of its own. Raises FileNotFoundError if it is not installed."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        raise FileNotFoundError("Firefox is missing: install Debian's package `firefox-esr`.")
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as profile:
        command = [program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        running = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={"HOME": profile, "PATH": "/usr/bin"}
        )
        try:
            assert running.stderr is not None
            address = next(line.split()[-1] for line in running.stderr if "WebDriver BiDi listening on" in line)
            threading.Thread(target=running.stderr.read, daemon=True).start()  # so that the pipe never fills
            window = Firefox(f"{address}/session")
            yield window
            window.close()
        finally:
            running.terminate()
            running.communicate()
