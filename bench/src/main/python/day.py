#!/usr/bin/env python3
"""Times what a user waits for: the first training step, and a grid search; and looks at what stays behind when things die.

usage: day.py quick|short|long DATA PLACE ROWS JAVA...    measures (measurement.py says what the words are)
       day.py table ROWS                                   prints what was measured as Markdown

Only long has runs that read from the disk, a grid two at a time, and all events; quick has fewer runs. All processes are started
and timed by this one. Rows have "figure", "way" (plain-java, plain-python, map-python, script-python, larder-java, larder-python),
"datasetBytes" and "load", and

  of "first-step": run (1 to 5), cache (warm, or cold: the files were dropped from the page cache before), seconds (from
  Enter to the first batch of 256 rows added up; run 1 with Larder starts and loads the daemon, too), setUpSeconds (that
  part of it);
  of "grid": runs, atOnce, wantedAtOnce (more where memory would not do), seconds (of everything, the daemon included),
  peakAvailableDropBytes (of the machine's MemAvailable, whatever else ran), peakOwnBytes (RssAnon of runs and daemon, and
  the bytes in PLACE);
  of "left-behind": event, bytes and files (in PLACE, afterwards), and with "killed while writing" next (what became of
  the next run).
"""
import concurrent.futures
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

import children
from measurement import FLOOR_BYTES, HERE, Measurement, main

WAYS = ("plain-python", "plain-java", "map-python", "script-python", "larder-python", "larder-java")
ENDS = (("ended by Ctrl-C", signal.SIGINT), ("killed", signal.SIGKILL))
NAMES = {"plain": "each loads for itself", "map": 'np.load(mmap_mode="r")', "script": "script with np.save and a lock file",
         "larder": "Larder"}
NOTES = """Own memory is RssAnon of the runs and the daemon, and what lies in /dev/shm. Pages of files that are mapped in place are not counted: the
page cache keeps them until somebody needs the memory. An epoch only gathers rows and adds them up, so loading is a large part of a run.
With longer epochs the times of all ways converge; their memory does not."""


class Day(Measurement):
    def __init__(self, *words):
        super().__init__(*words)
        self.warm_runs, self.grid_runs = (2, 4) if self.pace == "quick" else (5, 8)
        self.is_long = self.pace == "long"
        self.ends = ENDS if self.is_long else ENDS[-1:]
        self.cache = os.path.join(self.place, "cache")

    # ------------------------------------------------------------------------------------------------ ways

    def run(self, way, seed, *commands, **options):
        """Starts a run."""
        kind, language = way.split("-")
        place = {"larder": self.store, "script": f"{self.data}:{self.cache}"}.get(kind, self.data)
        return self.trainer(kind, language, place, str(seed), *commands, **options)

    @contextlib.contextmanager
    def owner(self, way):
        """Does once what runs of this way need, yields the process ids of what stays for them, and takes all away again."""
        daemon = self.serve() if way.startswith("larder") else None
        try:
            yield [daemon.pid] if daemon else []
        finally:
            if daemon:
                daemon.signal(signal.SIGTERM)
            self.clear()

    def clear(self):
        """Removes what others have left."""
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
        """Drops the files from the page cache; nobody else's."""
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
        """Kills what fills --place as soon as a third is there."""
        with children.Child(words, stderr=subprocess.DEVNULL) as child:
            deadline, third = time.monotonic() + children.PATIENCE_S, self.dataset_bytes // 3
            # np.save first reserves memory and then lengthens the file, Larder does it the other way round
            while sum(min(file.st_size, file.st_blocks * 512) for file in children.files(self.place)) < third:
                if time.monotonic() > deadline or child.process.poll() is not None:
                    raise TimeoutError(f"writes nothing: {words}")
                time.sleep(0.001)
            child.signal(signal.SIGKILL)

    def next_run(self, way):
        """Says what becomes of a run, with a daemon where this way has one."""
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


def name_of(way):
    kind, language = way.split("-")
    return f"{NAMES[kind]}, {language.capitalize()}"


def first_step_table(rows):
    lines = ["| from Enter to the first training step, s | files not in memory, run 1 | files in page cache, run 1 |"
             " of that, starting and loading the daemon | runs 2 and later, median | slowest |",
             "|---|--:|--:|--:|--:|--:|"]
    for way in WAYS:
        mine = [row for row in rows if row["figure"] == "first-step" and row["way"] == way]
        cold = "".join(f"{row['seconds']:.2f}" for row in mine if row["cache"] == "cold")
        first = "".join(f"{row['seconds']:.2f} | {row['setUpSeconds']:.2f}" for row in mine if row["cache"] == "warm" and row["run"] == 1)
        later = [row["seconds"] for row in mine if row["run"] > 1]
        if later:
            lines.append(f"| {name_of(way)} | {cold} | {first} | {statistics.median(later):.2f} | {max(later):.2f} |")
    return lines


def grid_table(rows):
    grids = [row for row in rows if row["figure"] == "grid"]
    runs = "".join(f" of {row['runs']} runs" for row in grids[:1])
    lines = [f"| grid{runs}, one short epoch each | at once | s | peak of memory, GiB: own | MemAvailable fell |",
             "|---|--:|--:|--:|--:|"]
    for row in grids:
        fewer = "" if row["atOnce"] == row["wantedAtOnce"] else f" (memory does not do for {row['wantedAtOnce']})"
        lines.append(f"| {name_of(row['way'])} | {row['atOnce']}{fewer} | {row['seconds']:.1f} |"
                     f" {row['peakOwnBytes'] / 2**30:.2f} | {row['peakAvailableDropBytes'] / 2**30:.2f} |")
    return lines


def left_table(rows):
    lines = ["| what happened | way | left in /dev/shm, MiB | files | the next run |", "|---|---|--:|--:|---|"]
    for row in rows:
        if row["figure"] == "left-behind":
            lines.append(f"| {row['event']} | {name_of(row['way'])} | {row['bytes'] / 2**20:.0f} | {row['files']} |"
                         f" {row.get('next', '')} |")
    return lines


def tables(rows):
    return "\n".join([*first_step_table(rows), "", *grid_table(rows), "", NOTES, "", *left_table(rows)])


if __name__ == "__main__":
    main(Day, tables)
