"""Where a store is, whether it is trusted, and what it holds."""

from __future__ import annotations

import os
import pwd
import re

from ._errors import _START_DAEMON, NoStore, Refused, _message

_FORMAT_VERSION = 1
_SHARED_MEMORY = "/dev/shm"
_FIRST_ORDINARY_USER = 1000  # system accounts have lower numbers
_CONFIGURATION = "/etc/larder.conf"


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
    try:
        return int(os.readlink(os.path.join(store, "data", name, "current")))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def _is_registered(store, name):
    """Tell whether a dataset that is not resident is loaded when it is asked for."""
    return bool(name) and "/" not in name and os.path.lexists(os.path.join(store, "data", name, "registered"))


def _location(named=None):
    named = named or os.environ.get("LARDER_STORE")
    if named:
        return os.path.abspath(os.fspath(named))
    own = os.path.join(_SHARED_MEMORY, "larder-" + _user(os.getuid()))
    service = os.path.join(_SHARED_MEMORY, "larder")
    return service if not os.path.isdir(own) and os.access(service, os.R_OK) else own


def _user(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _trusted(store):
    """Return a store whose owner is trusted; anybody else could have planted what it holds (ops/docs/SECURITY.md)."""
    try:
        found = os.lstat(store)
    except FileNotFoundError:
        raise NoStore(_message("no daemon at the store", _START_DAEMON, store=store)) from None
    owner = _user(found.st_uid)
    if found.st_uid != os.getuid() and owner != _service_user() and not _invited(store, found):
        raise Refused(_message("the store belongs to another user", "name a store of your own with store=, or trust that "
                               "owner with LARDER_SERVICE_USER", store=store, owner=owner, ownerUid=found.st_uid,
                               user=_user(os.getuid()), uid=os.getuid()))
    if os.path.isdir(store) and not os.access(store, os.X_OK):
        raise Refused(_message("the store is closed to this user", "ask its owner to let your group in (larder serve --group "
                               "GROUP), or name a store of your own with store= or LARDER_STORE", store=store, owner=owner,
                               user=_user(os.getuid()), uid=os.getuid()))
    return store


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


def _invited(store, found):
    """Tell whether the owner has opened the store to this process's group, and it was named or is a service's."""
    groups = {os.getegid(), *os.getgroups()}
    if found.st_mode & 0o2050 != 0o2050 or (os.getuid() != 0 and found.st_gid not in groups):
        return False
    service = os.path.join(_SHARED_MEMORY, "larder")
    own = os.path.join(_SHARED_MEMORY, "larder-" + _user(os.getuid()))
    variable = os.environ.get("LARDER_STORE")
    named = store not in (service, own) or (bool(variable) and os.path.abspath(variable) == store)
    return named or (store == service and found.st_uid < _FIRST_ORDINARY_USER)


def _io_open(path):
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC), encoding="utf-8")
