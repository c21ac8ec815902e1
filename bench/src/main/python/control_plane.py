#!/usr/bin/env python3
"""Measures how long requests to a daemon take from Python, and how long the command needs for the same.

usage: control_plane.py [CHECKOUT...]   for this checkout, or for each that is named, in turns: prints a table of medians

Each checkout has its own daemon and store. Name two checkouts to compare two commits.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../.."))
ROUNDS, MANY = 5, 100_000

# Runs in a process of its own for each checkout: the packages have one name. The first argument is the store.
CALLS = """
import os, statistics, sys, time
import numpy as np, larder
store, source = sys.argv[1:]
def median_ms(call, times):
    took = []
    for i in range(times):
        begin = time.perf_counter(); call(i); took.append(time.perf_counter() - begin)
    return statistics.median(took) * 1e3
larder.load("one", source, store=store)
run = os.getpid()
print("larder.load of a resident dataset", median_ms(lambda i: larder.load("one", source, store=store), 30), sep="\\t")
print("larder.cache of 1 KiB, new", median_ms(lambda i: larder.cache(f"small-{run}-{i}", lambda: np.arange(128.), store=store), 9), sep="\\t")
many = {f"a{i}": np.zeros(4, np.float32) for i in range(%d)}
print("larder.cache of %d arrays, new", median_ms(lambda i: larder.cache("many", lambda: many, store=store), 1), sep="\\t")
""" % (MANY, MANY)


def timed(words, environment):
    begin = time.perf_counter()
    subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - begin) * 1e3


def measure(checkout, store, source):
    """Returns how many milliseconds each request takes."""
    command = os.path.join(checkout, "ops/larder")
    environment = {**os.environ, "PYTHONPATH": os.path.join(checkout, "ops/python"), "LARDER_STORE": store, "LARDER_COMMAND": command}
    subprocess.run([command, "evict", "many"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # of the round before
    printed = subprocess.run([sys.executable, "-c", CALLS, store, source], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    took = {name: float(ms) for name, ms in (line.split("\t") for line in printed.splitlines())}
    for words in (["status"], ["ls"], ["ls", "--json"]):
        took["larder " + " ".join(words)] = timed([command, *words], environment)
    if os.path.exists(os.path.join(checkout, "ops/python/larder/__main__.py")):
        took["python3 -m larder status"] = timed([sys.executable, "-m", "larder", "status"], environment)
    took["python3 -c pass"] = timed([sys.executable, "-c", "pass"], environment)
    return took


def main():
    checkouts = [os.path.abspath(path) for path in sys.argv[1:]] or [HERE]
    found = {checkout: [] for checkout in checkouts}
    folder = tempfile.mkdtemp(dir="/dev/shm")
    try:
        import numpy as np

        source = os.path.join(folder, "one.npy")
        np.save(source, np.arange(1000))
        stores = {checkout: os.path.join(folder, str(i)) for i, checkout in enumerate(checkouts)}
        for checkout, store in stores.items():
            subprocess.run([os.path.join(checkout, "ops/larder"), "serve", "--detach", "--store", store], stdout=subprocess.DEVNULL, check=True)
        try:
            for round_ in range(ROUNDS):
                for checkout in checkouts if round_ % 2 else checkouts[::-1]:
                    found[checkout].append(measure(checkout, stores[checkout], source))
        finally:
            for checkout, store in stores.items():
                subprocess.run([os.path.join(checkout, "ops/larder"), "stop", "--store", store], stdout=subprocess.DEVNULL, check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name in dict.fromkeys(name for rounds in found.values() for name in rounds[0]):
        medians = [statistics.median(took[name] for took in rounds) if name in rounds[0] else None for rounds in found.values()]
        print(f"{name:45}", *(" " * 9 + "-" if ms is None else f"{ms:10.1f}" for ms in medians), "ms")


if __name__ == "__main__":
    main()
