"""Counters of a loader in a file of the store, which `larder top` reads while the loader lives. The class LoaderDescriptor specifies it."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
import threading
import time
import weakref

_COUNTERS_MAGIC, _COUNTERS_FORMAT, _PYTHON = b"LARDERLD", 2, 2
# magic, format, rows, pid, start of the process, creation, program, threads, slots, batch size, processors, bytes of a sample
_COUNTERS_HEADER = struct.Struct("<8s2i3q5i4xq")
_FORMAT_OFFSET, _DATASET, _FEED, _HEADER_LENGTH, _COUNTERS_PAGE = 8, 128, 640, 1024, 4096
_ROW_WORDS = 16
_THREAD, _TIMES, _BATCHES = 1, 2, 11  # words of a row
_CONSUMER, _GATHERER = 1, 3
_WORK_PARTS = 9
_STARTING, _PLANNING, _READING, _GATHERING, _USER_CODE, _DECODING, _TRANSFORMING, _WAITING, _WAITING_FOR_CONSUMER = range(_WORK_PARTS)
_MOST_NAMES, _MOST_INT = 20, (1 << 31) - 1
_monotonic = time.monotonic


class _Row:
    """The counters of one thread, which alone writes them. `begin` ends the present part, if any, and begins another; `end` ends it. A batch has a
    few of these calls, so they are functions over local variables, which take three quarters of the time of methods."""

    __slots__ = "begin", "end", "waited_for_disk", "took", "_longs"

    def __init__(self, memory, row, role):
        at = _HEADER_LENGTH + row * _ROW_WORDS * 8
        whole = memoryview(memory)[at:at + _ROW_WORDS * 8]
        longs, times, totals = whole.cast("q"), whole.cast("d")[_TIMES:_BATCHES], [0.0] * _WORK_PARTS
        present, current, taken = None, 0.0, 0

        def begin(part):
            """Return the present time."""
            nonlocal present, current
            now, last = _monotonic(), present
            if last is not None:
                present = None  # first: a Ctrl-C between these lines must not add the time twice
                totals[last] = times[last] = current + now
            current = times[part] = totals[part] - now
            present = part
            return now

        def end():
            nonlocal present
            last = present
            if last is not None:
                present = None
                totals[last] = times[last] = current + _monotonic()

        def waited_for_disk(seconds):
            """Move some of the present part's time to the reads of a disk; a negative time moves back."""
            nonlocal current
            if present is not None:
                totals[_READING] = times[_READING] = totals[_READING] + seconds
                current = times[present] = current - seconds

        def took(count):
            """Count batches that the consumer has taken."""
            nonlocal taken
            longs[_BATCHES] = taken = taken + count

        self.begin, self.end, self.waited_for_disk, self.took, self._longs = begin, end, waited_for_disk, took, longs
        longs[0] = role

    def of_this_thread(self):
        self._longs[_THREAD] = threading.get_native_id()

    def of_no_thread(self):
        self._longs[_THREAD] = 0


class _Counters:
    """The rows of a loader: of its consumer, of its consumer's help, and of each thread that gathers. They are in memory of this process if
    the store has no room for the file, or if this user may not write there: counters are no reason to fail."""

    alive: weakref.WeakSet[_Counters] = weakref.WeakSet()

    def __init__(self, dataset, threads, slots, batch_size, row_bytes):
        rows = 2 + 2 * threads
        length = -(-(_HEADER_LENGTH + rows * _ROW_WORDS * 8) // _COUNTERS_PAGE) * _COUNTERS_PAGE
        self.pid, self._lock = os.getpid(), None
        try:
            memory = self._created(os.path.join(dataset.store, "loaders"), length)
        except OSError:
            memory = bytearray(length)
        settings = (min(number, _MOST_INT) for number in (threads, slots, batch_size))
        header = _COUNTERS_HEADER.pack(_COUNTERS_MAGIC, 0, rows, self.pid, _process_start(), time.monotonic_ns(), _PYTHON, *settings,
                                       len(os.sched_getaffinity(0)), row_bytes)
        memory[:len(header)] = header
        name = dataset.name.encode("utf-8", "replace")[:_FEED - _DATASET]
        memory[_DATASET:_DATASET + len(name)] = name
        self.consumer, self.helper = _Row(memory, 0, _CONSUMER), _Row(memory, 1, _GATHERER)
        self._rows = [_Row(memory, row, _GATHERER) for row in range(2, rows)]
        struct.pack_into("<i", memory, _FORMAT_OFFSET, _COUNTERS_FORMAT)  # last: it makes the file valid

    def _created(self, folder, length):
        """Create and lock the file. The daemon removes files without a lock, and readers test locks: then try another name."""
        is_shared = os.stat(folder).st_mode & 0o2000
        for _ in range(_MOST_NAMES):
            path = os.path.join(folder, f"{self.pid}-{os.urandom(4).hex()}")
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            release = weakref.finalize(self, _release, path, lock, self.pid)
            try:
                os.fchmod(lock, 0o640 if is_shared else 0o600)  # first, because the daemon removes files that it cannot open
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_nlink:
                    os.posix_fallocate(lock, 0, length)
                    memory = _map_counters(path, length)
                    self._lock = lock
                    self.alive.add(self)
                    return memory
            except BlockingIOError:
                pass
            except BaseException:
                release()
                raise
            release()
        raise BlockingIOError

    def rows(self, count):
        """Return rows for the threads of another epoch, because those of the last one may still run."""
        half = len(self._rows) // 2
        self._rows = self._rows[half:] + self._rows[:half]
        return self._rows[:count]

    def leave(self):
        """Close the lock in a forked child. Otherwise the file would count as live until the child ends."""
        if self._lock is not None:
            os.close(self._lock)


def _map_counters(path, length):
    """Map a file. The mapping keeps a descriptor, which a child inherits: it is another one than that of the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return mmap.mmap(descriptor, length)
    finally:
        os.close(descriptor)


def _release(path, lock, pid):
    if os.getpid() == pid:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(lock)


def _process_start():
    """Return when this process started, in ticks since the boot: with its pid it identifies the process."""
    try:
        descriptor = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int(os.read(descriptor, 4096).rpartition(b")")[2].split()[19])
    finally:
        os.close(descriptor)


def _close_inherited_counters():
    for counters in list(_Counters.alive):
        counters.leave()
    _Counters.alive.clear()


os.register_at_fork(after_in_child=_close_inherited_counters)
