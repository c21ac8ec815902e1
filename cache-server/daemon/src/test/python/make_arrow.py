#!/usr/bin/env python3
"""Writes the golden Arrow files of the tests, and beside each source an .npz of the arrays that pyarrow and numpy make of it.

    python3 make_arrow.py ../resources/arrow

Made with pyarrow 25.0.1 and datasets 5.0.1. NAME.npz belongs to NAME.arrow, or to the folder NAME. An array that must be refused has no
.npz: refused.tsv has its file and a part of the reason. Columns: strings and bytes are NAME/bytes or NAME/values and NAME/offsets.
"""

import json
import os
import shutil
import struct
import sys
from pathlib import Path

import datasets
import flatbuffers
import numpy as np
import pyarrow as pa

RANDOM = np.random.RandomState(20261123)
OUT = Path(sys.argv[1])
ROWS = 23
WORDS = ["", "a", "Zürich", "日本", "\U0001f600", "tab\there", "a longer text of more than twelve bytes"]
SPAN = pa.MonthDayNano([1, 2, 3])
refused = []


def write(name, table, *, stream=True, batch=7, options=None):
    kind = pa.ipc.new_stream if stream else pa.ipc.new_file
    with kind(OUT / name, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch)


def expect(name, arrays):
    np.savez(OUT / f"{name}.npz", **arrays)


def refuse(name, table, reason, **how):
    write(name, table, **how)
    refused.append((name, reason))


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.int64)


def texts(name, values, part="bytes"):
    """The parts of a column; None is an empty row, and true in the mask."""
    encoded = [b"" if v is None else v.encode() if isinstance(v, str) else v for v in values]
    parts = {f"{name}/{part}": np.frombuffer(b"".join(encoded), np.uint8), f"{name}/offsets": offsets([len(e) for e in encoded])}
    if any(v is None for v in values):
        parts[f"{name}.mask"] = np.array([v is None for v in values])
    return parts


def ragged(name, rows, dtype):
    rows = [np.asarray([] if r is None else r, dtype) for r in rows]
    return {f"{name}/values": np.concatenate([r.reshape(-1) for r in rows]).astype(dtype), f"{name}/offsets": offsets([r.size for r in rows]),
            f"{name}/shapes": np.array([r.shape for r in rows], np.int64)}


def some(kind, rows=ROWS):
    if kind == "?":
        return RANDOM.randint(0, 2, rows).astype(bool)
    if kind[0] in "iu":
        info = np.iinfo(kind)
        return RANDOM.randint(info.min, info.max, rows, dtype=kind, )
    return RANDOM.standard_normal(rows).astype(kind)


def numbers():
    kinds = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]
    arrays = {"bool" if k == "?" else k: some(k) for k in kinds}
    arrays["one value"] = some("i4")
    table = pa.table(arrays)
    arrays["one_value"] = arrays.pop("one value")
    for name, stream in ("numbers-stream", True), ("numbers-file", False):
        write(f"{name}.arrow", table, stream=stream)
        expect(name, arrays)
    write("numbers-v4.arrow", table, options=pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4))
    expect("numbers-v4", arrays)
    write("numbers-legacy.arrow", table,
          options=pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4, use_legacy_format=True))
    expect("numbers-legacy", arrays)
    write("one-batch.arrow", table, stream=False, batch=ROWS)
    expect("one-batch", arrays)
    write("empty.arrow", table.slice(0, 0))
    expect("empty", {name: array[:0] for name, array in arrays.items()})


def times():
    counts = np.arange(-3, ROWS - 3)
    table, arrays = {}, {}
    for unit in "s", "ms", "us", "ns":
        table[f"stamp-{unit}"] = pa.array(counts, pa.int64()).cast(pa.timestamp(unit))
        table[f"zone-{unit}"] = pa.array(counts, pa.int64()).cast(pa.timestamp(unit, "Europe/Berlin"))
        table[f"span-{unit}"] = pa.array(counts, pa.int64()).cast(pa.duration(unit))
        arrays[f"stamp-{unit}"] = arrays[f"zone-{unit}"] = counts.astype(f"M8[{unit}]")
        arrays[f"span-{unit}"] = counts.astype(f"m8[{unit}]")
    table["day"] = pa.array(counts.astype("i4")).cast(pa.date32())
    arrays["day"] = table["day"].to_numpy(zero_copy_only=False).astype("M8[D]")
    table["date64"] = pa.array(counts * 86400000).cast(pa.date64())
    arrays["date64"] = (counts * 86400000).astype("M8[ms]")
    positive = np.arange(ROWS)
    for unit, kind in ("s", pa.time32("s")), ("ms", pa.time32("ms")), ("us", pa.time64("us")), ("ns", pa.time64("ns")):
        table[f"time-{unit}"] = pa.array(positive.astype("i4" if unit in ("s", "ms") else "i8")).cast(kind)
        arrays[f"time-{unit}"] = positive.astype(f"m8[{unit}]")
    write("times.arrow", pa.table(table))
    expect("times", arrays)


def words(count=ROWS, nulls=False):
    picked = [WORDS[i] * RANDOM.randint(1, 3) for i in RANDOM.randint(0, len(WORDS), count)]
    return [None if nulls and RANDOM.randint(4) == 0 else w for w in picked]


def columns():
    plain, sparse, raw = words(), words(nulls=True), [w.encode() + b"\xff\x00" for w in words()]
    table, arrays = {}, {}
    for name, kind in ("text", pa.string()), ("large", pa.large_string()), ("view", pa.string_view()):
        table[name], table[f"{name}-nulls"] = pa.array(plain, kind), pa.array(sparse, kind)
        arrays.update(texts(name, plain) | texts(f"{name}-nulls", sparse))
    for name, kind in ("bytes", pa.binary()), ("large-bytes", pa.large_binary()), ("view-bytes", pa.binary_view()):
        table[name] = pa.array(raw, kind)
        arrays |= texts(name, raw, "values")
    table["fixed"] = pa.array([bytes(RANDOM.randint(0, 256, 5, dtype="u1")) for _ in range(ROWS)], pa.binary(5))
    arrays["fixed"] = np.frombuffer(b"".join(table["fixed"].to_pylist()), "u1").reshape(ROWS, 5)
    for name, stream in ("columns-stream", True), ("columns-file", False):
        write(f"{name}.arrow", pa.table(table), stream=stream)
        expect(name, arrays)
    write("sliced.arrow", pa.table(table).slice(5, 11), batch=4)
    expect("sliced", texts_sliced(arrays, 5, 16))


def texts_sliced(arrays, start, end):
    sliced = {}
    for name, array in arrays.items():
        if name.endswith("/offsets"):
            sliced[name] = array[start:end + 1] - array[start]
        elif name.endswith(("/bytes", "/values")):
            bounds = arrays[name.rsplit("/", 1)[0] + "/offsets"]
            sliced[name] = array[bounds[start]:bounds[end]]
        elif not name.endswith(".mask") or array[start:end].any():
            sliced[name] = array[start:end]
    return sliced


def lists():
    rows = [RANDOM.randint(0, 99, RANDOM.randint(0, 5)).astype("i4") for _ in range(ROWS)]
    holes = [None if i % 5 == 2 else r for i, r in enumerate(rows)]
    boxes = [some("f4", a * b).reshape(a, b) for a, b in RANDOM.randint(1, 4, (ROWS, 2))]
    points = [some("i2", 3 * n).reshape(n, 3) for n in RANDOM.randint(0, 4, ROWS)]
    flags = [some("?", RANDOM.randint(0, 12)) for _ in range(ROWS)]
    lines = [words(RANDOM.randint(0, 4)) for _ in range(ROWS)]
    flat = some("f4", ROWS * 6)
    table = {
        "list": pa.array([r.tolist() for r in rows], pa.list_(pa.int32())),
        "holes": pa.array([None if r is None else r.tolist() for r in holes], pa.list_(pa.int32())),
        "large": pa.array([r.tolist() for r in rows], pa.large_list(pa.int32())),
        "boxes": pa.array([b.tolist() for b in boxes], pa.list_(pa.list_(pa.float32()))),
        "points": pa.array([p.tolist() for p in points], pa.list_(pa.list_(pa.int16(), 3))),
        "flags": pa.array([f.tolist() for f in flags], pa.list_(pa.bool_())),
        "lines": pa.array(lines, pa.list_(pa.string())),
        "pairs": pa.array([[{"x": int(v), "word": "w" * int(v % 3)} for v in r] for r in rows],
                          pa.list_(pa.struct([("x", pa.int32()), ("word", pa.string())]))),
        "map": pa.array([[(w, len(w)) for w in line] for line in lines], pa.map_(pa.string(), pa.int64())),
        "matrix": pa.FixedSizeListArray.from_arrays(pa.FixedSizeListArray.from_arrays(pa.array(flat), 3), 2),
        "vector": pa.array([None if i % 6 == 1 else [i, i + 1] for i in range(ROWS)], pa.list_(pa.int64(), 2)),
        "bits": pa.FixedSizeListArray.from_arrays(pa.array(flat > 0), 6),
        "names": pa.array([[w, w + "!"] for w in words()], pa.list_(pa.string(), 2)),
        "tensor": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.float32(), [2, 3]),
                                                 pa.FixedSizeListArray.from_arrays(pa.array(flat), 6)),
    }
    every = [w for line in lines for w in line]
    arrays = ragged("list", rows, "i4") | ragged("holes", holes, "i4") | ragged("large", rows, "i4") | ragged("boxes", boxes, "f4")
    arrays |= ragged("points", points, "i2") | ragged("flags", flags, "?") | texts("lines.items", every)
    arrays["points/shapes"] = np.array([(len(p), 3) for p in points], np.int64)
    arrays["holes.mask"] = np.array([r is None for r in holes])
    arrays["lines.offsets"] = arrays["map.offsets"] = offsets([len(line) for line in lines])
    arrays["pairs.offsets"], values = offsets([len(r) for r in rows]), np.concatenate(rows)
    arrays["pairs.items/x"] = values.astype("i4")
    arrays |= texts("pairs.items/word", ["w" * int(v % 3) for v in values]) | texts("map.items/key", every)
    arrays["map.items/value"] = np.array([len(w) for w in every], np.int64)
    arrays["matrix"], arrays["tensor"], arrays["bits"] = flat.reshape(ROWS, 2, 3), flat.reshape(ROWS, 2, 3), (flat > 0).reshape(ROWS, 6)
    arrays["vector.mask"] = np.arange(ROWS) % 6 == 1
    arrays["vector"] = np.array([(i, i + 1) for i in range(ROWS)], np.int64)
    names = table["names"].to_pylist()
    arrays["names.offsets"] = np.arange(ROWS + 1, dtype=np.int64) * 2
    arrays |= texts("names.items", [w for pair in names for w in pair])
    for name, stream in ("lists-stream", True), ("lists-file", False):
        write(f"{name}.arrow", pa.table(table), stream=stream)
        expect(name, arrays)
    refuse("crooked.arrow", pa.table({"crooked": pa.array([[[1], [2, 3]]], pa.list_(pa.list_(pa.int8())))}), "crooked (row 0 of a batch has lists of different lengths")
    inner = pa.array([[[1], None]], pa.list_(pa.list_(pa.int8())))
    refuse("inner-nulls.arrow", pa.table({"inner": inner}), "inner (rows have null lists in them)")
    inner = pa.array([[[1], None], None], pa.list_(pa.list_(pa.int8(), 1), 2))
    refuse("fixed-nulls.arrow", pa.table({"inner": inner}), "inner (rows have null lists in them)")


def tensors():
    """Tensors whose dimensions are said to be in some order, as pyarrow writes it: that in which they are, or another."""
    def tensor(shape, order):
        return pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), shape, permutation=order), storage)

    values = np.arange(24, dtype="i4")
    storage = pa.FixedSizeListArray.from_arrays(pa.array(values), 6)
    write("tensors.arrow", pa.table({"ordered": tensor([2, 3], [0, 1]), "deep": tensor([1, 3, 2], [0, 1, 2])}))
    expect("tensors", {"ordered": values.reshape(4, 2, 3), "deep": values.reshape(4, 1, 3, 2)})
    refuse("transposed.arrow", pa.table({"ok": np.arange(4), "turned": tensor([2, 3], [1, 0])}),
           "turned (arrow.fixed_shape_tensor with permutation [1,0])]; load the others with --columns ok")
    refuse("several.arrow", pa.table({"holes": pa.array([[[1]], [[2], None]]), "ok": [1, 2], "span": pa.array([SPAN, None]), "last": [1, 2]}),
           "[span (interval of MONTH_DAY_NANO), holes (rows have null lists in them)]; load the others with --columns ok,last, or convert")


def nulls():
    values = some("i4")
    holes = RANDOM.randint(0, 3, ROWS) == 0
    table = {
        "number": pa.array(values, mask=holes),
        "bool": pa.array(values > 0, mask=holes),
        "day": pa.array(np.where(holes, 0, 5).astype("i4"), pa.int32(), mask=holes).cast(pa.date32()),
        "struct": pa.array([None if h else {"a": int(v), "b": None if v % 2 else str(v)} for v, h in zip(values, holes)],
                           pa.struct([("a", pa.int32()), ("b", pa.string())])),
    }
    arrays = {"number": values, "bool": values > 0, "day": np.where(holes, 0, 5).astype("M8[D]"), "struct/a": np.where(holes, 0, values).astype("i4")}
    arrays |= {f"{name}.mask": holes for name in ("number", "bool", "day", "struct/a")}
    arrays |= texts("struct/b", [None if h or v % 2 else str(v) for v, h in zip(values, holes)])
    write("nulls.arrow", pa.table(table))
    expect("nulls", arrays)


def decimals():
    """Write nulls over numbers that int64 lacks: what lies there must not reach the rows behind it."""
    rows = 1200  # more than are read of a file in one step
    wide, is_null = np.array([[number, number % 3] for number in range(rows)], "<i8"), np.arange(rows) % 3 != 0
    buffers = [pa.py_buffer(np.packbits(~is_null, bitorder="little").tobytes()), pa.py_buffer(wide.tobytes())]
    write("decimals.arrow", pa.table({"price": pa.Array.from_buffers(pa.decimal128(38, 2), rows, buffers)}), batch=rows)
    write("wide.arrow", pa.table({"ok": [1], "price": pa.array([2**63], pa.decimal128(38, 2))}))
    expect("decimals", {"price": wide[:, 0], "price.mask": is_null, "price.scale": np.array(2, "<i8")})


def dictionaries():
    codes = RANDOM.randint(0, 3, ROWS).astype("i1")
    names = ["cat", "dog", "größer"]
    holes = codes == 2
    table = {"animal": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names)),
             "wide": pa.DictionaryArray.from_arrays(pa.array(codes.astype("u2")), pa.array([10, 20, 30], pa.int64())),
             "holes": pa.DictionaryArray.from_arrays(pa.array(codes, mask=holes), pa.array(names, pa.large_string())),
             "tags": pa.ListArray.from_arrays(pa.array(np.arange(ROWS + 1, dtype="i4")),
                                              pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["x", "y", "z"])))}
    arrays = {"animal": codes, "wide": codes.astype("u2"), "wide.classes": np.array([10, 20, 30]), "holes": codes, "holes.mask": holes,
              "tags.offsets": np.arange(ROWS + 1, dtype=np.int64), "tags.items": codes}
    arrays |= texts("animal.classes", names) | texts("holes.classes", names) | texts("tags.items.classes", ["x", "y", "z"])
    for name, stream in ("dictionaries-stream", True), ("dictionaries-file", False):
        write(f"{name}.arrow", pa.table(table), stream=stream)
        expect(name, arrays)
    dictionary = pa.dictionary(pa.int32(), pa.string())
    batches = [["a", "b"], ["a", "b", "c", "a"], ["c", "a", "d"]]
    values = [w for batch in batches for w in batch]
    for name, deltas in ("replaced", False), ("deltas", True):
        with pa.ipc.new_stream(OUT / f"{name}.arrow", pa.schema([("word", dictionary)]), options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)) as writer:
            for batch in batches[:2] if deltas else batches:
                writer.write_batch(pa.record_batch({"word": pa.array(batch).dictionary_encode()}))
        its = values[:6] if deltas else values
        expect(name, {"word": np.array(["abcd".index(w) for w in its], np.int32)} | texts("word.classes", sorted(set(its))))


def bad():
    refuse("span.arrow", pa.table({"ok": [1], "span": pa.array([SPAN])}), "span (interval of MONTH_DAY_NANO)]; load the others with --columns ok")
    refuse("union.arrow", pa.table({"u": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])}), "u (union)")
    refuse("interval.arrow", pa.table({"i": pa.array([SPAN])}), "i (interval of MONTH_DAY_NANO)")
    refuse("runs.arrow", pa.table({"r": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([1, 2]))}), "r (run_end_encoded)")
    refuse("list-view.arrow", pa.table({"l": pa.array([[1]], pa.list_view(pa.int8()))}), "l (list_view)")
    refuse("lz4.arrow", pa.table({"x": np.zeros(1000)}), "no reader for this kind of source is installed: kind=packed", options=pa.ipc.IpcWriteOptions(compression="lz4"))
    refuse("zstd.arrow", pa.table({"x": np.zeros(1000)}), "no reader for this kind of source is installed: kind=packed", stream=False, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    swapped = bytearray((OUT / "numbers-stream.arrow").read_bytes())
    (OUT / "cut.arrow").write_bytes(swapped[:-8])
    refused.append(("cut.arrow", "it ends without the mark of its end"))
    (OUT / "appended.arrow").write_bytes(swapped + b"12345678")
    refused.append(("appended.arrow", "8 bytes follow the end of its stream"))
    (OUT / "cut-file.arrow").write_bytes((OUT / "numbers-file.arrow").read_bytes()[:-20])
    refused.append(("cut-file.arrow", "it does not end as an Arrow file does"))
    (OUT / "words.arrow").write_bytes(b"These are words, not columns.")
    refused.append(("words.arrow", "it is no Arrow file or stream"))
    (OUT / "old.arrow").write_bytes(b"FEA1" + struct.pack("<I", 0) + b"FEA1")
    refused.append(("old.arrow", "it is a Feather file of version 1"))
    sink = pa.OSFile(str(OUT / "tensor.arrow"), "wb")
    pa.ipc.write_tensor(pa.Tensor.from_numpy(np.zeros((2, 2))), sink)
    sink.close()
    refused.append(("tensor.arrow", "it does not begin with a schema"))


def viewed():
    """Dictionaries of views, as polars writes its Categorical and Enum, and columns with nulls in their rows, of all kinds at once."""
    codes = np.arange(ROWS, dtype="u4") % 3
    names = ["cat", "dog", "a longer text of more than twelve bytes"]
    table = pa.table({"enum": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names, pa.string_view())),
                      "raw": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array([n.encode() for n in names], pa.binary_view()))})
    arrays = {"enum": codes, "raw": codes} | texts("enum.classes", names) | texts("raw.classes", names, "values")
    for name, stream in ("viewed-stream", True), ("viewed-file", False):
        write(f"{name}.arrow", table, stream=stream)
        expect(name, arrays)
    latin = [b"caf\xe9", b"a longer text in Latin-1: caf\xe9"]
    views = pa.Array.from_buffers(pa.string_view(), 2, pa.array(latin, pa.binary_view()).buffers())
    write("latin.arrow", pa.table({"view": views, "word": pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), views)}))
    expect("latin", texts("view", latin) | texts("word.classes", latin) | {"word": np.array([1, 0], "i1")})
    lists = pa.array([[[1], None]], pa.list_(pa.list_(pa.int8())))
    refuse("all-nulls.arrow", pa.table({
        "list": lists, "ok": [1], "fixed": pa.array([[[1], None]], pa.list_(pa.list_(pa.int8(), 1), 2)),
        "words": pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([None], pa.string())), "crooked": pa.array([[[1], [2, 3]]]),
        "struct": pa.StructArray.from_arrays([lists], ["part"]), "span": pa.array([SPAN]), "last": ["x"]}),
        "[span (interval of MONTH_DAY_NANO), list (rows have null lists in them), fixed (rows have null lists in them), "
        "words (words.classes: its dictionary has nulls), crooked (row 0 of a batch has lists of different lengths within each other), "
        "struct (struct/part: rows have null lists in them)]; "
        "load the others with --columns ok,last, or convert them with pyarrow")


def footer_version(file, version):
    """Set the version in the footer of a file, where Java's writer left it out up to 0.14, which reads as 0."""
    data = bytearray((OUT / file).read_bytes())
    footer = len(data) - 10 - struct.unpack_from("<i", data, len(data) - 10)[0]
    table = footer + struct.unpack_from("<I", data, footer)[0]
    field = struct.unpack_from("<H", data, table - struct.unpack_from("<i", data, table)[0] + 4)[0]
    struct.pack_into("<h", data, table + field, version)
    return data


def schema(version, endianness):
    """A stream of a schema without fields."""
    builder = flatbuffers.Builder()
    builder.StartObject(4)
    builder.PrependInt16Slot(0, endianness, 0)
    header = builder.EndObject()
    builder.StartObject(5)
    builder.PrependInt16Slot(0, version, 0)
    builder.PrependUint8Slot(1, 1, 0)
    builder.PrependUOffsetTRelativeSlot(2, header, 0)
    builder.Finish(builder.EndObject())
    message = bytes(builder.Output())
    message += bytes(-len(message) % 8)
    return struct.pack("<iI", -1, len(message)) + message + struct.pack("<iI", -1, 0)


def elsewhere():
    """Files of writers that are not here: before 0.15, before 0.8 and on big-endian machines."""
    (OUT / "unversioned.arrow").write_bytes(footer_version("numbers-file.arrow", 0))
    shutil.copy(OUT / "numbers-file.npz", OUT / "unversioned.npz")
    for name, data, reason in (
            ("version3.arrow", schema(2, 0), "its metadata has version 3, and 4 and 5 are read; write it again with a release of Arrow from 2018"),
            ("version9.arrow", schema(8, 0), "its metadata has version 9, and 4 and 5 are read; restore the file or write it again"),
            ("footer9.arrow", footer_version("numbers-file.arrow", 8), "its metadata has version 9, and 4 and 5 are read; restore the file or write it again"),
            ("big-endian.arrow", schema(4, 1), "its numbers are big-endian; write it again with pyarrow")):
        (OUT / name).write_bytes(data)
        refused.append((name, reason))


PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082")


def hugging_face():
    grid = RANDOM.standard_normal((ROWS, 2, 3)).astype("f4")
    cube = RANDOM.randint(0, 99, (ROWS, 2, 2, 2)).astype("i4")
    grown = [RANDOM.randint(0, 9, (n, 2)).astype("i8") for n in RANDOM.randint(0, 4, ROWS)]
    labels = RANDOM.randint(0, 2, ROWS)
    rows = [RANDOM.randint(0, 99, RANDOM.randint(0, 5)) for _ in range(ROWS)]
    images = [None if i == 4 else {"bytes": PNG + bytes([i]), "path": None if i == 5 else f"{i}.png"} for i in range(ROWS)]
    text = words()
    features = datasets.Features({
        "text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pös"]), "grid": datasets.Array2D((2, 3), "float32"),
        "cube": datasets.Array3D((2, 2, 2), "int32"), "grown": datasets.Array2D((None, 2), "int64"), "ids": datasets.List(datasets.Value("int16")),
        "vector": datasets.List(datasets.Value("float64"), length=2), "tags": datasets.List(datasets.Value("string")),
        "image": datasets.Image(), "when": datasets.Value("timestamp[s]"), "answers": {"start": datasets.List(datasets.Value("int32"))}})
    data = {"text": text, "label": labels, "grid": grid, "cube": cube, "grown": grown, "ids": [r.tolist() for r in rows],
            "vector": [(i, i / 2) for i in range(ROWS)], "tags": [["x"] * (i % 3) for i in range(ROWS)], "image": images,
            "when": np.arange(ROWS).astype("M8[s]"), "answers": [{"start": r.tolist()} for r in rows]}
    made = datasets.Dataset.from_dict(data, features=features)

    def arrays(level, start, end):
        some_images = images[start:end]
        its = {"label": labels[start:end].astype("i8"), "grid": grid[start:end], "cube": cube[start:end],
               "vector": np.array(data["vector"][start:end]), "when": data["when"][start:end]}
        its |= texts("text", text[start:end]) | ragged("grown", grown[start:end], "i8") | ragged("ids", rows[start:end], "i2")
        its["grown/shapes"] = np.array([g.shape if len(g) else (0, 0) for g in grown[start:end]], np.int64)
        its |= ragged("answers/start", rows[start:end], "i4") | texts("image", [i and i["bytes"] for i in some_images], "values")
        its |= {n: a for n, a in texts("image/names", ["" if i is None else i["path"] or "" for i in some_images]).items()}
        its["tags.offsets"] = offsets([len(t) for t in data["tags"][start:end]])
        its |= texts("tags.items", [t for tags in data["tags"][start:end] for t in tags])
        return {level + name: array for name, array in its.items()}

    folder = OUT / "saved"
    datasets.DatasetDict({"train": made.select(range(16)), "test": made.select(range(16, ROWS))}).save_to_disk(folder, num_shards={"train": 3, "test": 1})
    classes = texts("classes", ["neg", "pös"])
    expect("saved", arrays("train/", 0, 16) | arrays("test/", 16, ROWS) | classes)
    shutil.copytree(folder / "train", OUT / "saved-split", dirs_exist_ok=True)
    expect("saved-split", arrays("", 0, 16) | classes)
    cache = OUT / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    (OUT / "source.jsonl").write_text("".join(json.dumps({"a": i, "b": w}) + "\n" for i, w in enumerate(text)))
    loaded = datasets.load_dataset("json", data_files={"train": str(OUT / "source.jsonl"), "test": str(OUT / "source.jsonl")}, cache_dir=str(cache / "all"))
    loaded["train"].map(lambda row: {"c": row["a"] + 1})
    (inner,) = {Path(f["filename"]).parent for split in loaded.values() for f in split.cache_files}
    for file in inner.iterdir():
        shutil.move(file, cache / file.name)
    shutil.rmtree(cache / "all")
    (OUT / "source.jsonl").unlink()
    info = json.loads((cache / "dataset_info.json").read_text())
    info.pop("download_checksums", None)
    (cache / "dataset_info.json").write_text(json.dumps(info))
    its = texts("b", text) | {"a": np.arange(ROWS)}
    expect("cache", {f"{split}/{name}": array for split in ("train", "test") for name, array in its.items()})


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
datasets.disable_progress_bars()
for make in numbers, times, columns, lists, nulls, decimals, dictionaries, bad, hugging_face, tensors, viewed, elsewhere:
    make()
(OUT / "refused.tsv").write_text("".join(f"{name}\t{reason}\n" for name, reason in refused))
