"""Measurements with trainers: the words that start them, their rows and their sums."""
import json
import os
import sys

import children

HERE = os.path.dirname(os.path.abspath(__file__))
FLOOR_BYTES = 3 << 30


class Measurement:
    """Writes one JSON object a line to a file as it measures.

    `data` is a folder of `make_data.py training`, `place` an empty folder of /dev/shm, and `java` starts dev.larder.bench.loader.Trainer.
    """

    def __init__(self, pace, data, place, rows, *java):
        self.pace, self.data, self.place, self.java = pace, data, place, java
        self.store = os.path.join(place, "larder-store")  # larder gc knows stores by such names
        self.cache = os.path.join(place, "cache")  # of a script
        self.dataset_bytes = sum(file.stat().st_size - 128 for file in os.scandir(data))
        self.rows = open(rows, "w", encoding="utf-8", buffering=1)
        self.sums = set()

    def trainer(self, way, language, seed, *commands, **options):
        """Starts a trainer."""
        if language == "java":
            words = [*self.java, way, self.store if way == "larder" else self.data]
        else:
            words = [sys.executable, os.path.join(HERE, "trainer.py"), way, "training", self.data, self.store if way == "larder" else self.cache]
        return children.Child([*words, str(seed), *commands], **options)

    def serve(self):
        return children.daemon(self.store, self.data)

    def check_sums(self):
        if len(self.sums) != 1:
            raise AssertionError(f"not the same data everywhere: {self.sums}")

    def write(self, row):
        self.rows.write(json.dumps({**row, "load": children.load_average()}) + "\n")


def main(measurement):
    with children.interruptible():
        measurement(*sys.argv[1:]).whole()
