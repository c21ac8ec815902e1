"""A browser with one page, by the DevTools protocol over two pipes."""

import base64
import json
import os
import select
import subprocess
import tempfile
import time

import crew
from children import below
from crew import Trouble, require

PROGRAM = os.environ.get("LARDER_CHROMIUM", "chromium")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe")
SIZES = "JSON.stringify([...document.querySelectorAll('main, canvas')].map((e) => [e.clientWidth, e.clientHeight]))"
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"


class Tab:
    def __init__(self, folder, address):
        (its_input, own_output), (own_input, its_output) = os.pipe(), os.pipe()
        words = [PROGRAM, *FLAGS, "--user-data-dir=" + tempfile.mkdtemp(prefix="chromium-", dir=folder), "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{its_input} 4>&{its_output}', "bash", *words], pass_fds=(its_input, its_output),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(its_input)
        os.close(its_output)
        self.output, self.input = open(own_output, "wb", buffering=0), open(own_input, "rb", buffering=0)
        self.buffer, self.number, self.session, self.complaints = b"", 0, {}, []
        try:
            page = next(target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page")
            self.session = {"sessionId": self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]}
            for domain in "Page", "Runtime", "Log":
                self.call(domain + ".enable")
            self.open(address)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Kills the browser and its children, which write to its folder until they are gone, and waits for them."""
        pids = [*below([self.process.pid]), self.process.pid]
        for pid in pids:
            crew.kill(pid)
        self.process.wait(crew.PATIENCE_S)
        crew.await_gone(pids)
        self.output.close()
        self.input.close()

    def call(self, method, **parameters):
        self.number += 1
        self.output.write(json.dumps({"id": self.number, "method": method, "params": parameters, **self.session}).encode() + b"\0")
        while (message := self.next_message()).get("id") != self.number:
            if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.complaints.append(message)
        require("result" in message, f"{method}: {message}")
        return message["result"]

    def next_message(self):
        end = time.monotonic() + crew.PATIENCE_S
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, end - time.monotonic()))[0]:
                raise Trouble("the browser does not answer")
            more = os.read(self.input.fileno(), 1 << 20)
            require(more, "the browser has ended")
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, address):
        self.call("Page.navigate", url=address)

    def eval(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        require("exceptionDetails" not in result, f"{script}: {result}")
        return result["result"].get("value")

    def until(self, what, script, seconds=crew.PATIENCE_S):
        """Waits until a script returns something true."""
        return crew.await_true(lambda: self.eval(script), what, seconds=seconds)

    def await_shown(self):
        self.until("the page is shown", "document.querySelector('#polled')?.textContent.startsWith('as of') ?? false")

    def text(self, selector):
        return self.eval(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def count(self, selector):
        return self.eval(f"document.querySelectorAll({json.dumps(selector)}).length")

    def is_hidden(self, selector):
        return self.eval(f"document.querySelector({json.dumps(selector)}).hidden")

    def fact(self, name):
        return self.eval(f"[...document.querySelectorAll('#facts div')].find((d) => d.firstChild.textContent === {json.dumps(name)}).lastChild.textContent")

    def rows(self, section):
        return self.eval(f"[...(document.querySelector('{section} tbody')?.children ?? [])].filter((r) => !r.classList.contains('arrays'))"
                         ".map((r) => [...r.children].map((c) => c.textContent))")

    def press(self, key, code, text=""):
        self.call("Input.dispatchKeyEvent", key=key, windowsVirtualKeyCode=code, type="keyDown", **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", key=key, windowsVirtualKeyCode=code, type="keyUp")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def shoot(self, file, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        # Charts are drawn anew in the frame after one that has another size.
        crew.await_true(lambda: self.eval(SIZES) == (self.eval(FRAMES), self.eval(SIZES))[1], "charts of the size of the page")
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def require_no_complaints(self):
        """Fails on every message of the browser's console: blocked by the policy, not found, thrown."""
        self.eval("0")  # what was sent before the answer has been read then
        require(not self.complaints, f"{self.complaints}")
