#!/usr/bin/env python3
"""Measures torch.utils.data.DataLoader over a private copy of an array: shuffled batches, as the benchmarks of the loader read them.

usage: torch_peer.py ARRAY.npy SECONDS    prints JSON, also if torch is absent
"""
import importlib.util
import json
import sys
import time

import children
from parts.loader import TORCH as WAYS

BATCH = 256
WORKERS = (0, 2)
TRIALS = 5


def loader(torch, rows, way, workers):
    data = torch.utils.data
    dataset = data.TensorDataset(rows)
    shuffled = data.RandomSampler(dataset)
    if way == "samples":
        return data.DataLoader(dataset, BATCH, sampler=shuffled, num_workers=workers, persistent_workers=workers > 0)
    batches = data.BatchSampler(shuffled, BATCH, drop_last=False)
    return data.DataLoader(dataset, None, sampler=batches, num_workers=workers, persistent_workers=workers > 0)


def measure(batches, seconds):
    """Reads epochs for so long; returns batches a second, and the processor's µs for each."""
    count, began, used = 0, time.perf_counter(), children.processor_s()
    while time.perf_counter() - began < seconds:
        for (batch,) in batches:
            batch[0, 0].item()
            count += 1
    return count / (time.perf_counter() - began), 1e6 * (children.processor_s() - used) / count


def main():
    path, seconds = sys.argv[1], float(sys.argv[2])
    if not importlib.util.find_spec("torch"):
        print(json.dumps({"absent": f"{sys.executable} has no torch; LARDER_TORCH_PYTHON names one that has"}))
        return
    import numpy as np
    import torch

    torch.set_num_threads(1)
    rows = torch.from_numpy(np.array(np.load(path, mmap_mode="r")))  # a copy of its own
    ways = []
    for way in WAYS:
        for workers in WORKERS:
            batches = loader(torch, rows, way, workers)
            for _ in batches:  # workers start, memory is touched
                pass
            trials = [measure(batches, seconds) for _ in range(TRIALS)]
            rates, processor = zip(*trials)
            ways.append({"way": way, "workers": workers, "batchesPerSecond": rates, "processorUs": sorted(processor)[len(processor) // 2]})
    print(json.dumps({"torch": torch.__version__, "ways": ways}))


if __name__ == "__main__":
    main()
