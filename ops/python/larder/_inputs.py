"""Digests of the files and folders that calls read."""

from __future__ import annotations

import os
import stat
import time

from ._errors import LarderError, _message

_SETTLED_S = 1  # a file with a newer time may be written again within one tick of its clock
_digests: dict = {}


def _sha256(value=b""):
    import hashlib  # imported when used: it takes half a megabyte, and most processes store nothing

    return hashlib.sha256(value)


def _path_digest(path):
    """Return the SHA-256 of a file, or of the names and contents in a folder. An unchanged file is read once
    per process."""
    try:
        if os.path.isdir(path):
            return [[name, _path_digest(os.path.join(path, name))] for name in sorted(os.listdir(path))]
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):  # reading a pipe would never end
            raise LarderError(_message("an input cannot be read", "leave it out of inputs=", input=path, reason="it is neither a file nor a folder"))
        state = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
        known = _digests.get(path)
        if known is not None and known[0] == state:
            return known[1]
        sha, piece = _sha256(), b"first"
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while piece:
                piece = os.read(descriptor, 1 << 20)
                sha.update(piece)
        finally:
            os.close(descriptor)
    except OSError as e:
        if e.__traceback__.tb_next is not None:  # raised by a signal handler: the calls above have no Python frames
            raise
        raise LarderError(_message("an input cannot be read", "correct its path, or leave it out of inputs=", input=path,
                                   reason=e.strerror)) from e
    if time.time() - max(found.st_mtime, found.st_ctime) > _SETTLED_S:
        _digests[path] = state, sha.hexdigest()
    return sha.hexdigest()
