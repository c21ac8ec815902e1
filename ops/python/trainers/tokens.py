"""Trains a bigram model of tokens, and maps the file again for each batch as nanoGPT does."""

import os

import numpy as np

data_dir = os.path.join("data", "text")
block_size, batch_size, vocabulary = 32, 8, 64
random = np.random.default_rng(0)


def get_batch():
    data = np.memmap(os.path.join(data_dir, "train.bin"), dtype=np.uint16, mode="r")
    ix = random.integers(len(data) - block_size, size=(batch_size,))
    x = np.stack([data[i:i + block_size].astype(np.int64) for i in ix])
    y = np.stack([data[i + 1:i + 1 + block_size].astype(np.int64) for i in ix])
    return x.ravel(), y.ravel()


logits = np.zeros((vocabulary, vocabulary))
for step in range(30):
    x, y = get_batch()
    p = np.exp(logits[x])
    p /= p.sum(1, keepdims=True)
    print("step", step, "loss", float(-np.log(p[np.arange(len(y)), y]).mean()).hex())
    p[np.arange(len(y)), y] -= 1
    np.add.at(logits, x, -p)
