"""Datasets that the daemon loads, or that one program computes for all others."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from typing import Any

from ._build import _begin
from ._control import _await, _await_daemon, _called, _done
from ._datasets import Dataset, dataset
from ._errors import NoStore, NotFound, _in_python, _message, _require_function, _settings_of_python
from ._progress import _ProgressLine
from ._requests import _load, _load_call, _source_paths
from ._results import _stored_forms
from ._serve import _served
from ._store import _current, _is_registered, _location

_DAEMON_STARTS_S = 5


def load(name: str, path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], store: str | os.PathLike[str] | None = None,
         **options: Any) -> Dataset:
    """Load a dataset through the daemon, wait until it is resident, and open it.

    `path` is a file, a folder or an address, or several of them. Options are those of ``larder load``, which describes them:

    - ``columns=["rgb", "depth"]`` (or ``keys=``), ``as_="ragged"``, ``dtype="float32"``, ``shape=(-1, 28, 28)``, ``exclude=["*.tmp"]``, ``decimals="f8"``, and
      ``shard=(rank, world)``, which loads these rows of each array, choose the data and its form;
    - ``in_place=True``, ``strict=True``, ``pack_below="1m"``, ``workers=2`` control the load;
    - ``pin=True``, ``ttl="2h"`` control how long it stays.

    It replaces a dataset of this name, with a warning if that one had another source. If no daemon runs, ``larder serve`` is started; it ends
    when its store is unused for 10 minutes. ``LARDER_START=never`` forbids that. On a terminal and in a notebook a line shows the progress.
    Ctrl-C cancels the load, unless another process waits for it.
    """
    return _loaded(name, path, store, options)


def register(name: str, path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], store: str | os.PathLike[str] | None = None,
             **options: Any) -> None:
    """Record the source of a dataset, with the options of `load`. The daemon loads it when the first process opens it."""
    _loaded(name, path, store, options, register=True)


def _loaded(name, path, store, options, register=False):
    if "keys" in options:
        if "columns" in options:
            raise TypeError("columns and keys are two names of one option: give one of them")
        options["columns"] = options.pop("keys")
    unknown = sorted(set(options).difference(_load_call.__code__.co_varnames[:_load_call.__code__.co_argcount]))
    if unknown:
        raise TypeError(_message("no such option of a load", "help(larder.load) lists them", option=", ".join(unknown)))
    call, sources = _load_call(**options), [(str(name), source) for source in _source_paths(path)]
    if not sources:
        raise ValueError(_message("a load has no sources", "give at least one path", dataset=name))
    path_of_store = _served(store)
    with _settings_of_python(), _ProgressLine() as line:
        done = _load(path_of_store, sources, call, line, register)
        line.done({**done, "message": _in_python(done.get("message", ""))})
    return None if register else dataset(name, path_of_store)


def wait(name: str, timeout: float | None = None, store: str | os.PathLike[str] | None = None) -> Dataset:
    """Wait until a dataset is resident, for at most `timeout` seconds (10 minutes), and open it. No load of it needs to have begun."""
    path = _location(store)
    _await_daemon(path, _DAEMON_STARTS_S if timeout is None else min(timeout, _DAEMON_STARTS_S))
    with _settings_of_python(), _ProgressLine() as line:
        _await(path, str(name), timeout, True, line, was_connected=True)
    return dataset(name, path)


def reload(name: str, store: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a dataset again, from the sources and with the options it was loaded with, and open it. Its version stays if nothing has changed."""
    path = _location(store)
    with _settings_of_python(), _ProgressLine() as line:
        line.done(_done(_called(path, "Reload", {"name": str(name)}, line)))
    return dataset(name, path)


def cache(name: str, fn: Callable[[], Any], store: str | os.PathLike[str] | None = None, timeout: float | None = None) -> Any:
    """Return the result that is cached as `name`; if there is none, one process calls ``fn()`` while the others wait.

    `fn` returns an array, a number, a list of numbers or of lists of numbers, which comes back as an `Array`; a list of texts, of bytes,
    or of rows that differ in length, which comes back as a column (`Strings`, `Bytes`, `Ragged`); a Series of pandas or polars, which comes back as an
    `Array` or a column; or a dict of these or a DataFrame, which comes back as a `Dataset` unless its only name is ``data`` (`larder.frame` opens it as a
    DataFrame). Results that would come back with other values are refused before anything is stored: a tensor, a masked array, a list of dicts
    (``larder.records(name, rows)`` stores these), missing values, an index of rows. The message contains an expression to return instead.

    If `fn` raises, or its process dies, nothing is cached and the next process that waits calls its own `fn`. If the daemon dies meanwhile, the
    result goes to the next daemon. `timeout` is the longest time to wait for another process, in seconds.

    >>> features = larder.cache("features", lambda: compute_features())
    """
    _require_function(fn, f"give a function, which one process calls: larder.cache({str(name)!r}, lambda: ...)", name=name)
    found = _built(name, lambda: _stored_forms(fn(), name), store, timeout)
    return found["data"] if list(found) == ["data"] else found


def _built(name, make, store, timeout):
    """Open a dataset; if there is none, ``make()`` returns its arrays, and which of them are parts of columns."""
    made = []

    def add(builder):
        if not made:
            made.append(make())
        builder._add(*made[0])

    return _built_by(name, add, store, timeout)


def _built_by(name, add, store, timeout, can_repeat=True):
    """Open a dataset; if there is none, ``add(builder)`` adds its arrays: once more if the daemon dies meanwhile and `can_repeat`."""
    name, path = str(name), _location(store)
    if _current(path, name) is not None or _is_registered(path, name):  # without this it would wait for another process that builds it
        with contextlib.suppress(NotFound, NoStore):
            return dataset(name, path)
    is_again = False
    while True:
        builder = _begin(name, _served(path), timeout, False, is_again=is_again)
        if builder is None:
            break
        try:
            with builder:
                add(builder)
            break
        except NoStore:
            if is_again or not can_repeat or not builder.is_gone:
                raise
            is_again = True  # its daemon died, probably while `add` ran: the next daemon gets the same arrays
    return dataset(name, path)
