#!/usr/bin/env -S python3 -B
"""Loads very many files, and sees that the daemon does it, in how long, and with how much memory.

Each name is a hard link to one of a few files: a load reads every one of them as a file of its own.
"""
import argparse
import os
import shutil
import subprocess
import tempfile
import time

import crew
from crew import children, require_equal

ROW_BYTES = 100


def load(daemon, name, folder, *options):
    """Loads, and returns the seconds and the peak of the daemon's anonymous memory in MiB."""
    begin, peak = time.monotonic(), 0
    with open(daemon.log + ".load", "w+") as said, daemon.start("load", f"{name}={folder}", *options, stdout=said, stderr=said) as process:
        while process.poll() is None:
            peak = max(peak, children.anonymous_bytes(daemon.process.pid))
            time.sleep(0.1)
        said.seek(0)
        require_equal(process.returncode, 0, f"the load of {name}: {said.read()}")
    return time.monotonic() - begin, peak / (1 << 20)


def report(what, count, made, seconds, mib):
    print(f"{what:28} {count:9} files  made {made:6.1f} s  loaded {seconds:6.1f} s  {count / seconds:8.0f} files/s  peak anonymous {mib:6.0f} MiB", flush=True)


def run(options, daemon, folder):
    if options.files:
        made = crew.link_many(folder + "/bytes", options.files, b"x" * ROW_BYTES, ".jpg")
        seconds, mib = load(daemon, "bytes", folder + "/bytes", "--as", "bytes")
        rows = {row["name"]: row for row in daemon.ask("ls", "--json")}
        require_equal(rows["bytes/files/offsets"]["shape"], [options.files + 1], "rows of bytes")
        require_equal(rows["bytes/files/values"]["bytes"], options.files * ROW_BYTES, "bytes of values")
        report("as bytes", options.files, made, seconds, mib)
        seconds, _ = load(daemon, "bytes", folder + "/bytes", "--as", "bytes")
        report("as bytes again, unchanged", options.files, 0, seconds, mib)
        shutil.rmtree(folder + "/bytes")
    if options.arrays:
        made = crew.link_many(folder + "/arrays", options.arrays, crew.npy(bytes(ROW_BYTES), (ROW_BYTES,)), ".npy")
        seconds, mib = load(daemon, "arrays", folder + "/arrays")
        require_equal(daemon.ask("status", "--json")["arrays"] >= options.arrays, True, "the number of arrays")
        report("as arrays", options.arrays, made, seconds, mib)
    require_equal(daemon.ask("errors").strip(), "No errors.", "errors that the daemon met")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2_000_000)
    parser.add_argument("--arrays", type=int, default=500_000)
    parser.add_argument("--folder", help="where the files are made (default: the temporary folder)")
    parser.add_argument("--heap", default="", help="LARDER_DAEMON_HEAP of the daemon")
    options = parser.parse_args()
    crew.build()
    variables = {"LARDER_DAEMON_HEAP": options.heap} if options.heap else {}
    with children.interruptible(), tempfile.TemporaryDirectory(prefix="larder-many-files-", dir=options.folder) as folder:
        with crew.Served("many-files", folder, env={**os.environ, **variables}) as daemon:
            run(options, daemon, folder)


if __name__ == "__main__":
    main()
