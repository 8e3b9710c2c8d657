#!/usr/bin/env python3
"""First paint of reports in Chromium: first_paint.py [-n TIMES] REPORT.html...

Every launch is a fresh browser with a fresh profile, so that nothing is cached; files take turns. Prints, for each file,
its size and the median and range of first paint, first contentful paint and the load event, in milliseconds after the
navigation began (W3C Paint Timing, Navigation Timing), as the browser itself reports them over its debugging protocol.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import socket
import statistics
import struct
import subprocess
import tempfile
import time
import urllib.request

ASKED = """JSON.stringify({
  paints: performance.getEntriesByType('paint').map(entry => [entry.name, entry.startTime]),
  load: performance.getEntriesByType('navigation')[0].loadEventEnd,
})"""


class Page:
    """One page of a browser, asked over a web socket (RFC 6455) without extensions."""

    def __init__(self, address):
        host, port, path = re.match(r"ws://([^:/]+):(\d+)(/.*)", address).groups()
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self.socket.recv(1)
        self.number = 0

    def ask(self, method, **parameters):
        self.number += 1
        text = json.dumps({"id": self.number, "method": method, "params": parameters}).encode()
        mask = os.urandom(4)
        size = struct.pack("!BBH", 0x81, 0x80 | 126, len(text))
        self.socket.sendall(size + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(text)))
        while True:
            reply = json.loads(self.message())
            if reply.get("id") == self.number:
                return reply

    def message(self):
        whole = b""
        while True:
            first, size = self.exactly(2)
            size &= 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self.exactly(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self.exactly(8))
            whole += self.exactly(size)
            if first & 0x80:
                return whole

    def exactly(self, size):
        data = b""
        while len(data) < size:
            data += self.socket.recv(size - len(data))
        return data


def launch(report):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        command += ["--window-size=1440,900", "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            said = pathlib.Path(profile, "DevToolsActivePort")
            while not said.exists() or len(said.read_text().splitlines()) < 2:
                time.sleep(0.05)
            port = said.read_text().splitlines()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                pages = json.load(answer)
            page = Page(next(page for page in pages if page["type"] == "page")["webSocketDebuggerUrl"])
            page.ask("Page.navigate", url=report.resolve().as_uri())
            while True:
                time.sleep(0.2)
                reply = page.ask("Runtime.evaluate", expression=ASKED)
                seen = json.loads(reply["result"]["result"]["value"])
                if seen["load"] > 0 and seen["paints"]:
                    return {**dict(seen["paints"]), "load": seen["load"]}
        finally:
            browser.terminate()
            browser.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=7, help="launches of each file")
    parser.add_argument("reports", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    seen = {report: [] for report in arguments.reports}
    for _ in range(arguments.n):
        for report in arguments.reports:
            seen[report].append(launch(report))
    for report, launches in seen.items():
        print(f"{report}: {report.stat().st_size / 1e6:.2f} MB")
        for name in sorted(launches[0]):
            values = [launch[name] for launch in launches if name in launch]
            print(f"  {name:24} {statistics.median(values):6.0f} ms ({min(values):.0f} to {max(values):.0f})")


if __name__ == "__main__":
    main()
