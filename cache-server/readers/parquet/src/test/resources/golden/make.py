"""Makes the golden files of Parquet, and what numpy has of them: make.py (numpy, pyarrow)."""

import base64
import pathlib
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

HERE = pathlib.Path(__file__).parent
ROWS = 500
RNG = np.random.default_rng(11)


def text(value):
    """Say what is expected of an array as the test does."""
    data = np.ascontiguousarray(value).tobytes()
    words = data.hex() if len(data) <= 64 else "crc " + format(zlib.crc32(data), "x")
    return f"{value.dtype.str} {list(value.shape)} {words}"


def numbers():
    kinds = {"i8": pa.int8(), "u8": pa.uint8(), "i16": pa.int16(), "u16": pa.uint16(), "i32": pa.int32(),
             "u32": pa.uint32(), "i64": pa.int64(), "u64": pa.uint64(), "f16": pa.float16(), "f32": pa.float32(),
             "f64": pa.float64(), "flag": pa.bool_()}
    columns, expected = {}, {}
    for name, kind in kinds.items():
        dtype = np.dtype({"halffloat": "f2", "float": "f4", "double": "f8", "bool": "?"}.get(str(kind), str(kind)))
        value = RNG.integers(0, 2 if name == "flag" else 100, ROWS).astype(dtype)
        columns[name] = pa.array(value, kind)
        expected[name] = text(value)
    for unit in "ms", "us", "ns":
        value = RNG.integers(0, 2**40, ROWS).astype(f"<M8[{unit}]")
        columns["at_" + unit] = pa.array(value)
        expected["at_" + unit] = text(value)
    days = RNG.integers(0, 20000, ROWS).astype("<M8[D]")
    columns["day"] = pa.array(days)
    expected["day"] = text(days)
    return columns, expected


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype("<i8")


def rows():
    columns, expected = {}, {}
    texts = ["t" * (i % 7) + "ä" for i in range(ROWS)]
    columns["word"] = pa.array(texts)
    expected["word/bytes"] = text(np.frombuffer("".join(texts).encode(), "u1"))
    expected["word/offsets"] = text(offsets([len(t.encode()) for t in texts]))
    raw = [bytes([i % 251]) * (i % 5) for i in range(ROWS)]
    columns["raw"] = pa.array(raw, pa.binary())
    expected["raw/values"] = text(np.frombuffer(b"".join(raw), "u1"))
    expected["raw/offsets"] = text(offsets([len(r) for r in raw]))
    lists = [list(range(i % 4)) for i in range(ROWS)]
    columns["list"] = pa.array(lists, pa.list_(pa.int32()))
    expected["list/values"] = text(np.concatenate([np.array(r, "<i4") for r in lists]))
    expected["list/offsets"] = text(offsets([len(r) for r in lists]))
    expected["list/shapes"] = text(np.array([[len(r)] for r in lists], "<i8"))
    hole = [None if i % 3 == 0 else i for i in range(ROWS)]
    columns["hole"] = pa.array(hole, pa.int64())
    expected["hole"] = text(np.array([i or 0 for i in hole], "<i8"))
    expected["hole.mask"] = text(np.array([i is None for i in hole]))
    maybe = [None if i % 4 == 1 else "m" * (i % 3) for i in range(ROWS)]
    columns["maybe"] = pa.array(maybe)
    expected["maybe/bytes"] = text(np.frombuffer("".join(m or "" for m in maybe).encode(), "u1"))
    expected["maybe/offsets"] = text(offsets([len(m or "") for m in maybe]))
    expected["maybe.mask"] = text(np.array([m is None for m in maybe]))
    few = [None if i % 5 == 0 else [1.5] * (i % 3) for i in range(ROWS)]
    columns["few"] = pa.array(few, pa.list_(pa.float64()))
    expected["few/values"] = text(np.full(sum(len(f or []) for f in few), 1.5))
    expected["few/offsets"] = text(offsets([len(f or []) for f in few]))
    expected["few/shapes"] = text(np.array([[len(f or [])] for f in few], "<i8"))
    expected["few.mask"] = text(np.array([f is None for f in few]))
    columns["pair"] = pa.array([{"x": i, "y": None if i % 2 else i * 0.5} for i in range(ROWS)],
                               pa.struct([("x", pa.int32()), ("y", pa.float64())]))
    expected["pair/x"] = text(np.arange(ROWS, dtype="<i4"))
    expected["pair/y"] = text(np.array([0 if i % 2 else i * 0.5 for i in range(ROWS)]))
    expected["pair/y.mask"] = text(np.array([bool(i % 2) for i in range(ROWS)]))
    outer = [None if i % 10 == 0 else {"z": i} for i in range(ROWS)]
    columns["outer"] = pa.array(outer, pa.struct([("z", pa.int32())]))
    expected["outer/z"] = text(np.array([0 if o is None else o["z"] for o in outer], "<i4"))
    expected["outer/z.mask"] = text(np.array([o is None for o in outer]))
    fixed = [bytes([i % 256, 1, 2]) for i in range(ROWS)]
    columns["fixed"] = pa.array(fixed, pa.binary(3))
    expected["fixed"] = text(np.frombuffer(b"".join(fixed), "u1").reshape(ROWS, 3))
    return columns, expected


def nested():
    """Make lists within structs, structs within lists, and what pyarrow has of them."""
    rows = [{"ids": list(range(i % 3)), "box": {"xs": [i * 0.5] * (i % 2)}, "n": i} for i in range(20)]
    kind = pa.struct([("ids", pa.list_(pa.int32())), ("box", pa.struct([("xs", pa.list_(pa.float64()))])),
                      ("n", pa.int16())])
    points = [[{"x": i, "y": -i}] * (i % 4) for i in range(20)]
    table = pa.table({"s": pa.array(rows, kind),
                      "points": pa.array(points, pa.list_(pa.struct([("x", pa.int32()), ("y", pa.int64())]))),
                      "codes": pa.array([[(1, 2)]] * 20, pa.map_(pa.int32(), pa.int32()))})
    expected = {"s/n": text(np.arange(20, dtype="<i2"))}

    def ragged(name, lists, dtype):
        lengths = [len(r) for r in lists]
        expected[name + "/values"] = text(np.array([v for r in lists for v in r], dtype))
        expected[name + "/offsets"] = text(offsets(lengths))
        expected[name + "/shapes"] = text(np.array(lengths, "<i8").reshape(-1, 1))

    ragged("s/ids", [r["ids"] for r in rows], "<i4")
    ragged("s/box/xs", [r["box"]["xs"] for r in rows], "<f8")
    for field, dtype in ("x", "<i4"), ("y", "<i8"):
        expected["points.items/" + field] = text(np.array([p[field] for r in points for p in r], dtype))
    expected["points.offsets"] = text(offsets([len(r) for r in points]))
    expected["codes.items/key"] = text(np.full(20, 1, "<i4"))
    expected["codes.items/value"] = text(np.full(20, 2, "<i4"))
    expected["codes.offsets"] = text(offsets([1] * 20))
    return table, expected


def write_lie():
    """Write a column with 77 nulls of which the metadata says 0."""
    path = HERE / "lying.parquet"
    pq.write_table(pa.table({"x": pa.array([None if i < 77 else i for i in range(100)], pa.int64())}), path,
                   use_dictionary=False, compression="NONE")
    data = path.read_bytes()
    said, lie = b"\x16\x9a\x01", b"\x16\x80\x00"  # the field after the one before it: 77, zigzag; 0
    assert data.count(said) >= 1
    path.write_bytes(data.replace(said, lie))


def patched(name, table, before, after, **options):
    """Write a file, and put other bytes where some are."""
    path = HERE / name
    pq.write_table(table, path, use_dictionary=False, compression="NONE", write_statistics=False, store_schema=False,
                   **options)
    data = path.read_bytes()
    assert data.count(before) == 1 and len(before) == len(after)
    path.write_bytes(data.replace(before, after))


def write_contradictions():
    """Write files that are no Parquet any more: integers of a width that their type has not, numbers out of range, a lost column."""
    at = pa.table({"at": pa.array([1, 2], pa.timestamp("us")), "good": pa.array([1, 2])})
    patched("narrow-times.parquet", at, b"\x15\x04\x25\x02\x18\x02at", b"\x15\x02\x25\x02\x18\x02at")
    small = pa.table({"small": pa.array([5, 6, 7], pa.int8())})
    patched("large-byte.parquet", small, np.array([6, 7], "<i4").tobytes(), np.array([300, 7], "<i4").tobytes())
    patched("lost-column.parquet", at, b"\x18\x06schema\x15\x04", b"\x18\x06schema\x15\x02")


def write_bare_lists():
    """Write repeated fields without the mark of a list, as writers of other libraries do."""
    kind = pa.list_(pa.field("element", pa.int32(), False))
    lists = [[1, 2], [], [3], []]
    structs = pa.array([{"x": row} if i != 3 else None for i, row in enumerate(lists)], pa.struct([pa.field("x", kind, False)]))
    table = pa.table({"x": pa.array(lists, kind), "s": structs}, schema=pa.schema([pa.field("x", kind, False), ("s", structs.type)]))
    path = HERE / "bare-lists.parquet"
    pq.write_table(table, path, store_schema=False)
    data = path.read_bytes()
    marked = b"\x18\x01x\x15\x02\x15\x06L<\x00\x00\x00"
    assert data.count(marked) == 2
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:-8].replace(marked, b"\x18\x01x\x15\x02\x00")
    path.write_bytes(data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def write_full_lists():
    """Write a table in three files: lists without nulls and empty ones, then with both, then without."""
    lists = [[[1, 2], [3]], [[4], None, [], [5, 6]], [[7], [8, 9]]]
    for number, rows in enumerate(lists):
        pq.write_table(pa.table({"list": pa.array(rows, pa.list_(pa.int16()))}), HERE / f"full-{number}.parquet", row_group_size=1)
    uncounted = pa.table({"list": pa.array([[1.5, 2], None, [], [3]], pa.list_(pa.float64()))})
    pq.write_table(uncounted, HERE / "uncounted-lists.parquet", use_dictionary=False, write_statistics=False)


def write_lying_schemas():
    """Write data with the Arrow schema of other data."""
    at = pa.array([1500, 2000], pa.int64())
    table = {
        "lengths": (pa.array([[1, 2], [3]], pa.list_(pa.int32())), pa.list_(pa.int32(), 2)),
        "boxes": (pa.array([[[1, 2]], [[3], [4]]]), pa.list_(pa.list_(pa.int64(), 2))),
        "parts": (at.cast(pa.timestamp("ms")), pa.timestamp("s")),
        "number": (pa.array([1, 2], pa.int32()), pa.dictionary(pa.int8(), pa.string())),
        "stamp": (at.cast(pa.timestamp("us")), pa.duration("s")),
        "text": (pa.array(["a", "b"]), pa.dictionary(pa.int8(), pa.binary())),
        "bare": (at, pa.struct([("x", pa.int64())])),
        "days": (pa.array([1, 2], pa.int32()), pa.date64()),
        "list": (pa.array([[1], [2]]), pa.int64()),
        "wide": (pa.array(["a", "b"]), pa.dictionary(pa.int8(), pa.string())),
    }
    lie = base64.b64encode(pa.schema([(name, kind) for name, (_, kind) in table.items()]).serialize().to_pybytes())
    lying = pa.table({name: array for name, (array, _) in table.items()})
    with pq.ParquetWriter(HERE / "lying-schema.parquet", lying.schema, store_schema=False) as writer:
        writer.write_table(lying)
        writer.add_key_value_metadata({"ARROW:schema": lie})


def coded(rows, kind):
    """Return rows that are all different, as codes if that is their kind."""
    if not pa.types.is_dictionary(kind):
        return pa.array(rows, kind)
    return pa.DictionaryArray.from_arrays(pa.array(range(len(rows)), kind.index_type), pa.array(rows, kind.value_type))


def write_mixed_schemas():
    """Write files of one table whose Arrow schemas differ, if Parquet has the same values: type of codes, dictionaries or none, lengths of lists."""
    texts, lists = pa.string(), pa.int32()
    files = [
        (pa.dictionary(pa.int8(), texts), pa.list_(lists, 2), pa.dictionary(pa.int8(), pa.int64()), ["b", "a"], [[1, 2], [3, 4]]),
        (pa.dictionary(pa.int16(), texts), pa.list_(lists, 2), pa.dictionary(pa.int16(), pa.int64()), ["b", "a"], [[5, 6], None]),
        (texts, pa.list_(lists), pa.int64(), ["c", "a"], [[7], []]),
        (pa.dictionary(pa.int8(), pa.binary()), pa.list_(lists, 1), pa.dictionary(pa.int8(), pa.int32()), [b"b", b"a"], [[8], [9]]),
    ]
    for number, (words, kind, numbers, rows, values) in enumerate(files):
        table = {"word": coded(rows, words), "list": pa.array(values, kind), "number": coded([30, 20], numbers)}
        pq.write_table(pa.table(table), HERE / f"mixed-{number}.parquet")


def write_forged_lengths():
    """Write few values with an Arrow schema of lists so long that they would take gigabytes; with counts of nulls and without."""
    length = pa.list_(pa.int32(), 2**30)
    all_nulls = [None, None, None]
    table = {
        "full": (pa.array([[1, 2]] * 3), length),
        "hole": (pa.array([[1, 2], None, [3, 4]]), length),
        "empty": (pa.array([[1, 2], [], [3, 4]]), length),
        "null": (pa.array(all_nulls, pa.list_(pa.int32())), length),
        "box": (pa.array([[[1, 2]]] * 3), pa.list_(pa.list_(pa.int64(), 2**16), 2**16)),
        "deep": (pa.array([[[[1]]]] * 3), pa.list_(pa.list_(pa.list_(pa.int64(), 2**31 - 1), 2**31 - 1), 2**31 - 1)),
        "bytes": (pa.array(all_nulls, pa.binary(2**24)), pa.binary(2**24)),
    }
    lie = base64.b64encode(pa.schema([(name, kind) for name, (_, kind) in table.items()]).serialize().to_pybytes())
    data = pa.table({name: array for name, (array, _) in table.items()})
    for name, has_counts in ("counted", True), ("uncounted", False):
        with pq.ParquetWriter(HERE / f"forged-{name}.parquet", data.schema, store_schema=False, write_statistics=has_counts) as writer:
            writer.write_table(data)
            writer.add_key_value_metadata({"ARROW:schema": lie})


def varint(value):
    """Return a number as footers have it."""
    value, parts = 2 * value, []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def write_forged_rows():
    """Write 77 rows whose footer claims as many as would take terabytes."""
    rows, claim = 77, 2**40
    table = pa.table({
        "number": pa.array(range(rows)),
        "hole": pa.array([None, *range(rows - 1)], pa.int32()),
        "word": pa.array(["ab"] * rows),
        "code": pa.array(["ab"] * rows).dictionary_encode(),
        "uuid": pa.array([b"0123456789abcdef"] * rows, pa.binary(16)),
        "fixed": pa.array([[i] for i in range(rows)], pa.list_(pa.int32(), 1)),
        "list": pa.array([[i] for i in range(rows)], pa.list_(pa.int32())),
        "text": pa.array([["ab"]] * rows),
    })
    said = b"\x16" + varint(rows)
    for name, claims_values in ("many-rows", False), ("many-values", True):
        path = HERE / f"{name}.parquet"
        pq.write_table(table, path)
        data = path.read_bytes()
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        parts = data[start:-8].split(said)
        assert len(parts) == 2 + table.num_columns + 1  # those of the file, of each column, and of the row group
        middle = (b"\x16" + varint(claim) if claims_values else said).join(parts[1:-1])
        footer = (b"\x16" + varint(claim)).join([parts[0], middle, parts[-1]])
        path.write_bytes(data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
        found = pq.read_metadata(path)
        assert found.num_rows == claim == found.row_group(0).num_rows


def write_refused():
    """Write columns that no array can hold."""
    lists = pa.list_(pa.list_(pa.int64()))
    refused = pa.table({
        "good": pa.array([1, 2]),
        "deep": pa.array([[[1, 2]], [[2], [3, 4]]]),
        "points": pa.array([[{"x": [[1], None]}], []], pa.list_(pa.struct([("x", lists)]))),
        "map": pa.array([[("a", [None])], []], pa.map_(pa.string(), lists)),
        "holes": pa.array([[[1], None], []], lists),
    })
    pq.write_table(refused, HERE / "refused.parquet")


def write_encrypted():
    """Write a file whose columns are encrypted, under keys that only pretend to be."""

    class Keys(pe.KmsClient):
        def __init__(self, config):
            pe.KmsClient.__init__(self)

        def wrap_key(self, key_bytes, master_key_identifier):
            return base64.b64encode(key_bytes)

        def unwrap_key(self, wrapped_key, master_key_identifier):
            return base64.b64decode(wrapped_key)

    config = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["x"]})
    properties = pe.CryptoFactory(Keys).file_encryption_properties(pe.KmsConnectionConfig(), config)
    table = pa.table({"x": pa.array([1, 2])})
    with pq.ParquetWriter(HERE / "encrypted.parquet", table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)


def write_tiny():
    """Write files of which most bytes are headers, to be damaged: pages of both versions, with an index of pages and without."""
    (HERE / "tiny").mkdir(exist_ok=True)
    table = pa.table({
        "number": pa.array(range(30), pa.int32()),
        "word": pa.array([f"t{i % 5}" for i in range(30)]),
        "list": pa.array([list(range(i % 4)) for i in range(30)], pa.list_(pa.int64())),
        "hole": pa.array([None if i % 3 == 0 else i * 1.5 for i in range(30)]),
    })
    for codec in "none", "snappy", "gzip", "zstd", "lz4", "brotli":
        pq.write_table(table, HERE / f"tiny/{codec}-1.parquet", compression=codec, row_group_size=16)
        pq.write_table(table, HERE / f"tiny/{codec}-2.parquet", compression=codec, data_page_version="2.0",
                       use_dictionary=False, write_page_index=True)


def durations():
    """Make durations of all units at all depths, and what numpy has of them; and a table of the same types without any metadata."""
    columns, expected = {}, {}
    for unit in "s", "ms", "us", "ns":
        value = RNG.integers(-2**40, 2**40, 20).astype(f"<m8[{unit}]")
        columns["d_" + unit] = pa.array(value)
        expected["d_" + unit] = text(value)
    us = [None if i % 3 == 0 else i * 1000 for i in range(20)]
    columns["hole"] = pa.array(us, pa.duration("us"))
    expected["hole"] = text(np.array([i or 0 for i in us], "<m8[us]"))
    expected["hole.mask"] = text(np.array([i is None for i in us]))
    lists = [list(range(i % 4)) for i in range(20)]
    columns["list"] = pa.array(lists, pa.list_(pa.duration("ms")))
    columns["st"] = pa.array([{"a": i, "b": {"c": [i] * (i % 3)}} for i in range(20)], pa.struct(
        [("a", pa.duration("ns")), ("b", pa.struct([("c", pa.large_list(pa.duration("s")))]))]))
    columns["points"] = pa.array([[{"t": i, "n": i}] for i in range(20)],
                                 pa.list_(pa.struct([("t", pa.duration("us")), ("n", pa.int64())])))
    columns["codes"] = pa.array([{"x": 1}], pa.map_(pa.string(), pa.int32())).take(pa.array([0] * 20))
    columns["plain"] = pa.array(range(20))
    expected["plain"] = text(np.arange(20))
    expected["st/a"] = text(np.arange(20).astype("<m8[ns]"))
    expected["points.items/t"] = text(np.arange(20).astype("<m8[us]"))
    expected["points.items/n"] = text(np.arange(20))
    expected["points.offsets"] = text(offsets([1] * 20))
    for name, rows, dtype in (("list", lists, "<m8[ms]"), ("st/b/c", [[i] * (i % 3) for i in range(20)], "<m8[s]")):
        expected[name + "/values"] = text(np.array([v for r in rows for v in r], "<i8").astype(dtype))
        expected[name + "/offsets"] = text(offsets([len(r) for r in rows]))
        expected[name + "/shapes"] = text(np.array([[len(r)] for r in rows], "<i8"))
    return pa.table(columns), expected


def extremes():
    """Make the least and the greatest number of each type, beside a null."""
    columns, expected = {}, {}
    for name in "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8":
        limits = np.iinfo(name)
        value = np.array([limits.min, limits.max, limits.max - 1, 0], "<" + name if name[1] != "1" else name)
        columns[name] = pa.array(value)
        expected[name] = text(value)
        columns[name + "_null"] = pa.array([None if i == 2 else int(v) for i, v in enumerate(value)], columns[name].type)
        expected[name + "_null"] = text(np.where(np.arange(4) == 2, 0, value).astype(value.dtype))
        expected[name + "_null.mask"] = text(np.arange(4) == 2)
    for name in "<f2", "<f4", "<f8":
        value = np.array([np.nan, -np.inf, -0.0, np.finfo(name).max], name)
        columns[name[1:]] = pa.array(value)
        expected[name[1:]] = text(value)
    for unit in "ms", "us", "ns":
        value = np.array([-2**63 + 1, 2**63 - 1, -1, 0], "<i8").view(f"<M8[{unit}]")
        columns["at_" + unit] = pa.array(value)
        columns["zone_" + unit] = pa.array(value).cast(pa.timestamp(unit, "Europe/Berlin"))
        expected["at_" + unit] = expected["zone_" + unit] = text(value)
    value = np.array([-2**31, 2**31 - 1, -1, 0], "<i4")
    columns["day"] = pa.array(value, pa.int32()).cast(pa.date32())
    expected["day"] = text(value.astype("<M8[D]"))
    columns["time"] = pa.array([0, 86_399_999_999, 1, 2], pa.time64("us"))
    expected["time"] = text(np.array([0, 86_399_999_999, 1, 2], "<m8[us]"))
    columns["clock"] = pa.array([0, 86_399_999, 1, 2], pa.time32("ms"))
    expected["clock"] = text(np.array([0, 86_399_999, 1, 2], "<m8[ms]"))
    return pa.table(columns), expected


def constants():
    """Make columns of one value, which pack into next to nothing."""
    rows = 800_000
    table = pa.table({
        "number": pa.array(np.full(rows, 5)),
        "hole": pa.array([7, *[None] * (rows - 1)], pa.int32()),
        "null": pa.nulls(rows, pa.int32()),
        "fixed": pa.FixedSizeListArray.from_arrays(pa.array(np.full(2 * rows, 3, "<i4")), 2),
    })
    expected = {"number": text(np.full(rows, 5)), "hole": text(np.where(np.arange(rows) == 0, 7, 0).astype("<i4")),
                "hole.mask": text(np.arange(rows) > 0), "null": text(np.zeros(rows, "<i4")), "null.mask": text(np.full(rows, True)),
                "fixed": text(np.full((rows, 2), 3, "<i4"))}
    return table, expected


def names():
    """Make columns that others could be taken for: by the last part of a path, or by a dot in a name."""
    numbers = [pa.array([10 * column + row for row in range(4)]) for column in range(6)]
    table = pa.table({
        "s": pa.StructArray.from_arrays([numbers[0], numbers[1]], ["x", "element"]),
        "x": numbers[2],
        "a": pa.StructArray.from_arrays([numbers[3]], ["b"]),
        "a.b": numbers[4],
        "l": pa.array([[1, 2]] * 4, pa.list_(pa.int64())),
        "element": numbers[5],
    })
    expected = {name: text(numbers[i].to_numpy())
                for i, name in enumerate(["s/x", "s/element", "x", "a/b", "a.b", "element"])}
    expected["l/values"] = text(np.array([1, 2] * 4))
    expected["l/offsets"] = text(offsets([2] * 4))
    expected["l/shapes"] = text(np.full((4, 1), 2))
    return table, expected


def main():
    lines = []
    columns, expected = numbers()
    more, others = rows()
    table = pa.table({**columns, **more})
    files = {
        "plain.parquet": {"use_dictionary": False, "compression": "NONE"},
        "dictionary.parquet": {"row_group_size": 120, "compression": "SNAPPY"},
        "gzip.parquet": {"row_group_size": 200, "compression": "GZIP", "data_page_size": 512},
        "zstd.parquet": {"compression": "ZSTD", "data_page_version": "2.0", "write_statistics": False},
        "lz4.parquet": {"compression": "LZ4"},
        "brotli.parquet": {"compression": "BROTLI"},
    }
    for name, options in files.items():
        pq.write_table(table, HERE / name, **options)
        lines += [f"{name}\t{column}\t{value}" for column, value in sorted({**expected, **others}.items())]
    (HERE / "table").mkdir(exist_ok=True)
    for part in range(3):
        pq.write_table(table.slice(part * 200, 200), HERE / f"table/part-{part}.parquet")
    pq.write_table(table.slice(0, 0), HERE / "table/part-3.parquet")
    table, expected = nested()
    pq.write_table(table, HERE / "nested.parquet")
    lines += [f"nested.parquet\t{column}\t{value}" for column, value in sorted(expected.items())]
    table, expected = durations()
    pq.write_table(table, HERE / "durations.parquet")
    pq.write_table(table.select(["d_us"]), HERE / "bare.parquet", store_schema=False)
    lines += [f"durations.parquet\t{column}\t{value}" for column, value in sorted(expected.items())]
    table, expected = extremes()
    for kind, options in ("plain", {"use_dictionary": False}), ("dictionary", {}), ("delta", {
            "use_dictionary": False, "column_encoding": {
                name: "DELTA_BINARY_PACKED" for name in table.column_names if name[0] in "iuazdtc"}}):
        pq.write_table(table, HERE / f"extremes-{kind}.parquet", **options)
        lines += [f"extremes-{kind}.parquet\t{column}\t{value}" for column, value in sorted(expected.items())]
    table, expected = constants()
    pq.write_table(table, HERE / "constant.parquet", compression="ZSTD", max_rows_per_page=table.num_rows)
    chunks = pq.read_metadata(HERE / "constant.parquet").row_group(0)
    assert all(chunks.column(i).total_compressed_size * 1032 < 4 * chunks.column(i).num_values for i in range(table.num_columns))
    lines += [f"constant.parquet\t{column}\t{value}" for column, value in sorted(expected.items())]
    table, expected = names()
    pq.write_table(table, HERE / "names.parquet")
    lines += [f"names.parquet\t{column}\t{value}" for column, value in sorted(expected.items())]
    write_lie()
    write_contradictions()
    write_bare_lists()
    write_full_lists()
    write_lying_schemas()
    write_mixed_schemas()
    write_forged_lengths()
    write_forged_rows()
    write_encrypted()
    write_tiny()
    (HERE / "expected.tsv").write_text("\n".join(lines) + "\n")
    write_refused()


if __name__ == "__main__":
    main()
