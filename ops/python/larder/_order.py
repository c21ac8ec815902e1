"""The order of an epoch and its batches, identical to that of the loader in Java and of PyTorch's samplers."""

from __future__ import annotations

import functools
import operator
import re
import sys

import numpy as np

from ._errors import LarderError, _message
from ._inputs import _sha256

_WIDE_DRAWS_FROM = 0xffffffff // 20  # PyTorch draws 64 bits for each row from here on
_MOST_SHUFFLED = 2**31 - 9  # as in Java
_DRAWN, _STEPS, _FEWEST_STEPS = 1 << 16, 1 << 12, 1 << 8  # numbers of draws and of swaps that numpy makes together
_WIDTH = 2**64
_TERMS = 1 << 16  # samples of a receipt that numpy adds together
_MOST_WIDENED = 1 << 22  # up to this many rows the order has numpy's integer width: twice the memory, but no conversion per batch


def _integer(name, value, least=None, remedy="give an integer"):
    """Return an integer setting. Refuses fractions, True and False."""
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least):
        limit = "" if least is None else f" of at least {least}"
        raise ValueError(_message(f"{name} is not an integer{limit}", remedy, **{name: repr(value)}))
    return number


def _seed(shuffle):
    """Return a seed; None for the order of the stored rows."""
    return None if shuffle is None or shuffle is False else _integer("shuffle", shuffle, remedy="it is a seed: shuffle=42")


def _shuffled(rows, seed):
    """Return ``torch.manual_seed(seed); torch.randperm(rows)`` as an array of uint32.

    Uses PyTorch if it is imported. Otherwise numpy draws the same numbers: 10 million rows take half a
    second.
    """
    if rows > _MOST_SHUFFLED:
        raise LarderError(_message("too many rows to shuffle", "leave shuffle out, or shuffle parts of the data", rows=rows,
                                   most=_MOST_SHUFFLED))
    torch = sys.modules.get("torch")
    if torch is not None and rows < _WIDE_DRAWS_FROM:  # older releases never draw more bits
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed & 0xffffffff), dtype=torch.int32)
        return order.numpy().view(np.uint32)
    return _swapped(rows, np.random.RandomState(seed & 0xffffffff), rows >= _WIDE_DRAWS_FROM)


def _swapped(rows, random, wide):
    """Swap each row with one drawn by the twister: a later one, or with `wide` draws of 64 bits an earlier one."""
    order = np.arange(rows, dtype=np.uint32)
    for first in range(0, rows, _DRAWN):
        end = min(first + _DRAWN, rows)
        if wide:
            others = random.randint(0, 2**64, end - first, np.uint64) % np.arange(first + 1, end + 1, dtype=np.uint64)
            others = others.astype(np.intp)
        else:
            others = random.randint(0, 2**32, end - first, np.uint32) % np.arange(rows - first, rows - end, -1, dtype=np.uint32)
            others = others + np.arange(first, end)
        start = first
        while start < end:
            choice = start if wide else rows - start
            some = others[start - first:][:min(_STEPS, max(choice >> 4, _FEWEST_STEPS))]
            _swap(order, start, some, wide)
            start += len(some)
    return order


def _swap(order, start, others, wide):
    """Swap the rows from `start` on with the `others`, as if one after another.

    All are swapped together as if no place occurred twice. Before that, the few swaps that share a place with another one get the
    value that it would have left there.
    """
    block = slice(start, start + len(others))
    own, drawn, numbers = order[block].copy(), order[others], np.arange(len(others), dtype=np.uint32)
    order[others] = numbers  # of several swaps with one place, all find the last one there
    last = order[others]
    repeated = np.flatnonzero(last != numbers)[::-1]
    successors, newest = [], {}
    for step, end in zip(repeated.tolist(), last[repeated].tolist()):
        successors.append(newest.get(end, end))
        newest[end] = step
    inside = np.flatnonzero(others >= start if wide else others < block.stop)
    pairs = zip(inside.tolist(), (others[inside] - start).tolist())
    if wide:  # a place in the block was swapped before its row is drawn
        drawn[successors] = own[repeated]
        succeeding = set(successors)
        for step, place in pairs:
            if place < step and step not in succeeding:
                drawn[step] = drawn[place]
        order[block] = drawn
        order[others] = own
    else:  # a place in the block gets a row before it is swapped
        for step, place in pairs:
            own[place] = own[step]
        drawn[successors] = own[repeated]
        order[others] = own
        order[block] = drawn


def _terms(positions, rows):
    """Return the sum of the receipt's terms of samples, as Java's ``Receipt`` does."""
    bits = (positions.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9e3779b97f4a7c15)
    bits += rows.astype(np.uint64) * np.uint64(0xd1342543de82ef95)
    for shift, factor in (30, 0xbf58476d1ce4e5b9), (27, 0x94d049bb133111eb):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return int(bits.sum(dtype=np.uint64))


def _receipt(digest, visited, skipped=0):
    """Return the text of a receipt from its sums."""
    return f"{(_receipt_start(digest) + visited) % _WIDTH:016x}" + (f"-{skipped:016x}" if skipped else "")


@functools.lru_cache(maxsize=None)
def _receipt_start(digest):
    return int.from_bytes(_sha256(digest.encode()).digest()[:8], "big")


def _parsed_receipt(text, digest):
    """Return the sums of a receipt. Raises ValueError for other texts."""
    if not isinstance(text, str) or not isinstance(digest, str) or not re.fullmatch("[0-9a-fA-F]{16}(-[0-9a-fA-F]{16})?", text):
        raise ValueError
    visited, _, skipped = text.partition("-")
    return (int(visited, 16) - _receipt_start(digest)) % _WIDTH, int(skipped or "0", 16)


class _Plan:
    """The rows of each batch of one rank, in an epoch or the rest of one. SamplePlan in Java is the same.

    Positions count the samples of an epoch for all ranks together. A position beyond the last sample wraps around to the
    start, to fill up the last turn of the ranks.
    """

    def __init__(self, rows, order, batch_size, drop_last, shard, start=0, length=None):
        self._rows, self._size, self.wanted = rows, batch_size, (start, length)
        self._order = order.astype(np.intp) if order is not None and rows <= _MOST_WIDENED else order
        self._rank, self._world, tail = shard
        if length is None:
            own = self._own(rows, tail)
            length = rows if tail == "exact" else (own - own % batch_size if drop_last else own) * self._world
        else:  # the rest of an epoch excludes the dropped samples
            drop_last, tail = False, "exact" if tail == "exact" else "pad"
        self.start, self.length, self._counted = start, length, min(rows, length)
        self._turns = (length - start) // self._world if tail == "drop" else -(-(length - start) // self._world)
        own = self._own(length - start, tail)
        self.batches = own // batch_size if drop_last else -(-self._turns // batch_size)
        self.samples = self.batches * batch_size if drop_last else own
        self.before = 0, 0  # the sums of the receipt of the samples before the start; None if they are unknown
        self._skipped = {}  # for each batch with skipped samples, the sum of their terms
        self._sums = 0, 0  # a number of batches, and the sum of the receipt's terms of all ranks for them
        self._is_released = False

    def _own(self, samples, tail):
        if tail == "drop":
            return samples // self._world
        return -(-max(0, samples - self._rank if tail == "exact" else samples) // self._world)

    def rows(self, batch, count=1):
        """Return the rows of `count` batches, as a slice if they are adjacent, their number, and the number of valid ones, which come first."""
        first = batch * self._size
        size = max(0, min(count * self._size, self.samples - first))
        at = self.start + first * self._world + self._rank
        end = at + (size - 1) * self._world + 1
        valid = size if end <= self._counted else len(range(at, min(end, self._counted), self._world))
        if size and end <= self._rows:
            rows = slice(at, end, self._world)
            if self._order is not None:
                rows = self._order[rows]
        else:
            rows = np.arange(at, at + size * self._world, self._world) % max(self._rows, 1)
            if self._order is not None:
                rows = self._order[rows]
        return rows, size, valid

    def receipt_after(self, batch):
        """Return the sums of the receipt of all samples that all ranks have consumed after a batch; None if they are unknown."""
        summed, total = self._sums  # both are set together, because a Ctrl-C may come between two lines
        if self.before is None or (self._is_released and batch + 1 != summed):
            return None
        if batch + 1 < summed:
            summed, total = 0, 0
        while summed <= batch:
            count = min(batch + 1 - summed, max(1, _TERMS // (self._size * self._world)))
            rows, _, valid = self.rows(summed, count)  # of this rank, as they were gathered
            rows = np.arange(rows.start, rows.stop, rows.step) if isinstance(rows, slice) else rows
            start = self.start + summed * self._size * self._world
            total += _terms(start + self._rank + self._world * np.arange(valid), rows[:valid])
            summed += count
            if self._world > 1:
                positions = np.arange(start, min(self.consumed_after(summed - 1), self._counted))
                total += self._terms(positions[(positions - start) % self._world != self._rank])
            self._sums = summed, total
        visited, skipped = self.before
        return (visited + total) % _WIDTH, skipped

    def skip(self, batch, places):
        """Note the samples of a batch that were skipped; none, if it was made without that."""
        rows, _, valid = self.rows(batch)
        places = places[places < valid]
        rows = np.arange(rows.start, rows.stop, rows.step) if isinstance(rows, slice) else rows
        self._skipped[batch] = _terms(self.positions(batch, places), rows[places])

    def positions(self, batch, places):
        """Return the positions in the epoch of places in a batch."""
        return self.start + (batch * self._size + places) * self._world + self._rank

    def skipped_after(self, batch):
        """Return the sum of the receipt's terms of the samples that this rank has skipped after a batch."""
        return sum(terms for number, terms in self._skipped.copy().items() if number <= batch) % _WIDTH

    def terms_of_order(self):
        """Return the sum of the receipt's terms of the samples before the start, from the order."""
        end = min(self.start, self._rows)
        return sum(self._terms(np.arange(at, min(at + _TERMS, end))) for at in range(0, end, _TERMS)) % _WIDTH

    def _terms(self, positions):
        return _terms(positions, positions if self._order is None else self._order[positions])

    @property
    def has_order(self):
        return self._order is not None

    def release(self):
        """Free the order, which may take much memory."""
        self._order, self._is_released = None, True

    def consumed_after(self, batch):
        return min(self.length, self.start + min(self._turns, (batch + 1) * self._size) * self._world)
