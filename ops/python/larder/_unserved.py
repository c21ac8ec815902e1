"""The arrays of a store that no daemon serves, read from its manifests. Locks and changes nothing, and reads no data."""

import json
import os
import re
import struct
import warnings

from ._errors import NotFound, _failure, _message, _near
from ._groups import _lines
from ._store import _FORMAT_VERSION, _current, _io_open, _is_name, _trusted

_INDEX_MAGIC = b"LARDERIX"
_INDEX_HEAD = struct.Struct("<8s2IQ2I32s7Q2I")
_INDEX_SEGMENT = struct.Struct("<Q2IqQ")
_HELD_FLOCK = re.compile(r"\d+:\s+FLOCK\s+\S+\s+(READ|WRITE)\s+([1-9]\d*)\s+([0-9A-Fa-f]+):([0-9A-Fa-f]+):(\d+)\s")
_DAMAGED, _UNVERIFIED = "damaged", "unverified"  # ends of the folders of versions that no client opens
_CHECKSUM = 8


def _unserved_rows(store, failure, prefix="", include_retired=False, most_arrays=0, damages=None):
    """List arrays as a daemon does, with a warning. Raises the failure of the call to the daemon if there is no store. `damages` gets the message about
    each damaged dataset by its name."""
    try:
        names = sorted(filter(_is_name, os.listdir(os.path.join(_trusted(store), "data"))))
    except (FileNotFoundError, NotADirectoryError):
        raise failure from None
    locks = _locks()
    _warn(store, locks)
    rows, retired = [], []
    for name in names:
        for row in _rows_of_dataset(store, name, locks, include_retired, most_arrays, {} if damages is None else damages):
            (retired if row["state"] == "retired" else rows).append(row)
    rows.sort(key=lambda row: row["name"])
    return [row for row in (rows + retired if include_retired else rows) if row["name"].startswith(prefix)]


def _unserved_info(store, failure, name):
    """Describe one array, or all arrays of one dataset."""
    damages = {}
    rows = [row for row in _unserved_rows(store, failure, "", True, damages=damages) if row["state"] != "retired"]
    found = [row for row in rows if row["name"] == name or row["name"].startswith(name + "/")]
    if not found:
        dataset, slash, _ = name.partition("/")
        arrays = [row["name"] for row in rows if slash and row["name"].startswith(dataset + slash)]
        if dataset in damages and not any(row["name"].partition("/")[0] == dataset for row in rows):
            raise _failure(_CHECKSUM, damages[dataset])
        known = arrays or sorted({row["name"].partition("/")[0] for row in rows})
        raise NotFound(_message("no such array" if arrays else "no such dataset", _near(name, known), name=name, store=store))
    return found


def _warn(store, locks):
    place = f"this is read from the files of the store: store={store}"
    pids = locks.get(("WRITE", *_file_number(os.path.join(store, "daemon.lock"))))
    warnings.warn(f"note: a daemon starts or ends, so {place} pid={min(pids)}; try again for its answer" if pids else
                  f"note: no daemon runs, so {place}; to serve it: larder serve --detach --store {store}", stacklevel=5)


def _locks():
    """Return the pids that hold the locks of files, as far as this pid namespace shows them."""
    found = {}
    for kind, pid, major, minor, inode in (line.groups() for line in map(_HELD_FLOCK.match, _lines("/proc/locks")) if line):
        found.setdefault((kind, int(major, 16), int(minor, 16), int(inode)), set()).add(int(pid))
    return found


def _file_number(path):
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0, 0
    return os.major(status.st_dev), os.minor(status.st_dev), status.st_ino


def _rows_of_dataset(store, name, locks, include_evicted, most_arrays, damages):
    newest, is_known, folder = _current(store, name), False, os.path.join(store, "data", name)
    for entry in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
        number, _, end = entry.partition(".")
        version = os.path.join(folder, entry)
        if not number.isdigit() or end not in ("", _DAMAGED, _UNVERIFIED) or not os.path.isdir(version):
            continue
        try:
            manifest = _manifest(version, int(number), end)
            is_newest = int(number) == newest
            is_mapped = any(os.path.isabs(array["file"]) for array in manifest["arrays"])
            state = "loading" if end else "retired" if not is_newest else "mapped" if is_mapped else "resident"
            rows = [*_rows_of_version(name, version, manifest, state, locks, most_arrays)]
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, struct.error) as e:
            if os.path.isdir(version):  # otherwise it was removed meanwhile
                damages[name] = _message("version is damaged", f"larder reload {name}, or load or compute it again", folder=version,
                                         reason=getattr(e, "strerror", None) or e)
                warnings.warn("note: not listed: " + damages[name], stacklevel=5)
            continue
        is_known |= is_newest or bool(end)
        yield from rows
    if not is_known and os.path.lexists(os.path.join(folder, "registered")):
        yield from _registered(name, folder, include_evicted)


def _manifest(folder, number, end):
    """Read the manifest of a version that is whole: its index and its files match."""
    if end == _DAMAGED:
        raise ValueError("a daemon has set it aside")
    os.stat(os.path.join(folder, "lease"))
    with _io_open(os.path.join(folder, "manifest.json")) as file:
        manifest = json.load(file)
    with open(os.path.join(folder, "index"), "rb") as file:
        index = file.read()
    magic, found, _, version, _, segments, digest, size, _, _, _, first, *_ = _INDEX_HEAD.unpack_from(index)
    if (magic, found, version, size, digest.hex()) != (_INDEX_MAGIC, _FORMAT_VERSION, number, len(index), manifest["digest"]):
        raise ValueError("index is damaged")
    for at in range(segments):
        length, start, count, modified, inode = _INDEX_SEGMENT.unpack_from(index, first + at * _INDEX_SEGMENT.size)
        file = index[start:start + count].decode()
        status = os.stat(os.path.join(folder, file))
        if status.st_size != length or os.path.isabs(file) and (status.st_ino, status.st_mtime_ns) != (inode, modified):
            raise ValueError(f"file has changed: {file}")
    return manifest


def _rows_of_version(name, folder, manifest, state, locks, most_arrays):
    arrays, is_readable = manifest["arrays"], state != "loading"
    shared = {"order": "C", "version": manifest["version"], "digest": manifest["digest"], "state": state,
              "pinned": os.path.exists(os.path.join(folder, "pinned")),
              "leases": len(locks.get(("READ", *_file_number(os.path.join(folder, "lease"))), ())), "path": "", "offset": 0, "crc32c": "", "part": "none"}
    if 0 < most_arrays < len(arrays) and is_readable and not any("part" in array for array in arrays):
        types = {_dtype_text(array["dtype"]) for array in arrays}
        yield {**shared, "name": name + "/", "dtype": types.pop() if len(types) == 1 else "", "shape": [len(arrays)],
               "bytes": sum(array["bytes"] for array in arrays), "source": " ".join(manifest["origins"])}
        return
    sources = dict((manifest.get("publisher") or {}).get("told") or {})
    sources.update({source["array"]: source["path"] for source in reversed(manifest["sources"])})
    for array in arrays:
        yield {**shared, **{key: array[key] for key in ("shape", "order", "bytes", "offset", "crc32c")}, "name": f"{name}/{array['name']}",
               "dtype": _dtype_text(array["dtype"]), "path": os.path.join(folder, array["file"]) if is_readable else "",
               "source": sources.get(array["name"], ""), "part": array.get("part", "none")}


def _dtype_text(dtype):
    return dtype if isinstance(dtype, str) else json.dumps(dtype, ensure_ascii=False)


def _registered(name, folder, include_evicted):
    """Yield the row of a dataset that is not in memory. The usual listing omits evicted ones."""
    try:
        with _io_open(os.path.join(folder, "registered")) as file:
            known = json.load(file)
        row = {"name": name, "dtype": "", "shape": [], "order": "C", "bytes": sum(array["bytes"] for array in known["arrays"]), "version": known["version"],
               "digest": known["digest"], "state": "registered", "pinned": False, "leases": 0, "path": "", "offset": 0, "crc32c": "",
               "source": " ".join(known["origins"]), "part": "none"}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return
    if include_evicted or not row["version"]:
        yield row
