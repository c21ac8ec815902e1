"""Tests of larder.Loader: the samples that it visits, those that it skips, and the form of its batches.

    python3 -W error -m unittest discover -s ops/python
"""

import importlib.util
import itertools
import json
import operator
import pickle
import threading
import traceback
import unittest
import warnings
from unittest import mock

import numpy as np

from test_larder import StoreCase, larder, room

torch = None
if importlib.util.find_spec("torch") is not None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from torch.utils import data


class LoaderCase(StoreCase):
    ROWS = 200

    def setUp(self):
        super().setUp()
        self.publish(arrays={"x": np.arange(3 * self.ROWS).reshape(-1, 3), "y": np.arange(self.ROWS)})

    def loader(self, **settings):
        return larder.Loader("d", ["x", "y"], **{"batch_size": 16, **settings})

    def rows(self, loader, batches=None):
        return [row for batch in itertools.islice(loader, batches) for row in batch["y"].tolist()]

    def resumed(self, make, stop):
        """Return the rows of an epoch of which the rest is of another loader, and the receipts of the whole epoch and of the resumed one."""
        first, second, whole = make(), make(), make()
        begun = self.rows(first, stop)
        second.load_state_dict(json.loads(json.dumps(first.state_dict())))
        rest = self.rows(second)
        self.assertEqual(self.rows(whole), begun + rest)
        self.assertEqual(second.receipt, whole.receipt)
        return begun + rest


class Numbers:
    """A sampler of one's own: rows in another order for each epoch, or anything else."""

    def __init__(self, numbers, length=None):
        self.numbers, self.length, self.epoch = numbers, length, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return len(self.numbers) if self.length is None else self.length

    def __iter__(self):
        return iter(np.roll(self.numbers, self.epoch).tolist() if self.epoch else self.numbers)


class SamplerTest(LoaderCase):
    def test_a_list_a_range_or_a_mask_chooses_rows_in_their_order(self):
        mask = np.arange(self.ROWS) % 3 == 1
        for sampler, rows in (([5, 3, 3, -1], [5, 3, 3, self.ROWS - 1]), (range(40, 60), range(40, 60)), (mask, np.flatnonzero(mask)), (mask.tolist(), np.flatnonzero(mask)),
                              (np.array([7], np.uint8), [7]), ((), ())):
            for threads in 0, 2:
                loader = self.loader(sampler=sampler, threads=threads)
                self.assertEqual((self.rows(loader), len(loader)), (list(rows), -(-len(rows) // 16)))
                self.assertEqual(self.rows(loader), list(rows))  # the next epoch, too

    def test_shuffle_shuffles_the_rows_of_a_list(self):
        some = np.arange(50, 150, 2)
        loader = self.loader(sampler=some, shuffle=7)
        for epoch in range(3):
            self.assertEqual(self.rows(loader), some[room("_order")._shuffled(50, 7 + epoch)].tolist())

    def test_an_epoch_of_a_sampler_goes_on_from_a_state_with_its_receipt(self):
        labels, weights = np.arange(self.ROWS) % 3, np.arange(self.ROWS) % 7
        for make in (lambda: [9, 8, 7] * 30, lambda: larder.Sampler.weighted(weights, 150, 3), lambda: larder.Sampler.stratified(labels, 3),
                     lambda: larder.Sampler.weighted_without_replacement(weights, 150, 3), lambda: larder.Sampler.permuted(3).over(range(100)), lambda: Numbers(np.arange(100))):
            for drop_last, threads in itertools.product((False, True), (0, 2)):
                rows = self.resumed(lambda: self.loader(sampler=make(), drop_last=drop_last, threads=threads), 3)
                self.assertEqual(len(rows) % 16 == 0, drop_last)
        weighted = self.rows(self.loader(sampler=larder.Sampler.weighted(weights, 5000, 3)))
        self.assertFalse(any(weights[row] == 0 for row in weighted))
        self.assertEqual(sorted(self.rows(self.loader(sampler=larder.Sampler.stratified(labels, 3)))), list(range(self.ROWS)))

    def test_without_replacement_no_row_comes_twice_and_each_next_one_is_drawn_by_the_weights_that_are_left(self):
        weights = np.arange(self.ROWS) % 7
        once = self.rows(self.loader(sampler=larder.Sampler.weighted_without_replacement(weights, np.count_nonzero(weights), 3)))
        self.assertEqual(sorted(once), np.flatnonzero(weights).tolist())
        sampler, draws = larder.Sampler.weighted_without_replacement([1, 2, 3, 4, 0], 2, 6), 5_000
        counts = np.zeros((5, 5))
        for epoch in range(draws):
            counts[tuple(sampler._order(5, epoch))] += 1
        for first, second in itertools.permutations(range(5), 2):
            likely = draws * (first + 1) / 10 * (second + 1) / (9 - first) if 4 not in (first, second) else 0
            self.assertLessEqual(abs(counts[first, second] - likely), 5 * likely**0.5)
        self.assertEqual(np.trace(counts), 0)
        self.assertEqual([larder.Sampler.weighted_without_replacement(*extreme, 1)._order(3, 0).tolist() for extreme in (([1e300, 1e-20, 1e-320], 3), ([0] * 3, 0))],
                         [[0, 1, 2], []])

    def test_a_sampler_pickles_with_its_order(self):
        labels, weights = np.arange(self.ROWS) % 3, np.arange(self.ROWS) % 7 + 0.5
        kind, some = larder.Sampler, np.arange(self.ROWS)[::3]
        for sampler in (kind.sequential(), kind.random(5), kind.permuted(5), kind.weighted(weights, 300, 5), kind.weighted_without_replacement(weights, 2, 5),
                        kind.stratified(labels, 5)):
            for one, rows in (sampler, self.ROWS), (sampler.over(some), self.ROWS), (sampler.over(labels == 1), self.ROWS), (sampler.over(range(90)), 90):
                with self.subTest(one):
                    other = pickle.loads(pickle.dumps(one))
                    orders = [np.arange(rows) if order is None else order for order in (each._order(rows, 3) for each in (one, other))]
                    np.testing.assert_array_equal(*orders)
                    self.assertEqual((repr(one), one._samples(rows)), (repr(other), other._samples(rows)))
                    self.assertEqual(repr(pickle.loads(pickle.dumps(sampler)).over([1, 2])), repr(sampler.over([1, 2])))

    def test_the_state_of_a_sampler_is_refused_for_another_one(self):
        state = self.loader(sampler=[1, 2, 3]).state_dict()
        for settings in {"sampler": [1, 2, 4]}, {"sampler": [1, 2, 3], "shuffle": 1}, {}:
            with self.assertRaisesRegex(larder.LarderError, "state was saved with another order; make the loader with the seed and the sampler|"
                                                            "state was saved with another order: .*stateSampler=sequential over rows.count=3 crc32c="):
                self.loader(**settings).load_state_dict(state)

    def test_ranks_deal_the_samples_of_a_sampler_out(self):
        whole = self.rows(self.loader(sampler=range(30, 90), shuffle=2))
        ranks = [self.rows(self.loader(sampler=range(30, 90), shuffle=2, shard=(rank, 3))) for rank in range(3)]
        self.assertEqual([row for turn in zip(*ranks) for row in turn], whole)

    def test_the_order_of_the_next_epoch_is_made_ahead_only_if_it_is_a_function_of_the_epoch(self):
        threads = []

        class Noted(Numbers):
            def __iter__(self):
                threads.append(threading.current_thread())
                return super().__iter__()

        with mock.patch.multiple(room("_loader"), _LEAST_LAID_AHEAD=10):
            loader = self.loader(sampler=Noted(np.arange(50)))
            for epoch in range(3):
                self.assertEqual(self.rows(loader), np.roll(np.arange(50), epoch).tolist())
            listed = self.loader(sampler=np.arange(50), shuffle=4)
            for epoch in 0, 1, 5:
                self.assertEqual(self.rows(listed.epoch(epoch)), room("_order")._shuffled(50, 4 + epoch).tolist())
            stored = self.loader()
            self.rows(stored, 2)
        self.assertEqual((threads, stored._ahead), (3 * [threading.main_thread()], None))

    def test_samplers_that_make_no_sense_are_refused_in_words(self):
        class Batched(Numbers):
            batch_size = 2

        for sampler, error, message in (
                ([self.ROWS], IndexError, f"row out of range: dataset=d rows={self.ROWS}"), ([1.5], IndexError, "rows are picked by integers"),
                ([[1, 2], [3, 4]], TypeError, "one row after the other: dataset=d .*DataLoader.larder.torch.Rows.*batch_sampler="),
                ([True], IndexError, "a mask has to have one element for each row"), (7, TypeError, "not a sampler of rows: dataset=d sampler=int; give a list"),
                (Batched([1]), TypeError, "batches of one's own are for a DataLoader"), (iter([1]), TypeError, "a sampler has no length: .*sampler=list_iterator; give it __len__")):
            with self.subTest(sampler), self.assertRaisesRegex(error, message):
                self.loader(sampler=sampler)
        for sampler, error, message in (
                (Numbers([1, 2], 3), larder.LarderError, "another number of rows than its length: dataset=d epoch=0 sampler=Numbers length=3 returned=2"),
                (Numbers([0, -1]), larder.LarderError, f"does not exist: dataset=d epoch=0 sampler=Numbers position=1 row=-1 rows={self.ROWS}"),
                (Numbers([[1, 2]]), TypeError, "one row after the other: dataset=d epoch=0 sampler=Numbers; batches of one's own"),
                (larder.Sampler.stratified(np.zeros(3, int), 1), larder.LarderError, f"differ in number from the labels: labels=3 rows={self.ROWS}"),
                (larder.Sampler.weighted([1, 2], 5, 1), larder.LarderError, "differ in number from the weights"),
                (larder.Sampler.random(1).over([self.ROWS]), larder.LarderError, f"rows beyond the last one: row={self.ROWS} rows={self.ROWS}"),
                (larder.Sampler.random(1).over([True] * 5), larder.LarderError, f"a mask has to have one element for each row: rows={self.ROWS} mask=5")):
            with self.subTest(sampler), self.assertRaisesRegex(error, message):
                self.rows(self.loader(sampler=sampler))
        for make, message in ((lambda: larder.Sampler.weighted([1, float("nan")], 1, 1), "row=1 weight=nan"), (lambda: larder.Sampler.weighted([0, 0], 1, 1), "too few rows"),
                              (lambda: larder.Sampler.weighted_without_replacement([1, 0, 2], 3, 1), "too few rows can be drawn: rows=3 positiveWeights=2 needed=3"),
                              (lambda: larder.Sampler.weighted([[1.0]], 1, 1), "shape="), (lambda: larder.Sampler.stratified([1.5], 1), "labels are not integers"),
                              (lambda: larder.Sampler.random(None), "seed=None"), (lambda: larder.Sampler.random(1).over([-1]), "integers from 0 on"),
                              (lambda: larder.Sampler.random(1).over(np.array([2**63], np.uint64)), "integers from 0 on: rows=.*9223372036854775808"),
                              (lambda: larder.Sampler.random(1).over([[1, 2], [3, 4]]), "integers from 0 on"),
                              (lambda: self.loader(sampler=larder.Sampler.random(1), shuffle=2), "a sampler has a seed of its own: .*; leave shuffle out"),
                              (lambda: self.loader(sampler=Numbers([1]), shuffle=2), "the sampler has no generator for the seed: .*sampler=Numbers shuffle=2")):
            with self.assertRaisesRegex(ValueError, message):
                make()

    def test_a_failing_sampler_names_the_dataset_and_the_epoch(self):
        class Failing(Numbers):
            def __iter__(self):
                raise ValueError("bad")

        with self.assertRaises(ValueError) as caught:
            self.rows(self.loader(sampler=Failing([1])))
        self.assertIn("the sampler of a loader failed: dataset=d epoch=0 sampler=Failing", "".join(traceback.format_exception(None, caught.exception, None)))

    def test_settings_of_a_data_loader_name_the_call_that_has_them(self):
        for wrong, message in (({"batch_sampler": [[1]]}, r"use DataLoader\(larder\.torch\.Rows\(\.\.\.\), batch_sampler=\.\.\.\)"),
                               ({"on_failure": 1}, "use retries= and max_skipped="), ({"consumers": 2}, r"larder\.feed has consumers=")):
            with self.assertRaisesRegex(TypeError, message):
                self.loader(**wrong)


@unittest.skipUnless(torch, "needs torch")
class TorchSamplerTest(LoaderCase):
    def test_samplers_of_torch_draw_as_they_do_in_a_data_loader(self):
        weights = torch.arange(self.ROWS, dtype=torch.double)
        for make in (lambda g: data.WeightedRandomSampler(weights, 100, generator=g), lambda g: data.RandomSampler(range(self.ROWS), generator=g),
                     lambda g: data.SubsetRandomSampler(range(10, 60), generator=g), lambda g: data.RandomSampler(range(self.ROWS), True, 300, generator=g)):
            mine, other = (make(torch.Generator().manual_seed(5)) for _ in range(2))
            loader = self.loader(sampler=mine)
            for _ in range(2):
                self.assertEqual(self.rows(loader), list(other))
        self.assertEqual(self.rows(self.loader(sampler=data.SequentialSampler(range(50)))), list(range(50)))
        self.assertEqual(self.rows(self.loader(sampler=torch.tensor([4, 2]))), [4, 2])

    def test_a_distributed_sampler_gets_the_epoch(self):
        for rank in range(2):
            sampler = data.DistributedSampler(range(self.ROWS), 2, rank, seed=3)
            loader, own = self.loader(sampler=sampler), self.loader(shuffle=3, shard=(rank, 2))
            for _ in range(2):
                self.assertEqual(self.rows(loader), self.rows(own))
            with self.assertRaisesRegex(ValueError, "the sampler has other rows for each rank: dataset=d sampler=DistributedSampler world=2; leave shard out"):
                self.loader(sampler=sampler, shard=(rank, 2))

    def test_with_a_seed_the_draws_are_a_function_of_the_epoch(self):
        weighted = data.WeightedRandomSampler(torch.ones(self.ROWS), 100)
        for rows in self.resumed(lambda: self.loader(sampler=weighted, shuffle=42), 3), self.rows(self.loader(sampler=weighted, shuffle=42)):
            generator = torch.Generator().manual_seed(42)
            self.assertEqual(rows, list(data.WeightedRandomSampler(torch.ones(self.ROWS), 100, generator=generator)))
        self.assertIsNone(weighted.generator)
        self.assertEqual(self.rows(self.loader(sampler=data.RandomSampler(range(self.ROWS)), shuffle=42)), self.rows(self.loader(shuffle=42)))

    def test_draws_that_come_to_no_second_time_are_refused_by_their_receipt(self):
        make = lambda: self.loader(sampler=data.RandomSampler(range(self.ROWS)))
        loader = make()
        self.rows(loader, 3)
        with self.assertRaisesRegex(larder.LarderError, "after other samples than the order has: .*; seed the draws of the sampler with shuffle=SEED"):
            make().load_state_dict(loader.state_dict())
        with self.assertRaisesRegex(ValueError, "each rank would draw other rows: dataset=d sampler=RandomSampler world=2; .*shuffle=42"):
            self.loader(sampler=data.RandomSampler(range(self.ROWS)), shard=(0, 2))

    def test_a_generator_is_answered_with_its_seed(self):
        with self.assertRaisesRegex(TypeError, "no such setting: generator=.*; use its seed: shuffle=9"):
            self.loader(generator=torch.Generator().manual_seed(9))
        with self.assertRaisesRegex(TypeError, "batches of one's own are for a DataLoader"):
            self.loader(sampler=data.BatchSampler(range(5), 2, False))


def refusing(bad, seen=None):
    """Return a transform that fails for some rows."""
    def transform(batch):
        if seen is not None:
            seen.append(batch["y"].tolist())
        failing = sorted(bad & set(batch["y"].tolist()))
        if failing:
            raise ValueError(f"no {failing[0]}")
        return batch

    return transform


class FailureTest(LoaderCase):
    def test_samples_that_fail_are_skipped_and_their_batches_are_shorter(self):
        bad = {3, 5, 40, *range(64, 80)}
        for settings, threads in itertools.product(({}, {"shuffle": 3}, {"shuffle": 3, "shard": (1, 3)}), (0, 2)):
            plain, loader = self.loader(**settings), self.loader(transform=refusing(bad), max_skipped=30, threads=threads, **settings)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(2):
                    for expected, batch in zip(plain, loader):
                        kept = [row for row in expected["y"].tolist() if row not in bad]
                        self.assertEqual((batch["y"].tolist(), batch["x"][:, 0].tolist()), (kept, [3 * row for row in kept]))
                        self.assertEqual((batch.size, batch.number), (len(kept), expected.number))
                        valid = expected["y"][:expected.valid_size].tolist()
                        self.assertEqual(batch.valid_size, len([row for row in valid if row not in bad]))
                    self.assertEqual(loader.receipt.partition("-")[0], plain.receipt)
            self.assertGreater(loader.skipped, 5)
            self.assertLessEqual(len(caught), 20)

    def test_the_first_ten_are_named_with_row_and_position(self):
        with self.assertWarnsRegex(UserWarning, "skipped a sample: dataset=d epoch=0 batch=1 row=20 position=20 maxSkipped=1 error=ValueError: no 20"):
            rows = self.rows(self.loader(transform=refusing({20}), max_skipped=1, threads=1))
        self.assertEqual(rows, [*range(20), *range(21, self.ROWS)])

    def test_one_more_ends_the_epoch_and_the_count_begins_anew_with_the_next(self):
        loader = self.loader(transform=refusing({5, 150}), max_skipped=1)
        with self.assertWarns(UserWarning), self.assertRaisesRegex(larder.LarderError, "too many samples cannot be read: dataset=d epoch=0 batch=9 row=150 position=150 "
                                                                   "maxSkipped=1 error=ValueError: no 150; check the data, or raise max_skipped") as caught:
            self.rows(loader)
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        loader = self.loader(transform=refusing({5}), max_skipped=1)
        with self.assertWarns(UserWarning):
            self.assertEqual([len(self.rows(loader)) for _ in range(3)], [self.ROWS - 1] * 3)
        self.assertEqual(loader.skipped, 3)

    def test_a_failure_that_does_not_come_again_costs_a_retry(self):
        failures = iter([1, 1, 0, 1])

        def flaky(batch):
            if next(failures, 0):
                raise OSError("flaky")
            return batch

        self.assertEqual(self.rows(self.loader(transform=flaky, retries=2, threads=1)), list(range(self.ROWS)))  # of two, one could meet three
        failures = iter([1, 1, 1])
        with self.assertRaisesRegex(OSError, "flaky"):
            self.rows(self.loader(transform=flaky, retries=2, threads=0))

    def test_a_batch_that_fails_though_no_sample_does_is_a_failure(self):
        def whole(batch):
            if batch.size > 1:
                raise ValueError("of the whole")
            return batch

        with self.assertRaisesRegex(ValueError, "of the whole"):
            self.rows(self.loader(transform=whole, max_skipped=100))

    def test_a_transform_that_fails_without_samples_too_is_a_failure_in_words(self):
        for settings in {"batch_size": 1}, {"batch_size": 1, "retries": 1}:
            loader = self.loader(transform=lambda batch: refusing({0})(batch) and batch["y"].max(), max_skipped=5, threads=0, **settings)
            with self.assertWarns(UserWarning), self.assertRaisesRegex(larder.LarderError, "all samples of a batch were skipped, and the transform fails without samples: "
                                                                       "dataset=d epoch=0 batch=0 .*; check the data, or make larger batches") as caught:
                self.rows(loader)
            self.assertEqual(str(caught.exception.__cause__), "no 0")

    def test_a_transform_that_stops_an_iteration_does_not_end_the_epoch(self):
        for transform, threads in itertools.product((lambda batch: next(iter(())), {"x": lambda x: next(iter(()))}), (0, 2)):
            with self.assertRaisesRegex(RuntimeError, "a transform raised StopIteration"):
                self.rows(self.loader(transform=transform, threads=threads))

    def test_memory_that_is_short_is_no_sample_to_skip(self):
        transform = mock.Mock(side_effect=MemoryError)
        with self.assertRaises(MemoryError):
            self.rows(self.loader(transform=transform, retries=5, max_skipped=100, threads=0))
        self.assertEqual(transform.call_count, 1)

    def test_a_row_that_a_disk_does_not_return_is_skipped(self):
        gather = room("_loader")._Source.gather

        def failing(source, rows, out, first=0, row=None):
            if source.name == "x" and 33 in np.arange(self.ROWS)[rows]:
                raise OSError(5, "of the disk")
            gather(source, rows, out, first)

        with mock.patch.object(room("_loader")._Source, "gather", failing), self.assertWarnsRegex(UserWarning, "row=33 .*of the disk"):
            self.assertEqual(self.rows(self.loader(max_skipped=1)), [row for row in range(self.ROWS) if row != 33])

    def test_a_state_after_skipped_samples_has_their_sum_and_goes_on(self):
        make = lambda: self.loader(transform=refusing({3, 100}), max_skipped=5, shuffle=8)
        with self.assertWarns(UserWarning):
            rows = self.resumed(make, 6)
            whole = make()
            self.rows(whole)
        self.assertEqual(sorted(rows), [row for row in range(self.ROWS) if row not in (3, 100)])
        order, plan = room("_order"), room("_order")._shuffled(self.ROWS, 8)
        places = np.flatnonzero((plan == 3) | (plan == 100))
        self.assertEqual(whole.receipt.partition("-")[2], f"{order._terms(places, plan[places]):016x}")

    def test_numbers_that_make_no_sense_are_refused(self):
        for wrong in {"retries": -1}, {"max_skipped": 1.5}, {"max_skipped": None}:
            with self.assertRaisesRegex(ValueError, f"{[*wrong][0]} is not an integer of at least 0"):
                self.loader(**wrong)


class FormTest(LoaderCase):
    def test_arrays_that_are_named_one_by_one_are_tuples(self):
        for threads, size in itertools.product((0, 2), (3, 100)):
            loader = larder.Loader("d", "y", "x", batch_size=size, threads=threads, shuffle=3)
            rows = []
            for y, x in loader:
                self.assertEqual(x[:, 1].tolist(), (3 * y + 1).tolist())
                rows += y.tolist()
            self.assertEqual(rows, self.rows(self.loader(shuffle=3)))
        one, = next(iter(larder.Loader("d", "y", batch_size=3)))
        self.assertEqual(one.tolist(), [0, 1, 2])
        for named in (["y"],), (), (None,):
            self.assertIsInstance(next(iter(larder.Loader("d", *named, batch_size=3))), larder.Batch)

    def test_a_transform_gets_what_a_batch_is(self):
        sums = list(larder.Loader("d", "x", "y", batch_size=100, transform=lambda x, y: (int(x.sum()), int(y.sum()))))
        self.assertEqual(sums, [(44850, 4950), (134850, 14950)])

    def test_a_transform_of_arrays_is_a_dict_of_functions(self):
        for named, take in ((["x", "y"],), operator.itemgetter("y", "x")), (("y", "x"), tuple):
            y, x = take(next(iter(larder.Loader("d", *named, batch_size=4, transform={"y": lambda y: y * 10}))))
            self.assertEqual((y.tolist(), x.shape), ([0, 10, 20, 30], (4, 3)))
        with self.assertRaises(ZeroDivisionError) as caught:
            list(self.loader(transform={"y": lambda y: 1 // 0}, threads=1))
        shown = "".join(traceback.format_exception(None, caught.exception, None))
        self.assertIn("the transform of an array failed: dataset=d array=y", shown)
        with self.assertRaisesRegex(larder.NotFound, "no such array to transform: dataset=d array=z; .*x, y"):
            self.loader(transform={"z": len})
        with self.assertRaisesRegex(TypeError, r"steps by name are for larder\.feed: larder\.feed\('d', \['x', 'y'\], transform=\{'y': 'toFloat'\}\)"):
            self.loader(transform={"y": "toFloat"})
        with self.assertRaisesRegex(TypeError, "transform is not a function"):
            self.loader(transform="toFloat")

    def test_what_is_no_name_is_refused(self):
        for named, settings in ((["x"], 256), {}), (("x", ["y"]), {}), (("x",), {"arrays": ["y"]}):
            with self.assertRaisesRegex(TypeError, "not names of arrays: dataset=d .*and settings by name: batch_size=256"):
                larder.Loader("d", *named, batch_size=1, **settings)
        self.assertEqual([*next(iter(larder.Loader("d", arrays=["y"], batch_size=1)))], ["y"])


if __name__ == "__main__":
    unittest.main()
