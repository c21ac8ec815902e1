"""Results of functions as arrays and columns of the store. `cache` and `cached` use the same forms."""

from __future__ import annotations

import collections.abc
import sys

import numpy as np

from ._arrays import Array
from ._arrow import _stored_arrow
from ._errors import LarderError, _bad_input, _message

_PLAIN_ARRAYS = np.ndarray, np.memmap, Array
# Types that would come back as other types, and the expressions to return instead.
_REMEDIES = {
    "numpy.ma.MaskedArray": "{'data': it.data, 'mask': numpy.ma.getmaskarray(it)}",
    "pandas.DataFrame": "{name: it[name].to_numpy() for name in it}, columns of texts as list(it[name])",
    "pandas.Series": "it.to_numpy(), texts as list(it), and its index as another array",
    "polars.DataFrame": "{name: it[name].to_numpy() for name in it.columns}, columns of texts as it[name].to_list()",
    "polars.Series": "it.to_numpy(), texts as it.to_list()",
    "torch.Tensor": "it.numpy(), of bfloat16 it.float().numpy(); larder.torch.tensor(result) is a tensor again",
    "larder.Strings": "list(it)",
    "larder.Ragged": "list(it)",
    "larder.Bytes": "list(map(bytes, it))",
    "complex": "numpy.complex128(it)",
    "bytes": "numpy.frombuffer(it, 'u1')",
    "set": "sorted(it)",
}
_MISSING = "'' or a number in its place, and an array of bool that marks the rows without a value"


def _place(at):
    """Return the text of a place in a result: the name of an array, or a pair of the place of a list and a row in it."""
    return at if isinstance(at, str) else f"{_place(at[0])}[{at[1]}]"


def _refused(value, at="", reason="", remedy=None):
    """Return the error for a result that would not come back unchanged."""
    kind = type(value)
    names = [f"{base.__module__.partition('.')[0]}.{base.__qualname__}".removeprefix("builtins.") for base in kind.__mro__]
    names = ["numpy.ma.MaskedArray" if isinstance(value, np.ma.MaskedArray) else name for name in names]
    if remedy is None and isinstance(value, tuple):
        remedy = "tuple(it)" + (", or it._asdict()" if hasattr(value, "_asdict") else "")
    if remedy is None and value is None and isinstance(at, tuple):
        remedy = _MISSING
    if remedy is None and isinstance(value, dict):
        remedy = "dict(it), with texts as keys"
    if remedy is None:
        fallback = "numpy.asarray(it)" if hasattr(value, "__array__") else "arrays, numbers and texts, in tuples, lists and dicts with texts as keys"
        remedy = next((_REMEDIES[name] for name in names if name in _REMEDIES), fallback)
    where = {"at": _place(at)} if at else {}
    if reason:
        where["reason"] = reason
    return _bad_input(_message("a result cannot be stored unchanged", "return " + remedy, type=names[0], **where))


def _is_restorable(dtype):
    """Return whether a .npy header can contain a dtype."""
    try:
        return not dtype.hasobject and _is_plain(dtype) and np.lib.format.descr_to_dtype(np.lib.format.dtype_to_descr(dtype)) == dtype
    except (TypeError, ValueError):
        return False


def _is_plain(dtype):
    """Return whether a dtype has neither metadata nor a type of rows such as numpy.record: a .npy header loses both."""
    parts = [*(field[0] for field in (dtype.fields or {}).values()), *(dtype.subdtype or ())[:1]]
    return dtype.metadata is None and (dtype.type is np.void or not issubclass(dtype.type, np.void)) and all(map(_is_plain, parts))


def _kept_array(value, at=""):
    """Return an array or a numpy scalar as an array, if it comes back unchanged."""
    if type(value) not in _PLAIN_ARRAYS and not (isinstance(value, np.generic) and type(value) is value.dtype.type):
        raise _refused(value, at)
    if value.dtype.hasobject:
        raise _refused(value, at, "an array of Python objects", "numbers, texts of fixed size (dtype S or U), a list of texts, or several arrays "
                       "in a dict")
    if not _is_restorable(value.dtype):
        raise _refused(value, at, f"dtype {value.dtype}", "it.astype(it.dtype.descr)" if value.dtype.type is np.record else
                       "it.view('u1') or a dtype of numpy's own without metadata")
    if isinstance(value, (np.str_, np.bytes_)) and np.asarray(value)[()] != value:
        raise _refused(value, at, "zeros at its end, which texts in arrays do not have", "str(it)" if isinstance(value, str) else _REMEDIES["bytes"])
    return np.asarray(value)


def _kept_column(rows, at=""):
    """Return a list of texts, of bytes or of arrays as the kind of a column and its parts; None for another list."""
    kinds = set(map(type, rows))
    if kinds in ({str}, {bytes}):
        kind, part = ("strings", "bytes") if kinds == {str} else ("bytes", "values")
        try:
            rows = [row.encode() for row in rows] if kind == "strings" else rows
        except UnicodeEncodeError as e:
            raise _refused(e.object, (at, rows.index(e.object)), "an unpaired surrogate, which UTF-8 cannot encode", "texts without it") from None
        return kind, {part: np.frombuffer(b"".join(rows), np.uint8), "offsets": _starts(map(len, rows))}
    if not kinds or not kinds.issubset(_PLAIN_ARRAYS) or len({(row.dtype, row.ndim) for row in rows}) > 1 or rows[0].ndim == 0:
        return None
    rows = [_kept_array(one, (at, row)) for row, one in enumerate(rows)]
    return "ragged", {"values": np.concatenate([row.ravel() for row in rows], dtype=rows[0].dtype),  # otherwise numpy chooses the byte order
                      "offsets": _starts(row.size for row in rows), "shapes": np.array([row.shape for row in rows], np.int64)}


def _starts(lengths):
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64))]).astype(np.int64)


def _add_column(name, column, arrays, parts):
    """Add the parts of a column to the arrays of a dataset."""
    kind, its_parts = column
    for part, array in its_parts.items():
        arrays[f"{name}/{part}"], parts[f"{name}/{part}"] = array, f"{kind}_{part}"


def _stored_forms(made, dataset):
    """Return the arrays of a result for a dataset, and the kinds of those that are parts of columns."""
    arrays, parts = {}, {}
    for name, value in _named_values(made):
        form = _array_or_column(value, name, dataset)
        its_arrays, its_parts = {name: form}, {}
        if isinstance(form, tuple):
            its_arrays.clear()
            _add_column(name, form, its_arrays, its_parts)
        for one in its_arrays:
            if one in arrays:
                raise _refused(made, one, "two arrays have this name", "other names")
        arrays.update(its_arrays)
        parts.update(its_parts)
    return arrays, parts


def _named_values(made):
    """Yield the values of a result with their names. A frame has its columns, below its name if it has one."""
    if _kind_of_frame(made) == "DataFrame":
        yield from _frame_columns(made).items()
        return
    for name, value in (made if isinstance(made, collections.abc.Mapping) else {"data": made}).items():
        if type(name) is not str:
            raise _refused(made, "", f"a name is {name!r}", "a dict with texts as names")
        if _kind_of_frame(value) == "DataFrame":
            yield from ((f"{name}/{column}", series) for column, series in _frame_columns(value, name).items())
        else:
            yield name, value


def _array_or_column(value, at, dataset):
    """Return an array, or a column: of a series, a list of texts, of bytes, or of rows that differ in length."""
    if _kind_of_frame(value) == "Series":
        return _series_form(value, at)
    if isinstance(value, dict):
        raise _refused(value, at, "", "its arrays under names with slashes, such as 'a/b'")
    if type(value) not in (bool, int, float, complex, str, list, tuple):
        return _kept_array(value, at)
    if type(value) in (list, tuple) and len(value):
        if any(isinstance(row, dict) for row in value):
            records = dataset if at == "data" else f"{dataset}-{at}".replace("/", "-").replace("=", "-")
            raise _refused(value, at, "its rows are dicts", "a dict of lists, {name: [row[name] for row in it] for name in it[0]}; or keep the list, in a "
                           f"store of your own, by larder.records({records!r}, it)")
        is_one_array = _are_arrays_of_one_shape(value)
        if is_one_array and len({row.dtype for row in value}) > 1:
            raise _refused(value, at, "its arrays differ in dtype", "them in a dict, or as one dtype")
        column = None if is_one_array else _kept_column(value, at)
        if column is not None:
            return column
    found = _numbers(value, at)
    return found if found is not None else _ragged_numbers(value, at)


def _are_arrays_of_one_shape(rows):
    return all(isinstance(row, np.ndarray) for row in rows) and len({row.shape for row in rows}) == 1


def _numbers(value, at):
    """Return numbers or texts, possibly in lists, as an array with unchanged values. Return None if rows differ in length."""
    try:
        array = np.asarray(value)
    except ValueError:  # numpy 1.24 and later; earlier releases return an array of objects
        array = None
    if array is None or array.dtype.hasobject:
        if all(isinstance(row, (list, tuple, np.ndarray)) for row in (value if isinstance(value, (list, tuple)) else [value])):
            return None
        _require_equal(value, value, at)  # the refusal contains the name of the object
        raise _refused(value, at, "integers of more than 64 bits", "numbers of one dtype")
    _require_equal(value, array.tolist(), at)
    return array


def _require_equal(value, found, at):
    """Refuse values that an array would change: mixed types become texts or floats, and long integers floats."""
    if isinstance(value, np.ndarray):
        _kept_array(value, at)
        value = value.tolist()
    if type(value) in (list, tuple):
        for row, (one, its_found) in enumerate(zip(value, found)):
            _require_equal(one, its_found, (at, row))
        return
    if type(value) not in (bool, int, float, complex, str, bytes) and not isinstance(value, np.generic):
        raise _refused(value, at)
    is_bool = isinstance(value, (bool, np.bool_))
    if is_bool != isinstance(found, bool) or found != value and (found == found or value == value):
        remedy = _MISSING if value != value and isinstance(found, str) else "values of one type"
        raise _refused(value, at, f"it is mixed with other types, and would become {found!r}", remedy)


def _ragged_numbers(rows, at):
    arrays = [_numbers(one, (at, row)) for row, one in enumerate(rows)]
    kinds = {array.dtype.kind for array in arrays if array is not None and array.size}
    if any(array is None for array in arrays) or not kinds <= set("biufc") or len({array.ndim for array in arrays}) != 1 or arrays[0].ndim == 0:
        raise _refused(rows, at, "its rows are neither numbers of one dtype and number of dimensions, nor texts",
                       "arrays, or several of them in a dict")
    dtype = np.result_type(*(array.dtype for array in arrays if array.size)) if kinds else arrays[0].dtype
    cast = [array.astype(dtype) for array in arrays]
    for row, (array, its_cast) in enumerate(zip(arrays, cast)):
        _require_equal(array.tolist(), its_cast.tolist(), (at, row))
    return _kept_column(cast, at)


# Frames and series of pandas and polars. A column of numpy is an array; all others take the way through Arrow.

_FRAME_REMEDIES = {"missing": "fill them: it.fillna(...), in polars it.fill_null(...)", "lists": "pad them, or keep the lists in a column of their own",
                   "values": "convert them to numbers, texts, bytes or lists of numbers; times with a zone to UTC without one"}
_FRAME_COLUMNS = "numbers, texts, bytes or lists of numbers"
_PLAIN_INDEX = "it.reset_index(), or it.reset_index(drop=True)"


def _kind_of_frame(value):
    """Return "DataFrame" or "Series" for one of pandas or polars, else None."""
    kind = type(value)
    library = sys.modules.get(str(kind.__module__).partition(".")[0])
    is_known = kind.__name__ in ("DataFrame", "Series") and getattr(library, "__name__", None) in ("pandas", "polars")
    return kind.__name__ if is_known and getattr(library, kind.__name__, None) is kind else None


def _frame_columns(frame, at=""):
    """Return the columns of a frame as series, by name."""
    names = list(frame.columns)
    if any(type(name) is not str for name in names) or len(set(names)) < len(names):
        raise _refused(frame, at, f"its columns are {names[:5]}", "it with a different text as the name of each column")
    if not names:
        raise _refused(frame, at, "it has no columns", "it with a column")
    _require_plain_index(frame, at)
    return {name: frame[name] for name in names}


def _require_plain_index(value, at):
    index = getattr(value, "index", None)  # polars has none
    if index is not None and not (type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)):
        raise _refused(value, at, "it has an index", _PLAIN_INDEX)


def _require_same_objects(series, column, at):
    """Refuse objects that Arrow would change, such as numbers of several types, and times with nanoseconds."""
    for row, (value, found) in enumerate(zip(series.tolist(), column.to_pylist())):
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if type(value) in (list, tuple):
            _require_equal(list(value), found or [], (at, row))
        elif found is None:  # a missing value: refused later
            continue
        elif not isinstance(value, type(found)) or isinstance(value, bool) != isinstance(found, bool) or value != found:
            raise _refused(series, at, f"dtype {series.dtype}: {type(value).__name__} {value!r} would come back as {found!r}", _FRAME_COLUMNS)


def _series_form(series, at):
    """Return a series as an array, or as the kind of a column and its parts."""
    _require_plain_index(series, at)
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and (dtype.kind in "biumM" or dtype.kind == "f" and dtype.itemsize <= 8):
        return series.to_numpy()
    try:
        import pyarrow as pa
    except ImportError as e:
        raise LarderError(_message("a column of this dtype needs pyarrow", f"{sys.executable} -m pip install pyarrow", column=at, dtype=dtype,
                                   reason=e)) from e
    try:
        column = series.to_arrow() if hasattr(series, "to_arrow") else pa.array(series, from_pandas=True)
        column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as e:
        raise _refused(series, at, f"dtype {dtype}: {e}", _FRAME_COLUMNS) from e
    values = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if isinstance(values, pa.BaseExtensionType) and values.extension_name != "arrow.fixed_shape_tensor":
        raise _refused(series, at, f"dtype {dtype} is stored in other values", _FRAME_COLUMNS)
    if dtype == object:
        _require_same_objects(series, column, at)
        column = column.cast(pa.large_string()) if len(series) == 0 else column
    kind, form = _stored_arrow(at, column, _FRAME_REMEDIES)
    return form if kind is None else (kind, form)
