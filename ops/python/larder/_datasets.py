"""Datasets: one leased version each."""

from __future__ import annotations

import collections.abc
import itertools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arrays import Array, _whole
from ._columns import Bytes, Index, Ragged, Strings, _number_finder, _numbers_finder, _text_finder, _texts, _texts_finder
from ._errors import _NAMES_SHOWN, LarderError, NotFound, _message, _near
from ._store import _current, _location, _trusted
from ._versions import _newest, _with_identity


def dataset(name: str, store: str | os.PathLike[str] | None = None) -> Dataset:
    """Open the newest version of a dataset.

    The version is resolved once: arrays of one `Dataset` always belong together, and a later load does not change it.
    Needs no daemon, and takes well under a millisecond, for any number of arrays. The daemon first loads a dataset that was evicted or
    registered.

    Raises `NotFound` for an unknown dataset (`load` it, or `wait` for it), and `NoStore` if there is no store.
    """
    first, _, rest = str(name).partition("/")
    if rest:
        raise NotFound(_message("a dataset's name has no array in it", f"use larder.dataset({first!r})[{rest!r}], or"
                                f" larder.open({name!r})", name=name))
    return Dataset(_newest(_trusted(_location(store)), str(name)))


def open(name: str, store: str | os.PathLike[str] | None = None) -> Array:
    """Open one array by its full name, as in ``larder.open("mnist/train-images")``.

    The name of the dataset is enough if it has exactly one array. The version stays leased while the array, or
    any view of it, lives.
    """
    name, _, array = name.partition("/")
    opened = dataset(name, store)
    if not array:
        if len(opened) != 1:
            raise NotFound(_message("not one array", f"{_near('', opened)}; open one: {_example(opened)}", dataset=name, arrays=len(opened)))
        array = next(iter(opened))
    return opened._array(array)


def _example(opened):
    """Return an expression that opens an array of a dataset, or a column if it has no plain array."""
    kinds = opened.columns
    array = next((name for name in opened if name not in kinds), None)
    return f"larder.dataset({opened.name!r})[{next(iter(opened), '')!r}]" if array is None else f"larder.open({f'{opened.name}/{array}'!r})"


def _require_dataset(value):
    if not isinstance(value, (str, Dataset)):
        raise TypeError(_message("not a dataset", "give the name of one, or the result of larder.dataset(name); "
                                 "larder.cache(name, lambda: it) stores arrays and frames", type=type(value).__qualname__))


def _require_array(value):
    if not isinstance(value, (np.ndarray, np.generic)):
        example = _example(value) if isinstance(value, Dataset) else "larder.open('mnist/train-images')"
        raise TypeError(_message("not an array", f"give an array of a dataset: {example}", type=type(value).__qualname__))


class Dataset(collections.abc.Mapping[str, Any]):
    """One leased version of a dataset: a read-only mapping from names, as in ``larder ls``, to arrays and columns.

    ``d["train-images"]`` is an `Array`, and ``d["tokens"]`` of a column a `Ragged`, `Strings`, `Bytes` or `Index`, as its own methods `ragged`,
    `strings`, `bytes` and `index` return it; `columns` has the kinds. The arrays that a column consists of can be opened by name
    (``d["tokens/values"]``), but are not listed. Use it in ``with``, or simply drop it. Its arrays and columns stay valid after `close`, and keep the version
    leased as long as they live.
    """

    def __init__(self, version):
        if isinstance(version, (str, os.PathLike)):
            raise TypeError(f"larder.Dataset is opened by larder.dataset: name={version}; use larder.dataset({str(version)!r})")
        self._version = version
        self._segments = {}

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self._open().name

    @property
    def version(self) -> int:
        """The version number, a counter of this store."""
        return self._open().number

    @property
    def digest(self) -> str:
        """The SHA-256 in hex that identifies the contents on any machine."""
        return self._open().digest

    @property
    def is_newest(self) -> bool:
        """False once a newer version is published. One that is published and evicted between two looks is missed.

        Reads one link of the store each time, without the daemon. Call it between epochs, and open the dataset again to change to the newer version.
        """
        version = self._open()
        current = _current(version.store, version.name)
        if current is not None and (current != version.number or not version.is_linked()):
            version.is_replaced = True
        return not version.is_replaced

    @property
    def store(self) -> str:
        """The path of the store."""
        return self._open().store

    @property
    def columns(self) -> dict[str, str]:
        """A dict from the names of columns to their kinds: ``index``, ``strings``, ``ragged``, ``bytes``."""
        return dict(self._open().columns)

    def __getitem__(self, name: str) -> Any:
        version = self._open()
        kind = None if name in version.arrays else version.arrays.kind(name)
        return self._array(name) if kind is None else getattr(self, kind)(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._open().listed)

    def __len__(self) -> int:
        return len(self._open().listed)

    def __contains__(self, name: object) -> bool:
        version = self._open()
        return name in version.arrays or version.arrays.kind(name) is not None

    def _ipython_key_completions_(self):
        return list(self)

    def index(self, name: str) -> Index:
        """Open an index: a mapping from texts or integers to row numbers (`Index`)."""
        slots = self._part(name, "index", "slots", "<u8")
        if f"{name}/entries" in self._open().arrays:
            entries = self._part(name, "index", "entries", "<i8", 2)
            find = _number_finder(slots, entries)
            return Index(self, name, find, _numbers_finder(slots, entries, find),
                         lambda: iter(memoryview(entries[:, 0])), len(entries))
        records, positions = self._part(name, "index", "records", "|u1"), self._part(name, "index", "positions", "<i8")
        find = _text_finder(slots, records)
        return Index(self, name, find, _texts_finder(slots, records, find), lambda: _texts(records, positions), len(positions))

    def strings(self, name: str) -> Strings:
        """Open a column of texts: a sequence of `str` (`Strings`)."""
        return Strings(self, name, self._part(name, "strings", "bytes", "|u1"), self._offsets(name, "strings"))

    def ragged(self, name: str) -> Ragged:
        """Open a column of arrays that differ in shape: a sequence of read-only arrays (`Ragged`)."""
        return Ragged(self, name, self._part(name, "ragged", "values"), self._offsets(name, "ragged"),
                      self._part(name, "ragged", "shapes", "<i8", 2))

    def bytes(self, name: str) -> Bytes:
        """Open a column of raw bytes, files for instance: a sequence of read-only memoryviews (`Bytes`)."""
        return Bytes(self, name, self._part(name, "bytes", "values", "|u1"), self._offsets(name, "bytes"))

    def close(self) -> None:
        """End this object's use of the lease. Idempotent."""
        self._version, self._segments = None, {}

    def __enter__(self) -> Dataset:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        return _restore, self._open().identity

    def __repr__(self):
        if self._version is None:
            return "<larder.Dataset, closed>"
        names = [f"{name} ({self.columns[name]})" if name in self.columns else name for name in itertools.islice(self._version.listed, _NAMES_SHOWN)]
        more = len(self._version.listed) - len(names)
        return (f"<larder.Dataset {self.name} version {self.version} in {self.store}: {', '.join(names) or 'nothing'}"
                + (f", ... ({more} more)>" if more else ">"))

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _open(self):
        if self._version is None:
            raise ValueError("the dataset is closed; open it again with larder.dataset")
        return self._version

    def _array(self, name):
        version = self._open()
        entry = version.arrays.get(name)
        if entry is None:
            raise self._missing("array", name, version.listed)
        segment = self._segments[entry.file] = version.segment(entry.file)
        return _whole(segment, entry)

    def _offsets(self, name, kind):
        return self._part(name, kind, "offsets", "<i8")

    def _part(self, name, kind, part, dtype=None, ndim=1):
        version = self._open()
        found = version.arrays.kind(name)
        if found is None:
            raise self._missing("column", name, version.columns)
        if found != kind:
            raise NotFound(_message("a column of another kind", f"open it with .{found}({name!r})",
                                    dataset=self.name, column=name, kind=found, wanted=kind))
        array = self._array(f"{name}/{part}")
        if array.ndim != ndim or (dtype is not None and array.dtype != np.dtype(dtype)):
            raise LarderError(_message("a column is damaged", f"larder reload {self.name}, or load or compute it again", dataset=self.name,
                                       array=f"{name}/{part}", dtype=array.dtype.str, shape=array.shape))
        return array

    def _missing(self, what, name, names):
        other = self._version.arrays.kind(name)
        remedy = f"it is a column: use larder.dataset({self.name!r})[{name!r}]" if other and what == "array" else _near(name, names)
        return NotFound(_message("no such " + what, remedy, dataset=self.name, version=self.version, **{what: name}))


def _restore(store, name, digest):
    """Open the version with a digest. This unpickles a Dataset."""
    return Dataset(_with_identity(store, name, digest))
