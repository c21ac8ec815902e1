"""Arrays that processes in Python and Java write together, with a lock and a barrier. The class ArrayDescriptor specifies them."""

from __future__ import annotations

import fcntl
import functools
import operator
import os
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._computed import _REGION_DATA, _REGION_HEADER, _REGION_MAGIC, _REGION_READY, _REGION_STATE
from ._control import _GRACE_S, _called, _listed_rows
from ._errors import LarderError, Refused, TimedOut, _bad_input, _message, _settings_of_python
from ._memory import _address, _libc, _map_file, ctypes
from ._seats import _locked_files, _Seats, _Visit
from ._serve import _lock_byte, _served
from ._store import _FORMAT_VERSION

_SHARED_KIND = "shared-array"
_REGION_MAKING = 1
_MOST_SHARED_DIMENSIONS, _MOST_BYTES, _ZEROING_STEP = 13, 1 << 58, 64 << 20
_SHARED_HEAD = struct.Struct("<iii4x13q8x64s")  # length of the dtype, rank, spare, shape, dtype
_LOCK_AT, _BARRIER_AT, _ELEMENTS_AT = 256, 1024, 4096  # offsets in the data of the region
_LOCK_SEAT, _GATE_SEAT, _BARRIER_SEAT, _FIRST_PARTY_SEAT = 0, 1, 4, 5
_WRITER, _ABANDONED_BY, _WAITER, _BEAT, _READERS, _MOST_READERS = 0, 1, 2, 4, 8, 24  # places of int64 in the lock
_LOCK_BELL, _GATE_BELL = 24, 28  # offsets in the lock
_GENERATION, _PARTIES, _STAMPS, _MOST_PARTIES, _BARRIER_BELL = 0, 1, 8, 368, 16  # places of int64 in the barrier; an offset
_LOOK_S, _STALLED_S, _SHARED_PAUSE_S = 0.02, 0.1, 0.001
_FUTEX_CALLS = {"x86_64": 202, "aarch64": 98}


def shared(name: str, dtype: Any = None, shape: int | Sequence[int] | None = None, *, timeout: float = 10,
           store: str | os.PathLike[str] | None = None) -> Shared:
    """Open an array that several processes write at the same time, or create it with zeros. Java's ``SharedArray`` of this name is the same array.

    All processes that open it get the same memory. It exists while a process has it open, also without the daemon. An array of the name that
    differs in `dtype` or `shape` is `Refused`. Without both, this opens an existing array, or waits for one. Elements are little-endian numbers of
    1, 2, 4 or 8 bytes. Only processes of the store's owner can use it.

    >>> weights = larder.shared("weights", "f4", (784, 10))
    >>> weights.array[rows] -= rate * gradient               # Hogwild: without a lock; of two additions at a time, one may be lost
    >>> with weights.lock() as hold:                         # one writer at a time, in all processes
    ...     if hold.abandoned_by:                            # a writer died with the lock
    ...         restore(weights.array)
    ...         hold.mark_repaired()
    ...     weights.array[:] = average
    >>> weights.barrier(4)                                   # until four threads or processes have come here
    """
    wanted = None if dtype is None and shape is None else _wanted_array(name, dtype, shape)
    end = time.monotonic() + timeout
    while True:
        row = _shared_row(_served(store), name, wanted, end)
        if row:
            opened = _opened_array(_served(store), row, wanted, end)
            if opened:
                return opened
        if time.monotonic() >= end:
            raise TimedOut(_message("cannot open a shared array in time", "check the process that creates it: larder regions", name=name, timeout=timeout,
                                    found="being removed" if row else "none"))
        time.sleep(_SHARED_PAUSE_S)


class Shared:
    """An array that several processes write: see `shared`. Thread-safe, also across fork. Its pickle is its name.

    `array` is the writable numpy array. Views of it keep the memory, and the array open, even after `close`.
    """

    def __init__(self, name, store, segment, seats, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, shape
        self._store, self._seats, memory = store, seats, segment.memory
        self._array = np.ndarray(shape, dtype, memory, _REGION_DATA + _ELEMENTS_AT)
        self._lock, self._barrier = _SharedLock(name, memory, seats), _SharedBarrier(name, memory, seats)

    @property
    def array(self) -> np.ndarray:
        """The elements, writable."""
        array = self._array
        self._seats.require_open()
        return array

    def lock(self, timeout: float = 10, *, reading: bool = False) -> Hold:
        """Take the lock, for one writer or, with `reading`, together with other readers. The death of a holder releases it.

        Threads in Java share the lock. Raises `TimedOut`, which names the holder, after `timeout` seconds. A thread cannot take it twice. Ctrl+C gives it up; if
        an exception keeps the frame that was interrupted, the lock may stay taken until the exception is dropped.
        """
        lock = self._lock
        self._seats.require_open()
        return lock.take(reading, timeout)

    def barrier(self, parties: int, timeout: float = 60) -> bool:
        """Wait until as many threads or processes as `parties` have called this, in Python or Java. Return True only to the last one.

        All give the same number. One that dies while it waits no longer counts. Raises `TimedOut` after `timeout` seconds; the others
        continue to wait, and this one may call again.
        """
        barrier = self._barrier
        self._seats.require_open()
        if not 0 < operator.index(parties) <= _MOST_PARTIES:
            raise ValueError(f"no barrier can have this number of parties: parties={parties} limit={_MOST_PARTIES}")
        return barrier.wait(parties, timeout)

    def close(self) -> None:
        """Give up the lock, and the memory unless views of `array` exist. Threads that wait at this object get ValueError. Idempotent."""
        lock = self._lock
        if lock is not None:
            lock.close()
            self._seats.close()
            self._array = self._lock = self._barrier = None

    def __enter__(self) -> Shared:
        self._seats.require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        return _restore_shared, (self.name, np.lib.format.dtype_to_descr(self.dtype), self.shape, self._store)

    def __repr__(self):
        return f"<larder.Shared {self.name}: {self.shape} {self.dtype}>"


def _restore_shared(name, dtype, shape, store):
    return shared(name, dtype, shape, store=store)


class Hold:
    """The lock of a `Shared` in the hands of one thread, until its ``with`` ends or `release` is called."""

    _lock = None  # of one whose creation was interrupted

    def __init__(self, lock, key):
        self._key, self._lock = key, lock

    @property
    def abandoned_by(self) -> int:
        """The pid of a writer that died with the lock, until `mark_repaired` is called; 0 if none did. The data may be inconsistent."""
        words = self._lock.words
        return int(words[_ABANDONED_BY]) or (int(words[_WRITER]) if self._key.reading else 0)

    def mark_repaired(self) -> None:
        """Declare the data consistent again. Only for a writer."""
        if self._key.reading or not self._lock.is_held_by(self._key):
            raise ValueError(f"only the holder of the lock for writing can repair the data: name={self._lock.name}")
        self._lock.words[_ABANDONED_BY] = 0

    def release(self) -> None:
        """Give up the lock. Idempotent; any thread may call it."""
        self._lock.release(self._key)
        self._key.is_released = True

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self):
        if self._lock is not None and not self._key.is_released:  # an interrupt may come before the block, or in its end
            self._lock.release_later(self._key)


class _LockKey:
    """The part of a `Hold` that the lock keeps. A dropped `Hold` gives it back."""

    def __init__(self, reading):
        self.reading, self.thread, self.place, self.is_released = reading, _this_thread(), None, False


_own = threading.local()


def _this_thread():
    """Return an object of this thread alone: a new thread may get the number of one that has ended."""
    try:
        return _own.token
    except AttributeError:
        _own.token = object()
        return _own.token


class _SharedLock:
    """A lock of one writer or many readers: a seat of the region. Threads that find it taken wait at the gate, another seat."""

    def __init__(self, name, memory, seats):
        self.name, self._seats = name, seats
        self.words = np.frombuffer(memory, "<i8", _READERS + _MOST_READERS, _REGION_DATA + _LOCK_AT)
        self._lock_bell = _Bell(memory, _REGION_DATA + _LOCK_AT + _LOCK_BELL)
        self._gate_bell = _Bell(memory, _REGION_DATA + _LOCK_AT + _GATE_BELL)
        self._seen = int(self.words[_BEAT]), time.monotonic()

    def take(self, reading, timeout):
        self._require_not_held()
        end = time.monotonic() + timeout
        hold = None if self._is_awaited() else self._try(reading)
        if hold is None:
            with _Visit(self._seats) as visit:
                hold = self._wait(visit, reading, end)
        if hold is None:
            raise self._late(reading, timeout)
        return hold

    def _wait(self, visit, reading, end):
        while not visit.take(_GATE_SEAT):
            heard = self._gate_bell.listen()
            if visit.take(_GATE_SEAT):
                break
            hold = self._try(reading) if self._is_next_stalled() else None
            if hold:
                return hold
            if not self._sleep(self._gate_bell, heard, end):
                return self._try(reading)
        try:
            self.words[_WAITER] = os.getpid()
            while True:
                self.words[_BEAT] += 1
                heard = self._lock_bell.listen()
                hold = self._try(reading)
                if hold or not self._sleep(self._lock_bell, heard, end):
                    return hold
        finally:
            if self.words[_WAITER] == os.getpid():  # closing the array leaves the gate meanwhile
                self.words[_WAITER] = 0
            visit.leave(_GATE_SEAT)
            self._gate_bell.ring()

    def _is_awaited(self):
        """Return whether a thread is at the gate. The pid of a dead one stays, so only the seat counts."""
        return self.words[_WAITER] != 0 and self._seats.is_taken(_GATE_SEAT)

    def _is_next_stalled(self):
        """Return whether the thread at the gate has not looked at the lock for a while: it is stopped, and must not keep others from a free lock."""
        count, now = int(self.words[_BEAT]), time.monotonic()
        if self._seen[0] != count:
            self._seen = count, now
            return False
        return now - self._seen[1] > _STALLED_S

    @staticmethod
    def _sleep(bell, heard, end):
        left = end - time.monotonic()
        if left > 0:
            bell.sleep(heard, min(left, _LOOK_S))
        return left > 0

    def _try(self, reading):
        key = _LockKey(reading)
        try:
            if not self._seats.take(_LOCK_SEAT, key, together=reading):
                return None
            if reading:
                key.place = self._free_place()
            else:
                # A pid here is that of a dead writer. It is moved before it is overwritten, so that it is not lost if this
                # writer is killed between these lines. Its own pid is there before it changes the data.
                if self.words[_WRITER]:
                    self.words[_ABANDONED_BY] = self.words[_WRITER]
                key.place = _WRITER
            self.words[key.place] = os.getpid()
            return Hold(self, key)
        except BaseException:
            self.release(key)
            raise

    def _free_place(self):
        """Return the place of the pid of a reader, for messages. Another reader may overwrite it."""
        free = np.flatnonzero(self.words[_READERS:] == 0)
        return _READERS + int(free[0] if len(free) else os.getpid() % _MOST_READERS)

    def is_held_by(self, key):
        return key in self._seats.owners(_LOCK_SEAT)

    def release(self, key):
        """Give up the lock if this key has it: after a fork, the child has none. May be repeated after an interrupt."""
        if not self.is_held_by(key):
            return
        # The pid is cleared before the seat is released, or the pid of the next writer could be cleared.
        if key.place is not None:
            if self.words[key.place] == os.getpid():
                self.words[key.place] = 0
            key.place = None
        self._seats.leave(_LOCK_SEAT, key)
        self._lock_bell.ring()

    def release_later(self, key):
        self._seats.leave_later(functools.partial(self.release, key))

    def _require_not_held(self):
        this = _this_thread()
        for key in self._seats.owners(_LOCK_SEAT):
            if key.thread is this:
                raise RuntimeError(f"this thread holds the lock already, for {'reading' if key.reading else 'writing'}: name={self.name}")

    def _late(self, reading, timeout):
        values = {"for": "reading" if reading else "writing", "timeout": timeout}
        if self.words[_WRITER]:
            values["writerPid"] = int(self.words[_WRITER])
        else:
            pids = set(self.words[_READERS:].tolist()) - {0}
            values["readerPids"] = sorted(pid for pid in pids if os.path.exists(f"/proc/{pid}"))
        if self.words[_WAITER]:
            values["nextPid"] = int(self.words[_WAITER])
        return TimedOut(_message("cannot take a lock in time", "check the process that holds the lock; killing it releases the lock", name=self.name,
                                 **values))

    def close(self):
        for key in self._seats.owners(_LOCK_SEAT):
            self.release(key)


class _SharedBarrier:
    """A barrier: each thread that waits has a seat, so that the dead do not count."""

    def __init__(self, name, memory, seats):
        self.name, self._seats = name, seats
        self.words = np.frombuffer(memory, "<i8", _STAMPS + _MOST_PARTIES, _REGION_DATA + _BARRIER_AT)
        self._bell = _Bell(memory, _REGION_DATA + _BARRIER_AT + _BARRIER_BELL)

    def wait(self, parties, timeout):
        end = time.monotonic() + timeout
        with _Visit(self._seats) as visit:
            self._enter(visit, parties, timeout, end)
            generation = int(self.words[_GENERATION])
            is_last = self._arrive(visit, generation, parties)
            visit.leave(_BARRIER_SEAT)
            if is_last:
                self._bell.ring()
            else:
                self._await(visit, generation, parties, timeout, end)
            return is_last

    def _enter(self, visit, parties, timeout, end):
        while not visit.take(_BARRIER_SEAT):  # held for a moment only, unless its holder is stopped
            if time.monotonic() >= end:
                raise self._late(parties, timeout)
            time.sleep(_SHARED_PAUSE_S)

    def _arrive(self, visit, generation, parties):
        """Take a seat, and return whether this thread is the last one. It is, then the next generation begins."""
        words = self.words
        seat = next((seat for seat in range(_MOST_PARTIES) if visit.take(_FIRST_PARTY_SEAT + seat)), None)
        if seat is None:
            raise Refused(_message("too many threads wait at a barrier", "use another array", name=self.name, limit=_MOST_PARTIES))
        words[_STAMPS + seat] = 0  # a thread that died may have left the stamp of this generation
        others = self.arrived(generation)
        if others and words[_PARTIES] != parties:
            raise Refused(_message("the barrier has another number of parties", "give the same number everywhere", name=self.name,
                                   parties=words[_PARTIES], wantedParties=parties))
        words[_PARTIES] = parties
        words[_STAMPS + seat] = generation + 1
        is_last = others + 1 >= parties
        if is_last:
            words[_GENERATION] = generation + 1
        return is_last

    def _await(self, visit, generation, parties, timeout, end):
        while self.words[_GENERATION] == generation:
            self._seats.require_open()
            heard = self._bell.listen()
            left = end - time.monotonic()
            if self.words[_GENERATION] != generation:
                return
            if left > 0:
                self._bell.sleep(heard, min(left, _LOOK_S))
                continue
            self._enter(visit, parties, timeout, end + _STALLED_S)  # no thread can count this one while it leaves
            if self.words[_GENERATION] == generation:
                raise self._late(parties, timeout)

    def arrived(self, generation):
        """Return how many threads wait. A seat without a living process does not count."""
        stamped = np.flatnonzero(self.words[_STAMPS:] == generation + 1).tolist()
        return sum(self._seats.is_taken(_FIRST_PARTY_SEAT + seat) for seat in stamped)

    def _late(self, parties, timeout):
        arrived = self.arrived(int(self.words[_GENERATION]))
        return TimedOut(_message("not all have come to a barrier in time", "check the processes that are missing", name=self.name, arrived=arrived,
                                 parties=parties, timeout=timeout))


class _Bell:
    """An event count: a word of shared memory at which threads sleep until another one rings.

    The word counts rings in steps of 2; its lowest bit is set while a thread listens. Python has no atomic changes, so a ring may be lost:
    sleeps are short, and each is followed by another look.
    """

    def __init__(self, memory, offset):
        self._word = np.frombuffer(memory, "<u4", 1, offset)
        self._place = _address(self._word)
        self._futex = _FUTEX_CALLS.get(os.uname().machine) if _libc else None

    def listen(self):
        heard = int(self._word[0]) | 1
        self._word[0] = heard
        return heard

    def sleep(self, heard, seconds):
        if self._futex is None:
            time.sleep(min(seconds, _SHARED_PAUSE_S))
            return
        left = (ctypes.c_long * 2)(int(seconds), int(seconds % 1 * 1e9))
        self._call(0, heard, left)

    def ring(self):
        heard = int(self._word[0])
        if heard & 1:
            self._word[0] = heard + 1 & 0xffffffff
            if self._futex is not None:
                self._call(1, 0x7fffffff, None)

    def _call(self, operation, value, left):
        _libc.syscall(ctypes.c_long(self._futex), ctypes.c_void_p(self._place), ctypes.c_int(operation), ctypes.c_uint(value), left, None, ctypes.c_int(0))


# The region.


def _wanted_array(name, dtype, shape):
    """Return dtype and shape, if an array can have them."""
    if dtype is None or shape is None:
        raise ValueError(f"a new shared array needs dtype and shape: name={name} dtype={dtype} shape={shape}")
    dtype, shape = np.dtype(dtype), (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    shape = tuple(map(operator.index, shape))
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or not dtype.isnative:
        raise _bad_input(_message("no shared array can have such elements", "use little-endian numbers of 1, 2, 4 or 8 bytes", name=name, dtype=dtype.str))
    count = 1
    for size in shape:
        count *= size
    if len(shape) > _MOST_SHARED_DIMENSIONS or any(size < 0 for size in shape) or count * dtype.itemsize > _MOST_BYTES:
        raise _bad_input(_message("no array can have this shape", "use a smaller one", name=name, shape=shape, dimensionLimit=_MOST_SHARED_DIMENSIONS))
    return dtype, shape, _ELEMENTS_AT + count * dtype.itemsize


def _shared_row(store, name, wanted, end):
    """Return the daemon's description of the region. It creates one of the wanted size. None if there is none to open."""
    within = max(0, end - time.monotonic()) + _GRACE_S
    if wanted is None:
        answers = _called(store, "ListRegions", {"name": name}, within=within)
    else:
        with _settings_of_python():
            answers = _called(store, "CreateRegion", {"name": name, "kind": _SHARED_KIND, "bytes": wanted[2]}, within=within)
    row = next(iter(_listed_rows(answers, "regions")), None)
    if row and row["kind"] != _SHARED_KIND:
        raise Refused(_message("the region is of another kind", "choose another name; see larder regions", name=name, kind=row["kind"], wantedKind=_SHARED_KIND))
    return row


def _opened_array(store, row, wanted, end):
    """Open a region. Return None if it is being removed."""
    locks = os.open(os.path.join(store, "regions", "locks"), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    seats = _Seats(locks, row["name"], row["id"])
    segment = None
    try:
        segment = _shared_segment(row) if _lock_byte(locks, fcntl.F_RDLCK, row["id"]) else None
    except FileNotFoundError:
        pass
    finally:
        if segment is None:
            _locked_files.discard(seats)
            os.close(locks)
    if segment is None:
        return None
    seats.close_with(segment)
    _await_ready(row, segment.memory, seats, wanted, end)
    return Shared(row["name"], store, segment, seats, *_described_array(row, segment.memory, wanted))


def _shared_segment(row):
    """Map the memory of a region, with a descriptor of its own. None if it was removed."""
    descriptor = os.open(row["path"], os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        status, length = os.fstat(descriptor), _REGION_DATA + row["bytes"]
        if not status.st_nlink:
            return None
        head = os.pread(descriptor, _REGION_HEADER.size, 0)
        if status.st_size < length:  # touching a byte after the end would kill this process
            raise _damaged_array(row, f"it has {status.st_size} bytes instead of {length}")
        magic, version, _, number, _, _ = _REGION_HEADER.unpack(head)
        if (magic, version, number) != (_REGION_MAGIC, _FORMAT_VERSION, row["id"]):
            raise _damaged_array(row, "it is not the region of this name and release")
        return _map_file(descriptor, writable=True)
    finally:
        os.close(descriptor)


def _await_ready(row, memory, seats, wanted, end):
    """Write the description into new memory, unless another process does. One that dies meanwhile leaves the rest to the next one."""
    state = np.frombuffer(memory, "<i4", 1, _REGION_STATE)
    while state[0] != _REGION_READY:
        if wanted and wanted[2] == row["bytes"] and seats.take_init():
            try:
                if state[0] == _REGION_MAKING:
                    for start in range(_REGION_DATA, len(memory), _ZEROING_STEP):
                        np.frombuffer(memory, np.uint8)[start:start + _ZEROING_STEP] = 0
                if state[0] != _REGION_READY:
                    state[0] = _REGION_MAKING
                    memory[_REGION_DATA:_REGION_DATA + _SHARED_HEAD.size] = _shared_head(*wanted[:2])
                    state[0] = _REGION_READY
            finally:
                seats.leave_init()
        elif time.monotonic() >= end:
            raise TimedOut(_message("cannot open a shared array in time", "check the process that creates it", name=row["name"],
                                    creatorPid=row["creatorPid"]))
        else:
            time.sleep(_SHARED_PAUSE_S)


def _shared_head(dtype, shape):
    text = np.lib.format.dtype_to_descr(dtype).encode()
    return _SHARED_HEAD.pack(len(text), len(shape), 0, *shape, *[0] * (_MOST_SHARED_DIMENSIONS - len(shape)), text)


def _described_array(row, memory, wanted):
    """Return dtype and shape of an array, if they are the wanted ones."""
    length, rank, spare, *rest = _SHARED_HEAD.unpack_from(memory, _REGION_DATA)
    if not 0 <= rank <= _MOST_SHARED_DIMENSIONS or not 0 < length <= 64:
        raise _damaged_array(row, "its description has numbers that do not fit")
    try:
        dtype, shape = np.dtype(rest[-1][:length].decode("ascii")), tuple(rest[:rank])
        expected = _wanted_array(row["name"], dtype, shape)[2]
    except (LarderError, TypeError, ValueError):
        raise _damaged_array(row, "its description cannot be read") from None
    if spare or wanted and (dtype, shape) != wanted[:2]:
        wanted = wanted or (dtype, shape)
        raise Refused(_message("a different shared array has this name", "choose another name, or open it with its own settings; Python opens arrays "
                               "without a spare", name=row["name"], dtype=dtype.str, wantedDtype=wanted[0].str, shape=shape, wantedShape=wanted[1],
                               spare=bool(spare), wantedSpare=False))
    if expected != row["bytes"]:
        raise _damaged_array(row, f"its data has {row['bytes']} bytes instead of {expected}")
    return dtype, shape


def _damaged_array(row, reason):
    return _bad_input(_message("the region is damaged", f"remove it: larder regions --remove {row['name']}", name=row["name"], kind=row["kind"],
                               reason=reason))
