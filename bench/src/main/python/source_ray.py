#!/usr/bin/env python3
"""Runs of source_run.py as actors of Ray: one driver reads the data and puts it into the object store for all runs.

usage: source_ray.py KIND SOURCE TEMPORARY BYTES RUNS EPOCHS
  TEMPORARY is a short path of a folder for Ray's files, BYTES how large the data is. Each line of standard input starts so many runs;
  prints "step SEED" after the first batch of each, and "epochs SEED SUM" at its end.
"""
import contextlib
import logging
import sys

import children
import source_run

STORE_BYTES = 80 << 20  # Ray takes no less


class Run:
    """One run, in a process of its own."""

    def __init__(self, kind, arrays, seed, epochs):
        self.batches = source_run.sums(kind, source_run.of_arrays(kind, arrays), seed, epochs)

    def step(self):
        self.total = next(self.batches)

    def epochs(self):
        return (self.total + sum(self.batches)) % (1 << 64)


def follow(ray, kind, kept, count, epochs, say):
    """Starts runs, and reports their steps until all have ended."""
    actor, waits = ray.remote(Run), {}
    runs = [actor.remote(kind, kept, seed, epochs) for seed in range(count)]
    for seed, run in enumerate(runs):
        waits[run.step.remote()] = f"step {seed}"
        waits[run.epochs.remote()] = f"epochs {seed}"
    while waits:
        (done,), _ = ray.wait(list(waits))
        value = ray.get(done)
        say(waits.pop(done) + ("" if value is None else f" {value}"))
    for run in runs:
        ray.kill(run)


def main():
    kind, source, temporary, size, count, epochs = *sys.argv[1:4], *map(int, sys.argv[4:])
    output = sys.stdout

    def say(line):
        print(line, file=output, flush=True)

    with children.interruptible(), contextlib.redirect_stdout(sys.stderr):
        import ray

        try:
            ray.init(address="local", num_cpus=count, object_store_memory=STORE_BYTES + 2 * size, include_dashboard=False, log_to_driver=False,
                     logging_level=logging.ERROR, _temp_dir=temporary, _node_ip_address="127.0.0.1")
            kept = ray.put(source_run.READ[kind](source))
            for _ in sys.stdin:
                follow(ray, kind, kept, count, epochs, say)
        finally:
            ray.shutdown()


if __name__ == "__main__":
    main()
