"""Columns: texts, ragged rows, raw bytes, and look-ups in them."""

from __future__ import annotations

import collections.abc
import operator
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


class _Column:
    _kind = None

    def __init__(self, owner, name):
        self._open, self._version = type(owner), owner._version
        self.name = name

    def __reduce__(self):
        return getattr(self._open(self._version), self._kind), (self.name,)  # the method of a dataset, which pickles by name

    def __repr__(self):
        return f"<larder.{type(self).__name__} {self._version.name}/{self.name}: {len(self)}>"


class _Rows(_Column, collections.abc.Sequence[Any]):
    """Rows of different lengths, back to back."""

    def __init__(self, owner, name, values, offsets):
        super().__init__(owner, name)
        self.values, self.offsets = values, offsets
        self._starts = memoryview(offsets)  # yields plain ints, in a third of the time that the array takes
        self._count = len(offsets) - 1

    def __len__(self):
        return self._count

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[r] for r in range(*row.indices(self._count))]
        if row < 0:
            row += self._count
        if not 0 <= row < self._count:
            raise IndexError(f"row out of range: column={self.name} rows={self._count}")
        return self._row(row, self._starts[row], self._starts[row + 1])


class Strings(_Rows):
    """A column of texts. ``strings[row]`` is a `str`; negative rows and slices (lists) work as for a list."""

    _kind = "strings"

    def __init__(self, owner, name, values, offsets):
        super().__init__(owner, name, values, offsets)
        self._bytes = memoryview(values)

    def _row(self, _, start, end):
        return str(self._bytes[start:end], "utf-8")


class Bytes(_Rows):
    """A column of raw bytes. ``column[row]`` is a read-only memoryview: hand it to a decoder, or to `bytes`."""

    _kind = "bytes"

    def __init__(self, owner, name, values, offsets):
        super().__init__(owner, name, values, offsets)
        self._bytes = memoryview(values)
        self.names = owner.strings(name + "/names") if name + "/names" in owner._version.columns else None
        """The names of the rows, a `Strings`; None where they have none."""

    def _row(self, _, start, end):
        return self._bytes[start:end]


class Ragged(_Rows):
    """A column of arrays of one dtype and rank, each with its own shape. ``column[row]`` is a read-only view.

    `values` has the elements of all rows, `offsets` where each begins there, `shapes` the shape of each.
    """

    _kind = "ragged"

    def __init__(self, owner, name, values, offsets, shapes):
        super().__init__(owner, name, values, offsets)
        self.shapes = shapes
        self.dtype = values.dtype
        self._flat = values.view(np.ndarray)
        self._shapes = shapes.view(np.ndarray)

    def _row(self, row, start, end):
        return self._flat[start:end].reshape(self._shapes[row].tolist())


class Index(_Column, collections.abc.Mapping[Any, int]):
    """A mapping from texts or integers to row numbers that takes no memory of its own and is never copied on a fork.

    Look-ups read the hash table where it lies. Iteration yields the keys in the order in which they were added.
    """

    _kind = "index"

    def __init__(self, owner, name, find, keys, count):
        super().__init__(owner, name)
        self._find, self._keys, self._count = find, keys, count

    def __getitem__(self, key: Any) -> int:
        row = self._find(key)
        if row is None:
            raise KeyError(key)
        return row

    def __contains__(self, key):
        return self._find(key) is not None

    def __iter__(self) -> Iterator[Any]:
        return self._keys()

    def __len__(self):
        return self._count

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the row of a key, or `default`."""
        row = self._find(key)
        return default if row is None else row

    def rows(self, keys: Iterable[Any], default: int | None = None) -> np.ndarray:
        """Return the rows of many keys as an int64 array. A key that is not there has `default`, or raises KeyError."""
        keys = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
        find = self.__getitem__ if default is None else lambda key: self.get(key, default)
        return np.fromiter(map(find, keys), np.int64, len(keys))


# Finders keep what they need in a closure: a look-up takes half the time that attributes would cost.

_FACTOR = 0x9E3779B97F4A7C15
_PLACE = 2**48 - 1


def _text_finder(slots, records):
    shift, last = 65 - len(slots).bit_length(), len(slots) - 1
    rows, lengths = memoryview(records.view(np.int64)), memoryview(records.view(np.int32))
    slots, records, crc32 = memoryview(slots), memoryview(records), zlib.crc32

    def find(key):
        try:
            text = key.encode()
        except (AttributeError, UnicodeEncodeError):
            return None
        x = crc32(text)
        fingerprint = x & 0xffff
        slot = x * _FACTOR >> shift & last
        found = slots[slot]
        while found:
            if found >> 48 == fingerprint:
                record = (found & _PLACE) - 1  # in units of 8 bytes: the row, a length, the key
                begin = (record << 3) + 12
                if lengths[(record << 1) + 2] == len(text) and records[begin:begin + len(text)] == text:
                    return rows[record]
            slot = slot + 1 & last
            found = slots[slot]
        return None

    return find


def _number_finder(slots, entries):
    shift, last = 65 - len(slots).bit_length(), len(slots) - 1
    slots, entries, index = memoryview(slots), memoryview(entries.reshape(-1)), operator.index

    def find(key):
        try:
            key = index(key)
        except TypeError:
            return None
        x = key & 0xffffffffffffffff
        x ^= x >> 32
        fingerprint = x & 0xffff
        slot = x * _FACTOR >> shift & last
        found = slots[slot]
        while found:
            if found >> 48 == fingerprint:
                entry = (found & _PLACE) - 1 << 1
                if entries[entry] == key:
                    return entries[entry + 1]
            slot = slot + 1 & last
            found = slots[slot]
        return None

    return find


def _texts(records, positions):
    lengths, records = memoryview(records.view(np.int32)), memoryview(records)
    return (str(records[at + 12:at + 12 + lengths[(at >> 2) + 2]], "utf-8") for at in memoryview(positions))
