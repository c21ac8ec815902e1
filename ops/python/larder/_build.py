"""Datasets that a program builds: files of arrays in a folder of the store, published together."""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
import time
import warnings
import weakref
from typing import Any

import numpy as np

from ._control import _GRACE_S, _milliseconds, _own_builds, _pages, _persistently, _require_not_own
from ._errors import NoStore, Refused, RequestFailed, _bad_input, _message, _settings_of_python
from ._memory import _placed, _reserve_huge
from ._progress import _ProgressLine
from ._requests import _retention
from ._results import _stored_forms
from ._serve import _served
from ._store import _current, _is_path, _require_file_name, _stored_name, _user

_DATA_ALIGNMENT = 4096  # of the format; pages may be longer
_DATA_BEHIND_PAGE = 192  # the alignment of the store: such files are published without a copy
_COPIED_BELOW = 1 << 20
_HEADER_ALIGNMENT = 64
_LONGEST_NUMPY_HEADER = 10_000
_AHEAD_SHARE, _MOST_AHEAD = 8, 16 << 20  # the share of space that is reserved in advance
_STREAM_STEP = 1 << 20  # bytes to reserve for a stream, at least
_NO_SPACE = 5


def create(name: str, store: str | os.PathLike[str] | None = None, *, pin: bool = False, ttl: float | str | None = None,
           timeout: float | None = None) -> Builder:
    """Build the next version of a dataset: give the `Builder` its arrays, and leave its ``with`` to publish them together.

    No process sees an array before that. If the block raises, or this process ends, nothing is left. Without ``with``, call `Builder.publish`: a
    build that is dropped before that loses its arrays, with a warning. One process builds a dataset at a time;
    `timeout` is the longest time to wait for another one, in seconds (10 minutes). `pin` and `ttl` are as for `load`.

    >>> with larder.create("features") as dataset:
    ...     dataset["x"] = np.zeros((1000, 16), "f4")
    ...     dataset["names"] = ["a", "b"]                 # texts, bytes and rows that differ in length become columns
    """
    if store is not None and not _is_path(store):
        raise TypeError(_message("create takes no data", "with larder.create(name) as dataset: dataset[array] = data; or larder.cache(name, lambda: data)",
                                 dataset=name, type=type(store).__name__))
    builder = _begin(name, _served(store), timeout, True, _retention(pin, ttl))
    assert builder is not None  # also if it is resident
    return builder


class Builder:
    """A dataset that this process builds: see `create`. It belongs to this process: a forked child cannot use it."""

    def __init__(self, name, folder, connection, memory_policy=""):
        self.name, self._folder, self._connection, self._memory_policy = name, folder, connection, memory_policy
        self._names, self._parts, self._bytes, self._granted = set(), {}, 0, 0
        self.is_gone = False  # with its daemon
        self._is_ours = os.access(folder, os.W_OK)  # in the store of another user the daemon creates the files
        self._drop = weakref.finalize(self, _drop_build, name, self._names, connection)  # at the end of the interpreter, too
        self._note_thread(connection)

    def __setitem__(self, name: str, value: Any) -> None:
        """Write an array, or a list that becomes a column, as `cache` takes them. The value is copied."""
        self._add(*_stored_forms({name: value}, self.name))

    def publish(self) -> None:
        """Make everything visible as the dataset's newest version, as the end of ``with`` does."""
        self._require_open()
        if not self._names:
            raise _bad_input("nothing to cache: arrays=0; return an array, or a dict with some")
        try:
            with _ProgressLine() as line:
                for page in _pages([{"array": name, "part": part} for name, part in self._parts.items()]):
                    if page:
                        self._call("Part", {"parts": page})
                self._call("Publish", {}, line)
        finally:
            self.close()

    def close(self) -> None:
        """Abandon the build unless it is published. Idempotent."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._drop.detach()
            _give_up(self.name, connection)

    def __enter__(self) -> Builder:
        self._require_open()
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            if kind is None and self._connection is not None:
                self.publish()
        finally:
            self.close()

    def _require_open(self):
        if self._connection is None:
            raise ValueError(f"the builder is closed: dataset={self.name}; begin another one with larder.create")
        return self._connection

    def _call(self, method, parameters, progress=None):
        connection = self._require_open()
        if connection.is_lost:
            raise self._gone()
        try:
            with _settings_of_python():
                connection.call(method, parameters, progress)
        except NoStore as e:
            raise self._gone() from e

    def _gone(self):
        self.is_gone = True
        return NoStore(_message("the daemon of this build is gone, and the build with it", "build the dataset again, with all its arrays: none is "
                                "kept; if no other daemon runs, larder serve --detach starts one", dataset=self.name, arrays=len(self._names)))

    def _note_thread(self, connection):
        _own_builds[connection.store, self.name] = threading.current_thread()

    def _add(self, arrays, parts):
        self._require_new(arrays)
        headers = {name: _header(array) for name, array in arrays.items()}
        lengths = {name: len(headers[name]) + array.nbytes for name, array in arrays.items()}
        if self._is_ours:
            self._reserve(sum(map(_whole_pages, lengths.values())))
        else:
            for page in _pages([{"array": name, "bytes": length} for name, length in lengths.items()]):
                self._call("Files", {"files": page})
        with self._closed_by_failures():
            for name, array in arrays.items():
                self._write(name, headers[name], array)
        self._names.update(arrays)
        self._parts.update(parts)

    def _add_stream(self, name, part, write):
        """Add a part of a column that ``write(file)`` writes, and return its result. The length need not be known before. The store has to be this user's."""
        self._require_new({name: _zeros(0)})
        header = _header(_zeros(0), copied_below=0)
        self._reserve(_whole_pages(len(header)))
        with self._closed_by_failures(), self._new_file(name) as stream, _placed(self._memory_policy):
            stream.write(header)
            file = _Stream(stream, self._reserve)
            result = write(file)
            stream.seek(0)
            stream.write(_header(_zeros(file.length), copied_below=0))
            stream.flush()
            self._count_stored(stream, _whole_pages(len(header)) + file.reserved)
        self._names.add(name)
        self._parts[name] = part
        return result

    def _require_new(self, arrays):
        connection = self._require_open()
        self._note_thread(connection)
        for name, array in arrays.items():
            _require_sharable(name, array)
            if name in self._names:
                raise _bad_input(_message("two arrays have the same name", "give them different names", dataset=self.name, array=name))

    @contextlib.contextmanager
    def _closed_by_failures(self):
        try:
            yield
        except BaseException:
            self.close()  # a partial array must not be published with the others
            raise

    def _reserve(self, size):
        """Reserve space in the daemon before a write. Reserves a little more than needed, so that small arrays do not need a request each."""
        self._bytes += size
        for ahead in (min(self._bytes // _AHEAD_SHARE, _MOST_AHEAD), 0) if self._bytes > self._granted else ():
            try:
                self._call("Room", {"bytes": self._bytes + ahead})
                self._granted = self._bytes + ahead
                return
            except RequestFailed as e:
                if e.code != _NO_SPACE or not ahead:
                    raise

    def _write(self, name, header, array):
        with self._new_file(name) as stream, _placed(self._memory_policy):
            _reserve_huge(stream.fileno(), len(header) + array.nbytes)
            stream.write(header)
            _write_data(stream, array)
            stream.flush()
            self._count_stored(stream, _whole_pages(len(header) + array.nbytes))

    def _new_file(self, name):
        levels = name.split("/")
        file = os.path.join(self._folder, *levels) + ".npy"
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            for depth in range(1, len(levels) if self._is_ours else 0):  # never the folder itself: if that is gone, so is its daemon
                with contextlib.suppress(FileExistsError):
                    os.mkdir(os.path.join(self._folder, *levels[:depth]))
            return os.fdopen(os.open(file, flags | os.O_CREAT | os.O_EXCL if self._is_ours else flags, 0o600), "wb")
        except FileNotFoundError as e:  # another daemon has removed the folder
            raise self._gone() from e

    def _count_stored(self, stream, counted):
        """Count the memory of a file beyond its length: a mount may have huge pages."""
        self._bytes += max(0, os.fstat(stream.fileno()).st_blocks * 512 - counted)


class _Stream:
    """The data of an array that becomes longer with each write. Space is reserved before a write."""

    def __init__(self, stream, reserve):
        self._stream, self._reserve = stream, reserve
        self.length = self.reserved = 0

    def write(self, data):
        size = len(data) if type(data) is bytes else memoryview(data).nbytes
        if self.length + size > self.reserved:
            more = _whole_pages(max(self.length + size - self.reserved, _STREAM_STEP))
            self._reserve(more)
            self.reserved += more
        self._stream.write(data)
        self.length += size


def _give_up(name, connection):
    _own_builds.pop((connection.store, name), None)
    connection.close()


def _drop_build(name, arrays, connection):
    """End a build that its program has dropped, and warn if arrays are lost. Does nothing in a forked child, which has no build."""
    is_lost = bool(arrays) and connection.is_open()
    _give_up(name, connection)
    if is_lost:
        warnings.warn(_message("a build was dropped before it was published", "use it in with, or call its publish()", dataset=name, arrays=len(arrays)),
                      stacklevel=3)  # the line that dropped it


def _whole_pages(length):
    return -(-length // mmap.PAGESIZE) * mmap.PAGESIZE


def _zeros(count):
    """Return zeros that take no memory."""
    return np.broadcast_to(np.uint8(0), count)


def _header(array, copied_below=_COPIED_BELOW):
    """Return the header of an array's file, padded as in the store, so that the daemon does not have to copy the file."""
    described = np.lib.format.header_data_from_array_1_0(array)
    text = "{" + "".join(f"'{key}': {described[key]!r}, " for key in sorted(described)) + "}"
    try:
        version, encoded, digits = 1, text.encode("latin1"), 2
    except UnicodeEncodeError:
        version, encoded, digits = 3, text.encode(), 4
    prefix = 8 + digits
    if array.nbytes < copied_below:
        length = -(-(prefix + len(encoded) + 1) // _HEADER_ALIGNMENT) * _HEADER_ALIGNMENT - prefix  # the shortest: the daemon copies the file anyway
    else:
        blocks = max(0, prefix + len(encoded) - _DATA_BEHIND_PAGE) // _DATA_ALIGNMENT + 1
        length = blocks * _DATA_ALIGNMENT + _DATA_BEHIND_PAGE - prefix
    if length > _LONGEST_NUMPY_HEADER:
        raise _bad_input(_message("header too long for numpy", "give the dtype fewer or shorter fields, or store them as arrays of their own",
                                   characters=length, limit=_LONGEST_NUMPY_HEADER))
    return b"\x93NUMPY" + bytes([version, 0]) + length.to_bytes(digits, "little") + encoded.ljust(length - 1) + b"\n"


def _write_data(stream, array):
    if array.flags.c_contiguous:
        array.tofile(stream)
    elif array.flags.f_contiguous:
        array.T.tofile(stream)
    else:
        rows = max(1, (16 << 20) * len(array) // array.nbytes) if array.nbytes else 1
        for start in range(0, len(array), rows):
            np.ascontiguousarray(array[start:start + rows]).tofile(stream)


_PARTS = "bytes", "offsets", "values", "shapes"  # last levels of the arrays of a column, which is named without them


def _require_sharable(name, array):
    if any(level in ("", ".", "..") for level in name.split("/")):
        raise _bad_input(_message("bad array name", "use letters, digits and + . _ - = /", name=name))
    _require_file_name(name)
    if _stored_name(name) != name:
        column, _, part = name.rpartition("/")
        name = column if column and part in _PARTS else name
        raise _bad_input(_message("an array cannot keep its name", f"call it {_stored_name(name)!r}: names have letters, digits and + . _ - = /",
                                   name=repr(name)))
    if array.dtype.hasobject:
        raise _bad_input(_message("an array of Python objects cannot be shared", "return numbers, or fixed-size "
                                   "strings (dtype S or U), or several arrays in a dict", array=name))


def _begin(name, store, timeout, even_if_resident, retention=None, is_again=False):
    """Wait for the turn to build a dataset; return None if it is resident and not to be built again. With `is_again` it also waits for a daemon."""
    if even_if_resident or _current(store, str(name)) is None:
        _require_not_own(store, str(name))

    def attempt(connection, left):
        call = {"name": str(name), "timeoutMs": _milliseconds(left), "evenIfResident": even_if_resident, "retention": retention or {}}
        answers = connection.call("Create", call, line, time.monotonic() + left + _GRACE_S)
        build = answers[-1].get("build")
        if not build:
            connection.close()
            return None
        _require_usable(build["folder"])
        return Builder(str(name), build["folder"], connection, build.get("memoryPolicy") or "")

    with _settings_of_python(), _ProgressLine() as line:
        return _persistently(store, timeout, attempt, line.note, is_again)


def _require_usable(folder):
    """Refuse root in the store of another user: the daemon could not read files of root."""
    owner = os.lstat(folder).st_uid if os.getuid() == 0 else 0
    if owner:
        raise Refused(_message("root cannot build in the store of another user", f"build as {_user(owner)}, or load files, which the daemon reads "
                               "itself", folder=folder, owner=_user(owner)))
