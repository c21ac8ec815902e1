"""Batches of a feed beside numpy by hand: pictures of uint8 32x32x3, cropped, flipped and normalized; every byte is read.

    ops/larder serve --detach
    PYTHONPATH=ops/python python3 bench/src/main/python/feed.py [ROUNDS]

The ways take turns. Each line is the median of the rounds: batches of 256 a second, and GB/s of what the trainer reads.
"""

import collections
import concurrent.futures
import statistics
import sys
import tempfile
import time

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import larder

ROWS, BATCH, BATCHES, PADDING = 60_000, 256, 400, 4
MEAN, DEVIATION = np.float32([0.49, 0.48, 0.44]), np.float32([0.2, 0.2, 0.2])
SCALE, OFFSET = 1 / (255 * DEVIATION), MEAN / DEVIATION
STEPS = "randomCrop(32,32,4),randomFlip,toFloat,normalize([0.49,0.48,0.44],[0.2,0.2,0.2])"


def drawn(rng):
    return *rng.integers(0, 2 * PADDING + 1, (2, BATCH)), rng.random(BATCH) < 0.5


def padded(images, rows):
    made = np.zeros((BATCH, 32 + 2 * PADDING, 32 + 2 * PADDING, 3), np.uint8)
    made[:, PADDING:-PADDING, PADDING:-PADDING] = images[rows]
    return made


def normalized(pictures):
    made = np.multiply(pictures, SCALE, dtype=np.float32)
    made -= OFFSET
    return made


def by_slices(images, rows, rng):
    """A slice for each picture."""
    source, made = padded(images, rows), np.empty((BATCH, 32, 32, 3), np.uint8)
    for i, (top, left, flips) in enumerate(zip(*drawn(rng))):
        window = source[i, top:top + 32, left:left + 32]
        made[i] = window[:, ::-1] if flips else window
    return normalized(made)


def by_windows(images, rows, rng):
    """All windows at once, picked by index."""
    top, left, flips = drawn(rng)
    made = sliding_window_view(padded(images, rows), (32, 32), axis=(1, 2))[np.arange(BATCH), top, left].transpose(0, 2, 3, 1)
    made[flips] = made[flips][:, :, ::-1]
    return normalized(made)


def numpy_batches(way, threads):
    images, rng = larder.dataset("feed-bench")["images"], np.random.default_rng(0)
    orders = np.concatenate([rng.permutation(ROWS)[:ROWS // BATCH * BATCH] for _ in range(3)]).reshape(-1, BATCH)
    rows = iter(orders)
    if threads == 1:
        yield from (way(images, each, rng) for each in rows)
        return
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        def submit():
            return pool.submit(way, images, next(rows), np.random.default_rng(rng.integers(1 << 32)))
        ahead = collections.deque(submit() for _ in range(2 * threads))
        for _ in range(len(orders) - len(ahead)):
            yield ahead.popleft().result()
            ahead.append(submit())


def feed_batches(copy):
    with larder.feed("feed-bench", ["images"], batch=BATCH, shuffle=1, drop_last=True, epochs=3, copy=copy,
                     transform={"images": STEPS}) as batches:
        for batch in batches:
            yield batch.pop("images")


def per_second(batches):
    """Skip the first third of what is measured, in which code is compiled and memory taken."""
    started = None
    for number, batch in enumerate(batches):
        if number == BATCHES // 3:
            started = time.perf_counter()
        batch.view(np.uint32).sum(dtype=np.uint64)
        del batch
        if number == BATCHES + BATCHES // 3:
            break
    seconds = time.perf_counter() - started
    batches.close()
    return BATCHES / seconds


def main(rounds):
    with tempfile.TemporaryDirectory() as folder:
        images = np.random.default_rng(0).integers(0, 256, (ROWS, 32, 32, 3), dtype=np.uint8)
        np.save(f"{folder}/images", images)
        larder.load("feed-bench", folder).close()
        ways = {f"numpy, {way.__doc__[:-1].lower()}, {threads} thread{'s'[:threads - 1]}": (numpy_batches, way, threads)
                for way in (by_slices, by_windows) for threads in (1, 2)}
        ways.update({"feed, copies": (feed_batches, True), "feed, views of the slots": (feed_batches, False)})
        found = collections.defaultdict(list)
        for _ in range(rounds):
            for name, (make, *arguments) in ways.items():
                found[name].append(per_second(make(*arguments)))
        for name, figures in found.items():
            rate = statistics.median(figures)
            print(f"{name:50s} {rate:8.1f} batches/s {rate * BATCH * 32 * 32 * 3 * 4 / 1e9:6.2f} GB/s "
                  f"({min(figures):.1f} to {max(figures):.1f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
