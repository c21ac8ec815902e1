#!/usr/bin/env -S python3 -B
"""Runs scenarios of bottleneck-strangers, and prints for each its name, the expected cause and the cause that larder names.

    run.py [--seed N] [--only-alive] [NAME]...

As root, for control groups, loop devices and FUSE. $LARDER_COMMAND is the command, by default ops/larder. With --only-alive it looks
for no cause, and checks that each trainer is alive ten seconds after its word.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

import scenarios


def verdict(pid, setting):
    """The cause that larder names for the loaders of a process, or None if it has none."""
    with setting.group("cpu", "-look", shares=100_000) as wrap:  # the trainer may have as large a share
        asked = subprocess.run([*wrap, scenarios.LARDER, "doctor", str(pid), "--json", "--store", setting.store], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, timeout=60, cwd=scenarios.TREE)
    try:
        return json.loads(asked.stdout)[0]["bottleneck"]
    except (ValueError, IndexError, KeyError):
        return None


def look(running, setting, only_alive):
    scenario = running.scenario
    word_at = running.wait(scenario.after)
    if only_alive:
        while time.monotonic() < word_at + 10:
            if running.process.poll() is not None:
                return f"ended after {time.monotonic() - word_at:.1f} s"
            time.sleep(0.1)
        return "alive, " + ", ".join(f"{word} {at - running.words['begin']:.1f}" for word, at in running.words.items())
    time.sleep(max(0, word_at + scenario.settle - time.monotonic()))
    return verdict(running.pid, setting)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", default=f"/dev/shm/larder-strangers-{os.getpid()}")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only-alive", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # to leave nothing behind
    wrong = ran = 0
    with scenarios.Setting(options.store, options.python) as setting:
        for scenario in scenarios.scenarios(options.seed):
            if options.names and scenario.name not in options.names:
                continue
            try:
                with setting.run(scenario) as running:
                    named = look(running, setting, options.only_alive)
            except AssertionError as failed:
                named = f"failed: {failed}"
            ran, wrong = ran + 1, wrong + (named not in scenario.expected)
            print(f"{scenario.name:45} {'|'.join(sorted(scenario.expected)):20} {named}", flush=True)
    print(f"{ran - wrong} of {ran} named right (seed {options.seed})")
    sys.exit(wrong > 0.1 * ran and not options.only_alive)


if __name__ == "__main__":
    main()
