#!/usr/bin/env python3
"""Measures look-ups in Python, in turns: of texts in an index next to a dict, and of single rows next to the same by hand.

usage: python_look_ups.py ROUNDS    prints JSON
"""
import importlib.util
import json
import os
import pickle
import random
import sys
import tempfile
import time

import harness

KEYS, LOOK_UPS = 10**6, 200_000
ROWS, ORDER = 20_000, 10**6


def main(rounds):
    harness.import_larder()
    import numpy as np

    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="larder-look-ups-") as store:
        torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
        print(json.dumps({"python": sys.version.split()[0], "numpy": np.__version__, "torch": torch and torch.__version__, "keys": KEYS, "lookUps": LOOK_UPS,
                          "us": index_us(store, rounds), "rows": [*rows_ns(store, rounds, np, torch)]}))


def index_us(store, rounds):
    """Return the microseconds of a look-up by each way."""
    import larder
    import make_store

    keys = [f"scene{i // 100:06d}_{i % 100:02d}" for i in range(KEYS)]
    make_store.write_version(store, "d", {}, {"scene": make_store.texts_index(keys)}, checksums=False)
    index, table = larder.dataset("d", store).index("scene"), {key: row for row, key in enumerate(keys)}
    ways = {"dict": lambda some: [table[key] for key in some], "index": lambda some: [index[key] for key in some], "rows": index.rows}
    measured = {key: [] for key in ways}
    rng = random.Random(7)
    for _ in range(rounds + 1):
        some = rng.choices(keys, k=LOOK_UPS)
        for key, way in ways.items():
            given = [text.encode().decode() for text in some]  # new texts, whose hashes are not cached
            began = time.perf_counter()
            found = way(given)
            measured[key].append(1e6 * (time.perf_counter() - began) / LOOK_UPS)
            if [*map(int, found[:9])] != [table[text] for text in some[:9]]:
                raise RuntimeError(f"wrong rows: way={key}")
    return {key: us[1:] for key, us in measured.items()}


def rows_ns(store, rounds, np, torch):
    """Yield rows with the nanoseconds of processor time of one row, ours and by hand."""
    made = [*row_ways(store, np, torch)]
    measured = [([], []) for _ in made]
    for _ in range(rounds + 1):
        for (_, _, count, *ways), times in zip(made, measured):
            for way, ns in zip(ways, times):
                began = time.thread_time()
                way()
                ns.append(1e9 * (time.thread_time() - began) / count)
    for (what, hand, *_), (ours, theirs) in zip(made, measured):
        yield {"what": what, "hand": hand, "ns": ours[1:], "handNs": theirs[1:]}


def row_ways(store, np, torch):
    """Yield (description, description of the peer, number of rows, ours, by hand)."""
    import larder

    x, numbers = write_rows(store, np)
    d, some = larder.dataset("rows", store), random.Random(7).sample(range(ROWS), ROWS // 4)
    path = os.path.join(store, "x.npy")
    np.save(path, x)
    mapped = np.load(path, mmap_mode="r")
    yield "stored[i] of (n, 784) float32", 'np.load(mmap_mode="r")[i]', len(some), each(d["x"], some), each(mapped, some)
    yield "stored[i] of (n, 784) float32", "array[i]", len(some), each(d["x"], some), each(x, some)
    yield "stored[i] of (n,) int64", "array[i]", len(some), each(d["n"], some), each(numbers, some)
    yield "for row in stored, (n, 784) float32", "for row in array", ROWS, loop(d["x"]), loop(x)
    yield "for text in strings, ASCII", "slices of the decoded bytes", ROWS, loop(d["texts"]), texts_by_hand(d["texts"])
    yield "for text in strings, others", "slices of the bytes, decoded", ROWS, loop(d["others"]), others_by_hand(d["others"])
    yield "for row in ragged, (k,) int64", "slices of the values", ROWS, loop(d["tokens"]), slices_by_hand(d["tokens"].values.view(np.ndarray), d["tokens"])
    yield "for row in ragged, (k, 4) float64", "slices of the values, reshaped", ROWS, loop(d["boxes"]), shapes_by_hand(np, d["boxes"])
    yield "for row in bytes", "slices of a memoryview", ROWS, loop(d["files"]), slices_by_hand(memoryview(d["files"].values), d["files"])
    records = larder.Records(larder.dataset("records", store))
    pickles = [bytes(row) for row in larder.dataset("records", store)["pickles"]]
    yield "records[i]", "pickle.loads(row)", len(some), each(records, some), lambda: [None for i in some if pickle.loads(pickles[i]) is None]
    computed, model = computed_rows(store, d, np), x[:, :3].copy()
    yield "computed[i], (3,) float32, ready", "array[i].copy()", len(some), each(computed, some), lambda: [None for i in some if model[i].copy() is None]
    order = sys.modules["larder._order"]
    if torch is None:
        yield "the order of an epoch", "", ORDER, lambda: order._swapped(ORDER, np.random.RandomState(1), False), lambda: None
        return
    torch.set_num_threads(1)
    importlib.import_module("larder.torch")
    for name, array, shape in ("short", x[:, :12].copy(), "(12,)"), ("x", x, "(784,)"):  # a sample is a copy here, and a view there
        tensors = torch.utils.data.TensorDataset(torch.from_numpy(array), torch.from_numpy(numbers))
        yield (f"larder.torch.Rows[i] of {shape} float32 and () int64", "TensorDataset[i]", len(some), each(larder.torch.Rows(d, name, "n"), some),
               each(tensors, some))
    yield ("the order of an epoch without torch", "torch.randperm", ORDER, lambda: order._swapped(ORDER, np.random.RandomState(1), False),
           lambda: torch.randperm(ORDER, generator=torch.Generator().manual_seed(1), dtype=torch.int32))


def write_rows(store, np):
    """Write a dataset of arrays and columns, and one of records. Return the two arrays."""
    import make_store

    rng = np.random.default_rng(7)
    x, numbers = rng.random((ROWS, 784), np.float32), np.arange(ROWS)
    texts = ["".join(map(chr, rng.integers(97, 123, length))) for length in rng.integers(5, 60, ROWS)]
    tokens, boxes = [np.arange(length) for length in rng.integers(0, 40, ROWS)], [rng.random((count, 4)) for count in rng.integers(0, 12, ROWS)]
    columns = {"texts": make_store.strings(texts), "others": make_store.strings([text.replace("a", "ä") for text in texts]),
               "tokens": make_store.ragged(tokens), "boxes": make_store.ragged(boxes), "files": make_store.raw_bytes([text.encode() for text in texts])}
    make_store.write_version(store, "rows", {"x": x, "short": x[:, :12].copy(), "n": numbers}, columns, checksums=False)
    rows = [pickle.dumps({"file": f"{i}.jpg", "id": i, "boxes": [[1.5, 2, 3, i]], "labels": [1, 2]}, 5) for i in range(ROWS)]
    make_store.write_version(store, "records", {}, {"pickles": make_store.raw_bytes(rows)}, checksums=False)
    return x, numbers


def computed_rows(store, dataset, np):
    """Open computed rows, all of them computed. Their region is made here in the daemon's place."""
    import larder
    import test_rows

    os.makedirs(os.path.join(store, "regions"))
    with open(os.path.join(store, "regions", "locks"), "wb"):
        pass
    sys.modules["larder._rows"]._called = lambda store, method, region: test_rows.make_region(store, region)
    found = larder.rows("computed", dataset, lambda row: row[:3], "x", dtype="f4", shape=3, version=1)
    found[:]
    return found


def each(rows, some):
    def look_up():
        for i in some:
            rows[i]
    return look_up


def loop(rows):
    def read():
        for _ in rows:
            pass
    return read


def texts_by_hand(column):
    def read():
        text, ends = column.values.tobytes().decode(), column.offsets.tolist()
        for start, end in zip(ends, ends[1:]):
            text[start:end]
    return read


def others_by_hand(column):
    def read():
        encoded, ends = column.values.tobytes(), column.offsets.tolist()
        for start, end in zip(ends, ends[1:]):
            encoded[start:end].decode()
    return read


def slices_by_hand(values, column):
    def read():
        ends = column.offsets.tolist()
        for start, end in zip(ends, ends[1:]):
            values[start:end]
    return read


def shapes_by_hand(np, column):
    values = column.values.view(np.ndarray)

    def read():
        ends = column.offsets.tolist()
        for start, end, shape in zip(ends, ends[1:], column.shapes.tolist()):
            values[start:end].reshape(shape)
    return read


if __name__ == "__main__":
    main(int(sys.argv[1]))
