"""Tests of larder with the store, the states of loaders and the rings of an earlier release, which EarlierStoreTest unpacks and serves."""

import fcntl
import json
import os
import shutil
import struct
import unittest

import numpy as np

from test_larder import larder

EARLIER = os.environ.get("LARDER_EARLIER", "")
SAMPLERS = {"sequential": {}, "python sequential": {}, "shuffle": {"shuffle": 42}, "python shuffle": {"shuffle": 42},
            "permuted": {"sampler": larder.Sampler.permuted(7)},
            "weighted": {"sampler": larder.Sampler.weighted(np.arange(100) % 4, 60, 5)}, "any order": {"shuffle": 42}}


@unittest.skipUnless(EARLIER, "needs the store of an earlier release: LARDER_EARLIER")
class EarlierStoreTest(unittest.TestCase):
    def test_arrays_and_columns_have_their_values(self):
        numbers = larder.dataset("numbers")
        for name in "f4 f8 f2 i1 i2 i4 i8 u1 u2 u4 u8 c8".split():
            wanted = (np.arange(24).reshape(4, 6) * 3 % 7).astype(name)
            self.assertEqual(numbers[name].dtype, wanted.dtype)
            np.testing.assert_array_equal(numbers[name], wanted)
        self.assertEqual((numbers["big-endian"].dtype.str, numbers["big-endian"][4]), (">i4", 4))
        self.assertEqual((numbers["none"].shape, numbers["one"], numbers["record"]["x"][1, 0]), ((0, 3), 7, 4.5))
        self.assertEqual(list(larder.dataset("words").strings("line")), ["one", "", "three, of three", "grüße"])
        self.assertEqual(larder.dataset("table")["count"].tolist(), [1, 2])
        self.assertEqual(larder.open("small/part007").tolist(), [7, 7, 7])
        self.assertEqual(larder.open("computed/squares")[9], 81)

    def test_an_index_of_another_format_is_refused_by_its_number(self):
        folder = os.path.join(os.environ["LARDER_STORE"], "data/twice/2")
        path = os.path.join(folder, "index")
        os.chmod(folder, 0o700)
        with open(path, "rb") as file:
            index = bytearray(file.read())
        struct.pack_into("<i", index, 8, 2)
        os.unlink(path)  # another file: a published one never changes
        with open(path, "wb") as file:
            file.write(index)

        with self.assertRaisesRegex(larder.LarderError, "a store of another format.*format=2; use the larder of the daemon's release"):
            larder.open("twice/a")


@unittest.skipUnless(EARLIER, "needs the states and rings of an earlier release: LARDER_EARLIER")
class EarlierLoaderTest(unittest.TestCase):
    def states(self):
        with open(os.path.join(EARLIER, "states.tsv"), encoding="utf-8") as file:
            return {name: (state, json.loads(rows)) for name, state, rows in (line.rstrip("\n").split("\t") for line in file)}

    def test_loaders_resume_its_states_with_the_rows_that_its_own_visited(self):
        states = self.states()
        self.assertEqual(set(states), set(SAMPLERS))
        states.pop("any order")  # for another test
        for name, (state, rows) in states.items():
            with self.subTest(name), larder.Loader("steps", ["x"], batch_size=8, **SAMPLERS[name]) as loader:
                loader.load_state_dict(state)
                self.assertEqual([row for batch in loader for row in batch["x"].tolist()], rows)

    def test_a_state_that_this_loader_cannot_resume_is_refused(self):
        state, _ = self.states()["any order"]
        for refused, reason in (state, "it is for batches in any order"), (state.replace('"format":2', '"format":3'), "format"):
            with larder.Loader("steps", ["x"], batch_size=8, shuffle=42) as loader, self.assertRaisesRegex(larder.LarderError, reason):
                loader.load_state_dict(refused)

    def ring(self, name, change=None):
        """Gives a ring to the store. It lives while this process holds the lock of its producer, which is returned."""
        folder, unpacked = os.path.join(os.environ["LARDER_STORE"], "rings/run1"), os.path.join(EARLIER, "rings", name)
        shutil.rmtree(folder, ignore_errors=True)
        if change:
            with open(os.path.join(unpacked, "ring"), "r+b") as file:
                os.pwrite(file.fileno(), *change)
        lock = open(os.path.join(unpacked, "producer.lock"), "rb")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(unpacked, folder)  # with its producer alive, or the daemon removes it
        self.addCleanup(os.rename, folder, unpacked)
        return lock

    def test_a_ring_is_read_to_its_end(self):
        self.ring("ended")
        with larder.batches("run1", timeout=60) as batches:
            self.assertEqual([(batch.epoch, row) for batch in batches for row in batch["x"].tolist()], [(3, row) for row in range(100)])

    def test_a_ring_whose_producer_dies_is_read_as_far_as_it_goes(self):
        lock, rows = self.ring("open"), []
        with larder.batches("run1", timeout=60) as batches, self.assertRaisesRegex(larder.Refused, "the producer died"):
            lock.close()
            for batch in batches:
                rows += batch["x"].tolist()
        self.assertEqual(rows, list(range(100)))

    def test_a_ring_of_another_format_is_refused_by_its_number(self):
        self.ring("open", (struct.pack("<i", 2), 8))
        self.addCleanup(self.restore_format)
        with self.assertRaisesRegex(larder.LarderError, "not a ring of this release.*format=2; use the same Larder release"):
            larder.batches("run1", timeout=60)

    def restore_format(self):
        with open(os.path.join(os.environ["LARDER_STORE"], "rings/run1/ring"), "r+b") as file:
            os.pwrite(file.fileno(), struct.pack("<i", 1), 8)


if __name__ == "__main__":
    unittest.main()
