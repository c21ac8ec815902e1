"""Tests of larder with a real daemon and the real command, started by whoever sets LARDER_TEST_STORE.

    ops/larder serve --detach --store /dev/shm/try
    LARDER_TEST_STORE=/dev/shm/try python3 -W error -m unittest discover -s ops/python
"""

import glob
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock
import warnings

import numpy as np

from test_larder import GOLDEN, HERE, golden_arrays, larder, make_store, room, same

STORE = os.environ.get("LARDER_TEST_STORE")


def double(row):
    return 2 * row


def cached_total(folder):
    def build():
        with open(os.path.join(folder, "calls"), "a") as file:
            file.write("called\n")
        return {"x": np.arange(1000)}
    return int(larder.cache("once", build)["x"].sum())


def publish(name, arrays, columns):
    """Publishes arrays and parts of columns as they are."""
    parts = {f"{column}/{part.partition('_')[2]}": part for column, its in columns.items() for part in its}
    with room("_build")._begin(name, STORE, None, True) as builder:
        builder._add({**arrays, **{name: columns[name.rpartition("/")[0]][part] for name, part in parts.items()}}, parts)


def run_python(program, *words, **environment):
    """Starts a program that has larder."""
    return subprocess.Popen([sys.executable, "-c", "import larder, numpy as np, os, signal, sys, time\n" + program, *words], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                            env={**os.environ, "PYTHONPATH": os.environ.get("LARDER_PYTHON", HERE), **environment})


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
        larder.evict(name)

    def test_where_no_daemon_runs_the_remedy_is_the_one_of_python(self):
        for call in lambda store: larder.load("x", __file__, store), lambda store: larder.cache("x", lambda: np.zeros(1), store=store):
            with self.assertRaises(larder.NoStore) as caught:
                call("/dev/shm/larder-nowhere")
            self.assertEqual(str(caught.exception), "no daemon at the store: store=/dev/shm/larder-nowhere; start a daemon: larder.serve(), larder.load(...) "
                             "or larder serve --detach; or name another store: store= or $LARDER_STORE")

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

    def test_a_load_from_another_source_is_a_warning_and_one_from_the_same_is_none(self):
        first, second = (os.path.join(self.folder, name) for name in ("first", "second"))
        for folder, count in (first, 3), (second, 4):
            os.mkdir(folder)
            np.save(os.path.join(folder, "x.npy"), np.arange(count))
        larder.load("moved", first)
        np.save(os.path.join(first, "x.npy"), np.arange(5))
        larder.load("moved", first)

        with self.assertWarnsRegex(UserWarning, f"^moved has another source: version=3 replaces=2 source={second} before={first}; readers of the old one keep it$") as warned:
            larder.load("moved", second)

        self.assertEqual(warned.filename, __file__)

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

    def test_failures_come_with_the_daemons_words_and_code(self):
        self.save("x", np.array([None], object))
        with self.assertRaisesRegex(larder.RequestFailed, "x.npy") as bad:
            larder.load("bad", self.folder)
        with self.assertRaises(larder.TimedOut) as late:
            larder.wait("nobody-loads-this", timeout=0.2)

        with open(os.path.join(self.folder, "raw.xyz"), "wb") as file:
            file.write(bytes(8))
        with self.assertRaisesRegex(larder.RequestFailed, 'give dtype= if it has raw numbers, or load it as_="bytes"'):
            larder.load("bad", file.name)
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
        self.assertEqual(larder.cache("once", dict)["x"].shape, (1000,))
        self.evict("once")

    def test_a_builder_that_raises_leaves_the_turn_to_the_next(self):
        with self.assertRaises(ZeroDivisionError):
            larder.cache("later", lambda: 1 / 0)

        self.assertEqual(larder.cache("later", lambda: np.float32(7)), 7)
        self.evict("later")

    def test_a_builder_that_is_killed_leaves_the_turn_to_the_next_although_its_child_lives(self):
        builder = run_python("dataset = larder.create('orphaned'); dataset['x'] = np.zeros(3)\n"
                             "child = os.fork()\n"
                             "if child: print(child, flush=True)\n"
                             "sys.stdin.read()")
        child = int(builder.stdout.readline())
        self.addCleanup(builder.communicate)
        self.addCleanup(os.kill, child, signal.SIGKILL)
        builder.kill()

        with larder.create("orphaned", timeout=60) as dataset:
            dataset["x"] = np.ones(3)
        self.assertEqual(larder.dataset("orphaned")["x"].tolist(), [1, 1, 1])
        os.kill(child, 0)
        self.evict("orphaned")

    def test_records_are_stored_once_although_the_first_process_that_stores_them_is_killed(self):
        program = ("import itertools\n"
                   "def rows():\n"
                   "  open(sys.argv[1], 'a').write('called\\n')\n"
                   "  for row in range(1000):\n"
                   "    if row == 500 and sys.argv[2:]: print('half', flush=True); sys.stdin.read()\n"
                   "    yield {'row': row, 'data': bytes(10_000)}\n"
                   "print(sum(row['row'] for row in larder.records('killed', rows)))")
        calls = os.path.join(self.folder, "calls")
        first = run_python(program, calls, "stops")
        self.assertEqual(first.stdout.readline(), "half\n")
        others = [run_python(program, calls) for _ in range(3)]
        first.kill()
        first.communicate()

        self.assertEqual([other.communicate() for other in others], [("499500\n", "")] * 3)
        with open(calls) as file:
            self.assertEqual(file.read(), 2 * "called\n")
        self.assertEqual(larder.records("killed")[-1], {"row": 999, "data": bytes(10_000)})
        self.assertEqual(larder.verify("killed"), sum(row["bytes"] for row in larder.ls("killed")))
        self.evict("killed")

    def test_records_are_written_one_after_the_other(self):
        program = ("import resource\n"
                   "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
                   "shared = larder.records('large', ({'row': row, 'data': bytes(1 << 20)} for row in range(100)))\n"
                   "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, len(shared), shared.values.nbytes)")
        output, errors = run_python(program).communicate()
        more_kib, rows, stored = map(int, output.split())

        self.assertEqual((rows, stored > 100 << 20, errors), (100, True, ""))
        self.assertLess(more_kib, 32 << 10)
        self.evict("large")

    def test_records_are_published_without_a_copy(self):
        if not STORE.startswith("/dev/shm/"):
            self.skipTest("on overlayfs the daemon copies, because the kernel overlooks writers there")
        written = []

        def rows(count):
            for row in range(count):
                if row == 9:
                    written.append({os.stat(file).st_ino for file in glob.glob(os.path.join(STORE, "incoming", "*", "pickles", "values.npy"))})
                yield bytes(1 << 20)

        shared = larder.records("moved-records", lambda: rows(10))
        self.assertEqual({os.stat(shared.values.filename).st_ino}, written[0])
        del shared
        self.evict("moved-records")

    def test_what_python_writes_is_published_without_a_copy(self):
        if not STORE.startswith("/dev/shm/"):
            self.skipTest("on overlayfs the daemon copies, because the kernel overlooks writers there")
        files = {}
        with larder.create("moved") as dataset:
            for name, array in (("x", np.arange(1 << 18)), ("f", np.asfortranarray(np.ones((1000, 1000)))), ("deep/y", np.zeros(2 << 20, "u1"))):
                dataset[name] = array
                files[name] = os.stat(os.path.join(dataset._folder, name + ".npy")).st_ino

        found = larder.dataset("moved")
        self.assertEqual({name: os.stat(found[name].filename).st_ino for name in files}, files)
        self.assertEqual((found["x"].offset, found["x"][-1], found["f"].flags.f_contiguous), (4288, (1 << 18) - 1, True))
        del found
        self.evict("moved")

    def test_a_dataset_that_another_process_builds_is_waited_for(self):
        builder = run_python("with larder.create('slow') as dataset:\n"
                             "  dataset['x'] = np.arange(3); print('building', flush=True); sys.stdin.read()")
        self.assertEqual(builder.stdout.readline(), "building\n")
        with self.assertRaises(larder.TimedOut):
            larder.wait("slow", timeout=0.2)
        threading.Timer(0.5, builder.stdin.close).start()

        self.assertEqual(larder.dataset("slow")["x"].tolist(), [0, 1, 2])
        builder.wait()
        builder.stdout.close()
        builder.stderr.close()
        self.evict("slow")

    def test_datasets_are_pinned_reloaded_verified_and_listed(self):
        self.save("x", np.arange(5))
        larder.register("many", self.folder)
        self.assertEqual([(row["name"], row["state"]) for row in larder.ls("many", all=True)], [("many", "registered")])
        first = larder.dataset("many")
        larder.pin("many")
        self.assertEqual([(row["name"], row["pinned"], row["leases"]) for row in larder.ls("many")], [("many/x", True, 1)])
        with self.assertRaises(larder.Refused):
            larder.evict("many")
        larder.unpin("many")
        self.save("x", np.arange(6))

        self.assertEqual(larder.reload("many")["x"].shape, (6,))
        self.assertEqual(larder.verify("many"), 48)
        self.assertEqual(first["x"].shape, (5,))
        status = larder.status()
        self.assertEqual((status["store"], status["pid"] > 0, status["arrays"] > 0), (STORE, True, True))
        del first
        self.assertGreater(larder.evict("many", forget=True), 0)
        with self.assertRaises(larder.NotFound):
            larder.dataset("many")

    def test_a_list_of_many_files_comes_in_several_calls(self):
        paths = []
        for i in range(3):
            self.save(f"a{i}", np.array([i]))
            paths.append(os.path.join(self.folder, f"a{i}.npy"))
        with mock.patch.object(room("_control"), "_LONGEST_PAGE", 1):
            found = larder.load("listed", paths)

        self.assertEqual({name: array.tolist() for name, array in found.items()}, {"a0": [0], "a1": [1], "a2": [2]})

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

    def test_the_commands_without_a_jvm_print_what_the_command_prints(self):
        self.save("x", np.arange(2000))
        self.save("s", np.zeros(3, [("a", "<i4"), ("b", "f8", (2,))]))
        larder.load("seen", self.folder)
        publish("columns-seen", {}, {"i": make_store.texts_index(["a", "b"]), "r": make_store.ragged([np.eye(2)]), "b": make_store.raw_bytes([b"x"]),
                                     "b/names": make_store.strings(["one"])})
        for i in range(30):
            self.save(f"a{i}", np.array([i]))
        larder.load("many-seen", self.folder)
        larder.register("cold-seen", self.folder)
        rows = larder.rows("rows-seen", "seen", double, ["x"], dtype="<i8", version=1)
        self.assertEqual(rows[[1, 5]].tolist(), [2, 10])
        del rows
        lines = ["ls rows-seen", "ls rows* --json", "info rows-seen", "info rows-seen --json", "verify rows-seen",
                 "ls", "ls --all", "ls --json", "ls *seen/?", "ls columns-seen/i", "ls columns-seen/i/slots", "ls many-seen/", "ls nothing",
                 "ls no*thing", "info seen", "info seen/x --json", "info seen --json", "info columns-seen", "info cold-seen", "path seen/x", "path seen",
                 "path columns-seen/i", "path cold-seen", "pin seen", "evict seen", "unpin seen",
                 f"load seen={self.folder} --exclude a* --as=arrays", f"load seen={self.folder} --keys none", f"load seen={self.folder}/none", f"load seen={self.folder}/a1.npy", "reload seen",
                 "wait seen/nothing --timeout 100ms", "verify seen", "evict columns-seen"]
        for line in lines:
            with self.subTest(line):
                ours, theirs = (subprocess.run([*words, *line.split(), "--store", STORE], capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL,
                                               env={**os.environ, "PYTHONPATH": HERE})
                                for words in ([sys.executable, "-m", "larder"], [os.environ["LARDER_COMMAND"]]))
                if line in ("evict columns-seen", f"load seen={self.folder} --exclude a* --as=arrays", f"load seen={self.folder}/a1.npy"):  # the first of two does it
                    self.assertEqual(ours.returncode, 0, ours.stderr)
                    continue
                if "--json" in line:  # which may have blanks at other places
                    self.assertEqual(json.loads(ours.stdout), json.loads(theirs.stdout))
                else:
                    self.assertEqual((ours.returncode, ours.stdout), (theirs.returncode, theirs.stdout))
                self.assertEqual(self.without_amounts(ours.stderr), self.without_amounts(theirs.stderr))
        subprocess.run([sys.executable, "-m", "larder", "evict", "rows-seen", "--store", STORE], check=True, stdout=subprocess.DEVNULL)
        for name in "many-seen", "cold-seen", "seen":
            larder.evict(name, forget=True)

    def without_amounts(self, text):
        """Progress is shown as it comes: which phases are seen depends on how quick they are."""
        return [line for line in text.splitlines() if not line.startswith(tuple(f"larder: {phase}" for phase in (
            "waiting", "scanning", "loading ", "publishing", "verifying", "removing")))]

    def test_the_documents_of_status_are_those_of_the_command(self):
        ours, theirs = (json.loads(subprocess.run([*words, "status", "--json", "--store", STORE], capture_output=True, check=True,
                                                  env={**os.environ, "PYTHONPATH": HERE}).stdout)
                        for words in ([sys.executable, "-m", "larder"], [os.environ["LARDER_COMMAND"]]))

        self.assertEqual(list(ours), list(theirs))
        self.assertEqual([ours[key] for key in ("store", "pid", "version", "capacityBytes", "feeds", "loads")],
                         [theirs[key] for key in ("store", "pid", "version", "capacityBytes", "feeds", "loads")])


@unittest.skipUnless(STORE, "needs a daemon: LARDER_TEST_STORE")
class DaemonThatDiesTest(unittest.TestCase):
    def setUp(self):
        self.store = tempfile.mkdtemp(prefix="larder-test-" + os.environ.get("LARDER_TEST_RUN", "python") + "-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.store, ignore_errors=True)
        self.daemon = self.serve()
        self.pid = larder.status(self.store)["pid"]  # the command may be a script
        self.addCleanup(lambda: self.end(self.daemon))

    def serve(self, *options):
        daemon = subprocess.Popen([os.environ["LARDER_COMMAND"], "serve", "--store", self.store, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.assertIn(b"Done caching", daemon.stdout.readline())
        return daemon

    def end(self, daemon):
        if daemon.poll() is None:
            os.kill(larder.status(self.store)["pid"], signal.SIGTERM)
        daemon.wait()
        daemon.stdout.close()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.daemon.wait()

    def test_a_load_ends_with_its_daemon(self):
        os.kill(self.pid, signal.SIGSTOP)  # it takes the request, and never answers
        killer = threading.Timer(0.5, self.kill)
        killer.start()

        with self.assertRaisesRegex(larder.NoStore, "the daemon closed the connection without an answer: .*check whether the daemon still runs"):
            larder.load("x", HERE, self.store)
        killer.join()

    def test_a_stopped_daemon_is_named(self):
        os.kill(self.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.pid, signal.SIGCONT)

        with mock.patch.object(room("_control"), "_SILENCE_S", 0.5):
            with self.assertRaisesRegex(larder.TimedOut, f"the daemon was stopped by a signal; to resume it: kill -CONT {self.pid}"):
                larder.evict("x", self.store)

    def test_who_waits_goes_on_with_the_next_daemon(self):
        found, called = [], threading.Event()
        connection = room("_control")._Connection
        call = connection.call
        waiting = threading.Thread(target=lambda: found.append(larder.wait("x", 60, self.store)))
        with warnings.catch_warnings(), mock.patch.object(connection, "call", lambda *arguments: (called.set(), call(*arguments))[1]):
            warnings.filterwarnings("ignore", "the daemon is gone, waiting for another")
            waiting.start()
            called.wait(60)
            self.kill()
            self.daemon.stdout.close()
            self.daemon = self.serve()
        with larder.create("x", self.store) as dataset:
            dataset["a"] = np.arange(3)
        waiting.join()

        self.assertEqual(found[0]["a"].tolist(), [0, 1, 2])

    def test_a_result_outlives_the_daemon_that_died_while_it_was_computed(self):
        calls = []

        def make():
            calls.append(1)
            self.kill()
            self.daemon.stdout.close()
            self.daemon = self.serve()
            return {"a": np.arange(3)}

        self.assertEqual((larder.cache("x", make, self.store)["a"].tolist(), len(calls)), ([0, 1, 2], 1))

    def test_records_without_room_leave_nothing(self):
        self.end(self.daemon)
        self.daemon = self.serve("--capacity", "32m")

        with self.assertRaisesRegex(larder.RequestFailed, "not enough space") as full:
            larder.records("full", iter(lambda: bytes(1 << 20), None), store=self.store)
        self.assertEqual((full.exception.code, larder.datasets(self.store)), (5, []))
        self.assertEqual(len(larder.records("small", range(5), store=self.store)), 5)

    def test_records_outlive_the_daemon_that_died_unless_they_come_from_an_iterator(self):
        calls = []

        def make():
            yield 1
            calls.append(1)
            if len(calls) == 1:
                self.kill()
                self.daemon.stdout.close()
                self.daemon = self.serve()
            yield bytes(1 << 20)

        self.assertEqual(larder.records("x", make, store=self.store)[0], 1)
        self.assertEqual(len(calls), 2)
        calls.clear()
        self.pid = larder.status(self.store)["pid"]
        with self.assertRaisesRegex(larder.NoStore, "the daemon of this build is gone, and the build with it"):
            larder.records("y", make(), store=self.store)
        self.assertNotIn("y", larder.datasets(self.store))

    def test_a_build_whose_daemon_dies_is_an_error_and_the_next_daemon_builds_again(self):
        with self.assertRaisesRegex(larder.NoStore, "the daemon of this build is gone, and the build with it"), larder.create("x", self.store) as dataset:
            dataset["a"] = np.arange(3)
            self.kill()
        self.daemon.stdout.close()
        self.daemon = self.serve()

        self.assertEqual(larder.cache("x", lambda: {"a": np.arange(4)}, self.store)["a"].shape, (4,))


@unittest.skipUnless(STORE, "needs a daemon: LARDER_TEST_STORE")
class FirstCallsTest(unittest.TestCase):
    def test_eight_first_calls_at_once_start_one_daemon_that_the_others_use(self):
        store = f"/dev/shm/larder-test-{os.environ.get('LARDER_TEST_RUN', 'python')}-first-{os.getpid()}"
        self.addCleanup(shutil.rmtree, store, ignore_errors=True)
        program = f"time.sleep(max(0, {time.time() + 1} - time.time())); print(larder.cache('x', lambda: os.getpid(), sys.argv[1]), larder.status(sys.argv[1])['pid'])"
        programs = [run_python(program, store, LARDER_START="") for _ in range(8)]
        ended = [program.communicate() for program in programs]

        try:
            self.assertEqual(len({out for out, _ in ended}), 1, ended)
            self.assertEqual(sum(err.count("larder: started a daemon: ") for _, err in ended), 1, ended)
        finally:
            subprocess.run([os.environ["LARDER_COMMAND"], "stop", "--store", store], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertFalse(os.path.exists(store))


if __name__ == "__main__":
    unittest.main()
