#!/usr/bin/env python3
"""Reads shuffled rows of an array that may not be in memory with larder.Loader, and prints how long it took as a row of JSON.

usage: read_ahead.py WAY STORE DATASET ARRAY ROWS     WAY is larder, or mapped: without read-ahead; ROWS is the least number of rows
"""
import json
import sys
import time

import harness

harness.import_larder()

import larder
import larder._loader

BATCH = 64


def disk_bytes():
    """Returns the bytes that the kernel read from disks for this process."""
    with open("/proc/self/io", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes: "))


def main():
    way, store, dataset, array, wanted = sys.argv[1:]
    if way == "mapped":
        larder._loader._file_rows = lambda *_: None
    loader, rows, total = larder.Loader(dataset, [array], batch_size=BATCH, shuffle=1, store=store), 0, 0
    disk, processor, start = disk_bytes(), time.process_time(), time.perf_counter()
    while rows < int(wanted):
        for batch in loader:
            rows += batch.size
            total += int(batch[array].flat[0])
            if rows >= int(wanted):
                break
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    print(json.dumps({"rows": rows, "seconds": seconds, "processorMs": processor * 1000, "diskBytes": disk_bytes() - disk,
                      "waitedSeconds": loader._waited_for_disk(), "sum": total}))


if __name__ == "__main__":
    main()
