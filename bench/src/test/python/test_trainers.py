"""Trainers of all ways read the same, and what counts their memory counts right."""
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4)
SCRIPTS = os.path.join(ROOT, "bench", "src", "main", "python")
sys.path[:0] = [SCRIPTS, os.path.join(ROOT, "ops", "python")]

import children

try:
    import numpy
except ImportError:
    numpy = None

BYTES = 1 << 20


def script(name, *words):
    return subprocess.run([sys.executable, os.path.join(SCRIPTS, name), *words], capture_output=True, text=True, check=True, timeout=60).stdout


def script_text(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60).stdout


class FolderCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)


@unittest.skipUnless(numpy, "needs numpy")
class TrainersTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.data = os.path.join(self.folder, "data")
        script("make_data.py", "training", self.data, str(BYTES))

    def sums(self, way, cache):
        """Returns the sums of a shuffled epoch and of all rows in order."""
        epoch, touch = script("trainer.py", way, "training", self.data, cache, "7", "epoch", "touch").splitlines()
        return epoch.removeprefix("epoch "), touch.removeprefix("touch ")

    def expected(self):
        images = numpy.load(os.path.join(self.data, "images.npy")).view(numpy.int64)
        return str(images.sum() + numpy.load(os.path.join(self.data, "labels.npy")).sum())

    def test_all_ways_read_every_byte_once_an_epoch(self):
        import make_store

        store, cache = os.path.join(self.folder, "store"), os.path.join(self.folder, "cache")
        arrays = {name: numpy.load(os.path.join(self.data, name + ".npy")) for name in ("images", "labels")}
        make_store.write_version(store, "training", arrays)
        for way, place in ("plain", ""), ("map", ""), ("script", cache), ("larder", store):
            with self.subTest(way):
                self.assertEqual(self.sums(way, place), (self.expected(), self.expected()))

    def test_the_same_seed_makes_the_same_data(self):
        again = os.path.join(self.folder, "again")
        script("make_data.py", "training", again, str(BYTES))

        for name in "images.npy", "labels.npy":
            with open(os.path.join(self.data, name), "rb") as one, open(os.path.join(again, name), "rb") as other:
                self.assertEqual(one.read(), other.read())


@unittest.skipUnless(numpy, "needs numpy")
class SourceRunsTest(FolderCase):
    """What trainer.py reads of other sources with numpy alone."""

    def setUp(self):
        super().setUp()
        self.images, self.rows = os.path.join(self.folder, "images"), os.path.join(self.folder, "rows.npy")
        self.store = os.path.join(self.folder, "store")
        numpy.save(self.rows, numpy.random.default_rng(1).integers(0, 256, (600, 16), numpy.uint8))
        for name, content in (("a/1.png", b"one"), ("b/2.png", b"two"), ("b/3.png", b"three")):
            os.makedirs(os.path.dirname(os.path.join(self.images, name)), exist_ok=True)
            with open(os.path.join(self.images, name), "wb") as file:
                file.write(content)

    def sum(self, way, kind, source):
        cache = self.store if way == "larder" else os.path.join(self.folder, f"cache-{kind}")
        step, epochs = script("trainer.py", way, kind, source, cache, "7", "step", "epochs").splitlines()
        self.assertRegex(step, r"^step -?\d+$")
        return int(epochs.removeprefix("epochs ")) % (1 << 64)

    def test_all_ways_read_every_row_once_an_epoch(self):
        import make_store

        array = numpy.load(self.rows)
        make_store.write_version(self.store, "remote", {"rows": array})
        expected = 3 * int(array.view(numpy.int64).sum()) % (1 << 64)
        for way in "plain", "script", "script", "larder":
            with self.subTest(way):
                self.assertEqual(self.sum(way, "remote", "file://" + self.rows), expected)

    def test_all_ways_read_every_file_once_an_epoch(self):
        expected = 3 * sum(map(zlib.crc32, (b"one", b"two", b"three")))
        for way in "plain", "samples", "script", "script":
            with self.subTest(way):
                self.assertEqual(self.sum(way, "images", self.images), expected)

    def test_a_sum_is_the_same_in_any_order_of_rows(self):
        import trainer

        random = numpy.random.default_rng(1)
        columns = {"features": random.standard_normal((600, 3), numpy.float32), "group": random.integers(0, 9, 600)}
        one, other = (trainer.Trainer(trainer.Table(columns), seed).obey("epoch") for seed in (1, 2))

        self.assertEqual(one, other)
        self.assertEqual(one, int(columns["features"].view(numpy.int32).sum(dtype=numpy.int64) + columns["group"].sum()))


class ChildrenTest(FolderCase):
    def test_a_mapping_that_nobody_shares_has_its_length_as_its_share(self):
        path = os.path.join(self.folder, "mapped")
        with open(path, "wb") as file:
            file.write(os.urandom(BYTES))
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            sum(mapped[at] for at in range(0, BYTES, mmap.PAGESIZE))

            found = [(length, pss) for name, length, pss in children.mappings(os.getpid()) if name == os.path.realpath(path)]

        self.assertEqual(found, [(BYTES, BYTES)])

    def test_files_without_content_take_no_memory(self):
        with open(os.path.join(self.folder, "hole"), "wb") as file:
            file.truncate(BYTES)

        self.assertEqual((len(list(children.files(self.folder))), children.stored(self.folder)), (1, 0))

    def test_the_peak_has_what_a_program_took_and_gave_back(self):
        program = "import sys; data = bytearray(b'1') * (64 << 20); print('full'); sys.stdout.flush(); sys.stdin.read()"
        with children.PeakMemory(self.folder) as peak:
            with children.Child([sys.executable, "-c", program]) as child:
                child.line()
                peak.pids.add(child.pid)
                while not peak.own:
                    self.assertIsNone(child.process.poll())

        self.assertGreaterEqual(peak.own, 64 << 20)

    def test_the_peak_has_what_a_program_of_a_program_took_and_files_without_a_name(self):
        nameless = "import tempfile; file = tempfile.TemporaryFile(dir='/dev/shm'); file.write(b'1' * (32 << 20)); file.flush()"
        inner = f"data = bytearray(b'1') * (32 << 20); {nameless}; print('full', flush=True); input()"
        program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
        with children.PeakMemory(self.folder) as peak:
            with children.Child([sys.executable, "-c", program]) as child:
                peak.pids.add(child.pid)
                child.line()
                deadline = time.monotonic() + 60
                while peak.own < 64 << 20:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.01)
                child.process.stdin.write(b"\n")

    def test_nothing_is_left_of_programs_whose_parent_was_killed(self):
        said = script_text(f"""
import os, signal, subprocess, sys
sys.path.insert(0, {SCRIPTS!r})
import children
children.adopt_orphans()
program = "import subprocess; subprocess.run(['sh', '-c', 'echo $$; exec tail -f /dev/null'], start_new_session=True)"
with children.Child([sys.executable, "-c", program]) as child:
    left = int(child.line())
    child.signal(signal.SIGKILL)
print(children.below([os.getpid()]) == [left])
children.end_orphans()
print(os.path.exists(f"/proc/{{left}}"))
""")
        self.assertEqual(said.split(), ["True", "False"])

    def test_a_program_that_ends_or_says_nothing_is_told_from_one_that_answers(self):
        with children.Child([sys.executable, "-c", "print('sum 5')"]) as child:
            self.assertEqual(child.answer("sum"), "5")
            self.assertRaises(ChildProcessError, child.line)
        with children.Child([sys.executable, "-c", "input()"]) as child:
            self.assertRaises(TimeoutError, child.line, 0.05)
            self.assertEqual(child.signal(signal.SIGKILL), -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
