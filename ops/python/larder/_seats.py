"""The locks of a region: seats, which the kernel gives up when their process dies. The class RegionDescriptor specifies their bytes."""

from __future__ import annotations

import collections
import fcntl
import functools
import os
import threading
import weakref
from typing import Any

from ._errors import LarderError, _message
from ._serve import _FLOCK, _lock_byte

_INIT_LOCK, _FIRST_SEAT = 1, 2
_locked_files: weakref.WeakSet[Any] = weakref.WeakSet()  # a forked child calls the after_fork of each


class _Seats:
    """The locks of a region that this process has open. The kernel does not distinguish threads that use one descriptor, so this counts their owners.

    Ctrl+C may interrupt any call. So the owner is noted before the kernel locks a seat, and `leave` may be repeated: it does nothing for an owner without the seat.
    """

    def __init__(self, locks, name, number):
        self._files, self._name, self._number, self._is_closed = [locks], name, number, False
        self._forget()
        _locked_files.add(self)

    def _forget(self):
        self._owners = {}  # of each seat: its owners, each with True if it shares the seat
        self._dropped = collections.deque()  # calls of owners that were dropped
        self._guard = threading.RLock()

    def close_with(self, segment):
        """Give up all locks when the memory goes."""
        weakref.finalize(segment, _close_files, self._files).atexit = False

    def close(self):
        """Give up all seats. Threads that wait for one get an error."""
        with self._guard:
            self._is_closed = True
            for owner in {owner for owners in self._owners.values() for owner in owners}:
                self.leave_all(owner)

    def require_open(self):
        if self._is_closed:
            raise ValueError(f"the shared array is closed: name={self._name}")

    def after_fork(self):
        """Lock the region again in a child. It holds no seat of its parent."""
        self._forget()
        if self._files:
            self._files[:] = _opened_again(self._files.pop(), self._number)

    def take_init(self):
        return _lock_byte(self._file(), fcntl.F_WRLCK, self._number + _INIT_LOCK)

    def leave_init(self):
        _lock_byte(self._file(), fcntl.F_UNLCK, self._number + _INIT_LOCK)

    def take(self, seat, owner, together=False):
        """Take a seat alone, or `together` with others. Return whether that was possible."""
        with self._guard:
            self._leave_dropped()
            self.require_open()
            owners = self._owners.setdefault(seat, {})
            if owners:
                if together and all(owners.values()):
                    owners[owner] = True
                    return True
                return False
            owners[owner] = together
            try:
                if _lock_byte(self._file(), fcntl.F_RDLCK if together else fcntl.F_WRLCK, self._position(seat)):
                    return True
            except BaseException:
                self.leave(seat, owner)
                raise
            del owners[owner]
            return False

    def leave(self, seat, owner):
        """Give up a seat, if this owner has it."""
        with self._guard:
            owners = self._owners.get(seat, {})
            if owner in owners:
                if len(owners) == 1:
                    owners[owner] = False  # so that no thread shares it after the kernel has released it
                    if self._files:
                        _lock_byte(self._files[0], fcntl.F_UNLCK, self._position(seat))
                del owners[owner]

    def leave_all(self, owner):
        """Give up the seats of an owner, the last one first: a thread that leaves a barrier is not counted once the barrier's own seat is free."""
        for seat in sorted(list(self._owners), reverse=True):
            self.leave(seat, owner)

    def leave_later(self, leave):
        """Call a function that leaves seats. For `__del__`, which Python may run in the middle of any call here: then the next call does it."""
        self._dropped.append(leave)
        if not self._guard._is_owned():
            with self._guard:
                self._leave_dropped()

    def _leave_dropped(self):
        while self._dropped:
            self._dropped.popleft()()

    def owners(self, seat):
        """Return the owners of a seat in this process."""
        with self._guard:
            self._leave_dropped()
            return list(self._owners.get(seat, ()))

    def is_taken(self, seat):
        """Return whether a living process has a seat."""
        with self._guard:
            self._leave_dropped()
            if self._owners.get(seat):
                return True
            found = fcntl.fcntl(self._file(), fcntl.F_OFD_GETLK, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, self._position(seat), 1, 0))
            return _FLOCK.unpack(found)[0] != fcntl.F_UNLCK

    def _file(self):
        if not self._files:
            raise _without_locks(self._name)
        return self._files[0]

    def _position(self, seat):
        return self._number + _FIRST_SEAT + seat


class _Visit:
    """An owner of seats for one block. If an interrupt keeps its end from giving them up, they are given up when it is dropped."""

    _seats = None

    def __init__(self, seats):
        self._key, self._seats = object(), seats

    def take(self, seat):
        return self._seats.take(seat, self._key)

    def leave(self, seat):
        self._seats.leave(seat, self._key)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._seats.leave_all(self._key)
        self._seats = None

    def __del__(self):
        if self._seats is not None:
            self._seats.leave_later(functools.partial(self._seats.leave_all, self._key))


def _opened_again(inherited, number=None):
    """Open an inherited file again in a forked child, because the locks of an open file are the parent's. Close it, and return a list of the new one.

    The new one shares the lock `number` before the old one goes. The list is empty if the child may not have more files open: see `_without_locks`.
    """
    opened = []
    try:
        opened.append(os.open(f"/proc/self/fd/{inherited}", os.O_RDWR | os.O_CLOEXEC))
        if number is not None:
            _lock_byte(opened[0], fcntl.F_RDLCK, number)
    except OSError:
        _close_files(opened)
    finally:
        os.close(inherited)
    return opened


def _without_locks(name):
    return LarderError(_message("this forked process could not open the file of its locks", "raise the limit of open files: ulimit -n", name=name))


def _close_files(files):
    """Close files and forget them, because other files get their numbers."""
    while files:
        os.close(files.pop())


def _lock_again():
    for files in list(_locked_files):
        files.after_fork()


os.register_at_fork(after_in_child=_lock_again)
