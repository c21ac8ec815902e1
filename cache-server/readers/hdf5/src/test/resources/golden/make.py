"""Makes the golden files of HDF5, and what h5py reads from them: make.py (numpy, h5py)."""

import pathlib
import zlib

import h5py
import numpy as np

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(7)


def text(value):
    """Say what is expected of an array as the test does."""
    data = np.ascontiguousarray(value).tobytes()
    words = data.hex() if len(data) <= 64 else "crc " + format(zlib.crc32(data), "x")
    return f"{value.dtype.str} {list(value.shape)} {words}"


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
    (HERE / "expected.tsv").write_text("\n".join(lines) + "\n")
    with h5py.File(HERE / "refused.h5", "w") as file:
        file["good"] = np.arange(4)
        file["soft"] = h5py.SoftLink("/good")
        file["outer"] = h5py.ExternalLink("arrays.h5", "/scalar")
        file["pairs"] = np.zeros(2, [("a", "<i4"), ("b", "<f8")])
        file["reference"] = np.array([file["good"].ref], dtype=h5py.ref_dtype)
        file.create_dataset("null", data=h5py.Empty("f4"))
    with h5py.File(HERE / "odd.h5", "w") as file:
        file["good"] = np.arange(4)
        file["g/x"] = np.arange(3)
        file["g/loop"] = file["g"]
        file.create_dataset("opaque", data=np.array([b"abc"], "V3"))
        layout = h5py.VirtualLayout((4,), "<i8")
        layout[:] = h5py.VirtualSource(file["good"])
        file.create_virtual_dataset("virtual", layout)
    with h5py.File(HERE / "newer-types.h5", "w", libver="latest") as file:
        file["flags"] = np.array([True, False])  # needs HDF5 2.0: a type of version 5
    with h5py.File(HERE / "newest.h5", "w", libver="latest") as file:
        file.create_dataset("numbers", data=np.arange(100), chunks=(10,), compression="gzip")  # needs HDF5 2.0


if __name__ == "__main__":
    main()
