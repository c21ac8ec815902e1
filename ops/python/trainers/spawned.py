"""Fits one linear model for each fold of the rows, in processes that multiprocessing spawns."""

import multiprocessing

import numpy as np


def start():
    global x, y
    x, y = np.load("data/x.npy"), np.load("data/y.npy")


def fit(fold):
    kept = np.arange(len(x)) % 3 != fold
    weights = np.linalg.lstsq(x[kept], y[kept], rcond=None)[0]
    return float(((x[~kept] @ weights - y[~kept]) ** 2).mean()).hex()


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2, start) as pool:
        for fold, loss in enumerate(pool.map(fit, range(3))):
            print("fold", fold, "loss", loss)
