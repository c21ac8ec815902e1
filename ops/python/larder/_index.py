"""The index of a version: its arrays by name, read in place. The class IndexDescriptor and ops/docs/reference/FORMAT.md specify it."""

import ast
import collections
import collections.abc
import functools
import mmap
import os
import struct
import zlib

import numpy as np

from ._errors import LarderError, _message
from ._memory import _UNTRACKED
from ._store import _FORMAT_VERSION
from ._unserved import _INDEX_HEAD, _INDEX_MAGIC, _INDEX_SEGMENT

_INDEX_ENTRY = struct.Struct("<Q6I2Q4I")
_INDEX_BLOCK = 1024
_CHECKSUM_AT = 120  # of the whole file; it counts as zeros in the sum of the first block
_FNV_BASIS, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
_INDEX_PARTS = ["", "ragged_values", "ragged_offsets", "ragged_shapes", "strings_bytes", "strings_offsets", "index_slots", "index_records", "index_positions",
          "index_entries", "bytes_values", "bytes_offsets"]

_Entry = collections.namedtuple("_Entry", "file offset dtype shape order part")


class _Index(collections.abc.Mapping):
    """The arrays of a version: a mapping from names to entries, sorted by name.

    Looks a name up without reading the others, and checks each block before it uses a byte of it: opening a dataset takes as long with a hundred
    thousand arrays as with ten.
    """

    def __init__(self, folder, remedy):
        self.path, self._remedy = os.path.join(folder, "index"), remedy
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            if size <= 16 * _INDEX_BLOCK:
                self._bytes = os.read(descriptor, size)
            else:
                self._bytes = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ, **_UNTRACKED)
        finally:
            os.close(descriptor)
        self._size, self._checked = len(self._bytes), set()
        if self._size < _INDEX_HEAD.size or self._bytes[:8] != _INDEX_MAGIC:
            raise self._damaged("not an index", bytes=self._size)
        (_, found, self._count, _, self._slot_count, self._segment_count, digest, byte_size, _, self._slots, self._entries, self._segments,
         *_, self._sums) = _INDEX_HEAD.unpack_from(self._bytes)
        if found != _FORMAT_VERSION:
            raise LarderError(_message("a store of another format", "use the larder of the daemon's release", file=self.path, format=found))
        if byte_size != self._size:
            raise self._damaged(bytes=self._size, expected=byte_size)
        self._end = self._sums or self._size
        blocks = -(-self._end // _INDEX_BLOCK)
        if self._sums and (self._sums < _INDEX_HEAD.size or self._sums + 4 * blocks != self._size):
            raise self._damaged(sums=self._sums)
        self._inside(0, _INDEX_HEAD.size)
        for start, length in ((self._slots, 4 * self._slot_count), (self._entries, _INDEX_ENTRY.size * self._count), (self._segments, _INDEX_SEGMENT.size * self._segment_count)):
            if start + length > self._end:
                raise self._damaged(table=start)
        if not self._slot_count or self._slot_count & (self._slot_count - 1):
            raise self._damaged(slots=self._slot_count)
        self.digest = digest.hex()
        self.outside = {}  # files that are mapped in place: size, inode, time of the last write

    def __len__(self):
        return self._count

    def __iter__(self):
        return (self._name(self._entry(number)) for number in range(self._count))

    def __contains__(self, name):
        return self._find(name) is not None

    def __getitem__(self, name):
        entry = self._find(name)
        if entry is None:
            raise KeyError(name)
        return self._read(entry)

    def items(self):
        """Return names and entries without looking each name up."""
        return ((self._name(entry), self._read(entry)) for entry in map(self._entry, range(self._count)))

    @functools.cached_property
    def columns(self):
        """All columns with their kinds; reads every entry."""
        return {name: entry[-1].partition("_")[0] for name, entry in self._lines() if entry is not None}

    @functools.cached_property
    def listed(self):
        """The names as in larder ls, as the keys of a dict: a column replaces its arrays. Reads every entry."""
        return dict.fromkeys(name for name, _ in self._lines())

    def kind(self, column):
        """Return the kind of a column, or None if there is none of this name."""
        for part in _INDEX_PARTS[1:] if isinstance(column, str) else ():
            kind, _, suffix = part.partition("_")
            entry = self._find(f"{column}/{suffix}")
            if entry is not None and entry[-1] == part:
                return kind
        return None

    def _lines(self):
        for entry in map(self._entry, range(self._count)):
            name, part = self._name(entry), entry[-1]
            yield (name[:-len(part.partition("_")[2]) - 1], entry) if part else (name, None)

    def _find(self, name):
        if not isinstance(name, str):
            return None
        key = name.encode("utf-8", "surrogatepass")
        hash = _FNV_BASIS
        for byte in key:
            hash = (hash ^ byte) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
        hash ^= hash >> 32
        for probe in range(self._slot_count):
            slot = self._slots + 4 * (hash + probe & self._slot_count - 1)
            number = int.from_bytes(self._inside(slot, 4), "little")
            if not number:
                return None
            entry = self._entry(number - 1)
            if entry[0] == hash and self._inside(entry[1], entry[2]) == key:
                return entry
        return None

    def _entry(self, number):
        """Return the fields of an entry, with the part of a column as a text."""
        if number >= self._count:
            raise self._damaged(entry=number)
        fields = _INDEX_ENTRY.unpack(self._inside(self._entries + _INDEX_ENTRY.size * number, _INDEX_ENTRY.size))
        return (*fields[:-1], _INDEX_PARTS[fields[-1]] if fields[-1] < len(_INDEX_PARTS) else "")

    def _name(self, entry):
        return self._text(entry[1], entry[2])

    def _read(self, entry):
        _, _, _, dtype_at, dtype_length, shape_at, dimensions, offset, _, segment, _, order, part = entry
        if segment >= self._segment_count:
            raise self._damaged(segment=segment)
        byte_size, file_at, file_length, modified, inode = _INDEX_SEGMENT.unpack(self._inside(self._segments + _INDEX_SEGMENT.size * segment, _INDEX_SEGMENT.size))
        file = self._text(file_at, file_length)
        if os.path.isabs(file):
            self.outside[file] = byte_size, inode, modified
        shape = struct.unpack(f"<{dimensions}q", self._inside(shape_at, 8 * dimensions))
        try:
            return _Entry(file, offset, _dtype(self._text(dtype_at, dtype_length)), shape, chr(order), part)
        except (ValueError, SyntaxError, TypeError, OverflowError) as e:
            raise self._damaged(dtype=e) from None

    def _text(self, start, length):
        try:
            return self._inside(start, length).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self._damaged(text=start) from None

    def _inside(self, start, length):
        """Return a part of the index, after checking the blocks that it is in."""
        if start + length > self._end:
            raise self._damaged(offset=start)
        if self._sums and length:
            for block in range(start // _INDEX_BLOCK, (start + length - 1) // _INDEX_BLOCK + 1):
                if block not in self._checked:
                    self._check(block)
        return self._bytes[start:start + length]

    def _check(self, block):
        whole = self._bytes[_INDEX_BLOCK * block:min(_INDEX_BLOCK * (block + 1), self._end)]
        if not block:
            whole = whole[:_CHECKSUM_AT] + bytes(4) + whole[_CHECKSUM_AT + 4:]
        expected = int.from_bytes(self._bytes[self._sums + 4 * block:self._sums + 4 * block + 4], "little")
        if zlib.crc32(whole) != expected:
            raise self._damaged(crc32=f"{zlib.crc32(whole):08x}", expected=f"{expected:08x}")
        self._checked.add(block)

    def _damaged(self, what="index is damaged", **facts):
        failure = LarderError(_message(what, self._remedy, file=self.path, **facts))
        failure.code = 8
        return failure


@functools.lru_cache(1024)
def _dtype(text):
    return np.lib.format.descr_to_dtype(ast.literal_eval(text) if text.startswith("[") else text)
