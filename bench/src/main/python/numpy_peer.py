#!/usr/bin/env python3
"""Measures numpy on the same published files, and prints one JSON object.

usage: numpy_peer.py STORE SECONDS_PER_FIGURE ROW_BYTES,...

Gathers 256 random rows at a time with x[idx] and np.take(out=, mode="clip") (mode "raise" copies twice, so "clip" is the
stronger peer), and opens a file with np.load(mmap_mode="r"). All memory is touched before it is measured.
"""
import json
import os
import sys
import time

import numpy as np

BATCH = 256
BATCHES = 512
SEED = 42


def rate(action, batches, seconds):
    """Runs action over the batches for some time, five times, and returns the median of calls per second."""
    rates = []
    for _ in range(5):
        calls = 0
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            for batch in batches:
                action(batch)
            calls += len(batches)
        rates.append(calls / (time.perf_counter() - start))
    return sorted(rates)[len(rates) // 2]


def main():
    store, seconds, rows = sys.argv[1], float(sys.argv[2]), [int(row) for row in sys.argv[3].split(",")]
    dataset = os.path.join(store, "data", "bench", "current")
    rng = np.random.default_rng(SEED)
    result = {"numpy": np.__version__, "gather": {}, "openMicros": None}
    for row in rows:
        x = np.load(os.path.join(dataset, f"rows-{row}.npy"), mmap_mode="r")
        int(np.asarray(x).sum(dtype=np.uint64))
        x = np.asarray(x)
        count = BATCHES if row < 100000 else 32
        batches = [rng.integers(0, len(x), BATCH) for _ in range(count)]
        out = np.ones((BATCH, row), np.uint8)
        result["gather"][str(row)] = {
            "index": rate(lambda idx: x[idx], batches, seconds),
            "take": rate(lambda idx: np.take(x, idx, axis=0, out=out), batches, seconds),
            "takeClip": rate(lambda idx: np.take(x, idx, axis=0, out=out, mode="clip"), batches, seconds),
        }
    path = os.path.join(dataset, "rows-784.npy")
    opens = rate(lambda _: int(np.load(path, mmap_mode="r")[1, 2]), range(200), seconds)
    result["openMicros"] = 1e6 / opens
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
