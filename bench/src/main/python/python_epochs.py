#!/usr/bin/env python3
"""Measures shuffled epochs of an array as tensors, each way once a round, so that all have the same share of a busy machine.

Ray's ways come last, in rounds of their own: its processes take time as long as they exist.

usage: python_epochs.py DATASET/ARRAY ROUNDS [WAY...]    prints JSON, also if torch is absent; WAY is the beginning of a key: only such ways
"""
import contextlib
import importlib
import json
import os
import statistics
import sys
import tempfile
import time

import children
import harness

BATCH = 256
WORKERS = 2
SLOW_S, SLOW_ROUNDS = 0.3, 5  # an epoch that takes longer is measured in no more rounds
NEAR = 10_000
PEERS = "datasets", "ray"


def ways(array, copy, folder, torch, larder):
    """Yield the ways of one process and of DataLoader: (key, description, iterable over the batches of an epoch)."""
    data = torch.utils.data
    dataset, name = array.split("/")
    for threads in 0, 1:
        loader = larder.torch.Loader(dataset, [name], batch_size=BATCH, shuffle=1, threads=threads)
        yield f"loader.{threads}", f"larder.torch.Loader, {threads} threads beside the trainer's", loader
    for threads in 1, WORKERS:
        yield f"hand.torch.{threads}", f"by hand, index_select(out=), {counted(threads)}", ByHand(copy, torch, threads)
    shared = copy.clone().share_memory_()
    yield "hand.shared.1", "by hand, index_select(out=) over share_memory_(), 1 thread", ByHand(shared, torch, 1)
    yield "hand.numpy.1", "by hand, numpy's take(out=), 1 thread", ByNumpy(copy.numpy(), torch)
    yield "hand.mmap.1", "by hand, numpy's take(out=) over np.load(mmap_mode=\"r\"), 1 thread", ByNumpy(mapped(copy, folder), torch)
    tensors, rows = data.TensorDataset(copy), larder.torch.Rows(dataset, name)
    for workers in 0, WORKERS:
        more = {"num_workers": workers, "persistent_workers": workers > 0}
        with_workers = f", {workers} workers"
        yield f"rows.{workers}", "DataLoader(larder.torch.Rows)" + with_workers, data.DataLoader(rows, BATCH, shuffle=True, **more)
        yield f"samples.{workers}", "DataLoader(TensorDataset)" + with_workers, data.DataLoader(tensors, BATCH, shuffle=True, **more)
        yield (f"batches.{workers}", "DataLoader(TensorDataset) with a BatchSampler as sampler" + with_workers,
               data.DataLoader(tensors, None, sampler=batches_of(tensors, data), **more))


def hugging_face_ways(copy, folder, torch, datasets):
    """Yield the ways over a dataset that Hugging Face maps from disk."""
    import pyarrow as pa

    data, values = torch.utils.data, pa.array(copy.numpy().reshape(-1))
    datasets.Dataset(pa.table({"x": pa.FixedSizeListArray.from_arrays(values, copy.shape[1])})).save_to_disk(os.path.join(folder, "hf"))
    found = datasets.load_from_disk(os.path.join(folder, "hf"))
    tensors, arrays = found.with_format("torch"), found.with_format("numpy")
    for workers in 0, WORKERS:
        more = {"num_workers": workers, "persistent_workers": workers > 0}
        yield (f"hf.torch.{workers}", f"DataLoader(datasets.Dataset.with_format(\"torch\")), {workers} workers",
               data.DataLoader(tensors, BATCH, shuffle=True, **more))
    for key, rows in ("torch", tensors), ("numpy", arrays):
        yield (f"hf.{key}.batches", f"DataLoader(datasets.Dataset.with_format(\"{key}\")) with a BatchSampler as sampler, 0 workers",
               data.DataLoader(rows, None, sampler=batches_of(rows, data)))


def ray_ways(copy, torch, ray):
    """Yield Ray Data, which shuffles an epoch first, and a gather from the array that ray.put keeps."""
    yield "hand.ray.1", "by hand, numpy's take(out=) over ray.get(ray.put(array)), 1 thread", ByNumpy(ray.get(ray.put(copy.numpy())), torch)
    rows = ray.data.from_numpy(copy.numpy())
    yield "ray.data", "ray.data.from_numpy(array).random_shuffle().iter_torch_batches()", ByRay(rows.random_shuffle)
    yield ("ray.local", f"the same, shuffled among {NEAR:,} rows alone (local_shuffle_buffer_size)",
           ByRay(lambda: rows, local_shuffle_buffer_size=NEAR))


def counted(threads):
    return f"{threads} thread{'s'[:threads - 1]}"


def batches_of(rows, data):
    return data.BatchSampler(data.RandomSampler(rows), BATCH, drop_last=False)


def mapped(copy, folder):
    import numpy as np

    path = os.path.join(folder, "copy.npy")
    np.save(path, copy.numpy())
    return np.load(path, mmap_mode="r").view(np.ndarray)


class ByHand:
    def __init__(self, rows, torch, threads):
        self._rows, self._torch, self._threads, self._out = rows, torch, threads, torch.empty(BATCH, *rows.shape[1:])

    def __iter__(self):
        self._torch.set_num_threads(self._threads)
        try:
            order = self._torch.randperm(len(self._rows))
            for at in range(0, len(order), BATCH):
                some = order[at:at + BATCH]
                out = self._out[:len(some)]
                self._torch.index_select(self._rows, 0, some, out=out)
                yield out
        finally:
            self._torch.set_num_threads(1)


class ByNumpy:
    def __init__(self, rows, torch):
        self._rows, self._torch, self._out = rows, torch, torch.empty(BATCH, *rows.shape[1:])

    def __iter__(self):
        order, out = self._torch.randperm(len(self._rows)).numpy(), self._out.numpy()
        for at in range(0, len(order), BATCH):
            some = order[at:at + BATCH]
            self._rows.take(some, 0, out[:len(some)], "clip")
            yield self._out[:len(some)]


class ByRay:
    def __init__(self, rows, **settings):
        self._rows, self._settings = rows, settings

    def __iter__(self):
        return iter(self._rows().iter_torch_batches(batch_size=BATCH, **self._settings))


def measure(found, rounds, rows):
    """Measure the ways in rounds, and return a dict for each."""
    found = list(found)
    measured = [{"key": key, "what": what, "batchesPerSecond": [], "processorUs": []} for key, what, _ in found]
    for turn in range(rounds + 1):
        order = [*zip(measured, (batches for _, _, batches in found))]
        for way, batches in order[turn % len(order):] + order[:turn % len(order)]:  # another one is first in each round
            if turn > SLOW_ROUNDS and statistics.median(way["batchesPerSecond"]) * SLOW_S < rows / BATCH:
                continue
            count, began, used = 0, time.perf_counter(), children.processor_s()
            for _ in batches:
                count += 1
            seconds, used = time.perf_counter() - began, children.processor_s() - used
            if not -(-rows // BATCH) <= count <= -(-rows // BATCH) + 1:
                raise RuntimeError(f"not an epoch: way={way['key']} batches={count}")
            if turn:  # workers start in the first, and memory is touched
                way["batchesPerSecond"].append(count / seconds)
                way["processorUs"].append(1e6 * used / count)
    return measured


def main(array, rounds, *wanted):
    torch = imported("torch")
    if not torch:
        print(json.dumps({"absent": f"{sys.executable} has no torch; LARDER_TORCH_PYTHON names one that has"}))
        return
    harness.import_larder()
    import numpy as np

    import larder

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    peers = {name: module for name in (() if wanted else PEERS) if (module := imported(name))}
    torch.set_num_threads(1)
    copy = torch.from_numpy(np.array(larder.open(array)))
    with tempfile.TemporaryDirectory(dir=os.environ.get("LARDER_BENCH_FOLDER")) as folder:
        found = [way for way in ways(array, copy, folder, torch, larder) if not wanted or way[0].startswith(wanted)]
        if "datasets" in peers:
            peers["datasets"].disable_progress_bars()
            found += hugging_face_ways(copy, folder, torch, peers["datasets"])
        measured = measure(found, rounds, len(copy))
        del found
        if "ray" in peers:
            with started(peers["ray"]) as ray:
                measured += measure(ray_ways(copy, torch, ray), rounds, len(copy))
    print(json.dumps({"torch": torch.__version__, "numpy": np.__version__, "larder": larder.__version__, "array": array,
                      "peers": {name: module.__version__ for name, module in peers.items()},
                      "absent": [name for name in PEERS if name not in peers], "ways": measured}))


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


@contextlib.contextmanager
def started(ray):
    """Start Ray on this machine alone, with its words on standard error."""
    import logging

    with contextlib.redirect_stdout(sys.stderr):
        ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, object_store_memory=2 << 30)
        importlib.import_module("ray.data").DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        try:
            yield ray
        finally:
            ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
