"""Computed rows in the store (RowsDescriptor) and in listings, without numpy."""

import array
import ast
import contextlib
import json
import os
import re
import struct
import zlib

from ._store import _FORMAT_VERSION

_REGION_HEADER = struct.Struct("<8siiqq32s")  # magic, format, state, id, bytes of the data, kind
_ROWS_HEADER = struct.Struct("<8siiqqqqI")  # magic, layout, length of text, rows, bytes of a row, offsets of states and rows, CRC-32 of text
_REGION_DATA, _REGION_STATE, _ROWS_TEXT = 4096, 12, 64
_REGION_MAGIC, _ROWS_MAGIC, _ROWS_KIND = b"LARDERRE", b"LARDERCR", "computed-rows"
_REGION_READY, _ROWS_LAYOUT = 2, 1
_STATES_AT_ONCE = 1 << 17


def _computed_rows(store):
    """Return all computed rows of a store as arrays that a listing has; omits those of another user and damaged ones."""
    folder = os.path.join(store, "regions")
    names = []
    with contextlib.suppress(OSError):
        names = sorted(name for name in os.listdir(folder) if re.fullmatch(".+@[0-9a-f]{16}", name))
    return [row for row in (_look_at_rows(os.path.join(folder, name)) for name in names) if row]


def _look_at_rows(path):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        magic, version, state, _, _, kind = _REGION_HEADER.unpack(os.pread(descriptor, _REGION_HEADER.size, 0))
        if (magic, version, state, kind.rstrip(b"\0")) != (_REGION_MAGIC, _FORMAT_VERSION, _REGION_READY, _ROWS_KIND.encode()):
            return None
        magic, layout, length, count, row_bytes, states, data, crc = _ROWS_HEADER.unpack(os.pread(descriptor, _ROWS_HEADER.size, _REGION_DATA))
        text = os.pread(descriptor, length, _REGION_DATA + _ROWS_TEXT)
        if (magic, layout) != (_ROWS_MAGIC, _ROWS_LAYOUT) or zlib.crc32(text) != crc:
            return None
        lines = dict(line.split("=", 1) for line in text.decode().splitlines())
        dtype = lines["dtype"]
        return {"name": os.path.basename(path)[:-17], "dtype": json.dumps(ast.literal_eval(dtype), ensure_ascii=False) if dtype.startswith("[") else dtype,
                "shape": [count, *map(int, filter(None, lines["shape"].split(",")))], "order": "C", "bytes": count * row_bytes, "version": 0,
                "digest": lines["key"], "state": "computed", "pinned": False, "leases": 0, "path": path, "offset": _REGION_DATA + data, "crc32c": "",
                "source": lines["arrays"], "part": "none", "lines": lines, "published": _published(descriptor, _REGION_DATA + states, count)}
    except (OSError, ValueError, KeyError, SyntaxError, struct.error):
        return None
    finally:
        os.close(descriptor)


def _published(descriptor, start, count):
    """Count the published rows: their state is not 0."""
    found = 0
    for first in range(0, count, _STATES_AT_ONCE):
        states = array.array("Q", os.pread(descriptor, 8 * min(_STATES_AT_ONCE, count - first), start + 8 * first))
        found += len(states) - states.count(0)
    return found


def _is_rows_name(row, name):
    return name in (row["name"], row["lines"].get("name"))
