#!/usr/bin/env python3
"""Measures look-ups of texts in an index beside a dict, in turns: one by one, and many at once.

usage: python_look_ups.py ROUNDS    prints JSON
"""
import json
import random
import sys
import tempfile
import time

import harness

KEYS, LOOK_UPS = 10**6, 200_000


def main(rounds):
    harness.import_larder()
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
                given = [text.encode().decode() for text in some]  # new texts, whose hashes are not cached
                began = time.perf_counter()
                found = way(given)
                measured[key].append(1e6 * (time.perf_counter() - began) / LOOK_UPS)
                if [*map(int, found[:9])] != [table[text] for text in some[:9]]:
                    raise RuntimeError(f"wrong rows: way={key}")
    print(json.dumps({"python": sys.version.split()[0], "numpy": np.__version__, "keys": KEYS, "lookUps": LOOK_UPS, "us": {key: us[1:] for key, us in measured.items()}}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
