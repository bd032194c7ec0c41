"""A small WebDriver client for Chromium: enough to drive a page as a person does. Standard library only."""
import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Space": "\ue00d", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "Home": "\ue011", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Control": "\ue009"}

# Counts what a page has asked for and not yet read, in every page before its own scripts.
COUNT_WAITING = """
    window.waiting = 0;
    const counted = (owner, name) => {
      const original = owner[name];
      owner[name] = async function (...given) {
        ++window.waiting;
        try {
          return await original.apply(this, given);
        } finally {
          --window.waiting;
        }
      };
    };
    counted(window, 'fetch');
    counted(ReadableStreamDefaultReader.prototype, 'read');
    for (const name of ['arrayBuffer', 'json', 'text']) counted(Response.prototype, name);"""
TWO_FRAMES = "new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))"

# Lets frames come late, and answers too, some later than others.
DELAY = """
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (then) => frame(() => setTimeout(() => then(performance.now()), SLOWNESS * 50));
    const fetched = window.fetch;
    window.fetch = async (...given) => {
      const answer = await fetched(...given);
      await new Promise((then) => setTimeout(then, Math.random() * SLOWNESS * 20));
      return answer;
    };"""
PATIENCE = 60  # seconds, for what is to come


class Browser:
    """A headless browser behind its own chromedriver; leaves nothing running when the block ends.

    `slowness` divides its speed and delays frames and answers, which brings to light what was never waited for.
    """

    def __init__(self, chromium="chromium", chromedriver="chromedriver", width=1280, height=800,
                 dark=False, slowness=1):
        self.patience = PATIENCE * slowness
        self.driver = subprocess.Popen([chromedriver, "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.base = f"http://127.0.0.1:{self._port()}"
        # A pipe: a port would need a machine that knows the name localhost.
        arguments = ["--remote-debugging-pipe", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-first-run", "--disable-background-networking", "--disable-component-update",
                     f"--window-size={width},{height}"]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        options = {"binary": shutil.which(chromium), "args": arguments}
        capabilities = {"goog:chromeOptions": options,
                        "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}
        try:
            answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        except Exception:
            self.driver.terminate()
            raise
        self.session = f"/session/{answer['sessionId']}"
        self.resize(width, height)
        milliseconds = self.patience * 1000
        self._call("POST", self.session + "/timeouts", {"implicit": milliseconds, "script": milliseconds})
        before_all = COUNT_WAITING
        if slowness > 1:
            before_all = DELAY.replace("SLOWNESS", str(slowness)) + COUNT_WAITING
            self.devtools("Emulation.setCPUThrottlingRate", {"rate": slowness})
        self.devtools("Page.addScriptToEvaluateOnNewDocument", {"source": before_all})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def resize(self, width, height):
        """Sets the size of the page itself, as a phone of that size would have it, and waits until it has that size."""
        self.devtools("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.wait("return innerWidth === arguments[0] && innerHeight === arguments[1]", width, height)

    def save_downloads_in(self, folder):
        self.devtools("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def open(self, url):
        self._call("POST", self.session + "/url", {"url": url})

    def find(self, css):
        """An element, once it is there."""
        answer = self._call("POST", self.session + "/element", {"using": "css selector", "value": css})
        return answer[ELEMENT]

    def click(self, css):
        self._call("POST", f"{self.session}/element/{self.find(css)}/click", {})
        self._show()

    def focus(self, css):
        self.run("arguments[0].focus()", {ELEMENT: self.find(css)})

    def type(self, css, text):
        """Writes a text into a field, instead of what stood there."""
        element = self.find(css)
        self._call("POST", f"{self.session}/element/{element}/clear", {})
        if all(ord(c) < 0x10000 for c in text):
            self._call("POST", f"{self.session}/element/{element}/value", {"text": text})
        else:  # Some versions have no keys for these: what an input method would do.
            self.run("arguments[0].focus(); document.execCommand('insertText', false, arguments[1])",
                     {ELEMENT: element}, text)

    def keys(self, *names):
        """Presses keys where the focus is: names of KEYS, or single characters."""
        actions = []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def hover(self, x, y):
        """Moves the mouse to a point of the page in sight."""
        self._mouse(x, y)

    def click_at(self, x, y):
        self._mouse(x, y, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def reload(self):
        """Loads the page again; unlike after location.reload(), the page before is gone when this returns."""
        self._call("POST", self.session + "/refresh", {})

    def back(self):
        """To the page before this one; unlike history.back(), which a page that has just come may not heed."""
        self._call("POST", self.session + "/back", {})

    def run(self, script, *arguments):
        """What a script returns; a promise is waited for."""
        return self._call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, css):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", css)

    def wait(self, script, *arguments, seconds=None):
        """Waits until a script returns something true, and returns that. What it looks at may not be there yet."""
        end = time.monotonic() + (seconds or self.patience)
        while True:
            try:
                value = self.run(script, *arguments)
            except RuntimeError as error:
                if "javascript error" not in str(error):
                    raise
                value, last = None, error
            else:
                last = value
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"still not so: {script}; last {last}")
            time.sleep(0.05)

    def settle(self):
        """Waits until the page has drawn what it was asked for, with nothing on its way any more."""
        self.wait(f"return window.waiting === 0 && {TWO_FRAMES}.then(() => window.waiting === 0)")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", self.session + "/screenshot")))

    def devtools(self, command, parameters):
        return self._call("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def requests(self):
        """The addresses of all requests since the last call."""
        entries = self._call("POST", self.session + "/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        """Errors and warnings of the page since the last call."""
        entries = self._call("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def _mouse(self, x, y, *actions):
        move = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}
        self._act({"type": "pointer", "id": "mouse", "actions": [move, *actions]})

    def _act(self, source):
        self._call("POST", self.session + "/actions", {"actions": [source]})
        self._show()

    def _show(self):
        """Lets the page see what was done, and draw."""
        self.run(f"return {TWO_FRAMES}")

    def _port(self):
        for line in self.driver.stdout:
            if "successfully on port" in line:
                return int(line.rstrip(".\n").rsplit(" ", 1)[1])
        raise RuntimeError("chromedriver did not start")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=3 * self.patience) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {' '.join(value['message'].splitlines()[:2])}") from None
