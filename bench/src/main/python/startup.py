"""Measures how long commands of larder take, as installed in several ways.

usage: startup.py measure STORE TIMES NAME=COMMAND...    prints {"what", "package", "seconds"} for each, warm, packages in turns
       startup.py table FILE                             makes a table of them
"""
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

import children

WHAT = {
    "first": "first command after unpacking (writes the archive of loaded classes)",
    "ls": "`larder ls`",
    "ready": "`larder serve --detach`, nothing to load",
}
DEADLINE_S = 60


def overdue(*_):
    raise TimeoutError(f"a command did not end: seconds={DEADLINE_S}")


def timed(command, environment):
    begin = time.perf_counter()
    signal.alarm(DEADLINE_S)  # run's own timeout looks every 50 ms whether the command has ended
    subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    signal.alarm(0)
    return time.perf_counter() - begin


def end_daemon(store):
    """Asks the daemon to end by a signal, without another JVM, and waits until its store is gone."""
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
    signal.signal(signal.SIGALRM, overdue)
    rows = {(what, package): [] for what in WHAT for package in packages}
    for package, command in packages.items():
        if package != "checkout":  # that has been built, and used
            rows["first", package].append(timed([command, "--version"], environment))
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


def table(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    packages = list(dict.fromkeys(row["package"] for row in rows if row["what"] == "ls"))
    times = max(len(row["seconds"]) for row in rows)
    print(f"Seconds from call to end, script included: median (minimum to maximum) of {times}, packages in turns.\n")
    print("| | " + " | ".join(packages) + " |")
    print("|---|" + "--:|" * len(packages))
    for what, label in WHAT.items():
        cells = []
        for package in packages:
            found = [row["seconds"] for row in rows if (row["what"], row["package"]) == (what, package)]
            cells.append(cell(found[0]) if found else "")
        if any(cells):
            print(f"| {label} | " + " | ".join(cells) + " |")


def cell(seconds):
    if len(seconds) == 1:
        return f"{seconds[0]:.2f}"
    return f"{statistics.median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})"


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        with children.interruptible():
            measure(sys.argv[2], int(sys.argv[3]), dict(word.split("=", 1) for word in sys.argv[4:]))
    else:
        table(sys.argv[2])
