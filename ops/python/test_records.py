"""Tests of larder.records, against a fake daemon that lets clients build.

    python3 -W error -m unittest discover -s ops/python
"""

import json
import multiprocessing
import os
import pickle
import random
import threading
import unittest
from unittest import mock

import numpy as np

import make_store
from test_larder import BuildsCase, larder, room

ROWS = [{"id": number, "file": f"{number:06}.jpg", "boxes": [[number, 2.5, 3, 4]] * (number % 3), "é": None} for number in range(200)]


class Moved:
    def __init__(self):
        self.x = 1


def noted_rows(calls):
    with open(calls, "a") as file:
        file.write("called\n")
    yield from ROWS


def total(calls):
    shared = larder.records("annotations", lambda: noted_rows(calls))
    return sum(row["id"] for row in shared)


def identity(shared, row):
    return shared[row]["id"]


def describe(value):
    return type(value).__name__


class RecordsCase(BuildsCase):
    def records(self, rows=ROWS, name="annotations"):
        return larder.records(name, rows)

    def refused(self, rows, reason):
        """Expect a refusal, and nothing in the store."""
        with self.assertRaisesRegex(larder.LarderError, reason):
            larder.records("refused", rows)
        self.assertNotIn("refused", larder.datasets())


class RecordsTest(RecordsCase):
    def test_one_of_many_processes_stores_the_rows_and_all_share_them(self):
        calls = os.path.join(self.store, "calls")
        with multiprocessing.get_context("fork").Pool(6) as pool:
            self.assertEqual(pool.map(total, [calls] * 12), [sum(range(200))] * 12)

        with open(calls) as file:
            self.assertEqual(file.read(), "called\n")

    def test_they_are_read_as_a_list(self):
        shared = self.records()

        self.assertEqual((len(shared), list(shared), shared[7], shared[-1]), (200, ROWS, ROWS[7], ROWS[-1]))
        self.assertEqual((shared[3:9:2], shared[[5, -1]], shared[np.arange(200) % 50 == 0]), (ROWS[3:9:2], [ROWS[5], ROWS[-1]], ROWS[::50]))
        self.assertEqual((ROWS[9] in shared, {} in shared, shared.index(ROWS[9]), shared.count(ROWS[9])), (True, False, 9, 1))
        self.assertEqual((list(reversed(shared)), shared[np.int64(4)], repr(shared)), (ROWS[::-1], ROWS[4], "<larder.Records annotations: 200>"))
        for row in 200, -201, "id", 1.5:
            with self.assertRaises(IndexError):
                shared[row]

    def test_each_read_returns_an_object_of_its_own(self):
        shared = self.records()
        shared[1]["boxes"].append(5)

        self.assertEqual(shared[1], ROWS[1])

    def test_rows_of_every_kind_come_back_equal(self):
        draw = random.Random(int(os.environ.get("LARDER_TEST_SEED", "7")))
        kinds = [lambda: draw.randbytes(draw.choice((0, 5, 1 << 16, 300_000))), lambda: "é" * draw.randrange(100_000), lambda: draw.random(),
                 lambda: draw.getrandbits(draw.randrange(1, 300)), lambda: None, lambda: tuple(range(draw.randrange(5))), lambda: {1, 2},
                 lambda: {"deep": [{"a": draw.random()}]}, lambda: complex(1, 2), lambda: bytearray(b"x") * draw.randrange(100_000)]
        rows = [draw.choice(kinds)() for _ in range(60)]

        self.assertEqual(list(self.records(iter(rows))), rows)

    def test_arrays_in_rows_come_back_as_they_were_and_can_be_written(self):
        arrays = [np.arange(5), np.arange(1 << 14).reshape(128, 128), np.asfortranarray(np.random.default_rng(1).random((100, 120))), np.empty((0, 3)),
                  np.arange(30_000)[::3], np.array(["a", None], object), np.zeros((), "f4"), np.arange(1 << 16, dtype=">i4")]
        for array in arrays[:2]:
            array.flags.writeable = False
        shared = self.records([{"x": array, "i": row} for row, array in enumerate(arrays)])

        for array, row in zip(arrays, shared):
            self.assertEqual((row["x"].dtype, row["x"].tolist()), (array.dtype, array.tolist()))
        self.assertTrue(shared[2]["x"].flags.writeable)

    def test_there_may_be_no_rows(self):
        shared = self.records([])

        self.assertEqual((len(shared), list(shared), shared[:], [] in shared), (0, [], [], False))
        with self.assertRaisesRegex(IndexError, "row out of range"):
            shared[0]

    def test_the_name_is_the_key(self):
        first = self.records()

        for rows in iter([{"other": 1}]), None, 5, lambda: 1 / 0:
            self.assertEqual(len(self.records(rows)), len(first))
        with self.assertRaisesRegex(larder.NotFound, "no such dataset: dataset=unknown"):
            larder.records("unknown")

    def test_rows_that_raise_leave_nothing_and_the_next_one_stores(self):
        def broken():
            yield {}
            raise FileNotFoundError("annotations.json")

        with self.assertRaisesRegex(FileNotFoundError, "^annotations.json$"):
            self.records(broken)
        self.assertEqual(larder.datasets(), [])
        self.assertEqual(len(self.records()), 200)

    def test_a_row_that_cannot_be_pickled_is_named_by_number_and_type(self):
        class Local:
            pass

        for row, reason in ({"f": lambda: 0}, "row=2 type=dict reason=.*lambda.*; leave it out"), (threading.Lock(), "row=2 type=lock reason=TypeError: cannot pickle"), (
                Local(), "row=2 type=RecordsTest.*Local reason=AttributeError"):
            self.refused([{}, {}, row, {}], "a row cannot be pickled: records=refused " + reason)

    def test_values_that_have_no_rows_or_iterate_over_others_are_refused(self):
        frame = type("DataFrame", (), {"__iter__": lambda self: iter("ab")})()
        for rows in {"a": {}}, "text", b"bytes", 5, frame, lambda: {"a": {}}, lambda: None:
            self.refused(rows, "not an iterable of rows: records=refused type=.*; pass a list, a generator, or a function that returns one")

    def test_a_row_has_the_data_of_stored_arrays_and_no_names(self):
        self.publish("d", {"x": np.arange(60)}, {"texts": make_store.strings(["a"])})
        opened = larder.dataset("d")
        shared = self.records([{"x": opened["x"][5:9]}, {"whole": opened["x"]}])

        self.assertEqual((type(shared[0]["x"]), shared[0]["x"].tolist(), shared[1]["whole"].sum()), (np.ndarray, [5, 6, 7, 8], 1770))
        self.assertTrue(shared[0]["x"].flags.writeable)
        for value in opened, opened["texts"], shared:
            self.refused([[value]], f"row=0 type=list reason=TypeError: a larder.{type(value).__name__} pickles as a name")

    def test_a_row_that_cannot_be_read_is_named(self):
        shared = self.records([{}, Moved()])
        with mock.patch.object(Moved, "__setstate__", mock.Mock(side_effect=ValueError("moved")), create=True), self.assertRaises(ValueError) as caught:
            shared[1]

        notes = getattr(caught.exception, "__notes__", None) or [str(caught.exception.__cause__)]
        self.assertEqual(notes, ["a row cannot be read: records=annotations row=1"])

    def test_keys_of_calls_tell_records_from_their_bytes(self):
        shared = self.records()
        compute = larder.cached(describe, version=1)

        self.assertEqual((compute(shared), compute(larder.dataset("annotations")["pickles"])), ("Records", "Bytes"))
        self.assertEqual(compute.dataset_of(shared), compute.dataset_of(self.records()))


class ProcessesTest(RecordsCase):
    def test_a_pickle_is_a_name_that_other_processes_open(self):
        shared = self.records()
        self.assertLess(len(pickle.dumps(shared)), 300)

        for method in "fork", "spawn":
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.starmap(identity, [(shared, row) for row in (3, -1, 7)]), [3, 199, 7])
        self.assertEqual(pickle.loads(pickle.dumps(shared))[:], ROWS)

    def test_threads_share_them(self):
        shared, found = self.records(), []
        threads = [threading.Thread(target=lambda: found.append([shared[row] for row in range(200)] == ROWS)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual(found, [True] * 8)

    def test_they_hold_the_version_as_long_as_they_live(self):
        shared = self.records()
        folder = os.path.dirname(os.path.dirname(shared.values.filename))

        self.assertTrue(self.is_leased(folder))
        del shared
        self.assertFalse(self.is_leased(folder))


class TrustTest(RecordsCase):
    def rewrite(self, name, **fields):
        """Change fields of a manifest."""
        path = os.path.join(self.store, "data", name, "1", "manifest.json")
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**manifest, **fields}, file)

    def test_the_store_of_another_user_is_refused_before_rows_are_read(self):
        shared, owner = self.records(), room("_store")._user(os.getuid())

        with mock.patch.object(os, "getuid", return_value=os.getuid() + 1), mock.patch.dict(os.environ, LARDER_SERVICE_USER=owner):
            self.assertIn("pickles", larder.dataset("annotations"))  # the owner is trusted with data
            for opening in lambda: self.records(), lambda: larder.records("new", lambda: 1 / 0), lambda: pickle.loads(pickle.dumps(shared)):
                with self.assertRaisesRegex(larder.Refused, f"records need a store of your own, because reading a pickle runs code: store={self.store} owner={owner} user="
                                                            ".*; name a store of your own with store= or LARDER_STORE"):
                    opening()

    def test_records_that_another_member_of_the_group_stored_are_refused(self):
        self.records()
        self.rewrite("annotations", publisher={"uid": 4711, "user": "mallory", "told": {}})

        with self.assertRaisesRegex(larder.Refused, "another user stored these records, .*: dataset=annotations publisher=mallory"):
            self.records()
        self.rewrite("annotations", publisher={"uid": -1, "user": "", "told": {}})
        self.assertEqual(len(self.records()), 200)

    def test_bytes_that_records_has_not_stored_are_never_unpickled(self):
        pickles = make_store.raw_bytes([pickle.dumps(1)])
        self.publish("other", {}, {"files": pickles})
        self.publish("more", {"features.json": np.arange(3)}, {"pickles": pickles})
        self.publish("arrays", {"x": np.arange(3)})
        self.publish("file", {}, {"pickles": pickles})
        self.rewrite("file", origins=["/data/of-others.arrow"])

        for name, has in ("other", "files"), ("more", "features.json, pickles"), ("arrays", "x"), ("file", "pickles"):
            with self.assertRaisesRegex(larder.NotFound, f"the dataset has no records: dataset={name} has={has}; give the records another name"):
                larder.records(name, ROWS)
        with self.assertRaisesRegex(TypeError, "larder.Records are opened by larder.records"):
            larder.Records("file")


if __name__ == "__main__":
    unittest.main()
