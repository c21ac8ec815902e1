"""Keys of values from optional libraries (torch, pandas, polars) and of objects that only have an identity."""

from __future__ import annotations

import sys

from ._inputs import _sha256
from ._libraries import _version_of

_MOST_GLOBAL_BYTES = 1 << 20

# A stored result does not advance a generator: the next call would have the same key and the same numbers.
_GENERATORS = {"numpy": "numpy.random.default_rng(seed)", "random": "random.Random(seed)", "torch": "torch.Generator().manual_seed(seed)"}


def _foreign(keys, value):
    """Return the key of a value of such a library, or None for any other value."""
    kind = type(value)
    top = str(kind.__module__).partition(".")[0]
    library = sys.modules.get(top)
    if top == "torch" and hasattr(library, "nn") and kind in (library.Tensor, library.nn.Parameter):
        return _tensor(keys, value, library)
    if top in _GENERATORS and _is_generator(value, top, library):
        keys.refuse(value, remedy=f"pass a seed, and make the generator in the function: {_GENERATORS[top]}")
    if top == "pandas" and hasattr(library, "DataFrame"):
        return _of_pandas(keys, value, library)
    if top == "polars" and hasattr(library, "DataFrame"):
        return _of_polars(keys, value, library)
    return _sentinel(keys, value) if kind is object else None


def _is_generator(value, top, library):
    if top == "numpy":
        return isinstance(value, (library.random.Generator, library.random.RandomState, library.random.BitGenerator, library.random.SeedSequence))
    return isinstance(value, getattr(library, "Random", ())) if top == "random" else isinstance(value, getattr(library, "Generator", ()))


def _sentinel(keys, value):
    """Return the key of an object that only has an identity: all its names in modules, because one name may later refer to another object.

    Another process that has imported other modules may have another key.
    """
    places = {(keys.module_name(module), name) for module, names in list(sys.modules.items()) if isinstance(module, str) and module != "builtins"  # in a shell its _ is the last result
              for name, found in list(getattr(names, "__dict__", {}).items()) if found is value}
    if not places:
        keys.refuse(value, remedy="pass None, a text or a member of an enum, or keep the object in a global of a module")
    return ["sentinel", sorted(places)]


def _tensor(keys, tensor, torch):
    if tensor.layout is not torch.strided or tensor.grad_fn is not None or tensor.is_quantized or tensor.is_conj() or tensor.is_neg() or tensor.is_meta:
        keys.refuse(tensor, remedy="pass tensor.detach(), dense and not quantized, or tensor.numpy()")
    if keys.in_global and tensor.nbytes > _MOST_GLOBAL_BYTES:
        keys.refuse(tensor, f"{tensor.nbytes} bytes in a global", "pass it as an argument")
    plain = torch.Tensor.detach(tensor).cpu().contiguous().reshape(-1)
    contents = _sha256(plain.view(torch.uint8).numpy()).hexdigest() if plain.numel() else ""
    return ["tensor", type(tensor).__name__, str(tensor.dtype), list(tensor.shape), list(tensor.stride()), str(tensor.device),
            tensor.requires_grad, keys.value(tensor.grad), keys.value(vars(tensor)), contents]


# pandas. Each key contains its version, because a function reads the code of a frame's methods through its argument.


def _of_pandas(keys, value, pandas):
    kind = type(value)
    if value is pandas.NA or value is pandas.NaT:
        return ["pandas", repr(value)]
    if kind in (pandas.Timestamp, pandas.Timedelta):
        return ["pandas", kind.__name__, keys.value(value.asm8), keys.value(getattr(value, "tz", None)), getattr(value, "fold", 0)]
    if kind in (pandas.DataFrame, pandas.Series):
        if kind is pandas.Series:
            held = [keys.value(value.name), _pandas_array(keys, value.array, pandas)]
        else:
            # The layout counts, because a sum of rows adds columns in memory order.
            blocks = [[block.mgr_locs.as_array.tolist(), getattr(block.values, "strides", None)] for block in getattr(value._mgr, "blocks", ())]
            held = [keys.value(value.columns), blocks, [_pandas_part(keys, f"column {name if isinstance(name, str) else at}", value.iloc[:, at].array, pandas)
                                                        for at, name in enumerate(value.columns)]]
        return ["pandas", kind.__name__, _version_of("pandas"), held, _pandas_part(keys, "the index", value.index, pandas), keys.value(value.attrs),
                value.flags.allows_duplicate_labels]
    return _pandas_index(keys, value, pandas) if isinstance(value, pandas.Index) else None


def _pandas_part(keys, place, value, pandas):
    keys.at.append(place)
    key = (_pandas_index if isinstance(value, pandas.Index) else _pandas_array)(keys, value, pandas)
    keys.at.pop()
    return key


def _pandas_index(keys, index, pandas):
    kind = type(index)
    key = ["pandas", kind.__name__, [keys.value(name) for name in index.names]]
    if kind is pandas.RangeIndex:
        return [*key, index.start, index.stop, index.step]
    if kind is pandas.MultiIndex:
        return [*key, index.sortorder, [_pandas_index(keys, level, pandas) for level in index.levels], [keys.value(codes) for codes in index.codes]]
    if kind in (pandas.Index, pandas.DatetimeIndex, pandas.TimedeltaIndex, pandas.CategoricalIndex):
        return [*key, _pandas_array(keys, index.array, pandas)]
    keys.refuse(index, remedy="pass it.reset_index(drop=True), and the index as an array")


def _pandas_array(keys, array, pandas):
    kind, arrays = type(array), pandas.arrays
    key = [kind.__name__, str(array.dtype)]
    if kind is getattr(arrays, "NumpyExtensionArray", None) or kind.__name__ == "PandasArray":
        return [*key, keys.value(array.to_numpy())]
    if kind is arrays.DatetimeArray or kind is arrays.TimedeltaArray:
        return [*key, keys.value(array.asi8), keys.value(getattr(array, "tz", None)), None if array.freq is None else array.freq.freqstr]
    if kind is pandas.Categorical:
        return [*key, keys.value(array.codes), _pandas_index(keys, array.categories, pandas), array.ordered]
    if kind in (arrays.IntegerArray, arrays.FloatingArray, arrays.BooleanArray):
        return [*key, keys.value(array._data), keys.value(array._mask)]
    if kind is getattr(arrays, "ArrowExtensionArray", None):
        return [*key, *_arrow_chunks(array.__arrow_array__())]
    if isinstance(array.dtype, pandas.StringDtype):
        missing = array.dtype.na_value
        return [*key, array.dtype.storage, repr(missing), [None if text is missing or text != text else text for text in array.to_numpy(object)]]
    keys.refuse(array, f"dtype {array.dtype}", "pass it.to_numpy(), texts as list(it), in a dict: {name: it[name].to_numpy() for name in it}")


def _arrow_chunks(column):
    """Return the lengths of chunks of a `pyarrow.ChunkedArray`, and the digest of its contents."""
    import pyarrow as pa

    file = _Hashed()
    with pa.ipc.new_stream(pa.PythonFile(file, "w"), pa.schema([("x", column.type)])) as stream:
        stream.write_table(pa.table([column], ["x"]))
    return [list(map(len, column.chunks)), file.sha.hexdigest()]


# polars.


class _Hashed:
    """A file that keeps only the digest of its contents."""

    closed = False

    def __init__(self):
        self.sha = _sha256()

    def write(self, data):
        self.sha.update(data)
        return len(data)

    def flush(self):
        pass


def _of_polars(keys, value, polars):
    if type(value) is polars.Series:
        return ["polars", "Series", _version_of("polars"), _polars_series(keys, value)]
    if type(value) is polars.DataFrame:
        return ["polars", "DataFrame", _version_of("polars"), value.shape, [_polars_series(keys, series) for series in value.get_columns()]]
    if type(value) is polars.LazyFrame:
        keys.refuse(value, remedy="pass it.collect()")
    return None


def _polars_series(keys, series):
    dtype = repr(series.dtype)
    if "Categorical" in dtype or "Object" in dtype:  # their codes depend on earlier values of the process, or are addresses
        keys.refuse(series, f"column {series.name} of dtype {dtype}", "pass it.cast(polars.String), or it.to_list()")
    file = _Hashed()
    series.to_frame().write_ipc(file, compression="uncompressed")
    return [series.name, dtype, sorted(series.flags.items()), series.chunk_lengths(), file.sha.hexdigest()]
