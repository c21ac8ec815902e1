#!/usr/bin/env python3
"""Measures how fast random rows are gathered: by Larder, C, numpy and torch, in turns, on huge pages and on small ones.

usage: gather.py PACE STORE PLACE ROWS.jsonl NAME=COMMAND...   adds lines; a daemon serves the store, PLACE is a folder in shared memory

Each contender is one process for each shape. All map the same file, and gather the same random rows. A contender with a NAME that begins
with larder gets the store, an array's name and its file, others get a file. COMMAND is split at spaces.
"""
import contextlib
import json
import mmap
import os
import subprocess
import sys

import children
import gather_peer

import numpy as np

SEED = 42
ROW_BYTES = {"quick": (784,), "short": (64, 256, 784, 3072, 153600), "long": (64, 128, 256, 784, 1024, 3072, 8192, 30720, 153600)}
SIZES = {"quick": (64 << 20,), "short": (1 << 30,), "long": (1 << 30, 8 << 20)}
ROUNDS = {"quick": 3, "short": 7, "long": 9}
WARM_UP_S, JVM_WARM_UP_S, ROUND_S = 0.2, 1.0, 0.1
BATCH_ROWS, BATCH_BYTES = 256, 1 << 20
ORDER_BYTES = 256 << 20  # what is gathered before a row comes again: much more than any cache holds
DATA_OFFSET = 4096 + 192  # as in a store
COLLAPSE = 25
POPULATE_WRITE = 23
WAYS = {"numpy": 2, "torch": 1, "larder": 3}


def write_rows(path, row_bytes, size, pages):
    """Writes an array of random bytes, on huge pages if these are wanted and available."""
    count = size // row_bytes
    with open(path, "wb+") as file:
        file.truncate(DATA_OFFSET + count * row_bytes)
        length = os.fstat(file.fileno()).st_size
        address = gather_peer.mapped(file.fileno(), length, mmap.PROT_READ | mmap.PROT_WRITE)
        if pages == "huge":
            for at in range(0, length - gather_peer.HUGE + 1, gather_peer.HUGE):
                gather_peer.C.madvise(address + at, 4096, POPULATE_WRITE)
                gather_peer.C.madvise(address + at, gather_peer.HUGE, COLLAPSE)
        header = np.lib.format.header_data_from_array_1_0(np.empty((0, row_bytes), np.uint8)) | {"shape": (count, row_bytes)}
        text = repr(header).encode()
        file.write(b"\x93NUMPY\1\0" + (DATA_OFFSET - 10).to_bytes(2, "little") + text.ljust(DATA_OFFSET - 11) + b"\n")
        generator = np.random.default_rng(SEED)
        for at in range(0, count * row_bytes, 1 << 24):
            file.write(generator.bytes(min(1 << 24, count * row_bytes - at)))
        gather_peer.C.munmap(gather_peer.ctypes.c_void_p(address), gather_peer.ctypes.c_size_t(length))
    return count


def write_indices(path, count, row_bytes):
    """Writes the rows to gather; returns the rows of a batch."""
    batch = min(BATCH_ROWS, max(1, BATCH_BYTES // row_bytes))
    batches = max(ORDER_BYTES // row_bytes // batch, 8)
    np.random.default_rng(SEED).integers(0, count, batches * batch).tofile(path)
    return batch


def huge_bytes(pid, path):
    """Returns how much of a file a process has mapped by huge pages."""
    found, counts = 0, False
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            words = line.split()
            if "-" in words[0]:
                counts = line.rstrip("\n").endswith(" " + path)
            elif counts and words[0] in ("ShmemPmdMapped:", "FilePmdMapped:"):
                found += int(words[1]) << 10
    return found


def measure(contenders, rounds, path):
    """Returns the bytes per second of each way, round by round, and how much of the file each contender has mapped by huge pages."""
    rates, sums = {}, set()
    for name, child in contenders.items():
        for _ in range(WAYS.get(name, 1)):
            found, total = child.answer("ready").split()
            rates[name, found] = []
            sums.add(total)
    if len(sums) != 1:
        raise AssertionError(f"not the same rows everywhere: {sums}")
    for turn in range(rounds + 1):
        for (name, way), values in rates.items():
            child = contenders[name]
            seconds = ROUND_S if turn else JVM_WARM_UP_S if name.startswith("larder") else WARM_UP_S
            child.tell(f"{way} {seconds}")
            values += [float(child.line())][: turn]
    return {label(*key): values for key, values in rates.items()}, {name: huge_bytes(child.pid, path) for name, child in contenders.items()}


def label(name, way):
    """Returns the name of a row: ways of Larder's process that do not use it are peers."""
    if way in (name, "larder"):
        return name
    return way.replace("-", " ") if name == "larder" else f"{name} {way}"


def shape(store, commands, rounds, folder, size, pages, row_bytes):
    path, indices, dataset = os.path.join(folder, "rows.npy"), os.path.join(folder, "indices"), "gather"
    count = write_rows(path, row_bytes, size, pages)
    batch = write_indices(indices, count, row_bytes)
    subprocess.run([children.LARDER, "load", "--store", store, "--in-place", f"{dataset}={path}"], check=True, stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as started:
        contenders = {}
        for name, command in commands.items():
            words = [store, f"{dataset}/rows", path, indices] if name.startswith("larder") else [path, str(DATA_OFFSET), str(row_bytes), indices]
            contenders[name] = started.enter_context(children.Child([*command.split(), *words, str(batch)]))
        rates, huge = measure(contenders, rounds, path)
    subprocess.run([children.LARDER, "evict", "--forget", "--store", store, dataset], check=True, stdout=subprocess.DEVNULL)
    os.remove(path)
    return {"rowBytes": row_bytes, "pages": pages, "bytes": size, "batch": batch, "seed": SEED, "rates": rates, "hugeBytes": huge}


def main():
    pace, store, place, rows = sys.argv[1:5]
    commands = dict(word.split("=", 1) for word in sys.argv[5:])
    with children.interruptible(), open(rows, "a", buffering=1) as out:
        for size in SIZES[pace]:
            for pages in "huge", "small":
                for row_bytes in ROW_BYTES[pace]:
                    out.write(json.dumps(shape(store, commands, ROUNDS[pace], place, size, pages, row_bytes)) + "\n")


if __name__ == "__main__":
    main()
