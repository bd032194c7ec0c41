"""Drives the page of the explorer in a real browser, by mouse and by keyboard.

usage: explore_test.py ATTEND MODEL... [--sentence TEXT] [--chromium PATH] [--chromedriver PATH]
The first model must write and have cross attention. Exits with 77 where there is no browser.
"""
import argparse
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
import xml.etree.ElementTree

from webdriver import Browser

SVG = "{http://www.w3.org/2000/svg}"
VIEWS = ["matrix", "heads", "model", "time", "beam", "next", "saliency", "compare", "training"]
options = None


def fetch(path):
    with urllib.request.urlopen(options.url + path) as response:
        return response.read()


def read_map(octets):
    """The rows of a map as the server sends it."""
    rows, columns = struct.unpack_from("<II", octets)
    values = struct.unpack_from(f"<{rows * columns}f", octets, 8)
    return [values[row * columns:(row + 1) * columns] for row in range(rows)]


def weight(value):
    """A weight as the page writes it."""
    if not value or abs(value) >= 0.01:
        return f"{value:.3f}"
    return f"{value:.1e}".replace("e-0", "e-") if abs(value) < 0.001 else f"{value:.2g}"


class ExploreTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(options.chromium, options.chromedriver)
        cls.models = json.loads(fetch("/api/models"))["models"]
        cls.layer = next(layer for layer in cls.models[0]["layers"] if layer["part"] == "cross")

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.requests()
        self.browser.complaints()
        self.browser.open(options.url)
        self.browser.wait("return document.querySelector('#model').options.length")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def write(self, sentence):
        """Types a sentence as a person does, and waits until its output stands there."""
        self.browser.type("#source", sentence)
        self.browser.requests()  # what was asked for another sentence is not to be found below
        self.browser.keys("Enter")
        self.wait_until_written()

    def choose(self, select, value):
        """Chooses from a select of the picker, once the value stands there to be chosen."""
        self.browser.wait("const select = document.querySelectorAll('.picker select')[arguments[0]];"
                          "if (![...select.options].some(({value}) => value === arguments[1])) return false;"
                          "select.value = arguments[1]; select.dispatchEvent(new Event('change')); return true",
                          select, value)

    def write_and_open_a_head(self):
        """Opens a head of the first cross layer; gives the rows of its map as the server sent it."""
        self.write(options.sentence)
        self.choose(1, self.layer["name"])
        self.choose(2, "0")
        self.wait_for_state("head", "0")
        address = self.last_request("head=0")
        self.browser.settle()
        return read_map(fetch(address))

    def open_link(self, **state):
        """Opens the page by a link, and waits until its output stands there."""
        self.browser.open("about:blank")
        self.browser.open(f"{options.url}/#{urllib.parse.urlencode(state)}")
        self.wait_until_written()

    def wait_until_written(self):
        self.browser.wait("return document.querySelector('#written').ariaBusy === 'false'"
                          " && document.querySelector('#written').textContent")

    def open_every_view(self):
        for view in VIEWS:
            self.browser.click(f"[role=tab][value={view}]")
            self.browser.wait("return document.querySelector('#view').textContent.length > 0")
            self.browser.settle()

    def find_model(self, holds, what):
        found = next((model["id"] for model in self.models if holds(model)), None)
        if found is None:
            self.skipTest(f"the explorer has no model {what}")
        return found

    def last_request(self, part):
        """The newest request of the page whose address has `part` in it."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for url in reversed(self.browser.requests()):
                if part in url:
                    return url.removeprefix(options.url)
            time.sleep(0.05)
        raise TimeoutError(f"nobody asked for {part}")

    def pass_time(self):
        """Half a second of the page's own clock: all it had set for earlier has come."""
        self.browser.run("return new Promise((then) => setTimeout(then, 500))")

    def state(self):
        return self.browser.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def wait_for_state(self, key, value):
        self.browser.wait("return new URLSearchParams(location.hash.slice(1)).get(arguments[0]) === arguments[1]",
                          key, value)

    def test_writes_a_sentence(self):
        self.write(options.sentence)
        body = json.dumps({"source": options.sentence, "beam": 4}).encode()
        with urllib.request.urlopen(options.url + "/api/runs", body) as events:
            done = json.loads(list(events)[-1])
        self.assertEqual(self.browser.text("#written").strip(), done["text"])
        self.assertEqual(self.state()["source"], options.sentence)

    def test_number_under_the_mouse_is_the_weight_that_was_sent(self):
        rows = self.write_and_open_a_head()
        box = self.browser.run("const box = document.querySelector('.matrix canvas').getBoundingClientRect();"
                               "return [box.left, box.top, box.height]")
        x, y = box[0] + 150, box[1] + box[2] * 0.6
        self.browser.hover(x, y)
        shown = self.browser.text(".readout .value")
        self.browser.click_at(x, y)
        state = self.state()
        self.assertEqual(shown, weight(rows[int(state['row'])][int(state['column'])]))

    def test_arrow_keys_walk_through_the_cells(self):
        rows = self.write_and_open_a_head()
        self.browser.run("document.querySelector('.matrix').focus()")
        self.browser.keys("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown")
        state = self.state()
        self.assertEqual((state["row"], state["column"]), ("1", "2"))
        self.assertEqual(self.browser.text(".readout .value"), weight(rows[1][2]))

    def test_rows_of_weights_sum_to_one(self):
        for row in self.write_and_open_a_head():
            self.assertAlmostEqual(sum(row), 1, places=4)

    def test_views_open_by_mouse(self):
        self.write(options.sentence)
        for view in VIEWS:
            self.browser.click(f"[role=tab][value={view}]")
            self.browser.wait("return document.querySelector('[aria-selected=true]').value === arguments[0]", view)
            self.browser.wait("return document.querySelector('#view').textContent.length > 0")

    def test_views_open_by_keyboard(self):
        self.write(options.sentence)
        self.browser.run("document.activeElement.blur()")
        for number, view in enumerate(VIEWS, 1):
            self.browser.keys(str(number))
            self.browser.wait("return document.querySelector('[aria-selected=true]').value === arguments[0]", view)

    def test_a_small_map_opens_its_head(self):
        self.write(options.sentence)
        self.browser.click("[role=tab][value=model]")
        self.browser.wait("return document.querySelector('.overview button')")
        self.browser.click(".overview button")
        self.wait_for_state("head", "0")
        self.assertEqual(self.state()["layer"], self.layer["name"])

    def test_another_hypothesis_shows_its_attention(self):
        self.write(options.sentence)
        self.browser.click("[role=tab][value=beam]")
        self.browser.wait("return document.querySelector('.tree g[data-id]')")
        self.browser.run("document.querySelector('.scroller').scrollLeft = 0;"
                         "document.querySelector('.tree g.kept:not(.chosen)')"
                         ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.browser.wait("return new URLSearchParams(location.hash.slice(1)).get('path')")
        self.last_request("path=" + urllib.parse.quote(self.state()["path"], safe=""))

    def test_a_pruned_hypothesis_has_a_row_for_each_token_it_wrote(self):
        self.write(options.sentence)
        self.browser.click("[role=tab][value=beam]")
        self.browser.wait("return document.querySelector('.tree g[data-id]')")
        self.browser.run("document.querySelector('.scroller').scrollLeft = 0;"
                         "[...document.querySelectorAll('.tree g.pruned')]"
                         ".find((node) => !node.textContent.startsWith('</s>'))"
                         ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.browser.wait("return new URLSearchParams(location.hash.slice(1)).get('path')")
        length = len(self.state()["path"].split(","))
        self.browser.click("[role=tab][value=time]")
        self.browser.wait("return document.querySelector('.place')?.textContent === arguments[0]",
                          f"{length} of {length}")

    def test_zoom_has_ends_and_is_kept_in_the_link(self):
        is_at_end = "return document.querySelectorAll('#zoom button')[arguments[0]].disabled"
        self.write(options.sentence)
        self.browser.wait(is_at_end, 0)
        self.browser.run("document.querySelector('.matrix').focus()")
        self.browser.keys("ArrowDown", "ArrowRight", "+")
        self.wait_for_state("zoom", "150")
        self.browser.keys(*"++++++++")
        self.browser.wait(is_at_end, 1)
        self.pass_time()  # the address follows when the zoom has settled
        link = self.browser.run("return location.href")
        self.browser.open("about:blank")
        self.browser.open(link)
        self.wait_until_written()
        self.browser.wait(is_at_end, 1)
        self.assertEqual(self.browser.run("return location.href"), link)

    def test_escape_leaves_the_sentence(self):
        self.write(options.sentence)
        self.browser.keys("Escape", "5")
        self.wait_for_state("view", "beam")

    def test_saliency_offers_the_attention_it_shows(self):
        encoder = next(layer for layer in self.models[0]["layers"] if layer["part"] == "encoder")
        self.open_link(view="saliency", source=options.sentence, layer=encoder["name"], head="0")
        self.browser.wait("return document.querySelectorAll('figcaption')[1].textContent")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.picker select')]"
                                          ".slice(0, 2).map((select) => select.value)"), ["cross", "mean"])
        self.assertEqual(self.browser.run("return document.querySelector('.picker select').options.length"), 1)

    def test_models_are_called_by_the_ends_of_their_paths(self):
        names = self.browser.run("return [...document.querySelector('#model').options].map((name) => name.text)")
        for name, model in zip(names, self.models):
            self.assertTrue(model["name"].endswith(name))
        self.assertEqual(len(set(names)), len(names))

    def test_a_link_restores_the_view(self):
        self.browser.open("about:blank")
        query = urllib.parse.urlencode({"view": "time", "source": options.sentence, "layer": self.layer["name"],
                                        "head": "0", "step": "1"})
        self.browser.open(f"{options.url}/#{query}")
        self.browser.wait("return document.querySelector('.place')?.textContent.startsWith('2 of ')")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.picker select')[2].value"), "0")

    def test_exports_every_format_of_every_view(self):
        self.write(options.sentence)
        for view in VIEWS:
            with self.subTest(view):
                self.open_view_to_save(view)
                files = self.save_all()
                drawing = xml.etree.ElementTree.fromstring(files["svg"])
                texts = [text for node in drawing.iter(f"{SVG}text") for text in node.itertext()]
                self.assertTrue(texts)
                self.assertTrue(files["png"].startswith(b"\x89PNG"))
                self.assertIn(b"<svg", files["html"])
                self.assertEqual(options.sentence.encode() in files["html"].split(b"<svg")[0], view != "training")
                saved = json.loads(files["json"])
                self.assertTrue(saved["data"])
                self.assertIn({"model": "head 0", "training": "training"}.get(view, texts[0]), texts)
        self.assertEqual(self.browser.text("#notice"), "")

    def test_a_saved_map_has_the_weights_that_were_sent(self):
        rows = self.write_and_open_a_head()
        files = self.save_all()
        drawing = xml.etree.ElementTree.fromstring(files["svg"])
        cells = [rect for rect in drawing.iter(f"{SVG}rect") if len(rect)]
        self.assertEqual(len(cells), len(rows) * len(rows[0]))
        self.assertEqual(len(list(drawing.iter(f"{SVG}linearGradient"))), 1)  # the scale of the colours
        saved = json.loads(files["json"])["data"]
        self.assertEqual([[struct.unpack("<f", struct.pack("<f", value))[0] for value in row]
                          for row in saved["values"]], [list(row) for row in rows])

    def test_a_saved_comparison_names_both_inputs(self):
        self.open_link(view="compare", source="january", source2="may")
        self.open_view_to_save("compare")
        files = self.save_all()
        saved = json.loads(files["json"])
        self.assertEqual((saved["source"], saved["second"]["source"]), ("january", "may"))
        self.assertTrue(saved["second"]["output"])
        self.assertIn(b">may<", files["html"])

    def open_view_to_save(self, view):
        """Opens a view, and waits until it has something to save."""
        self.browser.click(f"[role=tab][value={view}]")
        self.browser.wait("return [...document.querySelectorAll('#view :is(.matrix, .heads, .scroller, figure) > *,"
                          " #view :is(canvas, .card, .tree g, .chart text)')].length")
        self.browser.settle()

    def save_all(self):
        with tempfile.TemporaryDirectory() as name:
            self.browser.save_downloads_in(name)
            return {kind: self.save(kind, pathlib.Path(name)) for kind in ("svg", "png", "html", "json")}

    def save(self, kind, folder):
        self.browser.click("#export summary")
        self.browser.click(f"#export button[value={kind}]")
        end = time.monotonic() + 20
        while time.monotonic() < end:
            done = [path for path in folder.iterdir() if path.suffix == f".{kind}"]
            if done and done[0].stat().st_size:
                time.sleep(0.1)
                return done[0].read_bytes()
            time.sleep(0.05)
        raise TimeoutError(f"no .{kind} was saved; {self.browser.text('#notice')}")

    def test_a_script_in_a_sentence_is_shown_and_not_run(self):
        sentence = "<script>window.ran=1</script> <img src=x onerror=window.ran=1>"
        self.write(sentence)
        for view in VIEWS:
            self.browser.run("document.querySelector(`[role=tab][value=${arguments[0]}]`).click()", view)
            self.browser.settle()
        self.assertIsNone(self.browser.run("return window.ran ?? null"))
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), sentence)
        self.assertEqual(self.browser.run("return document.querySelectorAll('script, img').length"), 1)

    def test_a_model_without_attention_says_so(self):
        plain = self.find_model(lambda model: not model["layers"], "without attention")
        self.browser.run("location.hash = 'model=' + arguments[0]", plain)
        self.write(options.sentence)
        self.assertIn("no attention", self.browser.text("#view"))
        self.browser.click("[role=tab][value=beam]")
        self.browser.wait("return document.querySelector('.tree g[data-id]')")
        self.browser.click("[role=tab][value=next]")
        self.browser.wait("return document.querySelector('.card')")
        self.browser.click("[role=tab][value=compare]")
        self.browser.wait("return document.querySelector('#view').textContent.includes('This model has no attention')")
        self.assertTrue(self.browser.run("return document.querySelector('.choice [value=heads]').hidden"))

    def test_training_shows_curves_and_a_slider_of_maps(self):
        self.browser.click("[role=tab][value=training]")
        self.browser.wait("return document.querySelector('#view').textContent.includes('loss')")
        steps = json.loads(fetch("/api/snapshots/0"))["steps"]
        self.browser.wait("return document.querySelector('.transport output').textContent === arguments[0]",
                          f"step {steps[-1]}")
        self.browser.run("const slider = document.querySelector('.transport input'); slider.value = 0;"
                         "slider.dispatchEvent(new Event('input'))")
        self.browser.wait("return document.querySelector('.transport output').textContent === arguments[0]",
                          f"step {steps[0]}")

    def test_right_to_left_text_and_emoji(self):
        sentence = "مرحبا بالعالم 👩‍👩‍👧 👍🏽"
        self.write(sentence)
        is_right_to_left = "return document.querySelector(arguments[0]).matches(':dir(rtl)')"
        self.assertTrue(self.browser.run(is_right_to_left, "#source"))
        labels = json.loads(fetch(self.last_request("/labels?")))
        self.assertEqual(len(labels["columns"]), len(sentence) + 1)  # and the end
        self.open_every_view()
        self.browser.click("[role=tab][value=compare]")
        self.assertTrue(self.browser.run(is_right_to_left, ".words"))

    def test_one_token(self):
        self.write("j")
        labels = json.loads(fetch(self.last_request("/labels?")))
        self.assertEqual(labels["columns"][0], "j")
        self.open_every_view()

    def test_two_thousand_tokens(self):
        months = "january may " * 167
        self.open_link(source=months[:2000].strip(), target="01", part="encoder")
        rows = read_map(fetch(self.last_request("/map?")))
        self.assertGreaterEqual(len(rows), 1999)
        self.browser.wait("return document.querySelector('.matrix canvas')")
        self.browser.run("document.querySelector('.matrix').focus()")
        self.browser.keys("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown")
        self.assertEqual(self.browser.text(".readout .value"), weight(rows[1][2]))
        with tempfile.TemporaryDirectory() as name:
            self.browser.save_downloads_in(name)
            self.assertLess(len(self.save("svg", pathlib.Path(name))), 1.5e7)
        self.open_every_view()

    def test_a_model_of_labels(self):
        model = self.find_model(lambda model: not model["writes"], "of labels")
        self.open_link(model=model, source="a fine film")
        self.assertEqual(self.browser.text("#written").strip(), "very good")
        self.assertEqual(self.browser.text("#write"), "Run")
        self.open_every_view()

    def test_a_model_of_bytes(self):
        self.open_the_model_of_bytes()
        self.write("é👍")
        self.assertEqual(len(self.shown_labels()["columns"]), 6 + 1)
        self.open_every_view()

    def test_another_sentence_stops_the_one_before(self):
        self.open_the_model_of_bytes()
        self.browser.type("#source", "september " * 80)
        self.browser.keys("Enter")
        self.write("é")
        self.assertEqual(len(self.shown_labels()["columns"]), 2 + 1)

    def test_a_late_answer_about_the_sentence_before_is_not_shown(self):
        """The map of one sentence comes while the next is written, whose first event never comes."""
        self.browser.click("[role=tab][value=time]")
        self.browser.run("""
            const fetched = window.fetch;
            window.isHeld = () => true;
            window.fetch = async (address, given) => {
              if (String(address).includes('/map?')) while (window.isHeld()) await new Promise(requestAnimationFrame);
              if (given?.method === 'POST' && given.body.includes('"may"')) await new Promise(() => {});
              return fetched(address, given);
            };""")
        self.write(options.sentence)
        self.browser.type("#source", "may")
        self.browser.keys("Enter")
        self.browser.wait("return document.querySelector('#written').ariaBusy === 'true'")
        self.browser.run("window.isHeld = () => false")
        self.pass_time()
        self.assertEqual(self.browser.text(".place"), "")

    def open_the_model_of_bytes(self):
        model = self.find_model(lambda model: model["name"].endswith("bytes"), "of bytes")
        self.browser.run("location.hash = 'model=' + arguments[0]", model)

    def shown_labels(self):
        return json.loads(fetch(self.last_request("/labels?")))

    def test_the_second_input_gets_the_given_output(self):
        self.open_link(view="compare", source="january", source2="may", target="09")
        self.browser.wait("return document.querySelectorAll('.outputs p').length === 2 &&"
                          " [...document.querySelectorAll('.outputs p')].every((p) => p.textContent.startsWith('09'))")

    def test_an_empty_sentence_asks_for_one(self):
        self.browser.type("#source", " ")
        self.browser.keys("Enter")
        self.browser.wait("return document.querySelector('.empty')")

    def test_keys_are_listed(self):
        self.browser.run("document.activeElement.blur()")
        self.browser.keys("?")
        self.assertTrue(self.browser.run("return document.querySelector('#keys').open"))
        self.browser.keys("Escape")
        self.assertFalse(self.browser.run("return document.querySelector('#keys').open"))

    def test_theme_switches(self):
        colour = "return getComputedStyle(document.body).backgroundColor"
        before = self.browser.run(colour)
        self.browser.click("#theme")
        self.assertNotEqual(self.browser.run(colour), before)
        self.browser.click("#theme")
        self.assertEqual(self.browser.run(colour), before)

    def test_nothing_leaves_the_origin(self):
        self.browser.open("about:blank")
        self.browser.open(options.url)
        self.write(options.sentence)
        for view in VIEWS:
            self.browser.click(f"[role=tab][value={view}]")
            self.browser.settle()
        requests = self.browser.requests()
        self.assertTrue(requests)
        own = (options.url, "data:", "blob:", "about:", "chrome:")
        self.assertEqual([url for url in requests if not url.startswith(own)], [])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attend")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sentence", default="january")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--chromedriver", default="chromedriver")
    parser.add_argument("--only", action="append", help="names of tests, such as test_theme_switches")
    options = parser.parse_args()
    for program in (options.chromium, options.chromedriver):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program}; install Debian's chromium and chromium-driver")
            return 77
    server = subprocess.Popen([options.attend, "explore", *options.models, "--port", "0"],
                              stdout=subprocess.PIPE, text=True)
    try:
        options.url = server.stdout.readline().strip().rstrip("/")
        names = [f"ExploreTest.{name}" for name in options.only or []]
        return not unittest.main(argv=[sys.argv[0], *names], verbosity=2, exit=False).result.wasSuccessful()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
