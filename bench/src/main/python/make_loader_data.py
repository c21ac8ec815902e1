#!/usr/bin/env python3
"""Writes the arrays that the benchmarks of the loader read: as many rows as they say, of random bytes.

usage: make_loader_data.py FOLDER [NAME...]    without names all of them
"""
import os
import sys

import numpy as np

SEED = 42


def main():
    folder, wanted = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(SEED)
    print(f"seed={SEED} numpy={np.__version__}", file=sys.stderr)

    def save(name, make):
        if not wanted or name in wanted:
            np.save(os.path.join(folder, name + ".npy"), make())

    def noise(*shape):
        return rng.integers(0, 256, shape, dtype=np.uint8)

    save("images-f4", lambda: rng.random((60_000, 784), dtype=np.float32))
    save("pictures-28x28", lambda: noise(50_000, 28, 28))
    save("pictures-32x32x3", lambda: noise(50_000, 32, 32, 3))
    save("rows-64", lambda: noise(1_000_000, 64))
    ids = rng.integers(0, 50_000, (16_384, 1024), dtype=np.int32) if not wanted or "ids" in wanted else None
    save("ids", lambda: ids.ravel())
    save("id-rows", lambda: ids)
    save("tokens", lambda: noise(100_000_000))


if __name__ == "__main__":
    main()
