#!/usr/bin/env python3
"""Measures the memory of processes that read one array, under each way to start them, and how soon a program has its first batch.

usage: python_processes.py DATASET/ARRAY PROCESSES    prints JSON
       python_processes.py table FILE                 prints what was measured as Markdown
"""
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, *[".."] * 4, "ops", "python")
STARTS = "fork", "spawn", "forkserver"
RUNS = 5
TARGETS = {"pages": 1.02, "all": 1.03, "first": 0.3}
FIRST = """
import sys, time
import numpy
imported = time.clock_gettime(time.CLOCK_MONOTONIC)
import larder
dataset, array = sys.argv[1].split("/")
batch = next(iter(larder.Loader(dataset, [array], batch_size=256, shuffle=1)))
print(imported, time.clock_gettime(time.CLOCK_MONOTONIC), int(batch[array].reshape(-1)[0]))
"""


def memory_kb(field):
    """Return a sum over the mappings of this process, each page divided by how many processes have it mapped."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":"))


def read(array, there, over, found):
    """Read all of an array, and say how much memory that took while all others have read it, too."""
    array.view("u1").reshape(-1)[::4096].sum(dtype="u8")
    there.wait()
    found.put((memory_kb("Pss_Shmem"), memory_kb("Pss_File"), memory_kb("Pss")))
    over.wait()


def processes(array, start, count):
    """Return the sums over so many processes."""
    context = multiprocessing.get_context(start)
    there, over, found = context.Barrier(count), context.Barrier(count + 1), context.SimpleQueue()
    children = [context.Process(target=read, args=(array, there, over, found)) for _ in range(count)]
    for child in children:
        child.start()
    sums = [sum(column) for column in zip(*(found.get() for _ in children))]
    over.wait()
    for child in children:
        child.join()
        if child.exitcode:
            raise RuntimeError(f"a reader failed: exitCode={child.exitcode}")
    return dict(zip(("shmemKb", "fileKb", "allKb"), sums))


class Mapped:
    """A file that numpy maps, in whatever process it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        import numpy as np

        return np.load, (self.path, "r")


def first_batches(array):
    """Return the seconds from Enter to the first batch, and without the import of numpy and the start of Python, of some runs."""
    whole, own = [], []
    for run in range(RUNS + 1):
        began = time.clock_gettime(time.CLOCK_MONOTONIC)
        said = subprocess.run([sys.executable, "-c", FIRST, array], check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE}).stdout.split()
        if run:  # the first one reads files that are not in memory yet
            whole.append(float(said[1]) - began)
            own.append(float(said[1]) - float(said[0]))
    return whole, own


def main(name, count):
    sys.path.insert(0, PACKAGE)
    os.environ["PYTHONPATH"] = PACKAGE
    import numpy as np

    import larder

    array = larder.open(name)
    copy = os.path.join(os.environ["LARDER_BENCH_FOLDER"], "copy.npy")
    # By another process: this one touches no page, or it would share them.
    subprocess.run([sys.executable, "-c", "import sys, numpy, larder; numpy.save(sys.argv[2], larder.open(sys.argv[1]))", name, copy], check=True)
    rows = []
    for start in STARTS:
        rows.append({"start": start, "processes": count, "bytes": array.nbytes, "larder": processes(array, start, count),
                     "mmap": processes(np.load(copy, "r") if start == "fork" else Mapped(copy), start, count)})
    os.remove(copy)
    whole, own = first_batches(name)
    print(json.dumps({"rows": rows, "firstBatchS": whole, "ownS": own}))


def table(path):
    with open(path) as file:
        found = json.load(file)
    count, size = found["rows"][0]["processes"], found["rows"][0]["bytes"]
    print(f"\n## {count} processes that read one array of {size >> 20} MiB\n")
    print("| started by | copies of the array | target | all memory, MiB | with np.load(mmap_mode=\"r\") | ratio | target |\n|---|--:|---|--:|--:|--:|---|")
    for row in found["rows"]:
        copies = row["larder"]["shmemKb"] * 1024 / size
        ratio = row["larder"]["allKb"] / row["mmap"]["allKb"]
        print(f"| {row['start']} | {copies:.3f} | ≤ {TARGETS['pages']}, {verdict(copies <= TARGETS['pages'])} | {row['larder']['allKb'] >> 10:,}"
              f" | {row['mmap']['allKb'] >> 10:,} | {ratio:.3f} | ≤ {TARGETS['all']}, {verdict(ratio <= TARGETS['all'])} |")
    whole, own = statistics.median(found["firstBatchS"]), statistics.median(found["ownS"])
    print(f"\nFrom Enter to the first batch of `larder.Loader`: {whole:.2f} s, without starting Python and importing numpy {own:.2f} s"
          f" (< {TARGETS['first']} s, {verdict(own < TARGETS['first'])}).")


def verdict(reached):
    return "reached" if reached else "**missed**"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table(sys.argv[2]) if sys.argv[1] == "table" else main(sys.argv[1], int(sys.argv[2]))
