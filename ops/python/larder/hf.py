"""Hugging Face datasets over the bytes in the store. Reads copy nothing, and a pickle is a name.

>>> mnist = larder.hf.dataset("mnist", ["train-images", "train-labels"])     # a datasets.Dataset
>>> for batch in mnist.with_format("torch").iter(256):
...     train(batch["train-images"], batch["train-labels"])
>>> imdb = larder.hf.cache("imdb", lambda: datasets.load_dataset("imdb", split="train"))     # prepared once, by one process, for all
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _loader
from ._arrow import _FEATURES, _arrow_lists, _arrow_names, _arrow_table
from ._cache import _built
from ._datasets import Dataset, _restore
from ._errors import LarderError, _bad_input, _message
from ._store import _stored_name

try:
    import datasets
    import pyarrow as pa
    import pyarrow.compute as pc
    from datasets import table as tables
except ImportError as e:
    raise ImportError(_message("larder.hf needs Hugging Face datasets", f"{sys.executable} -m pip install datasets", reason=e)) from e

__all__ = ["cache", "dataset"]

_MOST_OFFSETS = 1 << 20  # number of lists in a chunk; all chunks share the offsets
_LONGEST = (1 << 31) - 1  # chunk in elements or bytes: offsets of Array2D, Image and the like have 32 bits
_LISTS = pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list
_LEFT_OUT = "made.remove_columns"


def dataset(dataset: str | Dataset, columns: Sequence[str] | None = None, *, store: str | os.PathLike[str] | None = None) -> datasets.Dataset:
    """Return a dataset of the store as a `datasets.Dataset`, whose Arrow columns use the memory of the store.

    `columns` are names of arrays and columns with equally many rows, by default all except indices.

    - Arrays of shape ``(rows,)`` become ``Value``, of ``(rows, n)`` ``List(length=n)``, of two to five dimensions a row ``Array2D`` to
      ``Array5D``. Strings become ``Value("large_string")``, bytes ``Value("large_binary")`` (``cast_column(name, datasets.Image())`` decodes
      them), ragged columns ``LargeList``. Their values are not copied.
    - Copied once in each process: bool (Arrow has bits), texts of fixed length (dtypes U and S), arrays that are big-endian or not
      in C order, and offsets that Arrow needs and the store does not have: at most 4 MiB for arrays, and 8 bytes a list for ragged rows
      of several dimensions. NaT is None.
    - A dataset stored by `cache` has its original features, ``ClassLabel`` and ``Image`` for instance.

    The version stays leased as long as any part of the table lives. The table pickles as the dataset's name and digest, so ``num_proc=`` and
    workers share the pages. Results of ``map`` are Hugging Face's own files.

    Raises `NotFound` for an unknown name, `LarderError` for a dtype that Arrow does not have and for a damaged column, ValueError for
    columns that differ in their numbers of rows.
    """
    opened = _loader._opened(dataset, store)
    known = _known_features(opened)
    names = _loader._names(opened, (list(known) or _arrow_names(opened)) if columns is None else columns)
    table = _Shared(_table(opened, names), (opened._open().identity, names))
    found = datasets.Features.from_arrow_schema(table.schema).items()
    features = {name: known[name] if _is_labelled(known.get(name), feature) else feature for name, feature in found}
    fingerprint = hashlib.sha256(repr((opened.digest, names)).encode()).hexdigest()[:16]  # otherwise computing one would read all data
    shared = datasets.Dataset(table, datasets.DatasetInfo(features=datasets.Features(features)), fingerprint=fingerprint)
    for name in names:
        if _is_file(known.get(name)):
            shared = shared.cast_column(name, known[name])
    return shared


def cache(name: str, fn: Callable[[], datasets.Dataset], store: str | os.PathLike[str] | None = None,
          timeout: float | None = None) -> datasets.Dataset:
    """Return what is cached as `name`; if there is none, one process calls ``fn()`` while the others wait (`larder.cache`).

    `fn` returns a `datasets.Dataset`, one split. It comes back as `dataset` reads it, also in the process that made it: texts and lists of
    any length have 64-bit offsets (``large_string``, ``LargeList``), all other features are unchanged, and rows are in the order of the
    indices. Every program reads the same: ``Value`` and ``List(length=n)`` of numbers and ``Array2D`` to ``Array5D`` are arrays for
    `larder.dataset`, texts `Strings`, binaries and the files of ``Image`` and ``Audio`` `Bytes`, lists of numbers `Ragged`.

    Storing joins the chunks of a column in memory. Raises `LarderError` for columns that the store cannot contain:
    with None, structs, lists of texts, names with blanks. Then nothing is cached.
    """
    return dataset(_built(name, lambda: _stored(fn()), store, timeout))


class _Shared(tables.TableBlock):
    """A table over the store. It pickles as the name of its origin and the operations since."""

    def __init__(self, table, origin, steps=()):
        super().__init__(table)
        self._origin, self._steps = origin, steps

    def __reduce__(self):
        return _restore_table, (*self._origin, self._steps)

    def _then(self, method, arguments, options):
        table = getattr(tables.InMemoryTable(self.table), method)(*arguments, **options).table
        return _Shared(table, self._origin, (*self._steps, (method, arguments, options)))


def _step(method):
    return lambda self, *arguments, **options: self._then(method, arguments, options)


for _method in ("slice filter flatten combine_chunks cast replace_schema_metadata add_column append_column remove_column set_column "
                "rename_columns drop select").split():
    setattr(_Shared, _method, _step(_method))


def _restore_table(identity, names, steps):
    """Open a table and repeat its operations. This unpickles a table."""
    table = _Shared(_table(_restore(*identity), names), (identity, names))
    for step in steps:
        table = table._then(*step)
    return table


# From the store to Arrow.


def _known_features(opened):
    return datasets.Features.from_dict(json.loads(opened[_FEATURES].tobytes())) if _FEATURES in opened else {}


def _is_labelled(known, found):
    """Return whether a feature adds names of classes to the same values."""
    return isinstance(known, datasets.ClassLabel) and found == datasets.Value("int64")


def _is_file(feature):
    return hasattr(feature, "decode_example") and hasattr(feature, "decode")  # Image, Audio, and other features with bytes and a path


def _table(opened, names):
    return _arrow_table(opened, names, _of_shape, _LONGEST)


def _of_shape(values, rows, shape):
    kind = values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if 2 <= len(shape) <= 5 and is_number and int(np.prod(shape, dtype=np.int64)) <= _LONGEST:
        return _grid(values, rows, shape)
    return _arrow_lists(values, rows, shape)


def _grid(values, rows, shape):
    """Return rows of fixed shape as an Array2D, 3D, ...: in chunks, because all can share the 32-bit offsets of one."""
    value = datasets.Features.from_arrow_schema(pa.schema({"value": values.type}))["value"]
    kind = getattr(datasets, f"Array{len(shape)}D")(shape, value.dtype)()
    elements = int(np.prod(shape, dtype=np.int64))
    lists = [int(np.prod(shape[:level], dtype=np.int64)) for level in range(len(shape))]
    most = max(1, min(rows, _MOST_OFFSETS // sum(lists), _LONGEST // max(1, elements)))
    offsets = [np.arange(most * count + 1, dtype=np.int32) * np.int32(size) for count, size in zip(lists, shape)]
    chunks = []
    for start in range(0, rows, most):
        length = min(most, rows - start)
        chunk = values.slice(start * elements, length * elements)
        for count, its_offsets in zip(reversed(lists), reversed(offsets)):
            chunk = pa.ListArray.from_arrays(pa.array(its_offsets[:length * count + 1]), chunk)
        chunks.append(pa.ExtensionArray.from_storage(kind, chunk))
    return pa.chunked_array(chunks, kind)


# From Arrow to the store.


def _stored(made):
    """Return the arrays of a Hugging Face dataset, and which of them are parts of columns."""
    if not isinstance(made, datasets.Dataset):
        raise LarderError(_message("not a datasets.Dataset", "return one; of a DatasetDict take one split, made[\"train\"]; of an "
                                   "IterableDataset make one with datasets.Dataset.from_generator", type=type(made).__qualname__))
    arrays, parts = {}, {}
    table = made.with_format("arrow")[:]
    if any(map(_is_file, made.features.values())):
        table = tables.embed_table_storage(table)  # reads files that are only paths
    for name in table.column_names:
        if _stored_name(name) != name:
            raise _no_form(name, "its name has more than letters, digits and + . _ - = /", "rename it: made.rename_column")
        kind, its_parts = _stored_column(name, table[name], made.features[name])
        if kind is None:
            arrays[name] = its_parts
            continue
        for part, array in its_parts.items():
            arrays[f"{name}/{part}"], parts[f"{name}/{part}"] = array, f"{kind}_{part}"
    if _FEATURES in arrays:
        raise _no_form(_FEATURES, "the name is taken", "rename it: made.rename_column")
    arrays[_FEATURES] = np.frombuffer(json.dumps(made.features.to_dict()).encode(), np.uint8)
    return arrays, parts


def _no_form(name, reason, remedy):
    return _bad_input(_message("the store cannot contain a column", remedy, column=name, reason=reason))


def _stored_column(name, column, feature):
    """Return the kind of a column and its parts, or None and the array itself."""
    if _is_file(feature):
        column = pc.struct_field(column, "bytes")
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "strings", _stored_texts("bytes", name, column.cast(pa.large_string()))
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return "bytes", _stored_texts("values", name, column.cast(pa.large_binary()))
    pieces = [_stored_numbers(name, chunk) for chunk in column.chunks] or [_stored_numbers(name, column.combine_chunks())]
    values, shapes, sizes = (list(parts) for parts in zip(*pieces))  # large lists, because 32-bit offsets may not be enough for all chunks
    values, shapes = values[0] if len(pieces) == 1 else np.concatenate(values), np.concatenate(shapes)
    if None not in sizes[0]:
        return None, values.reshape(len(column), *sizes[0])
    return "ragged", {"values": values, "offsets": np.concatenate([[0], np.cumsum(shapes.prod(axis=1))]).astype(np.int64), "shapes": shapes}


def _stored_numbers(name, array):
    """Return the values of numbers or of nested lists of them, the shape of each row, and the common sizes, or None."""
    known = ()
    if isinstance(array.type, pa.ExtensionType):
        known, array = getattr(array.type, "shape", ()), array.storage
    shapes, sizes, counts = np.empty((len(array), 0), np.int64), (), np.ones(len(array), np.int64)
    _require_all(name, array)
    while any(is_kind(array.type) for is_kind in _LISTS):
        sizes += known[len(sizes)] if known else array.type.list_size if pa.types.is_fixed_size_list(array.type) else None,
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False).astype(np.int64)
        size, some = np.zeros(len(counts), np.int64), counts > 0
        size[some] = lengths[(np.cumsum(counts) - counts)[some]]
        if (np.repeat(size, counts) != lengths).any():
            raise _no_form(name, "lists of one row differ in their lengths", f"pad them with map, or leave it out: {_LEFT_OUT}")
        shapes, counts = np.column_stack([shapes, size]), counts * size  # product of the sizes within a row
        array = array.flatten()
        _require_all(name, array)
    kind = array.type
    if not pa.types.is_primitive(kind) or getattr(kind, "tz", None) is not None or pa.types.is_time(kind):
        raise _no_form(name, f"its values are {kind}", "cast_column to numbers, texts or binaries, flatten() structs, or leave it out: "
                       f"{_LEFT_OUT}")
    return array.to_numpy(zero_copy_only=False), shapes, sizes


def _require_all(name, column):
    if column.null_count:
        raise _no_form(name, f"{column.null_count} values are None", f"fill them with map, drop them with filter, or leave it out: {_LEFT_OUT}")


def _stored_texts(part, name, column):
    _require_all(name, column)
    array = column.combine_chunks()
    _, offsets, data = array.buffers()
    offsets = np.frombuffer(offsets, np.int64)[array.offset:array.offset + len(array) + 1] if offsets else np.zeros(1, np.int64)
    data = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return {part: data[offsets[0]:offsets[-1]], "offsets": offsets - offsets[0]}
