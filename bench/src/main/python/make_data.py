#!/usr/bin/env python3
"""Writes the arrays that the benchmarks read: uint8 matrices of several row lengths, and a float32 matrix.

usage: make_data.py FOLDER [BYTES_PER_ARRAY]
"""
import os
import sys

import numpy as np

ROW_BYTES = (64, 256, 784, 3072, 153600)
SEED = 42


def main():
    folder = sys.argv[1]
    total = int(sys.argv[2]) if len(sys.argv) > 2 else 256 << 20
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(SEED)
    print(f"seed={SEED} numpy={np.__version__} bytesPerArray={total}", file=sys.stderr)
    noise = rng.integers(0, 256, total, dtype=np.uint8)
    for row in ROW_BYTES:
        rows = total // row
        np.save(os.path.join(folder, f"rows-{row}.npy"), noise[: rows * row].reshape(rows, row))
    np.save(os.path.join(folder, "floats.npy"), rng.random((1024, 256), dtype=np.float32))


if __name__ == "__main__":
    main()
