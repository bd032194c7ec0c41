"""What a first visitor finds: inputs to click, a tour, names of tabs and axes, and views that fit the window."""
import json
import pathlib
import tempfile
import unittest

from page import ALL_VIEWS, PageTest, options
from webdriver import Browser

OFFERED = "return [...document.querySelectorAll('.example')].map((input) => input.textContent)"
SIZES = [(1280, 900), (390, 800)]


class FirstTest(PageTest):
    def setUp(self):
        super().setUp()
        self.browser.run("localStorage.removeItem('attend-inputs')")
        self.load_again()

    def tearDown(self):
        self.browser.resize(1280, 800)
        super().tearDown()

    def each_size(self):
        for size in SIZES:
            self.browser.resize(*size)
            yield size

    def test_inputs_on_offer_are_of_the_model(self):
        for model in self.models:
            with self.subTest(model["name"]):
                self.open_model(model["id"])
                texts = [" · ".join(texts) for texts in model["examples"]]
                self.assertTrue(texts)
                self.browser.wait(f"{OFFERED}.join() === arguments[0]", ",".join(texts))

    def test_an_input_on_offer_is_run(self):
        text = self.models[0]["examples"][0][0]
        self.browser.click(".example")
        self.wait_until_written()
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), text)
        self.assertEqual(self.browser.run(OFFERED), [])

    def test_inputs_that_were_typed_come_back(self):
        for text in ("june", "july", "june"):
            self.write(text)
        self.browser.open("about:blank")
        self.browser.open(options.url)
        self.browser.wait(f"{OFFERED}.length > 2")
        self.assertEqual(self.browser.run(OFFERED)[:2], ["june", "july"])
        self.browser.click(".heading button")
        self.assertNotIn("july", self.browser.run(OFFERED))
        self.assertIsNone(self.browser.run("return localStorage.getItem('attend-inputs')"))

    def test_what_was_kept_by_something_else_does_no_harm(self):
        for kept in ("{", "7", "[[1]]", json.dumps([[self.models[0]["name"], [{"source": 5}]]])):
            self.browser.run("localStorage.setItem('attend-inputs', arguments[0])", kept)
            self.load_again()
            self.browser.wait("return document.querySelector('.example')")
            self.write("may")
            self.wait_for_state("source", "may")  # until then the address is as empty as it becomes below
            self.browser.run("location.hash = ''")
            self.browser.wait(f"{OFFERED}[0] === 'may'")

    def test_a_model_without_attention_offers_inputs_as_well(self):
        plain = self.find_model(lambda model: not model["layers"], "without attention")
        self.open_model(plain)
        self.browser.wait("return document.querySelector('#view').textContent.includes('no attention')")
        self.browser.find(".example")

    def test_comparing_starts_with_two_models(self):
        self.write(options.sentence)
        self.browser.click("[role=tab][value=compare]")
        pressed = "return document.querySelector('.choice [aria-pressed=true]').value === arguments[0]"
        self.browser.wait(pressed, "models")
        self.browser.click(".choice [value=inputs]")
        self.browser.wait(pressed, "inputs")
        self.wait_for_state("compare", "inputs")

    def test_axes_are_named(self):
        self.write_and_open_a_head()
        with tempfile.TemporaryDirectory() as name:
            self.browser.save_downloads_in(name)
            picture = self.save("svg", pathlib.Path(name)).decode()
        self.assertIn("output ↓", picture)
        self.assertIn("input →", picture)
        self.browser.click("[role=tab][value=heads]")
        self.browser.wait("return document.querySelector('.sides').textContent === 'outputinput'")

    def test_a_probability_stands_on_one_line(self):
        self.open_link(view="next", source=options.sentence)
        for _ in self.each_size():
            self.browser.wait("return document.querySelector('.card')")
            heights = self.browser.run("return [...document.querySelectorAll('.card span')].map((text) => {"
                                       " text.textContent = '100 %'; const range = document.createRange();"
                                       " range.selectNodeContents(text);"
                                       " return new Set([...range.getClientRects()].map(({top}) => top)).size; })")
            self.assertEqual(set(heights), {1})

    def test_the_tab_that_is_open_can_be_seen(self):
        self.write(options.sentence)
        for _ in self.each_size():
            for view in ALL_VIEWS:
                self.browser.run("document.querySelector(`[role=tab][value=${arguments[0]}]`).click()", view)
                self.browser.wait("const tab = document.querySelector('[role=tab][aria-selected=true]');"
                                  "const {left, right} = tab.getBoundingClientRect();"
                                  "return tab.value === arguments[0] && left >= 0 && right <= innerWidth", view)

    def test_views_fit_the_window(self):
        self.write("january february march")
        for width, height in self.each_size():
            for view in ALL_VIEWS:
                with self.subTest(view=view, width=width):
                    self.browser.run("document.querySelector(`[role=tab][value=${arguments[0]}]`).click()", view)
                    self.browser.wait("return document.querySelector('#view').textContent.length > 0")
                    self.browser.settle()
                    wide, window = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
                    self.assertLessEqual(wide, window)
            for view, part in (("matrix", ".matrix canvas"), ("heads", ".heads")):
                self.browser.run("document.querySelector(`[role=tab][value=${arguments[0]}]`).click()", view)
                self.browser.wait("return document.querySelector(arguments[0])?.clientHeight", part)
                self.browser.settle()
                bottom = self.browser.run("const part = document.querySelector(arguments[0]);"
                                          "return part.getBoundingClientRect().top + part.scrollHeight", part)
                self.assertLessEqual(bottom, height, view)


class TourTest(unittest.TestCase):
    """In a browser that has never been here."""

    def setUp(self):
        self.browser = Browser(options.chromium, options.chromedriver, slowness=options.slowness)
        self.addCleanup(self.browser.__exit__)
        self.browser.open(options.address)
        self.browser.wait("return !document.querySelector('#tour').hidden")

    def is_shown(self):
        return not self.browser.run("return document.querySelector('#tour').hidden")

    def visit_again(self):
        self.browser.open("about:blank")
        self.browser.open(options.url)
        self.browser.wait("return document.querySelector('#model').options.length")
        self.browser.settle()

    def test_it_has_four_steps_and_does_not_come_back(self):
        for step in range(1, 5):
            self.assertIn(f"{step} of 4", self.browser.text("#tour"))
            box = self.browser.run("const {left, top, right, bottom} = document.querySelector('#tour')"
                                   ".getBoundingClientRect(); return left >= 0 && top >= 0 &&"
                                   " right <= innerWidth && bottom <= innerHeight")
            self.assertTrue(box)
            self.assertEqual(self.browser.run("return document.querySelectorAll('.toured').length"), 1)
            self.browser.click("#tour button:last-child")
        self.assertFalse(self.is_shown())
        self.assertEqual(self.browser.run("return document.querySelectorAll('.toured').length"), 0)
        self.visit_again()
        self.assertFalse(self.is_shown())

    def test_it_can_be_skipped_and_taken_again(self):
        self.browser.keys("Escape")
        self.assertFalse(self.is_shown())
        self.visit_again()
        self.assertFalse(self.is_shown())
        self.browser.click("#help")
        self.browser.click("#manual .buttons button")
        self.assertIn("1 of 4", self.browser.text("#tour"))
        self.browser.click("#tour .quiet")
        self.assertFalse(self.is_shown())
