"""Checks a store from outside, without its daemon, and reports violations of its rules.

    check_store.py STORE [--used-bytes N] [--busy] [--expect NAME]… [--pinned NAME]…     a store that is served, or kept
    check_store.py STORE --gone                                                         one that was stopped

Uses ops/docs/reference/FORMAT.md and the standard library only; with numpy the checksums are a hundred times faster. Prints one problem a line,
and ends with 1 if there are any.
"""

import argparse
import hashlib
import json
import os
import re
import stat
import struct
import sys

try:
    import numpy as np
except ImportError:
    np = None

TOP_LEVEL = {"daemon.lock", "control.sock", "catalog.chm", "counters", "http.token", "data", "incoming", "rings", "loaders", "regions"}
OWN_FILES = {"manifest.json", "index", "lease", "pinned", "shard"}
INDEX_CRC_OFFSET = 120
INDEX_MAGIC = b"LARDERIX"
POLYNOMIAL = 0x82F63B78
LANES = 4096


# ------------------------------------------------------------------------------------------------------------ crc32c


def _table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = _table()


def _serial(crc, data):
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


def _times(matrix, vector):
    product = 0
    bit = 0
    while vector:
        if vector & 1:
            product ^= matrix[bit]
        vector >>= 1
        bit += 1
    return product


def _past_zeros(length):
    """Returns the matrix that takes the register past `length` bytes of zeros."""
    power = [TABLE[1 << bit] if bit < 8 else 1 << (bit - 8) for bit in range(32)]
    result = [1 << bit for bit in range(32)]
    while length:
        if length & 1:
            result = [_times(power, column) for column in result]
        power = [_times(power, column) for column in power]
        length >>= 1
    return result


def crc32c(data):
    """Returns the CRC-32C (Castagnoli) of some bytes."""
    data = memoryview(data).cast("B")
    crc = 0xFFFFFFFF
    length = len(data) // LANES
    if np is not None and length >= 16:
        # each lane by itself, a byte of all of them at a time; then one after the other
        lanes = np.frombuffer(data[: length * LANES], np.uint8).reshape(LANES, length)
        table = np.array(TABLE, np.uint32)
        registers = np.zeros(LANES, np.uint32)
        for column in np.ascontiguousarray(lanes.T):
            registers = table[(registers ^ column) & 0xFF] ^ (registers >> np.uint32(8))
        matrix = _past_zeros(length)
        for register in registers.tolist():
            crc = _times(matrix, crc) ^ register
        data = data[length * LANES:]
    return _serial(crc, data) ^ 0xFFFFFFFF


# ------------------------------------------------------------------------------------------------------------- rules


class Store:
    """The contents of a store: its versions, the blocks under their segments, and the problems."""

    def __init__(self, path):
        self.path = path
        self.problems = []
        self.versions = {}  # (dataset, number) -> manifest
        self.current = {}  # dataset -> number
        self.registered = set()
        self.used_bytes = 0

    def problem(self, what, **values):
        self.problems.append(what + ": " + " ".join(f"{key}={value}" for key, value in values.items()))

    def look(self):
        for entry in sorted(os.listdir(self.path)):
            if entry not in TOP_LEVEL:
                self.problem("not of a store", entry=entry)
        data = os.path.join(self.path, "data")
        for dataset in sorted(os.listdir(data)):
            self._dataset(dataset, os.path.join(data, dataset))
        return self

    def _dataset(self, dataset, folder):
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            self.problem("not a dataset", path=folder)
            return
        entries = sorted(os.listdir(folder))
        for entry in entries:
            path = os.path.join(folder, entry)
            if re.fullmatch(r"[1-9]\d*", entry):
                self._version(dataset, int(entry), path)
            elif entry == "registered":
                self.registered.add(dataset)
            elif entry != "current" and not re.fullmatch(r"[1-9]\d*\.damaged", entry):  # a start set it aside
                self.problem("not of a dataset", path=path)
        if not entries:
            self.problem("empty dataset", path=folder)
        if "current" in entries:
            self._current(dataset, os.path.join(folder, "current"))
        numbers = [number for name, number in self.versions if name == dataset]
        if dataset in self.current and self.current[dataset] != max(numbers, default=0):
            self.problem("current is not the newest", dataset=dataset, current=self.current[dataset], versions=numbers)
        if dataset in self.current and dataset in self.registered:
            self.problem("resident and registered at once", dataset=dataset)

    def _current(self, dataset, link):
        text = os.readlink(link) if os.path.islink(link) else ""
        if not re.fullmatch(r"[1-9]\d*", text):
            self.problem("current is no link to a version", path=link, text=text)
            return
        self.current[dataset] = int(text)
        if (dataset, int(text)) not in self.versions:
            self.problem("current names no version", path=link, text=text)

    def _version(self, dataset, number, folder):
        try:
            with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
                manifest = json.load(file)
        except (OSError, ValueError) as e:
            self.problem("no readable manifest", folder=folder, reason=e)
            return
        self.versions[dataset, number] = manifest
        if (manifest["formatVersion"], manifest["dataset"], manifest["version"]) != (1, dataset, number):
            self.problem("manifest of another version", folder=folder, says=(manifest["dataset"], manifest["version"]))
        if not os.path.exists(os.path.join(folder, "lease")):
            self.problem("no lease", folder=folder)
        self._index(folder, manifest)
        self._arrays(folder, manifest)
        self._digest(folder, manifest)
        self._files(folder, manifest)

    def _index(self, folder, manifest):
        try:
            with open(os.path.join(folder, "index"), "rb") as file:
                index = file.read()
        except OSError as e:
            self.problem("no index", folder=folder, reason=e)
            return
        if index[:8] != INDEX_MAGIC or len(index) < INDEX_CRC_OFFSET + 8:
            self.problem("no index", folder=folder, bytes=len(index))
            return
        stored, = struct.unpack_from("<I", index, INDEX_CRC_OFFSET)
        if crc32c(index[:INDEX_CRC_OFFSET] + bytes(4) + index[INDEX_CRC_OFFSET + 4:]) != stored:
            self.problem("index is damaged", folder=folder)
        count, version = struct.unpack_from("<iq", index, 12)
        if count != len(manifest["arrays"]) or version != manifest["version"] or index[32:64].hex() != manifest["digest"]:
            self.problem("index and manifest differ", folder=folder, arrays=count, version=version)

    def _arrays(self, folder, manifest):
        for array in manifest["arrays"]:
            path = os.path.join(folder, array["file"])
            try:
                with open(path, "rb") as file:
                    file.seek(array["offset"])
                    data = file.read(array["bytes"])
            except OSError as e:
                self.problem("segment cannot be read", path=path, reason=e)
                continue
            found = f"{crc32c(data):08x}"
            if len(data) != array["bytes"] or found != array["crc32c"]:
                self.problem("bytes are not those that were published", path=path, array=array["name"],
                             bytes=len(data), crc32c=found, expected=array["crc32c"])

    def _digest(self, folder, manifest):
        lines = []
        for array in sorted(manifest["arrays"], key=lambda a: a["name"].encode()):
            shape = ",".join(map(str, array["shape"]))
            lines.append("\0".join([array["name"], str(array["dtype"]), shape, array["order"], array["crc32c"]]) + "\n")
        if hashlib.sha256("".join(lines).encode()).hexdigest() != manifest["digest"]:
            self.problem("digest is not that of the arrays", folder=folder)

    def _files(self, folder, manifest):
        segments = {array["file"] for array in manifest["arrays"] if not array["file"].startswith("/")}
        for where, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(where, name)
                file = os.path.relpath(path, folder)
                status = os.lstat(path)
                if file in segments:
                    self.used_bytes += status.st_blocks * 512
                elif file not in OWN_FILES:
                    self.problem("not of a version", path=path)
                if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o7337:
                    self.problem("mode of a file", path=path, mode=oct(status.st_mode))

    def pinned(self, dataset):
        return os.path.exists(os.path.join(self.path, "data", dataset, str(self.current.get(dataset)), "pinned"))


def problems(path, used_bytes=None, busy=False, expected=(), pinned=()):
    """Returns the problems of a store.

    `used_bytes` is the daemon's total for the versions, `busy` is true if an ingest may be under way, `expected` lists
    the datasets that have to be resident, `pinned` those of them that are pinned.
    """
    store = Store(path).look()
    for entry in [] if busy else sorted(os.listdir(os.path.join(path, "incoming"))):
        store.problem("left in incoming", entry=entry)
    if used_bytes is not None and used_bytes != store.used_bytes:
        store.problem("bytes in the store and in the daemon's total differ", found=store.used_bytes, told=used_bytes)
    for dataset in expected:
        if dataset not in store.current:
            store.problem("a dataset that must stay is gone", dataset=dataset)
    for dataset in pinned:
        if not store.pinned(dataset):
            store.problem("not pinned any more", dataset=dataset)
    return store.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("--gone", action="store_true")
    parser.add_argument("--used-bytes", type=int)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--pinned", action="append", default=[])
    options = parser.parse_args()
    if options.gone:
        found = [f"store is still there: path={options.store}"] if os.path.lexists(options.store) else []
    else:
        found = problems(options.store, options.used_bytes, options.busy, options.expect, options.pinned)
    print("\n".join(found) or "nothing wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
