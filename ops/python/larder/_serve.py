"""Daemons that a program starts: ``larder serve``, in the background."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import sys
import time
from typing import Any

from ._command import _command, _command_line, _require_success
from ._errors import LarderError, NoStore
from ._store import _has_daemon, _location

_UNTIL_IDLE = "10m"
_START_S = 60
_START_PAUSE_S = 0.05
_BUILDING = "larder: building ", "larder: waiting for another build "  # takes minutes at the first use of a checkout
_FLOCK = struct.Struct("hhqqi4x")  # struct flock: type, whence, start, length, pid


def serve(store: str | os.PathLike[str] | None = None, *, until_idle: str | None = _UNTIL_IDLE, **options: Any) -> str:
    """Start a daemon in the background, wait until it has loaded the datasets of `load`, and return the path of its store.

    It ends when its store is unused for `until_idle`, or, with None, when ``larder stop`` ends it. Options are those of ``larder serve``:
    ``capacity="8g"``, ``group="lab"``, ``keep=True``, ``load=["mnist=/data/mnist"]``. Raises `Refused` if the store has a daemon.
    """
    words = ["serve", "--detach"] + ([] if until_idle is None else ["--until-idle", until_idle])
    for key, value in options.items():
        option = "--" + key.rstrip("_").replace("_", "-")
        values = [value] if isinstance(value, (str, int, float)) else list(value or ())
        words += [word for one in values if one is not False for word in ([option] if one is True else [option, one])]
    path = _location(store)
    _start_daemon(words, path)
    return path


def _start_daemon(words, store):
    import subprocess

    said = []
    with subprocess.Popen(_command_line(words, store), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as command:
        try:
            for line in command.stderr:
                said.append(line.decode("utf-8", "replace"))
                if said[-1].startswith(_BUILDING):
                    print(said[-1].rstrip(), file=sys.stderr, flush=True)
        except BaseException:
            command.kill()
            raise
    _require_success(command.returncode, "".join(said))


def _served(store):
    """Return the path of the store. If it is this user's and has no daemon, start one, unless LARDER_START=never forbids it."""
    path = _location(store)
    if os.environ.get("LARDER_START") != "never" and not _has_daemon(path) and _is_free_or_own(path):
        _command("no daemon at the store, and no larder command to start one", NoStore, store=path)
        _start_once(path)
    return path


def _is_free_or_own(store):
    try:
        return os.lstat(store).st_uid == os.getuid()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _start_once(store):
    """Start a daemon. If several processes try, only one does: it holds a lock of another kind on the daemon's lock file."""
    try:
        is_new = not os.path.lexists(store)
        os.makedirs(store, 0o700, exist_ok=True)
        lock = os.open(os.path.join(store, "daemon.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return  # the next call reports the missing daemon
    try:
        end = time.monotonic() + _START_S
        while not _lock_byte(lock, fcntl.F_WRLCK, 0) and time.monotonic() < end:
            if _has_daemon(store):
                return
            time.sleep(_START_PAUSE_S)
        if not _has_daemon(store):
            _start_or_find(store)
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # the folder stays if it is not empty
                os.unlink(os.path.join(store, "daemon.lock"))
                os.rmdir(store)
        raise
    finally:
        os.close(lock)


def _start_or_find(store):
    try:
        _start_daemon(["serve", "--detach", "--until-idle", _UNTIL_IDLE], store)
    except LarderError as e:
        end = time.monotonic() + _START_S
        while e.code == 7 and not _has_daemon(store) and time.monotonic() < end:  # another program has just started one
            time.sleep(_START_PAUSE_S)
        if not _has_daemon(store):
            raise
        return
    print(f"larder: started a daemon: store={store} untilIdle={_UNTIL_IDLE}; LARDER_START=never forbids it", file=sys.stderr)


def _lock_byte(descriptor, kind, position):
    """Lock one byte for this open file description. Return whether that was possible."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _FLOCK.pack(kind, os.SEEK_SET, position, 1, 0))
    except OSError as e:
        if e.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True
