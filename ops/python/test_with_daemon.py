"""Tests of larder with a real daemon and the real command, started by whoever sets LARDER_TEST_STORE.

    ops/larder serve --detach --store /dev/shm/try
    LARDER_TEST_STORE=/dev/shm/try python3 -W error -m unittest discover -s ops/python
"""

import multiprocessing
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

from test_larder import GOLDEN, golden_arrays, larder, make_store, room, same

STORE = os.environ.get("LARDER_TEST_STORE")


def cached_total(folder):
    def build():
        with open(os.path.join(folder, "calls"), "a") as file:
            file.write("called\n")
        return {"x": np.arange(1000)}
    return int(larder.cache("once", build)["x"].sum())


def publish(name, arrays, columns):
    """Publishes columns as any program can, through the command."""
    command = subprocess.Popen(room("_command")._command_line(["create", name], None), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               encoding="utf-8")
    folder = command.stdout.readline().rstrip("\n").partition(" ")[2]
    parts = {f"{column}/{part.partition('_')[2]}": part for column, its in columns.items() for part in its}
    room("_cache")._write_arrays(folder, {**arrays, **{name: columns[name.rpartition("/")[0]][part] for name, part in parts.items()}})
    lines = [f"part {name} {part}\n" for name, part in parts.items()]
    assert command.communicate("".join(lines) + "publish\n")[0].startswith("published")


calls = []  # not of a function that is cached: what that is bound to is in the key


@unittest.skipUnless(STORE, "needs a daemon: LARDER_TEST_STORE")
class WithDaemonTest(unittest.TestCase):
    def setUp(self):
        os.environ["LARDER_STORE"] = STORE
        self.addCleanup(os.environ.pop, "LARDER_STORE")
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def save(self, name, array):
        np.save(os.path.join(self.folder, name), array)

    def evict(self, name):
        room("_command")._run(["evict", name], None)

    def test_where_no_daemon_runs_the_remedy_is_the_one_of_python(self):
        for call in lambda store: larder.load("x", __file__, store), lambda store: larder.cache("x", lambda: np.zeros(1), store=store):
            with self.assertRaises(larder.NoStore) as caught:
                call("/dev/shm/larder-nowhere")
            self.assertEqual(str(caught.exception), "no daemon at the store: store=/dev/shm/larder-nowhere; start a daemon: larder serve --detach, "
                             "or name another store: store= or $LARDER_STORE")

    @unittest.skipUnless(GOLDEN, "needs the golden files of a checkout")
    def test_every_array_that_numpy_writes_comes_back_packed_or_not(self):
        golden = golden_arrays()
        for path in GOLDEN:
            os.symlink(os.path.abspath(path), os.path.join(self.folder, os.path.basename(path)))
        for pack_below in "0", "1m":
            opened = larder.load("golden-" + pack_below, self.folder, pack_below=pack_below)
            self.assertEqual(sorted(opened), sorted(golden))
            for name, expected in golden.items():
                with self.subTest(name, pack_below=pack_below):
                    same(self, opened[name], expected)

    def test_a_later_load_leaves_the_open_version_as_it_is(self):
        self.save("x", np.array([1]))
        old = larder.load("versions", self.folder)
        self.save("x", np.array([2, 2]))
        new = larder.load("versions", self.folder)

        self.assertEqual((old["x"].tolist(), new["x"].tolist()), ([1], [2, 2]))
        self.assertEqual(larder.wait("versions", timeout=5).digest, new.digest)

    def test_a_leased_version_cannot_be_evicted(self):
        self.save("x", np.arange(1000))
        row = larder.load("leased", self.folder)["x"][5:]

        with self.assertRaises(larder.Refused):
            self.evict("leased")
        self.assertEqual(row[0], 5)
        del row
        self.evict("leased")
        self.assertNotIn("leased", larder.datasets())

    def test_what_was_evicted_comes_back_when_it_is_opened(self):
        self.save("x", np.arange(5))
        digest = larder.load("back", self.folder).digest
        self.evict("back")

        back = larder.dataset("back")
        self.assertEqual((back.digest, back["x"].tolist()), (digest, [0, 1, 2, 3, 4]))
        with self.assertRaises(larder.NotFound):
            larder.dataset("never")

    def test_failures_come_with_the_commands_words_and_code(self):
        self.save("x", np.array([None], object))
        with self.assertRaisesRegex(larder.CommandFailed, "x.npy") as bad:
            larder.load("bad", self.folder)
        with self.assertRaises(larder.CommandFailed) as late:
            larder.wait("nobody-loads-this", timeout=0.2)

        self.assertEqual((bad.exception.code, late.exception.code), (6, 9))

    def test_what_a_function_returns_is_kept_with_its_columns(self):
        del calls[:]

        @larder.cached(version=1, name="with-daemon")
        def compute(size):
            calls.append(size)
            return {"x": np.arange(size), "texts": ["a", "é"], "rows": [np.zeros((2, 3)), np.ones((1, 1))], "files": [b"1", b""], "n": size}

        for made in compute(5), compute(size=5):
            self.assertEqual((made["x"].tolist(), list(made["texts"]), made["n"]), ([0, 1, 2, 3, 4], ["a", "é"], 5))
            self.assertEqual(([row.shape for row in made["rows"]], [bytes(file) for file in made["files"]]), ([(2, 3), (1, 1)], [b"1", b""]))
        self.assertEqual(calls, [5])
        del made
        self.evict(compute.dataset_of(5))
        self.assertEqual((compute(5)["n"], calls), (5, [5, 5]))
        self.evict(compute.dataset_of(5))

    def test_what_was_loaded_comes_in_batches_in_a_known_order(self):
        self.save("x", np.arange(100))
        larder.load("batches", self.folder)
        loader = larder.Loader("batches", batch_size=30, shuffle=42)

        self.assertEqual([batch["x"][0] for batch in loader], [42, 32, 15, 14])
        self.assertEqual(loader.state_dict()["consumed"], 100)

    def test_one_of_many_processes_builds_what_is_cached(self):
        with multiprocessing.get_context("fork").Pool(4) as pool:
            self.assertEqual(pool.map(cached_total, [self.folder] * 8, 1), [499500] * 8)

        with open(os.path.join(self.folder, "calls")) as file:
            self.assertEqual(file.read(), "called\n")
        self.assertEqual(larder.cache("once", None)["x"].shape, (1000,))
        self.evict("once")

    def test_a_builder_that_raises_leaves_the_turn_to_the_next(self):
        with self.assertRaises(ZeroDivisionError):
            larder.cache("later", lambda: 1 / 0)

        self.assertEqual(larder.cache("later", lambda: np.float32(7)), 7)
        self.evict("later")

    def test_columns_that_a_daemon_published_are_read(self):
        files = {"b": make_store.raw_bytes([b"x", b"yz"]), "b/names": make_store.strings(["one", "two"])}
        publish("columns", {}, {"i": make_store.texts_index(["größe", "b"]), "n": make_store.numbers_index([-5, 2**40]),
                                "r": make_store.ragged([np.eye(2), np.ones((1, 3))]), **files})
        d = larder.dataset("columns")

        self.assertEqual((d.index("i").rows(["b", "größe"]).tolist(), d.index("n")[2**40]), ([1, 0], 1))
        self.assertEqual((d.ragged("r")[1].tolist(), [*d.bytes("b").names], bytes(d.bytes("b")[1])),
                         ([[1, 1, 1]], ["one", "two"], b"yz"))
        del d
        self.evict("columns")

    def test_columns_that_a_daemon_made_of_files_are_read(self):
        for scene, rows in ("a", 2), ("b", 5):
            self.save(f"scene_{scene}_rgb", np.full((rows, 3), rows, "u1"))
            self.save(f"scene_{scene}_depth", np.full((rows, 2, 2), rows / 2))
        d = larder.load("ragged", self.folder, as_="ragged", keys=["rgb", "depth"])
        row = d.index("scene")["scene_b"]

        self.assertEqual((d.ragged("rgb")[row].tolist(), d.ragged("depth")[row].shape), ([[5] * 3] * 5, (5, 2, 2)))
        raw = larder.load("raw", self.folder, as_="bytes")
        with open(os.path.join(self.folder, "scene_a_rgb.npy"), "rb") as file:
            self.assertEqual(bytes(raw.bytes("files")[raw.index("file")["scene_a_rgb.npy"]]), file.read())
        self.assertEqual(raw.bytes("files").names[0], "scene_a_depth.npy")

    def test_files_that_are_mapped_in_place_are_read_unless_they_change(self):
        for name in "xy":
            self.save(name, np.arange(5000))
            os.utime(os.path.join(self.folder, name + ".npy"), (1, 1))
        d = larder.load("placed", self.folder, in_place=True)
        self.assertEqual((d["x"][4999], d["x"].filename), (4999, os.path.join(self.folder, "x.npy")))

        self.save("y", np.arange(5000) + 1)
        with self.assertRaisesRegex(larder.LarderError, "mapped in place has changed: dataset=placed file=.*y.npy"):
            d["y"]


if __name__ == "__main__":
    unittest.main()
