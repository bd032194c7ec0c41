#!/usr/bin/env python3
"""Makes the pictures of the documentation: of the page in a browser, and of maps from the command line.

usage: make.py ATTEND MODEL SENTENCE [CLASSIFIER TEXT]
  MODEL        translates and has several layers, such as those of recipes/multi30k and debian-de
  CLASSIFIER   gives labels to texts, such as whether a sentence about a film praises it (SST-2)
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/web"))
from webdriver import Browser  # noqa: E402

LAYER = "decoder.2.cross"
PAGES = [("matrix", False, {"view": "matrix", "layer": LAYER, "head": "mean"}),
         ("heads-dark", True, {"view": "heads", "layer": LAYER, "head": "3"}),
         ("model", False, {"view": "model"}),
         ("beam-dark", True, {"view": "beam"}),
         ("saliency", False, {"view": "saliency", "layer": LAYER, "head": "mean"}),
         ("training", False, {"view": "training"})]
OF_CLASSIFIER = [("embeddings", False, {"view": "points", "projection": "tsne", "most": 1000}),
                 ("labels", False, {"view": "saliency", "saliency": "leave-out"})]


def photograph(url, sentence, name, dark, state, size=(1280, 800)):
    with Browser(width=size[0], height=size[1], dark=dark) as browser:
        browser.open(url)
        browser.wait("return !document.querySelector('#tour').hidden")
        browser.click("#tour .quiet")
        browser.run("location.hash = new URLSearchParams(arguments[0])",
                    {**state, "source": sentence})
        browser.wait("return document.querySelector('#written').ariaBusy === 'false'"
                     " && document.querySelector('#written').textContent")
        browser.settle()
        browser.screenshot(HERE / f"{name}.png")


def photograph_all(attend, model, sentence, pages, phone=None):
    server = subprocess.Popen([attend, "explore", model, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        for name, dark, state in pages:
            photograph(url, sentence, name, dark, state)
        if phone:
            photograph(url, sentence, "phone", False, phone, (390, 844))
    finally:
        server.terminate()
        server.wait()


def main(attend, model, sentence, classifier=None, text=None):
    if classifier:
        photograph_all(attend, classifier, text, OF_CLASSIFIER)
    photograph_all(attend, model, sentence, PAGES, PAGES[0][2])
    subprocess.run([attend, "inspect", model, sentence, "--layer", LAYER, "--head", "all", "--out",
                    HERE / "heads.svg"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
