"""What functions return, kept in the store for all processes and later runs."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import Array
from ._cache import _built
from ._columns import _Column
from ._datasets import Dataset
from ._errors import LarderError, _message

_LONGEST_JSON = 1 << 20
_SETTLED_S = 1  # a file that was written later than this may be written again within one tick of its clock
_RESULT = "result"
_digests: dict[str, Any] = {}


def cached(function: Callable[..., Any] | None = None, *, inputs: Any = (),
           version: Any = None, store: str | os.PathLike[str] | None = None, timeout: float | None = None) -> Any:
    """Keep what a function returns in the store: computed once, by one process, for all that call it with the same
    arguments.

    The key is the function's name, the arguments, the contents of `inputs` (files, folders, datasets, arrays; or a
    function of the arguments that names them), and `version`. Without a version it is the function's own code: a change
    of it computes anew, a change of what it calls does not. Give a version where it calls code of yours. A function
    without Python code has to have one.

    Results are arrays, and tuples, lists and dicts of them; lists of texts, of bytes, and of arrays of one dtype and
    number of dimensions, which become columns (`Strings`, `Bytes`, `Ragged`); numbers, texts and None, up to 1 MiB of
    JSON in all. Arrays come back read-only, also in the process that computed them. If the function raises, nothing is
    kept, and who waits calls its own.

    `function.dataset_of(...)`, called with arguments, names the dataset; ``larder evict`` with that name forgets the
    result.

    >>> @larder.cached(inputs=["/data/raw"])
    ... def features(size):
    ...     return compute(np.load("/data/raw/x.npy"), size)
    >>> features(64)
    """
    if function is None:
        return functools.partial(cached, inputs=inputs, version=version, store=store, timeout=timeout)
    if version is None and not isinstance(function, types.FunctionType):
        raise LarderError(_message("a function without code that could be a key", "say when its results change: "
                                   "larder.cached(version=1)", function=repr(function)))
    import inspect  # when it is used: see _sha256

    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise LarderError(_message("only what a function returns can be kept", "return arrays", function=function.__qualname__))
    signature = inspect.signature(function)
    label = getattr(function, "__module__", ""), getattr(function, "__qualname__", type(function).__qualname__)

    def dataset_of(*arguments: Any, **options: Any) -> str:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        its_inputs = inputs(*arguments, **options) if callable(inputs) else inputs
        if isinstance(its_inputs, (str, os.PathLike)):
            its_inputs = [its_inputs]
        code = ["version", _key(version)] if version is not None else _code_key(function)
        key = [1, label, code, _key(dict(bound.arguments)), [_input_key(value) for value in its_inputs]]
        digest = _sha256(json.dumps(key).encode()).hexdigest()[:32]
        return f"cached.{re.sub('[^A-Za-z0-9._-]+', '-', label[1])[:60]}.{digest}"

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        name = dataset_of(*arguments, **options)
        found = _built(name, lambda: _packed(function(*arguments, **options)), store, timeout)
        return _unpacked(found, json.loads(found[_RESULT].tobytes()))

    call.dataset_of = dataset_of  # type: ignore[attr-defined]
    return call


def _sha256(value=b""):
    import hashlib  # when it is used: it takes half a megabyte of every process, and most keep nothing

    return hashlib.sha256(value)


# What a key is made of: values of JSON, which tell types apart.


def _key(value):
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return [type(value).__name__, repr(value)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ["bytes", _sha256(value).hexdigest()]
    if isinstance(value, os.PathLike):
        return ["path", os.fspath(value)]
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        return _array_key(value)
    if isinstance(value, Dataset):
        return ["dataset", value.digest]
    if isinstance(value, _Column):
        return ["column", value._version.digest, value.name]
    if isinstance(value, (np.dtype, type)):
        return ["type", str(value)]
    return [type(value).__name__, _members_key(value)]


def _array_key(array):
    if isinstance(array, Array) and array._mmap is not None:
        segment = array._mmap
        return ["stored", segment.version.digest, segment.file, array.offset, array.shape, array.strides, str(array.dtype)]
    array = np.asarray(array)
    contents = _sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8)).hexdigest() if array.size else ""
    return ["array", np.lib.format.dtype_to_descr(array.dtype), array.shape, contents]


def _members_key(value):
    if isinstance(value, (tuple, list)):
        return [_key(member) for member in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(_key, value))
    if isinstance(value, dict):
        return sorted([_key(name), _key(member)] for name, member in value.items())
    if hasattr(type(value), "__dataclass_fields__"):
        import dataclasses

        return [[field.name, _key(getattr(value, field.name))] for field in dataclasses.fields(value)]
    raise LarderError(_message("a value cannot be part of a key", "pass numbers, texts, arrays, datasets, or tuples, lists, sets, dicts and "
                               "dataclasses of them; where the function's own surroundings have it, give a version=",
                               type=type(value).__qualname__))


def _code_key(function):
    import inspect

    surroundings = inspect.getclosurevars(function).nonlocals
    return ["code", sys.version_info[:2], _code(function.__code__), _key(dict(surroundings))]


def _code(code):
    constants = [_code(value) if isinstance(value, types.CodeType)
                 else repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value) for value in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants]


def _input_key(value):
    return _key(value) if isinstance(value, (np.ndarray, Dataset, _Column)) else ["input", _path_digest(os.path.abspath(os.fspath(value)))]


def _path_digest(path):
    """Return the SHA-256 of a file, or of the names and contents in a folder. A file that has not changed is read once
    in a process."""
    try:
        if os.path.isdir(path):
            return [[name, _path_digest(os.path.join(path, name))] for name in sorted(os.listdir(path))]
        found = os.stat(path)
        state = found.st_ino, found.st_size, found.st_mtime_ns
        known = _digests.get(path)
        if known is not None and known[0] == state:
            return known[1]
        sha = _sha256()
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC), "rb") as file:
            for piece in iter(lambda: file.read(1 << 20), b""):
                sha.update(piece)
    except OSError as e:
        raise LarderError(_message("an input cannot be read", "mend its path, or leave it out of inputs=", input=path,
                                   reason=e.strerror)) from e
    if time.time() - found.st_mtime > _SETTLED_S:
        _digests[path] = state, sha.hexdigest()
    return sha.hexdigest()


# What a result is in the store: arrays, columns, and JSON that says how they belong together.


def _packed(result):
    arrays, parts = {}, {}
    text = json.dumps(_pack(result, arrays, parts)).encode()
    if len(text) > _LONGEST_JSON:
        raise LarderError(_message("a result has too many small values", "return arrays", bytes=len(text), most=_LONGEST_JSON))
    arrays[_RESULT] = np.frombuffer(text, np.uint8)
    return arrays, parts


def _pack(value, arrays, parts):
    name = f"{len(arrays)}"
    if value is None or isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic):
        return ["value", value]
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
        arrays[name] = np.asarray(value)
        return ["scalar" if isinstance(value, np.generic) else "array", name]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return ["dict", [[key, _pack(member, arrays, parts)] for key, member in value.items()]]
    if isinstance(value, list) and value:
        column = _pack_column(value)
        if column is not None:
            kind, its_parts = column
            for part, array in its_parts.items():
                arrays[f"{name}/{part}"], parts[f"{name}/{part}"] = array, f"{kind}_{part}"
            return [kind, name]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, [_pack(member, arrays, parts) for member in value]]
    raise LarderError(_message("a result cannot be kept", "return arrays, numbers and texts, in tuples, lists and dicts with texts as keys",
                               type=type(value).__qualname__))


def _pack_column(rows):
    kinds = set(map(type, rows))
    if kinds in ({str}, {bytes}):
        kind, part = ("strings", "bytes") if kinds == {str} else ("bytes", "values")
        rows = [row.encode() for row in rows] if kind == "strings" else rows
        return kind, {part: np.frombuffer(b"".join(rows), np.uint8), "offsets": _starts(map(len, rows))}
    if not all(isinstance(row, np.ndarray) for row in rows) or len({(row.dtype, row.ndim) for row in rows}) > 1 or rows[0].ndim == 0:
        return None
    return "ragged", {"values": np.concatenate([row.ravel() for row in rows]), "offsets": _starts(row.size for row in rows),
                      "shapes": np.array([row.shape for row in rows], np.int64)}


def _starts(lengths):
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64))]).astype(np.int64)


def _unpacked(found, described):
    kind, what = described
    if kind == "value":
        return what
    if kind in ("array", "scalar"):
        return found[what] if kind == "array" else found[what][()]
    if kind == "dict":
        return {key: _unpacked(found, member) for key, member in what}
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(_unpacked(found, member) for member in what)
    return getattr(found, kind)(what)
