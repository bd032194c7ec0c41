#!/usr/bin/env python3
"""Measures how soon the explorer answers small requests while others keep it busy, and what vanished clients leave behind.

usage: abuse.py [ATTEND]   ATTEND is build/release/cli/attend unless given

A model of random weights, 12 + 12 layers of 12 heads, writes 8 long outputs; 8 clients send a byte every tenth of a
second; a browser shows the page. Needs Debian's chromium and chromium-driver.
"""
import pathlib
import sys
import tempfile
import threading
import time

from page import LARGE, ROOT, make_model, show, spread

from abuse import Server, SlowClients, vanish, wait_until  # noqa: E402, found by what page.py adds
from webdriver import Browser  # noqa: E402

SLOW, LONG, VANISHING, ROUNDS = 8, 8, 1000, 200
SMALL = ["/", "/api/models", "/api/runs/1", "/api/runs/1/labels?part=cross", "/api/training/0", "/api/snapshots/0"]


class LongRuns:
    """So many runs at a time, each followed by another, until the block ends."""

    def __init__(self, server, source):
        self.server, self.request = server, server.post({"source": source, "beam": 16})
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self._run) for _ in range(LONG)]
        self.begun, self.octets = 0, 0

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def _run(self):
        while not self.ended.is_set():
            self.begun += 1
            with self.server.connect() as client:
                client.sendall(self.request)
                while not self.ended.is_set() and (piece := client.recv(1 << 16)):
                    self.octets += len(piece)


def latencies(server, paths):
    """Milliseconds of requests, each on its own connection, one after the other."""
    times = []
    for i in range(ROUNDS):
        begin = time.perf_counter()
        server.get(paths[i % len(paths)])
        times.append((time.perf_counter() - begin) * 1000)
    return times


def browse(server):
    """Milliseconds of the small requests that the page itself sends."""
    times = []
    with Browser() as browser:
        for view in ("matrix", "training", "model") * 5:
            browser.open("about:blank")
            browser.open(f"http://{server.host}/?token={server.token}#view={view}")
            browser.wait("return document.querySelector('#model').options.length")
            browser.run("return new Promise((then) => setTimeout(then, 500))")
            times += browser.run("""return performance.getEntriesByType('resource')
                .filter(({name}) => /models$|training|snapshots.[0-9]+$|labels/.test(name)).map(({duration}) => duration)""")
    return times


def busy(attend, model, words):
    source = " ".join(words[i % len(words)] for i in range(500))
    with Server(attend, model) as server:
        server.run(source=" ".join(words[:8]), target=" ".join(words[8:16]))
        show("small requests, nothing else, ms", spread(latencies(server, SMALL)))
        with SlowClients(server, SLOW), LongRuns(server, source) as runs:
            show("small requests meanwhile, ms", spread(latencies(server, SMALL)))
            show("those of a page in a browser, ms", spread(browse(server)))
            show("a small map meanwhile, ms", spread(latencies(server, ["/api/runs/1/map?reduction=mean"])))
            show("long runs begun, MB of their answers", f"{runs.begun}, {runs.octets / 1e6:.1f}")


def vanishing(attend, model):
    with Server(attend, model) as server:
        idle = server.descriptors()
        server.run(source="ba be bi")
        for round in range(4):  # the first fills what is kept for later
            begin = time.perf_counter()
            for number in range(VANISHING):
                vanish(server, number)
            wait_until(lambda: server.descriptors() <= idle)
            show(f"{VANISHING} clients vanish, round {round}", f"{time.perf_counter() - begin:.1f} s,"
                 f" {server.memory() / 1e6:.1f} MB, {server.descriptors()} descriptors of {idle}")


def main(attend=ROOT / "build/release/cli/attend"):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        vanishing(attend, make_model(attend, folder, "small", "--preset", "tiny")[0])
        busy(attend, *make_model(attend, folder, "large", *LARGE))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
