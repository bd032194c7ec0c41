"""The secret without which the explorer tells nothing: where it is kept, and where it is not."""
import subprocess

from page import PageTest, options


class TokenTest(PageTest):
    def wait_for_refusal(self):
        self.browser.wait("return document.querySelector('#notice').textContent.includes('attend explore')")
        said = self.browser.complaints()  # of the refusal alone
        self.assertTrue(said)
        for line in said:
            self.assertIn("401", line)

    def forget(self):
        self.browser.run("localStorage.clear()")
        self.browser.open("about:blank")

    def test_the_token_leaves_the_address(self):
        self.assertNotIn("token", self.browser.run("return location.href"))
        self.assertNotIn(options.token, self.browser.run("return document.documentElement.outerHTML"))
        self.assertEqual(self.browser.run("return document.cookie"), "")

    def test_links_and_another_load_need_no_token(self):
        self.open_link(source=options.sentence, view="beam")
        self.browser.reload()
        self.wait_until_written()
        self.assertEqual(self.state()["view"], "beam")

    def test_an_address_with_token_and_state_shows_both(self):
        self.forget()
        self.browser.open(f"{options.address}#view=beam&source={options.sentence}")
        self.wait_until_written()
        self.assertEqual(self.state(), {"view": "beam", "source": options.sentence})
        self.assertNotIn("token", self.browser.run("return location.href"))

    def test_without_a_token_the_page_says_what_to_do(self):
        self.forget()
        self.browser.open(options.url)
        self.wait_for_refusal()
        self.browser.open(options.url + "/?token=" + "0" * 48)
        self.wait_for_refusal()

    def test_a_page_goes_on_once_another_has_the_token(self):
        self.forget()
        self.browser.open(options.url)
        self.wait_for_refusal()
        self.browser.run("localStorage.setItem('attend-token', arguments[0])", options.token)  # as another tab does
        self.browser.click("#notice button")
        self.wait_for_models()

    def test_two_explorers_do_not_disturb_each_other(self):
        server = subprocess.Popen([options.attend, "explore", options.models[0], "--port", "0"],
                                  stdout=subprocess.PIPE, text=True)
        try:
            self.browser.open(server.stdout.readline().strip())
            self.browser.wait("return document.querySelector('#model').options.length === 1")
            self.browser.open(options.url)
            self.browser.wait("return document.querySelector('#model').options.length === arguments[0]",
                              len(self.models))
        finally:
            server.terminate()
            server.communicate()
