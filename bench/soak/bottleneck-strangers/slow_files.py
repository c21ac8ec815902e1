#!/usr/bin/env -S python3 -B
"""Mounts a folder read-only through FUSE, with a delay before each read: a slow disk that needs neither a device nor a library.

    slow_files.py FOLDER MOUNT DELAY_FILE

The delay in seconds is read from DELAY_FILE before each read, so a test can load fast and then become slow.
"""
import ctypes
import errno
import os
import stat
import struct
import sys
import threading
import time

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
OPENDIR, READDIR, RELEASEDIR, ACCESS, INTERRUPT, DESTROY, BATCH_FORGET = 27, 28, 29, 34, 36, 38, 42
ROOT = 1
VALID_SECONDS = 3600
MS_RDONLY_NOSUID_NODEV = 1 | 2 | 4


class SlowFiles:
    """Files of one folder, without folders in it; the node of a file is its place in the list of names, plus 2."""

    def __init__(self, folder, delay_file):
        self.folder, self.delay_file = folder, delay_file
        self.names = sorted(os.listdir(folder))
        self.files = [os.open(os.path.join(folder, name), os.O_RDONLY) for name in self.names]

    def attributes(self, node):
        seen = os.stat(self.folder) if node == ROOT else os.fstat(self.files[node - 2])
        mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o644
        seconds, nanos = divmod(seen.st_mtime_ns, 10**9)
        return struct.pack("<6Q10I", node, seen.st_size, (seen.st_size + 511) // 512, seconds, seconds, seconds, nanos, nanos, nanos,
                           mode, 1, 0, 0, 0, 4096, 0)

    def lookup(self, name):
        if name not in self.names:
            return -errno.ENOENT
        node = self.names.index(name) + 2
        return struct.pack("<4Q2I", node, 0, VALID_SECONDS, VALID_SECONDS, 0, 0) + self.attributes(node)

    def entries(self, offset):
        out = b""
        for place, name in enumerate([".", "..", *self.names]):
            if place >= offset:
                raw = name.encode()
                out += struct.pack("<2Q2I", max(place, 1), place + 1, len(raw), 4 if place < 2 else 8) + raw + bytes(-len(raw) % 8)
        return out

    def read(self, node, offset, size):
        with open(self.delay_file) as delay:
            time.sleep(float(delay.read() or 0))
        return os.pread(self.files[node - 2], size, offset)

    def answer(self, opcode, node, body):
        if opcode == INIT:
            readahead = struct.unpack_from("<3I", body)[2]
            return struct.pack("<4I2H2I2H8I", 7, 31, min(readahead, 131072), 0, 16, 12, 131072, 1, 0, 0, *[0] * 8)
        if opcode == LOOKUP:
            return self.lookup(body.rstrip(b"\0").decode())
        if opcode == GETATTR:
            return struct.pack("<Q2I", VALID_SECONDS, 0, 0) + self.attributes(node)
        if opcode in (OPEN, OPENDIR):
            return struct.pack("<Q2I", node, 2, 0)
        if opcode == READ:
            return self.read(node, *struct.unpack_from("<QI", body, 8))
        if opcode == READDIR:
            return self.entries(struct.unpack_from("<Q", body, 8)[0])
        if opcode == STATFS:
            return struct.pack("<5Q10I", 1 << 20, 1 << 19, 1 << 19, 1000, 500, 4096, 255, 4096, *[0] * 7)
        if opcode in (RELEASE, RELEASEDIR, FLUSH, ACCESS, DESTROY):
            return b""
        return -errno.ENOSYS

    def serve(self, device):
        while True:
            try:
                request = os.read(device, 1 << 20)
            except OSError as failed:
                if failed.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                os._exit(0)                                   # ENODEV: unmounted
            _, opcode, unique, node = struct.unpack_from("<2I2Q", request)
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            answer = self.answer(opcode, node, request[40:])
            code, data = (answer, b"") if isinstance(answer, int) else (0, answer)
            try:
                os.write(device, struct.pack("<IiQ", 16 + len(data), code, unique) + data)
            except OSError:
                pass                                          # the reader has given up


def main(folder, mount, delay_file):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if ctypes.CDLL(None, use_errno=True).mount(b"slow", mount.encode(), b"fuse", MS_RDONLY_NOSUID_NODEV, options) != 0:
        sys.exit(f"cannot mount: path={mount} cause={os.strerror(ctypes.get_errno())}; run as root, with /dev/fuse")
    files = SlowFiles(folder, delay_file)
    for _ in range(3):
        threading.Thread(target=files.serve, args=(device,), daemon=True).start()
    files.serve(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
