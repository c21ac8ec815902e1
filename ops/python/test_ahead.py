"""Tests of rows that are not in memory, in stores on a disk.

    python3 -W error -m unittest discover -s ops/python
"""

import contextlib
import errno
import gc
import glob
import os
import resource
import shutil
import struct
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

from test_larder import StoreCase, larder, room

DISK = "/var/tmp"
ahead = room("_ahead")


@unittest.skipIf(ahead._is_in_memory(os.stat(DISK).st_dev), f"{DISK} is in memory")
class AheadCase(StoreCase):
    """Has a store on a disk."""

    ROWS = 1000

    def setUp(self):
        super().setUp()
        self.store = tempfile.mkdtemp(prefix="larder-test-" + os.environ.get("LARDER_TEST_RUN", "python") + "-", dir=DISK)
        self.addCleanup(shutil.rmtree, self.store)
        os.environ["LARDER_STORE"] = self.store

    def publish_rows(self, row_bytes=5000):
        self.x = np.frombuffer(np.random.default_rng(1).bytes(self.ROWS * row_bytes), np.uint8).reshape(-1, row_bytes)
        return os.path.join(self.publish(arrays={"x": self.x}, checksums=False), "x.npy")

    def drop_from_memory(self):
        for path in glob.glob(os.path.join(self.store, "data/*/*/*.npy")):
            with open(path, "rb+") as file:
                os.fsync(file)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def absent(self):
        """Make loaders act as if no row were in memory."""
        return mock.patch.object(ahead._FileRows, "is_cached", lambda *_: False)

    def loader(self, **settings):
        return larder.Loader("d", ["x"], **{"batch_size": 32, "shuffle": 5, **settings})

    def opened(self):
        """Return the paths of the open files."""
        paths = []
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(FileNotFoundError):
                paths.append(os.readlink(f"/proc/self/fd/{name}"))
        return paths

    def noted(self, name):
        """Note the arguments of a function of the system, and call it."""
        calls, function = [], getattr(os, name)

        def note(*arguments):
            calls.append(arguments)
            return function(*arguments)

        patched = mock.patch.object(os, name, note)
        patched.start()
        self.addCleanup(patched.stop)
        return calls


class ValuesTest(AheadCase):
    def test_rows_of_every_form_are_read_as_the_mapping_has_them(self):
        arrays = {"big": np.arange(40, dtype=">i4"), "time": np.arange(40).astype("M8[s]"), "text": np.array([f"row {i}" for i in range(40)]),
                  "fields": np.array([(i, i / 2) for i in range(40)], [("a", "<i2"), ("b", ">f8")]), "half": np.arange(40, dtype="f2"), "row": np.arange(40),
                  "empty": np.ones((40, 0)), "f": np.asfortranarray(np.arange(120.0).reshape(40, 3)),
                  "long": np.frombuffer(np.random.default_rng(2).bytes(40 * 300_007), np.uint8).reshape(40, -1)}
        for packed in False, True:
            self.publish("forms", arrays, packed=packed, checksums=False)
            for shuffle, shard, threads in (None, (0, 1), 0), (None, (1, 3), 2), (3, (0, 1), 1), (3, (1, 2), 3):
                reads = self.noted("preadv")
                with self.absent():
                    for batch in larder.Loader("forms", batch_size=6, shuffle=shuffle, shard=shard, threads=threads):
                        for name, array in arrays.items():
                            self.assertEqual(batch[name].dtype, array.dtype)
                            np.testing.assert_array_equal(batch[name], array[batch["row"]])
                self.assertGreater(len(reads), 7)

    def test_long_rows_have_one_thread_more(self):
        self.publish(arrays={"long": np.ones((9, 1 << 16), np.uint8), "short": np.ones((9, (1 << 16) - 1), np.uint8)}, checksums=False)
        for name, expected in ("long", 4), ("short", 3):
            before = set(threading.enumerate())
            with mock.patch.object(os, "sched_getaffinity", lambda _: range(4)), larder.Loader("d", [name], batch_size=1) as loader:
                batches = iter(loader)
                self.assertTrue(next(batches)[name].all())
                started = set(threading.enumerate()) - before
                self.assertEqual(len([thread for thread in started if thread.name.startswith("larder-")]), expected)

    def test_epochs_and_resumed_ones_have_all_rows(self):
        self.publish_rows(100)
        with self.absent():
            loader = self.loader(threads=2)
            first = [batch["x"].copy() for _ in range(2) for batch in loader]
            begun = iter(loader)
            third = [next(begun)["x"].copy() for _ in range(9)]
            state, again = loader.state_dict(), self.loader(threads=1)
            loader.close()
            again.load_state_dict(state)
            third += [batch["x"].copy() for batch in again]
        expected = self.loader(threads=0)
        for found in first, third:
            epochs = [batch["x"].copy() for _ in range(len(found) // len(expected)) for batch in expected]
            np.testing.assert_array_equal(np.concatenate(found), np.concatenate(epochs))

    def test_torch_rows_too(self):
        try:
            import larder.torch
        except ImportError:
            self.skipTest("needs torch")
        self.publish_rows()
        with self.absent():
            found = np.concatenate([batch["x"].numpy() for batch in larder.torch.Loader("d", ["x"], batch_size=32, shuffle=5)])
        np.testing.assert_array_equal(found, np.concatenate([batch["x"] for batch in self.loader()]))


class AdviceTest(AheadCase):
    def test_every_page_is_advised_before_it_is_read_and_once(self):
        self.publish_rows()
        advice, reads = self.noted("posix_fadvise"), self.noted("preadv")
        with self.absent():
            list(self.loader(threads=0))

        pages = [page for _, begin, length, _ in advice[1:] for page in range(begin // 4096, (begin + length) // 4096)]
        read = {page for _, (part,), begin in reads for page in range(begin // 4096, (begin + len(part) - 1) // 4096 + 1)}
        self.assertEqual(len(reads), self.ROWS)
        self.assertEqual(set(pages), read)
        self.assertLessEqual(len(pages), 2.5 * self.ROWS)  # of 2.2 pages a row

    def test_neighbours_are_advised_together_and_long_rows_in_pieces(self):
        self.ROWS = 9
        self.publish_rows(300_000)
        with mock.patch.object(ahead, "_advice_bytes", lambda _: 128 << 10):
            rows = larder.Loader("d", ["x"], batch_size=1)._files[0]
        advice = self.noted("posix_fadvise")
        rows.advise(np.array([7, 3, 2]))

        start = larder.open("d").offset
        begins, ends = [begin for _, begin, *_ in advice], [begin + length for _, begin, length, _ in advice]
        self.assertEqual((begins[0], ends[4]), ((start + 600_000) // 4096 * 4096, -(-(start + 1_200_000) // 4096) * 4096))
        self.assertEqual((begins[5], ends[-1]), ((start + 2_100_000) // 4096 * 4096, -(-(start + 2_400_000) // 4096) * 4096))
        self.assertEqual((begins[1:5], begins[6:]), (ends[:4], ends[5:-1]))
        self.assertLessEqual(max(length for *_, length, _ in advice), 128 << 10)

    def test_a_piece_of_advice_is_as_long_as_the_device_allows(self):
        sys = tempfile.mkdtemp(dir=self.store)
        for path, text in ("devices/sda/queue/read_ahead_kb", "128"), ("devices/sda/queue/max_sectors_kb", "1280"), ("class/bdi/0:50/read_ahead_kb", "16"):
            os.makedirs(os.path.dirname(os.path.join(sys, path)), exist_ok=True)
            with open(os.path.join(sys, path), "w") as file:
                file.write(text + "\n")
        os.makedirs(os.path.join(sys, "devices/sda/sda1"))
        os.makedirs(os.path.join(sys, "dev/block"))
        os.symlink("../../devices/sda", os.path.join(sys, "dev/block/8:0"))
        os.symlink("../../devices/sda/sda1", os.path.join(sys, "dev/block/8:1"))
        for device, most in ((8, 0), 1280), ((8, 1), 1280), ((0, 50), 16), ((0, 51), 128):
            self.assertEqual(ahead._advice_bytes(os.makedev(*device), sys), most << 10)

    def test_adjacent_rows_are_read_by_one_call(self):
        self.publish_rows(100)
        reads = self.noted("preadv")
        with self.absent():
            list(self.loader(shuffle=None, threads=0, batch_size=500))
        self.assertEqual(len(reads), -(-500 // 64) * 2)

    def test_the_window_grows_while_gathers_wait_and_stays_below_the_limit(self):
        self.publish_rows()
        for free, most in (1 << 40, 8192), (8 << 20, (1 << 20) // 12288), (1000, 1):
            with self.absent(), mock.patch.object(ahead, "_free_bytes", lambda: free), mock.patch.object(ahead, "_MOST_WINDOW_BYTES", 8192 * 12288), \
                    mock.patch.object(ahead.time, "thread_time", lambda: 0.0):
                epoch = iter(self.loader(threads=0, batch_size=20))
                list(epoch)
            self.assertEqual(epoch._gather._ahead[0]._window, most)

    def test_no_array_has_a_window_of_nothing_while_another_looks_for_the_limit(self):
        window, meanwhile = ahead._Window(2), []

        def free():
            if not meanwhile:
                meanwhile.append(None)
                meanwhile[0] = window.most_bytes(5.0)  # as another thread
            return 64 << 20

        with mock.patch.object(ahead, "_free_bytes", free):
            self.assertEqual((window.most_bytes(5.0), meanwhile), (4 << 20, [4 << 20]))


class ChoiceTest(AheadCase):
    def reads_ahead(self, epoch):
        return [each.may_wait() for each in epoch._gather._ahead]

    def test_rows_are_read_ahead_in_an_epoch_that_begins_without_them_in_memory(self):
        self.publish_rows()
        self.drop_from_memory()
        loader, found = self.loader(), []
        for expected, slowest in (True, ahead._SLOWEST_FROM_MEMORY), (False, 60):  # this process may stand still in the second epoch
            with mock.patch.object(ahead, "_SLOWEST_FROM_MEMORY", slowest):
                epoch = iter(loader)
                found.append(np.concatenate([batch["x"] for batch in epoch]))
            self.assertEqual(self.reads_ahead(epoch), [expected])
        for rows in found:
            self.assertEqual(sorted(map(bytes, rows)), sorted(map(bytes, self.x)))
        self.assertGreater(loader._waited_for_disk(), 0)
        rows = [loader._counters.consumer, loader._counters.helper, *loader._counters._rows]
        reading = [struct.unpack_from("<d", row._longs, 32)[0] for row in rows]
        self.assertAlmostEqual(sum(reading), loader._waited_for_disk(), places=4)

    def test_a_row_that_a_fast_disk_has_read_meanwhile_was_not_in_memory(self):
        self.publish_rows()
        rows, read = self.loader()._files[0], os.preadv

        def from_a_fast_disk(*arguments):
            time.sleep(0.001)
            return read(*arguments)

        rows.read(np.arange(10), memoryview(bytearray(50_000)))
        with mock.patch.object(ahead, "_SLOWEST_FROM_MEMORY", 0.0005), mock.patch.object(os, "preadv", from_a_fast_disk):
            self.assertFalse(rows.is_cached(0))
        with mock.patch.object(ahead, "_SLOWEST_FROM_MEMORY", 60), mock.patch.object(os, "preadv", from_a_fast_disk):
            self.assertTrue(rows.is_cached(0))

    def test_a_slow_gather_looks_again(self):
        self.publish_rows()
        is_absent = []
        with mock.patch.object(ahead, "_SLOW_GATHER_S", -1e9), mock.patch.object(ahead._FileRows, "is_cached", lambda *_: not is_absent):
            epoch = iter(self.loader(threads=0))
            before = [next(epoch)["x"].copy(), self.reads_ahead(epoch)]
            is_absent.append(True)
            after = [next(epoch)["x"].copy(), self.reads_ahead(epoch), np.concatenate([batch["x"] for batch in epoch])]
        self.assertEqual((before[1], after[1]), ([False], [True]))
        np.testing.assert_array_equal(np.concatenate([before[0], after[0], after[2]]), np.concatenate([batch["x"] for batch in self.loader()]))

    def test_a_file_system_that_cannot_report_what_is_in_memory_is_read(self):
        self.publish_rows()
        rows = self.loader()._files[0]
        for refusal in OSError(errno.EOPNOTSUPP, ""), AttributeError():
            for slowest, expected in (60, True), (0, False):
                with mock.patch.object(os, "preadv", side_effect=refusal), mock.patch.object(ahead, "_SLOWEST_FROM_MEMORY", slowest):
                    self.assertEqual(rows.is_cached(0), expected)
        with mock.patch.object(os, "preadv", side_effect=OSError(errno.EIO, "")):
            self.assertFalse(rows.is_cached(0))

    def test_data_in_shared_memory_has_no_part_in_this(self):
        self.store = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.store)
        os.environ["LARDER_STORE"] = self.store
        self.publish_rows()
        loader = self.loader()
        list(loader)
        self.assertIsNone(loader._files[0])
        self.assertEqual(loader._waited_for_disk(), 0)

    def test_a_loader_that_is_gone_leaves_no_descriptor(self):
        self.publish_rows()
        with self.absent():
            list(self.loader())
        for thread in list(room("_loader")._THREADS):
            thread.join(60)
        gc.collect()
        self.assertEqual([path for path in self.opened() if path.startswith(self.store) and path.endswith("x.npy")], [])


class PacksTest(AheadCase):
    def test_a_pack_of_a_thousand_arrays_takes_one_descriptor(self):
        arrays = {f"a{i}": np.full((4, 3), i, "<i4") for i in range(1000)}
        pack = os.path.join(self.publish("packed", arrays, packed=True, checksums=False), "pack-0000")
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))

        with self.absent():
            loader = larder.Loader("packed", batch_size=2, threads=0)
            self.assertTrue(all(loader._files))
            self.assertLessEqual(self.opened().count(pack), 2)  # the other is that of the mapping
            for batch in loader:
                self.assertEqual({name: array.tolist() for name, array in batch.items()}, {name: array[:2].tolist() for name, array in arrays.items()})


class FaultsTest(AheadCase):
    def test_a_file_that_has_become_shorter_is_an_error_and_not_a_signal(self):
        for is_absent in False, True:
            path = self.publish_rows()
            with self.absent() if is_absent else mock.patch.object(ahead._FileRows, "is_cached", lambda *_: True):
                epoch = iter(self.loader(threads=int(is_absent)))  # a thread that gathers from the mapping now would end with SIGBUS
                next(epoch)
                os.chmod(path, 0o600)
                os.truncate(path, 500_000)
                with self.assertRaisesRegex(larder.LarderError, f"row not read: file={path} row=[0-9]+ dataset=d array=x bytes=500000 "
                                            "loadedBytes=500[0-9]+; the file has become shorter: .* larder reload d") as failed:
                    list(epoch)
                self.assertEqual(failed.exception.code, 8)

    def test_a_disk_that_fails_is_an_error_with_the_row_after_the_batches_before_it(self):
        path = self.publish_rows()
        bad = larder.open("d").offset + 77 * 5000
        read = os.preadv

        def failing(descriptor, parts, offset, *flags):
            if offset == bad:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return read(descriptor, parts, offset, *flags)

        with self.absent(), mock.patch.object(os, "preadv", failing):
            loader, found = self.loader(threads=1), []
            with self.assertRaisesRegex(larder.LarderError, f"row not read: file={path} row=77 dataset=d array=x error=.Errno 5. Input/output error; check"):
                for batch in loader:
                    found.append(batch["x"])
        whole = [batch["x"].copy() for batch in self.loader()]
        self.assertTrue((whole[len(found)] == self.x[77]).all(1).any())
        np.testing.assert_array_equal(found, whole[:len(found)])

    def test_a_disk_that_hangs_is_named_by_the_timeout(self):
        path = self.publish_rows()
        may_go, read = threading.Event(), os.preadv
        self.addCleanup(may_go.set)

        def hanging(*arguments):
            may_go.wait(60)
            return read(*arguments)

        with self.absent(), mock.patch.object(os, "preadv", hanging):
            with self.assertRaisesRegex(larder.TimedOut, "no thread has made the batch, because a disk read takes too long: epoch=0 batch=0 timeout=1 "
                                        f"reading={path} since=.*s; check the disk or its server"):
                next(iter(self.loader(threads=1, timeout=1)))
            may_go.set()


if __name__ == "__main__":
    unittest.main()
