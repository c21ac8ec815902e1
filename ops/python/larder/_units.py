"""Sizes and durations in text form."""

import re

_UNIT_STEP = 1024
_UNITS = "kmgt"
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def _size_of(value):
    """Return bytes: a number, or a text such as ``"512m"``."""
    if isinstance(value, int) and value >= 0:
        return int(value)
    found = re.fullmatch(r"([0-9]{1,18})([kmgtKMGT]?)", str(value))
    if not found:
        raise ValueError(f"not a size: '{value}' (a size is 4096, 512m or 10g)")
    size = int(found[1]) * _UNIT_STEP ** (_UNITS.find(found[2].lower()) + 1 if found[2] else 0)
    if size >= 1 << 63:
        raise ValueError(f"size is too large: '{value}'")
    return size


def _seconds_of(value):
    """Return seconds: a number, or a text such as ``"30s"``."""
    if isinstance(value, (int, float)) and value >= 0:
        return value
    found = re.fullmatch(r"([0-9]{1,12})(ms|s|m|h|d)", str(value))
    if not found:
        raise ValueError(f"not a duration: '{value}' (a duration is 500ms, 30s, 5m or 2h)")
    return int(found[1]) * _SECONDS[found[2]]


def _size_text(size):
    """Write bytes as ``52.4 MiB``."""
    if size < _UNIT_STEP:
        return f"{size} B"
    value, step = size, -1
    while value >= _UNIT_STEP - 0.05 and step < len(_UNITS) - 1:
        value /= _UNIT_STEP
        step += 1
    return f"{_tenths(value)} {_UNITS[step].upper()}iB"


def _duration_text(seconds):
    """Write a duration as ``0.4 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    whole = int(seconds)
    if whole < 60:
        return f"{_tenths(seconds)} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def _tenths(value):
    """Write a number with one decimal. Rounds half up, as the command does; Python's formats round half to even."""
    return f"{int(value * 10 + 0.5) / 10:.1f}"
