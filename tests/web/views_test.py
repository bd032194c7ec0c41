"""What views show of one sentence, one model and one error at a time, and where the focus goes."""
import json
import pathlib
import tempfile

from page import PageTest, options

IS_FIGURE_SHOWN = "return [...document.querySelectorAll('#view figure')].some((figure) => figure.checkVisibility())"

# Answers that a test holds back until it lets them go: those for which `window.isHeld` says so.
HOLD = """
    const asked = window.fetch;
    window.isHeld = () => false;
    window.fetch = async (address, given) => {
      while (window.isHeld(String(address), given)) await new Promise((then) => setTimeout(then, 10));
      return asked(address, given);
    };"""


class ViewsTest(PageTest):
    def hold(self, condition):
        self.browser.run(HOLD)
        self.browser.run(f"window.isHeld = (address, given) => {condition}")

    def let_go(self):
        self.browser.run("window.isHeld = () => false")
        self.browser.settle()

    def begin(self, sentence):
        """Types a sentence, and waits for nothing."""
        self.browser.type("#source", sentence)
        self.browser.keys("Enter")

    def test_saliency_stands_beside_attention_of_the_same_sentence(self):
        self.open_link(view="saliency", source=options.sentence)
        self.browser.wait(IS_FIGURE_SHOWN)
        self.browser.settle()
        self.hold("address.includes('/saliency?')")
        self.write("may")
        self.browser.settle()  # attention has come
        self.assertFalse(self.browser.run(IS_FIGURE_SHOWN))
        self.let_go()
        self.browser.wait(IS_FIGURE_SHOWN)

    def test_nothing_of_the_sentence_before_stands_while_the_next_is_written(self):
        is_there = {"matrix": "document.querySelector('.matrix canvas').width",
                    "time": "document.querySelector('.place').textContent",
                    "beam": "document.querySelector('.matrix canvas').width",
                    "model": "document.querySelector('.overview button')",
                    "compare": "[...document.querySelectorAll('figure')].some((figure) => figure.checkVisibility())"}
        for view, script in is_there.items():
            with self.subTest(view):
                self.open_link(view=view, source=options.sentence)
                self.browser.wait(f"return {script}")
                self.browser.settle()
                self.hold("given?.method === 'POST'")
                self.begin("may")
                self.browser.wait(f"return !({script})")
                self.let_go()
                self.browser.wait(f"return {script}")

    def test_cells_that_one_side_lacks_can_be_walked_through(self):
        self.open_link(view="compare", source="january", source2="may")
        self.browser.settle()
        matrices = "document.querySelectorAll('.matrix')"
        for side, tokens in enumerate(("january", "may")):
            self.browser.wait(f"{matrices}[arguments[0]].focus(); return true", side)
            self.browser.keys("Home", *["ArrowRight"] * (len(tokens) - 1))
            shown = self.browser.run("return document.querySelectorAll('figcaption output')[arguments[0]].textContent",
                                     side)
            self.assertRegex(shown, r"\d")
            self.browser.keys("ArrowLeft" if side else "ArrowRight")  # it did not begin anew
            self.assertNotEqual(self.state().get("column"), "0")

    def test_a_cell_is_the_same_in_a_link_to_the_matrix_and_to_a_comparison(self):
        link = {"source": "january", "row": 0, "column": 6}
        self.open_link(**link)
        self.browser.settle()
        weight = self.browser.text(".readout .value")
        self.open_link(view="compare", source2="may", **link)
        self.browser.wait("return document.querySelector('figcaption output').textContent === arguments[0]", weight)

    def test_a_word_that_was_left_as_it_is_can_be_chosen_again(self):
        self.open_link(view="compare", compare="inputs", source="may june")
        for _ in range(2):
            self.browser.click(".words button")
            self.browser.keys("Escape")
            self.assertEqual(self.browser.run("return document.querySelectorAll('.words input').length"), 0)
            self.assertEqual(self.browser.run("return document.activeElement.textContent"), "may")
        self.browser.click(".words button")
        self.browser.keys(*"july", "Enter")  # in place of the word, which is selected
        self.wait_for_state("source2", "july june")
        self.browser.wait("return document.activeElement.textContent === 'july'")

    def test_marks_of_an_axis_have_different_numbers(self):
        lines = [{"step": step, "loss": 0.1 * step, "valid_bleu": 27.31 + (step - 1200) * 0.005,
                  "tokens_per_second": 124100 + 40 * (step - 1200)} for step in range(1200, 1217)]
        self.browser.run("""
            const asked = window.fetch;
            const log = JSON.stringify({ next: 1, lines: arguments[0] });
            const none = JSON.stringify({ next: 1, lines: [] });
            window.fetch = (address, given) =>
              String(address).includes('/training/')
                ? Promise.resolve(new Response(String(address).endsWith('=0') ? log : none))
                : asked(address, given);""", lines)
        self.browser.click("[role=tab][value=training]")
        charts = self.browser.wait("return document.querySelector('.chart .tick') &&"
                                   " [...document.querySelectorAll('.chart')].map((chart) =>"
                                   " ['g.tick text', 'text.tick'].map((css) =>"
                                   " [...chart.querySelectorAll(css)].map((mark) => mark.textContent)))")
        marks = [axis for chart in charts for axis in chart if axis]
        self.assertGreaterEqual(len(marks), 6)
        for axis in marks:
            self.assertEqual(len(set(axis)), len(axis), axis)

    def test_a_long_output_does_not_widen_the_page(self):
        self.open_link(view="beam", source="may", target="0" * 400)
        self.browser.settle()
        wide, window = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(wide, window)
        with tempfile.TemporaryDirectory() as name:
            self.browser.save_downloads_in(name)
            self.browser.click("#export summary")
            self.browser.click("#export button[value=png]")  # of 70,000 pixels
            self.browser.wait("return document.querySelector('#notice').textContent.includes('save an SVG')")
            self.assertIn(b"<svg", self.save("svg", pathlib.Path(name)))

    def test_an_error_is_not_said_of_another_view(self):
        self.write(options.sentence)
        self.browser.settle()
        self.browser.run("""
            const asked = window.fetch;
            window.fetch = async (address, given) => {
              if (!String(address).includes('flow')) return asked(address, given);
              window.isAsked = true;
              while (!window.isLeft) await new Promise((then) => setTimeout(then, 10));
              return new Response('{"error": "no such flow"}', { status: 400 });
            };""")
        self.choose(1, "flow")
        self.browser.wait("return window.isAsked")
        self.browser.click("[role=tab][value=next]")
        self.browser.wait("return document.querySelector('.card')")
        self.browser.run("window.isLeft = true")
        self.browser.settle()
        self.assertTrue(self.browser.run("return document.querySelector('#notice').hidden"))

    def test_two_models_are_not_the_same_one(self):
        model = self.find_model(lambda model: model["name"].endswith("bytes"), "of bytes")
        other = next(each["id"] for each in self.models if each["id"] != model)
        self.open_link(view="compare", compare="models", model=model, source="may")
        self.browser.wait("return document.querySelector('.compare select').value === arguments[0]", str(other))

    def test_the_second_model_has_the_attention_that_is_shown(self):
        other = self.find_model(lambda model: model["id"] and any(f"{layer['queries']}/{layer['keys']}" == self.pair
                                                                  for layer in model["layers"]), "with the same pair")
        self.open_link(view="compare", compare="models", source="may")
        self.browser.wait("return document.querySelector('.compare select').value === arguments[0]", str(other))
        self.browser.wait(IS_FIGURE_SHOWN)

    def test_the_model_without_attention_is_named(self):
        plain = self.find_model(lambda model: not model["layers"], "without attention")
        self.open_link(view="compare", compare="models", model=plain, model2=0, source="may")
        self.browser.wait("return document.querySelector('.compare').textContent.includes('no attention in fixed.')")

    def test_a_link_may_ask_for_a_wide_beam(self):
        self.open_link(source="may", beam=32, top=50)
        self.browser.settle()
        self.browser.requests()
        self.browser.click("#write")
        self.last_request("/api/runs")

    def test_a_browser_that_keeps_nothing_shows_the_page(self):
        script = self.browser.devtools("Page.addScriptToEvaluateOnNewDocument", {"source": """
            Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } });"""})
        try:
            self.browser.open("about:blank")
            self.browser.open(f"{options.address}#source={options.sentence}")
            self.wait_until_written()
            self.assertIn(options.token, self.browser.run("return location.search"))  # to load it again
        finally:
            self.browser.devtools("Page.removeScriptToEvaluateOnNewDocument", script)
        colour = "return getComputedStyle(document.body).backgroundColor"
        before = self.browser.run(colour)
        self.browser.click("#theme")
        self.assertNotEqual(self.browser.run(colour), before)

    def test_space_scrolls_where_nothing_plays(self):
        self.write(options.sentence)
        press = ("return document.querySelector('#view').dispatchEvent("
                 "new KeyboardEvent('keydown', { key: ' ', bubbles: true, cancelable: true }))")
        self.assertTrue(self.browser.run(press))
        self.browser.click("[role=tab][value=time]")
        self.assertFalse(self.browser.run(press))

    def test_the_focus_stays_where_one_works(self):
        focus = "return document.activeElement.closest('#export summary, #view, .card')?.className ?? 'nowhere'"
        self.write(options.sentence)
        self.browser.click("#export summary")
        self.browser.keys("Escape")
        self.assertEqual(self.browser.run("return document.activeElement.textContent"), "Export")
        self.browser.click("[role=tab][value=model]")
        self.browser.focus(".overview button")
        self.browser.keys("Enter")
        self.wait_for_state("head", "0")
        self.assertNotEqual(self.browser.run(focus), "nowhere")
        self.browser.click("[role=tab][value=next]")
        self.browser.focus(".card:nth-child(2) li:nth-child(2) button")
        self.browser.keys("Enter")
        self.wait_until_written()
        self.browser.wait("return document.activeElement.closest('.card') === document.querySelectorAll('.card')[1]")

    def test_a_step_that_was_chosen_keeps_its_candidates(self):
        self.open_link(view="next", source=options.sentence)
        self.browser.settle()
        self.browser.click(".card:nth-child(2) li:nth-child(2) button")
        self.browser.settle()
        self.wait_until_written()
        counts = self.browser.run("return [...document.querySelectorAll('.card')]"
                                  ".map((card) => card.querySelectorAll('button').length)")
        self.assertGreaterEqual(min(counts[:2]), 5)

    def test_the_head_in_the_address_is_marked_among_all(self):
        self.open_link(view="model", source=options.sentence, layer=self.layer["name"], head="0")
        marked = "return document.querySelector('[aria-current=true]')?.ariaLabel.includes(arguments[0])"
        self.browser.wait(marked, "head 0,")
        self.browser.keys(".")
        self.browser.wait(marked, "head 1,")

    def test_a_map_fits_a_window_that_has_grown(self):
        self.browser.resize(1280, 500)
        try:
            self.open_link(source="january february march", target="01 02 03 04 05 06 07 08 09")
            self.browser.settle()
            height = "return document.querySelector('.matrix canvas').clientHeight"
            before = self.browser.run(height)
            self.browser.resize(1280, 1000)
            self.browser.wait(f"{height} > arguments[0]", before)
        finally:
            self.browser.resize(1280, 800)

    def test_the_log_is_asked_for_once_at_a_time(self):
        """Also when one leaves a model and comes back before it has answered."""
        self.hold("address.includes('/training/')")
        self.browser.click("[role=tab][value=training]")
        for model in ("1", "0"):
            self.browser.run("location.hash = 'view=training&model=' + arguments[0]", model)
            self.pass_time()
        self.let_go()
        self.browser.run("""
            window.polls = [];
            const asked = window.fetch;
            window.fetch = (address, given) => {
              if (String(address).includes('/training/0')) window.polls.push(performance.now());
              return asked(address, given);
            };""")
        polls = self.browser.wait("return window.polls.length > 2 && window.polls")
        self.assertGreater(min(later - one for one, later in zip(polls, polls[1:])), 1000, json.dumps(polls))
