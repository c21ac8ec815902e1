"""Rows that are not in memory. A loader has their order, so it reads them ahead."""

from __future__ import annotations

import contextlib
import errno
import functools
import mmap
import os
import random
import threading
import time
import weakref

import numpy as np

from ._counters import _GATHERING, _READING
from ._errors import LarderError, _message
from ._groups import _free_bytes, _lines

_IN_MEMORY = "tmpfs", "ramfs", "devtmpfs", "hugetlbfs"
_FIRST_WINDOW_ROWS, _MOST_WINDOW_BYTES, _WINDOWS_PER_LIMIT = 256, 64 << 20, 8
_LONG_GATHER_S = 0.5  # a larger window would only make the next batch wait longer
_READ_ROWS, _READS_PER_WINDOW = 64, 4
_USUAL_ADVICE_KB = 128  # if the device reports no limit
_PROBES = 16
_SLOWEST_FROM_MEMORY = 50e-6  # seconds for one byte
_SLOW_GATHER_S, _SLOW_BYTES_PER_S = 1e-3, 1e9
_WINDOW_CHECKS_S = 1.0
_CHANGED = 8  # the code of contents that differ
_seek, _now = os.lseek, time.perf_counter  # for each gather from memory, where a look-up counts
_draws = random.Random()  # the program's own random numbers stay as they are


def _file_rows(array, name, files):
    """Return the rows of an array in its file, or None if they are always in memory, or only the mapping can gather them.

    `files` has the open files of a loader by their paths, because a pack has many arrays.
    """
    if array.nbytes == 0 or not array.flags.c_contiguous:
        return None
    segment = array._mmap
    if segment.path not in files:
        files[segment.path] = _disk_file(segment)
    file = files[segment.path]
    return file and _FileRows(file, segment, array, name)


def _disk_file(segment):
    """Return the open file of a segment, or None if it is in memory."""
    try:
        if _is_in_memory(os.stat(segment.path).st_dev):
            return None
        file = _DiskFile(segment.path)
    except OSError:  # a name that has left the store, too many open files
        return None
    segment.version._require_same_source(segment.file, os.fstat(file.descriptor))
    return file


@functools.lru_cache(maxsize=None)
def _is_in_memory(device):
    """Return whether a file system has no disk."""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in _lines("/proc/self/mountinfo"):
        mount, _, kind = line.partition(" - ")
        if mount.split(" ")[2] == number:
            return kind.split(" ")[0] in _IN_MEMORY
    return False


@functools.lru_cache(maxsize=None)
def _advice_bytes(device, sys="/sys"):
    """Return the most bytes that the kernel reads for a piece of advice: the read-ahead or the longest transfer of a device. It ignores the rest."""
    number = f"{os.major(device)}:{os.minor(device)}"
    folders = f"dev/block/{number}/queue", f"dev/block/{number}/../queue", f"class/bdi/{number}"
    sizes = [int(line) for folder in folders for file in ("read_ahead_kb", "max_sectors_kb") for line in _lines(os.path.join(sys, folder, file))]
    return (max(sizes, default=0) or _USUAL_ADVICE_KB) << 10


class _DiskFile:
    """An open file, for the rows of all arrays in it. It is closed when they are gone."""

    def __init__(self, path):
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self.descriptor).atexit = False
        self.advice_bytes = _advice_bytes(os.fstat(self.descriptor).st_dev)
        with contextlib.suppress(OSError):
            os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_RANDOM)  # a read of a missing row then reads this row only


class _FileRows:
    """The rows of an array in a file that may be on a disk. Reads raise errors if the mapping would end the process with SIGBUS."""

    def __init__(self, file, segment, array, name):
        self._open, self.descriptor = file, file.descriptor
        self.file, self._dataset, self._array = segment.path, segment.version.name, name
        self._start, self.row_bytes = array.offset, array.nbytes // len(array)
        self.end = self._start + array.nbytes
        self.waited = 0.0  # seconds that gathers have waited for the disk

    def is_cached(self, row):
        """Return whether the start of a row is in memory. If not, the kernel begins to read it, even in a read that must not wait, and a fast disk may
        have it there in time: then only the duration differs.
        """
        offset, began = self._start + row * self.row_bytes, time.perf_counter()
        try:
            os.preadv(self.descriptor, [bytearray(1)], offset, os.RWF_NOWAIT)
        except BlockingIOError:
            return False
        except (OSError, AttributeError) as e:  # a file system or a C library without the flag
            if getattr(e, "errno", errno.EOPNOTSUPP) not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                return False
            try:
                os.pread(self.descriptor, 1, offset)
            except OSError:
                return False  # the gather of this row raises it
        return time.perf_counter() - began < _SLOWEST_FROM_MEMORY

    def shorter(self):
        """Return the error for a file that has become shorter."""
        return self._unread(max(0, os.fstat(self.descriptor).st_size - self._start) // self.row_bytes)

    def advise(self, rows):
        """Have the kernel read rows ahead. Neighbours are read together."""
        starts = np.sort(rows).astype(np.int64) * self.row_bytes + self._start
        page = mmap.PAGESIZE
        firsts, ends = starts // page, -(-(starts + self.row_bytes) // page)
        apart = np.flatnonzero(firsts[1:] > ends[:-1])
        begins = (firsts[np.concatenate(([0], apart + 1))] * page).tolist()
        stops = (ends[np.concatenate((apart, [-1]))] * page).tolist()
        advise, descriptor, willneed, most = os.posix_fadvise, self.descriptor, os.POSIX_FADV_WILLNEED, self._open.advice_bytes
        with contextlib.suppress(OSError):  # it is only advice
            for begin, stop in zip(begins, stops):
                for piece in range(begin, stop, most):
                    advise(descriptor, piece, min(most, stop - piece), willneed)

    def read(self, rows, target):
        """Read rows into a memoryview of bytes, one after another."""
        length, start = self.row_bytes, self._start
        if int(rows[-1]) - int(rows[0]) == len(rows) - 1 and (rows[1:] > rows[:-1]).all():  # they are adjacent
            self._fill(int(rows[0]) * length + start, target)
            return
        read, descriptor, at = os.preadv, self.descriptor, 0
        for row in rows.tolist():
            part = target[at:at + length]
            at += length
            try:
                found = read(descriptor, (part,), row * length + start)
            except OSError as e:
                raise self._unread(row, e) from e
            if found != length:
                self._fill(row * length + start + found, part[found:])

    def _fill(self, offset, target):
        while len(target):
            row = (offset - self._start) // self.row_bytes
            try:
                found = os.preadv(self.descriptor, (target,), offset)
            except OSError as e:
                raise self._unread(row, e) from e
            if found == 0:
                raise self._unread(row)
            offset, target = offset + found, target[found:]

    def _unread(self, row, error=None):
        place = {"file": self.file, "row": row, "dataset": self._dataset, "array": self._array}
        if error is not None:
            return LarderError(_message("row not read", "check the disk, its kernel log (dmesg) for instance, or load the data from another one", **place,
                                        error=error))
        failure = LarderError(_message("row not read", "the file has become shorter: restore it, or load it as it is now: "
                                       f"larder reload {self._dataset}", **place, bytes=os.fstat(self.descriptor).st_size, loadedBytes=self.end))
        failure.code = _CHANGED
        return failure


class _Window:
    """The most bytes of a read-ahead: a part of the memory that the control group has left, for one of several arrays. The limit may change."""

    def __init__(self, arrays):
        self._arrays, self._bytes, self._checked = arrays, 0, -_WINDOW_CHECKS_S

    def most_bytes(self, now):
        if now - self._checked >= _WINDOW_CHECKS_S:
            self._bytes = min(_MOST_WINDOW_BYTES, _free_bytes() // _WINDOWS_PER_LIMIT) // self._arrays
            self._checked = now  # last: before the first look there are no bytes, and another thread would shrink its window
        return self._bytes


class _ReadAhead:
    """Gathers the rows of one array in an epoch.

    If a few rows of the epoch, drawn at random, are all in memory, the mapping gathers, as with any array. If not, and after a gather that took
    long, rows are read from the file, and the kernel is advised to read those of the next batches: a window of rows,
    which grows while gathers wait for the disk.
    """

    def __init__(self, source, file, plan, batch_size, together, window):
        self._source, self._file, self._plan = source, file, plan
        self._descriptor, self._end = file.descriptor, file.end
        self._together, self._group_rows, self._most = together, together * batch_size, window
        self._is_cached, self._lock = None, threading.Lock()
        self._slow = _SLOW_GATHER_S + self._group_rows * file.row_bytes / _SLOW_BYTES_PER_S
        self._advised = 0  # position in the epoch
        self._reading = {}  # the start of the read of each thread
        self._most_rows, self._window = 0, _FIRST_WINDOW_ROWS

    def gather(self, rows, out, first, row):
        """Copy rows into an array of their shape. `first` is the position of the first one in the epoch, `row` has the counters of the thread."""
        if not self._is_cached and (self._is_cached is False or not self._look(0)):
            self._read(rows, out, first, row)
            return
        if _seek(self._descriptor, 0, os.SEEK_END) < self._end:  # a gather from the mapping would end the process
            raise self._file.shorter()
        began = _now()
        self._source.gather(rows, out)
        seconds = _now() - began
        if seconds > self._slow and not self._look(first + len(out)):
            self._add_wait(seconds)
            row.waited_for_disk(seconds)

    def may_wait(self):
        """Return whether a gather may wait for a disk."""
        return not self._is_cached

    def reading(self):
        """Return the start of the read that takes longest, and its file, or None."""
        began = min(self._reading.copy().values(), default=None)
        return began and (began, self._file.file)

    def _look(self, position):
        """Look for rows that are not in memory. If there are some, begin to read ahead at a position. Return whether there are none."""
        with self._lock:
            if self._is_cached is not False:
                self._advised = position
                self._is_cached = all(map(self._file.is_cached, self._drawn()))
            return self._is_cached

    def _drawn(self):
        for _ in range(_PROBES):
            rows, count, _ = self._plan.rows(_draws.randrange(self._plan.batches))
            if count:
                yield int(_row_numbers(rows)[_draws.randrange(count)])

    def _read(self, rows, out, first, row):
        """Read rows in blocks. Before each block the kernel gets advice on a further one, a window ahead."""
        began, worked = row.begin(_READING), time.thread_time()
        self._fit(began)
        numbers, target = _row_numbers(rows), memoryview(out.reshape(-1).view(np.uint8))
        block, length, thread = max(1, min(_READ_ROWS, self._window // _READS_PER_WINDOW)), self._file.row_bytes, threading.get_ident()
        try:
            for at in range(0, len(numbers), block):
                some = numbers[at:at + block]
                self._reading[thread] = time.monotonic()
                self._advise(first + at + len(some) + self._window)
                self._file.read(some, target[at * length:(at + len(some)) * length])
        finally:
            self._reading.pop(thread, None)
            seconds = row.begin(_GATHERING) - began
            waited = max(0.0, seconds - (time.thread_time() - worked))
            row.waited_for_disk(waited - seconds)  # the rest was no wait
        self._add_wait(waited)
        if seconds / 4 < waited < _LONG_GATHER_S:
            self._window = max(1, min(self._most_rows, 2 * self._window))

    def _add_wait(self, seconds):
        with self._lock:
            self._file.waited += seconds

    def _fit(self, now):
        """Fit the window to the memory that is left."""
        page = mmap.PAGESIZE
        cached_bytes = -(-self._file.row_bytes // page) * page + page  # most rows begin within a page
        self._most_rows = max(1, self._most.most_bytes(now) // cached_bytes)
        self._window = min(self._most_rows, self._window)

    def _advise(self, end):
        """Advise the kernel to read the rows up to a position."""
        with self._lock:
            at, self._advised = self._advised, max(self._advised, min(end, self._plan.samples))
            end = self._advised
        while at < end:
            group, skipped = divmod(at, self._group_rows)
            rows = _row_numbers(self._plan.rows(group * self._together, self._together)[0])[skipped:skipped + end - at]
            self._file.advise(rows)
            at += len(rows)


def _row_numbers(rows):
    """Return the rows of a plan as an array."""
    return np.arange(rows.start, rows.stop, rows.step) if type(rows) is slice else rows
