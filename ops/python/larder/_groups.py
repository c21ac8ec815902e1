"""Control groups, versions 1 and 2: how much memory this process may use. Java's MemoryGroup finds the same, and is tested with the same cases."""

from __future__ import annotations

import os

_NO_LIMIT = 1 << 60  # version 1 writes no limit as a huge number


def _memory_bytes(root="/"):
    """Return how much memory this process may use: that of the machine, or the lowest limit of its groups; 0 if neither can be read."""
    sizes = [int(line.split()[1]) << 10 for line in _lines(os.path.join(root, "proc/meminfo")) if line.startswith("MemTotal:")]
    for folder, version in _groups(root):
        sizes += _limits(folder, version)
    return min(sizes, default=0)


def _free_bytes(root="/"):
    """Return the bytes that this process's groups, and each one above them, can still be charged. Pages of files count as free."""
    least = _NO_LIMIT
    for folder, version in _groups(root):
        limit, used = min(_limits(folder, version), default=None), _number(folder, "memory.current" if version == 2 else "memory.usage_in_bytes")
        if limit is not None and used is not None:
            total = "" if version == 2 else "total_"  # version 1 excludes the groups below without it
            droppable = sum(_counter(folder, total + kind) or 0 for kind in ("inactive_file", "active_file"))
            least = min(least, max(0, limit - used + droppable))
    return least


def _groups(root):
    """Yield the folder of each memory group of this process, and of each one above it up to the mount, with its version."""
    hierarchies = list(_hierarchies(root)) or [("/", "/sys/fs/cgroup", 2), ("/", "/sys/fs/cgroup/memory", 1)]
    for line in _lines(os.path.join(root, "proc/self/cgroup")):
        _, controllers, group = (line + "::").split(":", 2)
        own = 2 if line.startswith("0::") else 1 if "memory" in controllers.split(",") else None
        for mounted, mount, version in hierarchies:
            if version == own:
                top = root.rstrip("/") + mount
                folder = os.path.join(top, _below(mounted, group[:-2])).rstrip("/")
                folder = folder if os.path.isdir(folder) else top  # a container often has its own group at the top
                while folder.startswith(top):
                    yield folder, version
                    folder = os.path.dirname(folder)
                break


def _hierarchies(root):
    """Yield the group at each mount of groups with memory, the mount's folder, and its version."""
    for line in _lines(os.path.join(root, "proc/self/mountinfo")):
        mount, _, kind = line.partition(" - ")
        words, kind = mount.split(" "), kind.split(" ")
        if len(words) > 4 and (kind[0] == "cgroup2" or (kind[0] == "cgroup" and "memory" in kind[-1].split(","))):
            yield words[3].replace("\\040", " "), words[4].replace("\\040", " "), 2 if kind[0] == "cgroup2" else 1


def _below(mounted, group):
    """Return the path of a group below the one that is mounted; empty if it is elsewhere."""
    path = os.path.relpath(os.path.normpath(group), mounted)
    return "" if path == "." or path.startswith("..") else path


def _limits(folder, version):
    """Return the limits of a group. Version 1 also reports the lowest one above it, which may be invisible here."""
    if version == 2:
        found = _number(folder, "memory.max"), _number(folder, "memory.high")  # above the second the kernel slows writers down severely
    else:
        found = _number(folder, "memory.limit_in_bytes"), _counter(folder, "hierarchical_memory_limit")
    return [limit for limit in found if limit is not None and limit < _NO_LIMIT]


def _number(folder, file):
    return next((_amount(line) for line in _lines(os.path.join(folder, file))), None)


def _counter(folder, name):
    """Return a value of a line such as ``inactive_file 3``, or None."""
    return next((_amount(line[len(name) + 1:]) for line in _lines(os.path.join(folder, "memory.stat")) if line.startswith(name + " ")), None)


def _amount(text):
    return int(text) if text.strip().isdecimal() else None  # such as "max"


def _lines(path):
    """Return the lines of a file of the kernel, or none if it cannot be read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC), encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            return [line.rstrip("\n") for line in file]  # a name may contain other characters that end lines
    except OSError:
        return []
