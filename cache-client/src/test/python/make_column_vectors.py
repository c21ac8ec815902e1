#!/usr/bin/env python3
"""Writes golden vectors for columns: hashes of keys, and small columns with every byte of every array.

    python3 make_column_vectors.py > ../resources/layout/columns.tsv

This is a second implementation with numpy, written from ops/docs/reference/FORMAT.md alone. Lines are parted by tabs: "text", key, hash,
first slot of 2^20, fingerprint (hex); "integer", the same; or "array", name, code of the part, dtype, shape, data in hex.
"""

import zlib

import numpy as np

TEXTS = ["", "a", "scene0685_01", "scene0685_02", "größe", "日本語", "\U0001f600", "a\U0001f600ü x", "\0", "x" * 100]
INTEGERS = [0, 1, -1, 42, 65536, 2**32, 2**63 - 1, -(2**63), 685 << 40]
C = 0x9E3779B97F4A7C15


def text_hash(key):
    return zlib.crc32(key.encode("utf-8"))


def integer_hash(key):
    key %= 2**64
    return key ^ key >> 32


def first_slot(x, capacity):
    return x * C % 2**64 >> 64 - (capacity.bit_length() - 1)


def table(hashes, places):
    capacity = 2
    while 2 * capacity < 3 * len(hashes):
        capacity *= 2
    slots = np.zeros(capacity, "<u8")
    for x, place in zip(hashes, places):
        slot = first_slot(x, capacity)
        while slots[slot]:
            slot = (slot + 1) % capacity
        slots[slot] = (x & 0xFFFF) << 48 | place + 1
    return slots


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype("<i8")


def raw(chunks):
    return np.frombuffer(b"".join(chunks), "|u1")


def text_index(name, keys):
    records, positions, at = [], [], 0
    for key, row in keys:
        utf8 = key.encode("utf-8")
        record = row.to_bytes(8, "little") + len(utf8).to_bytes(4, "little") + utf8
        record += bytes(-len(record) % 8)
        positions.append(at)
        records.append(record)
        at += len(record)
    yield name + "/slots", 6, table([text_hash(key) for key, _ in keys], [at // 8 for at in positions])
    yield name + "/records", 7, raw(records)
    yield name + "/positions", 8, np.array(positions, "<i8")


def integer_index(name, keys):
    yield name + "/slots", 6, table([integer_hash(key) for key, _ in keys], range(len(keys)))
    yield name + "/entries", 9, np.array(keys, "<i8").reshape(-1, 2)


def strings(name, texts):
    rows = [text.encode("utf-8") for text in texts]
    yield name + "/bytes", 4, raw(rows)
    yield name + "/offsets", 5, offsets([len(row) for row in rows])


def ragged(name, rows):
    yield name + "/values", 1, np.concatenate([row.ravel() for row in rows]).astype(rows[0].dtype)
    yield name + "/offsets", 2, offsets([row.size for row in rows])
    yield name + "/shapes", 3, np.array([row.shape for row in rows], "<i8").reshape(len(rows), rows[0].ndim)


def files(name, named):
    yield name + "/values", 10, raw([content for _, content in named])
    yield name + "/offsets", 11, offsets([len(content) for _, content in named])
    yield from strings(name + "/names", [path for path, _ in named])


def columns():
    yield from text_index("scene", [(key, 7 * k) for k, key in enumerate(TEXTS)])
    yield from text_index("nothing", [])
    yield from integer_index("id", [(key, 2**40 + k) for k, key in enumerate(INTEGERS)])
    yield from integer_index("none", [])
    yield from strings("path", TEXTS)
    yield from ragged("feat", [np.arange(h * w, dtype="<f4").reshape(h, w) + h for h, w in [(2, 3), (0, 5), (1, 1), (4, 2)]])
    yield from ragged("scalar", [np.array(k, ">i2") for k in (1, 2, 3)])
    yield from files("files", [("a.txt", b"hello"), ("b/empty", b""), ("b/größe.bin", bytes(range(20)))])


def main():
    for kind, keys, function in ("text", TEXTS, text_hash), ("integer", INTEGERS, integer_hash):
        for key in keys:
            x = function(key)
            shown = key.encode("utf-8").hex() if kind == "text" else key
            print(kind, shown, "%x" % x, first_slot(x, 2**20), "%04x" % (x & 0xFFFF), sep="\t")
    for name, part, array in columns():
        shape = ",".join(map(str, array.shape))
        print("array", name, part, array.dtype.str, shape, array.tobytes().hex(), sep="\t")


if __name__ == "__main__":
    main()
