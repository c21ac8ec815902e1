#!/usr/bin/env python3
"""Measures look-ups of texts in an index beside a dict, in turns: one by one, and many at once.

usage: python_look_ups.py ROUNDS        prints JSON
       python_look_ups.py table FILE    prints what was measured as Markdown
"""
import json
import os
import random
import statistics
import sys
import tempfile
import time

KEYS, LOOK_UPS = 10**6, 200_000
TARGETS = {"index": 2, "rows": 0.3}


def main(rounds):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "ops", "python"))
    import numpy as np

    import larder
    import make_store

    keys = [f"scene{i // 100:06d}_{i % 100:02d}" for i in range(KEYS)]
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="larder-look-ups-") as store:
        make_store.write_version(store, "d", {}, {"scene": make_store.texts_index(keys)}, checksums=False)
        index, table = larder.dataset("d", store).index("scene"), {key: row for row, key in enumerate(keys)}
        ways = {"dict": lambda some: [table[key] for key in some], "index": lambda some: [index[key] for key in some], "rows": index.rows}
        measured = {key: [] for key in ways}
        rng = random.Random(7)
        for _ in range(rounds + 1):
            some = rng.choices(keys, k=LOOK_UPS)
            for key, way in ways.items():
                given = [text.encode().decode() for text in some]  # texts of their own, whose hashes nobody knows yet
                began = time.perf_counter()
                found = way(given)
                measured[key].append(1e6 * (time.perf_counter() - began) / LOOK_UPS)
                if [*map(int, found[:9])] != [table[text] for text in some[:9]]:
                    raise RuntimeError(f"wrong rows: way={key}")
    print(json.dumps({"python": sys.version.split()[0], "numpy": np.__version__, "keys": KEYS, "us": {key: us[1:] for key, us in measured.items()}}))


def table(path):
    with open(path) as file:
        found = json.load(file)
    us = {key: statistics.median(each) for key, each in found["us"].items()}
    print(f"\n## Look-ups in an index of {found['keys']:,} texts, Python {found['python']}, numpy {found['numpy']}\n")
    print("| | µs a key, median | lowest | target |\n|---|--:|--:|---|")
    targets = {"dict": "", "index": f"≤ {TARGETS['index']} times a dict's, {verdict(us['index'] <= TARGETS['index'] * us['dict'])}",
               "rows": f"≤ {TARGETS['rows']}, {verdict(us['rows'] <= TARGETS['rows'])}"}
    for key, what in ("dict", "dict, one by one"), ("index", "index, one by one"), ("rows", f"index.rows(keys), {LOOK_UPS:,} at once"):
        print(f"| {what} | {us[key]:.3f} | {min(found['us'][key]):.3f} | {targets[key]} |")


def verdict(reached):
    return "reached" if reached else "**missed**"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    table(sys.argv[2]) if sys.argv[1] == "table" else main(int(sys.argv[1]))
