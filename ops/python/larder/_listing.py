"""Arrays and columns in the output of ``larder ls`` and ``larder info``."""

import collections
import re

from ._requests import _column_name
from ._units import _size_text

_FEW_LISTED = 20  # a dataset of more arrays and columns is one line if all datasets are listed
_COUNTED_PARTS = {"ragged_offsets": 1, "strings_offsets": 1, "bytes_offsets": 1, "index_positions": 0, "index_entries": 0}
_HEADINGS = ["NAME", "DTYPE", "SHAPE"]
_MORE_HEADINGS = ["ORDER", ">SIZE", ">VERSION", "STATE", "PINNED", ">LEASES", ">OFFSET", "CRC32C", "DIGEST", "PATH", "SOURCE"]
_WILD = re.compile(r"[*?\[]")


_Line = collections.namedtuple("_Line", "name kind arrays")  # the kind of a column, or None; one array, or all arrays of the column


def _lines_of(rows):
    """Return the lines of a listing: a column is at the place of its first array. Arrays of an incomplete column have their own lines."""
    groups = {}
    for row in rows:
        groups.setdefault((_column_name(row), row["version"], row["state"]), []).append(row)
    lines = []
    for (name, *version), arrays in groups.items():
        of = groups.get((name.removesuffix("/names"), *version), [])
        if not _is_whole_column(arrays):
            lines += map(_line_of_array, arrays)
        elif not (name.endswith("/names") and _is_whole_column(of) and _kind(of) == "bytes"):  # the column with the names of its rows belongs to its line
            more = groups.get((name + "/names", *version), []) if _kind(arrays) == "bytes" else []
            lines.append(_Line(name, _kind(arrays), arrays + more))
    return lines


def _kind(arrays):
    part = arrays[0].get("part", "none") if arrays else "none"
    return None if part == "none" else part.partition("_")[0]


def _is_whole_column(arrays):
    kind = _kind(arrays)
    return kind is not None and len(arrays) >= (3 if kind == "ragged" else 2)


def _line_of_array(row):
    return _Line(row["name"], None, [row])


def _dataset_of(line):
    return line.name.partition("/")[0]


def _brief(lines):
    """Return one line for each dataset of many arrays and columns; its name ends in a slash."""
    datasets = {}
    for line in lines:
        datasets.setdefault(_dataset_of(line), []).append(line)
    return [line for name, its in datasets.items()
            for line in (its if len(its) <= _FEW_LISTED else [_Line(name + "/", None, [row for one in its for row in one.arrays])])]


def _is_counted(line):
    """Return whether the daemon has counted the arrays of a dataset into one row."""
    return len(line.arrays) == 1 and line.arrays[0]["name"].endswith("/")


def _is_only_known(line):
    return not line.arrays[0]["dtype"] and line.arrays[0]["state"] == "registered"


def _type(line):
    if _is_only_known(line):
        return "-"
    if _is_counted(line):
        return line.arrays[0]["dtype"] or "-"
    if line.name.endswith("/"):
        types = {_type(one) for one in _lines_of(line.arrays)}
        return types.pop() if len(types) == 1 else "-"
    if line.kind is None:
        return line.arrays[0]["dtype"]
    return next((f"{line.kind} {row['dtype']}" for row in line.arrays if row["part"] == "ragged_values"), line.kind)


def _extent(line):
    if _is_only_known(line):
        return "evicted" if line.arrays[0]["version"] else "registered"
    if _is_counted(line):
        return f"{line.arrays[0]['shape'][0]} arrays"
    if line.name.endswith("/"):
        all_lines = _lines_of(line.arrays)
        columns = sum(one.kind is not None for one in all_lines)
        if not columns:
            return f"{len(all_lines)} arrays"
        return f"{columns} columns" if columns == len(all_lines) else f"{_counted(len(all_lines) - columns, 'array')}, {_counted(columns, 'column')}"
    if line.kind is None:
        shape = line.arrays[0]["shape"]
        return f"({','.join(map(str, shape))}{',)' if len(shape) == 1 else ')'}"
    return _counted(_column_rows(line), "key" if line.kind == "index" else "row")


def _counted(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _column_rows(line):
    for row in line.arrays:
        if row["part"] in _COUNTED_PARTS:
            return max(0, (row["shape"] or [0])[0] - _COUNTED_PARTS[row["part"]])
    return 0


def _line_bytes(line):
    return sum(row["bytes"] for row in line.arrays)


def _sources(line):
    return " ".join(dict.fromkeys(row["source"] for row in line.arrays if row["source"])) or "-"


def _table_of_arrays(lines, with_all):
    table = [_HEADINGS + (_MORE_HEADINGS if with_all else [])]
    for line in lines:
        first, is_array = line.arrays[0], line.kind is None and not _is_only_known(line)
        more = [first["order"] if is_array else "-", _size_text(_line_bytes(line)), str(first["version"] or "-"), first["state"], _yes(first["pinned"]),
                str(first["leases"]), str(first["offset"]) if is_array else "-", first["crc32c"] or "-" if is_array else "-", first["digest"][:12] or "-",
                first["path"] or "-" if is_array else "-", _sources(line)]
        table.append([line.name, _type(line), _extent(line), *(more if with_all else [])])
    return _table_text(table)


def _table_text(table):
    """Return lines of aligned columns, without blanks at their ends. A heading that starts with > aligns its column to the right."""
    right = [heading.startswith(">") for heading in table[0]]
    rows = [[heading.lstrip(">") for heading in table[0]], *table[1:]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in zip(row, widths, right)).rstrip() for row in rows]


def _facts(line):
    """Return one line for each fact about an array, a column, or a dataset that is not in memory."""
    first, size = line.arrays[0], _line_bytes(line)
    size = f"{size}" + (f" ({_size_text(size)})" if size >= 1024 else "")
    if _is_only_known(line):
        facts = {"state": f"{_extent(line)}: loaded when a process opens it, or by larder wait {_dataset_of(line)}"}
        if first["version"]:
            facts.update(bytes=size, version=first["version"], digest=first["digest"])
    else:
        facts = {"dtype": _type(line), "shape": _extent(line), "order": first["order"]} if line.kind is None else {
            "column": _type(line), "keys" if line.kind == "index" else "rows": _column_rows(line)}
        facts.update(bytes=size, version=first["version"], digest=first["digest"] or "-", state=first["state"], pinned=_yes(first["pinned"]),
                     leases=first["leases"])
        facts.update({"path": first["path"] or "-", "offset": first["offset"], "crc32c": first["crc32c"] or "-"} if line.kind is None else
                     {"arrays": " ".join(row["name"] for row in line.arrays)})
    return [f"{key:<9}{value}" for key, value in {"name": line.name, **facts, "source": _sources(line)}.items()]


def _facts_of_rows(row):
    """Return one line for each fact about computed rows."""
    lines = row["lines"]
    facts = {"name": row["name"], "dtype": row["dtype"], "shape": _extent(_line_of_array(row)), "bytes": row["bytes"],
             "state": f"computed: published {row['published']} of {row['shape'][0]} rows", "digest": lines["digest"], "arrays": lines["arrays"],
             "steps": lines["steps"], "key": lines["key"], "path": row["path"], "offset": row["offset"]}
    return [f"{key:<9}{value}" for key, value in facts.items()]


def _yes(value):
    return "yes" if value else "no"


# Name patterns. A star also matches slashes.


def _is_pattern(text):
    return _WILD.search(text) is not None


def _pattern_prefix(text):
    """Return the common beginning of the datasets that a pattern can match."""
    wild = _WILD.search(text)
    return (text[:wild.start()] if wild else text).partition("/")[0]


def _matcher(text):
    """Return a function that tests whether a name, or a level above it, matches a pattern."""
    wanted = _without_slashes(text)
    if not _is_pattern(text):
        return lambda name: name == wanted or name.startswith(wanted + "/")
    pattern, i = "", 0
    while i < len(wanted):
        letter = wanted[i]
        close = wanted.find("]", i + 2) if letter == "[" else -1
        if close > 0:
            letters = re.sub(r"([\\\[\]^&])", r"\\\1", wanted[i + 1:close])
            pattern += "[" + ("^" + letters[1:] if letters.startswith("!") else letters) + "]"
            i = close
        else:
            pattern += {"*": ".*", "?": "."}.get(letter) or re.escape(letter)
        i += 1
    return lambda name: re.fullmatch(pattern, name) is not None


def _without_slashes(name):
    return name.rstrip("/") or name[:1]
