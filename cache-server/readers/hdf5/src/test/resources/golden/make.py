"""Makes the golden files of HDF5, and what h5py reads from them: make.py (numpy, h5py, pyarrow, pandas, tables)."""

import ctypes
import pathlib
import re
import struct
import zlib

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(7)


def text(value):
    """Say what is expected of an array as the test does."""
    data = np.ascontiguousarray(value).tobytes()
    words = data.hex() if len(data) <= 64 else "crc " + format(zlib.crc32(data), "x")
    kind = re.sub(r"\(('[^']*'), \{[^}]*\}\)", r"\1", str(value.dtype.descr)) if value.dtype.names else value.dtype.str  # without h5py's metadata
    return f"{kind} {list(value.shape)} {words}"


def numbers(shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.integers(0, 2, shape).astype(dtype)
    return RNG.integers(0, 100, shape).astype(dtype)


def write_arrays(file, expected):
    for kind in "i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16 b1".split():
        for order in "<>":
            dtype = np.dtype(order + kind)
            if order == ">" and dtype.itemsize == 1:
                continue
            name = f"types/{'be' if order == '>' else 'le'}/{kind}"
            value = numbers((3, 4), dtype)
            file[name] = value
            expected[name] = text(value)
    layouts = {
        "chunked": {"chunks": (7, 5)},
        "deflated": {"chunks": (16, 3), "compression": "gzip"},
        "shuffled": {"chunks": (16, 30), "compression": "gzip", "shuffle": True, "fletcher32": True},
        "lzf": {"chunks": (64, 30), "compression": "lzf"},
        "grown": {"chunks": (10, 30), "maxshape": (None, 30)},
    }
    for name, options in layouts.items():
        value = numbers((101, 30), ">i4" if name == "shuffled" else "<f8")
        file.create_dataset("layouts/" + name, data=value, **options)
        expected["layouts/" + name] = text(value)
    deep = numbers((6, 5, 4, 3), "<i2")
    file.create_dataset("layouts/deep", data=deep, chunks=(4, 2, 3, 2), compression="gzip")
    expected["layouts/deep"] = text(deep)
    sparse = file.create_dataset("layouts/sparse", (50, 4), "<i4", chunks=(10, 4), fillvalue=7)
    sparse[20:25] = 1
    expected["layouts/sparse"] = text(sparse[...])
    unwritten = file.create_dataset("layouts/unwritten", (5, 2), "<i4", fillvalue=9)
    expected["layouts/unwritten"] = text(unwritten[...])
    file["scalar"] = np.float64(2.5)
    expected["scalar"] = text(np.float64(2.5).reshape(()))
    file["empty"] = np.zeros((0, 3), "<f4")
    expected["empty"] = text(np.zeros((0, 3), "<f4"))
    file["fixed texts"[:5]] = np.array([b"ab", b"cde", b""], "S4")
    expected["fixed"] = text(np.array([b"ab", b"cde", b""], "S4"))
    file.create_dataset("enum", data=np.array([0, 2, 1], "u1"), dtype=h5py.enum_dtype({"A": 0, "B": 1, "C": 2}, basetype="u1"))
    expected["enum"] = text(np.array([0, 2, 1], "u1"))


def write_rows(file, expected):
    texts = ["", "a", "äöü", "\U0001F600", "x" * 300]
    file.create_dataset("words", data=texts, dtype=h5py.string_dtype())
    data = "".join(texts).encode()
    expected["words/bytes"] = text(np.frombuffer(data, "u1"))
    offsets = np.cumsum([0] + [len(t.encode()) for t in texts])
    expected["words/offsets"] = text(offsets.astype("<i8"))
    rows = [np.arange(n, dtype="<i4") for n in (3, 0, 5)]
    lists = file.create_dataset("lists", (3,), dtype=h5py.vlen_dtype(np.dtype("<i4")))
    for i, row in enumerate(rows):
        lists[i] = row
    expected["lists/values"] = text(np.concatenate(rows))
    expected["lists/offsets"] = text(np.array([0, 3, 3, 8], "<i8"))
    expected["lists/shapes"] = text(np.array([[3], [0], [5]], "<i8"))


def write_fills(file, expected):
    letters = h5py.enum_dtype({"A": 1, "B": 2}, basetype="i4")
    fills = {"flag": ("?", True), "c8": ("c8", 1 + 2j), "S4": ("S4", b"none"), "letter": (letters, 2),
             "minus": (">f8", -0.0), "f2": ("<f2", 1.5), "u8": (">u8", 2 ** 64 - 3)}
    for name, (dtype, value) in fills.items():
        chunks = file.create_dataset("chunks/" + name, (10,), dtype, chunks=(3,), fillvalue=value)
        chunks[3] = np.zeros((), chunks.dtype)
        whole = file.create_dataset("whole/" + name, (3,), dtype, fillvalue=value)
        expected["chunks/" + name] = text(chunks[...])
        expected["whole/" + name] = text(whole[...])


def shuffled_bits(items, block):
    """Say what bitshuffle makes of a block of elements, of which there are a multiple of eight."""
    bits = np.unpackbits(items[block].view("u1").reshape(-1, items.itemsize), axis=1, bitorder="little")
    return np.packbits(bits.T, bitorder="little").tobytes()


def bitshuffled(items, block_items, packed):
    """Say what bitshuffle makes of a chunk, packed by LZ4 or not."""
    blocks, end = [], len(items) // 8 * 8
    for start in range(0, end, block_items):
        block = shuffled_bits(items, slice(start, min(end, start + block_items)))
        if packed:
            block = pa.compress(block, "lz4_raw", asbytes=True)
            blocks.append(struct.pack(">I", len(block)))
        blocks.append(block)
    head = struct.pack(">QI", items.nbytes, block_items * items.itemsize) if packed else b""
    return head + b"".join(blocks) + items[end:].tobytes()


def write_bitshuffled(file, expected):
    """Write chunks with a last block that LZ4 cannot make shorter, with less than eight elements after it, and all zeros."""
    contents = {"random": RNG.integers(0, 2**31, 60), "steps": np.arange(60), "few": np.arange(5), "zeros": np.zeros(256)}
    for name, value in contents.items():
        for dtype in "<i2", "<f8", "S3":
            items = value.astype(dtype)
            for packed in 0, 2:
                path = f"bits/{name}/{dtype[-2:]}/{packed}"
                properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                properties.set_chunk((len(items),))
                properties.set_filter(32008, h5py.h5z.FLAG_OPTIONAL, (0, 4, items.itemsize, 24, packed))
                file.require_group(path.rpartition("/")[0])
                dataset = h5py.h5d.create(file.id, path.encode(), h5py.h5t.py_create(items.dtype, logical=True),
                                          h5py.h5s.create_simple(items.shape), properties)
                dataset.write_direct_chunk((0,), bitshuffled(items, 24, packed == 2))
                expected[path] = text(items)


def write_filters(file, expected):
    """Write chunks whose filters the library undoes in other ways."""
    options = {"checked": {"fletcher32": True, "shuffle": True}, "lzf": {"fletcher32": True, "compression": "lzf"},
               "both": {"fletcher32": True, "compression": "lzf", "shuffle": True},
               "gzip": {"fletcher32": True, "compression": "gzip"}, "plain": {"fletcher32": True}}
    for name, option in options.items():
        for dtype in "<i4", "|u1", ">f8":
            for kind, value in ("steps", np.arange(125)), ("random", RNG.integers(0, 200, 125)):
                path = f"{name}/{dtype[-2:]}/{kind}"
                file.create_dataset(path, data=value.astype(dtype), chunks=(25,), **option)
                expected[path] = text(value.astype(dtype))
    value = np.arange(20, dtype="<i4")
    for name, option in {"unshuffled": {"shuffle": True}, "unpacked": {"compression": "gzip", "shuffle": True}}.items():
        direct = file.create_dataset("direct/" + name, (20,), "<i4", chunks=(10,), **option)
        direct[10:] = value[10:]
        direct.id.write_direct_chunk((0,), value[:10].tobytes(), filter_mask=0xffffffff)
        expected["direct/" + name] = text(value)
    write_bitshuffled(file, expected)


def write_types(file, expected):
    """Write types that are committed, or that h5py has other words for."""
    file["room"] = np.zeros(70_000, "u1")  # so that addresses have more than two bytes
    expected["room"] = text(np.zeros(70_000, "u1"))
    for name, dtype in ("number", np.dtype(">f4")), ("word", h5py.string_dtype()), ("flag", np.dtype("?")):
        file["committed " + name] = dtype
    for name, value in ("number", np.arange(3, dtype=">f4")), ("flag", np.array([True, False])):
        kind = file["committed " + name]
        file.create_dataset("of/" + name, data=value, dtype=kind)
        file.create_dataset("packed/" + name, data=value, dtype=kind, chunks=(2,), compression="gzip")
        expected["of/" + name] = expected["packed/" + name] = text(value)
    file["grüße/größe"] = np.arange(2)
    expected["grüße/größe"] = text(np.arange(2))
    bits = h5py.h5t.STD_B8LE.copy()
    flags = h5py.h5d.create(file.id, b"bits", bits, h5py.h5s.create_simple((3,)))
    flags.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, 0, 255], "u1"), bits)
    expected["bits"] = text(np.array([1, 0, 255], "u1"))

    def texts(path, rows):
        expected[path + "/bytes"] = text(np.frombuffer(b"".join(rows), "u1"))
        expected[path + "/offsets"] = text(np.cumsum([0] + [len(r) for r in rows]).astype("<i8"))

    file.create_dataset("of/word", data=["a", "ä"], dtype=file["committed word"])
    texts("of/word", [b"a", "ä".encode()])
    file.create_dataset("ascii", data=[b"\xe4\xff", "ü".encode()], dtype=h5py.string_dtype("ascii"))
    texts("ascii", [b"\xe4\xff", "ü".encode()])
    file.create_dataset("unwritten", (3,), dtype=h5py.string_dtype())
    file.create_dataset("unwritten chunks", (5,), dtype=h5py.string_dtype(), chunks=(2,))[3] = "x"
    texts("unwritten", [b"", b"", b""])
    texts("unwritten chunks", [b"", b"", b"", b"x", b""])
    packed = file.create_dataset("packed words", (4,), dtype=h5py.string_dtype(), chunks=(4,), shuffle=True, compression="lzf")
    packed[:] = ["one", "", "three", "4"]
    texts("packed words", [b"one", b"", b"three", b"4"])
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    word = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
    h5py.h5d.create(file.id, b"compact", word, h5py.h5s.create_simple((2,)), compact)
    file["compact"][:] = ["in", "side"]
    texts("compact", [b"in", b"side"])
    for name, dtype in ("halves", "<f2"), ("flags", "?"), ("large", ">u8"):
        lists = file.create_dataset("lists/" + name, (2,), dtype=h5py.vlen_dtype(np.dtype(dtype)))
        rows = [np.array([1, 0, 1], dtype), np.array([0 if dtype == "?" else 2**15], dtype)]
        for i, row in enumerate(rows):
            lists[i] = row
        expected[f"lists/{name}/values"] = text(np.concatenate(rows).astype(dtype))
        expected[f"lists/{name}/offsets"] = text(np.array([0, 3, 4], "<i8"))
        expected[f"lists/{name}/shapes"] = text(np.array([[3], [1]], "<i8"))


def write_edges(file, expected):
    """Write chunks that reach beyond the last row, which have no filters then; h5py has no word for that."""
    library = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5-" in line))
    library.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    for name, most in ("fixed", 100), ("growing", h5py.h5s.UNLIMITED):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((40,))
        properties.set_shuffle()
        properties.set_deflate(6)
        library.H5Pset_chunk_opts(properties.id, 2)  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
        h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple((100,), (most,)), properties)
        file[name][:] = np.arange(100)
        expected[name] = text(np.arange(100, dtype="<i4"))


def write_open():
    """Write a file as others see it while a SWMR writer has it open."""
    path = HERE / "open.h5"
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        file.create_dataset("x", data=np.arange(3), chunks=(3,), maxshape=(None,))
        file.swmr_mode = True
        file.flush()
        data = path.read_bytes()
    path.write_bytes(data)


def write_huge():
    """Write datasets of more than 2^31 elements, of which the file has nearly none."""
    with h5py.File(HERE / "huge.h5", "w") as file:
        file.create_dataset("whole", (3_000_000_000,), "u1", fillvalue=7)
        chunks = file.create_dataset("chunks", (3_000_000_000,), "u1", chunks=(1000,), compression="gzip", fillvalue=9)
        chunks[2_999_999_000:] = np.arange(1000) % 251


def write_endless():
    """Write datasets of more than 2^63 bytes, as HDF5 allows, and arrays without elements in spite of such a dimension."""
    with h5py.File(HERE / "endless.h5", "w") as file:
        file.create_dataset("chunks", (1 << 40, 1 << 40), "<f8", chunks=(1, 1024))
        file.create_dataset("whole", (1 << 62, 4), "<f8")
        file.create_dataset("bytes", (1 << 61,), "<f8", chunks=(1024,))
        file.create_dataset("elements", (1 << 60,), np.dtype(("<f8", (2,))), chunks=(16,))
        file.create_dataset("texts", (1 << 62,), h5py.string_dtype(), chunks=(16,))
        file.create_dataset("few", (4, 1 << 40), "u1", chunks=(4, 16))


def write_sparse():
    """Write columns with more rows than a reader can visit. The file has only a few of them."""
    rows = 10**15
    with h5py.File(HERE / "sparse.h5", "w") as file:
        texts = file.create_dataset("texts", (rows,), h5py.string_dtype(), chunks=(100,))
        texts[5], texts[2500], texts[rows - 1] = "five", "more", "last"
        lists = file.create_dataset("lists", (rows,), h5py.vlen_dtype("<i4"), chunks=(100,))
        lists[7] = [1, 2, 3]
        file.create_dataset("unwritten", (rows,), h5py.string_dtype())
        few = file.create_dataset("few", (350,), h5py.string_dtype(), chunks=(100,))
        few[101], few[349] = "one", "end"


def write_compounds(file, expected):
    """Write compounds as numpy, pandas and PyTables make them, and elements that are arrays."""
    plain = np.dtype([("a", "<i4"), ("b", ">f8"), ("word", "S5"), ("flag", "?"), ("c", "<c8"), ("grüße", "<u2")])
    inner = np.dtype([("lo", "<f4"), ("hi", "<f4")])
    kinds = {
        "plain": plain,
        "aligned": np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<i2")], align=True),
        "apart": np.dtype({"names": ["a", "b"], "formats": ["<f4", "<i2"], "offsets": [2, 10], "itemsize": 16}),
        "table": np.dtype([("index", "<i8"), ("values_block_0", "<f8", (3,)), ("values_block_1", "<i8", (1,)), ("m", "<i2", (2, 3)), ("deep", "u1", (2, 3, 4))]),
        "nested": np.dtype([("box", inner), ("boxes", inner, (2,)), ("n", "<i4")]),
    }
    for name, kind in kinds.items():
        value = np.zeros(20, kind)
        value.view("u1")[:] = RNG.integers(0, 2, value.nbytes)
        for layout, options in {"whole": {}, "packed": {"chunks": (6,), "compression": "gzip", "shuffle": True}}.items():
            path = f"{layout}/{name}"
            file.create_dataset(path, data=value, **options)
            assert file[path].dtype == kind
            expected[path] = text(file[path][...])
    file.create_dataset("filled", (4,), kinds["plain"], chunks=(2,), fillvalue=np.array((7, 1.5, b"x", True, 2j, 3), plain))[3] = value_of(plain)
    expected["filled"] = text(file["filled"][...])
    file["committed"] = inner
    file.create_dataset("of committed", data=np.ones((2, 3), inner), dtype=file["committed"])
    expected["of committed"] = text(np.ones((2, 3), inner))
    arrays = np.arange(24, dtype="<i4").reshape(4, 2, 3)
    kind = h5py.h5t.array_create(h5py.h5t.STD_I32LE, (2, 3))
    h5py.h5d.create(file.id, b"arrays", kind, h5py.h5s.create_simple((4,))).write(h5py.h5s.ALL, h5py.h5s.ALL, arrays, kind)
    assert (file["arrays"][...] == arrays).all()
    expected["arrays"] = text(arrays)


def write_table(expected):
    """Write a table as pandas and PyTables do."""
    frame = pd.DataFrame({"n": np.arange(5), "x": np.arange(5) * 0.5, "word": list("abcde"), "at": pd.date_range("2024-02-28", periods=5)})
    frame.to_hdf(HERE / "pandas.h5", key="t", mode="w", format="table", index=False)
    with h5py.File(HERE / "pandas.h5") as file:
        expected["t/table"] = text(file["t/table"][...])


def value_of(kind):
    """Return an element whose bytes are all 1."""
    return np.frombuffer(b"\1" * kind.itemsize, kind)[0]


def write_links(file, expected):
    """Write soft links: to datasets and groups, absolute and relative, through other links and through a group."""
    file["a/b/x"] = np.arange(3)
    file["a/y"] = np.arange(2.0)
    links = {"to x": "/a/b/x", "a/near": "b/x", "a/here": "./y", "to b": "a/b", "twice": "to b", "through": "/twice/x", "a/b/again": "/to x"}
    for name, target in links.items():
        file[name] = h5py.SoftLink(target)
    for name in ["a/b/x", "a/y", "to x", "a/near", "a/here", "to b/x", "to b/again", "twice/x", "twice/again", "through", "a/b/again"]:
        expected[name] = text(file[name][...])


def main():
    expected = {}
    with h5py.File(HERE / "arrays.h5", "w") as file:
        write_arrays(file, expected)
        write_rows(file, expected)
    with h5py.File(HERE / "latest.h5", "w", libver=("v110", "v110"), userblock_size=512) as file:
        later = {}
        write_arrays(file, later)
        write_rows(file, later)
    fills = {}
    with h5py.File(HERE / "fills.h5", "w") as file:
        write_fills(file, fills)
    lines = [f"arrays.h5\t{name}\t{value}" for name, value in sorted(expected.items())]
    lines += [f"latest.h5\t{name}\t{value}" for name, value in sorted(later.items())]
    lines += [f"fills.h5\t{name}\t{value}" for name, value in sorted(fills.items())]
    filters = {}
    with h5py.File(HERE / "filters.h5", "w") as file:
        write_filters(file, filters)
    lines += [f"filters.h5\t{name}\t{value}" for name, value in sorted(filters.items())]
    for version in "earliest", "v110":
        types = {}
        with h5py.File(HERE / f"types-{version}.h5", "w", libver=(version, "v110")) as file:
            write_types(file, types)
        lines += [f"types-{version}.h5\t{name}\t{value}" for name, value in sorted(types.items())]
    for version in "earliest", "v110":
        for name, write in ("compounds", write_compounds), ("links", write_links):
            found = {}
            with h5py.File(HERE / f"{name}-{version}.h5", "w", libver=(version, "v110")) as file:
                write(file, found)
            lines += [f"{name}-{version}.h5\t{path}\t{value}" for path, value in sorted(found.items())]
    table = {}
    write_table(table)
    lines += [f"pandas.h5\t{path}\t{value}" for path, value in table.items()]
    edges = {}
    with h5py.File(HERE / "edges.h5", "w", libver=("v110", "v110")) as file:
        write_edges(file, edges)
    lines += [f"edges.h5\t{name}\t{value}" for name, value in sorted(edges.items())]
    (HERE / "expected.tsv").write_text("\n".join(lines) + "\n")
    write_open()
    write_huge()
    write_endless()
    write_sparse()
    with h5py.File(HERE / "refused.h5", "w") as file:
        file["good"] = np.arange(4)
        file["broken"] = h5py.SoftLink("/good/x")
        file["circle"] = h5py.SoftLink("circle")
        file["abroad"] = h5py.SoftLink("/outer")
        file["outer"] = h5py.ExternalLink("arrays.h5", "/scalar")
        file.create_dataset("pairs", (2,), [("a", "<i4"), ("b", h5py.string_dtype())])
        file["reference"] = np.array([file["good"].ref], dtype=h5py.ref_dtype)
        file.create_dataset("null", data=h5py.Empty("f4"))
    with h5py.File(HERE / "odd.h5", "w") as file:
        file["good"] = np.arange(4)
        file["g/x"] = np.arange(3)
        file["g/loop"] = file["g"]
        file.create_dataset("opaque", data=np.array([b"abc"], "V3"))
        biased = h5py.h5t.IEEE_F32LE.copy()
        biased.set_ebias(100)
        h5py.h5d.create(file.id, b"biased", biased, h5py.h5s.create_simple((3,)))
        layout = h5py.VirtualLayout((4,), "<i8")
        layout[:] = h5py.VirtualSource(file["good"])
        file.create_virtual_dataset("virtual", layout)
    with h5py.File(HERE / "newer-types.h5", "w", libver="latest") as file:
        file["flags"] = np.array([True, False])  # needs HDF5 2.0: a type of version 5
    with h5py.File(HERE / "newest.h5", "w", libver="latest") as file:
        file.create_dataset("numbers", data=np.arange(100), chunks=(10,), compression="gzip")  # needs HDF5 2.0


if __name__ == "__main__":
    main()
