"""A language model on the page: a text that is continued as it is watched, stopped, rewritten and sampled."""
import json

from page import PageTest, fetch, options, post_run

PROMPT = "the cat"
FLOW = "return [...document.querySelectorAll('.tokens button')].map((token) => token.textContent)"


class WritingTest(PageTest):
    def setUp(self):
        super().setUp()
        self.model = self.find_model(
            lambda model: model["writes"] and all(each["written"] for each in model["sequences"]), "of language")

    def open_text(self, **state):
        self.open_link(model=self.model, source=PROMPT, **state)
        self.browser.settle()

    def ways(self):
        return self.browser.run("return [...document.querySelectorAll('#ways button:not([hidden])')]"
                                ".map((way) => way.textContent)")

    def take_way(self, name):
        self.browser.wait("const way = [...document.querySelectorAll('#ways button:not([hidden])')]"
                          ".find((one) => one.textContent === arguments[0]);"
                          "if (!way) return false; way.click(); return true", name)
        self.browser.settle()
        self.wait_until_written()

    def written(self):
        return self.browser.run("return document.querySelector('#written span').textContent")

    def test_a_prompt_is_continued_by_as_many_tokens_as_are_set(self):
        self.open_text(tokens=5, view="next")
        done = post_run(PROMPT, model=self.model, most=5)[-1]
        self.assertEqual(self.written(), done["text"])
        self.assertTrue(done["text"].startswith(PROMPT))
        self.assertEqual(len(self.browser.run(FLOW)), len(PROMPT) + 5)
        self.assertIn("5 tokens", self.browser.text("#options summary"))
        before = self.written()
        self.take_way("write more")
        self.browser.wait("return document.querySelector('#written span').textContent.length > arguments[0]", len(before))
        self.assertTrue(self.written().startswith(before))
        self.take_way("back to the prompt")
        self.browser.wait("return document.querySelector('#written span').textContent === arguments[0]", before)

    def test_a_sample_follows_from_its_seed(self):
        self.open_text(tokens=12, temperature="2", seed=3)
        done = post_run(PROMPT, model=self.model, most=12, temperature=2, seed=3)[-1]
        self.assertEqual(self.written(), done["text"])
        self.take_way("another sample")
        self.wait_for_state("seed", "4")
        done = post_run(PROMPT, model=self.model, most=12, temperature=2, seed=4)[-1]
        self.browser.wait("return document.querySelector('#written span').textContent === arguments[0]", done["text"])

    def test_a_token_is_written_over_and_the_rest_again(self):
        self.open_text(tokens=6, view="next")
        self.browser.click(".tokens button:nth-child(5)")
        self.browser.wait("return document.activeElement.ariaLabel === 'Write instead'")
        self.browser.keys(*"do", "Enter")
        self.browser.wait("return document.querySelector('#written span').textContent.startsWith('the do')"
                          " && document.querySelector('#written').ariaBusy === 'false'")
        self.browser.settle()
        ids = [node["token_id"] for node in self.kept(post_run("the ", model=self.model, most=1))][:4]
        done = post_run("do", model=self.model, most=6, start_ids=ids)[-1]
        self.assertEqual(self.written(), done["text"])
        self.assertEqual(len(self.browser.run(FLOW)), len(done["tokens"]) - (done["tokens"][-1] == "</s>" and
                                                                           len(done["path"]) < len(done["tokens"])))

    @staticmethod
    def kept(events):
        return [next(node for node in event["nodes"] if node["kept"]) for event in events if event["event"] == "step"]

    def test_a_token_that_is_left_as_it_is_changes_nothing(self):
        self.open_text(tokens=4, view="next")
        before = self.browser.run(FLOW)
        self.browser.requests()
        self.browser.click(".tokens button:nth-child(2)")
        self.browser.keys("x", "Escape")
        self.assertEqual(self.browser.run(FLOW), before)
        self.browser.click(".tokens button:nth-child(2)")
        self.browser.keys("Enter")
        self.assertEqual(self.browser.run(FLOW), before)
        self.assertFalse([url for url in self.browser.requests() if url.endswith("/api/runs")])

    def test_writing_can_be_stopped_and_what_is_there_is_kept(self):
        # Events come one by one, and the rest only when the test has stopped them.
        self.browser.run("""
            const asked = window.fetch;
            window.fetch = async (address, given) => {
              const answer = await asked(address, given);
              const body = String(given?.body ?? '');
              if (!String(address).endsWith('api/runs') || JSON.parse(body).most === 0) return answer;
              const lines = (await answer.text()).split('\\n');
              const first = lines.slice(0, 12).join('\\n') + '\\n';
              const stream = new ReadableStream({
                start(control) {
                  control.enqueue(new TextEncoder().encode(first));
                  given.signal.addEventListener('abort', () => control.error(given.signal.reason));
                },
              });
              return new Response(stream);
            };""")
        self.browser.run("location.hash = arguments[0]", f"model={self.model}&source={PROMPT}&tokens=30&view=next")
        self.browser.wait("return document.querySelectorAll('.tokens button').length === 11")
        self.browser.wait("return document.querySelector('#write').textContent === 'Stop'")
        text = self.written()
        self.browser.click("#write")
        self.browser.wait("return document.querySelector('#write').textContent === 'Write'")
        self.wait_until_written()
        self.assertEqual(self.written(), text)
        self.wait_for_state("halt", "1")
        self.browser.click("[role=tab][value=matrix]")
        self.browser.wait("return document.querySelector('.matrix canvas').width")  # it has maps
        self.assertIn("write more", self.ways())

    def test_shades_show_where_a_token_looked(self):
        self.open_text(tokens=4, view="next")
        shaded = ("return [...document.querySelectorAll('.tokens button')]"
                  ".map((token) => token.style.background !== '')")
        newest = self.browser.run(shaded)
        self.assertTrue(any(newest))
        self.assertFalse(newest[-1])  # a token does not look at itself before it is there
        self.browser.focus(".tokens button:nth-child(3)")
        shades = self.browser.run(shaded)
        self.assertFalse(any(shades[2:]))
        self.assertTrue(any(shades[:2]))

    def test_every_view_shows_one_sequence_that_looks_at_itself(self):
        self.open_text(tokens=6)
        self.open_every_view()
        self.assertTrue(self.browser.run("return document.querySelector('#notice').hidden"))
        names = self.browser.run("return [...document.querySelectorAll('.lens tbody th')].map((name) => name.textContent)")
        lens = json.loads(fetch(self.last_request("/lens?")))
        self.assertEqual(names, lens["stages"][::-1])
