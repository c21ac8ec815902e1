#!/usr/bin/env python3
"""Times loads of a running daemon in turns with their peers. Prints JSON: an object for each source, or one for small files.

usage: loads.py sources STORE ROUNDS WORKERS NAME=PATH... NAME:=COMMAND...
         Does each twice in a row, and the second time counts: it gets the memory of the first. The free memory of a guest is slow at the
         first touch. A command is a peer that prints its seconds. A name that ends with -images is loaded as images, one that ends with
         -images-loop is a folder whose files are read one by one.
       loads.py small-files STORE SOURCE ROUNDS WORKERS TARGET
         The peer is a pool of processes, warm like the daemon, that copies the files to TARGET with np.save(np.load()).
"""
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time

import numpy as np
from control import Daemon

CHUNK = 64
WARM_UPS = 3
PHASES = ("scanning", "loading", "publishing")


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def sources(store, rounds, workers, *subjects):
    daemon, seconds, lengths = Daemon(store), {}, {}
    for _ in range(int(rounds)):
        for subject in subjects:
            for is_counted in False, True:
                name, taken = measured(daemon, subject, int(workers), lengths)
                if is_counted:
                    seconds.setdefault(name, []).append(taken)
    for name, taken in seconds.items():
        print(json.dumps({"name": name, "bytes": lengths.get(name, 0), "seconds": taken}))


def measured(daemon, subject, workers, lengths):
    """Returns the name of a subject, and the seconds that it took."""
    name, _, path = subject.partition("=")
    if name.endswith(":"):
        return name[:-1], float(subprocess.run(["bash", "-c", path], check=True, stdout=subprocess.PIPE, text=True).stdout)
    if name.endswith("-images-loop"):
        return name, timed(lambda: read_one_by_one(path))
    options = {"as": "images"} if name.endswith("-images") else {}
    taken = timed(lambda: daemon.load(name, path, workers, **options))
    lengths[name] = sum(row["bytes"] for row in daemon.arrays(name + "/"))
    daemon.evict(name)
    return name, taken


def read_one_by_one(folder):
    """Reads the files of a folder, sorted, into one buffer."""
    paths = sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)
    target = memoryview(np.empty(sum(map(os.path.getsize, paths)), np.uint8))
    at = 0
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            at += file.readinto(target[at:])


def small_files(store, source, rounds, workers, target):
    daemon, found = Daemon(store), []
    with multiprocessing.Pool(int(workers)) as pool:
        for number in range(-WARM_UPS, int(rounds)):
            row = load_in_phases(daemon, source, int(workers)) | {"python": copied(pool, source, target)}
            found += [row] if number >= 0 else []
    print(json.dumps({"files": found[0]["files"], "workers": int(workers), **{key: [row[key] for row in found] for key in ("larder", "python", *PHASES)}}))


def load_in_phases(daemon, source, workers):
    begun = {}
    start = time.perf_counter()
    done = daemon.load("small-files", source, workers, lambda step: begun.setdefault(step["phase"], time.perf_counter()))
    end = time.perf_counter()
    daemon.evict("small-files")
    loading, publishing = (begun.get(phase, end) for phase in PHASES[1:])
    return {"files": done["files"], "larder": end - start, "scanning": loading - start, "loading": publishing - loading, "publishing": end - publishing}


def copy(paths):
    np.save(paths[1], np.load(paths[0]))


def copied(pool, source, target):
    """Copies all files, and returns the seconds."""
    os.makedirs(target)
    start = time.perf_counter()
    pool.map(copy, [(os.path.join(source, name), os.path.join(target, name)) for name in sorted(os.listdir(source))], chunksize=CHUNK)
    taken = time.perf_counter() - start
    shutil.rmtree(target)
    return taken


if __name__ == "__main__":
    {"sources": sources, "small-files": small_files}[sys.argv[1]](*sys.argv[2:])
