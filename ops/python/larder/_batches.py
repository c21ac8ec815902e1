"""Batches that another process publishes."""

from __future__ import annotations

import gc
import os
import time
import warnings
from typing import NoReturn

import numpy as np

from ._errors import LarderError, NotFound, Refused, TimedOut, _message, _near
from ._ring import _ENDED, _FAILED, _open_ring
from ._store import _location, _require_file_name, _trusted

_FIRST_PAUSE, _LONGEST_PAUSE, _CHECK, _WARN_AFTER = 50e-6, 1e-3, 0.01, 1
# Shorter than the wait of processes that keep pace. With longer pauses both would sleep most of the time.
_KEEPING_PACE = 5e-3
_LONGEST_FULL = 5  # seconds for another thread to drop a batch, or for the producer to end


def batches(name: str, store: str | os.PathLike[str] | None = None, timeout: float = 300, copy: bool = True,
            next_epoch: bool = False) -> Batches:
    """Attach to the batches that another process publishes as `name` (``BatchPublisher`` in Java), and iterate over them.

    Each is a `Batch` of arrays that belong to the caller: writable, and valid as long as you keep them. No `DataLoader` and no worker
    process is needed. The loop ends when the producer has ended. It raises `Refused` if the producer died, or if it dropped this
    consumer as too slow.

    With ``copy=False`` nothing is copied: the arrays are read-only views of the producer's ring, which has a few slots. A slot
    goes back to the producer when nothing in this process refers to its arrays any more. A consumer that keeps as many batches as the ring
    has slots gets a `LarderError` after 5 seconds, because the producer cannot continue. Keep none across a fork: the child does not hold
    the slot. A producer drops a consumer that is too slow, and reuses the slots that it still holds; the next step of
    the loop then raises `Refused`.
    Native code that writes to such a view (``torch.from_numpy(view).sub_(1)``) crashes the process.

    A consumer that attaches late begins with the oldest batch in the ring, or at the next epoch with `next_epoch`.
    `timeout` is the longest wait, in seconds, for the producer to begin and then for each batch. After one second a warning
    reports a missing ring or seat.

    >>> for batch in larder.batches("run1"):
    ...     train(torch.from_numpy(batch["image"]), torch.from_numpy(batch["label"]))
    >>> for epoch, its_batches in itertools.groupby(larder.batches("run1"), lambda batch: batch.epoch):
    ...     train_epoch(its_batches)
    """
    _require_file_name(name)
    return Batches(_trusted(_location(store)), name, timeout, copy, next_epoch)


class Batch(dict[str, np.ndarray]):
    """Some samples: a dict from the names of arrays to arrays. Their first dimension is usually the samples.

    It is the batch `number` of `epoch`, from 0, also at the start of a resumed rest, and has `size` samples. The first `valid_size` of them are valid; a sharded
    loader adds the others to fill up the last turn of all ranks. For JAX ``dict(batch)`` is a pytree, and so is the batch itself if
    `larder.jax` is imported.
    """

    def __init__(self, arrays=(), epoch=None, number=None, size=None, valid_size=None):
        super().__init__(arrays)  # frameworks create a batch of tensors with only this argument
        self.epoch, self.number, self.size, self.valid_size = epoch, number, size, valid_size

    def __missing__(self, name: str) -> NoReturn:
        raise NotFound(_message("no such array in the batch", _near(name, self), array=name))

    def rows(self, name: str) -> list[np.ndarray]:
        """Return the rows of an array, those of different lengths without padding, or cut at ``name.offsets``."""
        values, offsets, mask = self[name], self.get(f"{name}.offsets"), self.get(f"{name}.mask")
        if offsets is not None:
            return [values[start:end] for start, end in zip(offsets.tolist(), offsets[1:].tolist())]
        return [*values] if mask is None else [row[its] for row, its in zip(values, mask)]

    def texts(self, name: str) -> list[str]:
        """Return the texts of a column: `rows` of UTF-8."""
        return [str(memoryview(np.ascontiguousarray(row)), "utf-8") for row in self.rows(name)]

    def __repr__(self):
        return f"<larder.Batch {self.number} of epoch {self.epoch}: {self.size} samples of {list(self)}>"


class Batches:
    """An iterator over batches that another process publishes: see `batches`. Use it in ``with``, or simply drop it."""

    def __init__(self, store, name, timeout, copy, next_epoch, while_waiting=None):
        self.name, self._timeout, self._copy = name, timeout, copy
        self._ring, self._next = _sit(os.path.join(store, "rings", name), name, timeout, next_epoch, while_waiting)
        self._skips, self._skipped = next_epoch and self._next > 0, None

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Batch:
        if self._ring is None:
            raise ValueError("the batches are closed; attach again with larder.batches")
        ring = self._ring
        for held in ring.held():
            if not ring.is_intact(held) and held in ring.held():  # otherwise another thread dropped it, and its slot is free
                self._require_intact(held)
        while self._await():
            batch = self._take()
            self._next += 1
            if batch is not None:
                return batch
        raise StopIteration

    def close(self) -> None:
        """Release the seat; with ``copy=False``, after the last returned array is gone. Idempotent."""
        ring, self._ring = self._ring, None
        if ring is not None:
            ring.leave()

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError(f"batches belong to one process: ring={self.name}; attach in the other process with "
                        f"larder.batches({self.name!r})")

    def _await(self):
        ring, pause, started = self._ring, _FIRST_PAUSE, time.monotonic()
        checked, full_since = started, None
        while True:
            state = ring.state()
            is_there = ring.published() > self._next
            self._require_seated()
            if is_there:
                return True
            if state == _ENDED:
                return False
            if state == _FAILED:
                raise LarderError(f"the producer failed: ring={self.name} batch={self._next} message={ring.message()}")
            now = time.monotonic()
            if now - checked >= _CHECK:
                checked = now
                if ring.is_producer_dead() and ring.state() == state:
                    if ring.published() > self._next:
                        return True
                    raise Refused(_message("the producer died", "restart the producer and attach again; its log says "
                                           "why it died", ring=self.name, batch=self._next))
                full_since = (full_since or now) if ring.is_full(self._next) else None
                is_late = now - started >= self._timeout
                if full_since and (is_late or now - full_since >= _LONGEST_FULL):
                    self._require_free_slot()
                if is_late:
                    raise TimedOut(_message("the producer publishes nothing", "the producer is alive: check what it is doing",
                                            ring=self.name, batch=self._next, timeout=self._timeout))
            time.sleep(pause)
            if now - started >= _KEEPING_PACE:
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _require_free_slot(self):
        """Refuse to wait for a batch that cannot come, because its slot holds one that is still in use here."""
        ring = self._ring
        gc.collect()  # frees batches in reference cycles
        if ring.is_full(self._next):
            raise LarderError(_message("all slots of the ring are held", "drop batches before you take the next, or attach with "
                                       "copy=True, or give the producer more slots", ring=self.name, batch=self._next,
                                       slots=ring.slots, held=",".join(map(str, sorted(ring.held())))))

    def _take(self):
        ring, sequence = self._ring, self._next
        self._require_intact(sequence)
        epoch, number, size, valid_size = ring.description(sequence)
        if self._skips:
            self._require_intact(sequence)
            self._skipped = epoch if self._skipped is None else self._skipped
            self._skips = number != 0 and epoch == self._skipped
            if self._skips:
                ring.pass_over(sequence)
                return None
        try:
            arrays = ring.copies(sequence) if self._copy else ring.views(sequence)
        except (ValueError, TypeError, OverflowError) as e:
            self._require_intact(sequence)  # otherwise it was a partial description of another batch
            raise LarderError(f"a slot of the ring is damaged: ring={self.name} batch={sequence} reason={e}") from e
        self._require_intact(sequence)
        self._require_seated()
        if self._copy:
            ring.pass_over(sequence)
        return Batch(arrays, epoch, number, size, valid_size)

    def _require_intact(self, sequence):
        if not self._ring.is_intact(sequence):
            self._require_seated()
            raise Refused(_message("a batch was overwritten while it was read", "check whether something else writes to "
                                   "the store", ring=self.name, batch=sequence))

    def _require_seated(self):
        if self._ring.is_dropped():
            raise Refused(_message("the producer has dropped this consumer as too slow", "attach again, and give the producer "
                                   "more slots or patience", ring=self.name, batch=self._next,
                                   published=self._ring.published()))


def _sit(folder, name, timeout, next_epoch, while_waiting):
    """Wait for a ring and a free seat; return the ring and the first batch. `while_waiting` raises if there will be none."""
    pause, started, has_warned = _FIRST_PAUSE, time.monotonic(), while_waiting is not None
    while True:
        if while_waiting is not None:
            while_waiting()
        full, ring = False, _open_ring(folder)
        if ring is not None:
            try:
                full = not ring.take_seat()
                if not full and os.fstat(ring.lock).st_nlink:  # otherwise the seat may belong to another ring
                    # From here on the producer may see the seat, publish everything, and remove the ring.
                    first = ring.begin(next_epoch)
                    taken, ring = ring, None
                    return taken, first
            except FileNotFoundError:
                pass  # the producer is removing the ring
            finally:
                if ring is not None:
                    ring.leave()
        waited = time.monotonic() - started
        if waited >= timeout:
            error, what, remedy = _lacking(folder, name, full)
            raise error(_message(what, remedy, ring=name, timeout=timeout))
        if waited >= _WARN_AFTER and not has_warned:
            has_warned = True
            _, what, remedy = _lacking(folder, name, full)
            warnings.warn(_message(f"waiting for at most {timeout:g} s: {what}", remedy, ring=name), stacklevel=4)
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _lacking(folder, name, full):
    """The reason why a ring has no seat: the error, its summary and the remedy."""
    if full:
        return TimedOut, "no seat of the ring is free", "end other consumers, or raise the producer's seats"
    if os.path.isdir(folder):
        return TimedOut, "the producer has not published a first batch", "check what the producer is doing"
    rings = os.path.dirname(folder)
    try:
        others = sorted(os.listdir(rings))
    except OSError:  # not created yet, or the store is gone
        others = []
    return NotFound, "no such ring", "start its producer; " + _near(name, others)
