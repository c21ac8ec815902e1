"""Records: a list of Python objects that all processes of a machine share, stored as pickles."""

from __future__ import annotations

import array
import collections.abc
import copyreg
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ._arrays import Array
from ._cache import _built_by
from ._columns import Bytes, Index, Ragged, Strings, _Rows
from ._datasets import Dataset, dataset
from ._errors import LarderError, NoStore, NotFound, Refused, _bad_input, _message, _note
from ._store import _NAME_YOUR_OWN, _location, _user

_PICKLES = "pickles"  # the name of the column
_PROTOCOL = 5  # the newest of Python 3.9
_NO_STREAM = ("pass a list, a generator, or a function that returns one; of a dict list(it.values()), of a DataFrame of pandas "
              "it.to_dict('records')")
_LEAVE_OUT = "leave it out, or replace it with data that can be pickled"


def records(name: str, rows: Iterable[Any] | Callable[[], Iterable[Any]] | None = None, *, store: str | os.PathLike[str] | None = None,
            timeout: float | None = None) -> Records:
    """Return the rows that are stored as `name`; if there are none, one process stores `rows` while the others wait.

    Use it for a list of dicts that each worker would otherwise copy. `rows` is an iterable of objects that can be pickled, or a function without
    parameters that returns one: only the process that stores the rows calls it. Rows are written one after the other, so those of a
    generator take 8 bytes each in memory. Without `rows` it only opens.

    **The name is the key**, as for `larder.cache`: if `name` is stored, `rows` is not read, even if it has changed since. Put a version into the
    name, or ``larder.evict(name)`` first.

    If `rows` raises, or its process dies, nothing is stored and the next process that waits stores its own. If the daemon dies meanwhile, the
    next daemon gets the rows again from their beginning; an iterator has no beginning and raises `NoStore`. `timeout` is the longest time to
    wait for another process, in seconds.

    **Records need a store of your own**: reading a pickle runs code that its writer chose. Raises `Refused` for the store of another user, and for
    records that another member of the group stored; `NotFound` for a dataset that `records` has not stored. Classes of the rows have to be importable in each process
    that reads them. A stored `Array` in a row becomes an array with its own data. Datasets and columns in a row are refused, because they pickle as names.

    >>> annotations = larder.records("annotations-v1", lambda: json.load(open("annotations.json")))
    >>> annotations[7]["boxes"]; len(annotations)
    """
    path = _location(store)
    if os.path.exists(path):
        _require_own_store(path)
    if rows is None:
        return Records(dataset(name, path))
    can_repeat = not isinstance(rows, Iterator)
    begun = []

    def add(builder):
        found = rows() if callable(rows) else rows
        if isinstance(found, Iterator) and any(found is one for one in begun):
            raise NoStore(_message("the daemon ended while rows were stored, and the function returned the iterator of which it has some",
                                   "return a new iterator at each call, and store the rows again", records=name))
        begun.append(found)
        _add_pickles(builder, found)

    return Records(_built_by(name, add, path, timeout, can_repeat))


class Records(_Rows):
    """Rows of Python objects. ``records[7]`` is a new object each time, so it can be changed; negative rows, slices, lists of rows and masks work
    as for columns.

    It is a sequence: ``len``, ``in``, ``index`` and loops work as for a list. It pickles as a name, so the workers of a ``DataLoader``, forked or spawned, share
    the pages. Threads can share it. The version stays leased while it lives.
    """

    def __init__(self, dataset):
        if not isinstance(dataset, Dataset):
            raise TypeError("larder.Records are opened by larder.records")
        _require_pickles_of_ours(dataset._open())
        column = dataset.bytes(_PICKLES)
        super().__init__(dataset, _PICKLES, column.values, column.offsets)
        self._bytes = memoryview(column.values)

    def _row(self, row, start, end):
        try:
            return pickle.loads(self._bytes[start:end])
        except Exception as e:  # such as a class that this process cannot import
            _note(e, "a row cannot be read", records=self._version.name, row=row)
            raise

    def __reduce__(self):
        return Records, (self._open(self._version),)

    def __repr__(self):
        return f"<larder.Records {self._version.name}: {len(self)}>"

    def _larder_key(self):
        return ["records", self._version.name, self._version.digest]


# Trust.


def _require_own_store(store):
    """Refuse the store of another user, who could have written any pickle there."""
    owner = os.stat(store).st_uid
    if owner != os.getuid():
        raise Refused(_message("records need a store of your own, because reading a pickle runs code", _NAME_YOUR_OWN, store=store,
                               owner=_user(owner), user=_user(os.getuid())))


def _require_pickles_of_ours(version):
    """Refuse pickles that another user wrote, or that came from a file."""
    _require_own_store(version.store)
    if version.publisher is not None:
        raise Refused(_message("another user stored these records, and reading a pickle runs code", "store the rows under another name", dataset=version.name,
                               publisher=version.publisher, user=_user(os.getuid())))
    if version.is_loaded or version.columns != {_PICKLES: "bytes"} or list(version.listed) != [_PICKLES]:
        raise NotFound(_message("the dataset has no records", "give the records another name, or evict the dataset", dataset=version.name,
                                has=", ".join(list(version.listed)[:3])))


# From rows to the store.


def _add_pickles(builder, found):
    if isinstance(found, (str, bytes, collections.abc.Mapping)) or type(found).__name__ == "DataFrame" or not hasattr(type(found), "__iter__"):
        raise _bad_input(_message("not an iterable of rows", _NO_STREAM, records=builder.name, type=type(found).__qualname__))
    offsets = builder._add_stream(f"{_PICKLES}/values", "bytes_values", lambda file: _write_pickles(file, found, builder.name))
    builder._add({f"{_PICKLES}/offsets": offsets}, {f"{_PICKLES}/offsets": "bytes_offsets"})


def _write_pickles(file, rows, name):
    """Write the pickles of rows, and return their offsets."""
    pickler = pickle.Pickler(file, _PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, Array: _with_data, **dict.fromkeys((Dataset, Bytes, Index, Ragged, Strings, Records), _refuse_name)}
    offsets = array.array("q", [0])
    for row in rows:
        try:
            pickler.dump(row)
        except (LarderError, OSError):  # of the build: the store is full, or its daemon is gone
            raise
        except Exception as e:
            raise _bad_input(_message("a row cannot be pickled", _LEAVE_OUT, records=name, row=len(offsets) - 1, type=type(row).__qualname__,
                                      reason=f"{type(e).__name__}: {e}")) from e
        pickler.clear_memo()
        offsets.append(file.length)
    return np.frombuffer(offsets, np.int64)


def _with_data(stored):
    """Reduce a stored array to a copy: its own pickle is a name, which ends with its version."""
    return stored.copy().__reduce_ex__(_PROTOCOL)


def _refuse_name(value):
    raise TypeError(f"a larder.{type(value).__name__} pickles as a name, which ends with its version")
