#!/usr/bin/env python3
"""Gathers random rows of a file with numpy or torch, as a peer of Larder, with the words and lines of gather.c.

usage: gather_peer.py numpy|torch FILE OFFSET ROW_BYTES INDICES BATCH
"""
import ctypes
import mmap
import os
import sys
import time

import numpy as np

HUGE = 2 << 20
LOOK_BYTES = 1 << 20
PROT_NONE, MAP_FIXED, MAP_NORESERVE = 0, 0x10, 0x4000
C = ctypes.CDLL(None, use_errno=True)
C.mmap.restype = ctypes.c_void_p
C.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
C.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def mapped(descriptor, length, protection=mmap.PROT_READ):
    """Maps a file at a multiple of 2 MiB, or the kernel cannot map huge pages whole; returns its address. It stays mapped."""
    anonymous = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    place = C.mmap(None, length + HUGE, PROT_NONE, anonymous, -1, 0)
    address = C.mmap(-(-place // HUGE) * HUGE, length, protection, mmap.MAP_SHARED | MAP_FIXED, descriptor, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    return address


def memory(count, start):
    """Returns an array of bytes that starts `start` bytes behind a page: on some processors that decides the speed of copies to it."""
    place = np.ones(count + 8192, np.uint8)
    first = -place.ctypes.data % 4096 + start
    return place[first : first + count]


def numpy_ways(x, batch):
    out = memory(batch * x.shape[1], 16).reshape(batch, -1)  # as np.empty has it in a fresh process
    return {
        "take": lambda rows: np.take(x, rows, axis=0, out=out, mode="clip"),  # "raise" makes a copy first
        "index": lambda rows: x[rows],
    }


def torch_ways(x, batch):
    import torch

    torch.set_num_threads(1)
    # As longs: torch copies rows of a byte each element, one by one
    x = torch.from_numpy(x.view(np.int64))
    out = torch.from_numpy(memory(batch * x.shape[1] * 8, 64).view(np.int64).reshape(batch, -1))
    return {"index_select": lambda rows: torch.index_select(x, 0, torch.from_numpy(rows), out=out).numpy()}


def rate(action, batches, start, seconds, row_bytes):
    """Gathers for so long from a batch on; returns the next one, and bytes per second of the processor."""
    batch_bytes = batches.shape[1] * row_bytes
    count, begun = 0, time.thread_time()
    while (taken := time.thread_time() - begun) < seconds:
        for _ in range(-(-LOOK_BYTES // batch_bytes)):
            action(batches[(start + count) % len(batches)])
            count += 1
    return start + count, count * batch_bytes / taken


def main():
    engine, path, offset, row_bytes, indices, batch = sys.argv[1:]
    row_bytes, batch, offset = int(row_bytes), int(batch), int(offset)
    descriptor, length = os.open(path, os.O_RDONLY), os.stat(path).st_size
    file = np.frombuffer((ctypes.c_uint8 * length).from_address(mapped(descriptor, length)), np.uint8)
    int(file[::4096].sum())  # touches it
    x = file[offset : offset + (length - offset) // row_bytes * row_bytes].reshape(-1, row_bytes)
    batches = np.fromfile(indices, np.int64).reshape(-1, batch)
    ways = (torch_ways if engine == "torch" else numpy_ways)(x, batch)
    for name, action in ways.items():
        words = np.asarray(action(batches[0])).view(np.uint64).reshape(-1)
        weights = 2 * np.arange(len(words), dtype=np.uint64) + np.uint64(1)
        print("ready", name, int((words * weights).sum()), flush=True)
    place = 0
    for line in sys.stdin:
        name, seconds = line.split()
        place, found = rate(ways[name], batches, place, float(seconds), row_bytes)
        print(f"{found:.0f}", flush=True)


if __name__ == "__main__":
    main()
