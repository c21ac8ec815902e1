#!/usr/bin/env python3
"""Times loads of a running daemon in turns with their peers. Prints JSON: an object for each source, or one for small files; or the seconds
of a peer, without the start of Python.

usage: loads.py sources STORE ROUNDS WORKERS NAME=PATH... NAME:=COMMAND...
         Does each twice in a row, and the second time counts: it gets the memory of the first. The free memory of a guest is slow at the
         first touch. A command is a peer that prints its seconds. A name that ends with -images is loaded as images, a name
         that ends with -images-loop is a folder of files to read one by one.
       loads.py small-files STORE SOURCE ROUNDS WORKERS TARGET
         The peer is a pool of processes, warm like the daemon, that copies the files to TARGET with np.save(np.load()).
       loads.py parquet FILE                  reads a table and makes numpy arrays of its columns, with pyarrow's threads
       loads.py open FILE                     opens a file with np.load(mmap_mode="r") and reads one element, again and again; prints JSON
       loads.py curl URL FOLDER CONNECTIONS   fetches all objects of URL/ that FOLDER has files of, over so many connections, each object in
                                              equal parts, into files of /dev/shm
"""
import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
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


def parquet(file):
    import pyarrow.parquet as pq

    start = time.perf_counter()
    table = pq.read_table(file)
    arrays = [column.to_numpy() for column in table.columns]
    taken = time.perf_counter() - start
    if {len(array) for array in arrays} != {table.num_rows}:
        raise AssertionError("not all rows were read")
    return taken


def opened(file):
    def often():
        for _ in range(200):
            int(np.load(file, mmap_mode="r")[1, 2])

    return json.dumps({"numpy": np.__version__, "openMicros": statistics.median(timed(often) for _ in range(5)) / 200 * 1e6})


def curl(url, folder, connections):
    objects = sorted((file.name, file.stat().st_size) for file in os.scandir(folder))
    parts = max(1, int(connections) // len(objects))
    place = tempfile.mkdtemp(prefix="larder-bench-curl-", dir="/dev/shm")
    commands = []
    for name, size in objects:
        for i in range(parts):
            span = f"{size * i // parts}-{size * (i + 1) // parts - 1}"
            commands.append(["curl", "-sf", "-r", span, "-o", f"{place}/{name}.{i}", f"{url}/{name}"])
    try:
        start = time.perf_counter()
        running = [subprocess.Popen(command) for command in commands]
        if any([process.wait() for process in running]):
            raise AssertionError("curl failed")
        taken = time.perf_counter() - start
        if sum(file.stat().st_size for file in os.scandir(place)) != sum(size for _, size in objects):
            raise AssertionError("not all bytes were fetched")
        return taken
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    taken = {"sources": sources, "small-files": small_files, "parquet": parquet, "open": opened, "curl": curl}[sys.argv[1]](*sys.argv[2:])
    if taken is not None:
        print(taken)
