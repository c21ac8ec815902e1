"""Results of functions, kept in the store for all processes and later runs."""

from __future__ import annotations

import functools
import json
import os
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ._cache import _built
from ._columns import _Column
from ._datasets import Dataset
from ._errors import LarderError, _bad_input, _message, _require_function
from ._frames import _frame_over, _library_of_frames
from ._keys import _cached_functions, _call_key, _has_code, _input_key, _label
from ._results import _add_column, _frame_columns, _kept_array, _kept_column, _kind_of_frame, _refused, _series_form

_LONGEST_JSON = 1 << 20
_MOST_DEPTH = 100
_RESULT = "result"


def cached(function: Callable[..., Any] | None = None, *, inputs: Any = (), version: Any = None, name: str | None = None,
           store: str | os.PathLike[str] | None = None, timeout: float | None = None) -> Any:
    """Keep the results of a function in the store. One process computes each result for all that call it with the same
    arguments.

    Calls with equal keys have one result. A key has these parts:

    - The arguments, including defaults, with or without a version: numbers, texts, bytes; arrays by bytes, dtype, shape, strides and
      mask; tensors; frames and series of pandas and polars with their layout; datasets, stored arrays and columns by the digest of their dataset; tuples, lists, dicts, sets, namedtuples, dataclasses,
      enums and objects of Python classes by module, name, fields and their order; functions. So do the arguments that a
      `functools.partial` is bound to, ``self`` of a method, and the values that a function closes over. The key of an ``object()`` is its names in modules. Other values are refused,
      and so are random generators, because a stored result would not advance them: pass a seed.
    - The code: the function's module, name, code, defaults and attributes, the values of the globals that it reads, and the code of
      the functions and classes that it reads there, through ``__wrapped__``, except for libraries. Modules in Python's library
      and in site-packages count with their version. Arrays in globals may have 1 MiB, unless they are stored. A `version` replaces
      all this: change it when the results change. The function is then its module and name, and a lambda, a function inside another
      one, or one of an interactive session needs a `name`. Functions without Python code need a version.
    - The contents of `inputs`: files, folders, datasets, arrays; or a function of the arguments that returns these.

    No key contains values that code reads in other ways: ``getattr`` with a computed name, ``globals()``, ``eval``, the environment, the
    clock, random numbers, files and datasets that are not in `inputs`, annotations, docstrings of classes, the order of a set, the identity and the addresses of
    objects, and changes in a library without a new version.

    Results are arrays, and tuples, lists and dicts of them; lists of texts, of bytes, and of arrays of one dtype and
    number of dimensions, which become columns (`Strings`, `Bytes`, `Ragged`); frames of pandas and polars, which come back as frames of
    the same library over the store (`larder.frame`), and series, which come back as arrays or columns; numbers, texts and None, up to 1 MiB of
    JSON in all. Arrays come back read-only, also in the process that computed them. Results that would come back with other values, such as a
    tensor, a namedtuple or a frame with an index of rows, are refused before anything is stored. If the function raises, nothing is
    stored, and a waiting process calls its own function.

    `function.dataset_of(...)`, called with arguments, returns the name of the dataset; ``larder evict`` with that name removes the
    result.

    >>> @larder.cached(inputs=["/data/raw"])
    ... def features(size):
    ...     return compute(np.load("/data/raw/x.npy"), size)
    >>> features(64)
    """
    if function is None:
        return functools.partial(cached, inputs=inputs, version=version, name=name, store=store, timeout=timeout)
    _require_function(function, "write @larder.cached, or @larder.cached(version=1) with settings by name")
    if version is None and not _has_code(function):
        raise LarderError(_message("a function without code that could be a key", "say when its results change: "
                                   "larder.cached(version=1)", function=repr(function)))
    import inspect  # imported when used: see _sha256

    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise LarderError(_message("only what a function returns can be kept", "return arrays", function=_label(function)))
    signature = inspect.signature(function, follow_wrapped=False)  # a wrapper may have other defaults, and pass other arguments

    def key_of(arguments, options, its_inputs=()):
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        return _call_key(function, name, version, bound.arguments, list(map(_input_key, its_inputs)))

    def dataset_of(*arguments: Any, **options: Any) -> str:
        its_inputs = _listed(inputs(*arguments, **options) if callable(inputs) else inputs)
        digest = key_of(arguments, options, its_inputs)[:32]
        return f"cached.{re.sub('[^A-Za-z0-9._-]+', '-', name or _label(function))[:60]}.{digest}"

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        changes = []

        def compute():
            before = key_of(arguments, options)
            result = _packed(function(*arguments, **options))
            changes.append(_is_changed(before, lambda: key_of(arguments, options)))
            return result

        found = _built(dataset_of(*arguments, **options), compute, store, timeout)
        if any(changes):
            warnings.warn(_message("a function changes a value that its key contains, so the next call has another key and computes again",
                                   "do not change its arguments or a global that it reads, or give it a version: larder.cached(version=1)",
                                   function=_label(function)), stacklevel=2)
        return _unpacked(found, json.loads(found[_RESULT].tobytes()))

    call.dataset_of = dataset_of  # type: ignore[attr-defined]
    _cached_functions[call] = function, name, version, inputs if callable(inputs) else _listed(inputs)
    return call


def _is_changed(before, key_of):
    try:
        return key_of() != before
    except LarderError:  # it has a value now that no key can contain
        return True


def _listed(inputs):
    return [inputs] if isinstance(inputs, (str, os.PathLike, np.ndarray, Dataset, _Column)) else list(inputs)


# The form of a result in the store: arrays, columns, and JSON with their structure.


def _packed(result):
    arrays, parts = {}, {}
    text = json.dumps(_pack(result, arrays, parts), ensure_ascii=False).encode("utf-8", "surrogatepass")  # escapes would join two unpaired surrogates
    if len(text) > _LONGEST_JSON:
        raise _bad_input(_message("a result has too many small values", "return arrays, also for lists of numbers", bytes=len(text),
                                   most=_LONGEST_JSON))
    arrays[_RESULT] = np.frombuffer(text, np.uint8)
    return arrays, parts


def _pack(value, arrays, parts, at="", depth=0):
    name, kind = f"{len(arrays)}", type(value)
    if depth > _MOST_DEPTH:
        raise _refused(value, at[:_MOST_DEPTH] + "...", f"it is nested more than {_MOST_DEPTH} deep, or contains itself", "a flatter value")
    if kind is int and not -1 << 63 <= value < 1 << 63:
        return ["int", hex(value)]  # json refuses integers with thousands of digits
    if value is None or kind in (bool, int, float, str):
        return ["value", value]
    if kind is dict and all(type(key) is str for key in value):
        return ["dict", [[key, _pack(member, arrays, parts, f"{at}[{key!r}]", depth + 1)] for key, member in value.items()]]
    if _kind_of_frame(value) == "DataFrame":
        return _pack_frame(value, arrays, parts, at, depth)
    is_series = _kind_of_frame(value) == "Series"
    form = _series_form(value, at or "the result") if is_series else _kept_column(value, at) if kind is list and value else None
    if isinstance(form, tuple):
        _add_column(name, form, arrays, parts)
        return [form[0], name]
    if kind in (tuple, list):
        return [kind.__name__, [_pack(member, arrays, parts, f"{at}[{index}]", depth + 1) for index, member in enumerate(value)]]
    arrays[name] = form if is_series else _kept_array(value, at)
    return ["scalar" if isinstance(value, np.generic) else "array", name]


def _pack_frame(frame, arrays, parts, at, depth):
    library = type(frame).__module__.partition(".")[0]
    _library_of_frames(library)  # it comes back through pyarrow
    return ["frame", [library, [[name, _pack(series, arrays, parts, f"{at}[{name!r}]", depth + 1)] for name, series in _frame_columns(frame, at).items()]]]


def _unpacked(found, described):
    kind, what = described
    if kind == "value":
        return what
    if kind == "int":
        return int(what, 16)
    if kind in ("array", "scalar"):
        return found[what] if kind == "array" else found[what][()]
    if kind == "frame":
        library, columns = what
        return _frame_over(found, library, {name: stored for name, (_, stored) in columns})
    if kind == "dict":
        return {key: _unpacked(found, member) for key, member in what}
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(_unpacked(found, member) for member in what)
    return getattr(found, kind)(what)
