"""Fits a linear model to the arrays of an archive, in shuffled batches."""

import numpy as np

with np.load("data/train.npz") as archive:
    images, labels = archive["images"], archive["labels"]
random = np.random.default_rng(0)
weights = np.zeros(images.shape[1])
for epoch in range(3):
    losses = []
    for rows in np.split(random.permutation(len(labels)), 16):
        batch = images[rows].astype("f8") / 255
        error = batch @ weights - labels[rows]
        losses.append((error ** 2).mean())
        weights -= 0.01 * batch.T @ error / len(rows)
    print("epoch", epoch, "loss", float(np.mean(losses)).hex())
