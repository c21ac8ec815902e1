"""The order of an epoch and its batches, identical to that of the loader in Java and of PyTorch's samplers."""

from __future__ import annotations

import operator
import sys

import numpy as np

from ._errors import LarderError, _message

_WIDE_DRAWS_FROM = 0xffffffff // 20  # PyTorch draws 64 bits for each row from here on
_MOST_SHUFFLED = 2**31 - 9  # as in Java
_STEPS = 4096  # number of swaps made together
_MARKS = 1 << 18
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
    """Swap each row with one drawn by the twister: a later one, or with `wide` draws of 64 bits an earlier one.

    Swaps depend on each other only if they touch the same place. So numpy makes many together, and
    the few conflicting ones follow one by one.
    """
    order, marks, start = np.arange(rows, dtype=np.uint32), np.zeros(_MARKS, np.uint16), 0
    while start < rows:
        choice = start if wide else rows - start
        steps = np.arange(start, start + min(_STEPS, max(choice >> 4, 64), rows - start))
        if wide:
            others = random.randint(0, 2**64, len(steps), np.uint64) % (steps + 1).astype(np.uint64)
            others = others.astype(np.intp)
        else:
            others = random.randint(0, 2**32, len(steps), np.uint32) % (rows - steps).astype(np.uint32)
            others = others.astype(np.intp) + steps
        _swap(order, start, others, marks)
        start += len(steps)
    return order


def _swap(order, start, others, marks):
    """Swap the rows from `start` on with the `others`, as if one after another."""
    numbers = np.arange(len(others), dtype=np.uint16)
    hashes = others & _MARKS - 1
    marks[hashes] = numbers
    last = marks[hashes]  # of two with the same hash, one finds the other here
    meeting = np.zeros(len(others), bool)
    doubled = np.flatnonzero(last != numbers)
    meeting[doubled] = meeting[last[doubled]] = True
    within = np.flatnonzero((others >= start) & (others < start + len(others)))
    meeting[within] = meeting[others[within] - start] = True
    own, drawn = order[start:start + len(others)], order[others]
    meeting = np.flatnonzero(meeting)
    places, mine = others[meeting].tolist(), (meeting + start).tolist()
    values = dict(zip(places, drawn[meeting].tolist()))
    values.update(zip(mine, own[meeting].tolist()))
    for place, other in zip(mine, places):
        values[place], values[other] = values[other], values[place]
    order[others] = own
    own[:] = drawn
    order[np.fromiter(values, np.intp, len(values))] = np.fromiter(values.values(), order.dtype, len(values))


class _Plan:
    """The rows of each batch of one rank, in an epoch or the rest of one. SamplePlan in Java is the same.

    Positions count the samples of an epoch for all ranks together. A position beyond the last sample wraps around to the
    start, to fill up the last turn of the ranks.
    """

    def __init__(self, rows, order, batch_size, drop_last, shard, start=0, length=None):
        self._rows, self._size = rows, batch_size
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
        self._samples = self.batches * batch_size if drop_last else own

    def _own(self, samples, tail):
        if tail == "drop":
            return samples // self._world
        return -(-max(0, samples - self._rank if tail == "exact" else samples) // self._world)

    def rows(self, batch, count=1):
        """Return the rows of `count` batches, as a slice if they are adjacent, their number, and the number of valid ones, which come first."""
        first = batch * self._size
        size = max(0, min(count * self._size, self._samples - first))
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

    def release(self):
        """Free the order, which may take much memory, after all batches are made."""
        self._order = None

    def consumed_after(self, batch):
        return min(self.length, self.start + min(self._turns, (batch + 1) * self._size) * self._world)
