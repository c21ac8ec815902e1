"""Tests of larder.torch, where PyTorch can be imported.

    python3 -W error -m unittest discover -s ops/python
"""

import contextlib
import importlib.util
import itertools
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import unittest
from unittest import mock
import warnings

import numpy as np

from test_larder import ROOT, BuildsCase, StoreCase, larder, make_store, room

if importlib.util.find_spec("torch") is not None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some releases warn of what they import themselves
        import torch
        from torch.utils import data
    IS_OLD = int(torch.__version__.split(".")[0]) < 2
else:
    torch, IS_OLD = None, False


def brighter(images, labels):
    return images.float() / 255, labels


class TorchCase(StoreCase):
    ROWS = 1000

    def setUp(self):
        super().setUp()
        torch.set_num_threads(1)
        self.images = np.random.default_rng(1).integers(0, 256, (self.ROWS, 3, 4), np.uint8)
        self.labels = np.arange(self.ROWS)
        self.publish(arrays={"images": self.images, "labels": self.labels})
        self.rows = larder.torch.Rows("d", "images", "labels")

    def require_rows(self, images, labels):
        self.assertEqual((images.dtype, labels.dtype), (torch.uint8, torch.int64))
        np.testing.assert_array_equal(images.numpy(), self.images[labels.numpy()])


@unittest.skipUnless(torch, "needs torch")
class RowsTest(TorchCase):
    def test_it_is_a_dataset_as_tensor_dataset_is(self):
        expected = data.TensorDataset(torch.from_numpy(self.images), torch.from_numpy(self.labels))
        self.assertEqual(len(self.rows), len(expected))
        for row in 0, 7, -1:
            image, label = self.rows[row]
            self.assertTrue(torch.equal(image, expected[row][0]) and torch.equal(label, expected[row][1]))
        for rows in [3, 3, -1], np.array([5]), torch.tensor([9, 8]), slice(2, 9, 3), []:
            for mine, other in zip(self.rows[rows], expected[rows]):
                self.assertTrue(torch.equal(mine, other))
        for wrong in (self.ROWS, [0, self.ROWS], -self.ROWS - 1):
            with self.assertRaisesRegex(IndexError, f"row out of range: dataset=d rows={self.ROWS}"):
                self.rows[wrong]

    def test_masks_and_single_rows_in_arrays_are_those_of_tensor_dataset(self):
        expected = data.TensorDataset(torch.from_numpy(self.images), torch.from_numpy(self.labels))
        mask = self.labels % 500 == 1
        for rows in (mask, torch.from_numpy(mask), mask.tolist(), ~mask, np.zeros(self.ROWS, bool), np.array([7]), torch.tensor([7]),
                     np.int64(7), torch.tensor(7), np.array(-7), range(3, 9), np.arange(3, dtype="u8")):
            for mine, other in zip(self.rows[rows], expected[rows]):
                self.assertTrue(torch.equal(mine, other), rows)
        self.assertEqual(self.rows[mask][1].tolist(), [1, 501])

    def test_what_is_no_row_is_refused_and_not_rounded(self):
        for wrong in ([1.5], 1.5, torch.tensor(1.5), np.ones(2), True, [True, False], torch.tensor([True]), "1", ["1"], None, [[1, 2], [3]], [None]):
            with self.subTest(wrong), self.assertRaisesRegex(IndexError, "dataset=d "):
                self.rows[wrong]
            if isinstance(wrong, list):
                with self.assertRaisesRegex(IndexError, "dataset=d "):
                    self.rows.__getitems__(wrong)
        with self.assertRaisesRegex(IndexError, "one list of them: dataset=d shape=\\(1, 2\\)"):
            self.rows[[[1, 2]]]

    def test_a_single_row_is_a_copy_of_its_own(self):
        self.publish("forms", {"f": np.asfortranarray(np.arange(60.0).reshape(20, 3)), "n": np.arange(20), "none": np.ones((20, 0))})
        rows = larder.torch.Rows("forms", "f", "n", "none")
        f, n, none = rows[4]
        self.assertEqual((f.tolist(), n.item(), tuple(none.shape)), ([12.0, 13.0, 14.0], 4, (0,)))
        f += 1
        n += 1
        self.assertEqual((rows[4][0].tolist(), rows[[4]][1].tolist()), ([12.0, 13.0, 14.0], [4]))

    def test_a_single_row_is_the_one_of_a_batch_in_each_dtype_and_form(self):
        seed = int.from_bytes(os.urandom(4), "little")
        rng = np.random.default_rng(seed)
        arrays = {}
        for dtype in "?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16":
            shape = (30, *rng.integers(0, 4, rng.integers(0, 4)))
            array = rng.integers(0, 2, shape).astype(dtype)
            arrays[f"x{len(arrays)}"] = array if rng.random() < 0.5 else np.asfortranarray(array)
        self.publish("forms", arrays)
        for rows in larder.torch.Rows("forms", *arrays), larder.torch.Rows("forms", *arrays, transform=lambda *parts: parts):
            for row in rng.integers(-30, 30, 20):
                for single in rows[row], rows[int(row)]:
                    with self.subTest(seed=seed, row=row):
                        self.assertEqual(single.row, row % 30)
                        for part, batch in zip(single, rows[[row]]):
                            self.assertEqual((part.dtype, part.shape, part.is_contiguous()), (batch.dtype, batch.shape[1:], True))
                            self.assertTrue(torch.equal(part, batch[0]))

    def test_a_data_loader_gets_the_batches_that_it_gets_of_tensors(self):
        expected = data.TensorDataset(torch.from_numpy(self.images), torch.from_numpy(self.labels))
        for workers in 0, 2:
            pairs = []
            for dataset in self.rows, expected:
                torch.manual_seed(7)
                pairs.append([*data.DataLoader(dataset, 64, shuffle=True, num_workers=workers, persistent_workers=workers > 0)])
            for mine, other in zip(*pairs, **{"strict": True} if sys.version_info >= (3, 10) else {}):
                self.assertIs(type(mine), list)
                self.assertTrue(all(map(torch.equal, mine, other)))

    @unittest.skipIf(IS_OLD, "PyTorch 1 asks for one sample after the other")
    def test_a_batch_is_gathered_at_once(self):
        taken, gather = [], room("_loader")._Source.gather
        with mock.patch.object(room("_loader")._Source, "gather", lambda s, rows, out: (taken.append(len(rows)), gather(s, rows, out))):
            for images, labels in data.DataLoader(self.rows, 100, shuffle=True):
                self.require_rows(images, labels)
            for images, labels in data.DataLoader(data.Subset(self.rows, range(0, 200, 2)), 50):
                self.require_rows(images, labels)
        self.assertEqual(taken, [100] * 2 * 10 + [50] * 2 * 2)

    def test_collate_gathers_numbers_of_rows_and_samples(self):
        for dataset in range(len(self.rows)), self.rows:
            batches = [*data.DataLoader(dataset, 300, shuffle=True, collate_fn=self.rows.collate, num_workers=1)]
            for images, labels in batches:
                self.require_rows(images, labels)
            self.assertEqual(sorted(sum((labels.tolist() for _, labels in batches), [])), self.labels.tolist())

    def test_a_collate_of_ones_own_gets_samples(self):
        def collate(samples):
            self.assertEqual({type(image) for image, _ in samples}, {torch.Tensor})
            return torch.stack([image for image, _ in samples]), torch.stack([label for _, label in samples])

        for images, labels in data.DataLoader(self.rows, 64, collate_fn=collate):
            self.require_rows(images, labels)

    def test_a_transform_gets_batches(self):
        rows = larder.torch.Rows("d", "images", "labels", transform=brighter)
        for images, labels in data.DataLoader(rows, 64, num_workers=1):
            self.assertEqual(images.dtype, torch.float32)
            np.testing.assert_allclose(images.numpy(), self.images[labels.numpy()] / np.float32(255))
        self.assertEqual(rows[3][0].shape, (3, 4))
        named = larder.torch.Rows("d", "labels", transform=lambda labels: {"twice": 2 * labels})
        batch = next(iter(data.DataLoader(named, 3, collate_fn=named.collate)))
        self.assertEqual(batch["twice"].tolist(), [0, 2, 4])

    def test_what_a_transform_returns_may_be_nested_and_samples_have_its_form(self):
        def views(images, labels):
            return (images + 1, images + 2), {"y": labels, "pair": [labels, -labels]}

        def require(batch, labels):
            (first, second), named = batch
            self.assertEqual(named["y"].tolist(), labels)
            self.assertEqual(named["pair"][1].tolist(), [-label for label in labels])
            for more, view in (1, first), (2, second):
                np.testing.assert_array_equal(view.numpy(), self.images[labels] + np.uint8(more))

        rows = larder.torch.Rows("d", "images", "labels", transform=views)
        (first, second), named = rows[7]
        self.assertEqual((first.shape, second.shape, named["y"].item(), named["pair"][1].item()), ((3, 4), (3, 4), 7, -7))
        kept = []
        stacked = {"collate_fn": lambda samples: (kept.extend(samples), data.default_collate([tuple(sample) for sample in samples]))[1]}
        for dataset, options in ((rows, {}), (rows, {"collate_fn": rows.collate}), (data.ConcatDataset([rows]), {}), (rows, stacked)):
            batches = list(data.DataLoader(dataset, 8, **options))
            self.assertEqual(len(batches), self.ROWS // 8)
            require(batches[2], list(range(16, 24)))
        self.assertEqual(len(kept), self.ROWS)

    def test_samples_of_a_dict_or_of_one_tensor_are_dicts_and_tensors(self):
        named = larder.torch.Rows("d", "labels", transform=lambda labels: {"twice": 2 * labels, "deep": {"x": labels}})
        single = larder.torch.Rows("d", "labels", transform=lambda labels: 2 * labels)
        self.assertEqual((named[3]["twice"].item(), named[3]["deep"]["x"].item(), single[3].item()), (6, 3, 6))
        for wrap in lambda rows: rows, lambda rows: data.ConcatDataset([rows]):
            for workers in 0, 1:
                batch = next(iter(data.DataLoader(wrap(named), 4, num_workers=workers, multiprocessing_context="fork" if workers else None)))
                self.assertEqual((batch["twice"].tolist(), batch["deep"]["x"].tolist()), ([0, 2, 4, 6], [0, 1, 2, 3]))
                batch = next(iter(data.DataLoader(wrap(single), 4, num_workers=workers, multiprocessing_context="fork" if workers else None)))
                self.assertEqual(batch.tolist(), [0, 2, 4, 6])
            self.assertEqual(next(iter(data.DataLoader(wrap(single), 4, collate_fn=single.collate))).tolist(), [0, 2, 4, 6])
        self.assertEqual(pickle.loads(pickle.dumps(named[3]))["twice"].item(), 6)

    def test_a_transform_that_does_not_return_a_row_for_each_sample_is_refused(self):
        for returned, found in ((lambda x, y: (x[:3], y), r"returned=Tensor\[0\] rows=3"), (lambda x, y: {"a": {"b": y[:1].sum()}}, r"returned=Tensor\['a'\]\['b'\] rows=None"),
                                (lambda x, y: (x, None), r"returned=NoneType\[1\] rows=None"), (lambda x, y: x.numpy()[:0], "returned=ndarray rows=0")):
            rows = larder.torch.Rows("d", "images", "labels", transform=returned)
            with self.assertRaisesRegex(larder.LarderError, f"one row for each sample: dataset=d samples=8 {found}; return a tensor"):
                next(iter(data.DataLoader(rows, 8)))

    def test_a_failing_transform_names_the_dataset_and_the_rows(self):
        def bad(images, labels):
            raise ValueError("bad")

        rows = larder.torch.Rows("d", "images", "labels", transform=bad)
        for take, shown in (lambda: rows[7], "7"), (lambda: rows[[5, 9]], "5,9"), (lambda: rows[:], r"0\.\.999"):
            with self.assertRaises(ValueError) as caught:
                take()
            self.assertRegex("".join(traceback.format_exception(None, caught.exception, None)),
                             f"ValueError: bad(?s:.*)larder.torch.Rows failed: dataset=d rows={shown}\n" if sys.version_info >= (3, 11) else "dataset=d rows=")
        with self.assertRaisesRegex(ValueError, "dataset=d rows=0,1"):  # of a worker there is the traceback alone
            next(iter(data.DataLoader(rows, 2, num_workers=1, multiprocessing_context="fork")))

    def test_a_list_of_arrays_makes_dicts_of_samples_and_batches(self):
        for rows in larder.torch.Rows("d", ["labels", "images"]), larder.torch.Rows("d", ["labels", "images"], transform=lambda batch: batch), larder.torch.Rows("d"):
            self.assertEqual((rows[7]["labels"].item(), rows[7].row, rows[7]["images"].shape), (7, 7, (3, 4)))
            self.require_rows(rows[[5, 9]]["images"], rows[[5, 9]]["labels"])
            for workers in 0, 1:
                batches = list(data.DataLoader(pickle.loads(pickle.dumps(rows)) if workers == 0 and rows._transform is None else rows, 300, num_workers=workers,
                                               multiprocessing_context="fork" if workers else None))
                self.assertEqual(torch.cat([batch["labels"] for batch in batches]).tolist(), self.labels.tolist())
        brightened = larder.torch.Rows("d", "labels", "images", transform={"images": lambda images: images.float()})
        self.assertEqual([part.dtype for part in brightened[3]], [torch.int64, torch.float32])

    @unittest.skipIf(IS_OLD, "PyTorch 1 asks for one sample after the other")
    def test_samples_that_cannot_be_transformed_are_skipped_where_that_is_allowed(self):
        def refusing(labels):
            if (labels % 100 == 7).any():
                raise ValueError("bad")
            return labels

        rows = larder.torch.Rows("d", "labels", transform=refusing, max_skipped=10)
        collates = None, rows.collate, lambda samples: torch.stack([sample for sample in samples])
        for collate, workers in itertools.product(collates, (0, 2)):
            dataset = larder.torch.Rows("d", "labels", transform=refusing, max_skipped=10)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always" if workers == 0 else "ignore")
                batches = list(data.DataLoader(dataset, 100, collate_fn=collate, num_workers=workers, multiprocessing_context="fork" if workers else None))
            self.assertEqual([label for batch in batches for label in batch.tolist()], [label for label in range(self.ROWS) if label % 100 != 7])
            if workers == 0:
                self.assertRegex(str(caught[0].message), "skipped a sample: dataset=d row=7 maxSkipped=10 error=ValueError: bad")
        with self.assertWarns(UserWarning), self.assertRaisesRegex(larder.LarderError, "too many samples cannot be read: dataset=d row=307 maxSkipped=3 "):
            list(data.DataLoader(larder.torch.Rows("d", "labels", transform=refusing, max_skipped=3), 100))
        with self.assertRaisesRegex(ValueError, "bad"):
            dataset[7]
        with self.assertRaisesRegex(RuntimeError, "a transform raised StopIteration"):  # a loop would end
            list(data.DataLoader(larder.torch.Rows("d", "labels", transform=lambda labels: next(iter(()))), 100))
        with self.assertWarns(UserWarning), self.assertRaisesRegex(larder.LarderError, "all samples of a batch were skipped: dataset=d; check"):
            list(data.DataLoader(larder.torch.Rows("d", "labels", transform=refusing, max_skipped=10), sampler=[7]))

    def test_a_failure_of_a_row_that_does_not_come_again_costs_a_retry(self):
        failures = iter([1, 1, 0, 1])

        def flaky(labels):
            if next(failures, 0):
                raise OSError("flaky")
            return labels

        rows = larder.torch.Rows("d", "labels", transform=flaky, retries=2)
        self.assertEqual((rows[3].item(), rows[[4, 5]].tolist()), (3, [4, 5]))

    def test_workers_read_by_name_however_they_are_started(self):
        self.assertLess(len(pickle.dumps(self.rows)), 1000)
        for start in "fork", "spawn", "forkserver":
            loader = data.DataLoader(self.rows, 250, shuffle=True, num_workers=2, multiprocessing_context=start, persistent_workers=True)
            for _ in range(2):
                labels = []
                for images, its_labels in loader:
                    self.require_rows(images, its_labels)
                    images += 1  # theirs to write
                    labels += its_labels.tolist()
                self.assertEqual(sorted(labels), self.labels.tolist())

    def test_a_killed_worker_is_an_error_and_not_a_wait(self):
        code = ("import os, signal, sys; sys.path[:0] = sys.argv[2:]; import larder.torch; from torch.utils.data import DataLoader\n"
                "loader = iter(DataLoader(larder.torch.Rows('d', store=sys.argv[1]), 2, num_workers=2, timeout=60)); next(loader)\n"
                "os.kill(loader._workers[0].pid, signal.SIGKILL); list(loader)")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, self.store, *sys.path[:2]], capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)  # what PyTorch says depends on what it was doing
        self.assertRegex(done.stderr, "killed by signal|Error")

    def test_distributed_sampler_deals_it_out(self):
        seen = []
        for rank in range(3):
            sampler = data.DistributedSampler(self.rows, 3, rank, seed=4)
            sampler.set_epoch(2)
            mine = [labels for _, labels in data.DataLoader(self.rows, 50, sampler=sampler)]
            loader = larder.torch.Loader("d", ["labels"], batch_size=50, shuffle=4, shard=(rank, 3))
            seen.append(torch.cat(mine))
            self.assertTrue(torch.equal(torch.cat([batch["labels"] for batch in loader.epoch(2)]), seen[-1]))
        self.assertEqual(set(torch.cat(seen).tolist()), set(range(self.ROWS)))


@unittest.skipUnless(torch, "needs torch")
class LoaderTest(TorchCase):
    def test_it_hands_out_tensors_in_the_order_of_randperm(self):
        for threads in 0, 2:
            loader = larder.torch.Loader("d", batch_size=64, shuffle=42, threads=threads)
            for epoch in range(2):
                torch.manual_seed(42 + epoch)
                expected, kept = torch.randperm(self.ROWS), list(loader)
                for batch in kept:
                    self.require_rows(batch["images"], batch["labels"])
                    batch["images"] += 1
                self.assertTrue(torch.equal(torch.cat([batch["labels"] for batch in kept]), expected))

    def test_without_torch_the_order_is_the_same(self):
        order = room("_order")
        for rows in (*range(0, 40), 63, 64, 1000, 5000, 100_000):
            for seed in 0, 42, -1, 2**40 + 3:
                torch.manual_seed(seed & 0xffffffff)
                expected = torch.randperm(rows).numpy()
                self.assertTrue(np.array_equal(order._shuffled(rows, seed), expected))
                self.assertTrue(np.array_equal(order._swapped(rows, np.random.RandomState(seed & 0xffffffff), False), expected))

    def test_a_program_that_ends_in_the_middle_of_an_epoch_ends_well(self):
        self.publish("long", {"x": np.zeros(3_000_000, np.uint8)})  # whose order takes PyTorch longer than the end of a program
        code = """if True:
            import warnings
            warnings.simplefilter("ignore")
            import sys
            sys.path[:0] = sys.argv[2:]
            import torch
            import larder.torch
            batches = iter(larder.torch.Loader("long", batch_size=64, shuffle=42, store=sys.argv[1], threads=2))
            next(batches)"""
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", code, self.store, *sys.path[:2]], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_dtype_that_torch_does_not_have_is_refused_in_words(self):
        self.publish("t", {"t": np.arange(3).astype("M8[s]"), "b": np.arange(3, dtype=">i4")})
        for make in (larder.torch.Rows, lambda *names: larder.torch.Loader(names[0], names[1:], batch_size=1),
                     lambda name, array: larder.torch.tensor(larder.open(f"{name}/{array}"))):
            for array in "tb":
                with self.assertRaisesRegex(larder.LarderError, "PyTorch has no such dtype: dtype=.*; convert a copy with astype"):
                    make("t", array)

    def test_a_data_loader_takes_a_loader_as_its_dataset_but_not_into_workers(self):
        loader = larder.torch.Loader("d", batch_size=64, shuffle=42)
        mine = [batch["labels"] for batch in loader.epoch(0)]
        loader.set_epoch(0)
        self.assertTrue(all(map(torch.equal, mine, [batch["labels"] for batch in data.DataLoader(loader, batch_size=None)])))
        with self.assertRaisesRegex(larder.LarderError, "worker=0 workers=1; use num_workers=0"):
            next(iter(data.DataLoader(loader, batch_size=None, num_workers=1)))

    @unittest.skipUnless(importlib.util.find_spec("torchdata"), "needs torchdata")
    def test_torchdata_saves_a_loader_in_an_epoch_and_between_two(self):
        from torchdata.stateful_dataloader import StatefulDataLoader

        def stateful():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it uses what PyTorch has deprecated
                return StatefulDataLoader(larder.torch.Loader("d", batch_size=64, shuffle=42), batch_size=None)

        for consumed in 3, None:
            first, second = stateful(), stateful()
            batches = iter(first)
            for _ in itertools.islice(batches, consumed):
                pass
            second.load_state_dict(first.state_dict())
            rest = batches if consumed else first
            expected, resumed = ([batch["labels"] for batch in found] for found in (rest, second))
            self.assertTrue(len(expected) == len(resumed) > 3 and all(map(torch.equal, expected, resumed)))

    def test_page_locked_memory_is_asked_for_where_there_is_a_gpu(self):
        loader = larder.torch.Loader("d", batch_size=64, shuffle=42)
        pins = torch.cuda.is_available()
        kept = list(loader)
        self.assertEqual({tensor.is_pinned() for batch in kept for tensor in batch.values()}, {pins})
        for batch in kept:
            self.require_rows(batch["images"], batch["labels"])


    def test_what_torch_allocates_is_filled(self):
        empty = torch.empty
        with mock.patch.object(torch, "empty", lambda *shape, pin_memory, **more: empty(*shape, **more)):  # as if there were a GPU
            for batch in larder.torch.Loader("d", batch_size=64, shuffle=42, pin_memory=True, threads=0):
                self.require_rows(batch["images"], batch["labels"])


@unittest.skipUnless(torch, "needs torch")
class TensorTest(TorchCase):
    def test_a_tensor_lies_over_the_shared_pages_and_nothing_is_warned_of(self):
        array = larder.open("d/images")
        for view in array, array[3:9, 1], array[::2].transpose(2, 0, 1), array[:0]:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                tensor = larder.torch.tensor(view)
            self.assertEqual(tuple(tensor.shape), view.shape)
            self.assertTrue(np.array_equal(tensor.numpy(), view))
            if view.size:
                self.assertEqual(tensor.data_ptr(), view.__array_interface__["data"][0])

    def test_a_dataset_in_place_of_an_array_and_an_array_in_place_of_a_dataset_are_refused(self):
        with self.assertRaisesRegex(TypeError, r"^not an array: type=Dataset; give an array of a dataset: larder.open\('d/images'\)$"):
            larder.torch.tensor(larder.dataset("d"))
        with self.assertRaisesRegex(TypeError, r"^not an array: type=str; give an array of a dataset: larder.open\('mnist/train-images'\)$"):
            larder.torch.tensor("d")
        with self.assertRaisesRegex(TypeError, "^not a dataset: type=Array; give the name of one"):
            larder.torch.Rows(larder.open("d/images"))

    def test_a_tensor_keeps_the_lease(self):
        folder = self.publish("leased", {"x": np.arange(10)})
        for private in False, True:
            tensor = larder.torch.tensor(larder.open("leased/x"), private=private)[2:]
            self.assertTrue(self.is_leased(folder))
            self.assertEqual(tensor.sum(), 44)
            del tensor
            self.assertFalse(self.is_leased(folder))

    def test_a_private_tensor_can_be_written_and_nobody_sees_it(self):
        array = larder.open("d/images")
        for view in array, array[5:7], array[:, ::2]:
            tensor = larder.torch.tensor(view, private=True)
            self.assertTrue(np.array_equal(tensor.numpy(), view))
            tensor += 1
            self.assertTrue(np.array_equal(tensor.numpy(), view + np.uint8(1)))
        np.testing.assert_array_equal(array, self.images)

    def test_plain_arrays_are_taken_as_they_are(self):
        plain = np.arange(3)
        larder.torch.tensor(plain).add_(1)
        larder.torch.tensor(plain, private=True).add_(1)
        self.assertEqual(plain.tolist(), [2, 3, 4])

    def test_writing_into_shared_pages_is_as_deadly_as_documented(self):
        code = "import sys; sys.path[:0] = sys.argv[2:]; import larder.torch; larder.torch.tensor(larder.open('d/images', sys.argv[1])).add_(1)"
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, self.store, *sys.path[:2]], stderr=subprocess.DEVNULL)
        self.assertEqual(done.returncode, -signal.SIGSEGV)

    @unittest.skipIf(tuple(map(int, np.__version__.split(".")[:2])) < (2, 1), "numpy before 2.1 has no DLPack that can say read-only")
    def test_dlpack_hands_out_the_shared_pages_to_who_understands_read_only(self):
        array = larder.open("d/images")
        again = np.from_dlpack(array)
        self.assertEqual(again.__array_interface__["data"], array.__array_interface__["data"])
        with self.assertRaises(BufferError):
            array.__dlpack__()


GUIDE = os.path.join(ROOT, "ops/docs/how-to/FROM-TORCH.md")


@unittest.skipUnless(torch and os.path.exists(GUIDE), "needs torch and a checkout")
class GuideTest(BuildsCase):
    """Runs what the guide says, before and after the change, one block after the other."""

    def test_the_code_of_the_guide_runs_with_larder_and_without(self):
        with open(GUIDE, encoding="utf-8") as file:
            blocks = re.findall("```diff\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreater(len(blocks), 4)
        arrays = {"train-images": np.random.default_rng(1).integers(0, 256, (1000, 4), np.uint8), "train-labels": np.arange(1000)}
        self.publish("mnist", arrays)
        reviews = {"tokens": [[1], [2, 3], [4, 5, 6], []], "text": ["a", "b", "c", "d"]}
        self.publish("reviews", {}, {"tokens": make_store.ragged([np.array(row, "i8") for row in reviews["tokens"]]), "text": make_store.strings(reviews["text"])})
        for leading in "-", "+":
            seen, read = [], []
            with tempfile.TemporaryDirectory() as folder, in_folder(folder):
                for name, array in {**arrays, "raw": np.arange(6)}.items():
                    np.save(name + ".npy", array)
                with open("reviews.json", "w") as file:
                    json.dump(reviews, file)
                with open("annotations.json", "w") as file:
                    json.dump([{"boxes": [[1, 2, 3, 4]] * count} for count in range(3)], file)
                scope = {"larder": larder, "np": np, "os": os, "json": json, "Dataset": data.Dataset, "read": lambda *batch: read.append(batch), "torch": torch, "world": 2, "rank": 1, "device": "cpu",
                         "TensorDataset": data.TensorDataset, "DataLoader": data.DataLoader, "DistributedSampler": data.DistributedSampler,
                         "WeightedRandomSampler": data.WeightedRandomSampler, "weights": torch.ones(1000),
                         "train": lambda images, labels: seen.append(labels), "compute": lambda raw, size: raw * size, "epoch": 0,
                         "model": torch.nn.Linear(1, 1), "time_is_up": lambda: len(seen) > 8}
                for block in blocks:
                    if "time_is_up" in block and leading == "-":
                        continue  # where the batch is a dict
                    exec("\n".join(line[1:] for line in block.splitlines() if line[:1] in (" ", leading)), scope)
            self.assertEqual([(tokens.tolist(), texts) for tokens, texts in read], [([[1, 0], [2, 3]], ("a", "b")), ([[4, 5, 6], [0, 0, 0]], ("c", "d"))])
            self.assertEqual(scope["boxes"], [[], [[1, 2, 3, 4]], [[1, 2, 3, 4]] * 2])
            self.assertEqual(scope["features"].tolist(), [0, 64, 128, 192, 256, 320])
            self.assertAlmostEqual(float(scope["mean"]), arrays["train-images"].mean(), 2)
            first = np.concatenate([labels.numpy() for labels in seen[:4]])
            self.assertEqual(sorted(first), list(range(1000)))


@contextlib.contextmanager
def in_folder(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    unittest.main()
