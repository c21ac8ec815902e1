"""Tests of larder, against stores that make_store.py writes. $LARDER_PYTHON is the folder of another larder than this one's.

    python3 -W error -m unittest discover -s ops/python
"""

import errno
import fcntl
import gc
import glob
import importlib.util
import json
import multiprocessing
import os
import pickle
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from unittest import mock
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.environ.get("LARDER_PYTHON", HERE), HERE]

os.environ["LARDER_START"] = "never"  # a test starts its daemons itself

import larder  # noqa: E402
import make_store  # noqa: E402


def room(name):
    """Return a room of the package, or the whole where it is one file."""
    return sys.modules.get("larder." + name, larder)



GOLDEN = sorted(glob.glob(os.path.join(ROOT, "cache-client/src/test/resources/npy/*.npy")))
VECTORS = os.path.join(ROOT, "cache-client/src/test/resources/layout/columns.tsv")
PARTS = ("", "ragged_values", "ragged_offsets", "ragged_shapes", "strings_bytes", "strings_offsets", "index_slots",
         "index_records", "index_positions", "index_entries", "bytes_values", "bytes_offsets")


def golden_columns():
    columns = {}
    with open(VECTORS, encoding="utf-8") as lines:
        for what, *fields in (line.rstrip("\n").split("\t") for line in lines):
            if what == "array":
                name, part, dtype, shape, data = fields
                array = np.frombuffer(bytes.fromhex(data), dtype).reshape([int(n) for n in shape.split(",")])
                columns.setdefault(name.rpartition("/")[0], {})[PARTS[int(part)]] = array
    return columns


def golden_arrays():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy does not like what Python 2 wrote
        return {os.path.basename(path)[:-4]: np.load(path) for path in GOLDEN}


def same(case, actual, expected):
    case.assertEqual((actual.dtype, actual.shape), (expected.dtype, expected.shape))
    case.assertTrue(actual.size == 0 or actual.strides == expected.strides)
    case.assertEqual(actual.tobytes("A"), expected.tobytes("A"))


class StoreCase(unittest.TestCase):
    """Has a store of its own."""

    def setUp(self):
        self.store = tempfile.mkdtemp(prefix="larder-test-" + os.environ.get("LARDER_TEST_RUN", "python") + "-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.store)
        before = os.environ.get("LARDER_STORE")
        os.environ["LARDER_STORE"] = self.store
        self.addCleanup(lambda: os.environ.pop("LARDER_STORE") if before is None else os.environ.update(LARDER_STORE=before))

    def publish(self, name="d", arrays=None, columns=None, **options):
        arrays = {"x": np.arange(60).reshape(3, 4, 5)} if arrays is None else arrays
        return make_store.write_version(self.store, name, arrays, columns, **options)

    def is_leased(self, folder):
        with open(os.path.join(folder, "lease")) as lease:
            try:
                fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True


class ArraysTest(StoreCase):
    @unittest.skipUnless(GOLDEN, "needs the golden files of a checkout")
    def test_every_array_that_numpy_writes_is_read_packed_or_not(self):
        golden = golden_arrays()
        for packed in False, True:
            self.publish("golden", golden, packed=packed)
            opened = larder.dataset("golden")
            self.assertEqual(sorted(opened), sorted(golden))
            for name, expected in golden.items():
                with self.subTest(name, packed=packed):
                    same(self, opened[name], expected)

    def test_arrays_of_an_earlier_build_start_on_a_page_and_are_read(self):
        x = np.arange(3000.0).reshape(1000, 3)
        make_store.write_version(self.store, "old", {"x": x}, behind=0)

        found = larder.open("old/x", self.store)

        self.assertEqual(found.offset, 4096)
        same(self, found, x)

    def test_what_was_written_is_what_stock_numpy_reads(self):
        x = np.asfortranarray(np.arange(12.0).reshape(3, 4))
        folder = self.publish(arrays={"a/b": x})

        same(self, np.load(os.path.join(folder, "a", "b.npy")), x)
        same(self, larder.open("d/a/b"), x)

    def test_arrays_are_memmaps_that_nobody_can_write(self):
        self.publish()
        x = larder.open("d/x")

        self.assertIsInstance(x, np.memmap)
        self.assertFalse(x.flags.writeable)
        with self.assertRaises(ValueError):
            x[0] = 1
        with self.assertRaises(ValueError):
            x.view(np.ndarray).flags.writeable = True

    def test_an_array_knows_its_file_as_a_memmap_does(self):
        folder = self.publish()
        x = larder.open("d")

        self.assertEqual(x.filename, os.path.join(folder, "x.npy"))
        self.assertEqual((x.offset, x[1].offset, x.mode), (4288, 4288 + 160, "r"))
        same(self, np.memmap(x.filename, x.dtype, "r", x.offset, x.shape), x)

    def test_what_is_computed_is_an_ordinary_array_and_can_be_written(self):
        self.publish()
        x = larder.open("d/x")

        for computed in x + 1, x[[0, 2]], x[x > 5], x.mean(axis=0), np.sqrt(x), np.where(x > 5, x, 0):
            self.assertIs(type(computed), np.ndarray)
            self.assertTrue(computed.flags.writeable)
        self.assertIsInstance(x.sum(), np.integer)

    def test_scalars_empty_arrays_and_fortran_order_keep_their_form(self):
        arrays = {"scalar": np.array(5.5), "empty": np.empty((0, 3), "<i2"), "f": np.ones((2, 3), order="F")}
        self.publish(arrays=arrays)
        opened = larder.dataset("d")

        for name, expected in arrays.items():
            same(self, opened[name], expected)
        self.assertEqual(opened["scalar"] + 1, 6.5)

    def test_an_array_outlives_its_dataset_and_keeps_the_lease(self):
        folder = self.publish()
        with larder.dataset("d") as opened:
            row = opened["x"][1, 2]
        self.assertTrue(self.is_leased(folder))
        self.assertEqual(row.tolist(), [30, 31, 32, 33, 34])

        del row
        self.assertFalse(self.is_leased(folder))

    def test_many_arrays_of_a_pack_share_one_map(self):
        arrays = {f"a{i}": np.full(10, i) for i in range(500)}
        self.publish(arrays=arrays, packed=True)
        opened = larder.dataset("d")
        before = len(os.listdir("/proc/self/fd"))

        taken = [opened[name] for name in arrays]

        self.assertEqual(sum(int(x[0]) for x in taken), sum(range(500)))
        self.assertLessEqual(len(os.listdir("/proc/self/fd")) - before, 1)


class DatasetTest(StoreCase):
    def test_a_dataset_is_a_mapping_of_its_arrays(self):
        self.publish(arrays={"b": np.zeros(1), "a": np.ones(1)})
        opened = larder.dataset("d")

        self.assertEqual(([*opened], len(opened), "a" in opened, "c" in opened), (["a", "b"], 2, True, False))
        self.assertEqual([*opened.keys()], ["a", "b"])
        self.assertIsNone(opened.get("c"))
        self.assertEqual((opened.name, opened.version, len(opened.digest)), ("d", 1, 64))

    def test_a_dataset_keeps_its_version_while_a_newer_one_is_published(self):
        self.publish(arrays={"x": np.array([1])})
        old = larder.dataset("d")
        self.publish(arrays={"x": np.array([2])})
        new = larder.dataset("d")

        self.assertEqual((old["x"][0], old.version, new["x"][0], new.version), (1, 1, 2, 2))
        self.assertEqual((old.is_newest, new.is_newest), (False, True))
        os.remove(os.path.join(new.store, "data", "d", "current"))  # as an eviction does
        self.assertEqual((old.is_newest, new.is_newest), (False, True))

    def test_a_dataset_is_the_newest_until_another_version_is_published(self):
        self.publish()
        opened = larder.dataset("d")
        self.assertTrue(opened.is_newest)

        os.remove(os.path.join(larder.dataset("d").store, "data", "d", "current"))  # as an eviction does

        self.assertTrue(opened.is_newest)
        opened.close()
        with self.assertRaises(ValueError):
            opened.is_newest  # noqa: B018

    def test_a_version_is_leased_until_the_dataset_is_closed(self):
        folder = self.publish()
        opened = larder.dataset("d")
        self.assertTrue(self.is_leased(folder))

        opened.close()
        opened.close()
        self.assertFalse(self.is_leased(folder))
        with self.assertRaises(ValueError):
            opened["x"]

    def test_a_process_has_one_lease_for_a_version(self):
        self.publish()
        first = larder.dataset("d")
        before = len(os.listdir("/proc/self/fd"))
        others = [larder.dataset("d") for _ in range(50)]

        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertEqual({other.version for other in others}, {first.version})

    def test_a_version_that_is_being_retired_is_resolved_again(self):
        folder = self.publish(arrays={"x": np.array([1])})
        with open(os.path.join(folder, "lease")) as lease:
            fcntl.flock(lease, fcntl.LOCK_EX)
            found = []
            opening = threading.Thread(target=lambda: found.append(larder.dataset("d")))
            opening.start()
            self.publish(arrays={"x": np.array([2])})
            shutil.rmtree(folder)
            opening.join(30)

        self.assertEqual(found[0]["x"][0], 2)

    def test_a_lease_that_is_removed_before_it_is_locked_is_no_lease(self):
        folder, lock = self.publish(), fcntl.flock

        def remove_then_lock(file, operation):
            os.unlink(os.path.join(folder, "lease"))
            lock(file, operation)

        with mock.patch.object(fcntl, "flock", remove_then_lock):
            self.assertIsNone(room("_versions")._lease(self.store, "d", 1))

    def test_a_link_in_place_of_a_lease_is_not_followed(self):
        folder = self.publish()
        lease = os.path.join(folder, "lease")
        os.rename(lease, lease + ".moved")
        os.symlink("lease.moved", lease)

        with self.assertRaises(OSError) as refused:
            larder.dataset("d")
        self.assertEqual(refused.exception.errno, errno.ELOOP)

    def test_a_store_that_was_made_anew_at_the_same_place_is_not_taken_for_the_old_one(self):
        self.publish(arrays={"x": np.array([1])})
        old = larder.dataset("d")
        shutil.rmtree(os.path.join(self.store, "data"))
        self.publish(arrays={"x": np.array([2])})

        self.assertEqual(larder.open("d/x")[0], 2)
        with self.assertRaisesRegex(larder.NoStore, "removed while it was open"):
            old["x"]

    def test_threads_may_share_a_dataset(self):
        self.publish(arrays={f"a{i}": np.full(100, i) for i in range(50)})
        opened = larder.dataset("d")
        sums = []

        def read():
            sums.append(sum(int(opened[name].sum()) for name in opened))

        threads = [threading.Thread(target=read) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join(30) for thread in threads]
        self.assertEqual(sums, [100 * sum(range(50))] * 8)

    def test_datasets_lists_what_is_resident(self):
        self.publish("b")
        self.publish("a")

        self.assertEqual(larder.datasets(), ["a", "b"])


class ComesAndGoesTest(StoreCase):
    """A dataset that a daemon loads and evicts while it is looked for."""

    def setUp(self):
        super().setUp()
        self.folder = os.path.dirname(self.publish())
        self.current, self.registered = (os.path.join(self.folder, name) for name in ("current", "registered"))

    def evict(self):
        with open(self.registered, "w"):
            os.unlink(self.current)

    def load(self):
        os.symlink("1", self.current)
        os.unlink(self.registered)

    def asked(self, *answers):
        """Have the daemon asked for the dataset answer so, one time after the other."""
        answers = iter(answers)
        return mock.patch.object(room("_versions"), "_await", lambda *_, **__: next(answers)())

    def test_a_dataset_that_is_published_while_the_daemon_is_asked_is_found(self):
        self.evict()

        def answer():
            self.load()
            raise larder.NotFound("no such dataset")

        with self.asked(answer):
            self.assertEqual(larder.dataset("d").version, 1)

    def test_a_dataset_that_is_evicted_while_it_is_opened_is_loaded_again(self):
        self.evict()
        with self.asked(lambda: None, self.load):  # the first time it has left again
            self.assertEqual(larder.dataset("d").version, 1)

    def test_a_dataset_that_never_stays_is_an_error_that_says_so(self):
        self.evict()
        with mock.patch.object(room("_versions"), "_await") as wait:
            with self.assertRaisesRegex(larder.Refused, "evicted as soon as it is loaded: dataset=d loaded=5 .*; make room"):
                larder.dataset("d")
        self.assertEqual(wait.call_count, 5)

    def test_without_a_daemon_a_dataset_that_is_only_registered_cannot_be_loaded(self):
        self.evict()

        with self.assertRaisesRegex(larder.NoStore, "no daemon at the store"):
            larder.dataset("d")


class InPlaceTest(StoreCase):
    """Files that a version maps where they lie."""

    def setUp(self):
        super().setUp()
        self.paths = {}
        folder = self.publish(arrays={"x": np.arange(5000), "y": np.arange(5000.0)})
        manifest = os.path.join(folder, "manifest.json")
        with open(manifest) as file:
            contents = json.load(file)
        contents["options"] = {"inPlace": True}
        for array in contents["arrays"]:
            path = self.paths[array["name"]] = array["file"] = os.path.join(self.store, array["file"])
            os.rename(os.path.join(folder, os.path.basename(path)), path)
            found = os.stat(path)
            contents["sources"].append({"array": array["name"], "path": path, "bytes": found.st_size,
                                        "modified": found.st_mtime_ns, "inode": found.st_ino, "sample": ""})
        make_store.write_manifest(folder, contents)

    def changed(self):
        return self.assertRaisesRegex(larder.LarderError, "mapped in place has changed: dataset=d file=.*x.npy bytes=.* "
                                                          "loadedBytes=.*; load the file as it is now: larder reload d")

    def test_they_are_read_where_they_lie(self):
        x = larder.open("d/x")
        self.assertEqual((x.filename, x[4999]), (self.paths["x"], 4999))

    def test_one_that_has_shrunk_is_refused_whoever_has_it_open(self):
        opened = larder.dataset("d")
        x = opened["x"]
        text = pickle.dumps(x[4000:])
        os.truncate(self.paths["x"], 4096)

        for again in lambda: opened["x"], lambda: larder.dataset("d")["x"], lambda: larder.open("d/x"), lambda: pickle.loads(text):
            with self.changed():
                again()
        self.assertEqual(opened["y"][4999], 4999)

    def test_one_that_was_written_or_replaced_is_refused(self):
        opened = larder.dataset("d")
        kept = opened["x"]
        status = os.stat(self.paths["x"])
        with open(self.paths["x"], "r+b") as file:
            file.seek(-8, os.SEEK_END)
            file.write(bytes(8))
        os.utime(self.paths["x"], (1, 1))
        with self.changed():
            opened["x"]
        copy = self.paths["x"] + ".copy"
        shutil.copyfile(self.paths["x"], copy)
        os.rename(copy, self.paths["x"])
        os.utime(self.paths["x"], ns=(0, status.st_mtime_ns))
        with self.changed():
            larder.open("d/x")
        self.assertEqual(kept[0], 0)

    def test_one_that_is_missing_is_named(self):
        opened = larder.dataset("d")
        kept = opened["x"]
        for path in self.paths.values():
            os.unlink(path)
        for name in "xy":
            with self.assertRaisesRegex(larder.LarderError, f"mapped in place is missing: file=.*{name}.npy; restore the file"):
                opened[name]
        self.assertEqual(kept[4999], 4999)


class VersionsTest(unittest.TestCase):
    def load(self):
        spec = importlib.util.spec_from_file_location("larder_again", larder.__file__)
        module = importlib.util.module_from_spec(spec)
        with mock.patch.dict(sys.modules, {spec.name: module}):
            spec.loader.exec_module(module)

    def test_too_old_a_python_or_numpy_is_refused_in_words(self):
        with mock.patch.object(sys, "version_info", (3, 8, 18, "final", 0)):
            with self.assertRaisesRegex(ImportError, "needs Python 3.9 or later: python=3.8.18; run a newer python3"):
                self.load()
        with mock.patch.object(np, "__version__", "1.22.4"):
            with self.assertRaisesRegex(ImportError, "needs numpy 1.23 or later: numpy=1.22.4; .* -m pip install -U numpy"):
                self.load()
        with mock.patch.object(np, "__version__", "10.0.0rc1"):
            self.load()

    @unittest.skipUnless(os.path.exists(os.path.join(ROOT, "pom.xml")), "needs a checkout")
    def test_the_version_is_that_of_the_daemon(self):
        with open(os.path.join(ROOT, "pom.xml"), encoding="utf-8") as pom:
            version = re.search("<artifactId>larder</artifactId>\\s*<version>(.*?)</version>", pom.read())[1]
        self.assertEqual(larder.__version__, version.replace("-SNAPSHOT", ".dev0"))


class ImportTest(unittest.TestCase):
    def test_what_only_some_programs_need_is_imported_when_it_is_used(self):
        program = "import sys, numpy; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); import larder; print(*(set(sys.modules) - before))"
        imported = subprocess.run([sys.executable, "-c", program, os.environ.get("LARDER_PYTHON", HERE)], check=True, stdout=subprocess.PIPE,
                                  encoding="utf-8").stdout.split()
        self.assertIn("larder", imported)
        for heavy in "hashlib", "shutil", "subprocess", "tempfile", "sysconfig", "difflib", "inspect", "torch":
            self.assertNotIn(heavy, set(imported), "each takes up to half a megabyte of every process")


class ErrorsTest(StoreCase):
    def test_an_unknown_dataset_is_answered_with_similar_names(self):
        self.publish("mnist")

        with self.assertRaisesRegex(larder.NotFound, "no such dataset: dataset=mnits .*did you mean mnist\\? load it with") as caught:
            larder.dataset("mnits")
        self.assertIsInstance(caught.exception, KeyError)
        self.assertIsInstance(caught.exception, larder.LarderError)

    def test_the_name_of_an_array_is_no_name_of_a_dataset(self):
        self.publish("mnist")

        with self.assertRaisesRegex(larder.NotFound, r"name=mnist/x; use larder.dataset\('mnist'\)\['x'\]"):
            larder.dataset("mnist/x")

    def test_an_unknown_array_is_answered_with_similar_names_and_columns_with_their_method(self):
        self.publish(columns={"scene": make_store.texts_index(["a"])})
        opened = larder.dataset("d")

        with self.assertRaisesRegex(larder.NotFound, r"array=scene; it is a column: use larder.dataset\('d'\)\['scene'\]"):
            larder.open("d/scene")
        self.publish("only", {}, {"t": make_store.strings(["a"])})
        with self.assertRaisesRegex(larder.NotFound, r"array=t; it is a column"):
            larder.open("only")
        with self.assertRaisesRegex(larder.NotFound, r"kind=index wanted=strings; open it with .index\('scene'\)"):
            opened.strings("scene")
        with self.assertRaisesRegex(larder.NotFound, "column=scen; did you mean scene\\?"):
            opened.index("scen")
        with self.assertRaisesRegex(larder.NotFound, "array=nothing-like-it; there are scene, x$"):
            larder.open("d/nothing-like-it")

    def test_a_dataset_shows_its_columns_as_larder_ls_does(self):
        self.publish("mixed", {"label": np.zeros(1), "scene/extra": np.zeros(1)},
                     {"scene": make_store.texts_index(["a"]), "text": make_store.strings(["a"])})
        self.publish("many", {f"a{i:02}": np.zeros(1) for i in range(12)})

        self.assertEqual(repr(larder.dataset("mixed")),
                         f"<larder.Dataset mixed version 1 in {self.store}: label, scene/extra, scene (index), text (strings)>")
        self.assertTrue(repr(larder.dataset("many")).endswith(": a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, ... (2 more)>"))
        self.assertEqual(len(larder.dataset("mixed")), 4)

    def test_a_dataset_is_not_made_of_a_name(self):
        with self.assertRaisesRegex(TypeError, r"name=mnist; use larder\.dataset\('mnist'\)"):
            larder.Dataset("mnist")

    def test_the_name_of_a_dataset_stands_for_its_only_array(self):
        self.publish("one")
        self.publish("two", {"a": np.zeros(1), "b": np.zeros(1)})

        self.assertEqual(larder.open("one").shape, (3, 4, 5))
        with self.assertRaisesRegex(larder.NotFound, "arrays=2; there are a, b; open one: larder.open.'two/a'.$"):
            larder.open("two")
        self.publish("texts", {}, {"a": make_store.strings(["x"]), "b": make_store.strings(["y"])})
        with self.assertRaisesRegex(larder.NotFound, r"there are a, b; open one: larder.dataset\('texts'\)\['a'\]$"):
            larder.open("texts")

    def test_names_that_are_paths_lead_nowhere(self):
        self.publish()
        for name in "../data/d", "..", ".", "", "d/..", "d\0", "d\ud800":
            with self.assertRaises(larder.NotFound):
                larder.dataset(name)

    def test_no_store_is_an_error_of_its_own(self):
        started = "store=/dev/shm/larder-nowhere; start a daemon: larder.serve\\(\\), larder.load\\(...\\) or larder serve --detach; or name another store: store= or .LARDER_STORE$"
        with self.assertRaisesRegex(larder.NoStore, started):
            larder.dataset("d", store="/dev/shm/larder-nowhere")
        said = "larder: no daemon at the store: store=/dev/shm/larder-nowhere; start a daemon: larder serve, or name another store: --store DIR"
        with self.assertRaisesRegex(larder.NoStore, "^no daemon at the store: " + started):
            room("_command")._require_success(3, said)

    @unittest.skipUnless(os.getuid() == 0, "needs to be root, to give a folder away")
    def test_a_store_of_somebody_else_is_refused_unless_it_is_the_services(self):
        self.publish()
        os.chown(self.store, 1, -1)
        self.addCleanup(os.environ.pop, "LARDER_SERVICE_USER", None)

        with self.assertRaisesRegex(larder.Refused, "belongs to another user"):  # root too: it could have been planted
            larder.dataset("d")
        with mock.patch("os.getuid", return_value=4711):
            with self.assertRaisesRegex(larder.Refused, "belongs to another user: .*ownerUid=1.* uid=4711"):
                larder.dataset("d")
            os.environ["LARDER_SERVICE_USER"] = "daemon"
            self.assertEqual(larder.dataset("d").version, 1)

    @unittest.skipUnless(os.getuid() == 0, "needs to be root, to give a folder away")
    def test_a_store_that_was_opened_to_ones_group_is_trusted_where_it_was_named(self):
        self.publish()
        os.chown(self.store, 1, 60)
        os.chmod(self.store, 0o2750)

        with mock.patch("os.getuid", return_value=4711), mock.patch("os.getgroups", return_value=[60]):
            self.assertEqual(larder.dataset("d").version, 1)
            os.chmod(self.store, 0o755)
            with self.assertRaisesRegex(larder.Refused, "belongs to another user"):
                larder.dataset("d")

    def test_the_store_is_the_one_named_then_the_environments_then_ones_own(self):
        self.assertEqual(room("_store")._location("/a/../b"), "/b")
        self.assertEqual(room("_store")._location(), self.store)
        del os.environ["LARDER_STORE"]
        self.addCleanup(os.environ.update, LARDER_STORE=self.store)
        self.assertRegex(room("_store")._location(), "^(/dev/shm|/var/tmp)/larder")


class StoreChoiceTest(unittest.TestCase):
    """Reads the table of cases that Java's test reads."""

    USERS = {"me": 4711, "stranger": 4712, "system": 999, "configured": 1}
    MINE, THEIRS = 60, 61

    def make(self, path, what):
        words = what.split()
        if words[0] == "-":
            return
        if words[0] == "file":
            open(path, "x").close()
        elif words[0] == "link":
            os.symlink(self.folder, path)
        else:
            owner, _, group = words[0].partition(":")
            os.mkdir(path)
            os.chown(path, self.USERS[owner], self.MINE if group == "mine" else self.THEIRS)
            os.chmod(path, int(words[1], 8))
            if "live" in words:
                daemon = socket.socket(socket.AF_UNIX)
                self.addCleanup(daemon.close)
                daemon.bind(os.path.join(path, "control.sock"))
                daemon.listen()

    def choice(self, row):
        store = room("_store")
        with tempfile.TemporaryDirectory() as self.folder, \
                mock.patch.object(store, "_PLACES", [os.path.join(self.folder, place) for place in ("shm", "disk")]), \
                mock.patch.dict(os.environ, LARDER_SERVICE_USER="daemon"), \
                mock.patch.object(store, "_memory_bytes", return_value=2**62 if row[6:] == ["small"] else 0), \
                mock.patch("os.getuid", return_value=self.USERS["me"]), mock.patch("os.getgroups", return_value=[self.MINE]):
            for place in store._PLACES:
                os.mkdir(place)
            paths = dict(zip(("own", "disk", "service"), store._default_stores()))
            for path, what in zip(paths.values(), row[1:4]):
                self.make(path, what)
            chosen, skipped = store._chosen()
            names = {path: name for name, path in paths.items()}
            return names.get(chosen, "-"), [(names[path], reason) for path, reason in skipped]

    @unittest.skipUnless(os.getuid() == 0, "needs to be root, to give folders away")
    def test_the_table_says_which_store_is_chosen_and_which_are_skipped(self):
        with open(os.path.join(ROOT, "cache-client/src/test/resources/layout/store-choice.tsv"), encoding="utf-8") as table:
            rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
        self.assertGreater(len(rows), 20)
        for row in rows:
            with self.subTest(row[0]):
                chosen, skipped = self.choice(row)
                self.assertEqual((chosen, ",".join(name for name, _ in skipped) or "-"), (row[4], row[5]))

    @unittest.skipUnless(os.getuid() == 0, "needs to be root, to give folders away")
    def test_a_user_in_no_group_of_a_service_learns_which_to_join(self):
        _, skipped = self.choice(["", "-", "-", "system:theirs 2750 live"])

        self.assertRegex(skipped[0][1], "owner=999 .*ask to join its group and log in again: group=61")

    def test_a_user_without_a_place_for_a_store_is_refused_with_the_skipped_folders(self):
        store = room("_store")
        with mock.patch.object(store, "_chosen", return_value=(None, [("/dev/shm/larder-ada", "reason=other users can write to it")])), \
                mock.patch.dict(os.environ), warnings.catch_warnings(record=True) as said:
            os.environ.pop("LARDER_STORE", None)
            warnings.simplefilter("always")
            with self.assertRaisesRegex(larder.Refused, "no default store can be used: .*larder-ada.*name a store of your own"):
                store._location()

        self.assertRegex(str(said[0].message), "a store is skipped: store=/dev/shm/larder-ada")


class GroupsTest(unittest.TestCase):
    def test_memory_and_free_bytes_are_those_of_the_table(self):
        groups = room("_groups")
        with open(os.path.join(ROOT, "cache-client/src/test/resources/layout/control-groups.tsv"), encoding="utf-8") as table:
            cases = table.read().rstrip("\n").split("\n\n")[1:]
        self.assertGreater(len(cases), 15)
        for case in cases:
            (name, memory, free), *files = (line.split("\t") for line in case.replace("\\r", "\r").split("\n"))
            with self.subTest(name), tempfile.TemporaryDirectory() as root:
                for path, text in files:
                    path = os.path.join(root, path)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text.replace("\\n", "\n"))
                self.assertEqual(groups._memory_bytes(root), int(memory))
                self.assertEqual(groups._free_bytes(root), groups._NO_LIMIT if free == "-" else int(free))


def shown(row):
    return (row.dtype, row.shape, row.flags.writeable, row.tolist()) if isinstance(row, np.ndarray) else row if isinstance(row, str) else (row.readonly, bytes(row))


class ColumnsTest(StoreCase):
    def column(self, kind, parts, **more):
        self.publish(columns={"c": parts, **more})
        return getattr(larder.dataset("d"), kind)("c")

    def same_as_a_dict(self, index, model, absent):
        self.assertEqual([*index.items()], [*model.items()])
        self.assertEqual((len(index), dict(index)), (len(model), model))
        for key in absent:
            self.assertNotIn(key, index)
            self.assertEqual(index.get(key, "none"), "none")
            with self.assertRaises(KeyError):
                index[key]

    def test_an_index_of_texts_answers_as_a_dict_does(self):
        seed = random.randrange(2**32)
        rng = random.Random(seed)
        alphabet = "ab_0159äß日😀\0 "
        keys = [*{"".join(rng.choices(alphabet, k=rng.randrange(12))): None for _ in range(3000)}]
        model = {key: rng.randrange(-2**63, 2**63) for key in keys}
        with self.subTest(seed=seed):
            index = self.column("index", make_store.texts_index(model, model.values()))
            self.same_as_a_dict(index, model, ["absent", "ab" * 50, 5, None, b"a", 1.5, "\ud800"])

    def test_an_index_of_integers_answers_as_a_dict_does(self):
        seed = random.randrange(2**32)
        rng = random.Random(seed)
        keys = {rng.randrange(-2**63, 2**63) for _ in range(2000)} | {*range(-500, 500), 2**63 - 1, -2**63}
        model = {key: rng.randrange(2**40) for key in keys}
        with self.subTest(seed=seed):
            index = self.column("index", make_store.numbers_index(model, model.values()))
            self.same_as_a_dict(index, model, [2**63, -2**63 - 1, 10**30, 501, "a", None, 1.5])
            self.assertEqual(index[np.int32(-7)], model[-7])

    def test_an_index_may_be_empty_or_have_one_key(self):
        self.same_as_a_dict(self.column("index", make_store.texts_index([])), {}, ["", "a"])
        self.same_as_a_dict(self.column("index", make_store.numbers_index([])), {}, [0, 1])
        self.same_as_a_dict(self.column("index", make_store.texts_index([""])), {"": 0}, ["a"])

    def test_rows_of_many_keys_come_as_an_array(self):
        index = self.column("index", make_store.texts_index(["a", "b", "c"]))

        self.assertEqual(index.rows(["c", "a"]).tolist(), [2, 0])
        self.assertEqual(index.rows(np.array(["b", "x"]), default=-1).tolist(), [1, -1])
        with self.assertRaisesRegex(KeyError, "'x'"):
            index.rows(["b", "x"])

    def test_many_keys_are_found_together_as_each_is_alone(self):
        seed = random.randrange(2**32)
        rng = random.Random(seed)
        texts = ["", "\0", "a\0", "a", "日本", *{"".join(rng.choices("ab\0é", k=rng.randrange(9))) for _ in range(900)}]
        texts = [*dict.fromkeys(texts)]
        numbers = [*{rng.randrange(-2**63, 2**63) for _ in range(900)} | {0, -1, 2**63 - 1, -2**63}]
        unknown_texts = ["b" * 20, "b\0\0\0\0\0\0\0\0\0", "\ud800"]
        cases = ((make_store.texts_index, texts, unknown_texts), (make_store.texts_index, texts, unknown_texts[:1]),
                 (make_store.texts_index, [text for text in texts if "\0" not in text], unknown_texts[:1]), (make_store.numbers_index, numbers, [5, 2**63, 2**64 + 1]))
        for make, known, unknown in cases:
            index = self.column("index", make(known))
            for wanted in known, rng.choices([*known, *unknown], k=2000), rng.choices(known, k=400) + [1.5, None], unknown * 300, known[:3]:
                with self.subTest(seed=seed, make=make.__name__):
                    self.assertEqual(index.rows(wanted, default=-5).tolist(), [index.get(key, -5) for key in wanted])
            with self.assertRaises(KeyError) as missing:
                index.rows([*known, unknown[0], unknown[-1]])
            self.assertEqual(missing.exception.args, (unknown[0],))
        as_arrays = (np.array(numbers), np.array(numbers, ">i8"), np.tile(np.arange(99, dtype=np.uint8), 5), np.arange(2**64 - 400, 2**64, dtype=np.uint64))
        for keys in (*as_arrays, np.arange(400.0)):
            self.assertEqual(index.rows(keys, default=-5).tolist(), [index.get(key, -5) for key in keys.tolist()])

    def test_strings_are_a_sequence_of_str(self):
        texts = ["a", "", "größe 日本 😀", "z" * 1000]
        strings = self.column("strings", make_store.strings(texts))

        self.assertEqual(([*strings], strings[1:3], strings[-1], strings[np.int64(2)]), (texts, texts[1:3], texts[3], texts[2]))
        self.assertEqual((len(strings), "a" in strings, strings.index("")), (4, True, 1))
        for row in 4, -5, [0, 4]:
            with self.assertRaisesRegex(IndexError, "row out of range: dataset=d column=c rows=4 asked=.*; rows count from 0"):
                strings[row]

    def test_rows_of_a_column_are_picked_as_those_of_an_array(self):
        texts = [f"text {i}" for i in range(6)]
        strings = self.column("strings", make_store.strings(texts))
        model = np.array(texts)

        for picked in [4, -1, 4], np.array([2]), slice(None, None, -2), model > "text 3", np.arange(6) % 2 == 0, range(2, 4):
            self.assertEqual(strings[picked], model[picked].tolist())
        self.assertEqual(strings[[]], [])
        with self.assertRaisesRegex(IndexError, r"picked by integers.*column=c index='row 1'; an index finds rows by key: larder.dataset\(name\).index"):
            strings["row 1"]
        for wrong in 1.0, True, [True], [0.5], None, [[1], [2, 3]]:
            with self.subTest(wrong), self.assertRaisesRegex(IndexError, "dataset=d column=c"):
                strings[wrong]

    def test_rows_of_a_ragged_column_have_their_own_shapes_and_are_not_copied(self):
        rows = [np.arange(6, dtype=">f4").reshape(2, 3), np.empty((0, 4), ">f4"), np.ones((5, 1), ">f4")]
        ragged = self.column("ragged", make_store.ragged(rows))

        self.assertEqual(len(ragged), 3)
        for actual, expected in zip(ragged, rows):
            same(self, actual, expected)
            self.assertFalse(actual.flags.writeable)
            self.assertTrue(np.shares_memory(actual, ragged.values) or actual.size == 0)
        self.assertEqual(ragged.shapes.tolist(), [[2, 3], [0, 4], [5, 1]])

    def test_loops_slices_and_picks_have_the_rows_of_single_look_ups(self):
        seed = random.randrange(2**32)
        rng, columns = random.Random(seed), room("_columns")
        for _ in range(40):
            count, alphabet = rng.randrange(60), rng.choice(["ab\0", "ab日ä😀", "a" * 200 + "é"])
            texts = ["".join(rng.choices(alphabet, k=rng.randrange(12))) for _ in range(count)]
            shapes = [[rng.randrange(4) for _ in range(rank)] for rank in [rng.randrange(1, 4)] for _ in range(count)]
            ragged = [np.arange(np.prod(shape), dtype="<i2").reshape(shape) for shape in shapes] or [np.ones((2, 2))]
            start, stop, step = rng.randrange(-70, 70), rng.randrange(-70, 70), rng.choice([1, None, 2, -1])
            for kind, parts in ("strings", make_store.strings(texts)), ("bytes", make_store.raw_bytes([*map(str.encode, texts)])), ("ragged", make_store.ragged(ragged)):
                column = self.column(kind, parts)
                model = [*map(shown, (column[row] for row in range(len(column))))]
                rows = rng.choices(range(-len(model), len(model)), k=9) if model else []
                limits = {"_BLOCK_ROWS": rng.choice([1, 7, 512]), "_BLOCK_BYTES": rng.choice([0, 20, 1 << 18])}
                with self.subTest(seed=seed, kind=kind, **limits), mock.patch.multiple(columns, **limits):
                    self.assertEqual([*map(shown, column)], model)
                    self.assertEqual([*map(shown, column[start:stop:step])], model[start:stop:step])
                    self.assertEqual([*map(shown, column[rows])], [model[row] for row in rows])
                    self.assertEqual([[*map(shown, some)] for some in column[[rows, rows]]], 2 * [[model[row] for row in rows]] if model else [[], []])

    def test_a_damaged_row_ends_a_loop_where_it_is(self):
        for texts in (["a", "", "\u0100", "c"], ["ä", "b", "\u0100", "c"]):
            parts = make_store.strings(texts)
            parts["strings_bytes"] = np.where(parts["strings_bytes"] == 0xc4, 0xff, parts["strings_bytes"]).astype(np.uint8)
            rows = iter(self.column("strings", parts))
            self.assertEqual([next(rows), next(rows)], texts[:2])
            with self.assertRaisesRegex(UnicodeDecodeError, "'utf-8' codec can't decode byte 0xff in position 0"):
                next(rows)
        for shapes in [[2], [3], [4]], [[2], [3]]:
            parts = make_store.ragged([np.arange(2), np.arange(3), np.arange(3)])
            parts["ragged_shapes"] = np.array(shapes)
            rows = iter(self.column("ragged", parts))
            self.assertEqual([next(rows).tolist(), next(rows).tolist()], [[0, 1], [0, 1, 2]])
            with self.assertRaises((ValueError, IndexError)):
                next(rows)

    def test_a_loop_that_passes_a_damaged_row_has_all_the_others(self):
        texts = make_store.strings([f"text {number:02}" for number in range(12)])
        texts["strings_bytes"] = texts["strings_bytes"].copy()
        texts["strings_bytes"][4 * 7] = 0xff
        flat, square = (make_store.ragged([np.full(shape, number) for number in range(12)]) for shape in (2, (2, 3)))
        for parts in flat, square:
            parts["ragged_shapes"][4, 0] = 7
        for kind, parts, failure in ("strings", texts, UnicodeDecodeError), ("ragged", flat, ValueError), ("ragged", square, ValueError):
            rows, found = iter(self.column(kind, parts)), []
            with self.subTest(kind):
                while True:
                    try:
                        found.append(next(rows))
                    except failure:
                        found.append(None)
                    except StopIteration:
                        break
                numbers = [row if row is None else int(row[-2:]) if kind == "strings" else row.flat[0] for row in found]
                self.assertEqual(numbers, [None if number == 4 else number for number in range(12)])

    def test_a_loop_continues_when_its_dataset_is_closed_and_holds_the_version(self):
        folder = self.publish(columns={"s": make_store.strings(map(str, range(2000))), "r": make_store.ragged([np.arange(n % 5) for n in range(2000)]),
                                       "b": make_store.raw_bytes([str(n).encode() for n in range(2000)])})
        with larder.dataset("d") as d:
            loops = [*map(iter, (d["s"], d["r"], d["b"]))]
            for _ in range(1000):
                text, array, data = map(next, loops)

        rest = [*zip(*loops)]

        self.assertEqual(([text for text, _, _ in rest], [len(array) for _, array, _ in rest]), ([*map(str, range(1000, 2000))], 200 * [0, 1, 2, 3, 4]))
        self.assertEqual((bytes(rest[-1][2]), text, array.tolist(), bytes(data)), (b"1999", "999", [0, 1, 2, 3], b"999"))
        self.assertTrue(self.is_leased(folder))
        del d, loops, rest, array, data
        gc.collect()
        self.assertFalse(self.is_leased(folder))

    def test_raw_bytes_are_memoryviews_with_names(self):
        files = [b"\xff\xd8jpeg", b"", b"RIFF"]
        column = self.column("bytes", make_store.raw_bytes(files), **{"c/names": make_store.strings(["a.jpg", "b", "c.wav"])})

        self.assertEqual([bytes(row) for row in column], files)
        self.assertTrue(column[0].readonly)
        self.assertEqual([*column.names], ["a.jpg", "b", "c.wav"])

    def test_columns_are_members_of_a_dataset_and_their_arrays_are_not_listed(self):
        columns = {"i": make_store.texts_index(["a", "b"]), "s": make_store.strings(["x"]), "r": make_store.ragged([np.eye(2)]),
                   "b": make_store.raw_bytes([b"y"])}
        self.publish("c", {"x": np.arange(3)}, columns)
        d = larder.dataset("c")

        self.assertEqual((sorted(d), len(d), sorted(dict(d))), (["b", "i", "r", "s", "x"], 5, ["b", "i", "r", "s", "x"]))
        self.assertEqual([type(d[name]) for name in "birsx"], [larder.Bytes, larder.Index, larder.Ragged, larder.Strings, larder.Array])
        self.assertEqual((d["i"]["b"], d["s"][0], d["r"][0].tolist(), bytes(d["b"][0])), (1, "x", [[1, 0], [0, 1]], b"y"))
        self.assertEqual((d["s/bytes"].tobytes(), "s" in d, "s/bytes" in d, "s/more" in d, d.get("t")), (b"x", True, True, False, None))
        self.assertEqual(d._ipython_key_completions_(), list(d))
        self.assertEqual(pickle.loads(pickle.dumps(d["s"]))[0], "x")

    def test_columns_are_read_from_packs_as_well(self):
        columns = {"i": make_store.texts_index(["a", "b"]), "n": make_store.numbers_index([5, 7]),
                   "s": make_store.strings(["x"]), "r": make_store.ragged([np.eye(2)]), "b": make_store.raw_bytes([b"y"])}
        self.publish(columns=columns, packed=True)
        d = larder.dataset("d")

        self.assertEqual(d.columns, {"i": "index", "n": "index", "s": "strings", "r": "ragged", "b": "bytes"})
        self.assertEqual((d.index("i")["b"], d.index("n")[7], d.strings("s")[0]), (1, 1, "x"))
        self.assertEqual((d.ragged("r")[0].tolist(), bytes(d.bytes("b")[0]), d.bytes("b").names), ([[1, 0], [0, 1]], b"y", None))

    def test_a_damaged_column_is_named(self):
        parts = make_store.strings(["a"])
        parts["strings_offsets"] = parts["strings_offsets"].astype("<i4")

        with self.assertRaisesRegex(larder.LarderError, "damaged: dataset=d array=c/offsets dtype=<i4"):
            self.column("strings", parts)


    @unittest.skipUnless(os.path.exists(VECTORS), "needs the golden columns of a checkout")
    def test_golden_columns_are_read_and_written_alike(self):
        columns = golden_columns()
        self.publish(columns=columns)
        d = larder.dataset("d")

        self.assertGreaterEqual(set(d.columns.values()), {"index", "strings", "ragged", "bytes"})
        for name in (name for name, kind in d.columns.items() if kind == "index"):
            index = d.index(name)
            write = make_store.numbers_index if "index_entries" in columns[name] else make_store.texts_index
            written = write([*index], [*index.values()])
            for part, expected in columns[name].items():
                same(self, written[part], expected)


class PickleTest(StoreCase):
    BIG = {"x": np.arange(250000.0).reshape(500, 500), "f": np.asfortranarray(np.arange(20000).reshape(100, 200))}

    def test_whole_arrays_and_views_pickle_as_names(self):
        self.publish(arrays=self.BIG, packed=True)
        x, f = larder.open("d/x"), larder.open("d/f")

        for view in x, f, x[3:400:2], x[::-1, 5:].T, f[7], x.reshape(-1)[1:], x.view("u1"), x[5:5], f[..., None]:
            for protocol in 2, 4, 5:
                text = pickle.dumps(view, protocol)
                self.assertLess(len(text), 500)
                self.assertIsInstance(pickle.loads(text), larder.Array)
                same(self, pickle.loads(text), view)

    def test_copies_pickle_as_data(self):
        self.publish(arrays=self.BIG)
        copy = larder.open("d/x").astype("f4")

        again = pickle.loads(pickle.dumps(copy))

        self.assertIs(type(again), np.ndarray)
        same(self, again, np.asarray(copy))
        self.assertTrue(np.concatenate([copy, copy]).flags.writeable)

    def test_datasets_and_columns_pickle_as_names(self):
        texts = [f"key{i}" for i in range(10000)]
        self.publish(columns={"i": make_store.texts_index(texts), "s": make_store.strings(texts)}, checksums=False)
        d = larder.dataset("d")
        things = pickle.dumps([d, d.index("i"), d.strings("s")])

        again, index, strings = pickle.loads(things)

        self.assertLess(len(things), 600)
        self.assertEqual((again.digest, index["key77"], strings[77]), (d.digest, 77, "key77"))

    def test_an_older_version_is_found_by_its_digest_in_another_process(self):
        self.publish(arrays={"x": np.array([1])})
        old = larder.open("d/x")
        self.publish(arrays={"x": np.array([2])})

        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.apply(total, (old,)), 1)

    def test_what_this_process_has_open_can_be_unpickled_here_when_its_store_is_gone(self):
        self.publish()
        x = larder.open("d/x")
        text = pickle.dumps(x)
        shutil.rmtree(os.path.join(self.store, "data"))

        same(self, pickle.loads(text), x)

    def test_a_version_that_is_gone_is_a_clear_error(self):
        folder = self.publish(arrays={"x": np.array([1])})
        text = pickle.dumps(larder.dataset("d"))
        self.publish(arrays={"x": np.array([2])})
        shutil.rmtree(folder)

        with mock.patch.object(room("_versions"), "_lease", wraps=room("_versions")._lease) as lease:
            with self.assertRaisesRegex(larder.NotFound, r"not in the store any more: dataset=d .*versions=\[2\]"):
                pickle.loads(text)
        self.assertEqual(lease.call_count, 1)


class Samples:
    """What users of PyTorch write: indexed by sample, made in the parent, used in its workers."""

    def __init__(self, opened):
        self.dataset, self.images, self.index = opened, opened["x"], opened.index("i")

    def __getitem__(self, key):
        return float(self.images[self.index[key]].sum()), private_copies(self.images)


def private_copies(array):
    return int(type(array) is not larder.Array or array.base is None)


def fetch(samples, key):
    return samples[key]


def total(array):
    return int(array.sum())


def close_and_report(opened):
    opened.close()
    return opened._version is None


class WorkersTest(StoreCase):
    def setUp(self):
        super().setUp()
        self.images = np.random.default_rng(1).random((100, 64, 64))
        keys = [f"k{i}" for i in range(100)]
        self.folder = self.publish(arrays={"x": self.images}, columns={"i": make_store.texts_index(keys)}, checksums=False)

    def test_forked_and_spawned_workers_share_the_pages_of_their_parent(self):
        samples = Samples(larder.dataset("d"))
        for method in "fork", "spawn", "forkserver":
            with self.subTest(method), multiprocessing.get_context(method).Pool(2) as pool:
                work = [(samples, f"k{i}") for i in range(100)]
                self.assertLess(len(pickle.dumps(work[0])), 1000)
                self.assertEqual(pool.starmap(fetch, work), [(float(image.sum()), 0) for image in self.images])

    def test_a_forked_child_that_closes_leaves_the_lease_to_its_parent(self):
        opened = larder.dataset("d")
        child = multiprocessing.get_context("fork").Process(target=close_and_report, args=(opened,))
        child.start()
        child.join(30)

        self.assertEqual(child.exitcode, 0)
        self.assertTrue(self.is_leased(self.folder))
        self.assertEqual(opened["x"].shape, (100, 64, 64))

    def test_a_forked_child_keeps_the_lease_when_its_parent_closes(self):
        opened = larder.dataset("d")
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0 if opened["x"][99, 63, 63] == self.images[99, 63, 63] else 1)
        opened.close()

        self.assertTrue(self.is_leased(self.folder))
        os.close(writer)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.close(reader)
        self.assertFalse(self.is_leased(self.folder))


def cached_total(calls, name):
    def build():
        with open(calls, "a") as file:
            file.write("called\n")
        return np.arange(1000)
    return int(larder.cache(name, build).sum())


class BuildsCase(StoreCase):
    """Has a fake daemon that lets clients build, in a process of its own: tests fork."""

    def setUp(self):
        super().setUp()
        daemon = subprocess.Popen([sys.executable, os.path.join(HERE, "fake_daemon.py"), self.store], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(daemon.stdout.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.stdin.close)
        self.assertEqual(daemon.stdout.readline(), b"ready\n")


class ModuleTest(unittest.TestCase):
    def test_dir_lists_public_names_alone(self):
        names = dir(larder)
        self.assertLess({"dataset", "Loader", "NotFound", "__version__"}, set(names))
        self.assertFalse({"np", "sys", "importlib", "_arrays"} & set(names))
        for framework, needed in ("torch", "torch"), ("hf", "datasets"), ("jax", "jax"):
            is_there = hasattr(larder, "__path__") and importlib.util.find_spec(needed) is not None
            self.assertEqual(framework in names, is_there)


class CacheTest(BuildsCase):
    def test_one_of_many_processes_builds_and_all_share(self):
        calls = os.path.join(self.store, "calls")
        with multiprocessing.get_context("fork").Pool(6) as pool:
            self.assertEqual(pool.starmap(cached_total, [(calls, "c")] * 12), [499500] * 12)

        with open(calls) as file:
            self.assertEqual(file.read(), "called\n")

    def test_a_value_in_place_of_the_function_names_the_call(self):
        with self.assertRaisesRegex(TypeError, r"name=one found=ndarray; give a function, .*: larder\.cache\('one', lambda: \.\.\.\)"):
            larder.cache("one", np.arange(3))

    def test_one_array_comes_back_as_an_array_and_several_as_a_dataset(self):
        one = larder.cache("one", lambda: [[1, 2], [3, 4]])
        several = larder.cache("several", lambda: {"a": 5, "levels/b": np.zeros((2, 2), order="F")})

        self.assertEqual((type(one), one.tolist()), (larder.Array, [[1, 2], [3, 4]]))
        self.assertEqual(([*several], several["a"].shape), (["a", "levels/b"], ()))
        self.assertTrue(several["levels/b"].flags.f_contiguous)

    def test_a_builder_that_raises_leaves_nothing_and_the_next_one_builds(self):
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            larder.cache("c", lambda: 1 / 0)

        self.assertEqual(larder.datasets(), [])
        self.assertEqual(larder.cache("c", lambda: 7), 7)

    def test_objects_and_names_that_are_paths_are_refused(self):
        for made, reason in ({"a": object()}, "type=object at=a; return arrays"), ({"a": [None]}, "type=NoneType at=a"), ({"../a": 1}, "bad array name"), ({}, "nothing to cache"):
            with self.assertRaisesRegex(larder.LarderError, reason):
                larder.cache("c", lambda made=made: made)
        self.assertEqual(larder.datasets(), [])

    def test_texts_bytes_and_rows_that_differ_in_length_become_columns(self):
        x = np.arange(6.0).reshape(2, 3)
        made = larder.cache("c", lambda: {"texts": ["a\0", "", "é"], "files": [b"1\0", b""], "rows": [[1, 2], [], [3]], "images": [x, x[:1]],
                                          "stacked": [x, x], "floats": [[1, 2.5], [3]], "table": [(1, 2), (3, 4)]})

        self.assertEqual(made.columns, {"texts": "strings", "files": "bytes", "rows": "ragged", "images": "ragged", "floats": "ragged"})
        self.assertEqual(([*made.strings("texts")], list(map(bytes, made.bytes("files")))), (["a\0", "", "é"], [b"1\0", b""]))
        self.assertEqual([row.tolist() for row in made.ragged("rows")], [[1, 2], [], [3]])
        self.assertEqual((made.ragged("rows").dtype, made.ragged("floats")[0].tolist()), (np.int64, [1, 2.5]))
        self.assertEqual((made["stacked"].shape, made["table"].tolist()), ((2, 2, 3), [[1, 2], [3, 4]]))
        self.assertEqual([*larder.cache("one", lambda: ["a", "bc"])], ["a", "bc"])
        self.assertEqual([*larder.cache("one", dict)], ["a", "bc"])
        with self.assertRaisesRegex(larder.LarderError, r"type=larder.Ragged at=images; return list.it."):
            larder.cache("again", lambda: {"images": made["images"]})

    def test_what_would_come_back_as_something_else_is_refused_before_it_is_stored(self):
        dicts = [{"x": 1}, {"x": 2}]
        for made, reason in ((dicts, r"dict of lists, .name: .row.name. for row in it. .*by larder.records\('c0', it\)"), ({"a/b": dicts}, r"records\('c0-a-b', it\)"), ([1, "a"], r"at=data\[0\] .*would become '1'"),
                             ({"a": [1, [2]]}, "at=a"), ([2**63 + 1, -1], "would become"), ([True, 2], "would become 1"), ({"a": {"b": 1}}, "slashes"),
                             ([["a"], ["b", "c"]], "neither numbers of one dtype"), ([[1], [[2, 3]]], "neither numbers"), ({1: 2}, "texts as names"),
                             (np.ma.array([1, 2], mask=[0, 1]), "type=numpy.ma.MaskedArray .*mask"), (10**30, "type=int"), (None, "type=NoneType"),
                             ({"a": ["x"], "a/bytes": np.zeros(1)}, "two arrays have this name"), ([np.array([None])] * 2, "neither numbers"),
                             ([[(1 << 62) + 1], [0.5, 1]], "would become"),
                             ((np.arange(3), np.ones(3)), "type=tuple at=data reason=its arrays differ in dtype; return them in a dict, or as one dtype")):
            with self.subTest(reason, made=made), self.assertRaisesRegex(larder.LarderError, reason):
                larder.cache(f"c{len(larder.datasets())}", lambda made=made: made)
        with self.assertRaisesRegex(larder.LarderError, r"its rows are dicts; .*larder.records\('built-a', it\)"), larder.create("built") as dataset:
            dataset["a"] = dicts
        self.assertEqual(larder.datasets(), [])

    def test_a_refused_value_in_a_list_has_its_row_and_a_missing_one_its_remedy(self):
        texts, nan = ["a"] * 1000, float("nan")
        missing = "return '' or a number in its place, and an array of bool that marks the rows without a value$"
        for made, reason in (({"cap": [*texts, None]}, rf"type=NoneType at=cap\[1000\]; {missing}"), ({"cap": [*texts, nan, "b"]}, rf"type=float at=cap\[1000\] reason=.*'nan'; {missing}"),
                             ([1, 2, None], rf"at=data\[2\]; {missing}"), ([[1], [2, None]], rf"at=data\[1\]\[1\]; {missing}"), ({"a": [1, 2, "b"]}, r"at=a\[0\] .*values of one type"),
                             ([*texts, "\ud800"], r"at=data\[1000\] reason=an unpaired surrogate"), ([[1, 2], [3, True]], r"at=data\[1\]\[1\] .*would become 1"),
                             ([[0.5], [(1 << 62) + 1]], r"at=data\[1\]\[0\] .*would become"), ({"a": None}, "at=a; return arrays, numbers and texts")):
            with self.subTest(reason), self.assertRaisesRegex(larder.LarderError, reason):
                larder.cache("c", lambda made=made: made)

    def test_room_is_made_before_anything_is_written(self):
        huge = np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 40,), (0,))  # 8 TiB that take 8 bytes

        with self.assertRaisesRegex(larder.RequestFailed, "^not enough space: needed=879609.*; raise capacity= of larder.serve$"):
            larder.cache("c", lambda: {"small": 1, "huge": huge})
        self.assertEqual(larder.datasets(), [])

    def test_names_that_are_no_file_names_in_this_locale_name_the_remedy(self):
        make_store.write_version(self.store, "größe", {"x": np.arange(3)})
        make_store.write_version(self.store, "plain", {"ä": np.arange(3)})
        program = textwrap.dedent("""
            import larder
            for act in (lambda: larder.dataset("gr\\xf6\\xdfe"), lambda: larder.wait("gr\\xf6\\xdfe", 1), lambda: larder.cache("gr\\xf6\\xdfe", lambda: 1),
                        lambda: larder.cache("d", lambda: {"\\xe4": 1}), lambda: larder.dataset("plain")["\\xe4"], lambda: larder.batches("\\xe4")):
                try:
                    act()
                except larder.RequestFailed as e:
                    print(e.code, ascii(str(e)))
        """)
        done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=True, env={
            **os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": os.environ.get("LARDER_PYTHON", HERE)})

        self.assertRegex(done.stdout, "^(6 'name cannot be a file name in this locale: name=.* encoding=ascii; set LC_ALL=C.UTF-8'\n){6}$")

    def test_names_of_any_length_and_type_are_answered(self):
        self.assertEqual((larder.cache(5, lambda: 7), larder.dataset(5).name), (7, "5"))
        with self.assertRaisesRegex(larder.NotFound, "no such dataset: dataset=nnn"):
            larder.dataset("n" * 300)

    def test_no_command_is_a_clear_error(self):
        with mock.patch.dict(os.environ, LARDER_COMMAND="/nowhere/larder"):
            with self.assertRaisesRegex(larder.LarderError, "no larder command: command=/nowhere/larder"):
                larder.serve(self.store)

    def test_only_a_checkout_has_its_command_beside_the_package(self):
        command = room("_command")
        for package, is_of_checkout in ("job/src/larder", False), ("job/python/larder", False), ("job/my-ops/python/larder", False), ("job/ops/python/larder", True):
            beside = os.path.join(self.store, os.path.dirname(os.path.dirname(package)), "larder")
            os.makedirs(os.path.dirname(beside), exist_ok=True)
            shutil.copy(shutil.which("true"), beside)

            copied = os.path.join(self.store, package, "_command.py")
            with self.subTest(package), mock.patch.object(command, "__file__", copied), mock.patch.dict(os.environ, PATH=self.store):
                os.environ.pop("LARDER_COMMAND", None)
                if is_of_checkout:
                    self.assertEqual(command._command(), beside)
                else:
                    with self.assertRaisesRegex(larder.LarderError, "^no larder command; put larder on the PATH"):
                        command._command()


if __name__ == "__main__":
    unittest.main()
