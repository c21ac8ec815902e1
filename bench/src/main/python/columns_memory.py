#!/usr/bin/env python3
"""Measures the memory that look-ups in an index cost forked workers, against a dict in the same run.

usage: columns_memory.py [KEYS [WORKERS [LOOKUPS]]]    prints JSON

Private memory is Private_Clean + Private_Dirty of /proc/self/smaps_rollup. Each worker measures itself before and after
its look-ups: it grows by the pages that copy-on-write copied, mostly because Python counts references inside objects.
"""
import json
import shutil
import sys
import tempfile
import time

import children
import harness

harness.import_larder()

import larder
import make_store
import numpy


def private_bytes():
    with open("/proc/self/smaps_rollup") as rollup:
        return sum(int(line.split()[1]) for line in rollup if line.startswith(("Private_Clean:", "Private_Dirty:"))) * 1024


def key(i):
    return f"scene{i:07d}_{i % 97:02d}"


def look_up(table, keys, lookups, number):
    """Looks keys up in an order of this worker's own and returns the seconds it took."""
    step = 7919 * (10 * number + 1)  # co-prime to powers of ten, so that every key comes up
    begin = time.perf_counter()
    wrong = 0
    for i in range(lookups):
        k = i * step % keys
        wrong += table[key(k)] != k
    assert not wrong
    return time.perf_counter() - begin


def work(meet, number, table, keys, lookups):
    """The life of a worker. It measures while all are alive: a shared page counts as private to its last process."""
    before = private_bytes()
    seconds = look_up(table, keys, lookups, number)
    meet()
    grown = private_bytes() - before
    meet()
    return grown, seconds


def figures(table, keys, workers, lookups):
    """Forks workers that look up side by side; returns how their private memory grew, and their median time."""
    grown, seconds = zip(*children.crowd(work, workers, table, keys, lookups))
    return {"privateBytes": grown, "microsEach": sorted(seconds)[workers // 2] / lookups * 1e6}


def index_of(keys, store):
    """Writes an index of as many keys into a store without a daemon, and opens it."""
    columns = {"scene": make_store.texts_index(map(key, range(keys)))}
    make_store.write_version(store, "columns", {}, columns, checksums=False)
    return larder.dataset("columns", store).index("scene")


def measure(keys=10**6, workers=8, lookups=10**6):
    store = tempfile.mkdtemp(prefix="larder-columns-", dir="/dev/shm")
    try:
        shared = figures(index_of(keys, store), keys, workers, lookups)
        plain = figures({key(i): i for i in range(keys)}, keys, workers, lookups)
    finally:
        shutil.rmtree(store)
    ratio = sum(shared["privateBytes"]) / sum(plain["privateBytes"])
    return {"numpy": numpy.__version__, "keys": keys, "workers": workers, "lookups": lookups, "index": shared, "dict": plain, "ratio": ratio}


if __name__ == "__main__":
    with children.interruptible():
        print(json.dumps(measure(*map(int, sys.argv[1:]))))
