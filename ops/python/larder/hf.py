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
from ._arrow import _FEATURES, _arrow_lists, _arrow_names, _arrow_table, _no_stored_form, _stored_arrow
from ._cache import _built
from ._datasets import Dataset, _restore
from ._errors import LarderError, _message
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
_REMEDIES = {what: f"{remedy}, or leave it out: made.remove_columns" for what, remedy in (
    ("missing", "fill them with map, drop them with filter"), ("lists", "pad them with map"),
    ("values", "cast_column to numbers, texts or binaries, flatten() structs"))}


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
            raise _no_stored_form(name, "its name has more than letters, digits and + . _ - = /", "rename it: made.rename_column")
        column = pc.struct_field(table[name], "bytes") if _is_file(made.features[name]) else table[name]
        kind, its_parts = _stored_arrow(name, column, _REMEDIES)
        if kind is None:
            arrays[name] = its_parts
            continue
        for part, array in its_parts.items():
            arrays[f"{name}/{part}"], parts[f"{name}/{part}"] = array, f"{kind}_{part}"
    if _FEATURES in arrays:
        raise _no_stored_form(_FEATURES, "the name is taken", "rename it: made.rename_column")
    arrays[_FEATURES] = np.frombuffer(json.dumps(made.features.to_dict()).encode(), np.uint8)
    return arrays, parts
