"""What the page keeps in its address, says of what went wrong, and reads aloud."""
import json
import math
import pathlib
import tempfile

from page import PageTest, options, post_run, weight

# Counts the maps that the page asks for, and lets a test answer in the server's place.
WATCH = """
    window.asked = [];
    window.reallyFetch = window.fetch;
    window.fetch = async (address, given) => {
      if (!String(address).includes('/map?')) return window.reallyFetch(address, given);
      window.asked.push(Object.fromEntries(new URL(address, location).searchParams));
      return (await window.answer(window.asked.at(-1), address, given)) || window.reallyFetch(address, given);
    };"""


class StateTest(PageTest):
    def offer(self, text):
        """The next token of that text, once it is on offer, as an element to click."""
        return self.browser.wait("return [...document.querySelectorAll('.card button')]"
                                 ".find((button) => button.firstChild.textContent === arguments[0])", text)

    def choose_token(self, text):
        """Chooses a next token; gives the ids that the output then begins with."""
        self.browser.run("arguments[0].click()", self.offer(text))
        self.browser.settle()  # the output is another by now
        self.wait_until_written()
        return [int(number) for number in self.state()["startIds"].split(",")]

    def chosen_tokens(self):
        return self.browser.run("return [...document.querySelectorAll('.card [aria-pressed=true] bdi')]"
                                ".map((token) => token.textContent)")

    def test_a_label_of_two_words_is_the_one_chosen(self):
        model = self.find_model(lambda model: not model["writes"], "of labels")
        self.open_link(model=model, view="next", source="a dull film")
        self.choose_token("very good")
        self.assertEqual(self.browser.run("return document.querySelector('#written span').textContent"), "very good")
        self.assertEqual(self.chosen_tokens(), ["very good"])  # and no end: it is one label
        self.assertIn("begins with “very good”", self.browser.text("#options summary"))

    def test_a_byte_is_the_one_chosen(self):
        model = self.find_model(lambda model: model["name"].endswith("bytes"), "of bytes")
        self.open_link(model=model, view="next", source="é", top=20)
        byte = self.browser.wait("return [...document.querySelectorAll('.card:first-child bdi')]"
                                 ".map((token) => token.textContent).find((text) => text.startsWith('<0x'))")
        ids = self.choose_token(byte)
        self.assertEqual(ids, [3 + int(byte[3:5], 16)])
        self.assertEqual(self.chosen_tokens()[0], byte)

    def test_a_link_restores_the_tokens_chosen(self):
        self.open_link(view="next", source=options.sentence)
        best = self.chosen_tokens()[0]
        other = self.browser.wait("return [...document.querySelectorAll('.card:first-child bdi')]"
                                  ".map((token) => token.textContent).find((text) => text !== arguments[0])", best)
        ids = self.choose_token(other)
        written = self.browser.text("#written")
        link = self.browser.run("return location.href")
        self.browser.open("about:blank")
        self.browser.open(link)
        self.wait_until_written()
        self.assertEqual(self.browser.text("#written"), written)
        self.assertEqual(self.chosen_tokens()[0], other)
        done = post_run(source=options.sentence, beam=4, start_ids=ids)[-1]
        self.assertTrue(written.startswith(done["text"]))
        self.browser.click("#ways button:not([hidden])")  # without the given beginning
        self.browser.wait("return document.querySelector('.card [aria-pressed=true] bdi')?.textContent"
                          " === arguments[0]", best)

    def test_a_text_takes_the_place_of_tokens_chosen(self):
        token = next(node for node in post_run(source=options.sentence, beam=1)[1]["nodes"])
        self.open_link(source=options.sentence, startIds=token["token_id"])
        self.browser.click("#options summary")
        self.browser.type("#start", token["token"])
        self.browser.keys("Enter")
        self.wait_for_state("start", token["token"])
        self.assertNotIn("startIds", self.state())

    def test_another_model_begins_with_the_text_of_the_tokens_chosen(self):
        other = self.find_model(lambda model: model["name"].endswith("bytes"), "of bytes")
        nodes = post_run(source=options.sentence, beam=1)[1]["nodes"]
        token = next(node for node in nodes if node["token"].isdigit())
        self.open_link(view="compare", compare="models", model2=other, source=options.sentence,
                       startIds=token["token_id"])
        self.browser.wait("return document.querySelectorAll('.outputs p')[1]?.textContent.startsWith(arguments[0])",
                          token["token"])

    def test_a_pruned_label_is_spelled_as_it_is_written(self):
        model = self.find_model(lambda model: not model["writes"], "of labels")
        self.open_link(model=model, view="beam", source="a dull film", beam=1)
        self.browser.wait("const node = [...document.querySelectorAll('.tree g.pruned')]"
                          ".find((node) => node.textContent.startsWith('very good'));"
                          "node?.dispatchEvent(new MouseEvent('click', {bubbles: true})); return node")
        self.browser.wait("return document.querySelector('.caption span').textContent === 'very good'")

    def test_walking_does_not_write_the_address_at_every_step(self):
        self.write_and_open_a_head()
        self.pass_time()
        self.browser.run("""
            window.rests = []; // from a step to each time the address was written
            let stepped = 0;
            addEventListener('keydown', () => (stepped = performance.now()), true);
            const replace = history.replaceState;
            history.replaceState = (...given) => {
              window.rests.push(performance.now() - stepped);
              replace.apply(history, given);
            };
            document.querySelector('.matrix').focus()""")
        self.browser.keys(*["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"] * 10, "ArrowRight")
        state = self.state()
        self.assertEqual((state["row"], state["column"]), ("0", "1"))
        rests = self.browser.run("return window.rests")
        self.assertTrue(rests)
        self.assertGreater(min(rests), 100, rests)

    def test_an_address_that_the_browser_refuses_stops_nothing(self):
        rows = self.write_and_open_a_head()
        self.browser.run("""
            history.replaceState = history.pushState = () => { throw new DOMException('', 'SecurityError'); };
            window.allow = () => {
              delete history.replaceState;
              delete history.pushState;
            };
            document.querySelector('.matrix').focus()""")
        self.browser.keys("ArrowDown", "ArrowRight")
        self.assertEqual(self.browser.text(".readout .value"), weight(rows[0][1]))
        self.browser.keys("5")
        self.browser.wait("return document.querySelector('[aria-selected=true]').value === 'beam'")
        self.browser.run("window.allow()")
        self.wait_for_state("view", "beam")
        self.assertEqual(self.state()["column"], "1")

    def test_going_back_leads_to_where_one_was(self):
        self.write_and_open_a_head()
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight", "5")
        self.wait_for_state("view", "beam")
        self.browser.run("history.back()")
        self.wait_for_state("view", None)
        self.assertEqual(self.state()["column"], "1")

    def open_without_models(self):
        """Opens the page, whose requests wait until `window.isAnswered`."""
        held = self.browser.devtools("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const asked = window.fetch;
            window.fetch = async (...given) => {
              while (!window.isAnswered) await new Promise((then) => setTimeout(then, 10));
              return asked(...given);
            };"""})
        try:
            self.browser.open("about:blank")
            self.browser.open(options.url)
        finally:
            self.browser.devtools("Page.removeScriptToEvaluateOnNewDocument", held)

    def test_what_is_typed_before_the_models_are_known_stays(self):
        self.open_without_models()
        self.browser.type("#source", options.sentence)
        self.browser.run("window.isAnswered = true")
        self.wait_for_models()
        self.browser.settle()
        self.browser.keys("Enter")
        self.wait_until_written()
        self.assertEqual(self.state()["source"], options.sentence)

    def test_a_sentence_waits_for_the_models(self):
        self.open_without_models()
        self.browser.type("#source", options.sentence)
        self.browser.keys("Enter")
        self.browser.run("window.isAnswered = true")
        self.wait_until_written()
        self.assertEqual(self.state()["source"], options.sentence)

    def test_a_saved_link_has_the_last_change(self):
        self.write_and_open_a_head()
        with tempfile.TemporaryDirectory() as name:
            self.browser.save_downloads_in(name)
            self.browser.run("""
                const press = (key) =>
                  document.querySelector('.matrix').dispatchEvent(new KeyboardEvent('keydown', { key }));
                document.querySelector('#export').addEventListener('click', () => press('ArrowRight'), true)""")
            link = json.loads(self.save("json", pathlib.Path(name)))["link"]
        self.assertIn("column=1", link)  # opening the menu was a step as well

    def test_leaving_the_page_writes_the_address(self):
        self.write_and_open_a_head()
        self.browser.run("document.querySelector('.matrix').dispatchEvent("
                         "new KeyboardEvent('keydown', { key: 'ArrowDown' })); location.href = 'about:blank'")
        self.browser.wait("return location.href === 'about:blank' && document.readyState === 'complete'")
        self.browser.back()
        self.wait_for_state("row", "0")

    def test_large_maps_are_not_all_kept(self):
        self.write_and_open_a_head()
        self.browser.run(WATCH)
        self.browser.run("""
            window.answer = async ({ head }, address, given) => {
              if (head !== '1' && head !== '2') return null;
              const map = await (await window.reallyFetch(address, given)).arrayBuffer();
              const large = new Uint8Array(40 << 20);
              large.set(new Uint8Array(map));
              return new Response(large);
            };""")
        for head in ("1", "2", "1", "max", "1", "max", "0"):
            self.choose(2, head)
            self.browser.settle()
        self.assertEqual(self.browser.run("return window.asked.map(({head}) => head)"),
                         ["1", "2", "1", "max", "0"])

    def test_a_map_that_cannot_be_shown_is_said_once(self):
        is_drawn = "return document.querySelector('.matrix canvas').width > 0"
        self.write(options.sentence)
        self.browser.settle()
        self.assertTrue(self.browser.run(is_drawn))
        self.browser.run(WATCH)
        self.browser.run("""
            const refusal = JSON.stringify({ error: 'no such flow' });
            window.answer = ({ reduction }) => reduction === 'flow' && new Response(refusal, { status: 400 })""")
        self.choose(1, "flow")
        self.browser.wait("return !document.querySelector('#notice').hidden")
        self.assertEqual(self.browser.text("#notice"), "no such flow")
        self.assertFalse(self.browser.run(is_drawn))
        self.browser.run("document.activeElement.blur()")
        self.browser.keys("t", "t")
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight")
        self.browser.settle()
        self.assertEqual(len(self.browser.run("return window.asked")), 1)
        self.choose(1, "rollout")
        self.browser.wait("return document.querySelector('#notice').hidden")
        self.browser.wait(is_drawn)
        self.choose(1, "flow")
        self.browser.wait("return !document.querySelector('#notice').hidden")
        self.write("may")
        self.browser.wait("return window.asked.filter(({reduction}) => reduction === 'flow').length === 3")

    def test_what_is_wrong_with_a_sentence_is_not_said_of_the_next(self):
        fixed = self.find_model(lambda model: not model["layers"], "without attention")
        self.browser.run("location.hash = new URLSearchParams({ source: 'x'.repeat(5000) })")
        self.browser.wait("return document.querySelector('#notice').textContent.includes('5000 tokens')")
        self.browser.run("location.hash = new URLSearchParams({ source: 'may', model: arguments[0] })", fixed)
        self.wait_until_written()
        self.assertTrue(self.browser.run("return document.querySelector('#notice').hidden"))

    def test_the_output_is_read_aloud_once(self):
        self.write_and_open_a_head()
        self.browser.run("window.changes = 0;"
                         "new MutationObserver((list) => (window.changes += list.length)).observe("
                         "document.querySelector('#written'), {childList: true, characterData: true, subtree: true});"
                         "document.querySelector('.matrix').focus()")
        self.browser.keys("ArrowDown", "ArrowRight", "ArrowRight")
        self.assertEqual(self.browser.run("return window.changes"), 0)

    def test_a_button_under_the_output_keeps_the_focus(self):
        self.open_link(view="beam", source=options.sentence)
        self.browser.wait("const node = document.querySelector('.tree g.kept:not(.chosen)');"
                          "node?.dispatchEvent(new MouseEvent('click', {bubbles: true})); return node")
        self.browser.focus("#ways button:not([hidden])")
        self.browser.keys("]", "[", "]")
        self.assertEqual(self.browser.run("return document.activeElement.textContent"), "back to the best output")

    def test_the_tree_says_where_one_is(self):
        self.open_link(view="beam", source=options.sentence)
        self.browser.wait("return document.querySelector('.tree g[data-id]')")
        self.browser.focus(".scroller")
        self.browser.keys("ArrowRight")
        node = max(post_run(source=options.sentence, beam=4)[1]["nodes"], key=lambda node: node["total"])
        probability = weight(math.exp(node["log_probability"]))
        self.assertEqual(self.browser.text("#announcer"), f"{node['token']}, probability {probability}, kept")
        for _ in range(8):
            self.browser.keys("ArrowDown")
        self.assertRegex(self.browser.text("#announcer"), "^.+, probability [0-9.e-]+, pruned$")
