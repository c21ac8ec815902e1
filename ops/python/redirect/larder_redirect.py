"""Returns arrays of a store in place of the files that they were loaded from: see ``sitecustomize.py`` next to this file."""

import functools
import importlib.util
import json
import math
import operator
import os
import resource
import sys
import time

_VARIABLE = "LARDER_REDIRECT"  # dataset/version, separated by colons; empty means all resident ones
_LOOK_AGAIN_S = 1.0
_CLOCK_STEP_NS = 20_000_000  # file times move in steps: a change with a time this little before another may be later
_TOO_YOUNG = -1  # in place of the time of a file that may have changed while it was loaded
_RAW = ".bin", ".raw", ".dat"
_SUFFIXES = ".npy", ".npz", *_RAW


def redirect(np):
    """Let ``np.load``, members of .npz files and read-only maps return shared arrays."""
    cached = _Cached(np)
    np.load = _redirected(np.load, cached.loaded)
    np.memmap.__new__ = _redirected(np.memmap.__new__, cached.mapped)  # also open_memmap and np.load with mmap_mode
    np.lib.npyio.NpzFile.__getitem__ = _redirected(np.lib.npyio.NpzFile.__getitem__, cached.member)


def _redirected(original, shared):
    """Return a function that returns the shared array or, if there is none, calls the original as it was called."""

    @functools.wraps(original)
    def call(*arguments, **options):
        try:
            array = shared(*arguments, **options)
        except Exception:
            array = None  # numpy itself reports the error
        return original(*arguments, **options) if array is None else array

    return call


class _Source:
    """A file that was loaded. `arrays` has the names of its arrays in the store, by those in the file ("" if it has only one)."""

    def __init__(self, version, record, recorded_ns, arrays, start):
        self.version, self.path, self.size, self.arrays = version, record["path"], record["bytes"], arrays
        self.identity = record["inode"], record["bytes"], record["modified"]
        self.start = start  # offset of the bytes of its only array; None in an archive
        self._changed_ns, self._recorded_ns = record.get("changed", 0), recorded_ns

    def is_unchanged(self, found):
        """Return whether a file is the loaded one: its path, inode, size, mtime and ctime are equal.

        Programs can set the mtime back, but not the ctime. A manifest of an earlier release has no ctime; then the last
        change must be older than the manifest.
        """
        changed_ns = found.st_ctime_ns
        unchanged = changed_ns == self._changed_ns if self._changed_ns else changed_ns < self._recorded_ns - _CLOCK_STEP_NS
        return unchanged and os.path.samestat(os.stat(self.path), found)


class _Cached:
    """The arrays in place of files. Looks for new versions once a second."""

    def __init__(self, np):
        self._np = np
        self._looked = None
        self._versions = {}
        self._files = {}
        self._paths = {}
        self._reported = set()
        self._leases = {}
        self._store = self._reader = None

    def loaded(self, file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=None):
        """Return the array for ``np.load``, or None."""
        if mmap_mode not in (None, "r") or encoding not in ("ASCII", "latin1", "bytes") or max_header_size is not None:
            return None
        source = self._source_at(file)
        return self._whole(source, source.arrays[""]) if source and source.start else None

    def member(self, archive, key):
        """Return the array for a member of a .npz file that ``np.load`` has opened, or None."""
        source = self._source(archive.fid.name, os.fstat(archive.fid.fileno()))
        if source is None or source.start is not None:
            return None
        names = archive.zip.NameToInfo
        name = key if key in names else key + ".npy"
        if not name.endswith(".npy") or name not in names:
            return None
        array = source.arrays.get(self._store._stored_name(name[:-4]))  # two members never share it: the daemon refuses them
        return array and self._whole(source, array)

    def mapped(self, subtype, filename, dtype="u1", mode="r+", offset=0, shape=None, order="C"):
        """Return the array for ``np.memmap``, or None. The bytes before the array, such as a header, are not in the store."""
        if mode not in ("r", "readonly"):
            return None
        source = self._source_at(filename)
        if source is None or source.start is None:
            return None
        dtype, offset = self._np.dtype(dtype), operator.index(offset)
        if shape is None:
            count, rest = divmod(source.size - offset, dtype.itemsize)
            if rest:
                return None
            shape = (count,)
        elif not isinstance(shape, tuple):
            shape = (operator.index(shape),)
        size = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or offset < source.start or size <= 0 or offset + size > source.size:
            return None
        leased = self._leased(source, source.arrays[""])
        if leased is None:
            return None
        version, entry = leased
        return self._view(version, entry.file, entry.offset + offset - source.start, subtype, shape, dtype, order)

    def _whole(self, source, name):
        leased = self._leased(source, name)
        if leased is None:
            return None
        version, entry = leased
        return self._view(version, entry.file, entry.offset, self._np.memmap, entry.shape, entry.dtype, entry.order)

    def _view(self, version, file, offset, subtype, shape, dtype, order):
        segment = version.segment(file)  # one mapping for all arrays of a file, as long as one is in use
        array = self._np.ndarray.__new__(subtype, shape, dtype, segment.memory, offset, None, order)
        array._mmap, array.filename, array.offset, array.mode = segment, segment.path, offset, "r"
        return array

    def _leased(self, source, name):
        """Return the leased version of a source, and the entry of an array; None if that is not possible."""
        version = self._leases.get(source.version)
        if version is None or not version.is_linked():
            version = self._reader._lease(*source.version)
            if version is None:
                return None
            self._leases[source.version] = version  # never released: the program may read the array until it ends
        return (version, version.arrays[name]) if self._has_room() else None

    def _has_room(self):
        """Return whether at least half of the open files stay free for the program. Raises the limit if not.

        Before Python 3.13 each mapping has a descriptor.
        """
        if self._reader._UNTRACKED:
            return True
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        mapped = sum(len(version._segments) for version in self._leases.values())
        if soft >= 0 and mapped >= soft // 2 and (hard < 0 or mapped < hard // 2):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        return soft < 0 or mapped < soft // 2

    def _source_at(self, file):
        if hasattr(file, "read") or not isinstance(file, (str, os.PathLike)):
            return None
        path = os.fspath(file)
        return self._source(path, os.stat(path)) if _is_known(path) else None

    def _source(self, path, found):
        """Return the source that a file still is, or None. Reports a source that has changed."""
        if not _is_known(path):
            return None
        self._look()
        source = self._unchanged(found)
        if source is None and self._changed(path):
            self._looked = None
            self._look()  # it may just have been loaded again
            source = self._unchanged(found)
            if source is None:
                self._report(path)
        return source

    def _unchanged(self, found):
        identity = found.st_ino, found.st_size, found.st_mtime_ns
        return next((source for source in self._files.get(identity, ()) if source.is_unchanged(found)), None)

    def _changed(self, path):
        """Return the version that a path was loaded into, unless a file of this version has been reported already."""
        version = self._paths.get(os.path.abspath(path)) or self._paths.get(os.path.realpath(path))
        return None if version in self._reported else version

    def _report(self, path):
        version = self._changed(path)
        if version:
            self._reported.add(version)
            _, dataset, number = version
            print(f"larder: a file may have changed since it was loaded, so the program reads the file itself: file={path} dataset={dataset} "
                  f"version={number}; larder reload {dataset} shares it again", file=sys.stderr)

    def _look(self):
        now = time.monotonic()
        if self._looked is not None and now - self._looked < _LOOK_AGAIN_S:
            return
        self._looked = now
        if self._store is None:
            self._store, self._reader = _load_larder()
        store = self._store._trusted(self._store._location())
        wanted = set(self._wanted(store))
        for key in wanted - self._versions.keys():
            self._add(key)
        for key in self._versions.keys() - wanted:
            self._remove(key)

    def _wanted(self, store):
        held = [word.partition("/") for word in os.environ.get(_VARIABLE, "").split(":") if word]
        if held:
            return ((store, name, int(number)) for name, _, number in held)
        newest = ((store, name, self._store._current(store, name)) for name in self._store.datasets(store))
        return (key for key in newest if key[2] is not None)

    def _add(self, key):
        store, dataset, number = key
        try:
            with open(os.path.join(store, "data", dataset, str(number), "manifest.json"), encoding="utf-8") as file:
                manifest, recorded_ns = json.load(file), os.fstat(file.fileno()).st_ctime_ns
            sources = [_Source(key, record, recorded_ns, arrays, start)
                       for record, arrays, start in _copied(manifest, self._store._stored_name)]
        except OSError:
            return
        except (ValueError, KeyError, TypeError, AttributeError):
            sources = []  # damaged: its own files are read, and those of other datasets are still redirected
        self._versions[key] = sources
        for source in sources:
            self._paths[source.path] = key
            if _TOO_YOUNG not in source.identity:
                self._files.setdefault(source.identity, []).append(source)

    def _remove(self, key):
        for source in self._versions.pop(key):
            if self._paths.get(source.path) == key:
                del self._paths[source.path]
            left = [other for other in self._files.get(source.identity, ()) if other is not source]
            if left:
                self._files[source.identity] = left
            else:
                self._files.pop(source.identity, None)


def _is_known(path):
    return isinstance(path, str) and path.lower().endswith(_SUFFIXES)


def _copied(manifest, stored_name):
    """Yield the sources with arrays that are exact copies: their records, arrays and, if it is only one, its offset in the file."""
    options = manifest.get("options", {})
    if options.get("inPlace") or options.get("shard") or manifest.get("shard"):  # mapped from the file itself, or some rows only
        return
    arrays = {array["name"]: array for array in manifest["arrays"] if "part" not in array}
    files, uses = {}, {}
    for record in manifest["sources"]:
        files.setdefault(record["path"], []).append(record)
        uses[record["array"]] = uses.get(record["array"], 0) + 1
    for path, records in files.items():
        if any(record["array"] not in arrays or uses[record["array"]] != 1 for record in records):
            continue
        suffix, array = path[-4:].lower(), arrays[records[0]["array"]]
        header = records[0]["bytes"] - array["bytes"]
        if suffix == ".npz":
            members = _members(records, manifest["origins"], stored_name)
            if members:
                yield records[0], members, None
        elif len(records) == 1 and (header == 0 and suffix in _RAW if options.get("dtype") else header > 0 and suffix == ".npy"):
            yield records[0], {"": array["name"]}, header


def _members(records, origins, stored_name):
    """Return the names in the store by those in the archive. An archive of a folder is a level of their names."""
    path = records[0]["path"]
    levels = {"" if path == origin else stored_name(path[len(origin.rstrip("/")) + 1:-4]) + "/"
              for origin in origins if path == origin or path.startswith(origin.rstrip("/") + "/")}
    if len(levels) != 1:
        return {}
    level = levels.pop()
    return {record["array"][len(level):]: record["array"] for record in records if record["array"].startswith(level)}


def _load_larder():
    """Load the package larder next to this folder, under a name that no program uses. Return its modules store and versions."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    name = "_larder_of_redirect"
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, "larder", "__init__.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return sys.modules[name + "._store"], sys.modules[name + "._versions"]
