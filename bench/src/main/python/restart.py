#!/usr/bin/env python3
"""Times how long a daemon takes from its start to its first answer: on an empty store, and after it was killed in a store full of arrays.

usage: restart.py STORE FOLDER DATASETS ARRAYS BYTES ROUNDS COMMAND...    prints one JSON object; COMMAND starts the daemon

Each array has a file of its own. The files in FOLDER are holes, which become real bytes in the store. A daemon that takes the store over
must have all that was published.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import children
import numpy as np
from control import Daemon, processor_s, quantiles

import larder

PATIENCE_S = 60
PAUSE_S = 0.002


class Restarts:
    def __init__(self, store, rounds, command):
        self.daemon, self.rounds, self.command = Daemon(store), rounds, command
        self.start()

    def start(self):
        """Starts a daemon, and waits for its first answer."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.daemon.call("Loads")
            except larder.LarderError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
            time.sleep(PAUSE_S)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def run(self, expected=None):
        """Restarts the daemon in rounds; returns quantiles, and the median of its processor time, which other programs hardly affect."""
        seconds, cpu = [], []
        for _ in range(self.rounds):
            self.kill()
            begin = time.perf_counter()
            self.start()
            seconds.append(time.perf_counter() - begin)
            cpu.append(processor_s(self.process.pid))
            if expected and any(self.daemon.status()[key] != expected[key] for key in ("arrays", "usedBytes")):
                raise AssertionError(f"not all was taken over: was={expected} is={self.daemon.status()}")
        return quantiles(seconds), statistics.median(cpu)


def holes(folder, datasets, arrays, length):
    """Writes the sources; returns their paths by name."""
    paths = {f"warm-{dataset}": os.path.join(folder, f"warm-{dataset}") for dataset in range(datasets)}
    for path in paths.values():
        os.mkdir(path)
        for array in range(arrays):
            with open(os.path.join(path, f"a{array}.npy"), "wb") as file:
                np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (length,)})
                file.truncate(file.tell() + length)
    return paths


def main(store, folder, datasets, arrays, length, rounds, *command):
    restarts = Restarts(store, int(rounds), command)
    try:
        empty, empty_cpu = restarts.run()
        begin = time.perf_counter()
        restarts.daemon.load_all(holes(folder, int(datasets), int(arrays), int(length)), packBelowBytes=0)
        load_seconds, status = time.perf_counter() - begin, restarts.daemon.status()
        warm, warm_cpu = restarts.run(status)
    finally:
        restarts.kill()
    print(json.dumps({"datasets": int(datasets), "arrays": status["arrays"], "usedBytes": status["usedBytes"], "loadSeconds": load_seconds,
                      "emptyStart": empty, "warmStart": warm, "emptyCpuSeconds": empty_cpu, "warmCpuSeconds": warm_cpu}))


if __name__ == "__main__":
    with children.interruptible():
        main(*sys.argv[1:])
