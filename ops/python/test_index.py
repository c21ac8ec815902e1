"""Tests of the index of a version: how much of it a reader reads, and damage."""

import os
import struct
import tempfile
import unittest

import numpy as np

import larder
import make_store
from larder import _index


class IndexTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory()) if hasattr(self, "enterContext") else self._folder()
        self.path = os.path.join(self.folder, "index")

    def _folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def write(self, count, **fields):
        """Write the index of some arrays in one pack, and return its bytes."""
        with open(os.path.join(self.folder, "pack-0000"), "wb") as file:
            file.truncate(1 << 20)
        arrays = [{"name": f"folder/array-{i:06}", "file": "pack-0000", "offset": 64 * i, "dtype": "<i8", "shape": [i], "order": "C", "bytes": 8 * i,
                   "crc32c": "0badcafe", **fields} for i in range(count)]
        make_store.write_manifest(self.folder, {"version": 1, "digest": "ab" * 32, "arrays": arrays, "sources": []})
        with open(self.path, "rb") as file:
            return file.read()

    def spoil(self, whole, at):
        with open(self.path, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])

    def opened(self):
        return _index._Index(self.folder, "reload it")

    def test_each_array_is_found_by_name_and_listed_in_order(self):
        for count in (0, 1, 2, 3, 700):
            with self.subTest(count):
                self.write(count)
                index = self.opened()
                names = [f"folder/array-{i:06}" for i in range(count)]
                self.assertEqual((list(index), len(index), dict(index.items())), (names, count, {name: index[name] for name in names}))
                self.assertEqual([index[name].shape for name in names], [(i,) for i in range(count)])
                self.assertEqual([index.get(name) for name in ("folder/array", "", "x" * 5000, "gr\u00f6\u00dfe", "\ud800", None, 7)], [None] * 7)

    def test_one_array_of_thousands_takes_a_few_blocks(self):
        self.write(3000)
        index = self.opened()

        self.assertEqual(index["folder/array-002345"], ("pack-0000", 64 * 2345, np.dtype("<i8"), (2345,), "C", ""))
        self.assertIsNone(index.kind("folder/array-000001"))
        self.assertLess(len(index._checked), 20)
        self.assertGreater(len(list(index)) and len(index._checked), 50)

    def test_damage_is_noticed_before_it_is_used(self):
        whole = self.write(3000)
        names = [f"folder/array-{i:06}" for i in range(0, 3000, 100)]
        sound = {name: self.opened()[name] for name in names}
        refused = 0
        for at in range(1024, len(whole), 5003):
            self.spoil(whole, at)
            index = self.opened()
            for name in names:
                try:
                    self.assertEqual(index[name], sound[name])
                except larder.LarderError as e:
                    refused += 1
                    self.assertEqual(e.code, 8)
                    self.assertRegex(str(e), "^index is damaged: file=.*/index crc32=.* expected=.*; reload it$")
        self.assertGreater(refused, 20)

    def test_any_damage_of_the_first_block_is_noticed_at_once(self):
        whole = self.write(5)
        self.assertLess(len(whole), 1024)
        for at in (*range(120), *range(124, len(whole))):  # between them is the checksum for readers that read it whole
            self.spoil(whole, at)
            with self.assertRaisesRegex(larder.LarderError, "not an index|index is damaged|another format"):
                self.opened()["folder/array-000003"]

    def test_wrong_numbers_with_the_right_sum_are_refused(self):
        whole = self.write(20)
        sums, refused = struct.unpack_from("<I", whole, 124)[0], set()
        for at in range(12, sums, 4):
            if at not in (64, 68, 120, 124):
                for number in (1, 3, 0x7FFFFFFF, 0xFFFFFFFF):
                    spoiled = bytearray(whole)
                    struct.pack_into("<I", spoiled, at, number)
                    spoiled[120:124] = bytes(4)
                    spoiled[sums:] = make_store.sums_of(spoiled[:sums])
                    with open(self.path, "wb") as file:
                        file.write(spoiled)
                    try:
                        index = self.opened()
                        index.get("folder/array-000007"), dict(index.items()), index.listed, index.columns
                    except larder.LarderError as e:
                        self.assertIn(e.code, (1, 8))
                        refused.add(at)
        self.assertGreaterEqual(refused, {12, 24, 28, 80, 88, 96})  # numbers of arrays, slots and segments; offsets of slots, entries and segments
        self.assertGreater(len(refused), 100)

    def test_an_index_of_an_earlier_build_has_no_sums(self):
        whole = self.write(100)
        sums = struct.unpack_from("<I", whole, 124)[0]
        with open(self.path, "wb") as file:
            file.write(whole[:64] + sums.to_bytes(8, "little") + whole[72:120] + bytes(8) + whole[128:sums])

        self.assertEqual(self.opened()["folder/array-000042"].shape, (42,))
        self.assertEqual(len(list(self.opened())), 100)

    def test_one_that_is_cut_or_empty_is_refused(self):
        whole = self.write(100)
        for length in (0, 7, 127, 128, 4096, len(whole) - 1):
            with open(self.path, "wb") as file:
                file.write(whole[:length])
            with self.assertRaisesRegex(larder.LarderError, "not an index|index is damaged"):
                self.opened()


if __name__ == "__main__":
    unittest.main()
