#!/usr/bin/env python3
"""Writes golden vectors for the hash of names and the digest of versions, as the index of a version has them.

    python3 make_layout_vectors.py > ../resources/layout/vectors.tsv

This is a second implementation, written from the specification alone. Lines are parted by tabs: "hash", name, 16 hex
digits; or "array", name, dtype, shape, order, crc32c in hex, any number of them, and then "digest", 64 hex digits, over
the arrays since the digest before.
"""

import hashlib

NAMES = ["", "a", "foobar", "train-images", "scans/scene0685_01", "größe", "日本語", "\U0001f600", "\uff21", "x" * 240]

VERSIONS = [
    [],
    [("a", "<f4", (3,), "C", 0)],
    [("train-labels", "|u1", (60000,), "C", 0xDEADBEEF), ("train-images", "|u1", (60000, 28, 28), "C", 0x0000002A)],
    [("scalar", "<i8", (), "C", 1), ("fortran", ">f8", (2, 3), "F", 0xFFFFFFFF), ("empty", "<M8[ns]", (0, 5), "C", 0)],
    # sorted by UTF-8 bytes, which for these two is not the order of UTF-16
    [("\U0001f600", "<f4", (1,), "C", 2), ("\uff21", "<f4", (1,), "C", 3), ("größe/日本", "|S5", (2**40, 7), "C", 4)],
    [("s", "[('x', '<f4'), ('y', '>i2', (2, 3))]", (9,), "C", 5)],
]


def fold(name):
    value = 0xCBF29CE484222325
    for byte in name.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value ^ value >> 32


def digest(arrays):
    sha = hashlib.sha256()
    for name, dtype, shape, order, crc in sorted(arrays, key=lambda array: array[0].encode("utf-8")):
        line = [name, dtype, ",".join(map(str, shape)), order, "%08x" % crc]
        sha.update(("\0".join(line) + "\n").encode("utf-8"))
    return sha.hexdigest()


def main():
    for name in NAMES:
        print("hash", name, "%016x" % fold(name), sep="\t")
    for arrays in VERSIONS:
        for name, dtype, shape, order, crc in arrays:
            print("array", name, dtype, ",".join(map(str, shape)), order, "%08x" % crc, sep="\t")
        print("digest", digest(arrays), sep="\t")


if __name__ == "__main__":
    main()
