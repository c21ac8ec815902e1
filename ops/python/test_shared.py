"""Tests of shared arrays with a real daemon: see test_with_daemon."""

import gc
import itertools
import multiprocessing
import os
import pickle
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

from test_larder import larder, room
from test_with_daemon import STORE, run_python

SOON_S = 60
numbers = itertools.count()


def add(shared, rounds):
    """Adds one to every element under the lock, and takes part in a barrier before and after."""
    shared.barrier(3, SOON_S)
    for _ in range(rounds):
        with shared.lock(SOON_S):
            shared.array[:] = [value + 1 for value in shared.array.tolist()]  # slowly, so that others would be seen
    return shared.barrier(3, SOON_S)


def hogwild(shared, part, steps):
    """Descends to the mean of each column without a lock, on rows that other processes write too."""
    rows = np.random.default_rng(part)
    shared.barrier(3, SOON_S)
    for _ in range(steps):
        row = rows.integers(len(shared.array))
        shared.array[row] -= 0.5 * (shared.array[row] - 3)
    shared.barrier(3, SOON_S)


def started(name, program, **environment):
    """Starts a program that opens an array as `shared`, and returns it when it has printed a line."""
    process = run_python("shared = larder.shared(sys.argv[1], 'i8', 8)\n" + program, name, LARDER_START="never", **environment)
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate()[1])
    return process


def end(process):
    with process:
        process.kill()


@unittest.skipUnless(STORE, "needs a daemon: LARDER_TEST_STORE")
class SharedTest(unittest.TestCase):
    def setUp(self):
        changes = mock.patch.dict(os.environ, LARDER_STORE=STORE)
        changes.start()
        self.addCleanup(changes.stop)
        self.name = f"a{next(numbers)}"
        self.shared = larder.shared(self.name, "i8", 8)
        self.addCleanup(self.shared.close)

    @classmethod
    def tearDownClass(cls):
        """No array is left when no process has one open."""
        gc.collect()
        until = time.monotonic() + SOON_S
        while [file for file in os.listdir(os.path.join(STORE, "regions")) if file.startswith("a")]:
            if time.monotonic() > until:
                raise AssertionError(os.listdir(os.path.join(STORE, "regions")))
            time.sleep(0.05)
        with open("/proc/self/maps") as maps:
            if any("/regions/a" in line for line in maps):
                raise AssertionError("an array is still mapped")

    def test_all_processes_see_the_same_elements(self):
        self.assertEqual((self.shared.array.tolist(), self.shared.shape, self.shared.dtype), ([0] * 8, (8,), np.dtype("i8")))

        process = started(self.name, "shared.array[3] = 7; print(shared)")
        self.addCleanup(end, process)

        self.assertEqual(self.shared.array.tolist(), [0, 0, 0, 7, 0, 0, 0, 0])
        with larder.shared(self.name) as found:  # as it is
            found.array[0] = 1
        self.assertEqual(self.shared.array[0], 1)

    def test_an_array_that_differs_is_refused_with_both_descriptions(self):
        for dtype, shape, found in (("f8", 8, "dtype=<i8 wantedDtype=<f8"), ("i8", (2, 4), r"shape=\(8,\) wantedShape=\(2, 4\)"), ("i8", 9, r"wantedShape=\(9,\)")):
            with self.subTest(dtype=dtype, shape=shape), self.assertRaisesRegex(larder.Refused, f"a different shared array has this name: name={self.name} .*{found}"):
                larder.shared(self.name, dtype, shape)

    def test_elements_and_shapes_that_no_array_can_have_are_refused(self):
        for dtype, shape in (("c8", 3), (">i4", 3), ("S3", 3), ("O", 3), ([("a", "i4")], 3), ("i4", -1), ("i4", (1,) * 14), ("i8", 1 << 60)):
            with self.subTest(dtype=dtype, shape=shape), self.assertRaises(larder.LarderError) as caught:
                larder.shared("b", dtype, shape)
            self.assertEqual(caught.exception.code, 6)
        with self.assertRaisesRegex(ValueError, "needs dtype and shape"):
            larder.shared("b", "i4")
        with self.assertRaisesRegex(larder.TimedOut, "cannot open a shared array in time: name=b .*found=none"):
            larder.shared("b", timeout=0)

    def test_every_addition_under_the_lock_counts(self):
        workers = [multiprocessing.get_context(way).Process(target=add, args=(self.shared, 100)) for way in ("spawn", "fork")]
        for worker in workers:
            worker.start()
        add(self.shared, 100)
        for worker in workers:
            worker.join(SOON_S)

        self.assertEqual([worker.exitcode for worker in workers], [0, 0])
        self.assertEqual(self.shared.array.tolist(), [300] * 8)

    def test_threads_exclude_each_other_and_readers_do_not(self):
        other = larder.shared(self.name, "i8", 8)
        results = []
        threads = [threading.Thread(target=lambda shared=shared: results.append(add(shared, 50))) for shared in (self.shared, self.shared, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SOON_S)

        self.assertEqual((self.shared.array.tolist(), sorted(results)), ([150] * 8, [False, False, True]))
        with self.shared.lock(reading=True), other.lock(reading=True):
            with self.assertRaisesRegex(RuntimeError, f"this thread holds the lock already, for reading: name={self.name}"):
                self.shared.lock()
            failed = []
            thread = threading.Thread(target=lambda: failed.append(self.late(self.shared)))
            thread.start()
            thread.join(SOON_S)
            self.assertRegex(failed[0], f"cannot take a lock in time: name={self.name} for=writing timeout=0.1 readerPids=.{os.getpid()}.; ")

    def late(self, shared):
        with self.assertRaises(larder.TimedOut) as caught:
            shared.lock(0.1)
        return str(caught.exception)

    def test_hogwild_converges_without_a_lock(self):
        with larder.shared("a-weights", "f4", (50, 4)) as weights:
            workers = [multiprocessing.get_context("spawn").Process(target=hogwild, args=(weights, part, 3000)) for part in range(2)]
            for worker in workers:
                worker.start()
            hogwild(weights, 2, 3000)
            for worker in workers:
                worker.join(SOON_S)
            np.testing.assert_allclose(weights.array, 3, atol=1e-3)

    def test_the_death_of_a_writer_releases_the_lock_and_is_reported_until_it_is_repaired(self):
        holder = started(self.name, "hold = shared.lock(); shared.array[0] = 5; print('held', flush=True); time.sleep(600)")
        self.addCleanup(end, holder)
        self.assertIn(f"writerPid={holder.pid}", self.late(self.shared))

        os.kill(holder.pid, signal.SIGKILL)

        with self.shared.lock(SOON_S, reading=True) as hold:
            self.assertEqual(hold.abandoned_by, holder.pid)
            with self.assertRaisesRegex(ValueError, "only the holder of the lock for writing"):
                hold.mark_repaired()
        with self.shared.lock() as hold:
            self.assertEqual(hold.abandoned_by, holder.pid)
        with self.shared.lock() as hold:
            self.assertEqual(hold.abandoned_by, holder.pid)  # not repaired yet
            hold.mark_repaired()
        with self.shared.lock() as hold:
            self.assertEqual(hold.abandoned_by, 0)

    def test_a_reader_that_dies_leaves_nothing_to_repair(self):
        holder = started(self.name, "hold = shared.lock(reading=True); print('held', flush=True); time.sleep(600)")
        self.addCleanup(end, holder)
        os.kill(holder.pid, signal.SIGKILL)

        with self.shared.lock(SOON_S) as hold:
            self.assertEqual(hold.abandoned_by, 0)

    def test_processes_that_are_killed_at_any_moment_never_keep_the_lock(self):
        program = ("print('ready', flush=True)\nwhile True:\n    with shared.lock(60) as hold:\n        shared.array[:] += 1\n"
                   "    with shared.lock(60, reading=True):\n        pass\n")
        for moment in 0.001, 0.003, 0.01, 0.02, 0.05:
            workers = [started(self.name, program), started(self.name, program)]
            time.sleep(moment)  # to kill it in any call
            for worker in workers:
                end(worker)
            with self.shared.lock(SOON_S):
                self.shared.array[:] = 0

    def test_a_stopped_process_that_waits_is_passed(self):
        with self.shared.lock():
            waiting = started(self.name, "print('ready', flush=True); hold = shared.lock(600); print('held', flush=True); time.sleep(600)")
            self.addCleanup(end, waiting)
            until = time.monotonic() + SOON_S
            while not self.shared._lock._is_awaited():
                self.assertLess(time.monotonic(), until)
                time.sleep(0.01)
            os.kill(waiting.pid, signal.SIGSTOP)

        with self.shared.lock(SOON_S):
            os.kill(waiting.pid, signal.SIGCONT)
        self.assertEqual(waiting.stdout.readline(), "held\n")

    def test_a_barrier_counts_the_living_and_names_who_is_late(self):
        waiting = started(self.name, "print('ready', flush=True); shared.barrier(3, 600)")
        self.addCleanup(end, waiting)
        until = time.monotonic() + SOON_S
        while "arrived=2" not in self.late_at_barrier(3):
            self.assertLess(time.monotonic(), until)
        os.kill(waiting.pid, signal.SIGKILL)
        waiting.wait()

        self.assertIn(f"not all have come to a barrier in time: name={self.name} arrived=1 parties=2 timeout=0.05; ", self.late_at_barrier(2))
        self.assertTrue(self.shared.barrier(1))
        for parties in 0, -1, 369:
            with self.assertRaisesRegex(ValueError, f"parties={parties} limit=368"):
                self.shared.barrier(parties)

    def late_at_barrier(self, parties):
        with self.assertRaises(larder.TimedOut) as caught:
            self.shared.barrier(parties, 0.05)
        return str(caught.exception)

    def test_another_number_of_parties_is_refused(self):
        results = []
        thread = threading.Thread(target=lambda: results.append(self.shared.barrier(2, SOON_S)))
        thread.start()
        until = time.monotonic() + SOON_S
        while self.shared._barrier.arrived(0) == 0:
            self.assertLess(time.monotonic(), until)
        with self.assertRaisesRegex(larder.Refused, f"the barrier has another number of parties: name={self.name} parties=2 wantedParties=3"):
            self.shared.barrier(3)
        self.assertTrue(self.shared.barrier(2))
        thread.join(SOON_S)
        self.assertEqual(results, [False])

    def test_a_fork_does_not_hold_what_its_parent_holds(self):
        with self.shared.lock():
            child = os.fork()
            if child == 0:
                try:
                    self.shared.lock(0.1)
                except larder.TimedOut:
                    os._exit(0)
                finally:
                    os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(len(self.shared._seats.owners(0)), 1)
        with larder.shared(self.name).lock(1) as hold:
            self.assertEqual(hold.abandoned_by, 0)

    def test_a_fork_after_the_memory_is_gone_leaves_the_file_alone_that_has_the_number_now(self):
        memory, locks = set(), os.open(os.devnull, os.O_RDWR)
        seats = room("_seats")._Seats(locks, "gone", 0)
        seats.close_with(memory)
        del memory
        other = os.open(os.devnull, os.O_RDWR)
        self.addCleanup(os.close, other)
        self.assertEqual(other, locks)
        child = os.fork()
        if child == 0:
            os._exit(0 if os.path.exists(f"/proc/self/fd/{other}") else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        with self.assertRaises(larder.LarderError):
            seats.is_taken(0)

    def test_a_fork_without_a_file_of_its_own_takes_no_lock_of_its_parent(self):
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        with self.shared.lock():
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
            try:
                child = os.fork()
                if child == 0:
                    try:
                        for call in self.shared.lock, lambda: self.shared.barrier(1):
                            self.assertRaisesRegex(larder.LarderError, f"this forked process could not open the file of its locks: name={self.name}; ", call)
                        os._exit(0)
                    finally:
                        os._exit(1)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            with larder.shared(self.name) as other:
                self.late(other)

    def test_interrupts_leave_no_seat_taken(self):
        program = """
import random, signal
def interrupt(*_):
    raise KeyboardInterrupt
def calls():
    for _ in range(40):  # Python ignores an interrupt in a finalizer
        with shared.lock(60):
            pass
        with shared.lock(60, reading=True):
            pass
        shared.barrier(1, 60)
signal.signal(signal.SIGALRM, interrupt)
for _ in range(400):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 3e-4))
        calls()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
print('done', flush=True)
time.sleep(600)
"""
        interrupted = started(self.name, program)
        self.addCleanup(end, interrupted)

        with self.shared.lock(SOON_S) as hold:
            self.assertEqual(hold.abandoned_by, 0)
        self.assertTrue(self.shared.barrier(1, SOON_S))
        self.assertEqual([seat for seat in range(5 + 368) if self.shared._seats.is_taken(seat)], [])

    def test_a_hold_that_is_dropped_in_the_middle_of_a_call_is_given_up_by_the_next_one(self):
        hold = self.shared.lock()
        with self.shared._seats._guard:  # as the garbage collector does it
            del hold
            self.assertEqual(len(self.shared._seats._owners[0]), 1)
        with self.shared.lock(SOON_S) as hold:
            self.assertEqual(hold.abandoned_by, 0)

    def test_a_thread_with_the_number_of_a_dead_one_does_not_hold_its_lock(self):
        holds, failed = [], []
        for call in lambda: holds.append(self.shared.lock()), *[lambda: failed.append(self.late(self.shared))] * 3:
            thread = threading.Thread(target=call)
            thread.start()
            thread.join(SOON_S)
        self.assertEqual(len(failed), 3)
        holds[0].release()

    def test_closing_ends_the_waits_of_other_threads_in_words(self):
        for call in lambda array: array.lock(SOON_S), lambda array: array.barrier(2, SOON_S):
            array, failed = larder.shared(self.name), []
            thread = threading.Thread(target=lambda array=array, call=call, failed=failed: failed.append(self.closed(lambda: call(array))))
            with self.shared.lock():
                thread.start()
                until = time.monotonic() + SOON_S
                while not any(array._seats.owners(seat) for seat in (1, 5)):
                    self.assertLess(time.monotonic(), until)
                array.close()
                thread.join(SOON_S)
            self.assertEqual(failed, [f"the shared array is closed: name={self.name}"])

    def closed(self, call):
        with self.assertRaises(ValueError) as caught:
            call()
        return str(caught.exception)

    def test_the_stamp_of_a_dead_thread_does_not_count(self):
        words = self.shared._barrier.words
        words[8:8 + 368] = words[0] + 1
        self.assertIn("arrived=1 parties=2", self.late_at_barrier(2))
        thread = threading.Thread(target=lambda: self.shared.barrier(2, SOON_S))
        thread.start()
        until = time.monotonic() + SOON_S
        while self.shared._barrier.arrived(int(words[0])) == 0:
            self.assertLess(time.monotonic(), until)
        with self.assertRaises(larder.Refused):
            self.shared.barrier(3)

        self.assertEqual(words[8 + 1], 0)  # of the seat that was refused
        self.assertTrue(self.shared.barrier(2))
        thread.join(SOON_S)

    def test_a_dropped_hold_and_a_closed_array_give_up_the_lock(self):
        other = larder.shared(self.name)
        self.shared.lock()
        gc.collect()
        other.lock(SOON_S)  # dropped, too
        gc.collect()
        view, hold = other.array[2:4], other.lock()
        other.close()
        other.close()

        with self.shared.lock(SOON_S):
            view[0] = 9
        hold.release()
        self.assertEqual(self.shared.array[2], 9)  # a view keeps the memory
        for call in lambda: other.array, other.lock, lambda: other.barrier(1), other.__enter__:
            with self.assertRaisesRegex(ValueError, f"the shared array is closed: name={self.name}"):
                call()

    def test_a_pickle_is_the_name(self):
        restored = pickle.loads(pickle.dumps(self.shared))
        restored.array[5] = 2
        self.assertEqual((self.shared.array[5], repr(restored)), (2, f"<larder.Shared {self.name}: (8,) int64>"))

    def test_a_region_of_another_kind_or_with_a_spoiled_description_is_refused(self):
        room("_control")._called(STORE, "CreateRegion", {"name": "other", "kind": "test", "bytes": 4096 + 16})
        with self.assertRaisesRegex(larder.Refused, "the region is of another kind: name=other kind=test wantedKind=shared-array"):
            larder.shared("other", "f8", 2)
        with larder.shared("spoiled", "f8", 2) as spoiled:
            for offset, value in ((0, 99), (4, 77), (16, 3), (128, 0x787878)):
                file = next(file for file in os.listdir(os.path.join(STORE, "regions")) if file.startswith("spoiled@"))
                with open(os.path.join(STORE, "regions", file), "r+b", buffering=0) as region:
                    before = os.pread(region.fileno(), 4, 4096 + offset)
                    os.pwrite(region.fileno(), value.to_bytes(4, "little"), 4096 + offset)
                    with self.subTest(offset=offset), self.assertRaisesRegex(larder.LarderError, "the region is damaged: name=spoiled"):
                        larder.shared("spoiled")
                    os.pwrite(region.fileno(), before, 4096 + offset)
            self.assertEqual(spoiled.array.tolist(), [0, 0])


@unittest.skipUnless(STORE, "needs a daemon: LARDER_TEST_STORE")
class WithoutDaemonTest(unittest.TestCase):
    def test_an_array_outlives_its_daemon(self):
        store = tempfile.mkdtemp(prefix="larder-test-" + os.environ.get("LARDER_TEST_RUN", "python") + "-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, store, ignore_errors=True)
        daemon = subprocess.Popen([os.environ["LARDER_COMMAND"], "serve", "--store", store], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(end, daemon)
        self.assertIn(b"Done caching", daemon.stdout.readline())
        shared = larder.shared("a", "i8", 8, store=store)
        worker = started("a", "print('ready', flush=True)\nfor _ in range(2):\n    with shared.lock(60): shared.array[:] += 1\n    shared.barrier(2, 60)\n",
                       LARDER_STORE=store)
        self.addCleanup(end, worker)
        os.kill(daemon.pid, signal.SIGSTOP)
        with self.assertRaisesRegex(larder.TimedOut, "the deadline passed: store="):  # not after the ten seconds of a silent daemon
            larder.shared("a", "i8", 8, store=store, timeout=0)
        end(daemon)

        for _ in range(2):
            with shared.lock(SOON_S):
                shared.array[:] += 1
            shared.barrier(2, SOON_S)
        self.assertEqual(shared.array.tolist(), [4] * 8)
        with mock.patch.dict(os.environ, LARDER_START="never"), self.assertRaises(larder.NoStore):
            larder.shared("a", "i8", 8, store=store)


if __name__ == "__main__":
    unittest.main()
