"""A mapped ring of batches and a seat in it. The class RingDescriptor specifies the layout."""

import ast
import collections
import contextlib
import fcntl
import math
import os
import struct
import threading
import weakref

import numpy as np

from ._counters import _process_start
from ._errors import LarderError, _message
from ._memory import _map_file
from ._store import _FORMAT_VERSION

_RING_MAGIC = int.from_bytes(b"LARDERRG", "little")
_HEADER = struct.Struct("<qiiiiqqq")  # magic, format, arrays, slots, seats, bytes of a slot, offset of the slots, bytes of the file
_CLAIMED, _PUBLISHED, _STATE, _MESSAGE, _DROPPED, _TABLE = 64, 128, 192, 196, 2048, 4096
_SLOT_PARTS, _PART_LENGTH, _MOST_DIMENSIONS = 64, 128, 13
_ENDED, _FAILED = 2, 3


def _open_ring(folder):
    try:
        lock = os.open(os.path.join(folder, "producer.lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        path = os.path.join(folder, "ring")
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            ring = _Ring(folder, lock, _map_file(descriptor).memory)
        finally:
            os.close(descriptor)
        lock = None
        return ring
    except FileNotFoundError:
        return None
    finally:
        if lock is not None:
            os.close(lock)


class _Ring:
    """A mapped ring and the seat in it."""

    def __init__(self, folder, lock, mapping):
        magic, version, count, slots, seats, slot_bytes, offset, total = _HEADER.unpack_from(mapping)
        if (magic, version) != (_RING_MAGIC, _FORMAT_VERSION):
            raise LarderError(_message("not a ring of this release", "use the same Larder release for producer and consumers",
                                       folder=folder, format=version))
        if total != len(mapping) or offset + slots * slot_bytes != total or slot_bytes % 8 or slots < 2:
            raise LarderError(f"header of a ring is damaged: folder={folder}")
        self.folder, self.lock, self._mapping = folder, lock, mapping
        self.slots, self._seats, self._slot_bytes, self._offset = slots, seats, slot_bytes, offset
        self._longs = memoryview(mapping)[:total - total % 8].cast("q")
        self._table = [self._entry(i) for i in range(count)]
        self._seat, self._number, self._ticket, self._pid = None, None, 0, os.getpid()
        self._finalizer, self._has_left = None, False
        self._events, self._settling = collections.deque(), threading.Lock()
        self._held, self._next, self._finished = set(), 0, 0

    def _entry(self, i):
        name, name_length, dtype, dtype_length = struct.unpack_from("<4i", self._mapping, _TABLE + 16 * i)
        descr = str(self._mapping[dtype:dtype + dtype_length], "utf-8")
        return str(self._mapping[name:name + name_length], "utf-8"), np.dtype(
            np.lib.format.descr_to_dtype(ast.literal_eval(descr)) if descr.startswith("[") else descr)

    def take_seat(self):
        """Return whether a seat was free. Raises FileNotFoundError if the producer is removing the ring."""
        for number in range(self._seats):
            seat = os.open(os.path.join(self.folder, f"consumer-{number:02d}"), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(seat, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(seat)
                continue
            self._seat, self._number = seat, number
            return True
        return False

    def begin(self, at_newest):
        """Write the first batch of this consumer before checking that it is still in the ring. So one side sees the other."""
        wish = self.published() if at_newest else self._oldest()
        self._ticket = int.from_bytes(os.urandom(7), "little") + 1
        os.pwrite(self._seat, struct.pack("<q", 0), 0)
        os.pwrite(self._seat, struct.pack("<qq", self._pid, _process_start()), 24)
        self.finish(wish)
        os.pwrite(self._seat, struct.pack("<q", self._ticket), 0)
        oldest = self._oldest()
        while oldest > wish:
            wish = oldest
            self.finish(wish)
            oldest = self._oldest()
        self._next = self._finished = wish
        self._finalizer = weakref.finalize(self, _leave, self.lock, self._seat, self._pid)
        return wish

    def leave(self):
        self._has_left = True
        if self._finalizer is not None:
            self._settle()
        else:
            for descriptor in self.lock, self._seat:
                if descriptor is not None:
                    os.close(descriptor)

    def finish(self, sequence):
        if os.getpid() == self._pid:  # a forked child has copies of the views, but not the seat
            os.pwrite(self._seat, struct.pack("<qq", sequence, ~sequence), 8)

    def held(self):
        """Return the batches whose views are still reachable."""
        return tuple(self._held)

    def is_full(self, sequence):
        """Return whether this consumer blocks a batch by holding the one in its slot."""
        return sequence - self._finished >= self.slots

    def pass_over(self, sequence):
        """Release a slot immediately."""
        self._events.append((sequence, True))
        self._give_back(sequence)

    def _hold(self, sequence):
        """Return an array of a whole slot. The slot is released when neither it nor a view of it is reachable."""
        slot = np.ndarray(self._slot_bytes, np.uint8, self._mapping, self._slot(sequence))
        weakref.finalize(slot, self._give_back, sequence).atexit = False
        self._events.append((sequence, True))
        self._settle()
        return slot

    def _give_back(self, sequence):
        self._events.append((sequence, False))
        self._settle()

    def _settle(self):
        """Record taken and released batches, and write the position for the producer.

        The garbage collector may call this in any thread, even in the middle of another call. So no caller waits for the lock: its
        holder also processes the entries that were added meanwhile.
        """
        while self._settling.acquire(blocking=False):
            try:
                while self._events:
                    sequence, is_taken = self._events.popleft()
                    (self._held.add if is_taken else self._held.discard)(sequence)
                    self._next = max(self._next, sequence + 1)
                finished = min(self._held, default=self._next)
                if finished != self._finished:
                    self._finished = finished
                    self.finish(finished)
                if self._has_left and not self._held:
                    self._finalizer()
            finally:
                self._settling.release()
            if not self._events:
                break

    def _oldest(self):
        return max(0, self._longs[_CLAIMED >> 3] - self.slots)

    def published(self):
        return self._longs[_PUBLISHED >> 3]

    def state(self):
        return self._longs[_STATE >> 3] & 0xffffffff

    def message(self):
        length = struct.unpack_from("<i", self._mapping, _MESSAGE)[0]
        return str(self._mapping[_MESSAGE + 4:_MESSAGE + 4 + min(max(length, 0), 1024)], "utf-8", "replace")

    def is_dropped(self):
        return self._longs[(_DROPPED >> 3) + self._number] == self._ticket

    def is_producer_dead(self):
        try:
            fcntl.flock(self.lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        fcntl.flock(self.lock, fcntl.LOCK_UN)
        return True

    def _slot(self, sequence):
        return self._offset + sequence % self.slots * self._slot_bytes

    def is_intact(self, sequence):
        return self._longs[self._slot(sequence) >> 3] == 2 * sequence + 2

    def description(self, sequence):
        slot = (self._slot(sequence) >> 3) + 1
        return self._longs[slot:slot + 4]

    def views(self, sequence):
        """Return the arrays of a batch in place. Its slot is held while they are reachable."""
        slot = self._hold(sequence)
        return {name: np.ndarray(shape, dtype, slot, offset) for name, shape, dtype, offset in self._parts(sequence)}

    def copies(self, sequence):
        start = self._slot(sequence)
        return {name: np.ndarray(shape, dtype, self._mapping, start + offset).copy()
                for name, shape, dtype, offset in self._parts(sequence)}

    def _parts(self, sequence):
        longs, part = self._longs, self._slot(sequence) + _SLOT_PARTS >> 3
        for name, dtype in self._table:
            offset, length, rank = longs[part], longs[part + 1], longs[part + 2]
            if not (0 <= offset and 0 <= length <= self._slot_bytes - offset and 0 <= rank <= _MOST_DIMENSIONS):
                raise ValueError(f"offset {offset}, length {length}, rank {rank} of {name}")
            shape = tuple(longs[part + 3:part + 3 + rank])
            if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != length:
                raise ValueError(f"shape {shape} of {name} in {length} bytes")
            yield name, shape, dtype, offset
            part += _PART_LENGTH >> 3


def _leave(lock, seat, pid):
    if os.getpid() == pid:  # a forked child has the same seat, but it belongs to the parent
        with contextlib.suppress(OSError):
            os.pwrite(seat, struct.pack("<q", 0), 0)
    os.close(seat)
    os.close(lock)
