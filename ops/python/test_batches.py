"""Tests of larder.batches with a producer in Python, which is another implementation of the format.

    python3 -W error -m unittest discover -s ops/python
"""

import fcntl
import gc
import mmap
import os
import pickle
import queue
import shutil
import signal
import struct
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import numpy as np

from test_larder import larder, room

SLOTS, SLOT_BYTES, SLOTS_OFFSET = 3, 8192, 8192
ARRAYS = ("image", "<f4"), ("label", "<i8"), ("box", "[('x', '<i2'), ('y', '<i2')]")


class Producer:
    """A ring of three slots, which waits for nobody unless it is asked to."""

    def __init__(self, store, name="run1", seats=2):
        self.folder = os.path.join(store, "rings", name)
        os.makedirs(self.folder)
        self.lock = os.open(os.path.join(self.folder, "producer.lock"), os.O_RDWR | os.O_CREAT)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        for seat in range(seats):
            with open(self.page(seat), "wb") as page:
                page.truncate(4096)
        with open(os.path.join(self.folder, "ring"), "w+b") as file:
            file.truncate(SLOTS_OFFSET + SLOTS * SLOT_BYTES)
            self.ring = mmap.mmap(file.fileno(), 0)
        self.published = 0
        self.ring[:8] = b"LARDERRG"
        struct.pack_into("<iiiiqqqqq", self.ring, 8, 1, len(ARRAYS), SLOTS, seats, SLOT_BYTES, SLOTS_OFFSET, len(self.ring),
                         0, 0)
        struct.pack_into("<i", self.ring, 192, 1)
        at = 4096 + 16 * len(ARRAYS)
        for i, (array, dtype) in enumerate(ARRAYS):
            struct.pack_into("<4i", self.ring, 4096 + 16 * i, at, len(array), at + len(array), len(dtype))
            text = (array + dtype).encode()
            self.ring[at:at + len(text)] = text
            at += len(text)

    def page(self, seat):
        return os.path.join(self.folder, f"consumer-{seat:02d}")

    def finished(self, seat=0):
        with open(self.page(seat), "rb") as page:
            ticket, finished, check = struct.unpack("<3q", page.read(24))
        return finished if ticket and check == ~finished else None

    def publish_when_free(self, epoch, number, *arrays):
        """Waits for the consumer of seat 0, as a producer does that drops nobody."""
        deadline = time.monotonic() + 30
        while (self.finished() or 0) <= self.published - SLOTS:
            if time.monotonic() > deadline:
                raise TimeoutError(f"no free slot: published={self.published} finished={self.finished()}")
            os.sched_yield()
        self.publish(epoch, number, *arrays)

    def publish(self, epoch, number, *arrays):
        slot = SLOTS_OFFSET + self.published % SLOTS * SLOT_BYTES
        struct.pack_into("<q", self.ring, 64, self.published + 1)
        struct.pack_into("<5q", self.ring, slot, 2 * self.published + 1, epoch, number, len(arrays[0]), 3)
        at = 512
        for i, array in enumerate(arrays):
            struct.pack_into(f"<{3 + array.ndim}q", self.ring, slot + 64 + 128 * i, at, array.nbytes, array.ndim, *array.shape)
            self.ring[slot + at:slot + at + array.nbytes] = array.tobytes()
            at = at + array.nbytes + 63 & -64
        struct.pack_into("<q", self.ring, slot, 2 * self.published + 2)
        self.published += 1
        struct.pack_into("<q", self.ring, 128, self.published)

    def end(self, state=2, message=b""):
        struct.pack_into("<i", self.ring, 196, len(message))
        self.ring[200:200 + len(message)] = message
        struct.pack_into("<i", self.ring, 192, state)

    def drop(self, seat):
        with open(self.page(seat), "rb") as page:
            self.ring[2048 + 8 * seat:2056 + 8 * seat] = page.read(8)

    def die(self):
        os.close(self.lock)


def sample(number, size=4):
    boxes = np.zeros(size, [("x", "<i2"), ("y", "<i2")])
    boxes["y"] = number
    return np.full((size, number % 3, 5), number, "<f4"), np.arange(size) + number, boxes


class BatchesTest(unittest.TestCase):
    def setUp(self):
        self.store = tempfile.mkdtemp(dir="/dev/shm", prefix="larder-test-" + os.environ.get("LARDER_TEST_RUN", "python") + "-")
        self.addCleanup(shutil.rmtree, self.store)

    def attach(self, **options):
        return larder.batches("run1", self.store, **{"timeout": 10, **options})

    def producer(self, batches=0, **options):
        made = Producer(self.store, **options)
        for number in range(batches):
            made.publish(0, number, *sample(number))
        return made

    def streaming(self, count):
        """Attaches a producer of many batches in a thread of its own."""
        producer = self.producer()

        def run():
            for number in range(count):
                producer.publish_when_free(0, number, *sample(number))
            producer.end()

        thread = threading.Thread(target=run, daemon=True)
        self.addCleanup(thread.join, 60)
        return producer, thread

    def test_batches_are_ones_own_by_default(self):
        self.producer(2)
        with self.attach() as batches:
            first, second = next(batches), next(batches)
        self.assertEqual((first.epoch, first.number, first.size, first.valid_size, list(first)), (0, 0, 4, 3, ["image", "label", "box"]))
        self.assertEqual((second["image"].shape, second["label"].tolist()), ((4, 1, 5), [1, 2, 3, 4]))
        self.assertEqual(second["box"]["y"].tolist(), [1] * 4)
        self.assertTrue(all(array.flags.writeable and array.flags.owndata for array in second.values()))
        first["label"][:] = 7
        first["label"] -= 1
        first["image"] = second["image"] / 2
        self.assertRegex(repr(second), "<larder.Batch 1 of epoch 0: 4 samples of .*image")

    def test_a_seat_has_the_pid_and_the_start_of_its_process(self):
        producer = self.producer(1)
        with self.attach(), open(producer.page(0), "rb") as page, open("/proc/self/stat") as stat:
            self.assertEqual(struct.unpack("<2q", page.read(40)[24:]), (os.getpid(), int(stat.read().rpartition(")")[2].split()[19])))

    def test_batches_are_read_where_they_lie_without_copies(self):
        self.producer(2)
        with self.attach(copy=False) as batches:
            next(batches)
            second = next(batches)
            self.assertEqual((second["image"].shape, second["label"].tolist()), ((4, 1, 5), [1, 2, 3, 4]))
            self.assertEqual(second["box"]["y"].tolist(), [1] * 4)
            self.assertFalse(any(array.flags.writeable or array.flags.owndata for array in second.values()))

    def require_true(self, batch):
        for (name, _), expected in zip(ARRAYS, sample(batch.number)):
            np.testing.assert_array_equal(batch[name], expected, str(batch))

    def test_all_batches_of_a_long_run_can_be_kept(self):
        _, thread = self.streaming(200)
        batches = self.attach()
        thread.start()
        kept = list(batches)

        self.assertEqual([batch.number for batch in kept], [*range(200)])
        for batch in kept:
            self.require_true(batch)

    def test_a_consumer_that_fetches_ahead_sees_each_batch_as_it_was_published(self):
        for copied in True, False:
            with self.subTest(copy=copied):
                producer, thread = self.streaming(200)
                batches = iter(self.attach(copy=copied))
                thread.start()
                ahead, seen = next(batches), 0
                while ahead is not None:  # as Lightning does: it wants to know which batch is the last one
                    batch, ahead = ahead, next(batches, None)
                    self.require_true(batch)
                    seen += 1
                self.assertEqual(seen, 200)
                del batch, batches
                thread.join(30)
                shutil.rmtree(producer.folder)

    def test_a_thread_that_fetches_ahead_may_hold_slots(self):
        _, thread = self.streaming(300)
        batches, between, seen = self.attach(copy=False), queue.Queue(1), 0
        thread.start()

        def fetch():  # one batch here and none in the queue but when nobody holds another: less than there are slots
            for batch in batches:
                ready.acquire()
                between.put(batch)
                del batch
            between.put(None)

        ready = threading.Semaphore(1)
        fetching = threading.Thread(target=fetch, daemon=True)
        fetching.start()
        while True:
            batch = between.get(timeout=30)
            if batch is None:
                break
            self.require_true(batch)
            seen += 1
            del batch
            ready.release()
        fetching.join(30)
        self.assertEqual(seen, 300)

    def test_a_slot_is_held_for_as_long_as_anything_of_it_can_be_reached(self):
        producer = self.producer(3)
        batches = self.attach(copy=False)
        label, memory = next(batches)["label"][1:].reshape(3, 1), memoryview(next(batches)["image"])
        self.assertEqual(producer.finished(), 0)
        third = next(batches)
        self.assertEqual((producer.finished(), label.tolist()), (0, [[1], [2], [3]]))
        del label
        self.assertEqual(producer.finished(), 1)
        del third
        self.assertEqual(producer.finished(), 1)
        memory.release()
        del memory
        self.assertEqual(producer.finished(), 3)

    def test_holding_all_slots_is_an_error_and_never_other_data(self):
        producer = self.producer(3)
        batches = self.attach(copy=False)
        kept = [next(batches) for _ in range(3)]
        self.shorten_patience()
        with self.assertRaisesRegex(larder.LarderError, "all slots of the ring are held: ring=run1 batch=3 slots=3 held=0,1,2; "
                                                        "drop batches before .*copy=True"):
            next(batches)
        for batch in kept:
            self.require_true(batch)
        batch = kept.pop(0)
        del kept[:], batch
        producer.publish_when_free(0, 3, *sample(3))
        self.assertEqual(next(batches).number, 3)

    def shorten_patience(self):
        patience = mock.patch.object(room("_batches"), "_LONGEST_FULL", 0.05)
        patience.start()
        self.addCleanup(patience.stop)

    def test_a_producer_that_ends_when_all_slots_are_held_ends_the_loop(self):
        producer = self.producer(3)
        batches = self.attach(copy=False)
        timer = threading.Timer(0.1, producer.end)
        kept = [next(batches) for _ in range(3)]
        timer.start()
        self.assertEqual(list(batches), [])
        timer.join()
        for batch in kept:
            self.require_true(batch)

    def test_the_oldest_batch_alone_can_hold_the_ring_up(self):
        producer = self.producer(3)
        batches = self.attach(copy=False, timeout=0.1)
        oldest = next(batches)
        next(batches), next(batches)
        with self.assertRaisesRegex(larder.LarderError, "slots of the ring are held: .* held=0;"):
            next(batches)  # at its deadline, which is earlier
        self.require_true(oldest)
        self.assertEqual(producer.finished(), 0)

    def test_batches_in_reference_cycles_are_collected_before_an_error(self):
        producer = self.producer(3)
        batches = self.attach(copy=False)
        with mock.patch.object(gc, "collect", wraps=gc.collect) as collect:
            gc.disable()
            self.addCleanup(gc.enable)
            for _ in range(3):
                cycle = [next(batches)]
                cycle.append(cycle)
            del cycle
            self.shorten_patience()
            publishing = threading.Thread(target=producer.publish_when_free, args=(0, 3, *sample(3)))
            publishing.start()
            self.assertEqual(next(batches).number, 3)
            publishing.join(30)
            collect.assert_called()

    def test_a_held_batch_outlives_the_end_of_its_loop_and_keeps_the_seat(self):
        for leave in "close", "drop":
            with self.subTest(leave):
                producer = self.producer(2)
                batches = self.attach(copy=False)
                kept = next(batches)
                if leave == "close":
                    batches.close()
                del batches
                gc.collect()
                self.assertEqual(producer.finished(), 0)
                self.require_true(kept)
                del kept
                gc.collect()
                self.assertIsNone(producer.finished())
                producer.die()
                shutil.rmtree(producer.folder)

    def test_a_forked_child_gives_no_slot_of_its_parent_back(self):
        producer = self.producer(1)
        batch = next(self.attach(copy=False))
        child = os.fork()
        if child == 0:
            del batch
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(producer.finished(), 0)
        self.require_true(batch)

    def test_batches_do_not_pickle_but_a_batch_does(self):
        self.producer(1)
        batches = self.attach()
        batch = next(batches)
        again = pickle.loads(pickle.dumps(batch))
        self.assertEqual((again.epoch, again.number, again.size, again.valid_size), (0, 0, 4, 3))
        self.require_true(again)
        with self.assertRaisesRegex(TypeError, r"one process: ring=run1; attach in the other process with larder.batches\('run1'\)"):
            pickle.dumps(batches)

    def test_frameworks_make_a_batch_of_tensors_from_a_batch(self):
        made = larder.Batch({"x": 1})
        self.assertEqual((dict(made), made.epoch), ({"x": 1}, None))

    def test_the_loop_ends_with_the_producer_and_gives_the_seat_back(self):
        producer = self.producer(3)
        producer.end()
        self.assertEqual([batch.number for batch in self.attach()], [0, 1, 2])
        self.assertIsNone(producer.finished())

    def test_a_slot_is_given_back_when_it_is_copied_else_when_the_loop_moves_on(self):
        producer = self.producer(3)
        copies, views = self.attach(), self.attach(copy=False)
        self.assertEqual((producer.finished(0), producer.finished(1)), (0, 0))
        for number in 1, 2:
            copy, view = next(copies), next(views)
            self.assertEqual((producer.finished(0), producer.finished(1)), (number, number - 1))
        self.assertEqual((copy.number, view.number), (1, 1))

    def test_what_was_published_is_delivered_before_the_producers_death(self):
        producer = self.producer(2)
        batches = self.attach()
        producer.die()
        self.assertEqual([next(batches).number, next(batches).number], [0, 1])
        with self.assertRaisesRegex(larder.Refused, "the producer died: ring=run1 batch=2; restart the producer"):
            next(batches)

    def test_what_was_published_just_before_the_producers_death_is_delivered(self):
        producer = self.producer()
        batches = self.attach()
        is_dead = batches._ring.is_producer_dead

        def dead_by_now():
            if not producer.published:
                producer.publish(0, 0, *sample(0))
                producer.die()
            return is_dead()

        with mock.patch.object(batches._ring, "is_producer_dead", dead_by_now):
            self.assertEqual(next(batches).number, 0)

    def test_a_failure_of_the_producer_is_told(self):
        producer = self.producer(1)
        batches = self.attach()
        producer.end(3, "größer".encode())
        next(batches)
        with self.assertRaisesRegex(larder.LarderError, "the producer failed: ring=run1 batch=1 message=größer"):
            next(batches)

    def test_who_was_dropped_is_told(self):
        producer = self.producer(1)
        batches = self.attach()
        next(batches)
        producer.drop(0)
        with self.assertRaisesRegex(larder.Refused, "dropped this consumer as too slow: ring=run1 batch=1 published=1"):
            next(batches)

    def test_who_was_overtaken_never_goes_on_with_wrong_data(self):
        producer = self.producer(1)
        views = self.attach(copy=False)
        kept = next(views)
        for number in range(1, 4):
            producer.publish(0, number, *sample(number))
        with self.assertRaisesRegex(larder.Refused, "a batch was overwritten while it was read: ring=run1 batch=0"):
            next(views)
        del kept

    def test_a_batch_that_another_thread_drops_during_the_check_is_no_error(self):
        producer = self.producer(1)
        batches = self.attach(copy=False)
        kept, ring = [next(batches)], batches._ring
        held = ring.held

        def held_then_dropped():
            found = held()
            if kept:
                kept.clear()
                for number in range(1, 4):
                    producer.publish_when_free(0, number, *sample(number))
            return found

        with mock.patch.object(ring, "held", held_then_dropped):
            self.assertEqual(next(batches).number, 1)
        self.assertEqual((kept, producer.published), ([], 4))

    def test_who_was_overtaken_before_copying_is_told(self):
        producer = self.producer(1)
        copies = self.attach()
        for number in range(1, 4):
            producer.publish(0, number, *sample(number))
        with self.assertRaisesRegex(larder.Refused, "a batch was overwritten while it was read: ring=run1 batch=0"):
            next(copies)

    def test_who_was_overtaken_while_copying_is_told(self):
        producer = self.producer(1)
        batches = self.attach()
        copies = batches._ring.copies

        def copied_too_slowly(sequence):
            found = copies(sequence)
            for number in range(1, 4):
                producer.publish(0, number, *sample(number))
            return found

        with mock.patch.object(batches._ring, "copies", copied_too_slowly):
            with self.assertRaisesRegex(larder.Refused, "a batch was overwritten while it was read: ring=run1 batch=0"):
                next(batches)

    def test_views_outlive_their_batches(self):
        self.producer(1)
        label = next(self.attach(copy=False))["label"]
        self.assertEqual(label.tolist(), [0, 1, 2, 3])

    def test_who_comes_late_begins_with_the_oldest_or_the_next_epoch(self):
        producer = self.producer(5)
        late, next_epoch = self.attach(), self.attach(next_epoch=True)
        self.assertEqual(next(late).number, 2)
        producer.publish(0, 5, *sample(5))
        producer.publish(1, 0, *sample(0))
        self.assertEqual((next(next_epoch).epoch, producer.finished(1)), (1, 7))

    def test_waits_have_an_end_and_say_for_what(self):
        with self.assertRaisesRegex(larder.NotFound, "no such ring: ring=run1 timeout=0.05; start its producer; there are none"):
            self.attach(timeout=0.05)
        self.producer(1, seats=1)
        batches = self.attach(timeout=0.05)
        next(batches)
        with self.assertRaisesRegex(larder.TimedOut, "no seat of the ring is free: ring=run1 timeout=0.05"):
            self.attach(timeout=0.05)
        with self.assertRaisesRegex(TimeoutError, "the producer publishes nothing: ring=run1 batch=1 timeout=0.05"):
            next(batches)
        batches.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            next(batches)

    def test_a_ring_that_goes_while_its_seats_are_taken_is_not_full(self):
        sleep = time.sleep
        for goes in (lambda producer: shutil.rmtree(producer.folder), lambda producer: os.remove(producer.page(0))):
            producer = self.producer(1, seats=1)
            first = self.attach()

            def sleep_after(seconds):
                if os.path.exists(producer.page(0)):
                    goes(producer)
                sleep(seconds)

            with mock.patch.object(time, "sleep", sleep_after), self.assertRaises(larder.LarderError) as caught:
                self.attach(timeout=0.05)
            self.assertRegex(str(caught.exception), "no such ring|has not published a first batch")
            first.close()
            shutil.rmtree(producer.folder, ignore_errors=True)

    def test_a_long_wait_for_a_ring_is_told_once_with_the_rings_that_there_are(self):
        self.producer(name="run10")
        with mock.patch.object(room("_batches"), "_WARN_AFTER", 0.02), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.assertRaises(larder.NotFound):
                self.attach(timeout=0.3)

        self.assertEqual([(w.filename, str(w.message)) for w in caught],
                         [(__file__, "waiting for at most 0.3 s: no such ring: ring=run1; start its producer; "
                                     "did you mean run10?")])

    def test_who_makes_warnings_errors_leaves_no_seat_taken(self):
        producer = self.producer(seats=1)
        first = self.attach()
        with mock.patch.object(room("_batches"), "_WARN_AFTER", 0.02), self.assertRaisesRegex(UserWarning, "no seat .* is free"):
            self.attach()
        first.close()

        self.attach().close()
        self.assertIsNone(producer.finished())

    def test_a_batch_that_comes_later_is_waited_for(self):
        producer = self.producer(0)
        timer = threading.Timer(0.05, producer.publish, (0, 0, *sample(0)))
        batches = self.attach()
        timer.start()
        self.assertEqual(next(batches).size, 4)
        timer.join()

    def test_a_child_leaves_its_parents_seat_alone(self):
        producer = self.producer(1)
        batches = self.attach()
        child = os.fork()
        if child == 0:
            batches.close()
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual((producer.finished(), next(batches).number), (0, 0))

    def test_a_consumer_that_is_killed_leaves_its_seat_free(self):
        producer = self.producer(1)
        child = os.fork()
        if child == 0:
            batches = self.attach()
            next(batches)
            signal.pause()
        deadline = time.monotonic() + 10
        while producer.finished() is None and time.monotonic() < deadline:
            os.sched_yield()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open(producer.page(0), "rb") as page:
            fcntl.flock(page, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_a_seat_has_the_start_of_its_consumer_before_its_ticket(self):
        producer = self.producer(3)
        with self.attach() as former:
            self.assertEqual([next(former).number for _ in range(3)], [0, 1, 2])
        seen, write = [], os.pwrite

        def written(*call):
            write(*call)
            seen.append(producer.finished())

        with mock.patch.object(os, "pwrite", written):
            batches = self.attach()
        self.assertEqual((set(seen), next(batches).number), ({None, 0}, 0))

    def test_a_thousand_consumers_leave_no_descriptor(self):
        self.producer(1)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(1000):
            next(self.attach())
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_what_is_no_ring_is_refused(self):
        producer = self.producer(1)
        producer.ring[8:12] = struct.pack("<i", 9)
        with self.assertRaisesRegex(larder.LarderError, "not a ring of this release: .*format=9"):
            self.attach()
        producer.ring[8:12] = struct.pack("<i", 1)
        producer.ring[16:20] = struct.pack("<i", 1000)
        with self.assertRaisesRegex(larder.LarderError, "header of a ring is damaged"):
            self.attach()


if __name__ == "__main__":
    unittest.main()
