"""Tests of larder.frame, where pyarrow and pandas or polars can be imported.

    python3 -W error -m unittest discover -s ops/python
"""

import importlib.util
import pickle
import sys
import unittest
from unittest import mock
import warnings

import numpy as np

import make_store
from test_larder import BuildsCase, StoreCase, larder

HAS = {name: importlib.util.find_spec(name) is not None for name in ("pandas", "polars", "pyarrow")}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # some releases warn of their imports
    if HAS["pyarrow"]:
        import pyarrow as pa
    if HAS["pandas"]:
        import pandas

HAS_PANDAS = HAS["pandas"] and HAS["pyarrow"] and int(pandas.__version__.partition(".")[0]) >= 2
TEXTS, FILES = ["a", "", "größe"], [b"1", b"\xff\x00", b""]
RAGGED = [np.arange(6.).reshape(2, 3), np.empty((0, 3)), np.ones((1, 3))]
UNEVEN = [np.arange(6).reshape(2, 3), np.arange(4).reshape(1, 4), np.empty((0, 0), int)]


_given = []  # a global, which is in no key of a function with a version


def give(number):
    return _given[0]


def kept(number, result):
    """Return the form in which a result comes back."""
    _given[:] = [result]
    return larder.cached(give, version=1)(number)


class FramesCase(StoreCase):
    def setUp(self):
        super().setUp()
        self.folder = self.publish("d", {"x": np.arange(3), "pixels": np.arange(12, dtype="f4").reshape(3, 2, 2), "features.json": np.arange(9, dtype="u1")}, {
            "texts": make_store.strings(TEXTS), "files": make_store.raw_bytes(FILES), "points": make_store.ragged(RAGGED), "uneven": make_store.ragged(UNEVEN),
            "flat": make_store.ragged([row.ravel() for row in UNEVEN]), "key": make_store.texts_index(TEXTS)})

    def one(self, array):
        """Return the values of a frame of one array."""
        self.publish("one", {"x": array})
        return larder.frame("one")["x"].tolist()


@unittest.skipUnless(HAS_PANDAS, "needs pandas 2 and pyarrow")
class PandasTest(FramesCase):
    def test_arrays_and_columns_come_as_columns_of_arrow_types(self):
        frame = larder.frame("d")

        self.assertEqual({name: str(kind) for name, kind in frame.dtypes.items()}, {
            "x": "int64[pyarrow]", "pixels": "fixed_size_list<item: fixed_size_list<item: float>[2]>[2][pyarrow]", "texts": "large_string[pyarrow]",
            "files": "large_binary[pyarrow]", "points": "large_list<item: fixed_size_list<item: double>[3]>[pyarrow]",
            "uneven": "large_list<item: large_list<item: int64>>[pyarrow]", "flat": "large_list<item: int64>[pyarrow]"})
        self.assertEqual((frame["texts"].tolist(), frame["files"].tolist(), frame["x"].sum()), (TEXTS, FILES, 3))
        arrow = {name: pa.array(frame[name]).to_pylist() for name in ("pixels", "points", "uneven", "flat")}
        self.assertEqual(arrow, {"pixels": np.arange(12.).reshape(3, 2, 2).tolist(), "points": [row.tolist() for row in RAGGED],
                                 "uneven": [row.tolist() for row in UNEVEN], "flat": [row.ravel().tolist() for row in UNEVEN]})
        self.assertEqual(list(larder.frame(larder.dataset("d"), ["texts", "x"]).columns), ["texts", "x"])

    def test_their_buffers_are_the_pages_of_the_store(self):
        frame, opened = larder.frame("d"), larder.dataset("d")

        for name, parts in ("x", ["x"]), ("pixels", ["pixels"]), ("texts", ["texts/offsets", "texts/bytes"]), ("files", ["files/offsets", "files/values"]), (
                "flat", ["flat/offsets", "flat/values"]), ("points", ["points/values"]):
            buffers = [buffer.address for chunk in pa.chunked_array(frame[name].array.__arrow_array__()).chunks for buffer in chunk.buffers() if buffer]
            self.assertEqual(buffers[-len(parts):], [opened[part].__array_interface__["data"][0] for part in parts], name)

    def test_the_version_stays_leased_as_long_as_a_column_lives(self):
        frame = larder.frame("d")
        texts = frame["texts"]
        del frame

        self.assertTrue(self.is_leased(self.folder))
        self.assertEqual(texts.tolist(), TEXTS)
        del texts
        self.assertFalse(self.is_leased(self.folder))

    def test_writes_change_the_frame_and_not_the_store(self):
        frame = larder.frame("d", ["x", "texts"])
        frame.loc[0, "x"] = 7
        frame["texts"] = frame["texts"] + "!"

        self.assertEqual((frame["x"].tolist(), frame["texts"].tolist()), ([7, 1, 2], ["a!", "!", "größe!"]))
        self.assertEqual((larder.open("d/x").tolist(), list(larder.dataset("d")["texts"])), ([0, 1, 2], TEXTS))
        self.assertFalse(larder.frame("d", ["x"])["x"].to_numpy().flags.writeable)

    def test_other_forms_than_those_of_arrow_are_copied(self):
        for array in (np.arange(9) % 2 == 0, np.arange(3, dtype=">f4"), np.array(["a", "größe"]), np.array([b"a", b"bc"]), np.arange(10)[::3], np.empty(0, "u1")):
            self.assertEqual(self.one(array), array.tolist(), array.dtype)
        times = self.one(np.array(["2026-11-23T08:00:00", "NaT"], "M8[us]"))
        self.assertEqual((times[0].isoformat(), times[1] is pandas.NaT or times[1] is pandas.NA), ("2026-11-23T08:00:00", True))
        numbers = self.one(np.array([1.5, np.nan]))
        self.assertEqual((numbers[0], numbers[1] != numbers[1]), (1.5, True))

    def test_columns_that_cannot_be_in_one_frame_are_refused(self):
        self.publish("other", {"x": np.arange(3), "y": np.arange(4), "scalar": np.array(1), "c": np.zeros(3, "c8")}, {"key": make_store.texts_index(["a"])})
        damaged = make_store.strings(["a", "b"])
        damaged["strings_offsets"][1] = 5
        self.publish("damaged", {}, {"texts": damaged})

        for columns, kind, reason in ((None, ValueError, "an array without rows: array=scalar|Arrow has no such dtype"), (["x", "y"], ValueError, "differ in their numbers of rows: dataset=other x=3 y=4"),
                                      (["key"], larder.NotFound, "an index has no rows"), (["z"], larder.NotFound, "no such array"),
                                      (["c"], larder.LarderError, "Arrow has no such dtype: array=c"), ("x", ValueError, "not a list of arrays")):
            with self.assertRaisesRegex((kind, larder.LarderError), reason):
                larder.frame("other", columns)
        with self.assertRaisesRegex(larder.LarderError, "a column is damaged: dataset=damaged column=texts"):
            larder.frame("damaged")

    def test_a_pickle_has_the_data(self):
        frame = larder.frame("d", ["x", "texts"])

        again = pickle.loads(pickle.dumps(frame))
        self.assertTrue(again.equals(frame))


@unittest.skipUnless(HAS_PANDAS, "needs pandas 2 and pyarrow")
class StoredFramesTest(BuildsCase):
    """Every column of `FRAME` has another type of the table in the guide."""

    def setUp(self):
        super().setUp()
        self.frame = pandas.DataFrame({"i": np.arange(3), "f": [0.5, np.nan, 2], "b": [True, False, True], "t": ["a", "", "größe"], "d": np.arange(3).astype("M8[ms]"),
                                       "bytes": [b"1", b"", b"23"], "lists": [[1], [2, 3], []], "arrays": [np.arange(2.0), np.empty(0), np.ones(3)]})
        self.frame["nullable"] = pandas.array([1, 2, 3], "Int32")
        self.frame["arrow"] = pandas.array(["x", "y", "z"], pandas.ArrowDtype(pa.string()))
        self.frame["kinds"] = pandas.Categorical(["p", "q", "p"])

    def listed(self, value):
        """Return the values of a column, an array or a series as lists of plain Python values."""
        return [one.tolist() if isinstance(one, np.ndarray) else bytes(one) if isinstance(one, memoryview) else one for one in (
            value.tolist() if hasattr(value, "tolist") else list(value))]

    def expected(self, name):
        return self.listed(self.frame[name])

    def test_cache_and_create_store_the_columns_of_a_frame_each_in_its_form(self):
        cached = larder.cache("cached", lambda: self.frame)
        with larder.create("created") as dataset:
            for name in self.frame:
                dataset[name] = self.frame[name]
        named = larder.cache("named", lambda: {"reviews": self.frame, "n": 5})

        kinds = {"t": "strings", "bytes": "bytes", "lists": "ragged", "arrays": "ragged", "arrow": "strings", "kinds": "strings"}
        for stored, before in (cached, ""), (larder.dataset("created"), ""), (named, "reviews/"):
            self.assertEqual(stored.columns, {before + name: kind for name, kind in kinds.items()})
            for name in set(self.frame) - {"f", "d"}:
                self.assertEqual(self.listed(stored[before + name]), self.expected(name), name)
            np.testing.assert_array_equal(stored[before + "f"], self.frame["f"])
            np.testing.assert_array_equal(stored[before + "d"], self.frame["d"].to_numpy())
        self.assertEqual((named["n"], cached["nullable"].dtype), (5, np.int32))

    def test_cached_returns_a_frame_over_the_store_and_columns_for_series(self):
        for _ in range(2):
            made = kept(1, {"frame": self.frame.rename(columns={"i": "an i"}), "series": [self.frame["t"], self.frame["i"]]})
            self.assertEqual(list(made["frame"].columns), ["an i", *list(self.frame.columns)[1:]])
            self.assertEqual((made["frame"]["t"].tolist(), made["frame"]["an i"].sum(), str(made["frame"]["t"].dtype)), (["a", "", "größe"], 3, "large_string[pyarrow]"))
            self.assertEqual((type(made["series"][0]), list(made["series"][0]), type(made["series"][1])), (larder.Strings, ["a", "", "größe"], larder.Array))
        again = kept(2, made["frame"])  # its columns have Arrow types
        self.assertEqual((list(again.dtypes), {name for name in again if not again[name].equals(made["frame"][name])}), (list(made["frame"].dtypes), {"f"}))
        np.testing.assert_array_equal(again["f"].to_numpy(), self.frame["f"])  # NaN equals nothing in Arrow

    def test_a_frame_is_no_name(self):
        with self.assertRaisesRegex(TypeError, "not a dataset: type=DataFrame; give the name of one"):
            larder.frame(self.frame)

    def test_an_empty_column_of_objects_has_texts(self):
        made = kept(3, pandas.DataFrame({"t": pandas.Series(["x"], dtype=object), "i": [1]}).head(0))
        self.assertEqual((len(made), list(made.columns)), (0, ["t", "i"]))

    def test_frames_that_would_come_back_with_other_values_are_refused(self):
        frame = self.frame
        for made, reason in ((frame[["t"]].iloc[1:], "type=pandas.DataFrame reason=it has an index; return it.reset_index"), (frame["i"].iloc[::2], "type=pandas.Series .*reason=it has an index"),
                             (pandas.DataFrame({"t": ["a", None]}), "cannot contain a column: column=t reason=1 values are None; fill them: it.fillna"),
                             (pandas.DataFrame({"n": pandas.array([1, None], "Int64")}), "column=n reason=1 values are None"), (pandas.DataFrame({1: [2]}), r"its columns are \[1\]; return it with a different text"),
                             (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "a different text as the name of each column"), (pandas.DataFrame({"o": [1, "a"]}), "at=o reason=dtype object: .*; return numbers, texts"),
                             (pandas.DataFrame({"z": pandas.to_datetime(["2026-01-01"]).tz_localize("UTC")}), "column=z reason=its values are timestamp.*times with a zone to UTC"),
                             (pandas.DataFrame({"p": pandas.period_range("2020-01", periods=3, freq="M")}), "dtype period.* is stored in other values"),
                             (pandas.DataFrame({"p": pandas.Categorical(pandas.period_range("2020-01", periods=3, freq="M"))}), "reason="),
                             (pandas.DataFrame({"o": pandas.Series([pandas.Timestamp("2020-01-01 00:00:00.000000123")], dtype=object)}), "at=o reason=dtype object: Timestamp"),
                             (pandas.DataFrame({"o": pandas.Series([1, 2.5], dtype=object)}), "dtype object: int 1 would come back as 1.0"),
                             (pandas.DataFrame({"o": pandas.Series([2**70], dtype=object)}), "at=o reason=dtype object"), (pandas.DataFrame(index=range(5)), "it has no columns"),
                             (pandas.DataFrame({"c": [1j]}), "reason=dtype complex128"), (pandas.DataFrame({"s": [{"a": 1}]}), "column=s reason=its values are struct"),
                             (pandas.DataFrame({"a b": [1]}), "an array cannot keep its name: name='a b'; call it 'a_b'"),
                             (pandas.DataFrame({"a b": ["x"]}), "an array cannot keep its name: name='a b'; call it 'a_b'")):
            with self.subTest(reason), self.assertRaisesRegex(larder.LarderError, reason):
                larder.cache("refused", lambda made=made: made)
        self.assertEqual(larder.datasets(), [])


@unittest.skipUnless(HAS["polars"] and HAS["pyarrow"], "needs polars and pyarrow")
class PolarsTest(FramesCase, BuildsCase):
    def test_arrays_and_columns_come_as_columns(self):
        frame = larder.frame("d", library="polars")

        self.assertEqual((frame["texts"].to_list(), frame["files"].to_list(), frame["x"].sum()), (TEXTS, FILES, 3))
        self.assertEqual((frame["flat"].to_list(), frame["pixels"].to_list()), ([row.ravel().tolist() for row in UNEVEN], np.arange(12.).reshape(3, 2, 2).tolist()))

    def test_cache_and_cached_take_frames(self):
        import polars

        frame = polars.DataFrame({"i": [1, 2], "f": [0.5, float("nan")], "t": ["a", "é"], "lists": [[1], [2, 3]]})
        stored = larder.cache("c", lambda: frame)
        self.assertEqual((stored.columns, stored["i"].tolist(), list(stored["t"]), stored["lists"][1].tolist()), ({"t": "strings", "lists": "ragged"}, [1, 2], ["a", "é"], [2, 3]))
        self.assertTrue(kept(1, frame).equals(frame))


class LibrariesTest(FramesCase):
    def test_a_library_that_is_missing_or_too_old_is_named(self):
        for missing in "pyarrow", "polars":
            with mock.patch.dict(sys.modules, {"pyarrow": mock.Mock(), "polars": mock.Mock(), missing: None}):
                with self.assertRaisesRegex(larder.LarderError, f"larder.frame needs {missing}: library=polars reason=.*; .* -m pip install -U {missing}"):
                    larder.frame("d", library="polars")
        with mock.patch.dict(sys.modules, {"pyarrow": mock.Mock(), "pandas": mock.Mock(__version__="1.5.3")}):
            with self.assertRaisesRegex(larder.LarderError, "larder.frame needs pandas: library=pandas reason=pandas 1.5.3 is too old, version 2 is needed"):
                larder.frame("d")
        with self.assertRaisesRegex(ValueError, "no such library of frames: library='dask'; give one of pandas, polars"):
            larder.frame("d", library="dask")


if __name__ == "__main__":
    unittest.main()
