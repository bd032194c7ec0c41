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

SLOW, LONG, REQUESTS = 8, 8, 200
VANISHING, ROUNDS, KEPT = 1000, 10, 32
EACH_WAY = 24  # clients that between them vanish in every way there is
SMALL = ["/", "/api/models", "/api/runs/1", "/api/runs/1/sequences", "/api/training/0", "/api/snapshots/0"]


class LongRuns:
    """So many runs at a time, each followed by another, until the block ends."""

    def __init__(self, server, source):
        self.server, self.request = server, server.post({"texts": {"source": source}, "beam": 16})
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
    for i in range(REQUESTS):
        begin = time.perf_counter()
        status, _ = server.get(paths[i % len(paths)])
        assert status == 200, f"{paths[i % len(paths)]}: {status}"
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
                .filter(({name}) => /models$|training|snapshots.[0-9]+$|sequences/.test(name)).map(({duration}) => duration)""")
    return times


def busy(attend, model, words):
    source = " ".join(words[i % len(words)] for i in range(500))
    with Server(attend, model) as server:
        server.run(texts={"source": " ".join(words[:8])}, output=" ".join(words[8:16]))
        show("small requests, nothing else, ms", spread(latencies(server, SMALL)))
        with SlowClients(server, SLOW), LongRuns(server, source) as runs:
            show("small requests meanwhile, ms", spread(latencies(server, SMALL)))
            show("those of a page in a browser, ms", spread(browse(server)))
            show("a small map meanwhile, ms", spread(latencies(server, ["/api/runs/1/map?reduction=mean"])))
            show("long runs begun, MB of their answers", f"{runs.begun}, {runs.octets / 1e6:.1f}")


def serve_others(server):
    """What the explorer keeps for later, it keeps now: the last runs, and what each of its threads holds. Clients that stay
    to the end ask for all that those who vanish ask for, eight at a time."""

    def client():
        server.get("/")
        for _ in range(KEPT // 8):
            events = server.run(texts={"source": "january " * 20}, beam=4)
            assert events[-1]["event"] == "done", events[-1]
            for view in ("map?reduction=mean", "saliency"):
                server.get(f"/api/runs/{events[0]['run']}/{view}")

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def vanishing(attend, model):
    with Server(attend, model) as server:
        idle = server.descriptors()
        fresh = server.memory()
        serve_others(server)
        for number in range(EACH_WAY):  # the program's own pages, such as the tables that exceptions need, are read now
            vanish(server, number)
        wait_until(lambda: server.descriptors() <= idle)
        server.rest()
        before = server.memory()
        show("memory of a fresh server, and after other clients", f"{fresh / 1e6:.1f} MB, {before / 1e6:.1f} MB")
        for round in range(ROUNDS):
            begin = time.perf_counter()
            for number in range(VANISHING):
                vanish(server, number)
            wait_until(lambda: server.descriptors() <= idle)
            server.rest()
            memory = server.memory()
            show(f"{VANISHING} clients vanish, round {round + 1}", f"{time.perf_counter() - begin:.1f} s,"
                 f" {memory / 1e6:.1f} MB ({100 * (memory / before - 1):+.1f} %), {server.descriptors()} descriptors of {idle}")


def main(attend=ROOT / "build/release/cli/attend"):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        vanishing(attend, make_model(attend, folder, "small", "--preset", "tiny")[0])
        busy(attend, *make_model(attend, folder, "large", *LARGE))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
