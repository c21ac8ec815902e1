#!/usr/bin/env python3
"""Runs of trainer.py as actors of Ray: one driver reads the data and puts it into the object store for all runs.

usage: source_ray.py KIND SOURCE TEMPORARY BYTES RUNS
  TEMPORARY is a short path of a folder for Ray's files, BYTES how large the data is. Each line of standard input starts so many runs;
  prints "step SEED SUM" after the first batch of each, and "epochs SEED SUM" at its end.
"""
import contextlib
import logging
import sys

import children
import trainer

STORE_BYTES = 80 << 20  # Ray takes no less


class Run:
    """One run, in a process of its own."""

    def __init__(self, kind, arrays, seed):
        self.trainer = trainer.Trainer(trainer.of_arrays(kind, arrays), seed)

    def obey(self, command):
        return self.trainer.obey(command)


def follow(ray, kind, kept, count, say):
    """Starts runs, and reports their steps until all have ended."""
    actor, waits = ray.remote(Run), {}
    runs = [actor.remote(kind, kept, seed) for seed in range(count)]
    for seed, run in enumerate(runs):
        for command in "step", "epochs":
            waits[run.obey.remote(command)] = f"{command} {seed}"
    while waits:
        (done,), _ = ray.wait(list(waits))
        say(f"{waits.pop(done)} {ray.get(done)}")
    for run in runs:
        ray.kill(run)


def main():
    kind, source, temporary, size, count = *sys.argv[1:4], *map(int, sys.argv[4:])
    output = sys.stdout

    def say(line):
        print(line, file=output, flush=True)

    with children.interruptible(), contextlib.redirect_stdout(sys.stderr):
        import ray

        try:
            ray.init(address="local", num_cpus=count, object_store_memory=STORE_BYTES + 2 * size, include_dashboard=False, log_to_driver=False,
                     logging_level=logging.ERROR, _temp_dir=temporary, _node_ip_address="127.0.0.1")
            kept = ray.put(trainer.READ[kind](source))
            for _ in sys.stdin:
                follow(ray, kind, kept, count, say)
        finally:
            ray.shutdown()


if __name__ == "__main__":
    main()
