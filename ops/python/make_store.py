#!/usr/bin/env python3
"""Writes versions into a store without a daemon: a second implementation of the format, based only on ops/docs/reference/FORMAT.md.

The tests of larder read these versions, and tests of other readers can. Nothing removes or replaces them.
"""

import hashlib
import io
import json
import os
import struct
import zlib

import numpy as np

MASK = 2**64 - 1
PARTS = ["", "ragged_values", "ragged_offsets", "ragged_shapes", "strings_bytes", "strings_offsets", "index_slots", "index_records", "index_positions",
         "index_entries", "bytes_values", "bytes_offsets"]


def _crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


_CRC_TABLE = tuple(_crc_table())


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in bytes(data):
        value = _CRC_TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


# Columns: each of these returns {part: array}.


def _slots(hashes, places):
    """Makes a hash table from each key's x (see FORMAT.md) and place."""
    bits = 1
    while 2 * 2**bits < 3 * len(hashes):
        bits += 1
    table = [0] * 2**bits
    for x, place in zip(hashes, places):
        slot = (x * 0x9E3779B97F4A7C15 & MASK) >> 64 - bits
        while table[slot]:
            slot = (slot + 1) % len(table)
        table[slot] = (x & 0xFFFF) << 48 | place + 1
    return np.array(table, "<u8")


def texts_index(keys, rows=None):
    records, positions = io.BytesIO(), []
    keys = [key.encode("utf-8") for key in keys]
    for row, key in zip(range(len(keys)) if rows is None else rows, keys):
        positions.append(records.tell())
        records.write(row.to_bytes(8, "little", signed=True) + len(key).to_bytes(4, "little") + key)
        records.write(bytes(-records.tell() % 8))
    slots = _slots([zlib.crc32(key) for key in keys], [position // 8 for position in positions])
    return {"index_slots": slots, "index_records": np.frombuffer(records.getvalue(), "|u1"),
            "index_positions": np.array(positions, "<i8")}


def numbers_index(keys, rows=None):
    unsigned = [key & MASK for key in keys]
    rows = range(len(keys)) if rows is None else rows
    return {"index_slots": _slots([key ^ key >> 32 for key in unsigned], range(len(keys))),
            "index_entries": np.array([*zip(keys, rows)], "<i8").reshape(-1, 2)}


def _offsets(lengths):
    return np.concatenate([[0], np.cumsum(np.array(lengths, "<i8"))]).astype("<i8")


def ragged(rows):
    values = np.concatenate([row.ravel("C") for row in rows]).astype(rows[0].dtype)
    return {"ragged_values": values, "ragged_offsets": _offsets([row.size for row in rows]),
            "ragged_shapes": np.array([row.shape for row in rows], "<i8").reshape(len(rows), -1)}


def strings(rows):
    rows = [row.encode("utf-8") for row in rows]
    return {"strings_bytes": np.frombuffer(b"".join(rows), "|u1"), "strings_offsets": _offsets([len(row) for row in rows])}


def raw_bytes(rows):
    return {"bytes_values": np.frombuffer(b"".join(rows), "|u1"), "bytes_offsets": _offsets([len(row) for row in rows])}


def _image(array, start, alignment, behind=0):
    """Returns the header of an .npy image that begins at `start` of its file: data starts `behind` bytes behind a multiple of `alignment`."""
    descr = np.lib.format.dtype_to_descr(array.dtype)
    text = repr({"descr": descr, "fortran_order": _is_fortran(array), "shape": array.shape})
    version, encoding = (1, "latin-1") if text.isascii() and len(text) < 60000 else (3, "utf-8")
    text, width = text.encode(encoding), 2 if version == 1 else 4
    padding = -(start + 8 + width + len(text) + 1) % alignment + behind
    length = (len(text) + padding + 1).to_bytes(width, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + b" " * padding + b"\n"


def _is_fortran(array):
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _file_of(name):
    first, _, rest = name.partition("/")
    return ("@" if rest and first in ("index", "lease", "pinned", "shard", "manifest.json") else "") + name + ".npy"


def write_version(store, dataset, arrays, columns=None, packed=False, checksums=True, behind=192):
    """Publishes a version with arrays {name: array} and columns {name: {part: array}}, and returns its folder.

    `packed` puts all arrays into one pack; without `checksums` they are recorded as zero. Data starts `behind` bytes behind a page in
    files of their own: 0 in stores of earlier builds.
    """
    arrays, parts = dict(arrays), {}
    for column, its_parts in (columns or {}).items():
        for part, array in its_parts.items():
            name = column + "/" + part.partition("_")[2]
            arrays[name], parts[name] = array, part
    parent = os.path.join(store, "data", dataset)
    os.makedirs(parent, 0o700, exist_ok=True)
    version = 1 + max([int(entry) for entry in os.listdir(parent) if entry.isdigit()], default=0)
    folder = os.path.join(parent, str(version))
    os.mkdir(folder)
    entries = []
    for name in sorted(arrays, key=lambda name: name.encode("utf-8")):
        array = np.asanyarray(arrays[name])
        file = "pack-0000" if packed else _file_of(name)
        path = os.path.join(folder, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "ab") as out:
            out.write(bytes(-out.tell() % 64))
            out.write(_image(array, out.tell(), 64) if packed else _image(array, out.tell(), 4096, behind))
            offset, data = out.tell(), array.tobytes("A")
            out.write(data)
        entry = {"name": name, "file": file, "offset": offset, "dtype": np.lib.format.dtype_to_descr(array.dtype),
                 "shape": array.shape, "order": "F" if _is_fortran(array) else "C", "bytes": len(data),
                 "crc32c": "%08x" % (crc32c(data) if checksums else 0)}
        entries.append({**entry, "part": parts[name]} if name in parts else entry)
    manifest = {"formatVersion": 1, "dataset": dataset, "version": version, "digest": _digest(arrays, entries),
                "published": "2026-01-01T00:00:00Z", "arrays": entries, "origins": [], "sources": []}
    write_manifest(folder, manifest)
    open(os.path.join(folder, "lease"), "w").close()
    _replace_current(parent, version)
    return folder


def write_manifest(folder, manifest):
    """Writes the manifest of a version, and the index that has the same arrays."""
    with open(os.path.join(folder, "manifest.json"), "w") as out:
        json.dump(manifest, out)
    with open(os.path.join(folder, "index"), "wb") as out:
        out.write(index_of(folder, manifest))


def index_of(folder, manifest):
    arrays = sorted(manifest["arrays"], key=lambda array: array["name"].encode("utf-16-be"))
    sources = {source["array"]: source for source in manifest["sources"]}
    files, dimensions, text = {}, [], bytearray()
    for array in arrays:
        files.setdefault(array["file"], sources.get(array["name"], {}) if os.path.isabs(array["file"]) else {})
    slot_count = 2
    while slot_count < 2 * len(arrays):
        slot_count *= 2
    entries_at = -(-(128 + 4 * slot_count) // 8) * 8
    segments_at = entries_at + 64 * len(arrays)
    shapes_at = segments_at + 32 * len(files)
    text_at = shapes_at + 8 * sum(len(array["shape"]) for array in arrays)

    def place(string):
        string = string.encode("utf-8")
        text.extend(string)
        return text_at + len(text) - len(string), len(string)

    slots, entries, segments = [0] * slot_count, b"", b""
    for number, array in enumerate(arrays):
        hash = 0xCBF29CE484222325
        for byte in array["name"].encode("utf-8"):
            hash = (hash ^ byte) * 0x100000001B3 & MASK
        hash ^= hash >> 32
        slot = hash % slot_count
        while slots[slot]:
            slot = (slot + 1) % slot_count
        slots[slot] = number + 1
        descr = str(np.lib.format.dtype_to_descr(_dtype(array["dtype"])))
        entries += struct.pack("<Q6I2Q4I", hash, *place(array["name"]), *place(descr), shapes_at + 8 * len(dimensions), len(array["shape"]), array["offset"],
                               array["bytes"], list(files).index(array["file"]), int(array["crc32c"], 16), ord(array["order"]),
                               PARTS.index(array.get("part", "")))
        dimensions += array["shape"]
    for file, source in files.items():
        size = source.get("bytes", os.path.getsize(os.path.join(folder, file)))
        segments += struct.pack("<Q2IqQ", size, *place(file), source.get("modified", 0), source.get("inode", 0))
    content = struct.pack(f"<{slot_count}I", *slots).ljust(entries_at - 128, b"\0") + entries + segments + struct.pack(f"<{len(dimensions)}q", *dimensions) + text
    sums_at = -(-(128 + len(content)) // 8) * 8
    content = content.ljust(sums_at - 128, b"\0")
    size = sums_at + 4 * -(-sums_at // 1024)
    head = struct.pack("<8s2IQ2I32s7Q2I", b"LARDERIX", 1, len(arrays), manifest["version"], slot_count, len(files), bytes.fromhex(manifest["digest"]), size,
                       1767225600000, 128, entries_at, segments_at, shapes_at, text_at, 0, sums_at)
    whole = head + content
    sums = sums_of(whole)
    return whole[:120] + crc32c(whole + sums).to_bytes(4, "little") + whole[124:] + sums


def sums_of(content):
    """Returns the sums of the blocks of an index, of its bytes before the sums, with zeros in place of its checksum."""
    return b"".join(zlib.crc32(content[at:at + 1024]).to_bytes(4, "little") for at in range(0, len(content), 1024))


def _dtype(descr):
    """Returns the dtype of JSON: fields, titles and shapes are lists there."""
    def tuples(descr):
        return descr if isinstance(descr, str) else [(tuple(name) if isinstance(name, list) else name, tuples(inner), *map(tuple, shape))
                                                     for name, inner, *shape in descr]

    return np.lib.format.descr_to_dtype(tuples(descr))


def _digest(arrays, entries):
    sha = hashlib.sha256()
    for entry in entries:
        descr = str(np.lib.format.dtype_to_descr(np.asanyarray(arrays[entry["name"]]).dtype))
        line = [entry["name"], descr, ",".join(map(str, entry["shape"])), entry["order"], entry["crc32c"]]
        sha.update(("\0".join(line) + "\n").encode("utf-8"))
    return sha.hexdigest()


def _replace_current(parent, version):
    link = os.path.join(parent, ".current")
    os.symlink(str(version), link)
    os.replace(link, os.path.join(parent, "current"))
