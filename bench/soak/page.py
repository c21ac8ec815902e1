#!/usr/bin/env -S python3 -B
"""Looks at the status page as people do: Chromium without a screen, and daemons that load, end and come back.

Needs chromium (apt-get install chromium), or LARDER_CHROMIUM.
"""

import argparse
import contextlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request
import zlib

import crew
from browser import Tab
from crew import await_true, children, held, require, require_equal

# Text has to have a contrast of 4.5 to 1 with its background, in both themes.
LEAST_CONTRAST = """
(() => {
  const light = (c) => { const [r, g, b] = c.match(/\\d+/g).map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  let least = 99;
  for (const theme of ["dark", ""]) {
    document.documentElement.className = theme;
    const back = light(getComputedStyle(document.body).backgroundColor);
    for (const e of document.querySelectorAll("dt, dd, h1, h2, .aside, td, th, .none, #legend span")) {
      const l = light(getComputedStyle(e).color);
      least = Math.min(least, (Math.max(l, back) + .05) / (Math.min(l, back) + .05));
    }
  }
  return least;
})()"""
BUTTON_OF_IMAGES = "[...document.querySelectorAll('#datasets .arrays button')].find((b) => b.textContent.startsWith('image/')).click()"
FIVE_IMAGES = "[...document.querySelectorAll('#look-files img')].filter((i) => i.naturalWidth === 64).length === 5"
ROUND_BYTES = 28 * 28 * 1000


class Trial:
    def __init__(self, folder, shots):
        self.folder, self.shots = folder, shots
        os.makedirs(shots, exist_ok=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def shot(self, name):
        return os.path.join(self.shots, name + ".png")

    @contextlib.contextmanager
    def served(self, *options):
        http = () if "--http" in options else ("--http", "0")
        with crew.Served("page", self.folder, *options, *http) as daemon:
            daemon.page = re.search(r"Status page: (\S+)", daemon.text()).group(1)
            yield daemon

    @contextlib.contextmanager
    def shown(self, daemon):
        """Yields the page in a browser, which must not complain."""
        with Tab(self.folder, daemon.page) as tab:
            tab.await_shown()
            yield tab
            tab.require_no_complaints()

    def npy(self, name, dtype, shape, length):
        """Writes an array of bytes that rise and fall."""
        wave = bytes(int(127 + 127 * math.sin(i / 28 / 5) * math.cos(i % 28 / 4 + i // 784)) for i in range(min(length, ROUND_BYTES)))
        with open(self.path(name), "wb") as file:
            file.write(crew.npy(b"", shape, dtype))
            for at in range(0, length, len(wave)):
                file.write(wave[: length - at])
        return file.name

    def numbers(self, name, length):
        """Writes text that takes some seconds to read."""
        lines = b"0.123456789,1.23456789e-3,-98765.4321,1234567890.5\n" * 4_000
        with open(self.path(name), "wb") as file:
            file.write(b"a,b,c,d\n")
            for _ in range(0, length, len(lines)):
                file.write(lines)
        return file.name

    # -------------------------------------------------------------------------------------------------------- checks

    def empty_store(self):
        with self.served() as daemon, self.shown(daemon) as tab:
            require(tab.text("#datasets .none").startswith("No datasets."), tab.text("#datasets"))
            require(tab.text("#holders .none").startswith("No process"), tab.text("#holders"))
            require(all(map(tab.is_hidden, ("#loads", "#feeds", "#errors", "#waits"))), "sections without rows are shown")
            tab.shoot(self.shot("empty"), 1200, 900)

    def first_screen(self):
        with open(self.path("bad.npy"), "w") as file:
            file.write("no array")
        with self.served("--capacity", "512m") as daemon:
            for i in range(4):
                daemon.ask("load", f"bad{i}={file.name}", code=6)
            daemon.ask("load", "good=" + self.npy("good.npy", "|u1", (1000,), 1000))
            with held(self.folder, daemon.lease("good"), "--epochs", "90"), self.shown(daemon) as tab:
                await_true(lambda: len(tab.rows("#holders")) == 1, "the holder's row")
                require_equal(tab.eval("[...document.querySelectorAll('main > *')].map((e) => e.id).filter((id) => id).slice(0, 5).join()"),
                              "findings,errors,well,loads,holders", "order of the sections")
                require("does not begin with" in tab.rows("#errors")[0][2], tab.text("#errors"))
                require_equal((len(tab.rows("#errors")), tab.is_hidden("#well")), (3, True), "errors shown at first")
                tab.eval("document.querySelector('#errors .more').click()")
                require_equal(len(tab.rows("#errors")), 4, "all errors")
                require(tab.eval("document.querySelector('#holders').getBoundingClientRect().bottom < 900"), "the holders are not on the first screen")
                tab.until("charts of the width that the waits leave", "document.querySelector('#used canvas').clientWidth > .4 * document.querySelector('main').clientWidth")
                tab.shoot(self.shot("first"), 1300, 900)

    def equals_json(self):
        with self.served("--capacity", "512m") as daemon:
            self.npy("images.npy", "|u1", (64, 28, 28), 64 * 28 * 28)
            self.npy("weather.npy", "<f4", (8760, 64), 8760 * 64 * 4)
            self.npy("old.npy", "<i8", (1000,), 8000)
            for name in "images", "weather", "old":
                daemon.ask("load", f"{name}={self.path(name)}.npy")
            daemon.ask("register", f"later={self.path('weather.npy')}")
            with held(self.folder, daemon.lease("images"), "--epochs", "90"):
                daemon.ask("pin", "weather")
                daemon.ask("evict", "old")
                with self.shown(daemon) as tab:
                    await_true(lambda: len(tab.rows("#holders")) == 1, "the reader's row")
                    compare_with_json(daemon, tab)
                    tab.shoot(self.shot("light"), 1300, 1000)
                    tab.shoot(self.shot("narrow"), 400, 1500)
                    tab.eval("document.getElementById('theme').click()")
                    tab.shoot(self.shot("dark"), 1300, 1000)
                    least = tab.eval(LEAST_CONTRAST)
                    require(least >= 4.5, f"contrast={least}")
                    use_keys(tab)
                    self.look(tab)

    def look(self, tab):
        for button, what, there in (
                ("#datasets tr[data-key^=images] button", "the arrays of a dataset", "document.querySelectorAll('#datasets .arrays tbody tr').length === 1"),
                ("#datasets .arrays tbody button", "the values", "document.querySelector('#look-text')?.textContent.startsWith('[[[')")):
            tab.eval(f"document.querySelector({json.dumps(button)}).focus()")
            tab.press("Enter", 13, "\r")
            tab.until(what, there)
        tab.until("the picture", "document.getElementById('look-picture').naturalWidth > 100")
        require("max" in tab.text("#look-sums"), tab.text("#look-sums"))
        tab.shoot(self.shot("look"), 1300, 1000)
        tab.press("Escape", 27)
        tab.until("the look is closed", "!document.getElementById('look').open")

    def images(self):
        os.makedirs(self.path("pets", "cats"))
        for i in range(5):
            with open(self.path("pets", "cats", f"{i}.png"), "wb") as file:
                file.write(png(64, 48, lambda x, y, i=i: (x - 15 - 5 * i) ** 2 + (y - 19) ** 2 < 225))
        with self.served() as daemon, self.shown(daemon) as tab:
            daemon.ask("load", f"pets={self.path('pets')}", "--as", "images")
            await_true(lambda: tab.count("#datasets tbody button") == 1, "the dataset")
            tab.eval("document.querySelector('#datasets tbody button').click()")
            await_true(lambda: tab.count("#datasets .arrays tbody tr") > 3, "its arrays")
            tab.eval(BUTTON_OF_IMAGES)
            tab.until("the images", FIVE_IMAGES)
            tab.shoot(self.shot("images"), 1200, 800)

    def moves(self):
        self.npy("small.npy", "|u1", (1000,), 1000)
        large = self.numbers("large.csv", 1200 << 20)  # a few polls of the page long
        with self.served("--capacity", "3g") as daemon, self.shown(daemon) as tab:
            daemon.ask("load", f"small={self.path('small.npy')}")
            with held(self.folder, daemon.lease("small")) as reader:
                await_true(lambda: len(tab.rows("#holders")) == 1, "the holder's row")
                with daemon.start("load", f"large={large}", "--workers", "1", stderr=subprocess.DEVNULL) as load:
                    await_true(lambda: tab.count("#loads tbody progress") == 1, "the row of the load")
                    before = tab.eval("document.querySelector('#loads progress').value")
                    await_true(lambda: tab.eval("document.querySelector('#loads progress')?.value ?? -1") > before, "a load that moves",
                               ended=lambda: load.poll() is not None)
                    tab.shoot(self.shot("loading"), 1300, 700)
                await_true(lambda: tab.is_hidden("#loads"), "the end of the load's row")
                reader.kill()
                began = time.monotonic()
                await_true(lambda: not tab.rows("#holders"), "the end of a killed holder's row", seconds=2)
                say("it went", began)
        os.remove(large)

    def runs(self):
        with self.served() as daemon, self.shown(daemon) as tab:
            daemon.ask("load", "small=" + self.npy("runs.npy", "|u1", (1000,), 1000))
            require(tab.is_hidden("#launches") and tab.is_hidden("#grids"), "sections without rows are shown")
            with open(self.path("hold.py"), "w") as file:
                file.write(crew.HOLDER)
            options = {"env": {**os.environ, "LEASE": daemon.lease("small")}, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            runs = [daemon.start(*words, "--", "python3", file.name, **options) for words in (
                ("launch", "-n", "3"), ("grid", "--devices", "2", "--out", self.path("search"), "x=1,2,3"))]
            try:
                await_true(lambda: "0–2 of 3" in tab.text("#launches tbody"), "three ranks")
                await_true(lambda: "1–2" in tab.text("#grids tbody"), "two jobs")
                require_equal(tab.rows("#grids")[0][:3], ["search", "1–2", "small"], "the grid's row")
                tab.shoot(self.shot("runs"), 1300, 900)
            finally:
                for run in runs:
                    run.terminate()
            await_true(lambda: tab.is_hidden("#launches") and tab.is_hidden("#grids"), "the end of the rows")
            for run in runs:
                run.wait(30)

    def hostile_names(self):
        os.mkdir(self.path("<img src=x onerror=window.evil=1>"))
        source = self.npy("<img src=x onerror=window.evil=1>/h.npy", "|u1", (10,), 10)
        with self.served() as daemon, self.shown(daemon) as tab:
            daemon.ask("load", "x=" + source)
            with held(self.folder, daemon.lease("x"), "<script>window.evil=1</script>"):
                await_true(lambda: len(tab.rows("#holders")) == 1, "the holder's row")
                require("<script>window.evil=1</script>" in tab.text("#holders"), tab.text("#holders"))
                require("<img src=x onerror" in tab.text("#datasets"), tab.text("#datasets"))
                require_equal(tab.eval("typeof window.evil"), "undefined", "a name that was executed")
                require_equal(tab.count("main img, main script"), 0, "elements made of names")

    def strangers(self):
        with self.served() as daemon:
            root = re.sub(r"\?.*", "", daemon.page)
            for path in "", "status.json", "page.js", "?token=wrong", "look.json?name=x/y":
                status, _, body = answer(root + path)
                require(status == 401 and body.startswith(b"the request has no valid token"), f"the answer to a stranger for {path!r}: {status} {body}")
            # A name of another site may lead to 127.0.0.1.
            with Tab(self.folder, daemon.page.replace("127.0.0.1", "evil.localhost")) as tab:
                tab.until("the answer to another host", "location.href !== 'about:blank' && document.readyState === 'complete'")
                require_equal(tab.count("main"), 0, "a page under another host")
            with Tab(self.folder, daemon.page) as tab:
                tab.await_shown()
                require_equal(tab.eval("location.search"), "", "the token in the address")
                require_equal(tab.eval("document.cookie"), "", "the cookie that scripts see")
                for method in "POST", "PUT", "DELETE":
                    require_equal(tab.eval(f"fetch('/status.json', {{method: '{method}'}}).then((a) => a.status)"), 405, method)

    def end_and_return(self):
        with self.served() as first, Tab(self.folder, first.page) as tab:
            tab.await_shown()
            first.stop()
            await_true(lambda: "does not answer" in tab.text("#trouble"), "the words that the daemon is gone")
            tab.shoot(self.shot("gone"), 1200, 700)
            with self.served("--http", re.search(r":(\d+)/", first.page).group(1)) as second:
                await_true(lambda: "new token" in tab.text("#trouble"), "the words that there is a new token")
                tab.open(second.page)
                tab.await_shown()
                await_true(lambda: tab.is_hidden("#trouble"), "no trouble")
                require_equal(tab.fact("pid"), str(second.process.pid), "pid")

    def many(self):
        one = self.npy("one.npy", "|u1", (100,), 100)
        names = [f"d{i:04}={self.path('thousand', f'f{i:04}.npy')}" for i in range(1000)]
        os.mkdir(self.path("thousand"))
        for name in names:
            os.link(one, name.partition("=")[2])
        crew.link_many(self.path("many"), 100_000, crew.npy(bytes(100), (100,)), ".npy")
        with self.served("--capacity", "4g") as daemon:
            daemon.ask("load", *names)
            daemon.ask("load", f"zz-many={self.path('many')}")
            poll(daemon)
            with self.shown(daemon) as tab:
                print(f"        first paint after ms={tab.eval('Math.round(performance.getEntriesByType(`paint`).at(-1)?.startTime ?? 0)')}")
                require(tab.text("#range").endswith("of 1,001"), tab.text("#range"))
                require_equal(len(tab.rows("#datasets")), 100, "rows")
                began = time.monotonic()
                tab.eval("document.querySelector('[data-sort=arrays]').click()")
                await_true(lambda: tab.rows("#datasets")[0][0] == "zz-many", "the largest first")
                say("sorted", began)
                began = time.monotonic()
                tab.eval("document.querySelector('#datasets tr[data-key^=zz] button').click()")
                await_true(lambda: tab.count("#datasets .arrays tbody tr") == 100, "some of its arrays")
                say("arrays", began)
                tab.shoot(self.shot("many"), 1300, 1000)

    def draw_guide(self, file):
        self.npy("images.npy", "|u1", (60000, 28, 28), 60000 * 28 * 28)
        self.npy("weather.npy", "<f4", (876000, 64), 876000 * 64 * 4)
        self.npy("tokens.npy", "<u2", (40000000,), 80_000_000)
        numbers = self.numbers("measurements.csv", 500 << 20)
        with self.served("--capacity", "768m") as daemon, contextlib.ExitStack() as stack:
            for name in "images", "weather", "tokens":
                daemon.ask("load", f"{name}={self.path(name)}.npy")
            daemon.ask("evict", "tokens")
            for rank, name in enumerate(("images", "weather")):
                stack.enter_context(held(self.folder, daemon.lease(name), "--epochs", "90", RANK=str(rank), WORLD_SIZE="2", TORCHELASTIC_RUN_ID="resnet50"))
            with self.shown(daemon) as tab:
                for name in "images", "tokens", "weather":
                    daemon.ask("wait", name)
                daemon.ask("pin", "tokens")
                with daemon.start("load", f"measurements={numbers}", "--workers", "1", stderr=subprocess.DEVNULL) as load:
                    await_true(lambda: "/s" in tab.text("#loads"), "the load")
                    tab.shoot(file, 1200, 900)
                    load.terminate()


def compare_with_json(daemon, tab):
    status = daemon.ask("status", "--json")
    require_equal(re.sub(";.*", "", tab.text("#capacity")), f"{size(status['usedBytes'])} of {size(status['capacityBytes'])} used", "capacity")
    for name in "store", "pid", "arrays", "clients":
        require_equal(tab.fact(name), str(status[name]), name)
    expected = [
        [row["name"].partition("/")[0], str(row["version"] or ""), row["state"] + (" pinned" if row["pinned"] else ""), size(row["bytes"]),
         str(row["leases"] or ""), row["digest"][:12]] for row in daemon.ask("ls", "--all", "--json")]
    require_equal([[row[i] for i in (0, 1, 2, 3, 5, 7)] for row in tab.rows("#datasets")], sorted(expected), "datasets")
    client = daemon.ask("clients", "--json")[0]
    require_equal([tab.rows("#holders")[0][i] for i in (0, 1, 2, 3, 5)],
                  [str(client["pid"]), client["user"], size(client["bytes"]), client["datasets"][0], client["command"]], "holder")


def use_keys(tab):
    tab.press("/", 191, "/")
    require_equal(tab.eval("document.activeElement.id"), "match", "focus after /")
    tab.type("wea")
    await_true(lambda: len(tab.rows("#datasets")) == 1, "only what matches")
    tab.eval("const m = document.getElementById('match'); m.value = ''; m.dispatchEvent(new Event('input')); m.blur()")
    await_true(lambda: len(tab.rows("#datasets")) == 4, "all again")


def answer(address, **headers):
    """Returns the status, the headers and the body of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=crew.PATIENCE_S) as found:
            return found.status, found.headers, found.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read()


def poll(daemon):
    root, _, token = daemon.page.partition("?token=")
    tag = ""
    for i in range(6):
        time.sleep(0.5)  # the daemon looks anew after 400 ms
        began = time.monotonic()
        status, headers, body = answer(root + "status.json?count=100", **{
            "Authorization": "Bearer " + token, "Accept-Encoding": "gzip", "If-None-Match": tag})
        say(f"poll: status={status} bytes={len(body)}", began)
        tag = "" if i < 3 else headers.get("ETag", "")


def say(what, began):
    print(f"        {what} after ms={(time.monotonic() - began) * 1000:.0f}")


def size(count):
    """Writes bytes as the page does."""
    if count < 1024:
        return f"{count} B"
    step = 0
    while count >= 1023.95 and step < 6:
        count, step = count / 1024, step + 1
    return f"{count:.1f} {'KMGTPE'[step - 1]}iB"


def png(width, height, is_white):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    lines = b"".join(b"\0" + bytes(255 * is_white(x, y) for x in range(width)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


CHECKS = {
    "an empty store": Trial.empty_store,
    "what is wrong comes first": Trial.first_screen,
    "what the page shows is what --json says": Trial.equals_json,
    "images of a folder are shown": Trial.images,
    "a load moves, and a holder that is killed goes within 2 s": Trial.moves,
    "launches and grids are shown while they run": Trial.runs,
    "names are text": Trial.hostile_names,
    "tokens and hosts": Trial.strangers,
    "the end of the daemon, and its return": Trial.end_and_return,
    "1000 datasets, 100,000 arrays": Trial.many,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", metavar="DIR", help="keeps screenshots there")
    parser.add_argument("--only", metavar="WORDS", default="", help="checks with these words in their name")
    parser.add_argument("--guide", metavar="FILE", help="makes the screenshot of the guide")
    options = parser.parse_args()
    crew.build()
    failures = 0
    with children.interruptible(), tempfile.TemporaryDirectory(prefix="larder-page-") as folder:
        trial = Trial(folder, options.shots or os.path.join(folder, "shots"))
        if options.guide:
            trial.draw_guide(options.guide)
            return 0
        for name, check in CHECKS.items():
            if options.only in name:
                began = time.monotonic()
                try:
                    check(trial)
                    print(f"ok      {name} ({time.monotonic() - began:.1f} s)", flush=True)
                except Exception as e:
                    failures += 1
                    print(f"FAILED  {name}: {e}", flush=True)
                    traceback.print_exc(file=sys.stdout)
    print(f"{failures} checks failed." if failures else "All checks hold.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
