"""Files as memory, on huge pages where the kernel gives them."""

import contextlib
import errno
import mmap
import os
import sys

try:
    import ctypes
except ImportError:  # a Python that was built without it reads all the same, with small entries in its page table
    _libc = None
else:
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.mmap.restype = ctypes.c_void_p
    _libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    _libc.madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int

import numpy as np

_HUGE_PAGE = 2 << 20
_MOST_REFUSALS = 4  # of huge pages, by the kernel
_MAP_FIXED, _MADV_POPULATE_WRITE, _MADV_COLLAPSE = 0x10, 23, 25  # linux/mman.h
_UNTRACKED = {"trackfd": False} if sys.version_info >= (3, 13) else {}  # before, each mapping keeps a descriptor


class _Segment(mmap.mmap):
    """A file of a version, mapped. Whatever views it keeps it mapped, and its version leased."""

    start = 0  # where the file begins in this memory


def _address(memory):
    return np.frombuffer(memory, np.uint8, 1).__array_interface__["data"][0]


def _map_aligned(descriptor, writable=False):
    """Map a large file so that each huge page of it takes a single entry of the page table; return None where that cannot be.

    Its address has to be a multiple of 2 MiB, which Python's mmap cannot ask for: the file is mapped over a larger mapping.
    """
    size = os.fstat(descriptor).st_size
    if size < _HUGE_PAGE or _libc is None:
        return None
    try:
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        segment = _Segment(-1, size + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=protection)
    except OSError:  # no more mappings, or no more addresses
        return None
    address = _address(segment)
    segment.start = -address % _HUGE_PAGE
    wanted = address + segment.start
    mapped = _libc.mmap(wanted, size, protection, mmap.MAP_SHARED | _MAP_FIXED, descriptor, 0)
    return segment if mapped == wanted else None


def _reserve_huge(descriptor, size):
    """Give the whole 2 MiB pieces of a new file huge pages, as far as the kernel does; the rest comes with writing."""
    length = size // _HUGE_PAGE * _HUGE_PAGE
    if length == 0 or _libc is None:
        return
    os.ftruncate(descriptor, size)
    with contextlib.suppress(OSError):  # then it goes without
        memory = mmap.mmap(-1, length + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
        address = _address(memory)
        address += -address % _HUGE_PAGE
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        if _libc.mmap(address, length, protection, mmap.MAP_SHARED | _MAP_FIXED, descriptor, 0) == address:
            refusals = 0
            for piece in range(address, address + length, _HUGE_PAGE):
                if not _populate_huge(piece):
                    refusals += 1
                    if refusals == _MOST_REFUSALS:
                        break


def _populate_huge(piece):
    if _libc.madvise(piece, mmap.PAGESIZE, _MADV_POPULATE_WRITE):
        return False
    for _ in range(3):
        if not _libc.madvise(piece, _HUGE_PAGE, _MADV_COLLAPSE):
            return True
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    return False
