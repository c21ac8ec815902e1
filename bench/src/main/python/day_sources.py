#!/usr/bin/env python3
"""Times eight training runs at once, in Python, over data behind a slow network and over a folder of many small image files.

usage: day_sources.py quick|short|long WORK PLACE ROWS    measures; PLACE is an empty folder of /dev/shm
       day_sources.py table ROWS                          prints what was measured as Markdown

The server is one of this machine that sends a given number of bytes a second to all together. Each way does what it needs from
nothing, the daemon included, in rounds that take turns. Rows have "kind" (remote, images), "way" (plain, samples, disk, script,
larder), round, runs, epochs, bytes (of the data), seconds (from Enter to the end of the last run), againSeconds (of eight more
runs, which find what these left), stepSeconds (to the first batch, median of the runs), peakOwnBytes (RssAnon of runs and daemon,
and what lies in PLACE), sentBytes (by the server), load.
"""
import http.server
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
import zlib

import numpy as np

import children
from measurement import HERE

RUNS, EPOCHS, ROW_BYTES = 8, 3, 3072
SENT_A_SECOND = 50_000_000
WAYS = {"remote": ("plain", "disk", "script", "larder"), "images": ("plain", "samples", "script", "larder")}
NAMES = {
    ("remote", "plain"): "each run fetches for itself",
    ("remote", "disk"): "script that fetches to the disk once, then np.load(mmap_mode=\"r\"): the page cache",
    ("remote", "script"): "script that fetches to /dev/shm once, then np.load(mmap_mode=\"r\")",
    ("images", "plain"): "each run opens the files, every epoch: the page cache",
    ("images", "samples"): "each run keeps what it has opened, as MONAI's CacheDataset does",
    ("images", "script"): "script with np.save of all files in /dev/shm",
}


class Slow(http.server.BaseHTTPRequestHandler):
    """Serves one file, and parts of it, at the server's pace."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, with_body):
        data = self.server.data
        first, last, code = 0, len(data) - 1, 200
        part = self.headers.get("Range", "")
        if self.path != "/rows.npy":
            self.send_error(404)
            return
        if part.startswith("bytes=") and with_body:
            begin, _, end = part[6:].partition("-")
            first, last, code = int(begin), min(int(end or last), last), 206
        self.send_response(code)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"1"')
        if code == 206:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        for begin in range(first, last + 1, 1 << 18) if with_body else ():
            chunk = data[begin : min(begin + (1 << 18), last + 1)]
            self.server.wait_for(len(chunk))
            self.wfile.write(chunk)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, data):
        super().__init__(("127.0.0.1", 0), Slow)
        self.data, self.sent, self.free_at, self.guard = data, 0, 0.0, threading.Lock()

    def wait_for(self, count):
        with self.guard:
            self.sent += count
            self.free_at = max(self.free_at, time.monotonic()) + count / SENT_A_SECOND
            left = self.free_at - time.monotonic()
        time.sleep(max(0.0, left))

    def handle_error(self, *_):
        pass  # a client that ends early


def png(randomness):
    """Makes a valid picture of 32×32 pixels of noise, some 3 kB long."""

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    header = (32).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    lines = b"".join(b"\0" + randomness.randbytes(96) for _ in range(32))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b"")


class Sources:
    def __init__(self, pace, work, place, rows):
        self.work, self.place, self.rows = work, place, open(rows, "w", encoding="utf-8", buffering=1)
        quick = pace == "quick"
        self.rounds = {"quick": 1, "short": 3}.get(pace, 5)
        rng = np.random.default_rng(42)
        array = rng.integers(0, 256, ((16 << 20 if quick else 128 << 20) // ROW_BYTES, ROW_BYTES), np.uint8)
        np.save(os.path.join(work, "rows.npy"), array)
        with open(os.path.join(work, "rows.npy"), "rb") as file:
            self.server = Server(file.read())
        self.images = os.path.join(work, "pictures")
        self.image_bytes, randomness = 0, random.Random(42)
        for number in range(1000 if quick else 20000):
            folder = os.path.join(self.images, f"class-{number % 10}")
            os.makedirs(folder, exist_ok=True)
            picture = png(randomness)
            self.image_bytes += len(picture)
            with open(os.path.join(folder, f"{number:05}.png"), "wb") as file:
                file.write(picture)

    def source(self, kind):
        return self.images if kind == "images" else f"http://127.0.0.1:{self.server.server_port}/rows.npy"

    def larder(self, *words):
        subprocess.run([children.LARDER, *words], check=True, stdout=subprocess.DEVNULL, timeout=children.PATIENCE_S)

    def measure(self, kind, way, number):
        cache = os.path.join(self.work if way == "disk" else self.place, "larder-store" if way == "larder" else "cache")
        sent, daemon = self.server.sent, None
        with children.PeakMemory(self.place) as peak:
            begun = time.perf_counter()
            try:
                if way == "larder":
                    words = [children.LARDER, "serve", "--store", cache]
                    daemon = children.Child([*words, "--load", f"remote={self.source(kind)}"] if kind == "remote" else words)
                    peak.pids.add(daemon.pid)
                    while not daemon.line().startswith("Done caching."):
                        pass
                    if kind == "images":
                        self.larder("load", "--store", cache, "--as", "images", f"images={self.images}")
                steps, sums = self.runs(kind, "script" if way == "disk" else way, cache, peak, begun)
                seconds = time.perf_counter() - begun
                begun = time.perf_counter()
                again = self.runs(kind, "script" if way == "disk" else way, cache, peak, begun)[1]
                again_seconds = time.perf_counter() - begun
                if again != sums:
                    raise AssertionError(f"not the same data again: {kind} {way}")
            finally:
                if daemon:
                    daemon.signal(signal.SIGTERM)
                shutil.rmtree(cache, ignore_errors=True)
        self.rows.write(json.dumps({
            "kind": kind, "way": way, "round": number, "runs": RUNS, "epochs": EPOCHS,
            "bytes": self.image_bytes if kind == "images" else len(self.server.data), "seconds": round(seconds, 3),
            "againSeconds": round(again_seconds, 3),
            "stepSeconds": round(statistics.median(steps), 3), "peakOwnBytes": peak.own, "sentBytes": self.server.sent - sent,
            "load": children.load_average()}) + "\n")
        return sums

    def runs(self, kind, way, cache, peak, begun):
        """Starts all runs at once; returns when each had its first batch, and their sums."""
        program = [sys.executable, os.path.join(HERE, "source_run.py"), way, kind, self.source(kind), cache]
        runs = [children.Child([*program, str(seed), str(EPOCHS)]) for seed in range(RUNS)]
        peak.pids.update(run.pid for run in runs)
        steps, sums = [0.0] * RUNS, [None] * RUNS

        def follow(i):
            runs[i].answer("step")
            steps[i] = time.perf_counter() - begun
            sums[i] = runs[i].answer("epochs")
            runs[i].ended()

        threads = [threading.Thread(target=follow, args=(i,)) for i in range(RUNS)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(children.PATIENCE_S)
        finally:
            for run in runs:
                run.kill()
        if None in sums:
            raise ChildProcessError(f"a run failed: {way} {kind}")
        return steps, sums

    def whole(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        for kind, ways in WAYS.items():
            known = None
            for number in range(self.rounds):
                for way in ways:
                    sums = self.measure(kind, way, number)
                    known = known or sums
                    # the order of files is the daemon's own, but each epoch reads each file once
                    if sums != known:
                        raise AssertionError(f"not the same data everywhere: {kind} {way}")


def tables(rows):
    lines = []
    for kind, ways in WAYS.items():
        mine = [row for row in rows if row["kind"] == kind]
        if not mine:
            continue
        what = f"{mine[0]['bytes'] / 2**20:.0f} MiB, " + (
            f"behind a server that sends {SENT_A_SECOND / 1e6:.0f} MB/s" if kind == "remote" else "in PNG files of 3 kB")
        lines += [f"| eight Python runs at once, {mine[0]['epochs']} epochs, {what} | all done, s: median | least to most | first batch, s | eight more runs, s |"
                  + " own memory at its peak, MiB |" + (" sent, MiB |" if kind == "remote" else ""),
                  "|---|--:|--:|--:|--:|--:|" + ("--:|" if kind == "remote" else "")]
        for way in ways:
            each = [row for row in mine if row["way"] == way]
            if each:
                seconds = [row["seconds"] for row in each]
                median = {key: statistics.median(row[key] for row in each) for key in ("stepSeconds", "againSeconds", "peakOwnBytes", "sentBytes")}
                lines.append(
                    f"| {NAMES.get((kind, way), 'Larder, from starting the daemon')} | {statistics.median(seconds):.1f} |"
                    f" {min(seconds):.1f} to {max(seconds):.1f} | {median['stepSeconds']:.1f} | {median['againSeconds']:.1f} |"
                    f" {median['peakOwnBytes'] / 2**20:.0f} |"
                    + (f" {median['sentBytes'] / 2**20:.0f} |" if kind == "remote" else ""))
        lines.append("")
    return "\n".join(lines)


def main():
    if sys.argv[1] == "table":
        with open(sys.argv[2], encoding="utf-8") as file:
            print(tables([json.loads(line) for line in file]))
        return
    with children.interruptible():
        Sources(*sys.argv[1:]).whole()


if __name__ == "__main__":
    main()
