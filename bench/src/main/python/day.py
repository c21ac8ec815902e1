#!/usr/bin/env python3
"""Times the first training step and a grid search, and counts the files that stay after processes die.

usage: day.py quick|short|long DATA PLACE ROWS JAVA...    measurement.py explains the words

Only long has runs that read from the disk, a grid two at a time, and all events; quick has fewer runs. All processes are started
and timed by this one. Rows have "figure", "way" (plain-java, plain-python, map-python, script-python, larder-java, larder-python),
"datasetBytes" and "load", and

  of "first-step": run (1 to 5), cache (warm, or cold: the files were dropped from the page cache before), seconds (from
  Enter to the first batch of 256 rows added up; run 1 with Larder starts and loads the daemon, too), setUpSeconds (that
  part of it);
  of "grid": runs, atOnce, wantedAtOnce (more if memory was short), seconds (of everything, the daemon included),
  peakAvailableDropBytes (of the machine's MemAvailable, including other programs), peakOwnBytes (RssAnon of runs and daemon, and
  the bytes in PLACE);
  of "left-behind": event, bytes and files (in PLACE, afterwards), and with "killed while writing" next (how the next run
  ended).
"""
import concurrent.futures
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

import children
from measurement import FLOOR_BYTES, HERE, Measurement, main
from parts.day import WAYS

ENDS = (("ended by Ctrl-C", signal.SIGINT), ("killed", signal.SIGKILL))


class Day(Measurement):
    def __init__(self, *words):
        super().__init__(*words)
        self.warm_runs, self.grid_runs = (2, 4) if self.pace == "quick" else (5, 8)
        self.is_long = self.pace == "long"
        self.ends = ENDS if self.is_long else ENDS[-1:]

    # ------------------------------------------------------------------------------------------------ ways

    def run(self, way, seed, *commands, **options):
        """Starts a run."""
        return self.trainer(*way.split("-"), seed, *commands, **options)

    @contextlib.contextmanager
    def owner(self, way):
        """Sets up everything that runs of this way share, yields the ids of its processes, and removes it."""
        daemon = self.serve() if way.startswith("larder") else None
        try:
            yield [daemon.pid] if daemon else []
        finally:
            if daemon:
                daemon.signal(signal.SIGTERM)
            self.clear()

    def clear(self):
        """Removes the cache of the script."""
        shutil.rmtree(self.cache, ignore_errors=True)

    def note(self, figure, way, **values):
        self.write({"figure": figure, "way": way, "datasetBytes": self.dataset_bytes, **values})

    # -------------------------------------------------------------------------------------------- first step

    def warm(self):
        """Reads the files, so that they are in the page cache."""
        for file in os.scandir(self.data):
            with open(file, "rb", buffering=0) as data:
                while data.read(1 << 22):
                    pass

    def chill(self):
        """Drops these files from the page cache."""
        for file in os.scandir(self.data):
            with open(file, "rb") as data:
                os.fdatasync(data.fileno())
                os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def first_steps(self, way):
        for cache, runs in ([("cold", 1)] if self.is_long else []) + [("warm", self.warm_runs)]:
            self.chill() if cache == "cold" else self.warm()
            begun = time.perf_counter()
            with self.owner(way):
                set_up = time.perf_counter() - begun
                for run in range(1, runs + 1):
                    begun = begun if run == 1 else time.perf_counter()
                    with self.run(way, run, "step") as child:
                        child.answer("step")
                        seconds = time.perf_counter() - begun
                        child.ended()
                    self.note("first-step", way, run=run, cache=cache, seconds=round(seconds, 3),
                              setUpSeconds=round(set_up, 3) if run == 1 and way.startswith("larder") else 0)

    # -------------------------------------------------------------------------------------------------- grid

    def grid(self, way, wanted):
        at_once = wanted
        if way.startswith("plain"):
            at_once = max(1, min(wanted, (children.available() - FLOOR_BYTES) // self.dataset_bytes))
        with children.PeakMemory(self.place) as peak:
            begun = time.perf_counter()
            with self.owner(way) as pids:
                peak.pids.update(pids)
                pool = concurrent.futures.ThreadPoolExecutor(at_once)
                try:
                    jobs = [pool.submit(self.job, way, seed, peak) for seed in range(self.grid_runs)]
                    sums = {job.result() for job in jobs}
                finally:
                    pool.shutdown(cancel_futures=True)
                seconds = time.perf_counter() - begun
        self.sums |= sums
        self.note("grid", way, runs=self.grid_runs, atOnce=at_once, wantedAtOnce=wanted, seconds=round(seconds, 3),
                  peakAvailableDropBytes=peak.drop, peakOwnBytes=peak.own)

    def job(self, way, seed, peak):
        """Runs one epoch, and returns its sum."""
        with self.run(way, seed, "epoch") as child:
            peak.pids.add(child.pid)
            total = child.answer("epoch")
            child.ended()
            peak.pids.discard(child.pid)
            return total

    # ------------------------------------------------------------------------------------------- left behind

    def left(self, way, event, next_run=None):
        files = list(children.files(self.place))
        values = {"bytes": sum(file.st_blocks for file in files) * 512, "files": len(files)}
        self.note("left-behind", way, event=event, **values, **({"next": next_run()} if next_run else {}))

    def end_runs(self, way, number):
        """Starts two runs, and ends them in the middle."""
        runs = [self.run(way, seed, "loop", stderr=subprocess.DEVNULL) for seed in (1, 2)]
        with runs[0], runs[1]:
            for child in runs:
                child.answer("looped")
            for child in runs:
                child.signal(number)

    def left_behind(self):
        self.end_runs("plain-python", signal.SIGKILL)
        self.left("plain-python", "runs killed")
        self.script_left("script-python")
        for way in "larder-python", "larder-java":
            with self.owner(way):
                for name, number in self.ends:
                    self.end_runs(way, number)
                    self.left(way, f"runs {name}, daemon goes on")
        self.daemon_left("larder-python")

    def daemon_left(self, way):
        for name, number in self.ends:
            self.serve().signal(number)
            self.left(way, f"daemon {name}")
        self.gc(way)
        if not self.is_long:
            return
        self.kill_while_writing(children.serve_words(self.store, self.data))
        self.left(way, "killed while writing", lambda: self.next_run(way))
        self.kill_while_writing(children.serve_words(self.store, self.data))
        self.gc(way)

    def gc(self, way):
        subprocess.run([children.LARDER, "gc", "--under", self.place], check=True, stdout=subprocess.DEVNULL,
                       timeout=children.PATIENCE_S)
        self.left(way, "then larder gc")

    def script_left(self, way):
        words = [sys.executable, os.path.join(HERE, "shared_cache.py"), self.data, self.cache]
        for name, number in self.ends:
            self.end_runs(way, number)
            self.left(way, f"runs {name}")
            self.clear()
        for name, number in self.ends:
            with children.Child(words) as script:
                script.line()
                script.signal(number)
            self.left(way, f"caching script {name}")
            self.clear()
        if not self.is_long:
            return
        self.kill_while_writing(words)
        self.left(way, "killed while writing", lambda: self.next_run(way))
        self.clear()

    def kill_while_writing(self, words):
        """Kills a program that writes the dataset after a third of it."""
        with children.Child(words, stderr=subprocess.DEVNULL) as child:
            deadline, third = time.monotonic() + children.PATIENCE_S, self.dataset_bytes // 3
            # np.save first reserves memory and then lengthens the file, Larder does it the other way round
            while sum(min(file.st_size, file.st_blocks * 512) for file in children.files(self.place)) < third:
                if time.monotonic() > deadline or child.process.poll() is not None:
                    raise TimeoutError(f"writes nothing: {words}")
                time.sleep(0.001)
            child.signal(signal.SIGKILL)

    def next_run(self, way):
        """Returns how a run ends, with a daemon if this way has one."""
        with self.owner(way), self.run(way, 1, "epoch", stderr=subprocess.DEVNULL) as child:
            try:
                return "works" if child.answer("epoch") in self.sums else "works, with wrong data"
            except ChildProcessError:
                return "fails"

    def whole(self):
        for way in WAYS:
            self.first_steps(way)
        for wanted in ([2] if self.is_long else []) + [self.grid_runs]:
            for way in WAYS:
                self.warm()
                self.grid(way, wanted)
        self.check_sums()
        self.left_behind()


if __name__ == "__main__":
    main(Day)
