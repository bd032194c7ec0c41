"""A lesson that is opened for the first time, and once more."""
import os
import signal
import subprocess
import tempfile
import unittest
import urllib.parse

from page import options
from webdriver import Browser


class LessonTest(unittest.TestCase):
    def explore(self, cache, steps):
        """A lesson of two models."""
        return subprocess.Popen([options.attend, "explore", "--lesson", "5", "--steps", str(steps), "--port", "0"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=os.environ | {"XDG_CACHE_HOME": cache})

    def start(self, cache):
        """Trains for a few steps; gives the server, its address and what it says before that."""
        server = self.explore(cache, 5)
        said = []
        for line in server.stderr:
            if line.startswith("Open this address"):
                break
            said.append(line)
        return server, server.stdout.readline().strip(), "".join(said)

    def stop(self, server):
        server.terminate()
        server.communicate()

    def test_a_lesson_is_trained_once_and_opens_with_its_input(self):
        with tempfile.TemporaryDirectory() as cache:
            server, address, said = self.start(cache)
            try:
                self.assertIn("training the model 'with positions'", said)
                self.assertIn("trained the model 'without positions'", said)
                self.look_at(address)
            finally:
                self.stop(server)
            self.assertEqual(server.returncode, 143)
            server, _, said = self.start(cache)
            self.stop(server)
            self.assertNotIn("training", said)

    def test_training_can_be_interrupted(self):
        with tempfile.TemporaryDirectory() as cache:
            server = self.explore(cache, 100000)
            for line in server.stderr:
                if line.startswith("training"):
                    break
            server.send_signal(signal.SIGINT)
            address, said = server.communicate()
            self.assertEqual((server.returncode, address), (130, ""))
            self.assertIn("the same command resumes", said)

    def look_at(self, address):
        with Browser(options.chromium, options.chromedriver, slowness=options.slowness) as browser:
            browser.open(address)
            browser.wait("return !document.querySelector('#tour').hidden")
            browser.keys("Escape")
            browser.wait("return document.querySelector('#written').ariaBusy === 'false'")
            browser.settle()
            self.assertRegex(browser.text("#guide h2"), "^Lesson 5: ")
            self.assertGreater(len(browser.text("#guide p")), 100)
            inputs = browser.run("return [...document.querySelectorAll('#guide .example')].map((input) => input.textContent)")
            self.assertEqual(browser.run("return document.querySelector('#source').value"), inputs[0])
            self.assertEqual(browser.run("return [...document.querySelector('#model').options].map((model) => model.text)"),
                             ["with positions", "without positions"])
            self.assertEqual(browser.run("return document.querySelector('[aria-selected=true]').value"), "compare")
            browser.click("#guide .example:nth-child(2)")
            browser.wait("return document.querySelector('#source').value === arguments[0]", inputs[1])
            browser.wait("return document.querySelector('#guide [aria-pressed=true]').textContent === arguments[0]", inputs[1])
            browser.settle()
            # What the address says is shown when the page is loaded again, not the beginning of the lesson.
            browser.wait("return new URLSearchParams(location.hash.slice(1)).get('source') === arguments[0]", inputs[1])
            browser.open("about:blank")
            parts = urllib.parse.urlsplit(address)
            browser.open(f"{parts.scheme}://{parts.netloc}/#view=matrix&source={inputs[1]}")
            browser.wait("return document.querySelector('[aria-selected=true]')?.value === 'matrix'")
            self.assertEqual(browser.run("return document.querySelector('#source').value"), inputs[1])
            self.assertEqual(browser.complaints(), [])
