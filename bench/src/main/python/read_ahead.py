#!/usr/bin/env python3
"""Measures larder.Loader with rows that are not in memory, next to fio with 16 processes and a loop over np.memmap.

usage: read_ahead.py STORE DATASET FILE ROWS.jsonl [SECONDS]     adds lines; FILE is on a disk, and DATASET has it in place, as one array

Each run begins without the file in memory, except the last ones, which compare processor time with all of it there. "group" is a control
group for a quarter of the file's bytes. It needs root, and is left out without it.
"""
import contextlib
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import time

import children

import numpy as np

BATCH_BYTES, MOST_BATCH_ROWS, SEED, FIO_JOBS, ROUNDS = 8 << 20, 256, 42, 16, 5
GROUPS = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"


def trainer(way, store, dataset, path, seconds):
    """Gathers shuffled batches for some seconds, or a whole epoch, and prints figures."""
    array = np.load(path, mmap_mode="r")
    size = max(1, min(MOST_BATCH_ROWS, BATCH_BYTES // array[0].nbytes))
    batches, seconds = (memmap_batches(array, size) if way == "memmap" else loader_batches(way, store, dataset, size)), float(seconds)
    print("ready", flush=True)
    sys.stdin.readline()
    before, began, rows, made = used(), time.perf_counter(), 0, 0
    for count in batches:
        rows, made = rows + count, made + 1
        if seconds and time.perf_counter() - began > seconds:
            break
    took, after = time.perf_counter() - began, used()
    print("done", json.dumps({"way": way, "rows": rows, "batches": made, "seconds": took, "neededBytes": rows * array[0].nbytes,
                              **{key: after[key] - before[key] for key in after}}), flush=True)


def memmap_batches(array, size):
    order = np.random.default_rng(SEED).permutation(len(array))
    for first in range(0, len(order), size):
        rows = order[first:first + size]
        yield len(np.stack([array[row] for row in rows]))


def loader_batches(way, store, dataset, size):
    sys.path.insert(0, os.path.join(children.ROOT, "ops", "python"))
    import larder
    if way == "without":
        sys.modules["larder._loader"]._file_rows = lambda *_: None
    loader = larder.Loader(dataset, batch_size=size, shuffle=SEED, store=store)
    return (batch.size for batch in loader)


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/io") as file:
        read = dict(line.split(": ") for line in file)["read_bytes"]
    return {"processorSeconds": usage.ru_utime + usage.ru_stime, "majorFaults": usage.ru_majflt, "readBytes": int(read)}


def drop_from_memory(path):
    with open(path, "rb") as file:
        os.fsync(file)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cached_share(path):
    """Returns how much of a file is in memory; only its owner gets a true answer."""
    size = os.path.getsize(path)
    pages = -(-size // 4096)
    seen = (ctypes.c_ubyte * pages)()
    array = np.memmap(path, np.uint8, "r")
    ctypes.CDLL(None).mincore(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(size), seen)
    return sum(value & 1 for value in seen) / pages


@contextlib.contextmanager
def group(size):
    """Makes a control group with a limit, and yields a function that moves a process there; None without the right to make one."""
    top = next((top for top in GROUPS if os.path.exists(os.path.join(top, "cgroup.procs"))), GROUPS[0])
    folder = os.path.join(top, f"larder-read-ahead-{os.getpid()}")
    try:
        os.mkdir(folder)
    except OSError:
        yield None
        return
    try:
        limit = next(name for name in ("memory.limit_in_bytes", "memory.max") if os.path.exists(os.path.join(folder, name)))
        with open(os.path.join(folder, limit), "w") as file:
            file.write(str(size))

        def move():
            with open(os.path.join(folder, "cgroup.procs"), "w") as file:
                file.write(str(os.getpid()))

        yield move
    finally:
        os.rmdir(folder)


def run(ways, arguments, move=None):
    """Runs trainers together, and returns their figures."""
    words = [[sys.executable, os.path.abspath(__file__), "trainer", way, *map(str, arguments)] for way in ways]
    with contextlib.ExitStack() as started:
        trainers = [started.enter_context(children.Child(each, preexec_fn=move)) for each in words]
        for each in trainers:
            each.line()
        for each in trainers:
            each.tell("go")
        return [json.loads(each.answer("done")) for each in trainers]


def fio(path, block, seconds):
    """Reads each block at most once: the jobs have a part of the file each."""
    part = os.path.getsize(path) // FIO_JOBS // block * block
    words = ["fio", "--name=peer", f"--filename={path}", "--readonly", "--rw=randread", "--ioengine=psync", f"--numjobs={FIO_JOBS}", f"--bs={block}",
             f"--size={part}", f"--offset_increment={part}", "--direct=0", "--invalidate=1", f"--runtime={seconds}", "--group_reporting", "--output-format=json"]
    found = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["jobs"][0]["read"]
    return {"way": "fio", "rows": found["total_ios"], "seconds": found["runtime"] / 1000, "neededBytes": found["io_bytes"]}


def rows_per_second(figures):
    return sum(each["rows"] / each["seconds"] for each in figures)


def main():
    store, dataset, path, rows = sys.argv[1:5]
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 10
    arguments, row_bytes, size = (store, dataset, path, seconds), np.load(path, mmap_mode="r")[0].nbytes, os.path.getsize(path)
    with children.interruptible(), open(rows, "a", buffering=1) as out, group(size // 4) as move:
        def write(name, figures):
            out.write(json.dumps({"name": name, "rowBytes": row_bytes, "fileBytes": size, "rowsPerSecond": rows_per_second(figures), "figures": figures}) + "\n")

        def cold(name, ways, move=None, arguments=arguments):
            drop_from_memory(path)
            write(name, run(ways, arguments, move))

        drop_from_memory(path)
        block = -(-row_bytes // 4096) * 4096
        write("fio", [fio(path, block, int(seconds))])
        for way in "larder", "without", "memmap":
            cold(way, [way])
        if move:
            whole = (store, dataset, path, 0)
            cold("group", ["larder"], move, whole)
            cold("group, two trainers", ["larder", "larder"], move, whole)
        subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
        resident = {way: [] for way in ("larder", "without")}
        for _ in range(ROUNDS):
            for way, found in resident.items():
                figures = run([way], (store, dataset, path, 0))[0]
                found.append(figures["processorSeconds"] / figures["batches"])
        out.write(json.dumps({"name": "in memory", "rowBytes": row_bytes, "share": cached_share(path),
                              "processorSecondsPerBatch": {way: statistics.median(found) for way, found in resident.items()}, "rounds": resident}) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "trainer":
        trainer(*sys.argv[2:])
    else:
        main()
