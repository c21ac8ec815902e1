#!/usr/bin/env python3
"""Runs thirty loaders and feeds, each with one cause that slows it down, and counts how often the status page names that cause five seconds later.

    bench/soak/bottlenecks.py [--seed N] [--verbose] [NAME...]

Needs numpy. Scenarios that limit processors need root and control groups. LARDER_COMMAND names another command than ops/larder.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.environ.get("LARDER_COMMAND", os.path.join(ROOT, "ops", "larder"))
LOOK_AFTER = 5.0  # seconds
START = 60.0  # seconds for a process to begin
CGROUPS = "/sys/fs/cgroup"  # version 1

TRAIN = """
import itertools, sys, threading, time
import numpy as np
import larder
lock = threading.Lock()
def compute(seconds):
    end, data = time.thread_time() + seconds, np.arange(200_000.0)
    while time.thread_time() < end:
        np.sqrt(data).sum()
def loop(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def held(seconds):
    with lock:
        time.sleep(seconds)
def after(function, seconds):
    def transform(batch):
        function(seconds)
        return batch
    return transform
"""
EPOCHS = """
print("begun", flush=True)
for _ in itertools.count():
    for batch in loader:
        {step}
"""


class Scenario:
    """A program, the cause that it has, and a word that the advice contains."""

    def __init__(self, name, cause, word, program, limits):
        self.name, self.causes, self.word, self.program, self.limits = name, cause.split("|"), word, program, limits


def train(settings, step="pass", data='"small"'):
    return ["python", TRAIN + f"loader = larder.Loader({data}, {settings})\n" + EPOCHS.format(step=step)]


def read_feed(words, step="pass"):
    """Return a feed and a trainer that reads it."""
    return ["feed", words, "import larder, time\nfor batch in larder.batches('fed', timeout=60):\n    " + step]


def scenarios(seed):
    """Return thirty scenarios. The seed draws their speeds, sizes and threads."""
    draw = random.Random(seed)
    ms = lambda least, most: round(draw.uniform(least, most) / 1e3, 4)
    threads = lambda: draw.choice([2, 3, 4])
    shuffled = f"shuffle={draw.randrange(100)}"
    usual = lambda: f'batch_size={draw.choice([64, 128, 256])}, {shuffled}'
    found = []

    def add(name, cause, word, program, **limits):
        found.append(Scenario(name, cause, word, program, limits))

    for i in range(3):
        add(f"trainer-sleeps-{i}", "trainer", "bottleneck itself", train(usual(), f"time.sleep({ms(5, 30)})"))
    for i in range(2):
        add(f"trainer-computes-{i}", "trainer", "bottleneck itself", train(f"{usual()}, threads=1", f"compute({ms(10, 30)})"))
    for i in range(3):
        add(f"function-computes-{i}", "userCode|processor", "", train(f"{usual()}, threads={draw.choice([1, 2])}, transform=after(compute, {ms(10, 30)})"))
    for i in range(3):
        count = threads()
        add(f"function-sleeps-{i}", "userCode", "code that waits", train(f"{usual()}, threads={count}, prefetch={2 * count}, transform=after(time.sleep, {ms(20, 60)})"))
    for i in range(2):
        count = threads()
        add(f"function-locks-{i}", "userCode", "code that waits", train(f"{usual()}, threads={count}, prefetch={2 * count}, transform=after(held, {ms(10, 40)})"))
    add("function-holds-python", "userCode", "Python's lock", train(f"{usual()}, threads=4, prefetch=8, transform=after(loop, {ms(10, 30)})"))
    for i in range(2):
        add(f"prefetch-tiny-{i}", "userCode", "prefetch=", train(f"{usual()}, threads={threads() + 1}, prefetch=1, transform=after(time.sleep, {ms(20, 50)})"))
    add("no-threads", "gather|userCode", "threads=", train(f"{usual()}, threads=0, transform=after(time.sleep, {ms(5, 20)})"))
    for i in range(2):
        add(f"function-slow-at-times-{i}", "userCode", "", train(
            f"{usual()}, threads=2, transform=lambda batch: (time.sleep(2.5 if batch.number % 10 == {i} else 0.01), batch)[1]"))
    for i in range(2):
        add(f"processors-limited-{i}", "processor", "processors", train(f"{usual()}, threads=2, transform=after(compute, {ms(10, 30)})"), processors=draw.choice([0.15, 0.25]))
    add("gather-large-rows", "gather|processor", "", train(f"batch_size=64, {shuffled}, threads=1", data='"large"'))
    add("gather-with-a-quick-trainer", "gather|processor", "", train(f"batch_size=64, {shuffled}, threads=1", f"compute({ms(0.1, 0.3)})", '"large"'))
    add("batches-tiny", "gather|processor", "batch_size=", train(f"batch_size=1, {shuffled}"))
    add("epochs-short", "starting", "epochs", train(f"batch_size=512, {shuffled}", data='"tiny"'))
    for i in range(2):
        add(f"disk-{i}", "disk", "disk", train(f"batch_size={draw.choice([32, 64])}, {shuffled}, threads={threads()}", data='"cold"'), disk=draw.choice([2, 4, 8]) << 20)
    decoding = "photos --arrays image --batch-size 32 --shuffle 1 --epochs 0.. --transform image=decode,resize(96,96),toFloat"
    add("feed-decodes", "decode|processor", "", read_feed(decoding))
    add("feed-with-a-slow-trainer", "trainer", "bottleneck itself", read_feed(decoding, f"time.sleep({ms(200, 400)})"))
    add("feed-with-a-slow-trainer-of-plain-rows", "trainer", "bottleneck itself",
        read_feed("small --arrays small --batch-size 64 --epochs 0..", f"time.sleep({ms(10, 40)})"))
    return found


def png(pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows, 1))
            + chunk(b"IEND", b""))


def write_data(folder):
    """Write the files of the datasets, and return the arguments that load them."""
    numbers = np.random.default_rng(1)
    np.save(os.path.join(folder, "small.npy"), numbers.integers(0, 255, (20_000, 3072), np.uint8))
    np.save(os.path.join(folder, "large.npy"), numbers.integers(0, 255, (2_000, 150_528), np.uint8))
    np.save(os.path.join(folder, "tiny.npy"), np.zeros((600, 8), np.uint8))
    np.save(os.path.join(folder, "cold.npy"), np.zeros((16, 8), np.uint8))
    with open(os.path.join(folder, "cold.npy"), "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (1 << 18, 4096)})
        block = numbers.integers(0, 255, 1 << 22, np.uint8).tobytes()
        for _ in range(1 << 8):
            file.write(block)
        os.fsync(file.fileno())
    photos = os.path.join(folder, "photos")
    os.mkdir(photos)
    for i in range(64):
        with open(os.path.join(photos, f"{i:03}.png"), "wb") as file:
            file.write(png(numbers.integers(0, 255, (384, 384, 3), np.uint8)))
    return {"small": ["small={}/small.npy"], "large": ["large={}/large.npy"], "tiny": ["tiny={}/tiny.npy"], "photos": ["photos={}/photos", "--as", "images"],
            "cold": ["cold={}/cold.npy", "--in-place"]}


def forget_pages(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Run:
    """A daemon with the datasets, and the processes of one scenario at a time."""

    def __init__(self, folder, verbose):
        self.folder, self.verbose = folder, verbose
        self.store = tempfile.mkdtemp(prefix="larder-bottlenecks-", dir="/dev/shm")
        os.rmdir(self.store)
        self.environment = {**os.environ, "LARDER_STORE": self.store, "PYTHONPATH": os.path.join(ROOT, "ops", "python"), "LARDER_CLASS_ARCHIVE": "never"}
        self.log = open(os.path.join(folder, "daemon.log"), "wb+")
        self.daemon = subprocess.Popen([COMMAND, "serve", "--store", self.store, "--http", "0"], stdout=self.log, stderr=self.log, env=self.environment)
        self.page = self._await_page()

    def _await_page(self):
        end = time.monotonic() + START
        while time.monotonic() < end:
            self.log.seek(0)
            found = re.search(rb"http://\S+", self.log.read())
            if found:
                return found.group().decode()
            time.sleep(0.1)
        raise SystemExit(f"no status page: log={self.log.name}")

    def load(self, words):
        subprocess.run([COMMAND, "load", *words], check=True, env=self.environment, stdout=subprocess.DEVNULL)

    def loaders(self):
        with urllib.request.urlopen(self.page.replace("/?", "/status.json?")) as answer:
            return json.load(answer)["loaders"]

    def found(self, scenario):
        """Run a scenario, and return the loader as the status page shows it after five seconds."""
        with contextlib.ExitStack() as stack:
            groups = [stack.enter_context(limited(*each, self.folder)) for each in scenario.limits.items()]
            for words in self.commands(scenario):
                stack.enter_context(started(words, self.environment, groups, self.folder))
            end = time.monotonic() + START
            while not any(loader["batches"] >= 0 for loader in self.loaders()):
                if time.monotonic() > end:
                    return None
                time.sleep(0.1)
            if scenario.name.startswith("feed"):
                while not any(loader["batches"] > 0 for loader in self.loaders()) and time.monotonic() < end:
                    time.sleep(0.1)
            time.sleep(LOOK_AFTER - 1.5)
            self.loaders()
            time.sleep(1.5)
            return next(iter(self.loaders()), None)

    def commands(self, scenario):
        kind, *texts = scenario.program
        if kind == "python":
            return [[sys.executable, "-c", texts[0]]]
        return [[COMMAND, "feed", "fed", *texts[0].split(), "--consumers", "1"], [sys.executable, "-c", texts[1]]]

    def close(self):
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(60)
        self.log.close()


@contextlib.contextmanager
def started(words, environment, groups, folder):
    """Start a process that has its processors: other programs of the machine should not be the cause."""
    def prepare():
        with contextlib.suppress(PermissionError):
            os.nice(-10)
        for group in groups:
            with open(os.path.join(group, "cgroup.procs"), "w") as procs:
                procs.write(str(os.getpid()))

    with open(os.path.join(folder, "trainer.log"), "wb") as log:
        process = subprocess.Popen(words, env=environment, preexec_fn=prepare, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def limited(what, limit, folder):
    """Create a control group with a share of one processor, or with some bytes a second of the disk of a folder."""
    kind, files = "cpu", {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": int(100_000 * limit)}
    if what == "disk":
        device = os.stat(folder).st_dev
        kind, files = "blkio", {"blkio.throttle.read_bps_device": f"{os.major(device)}:{os.minor(device)} {limit}"}
    group = os.path.join(CGROUPS, kind, f"larder-bottlenecks-{os.getpid()}")
    os.mkdir(group)
    try:
        for name, value in files.items():
            with open(os.path.join(group, name), "w") as file:
                file.write(str(value))
        yield group
    finally:
        for _ in range(100):
            with contextlib.suppress(OSError):
                os.rmdir(group)
                break
            time.sleep(0.05)


def is_right(scenario, loader):
    return loader is not None and loader["bottleneck"] in scenario.causes and scenario.word in loader["advice"]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--verbose", action="store_true")
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    wanted = [one for one in scenarios(chosen.seed) if not chosen.names or any(one.name.startswith(name) for name in chosen.names)]
    folder = tempfile.mkdtemp(prefix="larder-bottlenecks-", dir="/var/tmp")
    right = 0
    try:
        run = Run(folder, chosen.verbose)
        try:
            for words in write_data(folder).values():
                run.load([word.replace("{}", folder) for word in words])
            for scenario in wanted:
                if "cold" in scenario.program[-1]:
                    forget_pages(os.path.join(folder, "cold.npy"))
                loader = run.found(scenario)
                named = is_right(scenario, loader)
                right += named
                shown = "no loader" if loader is None else loader["bottleneck"] + ": " + loader["advice"]
                print(f"{'right' if named else 'WRONG'} {scenario.name}: {shown}", flush=True)
                if loader is not None and (chosen.verbose or not named):
                    print("     ", {cause: share for cause, share in loader["shares"].items() if share}, flush=True)
        finally:
            run.close()
    finally:
        shutil.rmtree(folder)
    print(f"{right} of {len(wanted)} named right (seed {chosen.seed})")
    sys.exit(0 if right >= 0.9 * len(wanted) else 1)


if __name__ == "__main__":
    main()
