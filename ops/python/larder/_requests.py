"""Requests to the daemon that need no numpy: load, evict, pin, verify, list."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping

from ._control import _ANSWER_S, _called, _Connection, _done, _listed_rows, _pages
from ._errors import NoStore, Refused, _message
from ._progress import _ProgressLine
from ._store import _location, _user
from ._units import _seconds_of, _size_of
from ._unserved import _unserved_info, _unserved_rows

TYPE_CHECKING = False  # type checkers read it as true; importing typing would take a tenth of the time of python -m larder ls
if TYPE_CHECKING:
    from typing import Any

_AS = "arrays", "ragged", "strings", "index", "bytes", "images"
_MOST_WORKERS = 65_534
_PATHS = str, bytes, os.PathLike
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+-]{1,15}://.*", re.DOTALL)


def evict(name: str, store: str | os.PathLike[str] | None = None, *, forget: bool = False) -> int:
    """Remove a dataset from the store, and return the number of bytes freed, some of them only when their last reader ends.

    A dataset that came from files is loaded again when it is opened, unless `forget` is true; one that was computed does not come back. Raises
    `Refused` while a process has it open, or if it is pinned.
    """
    try:
        return _done(_called(_location(store), "Evict", {"name": str(name), "forget": bool(forget)})).get("bytes", 0)
    except Refused as e:
        pids = re.search(r" pids=\[([0-9, ]*)\]", str(e))
        if pids and str(os.getpid()) in pids[1].split(", "):
            raise Refused(f"{e}; this process is one of them: close its datasets, and drop their arrays") from None
        raise


def pin(name: str, store: str | os.PathLike[str] | None = None) -> None:
    """Keep a dataset in the store until it is unpinned, even if space is needed. Its next versions are pinned as well."""
    _called(_location(store), "Pin", {"name": str(name), "pinned": True})


def unpin(name: str, store: str | os.PathLike[str] | None = None) -> None:
    """Allow a pinned dataset to be evicted again when space is needed."""
    _called(_location(store), "Pin", {"name": str(name), "pinned": False})


def verify(name: str | None = None, store: str | os.PathLike[str] | None = None, *, source: bool = False) -> int:
    """Compute the checksums of a dataset or an array again, of all by default, and return the number of bytes they cover.

    With `source` the daemon also reads the sources and compares. Raises `RequestFailed` with code 8 if something differs.
    """
    call = {"againstSources": bool(source), **({} if name is None else {"name": str(name)})}
    with _ProgressLine() as line:
        return _done(_called(_location(store), "Verify", call, line)).get("bytes", 0)


def status(store: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Return the totals of the store and its daemon, with the keys of ``larder status --json`` up to `uptimeSeconds`."""
    return _status_fields(_totals(_location(store)))


def ls(prefix: str = "", store: str | os.PathLike[str] | None = None, *, all: bool = False) -> list[dict[str, Any]]:
    """List the arrays with full names that begin with `prefix`, as ``larder ls --json`` does; with `all` also retired and evicted ones.

    If no daemon runs, this reads the files of the store, with a warning.
    """
    return [_array_fields(row) for row in _list(_location(store), prefix, all)]


def _totals(store):
    answers = _called(store, "Status", within=_ANSWER_S)
    return answers[-1].get("status") or {}


def _list(store, prefix, include_retired, most_arrays=0):
    """Return rows of arrays. With `most_arrays`, a version of more arrays is one row with a name that ends in a slash, unless it has columns."""
    call = {"prefix": prefix, "includeRetired": bool(include_retired), **({"mostArrays": most_arrays} if most_arrays else {})}
    try:
        return _listed_rows(_called(store, "List", call, within=_ANSWER_S), "arrays")
    except NoStore as e:
        return _unserved_rows(store, e, prefix, include_retired, most_arrays)


def _info(store, name):
    try:
        return _listed_rows(_called(store, "Info", {"name": name}, within=_ANSWER_S), "arrays")
    except NoStore as e:
        return _unserved_info(store, e, name)


def _status_fields(status):
    fields = {key: status.get(key) for key in (
        "store", "pid", "version", "capacityBytes", "usedBytes", "leasedBytes", "pinnedBytes", "retiredBytes", "reservedBytes", "arrays", "clients", "hugePages",
        "hugeBytes", "hugeRefusedBytes", "memoryPolicy")}
    return {**fields, "reservedBytes": status.get("reservedBytes", 0), "statusPage": status.get("statusPage") or None, "uptimeSeconds": status.get("uptimeMs", 0) // 1000}


def _array_fields(row):
    """Return an array with the keys of the command's JSON, in their order."""
    dtype, part = row["dtype"], row.get("part", "none")
    fields = {key: row[key] for key in ("name", "dtype", "shape", "order", "bytes", "version", "digest", "state", "pinned", "leases", "path", "offset",
                                        "crc32c", "source")}
    fields["dtype"] = json.loads(dtype) if dtype.startswith("[") else dtype or None
    kind = "" if part == "none" else part.partition("_")[0]
    return {**fields, "column": _column_name(row) if kind else None, "columnKind": kind or None}


def _column_name(row):
    """Return the name of the column that an array is a part of, else its own."""
    part = row.get("part", "none")
    return row["name"] if part == "none" else row["name"][:-len(part.partition("_")[2]) - 1]


# Loads.


def _load(store, sources, call, line, register=False):
    """Load sources, or register them to be loaded later. `sources` are pairs of names and paths. Return the result."""
    if not register and _is_of_another(store):
        names = " ".join(f"{name}={path}" for name, path in sources[:3]) + (" ..." if len(sources) > 3 else "")
        raise Refused(_message("Python cannot load files into another user's store; a program with your rights has to read them",
                               f"run larder load {names} --store {store}, then larder.dataset", store=store, owner=_user(os.lstat(store).st_uid)))
    pages = _pages([{"name": name, "path": path} for name, path in sources])
    with _Connection(store) as connection:
        for page in pages[:-1]:
            connection.call("Sources", {"sources": page})
        return _done(connection.call("Load", {"sources": pages[-1], **call, "registerOnly": register}, line))


def _is_of_another(store):
    """Return whether the daemon runs as another user, who may not read the files of this one. For root the daemon reads them itself."""
    return os.getuid() != 0 and os.path.lexists(store) and os.lstat(store).st_uid != os.getuid()


def _load_call(columns=None, as_=None, dtype=None, shape=None, pack_below=None, strict=False, in_place=False, exclude=None, shard=None, pin=False,
               ttl=None, workers=None, decimals=None):
    """Return the parameters of Load for the options of ``larder load``."""
    options: dict[str, Any] = {"keys": _words(columns), "exclude": [exclude] if isinstance(exclude, str) else list(exclude or ()),
                               "strict": bool(strict), "inPlace": bool(in_place)}
    if as_ is not None:
        if as_ not in _AS:
            raise ValueError(f"not a kind: '{as_}' (kinds are {', '.join(_AS)})")
        options["as"] = as_
    if dtype is not None:
        options["dtype"] = dtype.__name__ if isinstance(dtype, type) else getattr(dtype, "str", dtype)  # such as numpy.float32, dtype('>i2')
    if shape is not None:
        options["shape"] = shape if isinstance(shape, str) else ",".join(map(str, [shape] if isinstance(shape, int) else shape))
    if pack_below is not None:
        options["packBelowBytes"] = _size_of(pack_below)
    if decimals is not None:
        options["decimals"] = str(decimals)
    if shard is not None:
        options["shard"] = {"index": int(shard[0]), "count": int(shard[1])}
    return {"options": options, "workers": _workers(workers), "retention": _retention(pin, ttl)}


def _words(value):
    """Return a list of words: from one text with commas, or from several."""
    if value is None:
        return []
    return value.split(",") if isinstance(value, str) else list(map(str, value))


def _workers(value):
    if value in (None, "auto", -1, "-1"):
        return 0
    try:
        workers = int(value)
    except ValueError:
        workers = 0
    if not 0 < workers <= _MOST_WORKERS:
        raise ValueError(f"not a number of workers: '{value}' (1 to {_MOST_WORKERS}, -1 or auto)")
    return workers


def _retention(pin, ttl):
    return {"pinned": bool(pin), "ttlMs": 0 if ttl is None else int(_seconds_of(ttl) * 1000)}


def _source_path(path):
    """Return a path or address for the daemon, which works in another folder. A path with .. may lead past a link: it stays as it is."""
    path = os.fsdecode(os.fspath(path))
    if _ADDRESS.fullmatch(path):
        return path
    absolute = os.path.join(os.getcwd(), path)
    return absolute if ".." in absolute.split("/") else os.path.normpath(absolute)


def _source_paths(path):
    """Return the paths of one dataset: of one source, or of several."""
    paths = []
    for one in path if isinstance(path, Iterable) and not isinstance(path, (*_PATHS, Mapping)) else [path]:
        if not isinstance(one, _PATHS) or hasattr(path, "columns"):
            raise TypeError(_message("a load reads files", "give their paths; larder.cache(name, lambda: data) and larder.create(name) store data in memory",
                                     type=type(path).__qualname__))
        paths.append(_source_path(one))
    return paths
