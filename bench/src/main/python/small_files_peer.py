#!/usr/bin/env python3
"""Brings a folder of .npy files to another with a pool of processes, once for each line read, and prints the seconds it took.

usage: small_files_peer.py SOURCE TARGET PROCESSES
"""
import os
import shutil
import sys
import time
from multiprocessing import Pool

import numpy as np

CHUNK = 64


def copy(paths):
    np.save(paths[1], np.load(paths[0]))


def main():
    source, target, processes = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Pool(processes) as pool:
        for _ in sys.stdin:
            os.makedirs(target)
            start = time.perf_counter()
            names = sorted(os.listdir(source))
            pool.map(copy, [(os.path.join(source, n), os.path.join(target, n)) for n in names], chunksize=CHUNK)
            print(time.perf_counter() - start, flush=True)
            shutil.rmtree(target)


if __name__ == "__main__":
    main()
