#!/usr/bin/env python3
"""Writes the golden .npy files of the tests and index.tsv, which says what numpy reads from each.

    python3 make_golden.py ../resources/npy

Made with numpy 1.24 (whose arrays have at most 32 dimensions). The same numpy gives the same bytes again: contents come
from one seeded generator. Each line of index.tsv holds, parted by tabs: file, descr, shape, fortran_order, itemsize,
bytes of data, offset of the data, format version, and whether numpy itself wrote the header ("numpy") or this script
did, as older or other writers do ("foreign").

Each line of values.tsv holds, parted by tabs, a file and what numpy says its elements are, in C order: whole numbers, dates and
booleans as digits, floats and the parts of complex numbers (with a space between) in hexadecimal, texts as x and the hexadecimal digits of their UTF-8.
"""

import struct
import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

RANDOM = np.random.RandomState(20260101)
WORDS = ["", "a", "Zürich", "naïve", "日本", "\U0001f600", "tab\there"]

SIMPLE = (
    ["|b1", "|i1", "|u1"]
    + [o + t for o in "<>" for t in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "f16", "c8", "c16", "c32")]
    + ["|S1", "|S5", "|V1", "|V7"]
    + [o + t for o in "<>" for t in ("U1", "U10", "M8", "m8", "M8[ns]", "m8[ns]", "M8[25us]", "m8[25us]")]
    + ["<M8[%s]" % u for u in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ps", "fs", "as")]
)

STRUCTURED = {
    "flat": [("a", "<f4"), ("b", ">i2"), ("c", "|u1")],
    "one-field": [("only", "<f8")],
    "sub-array": [("m", "<f4", (2, 3)), ("v", "|i1", (3,)), ("one", "<i2", (1,))],
    "sub-sub-array": [("m", [("x", "<f4", (2,))], (3,))],
    "nested": [("p", [("x", "<f8"), ("q", [("y", ">U3"), ("z", "|b1")])]), ("n", "<i8")],
    "titles": [(("the first", "a"), "|u1"), (("Zweites ä", "b"), "<f4", (2,))],
    "latin-names": [("größe", "<f4"), ("é\xa0b", "<i2")],
    "unicode-names": [("日本語", "<f4"), ("\U0001f600", "<M8[ns]"), ("zero\u200dwidth", "|S3")],
    "quotes": [("it's", "<f4"), ('say "x"', "<f4"), ("both'\"", "<f4"), ("back\\slash", "<f4"), ("tab\t", "<f4")],
    "aligned": np.dtype([("a", "|u1"), ("b", "<f8"), ("c", "|i1"), ("d", "<i4"), ("e", "|u1")], align=True),
    "aligned-nested": np.dtype([("a", "|u1"), ("p", np.dtype([("x", "|u1"), ("y", "<i4")], align=True), (2,))], align=True),
    "offsets": np.dtype({"names": ["b", "a"], "formats": ["<f4", "V3"], "offsets": [3, 8], "itemsize": 19}),
    "empty-name": np.dtype({"names": ["", "b"], "formats": ["<f4", "<i4"]}),
    "zero-size-field": [("s", "S0"), ("e", "<f4", (0, 2)), ("b", "<f4")],
    "no-fields": [],
}

SHAPES = {
    "scalar": ((), False),
    "one": ((3,), False),
    "single-element": ((1,), False),
    "matrix": ((3, 4), False),
    "fortran": ((3, 4), True),
    "fortran-cube": ((2, 3, 4), True),
    "empty": ((0,), False),
    "empty-inside": ((3, 0, 4), False),
    "dims-32": ((1,) * 30 + (2, 2), False),
    "dims-32-fortran": ((2, 2) + (1,) * 30, True),
}


def fill(dtype, shape, fortran=False):
    """Returns an array of random contents that are valid for its type."""
    dtype = np.dtype(dtype)
    array = np.zeros(shape, dtype, order="F" if fortran else "C")
    if dtype.kind == "U":
        words = [WORDS[i] for i in RANDOM.randint(0, len(WORDS), array.size)]
        array[...] = np.array(words, dtype).reshape(shape)
    elif dtype.kind == "b":
        array[...] = RANDOM.randint(0, 2, shape)
    elif array.nbytes:
        flat = np.frombuffer(RANDOM.bytes(array.nbytes), np.uint8)
        array = np.frombuffer(flat.tobytes(), dtype, count=array.size).reshape(shape, order="F" if fortran else "C")
    return array


def foreign(version, literal, data, encoding="latin1"):
    """Returns a file whose header numpy reads but would not write like this."""
    header = literal.encode(encoding)
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return npy.magic(version, 0) + length + header + data


def foreign_files():
    data = bytes(range(48))
    yield "foreign-python2", foreign(1, "{'descr': u'<f4', 'fortran_order': False, 'shape': (3L, 4L), }\n", data)
    yield "foreign-key-order", foreign(1, "{'shape': (3, 4), 'descr': '<f4', 'fortran_order': False}\n", data)
    yield "foreign-double-quotes", foreign(1, '{"descr":"<f4","fortran_order":True,"shape":(3,4)}', data)
    yield "foreign-white-space", foreign(2, " \t{ 'descr' :\n'<f4' , 'fortran_order':False, 'shape': ( 3 , 4 , ) } \n", data)
    yield "foreign-escapes", foreign(1, "{'descr': [('\\x61\\u65e5\\U0001f600\\'\\n\\101', '<f4')], 'fortran_order': False, 'shape': (12,), }\n", data)
    yield "foreign-orders", foreign(1, "{'descr': [('a', '<i1'), ('b', '>S2'), ('c', '<V1')], 'fortran_order': False, 'shape': (12,), }\n", data)
    yield "foreign-split-padding", foreign(1, "{'descr': [('', '|V1'), ('', '|V2'), ('a', '|u1')], 'fortran_order': False, 'shape': (12,), }\n", data)
    yield "foreign-at-4096", foreign(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".ljust(4085) + "\n", data)


def shown(value):
    """Returns the text of one element; None where Java has no accessor for it."""
    kind, size = value.dtype.kind, value.dtype.itemsize
    if kind in "biu":
        return str(int(value))
    elif kind in "mM":
        return str(int(value.astype("i8")))
    elif kind == "f" and size <= 8:
        return float(value).hex()
    elif kind == "c" and size <= 16:
        return float(value.real).hex() + " " + float(value.imag).hex()
    elif kind == "S":
        return "x" + bytes(value).decode("utf-8", "replace").encode().hex()
    return "x" + str(value).encode().hex() if kind == "U" else None


def main(folder):
    warnings.simplefilter("ignore")
    lines = []
    values = []

    def add(name, writer, by):
        path = folder / (name + ".npy")
        with open(path, "wb") as out:
            writer(out)
        with open(path, "rb") as file:
            major, _ = npy.read_magic(file)
            read = {1: npy.read_array_header_1_0, 2: npy.read_array_header_2_0}
            shape, fortran, dtype = (read[major](file) if major in read else npy._read_array_header(file, (3, 0)))
            offset = file.tell()
        array = np.load(path, allow_pickle=False)
        assert array.dtype == dtype and array.shape == shape and offset + array.nbytes == path.stat().st_size, name
        texts = [shown(array[place]) for place in np.ndindex(array.shape)] if array.size < 100 else []
        if texts and None not in texts:
            values.append("\t".join([path.name] + texts))
        lines.append("\t".join([
            path.name, str(npy.dtype_to_descr(dtype)), ",".join(map(str, shape)), str(fortran), str(dtype.itemsize),
            str(array.nbytes), str(offset), str(major), by]))

    def save(name, array, version=None):
        add(name, lambda out: npy.write_array(out, array, version, allow_pickle=False), "numpy")

    for descr in SIMPLE:
        order = {"<": "-little", ">": "-big", "|": ""}[descr[0]]
        save("simple-" + descr[1:].replace("[", "-").replace("]", "") + order, fill(descr, (7,)))
    for name, descr in STRUCTURED.items():
        save("struct-" + name, fill(descr, (3,)))
    for name, (shape, fortran) in SHAPES.items():
        save("shape-" + name, fill("<f4", shape, fortran))
    save("shape-empty-big", np.zeros((0, 2**40), ">i2"))
    for version in (1, 2, 3):
        save("version-%d" % version, fill("<f4", (3, 4)), (version, 0))
        save("version-%d-struct" % version, fill(STRUCTURED["latin-names"], (3,)), (version, 0))
    save("struct-many-fields", fill([("field%d" % i, "|u1") for i in range(300)], (2,)))
    for name, content in foreign_files():
        add(name, lambda out: out.write(content), "foreign")

    text = "".join(line + "\n" for line in lines)
    (folder / "index.tsv").write_text("# numpy " + np.__version__ + "\n" + text, encoding="utf-8")
    text = "".join(line + "\n" for line in values)
    (folder / "values.tsv").write_text("# numpy " + np.__version__ + "\n" + text, encoding="utf-8")
    print(len(lines), "files,", sum(p.stat().st_size for p in folder.glob("*.npy")), "bytes, numpy", np.__version__)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
