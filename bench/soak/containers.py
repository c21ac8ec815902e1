"""Loads a large array in a container (bench/soak/container), and counts its copies in memory after Java and Python readers have read all of it.

The first container uses the default store. Then two containers mount one volume with a store: a daemon and half of the readers are in one, the
other half is in the other, and both write one shared array.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import crew
from crew import LARDER, ROOT, children, require, require_equal

CONTAINER = os.path.join(ROOT, "bench", "soak", "container")
ROW_BYTES = 1 << 20
SMALL_BYTES = 64 << 20
TURNS = 1000

JAVA_READER = """
import dev.larder.client.*;
import java.nio.*;

class AllRows {
    public static void main(String[] arguments) throws Exception {
        try (Larder larder = Larder.connect();
                Dataset dataset = larder.dataset("big")) {
            ArrayView view = dataset.array(dataset.arrayNames().get(0));
            long sum = 0;
            for (long row = 0; row < view.rows(); row++) {
                LongBuffer longs = view.byteBuffer(row, 1).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
                for (int i = 0; i < longs.limit(); i++) {
                    sum += longs.get(i);
                }
            }
            System.out.println("sum " + sum);
            System.in.read();
        }
    }
}
"""
PYTHON_READER = """
import sys, larder
big = next(iter(larder.dataset("big").values()))
print("sum", sum(int(row.sum()) for row in big), flush=True)
sys.stdin.read()
"""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--gib", type=float, default=4, help="size of the array")
    options.add_argument("--readers", type=int, default=8, help="half of them are in Java")
    options.add_argument("--inside", nargs=2, metavar=("FOLDER", "READERS"), help=argparse.SUPPRESS)
    options.add_argument("--load", help=argparse.SUPPRESS)
    words = options.parse_args()
    if words.inside:
        inside(words.inside[0], int(words.inside[1]), words.load)
        return
    crew.build()
    with children.interruptible(), tempfile.TemporaryDirectory(prefix="larder-containers-", dir="/var/tmp") as folder:
        expected = prepare(folder, int(words.gib * (1 << 30)) // ROW_BYTES)
        count("one container, default store", folder, expected, [words.readers], {})
        volume = os.path.join(folder, "volume")
        os.mkdir(volume)
        count("two containers, one volume", folder, expected, [words.readers - words.readers // 2, words.readers // 2],
              {"LARDER_STORE": "/volume/store"}, "--volume", volume)


def prepare(folder, rows):
    """Writes the array and the readers; returns the sum of the elements."""
    block = np.random.default_rng(1).integers(0, 1 << 20, ROW_BYTES // 8)
    big = np.lib.format.open_memmap(os.path.join(folder, "big.npy"), "w+", block.dtype, (rows, len(block)))
    for row in range(rows):
        big[row] = block + row
    source = os.path.join(folder, "AllRows.java")
    with open(source, "w") as file:
        file.write(JAVA_READER)
    subprocess.run(["javac", "-cp", os.environ["LARDER_SOAK_CLASS_PATH"], "-d", folder, source], check=True)
    return int(block.sum()) * rows + len(block) * (rows * (rows - 1) // 2)


def count(what, folder, expected, readers, variables, *mounts):
    """Starts a container for each number of readers, the first one with a daemon, and requires one copy in the memory of all."""
    data_bytes = os.path.getsize(os.path.join(folder, "big.npy"))
    with contextlib.ExitStack() as stack:
        containers = []
        for number, of_container in enumerate(readers):
            words = [sys.executable, "-B", os.path.abspath(__file__), "--inside", folder, str(of_container)]
            load = [] if number else ["--load", os.path.join(folder, "big.npy")]
            container = children.Child([CONTAINER, *mounts, *words, *load], env={**os.environ, **variables})
            stack.callback(container.ended)  # by the end of its input: a killed one would leave its layers
            containers.append(container)
            if not number:
                chosen = container.answer("doctor")
        for container, of_container in zip(containers, readers):
            require_equal(int(container.answer("sum")), expected * of_container, "the sum that the readers found")
        copies = sum(answers(containers, "count")) / data_bytes
        sums = answers(containers, "share", len(containers))
        for container in reversed(containers):
            require_equal(container.ended(), 0, "the end of a container")
    print(f"{what}: GiB={data_bytes / 2**30:.2f} readers={'+'.join(map(str, readers))} copies={copies:.4f} doctor: {chosen}", flush=True)
    require(copies <= 1.02, f"more than one copy: {copies}")  # fewer if memory is short: the kernel drops pages
    require_equal(set(sums), {len(readers) * TURNS}, "additions to a shared array")


def answers(containers, word, *arguments):
    """Writes a line to each container, and returns their numbers."""
    for container in containers:
        container.tell(" ".join(map(str, [word, *arguments])))
    return [int(container.answer(word)) for container in containers]


# ------------------------------------------------------------------------------------------------------- in a container


def inside(folder, readers, source):
    """Serves if there is a source, starts the readers, and answers the lines of the standard input."""
    require_equal(shutil.disk_usage("/dev/shm").total, SMALL_BYTES, "the size of /dev/shm")
    os.environ["PYTHONPATH"] = os.path.join(ROOT, "ops", "python")
    sys.path.insert(0, os.environ["PYTHONPATH"])
    import larder

    java = crew.Java(os.environ["LARDER_SOAK_CLASS_PATH"] + ":" + folder)
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(serving(source)).pid] if source else []
        if source:
            print("doctor", reason(), flush=True)
        started = [stack.enter_context(children.Child([sys.executable, "-B", "-c", PYTHON_READER] if number % 2 else java.words("AllRows")))
                   for number in range(readers)]
        pids += [reader.pid for reader in started]
        print("sum", sum(int(reader.answer("sum")) for reader in started), flush=True)
        for line in sys.stdin:
            word, *containers = line.split()
            found = shared_sum(larder, int(containers[0])) if containers else pss(pids)
            print(word, found, flush=True)


def pss(pids):
    """Returns the memory of the data. A page that several processes have mapped counts for each with its part."""
    return sum(bytes_of for pid in pids for path, _, bytes_of in children.mappings(pid) if "/data/big/" in path)


def reason():
    """Returns the store and the reason for its place, as `larder doctor` reports them."""
    said = subprocess.run([LARDER, "doctor", "--json"], stdout=subprocess.PIPE, check=False).stdout  # the machine may have other problems
    return next(finding["found"] for finding in json.loads(said) if finding["check"] == "mount")


def shared_sum(larder, containers):
    """Adds to an array that all containers write, and returns its sum after all of them have added."""
    with larder.shared("turns", "i8", 1, timeout=crew.PATIENCE_S) as turns:
        for _ in range(TURNS):
            with turns.lock(crew.PATIENCE_S):
                turns.array[0] += 1
        turns.barrier(containers, crew.PATIENCE_S)
        return int(turns.array[0])


@contextlib.contextmanager
def serving(source):
    with children.Child([LARDER, "serve", "--load", "big=" + source]) as daemon:
        while not daemon.line().startswith("Done caching."):
            pass
        yield daemon
        daemon.process.terminate()
        require_equal(daemon.ended(), 0, "the end of the daemon")


if __name__ == "__main__":
    main()
