"""What tests of the explorer's page share: its server's address, and a browser that is driven as a person does."""
import argparse
import json
import pathlib
import struct
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from webdriver import Browser

VIEWS = ["matrix", "heads", "model", "time", "beam", "next", "saliency", "compare", "training"]  # by number
ALL_VIEWS = VIEWS + ["lens"]
options = argparse.Namespace()  # of the command line, and of the server: `address`, its `url` and `token`


def use_address(address):
    """Takes the address that `attend explore` printed."""
    parts = urllib.parse.urlsplit(address)
    options.address = address
    options.url = f"{parts.scheme}://{parts.netloc}"
    options.token = urllib.parse.parse_qs(parts.query)["token"][0]


def fetch(path):
    request = urllib.request.Request(options.url + path, headers={"Authorization": f"Bearer {options.token}"})
    with urllib.request.urlopen(request) as response:
        return response.read()


def post_run(source, model=0, **request):
    """The events of a run; `source` is what the model reads, or what it continues."""
    sequences = json.loads(fetch("/api/models"))["models"][model]["sequences"]
    read = [sequence["name"] for sequence in sequences if not sequence["written"]]
    request |= {"model": model, "texts": {read[0]: source}} if read else {"model": model, "start": source}
    request = urllib.request.Request(options.url + "/api/runs", json.dumps(request).encode(),
                                     {"Content-Type": "application/json", "Authorization": f"Bearer {options.token}"})
    with urllib.request.urlopen(request) as events:
        return [json.loads(line) for line in events]


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


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(options.chromium, options.chromedriver, slowness=options.slowness)
        cls.browser.open(options.address)  # the tour is shown once
        cls.browser.wait("return !document.querySelector('#tour').hidden")
        cls.models = json.loads(fetch("/api/models"))["models"]
        cls.layer = next(layer for layer in cls.models[0]["layers"] if layer["queries"] != layer["keys"])
        cls.pair = f"{cls.layer['queries']}/{cls.layer['keys']}"  # as the address has it
        cls.read = cls.layer["keys"]

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.requests()
        self.browser.complaints()
        self.browser.hover(0, 0)  # away from where the test before has left the mouse
        self.browser.open(options.address)
        self.wait_for_models()

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def wait_for_models(self):
        self.browser.wait("return document.querySelector('#model').options.length")

    def load_again(self):
        self.browser.reload()
        self.wait_for_models()

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
        """Opens a head of the first layer between two sequences; gives the rows of its map as the server sent it."""
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
        for view in ALL_VIEWS:
            self.browser.click(f"[role=tab][value={view}]")
            self.browser.wait("return document.querySelector('#view').textContent.length > 0")
            self.browser.settle()

    def items_read(self):
        """The items of the sequence that was read, as the page asked for them last."""
        self.browser.settle()  # what it asked for before that is not the last
        sequences = json.loads(fetch(self.last_request("/sequences?")))["sequences"]
        return next(sequence["items"] for sequence in sequences if sequence["name"] == self.read)

    def find_model(self, holds, what):
        found = next((model["id"] for model in self.models if holds(model)), None)
        if found is None:
            self.skipTest(f"the explorer has no model {what}")
        return found

    def last_request(self, part):
        """The newest request of the page whose address has `part` in it."""
        end = time.monotonic() + self.browser.patience
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
        """What the address says, once it has followed the page."""
        self.pass_time()
        return self.browser.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def wait_for_state(self, key, value):
        self.browser.wait("return new URLSearchParams(location.hash.slice(1)).get(arguments[0]) === arguments[1]",
                          key, value)

    def open_view_to_save(self, view):
        """Opens a view, and waits until it has something to save."""
        self.browser.click(f"[role=tab][value={view}]")
        self.browser.wait("return [...document.querySelectorAll('#view :is(.matrix, .heads, .scroller, figure) > *,"
                          " #view :is(canvas, .card, .tree g, .chart text, .lens td)')].length")
        self.browser.settle()

    def save_all(self):
        with tempfile.TemporaryDirectory() as name:
            self.browser.save_downloads_in(name)
            return {kind: self.save(kind, pathlib.Path(name)) for kind in ("svg", "png", "html", "json")}

    def save(self, kind, folder):
        self.browser.click("#export summary")
        self.browser.click(f"#export button[value={kind}]")
        end = time.monotonic() + self.browser.patience
        while time.monotonic() < end:
            done = [path for path in folder.iterdir() if path.suffix == f".{kind}"]
            if done:  # a file has its name once it is whole
                return done[0].read_bytes()
            time.sleep(0.05)
        raise TimeoutError(f"no .{kind} was saved; {self.browser.text('#notice')}")

    def open_model(self, model):
        """Opens a model by the address, and waits until the page shows it."""
        self.browser.run("location.hash = 'model=' + arguments[0]", model)
        self.browser.wait("return document.querySelector('#model').value === String(arguments[0])", model)

    def open_the_model_of_bytes(self):
        self.open_model(self.find_model(lambda model: model["name"].endswith("bytes"), "of bytes"))
