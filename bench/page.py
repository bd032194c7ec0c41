#!/usr/bin/env python3
"""Measures the explorer's page where it has most to show, and the pictures of the command line.

usage: page.py [ATTEND]   ATTEND is build/release/cli/attend unless given

A model of random weights, 12 + 12 layers of 12 heads, reads and writes 512 tokens. Needs Debian's
chromium and chromium-driver.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/web"))
from webdriver import TWO_FRAMES, Browser  # noqa: E402

TOKENS = 511  # and the end of the sentence
HOVERS = 200
HEADS = [("encoder.3.self", "5"), ("decoder.7.self", "2"), ("decoder.4.cross", "11"), ("decoder.11.cross", "0")]
PICTURES = ["svg", "html", "json", "npy", "png"]
LARGE = ["--model.transformer.width", "384", "--model.transformer.heads", "12", "--model.transformer.feed-forward",
         "768", "--model.transformer.encoder-layers", "12", "--model.transformer.decoder-layers", "12"]

# Notes when a map has been drawn, and what a hover costs: its listeners, and the frame after them.
WATCH = f"""
    try {{ localStorage.setItem('attend-tour', 'seen'); }} catch {{}} // its note would lie over the map
    window.drawn = 0;
    const draw = CanvasRenderingContext2D.prototype.drawImage;
    CanvasRenderingContext2D.prototype.drawImage = function (...given) {{
      draw.apply(this, given);
      requestAnimationFrame(() => setTimeout(() => (window.drawn = performance.now())));
    }};
    window.hovers = [];
    addEventListener('pointermove', () => {{
      const hover = {{begin: performance.now()}};
      requestAnimationFrame((frame) => {{
        const {{port1, port2}} = new MessageChannel();
        port1.onmessage = () => {{
          hover.frame = performance.now() - Math.max(frame, hover.end);
          window.hovers.push(hover.end - hover.begin + hover.frame);
        }};
        port2.postMessage(0);
      }});
      window.hover = hover;
    }}, true);
    addEventListener('pointermove', () => (window.hover.end = performance.now()));"""


def make_model(attend, folder, name, *settings):
    """A model of random weights that knows the words of the sentence."""
    words = [f"{letter}{other}" for letter in "bdfghklmnp" for other in "aeiou"]
    (folder / "words.txt").write_text("\n".join(" ".join(words[i:] + words[:i]) for i in range(50)) + "\n")
    text = str(folder / "words.txt")
    subprocess.run([attend, "train", "--source", text, "--target", text, "--steps", "1", "--out", folder / name,
                    "--vocabulary.kind", "word", *settings], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return folder / name, words


def show(what, *figures):
    print(f"{what:<44}", *figures)


def spread(times):
    times = sorted(times)
    return (f"{statistics.median(times):.1f} in the middle, {times[int(len(times) * 0.95)]:.1f} at 95 %,"
            f" {times[-1]:.1f} at most of {len(times)}")


def pictures(attend, model, words):
    for kind in PICTURES:
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            subprocess.run([attend, "inspect", model, " ".join(words[:8]), "--target", " ".join(words[8:16]),
                            "--layer", "decoder.0.cross", "--head", "0", "--out", model.parent / f"map.{kind}"],
                           check=True, stdout=subprocess.DEVNULL)
            times.append((time.perf_counter() - begin) * 1000)
        show(f"one map as {kind}, ms", f"{min(times):.0f} at least, {statistics.median(times):.0f} in the middle")


def renderer_mb():
    """The memory of the largest renderer."""
    largest = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" not in (process / "cmdline").read_bytes():
                continue
            status = (process / "status").read_text()
        except OSError:
            continue
        largest = max(largest, int(status.split("VmRSS:")[1].split()[0]) / 1024)
    return f"{largest:.0f}"


def choose(browser, **state):
    """Changes the address, and gives the milliseconds until the page shows what it says."""
    return browser.run(f"""
        const begin = performance.now();
        window.drawn = 0;
        const hash = new URLSearchParams(location.hash.slice(1));
        for (const [key, value] of Object.entries(arguments[0])) hash.set(key, value);
        location.hash = hash;
        return (async () => {{
          do await {TWO_FRAMES}; while (window.waiting);
          return (window.drawn || performance.now()) - begin;
        }})();""", state)


def hover(browser, node):
    box = browser.run("const {x, y, width, height} = document.querySelector(arguments[0]).getBoundingClientRect();"
                      "return [x, y, width, Math.min(height, innerHeight - y)]", node)
    browser.run("window.hovers = []")
    for i in range(HOVERS):
        x, y = (0.15 + 0.7 * (i * 37 % 101) / 101), (0.2 + 0.7 * (i * 61 % 97) / 97)
        browser.hover(box[0] + box[2] * x, box[1] + box[3] * y)
    return browser.run("return window.hovers")


def page(attend, model, words):
    server = subprocess.Popen([attend, "explore", model, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        with urllib.request.urlopen(url) as answer:
            show("the page, KB", f"{len(answer.read()) / 1000:.0f}")
        text = " ".join(words[i % len(words)] for i in range(TOKENS))
        with Browser() as browser:
            browser.devtools("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
            look(browser, url, {"source": text, "target": text, "layer": HEADS[-1][0], "head": HEADS[-1][1]})
    finally:
        server.terminate()
        server.wait()


def look(browser, url, state):
    browser.open(f"{url}#{urllib.parse.urlencode(state)}")
    browser.wait("return window.drawn", seconds=120)
    answered, drawn = browser.run(
        "const runs = performance.getEntriesByType('resource').filter(({name}) => name.includes('/api/runs'));"
        "return [runs.find(({name}) => name.endsWith('/api/runs')).responseEnd, window.drawn]")
    show("from the answer to the first map, ms", f"{drawn - answered:.0f}")
    browser.settle()
    times = [choose(browser, part=layer.split(".")[2].replace("self", layer.split(".")[0]), layer=layer, head=head)
             for layer, head in HEADS * 3]
    show("another head, ms", spread(times))
    show("hovering where nothing is drawn, ms", spread(hover(browser, "header")))  # what the machine adds
    show("hovering over the matrix, ms", spread(hover(browser, ".matrix")))
    show("view heads, ms", f"{choose(browser, view='heads'):.0f}")
    show("hovering over the lines, ms", spread(hover(browser, ".heads")))
    for view in ("model", "time", "next"):
        show(f"view {view}, ms", f"{choose(browser, view=view):.0f}")
    choose(browser, view="matrix")
    show("the page's memory, MB", renderer_mb())


def main(attend=ROOT / "build/release/cli/attend"):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        pictures(attend, *make_model(attend, folder, "small", "--preset", "tiny"))
        page(attend, *make_model(attend, folder, "large", *LARGE))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
