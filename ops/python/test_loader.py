"""Tests of larder.Loader: its orders, batches and states are those of the loader in Java.

    python3 -W error -m unittest discover -s ops/python
"""

import contextlib
import errno
import fcntl
import gc
import glob
import itertools
import json
import os
import pickle
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
import unittest
import zlib
from unittest import mock

import numpy as np

import make_store
from test_larder import ROOT, StoreCase, larder, room

GOLDEN = os.path.join(ROOT, "loader/core/src/test/resources/golden")
HAS_GOLDEN = os.path.isdir(GOLDEN)


def lines(name):
    with open(os.path.join(GOLDEN, name), encoding="utf-8") as file:
        return file.read().splitlines()


class CountersTest(StoreCase):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.store, "loaders")
        os.mkdir(self.folder)
        self.publish("d", {"x": np.arange(4000, dtype="<i4").reshape(1000, 4)})

    def loader(self, **settings):
        return larder.Loader("d", **{"batch_size": 10, "shuffle": 1, "threads": 2, **settings})

    def files(self):
        return [os.path.join(self.folder, name) for name in os.listdir(self.folder)]

    def seconds(self, part):
        """Return the time of a part in each row."""
        path, = self.files()
        with open(path, "rb") as file:
            return np.frombuffer(file.read(), "<f8")[128:128 + 6 * 16].reshape(6, 16)[:, 2 + part]

    def is_locked(self, path):
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True

    def test_a_locked_file_has_the_counters_of_a_loader_and_goes_with_it(self):
        loader = self.loader(transform=lambda batch: batch)

        list(loader)

        path, = self.files()
        with open(path, "rb") as file:
            header = file.read(1024)
        self.assertEqual(header[:8], b"LARDERLD")
        self.assertEqual(struct.unpack_from("<2iq", header, 8), (2, 6, os.getpid()))
        self.assertEqual(struct.unpack_from("<4i", header, 40), (2, 2, 4, 10))
        self.assertEqual(struct.unpack_from("<q", header, 64), (16,))
        self.assertEqual(header[128:640].rstrip(b"\0"), b"d")
        with open(path, "rb") as file:
            rows = np.frombuffer(file.read(), "<i8")[128:128 + 6 * 16].reshape(6, 16)
        self.assertEqual(rows[0, 11], 100)
        self.assertEqual(sorted(rows[:, 0] & 0xffffffff), [1, 3, 3, 3, 3, 3])
        self.assertGreater(self.seconds(0)[0], 0)  # starting
        self.assertTrue(self.seconds(3)[1:].any())  # gathering
        self.assertTrue(self.seconds(4)[1:].any())  # user code
        self.assertTrue(self.is_locked(path))
        del loader
        gc.collect()
        self.assertEqual(self.files(), [])

    def test_a_function_that_runs_is_seen_before_its_end(self):
        entered, go = threading.Event(), threading.Event()

        def transform(batch):
            entered.set()
            go.wait()
            return batch

        loader = self.loader(transform=transform)
        batches = iter(loader)
        entered.wait()
        self.assertLess(self.seconds(4).min(), 0)  # user code
        go.set()
        list(batches)

    def test_settings_beyond_the_counters_are_no_reason_to_fail(self):
        self.assertEqual(len(list(self.loader(prefetch=1 << 40))), 100)

    def test_a_wait_for_a_disk_is_moved_out_of_the_present_part(self):
        memory, counters = bytearray(1024 + 128), room("_counters")
        row = counters._Row(memory, 0, 3)
        with mock.patch.object(counters, "_monotonic", side_effect=[1000.0, 1009.0]):
            row.begin(5)
            row.waited_for_disk(3)
            self.assertEqual(struct.unpack_from("<9d", memory, 1024 + 16), (0, 0, 3, 0, 0, -1003, 0, 0, 0))
            row.end()
        self.assertEqual(struct.unpack_from("<9d", memory, 1024 + 16), (0, 0, 3, 0, 0, 6, 0, 0, 0))

    def test_a_loader_works_as_before_without_a_folder_or_room(self):
        with mock.patch.object(os, "posix_fallocate", side_effect=OSError(errno.ENOSPC, "full")):
            self.assertEqual(len(list(self.loader())), 100)
        self.assertEqual(self.files(), [])
        os.rmdir(self.folder)
        self.assertEqual(len(list(self.loader())), 100)

    def test_sixty_five_loaders_have_a_file_each(self):
        loaders = [self.loader(threads=1) for _ in range(65)]
        for loader in loaders:
            next(iter(loader))
        self.assertEqual(len(self.files()), 65)
        self.assertTrue(all(map(self.is_locked, self.files())))

    def test_a_forked_child_leaves_the_file_to_its_parent(self):
        program = ("import os, signal, sys, larder\nloader = larder.Loader('d', batch_size=10, threads=1)\nlist(loader)\n"
                   "if os.fork() == 0:\n    print('forked', flush=True)\n    sys.stdin.read()\n    os._exit(0)\nsignal.pause()")
        parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        parent.stdout.readline()
        path, = self.files()
        self.assertTrue(self.is_locked(path))
        parent.kill()
        parent.wait()
        self.assertFalse(self.is_locked(path))
        parent.stdin.close()
        parent.stdout.close()


class ShardTest(StoreCase):
    def shard(self, index, of="ab" * 32):
        """Publish one of two halves of 100 rows, as the daemon does."""
        path = os.path.join(self.publish("part", {"n": np.arange(50 * index, 50 * index + 50)}), "manifest.json")
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        manifest["shard"] = {"of": of, "index": index, "count": 2, "rows": {"n": [50 * index, 50 * index + 50, 100]}}
        os.chmod(path, 0o600)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        with open(os.path.join(os.path.dirname(path), "shard"), "w", encoding="ascii") as file:
            file.write(f"{index}/2 {of}")

    def visited(self, rank, state=None):
        loader = larder.Loader("part", batch_size=10, shuffle=1, shard=(rank, 4))
        if state:
            loader.load_state_dict(state)
        return [row for batch in loader for row in batch["n"]], loader.state_dict()

    def test_ranks_of_all_nodes_visit_every_row_in_equally_many_steps(self):
        rows = []
        for rank in range(4):
            self.shard(rank // 2)
            own, state = self.visited(rank)
            rows += own
            self.assertEqual(len(own), 25)
            self.assertEqual(state["digest"], "ab" * 32 + "/2")
        self.assertEqual(sorted(rows), list(range(100)))

    def test_a_state_resumes_on_every_node_and_on_no_other_number_of_them(self):
        self.shard(0)
        loader = larder.Loader("part", batch_size=10, shuffle=1, shard=(0, 4))
        next(iter(loader))
        state = loader.state_dict()
        self.shard(1)
        self.assertEqual(self.visited(3, state)[0], self.visited(3)[0][10:])
        state["digest"] = "ab" * 32 + "/3"
        with self.assertRaisesRegex(larder.LarderError, "state was saved on another number of nodes"):
            self.visited(3, state)

    def test_rows_of_another_node_and_of_an_unknown_whole_are_refused(self):
        self.shard(0)
        for rank, world in ((2, 4), (0, 3), (0, 1)):
            with self.assertRaisesRegex(ValueError, "this rank's rows are not on this node: .*shard=0/2"):
                larder.Loader("part", batch_size=10, shard=(rank, world))
        self.shard(0, "")
        with self.assertRaisesRegex(larder.LarderError, "its source has changed"):
            larder.Loader("part", batch_size=10, shard=(0, 4))


@unittest.skipUnless(HAS_GOLDEN, "needs the golden files of a checkout")
class VectorsTest(StoreCase):
    def test_orders_are_those_of_java(self):
        swapped = room("_order")._swapped
        for line in lines("order-vectors.txt"):
            way, rows, seed, crc = line.split()
            with self.subTest(line):
                order = swapped(int(rows), np.random.RandomState(int(seed) & 0xffffffff), way == "wide")
                self.assertEqual(zlib.crc32(order.astype("<u4").tobytes()), int(crc))

    def test_samplers_are_those_of_java(self):
        found = lines("sampler-vectors.txt")
        self.assertEqual(len(found), 6 * 3 * 9 + 1)
        samplers, (_, rows, seed, epoch, crc) = room("_samplers"), found.pop().split()
        logarithms = samplers._log(1 - samplers._unit(samplers._philox(int(seed), int(epoch), np.arange(int(rows)), samplers._DRAW_WEIGHTED_ONCE)))
        self.assertEqual(zlib.crc32(logarithms.astype(">f8").tobytes()), int(crc))
        for line in found:
            name, rows, seed, epoch, samples, crc, description = line.split(" ", 6)
            rows, seed = int(rows), int(seed)
            numbers = np.arange(rows)
            weights, labels = np.where(numbers == 0, 1, numbers * 37 % 101) / 7.0, numbers * numbers % 13 - 3
            some, kind = numbers[:(rows + 1) // 2] * 7919 % rows, larder.Sampler
            sampler = {"permuted": lambda: kind.permuted(seed), "weighted": lambda: kind.weighted(weights, 2 * rows, seed),
                       "stratified": lambda: kind.stratified(labels, seed), "some-random": lambda: kind.random(seed).over(some),
                       "some-weighted": lambda: kind.weighted(weights, 2 * rows, seed).over(some),
                       "weighted-once": lambda: kind.weighted_without_replacement(weights, (rows + 2) // 3, seed),
                       "some-weighted-once": lambda: kind.weighted_without_replacement(weights, (rows + 2) // 3, seed).over(some),
                       "some-stratified": lambda: kind.stratified(labels, seed).over(some),
                       "range": lambda: kind.sequential().over(range(rows // 3, rows // 3 + rows // 2))}[name]()
            with self.subTest(line):
                order = sampler._order(rows, int(epoch))
                self.assertEqual((sampler.description, sampler._samples(rows), len(order)), (description, int(samples), int(samples)))
                self.assertEqual(zlib.crc32(order.astype(">i8").tobytes()), int(crc))

    def test_batches_and_states_are_those_of_java(self):
        loaded = 0
        for line in lines("epoch-vectors.txt"):
            settings, start, batches, last = line.split("\t")
            rows, seed, epoch, size, rank, world, tail, drop = settings.split()
            if loaded != int(rows):
                loaded = int(rows)
                self.publish("shelf", {"labels": np.arange(loaded, dtype="<i4")})
            loader = larder.Loader("shelf", ["labels"], batch_size=int(size), shuffle=None if seed == "-" else int(seed),
                                   shard=(int(rank), int(world)), tail=tail, drop_last=drop == "true", threads=loaded % 3)
            with self.subTest(line):
                loader.set_epoch(int(epoch))
                if start:
                    loader.load_state_dict(start)
                    self.assertEqual(text(loader.state_dict()), start)
                made = []
                for batch in loader:
                    consumed = loader.state_dict()["consumed"]
                    made.append(f"{','.join(map(str, batch['labels']))}:{batch.valid_size}:{consumed}")
                self.assertEqual(" ".join(made), batches)
                if last:
                    self.assertEqual(text(loader.state_dict()), last)


def swapped_one_by_one(rows, random, wide):
    order = list(range(rows))
    for row in range(rows):
        other = int(random.randint(0, 2**64, 1, np.uint64)[0]) % (row + 1) if wide else row + int(random.randint(0, 2**32, 1, np.uint32)[0]) % (rows - row)
        order[row], order[other] = order[other], order[row]
    return order


class OrderTest(unittest.TestCase):
    def test_rows_that_are_swapped_together_are_those_swapped_one_by_one(self):
        order, seed = room("_order"), random.randrange(2**32)
        rng = random.Random(seed)
        for _ in range(200):
            rows, drawn, steps, wide = rng.randrange(400), rng.choice([1, 7, 100, 1 << 16]), rng.choice([1, 2, 50, 4096]), rng.random() < 0.5
            with self.subTest(seed=seed, rows=rows, drawn=drawn, steps=steps, wide=wide), mock.patch.multiple(order, _DRAWN=drawn, _STEPS=steps):
                together = order._swapped(rows, np.random.RandomState(seed), wide).tolist()
                self.assertEqual(together, swapped_one_by_one(rows, np.random.RandomState(seed), wide))


def text(state):
    return json.dumps(state, separators=(",", ":"), ensure_ascii=False)


class LoaderTest(StoreCase):
    ROWS = 1000

    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(1).integers(0, 256, (self.ROWS, 7), np.uint8)
        self.publish(arrays={"x": self.x, "y": np.arange(self.ROWS)})

    def loader(self, *arrays, **settings):
        return larder.Loader("d", arrays or None, **{"batch_size": 32, "shuffle": 5, **settings})

    def test_the_batches_are_the_same_whatever_the_threads(self):
        orders = []
        for settings in {"threads": 0}, {"threads": 1}, {"threads": 3, "prefetch": 1}, {"threads": 2, "prefetch": 50}:
            loader = self.loader(**settings)
            rows = [row for _ in range(3) for batch in loader for row in batch["y"].tolist()]
            orders.append(rows)
        self.assertEqual(sorted(orders[0][:self.ROWS]), list(range(self.ROWS)))
        for order in orders[1:]:
            self.assertEqual(order, orders[0])

    def test_an_array_that_a_batch_has_not_is_not_found_beside_those_that_it_has(self):
        batch = larder.Batch({"images": 1, "labels": 2})
        with self.assertRaisesRegex(larder.NotFound, "no such array in the batch: array=image; did you mean images"):
            batch["image"]
        self.assertIsNone(batch.get("image"))
        self.assertEqual(batch.setdefault("row", 3), 3)

    def test_a_batch_has_the_rows_of_all_arrays(self):
        for number, batch in enumerate(self.loader()):
            self.assertEqual((list(batch), batch.number, batch.epoch), (["x", "y"], number, 0))
            self.assertEqual((batch["x"].dtype, batch["x"].shape), (np.uint8, (batch.size, 7)))
            np.testing.assert_array_equal(batch["x"], self.x[batch["y"]])
        self.assertEqual((number + 1, batch.size), (len(self.loader()), self.ROWS % 32))

    def test_what_was_handed_out_stays_true_and_can_be_written(self):
        for threads in 0, 2:
            kept = list(self.loader(threads=threads))
            for batch in kept:
                np.testing.assert_array_equal(batch["x"], self.x[batch["y"]])
                batch["x"][:] = 0
            self.assertEqual(sum(len(batch["y"]) for batch in kept), self.ROWS)

    def test_batches_that_are_gathered_together_are_those_that_are_gathered_alone(self):
        for size, world, tail, threads in itertools.product((1, 3, 32, 2000), (1, 3), ("pad", "drop", "exact"), (0, 2)):
            for drop_last in {False, tail != "exact"}:
                settings = dict(batch_size=size, shard=(world - 1, world), tail=tail, drop_last=drop_last, threads=threads)
                together, alone = self.loader(**settings), self.loader(**settings, transform=lambda batch: batch)
                begun = list(itertools.islice(together, 5))
                list(itertools.islice(alone, 5))
                self.assertEqual(together.state_dict(), alone.state_dict())
                for loader in together, alone:
                    loader.load_state_dict(alone.state_dict())
                found, expected = ([(b.number, b.size, b.valid_size, b["y"].tolist(), b["x"].tolist()) for b in loader] for loader in (together, alone))
                self.assertEqual(found, expected, settings)
                self.assertEqual([b["x"].tolist() for b in begun], [self.x[b["y"]].tolist() for b in begun])

    def test_memory_that_nothing_refers_to_is_used_again(self):
        loader = self.loader(threads=0)
        for batch in loader:
            pass
        self.assertLessEqual(len(loader._pool._free) + len(loader._pool._handed_out), 2)

        views = [batch["x"][3:, 2] for batch in loader]  # a view of a part keeps all of it
        self.assertEqual(len({view.__array_interface__["data"][0] for view in views}), len(views))

    def test_a_batch_of_all_rows_takes_no_more_memory_than_they_do(self):
        endless = 10**15
        for threads, drop_last in itertools.product((0, 2), (False, True)):
            loader, expected = (self.loader(batch_size=size, threads=threads, drop_last=drop_last) for size in (endless, self.ROWS))
            batches = [batch for _ in range(2) for batch in loader]
            self.assertEqual((len(loader), len(batches)), (0, 0) if drop_last else (1, 2))
            for batch, other in zip(batches, (batch for _ in range(2) for batch in expected)):
                self.assertEqual((batch.size, batch["y"].tolist(), batch["x"].tolist()), (self.ROWS, other["y"].tolist(), other["x"].tolist()))
            if not drop_last:
                self.assertEqual(loader.state_dict(), expected.state_dict())

    def test_a_resumed_epoch_with_more_samples_than_rows_has_them_in_one_batch(self):
        loader = self.loader(batch_size=10**15)
        list(loader)
        loader.load_state_dict(self.loader(shard=(0, 3)).state_dict())  # three ranks repeat two samples

        sizes = [batch.size for _ in range(2) for batch in loader]

        self.assertEqual(sizes, [self.ROWS + 2, self.ROWS])

    def test_arrays_of_every_form_are_gathered(self):
        arrays = {"f": np.asfortranarray(np.arange(60.0).reshape(20, 3)), "big": np.arange(20, dtype=">i4"), "empty": np.ones((20, 0)),
                  "time": np.arange(20).astype("M8[s]"), "text": np.array([f"row {i}" for i in range(20)]),
                  "fields": np.array([(i, i / 2) for i in range(20)], [("a", "<i2"), ("b", ">f8")]), "half": np.arange(20, dtype="f2"),
                  "row": np.arange(20), "long": np.arange(6000.0).reshape(20, 30, 10), "long times": np.arange(20 * 128).reshape(20, 128).astype("M8[s]"),
                  "long fields": np.frombuffer(np.random.default_rng(2).bytes(20 * 1500), [("a", "<i2"), ("b", "u1", (749, 2))]),
                  "long by columns": np.asfortranarray(np.arange(6000.0).reshape(20, 300))}
        for packed in False, True:
            self.publish("forms", arrays, packed=packed)
            for shuffle in None, 3:
                for batch in larder.Loader("forms", batch_size=6, shuffle=shuffle, threads=1):
                    for name, array in arrays.items():
                        self.assertEqual(batch[name].dtype, array.dtype)
                        np.testing.assert_array_equal(batch[name], array[batch["row"]])

    def test_a_state_goes_on_in_another_loader_and_with_other_ranks(self):
        loader = self.loader(batch_size=40)
        batches = iter(loader)
        seen = [row for _ in range(5) for row in next(batches)["y"].tolist()]
        state = json.loads(json.dumps(loader.state_dict()))
        rest = [row for batch in batches for row in batch["y"].tolist()]

        ranks = [self.loader(batch_size=20, shard=(rank, 2)) for rank in range(2)]
        for rank in ranks:
            rank.load_state_dict(state)
        turns = [np.stack([batch["y"] for batch in pair], 1).ravel().tolist() for pair in zip(*ranks)]

        self.assertEqual(sum(turns, []), rest)
        self.assertEqual(sorted(seen + rest), list(range(self.ROWS)))

    def test_after_a_state_of_a_whole_epoch_the_next_one_begins(self):
        first, second = self.loader(), self.loader()
        list(first)
        second.load_state_dict(first.state_dict())
        self.assertEqual([b["y"].tolist() for b in second], [b["y"].tolist() for b in first])
        self.assertEqual(second.state_dict(), first.state_dict())

    def test_receipts_are_those_of_integers_without_bounds(self):
        def term(position, row):
            bits = ((position + 1) * 0x9e3779b97f4a7c15 + row * 0xd1342543de82ef95) % 2**64
            bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9 % 2**64
            bits = (bits ^ bits >> 27) * 0x94d049bb133111eb % 2**64
            return bits ^ bits >> 31

        order = room("_order")
        self.assertEqual(order._receipt("ab" * 32, sum(map(term, range(3), [3, 1, 2]))), "9fed8038863b9309")  # as in Java
        for at in 0, 7, 10**10, 2**62:
            positions, rows = np.arange(at, at + 100), np.arange(100)[::-1]
            self.assertEqual(order._terms(positions, rows), sum(map(term, positions.tolist(), rows.tolist())) % 2**64)

    def test_each_rank_has_the_receipt_of_the_only_one(self):
        alone, receipts = self.loader("y", batch_size=1), {}
        for batch in alone:
            receipts[batch.number + 1] = alone.receipt
        self.assertEqual(len(set(receipts.values())), self.ROWS)
        for rank in range(3):
            with mock.patch.object(room("_order"), "_TERMS", 100):  # in several parts
                loader = self.loader("y", batch_size=7, shard=(rank, 3), threads=rank)
                for batch in loader:
                    if batch.number % 5 != 1:
                        consumed = loader.state_dict()["consumed"]
                        self.assertEqual(loader.receipt, receipts[min(self.ROWS, consumed)])
            self.assertEqual(loader.receipt, alone.receipt)  # the order is there after the last batch

    def test_an_order_that_is_another_for_the_same_seed_is_refused_with_both_receipts(self):
        loader = self.loader()
        next(iter(loader))
        state = loader.state_dict()
        with mock.patch.object(room("_samplers"), "_shuffled", lambda rows, seed: np.arange(rows, dtype=np.uint32)):
            other = self.loader()
            with self.assertRaisesRegex(larder.LarderError, f"after other samples than the order has: .*stateReceipt={state['receipt']} receipt=[0-9a-f]{{16}}"):
                other.load_state_dict(state)
            del state["receipt"]
            other.load_state_dict(state)
            next(iter(other))
        self.assertIsNone(other.receipt)
        self.assertNotIn("receipt", other.state_dict())

    def test_a_ctrl_c_within_a_receipt_changes_no_later_one(self):
        order = room("_order")
        terms = order._terms
        for done in range(4):  # own samples and those of other ranks, by turns
            expected, loader = (self.loader("y", batch_size=7, shard=(1, 3), threads=0) for _ in range(2))
            for batches in iter(expected), iter(loader):
                next(batches), next(batches)
            outcomes = [terms] * done + [mock.Mock(side_effect=KeyboardInterrupt)]
            with mock.patch.object(order, "_TERMS", 1), mock.patch.object(order, "_terms", lambda *a: outcomes.pop(0)(*a)):
                with self.assertRaises(KeyboardInterrupt):
                    loader.state_dict()
            self.assertEqual(loader.receipt, expected.receipt)

    def test_skipped_samples_of_a_state_stay_in_the_receipt_of_one_rank(self):
        loader = self.loader()
        next(iter(loader))
        state = loader.state_dict()
        state["receipt"] += "-000000000000000f"
        for rank in range(2):
            resumed = self.loader(shard=(rank, 2))
            resumed.load_state_dict(state)
            self.assertEqual(resumed.receipt, state["receipt"][:None if rank == 0 else 16])
        with self.assertRaisesRegex(larder.LarderError, "cannot read a loader's state"):
            loader.load_state_dict({**state, "receipt": "12"})
        with self.assertRaisesRegex(larder.LarderError, "cannot read a loader's state"):
            loader.load_state_dict({**state, "digest": None})

    def test_a_state_goes_on_after_an_iterator_that_nobody_uses(self):
        def batches(count, state=None):
            loader = self.loader("y", batch_size=250)
            iter(loader)  # as Lightning does before it begins, and before it gives the state
            if state is not None:
                loader.load_state_dict(state)
            endless = itertools.chain.from_iterable(iter(lambda: loader, None))
            return [batch["y"].tolist() for batch in itertools.islice(endless, count)], loader.state_dict()

        whole, _ = batches(12)
        first, state = batches(6)
        self.assertEqual((first, batches(6, state)[0]), (whole[:6], whole[6:]))

    def test_an_epoch_of_which_nothing_was_handed_out_is_begun_anew(self):
        loader = self.loader()
        unused = iter(loader)
        self.assertEqual(next(iter(loader)).epoch, 0)
        self.assertEqual(next(iter(loader)).epoch, 1)
        with self.assertRaises(larder.LarderError):
            next(unused)

    def test_an_epoch_can_be_named(self):
        loader = self.loader()
        named = [batch["y"].tolist() for batch in loader.epoch(7)]
        other = self.loader()
        other.set_epoch(7)
        self.assertEqual(other.state_dict()["epoch"], 7)
        self.assertEqual([batch["y"].tolist() for batch in other], named)
        self.assertEqual(next(iter(other)).epoch, 8)

    def test_setting_the_epoch_of_a_state_keeps_its_rest(self):
        first = self.loader("y", batch_size=250)
        next(first.epoch(3))
        state = first.state_dict()
        for begin in (lambda loader: None), iter:  # Lightning calls iter before it sets the epoch
            loader = self.loader("y", batch_size=250)
            loader.load_state_dict(state)
            unused = begin(loader)
            loader.set_epoch(3)
            rest = [batch["y"].tolist() for batch in loader]
            self.assertEqual(rest, [batch["y"].tolist() for batch in self.loader("y", batch_size=250).epoch(3)][1:])
            loader.set_epoch(3)
            self.assertEqual([batch["y"].tolist() for batch in loader][1:], rest)
            del unused

    def test_the_next_order_is_laid_down_while_an_epoch_runs(self):
        rows, threads, shuffled = 1 << 15, [], room("_samplers")._shuffled
        self.publish("long", {"y": np.arange(rows)})

        def noted(*arguments):
            threads.append(threading.current_thread().name)
            return shuffled(*arguments)

        with mock.patch.object(room("_samplers"), "_shuffled", noted):
            loader = larder.Loader("long", batch_size=1000, shuffle=5)
            for epoch in 0, 1, 7, 8:
                made = np.concatenate([batch["y"] for batch in loader.epoch(epoch)])
                self.assertTrue(np.array_equal(made, shuffled(rows, 5 + epoch)))
            loader._ahead.join(60)
        main = threading.current_thread().name
        self.assertEqual(sorted(threads), sorted([main, main, *["larder-order"] * 4]))

    def test_states_of_other_data_or_orders_are_refused(self):
        state = self.loader().state_dict()
        for change, message in (({"digest": "0"}, "over other data"), ({"sampler": "sequential"}, "with another order"),
                                ({"format": 2}, "cannot read"), ({"format": 2, "progress": "left=3 reached=5"}, "batches in any order.*finish the epoch in Java"),
                                ({"sampler": "sequential of windows(span=8 stride=8)"}, "with another order"), ({"seed": "a"}, "cannot read"), ({"epoch": None}, "cannot read"), ({"consumed": 10**9}, "cannot read"), ({"consumed": 1.5}, "cannot read")):
            with self.assertRaisesRegex(larder.LarderError, message):
                self.loader().load_state_dict({**state, **change})
        for text in "", "[]", "{":
            with self.assertRaisesRegex(larder.LarderError, "cannot read a loader's state"):
                self.loader().load_state_dict(text)

    def test_settings_that_make_no_sense_are_refused(self):
        self.publish("other", {"a": np.zeros(3), "b": np.zeros(4), "c": np.array(1)})
        for settings, message in (({"batch_size": 0}, "batch_size is not an integer of at least 1: batch_size=0"), ({"batch_size": 2.7}, "batch_size=2.7; give"),
                                  ({"batch_size": True}, "batch_size=True"), ({"prefetch": 0}, "prefetch=0"), ({"prefetch": 1.5}, "prefetch=1.5"),
                                  ({"threads": -1}, "at least 0: threads=-1"), ({"threads": "2"}, "threads='2'"), ({"shard": (2, 2)}, "rank=2 world=2"),
                                  ({"shard": (0, 1.5)}, "world=1.5"), ({"shard": 3}, "shard=3; give shard=.rank, world"), ({"shard": (0, 0)}, "world=0"),
                                  ({"tail": "even"}, "tail='even'"), ({"tail": "exact", "drop_last": True}, "drop_last=True"),
                                  ({"shuffle": True}, "shuffle=True; it is a seed: shuffle=42"), ({"shuffle": 1.5}, "shuffle=1.5; it is a seed"),
                                  ({"timeout": 0}, "timeout=0"), ({"timeout": None}, "timeout=None")):
            with self.subTest(settings), self.assertRaisesRegex(ValueError, message):
                self.loader(**settings)
        with self.assertRaisesRegex(ValueError, r"named twice: dataset=d arrays=\['x', 'x'\]"):
            self.loader("x", "x")
        for number in -1, 1.5, None:
            for begin in self.loader().epoch, self.loader().set_epoch:
                with self.assertRaisesRegex(ValueError, f"at least 0: epoch={number}"):
                    begin(number)
        self.assertEqual(len(list(self.loader(batch_size=np.int64(500), shuffle=np.uint8(3), threads=np.int32(1), timeout=float("inf")))), 2)
        for arrays, error in ((["a", "b"], ValueError), (["c"], ValueError), ("ab", larder.NotFound), ([], ValueError), (["d"], larder.NotFound)):
            with self.assertRaises(error):
                larder.Loader("other", arrays, batch_size=1)
        with self.assertRaisesRegex(TypeError, "make one in each process"):
            pickle.dumps(self.loader())

    def test_an_array_in_place_of_a_dataset_is_refused(self):
        for act in (lambda: larder.Loader(larder.open("d/x"), batch_size=3), lambda: larder.rows("r", self.x, len, dtype="u1", version=1)):
            with self.assertRaisesRegex(TypeError, r"^not a dataset: type=(Array|ndarray); give the name of one, or .*larder.cache\(name, lambda: it\) stores arrays"):
                act()

    def test_a_setting_of_data_loader_names_the_one_here(self):
        for wrong, message in (({"num_workers": 2}, "no such setting: num_workers=2; use threads="), ({"collate_fn": len}, "use transform="),
                               ({"prefetch_factor": 2}, "use prefetch="), ({"thread": 2}, "thread=2; did you mean threads")):
            with self.assertRaisesRegex(TypeError, message):
                self.loader(**wrong)

    def test_columns_are_never_left_out_unasked(self):
        files = make_store.raw_bytes([b"a", b"bc"])
        self.publish("flowers", {"label": np.arange(2)}, {"image": files, "path": make_store.strings(["a", "b"]),
                                                         "key": make_store.texts_index(["a", "b"])})
        self.publish("texts", {"n": np.arange(2)}, {"text": make_store.strings(["a", "b"])})
        self.publish("found", {"n": np.arange(2)}, {"key": make_store.texts_index(["a", "b"])})
        decoded = r"larder\.feed decodes images: larder\.feed\('flowers', \['image'%s\], transform=\{'image': 'decode,"
        with self.assertRaisesRegex(ValueError, r"columns would be left out: .*: dataset=flowers columns=\['image', 'path'\]; name the arrays "
                                                r"that you want, of \['label'\]; " + decoded % ", 'label'"):
            larder.Loader("flowers", batch_size=1)
        with self.assertRaisesRegex(larder.NotFound, "no such array: .*array=image; it is a column; " + decoded % ""):
            larder.Loader("flowers", ["image", "label"], batch_size=1)
        with self.assertRaisesRegex(ValueError, r"of \['n'\]; larder\.feed has batches of columns: larder\.feed\('texts', \['text', 'n'\]\); or read rows with larder\.dataset\('texts'\)\['text'\]\[row\]"):
            larder.Loader("texts", batch_size=1)
        self.assertEqual([list(batch) for batch in larder.Loader("flowers", ["label"], batch_size=2)], [["label"]])
        self.assertEqual([list(batch) for batch in larder.Loader("found", batch_size=2)], [["n"]])  # an index has no rows of its own

    def test_a_transform_runs_on_each_batch_and_its_failure_is_the_loops(self):
        for threads in 0, 2:
            sums = list(self.loader(transform=lambda batch: int(batch["y"].sum()), threads=threads))
            self.assertEqual(sum(sums), sum(range(self.ROWS)))
            loader = self.loader(transform=lambda batch: 1 // (batch.number - 3), threads=threads)
            with self.assertRaises(ZeroDivisionError):
                list(loader)
            self.assertEqual(loader.state_dict()["consumed"], 3 * 32)

    def test_a_failing_transform_names_the_dataset_the_batch_and_its_rows(self):
        def bad(batch):
            if batch.number == 1:
                raise ValueError("bad")

        for threads in 0, 2:
            for shuffle, rows in (None, "10..19"), (3, ",".join(map(str, room("_order")._shuffled(self.ROWS, 3)[10:20].tolist()))):
                with self.assertRaises(ValueError) as caught:
                    list(self.loader(transform=bad, batch_size=10, shuffle=shuffle, threads=threads))
                shown = "".join(traceback.format_exception(None, caught.exception, None))
                self.assertEqual((str(caught.exception), shown.count("dataset=d")), ("bad", 1))
                self.assertIn(f"the transform of a loader failed: dataset=d epoch=0 batch=1 positions=10..19 rows={rows}\n", shown)

    def test_a_transform_that_hangs_is_waited_for_no_longer_than_the_timeout(self):
        may_go = threading.Event()
        self.addCleanup(may_go.set)
        main = threading.main_thread()
        loader = self.loader(threads=1, timeout=0.2, transform=lambda batch: threading.current_thread() is main or may_go.wait(60))
        batches = iter(loader)
        with self.assertRaisesRegex(larder.TimedOut, "no thread has made the batch: epoch=0 batch=0 timeout=0.2"):
            next(batches)
        with self.assertRaisesRegex(larder.LarderError, "the epoch was ended"):
            next(batches)

    def test_ranks_of_an_exact_epoch_have_equally_many_batches_and_some_an_empty_last_one(self):
        sizes = [[batch.size for batch in self.loader("y", batch_size=3, shard=(rank, 333), tail="exact", threads=rank % 2)] for rank in range(2)]
        self.assertEqual(sizes, [[3, 1], [3, 0]])

    def test_the_seed_of_javas_random_steps_comes_back_in_the_next_state(self):
        state = {**self.loader().state_dict(), "seed": 99}
        loader = self.loader()
        loader.load_state_dict(state)
        next(iter(loader))
        self.assertEqual((loader.state_dict()["seed"], loader.state_dict()["sampler"]), (99, "random(seed=5)"))

    def test_after_an_interruption_the_loop_may_go_on(self):
        gather, main = room("_loader")._Source.gather, threading.main_thread()
        for threads in 0, 1:
            interrupted = []

            def interrupting(source, rows, out, first, row):
                if threading.current_thread() is main and len(interrupted) < 2:
                    interrupted.append(source.name)
                    raise KeyboardInterrupt
                gather(source, rows, out, first, row)

            with mock.patch.object(room("_loader")._Source, "gather", interrupting):
                batches, rows = iter(self.loader(threads=threads, prefetch=8)), []
                while len(rows) < self.ROWS:
                    with contextlib.suppress(KeyboardInterrupt):
                        rows += next(batches)["y"].tolist()
            self.assertEqual((sorted(rows), list(batches)), (list(range(self.ROWS)), []))

    def test_a_ctrl_c_repeats_no_batch(self):
        seed = time.time_ns()
        draw = random.Random(seed)

        def interrupt(_, frame):
            if frame.f_code.co_filename.endswith("/_loader.py"):
                raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            for _ in range(20):
                batches, numbers = iter(self.loader(batch_size=1, threads=0)), []
                for _ in range(len(batches)):
                    signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-6, 2e-5))
                    with contextlib.suppress(KeyboardInterrupt, StopIteration):
                        batch = next(batches)
                        numbers.append(batch.number)
                        self.assertEqual(batch["x"].tolist(), self.x[batch["y"]].tolist())
                    signal.setitimer(signal.ITIMER_REAL, 0)
                self.assertEqual(len(numbers), len(set(numbers)), f"seed={seed}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_an_early_break_ends_the_threads(self):
        before = set(threading.enumerate())
        for batch in self.loader(threads=2):
            break
        del batch
        gc.collect()
        for thread in set(threading.enumerate()) - before:
            thread.join(30)
            self.assertFalse(thread.is_alive())

    def test_a_second_loop_ends_the_first_in_words(self):
        loader = self.loader(threads=1)
        first = iter(loader)
        next(first)
        second = iter(loader)
        with self.assertRaisesRegex(larder.LarderError, "the epoch was ended: epoch=0 batch=1; finish one epoch before the next"):
            next(first)
        self.assertEqual(next(second).epoch, 1)
        loader.close()
        loader.close()
        with self.assertRaisesRegex(larder.LarderError, "the epoch was ended"):
            next(second)

    def test_who_waits_when_the_loader_is_closed_is_told(self):
        may_go = threading.Event()
        loader = self.loader(threads=1, prefetch=1, transform=lambda batch: may_go.wait(30))
        batches, caught = iter(loader), []

        def wait():
            try:
                next(batches)
            except larder.LarderError as e:
                caught.append(e)

        waiting = threading.Thread(target=wait)
        while batches._wanted.qsize():
            pass  # the thread of the loader has not begun
        waiting.start()
        loader.close()
        waiting.join(30)
        may_go.set()
        self.assertRegex(str(caught[0]), "the epoch was ended")

    def test_several_threads_may_share_an_epoch(self):
        batches, rows, lock = iter(self.loader(threads=2)), [], threading.Lock()

        def take():
            for batch in batches:
                with lock:
                    rows.extend(batch["y"].tolist())

        takers = [threading.Thread(target=take) for _ in range(4)]
        for taker in takers:
            taker.start()
        for taker in takers:
            taker.join(60)
        self.assertEqual(sorted(rows), list(range(self.ROWS)))

    def test_a_child_that_is_forked_in_the_middle_is_told_and_the_parent_goes_on(self):
        batches = iter(self.loader(threads=2))
        next(batches)
        child = os.fork()
        if child == 0:
            try:
                next(batches)
            except larder.LarderError:
                os._exit(larder.Loader("d", batch_size=100, threads=1) is None or len(list(larder.Loader("d", batch_size=100))) != 10)
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(sum(1 for _ in batches), len(self.loader()) - 1)

    def test_the_lease_lasts_as_long_as_a_loader_or_its_epoch(self):
        folder = self.publish("leased", {"x": np.arange(10)})
        loader = larder.Loader("leased", batch_size=2)
        batches = iter(loader)
        del loader
        gc.collect()
        self.assertTrue(self.is_leased(folder))
        kept = [batch["x"] for batch in batches]
        del batches
        deadline = time.monotonic() + 60
        while self.is_leased(folder) and time.monotonic() < deadline:  # the threads end meanwhile
            time.sleep(0.001)
        self.assertFalse(self.is_leased(folder))
        self.assertEqual(np.concatenate(kept).tolist(), list(range(10)))

    def test_a_store_that_vanishes_does_not_end_an_epoch(self):
        batches = iter(self.loader(threads=1))
        next(batches)
        for path in glob.glob(os.path.join(self.store, "data", "d", "1", "*")):
            os.unlink(path)
        self.assertEqual(sum(len(batch["y"]) for batch in batches), self.ROWS - 32)

    def test_a_program_ends_with_everything_open(self):
        code = ("import sys; sys.path[:0] = sys.argv[2:]; import larder\n"
                "loader = larder.Loader('d', batch_size=8, store=sys.argv[1], threads=3)\n"
                "batches = iter(loader); kept = [next(batches), next(batches)]; again = iter(larder.Loader(loader.dataset, batch_size=5))\n"
                "kept.append(next(again)); print('end')")
        done = subprocess.run([sys.executable, "-W", "error", "-c", code, self.store, *sys.path[:2]], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "end\n", ""))


if __name__ == "__main__":
    unittest.main()
