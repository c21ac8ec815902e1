"""Files mapped into memory, on huge pages if the kernel provides them, and the memory nodes of new pages."""

import contextlib
import errno
import mmap
import os
import sys

try:
    import ctypes
except ImportError:  # a Python without ctypes also reads, with small entries in its page table
    ctypes = _libc = None
else:
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.mmap.restype = ctypes.c_void_p
    _libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    _libc.madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int

import numpy as np

_HUGE_PAGE = 2 << 20
_MOST_REFUSALS = 4  # number of refused huge pages
_NODES_IN_TURN = 480  # as in BulkIo: less than the pages of a piece, and a multiple of most numbers of nodes
_POLICIES = "default", "prefer", "bind", "interleave", "local", "prefer-many", "weighted-interleave"  # linux/mempolicy.h
_MOST_NODES = 1024
_POLICY_CALLS = {"x86_64": (238, 239), "aarch64": (237, 236)}  # set_mempolicy, get_mempolicy
_MAP_FIXED, _MADV_POPULATE_WRITE, _MADV_COLLAPSE = 0x10, 23, 25  # linux/mman.h
_UNTRACKED = {"trackfd": False} if sys.version_info >= (3, 13) else {}  # before Python 3.13 each mapping keeps a descriptor


class _Segment(mmap.mmap):
    """A file of a version, mapped. Views keep the file mapped, and its version leased.

    The file may begin anywhere in this mapping: read it through `memory`, which begins with the file.
    """

    _start, _length = 0, None

    @property
    def memory(self):
        """The bytes of the file: a memoryview. A view of it has this segment as its base."""
        return memoryview(self)[self._start:][:self._length]


def _address(memory):
    return np.frombuffer(memory, np.uint8, 1).__array_interface__["data"][0]


def _map_file(descriptor, writable=False):
    """Map a file, shared with all processes that map it."""
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    return _map_aligned(descriptor, protection) or _Segment(descriptor, 0, flags=mmap.MAP_SHARED, prot=protection, **_UNTRACKED)


def _map_aligned(descriptor, protection):
    """Map a large file so that each of its huge pages takes a single entry of the page table; return None if that fails.

    The address has to be a multiple of 2 MiB, which Python's mmap cannot request: the file is mapped over a larger mapping.
    """
    size = os.fstat(descriptor).st_size
    if size < _HUGE_PAGE or _libc is None:
        return None
    try:
        segment = _Segment(-1, size + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=protection)
    except OSError:  # no more mappings, or no more addresses
        return None
    address = _address(segment)
    segment._start, segment._length = _HUGE_PAGE - address % _HUGE_PAGE, size  # never at 0: kernels differ in the addresses they choose
    wanted = address + segment._start
    mapped = _libc.mmap(wanted, size, protection, mmap.MAP_SHARED | _MAP_FIXED, descriptor, 0)
    return segment if mapped == wanted else None


def _reserve_huge(descriptor, size):
    """Allocate the whole 2 MiB pieces of a new file as huge pages, if the kernel provides them. Writes allocate the rest."""
    length = size // _HUGE_PAGE * _HUGE_PAGE
    if length == 0 or _libc is None:
        return
    os.ftruncate(descriptor, size)
    try:
        memory = mmap.mmap(-1, length + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    except OSError:  # then without huge pages
        return
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
    if mmap.PAGESIZE * (mmap.PAGESIZE // 8) != _HUGE_PAGE:
        return False  # the kernel would ignore ranges that are shorter than its huge pages, and report success
    if _libc.madvise(piece + _first_page(piece), mmap.PAGESIZE, _MADV_POPULATE_WRITE):
        return False
    for _ in range(3):
        if not _libc.madvise(piece, _HUGE_PAGE, _MADV_COLLAPSE):
            return True
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    return False


def _first_page(piece):
    """Return the offset of the page to populate first: the kernel makes the piece huge on its node, and interleaves pages by their number in the file."""
    pages = _HUGE_PAGE // mmap.PAGESIZE
    return piece // _HUGE_PAGE * (1 - pages) % min(_NODES_IN_TURN, pages) * mmap.PAGESIZE


@contextlib.contextmanager
def _placed(policy):
    """Place new pages of this thread on memory nodes as the daemon does: `policy` is its text. A thread that has a policy keeps it."""
    kind, _, nodes = policy.partition(":")
    changed = kind in _POLICIES[1:] and _policy_kind() == 0 and _set_policy(_POLICIES.index(kind), nodes)
    try:
        yield
    finally:
        if changed:
            _set_policy(0, "")


def _policy_kind():
    """Return the number of this thread's policy for memory nodes, or -1 if it cannot be found or changed."""
    calls, kind = _POLICY_CALLS.get(os.uname().machine), ctypes.c_int() if _libc else None
    if not calls or kind is None or _libc.syscall(ctypes.c_long(calls[1]), ctypes.byref(kind), None, ctypes.c_ulong(0), None, ctypes.c_ulong(0)):
        return -1
    return kind.value & 0xff


def _set_policy(kind, nodes):
    mask = 0
    for numbers in filter(None, nodes.split(",")):
        first, _, last = numbers.partition("-")
        mask |= (1 << int(last or first) + 1) - (1 << int(first))
    words = (ctypes.c_char * (_MOST_NODES // 8)).from_buffer_copy(mask.to_bytes(_MOST_NODES // 8, sys.byteorder))
    set_policy = _POLICY_CALLS[os.uname().machine][0]
    return _libc.syscall(ctypes.c_long(set_policy), ctypes.c_int(kind), words, ctypes.c_ulong(_MOST_NODES + 1)) == 0
