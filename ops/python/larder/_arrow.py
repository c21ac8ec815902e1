"""Arrow columns over the bytes in the store, and back: for frames and `larder.hf`. pyarrow is imported when they are used."""

from __future__ import annotations

import numpy as np

from ._errors import LarderError, NotFound, _bad_input, _message

_FEATURES = "features.json"  # of a dataset that larder.hf has stored
_ALL_BYTES = 1 << 62

# From the store to Arrow.


def _arrow_names(opened):
    """List arrays, then columns, without indices, which have no rows."""
    kinds = opened.columns
    return sorted((name for name in opened if name != _FEATURES and kinds.get(name) != "index"), key=kinds.__contains__)


def _arrow_table(opened, names, of_shape=None, longest=_ALL_BYTES):
    """Return a `pyarrow.Table`. ``of_shape(values, rows, shape)`` returns rows of a fixed shape; a chunk has at most `longest` bytes of texts."""
    import pyarrow as pa

    columns = {name: _arrow_column(opened, name, of_shape or _arrow_lists, longest) for name in names}
    counts = {name: len(column) for name, column in columns.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(_message("columns differ in their numbers of rows", "name those that belong together", dataset=opened.name, **counts))
    return pa.table(columns)


def _arrow_column(opened, name, of_shape, longest):
    import pyarrow as pa

    kind = opened.columns.get(name)
    if kind == "index":
        raise NotFound(_message("an index has no rows", f"leave it out, and look keys up with .index({name!r})", dataset=opened.name, column=name))
    if kind is None:
        array = opened[name]
        if array.ndim == 0:
            raise ValueError(_message("an array without rows", "name arrays with at least one dimension", array=name))
        return of_shape(_arrow_values(name, array), len(array), array.shape[1:])
    column = getattr(opened, kind)(name)
    offsets = column.offsets
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] > len(column.values) or (offsets[1:] < offsets[:-1]).any():
        raise _damaged_column(opened, name)
    if kind == "ragged":
        return _arrow_ragged(opened, column)
    return _arrow_texts(pa.large_string() if kind == "strings" else pa.large_binary(), np.asarray(offsets), np.asarray(column.values), longest)


def _damaged_column(opened, name):
    return LarderError(_message("a column is damaged", f"larder reload {opened.name}, or load or compute it again", dataset=opened.name,
                                column=name))


def _arrow_texts(kind, offsets, values, longest):
    """Return texts or binaries. A single chunk uses the store's own offsets."""
    import pyarrow as pa

    chunks, start, rows = [], 0, len(offsets) - 1
    while start < rows:
        end = max(start + 1, int(np.searchsorted(offsets, offsets[start] + longest, "right")) - 1)
        its_offsets = offsets[start:end + 1] - offsets[start] if start else offsets[:end + 1]
        buffers = [None, pa.py_buffer(its_offsets), pa.py_buffer(values[offsets[start]:offsets[end]])]
        chunks.append(pa.Array.from_buffers(kind, end - start, buffers))
        start = end
    return pa.chunked_array(chunks, kind)


def _arrow_values(name, array):
    """Return the elements in C order: the memory itself if Arrow has the same form."""
    import pyarrow as pa

    flat = np.asarray(array).reshape(-1)  # a copy, unless it already is
    fixed = {"U": pa.large_string(), "S": pa.large_binary()}.get(flat.dtype.kind)
    try:
        return pa.array(flat if flat.dtype.isnative else flat.astype(flat.dtype.newbyteorder("=")), fixed)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as e:
        raise LarderError(_message("Arrow has no such dtype", "leave the array out with columns=, or read it with larder.dataset",
                                   array=name, dtype=array.dtype, reason=e)) from None


def _arrow_lists(values, rows, shape):
    """Return rows of fixed shape as nested lists of fixed size: they have no offsets."""
    import pyarrow as pa

    counts = [rows * int(np.prod(shape[:level], dtype=np.int64)) for level in range(len(shape))]
    for count, size in zip(reversed(counts), reversed(shape)):
        values = pa.Array.from_buffers(pa.list_(values.type, size), count, [None], children=[values])
    return values


def _arrow_ragged(opened, column):
    import pyarrow as pa

    shapes = np.asarray(column.shapes)
    if len(shapes) != len(column) or (shapes < 0).any() or (shapes.prod(axis=1) != np.diff(column.offsets)).any():
        raise _damaged_column(opened, column.name)
    values, dimensions = _arrow_values(column.name, column.values), shapes.shape[1]
    if dimensions == 1:
        return pa.LargeListArray.from_arrays(pa.array(np.asarray(column.offsets)), values)
    inner = shapes[0, 1:] if len(shapes) else ()
    if len(inner) and (shapes[:, 1:] == inner).all():  # the dimensions of a row
        values, dimensions = _arrow_lists(values, int(shapes[:, 0].sum()), tuple(map(int, inner))), 1
    for level in reversed(range(dimensions)):
        lengths = np.repeat(shapes[:, level], shapes[:, :level].prod(axis=1))
        values = pa.LargeListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)), values)
    return values


# From Arrow to the store. `remedies` are texts for errors: for missing values, for lists that differ in length, and for other values.


def _stored_arrow(name, column, remedies):
    """Return the kind of a column and its parts, or None and the array itself, for a `pyarrow.ChunkedArray`."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if _is_one_of(kind, "string", "large_string", "string_view"):
        return "strings", _stored_texts("bytes", name, column.cast(pa.large_string()), remedies)
    if _is_one_of(kind, "binary", "large_binary", "binary_view"):
        return "bytes", _stored_texts("values", name, column.cast(pa.large_binary()), remedies)
    pieces = [_stored_numbers(name, chunk, remedies) for chunk in column.chunks] or [_stored_numbers(name, column.combine_chunks(), remedies)]
    values, shapes, sizes = (list(parts) for parts in zip(*pieces))  # large lists, because 32-bit offsets may not be enough for all chunks
    values, shapes = values[0] if len(pieces) == 1 else np.concatenate(values), np.concatenate(shapes)
    if None not in sizes[0]:
        return None, values.reshape(len(column), *sizes[0])
    return "ragged", {"values": values, "offsets": np.concatenate([[0], np.cumsum(shapes.prod(axis=1))]).astype(np.int64), "shapes": shapes}


def _is_one_of(kind, *names):
    import pyarrow as pa

    return any(getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in names)  # older releases do not have all


def _stored_numbers(name, array, remedies):
    """Return the values of numbers or of nested lists of them, the shape of each row, and the common sizes, or None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = ()
    if isinstance(array.type, pa.ExtensionType):
        known, array = getattr(array.type, "shape", ()), array.storage
    shapes, sizes, counts = np.empty((len(array), 0), np.int64), (), np.ones(len(array), np.int64)
    _require_no_missing(name, array, remedies)
    while _is_one_of(array.type, "list", "large_list", "fixed_size_list"):
        sizes += known[len(sizes)] if known else array.type.list_size if pa.types.is_fixed_size_list(array.type) else None,
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False).astype(np.int64)
        size, some = np.zeros(len(counts), np.int64), counts > 0
        size[some] = lengths[(np.cumsum(counts) - counts)[some]]
        if (np.repeat(size, counts) != lengths).any():
            raise _no_stored_form(name, "lists of one row differ in their lengths", remedies["lists"])
        shapes, counts = np.column_stack([shapes, size]), counts * size  # product of the sizes within a row
        array = array.flatten()
        _require_no_missing(name, array, remedies)
    kind = array.type
    if not pa.types.is_primitive(kind) or getattr(kind, "tz", None) is not None or pa.types.is_time(kind):
        raise _no_stored_form(name, f"its values are {kind}", remedies["values"])
    return array.to_numpy(zero_copy_only=False), shapes, sizes


def _require_no_missing(name, column, remedies):
    if column.null_count:
        raise _no_stored_form(name, f"{column.null_count} values are None", remedies["missing"])


def _stored_texts(part, name, column, remedies):
    _require_no_missing(name, column, remedies)
    array = column.combine_chunks()
    _, offsets, data = array.buffers()
    offsets = np.frombuffer(offsets, np.int64)[array.offset:array.offset + len(array) + 1] if offsets else np.zeros(1, np.int64)
    data = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return {part: data[offsets[0]:offsets[-1]], "offsets": offsets - offsets[0]}


def _no_stored_form(name, reason, remedy):
    return _bad_input(_message("the store cannot contain a column", remedy, column=name, reason=reason))
