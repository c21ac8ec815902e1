"""What the daemon does for a program: loads, waits, and keeps what was computed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ._command import _command_line, _require_success, _run, _timeout
from ._datasets import Dataset, dataset
from ._errors import LarderError, NoStore, NotFound, _message
from ._memory import _reserve_huge
from ._results import _stored_forms

_LONGEST_HEADER = 16_384


def load(name: str, path: str | os.PathLike[str], store: str | os.PathLike[str] | None = None, **options: Any) -> Dataset:
    """Load a dataset through the daemon, wait until it is resident, and open it.

    Options are those of ``larder load``: ``keys=["rgb", "depth"]``, ``as_="ragged"``, ``workers=2``.
    """
    arguments = ["load", f"{name}={os.path.abspath(os.fspath(path))}"]
    for key, value in options.items():
        option = "--" + key.rstrip("_").replace("_", "-")
        if value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            arguments += [option, value if isinstance(value, str) or not np.iterable(value) else ",".join(map(str, value))]
    _run(arguments, store)
    return dataset(name, store)


def wait(name: str, timeout: float | None = None, store: str | os.PathLike[str] | None = None) -> Dataset:
    """Wait until a dataset is resident, for at most `timeout` seconds, and open it."""
    _run(["wait", name, *_timeout(timeout)], store)
    return dataset(name, store)


def cache(name: str, fn: Callable[[], Any], store: str | os.PathLike[str] | None = None, timeout: float | None = None) -> Any:
    """Return what is cached as `name`; if there is nothing yet, ``fn()`` makes it, in one process while others wait.

    `fn` returns an array, a number, a list of numbers or of lists of numbers, which comes back as an `Array`; a list of texts, of bytes,
    or of rows that differ in length, which comes back as a column (`Strings`, `Bytes`, `Ragged`); or a dict of such, which comes back as a
    `Dataset` unless its only name is ``data``. Results that would come back as something else are refused before anything is stored: a
    DataFrame, a tensor, a masked array, a list of dicts; the message contains the expression to return.

    If `fn` raises, or its process dies, nothing is cached and the next process that waits calls its own `fn`. `timeout` is the longest time
    to wait for another process, in seconds.

    >>> features = larder.cache("features", lambda: compute_features())
    """
    found = _built(name, lambda: _stored_forms(fn()), store, timeout)
    return found["data"] if list(found) == ["data"] else found


def _built(name, make, store, timeout):
    """Open a dataset; if there is none, ``make()`` says its arrays and which of them are parts of columns."""
    try:
        return dataset(name, store)
    except (NotFound, NoStore):
        pass  # then the command builds it, or says why it cannot
    import subprocess
    import tempfile

    words = _command_line(["create", name, *_timeout(timeout)], store)
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8") as command:
        try:
            word, _, folder = command.stdout.readline().rstrip("\n").partition(" ")
            said = None
            if word == "build":
                arrays, parts = make()
                _write_arrays(folder, arrays, command)
                said = "".join(f"part {array} {part}\n" for array, part in parts.items()) + "publish\n"
            command.communicate(said)
        except _CommandEnded:
            command.wait()  # its errors say why
        except BaseException:
            command.terminate()  # and so gives the build up
            raise
        errors.seek(0)
        _require_success(command.returncode, errors.read().decode("utf-8", "replace"))
    return dataset(name, store)


def _write_arrays(folder, arrays, command=None):
    made_for_us = not os.access(folder, os.W_OK)  # in the store of another user the daemon makes the files
    if not arrays:
        raise LarderError("nothing to cache: arrays=0; return an array, or a dict with some")
    for name, array in arrays.items():
        _require_sharable(name, array)
    if not made_for_us and command is not None:
        _ask_made(f"room {sum(array.nbytes + _LONGEST_HEADER for array in arrays.values())}", command)
    for name, array in arrays.items():
        levels = name.split("/")
        file = os.path.join(folder, *levels) + ".npy"
        if made_for_us:
            _ask_made(f"file {name} {array.nbytes + _LONGEST_HEADER}", command)
            descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW)
        else:
            for depth in range(1, len(levels)):  # never `folder` itself: where that is gone, so is its daemon
                with contextlib.suppress(FileExistsError):
                    os.mkdir(os.path.join(folder, *levels[:depth]))
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            _reserve_huge(descriptor, array.nbytes)
            np.save(stream, array, allow_pickle=False)


class _CommandEnded(Exception):
    pass


def _require_sharable(name, array):
    if any(level in ("", ".", "..") for level in name.split("/")):
        raise LarderError(_message("bad array name", "use letters, digits and + . _ - = /", name=name))
    if array.dtype.hasobject:
        raise LarderError(_message("an array of Python objects cannot be shared", "return numbers, or fixed-size "
                                   "strings (dtype S or U), or several arrays in a dict", array=name))


def _ask_made(line, command):
    command.stdin.write(line + "\n")
    command.stdin.flush()
    if command.stdout.readline() != "made\n":
        raise _CommandEnded()
