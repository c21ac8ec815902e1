"""Versions: their leases, manifests and files."""

import bisect
import errno
import fcntl
import functools
import json
import mmap
import os
import resource
import time
import weakref

from ._control import _await
from ._errors import LarderError, NoStore, NotFound, Refused, _message, _near, _settings_of_python
from ._index import _Index
from ._memory import _UNTRACKED, _Segment, _address, _map_file
from ._progress import _ProgressLine
from ._store import _current, _io_open, _is_name, _is_registered, _require_file_name, _trusted, datasets

_LEASE_TRIES = 200
_MOST_LOADS = 5
_NO_SUCH_DATASET = "no such dataset"
_MAP_NORESERVE = 0x4000  # linux/mman.h


_open_versions = weakref.WeakValueDictionary()


class _Version:
    """A leased version and its index. The lease ends with this object: with the last dataset and view of it.

    It is never unlocked, only closed: a forked child has a copy of the descriptor, and the lock is one for both.
    """

    def __init__(self, store, name, number, lease):
        self._lease = lease
        weakref.finalize(self, os.close, lease).atexit = False
        self.store, self.name, self.number = store, name, number
        self.is_replaced = False  # whether `Dataset.is_newest` has seen a newer version
        self.folder = os.path.join(store, "data", name, str(number))
        self._segments = weakref.WeakValueDictionary()
        self._offsets = {}
        self.arrays = _Index(self.folder, f"larder reload {name}, or load or compute it again")
        self.digest = self.arrays.digest
        self.identity = store, name, self.digest

    @property
    def columns(self):
        return self.arrays.columns

    @property
    def listed(self):
        return self.arrays.listed

    @functools.cached_property
    def manifest(self):
        """The parts of the manifest that the index has not. Parses all of it: takes a second for a hundred thousand arrays."""
        with _io_open(os.path.join(self.folder, "manifest.json")) as file:
            manifest = json.load(file)
        return {key: manifest.get(key) for key in ("publisher", "origins", "shard")}

    @property
    def publisher(self):
        """The member of the group who published this; None for the owner of the store."""
        publisher = self.manifest["publisher"] or {}
        return publisher.get("user") if publisher.get("uid", -1) != -1 else None

    @property
    def is_loaded(self):
        return bool(self.manifest["origins"])

    @property
    def shard(self):
        """The rows that this part has of a whole dataset; None if this is no part."""
        return self.manifest["shard"] if os.path.exists(os.path.join(self.folder, "shard")) else None

    def is_linked(self):
        """Return whether the version's files are still in the store."""
        return os.fstat(self._lease).st_nlink > 0

    def require_unchanged(self, file, status):
        """Refuse a file that no longer belongs to the version: of a new store, or changed in place."""
        if not self.is_linked():
            raise FileNotFoundError(errno.ENOENT, "gone", file)
        self._require_same_source(file, status)

    def _require_same_source(self, file, status):
        loaded = self.arrays.outside.get(file)
        if loaded and loaded != (status.st_size, status.st_ino, status.st_mtime_ns):
            raise LarderError(_message("a file that is mapped in place has changed", "load the file as it is now: "
                                       f"larder reload {self.name}, or load or compute it again", dataset=self.name, file=file, bytes=status.st_size,
                                       loadedBytes=loaded[0]))

    def segment(self, file):
        """Map a file of this version once for all its users. A file in place may have changed since it was mapped."""
        segment = self._segments.get(file)
        if segment is not None and file in self.arrays.outside:
            self._require_same_source(file, _status(file))
        if segment is None:
            try:
                segment = _map(self, file)
            except OSError as e:
                if e.errno != errno.EMFILE:
                    raise
                _allow_more_files()
                segment = _map(self, file)
            self._segments[file] = segment
        return segment

    def array_at(self, file, offset):
        """Find the name and start of the array that has the byte at an offset of a file."""
        if file not in self._offsets:
            self._offsets[file] = sorted((entry.offset, name) for name, entry in self.arrays.items() if entry.file == file)
        starts = self._offsets[file]
        start, name = starts[max(bisect.bisect_left(starts, (offset + 1,)) - 1, 0)]
        return name, start


def _allow_more_files():
    """Raise the soft limit of open files: before Python 3.13 each mapping has a descriptor."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        raise LarderError(_message("too many open files", "raise the limit (ulimit -n), or let the daemon pack small "
                                   "arrays together", limit=hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _status(path):
    try:
        return os.stat(path)
    except FileNotFoundError:
        raise LarderError(_message("a file that is mapped in place is missing", "restore the file, or load the dataset "
                                   "from another path", file=path)) from None


def _map(version, file, private=False):
    path = os.path.join(version.folder, file)
    _require_file_name(path)
    if os.path.isabs(file):
        _status(file)  # its error has the remedy for a missing file
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            version.require_unchanged(file, os.fstat(descriptor))
            if private:  # a write copies its page for this process
                segment = _Segment(descriptor, 0, flags=mmap.MAP_PRIVATE | _MAP_NORESERVE, prot=mmap.PROT_READ | mmap.PROT_WRITE, **_UNTRACKED)
            else:
                segment = _map_file(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise NoStore(_message("a file of the dataset was removed while it was open", "load and open the dataset again; "
                               "arrays that are mapped stay readable", file=path)) from None
    segment.version, segment.file, segment.path = version, file, path
    segment.address = _address(segment.memory)
    return segment


def _newest(store, name):
    asked = 0
    for attempt in range(_LEASE_TRIES):
        number = _current(store, name)
        if number is not None:
            version = _lease(store, name, number)
            if version is not None:
                return version
            time.sleep(min(attempt, 20) / 1000)
        elif asked == _MOST_LOADS:
            raise Refused(_message("a dataset is evicted as soon as it is loaded", "make room (larder status shows what uses "
                                   f"it), or pin it: larder pin {name}", dataset=name, loaded=asked, store=store))
        else:
            _load_known(store, name)
            asked += 1
    raise Refused(_message("cannot lease the newest version", f"try again; if that does not help: larder reload {name}, or load or compute it again",
                           dataset=name, version=number, store=store))


def _load_known(store, name):
    """Wait for a dataset that is loading, or that the daemon can load. Returns without it if it was published just now."""
    if _is_name(name):
        try:
            with _settings_of_python(), _ProgressLine() as line:
                _await(store, name, progress=line)
            return
        except NotFound as e:
            if _current(store, name) is None and not str(e).startswith(_NO_SUCH_DATASET):
                raise  # its build or load did not succeed
        except NoStore:
            if _is_registered(store, name):
                raise
    if _current(store, name) is None:
        near = _near(name, datasets(store))
        raise NotFound(_message(_NO_SUCH_DATASET, near + (" " if near.endswith("?") else "; ") + "load it with larder.load, make it "
                                "with larder.cache or larder.create, or wait for it with larder.wait", dataset=name, store=store))


def _with_digest(store, name, digest):
    folder = os.path.join(store, "data", name)
    try:
        numbers = sorted((int(entry) for entry in os.listdir(folder) if entry.isdigit()), reverse=True)
    except FileNotFoundError:
        numbers = []
    left = list(numbers)
    for attempt in range(20 if numbers else 0):  # the daemon may just be checking for readers
        for number in tuple(left):
            version = _lease(store, name, number)
            if version is not None and version.digest == digest:
                return version
            if version is not None:
                left.remove(number)  # a published version never changes
        time.sleep(attempt / 1000 if left else 0)
    raise NotFound(_message("the version that was pickled is not in the store any more", "keep its dataset open until "
                            "all have unpickled it, or open the newest version with larder.dataset", dataset=name,
                            digest=digest[:16], versions=numbers, store=store))


def _with_identity(store, name, digest):
    """Return the version with a digest, for unpickling. If it has left the store, return the one that this process has open."""
    version = _open_versions.get((store, name, digest))
    if version is None or not version.is_linked():
        try:
            version = _with_digest(_trusted(store), name, digest)
        except (NoStore, NotFound):  # its mapped files can still be read
            if version is None:
                raise
    return version


def _lease(store, name, number):
    """Lease a version, or return None if it is being removed or gone. One lease serves the whole process."""
    for version in [reference() for reference in _open_versions.valuerefs()]:
        if version and (version.store, version.name, version.number) == (store, name, number) and version.is_linked():
            return version
    path = os.path.join(store, "data", name, str(number), "lease")
    try:
        lease = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)  # not a lease file
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lease, fcntl.LOCK_SH | fcntl.LOCK_NB)
        linked = os.fstat(lease).st_nlink > 0
    except BlockingIOError:
        linked = False
    if not linked:
        os.close(lease)
        return None
    version = _Version(store, name, number, lease)
    _open_versions[version.identity] = version
    return version
