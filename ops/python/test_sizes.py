"""Tests at the sizes at which code takes another path: files that are mapped aligned, offsets beyond 4 GiB, no rows, no dimensions, small limits.

Large files are sparse: they take the memory of the pages that a test touches.

    python3 -W error -m unittest discover -s ops/python
"""

import contextlib
import importlib.util
import json
import os
import pickle
import subprocess
import sys
import unittest
from unittest import mock
import warnings

import numpy as np

import make_store
import test_batches
from test_larder import StoreCase, larder, room, same
from test_rows import RowsCase

HUGE_PAGE = 2 << 20
BEYOND = 5 << 30  # bytes: more than offsets of 32 bits reach

if importlib.util.find_spec("torch") is not None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
else:
    torch = None


def stretch(folder, name, shape, values):
    """Give an array of a version another shape, in a sparse file with values at some indices."""
    path, manifest = os.path.join(folder, name + ".npy"), os.path.join(folder, "manifest.json")
    with open(manifest, encoding="utf-8") as file:
        described = json.load(file)
    entry = next(entry for entry in described["arrays"] if entry["name"] == name)
    dtype = np.dtype(entry["dtype"])
    header = make_store._image(np.broadcast_to(np.zeros((), dtype), shape), 0, 4096)
    entry.update(offset=len(header), shape=shape, bytes=int(np.prod(shape)) * dtype.itemsize)
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + entry["bytes"])
        for index, value in values.items():
            value = np.asarray(value, dtype)
            file.seek(len(header) + int(np.ravel_multi_index(index, shape)) * dtype.itemsize)
            file.write(value.tobytes())
    make_store.write_manifest(folder, described)


def numbered(shape, dtype="<i4"):
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)


class AlignedTest(StoreCase):
    """Files of just less than 2 MiB, and of just as much."""

    ROWS = 1024
    SHAPES = {"less": (ROWS, 509), "equal": (ROWS, 511), "more": (ROWS, 1500)}  # of 4 bytes each, behind a header of a page

    def setUp(self):
        super().setUp()
        self.arrays = {name: numbered(shape) for name, shape in self.SHAPES.items()}
        self.folder = self.publish(arrays={**self.arrays, "row": np.arange(self.ROWS)}, checksums=False)

    def test_the_sizes_are_on_both_sides(self):
        sizes = {name: os.path.getsize(os.path.join(self.folder, name + ".npy")) for name in self.arrays}
        self.assertLess(sizes["less"], HUGE_PAGE)
        self.assertGreaterEqual(sizes["equal"], HUGE_PAGE)

    def test_arrays_and_their_private_copies_are_what_was_written(self):
        for packed in False, True:
            self.publish("d", self.arrays, packed=packed, checksums=False)
            d = larder.dataset("d")
            for name, expected in self.arrays.items():
                same(self, d[name], expected)
                part = d[name][900:, ::7]
                np.testing.assert_array_equal(pickle.loads(pickle.dumps(part)), expected[900:, ::7])
                private = room("_arrays")._private(part)
                private += 1
                np.testing.assert_array_equal(private, expected[900:, ::7] + 1)
                np.testing.assert_array_equal(part, expected[900:, ::7])

    def test_loaders_gather_the_rows(self):
        for shuffle in None, 3:
            for batch in larder.Loader("d", batch_size=100, shuffle=shuffle):
                for name, expected in self.arrays.items():
                    np.testing.assert_array_equal(batch[name], expected[batch["row"]])

    @unittest.skipUnless(torch, "needs torch")
    def test_torch_rows_and_tensors_are_those_rows(self):
        rows = larder.torch.Rows("d", *self.arrays)
        for picked in 1000, [1000, 3]:
            for found, expected in zip(rows[picked], self.arrays.values()):
                np.testing.assert_array_equal(found.numpy(), expected[picked])
        for name, expected in self.arrays.items():
            for private in False, True:
                np.testing.assert_array_equal(larder.torch.tensor(larder.open("d/" + name)[5:], private=private).numpy(), expected[5:])

    def test_columns_are_read_from_such_files(self):
        texts = [f"{i:09}" for i in range(300_000)]
        columns = {"t": make_store.strings(texts), "i": make_store.texts_index(texts[:200_000])}
        self.publish("columns", {}, columns, checksums=False)
        d = larder.dataset("columns")
        self.assertEqual((list(d["t"]), d["i"]["000123456"]), (texts, 123_456))
        self.assertEqual(d["i"].rows(texts[199_000:200_000]).tolist(), list(range(199_000, 200_000)))


class AlignedRingTest(test_batches.BatchesTest):
    """All tests of rings again, with one of more than 2 MiB."""

    def setUp(self):
        super().setUp()
        patched = mock.patch.object(test_batches, "SLOT_BYTES", 1 << 20)
        patched.start()
        self.addCleanup(patched.stop)

    def test_the_ring_is_that_large(self):
        self.producer(1)
        self.assertGreater(os.path.getsize(os.path.join(self.store, "rings", "run1", "ring")), HUGE_PAGE)


class AlignedRowsTest(RowsCase):
    def test_computed_rows_are_the_same_in_a_region_of_gigabytes(self):
        count, length = 1_200_000, 4096  # bytes of a row
        make_store.write_version(self.store, "many", {"n": np.arange(count)}, checksums=False)

        def opened():
            return larder.rows("wide", "many", lambda n: np.full(length // 8, n), "n", dtype="<i8", shape=length // 8, version=1)

        made, read = opened(), opened()
        picked = [0, 511, 600_000, count - 1]
        for rows in made, read:
            np.testing.assert_array_equal(rows[picked][:, [0, -1]], [[row, row] for row in picked])
            np.testing.assert_array_equal(rows[count - 1], np.full(length // 8, count - 1))
        self.assertEqual((made.computed, read.computed, read.published), (4, 0, 4))
        self.assertGreater(len(made._region.memory), BEYOND - (1 << 30))


class BeyondTest(StoreCase):
    """Offsets that 32 bits cannot hold."""

    ROWS, WIDTH = 5 << 20, 1024  # of a byte

    def setUp(self):
        super().setUp()
        self.last = self.ROWS - 1
        self.marks = {3: 1, 4_194_303: 2, 4_194_305: 3, self.last: 4}  # rows on both sides of 4 GiB
        stretch(self.publish(arrays={"x": np.zeros(1, "u1")}), "x", (self.ROWS, self.WIDTH),
                {(row, self.WIDTH - 1): mark for row, mark in self.marks.items()})

    def test_views_beyond_are_read_and_pickle(self):
        x = larder.open("d/x")
        for view in x, x[3:], x[4_000_000:], x[::-1]:
            again = pickle.loads(pickle.dumps(view))
            for row, mark in self.marks.items():
                if view is x:
                    self.assertEqual((x[row, -1], again[row, -1]), (mark, mark))
            self.assertEqual((again[-1].max(), again[0].max()), (view[-1].max(), view[0].max()))
        self.assertEqual(x[self.last].offset, x.offset + self.last * self.WIDTH)
        self.assertEqual(x[list(self.marks)].max(1).tolist(), [1, 2, 3, 4])

    def test_loaders_gather_rows_beyond(self):
        order = room("_order")._shuffled(self.ROWS, 3)
        world = self.ROWS // 4
        for shuffle in None, 3:  # a rank that visits the last row, and three others
            place = self.last if shuffle is None else int(np.flatnonzero(order == self.last)[0])
            loader = larder.Loader("d", batch_size=4, shuffle=shuffle, shard=(place % world, world), threads=0)
            batch = next(iter(loader))
            rows = np.arange(place % world, self.ROWS, world)
            np.testing.assert_array_equal(batch["x"][:, -1], [self.marks.get(int(row), 0) for row in (rows if shuffle is None else order[rows])])
            self.assertIn(4, batch["x"][:, -1])

    @unittest.skipUnless(torch, "needs torch")
    def test_torch_rows_are_read_beyond(self):
        rows = larder.torch.Rows("d", "x")
        for row, mark in self.marks.items():
            self.assertEqual((rows[row][0].max(), rows[[row]][0].max()), (mark, mark))

    def test_rows_of_columns_are_read_beyond(self):
        end = BEYOND - 1
        parts = make_store.strings(["a", "", "b"])
        parts["strings_offsets"][:] = [0, 1, end - 1, end]
        folder = self.publish("texts", {}, {"t": parts})
        stretch(os.path.join(folder), "t/bytes", (end,), {(0,): ord("a"), (end - 1,): ord("z")})
        texts = larder.dataset("texts")["t"]
        self.assertEqual((texts[0], texts[2], texts[-1]), ("a", "z", "z"))


class NothingTest(StoreCase):
    def test_datasets_without_rows_are_read_by_all(self):
        none = {"strings": make_store.strings([]), "bytes": make_store.raw_bytes([]), "index": make_store.texts_index([]), "numbers": make_store.numbers_index([])}
        none["ragged"] = {"ragged_values": np.empty(0), "ragged_offsets": np.zeros(1, "<i8"), "ragged_shapes": np.empty((0, 2), "<i8")}
        self.publish(arrays={"x": np.empty((0, 3)), "wide": np.empty((0, 5000))}, columns=none)
        d = larder.dataset("d")
        for name in none:
            self.assertEqual((len(d[name]), list(d[name])), (0, []))
        for name in "strings", "bytes", "ragged":
            self.assertEqual((d[name][:], d[name][[]]), ([], []))
            with self.assertRaisesRegex(IndexError, "row out of range"):
                d[name][0]
        self.assertEqual((d["index"].rows([]).tolist(), d["numbers"].get(3), list(d["x"])), ([], None, []))
        for settings in {}, {"shuffle": 1}, {"shuffle": 1, "shard": (1, 3)}, {"tail": "exact", "shard": (0, 2)}, {"drop_last": True, "threads": 2}:
            loader = larder.Loader(d, ["x", "wide"], batch_size=2, **settings)
            self.assertEqual((len(loader), list(loader), list(loader), loader.state_dict()["consumed"]), (0, [], [], 0))
        if torch:
            rows = larder.torch.Rows(d, "x", "wide")
            self.assertEqual((len(rows), list(torch.utils.data.DataLoader(rows, 2)), tuple(rows[:][1].shape)), (0, [], (0, 5000)))

    def test_batches_larger_than_the_data_and_rows_of_no_bytes(self):
        self.publish(arrays={"x": np.arange(3), "none": np.empty((3, 0))})
        batch, = larder.Loader("d", batch_size=1000)
        self.assertEqual((batch["x"].tolist(), batch["none"].shape, batch.size), ([0, 1, 2], (3, 0), 3))

    def test_arrays_without_dimensions_are_read_and_have_no_rows(self):
        self.publish(arrays={"x": np.array(5.5)})
        self.assertEqual(larder.open("d/x"), 5.5)
        takers = [lambda: larder.Loader("d", batch_size=1), lambda: larder.rows("r", "d", lambda x: x, dtype="f8", version=1)]
        for take in takers + ([lambda: larder.torch.Rows("d")] if torch else []):
            with self.assertRaisesRegex((ValueError, larder.LarderError), "an array without rows: .*array=x"):
                take()


class NoRowsTest(RowsCase):
    def test_computed_rows_of_no_rows_are_none(self):
        make_store.write_version(self.store, "none", {"x": np.empty((0, 3))})
        rows = larder.rows("r", "none", lambda x: x, dtype="f8", shape=3, version=1)
        self.assertEqual((len(rows), rows[:].shape, rows[[]].shape, rows.published), (0, (0, 3), (0, 3), 0))


class LimitsTest(StoreCase):
    """Limits that are too large to be reached here, made small."""

    def test_many_keys_are_found_in_parts_as_one_by_one(self):
        texts = [f"key {i}" for i in range(500)]
        self.publish(columns={"t": make_store.texts_index(texts), "n": make_store.numbers_index(list(range(0, 1000, 2)))})
        d = larder.dataset("d")
        wanted = {"t": [*texts[::-1], "absent", "", *texts[:77]], "n": [*range(999, -2, -1)]}
        expected = {name: [d[name].get(key, -1) for key in keys] for name, keys in wanted.items()}
        for together, worth, few in (50, 10, 2), (7, 7, 0), (578, 1, 64), (577, 1000, 64):
            with mock.patch.multiple(room("_columns"), _TOGETHER=together, _WORTH_IT=worth, _FEW=few):
                for name, keys in wanted.items():
                    for given in keys, np.array(keys):
                        self.assertEqual(d[name].rows(given, default=-1).tolist(), expected[name])

    def test_orders_are_the_same_however_they_are_kept(self):
        self.publish(arrays={"y": np.arange(1000)})

        def order():
            return [batch["y"].tolist() for batch in larder.Loader("d", batch_size=64, shuffle=7, shard=(1, 3)).epoch(2)]

        expected = order()
        for module, limits in ("_order", {"_MOST_WIDENED": 999}), ("_loader", {"_LEAST_LAID_AHEAD": 1}), ("_loader", {"_LEAST_LAID_AHEAD": 1, "_MOST_LAID_AHEAD": 999}):
            with mock.patch.multiple(room(module), **limits):
                self.assertEqual(order(), expected)

    def test_more_rows_are_drawn_with_64_bits_and_too_many_are_refused(self):
        order = room("_order")
        with mock.patch.object(order, "_WIDE_DRAWS_FROM", 1000):
            np.testing.assert_array_equal(order._shuffled(1000, 5), order._swapped(1000, np.random.RandomState(5), True))
            np.testing.assert_array_equal(order._shuffled(999, 5), order._swapped(999, np.random.RandomState(5), False))
        with self.assertRaisesRegex(larder.LarderError, "too many rows to shuffle: rows=2147483640 most=2147483639"):
            order._shuffled(2**31 - 8, 1)

    def test_more_files_than_a_process_may_open_raise_its_limit_or_are_refused_in_words(self):
        self.publish(arrays={f"a{i}": np.full(3, i) for i in range(60)})
        code = """if True:
            import resource, sys
            sys.path[:0] = sys.argv[3:]
            import larder
            d = larder.dataset("d", sys.argv[1])
            resource.setrlimit(resource.RLIMIT_NOFILE, (30, int(sys.argv[2])))
            arrays = [d[name] for name in d]
            print(sum(int(a[0]) for a in arrays))"""

        def run(limit):
            return subprocess.run([sys.executable, "-W", "error", "-c", code, self.store, str(limit), *sys.path[:2]], capture_output=True, text=True)

        done = run(100)
        self.assertEqual((done.stdout, done.stderr), (f"{sum(range(60))}\n", ""))
        done = run(30)
        if room("_memory")._UNTRACKED:
            self.assertEqual((done.stdout, done.stderr), (f"{sum(range(60))}\n", ""))
        else:
            self.assertIn("too many open files: limit=30; raise the limit (ulimit -n)", done.stderr)

    def test_a_kernel_without_what_huge_pages_need_maps_files_all_the_same(self):
        x = numbered((1024, 1500))
        self.publish(arrays={"x": x}, checksums=False)
        memory = room("_memory")
        with mock.patch.object(memory, "_libc", None):
            np.testing.assert_array_equal(larder.open("d/x"), x)
        refusing = mock.Mock()
        refusing.mmap.return_value = 2**64 - 1  # MAP_FAILED
        with mock.patch.object(memory, "_libc", refusing):
            self.publish(arrays={"x": x + 1}, checksums=False)
            np.testing.assert_array_equal(larder.open("d/x"), x + 1)
        self.assertEqual(refusing.mmap.call_count, 1)

    def test_a_kernel_that_refuses_huge_pages_is_asked_no_more_than_some_times(self):
        memory = room("_memory")
        with contextlib.ExitStack() as stack:
            refuse = stack.enter_context(mock.patch.object(memory, "_populate_huge", return_value=False))
            with open(os.path.join(self.store, "new"), "w+b") as file:
                memory._reserve_huge(file.fileno(), 20 * HUGE_PAGE + 5)
                self.assertEqual((refuse.call_count, os.path.getsize(file.name)), (memory._MOST_REFUSALS, 20 * HUGE_PAGE + 5))
                memory._reserve_huge(file.fileno(), HUGE_PAGE - 1)
                self.assertEqual(refuse.call_count, memory._MOST_REFUSALS)


if __name__ == "__main__":
    unittest.main()
