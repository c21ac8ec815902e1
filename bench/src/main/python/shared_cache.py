#!/usr/bin/env python3
"""A common script for one copy of arrays per machine: np.save into /dev/shm, under a lock file.

The first process saves an array, others wait for the lock, and all open it with `open_memmap`. Only the caching script
removes the files, at Ctrl-C.

usage: shared_cache.py SOURCES CACHE    caches all .npy files of a folder, and waits for Ctrl-C
"""
import fcntl
import os
import signal
import sys

import numpy as np


def cached(name, source, cache):
    """Returns a read-only array of /dev/shm; the first process copies it there."""
    path = os.path.join(cache, name + ".npy")
    os.makedirs(cache, exist_ok=True)
    with open(path + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            np.save(path, np.load(source))
    return np.lib.format.open_memmap(path, mode="r")


def main():
    sources, cache = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for name in sorted(os.listdir(sources)):
            cached(name.removesuffix(".npy"), os.path.join(sources, name), cache)
        print("Done caching. Ctrl+C to clean up.", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        for name in os.listdir(cache):
            os.remove(os.path.join(cache, name))


if __name__ == "__main__":
    main()
