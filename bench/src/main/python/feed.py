#!/usr/bin/env python3
"""Measures batches of a feed beside numpy, torch and torchvision: pictures of uint8 32x32x3, cropped, flipped and normalized.

The ways take turns, and every byte of a batch is read. $LARDER_STORE has a daemon, $LARDER_COMMAND is the command.

usage: feed.py ROUNDS    prints JSON
"""
import collections
import concurrent.futures
import json
import sys
import tempfile
import time

import harness
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

ROWS, BATCH, BATCHES, PADDING = 60_000, 256, 400, 4
LONGEST_S = 2
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


def by_threads(images, way, threads):
    rng = np.random.default_rng(0)
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


class WithTorch:
    """All pixels of a batch at once, picked by index of pictures that were padded once."""

    def __init__(self, images, torch):
        self._torch, self._side = torch, torch.arange(32)
        self._padded = torch.from_numpy(np.pad(images, ((0, 0), (PADDING, PADDING), (PADDING, PADDING), (0, 0))))
        self._scale, self._offset = torch.from_numpy(SCALE), torch.from_numpy(OFFSET)

    def __call__(self, _, rows, rng):
        torch, side = self._torch, self._side
        top, left, flips = map(torch.from_numpy, drawn(rng))
        columns = left[:, None] + torch.where(flips[:, None], 31 - side, side)
        pixels = self._padded[torch.from_numpy(rows)[:, None, None], (top[:, None] + side)[:, :, None], columns[:, None, :]]
        return pixels.to(torch.float32).mul_(self._scale).sub_(self._offset).numpy()


class Samples:
    """A dataset of samples, which torchvision's transforms of version 2 change one by one."""

    def __init__(self, images, torch):
        from torchvision.transforms import v2

        self._images = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        self._steps = v2.Compose([v2.RandomCrop(32, padding=PADDING), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True),
                                  v2.Normalize(MEAN.tolist(), DEVIATION.tolist())])

    def __len__(self):
        return len(self._images)

    def __getitem__(self, i):
        return self._steps(self._images[i])


def by_data_loader(samples, workers, torch):
    for batch in torch.utils.data.DataLoader(samples, BATCH, shuffle=True, num_workers=workers, drop_last=True):
        yield batch.numpy()


def feed_batches(copy):
    import larder

    with larder.feed("feed-bench", ["images"], batch_size=BATCH, shuffle=1, drop_last=True, epochs=3, copy=copy,
                     transform={"images": STEPS}) as batches:
        for batch in batches:
            yield batch.pop("images")


def per_second(batches):
    """Return batches a second. The first third does not count: it compiles code, takes memory and starts workers."""
    count, warm, started = 0, BATCHES // 3, None
    begun = time.perf_counter()
    for batch in batches:
        now = time.perf_counter()
        if started is None and (count == warm or now - begun > LONGEST_S / 2):
            count, started = 0, now
        batch.view(np.uint32).sum(dtype=np.uint64)
        del batch
        count += 1
        if started is not None and (count == BATCHES or time.perf_counter() - started > LONGEST_S):
            break
    seconds = time.perf_counter() - started
    batches.close()
    return count / seconds


def ways(images):
    """Yield the ways: (key, description, function that returns batches)."""
    for copy, what in (True, "copies"), (False, "views of its slots, copy=False"):
        yield f"feed.{copy}", f"larder.feed, {what}", lambda copy=copy: feed_batches(copy)
    hands = {"slices": (by_slices, "numpy, a slice for each picture"), "windows": (by_windows, "numpy, all windows picked by index")}
    torch = torchvision = None
    try:
        import torch
        import torchvision_peer

        hands["torch"] = WithTorch(images, torch), "torch, all pixels picked by index"
        _, torchvision, _ = torchvision_peer.imported()
        samples = Samples(images, torch)
    except ImportError as e:
        print(f"feed.py: {e}", file=sys.stderr)
    if torch is not None:
        torch.set_num_threads(1)  # the threads are ours
    for key, (way, what) in hands.items():
        for threads in 1, 2:
            yield (f"hand.{key}.{threads}", f"by hand, {what}, {threads} thread{'s'[:threads - 1]}",
                   lambda way=way, threads=threads: by_threads(images, way, threads))
    for workers in (0, 2) if torchvision is not None else ():
        yield (f"torchvision.{workers}", f"torchvision {torchvision.__version__}, transforms.v2 a sample in DataLoader, {workers} workers",
               lambda workers=workers: by_data_loader(samples, workers, torch))


def main(rounds):
    harness.import_larder()
    import larder

    with tempfile.TemporaryDirectory() as folder:
        images = np.random.default_rng(0).integers(0, 256, (ROWS, 32, 32, 3), dtype=np.uint8)
        np.save(f"{folder}/images", images)
        larder.load("feed-bench", folder).close()
    images = larder.open("feed-bench/images").view(np.ndarray)
    found = list(ways(images))
    measured = [{"key": key, "what": what, "batchesPerSecond": []} for key, what, _ in found]
    for _ in range(rounds):
        for way, (_, _, make) in zip(measured, found):
            way["batchesPerSecond"].append(per_second(make()))
    print(json.dumps({"numpy": np.__version__, "ways": measured}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
