#!/usr/bin/env python3
"""Measures how the place where data starts, modulo 4096, changes the speed of gathering rows with numpy, and torch if it is there.

usage: data_start.py [ROUNDS]   prints a table: GB of a second of processor time, by way, row size and place of the destination (down) and start of the data (across)

The source is 400 MiB on huge pages, read by one thread in random order. numpy's memory starts 16 bytes behind a page in a fresh process,
torch's 64, a direct buffer of Java 0. The starts take turns in each round, and a figure is the best of the rounds, as other programs only
make a round slower.
"""
import mmap
import sys
import time

import numpy as np
from gather_peer import HUGE, memory

SIZE = 400 << 20
STARTS = (0, 64, 128, 192, 256, 512)
DESTINATIONS = (0, 16, 64)
ROW_BYTES = (784, 2176, 2560, 3072, 4096, 12288, 150528)
BATCH_BYTES, ORDER_BYTES = 1 << 20, 64 << 20


def ways(batch, row_bytes):
    """Yields (name, gather(source, rows))."""
    for start in DESTINATIONS:
        out = memory(batch * row_bytes, start).reshape(batch, row_bytes)
        yield f"np.take(out=), {start}", lambda x, rows, out=out: np.take(x, rows, axis=0, out=out, mode="clip")
    yield "x[rows]", lambda x, rows: x[rows]
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    out = torch.from_numpy(memory(batch * row_bytes, 64).view(np.int64).reshape(batch, -1))
    tensor = lambda x: torch.from_numpy(x.view(np.int64))  # torch copies rows of bytes one by one
    yield "torch.index_select(out=), 64", lambda x, rows: torch.index_select(tensor(x), 0, torch.from_numpy(rows), out=out)
    yield "torch.index_select", lambda x, rows: torch.index_select(tensor(x), 0, torch.from_numpy(rows))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    pages = mmap.mmap(-1, SIZE + 2 * HUGE)
    pages.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(pages, np.uint8)
    whole = whole[-whole.ctypes.data % HUGE :]
    whole[:: 4096] = 1
    generator = np.random.default_rng(42)
    print("| way, destination | row bytes |" + "".join(f" {start} |" for start in STARTS))
    print("|---|--:|" + "--:|" * len(STARTS))
    for row_bytes in ROW_BYTES:
        count, batch = (SIZE - 4096) // row_bytes, max(1, min(256, BATCH_BYTES // row_bytes))
        order = [generator.integers(0, count, batch) for _ in range(ORDER_BYTES // (batch * row_bytes))]
        sources = {start: whole[start : start + count * row_bytes].reshape(count, row_bytes) for start in STARTS}
        for name, gather in ways(batch, row_bytes):
            best = dict.fromkeys(STARTS, float("inf"))
            for _ in range(rounds):
                for start, source in sources.items():
                    begun = time.thread_time()
                    for rows in order:
                        gather(source, rows)
                    best[start] = min(best[start], time.thread_time() - begun)
            rates = (len(order) * batch * row_bytes / best[start] / 1e9 for start in STARTS)
            print(f"| {name} | {row_bytes:,} |" + "".join(f" {rate:.1f} |" for rate in rates), flush=True)


if __name__ == "__main__":
    main()
