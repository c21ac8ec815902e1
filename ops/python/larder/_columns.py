"""Columns: texts, ragged rows, raw bytes, and indices."""

from __future__ import annotations

import collections.abc
import itertools
import operator
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ._errors import _message

_INDEX_SHOWN = 100  # characters
_BLOCK_ROWS, _BLOCK_BYTES = 1 << 9, 1 << 18  # a loop converts the offsets of as many rows together, and their texts if they are no longer


def _picked(index, count, **owner):
    """Return the row of an index as an int, or the rows of a slice, integers or a mask of all rows as an array.

    Rows count from 0, or back from the end. Errors show `owner`, the column or dataset.
    """
    if isinstance(index, slice):
        return np.arange(*index.indices(count))
    if type(index) is int or isinstance(index, np.integer):  # numpy takes twenty times as long
        row = int(index)
        if -count <= row < count:
            return row % count
    try:
        rows = np.asarray(index)
    except ValueError:  # lists that differ in length
        rows = np.empty((), object)
    if rows.dtype == bool:
        if rows.shape != (count,):
            raise IndexError(_message("a mask has to have one element for each row", "or pick rows by integers", **owner, rows=count, mask=rows.shape))
        return np.flatnonzero(rows)
    counted = "rows count from 0, or from -1 backwards"
    if rows.dtype.kind not in "iu" and (rows.size or rows.dtype.kind != "f"):  # numpy converts an empty list to floats
        remedy = "an index finds rows by key: larder.dataset(name).index(column)[key]" if isinstance(index, str) else counted
        raise IndexError(_message("rows are picked by integers, slices or masks", remedy, **owner, index=repr(index)[:_INDEX_SHOWN]))
    if rows.size and not (-count <= rows.min() and rows.max() < count):
        raise IndexError(_message("row out of range", counted, **owner, rows=count,
                                  asked=int(rows) if rows.ndim == 0 else f"{rows.min()}..{rows.max()}"))
    rows = rows.astype(np.intp)
    rows = np.where(rows < 0, rows + count, rows)
    return int(rows) if rows.ndim == 0 else rows


class _Column:
    _kind = None

    def __init__(self, owner, name):
        self._open, self._version = type(owner), owner._version
        self.name = name

    def __reduce__(self):
        return getattr(self._open(self._version), self._kind), (self.name,)  # the method of a dataset, for pickling by name

    def __repr__(self):
        return f"<larder.{type(self).__name__} {self._version.name}/{self.name}: {len(self)}>"


class _Rows(_Column, collections.abc.Sequence[Any]):
    """Rows of different lengths, back to back."""

    def __init__(self, owner, name, values, offsets):
        super().__init__(owner, name)
        self.values, self.offsets = values, offsets
        self._offsets = offsets.view(np.ndarray)
        self._starts = memoryview(offsets)  # yields plain ints, in a third of the time that the array takes
        self._count = len(offsets) - 1

    def __len__(self):
        return self._count

    def __getitem__(self, row: Any) -> Any:
        if type(row) is int and 0 <= row < self._count:
            return self._row(row, self._starts[row], self._starts[row + 1])
        if isinstance(row, slice):
            start, stop, step = row.indices(self._count)
            if step == 1:
                return [*self._between(start, stop)]
        rows = _picked(row, self._count, dataset=self._version.name, column=self.name)
        return self[rows] if type(rows) is int else self._several(rows)

    def __iter__(self) -> Iterator[Any]:
        return self._between(0, self._count)

    def _several(self, rows):
        if rows.ndim > 1:
            return [self[some] for some in rows.tolist()]
        return [*map(self._row, rows.tolist(), self._offsets[rows].tolist(), self._offsets[rows + 1].tolist())]

    def _between(self, start, stop):
        """Yield rows. Their offsets are converted together, in less time than those of one row after the other."""
        return itertools.chain.from_iterable(self._block(first, self._offsets[first:min(first + _BLOCK_ROWS, stop) + 1])
                                             for first in range(start, stop, _BLOCK_ROWS))

    def _block(self, first, offsets):
        """Yield the rows between offsets. The row of the first offset has the number `first`."""
        offsets = offsets.tolist()
        return map(self._row, itertools.count(first), offsets, offsets[1:])


class Strings(_Rows):
    """A column of texts. ``strings[row]`` is a `str`; negative rows work as for a list. A slice, a list of rows or a mask gives a list."""

    _kind = "strings"

    def __init__(self, owner, name, values, offsets):
        super().__init__(owner, name, values, offsets)
        self._bytes = memoryview(values)

    def _row(self, _, start, end):
        return str(self._bytes[start:end], "utf-8")

    def _block(self, first, offsets):
        begin, end = int(offsets.min()), int(offsets.max())
        if begin < 0 or end - begin > _BLOCK_BYTES:
            return super()._block(first, offsets)
        offsets = (offsets - begin).tolist()
        try:
            text = str(self._bytes[begin:end], "ascii")
        except UnicodeDecodeError:  # then characters and bytes differ in number
            encoded = bytes(self._bytes[begin:end])
            return map(lambda start, end: encoded[start:end].decode(), offsets, offsets[1:])  # goes on after a damaged row, unlike a generator
        return (text[start:end] for start, end in zip(offsets, offsets[1:]))


class Bytes(_Rows):
    """A column of raw bytes. ``column[row]`` is a read-only memoryview: hand it to a decoder, or to `bytes`."""

    _kind = "bytes"

    def __init__(self, owner, name, values, offsets):
        super().__init__(owner, name, values, offsets)
        self._bytes = memoryview(values)
        self.names = owner.strings(name + "/names") if owner._version.arrays.kind(name + "/names") else None
        """The names of the rows as a `Strings`, or None if they have none."""

    def _row(self, _, start, end):
        return self._bytes[start:end]

    def _block(self, _, offsets):
        values, offsets = self._bytes, offsets.tolist()
        return (values[start:end] for start, end in zip(offsets, offsets[1:]))


class Ragged(_Rows):
    """A column of arrays of one dtype and rank, each with its own shape. ``column[row]`` is a read-only view.

    `values` has the elements of all rows, `offsets` the start of each row there, and `shapes` the shape of each.
    """

    _kind = "ragged"

    def __init__(self, owner, name, values, offsets, shapes):
        super().__init__(owner, name, values, offsets)
        self.shapes = shapes
        self.dtype = values.dtype
        self._flat = values.view(np.ndarray)
        self._shapes = shapes.view(np.ndarray)
        self._lengths = memoryview(shapes[:, 0]) if shapes.shape[1] == 1 else None

    def _row(self, row, start, end):
        found = self._flat[start:end]
        if self._lengths is not None and self._lengths[row] == len(found):
            return found
        return found.reshape(self._shapes[row].tolist())

    def _block(self, first, offsets):
        values, shapes, starts = self._flat, self._shapes[first:first + len(offsets) - 1], offsets.tolist()
        if self._lengths is None and len(shapes) == len(starts) - 1:
            return map(lambda start, end, shape: values[start:end].reshape(shape), starts, starts[1:], shapes.tolist())  # goes on after a damaged row
        if offsets.min() >= 0 and offsets.max() <= len(values) and np.array_equal(shapes, np.diff(offsets)[:, None]):
            return (values[start:end] for start, end in zip(starts, starts[1:]))
        return super()._block(first, offsets)


class Index(_Column, collections.abc.Mapping[Any, int]):
    """A mapping from texts or integers to row numbers that takes no memory of its own and is never copied on a fork.

    Lookups read the hash table in place. Iteration yields the keys in the order of insertion.
    """

    _kind = "index"

    def __init__(self, owner, name, find, find_all, keys, count):
        super().__init__(owner, name)
        self._find, self._find_all, self._keys, self._count = find, find_all, keys, count

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
        """Return the rows of many keys as an int64 array, four times as fast as single lookups if there are thousands.

        An absent key gets `default`, or raises KeyError.
        """
        keys = keys if isinstance(keys, np.ndarray) else list(keys)
        rows = np.empty(len(keys), np.int64)
        for start in range(0, len(keys), _TOGETHER):
            some = keys[start:start + _TOGETHER]
            found = self._find_all(some) if len(some) >= _WORTH_IT else None
            if found is None:  # few keys, or some of another type
                some = some.tolist() if isinstance(some, np.ndarray) else some
                find = self.__getitem__ if default is None else lambda key: self.get(key, default)
                rows[start:start + len(some)] = np.fromiter(map(find, some), np.int64, len(some))
            else:
                its_rows, is_there = found
                if not is_there.all():
                    if default is None:
                        missing = some[int(is_there.argmin())]
                        raise KeyError(missing.item() if isinstance(missing, np.generic) else missing)
                    its_rows[~is_there] = default
                rows[start:start + len(some)] = its_rows
        return rows


# Finders use closures: a lookup is twice as fast as with attributes.

_FACTOR = 0x9E3779B97F4A7C15
_PLACE = 2**48 - 1
_WORTH_IT, _TOGETHER, _FEW = 200, 1 << 14, 64  # number of keys to look up together; below this many remaining keys, one by one


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


def _probe(slots, hashes, fits, row_of, find):
    """Look up many keys together. Return their rows and a mask of the present ones.

    ``fits(numbers, places)`` returns a mask of the keys that are at these places, `row_of` returns the rows at places, and
    ``find(number)`` the row of one key, or None.
    """
    shift, last = np.uint64(65 - len(slots).bit_length()), np.uint64(len(slots) - 1)
    rows, is_there = np.zeros(len(hashes), np.int64), np.zeros(len(hashes), bool)
    at, left = hashes * np.uint64(_FACTOR) >> shift & last, np.arange(len(hashes))
    fingerprints = hashes & np.uint64(0xffff)
    while len(left) > _FEW:
        found = slots[at]
        same = np.flatnonzero((found >> np.uint64(48) == fingerprints[left]) & (found != 0))
        places = (found[same] & np.uint64(_PLACE)).astype(np.int64) - 1
        fitting = fits(left[same], places)
        rows[left[same[fitting]]] = row_of(places[fitting])
        is_there[left[same[fitting]]] = True
        goes_on = found != 0
        goes_on[same[fitting]] = False
        left, at = left[goes_on], at[goes_on] + np.uint64(1) & last
    for number in left.tolist():
        row = find(number)
        if row is not None:
            rows[number], is_there[number] = row, True
    return rows, is_there


def _texts_finder(slots, records, find):
    """Return a function that looks up many texts together. It returns None if not all are texts."""
    slots, records = slots.view(np.ndarray), records.view(np.ndarray)
    rows, lengths = records.view(np.int64), records.view(np.int32)

    def find_all(keys):
        if isinstance(keys, np.ndarray):
            if keys.dtype.kind != "U":
                return None
            keys = keys.tolist()
        encoded = _encoded(keys)
        if encoded is None:
            return None
        texts, text, starts, sizes = encoded

        def fits(numbers, places):
            its_sizes = sizes[numbers]
            fitting = lengths[2 * places + 2] == its_sizes
            for size in np.flatnonzero(np.bincount(its_sizes[fitting])).tolist():
                if size:
                    some = np.flatnonzero(fitting & (its_sizes == size))
                    fitting[some] = _windows(records, size)[8 * places[some] + 12] == _windows(text, size)[starts[numbers[some]]]
            return fitting

        return _probe(slots, np.fromiter(map(zlib.crc32, texts), np.uint64, len(texts)), fits, rows.__getitem__, lambda number: find(keys[number]))

    return find_all


def _encoded(keys):
    """Return texts as bytes, as a list and as one array, with their offsets and lengths there.

    Encoding them as one text takes half the time. Return None if not all are texts.
    """
    try:
        joined = "\0".join(keys).encode()
        texts = joined.split(b"\0")
        if len(texts) == len(keys):
            text = np.frombuffer(joined, np.uint8)
            ends = np.append(np.flatnonzero(text == 0), len(text))
        else:  # some contain zeros
            texts = [key.encode() for key in keys]
            text = np.frombuffer(b"\0".join(texts), np.uint8)
            ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1) - 1
    except (TypeError, UnicodeEncodeError):
        return None
    starts = np.append(0, ends[:-1] + 1)
    return texts, text, starts, ends - starts


def _windows(data, size):
    """Return a view of all ranges of this length, the n-th starting at byte n, for comparisons at memory speed."""
    return np.ndarray(len(data) - size + 1, f"S{size}", data, 0, (1,))


def _numbers_finder(slots, entries, find):
    """Return a function that looks up many integers together. It returns None if not all are 64-bit integers."""
    slots, entries = slots.view(np.ndarray), entries.view(np.ndarray)

    def find_all(keys):
        try:
            keys = np.asarray(keys)
        except (ValueError, OverflowError):
            return None
        if keys.ndim != 1 or keys.dtype.kind not in "iu" or (keys.dtype == np.uint64 and keys.max(initial=0) >> np.uint64(63)):
            return None
        keys = keys.astype(np.int64)
        hashes = keys.view(np.uint64)
        return _probe(slots, hashes ^ hashes >> np.uint64(32), lambda numbers, places: entries[places, 0] == keys[numbers],
                      lambda places: entries[places, 1], lambda number: find(keys[number]))

    return find_all


def _texts(records, positions):
    lengths, records = memoryview(records.view(np.int32)), memoryview(records)
    return (str(records[at + 12:at + 12 + lengths[(at >> 2) + 2]], "utf-8") for at in memoryview(positions))
