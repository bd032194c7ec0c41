"""Looking closer: the arithmetic of a weight, and what each layer would write."""
import json

from page import PageTest, fetch, options, post_run, weight

IS_SHOWN = "return document.querySelector('.arithmetic')?.checkVisibility()"
STEPS = ("return [...document.querySelectorAll('.chain li')].map((step) =>"
         " [step.querySelector('span').textContent, step.querySelector('strong').textContent])")


class LookingTest(PageTest):
    def cell(self):
        """The cell that the page asked for last, as the server sent it."""
        return json.loads(fetch(self.last_request("/cell?")))

    def test_a_chosen_cell_shows_how_its_weight_is_computed(self):
        rows = self.write_and_open_a_head()
        self.assertFalse(self.browser.run(IS_SHOWN))
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight", "ArrowRight")
        self.browser.wait(IS_SHOWN)
        self.browser.settle()
        cell = self.cell()
        self.assertEqual((cell["layer"], cell["head"]), (self.layer["name"], 0))
        self.assertEqual((cell["query"]["index"], cell["key"]["index"]), (0, 2))
        steps = self.browser.run(STEPS)
        self.assertEqual(len(steps), len(cell["steps"]))
        self.assertEqual(steps[0], ["q · k", weight(cell["steps"][0]["value"])])
        self.assertTrue(steps[-1][0].startswith("softmax (log-sum-exp"))
        self.assertEqual(steps[-1][1], weight(rows[0][2]))
        self.assertAlmostEqual(sum(cell["products"]), cell["steps"][0]["value"], places=3)
        bars = self.browser.run("return [...document.querySelectorAll('.strip svg')]"
                                ".map((strip) => strip.querySelectorAll('rect').length)")
        self.assertEqual(bars, [len(cell["q"])] * 3 + [len(cell["v"])] * 3)

    def test_enter_goes_to_the_arithmetic_and_escape_puts_it_away(self):
        self.write_and_open_a_head()
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight")
        self.browser.wait(IS_SHOWN)
        self.browser.keys("Enter")
        self.browser.wait("return document.activeElement.classList.contains('arithmetic')")
        self.browser.focus(".matrix")
        self.browser.keys("Escape")
        self.browser.wait("return !document.querySelector('.arithmetic').checkVisibility()")

    def test_a_cell_of_a_mean_names_the_heads_that_look_there(self):
        self.open_link(source=options.sentence, row=0, column=1)
        self.browser.wait("return document.querySelector('.heads-here button')")
        first = max(self.cell()["heads"], key=lambda head: abs(head["weight"]))
        self.browser.click(".heads-here button")
        self.wait_for_state("layer", first["layer"])
        self.wait_for_state("head", str(first["head"]))
        self.browser.wait("return document.querySelector('.chain strong')")

    def test_a_masked_pair_says_why(self):
        layer = next(layer for layer in self.models[0]["layers"]
                     if layer["queries"] == layer["keys"] != self.read)
        self.open_link(source=options.sentence, layer=layer["name"], head=0, row=0, column=1)
        self.browser.wait("return document.querySelector('.arithmetic .hint')?.textContent.includes('Causal mask')")
        self.assertIn(["mask", "−∞"], self.browser.run(STEPS))

    def test_every_layer_says_what_it_would_write(self):
        self.open_link(view="lens", source=options.sentence)
        self.browser.wait("return document.querySelector('.lens tbody td')")
        lens = json.loads(fetch(self.last_request("/lens?")))
        names = self.browser.run("return [...document.querySelectorAll('.lens tbody th')]"
                                 ".map((name) => name.textContent)")
        self.assertEqual(names, lens["stages"][::-1])
        top = self.browser.run("return [...document.querySelectorAll('.lens tbody tr:first-child td')]"
                               ".map((cell) => cell.textContent)")
        self.assertEqual(top, [cell["likeliest"][0][0] for cell in lens["cells"][-1]])

    def test_the_lens_is_walked_by_keys_and_kept_in_the_link(self):
        self.write(options.sentence)
        self.browser.run("document.activeElement.blur()")
        self.browser.keys("l")
        self.wait_for_state("view", "lens")
        self.browser.wait("return document.querySelector('.lens td[tabindex=\"0\"]')")
        self.browser.settle()
        last = self.browser.run("return document.querySelectorAll('.lens tbody tr').length - 1")
        self.browser.focus(".lens td[tabindex='0']")
        self.browser.keys("ArrowRight", "ArrowDown")
        self.wait_for_state("stage", str(last - 1))
        self.wait_for_state("position", "1")
        self.assertIn("position 2", self.browser.text(".lens-cell"))
        self.assertIn("follows: rank", self.browser.text(".lens-cell"))

    def test_a_model_without_a_lens_says_why(self):
        plain = self.find_model(lambda model: model["writes"] and not model["lens"], "without a lens")
        self.open_link(model=plain, view="lens", source="may")
        self.assertIn("cannot read its other layers", self.browser.text("#view"))

    def test_a_head_is_switched_off_and_on_again(self):
        """By mouse and by key; what is written without it stands beside what was."""
        self.open_link(view="model", source=options.sentence)
        self.browser.wait("return document.querySelector('.overview .switch')")
        self.browser.settle()
        self.browser.requests()
        self.browser.click(".overview .switch")
        self.wait_for_state("out", f"{self.layer['name']}:0")
        off = "return [...document.querySelectorAll('.switch')].filter((one) => one.ariaChecked === 'false').length"
        self.browser.wait(f"{off} === 1")
        self.browser.wait("return document.querySelector('.without')?.checkVisibility()"
                          " && document.querySelectorAll('.without .flow span').length")
        self.browser.settle()
        events = post_run(source=options.sentence, beam=4, knocked_out=[{"layer": self.layer["name"], "head": 0}])
        tokens = self.browser.run("return [...document.querySelectorAll('.without .flow')].at(-1).textContent")
        self.assertEqual(tokens, "".join(events[-1]["tokens"]))
        entropy = self.browser.run("return document.querySelector('.overview [data-head] small').textContent")
        self.assertEqual(entropy, "0.00")  # it looks at nothing
        self.browser.focus(".overview [data-head='1']")
        self.browser.keys("x")
        self.browser.wait(f"{off} === 2")
        self.browser.settle()
        self.browser.wait("return document.activeElement.dataset.head === '1'")
        self.browser.keys("x")
        self.browser.wait(f"{off} === 1")
        self.browser.run("[...document.querySelectorAll('.without button')].at(-1).click()")
        self.browser.wait(f"{off} === 0")
        self.browser.wait("return !document.querySelector('.without').checkVisibility()")
        self.browser.settle()
        self.browser.wait("return document.querySelector('.overview [data-head] small').textContent !== '0.00'")

    def test_maps_with_and_without_heads_are_compared(self):
        layer = self.layer["name"]
        self.open_link(view="compare", compare="without", source=options.sentence, out=f"{layer}:0",
                       layer=layer, head=0)
        self.browser.wait("return document.querySelectorAll('figcaption')[1]?.textContent.includes('without')")
        self.browser.settle()
        self.assertIn(f"without {layer} head 0", self.browser.text("#view"))
        self.browser.wait("document.querySelectorAll('.matrix')[0].focus(); return true")
        self.browser.keys("ArrowDown", "ArrowRight")
        shown = self.browser.run("return [...document.querySelectorAll('figcaption output')].map((one) => one.textContent)")
        self.assertNotEqual(shown[0], "0.000")
        self.assertEqual(shown[1], "0.000")

    def test_heads_of_another_model_are_not_switched_off(self):
        self.open_link(view="model", source=options.sentence, out="nowhere.self:3,x,:1")
        self.browser.wait("return document.querySelector('.overview .switch')")
        self.browser.settle()
        self.assertFalse(self.browser.run("return document.querySelector('.without').checkVisibility()"))
