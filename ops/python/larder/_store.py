"""The location of a store, its trust, and its datasets."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import re
import socket
import stat
import sys
import warnings

from ._errors import _START_DAEMON, NoStore, Refused, _failure, _message
from ._groups import _memory_bytes

_FORMAT_VERSION = 1
_PLACES = ["/dev/shm", "/var/tmp"]  # the folders of unnamed stores, in order of preference
_SMALL_PART = 8  # shared memory with less than one part in this many of the memory is small: a container's has 64 MiB
_NAME_YOUR_OWN = "name a store of your own with store= or LARDER_STORE"
_FIRST_ORDINARY_USER = 1000  # system accounts have lower numbers
_CONFIGURATION = "/etc/larder.conf"
_BAD_NAME = 6
_NAME_LETTERS = "Lu", "Ll", "Lt", "Lm", "Lo", "Nd"  # Unicode's classes of letters and digits


def datasets(store: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the sorted names of the datasets that are resident."""
    data = os.path.join(_trusted(_location(store)), "data")
    try:
        return sorted(name for name in os.listdir(data) if os.path.lexists(os.path.join(data, name, "current")))
    except FileNotFoundError:
        return []


def _current(store, name):
    """Return the number of a dataset's newest version, or None."""
    if not name or name.startswith(".") or "/" in name:
        return None
    _require_file_name(name)
    try:
        return int(os.readlink(os.path.join(store, "data", name, "current")))
    except ValueError:
        return None
    except OSError as e:
        if e.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            return None
        raise


def _require_file_name(name):
    """Refuse a name that this locale cannot write. A text with an unpaired surrogate is not a file name either."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            return
        raise _failure(_BAD_NAME, _message("name cannot be a file name in this locale", "set LC_ALL=C.UTF-8", name=name,
                                           encoding=sys.getfilesystemencoding())) from None


def _is_name(name):
    """Return whether a dataset can have a name."""
    return bool(name) and not name.startswith(".") and not set("=/") & set(name) and _stored_name(name) == name


def _stored_name(name):
    """Return the name of an array in the store: with _ in place of invalid characters."""
    import unicodedata  # imported when used: most programs never need it

    kept = (letter if letter in "+._-=/" or unicodedata.category(letter) in _NAME_LETTERS else "\0" for letter in name)
    return re.sub("\0+", "_", "".join(kept))


def _is_registered(store, name):
    """Return whether a dataset that is not resident can be loaded on request."""
    return bool(name) and "/" not in name and os.path.lexists(os.path.join(store, "data", name, "registered"))


def _location(named=None):
    if named is not None and not _is_path(named):
        raise TypeError(_message("a store is the path of its folder", "give data to larder.cache(name, lambda: data), or load it from files",
                                 store=type(named).__name__))
    named = named or os.environ.get("LARDER_STORE")
    if named:
        return os.path.abspath(os.fspath(named))
    chosen, skipped = _chosen()
    for store, reason in skipped:
        warnings.warn(f"a store is skipped: store={store} {reason}", stacklevel=4)
    if chosen is None:
        raise Refused(_message("no default store can be used", f"apply the remedy in one of the warnings, or {_NAME_YOUR_OWN}",
                               user=_user(os.getuid()), skipped=[store for store, _ in skipped]))
    return chosen


def _is_path(value):
    return isinstance(value, (str, os.PathLike))


def _default_stores():
    """Return the paths of unnamed stores: the user's own, then a service's."""
    own = [os.path.join(place, "larder-" + _user(os.getuid())) for place in _PLACES]
    return [*own, os.path.join(_PLACES[0], "larder")]


def _chosen():
    """Return the first trusted store with a live daemon, else the first trusted one, else a new one of the user; and skipped folders.

    A new one is on a disk if shared memory is small. Any user can create a folder at these paths; the store is None if all paths of the user
    are taken. Java and Python are tested with the same cases.
    """
    trusted, skipped = [], []
    for store in _default_stores():
        try:
            found = os.lstat(store)
        except OSError:
            continue
        objection = _objection(store, found)
        if objection:
            skipped.append((store, objection))
        elif _has_daemon(store):
            return store, skipped
        else:
            trusted.append(store)
    return trusted[0] if trusted else _new_store(), skipped


def _new_store():
    """Return a free path of the user, of a writable place if there is one: a container may have a read-only root."""
    writable = [place for place in _PLACES if os.access(place, os.W_OK)]
    if _PLACES[0] in writable and _is_small(_PLACES[0]):
        writable.append(writable.pop(0))
    stores = (os.path.join(place, "larder-" + _user(os.getuid())) for place in writable + _PLACES)
    return next((store for store in stores if not os.path.lexists(store) and os.path.isdir(os.path.dirname(store))), None)


def _is_small(place):
    """Return whether a file system has less than an eighth of the memory. A tmpfs without a limit has the size 0."""
    found = os.statvfs(place)
    return 0 < found.f_blocks * found.f_frsize < _memory_bytes() // _SMALL_PART


def _objection(store, found):
    """Return the reason why a folder is not trusted, or None."""
    owner = _user(found.st_uid)
    if not stat.S_ISDIR(found.st_mode):
        return "reason=it is not a folder"
    if not _trusts(store, found):
        return f"owner={owner} reason=it belongs to another user; {_remedy(store, found)}"
    if found.st_mode & 0o022:
        return f"owner={owner} reason=other users can write to it; chmod go-w {store}"
    if not os.access(store, os.X_OK):
        return f"owner={owner} reason=it is closed to this user; {_remedy(store, found)}"
    return None


def _has_daemon(store):
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.path.join(store, "control.sock"))
        except BlockingIOError:  # a daemon that is stopped accepts no more connections
            return True
        except OSError:
            return False
        return True


def _user(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _trusted(store):
    """Return a store whose owner is trusted; any other user could have planted its contents (ops/docs/reference/SECURITY.md)."""
    try:
        found = os.lstat(store)
    except FileNotFoundError:
        raise NoStore(_message("no daemon at the store", _START_DAEMON, store=store)) from None
    owner = _user(found.st_uid)
    if not _trusts(store, found):
        raise Refused(_message("the store belongs to another user", _remedy(store, found), store=store, owner=owner,
                               ownerUid=found.st_uid, user=_user(os.getuid()), uid=os.getuid()))
    if os.path.isdir(store) and not os.access(store, os.X_OK):
        raise Refused(_message("the store is closed to this user", _remedy(store, found), store=store, owner=owner,
                               user=_user(os.getuid()), uid=os.getuid()))
    return store


def _trusts(store, found):
    if _is_own_or_service(found):
        return True
    groups = {os.getegid(), *os.getgroups()}
    is_invited = _is_shared(found) and (os.getuid() == 0 or found.st_gid in groups)
    return is_invited and _may_be_invited(store, found)


def _is_own_or_service(found):
    return found.st_uid == os.getuid() or _user(found.st_uid) == _service_user()


def _is_shared(found):
    return found.st_mode & 0o2050 == 0o2050


def _remedy(store, found):
    """Return the remedy. It names the group if joining it opens the store: trusting the owner does not open a folder of mode 2750."""
    if _is_shared(found) and _may_be_invited(store, found):
        return f"ask to join its group and log in again: group={_group(found.st_gid)}; or {_NAME_YOUR_OWN}"
    if _is_own_or_service(found):
        return f"ask its owner to let your group in (larder serve --group GROUP), or {_NAME_YOUR_OWN}"
    return f"{_NAME_YOUR_OWN}, or trust that owner with LARDER_SERVICE_USER"


def _group(gid):
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _service_user():
    named = os.environ.get("LARDER_SERVICE_USER")
    if named is not None:
        return named
    try:
        with _io_open(_CONFIGURATION) as lines:
            found = (re.fullmatch(r"\s*service-user\s*=\s*(\S+)\s*", line) for line in lines)
            return next((line[1] for line in found if line), None)
    except OSError:
        return None


def _may_be_invited(store, found):
    """Return whether its group can open a store: a named one, or a service's of a system account."""
    variable = os.environ.get("LARDER_STORE")
    named = store not in _default_stores() or (bool(variable) and os.path.abspath(variable) == store)
    return named or (store == _default_stores()[-1] and found.st_uid < _FIRST_ORDINARY_USER)


def _io_open(path):
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC), encoding="utf-8")
