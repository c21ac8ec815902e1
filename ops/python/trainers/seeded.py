"""Trains one of several models that run at the same time; the argument is the seed."""

import pathlib
import sys

import numpy as np

data = pathlib.Path("data").resolve()
x = np.lib.format.open_memmap(data / "x.npy", mode="r")
y = np.load(data / "y.npy", "r")
random = np.random.default_rng(int(sys.argv[1]))
weights = random.normal(size=x.shape[1])
for step in range(20):
    rows = random.integers(len(x), size=256)
    error = x[rows] @ weights - y[rows]
    print("step", step, "loss", float((error ** 2).mean()).hex())
    weights -= 0.02 * x[rows].T @ error / len(rows)
