"""Makes one table in each format, and the arrays that every format gives for it: make.py (numpy, pyarrow, h5py, polars).

types.npz has the arrays as `larder load` of the Arrow file makes them, built here from pyarrow's arrays and not by Larder. refused.tsv has for each
column of refused.arrow and refused.parquet the words of its refusal. Made with pyarrow 25.0.1 and h5py 3.16.0.
"""

import datetime
import decimal
import pathlib

import h5py
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
ROWS = 7
CATEGORIES = ["category", "large_category", "raw_category", "number_category", "hole_category"]


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, "i8"))]).astype("i8")


def mask(name, nulls):
    return {f"{name}.mask": np.array(nulls)} if np.any(nulls) else {}


def texts(name, values, part):
    encoded = [b"" if v is None else v.encode() if isinstance(v, str) else v for v in values]
    return {f"{name}/{part}": np.frombuffer(b"".join(encoded), "u1"), f"{name}/offsets": offsets([len(e) for e in encoded])}


def dtype(kind):
    if pa.types.is_boolean(kind):
        return np.dtype("?")
    if pa.types.is_decimal(kind):
        return np.dtype("i8")
    if pa.types.is_date32(kind):
        return np.dtype("M8[D]")
    if pa.types.is_date64(kind):
        return np.dtype("M8[ms]")
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return np.dtype(f"m8[{kind.unit}]")
    if pa.types.is_timestamp(kind):
        return np.dtype(f"M8[{kind.unit}]")
    return np.dtype(kind.to_pandas_dtype())


def is_scalar(kind):
    return pa.types.is_primitive(kind) or pa.types.is_decimal(kind)


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def scalars(array):
    kind = array.type
    width = {32: pa.int32(), 64: pa.int64()}
    if pa.types.is_decimal(kind):
        return np.array([0 if v is None else int(v.scaleb(kind.scale)) for v in array.to_pylist()], "i8")
    if pa.types.is_temporal(kind):
        array = array.view(width[kind.bit_width]).cast(pa.int64())
    if array.null_count:
        array = array.fill_null(False if pa.types.is_boolean(kind) else np.float16(0) if kind == pa.float16() else 0)
    found = np.asarray(array.to_numpy(zero_copy_only=False))
    return found.astype("i8").view(dtype(kind)) if pa.types.is_temporal(kind) else found.astype(dtype(kind))


def innermost(kind):
    depth, sizes = 0, []
    while is_list(kind):
        sizes.append(kind.list_size if pa.types.is_fixed_size_list(kind) else None)
        kind, depth = kind.value_type, depth + 1
    return kind, sizes


def numbers_of(value, inner):
    return scalars(pa.array(value, inner)) if not value or not isinstance(value[0], list) else np.stack([numbers_of(v, inner) for v in value])


def scale(name, kind):
    """Return the digits behind the point of decimals."""
    return {f"{name}.scale": np.array(kind.scale, "i8")} if pa.types.is_decimal(kind) else {}


def missing(value):
    """Say of each number in lists whether it is null."""
    return [missing(v) if isinstance(v, list) else v is None for v in value]


def lists(name, array, above):
    inner, sizes = innermost(array.type)
    values = array.to_pylist()
    nulls = above | np.array([v is None for v in values])
    holes = [np.array([] if v is None else missing(v), bool) for v in values]
    has_holes = any(hole.any() for hole in holes)
    if all(sizes):
        zeros = np.zeros(sizes, dtype(inner))
        rows = [zeros if v is None else numbers_of(v, inner) for v in values]
        holes = [np.full(sizes, True) if null else hole for null, hole in zip(nulls, holes, strict=True)]
        return {name: np.stack(rows), **mask(name, nulls), **scale(name, inner), **mask(f"{name}.items", np.stack(holes) if has_holes else [])}
    shapes = []
    for value in values:
        shape, here = [], value or []
        for size in sizes:
            shape.append(size or len(here))
            here = here[0] if here else []
        shapes.append(shape)
    flat = [numbers_of(v, inner).reshape(-1) if v else scalars(pa.array([], inner)) for v in values]
    return {f"{name}/values": np.concatenate(flat), f"{name}/offsets": offsets([len(f) for f in flat]),
            f"{name}/shapes": np.array(shapes, "i8"), **mask(name, nulls), **scale(name, inner),
            **mask(f"{name}.items", np.concatenate([hole.reshape(-1) for hole in holes]) if has_holes else [])}


def items(name, array, above):
    kind = array.type
    nulls = above | np.array([v is None for v in array.to_pylist()])
    lengths = [0 if v is None else len(v) for v in array.to_pylist()]
    found = {f"{name}.offsets": offsets(lengths), **mask(name, nulls)}
    if pa.types.is_map(kind):
        inner = pa.StructArray.from_arrays([array.keys, array.items], fields=[kind.key_field, kind.item_field])
    else:
        inner = array.flatten()
    return {**found, **expect(f"{name}.items", inner, np.zeros(len(inner), bool))}


def expect(name, array, above):
    """Return the arrays of a column; `above` says where what it is a part of is null."""
    kind = array.type
    if isinstance(kind, pa.FixedShapeTensorType):
        found = lists(name, array.storage, above)
        return {k: v.reshape([-1, *kind.shape]) if k == name else v for k, v in found.items()}
    if isinstance(kind, pa.BaseExtensionType):
        return expect(name, array.storage, above)
    if pa.types.is_null(kind):
        return {**texts(name, [None] * len(array), "values"), **mask(name, np.full(len(array), True))}
    nulls = above | np.asarray(array.is_null())
    if pa.types.is_dictionary(kind):
        codes = scalars(array.indices)
        return {name: codes, **mask(name, nulls), **expect(f"{name}.classes", array.dictionary, np.zeros(len(array.dictionary), bool))}
    if is_list(kind):
        inner, _ = innermost(kind)
        return lists(name, array, above) if is_scalar(inner) else items(name, array, above)
    if pa.types.is_map(kind):
        return items(name, array, above)
    if pa.types.is_struct(kind) and [field.name for field in kind] == ["bytes", "path"]:
        paths = array.field("path")
        is_named = any(not null and path is not None for null, path in zip(nulls, paths.to_pylist(), strict=True))
        names = texts(f"{name}/names", paths.to_pylist(), "bytes") if is_named else {}
        return {**expect(name, array.field("bytes"), nulls), **names}
    if pa.types.is_struct(kind):
        parts = {}
        for i, field in enumerate(kind):
            parts.update(expect(f"{name}/{field.name}", array.field(i), nulls))
        return parts
    if pa.types.is_fixed_size_binary(kind):
        rows = b"".join(bytes(kind.byte_width) if v is None else v for v in array.to_pylist())
        return {name: np.frombuffer(rows, "u1").reshape(len(array), kind.byte_width), **mask(name, nulls)}
    if is_scalar(kind):
        return {name: scalars(array), **mask(name, nulls), **scale(name, kind)}
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return {**texts(name, array.to_pylist(), "bytes" if is_text else "values"), **mask(name, nulls)}


def columns():
    whole = np.arange(ROWS)
    kinds = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(),
             pa.float64(), pa.date32(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    kinds += [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")] + [pa.timestamp(unit, "Europe/Berlin") for unit in ("s", "us")]
    kinds += [pa.duration(unit) for unit in ("s", "ms", "us", "ns")]
    table = {"bool": pa.array([i % 3 == 1 for i in range(ROWS)])}
    for kind in kinds:
        name = str(kind).replace("[", "_").replace("]", "").replace(", tz=Europe/Berlin", "_zone")
        width = {32: pa.int32(), 64: pa.int64()}
        if pa.types.is_temporal(kind):
            table[name] = pa.array(whole * 1000 + 7, width[kind.bit_width]).view(kind)
        else:
            table[name] = pa.array((whole * 3 + 1).astype(kind.to_pandas_dtype()))
    day = 24 * 60 * 60 * 1000
    table["date64"] = pa.array(whole * day * 400 - day, pa.int64()).view(pa.date64())
    words = ["", "a", "Zürich", "日本", "\U0001f600", "tab\there", "a longer text of more than twelve bytes"]
    raw = [w.encode()[::-1] for w in words]
    for kind in pa.string(), pa.large_string(), pa.string_view():
        table[str(kind)] = pa.array(words, kind)
    for kind in pa.binary(), pa.large_binary(), pa.binary_view():
        table[str(kind)] = pa.array(raw, kind)
    table["fixed_binary"] = pa.array([bytes([i, 255 - i, 7]) for i in range(ROWS)], pa.binary(3))
    table["uuid"] = pa.array([bytes([i] * 16) for i in range(ROWS)], pa.uuid())
    codes = pa.array([2, 0, 1, 1, 2, 0, 2], pa.int8())
    table["category"] = pa.DictionaryArray.from_arrays(codes, pa.array(["b", "a", "Zürich", "unused"]))
    table["large_category"] = pa.DictionaryArray.from_arrays(codes.cast(pa.uint32()), pa.array(["b", "a", "c"], pa.large_string()))
    table["raw_category"] = pa.DictionaryArray.from_arrays(codes.cast(pa.int32()), pa.array([b"b", b"", b"\xff"]))
    table["number_category"] = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1, 0, 0, 2], pa.int16()), pa.array([30, -10, 20]))
    table["list"] = pa.array([[i] * (i % 3) for i in range(ROWS)], pa.list_(pa.float32()))
    table["large_list"] = pa.array([[i] * (i % 4) for i in range(ROWS)], pa.large_list(pa.int64()))
    table["list_of_bool"] = pa.array([[True, False][:i % 3] for i in range(ROWS)], pa.list_(pa.bool_()))
    table["list_of_times"] = pa.array([[datetime.datetime(2020, 1, 1 + i)] * (i % 3) for i in range(ROWS)], pa.list_(pa.timestamp("s")))
    table["full_list"] = pa.array([[i / 2] * (i % 3 + 1) for i in range(ROWS)], pa.list_(pa.float64()))
    table["full_narrow_list"] = pa.array([list(range(-i, 2)) for i in range(ROWS)], pa.large_list(pa.int8()))
    table["full_list_of_times"] = pa.array([[datetime.datetime(2020, 1, 1 + i)] * 2 for i in range(ROWS)], pa.list_(pa.timestamp("s")))
    table["fixed_list"] = pa.array([[i, i + 0.5, -i] for i in range(ROWS)], pa.list_(pa.float32(), 3))
    table["fixed_of_fixed"] = pa.array([[[i, 1], [2, 3], [4, i]] for i in range(ROWS)], pa.list_(pa.list_(pa.int16(), 2), 3))
    tensor = pa.fixed_shape_tensor(pa.int32(), [2, 3])
    storage = pa.array([list(range(i, i + 6)) for i in range(ROWS)], pa.list_(pa.int32(), 6))
    table["tensor"] = pa.ExtensionArray.from_storage(tensor, storage)
    boxes = [[[i + k] * (i % 2 + 1)] * (i % 3) for k, i in enumerate(range(ROWS))]
    table["list_of_lists"] = pa.array(boxes, pa.list_(pa.list_(pa.int32())))
    table["list_of_fixed"] = pa.array([[[i, 2, 3]] * (i % 3) for i in range(ROWS)], pa.list_(pa.list_(pa.float64(), 3)))
    table["fixed_of_lists"] = pa.array([[[i] * (i % 3)] * 2 for i in range(ROWS)], pa.list_(pa.list_(pa.float64()), 2))
    table["list_of_strings"] = pa.array([["x" * k for k in range(i % 4)] for i in range(ROWS)], pa.list_(pa.string()))
    table["list_of_binary"] = pa.array([[b"x"] * (i % 3) for i in range(ROWS)], pa.list_(pa.large_binary()))
    table["list_of_fixed_binary"] = pa.array([[b"xyz"] * (i % 3) for i in range(ROWS)], pa.list_(pa.binary(3)))
    table["list_of_categories"] = pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 3, 5, 7, 7], pa.int32()), table["category"])
    table["lists_of_strings"] = pa.array([[["p", "q"][:k] for k in range(i % 4)] for i in range(ROWS)], pa.list_(pa.list_(pa.string())))
    point = pa.struct([("x", pa.int32()), ("word", pa.string()), ("path", pa.list_(pa.float32()))])
    points = [{"x": k, "word": "w" * k, "path": [0.5] * k} for k in range(4)]
    table["list_of_structs"] = pa.array([points[:i % 4] for i in range(ROWS)], pa.list_(point))
    table["struct"] = pa.array([{"a": i, "b": {"c": str(i), "d": [i, i]}} for i in range(ROWS)],
                               pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string()), ("d", pa.list_(pa.int8(), 2))]))]))
    file = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table["image"] = pa.array([{"bytes": b"x" * i, "path": f"{i}.png" if i % 2 else None} for i in range(ROWS)], file)
    table["sound"] = pa.array([{"bytes": b"x" * i, "path": None} for i in range(ROWS)], file)
    table["map"] = pa.array([[(str(k), k / 2) for k in range(i % 3)] for i in range(ROWS)], pa.map_(pa.string(), pa.float64()))
    cents = [decimal.Decimal((-1) ** i * 10**i * 7).scaleb(-2) for i in range(ROWS)]
    for kind in pa.decimal32(9, 2), pa.decimal64(12, 2), pa.decimal128(10, 2), pa.decimal128(38, 9), pa.decimal256(50, 2):
        table[f"decimal{kind.bit_width}_{kind.precision}"] = pa.array(cents, kind)
    table["least_decimals"] = pa.array([decimal.Decimal(v) for v in (-2**63, 2**63 - 1, -1, 0, 1, -2**31, 2**40)], pa.decimal128(38, 0))
    table["list_of_decimals"] = pa.array([cents[:i % 4] for i in range(ROWS)], pa.list_(pa.decimal128(20, 4)))
    table["fixed_of_decimals"] = pa.array([[v, -v] for v in cents], pa.list_(pa.decimal128(20, 3), 2))
    table["map_of_decimals"] = pa.array([[(str(v), v)] * (i % 3) for i, v in enumerate(cents)], pa.map_(pa.string(), pa.decimal128(12, 3)))
    table["null"] = pa.nulls(ROWS)
    table["list_of_nulls"] = pa.array([[None] * (i % 3) for i in range(ROWS)], pa.list_(pa.null()))
    table["map_of_lists"] = pa.array([[(k, [k] * k) for k in range(i % 3)] for i in range(ROWS)], pa.map_(pa.int32(), pa.list_(pa.int32())))
    return table


def with_nulls(table):
    """Return the columns with a row that is null; those of structs and lists with parts that are, too, where a mask shows them."""
    holes = {f"hole_{name}": pa.array([None if i % 3 == 1 else v for i, v in enumerate(array.to_pylist())], array.type)
             for name, array in table.items()
             if name not in ("tensor", "uuid") and "category" not in name and "categories" not in name and "fixed" not in name}
    for name in "fixed_list", "fixed_of_fixed", "fixed_binary", "list_of_fixed":
        holes[f"hole_{name}"] = pa.array([None if i % 3 == 1 else v for i, v in enumerate(table[name].to_pylist())], table[name].type)
    holes["hole_category"] = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, None, 2, 0, 0], pa.int8()), pa.array(["b", "a", "c"]))
    holes["holes_in_list"] = pa.array([None if i == 3 else [1, None, -3, None][:i % 5] for i in range(ROWS)], pa.list_(pa.int16()))
    holes["holes_in_list_of_bool"] = pa.array([[None, True, False, None][:i % 5] for i in range(ROWS)])
    holes["holes_in_large_list"] = pa.array([[None, 0.5] * (i % 3) for i in range(ROWS)], pa.large_list(pa.float64()))
    holes["holes_in_list_of_times"] = pa.array([[None, i] for i in range(ROWS)], pa.list_(pa.timestamp("us")))
    holes["holes_in_list_of_decimals"] = pa.array([[None, decimal.Decimal(i)] for i in range(ROWS)], pa.list_(pa.decimal128(9, 2)))
    holes["holes_in_fixed_list"] = pa.array([None if i == 2 else [i, None if i % 2 else 7] for i in range(ROWS)], pa.list_(pa.int32(), 2))
    holes["holes_in_fixed_of_fixed"] = pa.array([None if i == 4 else [[i, None], [None if i == 1 else 1, 2]] for i in range(ROWS)],
                                                pa.list_(pa.list_(pa.float32(), 2), 2))
    holes["holes_in_lists_of_lists"] = pa.array([None if i == 2 else [[None, i], [i, None]][:i % 3] for i in range(ROWS)],
                                                pa.list_(pa.list_(pa.int64())))
    holes["holes_in_list_of_strings"] = pa.array([["a", None, "b"][:i % 4] for i in range(ROWS)])
    point = pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))])
    values = [{"x": 1, "y": {"z": "a"}}, {"x": None, "y": None}, None, {"x": 4, "y": {"z": None}}]
    holes["holes_in_list_of_structs"] = pa.array([None if i == 5 else values[:i % 5] for i in range(ROWS)], pa.list_(point))
    holes["holes_in_struct"] = pa.array([values[i % 4] for i in range(ROWS)], point)
    holes["holes_in_map"] = pa.array([[("k", None), ("l", 1)][:i % 3] for i in range(ROWS)], pa.map_(pa.string(), pa.int8()))
    return holes


def refused():
    wide = [decimal.Decimal(2**63), decimal.Decimal(-(2**63) - 1)]
    lost = "int64 lacks a decimal, which has no point there: value="
    return {
        "wide_decimal": (pa.array(wide, pa.decimal256(50, 0)), f"{lost}{2**63}"),
        "wide_decimals": (pa.array([wide[1:], []], pa.list_(pa.decimal128(38, 0))), f"{lost}{-2**63 - 1}"),
        "null_lists_in_lists": (pa.array([[[1], None], [[2], [3]]]), "rows have null lists in them"),
        "null_lists_in_fixed_lists": (pa.array([[[1], None], [[2], [3]]], pa.list_(pa.list_(pa.int64(), 1), 2)), "rows have null lists in them"),
        "no_boxes": (pa.array([[[1, 2]], [[1], [2, 3]]]), "has lists of different lengths within each other"),
    }


def write_hdf5(table):
    """HDF5 has numbers, texts, arrays of more dimensions and lists of numbers; no times, no nulls, no structs that are read."""
    with h5py.File(HERE / "types.h5", "w") as file:
        for name, array in table.items():
            kind = array.type
            if is_scalar(kind) and not pa.types.is_temporal(kind) and not pa.types.is_decimal(kind):
                file[name] = scalars(array)
            elif name == "string":
                file.create_dataset(name, data=[w.encode() for w in array.to_pylist()], dtype=h5py.string_dtype())
            elif name in ("fixed_list", "fixed_of_fixed", "tensor"):
                file[name] = expect(name, array, np.zeros(ROWS, bool))[name]
            elif name in ("list", "large_list"):
                rows = file.create_dataset(name, (ROWS,), dtype=h5py.vlen_dtype(dtype(kind.value_type)))
                for i, row in enumerate(array.to_pylist()):
                    rows[i] = np.array(row, dtype(kind.value_type))


def main():
    plain = columns()
    holes = with_nulls(plain)
    table = pa.table({**plain, **holes})
    arrays = {}
    for name, array in {**plain, **holes}.items():
        arrays.update(expect(name, array, np.zeros(ROWS, bool)))
    np.savez_compressed(HERE / "types.npz", **arrays)
    with pa.ipc.new_file(HERE / "types.arrow", table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, HERE / "types.parquet", compression="snappy")
    pq.write_table(table, HERE / "types-in-pieces.parquet", compression="none", row_group_size=3, data_page_version="2.0",
                   use_dictionary=[*CATEGORIES, "list_of_categories.list.element"])
    write_hdf5(plain)
    in_text = table.select(["int64", "double", "string", "bool", "hole_string", "hole_bool"])
    pl.from_arrow(in_text).write_csv(HERE / "types.csv")
    bad = refused()
    both = pa.table({"good": [1, 2], **{name: array for name, (array, _) in bad.items()}})
    with pa.ipc.new_stream(HERE / "refused.arrow", both.schema) as writer:
        writer.write_table(both)
    pq.write_table(both, HERE / "refused.parquet")
    (HERE / "refused.tsv").write_text("".join(f"{name}\t{words}\n" for name, (_, words) in bad.items()))


if __name__ == "__main__":
    main()
