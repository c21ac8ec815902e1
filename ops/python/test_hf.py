"""Tests of larder.hf, where Hugging Face datasets can be imported, and with a daemon where LARDER_TEST_STORE names its store.

    python3 -W error -m unittest discover -s ops/python
"""

import atexit
import importlib.util
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock
import warnings

import numpy as np

import make_store
from test_larder import HERE, BuildsCase, StoreCase, larder, room
from test_with_daemon import STORE

if importlib.util.find_spec("datasets") is not None:
    if "HF_HOME" not in os.environ:  # nor in a child
        os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=tempfile.mkdtemp(prefix="larder-test-"))
        atexit.register(shutil.rmtree, os.environ["HF_HOME"], ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some releases warn of what they import themselves
        import datasets
        import pyarrow as pa
    datasets.disable_progress_bars()
else:
    datasets = None

RAGGED = [np.arange(6.).reshape(2, 3), np.empty((0, 3)), np.ones((1, 3))]
UNEVEN = [np.arange(6).reshape(2, 3), np.arange(4).reshape(1, 4), np.empty((0, 0), int)]


def total(shared):
    return sum(shared["y"])


def twice(row):
    return {"y": 2 * row["y"]}


def place(array):
    return array.__array_interface__["data"][0]


def values_at(column):
    """Return where the values of a column's first chunk lie."""
    array = column.chunk(0)
    array = array.storage if isinstance(array, pa.ExtensionArray) else array
    return array.buffers()[-1].address


@unittest.skipUnless(datasets, "needs datasets")
class ReadTest(StoreCase):
    def read(self, *columns, **arrays):
        self.publish(arrays=arrays)
        return larder.hf.dataset("d", columns or None)

    def test_arrays_of_every_shape_lie_where_the_store_has_them(self):
        for shape in ((5,), (5, 3), (5, 3, 2), (5, 2, 3, 4), (5, 1, 2, 3, 4), (5, 1, 2, 1, 2, 3), (5, 1, 1, 2, 1, 1, 2), (0,), (0, 3, 4), (5, 0),
                      (5, 2, 0)):
            for dtype in ("u1", "i2", "u4", "i8", "f2", "f4", "f8", "u8") if shape == (5, 3, 2) else ("f4",):
                x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
                shared = self.read(x=x)
                with self.subTest(shape=shape, dtype=dtype):
                    self.assertEqual(shared[:]["x"] if len(shared) else [], x.tolist())
                    if x.size:
                        self.assertEqual(values_at(shared.data["x"]), place(larder.open("d/x")))
        self.assertEqual(self.read(x=np.zeros((5, 3, 2), "f4")).features["x"], datasets.Array2D((3, 2), "float32"))
        self.assertEqual(self.read(x=np.zeros((5, 3), "u1")).features["x"], datasets.List(datasets.Value("uint8"), 3))

    def test_chunks_of_rows_share_their_offsets(self):
        x = np.arange(7 * 3 * 2 * 2).reshape(7, 3, 2, 2)
        self.publish(arrays={"x": x})
        for most in 1, 25, 1000:
            with mock.patch.object(larder.hf, "_MOST_OFFSETS", most):
                shared = larder.hf.dataset("d").with_format("numpy")
            self.assertEqual(shared.data["x"].num_chunks, {1: 7, 25: 4, 1000: 1}[most])
            np.testing.assert_array_equal(shared[:]["x"], x)
            np.testing.assert_array_equal(shared[[6, 0, 3]]["x"], x[[6, 0, 3]])

    def test_what_arrow_has_another_form_for_is_copied(self):
        for x in (np.arange(9) % 2 == 0, np.arange(12).reshape(3, 2, 2) > 5, np.arange(6, dtype=">f4").reshape(3, 2),
                  np.asfortranarray(np.eye(3)), np.array(["a", "größe"]), np.array([["a", "b"]])):
            self.assertEqual(self.read(x=x)[:]["x"], x.tolist(), x.dtype)
        self.assertEqual(self.read(x=np.array([b"a", b"bc"]))[:]["x"], [b"a", b"bc"])
        times = self.read(x=np.array(["2026-11-23T08:00:00", "NaT"], "M8[us]"))[:]["x"]
        self.assertEqual((times[0].isoformat(), times[1]), ("2026-11-23T08:00:00", None))

    def test_columns_lie_where_the_store_has_them(self):
        texts, files = ["a", "", "größe"], [b"1", b"\xff\x00", b""]
        self.publish(arrays={"y": np.arange(3)}, columns={
            "texts": make_store.strings(texts), "files": make_store.raw_bytes(files), "points": make_store.ragged(RAGGED),
            "uneven": make_store.ragged(UNEVEN), "flat": make_store.ragged([row.ravel() for row in UNEVEN]),
            "key": make_store.texts_index(texts)})
        shared, opened = larder.hf.dataset("d"), larder.dataset("d")

        self.assertEqual(sorted(shared.column_names), ["files", "flat", "points", "texts", "uneven", "y"])
        self.assertEqual((shared[:]["texts"], shared[:]["files"]), (texts, files))
        for name, rows in ("points", RAGGED), ("uneven", UNEVEN):
            self.assertEqual(shared[:][name], [row.tolist() for row in rows])
        self.assertEqual(shared[1:]["flat"], [[0, 1, 2, 3], []])
        self.assertEqual(shared.features["points"], datasets.LargeList(datasets.List(datasets.Value("float64"), 3)))
        for name, part in ("texts", "bytes"), ("files", "values"), ("points", "values"), ("uneven", "values"), ("flat", "values"):
            self.assertEqual(values_at(shared.data[name]), place(opened[f"{name}/{part}"]), name)
        for name in "texts", "files", "flat":
            self.assertEqual(shared.data[name].chunk(0).buffers()[1].address, place(opened[name + "/offsets"]))

    def test_columns_that_are_too_long_for_offsets_of_32_bits_come_in_chunks(self):
        texts = ["aaa", "bb", "", "ccccccc", "d", "größe", ""]
        self.publish(arrays={}, columns={"texts": make_store.strings(texts), "files": make_store.raw_bytes([text.encode() for text in texts])})
        with mock.patch.object(larder.hf, "_LONGEST", 5):
            shared = larder.hf.dataset("d")
        self.assertEqual((shared.data["texts"].num_chunks, shared[:]["texts"]), (5, texts))
        short = shared.cast_column("texts", datasets.Value("string")).cast_column("files", datasets.Value("binary"))
        self.assertEqual((short[:]["texts"], short[:]["files"]), (texts, [text.encode() for text in texts]))
        short.data["texts"].validate(full=True)

    def test_it_is_leased_as_long_as_any_part_lives(self):
        folder = self.publish(arrays={"x": np.zeros((9, 4, 4)), "y": np.arange(9)})
        shared = larder.hf.dataset("d")
        part = shared.select(range(3, 6)).data["x"].chunk(0)
        self.assertTrue(self.is_leased(folder))
        del shared
        self.assertTrue(self.is_leased(folder))
        del part
        self.assertFalse(self.is_leased(folder))

    def test_what_does_not_fit_is_refused_in_words(self):
        self.publish(arrays={"x": np.arange(3), "longer": np.arange(4), "complex": np.zeros(3, complex), "one": np.array(1),
                             "rows": np.zeros(3, [("a", "i4"), ("b", "f8")])}, columns={"key": make_store.texts_index(["a"])})
        for columns, error, words in ((None, larder.LarderError, "no such dtype: array=complex"),
                                      (["x", "one"], ValueError, "without rows: array=one"),
                                      (["x", "longer"], ValueError, "numbers of rows: dataset=d x=3 longer=4; name those"),
                                      (["complex"], larder.LarderError, "no such dtype: array=complex dtype=complex128 .*; leave the array out"),
                                      (["rows"], larder.LarderError, "no such dtype: array=rows"),
                                      (["key"], larder.NotFound, "an index has no rows: dataset=d column=key; leave it out"),
                                      (["y"], larder.NotFound, "no such array: dataset=d version=1 array=y; "),
                                      ("x", ValueError, "not a list of arrays")):
            with self.assertRaisesRegex(error, words):
                larder.hf.dataset("d", columns)
        with self.assertRaisesRegex(larder.NotFound, "no such dataset: dataset=nobody "):
            larder.hf.dataset("nobody")

    def test_damaged_columns_are_named_and_not_followed(self):
        def offsets(*of):
            return np.array(of, "<i8")

        good = make_store.ragged(RAGGED)
        for name, parts in (("behind", {**make_store.strings(["ab"]), "strings_offsets": offsets(0, 3)}),
                            ("backwards", {**make_store.raw_bytes([b"ab", b"c"]), "bytes_offsets": offsets(0, 9, 3)}),
                            ("before", {**make_store.strings(["ab"]), "strings_offsets": offsets(-1, 2)}),
                            ("none", {**make_store.strings([]), "strings_offsets": offsets()}),
                            ("shapes", {**good, "ragged_shapes": good["ragged_shapes"] + 1}),
                            ("negative", {**good, "ragged_shapes": -good["ragged_shapes"]}),
                            ("few", {**good, "ragged_shapes": good["ragged_shapes"][1:]})):
            self.publish(columns={name: parts}, arrays={})
            with self.assertRaisesRegex(larder.LarderError, f"a column is damaged: dataset=d column={name}; larder reload d"):
                larder.hf.dataset("d")


@unittest.skipUnless(datasets, "needs datasets")
class PickleTest(StoreCase):
    def setUp(self):
        super().setUp()
        self.publish(arrays={"y": np.arange(1000), "x": np.zeros((1000, 4, 4))})
        self.shared = larder.hf.dataset("d")

    def test_it_pickles_as_a_name_and_what_was_done_since(self):
        self.assertLess(len(pickle.dumps(self.shared)), 3000)
        made = self.shared.select(range(10, 20)).rename_column("y", "z").remove_columns("x").cast_column("z", datasets.Value("int32"))
        again = pickle.loads(pickle.dumps(made))
        self.assertEqual((again[:], again.features), ({"z": [*range(10, 20)]}, made.features))
        self.assertLess(len(pickle.dumps(again)), 4000)
        self.assertEqual(pickle.loads(pickle.dumps(self.shared.shuffle(1)))[:5], self.shared.shuffle(1)[:5])
        both = datasets.concatenate_datasets([self.shared, self.shared.select(range(5))])
        self.assertLess(len(pickle.dumps(both)), 6000)
        self.assertEqual(pickle.loads(pickle.dumps(both))[998:]["y"], [998, 999, 0, 1, 2, 3, 4])

    def test_a_pickle_lies_on_the_pages_of_the_store(self):
        again = pickle.loads(pickle.dumps(self.shared))
        for name in "x", "y":
            self.assertEqual(values_at(again.data[name]), place(larder.open("d/" + name)))

    def test_workers_read_it_however_they_are_started(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.map(total, [self.shared]), [499500])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 does not like that it forks
            mapped = self.shared.select_columns(["y"]).map(twice, num_proc=2)
        self.assertEqual(mapped[:]["y"], [*range(0, 2000, 2)])

    def test_the_same_version_has_the_same_fingerprint(self):
        self.assertEqual(larder.hf.dataset("d")._fingerprint, self.shared._fingerprint)
        self.assertNotEqual(larder.hf.dataset("d", ["y"])._fingerprint, self.shared._fingerprint)
        self.publish(arrays={"y": np.arange(1000) + 1, "x": np.zeros((1000, 4, 4))})
        self.assertNotEqual(larder.hf.dataset("d")._fingerprint, self.shared._fingerprint)


@unittest.skipUnless(datasets, "needs datasets")
class CacheTest(BuildsCase):
    def setUp(self):
        super().setUp()
        self.calls = []

    def cache(self, made, name="c"):
        return larder.hf.cache(name, lambda: (self.calls.append(name), made)[1])

    def test_every_kind_of_column_comes_back_as_it_was(self):
        features = {"number": datasets.Value("int32"), "flag": datasets.Value("bool"), "half": datasets.Value("float16"),
                    "label": datasets.ClassLabel(names=["no", "yes"]), "text": datasets.Value("string"), "file": datasets.Value("binary"),
                    "fixed": datasets.List(datasets.Value("float32"), length=2), "list": datasets.List(datasets.Value("int64")),
                    "lists": datasets.List(datasets.List(datasets.Value("int8"))),
                    "points": datasets.List(datasets.List(datasets.Value("float64"), 2)), "grid": datasets.Array2D((2, 2), "uint8"),
                    "open": datasets.Array2D((None, 2), "int16"), "time": datasets.Value("timestamp[us]")}
        rows = {"number": [1, 2, 3], "flag": [True, False, True], "half": [0.5, 1, 2], "label": [0, 1, 1], "text": ["a", "", "größe"],
                "file": [b"1", b"", b"\xff"], "fixed": [[1, 2], [3, 4], [5, 6]], "list": [[1], [], [2, 3]],
                "lists": [[[1, 2], [3, 4]], [], [[5]]], "points": [[[1, 2]], [], [[3, 4], [5, 6]]], "grid": [[[1, 2], [3, 4]]] * 3,
                "open": [[[1, 2]], [[3, 4], [5, 6]], [[7, 8]]], "time": np.arange(3).astype("M8[us]").tolist()}
        made = datasets.Dataset.from_dict(rows, features=datasets.Features(features))
        for _ in range(2):
            shared = self.cache(made)
            self.assertEqual(shared[:], made[:])
        self.assertEqual(self.calls, ["c"])
        self.assertEqual(shared.column_names, made.column_names)
        for name in "number", "flag", "half", "label", "fixed", "grid", "time":
            self.assertEqual(shared.features[name], features[name])
        self.assertEqual(shared.features["label"].int2str(1), "yes")
        opened = larder.dataset("c")
        self.assertEqual(opened.columns, {"text": "strings", "file": "bytes", **dict.fromkeys(("list", "lists", "points", "open"), "ragged")})
        self.assertEqual((opened["grid"].shape, opened["fixed"].dtype), ((3, 2, 2), np.float32))
        self.assertEqual(opened.ragged("lists")[0].tolist(), [[1, 2], [3, 4]])

    def test_indices_slices_and_chunks_are_stored_in_the_order_of_the_rows(self):
        tens = [range(n, n + 10) for n in (0, 10, 20)]
        features = datasets.Features({"x": datasets.Value("int64"), "text": datasets.Value("string"),
                                      "list": datasets.List(datasets.Value("int8")), "grid": datasets.Array2D((1, 1), "int16")})
        joined = datasets.concatenate_datasets([
            datasets.Dataset.from_dict({"x": [*ten], "text": [*map(str, ten)], "list": [[i] * (i % 3) for i in ten], "grid": [[[i]] for i in ten]},
                                       features=features) for ten in tens])
        cases = {"whole": joined, "slice": joined.select(range(5, 17)), "shuffled": joined.shuffle(3), "none": joined.select([])}
        for name, made in cases.items():
            self.assertEqual(self.cache(made, name)[:], made[:])

    def test_what_is_read_of_the_store_is_stored_again(self):
        self.publish("d", {"x": np.arange(12.).reshape(3, 4), "g": np.arange(27).reshape(3, 3, 3)},
                     {"points": make_store.ragged(RAGGED), "uneven": make_store.ragged(UNEVEN), "texts": make_store.strings(["a", "b", "c"])})
        again = self.cache(larder.hf.dataset("d").select([2, 0]))
        self.assertEqual(again[:], larder.hf.dataset("d")[[2, 0]])
        self.assertEqual([row.tolist() for row in larder.dataset("c").ragged("points")], [RAGGED[2].tolist(), RAGGED[0].tolist()])

    @unittest.skipUnless(importlib.util.find_spec("PIL"), "needs pillow")
    def test_images_stay_files_and_are_decoded_when_they_are_read(self):
        from PIL import Image

        pixels = [np.full((2, 3, 3), n, np.uint8) for n in (0, 90, 255)]
        features = datasets.Features({"image": datasets.Image()})
        made = datasets.Dataset.from_dict({"image": [*map(Image.fromarray, pixels)]}, features=features)
        shared = self.cache(made)
        self.assertEqual(shared.features["image"], datasets.Image())
        for again in shared, pickle.loads(pickle.dumps(shared)):
            self.assertEqual([np.asarray(row["image"]).tolist() for row in again], [array.tolist() for array in pixels])
        self.assertEqual(bytes(larder.dataset("c").bytes("image")[0])[:4], b"\x89PNG")
        self.assertEqual(shared.data["image"].chunk(0).field("bytes").buffers()[2].address, place(larder.open("c/image/values")))
        path = os.path.join(self.store, "pixels.png")
        Image.fromarray(pixels[1]).save(path)
        named = self.cache(datasets.Dataset.from_dict({"image": [path]}, features=features), "named")
        os.remove(path)
        self.assertEqual(np.asarray(named[0]["image"]).tolist(), pixels[1].tolist())

    def test_what_the_store_has_no_form_for_is_refused_and_nothing_stays(self):
        for array, words in ((pa.array([1, None]), "1 values are None; fill them"), (pa.array(["a", None]), "1 values are None"),
                             (pa.array([[1], None]), "1 values are None"), (pa.array([[1, None]]), "1 values are None"),
                             (pa.array([None, None]), "2 values are None"), (pa.array([{"a": 1}]), "its values are struct<"),
                             (pa.array([["a"]]), "its values are string; cast_column"), (pa.array([[[1], [1, 2]]]), "lists of one row differ"),
                             (pa.array([1], pa.timestamp("us", "UTC")), "its values are timestamp"),
                             (pa.array([1], pa.time64("us")), "its values are time64"),
                             (pa.array([1], pa.decimal128(5)), "its values are decimal")):
            with self.assertRaisesRegex(larder.LarderError, "the store cannot contain a column: column=x reason=" + words):
                self.cache(datasets.Dataset(pa.table({"x": array})))
        for name, words in ("features.json", "the name is taken; rename it"), ("two words", "its name has more than letters, .*; rename it"):
            with self.assertRaisesRegex(larder.LarderError, f"column={name} reason={words}"):
                self.cache(datasets.Dataset(pa.table({name: [1]})))
        split = datasets.DatasetDict(train=datasets.Dataset.from_dict({"x": [1]}))
        for made in split, [1], iter([]):
            with self.assertRaisesRegex(larder.LarderError, "not a datasets.Dataset: type=.*; return one"):
                self.cache(made)
        self.assertEqual(larder.datasets(), [])


@unittest.skipUnless(datasets, "needs datasets")
@unittest.skipUnless(STORE, "needs a daemon: LARDER_TEST_STORE")
class WithDaemonTest(unittest.TestCase):
    def setUp(self):
        os.environ["LARDER_STORE"] = STORE
        self.addCleanup(os.environ.pop, "LARDER_STORE")

    def test_a_dataset_is_kept_and_comes_back(self):
        rows = {"text": ["a", "größe"], "tokens": [[1, 2], [3]], "grid": np.arange(8).reshape(2, 2, 2).tolist(), "path/file": [b"1", b""]}
        made = []
        for _ in range(2):
            kept = larder.hf.cache("kept", lambda: made.append(datasets.Dataset.from_dict(rows)) or made[-1])
            self.assertEqual((kept[:], len(made)), (rows, 1))
        del kept
        larder.evict("kept")


class WithoutDatasetsTest(unittest.TestCase):
    def test_who_has_no_hugging_face_is_told_what_to_install(self):
        program = "import sys; sys.modules['datasets'] = None; import larder; print('fine'); larder.hf"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8",
                              env={**os.environ, "PYTHONPATH": os.environ.get("LARDER_PYTHON", HERE)})
        self.assertEqual(done.stdout, "fine\n")
        self.assertRegex(done.stderr, "ImportError: larder.hf needs Hugging Face datasets: reason=.*; .* -m pip install datasets")


if __name__ == "__main__":
    unittest.main()
