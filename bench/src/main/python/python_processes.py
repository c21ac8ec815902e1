#!/usr/bin/env python3
"""Measures the memory of processes that read one array, under each way to start them, and how soon a program has its first batch.

Peers come last, so that no process of the first ways has their modules in its memory. The output names peers that cannot be imported.

usage: python_processes.py DATASET/ARRAY PROCESSES    prints JSON
"""
import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import time

from children import crowd

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "ops", "python")
STARTS = "fork", "spawn", "forkserver"
PEERS_STARTS = "fork", "spawn"
RUNS = 5
FIRST = """
import sys, time
import numpy
imported = time.clock_gettime(time.CLOCK_MONOTONIC)
import larder
dataset, array = sys.argv[1].split("/")
batch = next(iter(larder.Loader(dataset, [array], batch_size=256, shuffle=1)))
print(imported, time.clock_gettime(time.CLOCK_MONOTONIC), int(batch[array].reshape(-1)[0]))
"""


def memory_kb(field):
    """Return a sum over the mappings of this process, each page divided by how many processes have it mapped."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":"))


def touch(array):
    """Read all of an array, page by page."""
    array.view("u1").reshape(-1)[::4096].sum(dtype="u8")


def memory():
    return memory_kb("Pss_Shmem"), memory_kb("Pss_File"), memory_kb("Pss")


def read(meet, _, source):
    """Reads all of an array; returns the memory before and after, measured when all processes are ready."""
    meet()
    before = memory_kb("Pss")
    meet()
    opened = source() if callable(source) else source
    for array in opened if isinstance(opened, list) else [opened]:
        touch(array)
    meet()
    return before, *memory()


def summed(rows):
    return dict(zip(("beforeKb", "shmemKb", "fileKb", "allKb"), (sum(column) for column in zip(*rows))))


def processes(source, start, count, context=multiprocessing):
    """Returns the sums over so many processes; `source` is an array, or a function that opens one."""
    return summed(crowd(read, count, source, start=start, context=context))


class Mapped:
    """A file that numpy maps in the process that unpickles it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        import numpy as np

        return np.load, (self.path, "r")


class Loaded:
    """A file that each process reads into memory of its own."""

    def __init__(self, path):
        self.path = path

    def __call__(self):
        import numpy as np

        return np.load(self.path)


class SharedTensor:
    """A tensor in memory that PyTorch shares."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __call__(self):
        return self.tensor.numpy()


class HuggingFace:
    """A dataset that is mapped from disk, in one piece."""

    def __init__(self, folder):
        import datasets  # before memory is measured, in each process that unpickles this one

        self.folder, self.module = folder, datasets.__name__

    def __reduce__(self):
        return HuggingFace, (self.folder,)

    def __call__(self):
        import datasets
        import numpy as np

        return [np.asarray(chunk.values) for chunk in datasets.load_from_disk(self.folder).data.column("x").chunks]


def with_torch(torch, copy, count, _):
    """Measure processes with a tensor in the memory that PyTorch shares; it hands over a descriptor."""
    import numpy as np
    import torch.multiprocessing as with_tensors

    shared = torch.from_numpy(np.load(copy)).share_memory_()
    for start in PEERS_STARTS:
        yield start, processes(SharedTensor(shared), start, count, with_tensors)


def with_hugging_face(datasets, copy, count, folder):
    """Measure processes with a dataset that Hugging Face maps from disk."""
    import numpy as np
    import pyarrow as pa

    datasets.disable_progress_bars()
    array = np.load(copy)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])
    datasets.Dataset(pa.Table.from_batches([pa.record_batch([rows], ["x"])])).save_to_disk(folder, num_shards=1)
    del array, rows
    for start in PEERS_STARTS:
        yield start, processes(HuggingFace(folder), start, count)


def with_ray(ray, copy, count, _):
    """Measure actors, which are processes of Ray's own, that get an array from the object store."""
    import numpy as np

    from python_epochs import started

    class Reader:
        def before(self):
            return memory_kb("Pss")

        def touch(self, array):
            self.array = array
            touch(array)

        def memory(self):
            return memory()

    with started(ray):
        kept = ray.put(np.load(copy))
        readers = [ray.remote(num_cpus=0)(Reader).remote() for _ in range(count)]
        before = ray.get([reader.before.remote() for reader in readers])
        before = ray.get([reader.before.remote() for reader in readers])  # now that all are there
        ray.get([reader.touch.remote(kept) for reader in readers])
        after = ray.get([reader.memory.remote() for reader in readers])
        yield "Ray", summed([(first, *rest) for first, rest in zip(before, after)])


PEERS = {"torch": ("share_memory_()", with_torch), "datasets": ("datasets.load_from_disk", with_hugging_face), "ray": ("ray.put", with_ray)}


def first_batches(array):
    """Return the seconds from Enter to the first batch, and without the import of numpy and the start of Python, of some runs."""
    whole, own = [], []
    for run in range(RUNS + 1):
        began = time.clock_gettime(time.CLOCK_MONOTONIC)
        said = subprocess.run([sys.executable, "-c", FIRST, array], check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE}).stdout.split()
        if run:  # the first one reads files that are not in memory yet
            whole.append(float(said[1]) - began)
            own.append(float(said[1]) - float(said[0]))
    return whole, own


def main(name, count):
    sys.path.insert(0, PACKAGE)
    os.environ["PYTHONPATH"] = PACKAGE
    import numpy as np

    import larder

    array = larder.open(name)
    copy = os.path.join(os.environ["LARDER_BENCH_FOLDER"], "copy.npy")
    # By another process: this one touches no page, or it would share them.
    subprocess.run([sys.executable, "-c", "import sys, numpy, larder; numpy.save(sys.argv[2], larder.open(sys.argv[1]))", name, copy], check=True)
    rows = []
    for start in STARTS:
        rows.append({"start": start, "processes": count, "bytes": array.nbytes, "larder": processes(array, start, count),
                     "mmap": processes(np.load(copy, "r") if start == "fork" else Mapped(copy), start, count)})
    whole, own = first_batches(name)
    peers, absent = [], []
    for start in PEERS_STARTS:
        peers.append({"what": "np.load", "start": start, "processes": count, **processes(Loaded(copy), start, count)})
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for module, (what, measured) in PEERS.items():
        try:
            imported = importlib.import_module(module)
        except ImportError:
            absent.append(module)
            continue
        for start, sums in measured(imported, copy, count, os.path.join(os.environ["LARDER_BENCH_FOLDER"], module)):
            peers.append({"what": what, "start": start, "processes": count, **sums})
    os.remove(copy)
    print(json.dumps({"rows": rows, "firstBatchS": whole, "ownS": own, "peers": peers, "absent": absent}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
