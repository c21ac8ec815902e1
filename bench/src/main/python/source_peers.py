#!/usr/bin/env python3
"""Does once what a load is compared with, and prints the seconds that it took, without the start of Python.

usage: source_peers.py parquet FILE                  reads a table and makes numpy arrays of its columns, with pyarrow's threads
       source_peers.py curl URL FOLDER CONNECTIONS   fetches all objects of URL/ that FOLDER has files of, over so many connections, each
                                                     object in equal parts, into files of /dev/shm
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time


def parquet(file):
    import pyarrow.parquet as pq

    start = time.perf_counter()
    table = pq.read_table(file)
    arrays = [column.to_numpy() for column in table.columns]
    taken = time.perf_counter() - start
    if {len(array) for array in arrays} != {table.num_rows}:
        raise AssertionError("not all rows were read")
    return taken


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
    print({"parquet": parquet, "curl": curl}[sys.argv[1]](*sys.argv[2:]))
