"""Rows that the first process to need them computes, for all processes and later runs. The class RowsDescriptor specifies their layout."""

from __future__ import annotations

import fcntl
import json
import operator
import os
import re
import struct
import threading
import time
import types
import warnings
import weakref
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._columns import _picked
from ._computed import (_REGION_DATA, _REGION_HEADER, _REGION_MAGIC, _REGION_READY, _REGION_STATE, _ROWS_HEADER, _ROWS_KIND, _ROWS_LAYOUT, _ROWS_MAGIC,
                        _ROWS_TEXT)
from ._control import _called
from ._datasets import Dataset, _require_dataset
from ._errors import LarderError, Refused, TimedOut, _bad_input, _message, _require_function, _settings_of_python
from ._keys import _has_code, _rows_key, _sha256
from ._memory import _map_file
from ._results import _is_restorable
from ._seats import _close_files, _locked_files, _opened_again, _without_locks
from ._serve import _lock_byte, _served
from ._store import _FORMAT_VERSION, _trusted
from ._versions import _newest

_ROWS_BEHIND_PAGE = 192  # the start of rows, in bytes after a page: see the class RowsDescriptor
_ROW_PUBLISHED = 1 << 32
_KEY_DIGITS, _LONGEST_ROWS_TEXT, _MOST_ROW_BYTES = 16, 1 << 16, 1 << 30
_OPEN_TIMEOUT_S, _SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 60, 50e-6, 5e-3


def rows(name: str, dataset: Dataset | str, function: Callable[..., Any], arrays: str | Sequence[str] | None = None, *,
         dtype: Any, shape: int | Sequence[int] = (), version: Any = None, patience: float = 10,
         store: str | os.PathLike[str] | None = None) -> ComputedRows:
    """Open rows that the first process to need them computes and the store keeps for later runs.

    Row `i` is the result of ``function(x[i], y[i], ...)`` for the named `arrays` and columns of the dataset, as `dtype` and
    of `shape`. `arrays` may be omitted if the dataset has one array. Integers, texts and dates have to fit the `dtype`, as have the ranges of
    floats, which are rounded. A process that asks for a missing row computes it, and
    all others wait; if it dies, the next one computes. A process that has waited for `patience`
    seconds, for example for a stopped process, computes the row for itself.

    The key is the dataset's digest, the arrays, `dtype`, `shape` and `version`; without a version, the function's code. Bound values of the
    function count in any case: arguments of a partial, ``self``, closures, defaults. The rules are those of
    `larder.cached`, which also lists the values that no key contains. Rows of another key are stored next to these. Java's ``Dataset.rows`` with the
    same version has the same rows if the function has no bound values. The function must return the same result for the same row.

    New rows need the daemon, which reserves space for all of them. It evicts rows that no process has open when it needs the
    space. Only processes of the store's owner can use them; ``larder freeze`` copies them into a dataset for all.

    >>> decoded = larder.rows("decoded", "photos", decode, ["image"], dtype="u1", shape=(224, 224, 3))
    >>> decoded[7]; decoded[[3, 1, 4]]
    """
    _require_function(function, "give a function that returns one row: larder.rows(name, dataset, function, dtype=...)", rows=name)
    if version is None and not _has_code(function):
        raise LarderError(_message("a function without code that could be a key", "say when its rows change: version=1",
                                   rows=name, function=repr(function)))
    _require_dataset(dataset)
    opened = dataset if isinstance(dataset, Dataset) else Dataset(_newest(_trusted(_served(store)), dataset))
    if arrays is None:
        if len(opened) != 1:
            raise LarderError(_message("not one array to compute rows of", "name some: arrays=[...]", rows=name, dataset=opened.name,
                                       arrays=len(opened)))
        arrays = list(opened)
    return ComputedRows(name, opened, function, [arrays] if isinstance(arrays, str) else list(arrays), np.dtype(dtype),
                        (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape), version, patience)


class ComputedRows:
    """Rows that are computed once. ``len(r)``, ``r[7]``, ``r[2:5]`` and ``r[[3, 1, 4]]`` give writable copies.

    Thread-safe, also across fork, and picklable if the function is. The first read of a row from another process
    compares its checksum. If it differs, a warning is shown, and each read computes the row for this process alone
    (``larder verify`` lists all such rows).
    """

    def __init__(self, name, dataset, function, arrays, dtype, shape, version, patience):
        self._arguments = name, dataset, function, arrays, dtype, shape, version, patience
        self.name, self.dtype, self.function, self.patience = name, dtype, function, patience
        self._place = {"dataset": dataset.name, "arrays": ",".join(arrays), "rows": name}
        sources = [_row_source(dataset, array) for array in arrays]
        lengths = {array: len(source) for array, source in zip(arrays, sources)}
        if len(set(lengths.values())) != 1:
            raise LarderError(_message("arrays of computed rows differ in their numbers of rows", "name arrays with equal first dimensions",
                                       dataset=dataset.name, **lengths))
        if not _is_restorable(dtype):
            raise LarderError(_message("rows of this type cannot be shared", "use numbers or fixed-size strings of numpy's own", rows=name,
                                       dtype=dtype))
        if version is not None and type(version) not in (int, float, str):
            raise LarderError(_message("a version of computed rows is a number or a text", "give one: version=1", rows=name, version=repr(version)))
        self._sources, self._row_shape = sources, tuple(map(int, shape))
        self.shape = (len(sources[0]), *self._row_shape)
        steps = _rows_key(function, version, _added_arguments(function, arrays))
        text = {"name": name, "key": "", "digest": dataset.digest, "arrays": ",".join(arrays),
                "dtype": str(np.lib.format.dtype_to_descr(dtype)), "shape": ",".join(map(str, self._row_shape)), "steps": steps}
        if any(ord(c) < 32 for value in text.values() for c in value):
            raise LarderError(_message("a key of computed rows has a control character", "remove line breaks and other control characters from the version",
                                       rows=name))
        text["key"] = self.key = _hex_digest("computed rows 1\n" + "".join(f"{part}={text[part]}\n" for part in
                                                                       ("digest", "arrays", "dtype", "shape", "steps")))
        self._region = region = _open_rows(dataset.store, text, self.shape[0], dtype.itemsize * int(np.prod(self._row_shape, dtype=np.int64)))
        self._states = np.frombuffer(region.memory, "<u8", len(self), region.states)
        self._data = np.ndarray(self.shape, dtype, region.memory, region.data)
        self._bytes = region.memory[region.data:region.data + len(self) * region.row_bytes]
        self._ready = np.zeros(len(self), bool)  # rows that this process has computed or compared
        self._is_ready = memoryview(self._ready)  # yields one of them in less time
        self._given_up: set[int] = set()  # rows whose wait has timed out; they are not waited for again
        self.computed = self.computed_alone = self.damaged = 0

    def __len__(self):
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """The number of dimensions of all rows together."""
        return len(self.shape)

    @property
    def published(self) -> int:
        """The number of rows that any process has published."""
        return int(np.count_nonzero(self._states))

    def __getitem__(self, index: Any) -> np.ndarray:
        rows = index if type(index) is int and 0 <= index < self.shape[0] else _picked(index, self.shape[0], computed=self.name)
        if type(rows) is int:
            return self._data[rows].copy() if self._is_ready[rows] else self._one(rows)
        return self.take(rows.reshape(-1)).reshape(*rows.shape, *self._row_shape)

    def __array__(self, dtype=None, copy=None):
        found = self[:]
        return found if dtype is None else found.astype(dtype, copy=False)

    def take(self, indices: Any, out: np.ndarray | None = None) -> np.ndarray:
        """Gather rows and compute missing ones. `out`, if given, has the shape ``[len(indices), ...]`` and this dtype."""
        wanted = np.atleast_1d(_picked(indices, len(self), computed=self.name))
        if out is None:
            out = np.empty((len(wanted), *self._row_shape), self.dtype)
        elif out.shape != (len(wanted), *self._row_shape) or out.dtype != self.dtype:
            raise ValueError(f"out does not fit: shape={out.shape} dtype={out.dtype} expected={(len(wanted), *self._row_shape)} {self.dtype}")
        ready = self._ready[wanted]
        own = {} if ready.all() else self._missing(wanted[~ready].tolist())
        if len(wanted):
            np.take(self._data, wanted, axis=0, out=out, mode="clip")
        if own:
            for place, row in enumerate(wanted.tolist()):
                if row in own:
                    out[place] = own[row]
        return out

    def _one(self, row):
        own = self._missing([row])
        return own[row].copy()[()] if own else self._data[row].copy()

    def _missing(self, wanted):
        """Publish these rows. Return those that cannot be published, as a dict by row number."""
        own = {}
        unique = list(dict.fromkeys(wanted))
        for row in unique:  # first the rows that no process is computing, so that processes that begin together share the work
            if not self._states[row]:
                self._try_compute(row)
        began = time.monotonic()
        for row in unique:
            if not self._ready[row]:
                found = self._obtain(row, began)
                if found is not None:
                    own[row] = found
        return own

    def _try_compute(self, row):
        """Compute and publish a row unless another process is computing it. Return whether this did."""
        if not self._region.try_claim(row):
            return False
        try:
            if self._states[row]:  # published just before this process got the claim
                return False
            data = self._compute(row).tobytes()  # including the padding of structures
            self._bytes[row * self._region.row_bytes:(row + 1) * self._region.row_bytes] = data
            self._states[row] = _ROW_PUBLISHED | zlib.crc32(data)  # last: a reader of the state sees the whole row
            self._ready[row] = True
            self.computed += 1
            return True
        finally:
            self._region.release(row)

    def _compute(self, row):
        try:
            made = self.function(*(source[row] for source in self._sources))
            value = np.asarray(made)
        except Exception as e:
            raise LarderError(_message("the function of computed rows failed", "the cause is above", **self._place, row=row,
                                       error=f"{type(e).__name__}: {e}")) from e
        if isinstance(made, np.ma.MaskedArray):
            raise _bad_input(_message("a row has a mask, which rows have no room for", "return row.filled(...)", **self._place, row=row))
        if value.shape != self._row_shape or not _is_kind_of(value.dtype, self.dtype):
            raise _bad_input(_message("the function of computed rows returned an undeclared shape or type", "return that shape and type, or declare "
                                       "shape= and dtype=", **self._place, row=row, shape=value.shape, dtype=value.dtype,
                                       wantedShape=self._row_shape, wantedDtype=self.dtype))
        if value.dtype == self.dtype:
            return np.ascontiguousarray(value).reshape(self._row_shape)
        with np.errstate(all="ignore"):  # values that do not fit are found below
            cast = np.ascontiguousarray(value, self.dtype).reshape(self._row_shape)
            changed = _changed(value, cast)
        if changed:
            old, new = changed
            raise LarderError(_message("a row has values that its dtype cannot hold", f"declare a larger dtype than {self.dtype}, or return "
                                       "values within its range", **self._place, row=row, value=old, stored=new, dtype=value.dtype,
                                       wantedDtype=self.dtype))
        return cast

    def _obtain(self, row, began):
        """Wait for a row that another process computes. Return the row if this process computed it for itself, else None."""
        end = began + (0 if row in self._given_up else self.patience)
        pause = _SHORTEST_PAUSE_S
        while True:
            if self._states[row]:
                return self._compared(row)
            if self._try_compute(row):
                self._given_up.discard(row)
                return None
            if self._states[row]:
                continue
            if time.monotonic() >= end:
                self._given_up.add(row)
                return self._compute_alone(row)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _compared(self, row):
        if not self._is_intact(row):
            intact = False
            if self._region.try_claim(row):  # the publisher has released its claim by now
                try:
                    intact = self._is_intact(row)
                finally:
                    self._region.release(row)
            if not intact:
                self.damaged += 1
                if self.damaged == 1:
                    warnings.warn(_message("a computed row is damaged, so this process computes it for itself",
                                           f"larder verify {self._region.name} names all of them, larder evict {self._region.name} "
                                           "forgets them", rows=self._region.name, row=row), RuntimeWarning, stacklevel=6)
                return self._compute_alone(row)
        self._ready[row] = True
        return None

    def _is_intact(self, row):
        length = self._region.row_bytes
        return int(self._states[row]) == _ROW_PUBLISHED | zlib.crc32(self._bytes[row * length:(row + 1) * length])

    def _compute_alone(self, row):
        self.computed_alone += 1
        return self._compute(row)

    def __reduce__(self):
        return ComputedRows, self._arguments

    def _larder_key(self):
        return ["computed rows", self.name, self.key]

    def __repr__(self):
        return f"<larder.ComputedRows {self._region.name}: {self.shape} {self.dtype}>"


# Allowed casts: for each kind of dtype, the kinds it may become. The values are compared afterwards.
_KINDS = {"b": "biufc", "i": "iufc", "u": "iufc", "f": "fc", "c": "c", "S": "SU", "U": "U", "M": "M", "m": "m"}


def _is_kind_of(found, wanted):
    return found == wanted or wanted.kind in _KINDS.get(found.kind, "")


def _changed(values, cast):
    """Return the first value that a cast has changed, and its new one; None if there is none. Floats may be rounded."""
    if values.dtype.kind in "fc":
        changed = np.isfinite(values) & ~np.isfinite(cast)
    elif values.dtype.kind in "Mm":
        changed = (cast.astype(values.dtype).view("i8") != values.view("i8")) | (np.isnat(cast) != np.isnat(values))
    elif values.dtype.kind in "biu" and _holds_all(cast.dtype, values):
        return None
    else:
        pairs = zip(values.ravel().tolist(), cast.ravel().tolist())
        return next(((old, new) for old, new in pairs if old != new and not (isinstance(old, bytes) and old == str(new).encode())), None)
    return (values[changed].flat[0], cast[changed].flat[0]) if changed.any() else None


def _holds_all(dtype, integers):
    """Return whether a dtype has all of these integers, by comparing the smallest and the largest."""
    if integers.size == 0:
        return True
    least, most = int(integers.min()), int(integers.max())
    if dtype.kind in "iu":
        return np.iinfo(dtype).min <= least and most <= np.iinfo(dtype).max
    return dtype.kind == "b" or max(-least, most) <= 1 << min(np.finfo(dtype).nmant + 1, np.finfo(dtype).maxexp - 1)


def _row_source(dataset, name):
    kind = dataset.columns.get(name)
    if kind == "index":
        raise LarderError(_message("an index has no rows", "name an array, or a column of texts, bytes or ragged rows",
                                   dataset=dataset.name, column=name))
    source = dataset[name]
    if kind is None and source.ndim == 0:
        raise LarderError(_message("an array without rows", "name arrays with at least one dimension", dataset=dataset.name, array=name))
    return source


def _added_arguments(function, arrays):
    """Return the defaults of a function, which it gets in addition to the values of a row."""
    import inspect  # imported when used: see _sha256

    try:
        bound = inspect.signature(function, follow_wrapped=False).bind(*arrays)
    except (TypeError, ValueError):  # no signature, or a wrong one: then each call fails
        return {}
    given = set(bound.arguments)
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items()
            if name not in given and bound.signature.parameters[name].kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)}


def _hex_digest(text):
    return _sha256(text.encode()).hexdigest()


# The region: its file and its locks.


class _Region:
    """A region of computed rows that this process has open. While it is open, the daemon does not evict it."""

    def __init__(self, name, locks, descriptor, memory):
        self.name, self.memory = name, memory
        self._claimed, self._guard = set(), threading.Lock()
        self._locks, self._files = [locks], [descriptor]  # of the region, and of its rows
        for files in self._locks, self._files:
            weakref.finalize(self, _close_files, files).atexit = False
        _locked_files.add(self)

    def after_fork(self):
        """Open the file of the rows again in a child, so that the parent's claims end with the parent."""
        self._claimed, self._guard = set(), threading.Lock()
        if self._files:
            self._files[:] = _opened_again(self._files.pop())

    def try_claim(self, row):
        with self._guard:  # the kernel does not distinguish threads that use one descriptor
            if not self._files:
                raise _without_locks(self.name)
            if row in self._claimed or not _lock_byte(self._files[0], fcntl.F_WRLCK, row):
                return False
            self._claimed.add(row)
            return True

    def release(self, row):
        with self._guard:
            self._claimed.discard(row)
            _lock_byte(self._files[0], fcntl.F_UNLCK, row)


def _open_rows(store, text, count, row_bytes):
    """Open the region of these rows. If there is none, the daemon creates it first."""
    lines = "".join(f"{key}={value}\n" for key, value in text.items()).encode()
    if len(lines) > _LONGEST_ROWS_TEXT:
        raise LarderError(_message("the description of computed rows is too long", "use a shorter version", rows=text["name"],
                                   bytes=len(lines), limit=_LONGEST_ROWS_TEXT))
    if row_bytes > _MOST_ROW_BYTES:
        raise LarderError(_message("a computed row is too long", "keep smaller rows", rows=text["name"], bytes=row_bytes,
                                   limit=_MOST_ROW_BYTES))
    states = -(-(_ROWS_TEXT + len(lines)) // 64) * 64
    data = -(-(states + 8 * count) // 4096) * 4096 + _ROWS_BEHIND_PAGE
    header = _ROWS_HEADER.pack(_ROWS_MAGIC, _ROWS_LAYOUT, len(lines), count, row_bytes, states, data, zlib.crc32(lines))
    header += bytes(_ROWS_TEXT - len(header)) + lines
    name, end = f"{text['name']}.{text['key'][:_KEY_DIGITS]}", time.monotonic() + _OPEN_TIMEOUT_S
    pause = _SHORTEST_PAUSE_S
    while True:
        file = _region_file(_trusted(store), name)
        if file is None:
            with _settings_of_python():
                _called(_served(store), "CreateRegion", {"name": name, "kind": _ROWS_KIND, "bytes": data + count * row_bytes})
        else:
            region = _open_region(store, name, file, header)
            if region is not None:
                return region
        if time.monotonic() >= end:
            raise TimedOut(_message("cannot open computed rows in time", "the daemon or process that creates them may be stopped or dead: "
                                    "see larder status and larder regions", rows=name))
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def _region_file(store, name):
    """Return the file of a region, or None."""
    try:
        entries = sorted(os.listdir(os.path.join(store, "regions")))
    except FileNotFoundError:
        return None
    except PermissionError:
        raise _not_ours(store) from None
    return next((entry for entry in entries if re.fullmatch(re.escape(name) + "@[0-9a-f]{16}", entry)), None)


def _not_ours(store):
    return Refused(_message("only processes of the store's owner can use computed rows", "ask the owner to copy them into a dataset: larder freeze NAME",
                            store=store))


def _open_region(store, name, file, header):
    """Open a region, and write its header if it has none. Return None if it is being removed or another process is writing it."""
    folder, number = os.path.join(store, "regions"), int(file[-16:], 16)
    kept, descriptors = False, []
    try:
        for entry in ("locks", file):
            descriptors.append(os.open(os.path.join(folder, entry), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW))
            if entry == "locks" and not _lock_byte(descriptors[0], fcntl.F_RDLCK, number):
                return None
        locks, descriptor = descriptors
        if not os.fstat(descriptor).st_nlink:
            return None
        head = os.pread(descriptor, _REGION_HEADER.size, 0)  # read from the file, because touching a hole of a full store kills the process
        if len(head) < _REGION_HEADER.size or not any(head[:8]):
            return None  # the daemon is still reserving it: it writes the magic last
        magic, version, _, its_number, _, kind = _REGION_HEADER.unpack(head)
        if (magic, version, its_number, kind.rstrip(b"\0")) != (_REGION_MAGIC, _FORMAT_VERSION, number, _ROWS_KIND.encode()):
            raise _damaged_rows(name, "it is not a region of computed rows of this release")
        length = os.fstat(descriptor).st_size
        if length < _REGION_DATA + len(header):  # touching a byte after the end would kill this process
            raise _damaged_rows(name, "it is shorter than its rows")
        memory = _mapped(os.path.join(folder, file))
        if not _laid_out(memory, locks, number, header):
            return None
        states, data = _rows_starts(memory, header, length, name)
        region = _Region(name, locks, descriptor, memory)
        kept = True
        region.row_bytes, region.states, region.data = _ROWS_HEADER.unpack_from(header)[4], _REGION_DATA + states, _REGION_DATA + data
        return region
    except FileNotFoundError:
        return None
    except PermissionError:
        raise _not_ours(store) from None
    finally:
        if not kept:
            _close_files(descriptors)


def _rows_starts(memory, wanted, length, name):
    """Return the offsets of states and rows in a region's data. Earlier releases placed the rows elsewhere."""
    found = bytes(memory[_REGION_DATA:_REGION_DATA + len(wanted)])
    ours, theirs = _ROWS_HEADER.unpack_from(wanted), _ROWS_HEADER.unpack_from(found)
    if (ours[:5], ours[7], wanted[_ROWS_TEXT:]) != (theirs[:5], theirs[7], found[_ROWS_TEXT:]):
        raise _damaged_rows(name, "its rows have another key")
    count, row_bytes, states, data = theirs[3:7]
    if not len(wanted) <= states <= data - 8 * count or data + count * row_bytes > length - _REGION_DATA:
        raise _damaged_rows(name, "it is shorter than its rows")
    return states, data


def _mapped(path):
    """Map a region. Python keeps a descriptor for each mapping, even across a fork, so this must not be the one with the claims."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return _map_file(descriptor, writable=True).memory
    finally:
        os.close(descriptor)


def _laid_out(memory, locks, number, header):
    state = np.frombuffer(memory, "<i4", 1, _REGION_STATE)
    if state[0] == _REGION_READY:
        return True
    if not _lock_byte(locks, fcntl.F_WRLCK, number + 1):
        return False
    try:
        if state[0] != _REGION_READY:
            memory[_REGION_DATA:_REGION_DATA + len(header)] = header  # a process that died here wrote the same bytes, and no states
            state[0] = _REGION_READY
    finally:
        _lock_byte(locks, fcntl.F_UNLCK, number + 1)
    return True


def _damaged_rows(name, reason):
    return LarderError(_message("computed rows cannot be used", f"larder regions --remove {name}, and compute them again", rows=name,
                                reason=reason))
