#!/usr/bin/env python3
"""Reads shuffled rows of files that are not in memory, with a loader and with fio, and writes a JSON object a line.

usage: beyond_memory.py data FOLDER BYTES                   rows-4096.npy and rows-150528.npy of BYTES each
       beyond_memory.py measure FOLDER SECONDS LANGUAGE=WORDS…   each language starts a trainer with WORDS ARRAY ROWS, which prints a JSON object

With root, a trainer also runs in a memory control group (version 1) of a quarter of a file.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys

SIZES = (4096, 150528)
HEADER_BYTES = 128
GROUPS = "/sys/fs/cgroup/memory"
ROUNDS = 3
WARM_ROWS = {4096: 2_000_000, 150528: 60_000}


def data(folder, total):
    os.makedirs(folder, exist_ok=True)
    for size in SIZES:
        count = int(total) // size
        head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({count}, {size}), }}"
        with open(path(folder, size), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little") + head.ljust(HEADER_BYTES - 11).encode() + b"\n")
            block = os.urandom(1 << 20)
            for at in range(0, count * size, 1 << 20):
                file.write(block[: count * size - at])
            os.fsync(file.fileno())


def path(folder, size):
    return os.path.join(folder, f"rows-{size}.npy")


def forget(file):
    """Drops a file from memory."""
    descriptor = os.open(file, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def remember(file):
    with open(file, "rb") as whole:
        while whole.read(1 << 24):
            pass


def fio(file, size, seconds):
    words = ["fio", "--name=rows", "--readonly", f"--filename={file}", "--rw=randread", f"--bs={size}", "--ioengine=psync", "--direct=1",
             "--numjobs=16", "--thread", "--group_reporting", "--time_based", f"--runtime={seconds}", "--output-format=json"]
    read = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["jobs"][0]["read"]
    return {"rows": read["total_ios"], "seconds": read["runtime"] / 1000}


class Group:
    """A control group with a limit of memory."""

    def __init__(self, limit):
        self.folder = os.path.join(GROUPS, f"larder-bench-{os.getpid()}")
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "memory.limit_in_bytes"), "w", encoding="ascii") as file:
            file.write(str(limit))

    def enter(self):
        with open(os.path.join(self.folder, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))

    def remove(self):
        os.rmdir(self.folder)


def start(words, array, rows, enter=None):
    return subprocess.Popen([*words, array, str(rows)], stdout=subprocess.PIPE, text=True, preexec_fn=enter)


def result(trainer):
    out, _ = trainer.communicate()
    if trainer.returncode:
        sys.exit(f"beyond_memory.py: a trainer failed: exitCode={trainer.returncode}")
    return json.loads(out.splitlines()[-1])


def show(what, engine, size, row):
    print(json.dumps({"what": what, "engine": engine, "rowBytes": size, **row}), flush=True)


def measure(folder, seconds, *languages):
    trainers = {language: shlex.split(words) for language, _, words in (each.partition("=") for each in languages)}
    for size in SIZES:
        file, array = path(folder, size), f"rows-{size}"
        forget(file)
        rate = None
        for _ in range(ROUNDS):
            if shutil.which("fio"):
                found = fio(file, size, seconds)
                rate = found["rows"] / found["seconds"]
                show("cold", "fio", size, found)
            rows = min(int((rate or 3000) * float(seconds)), os.path.getsize(file) // size)
            for language, words in trainers.items():
                forget(file)
                show("cold", language, size, result(start(words, array, rows)))
                if os.access(GROUPS, os.W_OK):
                    forget(file)
                    group = Group(os.path.getsize(file) // 4)
                    try:
                        show("group", language, size, result(start(words, array, rows, group.enter)))
                    finally:
                        group.remove()
        for language, words in trainers.items():
            forget(file)
            for trainer in [start(words, array, rows) for _ in range(2)]:
                show("two", language, size, result(trainer))
            remember(file)
            show("warm", language, size, result(start(words, array, WARM_ROWS[size])))


if __name__ == "__main__":
    {"data": data, "measure": measure}[sys.argv[1]](*sys.argv[2:])
