"""Measures how long commands of larder take, as installed in several ways.

usage: startup.py STORE TIMES NAME=COMMAND...    prints JSON for each command and package, warm, packages in turns
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

import children
from parts.startup import WHAT

DEADLINE_S = 60


def overdue(*_):
    raise TimeoutError(f"a command did not end: seconds={DEADLINE_S}")


def timed(command, environment):
    begin = time.perf_counter()
    signal.alarm(DEADLINE_S)  # the timeout of subprocess.run polls every 50 ms
    subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    signal.alarm(0)
    return time.perf_counter() - begin


def end_daemon(store):
    """Ends the daemon by a signal, without another JVM, and waits until its store is gone."""
    with open(os.path.join(store, "daemon.lock")) as lock:
        pid = int(re.search(r"pid\D*(\d+)", lock.read()).group(1))
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + DEADLINE_S
    while os.path.exists(store) or os.path.exists(f"/proc/{pid}"):
        if time.monotonic() > deadline:
            sys.exit(f"the daemon did not end: pid={pid} store={store}")
        time.sleep(0.005)


def measure(store, times, packages):
    environment = {**os.environ, "LARDER_STORE": store}
    environment.pop("LARDER_CLASS_ARCHIVE", None)
    signal.signal(signal.SIGALRM, overdue)
    rows = {(what, package): [] for what in WHAT for package in packages}
    for package, command in packages.items():
        if package != "checkout":  # that one was built and used before
            rows["first", package].append(timed([command, "--version"], environment))
            timed([command, "--version"], {**environment, "LARDER_CLASS_ARCHIVE": "now"})  # waits for the archive that the first one has made
    try:
        for turn in range(times + 1):
            for package, command in packages.items():
                ready = timed([command, "serve", "--detach"], environment)
                listed = timed([command, "ls"], environment)
                end_daemon(store)
                if turn > 0:  # the first finds files that are not in memory yet
                    rows["ready", package].append(ready)
                    rows["ls", package].append(listed)
    finally:
        show(rows)


def show(rows):
    for (what, package), seconds in rows.items():
        if seconds:
            print(json.dumps({"what": what, "package": package, "seconds": [round(each, 4) for each in seconds]}))


if __name__ == "__main__":
    with children.interruptible():
        measure(sys.argv[1], int(sys.argv[2]), dict(word.split("=", 1) for word in sys.argv[3:]))
