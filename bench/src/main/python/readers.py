#!/usr/bin/env python3
"""Measures many readers of a daemon. JAVA... are the words that start dev.larder.bench.client.ReaderProcess. Prints one JSON object.

usage: readers.py many STORE DATASET READERS ROUNDS JAVA...
         The time to open one dataset in many processes at the same moment, before each reads all of it; in turns with mapping the same
         file without Larder.
       readers.py collapse STORE DATASET SECONDS JAVA...
         The time of batches of random rows of a dataset on small pages: before a daemon starts that moves it to huge pages, during the move,
         and after it; SECONDS are those of a calm phase.
       readers.py disturbed STORE FILE SECONDS PAIRS JAVA...
         The time of the daemon's answers while it loads and evicts and readers are killed or stopped at random, in turns with
         phases of as many readers that come and go, but end by themselves.
"""
import contextlib
import json
import random
import signal
import subprocess
import sys
import threading
import time

import children
from control import Daemon, processor_s, quantiles

import larder

SEED = 7
HUGE_SIZE = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
LONGEST_MOVE_S, LOOK_S = 180, 0.005
READERS = 6
NO_SPACE, REFUSED = 5, 7
DATASETS = [f"churn-{i}" for i in range(3)]
REQUEST_PAUSE_S, DISTURB_PAUSE_S, STOP_S, CHURN_PAUSE_S = 0.004, 0.7, 0.5, 0.05


def together(readers, command):
    """Has all readers begin at once; returns their seconds after all have read."""
    for reader in readers:
        reader.tell(command)
    seconds = []
    for reader in readers:
        seconds.append(int(reader.line()) / 1e9)
        reader.answer("sum")
    return seconds


def many(store, dataset, count, rounds, *java):
    daemon = Daemon(store)
    array, pid = daemon.arrays(dataset + "/")[0], daemon.status()["pid"]
    with contextlib.ExitStack() as started:
        readers = [started.enter_context(children.Child([*java, store, dataset])) for _ in range(int(count))]
        for reader in readers:
            reader.line()
        first = together(readers, "open")
        together(readers, f"map {array['path']}")
        opened, mapped = [], []
        cpu, begin = processor_s(pid), time.perf_counter()
        for _ in range(int(rounds)):
            opened += together(readers, "open")
            mapped += together(readers, f"map {array['path']}")
        seconds, cpu = time.perf_counter() - begin, processor_s(pid) - cpu
    return {"readers": int(count), "rounds": int(rounds), "bytes": array["bytes"], "first": quantiles(first), "open": quantiles(opened),
            "map": quantiles(mapped), "seconds": seconds, "daemonCpuSeconds": cpu}


def collapse(store, dataset, seconds, *java):
    daemon, phases = Daemon(store), []
    with children.Child([*java, store, dataset]) as reader:
        reader.line()
        reader.tell("gather")

        def end_phase(line="next"):
            reader.tell(line)
            phases.append(json.loads(reader.line()))

        for _ in "warm-up", "before":  # the first one compiles, and touches every page
            time.sleep(float(seconds))
            end_phase()
        begin = time.perf_counter()
        subprocess.run([children.LARDER, "serve", "--detach", "--store", store], check=True, stdout=subprocess.DEVNULL)
        array = daemon.arrays(dataset + "/")[0]
        with open(HUGE_SIZE) as file:
            piece = int(file.read())
        while (huge := daemon.status()["hugeBytes"]) < array["bytes"] // piece * piece:
            if time.perf_counter() - begin > LONGEST_MOVE_S:
                raise TimeoutError(f"the kernel gives too few huge pages: bytes={huge} wanted={array['bytes']}")
            time.sleep(LOOK_S)
        taken = time.perf_counter() - begin
        end_phase()
        time.sleep(float(seconds))
        end_phase("end")
        reader.ended()
    return {"bytes": array["bytes"], "rowBytes": array["bytes"] // array["shape"][0], "seconds": taken,
            **dict(zip(("before", "during", "after"), phases[1:]))}


class Disturbed:
    def __init__(self, store, file, java):
        self.store, self.file, self.java = store, file, java
        self.daemon, self.random = Daemon(store), random.Random(SEED)
        self.counts = dict.fromkeys(("loads", "refusals", "evictions", "kills", "stops"), 0)
        self.readers, self.failures, self.is_over = [], [], threading.Event()

    def reader(self):
        child = children.Child([*self.java, self.store, *DATASETS])
        child.tell("loop")
        return child

    def load(self, name):
        self.daemon.load(name, self.file, evenIfUnchanged=True)

    def guarded(self, work, *words):
        """Returns a thread that notes an error of its work."""

        def run():
            try:
                work(*words)
            except Exception as e:
                self.failures.append(e)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def churn(self):
        choice = random.Random(~SEED)
        while not self.is_over.wait(CHURN_PAUSE_S):
            try:
                self.load(choice.choice(DATASETS))
                self.counts["loads"] += 1
            except larder.LarderError as e:
                if e.code not in (NO_SPACE, REFUSED):  # readers hold all versions
                    raise
                self.counts["refusals"] += 1
            with contextlib.suppress(larder.LarderError):  # it is leased
                self.daemon.evict(choice.choice(DATASETS))
                self.counts["evictions"] += 1

    def disturb(self, end, disturbs):
        """Replaces one reader after the other; if it disturbs, it kills the reader, and stops another one for a while."""
        while time.monotonic() < end:
            at = self.random.randrange(READERS)
            reader, other = self.readers[at], self.readers[(at + 1) % READERS]
            if disturbs:
                other.process.send_signal(signal.SIGSTOP)
                time.sleep(STOP_S)
                other.process.send_signal(signal.SIGCONT)
                reader.kill()
                self.counts["stops"] += 1
                self.counts["kills"] += 1
            else:
                time.sleep(STOP_S)
                reader.tell("end")
                reader.ended()
            self.readers[at] = self.reader()
            time.sleep(DISTURB_PAUSE_S)

    def phase(self, seconds, disturbs):
        """Returns the seconds of each request."""
        end, taken = time.monotonic() + seconds, []
        disturber = self.guarded(self.disturb, end, disturbs)
        while time.monotonic() < end:
            begin = time.perf_counter()
            self.daemon.arrays() if len(taken) % 2 else self.daemon.status()
            taken.append(time.perf_counter() - begin)
            time.sleep(REQUEST_PAUSE_S)
        disturber.join()
        return taken

    def run(self, seconds, pairs):
        for name in DATASETS:
            self.load(name)
        self.readers = [self.reader() for _ in range(READERS)]
        churn, calm, disturbed = self.guarded(self.churn), [], []
        try:
            self.phase(seconds, False)  # warms up
            for _ in range(pairs):
                calm += self.phase(seconds, False)
                disturbed += self.phase(seconds, True)
        finally:
            self.is_over.set()
            churn.join()
            for reader in self.readers:
                reader.kill()
        if self.failures:
            raise self.failures[0]
        calm, disturbed = quantiles(calm), quantiles(disturbed)
        return {"readers": READERS, **self.counts, "calm": calm, "disturbed": disturbed, "p99Ratio": disturbed["p99Ms"] / calm["p99Ms"]}


def disturbed(store, file, seconds, pairs, *java):
    return Disturbed(store, file, java).run(float(seconds), int(pairs))


if __name__ == "__main__":
    with children.interruptible():
        print(json.dumps({"many": many, "collapse": collapse, "disturbed": disturbed}[sys.argv[1]](*sys.argv[2:])))
