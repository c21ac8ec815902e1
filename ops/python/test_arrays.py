"""Tests of what numpy makes of the arrays of a store.

    python3 -W error -m unittest discover -s ops/python
"""

import contextlib
import copy
import gc
import mmap
import operator
import os
import pickle
import tempfile
import unittest
from unittest import mock
import warnings

import numpy as np

from test_larder import StoreCase, larder, room, same

X = np.arange(60.0).reshape(3, 4, 5) % 17 / 4
ARRAYS = {"x": X, "y": X[::-1] + 1, "i": np.arange(12).reshape(3, 4), "c": X + 1j * X, "b": X > 2, "big": X.astype(">f8"),
          "s": np.array([b"b", b"a", b"cc"]), "r": np.array([(1, 2.5), (3, 4.5)], [("n", "<i4"), ("v", "<f8")]),
          "f": np.asfortranarray(X[0]), "e": np.empty((5, 0)), "o": np.array(2.5), "m": np.eye(4) * 3 + X[0, :, :4]}

# What makes memory of its own: each takes the arrays of a store as `a`, and gives one array or several.
COMPUTED = {
    # operators and ufuncs
    "x + 1": lambda a: a.x + 1,
    "1 - x": lambda a: 1 - a.x,
    "x * y": lambda a: a.x * a.y,
    "-x": lambda a: -a.x,
    "abs(x)": lambda a: abs(a.x),
    "x ** 2": lambda a: a.x ** 2,
    "divmod(x, 2)": lambda a: divmod(a.x, 2),
    "x > 1": lambda a: a.x > 1,
    "~b": lambda a: ~a.b,
    "m @ m": lambda a: a.m @ a.m,
    "x / 255 as f4": lambda a: np.divide(a.x, 255, dtype="f4"),
    "np.sqrt": lambda a: np.sqrt(a.x),
    "np.modf": lambda a: np.modf(a.x),
    "np.add(out=)": lambda a: np.add(a.x, a.y, out=np.empty(a.x.shape)),
    "np.divmod(out=, one None)": lambda a: np.divmod(a.x, 2, out=(np.empty(a.x.shape), None)),
    "np.add(where=)": lambda a: np.add(a.x, 1, where=a.b, out=np.zeros(a.x.shape)),
    "np.add(where=stored mask, out=copy)": lambda a: np.add(1, 1, where=a.b, out=np.zeros(a.x.shape)),
    "np.add.reduce": lambda a: np.add.reduce(a.x),
    "np.add.reduce(where=)": lambda a: np.add.reduce(a.x, where=a.b),
    "np.add.accumulate": lambda a: np.add.accumulate(a.x),
    "np.add.reduceat": lambda a: np.add.reduceat(a.x, [0, 2]),
    "np.multiply.outer": lambda a: np.multiply.outer(a.i[0], a.i[1]),
    "np.frompyfunc": lambda a: np.frompyfunc(lambda v: v, 1, 1)(a.i),
    # methods
    "argmax": lambda a: a.x.argmax(0),
    "argpartition": lambda a: a.x.argpartition(1),
    "argsort": lambda a: a.x.argsort(),
    "all(axis)": lambda a: a.b.all(0),
    "any(axis)": lambda a: a.b.any(0),
    "astype": lambda a: a.x.astype(np.float32),
    "astype of its own dtype": lambda a: a.x.astype(a.x.dtype),
    "byteswap": lambda a: a.x.byteswap(),
    "choose": lambda a: (a.i % 2).choose([a.i, -a.i]),
    "stored.choose": lambda a: a.b.choose([a.x, -a.x]),
    "clip": lambda a: a.x.clip(1, 2),
    "compress": lambda a: a.x.compress([True, False, True], 0),
    "conj": lambda a: a.c.conj(),
    "copy": lambda a: a.x.copy(),
    "cumprod": lambda a: a.x.cumprod(),
    "cumsum": lambda a: a.x.cumsum(1),
    "dot": lambda a: a.m.dot(a.m),
    "plain.dot(stored)": lambda a: np.eye(4).dot(a.m),
    "flatten": lambda a: a.x.flatten(),
    "flat[slice]": lambda a: a.x.flat[3:30],
    "flat[list]": lambda a: a.x.flat[[3, 30]],
    "flat.copy": lambda a: a.x.flat.copy(),
    "imag of reals + 0": lambda a: a.x.imag + 0,
    "max": lambda a: a.x.max(0),
    "mean": lambda a: a.x.mean((0, 1)),
    "mean(where=)": lambda a: a.x.mean(1, where=a.b | True),
    "min(keepdims)": lambda a: a.x.min(keepdims=True),
    "nonzero": lambda a: a.x.nonzero(),
    "prod": lambda a: a.x.prod(2),
    "ravel of what is not contiguous": lambda a: a.x[:, 1:].ravel(),
    "repeat": lambda a: a.x.repeat(2, 0),
    "reshape of what is not contiguous": lambda a: a.x.T.reshape(-1),
    "round": lambda a: a.x.round(1),
    "searchsorted": lambda a: a.i[0].searchsorted([1, 2]),
    "std": lambda a: a.x.std(0),
    "sum": lambda a: a.x.sum(0),
    "sum(out=)": lambda a: a.x.sum(0, out=np.empty((4, 5))),
    "take": lambda a: a.x.take([0, 2], 0),
    "take(out=)": lambda a: a.x.take([0, 2], 0, out=np.empty((2, 4, 5)), mode="clip"),
    "plain.take(stored)": lambda a: np.arange(20).take(a.i),
    "trace": lambda a: a.x.trace(),
    "var": lambda a: a.x.var(1),
    "x[[0, 2]]": lambda a: a.x[[0, 2]],
    "x[array]": lambda a: a.x[np.array([0, 2])],
    "x[stored array]": lambda a: a.x.ravel()[a.i],
    "x[mask]": lambda a: a.x[a.x > 2],
    "x[stored mask]": lambda a: a.x[a.b],
    "x[:, [0, 1]]": lambda a: a.x[:, [0, 1]],
    "copy.copy": lambda a: copy.copy(a.x),
    "copy.deepcopy": lambda a: copy.deepcopy({"x": [a.x]})["x"][0],
    # functions
    "np.append": lambda a: np.append(a.x, a.y),
    "np.apply_along_axis": lambda a: np.apply_along_axis(np.sort, 0, a.x),
    "np.array": lambda a: np.array(a.x),
    "np.array of a list": lambda a: np.array([a.x, a.y]),
    "np.around": lambda a: np.around(a.x, 1),
    "np.bincount": lambda a: np.bincount(a.i[0]),
    "np.block": lambda a: np.block([[a.i, a.i], [a.i, a.i]]),
    "np.choose": lambda a: np.choose(a.b, [a.x, a.y]),
    "np.clip": lambda a: np.clip(a.x, 1, 2),
    "np.concatenate": lambda a: np.concatenate([a.x, a.y]),
    "np.concatenate(out=)": lambda a: np.concatenate((a.i, a.i), out=np.empty((6, 4), a.i.dtype)),
    "np.copy": lambda a: np.copy(a.x),
    "np.copy(subok=True)": lambda a: np.copy(a.x, subok=True),
    "np.cov": lambda a: np.cov(a.m),
    "np.cumsum": lambda a: np.cumsum(a.x, 0),
    "np.delete": lambda a: np.delete(a.x, 1, 0),
    "np.diff": lambda a: np.diff(a.x),
    "np.dot": lambda a: np.dot(a.m, a.m),
    "np.einsum": lambda a: np.einsum("ij,jk->ik", a.m, a.m),
    "np.empty_like": lambda a: np.empty_like(a.x),
    "np.fft.fft": lambda a: np.fft.fft(a.x),
    "np.full_like": lambda a: np.full_like(a.x, 3),
    "np.gradient": lambda a: np.gradient(a.x),
    "np.hstack": lambda a: np.hstack((a.x, a.y)),
    "np.insert": lambda a: np.insert(a.x, 0, 1, 0),
    "np.interp": lambda a: np.interp(a.x, a.i[0], a.i[0]),
    "np.isin": lambda a: np.isin(a.i, [1, 2]),
    "np.kron": lambda a: np.kron(a.m, a.m),
    "np.linalg.inv": lambda a: np.linalg.inv(a.m),
    "np.linalg.svd": lambda a: tuple(np.linalg.svd(a.m)),
    "np.matmul": lambda a: np.matmul(a.m, a.m),
    "np.mean": lambda a: np.mean(a.x, axis=0),
    "np.median": lambda a: np.median(a.x, 0),
    "np.nan_to_num": lambda a: np.nan_to_num(a.x),
    "np.ones_like": lambda a: np.ones_like(a.x),
    "np.pad": lambda a: np.pad(a.x, 1),
    "np.partition": lambda a: np.partition(a.x, 1),
    "np.percentile": lambda a: np.percentile(a.x, [5, 95], axis=0),
    "np.quantile(keepdims)": lambda a: np.quantile(a.x, 0.5, axis=0, keepdims=True),
    "np.r_": lambda a: np.r_[a.i, a.i],
    "np.repeat": lambda a: np.repeat(a.x, 2),
    "np.require": lambda a: np.require(a.x, requirements=["W", "O"]),
    "np.roll": lambda a: np.roll(a.x, 1, 0),
    "np.round": lambda a: np.round(a.x),
    "np.searchsorted": lambda a: np.searchsorted(a.i[0], a.i),
    "np.select": lambda a: np.select([a.b], [a.x], 0),
    "np.sort": lambda a: np.sort(a.x, 0),
    "np.sort of texts": lambda a: np.sort(a.s),
    "np.sort of records": lambda a: np.sort(a.r),
    "np.stack": lambda a: np.stack([a.x, a.y]),
    "np.take": lambda a: np.take(a.x, [0, 2], axis=0),
    "np.take_along_axis": lambda a: np.take_along_axis(a.x, a.x.argsort(0), 0),
    "np.tensordot": lambda a: np.tensordot(a.x, a.x, 3) + np.zeros(1),
    "np.tile": lambda a: np.tile(a.i, 2),
    "np.tril": lambda a: np.tril(a.m),
    "np.unique": lambda a: np.unique(a.i, return_counts=True),
    "np.vectorize": lambda a: np.vectorize(lambda v: v + 1)(a.x),
    "np.where": lambda a: np.where(a.b, a.x, 0),
    "np.zeros_like": lambda a: np.zeros_like(a.x),
    "np.random permutation": lambda a: np.random.default_rng(1).permutation(a.x),
    "np.random choice": lambda a: np.random.default_rng(1).choice(a.x, 2),
    "zeros_like of a Fortran array": lambda a: np.zeros_like(a.f),
    "np.nditer": lambda a: np.nditer([a.x, None], op_flags=[["readonly"], ["writeonly", "allocate"]]).operands[1],
    # other kinds
    "complex + 1": lambda a: a.c + 1,
    "big-endian as native": lambda a: a.big.astype("=f8"),
    "field + 1": lambda a: a.r["v"] + 1,
    "records by list": lambda a: a.r[[1, 0]],
    "empty + 1": lambda a: a.e + 1,
    "empty.copy": lambda a: a.e.copy(),
    "scalar + [1]": lambda a: a.o + np.ones(1),
    "scalar.copy": lambda a: a.o.copy(),
    "of a slice": lambda a: a.x[1:, ::2].astype("f4"),
    "of a transposed slice": lambda a: a.x[1:].T.copy(),
}

# What is a window on the same memory.
VIEWS = {
    "x[1]": lambda a: a.x[1],
    "x[1:, ::2]": lambda a: a.x[1:, ::2],
    "x[::-1]": lambda a: a.x[::-1],
    "x[..., None]": lambda a: a.x[..., None],
    "x[5:5]": lambda a: a.x[5:5],
    "T": lambda a: a.x.T,
    "reshape": lambda a: a.x.reshape(-1, 5),
    "ravel": lambda a: a.x.ravel(),
    "squeeze": lambda a: a.x[:1].squeeze(),
    "swapaxes": lambda a: a.x.swapaxes(0, 2),
    "transpose": lambda a: a.x.transpose(2, 0, 1),
    "diagonal": lambda a: a.m.diagonal(),
    "view of bytes": lambda a: a.x.view("u1"),
    "view": lambda a: a.x.view(),
    "astype(copy=False)": lambda a: a.x.astype(a.x.dtype, copy=False),
    "real": lambda a: a.c.real,
    "imag": lambda a: a.c.imag,
    "field": lambda a: a.r["v"],
    "np.asanyarray": lambda a: np.asanyarray(a.x),
    "np.atleast_2d": lambda a: np.atleast_2d(a.s),
    "np.broadcast_to": lambda a: np.broadcast_to(a.i[0], (5, 4)),
    "np.expand_dims": lambda a: np.expand_dims(a.x, 0),
    "np.moveaxis": lambda a: np.moveaxis(a.x, 0, 2),
    "np.ravel": lambda a: np.ravel(a.x),
    "np.reshape": lambda a: np.reshape(a.x, (6, 10)),
    "np.split": lambda a: np.split(a.x, [1])[1],
    "np.squeeze": lambda a: np.squeeze(a.x[:1]),
    "np.transpose": lambda a: np.transpose(a.x),
    "np.flip": lambda a: np.flip(a.x, 0),
    "np.real": lambda a: np.real(a.c),
    "np.diag": lambda a: np.diag(a.m),
    "np.einsum of a diagonal": lambda a: np.einsum("ii->i", a.m),
    "sliding windows": lambda a: np.lib.stride_tricks.sliding_window_view(a.i[0], 2),
    "a Fortran array": lambda a: a.f,
    "of no elements": lambda a: a.e,
    "the rest of no elements": lambda a: a.e[2:],
    "no elements, backwards": lambda a: a.e[::-1],
}

IN_PLACE = {
    "+=": lambda x: operator.iadd(x, 1),
    "/=": lambda x: operator.itruediv(x, 255),
    "np.sqrt(out=)": lambda x: np.sqrt(x, out=x),
    "np.add.at": lambda x: np.add.at(x, [0], 1),
    "cumsum(out=)": lambda x: np.cumsum(x, 0, out=x),
    "clip(out=)": lambda x: x.clip(0, 1, out=x),
    "np.clip(out=)": lambda x: np.clip(x, 0, 1, out=x),
    "x[0] = 1": lambda x: operator.setitem(x, 0, 1),
    "x[[0]] = 1": lambda x: operator.setitem(x, [0], 1),
    "fill": lambda x: x.fill(1),
    "sort": lambda x: x.sort(),
    "partition": lambda x: x.partition(1),
    "put": lambda x: x.put([0], 1),
    "flat[0] = 1": lambda x: operator.setitem(x.flat, 0, 1),
    "byteswap in place": lambda x: x.byteswap(True),
    "np.copyto": lambda x: np.copyto(x, 1),
    "np.put": lambda x: np.put(x, [0], 1),
    "np.place": lambda x: np.place(x, x > 0, [1]),
    "np.putmask": lambda x: np.putmask(x, x > 0, 1),
    "np.fill_diagonal": lambda x: np.fill_diagonal(x[0], 1),
    "np.nan_to_num(copy=False)": lambda x: np.nan_to_num(x, copy=False),
    "shuffle": lambda x: np.random.default_rng(1).shuffle(x),
    "shuffle of one dimension": lambda x: np.random.default_rng(1).shuffle(x.reshape(-1)),
    "legacy shuffle": lambda x: np.random.RandomState(1).shuffle(x),
    "setflags": lambda x: x.setflags(write=True),
}


class Names:
    def __init__(self, arrays):
        self.__dict__.update(arrays)


class ArraysOfNumpyTest(StoreCase):
    def setUp(self):
        super().setUp()
        self.folder = self.publish(arrays=ARRAYS)
        self.stored = Names(larder.dataset("d"))
        self.plain = Names(ARRAYS)

    def test_what_is_computed_equals_what_numpy_makes_of_plain_arrays_and_is_plain(self):
        for name, compute in COMPUTED.items():
            with self.subTest(name):
                actual, expected = compute(self.stored), compute(self.plain)
                pairs = zip(actual, expected) if isinstance(expected, (tuple, list)) else [(actual, expected)]
                for result, wanted in pairs:
                    self.assertIs(type(result), np.ndarray)
                    self.assertTrue(result.flags.writeable)
                    self.assertEqual((result.dtype, result.shape), (wanted.dtype, wanted.shape))
                    if name != "np.empty_like":
                        np.testing.assert_array_equal(result, wanted)

    def test_several_fields_of_a_structured_array_are_a_view_of_the_store(self):
        fields = self.stored.r[["v"]]
        self.assertIs(type(fields), larder.Array)
        self.assertEqual(fields["v"].tolist(), [2.5, 4.5])
        self.assertEqual(pickle.loads(pickle.dumps(fields)).tolist(), [(2.5,), (4.5,)])
        self.assertIs(type(self.stored.r[[1, 0]]), np.ndarray)

    def test_what_is_computed_can_be_changed_in_place(self):
        for name, compute in COMPUTED.items():
            results = compute(self.stored)
            for result in results if isinstance(results, (tuple, list)) else [results]:
                if result.dtype.kind not in "if" or result.ndim == 0:
                    continue
                with self.subTest(name):
                    before = result.copy()
                    result += 1
                    result *= 2
                    result.sort()
                    self.assertIs(type(result), np.ndarray)
                    np.testing.assert_array_equal(result, np.sort((before + 1) * 2))
        self.unchanged()

    def test_views_stay_leased_read_only_and_references(self):
        for name, view in VIEWS.items():
            with self.subTest(name):
                expected, text = view(self.plain), pickle.dumps(view(self.stored))
                actual = view(self.stored)
                same(self, np.asarray(actual), np.asarray(expected))
                self.assertIsInstance(actual, larder.Array)
                self.assertFalse(actual.flags.writeable)
                self.assertIn(b"_restore_array", text)
                again = pickle.loads(text)
                self.assertEqual((type(again), again.dtype, again.shape), (larder.Array, actual.dtype, actual.shape))
                np.testing.assert_array_equal(again, actual)

    def test_each_view_alone_keeps_the_lease_and_no_result_does(self):
        kept = [compute(self.stored) for compute in COMPUTED.values()]
        del self.stored
        gc.collect()
        self.assertFalse(self.is_leased(self.folder))
        for name, view in VIEWS.items():
            with self.subTest(name):
                kept_view = view(Names(larder.dataset("d")))
                gc.collect()
                self.assertTrue(self.is_leased(self.folder))
                del kept_view
                gc.collect()
                self.assertFalse(self.is_leased(self.folder))
        self.assertEqual(len(kept), len(COMPUTED))

    def test_whatever_writes_to_a_stored_array_is_told_that_it_is_read_only(self):
        for name, write in IN_PLACE.items():
            with self.subTest(name), self.assertRaisesRegex((ValueError, TypeError, BufferError), "(?i)read-?only|WRITEABLE"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    write(self.stored.x)
        self.unchanged()

    def test_arithmetic_in_place_names_the_file_and_the_remedy(self):
        x = self.stored.x
        with self.assertRaisesRegex(ValueError, r"it is read-only: file=.*/x.npy; compute a new array.* x\.copy\(\)"):
            x += 1
        for written in x, x[1:], x.reshape(-1):
            with self.assertRaisesRegex(ValueError, r"cannot write to a stored array, it is read-only: file=.*/x.npy; .*change a copy, x\.copy\(\)"):
                written[0] = 0
        self.unchanged()

    def test_copies_that_numpy_types_as_their_origin_behave_as_plain_ones(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for made in np.array(self.stored.x, subok=True), np.asanyarray(self.stored.i, dtype="f8"):
                before, original = np.array(made), made
                made += 1
                np.multiply(made, 2, out=made)
                made.cumsum(0, out=made)
                np.add.at(made, 0, 1)
                made[0] = 5
                self.assertIs(made, original)
                expected = ((before + 1) * 2).cumsum(0)
                expected[0] = 5
                np.testing.assert_array_equal(made, expected)
                self.assertIs(type(made + 1), np.ndarray)
                self.assertIs(type(pickle.loads(pickle.dumps(made))), np.ndarray)
        self.unchanged()

    def test_iteration_yields_what_indexing_does(self):
        x = self.stored.x
        for rows, model in (x, ARRAYS["x"]), (x[0], ARRAYS["x"][0]), (x[:, ::2].T, ARRAYS["x"][:, ::2].T), (self.stored.e, ARRAYS["e"]):
            self.assertEqual(len(list(rows)), len(model))
            for row, expected in zip(rows, model):
                self.assertEqual((type(row), row.flags.writeable), (larder.Array, False))
                np.testing.assert_array_equal(row, expected)
                np.testing.assert_array_equal(pickle.loads(pickle.dumps(row)), expected)
                self.assertIs(type(row.base), larder.Array)  # no object between a row and the whole
        self.assertEqual([*x[:0]], [])
        self.assertEqual([*map(type, self.stored.i[0])], [np.int64] * 4)
        self.assertEqual([tuple(row) for row in self.stored.r], [(1, 2.5), (3, 4.5)])
        with self.assertRaises(TypeError):
            iter(self.stored.o)
        rows = iter(larder.dataset("d")["x"])
        kept = next(rows)
        del rows
        gc.collect()
        self.assertTrue(self.is_leased(self.folder))
        self.assertEqual(kept.filename, x.filename)

    def test_slices_of_no_elements_pickle_whatever_their_place(self):
        for packed in False, True:
            self.publish("none", {"a": np.empty((7, 0)), "b": np.empty((0, 3), "i2"), "c": np.empty((2, 0, 4), order="F"),
                                  "z": np.ones(3)}, packed=packed)
            d = larder.dataset("none")
            for view in (d["a"], d["a"][2:], d["a"][6:, :], d["a"].T, d["a"][::-1], d["b"], d["b"][:, 1:], d["c"][1:],
                         d["z"][3:], d["z"][:0]):
                with self.subTest(shape=view.shape, packed=packed):
                    again = pickle.loads(pickle.dumps(view))
                    self.assertEqual((type(again), again.shape, again.dtype), (larder.Array, view.shape, view.dtype))
            del d, view, again

    def test_other_types_that_override_numpy_are_asked(self):
        class Other:
            def __array_ufunc__(self, *_, **__):
                return "ufunc"

            def __array_function__(self, *_, **__):
                return "function"

        self.assertEqual((self.stored.x + Other(), np.concatenate([self.stored.x, Other()])), ("ufunc", "function"))
        masked = np.ma.masked_array(ARRAYS["x"], ARRAYS["b"])
        np.testing.assert_array_equal(self.stored.x + masked, ARRAYS["x"] + masked)
        self.assertIsInstance(self.stored.x + masked, np.ma.MaskedArray)
        self.assertEqual(np.ma.masked_array(self.stored.x, self.stored.b).sum(), masked.sum())

    def unchanged(self):
        for name, expected in ARRAYS.items():
            np.testing.assert_array_equal(getattr(self.stored, name), expected)


class MemoryTest(StoreCase):
    def test_segments_are_mapped_read_only(self):
        self.publish()
        x = larder.open("d/x")

        self.assertIsInstance(x._mmap, mmap.mmap)
        self.assertTrue(memoryview(x).readonly)

    def test_what_lies_on_huge_pages_is_mapped_with_them(self):
        expected = np.random.default_rng(7).integers(0, 256, (5 << 20) + 3, np.uint8)
        folder = self.publish(arrays={"x": expected})
        path = os.path.join(folder, "x.npy")
        os.chmod(path, 0o600)
        with open(path, "r+b") as file:
            room("_memory")._reserve_huge(file.fileno(), os.path.getsize(path))
        x = larder.open("d/x")

        self.assertTrue((x == expected).all())
        self.assertEqual((x.offset, x[9:].offset), (4288, 4297))
        self.assertEqual(pickle.loads(pickle.dumps(x[9:]))[0], expected[9])
        self.assertEqual(x._mmap.address % (2 << 20), 0)
        if gives_huge_pages():
            self.assertEqual(mapped_huge(x._mmap.address), 4 << 20)

    def test_what_is_cached_is_written_to_huge_pages(self):
        expected = np.random.default_rng(7).random(700_000)  # 5.3 MiB
        with contextlib.closing(room("_build").Builder("d", self.store, mock.Mock(is_lost=False))) as builder:
            builder._add({"a": expected, "small": np.arange(3)}, {})

        same(self, np.load(os.path.join(self.store, "a.npy")), expected)
        same(self, np.load(os.path.join(self.store, "small.npy")), np.arange(3))
        with open(os.path.join(self.store, "a.npy"), "rb") as file:
            memory = room("_memory")._map_file(file.fileno()).memory
        sum(memory[::4096])
        if gives_huge_pages():
            self.assertEqual(mapped_huge(room("_memory")._address(memory)), 4 << 20)

    def test_a_mapped_file_begins_where_its_memory_begins_whatever_its_size(self):
        for size in 4, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20:
            with self.subTest(size=size), tempfile.TemporaryFile(dir=self.store) as file:
                file.write(b"ab".ljust(size - 2, b".") + b"yz")
                file.flush()
                segment = room("_memory")._map_file(file.fileno())
                memory = segment.memory

                self.assertEqual((len(memory), bytes(memory[:2]), bytes(memory[-2:])), (size, b"ab", b"yz"))
                self.assertEqual(len(segment) > size, size >= 2 << 20)  # such a segment begins before its file
                self.assertIs(np.ndarray(size, np.uint8, memory).base, segment)
                self.assertTrue(memory.readonly)

    def test_a_build_places_its_pages_as_the_daemon_does_unless_its_process_was_placed(self):
        memory, build, seen = room("_memory"), room("_build"), []

        def write(stream, array, inherited):
            with contextlib.ExitStack() as changes:
                if inherited:
                    self.assertTrue(memory._set_policy(2, "0"))
                    changes.callback(memory._set_policy, 0, "")
                changes.enter_context(mock.patch.object(build, "_write_data", lambda *_: seen.append(thread_policy())))
                changes.enter_context(contextlib.closing(build.Builder("d", self.store, mock.Mock(is_lost=False), "interleave:0")))._add({stream: array}, {})
                seen.append(thread_policy())

        if memory._policy_kind() or not memory._set_policy(0, ""):
            self.skipTest("containers may forbid memory policies")
        write("a", np.arange(5), inherited=False)
        write("b", np.arange(5), inherited=True)
        self.assertEqual(seen, ["interleave:0", "default", "bind:0", "bind:0"])

    def test_pieces_that_become_huge_pages_take_the_nodes_in_turn(self):
        for nodes in 1, 2, 3, 4, 5, 6, 8, 12, 16, 32:
            found = [(piece * 512 + room("_memory")._first_page(piece << 21) // mmap.PAGESIZE) % nodes for piece in range(1000)]
            self.assertEqual(found, [(found[0] + piece) % nodes for piece in range(1000)])


@unittest.skipUnless(room("_memory")._libc, "needs ctypes")
class PagesOf64KibTest(StoreCase):
    """The pages of some kernels on Arm, whose huge pages have 512 MiB."""

    def setUp(self):
        super().setUp()
        self.libc = StrictLibc(room("_memory")._libc, 64 << 10)
        for change in (mock.patch.object(mmap, "PAGESIZE", 64 << 10), mock.patch.object(mmap, "ALLOCATIONGRANULARITY", 64 << 10),
                       mock.patch.object(room("_memory"), "_libc", self.libc)):
            change.start()
            self.addCleanup(change.stop)

    def test_files_are_built_and_mapped(self):
        expected = {"large": np.random.default_rng(7).random(700_000), "small": np.arange(3)}
        with contextlib.closing(room("_build").Builder("d", self.store, mock.Mock(is_lost=False))) as builder:
            builder._add(expected, {})

        for name, values in expected.items():
            with self.subTest(name=name), open(os.path.join(self.store, name + ".npy"), "rb") as file:
                memory = room("_memory")._map_file(file.fileno()).memory
                same(self, np.load(file), values)
                same(self, np.frombuffer(memory[-values.nbytes:], values.dtype), values)
        self.assertEqual(np.load(os.path.join(self.store, "large.npy"), mmap_mode="r").offset, 4096 + 192)  # the format is the same
        self.assertEqual(builder._bytes % (64 << 10), 0)
        self.assertEqual((self.libc.mapped, self.libc.advised), (2, 0))  # no huge pages, which the kernel would only pretend to give


class StrictLibc:
    """Refuses addresses and offsets that a kernel with pages of this length refuses."""

    def __init__(self, libc, page):
        self.libc, self.page, self.mapped, self.advised = libc, page, 0, 0

    def mmap(self, address, length, protection, flags, descriptor, offset):
        assert not address % self.page and not offset % self.page, (address, offset)
        self.mapped += 1
        return self.libc.mmap(address, length, protection, flags, descriptor, offset)

    def madvise(self, address, length, advice):
        assert not address % self.page, address
        self.advised += 1
        return self.libc.madvise(address, length, advice)


def thread_policy():
    with open("/proc/thread-self/numa_maps") as lines:
        return lines.readline().split()[1]


def gives_huge_pages():
    """Tell whether the kernel puts files of a tmpfs on huge pages on request."""
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        room("_memory")._reserve_huge(file.fileno(), 2 << 20)
        memory = room("_memory")._map_file(file.fileno()).memory
        return memory[0] == 0 and mapped_huge(room("_memory")._address(memory)) == 2 << 20


def mapped_huge(address):
    """Return how many bytes of the mapping at an address have one entry of the page table for each huge page."""
    with open("/proc/self/smaps") as lines:
        for line in lines:
            if line.startswith(f"{address:x}-"):
                return next(int(field.split()[1]) << 10 for field in lines if field.startswith("ShmemPmdMapped:"))
    raise AssertionError(f"no mapping begins there: address={address:x}")


if __name__ == "__main__":
    unittest.main()
