#!/usr/bin/env python3
"""Times eight training runs at once, in Python, over data behind a slow network, a folder of many small images, and a table of Parquet.

usage: day_sources.py quick|short|long WORK PLACE ROWS    PLACE is an empty folder of /dev/shm

The server runs on this machine and sends a limited number of bytes a second to all clients together. Each way starts from nothing, the
daemon or Ray included, in rounds that take turns; all runs use the python3 that runs this script. One row lists its modules: "kind" is
modules, "versions" a dict, "absent" a list; ways that need an absent module are left out. The other rows have "kind" (remote, images,
parquet), "way" (plain, samples, disk, script, huggingface, ray, larder), round, runs, epochs, bytes (of the data), seconds (from Enter to
the end of the last run), againSeconds (of eight more runs, which find the files of the first eight), stepSeconds (to the first batch,
median of the runs), peakOwnBytes (RssAnon of runs, daemon, Ray and all their children, the files in PLACE, and Ray's object store),
sentBytes (by the server), load.
"""
import contextlib
import functools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import children
from measurement import HERE, main
from parts.day import SOURCES, ways_of
from source_data import Server, write_images, write_rows, write_table
from trainer import EPOCHS

RUNS = 8
DRIVER_PATIENCE_S = 20
MODULES = ("numpy", "pyarrow", "datasets", "PIL", "ray")
READER = "Larder's reader of Parquet"
NEEDS = {"parquet": {"pyarrow"}, ("parquet", "larder"): {READER}, "huggingface": {"datasets", "PIL"}, "ray": {"ray"}}
SLOW = ("huggingface", "ray")  # have one round if all parts of ops/bench have a quarter of an hour
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "RAY_USAGE_STATS_ENABLED": "0"}


def versions():
    """Returns the modules that this python3 can import, by a process of their own: this process stays small."""
    program = "import sys; print(__import__(sys.argv[1]).__version__)"
    found = {}
    for module in MODULES:
        said = subprocess.run([sys.executable, "-c", program, module], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=children.PATIENCE_S)
        if said.returncode == 0:
            found[module] = said.stdout.split()[-1]
    return found


def has_reader():
    """Returns whether the daemon can read Parquet, which needs a Java that not every machine has."""
    said = subprocess.run([children.LARDER, "readers", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=children.PATIENCE_S)
    return any(row["kind"] == "parquet" and row["state"] == "ready" for row in json.loads(said.stdout))


class Sources:
    def __init__(self, pace, work, place, rows):
        self.work, self.place, self.rows = work, place, open(rows, "w", encoding="utf-8", buffering=1)
        os.environ.update(OFFLINE, HF_HOME=os.path.join(work, "huggingface"))
        found = versions()
        self.absent = [module for module in MODULES if module not in found] + ([] if has_reader() else [READER])
        self.write({"kind": "modules", "python": sys.version.split()[0], "versions": found, "absent": self.absent})
        self.rounds = {"quick": 1, "short": 3}.get(pace, 5)
        self.slow_rounds = 1 if pace == "short" else self.rounds
        size, images = (16 << 20, 1000) if pace == "quick" else (128 << 20, 20000)
        fetched, folder, table = (os.path.join(work, name) for name in ("rows.npy", "pictures", "table.parquet"))
        write_rows(fetched, size)
        with open(fetched, "rb") as file:
            self.server = Server(file.read())
        self.sources = {"remote": f"http://127.0.0.1:{self.server.server_port}/rows.npy", "images": folder, "parquet": table}
        self.bytes = {"remote": len(self.server.data), "images": write_images(folder, images)}
        if "pyarrow" in found:
            self.bytes["parquet"] = write_table(table, size)

    def has_all(self, kind, way):
        """Returns whether this machine has everything that a way needs."""
        return not any(need in self.absent for what in (kind, way, (kind, way)) for need in NEEDS.get(what, ()))

    def write(self, row):
        self.rows.write(json.dumps(row) + "\n")

    # ------------------------------------------------------------------------- ways: each yields a function that starts eight runs

    @contextlib.contextmanager
    def programs(self, kind, way, cache, peak):
        """Runs are programs that read the source themselves."""
        yield functools.partial(self.runs, kind, way, cache, peak)

    @contextlib.contextmanager
    def larder(self, kind, way, cache, peak):
        """A daemon loads."""
        options = ["--as", "images"] if kind == "images" else []
        daemon = children.Child([children.LARDER, "serve", "--store", cache, "--load", f"{kind}={self.sources[kind]}", *options])
        try:
            peak.pids.add(daemon.pid)
            while not daemon.line().startswith("Done caching."):
                pass
            yield functools.partial(self.runs, kind, way, cache, peak)
        finally:
            daemon.signal(signal.SIGTERM)

    @contextlib.contextmanager
    def ray(self, kind, _, cache, peak):
        """A driver reads, and has the runs."""
        children.adopt_orphans()
        temporary = tempfile.mkdtemp(prefix="lr-", dir="/tmp")  # sockets have short paths
        words = [sys.executable, os.path.join(HERE, "source_ray.py"), kind, self.sources[kind], temporary]
        driver = None
        try:
            driver = children.Child([*words, str(self.bytes[kind]), str(RUNS)])
            peak.pids.add(driver.pid)
            yield functools.partial(self.actors, driver)
            driver.ended()
        finally:
            if driver:
                driver.process.send_signal(signal.SIGINT)  # does nothing if it has ended
                driver.kill_after(DRIVER_PATIENCE_S)
            children.end_orphans()
            shutil.rmtree(temporary, ignore_errors=True)

    # ------------------------------------------------------------------------------------------------------------- runs

    def runs(self, kind, way, cache, peak, begun):
        """Starts all runs at once; returns the times of their first batches, and their sums."""
        way = "script" if way == "disk" else way
        program = [sys.executable, os.path.join(HERE, "trainer.py"), way, kind, self.sources[kind], cache]
        runs, steps, sums = [], [0.0] * RUNS, [None] * RUNS

        def follow(i):
            runs[i].answer("step")
            steps[i] = time.perf_counter() - begun
            sums[i] = runs[i].answer("epochs")
            runs[i].ended()

        threads = [threading.Thread(target=follow, args=(i,)) for i in range(RUNS)]
        try:
            for seed in range(RUNS):
                runs.append(children.Child([*program, str(seed), "step", "epochs"]))
                peak.pids.add(runs[-1].pid)
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

    def actors(self, driver, begun):
        """Has a driver start all runs at once; returns the same."""
        driver.tell("runs")
        steps, sums = [0.0] * RUNS, [None] * RUNS
        while None in sums:
            word, seed, *values = driver.line().split()
            if word == "step":
                steps[int(seed)] = time.perf_counter() - begun
            else:
                sums[int(seed)] = values[0]
        return steps, sums

    def measure(self, kind, way, number):
        on_disk = way in ("disk", "huggingface")
        cache = os.path.join(self.work if on_disk else self.place, "larder-store" if way == "larder" else "cache")
        start = {"larder": self.larder, "ray": self.ray}.get(way, self.programs)
        sent = self.server.sent
        try:
            with children.PeakMemory(self.place) as peak:
                begun = time.perf_counter()
                with start(kind, way, cache, peak) as run:
                    steps, sums = run(begun)
                    seconds = time.perf_counter() - begun
                    begun = time.perf_counter()
                    again = run(begun)[1]
                    again_seconds = time.perf_counter() - begun
        finally:
            shutil.rmtree(cache, ignore_errors=True)
        if again != sums:
            raise AssertionError(f"not the same data again: {kind} {way}")
        self.write({
            "kind": kind, "way": way, "round": number, "runs": RUNS, "epochs": EPOCHS, "bytes": self.bytes[kind], "seconds": round(seconds, 3),
            "againSeconds": round(again_seconds, 3), "stepSeconds": round(statistics.median(steps), 3), "peakOwnBytes": peak.own,
            "sentBytes": self.server.sent - sent, "load": children.load_average()})
        return sums

    def whole(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        for kind in SOURCES:
            known = None
            for number in range(self.rounds):
                for way in ways_of(kind):
                    if not self.has_all(kind, way) or way in SLOW and number >= self.slow_rounds:
                        continue
                    sums = self.measure(kind, way, number)
                    known = known or sums
                    # the order of files is the daemon's own, but each epoch reads each file once
                    if sums != known:
                        raise AssertionError(f"not the same data everywhere: {kind} {way}")


if __name__ == "__main__":
    main(Sources)
