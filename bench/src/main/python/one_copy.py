#!/usr/bin/env python3
"""Counts the copies of a dataset that many trainers have in memory: with Larder, and if each loads for itself.

usage: one_copy.py quick|short|long DATA PLACE ROWS JAVA...    measurement.py explains the words

Rows have "figure", "engine", "processes" and "load", and

  of "one-copy": language, datasetBytes, dataPssBytes (of the data's mappings, over all processes; with Larder also the
  daemon's; without it images only, 99.7 % of the data), copies (dataPssBytes / datasetBytes), otherPssBytes (all other
  memory of the processes), shmemBytes and availableDropBytes (differences of Shmem and MemAvailable of the machine to
  before, including other programs), seconds (from the start of the last ones until all have read everything);
  "skipped" instead if memory was short;
  of "fork": keys, lookups, tableBytes, privateBytes (that all forked readers grew by), microsEach.
"""
import contextlib
import os
import shutil
import signal
import tempfile
import time

import children
import columns_memory
from measurement import FLOOR_BYTES, Measurement, main

COUNTS = {"quick": (1, 2, 4), "short": (1, 2, 4, 8, 16), "long": (1, 2, 3, 4, 6, 8, 10, 12, 14, 16)}
KEYS = {"quick": 50_000, "short": 100_000, "long": 200_000}


class Proof(Measurement):
    def whole(self):
        self.counts = COUNTS[self.pace]
        self.copies = []
        before = children.meminfo()
        daemon = self.serve()
        try:
            for language in "java", "python":
                self.sweep("larder", language, before, [daemon.pid])
        finally:
            daemon.signal(signal.SIGTERM)
        for language in "java", "python":
            self.sweep("plain", language, children.meminfo(), [])
        self.fork()
        if not all(0.98 <= copies <= 1.02 for copies in self.copies):
            raise AssertionError(f"not one copy: {self.copies}")

    def sweep(self, way, language, before, others):
        """Lets more and more trainers read everything; those that have done so stay."""
        with contextlib.ExitStack() as stack:
            trainers = []
            for count in self.counts:
                row = {"figure": "one-copy", "engine": f"{way}-{language}", "language": language, "processes": count}
                more = count - len(trainers)
                left = children.available() - (more * self.dataset_bytes if way == "plain" else 0)
                if left < FLOOR_BYTES:
                    self.write({**row, "skipped": f"MemAvailable would fall to {left / 2**30:.1f} GiB"})
                    break
                begun = time.perf_counter()
                new = [stack.enter_context(self.trainer(way, language, 1, "touch", "hold")) for _ in range(more)]
                trainers += new
                self.sums |= {trainer.answer("touch") for trainer in new}
                seconds = time.perf_counter() - begun
                memory = self.memory(way, [t.pid for t in trainers] + others, before)
                self.write({**row, **memory, "seconds": round(seconds, 3)})
                if way == "larder":
                    self.copies.append(memory["copies"])
            for trainer in trainers:
                trainer.ended()
        self.check_sums()

    def memory(self, way, pids, before):
        """Adds up the memory of all processes for mappings of the data: files of the store, or long mappings without a file."""
        data = other = 0
        shortest = os.path.getsize(os.path.join(self.data, "images.npy")) * 0.9  # numpy asks for huge pages for most of an array, and so cuts it in two
        for pid in pids:
            for path, length, pss in children.mappings(pid):
                if way == "larder":
                    is_data = path.startswith(self.store + "/data/")
                else:
                    is_data = not path.startswith("/") and length >= shortest
                data, other = (data + pss, other) if is_data else (data, other + pss)
        now = children.meminfo()
        return {
            "datasetBytes": self.dataset_bytes,
            "dataPssBytes": data,
            "copies": round(data / self.dataset_bytes, 4),
            "otherPssBytes": other,
            "shmemBytes": now["Shmem"] - before["Shmem"],
            "availableDropBytes": before["MemAvailable"] - now["MemAvailable"],
        }

    def fork(self):
        """Forks readers of one table: an index column of a store, and a dict."""
        keys = KEYS[self.pace]
        store = tempfile.mkdtemp(prefix="columns-", dir=self.place)
        try:
            self.fork_sweep("index", columns_memory.index_of(keys, store), keys, children.stored(store))
            begun = columns_memory.private_bytes()
            table = {columns_memory.key(i): i for i in range(keys)}
            self.fork_sweep("dict", table, keys, columns_memory.private_bytes() - begun)
        finally:
            shutil.rmtree(store)

    def fork_sweep(self, engine, table, keys, table_bytes):
        columns_memory.look_up(table, keys, keys, 0)  # pages that the parent touched are shared with the child
        for count in self.counts:
            grown = columns_memory.figures(table, keys, count, keys)
            row = {"figure": "fork", "engine": engine, "processes": count, "keys": keys, "lookups": keys}
            self.write({**row, "tableBytes": table_bytes, "privateBytes": sum(grown["privateBytes"]),
                        "microsEach": round(grown["microsEach"], 3)})


if __name__ == "__main__":
    main(Proof)
