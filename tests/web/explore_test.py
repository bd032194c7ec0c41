"""Drives the page of the explorer in a real browser, by mouse and by keyboard.

usage: explore_test.py ATTEND MODEL... [--sentence TEXT] [--chromium PATH] [--chromedriver PATH] [--slowness N]
The first model must read one sequence, write another, and look from one to the other and within each. Exits with 77 where there is no browser.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from page import ALL_VIEWS, VIEWS, PageTest, fetch, options, post_run, read_map, use_address, weight
from first_test import FirstTest, TourTest  # noqa: F401, they are run with those below
from lesson_test import LessonTest  # noqa: F401
from looking_test import LookingTest  # noqa: F401
from saving_test import SavingTest  # noqa: F401
from state_test import StateTest  # noqa: F401
from token_test import TokenTest  # noqa: F401
from views_test import ViewsTest  # noqa: F401
from writing_test import WritingTest  # noqa: F401


class ExploreTest(PageTest):
    def test_writes_a_sentence(self):
        self.write(options.sentence)
        done = post_run(source=options.sentence, beam=4)[-1]
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
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown")
        state = self.state()
        self.assertEqual((state["row"], state["column"]), ("1", "2"))
        self.assertEqual(self.browser.text(".readout .value"), weight(rows[1][2]))

    def test_rows_of_weights_sum_to_one(self):
        for row in self.write_and_open_a_head():
            self.assertAlmostEqual(sum(row), 1, places=4)

    def test_views_open_by_mouse(self):
        self.write(options.sentence)
        for view in ALL_VIEWS:
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

    def test_compares_the_hypothesis_that_was_chosen(self):
        done = post_run(source=options.sentence, beam=4)[-1]
        other = done["hypotheses"][1]
        self.open_link(view="compare", compare="heads", source=options.sentence,
                       path=",".join(map(str, other["path"])))
        self.browser.wait("return document.querySelector('.compare canvas')?.width")
        self.browser.settle()
        shown = self.browser.run("return [...document.querySelector('.compare .outputs p').children]"
                                 ".map((token) => token.textContent)")
        self.assertNotEqual(other["text"], done["text"])
        self.assertEqual("".join(shown).removesuffix("</s>"), other["text"])

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
        self.browser.settle()  # another map would be shown as a whole again
        self.browser.wait(is_at_end, 0)
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight", "+")
        self.wait_for_state("zoom", "150")
        self.browser.keys(*"++++++++")
        self.browser.wait(is_at_end, 1)
        self.pass_time()  # the address follows when the zoom has come to rest
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
        reader = next(layer for layer in self.models[0]["layers"] if layer["queries"] == self.read)
        self.open_link(view="saliency", source=options.sentence, layer=reader["name"], head="0")
        self.browser.wait("return document.querySelectorAll('figcaption')[1].textContent")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.picker select')]"
                                          ".slice(0, 2).map((select) => select.value)"), [self.pair, "mean"])
        written = self.layer["queries"]  # only the output is explained
        self.assertEqual(self.browser.run("return [...document.querySelector('.picker select').options]"
                                          ".map((option) => option.value)"), [self.pair, f"{written}/{written}"])

    def test_saliency_of_what_was_written_before(self):
        written = self.layer["queries"]
        self.open_link(view="saliency", source=options.sentence, pair=f"{written}/{written}", row=2, column=1)
        address = self.last_request("/saliency?")
        self.assertIn(f"keys={written}", address)
        rows = read_map(fetch(address))
        self.browser.wait("return document.querySelector('figcaption output').textContent === arguments[0]",
                          weight(rows[2][1]))
        self.assertEqual(rows[0][1], 0)  # it was not yet written

    def test_pairs_of_sequences_are_offered_by_name(self):
        self.write(options.sentence)
        written = self.layer["queries"]
        names = [f"{written} → {self.read}", f"{self.read} → {self.read}", f"{written} → {written}"]
        self.assertEqual(self.browser.run("return [...document.querySelector('.picker select').options]"
                                          ".map((option) => option.textContent)"), names)
        self.choose(0, f"{self.read}/{self.read}")
        self.wait_for_state("pair", f"{self.read}/{self.read}")
        self.last_request(f"queries={self.read}&keys={self.read}")
        self.browser.click("[role=tab][value=model]")
        self.browser.wait("return document.querySelector('#controls .choice [aria-pressed=true]')?.textContent"
                          " === arguments[0]", names[1])

    def test_one_pair_is_no_choice(self):
        self.open_the_model_of_bytes()
        self.write("may")
        is_hidden = "return document.querySelector('.picker select').parentElement.hidden"
        self.browser.wait(is_hidden)
        self.browser.click("[role=tab][value=model]")
        self.browser.wait("return document.querySelector('.overview button')")
        self.assertIsNone(self.browser.run("return document.querySelector('#controls .choice')"))

    def test_a_language_model_looks_at_itself(self):
        model = self.find_model(lambda model: model["writes"] and all(s["written"] for s in model["sequences"]),
                                "of one sequence")
        self.open_link(model=model, source="the cat")
        self.assertTrue(self.browser.text("#written").startswith("the cat"))
        rows = read_map(fetch(self.last_request("/map?")))
        self.assertEqual(len(rows), len(rows[0]))
        self.assertTrue(self.browser.run("return document.querySelector('#start').parentElement.hidden"))
        self.open_every_view()

    def test_saliency_is_what_the_library_says(self):
        self.open_link(view="saliency", source=options.sentence, row=1, column=2)
        rows = read_map(fetch(self.last_request("/saliency?")))
        self.browser.wait("return document.querySelector('figcaption output').textContent")
        self.assertEqual(self.browser.text("figcaption output"), weight(rows[1][2]))
        self.browser.settle()
        self.assertEqual(self.browser.run("return document.querySelector('#view').ariaBusy"), "false")

    def test_attention_is_shown_where_saliency_would_take_too_long(self):
        self.open_link(view="saliency", saliency="integrated", source="may " * 500, target="0" * 20,
                       layer=self.layer["name"], head="0")
        for head in ("0", "1"):
            self.browser.wait("return document.querySelector('figcaption').textContent.includes(arguments[0])",
                              f"head {head}")
            self.browser.settle()
            self.assertIn("take too long", self.browser.text("#notice"))
            self.assertFalse(self.browser.run("return document.querySelector('#notice').hidden"))
            self.browser.keys(".")
        self.browser.complaints()  # of what was refused

    def test_saliency_is_not_asked_for_again_with_another_head(self):
        self.open_link(view="saliency", source=options.sentence, layer=self.layer["name"], head="0")
        self.last_request("/saliency?")
        self.browser.settle()
        self.browser.keys(".")
        self.wait_for_state("head", "1")
        self.browser.settle()
        asked = self.browser.requests()
        self.assertTrue(any("head=1" in url for url in asked))
        self.assertFalse(any("/saliency?" in url for url in asked))

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

    def test_a_script_in_a_sentence_is_shown_and_not_run(self):
        sentence = "<script>window.ran=1</script> <img src=x onerror=window.ran=1>"
        self.write(sentence)
        for view in ALL_VIEWS:
            self.browser.run("document.querySelector(`[role=tab][value=${arguments[0]}]`).click()", view)
            self.browser.settle()
        self.assertIsNone(self.browser.run("return window.ran ?? null"))
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), sentence)
        self.assertEqual(self.browser.run("return document.querySelectorAll('script, img').length"), 1)

    def test_a_model_without_attention_says_so(self):
        plain = self.find_model(lambda model: not model["layers"], "without attention")
        self.open_model(plain)
        self.write(options.sentence)
        self.assertIn("no attention", self.browser.text("#view"))
        self.browser.click("[role=tab][value=beam]")
        self.browser.wait("return document.querySelector('.tree g[data-id]')")
        self.browser.click("[role=tab][value=next]")
        self.browser.wait("return document.querySelector('.card')")
        self.browser.click("[role=tab][value=compare]")
        self.browser.click(".choice [value=inputs]")
        self.browser.wait("return document.querySelector('#view').textContent.includes('This model has no attention')")
        self.assertTrue(self.browser.run("return document.querySelector('.choice [value=heads]').hidden"))

    def test_models_are_compared_where_both_have_the_pair(self):
        bytes_model = self.find_model(lambda model: model["name"].endswith("bytes"), "of bytes")
        self.open_link(view="compare", compare="models", model2=bytes_model, source=options.sentence,
                       layer=self.layer["name"], head="1")
        self.browser.wait("return document.querySelector('figcaption span').textContent")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('figure:not([hidden]) figcaption span')]"
                                          ".map((title) => title.textContent)"),
                         [f"model: {self.layer['name']}, head 1", f"bytes: {self.layer['queries']} → {self.read}, mean of all layers"])
        self.assertIn("no tokens in common", self.browser.text(".compare"))
        self.choose(0, f"{self.read}/{self.read}")
        self.browser.wait("return document.querySelector('.compare').textContent.includes(arguments[0])",
                          f"There is no {self.read} → {self.read} attention in bytes.")
        self.assertEqual(self.browser.run("return document.querySelectorAll('figure:not([hidden])').length"), 0)

    def test_values_can_be_read_under_the_tree_and_along_time(self):
        rows = self.write_and_open_a_head()
        ways = {"beam": (["ArrowDown", "ArrowRight"], rows[0][1]), "time": (["ArrowUp", "ArrowRight"], rows[-2][2])}
        for view, (keys, value) in ways.items():
            self.browser.click(f"[role=tab][value={view}]")
            self.browser.wait("return document.querySelector('[aria-selected=true]').value === arguments[0]"
                              " && document.querySelector('#view .legend:not([hidden])')", view)
            self.browser.focus(".matrix")
            self.browser.keys(*keys)
            self.assertEqual(self.browser.text(".readout .value"), weight(value))

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
        self.browser.find("#source:dir(rtl)")
        self.assertEqual(len(self.items_read()), len(sentence) + 1)  # and the end
        self.open_every_view()
        self.browser.click("[role=tab][value=compare]")
        self.browser.click(".choice [value=inputs]")
        self.browser.find(".words:dir(rtl)")

    def test_one_token(self):
        self.write("j")
        self.assertEqual(self.items_read()[0], "j")
        self.open_every_view()

    def test_two_thousand_tokens(self):
        months = "january may " * 167
        self.open_link(source=months[:2000].strip(), target="01",
                       pair=f"{self.read}/{self.read}")
        rows = read_map(fetch(self.last_request("/map?")))
        self.assertGreaterEqual(len(rows), 1999)
        self.browser.wait("return document.querySelector('.matrix canvas').width")
        self.browser.focus(".matrix")
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
        self.assertEqual(len(self.items_read()), 6 + 1)
        self.open_every_view()

    def test_another_sentence_stops_the_one_before(self):
        self.open_the_model_of_bytes()
        self.browser.type("#source", "september " * 80)
        self.browser.keys("Enter")
        self.write("é")
        self.assertEqual(len(self.items_read()), 2 + 1)

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

    def test_the_second_input_gets_the_given_output(self):
        self.open_link(view="compare", source="january", source2="may", target="09")
        self.browser.wait("return document.querySelectorAll('.outputs p').length === 2 &&"
                          " [...document.querySelectorAll('.outputs p')].every((p) => p.textContent.startsWith('09'))")

    def test_an_empty_sentence_asks_for_one(self):
        self.write(options.sentence)
        self.assertIsNone(self.browser.run("return document.querySelector('#view > .empty')"))
        self.browser.type("#source", " ")
        self.browser.keys("Enter")
        self.browser.wait("return document.querySelector('#view > .empty')")

    def test_views_and_keys_are_explained(self):
        self.browser.run("document.activeElement.blur()")
        self.browser.keys("?")
        self.assertTrue(self.browser.run("return document.querySelector('#manual').open"))
        titles = self.browser.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)")
        explained = self.browser.run("return [...document.querySelectorAll('#manual .views dt')]"
                                     ".map((name) => name.firstChild.textContent)")
        self.assertEqual(explained, titles)
        self.assertTrue(self.browser.run("return [...document.querySelectorAll('#manual dd')]"
                                         ".every((meaning) => meaning.textContent)"))
        self.browser.keys("Escape")
        self.assertFalse(self.browser.run("return document.querySelector('#manual').open"))

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
        for view in ALL_VIEWS:
            self.browser.click(f"[role=tab][value={view}]")
            self.browser.settle()
        requests = self.browser.requests()
        self.assertTrue(requests)
        own = (options.url, "data:", "blob:", "about:", "chrome:")
        self.assertEqual([url for url in requests if not url.startswith(own)], [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attend")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sentence", default="january")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--chromedriver", default="chromedriver")
    parser.add_argument("--slowness", type=int, default=1, help="of the browser; more shows what was not waited for")
    parser.add_argument("--only", action="append", help="names of tests, such as test_theme_switches")
    parser.parse_args(namespace=options)
    for program in (options.chromium, options.chromedriver):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program}; install Debian's chromium and chromium-driver")
            return 77
    server = subprocess.Popen([options.attend, "explore", *options.models, "--port", "0"],
                              stdout=subprocess.PIPE, text=True)
    try:
        use_address(server.stdout.readline().strip())
        names = [word for name in options.only or [] for word in ("-k", name)]
        return not unittest.main(argv=[sys.argv[0], *names], verbosity=2, exit=False).result.wasSuccessful()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
