"""The page on encoders: masked tokens, pairs of texts, labels, embeddings, and a base beside a tuned model.

Trains tiny models on a few lines, then drives the page in a browser.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import page
from page import PageTest, fetch, options, read_map, use_address, weight
from webdriver import Browser

ANIMALS, TOOLS = ["cat", "dog", "cow", "fox"], ["saw", "axe", "pen", "key"]
VERBS = ["sees", "wants", "finds"]
SENTENCE = "the cat sees a dog"


def write_texts(folder):
    texts, labels, pairs = [], [], []
    for label, words in (("animal", ANIMALS), ("tool", TOOLS)):
        for i, first in enumerate(words):
            for verb in VERBS:
                other = words[(i + 1) % len(words)]
                texts.append(f"the {first} {verb} a {other}")
                labels.append(label)
                pairs.append((f"the {first} {verb}", f"a {other}", "same" if verb == "sees" else "other"))
    (folder / "texts.tsv").write_text("".join(f"{text}\t{label}\n" for text, label in zip(texts, labels)))
    (folder / "pairs.tsv").write_text("".join("\t".join(pair) + "\n" for pair in pairs))


def train(attend, folder):
    """A masked model, one tuned to label from it, one of pairs, and word vectors; gives their directories."""
    write_texts(folder)

    def run(name, *arguments):
        subprocess.run([attend, "train", *arguments, "--out", folder / name, "--threads", "2"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return folder / name

    small = [word for key, value in (("width", 32), ("layers", 2), ("heads", 2))
             for word in (f"--model.bert.{key}", str(value))]
    texts, pairs = folder / "texts.tsv", folder / "pairs.tsv"
    base = run("base", "--preset", "bert-tiny", *small, "--text", f"{texts}:1", "--vocabulary.kind", "word",
               "--training.steps", "60")
    tuned = run("tuned", "--init-from", base, "--text", f"{texts}:1", "--label", f"{texts}:2",
                "--training.steps", "40")
    pair = run("pairs", "--init-from", base, "--text", f"{pairs}:1", "--pair", f"{pairs}:2", "--label", f"{pairs}:3",
               "--training.steps", "20")
    vectors = run("vectors", "--preset", "cbow", "--text", f"{texts}:1", "--vocabulary.minimum-count", "1",
                  "--model.word2vec.width", "16", "--training.steps", "20")
    return [base, tuned, pair, vectors]


BASE, TUNED, PAIRS, VECTORS = range(4)


class EncodersTest(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(options.chromium, options.chromedriver, slowness=options.slowness, dark=options.dark,
                              width=options.width, height=800)
        cls.browser.open(options.address)  # the tour is shown once
        cls.browser.wait("return !document.querySelector('#tour').hidden")
        cls.models = json.loads(fetch("/api/models"))["models"]

    def open_run(self, model, view, source=SENTENCE, **state):
        """Opens a view of a run by a link, and waits until it stands there."""
        self.browser.open("about:blank")
        link = {"model": model, "view": view, "source": source, **state}
        self.browser.open(f"{options.url}/#" + page.urllib.parse.urlencode(link))
        self.wait_for_models()
        self.browser.wait("return document.querySelector('#written').ariaBusy === 'false'")
        self.browser.settle()

    def texts_of(self, css):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)",
                                css)

    def shown_tabs(self):
        return self.browser.run("return [...document.querySelectorAll('[role=tab]')]"
                                ".filter((tab) => !tab.hidden).map((tab) => tab.value)")

    def take_picture(self, name):
        if options.pictures:
            self.browser.screenshot(options.pictures / f"{name}-{options.width}-{'dark' if options.dark else 'light'}.png")

    def test_masked_tokens_are_those_that_were_sent(self):
        self.open_run(BASE, "masked")
        self.browser.wait("return document.querySelectorAll('.place').length")
        places = json.loads(fetch(self.last_request("/masked?")))["places"]
        self.assertEqual([place["token"] for place in places], SENTENCE.split())
        self.assertEqual(self.texts_of(".masked button"), SENTENCE.split())
        for number, place in enumerate(places):
            card = f".place:nth-child({number + 1})"
            self.assertIn(f"rank {place['rank']}", self.texts_of(f"{card} h3")[0])
            names = [name for name, _ in place["likeliest"]]
            if place["token"] not in names:
                names.append(place["token"])
            self.assertEqual(self.texts_of(f"{card} bdi")[1:], names)
            self.assertEqual(self.texts_of(f"{card} [aria-current] bdi"), [place["token"]])
        self.take_picture("masked")

    def test_masked_tokens_are_walked_through_by_keys(self):
        self.open_run(BASE, "masked")
        self.browser.wait("return document.querySelectorAll('.place').length")
        self.browser.focus(".masked button")
        self.browser.keys("ArrowRight", "ArrowRight")
        self.assertEqual(self.state()["place"], "2")
        self.assertEqual(self.texts_of(".place.now h3 bdi"), ["sees"])
        self.browser.click(".masked button:nth-child(5)")
        self.assertEqual(self.state()["place"], "4")
        self.assertEqual(self.texts_of(".place.now h3 bdi"), ["dog"])

    def test_only_models_that_have_a_view_offer_it(self):
        self.open_run(BASE, "matrix")
        self.assertIn("masked", self.shown_tabs())
        self.open_run(TUNED, "matrix")
        self.assertNotIn("masked", self.shown_tabs())
        self.open_run(TUNED, "masked")  # a link says why
        self.browser.wait("return document.querySelector('.empty')")
        self.assertIn("masked", self.shown_tabs())

    def test_what_one_text_sees_of_the_other(self):
        others = json.dumps(["a dog"])
        layer = self.models[PAIRS]["layers"][0]["name"]
        self.open_run(PAIRS, "matrix", source="the cat sees", others=others, layer=layer, head="1", pair="texts/texts")
        whole = read_map(fetch(self.last_request("/map?")))
        self.assertEqual(len(whole), 5 + 3)
        self.take_picture("pair")
        self.choose(0, "text/pair")
        self.browser.settle()
        self.assertEqual(self.state()["pair"], "text/pair")
        block = self.last_request("queries=text&keys=pair")
        self.browser.settle()
        self.choose(1, layer)
        self.choose(2, "1")
        self.browser.settle()
        request = self.last_request(f"layer={layer}")
        self.assertIn("keys=pair", request)
        self.assertEqual(read_map(fetch(request)), [row[5:] for row in whole[:5]])
        self.assertTrue(block)
        self.take_picture("block")

    def test_a_cell_of_a_block_is_that_of_the_whole(self):
        layer = self.models[PAIRS]["layers"][0]["name"]
        self.open_run(PAIRS, "matrix", source="the cat sees", others=json.dumps(["a dog"]), layer=layer, head="0",
                      pair="pair/text", row=1, column=2)
        self.browser.wait("return !document.querySelector('.arithmetic').hidden")
        cell = json.loads(fetch(self.last_request("/cell?")))
        self.assertEqual((cell["query"]["index"], cell["key"]["index"]), (5 + 1, 2))
        self.assertEqual(self.browser.text(".readout .value"), weight(cell["weight"]))

    def test_all_heads_of_a_block(self):
        self.open_run(PAIRS, "model", source="the cat sees", others=json.dumps(["a dog"]), pair="text/pair")
        self.browser.wait("return document.querySelectorAll('.overview button').length")
        self.assertIn("keys=pair", self.last_request("/thumbnails?"))

    def test_saliency_has_a_row_for_each_label(self):
        self.open_run(TUNED, "saliency")
        found = json.loads(fetch(self.last_request("/labels?")))
        self.assertEqual(sorted(each["label"] for each in found["labels"]), ["animal", "tool"])
        self.browser.wait("return !document.querySelector('#view figure').hidden")
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown")
        shown = self.texts_of("figcaption output")[0]
        self.assertEqual(shown, weight(found["values"][1][2]))
        self.take_picture("labels")
        for method in ("integrated", "leave-out"):
            self.browser.click(f"#controls button[value={method}]")
            self.browser.settle()
            self.assertIn(method, self.last_request("/labels?"))

    def test_texts_are_points_of_their_labels(self):
        self.open_run(TUNED, "points")
        self.browser.wait("return document.querySelectorAll('.plot circle, .plot g rect').length >= 10")
        self.assertFalse(self.browser.run("return document.querySelector('#composer').checkVisibility()"))
        keys = self.texts_of(".key-of-labels bdi")
        self.assertEqual(keys, ["animal", "tool"])
        self.browser.focus(".plot-of-points")
        self.browser.keys("ArrowRight", "ArrowRight")
        text = self.browser.text(".point .text")
        label = self.browser.text(".point h3")
        first = text.split()[1]
        self.assertEqual(label, "animal" if first in ANIMALS else "tool")
        x, y = self.browser.run("const box = document.querySelector('.plot .near').getBoundingClientRect();"
                                "return [box.left + box.width / 2, box.top + box.height / 2]")
        self.browser.keys("Escape")
        self.browser.hover(x, y)
        self.assertEqual(self.browser.text(".point .text").split()[1] in ANIMALS, label == "animal")
        self.take_picture("points")
        count = "return document.querySelectorAll('.plot .gone').length"
        self.browser.click(".key-of-labels button")
        self.assertGreater(self.browser.run(count), 0)
        self.browser.click(".key-of-labels button")
        self.assertEqual(self.browser.run(count), 0)

    def test_lines_of_ones_own_are_points(self):
        self.open_run(BASE, "points", points="lines", projection="tsne", perplexity=5)
        self.browser.wait("return document.querySelector('.own-lines').checkVisibility()")
        lines = "\n".join(f"the {word} sees\t{label}" for label, words in (("a", ANIMALS), ("b", TOOLS)) for word in words)
        self.browser.run("document.querySelector('.own-lines textarea').value = arguments[0]", lines)
        self.browser.click(".own-lines button")
        self.browser.wait("return document.querySelectorAll('.plot circle').length === 8")
        self.assertEqual(self.texts_of(".key-of-labels bdi"), ["a", "b"])
        self.take_picture("lines")
        self.browser.run("document.querySelector('.own-lines textarea').value = 'one'")
        self.browser.click(".own-lines button")
        self.browser.wait("return !document.querySelector('#notice').hidden")
        self.assertIn("at least 5", self.browser.text("#notice"))

    def test_words_of_word_vectors_have_their_names(self):
        self.open_run(VECTORS, "points")
        self.browser.wait("return document.querySelectorAll('.plot .names text').length")
        self.assertIn("cat", self.texts_of(".plot .names text"))
        self.take_picture("words")

    def test_embeddings_are_saved(self):
        self.open_run(TUNED, "points")
        self.browser.wait("return document.querySelectorAll('.plot circle').length")
        saved = self.save_all()
        self.assertIn(b"<circle", saved["svg"])
        self.assertEqual(len(json.loads(saved["json"])["data"]["points"]), 24)

    def test_a_base_stands_beside_the_tuned_model(self):
        self.open_run(BASE, "compare", model2=TUNED, compare="models", layer="layers.1.self", head="0")
        self.browser.wait("return !document.querySelector('.change').hidden")
        change = json.loads(fetch(self.last_request("/change?")))
        names = [layer["name"] for layer in change["layers"]]
        self.assertEqual(names, ["embedding", "layers.0", "layers.1"])
        self.assertEqual(self.texts_of(".layers-changed span:first-child"), names)
        self.assertGreater(max(layer["weights"] for layer in change["layers"]), 0)
        self.assertEqual(change["items"], ["<s>", *SENTENCE.split(), "</s>"])
        titles = self.texts_of("#view .panels figcaption span")
        self.assertEqual(sum("layers.1.self, head 0" in title for title in titles), 2)
        self.take_picture("change")

    def test_models_that_have_nothing_in_common_are_compared_without_a_change(self):
        self.open_run(BASE, "compare", model2=VECTORS, compare="models")
        self.browser.settle()
        self.assertFalse(self.browser.run("return document.querySelector('.change').checkVisibility()"))

    def test_all_views_of_all_models_open(self):
        for model in range(len(self.models)):
            self.open_run(model, "matrix")
            for view in self.shown_tabs():
                with self.subTest(model=model, view=view):
                    self.browser.click(f"[role=tab][value={view}]")
                    self.browser.wait("return document.querySelector('#view').textContent.length > 0")
                    self.browser.settle()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attend")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--chromedriver", default="chromedriver")
    parser.add_argument("--slowness", type=int, default=1, help="of the browser; more shows what was not waited for")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280, help="of the window")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for a picture of each view")
    parser.add_argument("--models", type=pathlib.Path, help="folder where models are kept for the next time")
    parser.add_argument("--only", action="append", help="names of tests")
    parser.parse_args(namespace=options)
    for program in (options.chromium, options.chromedriver):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program}; install Debian's chromium and chromium-driver")
            return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.models or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        names = ["base", "tuned", "pairs", "vectors"]
        kept = all((folder / name / "model.safetensors").exists() for name in names)
        models = [folder / name for name in names] if kept else train(options.attend, folder)
        server = subprocess.Popen([options.attend, "explore", *models, "--port", "0"],
                                  stdout=subprocess.PIPE, text=True)
        try:
            use_address(server.stdout.readline().strip())
            only = [word for name in options.only or [] for word in ("-k", name)]
            tests = unittest.main(argv=[sys.argv[0], *only], verbosity=2, exit=False)
            return not tests.result.wasSuccessful()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
