"""Tests of larder.rows, in a store that make_store.py writes, with regions made here in the daemon's place."""

import functools
import os
import pickle
import resource
import signal
import struct
import threading
import time
import unittest
import warnings
import zlib

import numpy as np

from test_larder import StoreCase, larder, make_store, room

COUNT = 40
CALLS = "calls"


def make_region(store, region):
    """Does what the daemon does for CreateRegion."""
    number, size = 0x4000, region["bytes"]
    folder = os.path.join(store, "regions")
    with open(os.path.join(folder, f"{region['name']}@{number:016x}"), "xb") as file:
        file.write(struct.pack("<8siiqq32s", b"LARDERRE", 1, 0, number, size, region["kind"].encode()))
        file.truncate(4096 + size)


def slow(x, y):
    calls, seconds = _noted
    with open(calls, "a") as file:
        file.write(f"{y}\n")
    time.sleep(seconds)
    return 2 * x


def give(x):
    return given[0]


given = []


def failing(x):
    failure = failures.pop()
    if failure:
        raise failure
    return x[:2]


failures = []


def bound(n):
    return lambda x: x + n


class Adder:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x + self.n

    def add(self, x):
        return x + self.n


def add(n, x):
    return x + n


def double(x):
    return 2 * x


class RowsCase(StoreCase):
    def setUp(self):
        super().setUp()
        os.makedirs(os.path.join(self.store, "regions"), exist_ok=True)
        with open(os.path.join(self.store, "regions", "locks"), "wb"):
            pass
        self.enterContextOf(make_region)
        self.x = np.arange(COUNT * 3, dtype="<i4").reshape(COUNT, 3)
        make_store.write_version(self.store, "numbers", {"x": self.x, "y": np.arange(COUNT)})
        self.calls = os.path.join(self.store, CALLS)

    def enterContextOf(self, made):
        self.made = []
        module = room("_rows")
        real = module._called
        module._called = lambda store, method, region: (self.made.append(region["name"]), made(store, region))
        self.addCleanup(setattr, module, "_called", real)

    def called(self):
        with open(self.calls) as file:
            return [int(line) for line in file]

    def rows(self, seconds=0.0, version=1, **options):
        global _noted
        _noted = self.calls, seconds  # no argument, and so in no key
        return larder.rows("doubled", larder.dataset("numbers", self.store), slow, ["x", "y"], dtype="<i4", shape=3, version=version, **options)


class RowsTest(RowsCase):
    def test_what_one_has_computed_all_others_read(self):
        made, read = self.rows(), self.rows()

        np.testing.assert_array_equal(made[7], 2 * self.x[7])
        np.testing.assert_array_equal(read[[3, 7, -1, 3]], 2 * self.x[[3, 7, -1, 3]])
        np.testing.assert_array_equal(made[5:9], 2 * self.x[5:9])
        np.testing.assert_array_equal(read[self.x[:, 0] % 2 == 0], 2 * self.x[::2])
        np.testing.assert_array_equal(np.asarray(made), 2 * self.x)

        self.assertEqual(sorted(self.called()), list(range(COUNT)))
        self.assertEqual((made.computed + read.computed, read.published, len(self.made)), (COUNT, COUNT, 1))
        self.assertTrue(made[7].flags.writeable)
        self.assertEqual((len(made), made.shape, made.ndim, made[[]].shape), (COUNT, (COUNT, 3), 2, (0, 3)))

    def test_a_single_row_is_the_one_of_a_batch_computed_read_or_damaged(self):
        for function, array, shape in (lambda x: x, "x", 3), (lambda y: y, "y", ()):
            made = larder.rows("single", larder.dataset("numbers", self.store), function, array, dtype="<i8", shape=shape, version=1)
            made[::2]
            made._data[4] += 1
            others = [larder.rows("single", larder.dataset("numbers", self.store), function, array, dtype="<i8", shape=shape, version=1) for _ in "ab"]
            for row in np.int64(7), np.uint8(3), -1, 3, 0, 2, 2, -COUNT:
                single, expected = others[0][row], others[1].take([row])[0]
                np.testing.assert_array_equal(single, expected)
                self.assertEqual((type(single), single.dtype, single.flags.writeable), (type(expected), expected.dtype, expected.flags.writeable))
            with self.assertWarnsRegex(RuntimeWarning, "row=4") as warned:
                single = others[0][4]
            np.testing.assert_array_equal(single, others[0].take([4])[0])
            self.assertEqual((type(single), single.flags.writeable, warned.filename), (type(expected), expected.flags.writeable, __file__))
            self.assertEqual((others[0].damaged, others[0].computed_alone), (2, 2))

    def test_rows_go_into_memory_that_is_given(self):
        out = np.empty((2, 3), "<i4")

        self.assertIs(self.rows().take([4, 2], out), out)

        np.testing.assert_array_equal(out, 2 * self.x[[4, 2]])
        with self.assertRaisesRegex(ValueError, "out does not fit"):
            self.rows().take([1], out)
        for wrong in COUNT, -COUNT - 1, 1.5, [1.5], True, [True], "1", None:
            for take in self.rows().__getitem__, self.rows().take:
                with self.subTest(wrong), self.assertRaisesRegex(IndexError, "computed=doubled"):
                    take(wrong)

    def test_another_version_or_other_code_makes_other_rows(self):
        numbers = larder.dataset("numbers", self.store)

        def of(function, **options):
            return larder.rows("keyed", numbers, function, "x", dtype="<i4", shape=3, **options).key

        keys = {of(lambda x: x), of(lambda x: x + 1), of(lambda x: x, version=1), of(lambda x: x, version=2)}

        self.assertEqual(len(keys), 4)
        self.assertEqual(of(lambda x: x * 7, version=1), of(lambda x: x * 8, version=1))
        self.assertEqual(len(self.made), 4)
        defaults = {of(function) for k in (1, 2) for function in (lambda x, k=k: x + k, lambda x, *, k=k: x + k)}
        self.assertEqual(len(defaults | keys), 8)
        del self.made[4:]
        make_store.write_version(self.store, "copy", {"x": self.x, "y": np.arange(COUNT)})
        again = larder.rows("keyed", larder.dataset("copy", self.store), lambda x: x, "x", dtype="<i4", shape=3, version=1)
        self.assertIn(again.key, keys)  # the same data by another name
        self.assertEqual(len(self.made), 4)
        make_store.write_version(self.store, "numbers", {"x": self.x + 1})
        self.assertNotIn(larder.rows("keyed", larder.dataset("numbers", self.store), double, dtype="<i4", shape=3, version=1).key, keys)
        with self.assertRaisesRegex(larder.LarderError, "without code that could be a key"):
            larder.rows("keyed", numbers, np.abs, "x", dtype="<i4", shape=3)
        with self.assertRaisesRegex(larder.LarderError, "control character"):
            of(double, version="1\n2")

    def test_a_function_that_fails_or_returns_something_else_leaves_its_row_to_the_next(self):
        numbers = larder.dataset("numbers", self.store)
        failures[:] = [None, ZeroDivisionError("no")]
        rows = larder.rows("failing", numbers, failing, "x", dtype="<i4", shape=3, version=1)
        with self.assertRaisesRegex(larder.LarderError, "dataset=numbers arrays=x rows=failing row=0 error=ZeroDivisionError: no") as caught:
            rows[0]
        self.assertIs(type(caught.exception.__cause__), ZeroDivisionError)
        with self.assertRaisesRegex(larder.LarderError, "row=0 shape=.2,."):
            rows[0]
        self.assertEqual(rows.published, 0)
        np.testing.assert_array_equal(larder.rows("failing", numbers, double, "x", dtype="<i4", shape=3, version=1)[0], 2 * self.x[0])

    def test_what_a_function_is_bound_to_is_in_the_key_with_a_version_too(self):
        numbers = larder.dataset("numbers", self.store)

        def of(function, version=1):
            return larder.rows("keyed", numbers, function, "x", dtype="<i4", shape=3, version=version)

        plain = of(double)
        made = [of(make(n)) for make in (bound, Adder, lambda n: Adder(n).add, lambda n: functools.partial(add, n), lambda n: lambda x, n=n: x + n)
                for n in (1, 2)]
        self.assertEqual(len({rows.key for rows in (plain, *made)}), 1 + len(made) - 2)  # a version stands for the code of both methods
        for rows, n in zip(made, [1, 2] * 5):
            np.testing.assert_array_equal(rows[3], self.x[3] + n)
        self.assertEqual(plain.key, of(lambda x: x, version="1").key)  # Java's rows of this version
        for wrong in True, None.__class__, (1,):
            with self.assertRaisesRegex(larder.LarderError, "a version of computed rows is a number or a text"):
                of(double, wrong)

    def test_values_that_a_dtype_cannot_hold_are_refused(self):
        numbers = larder.dataset("numbers", self.store)

        def row(value, dtype):
            rows = larder.rows("held", numbers, give, "x", dtype=dtype, version=str(len(self.made)), shape=np.shape(value))
            given[:] = [value]
            return rows[0]

        for value, dtype in ((np.uint64(100_994), "u2"), (510, "i1"), (-1, "u1"), (np.int64(256), "u1"), ("abcdef", "U3"), (b"abc", "S2"), (1 << 63, "i8"),
                             ((1 << 24) + 1, "f4"), (70_000, "f2"), (1e300, "f4"), (1.0, "i4"), (1j, "f8"), (12, "U3"), (2, "?"), (["ab", "é"], "S2"),
                             (np.datetime64("2020-01-01T00:00:01"), "M8[D]"), (1e300 * 1j, "c8"), (np.int64(-1), "u8"), ([1.5, None], "f8")):
            with self.subTest(value=value, dtype=dtype), self.assertRaisesRegex(larder.LarderError, "rows=held row=0 .*(wanted|value)"):
                row(value, dtype)
        for value, dtype in ((255, "u1"), (np.int64(200), "u1"), (-128, "i1"), (1.1, "f4"), (True, "i4"), ("abc", "U3"), (b"ab", "U2"), ((1 << 64) - 1, "u8"),
                             (1 << 24, "f4"), (np.inf, "f2"), (np.nan, "f4"), (65_504, "f2"), (np.datetime64("NaT"), "M8[s]"), ([1, 2], ">i2"), (np.zeros(0, "i8"), "u1")):
            with self.subTest(value=value, dtype=dtype):
                found = row(value, dtype)
                np.testing.assert_array_equal(found, np.asarray(value).astype(dtype))
                self.assertEqual(found.dtype, np.dtype(dtype))
        with self.assertRaisesRegex(larder.LarderError, "row has a mask, .*rows=held row=0"):
            row(np.ma.array([1, 2], mask=[0, 1]), "i8")
        with self.assertRaisesRegex(larder.LarderError, "rows of this type cannot be shared"):
            row(1, np.dtype("i4", metadata={"a": 1}))

    def test_a_damaged_row_is_warned_of_and_computed_each_time(self):
        made = self.rows()
        made[:]
        made._data[5, 1] += 1
        rows = self.rows()

        with self.assertWarnsRegex(RuntimeWarning, "row=5.*larder verify doubled"):
            np.testing.assert_array_equal(rows[[4, 5]], 2 * self.x[[4, 5]])
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # once is enough
            np.testing.assert_array_equal(rows[5], 2 * self.x[5])

        self.assertEqual((rows.damaged, rows.computed_alone, rows.computed), (2, 2, 0))
        self.assertEqual(int(made._states[4]), 1 << 32 | zlib.crc32(2 * self.x[4]))

    def test_rows_with_padding_are_read_as_they_were_published(self):
        padded = np.dtype([("a", "u1"), ("b", "<i8")], align=True)

        def pair(y):
            row = np.frombuffer(b"\xaa" * padded.itemsize, padded).copy()[0]  # bytes of no field, other than those of a new file
            row["a"], row["b"] = y % 7, y
            return row
        for _ in range(2):  # computed, then read
            rows = larder.rows("padded", larder.dataset("numbers", self.store), pair, "y", dtype=padded, version=1)
            self.assertEqual([tuple(row) for row in rows[:].tolist()], [(y % 7, y) for y in range(COUNT)])
            self.assertEqual((rows.damaged, rows.computed_alone, rows.published), (0, 0, COUNT))

    def test_a_row_that_java_could_not_hold_is_refused(self):
        with self.assertRaisesRegex(larder.LarderError, "row is too long: .*limit=1073741824"):
            larder.rows("long", larder.dataset("numbers", self.store), double, "x", dtype="u1", shape=(1 << 30) + 1, version=1)

    def test_a_region_of_another_layout_is_refused(self):
        region = self.rows()._region
        region.memory[4096 + 70] ^= 1

        with self.assertRaisesRegex(larder.LarderError, "its rows have another key; larder regions --remove doubled"):
            self.rows()

    def test_rows_of_an_earlier_build_start_on_a_page_and_are_read(self):
        module = room("_rows")
        module._ROWS_BEHIND_PAGE, ours = 0, module._ROWS_BEHIND_PAGE
        self.addCleanup(setattr, module, "_ROWS_BEHIND_PAGE", ours)
        old = self.rows()
        old[:]
        module._ROWS_BEHIND_PAGE = ours

        found = self.rows()

        self.assertEqual(old._region.data % 4096, 0)
        self.assertEqual(found._region.data, old._region.data)
        np.testing.assert_array_equal(found[:], old[:])
        self.assertEqual(found.computed, 0)

    def test_a_region_that_is_still_being_made_is_waited_for(self):
        rows = self.rows()
        path = os.path.join(self.store, "regions", f"{rows._region.name}@{0x4000:016x}")
        with open(path, "r+b") as file:
            head = file.read(8)
            file.seek(0)
            file.write(bytes(8))

        def end():
            with open(path, "r+b") as file:
                file.write(head)
        timer = threading.Timer(0.1, end)
        began = time.monotonic()
        timer.start()

        self.rows()

        self.assertGreaterEqual(time.monotonic() - began, 0.1)
        timer.join()

    def test_threads_share_the_work(self):
        rows = self.rows(0.002)
        threads = [threading.Thread(target=rows.__getitem__, args=(slice(None),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual(sorted(self.called()), list(range(COUNT)))

    def test_it_pickles_as_what_it_was_made_with(self):
        rows = larder.rows("pickled", larder.dataset("numbers", self.store), double, "x", dtype="<i4", shape=3)
        rows[1]

        again = pickle.loads(pickle.dumps(rows))

        self.assertEqual((again.key, again.published), (rows.key, 1))


class ProcessesTest(RowsCase):
    def fork(self, work):
        child = os.fork()
        if child == 0:
            try:
                work()
                os._exit(0)
            finally:
                os._exit(1)
        return child

    def ended(self, child):
        return os.waitpid(child, 0)[1]

    def await_calls(self, count):
        while not os.path.exists(self.calls) or len(self.called()) < count:
            time.sleep(0.002)

    def test_eight_processes_that_begin_together_compute_each_row_once(self):
        rows = self.rows(0.004)  # opened before the fork, as by the workers of a DataLoader

        children = [self.fork(lambda: np.testing.assert_array_equal(rows[:], 2 * self.x)) for _ in range(8)]

        self.assertEqual([self.ended(child) for child in children], [0] * 8)
        self.assertEqual(sorted(self.called()), list(range(COUNT)))
        self.assertEqual(rows.published, COUNT)

    def test_the_row_of_a_killed_process_is_computed_by_the_next(self):
        rows = self.rows(30)
        child = self.fork(lambda: rows[3])
        self.await_calls(1)

        os.kill(child, signal.SIGKILL)
        self.ended(child)

        np.testing.assert_array_equal(self.rows(patience=60)[3], 2 * self.x[3])
        self.assertEqual(self.called(), [3, 3])

    def test_a_child_has_claims_of_its_own(self):
        region = self.rows()._region
        self.assertTrue(region.try_claim(1))

        child = self.fork(lambda: os._exit(7 if region.try_claim(2) and not region.try_claim(1) else 1))

        self.assertEqual(os.WEXITSTATUS(self.ended(child)), 7)
        self.assertTrue(region.try_claim(2))  # the child's went with it
        region.release(1)
        holder = self.fork(lambda: time.sleep(30))
        other = self.rows()._region
        self.assertTrue(other.try_claim(1))  # what the parent gave up a child does not hold
        os.kill(holder, signal.SIGKILL)
        self.ended(holder)

    def test_a_child_without_a_file_of_its_own_computes_no_row_with_the_claims_of_its_parent(self):
        rows = self.rows()
        self.assertTrue(rows._region.try_claim(1))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
        try:
            child = self.fork(lambda: self.assertRaisesRegex(larder.LarderError, "this forked process could not open the file of its locks: name=", rows.take, [2]))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

        self.assertEqual(self.ended(child), 0)
        self.assertFalse(self.rows()._region.try_claim(1))
        rows._region.release(1)

    def test_a_stopped_process_is_waited_for_as_long_as_patience_says(self):
        rows = self.rows(0.3)
        child = self.fork(lambda: rows[3])
        self.await_calls(1)
        os.kill(child, signal.SIGSTOP)
        impatient = self.rows(patience=0.1)

        began = time.monotonic()
        np.testing.assert_array_equal(impatient[[2, 3]], 2 * self.x[[2, 3]])
        first = time.monotonic() - began
        impatient[3]  # nobody waits twice

        self.assertEqual((impatient.computed, impatient.computed_alone, impatient.published), (1, 2, 1))
        self.assertGreaterEqual(first, 0.1)
        os.kill(child, signal.SIGCONT)
        self.assertEqual(self.ended(child), 0)
        self.assertEqual(impatient.published, 2)
        np.testing.assert_array_equal(impatient[3], 2 * self.x[3])

    def test_killed_processes_leave_no_wrong_row_and_none_that_nobody_can_compute(self):
        moments = np.random.default_rng(5)
        for _ in range(10):
            children = [self.fork(lambda: self.rows(0.002)[:]) for _ in range(2)]
            time.sleep(moments.uniform(0.005, 0.06))
            for child in children:
                os.kill(child, signal.SIGKILL)
                self.ended(child)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                rows = self.rows(patience=60)
                np.testing.assert_array_equal(rows[:], 2 * self.x)
            self.assertEqual((rows.published, rows.computed_alone), (COUNT, 0))
            rows._states[:] = 0


if __name__ == "__main__":
    unittest.main()
