#!/usr/bin/env python3
"""Writes what training runs read: images.npy (bytes, 3072 a row) and labels.npy (int64), the same for the same seed.

usage: make_training_data.py FOLDER BYTES [SEED]    BYTES: of the images, rounded down to whole rows
"""
import os
import sys

import numpy as np

IMAGE_BYTES = 3072
CHUNK_ROWS = 16384


def main():
    folder, rows = sys.argv[1], int(sys.argv[2]) // IMAGE_BYTES
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 42
    print(f"seed={seed} rows={rows} imageBytes={IMAGE_BYTES} numpy={np.__version__}", file=sys.stderr)
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(seed)
    with open(os.path.join(folder, "images.npy"), "wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (rows, IMAGE_BYTES)}
        np.lib.format.write_array_header_1_0(file, header)
        for first in range(0, rows, CHUNK_ROWS):
            file.write(rng.bytes(min(CHUNK_ROWS, rows - first) * IMAGE_BYTES))
    np.save(os.path.join(folder, "labels.npy"), rng.integers(0, 1000, rows, np.int64))


if __name__ == "__main__":
    main()
