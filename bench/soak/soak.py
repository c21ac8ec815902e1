"""The soak: clients load, open, build, pin, evict and die at random for a long time, in a store that is too small for all.

Every half minute, and at the end, all clients pause and the store is checked from outside. The daemon's descriptors, threads and heap are
sampled all the time, and must not grow. The daemon itself is killed in the first quarter only, so that the last one lives long enough to
be judged.
"""

import itertools
import os
import random
import statistics
import subprocess
import sys
import time
from collections import Counter

import crew
from crew import Crew, Sources, Trouble

MIB = 1 << 20
COUNT = MIB // 2
CAPACITY = 24 * MIB
DATASETS = [f"src{i}" for i in range(10)]
BUILT = ["made0", "made1"]
CLIENTS = ["boss", "reader0", "reader1", "builder"]
MOST_PENDING = 10
SAMPLE_S = 5
CHECK_S = 30
OPEN_MS = 5_000

# The growth of the daemon (Theil-Sen slope) that is no trouble.
TOLERANCE = {"descriptors": 4.0, "threads": 2.0, "heapMiB": 2.0}
WARM_UP = 0.25


class Soak(Crew):
    def __init__(self, java, options, folder):
        super().__init__(java, options.store, CAPACITY)
        self.random = random.Random(options.seed)
        sources = Sources(folder)
        self.paths = {name: itertools.cycle([sources.make(f"{name}-{i}", self.random.randrange(COUNT // 8, COUNT))
                                             for i in range(3)]) for name in DATASETS}
        self.key = 11
        self.pending = []
        self.counts = Counter()
        self.samples = []  # (seconds, {quantity: value}) of the living daemon

    def start_daemon(self):
        self.launch_daemon(keep=True).ready()
        self.samples = []

    # ------------------------------------------------------------------------------------------------------- actions

    def act(self):
        action = self.random.choices(
            [self.load, self.open, self.build, self.evict, self.pin, self.unpin, self.lapse, self.reload, self.register,
             self.kill, self.stop],
            [20, 60, 12, 10, 3, 6, 4, 4, 3, 1.0, 0.5])[0]
        self.counts[action.__name__] += 1
        action()

    def tell(self, client, *words):
        self.pending.append(self.client(client).tell(*words))

    def any(self):
        return self.random.choice(DATASETS)

    def load(self):
        name = self.any()
        self.tell("boss", "load", name, next(self.paths[name]))

    def lapse(self):
        name = self.any()
        self.tell("boss", "load", name, next(self.paths[name]), self.random.randrange(500, 3_000))

    def open(self):
        self.tell(self.random.choice(["reader0", "reader1"]), "open", self.random.choice(DATASETS + BUILT), OPEN_MS)

    def build(self):
        self.key = (self.key + 50_000_017) % (1 << 30)
        self.tell("builder", "build", self.random.choice(BUILT), self.key, self.random.randrange(1, COUNT), 1)

    def evict(self):
        self.tell("boss", "evict", self.random.choice(DATASETS + BUILT))

    def pin(self):
        self.tell("boss", "pin", self.random.choice(DATASETS[:3]))

    def unpin(self):
        self.tell("boss", "unpin", self.random.choice(DATASETS[:3]))

    def reload(self):
        self.tell("boss", "reload", self.any())

    def register(self):
        name = self.any()
        self.tell("boss", "register", name, next(self.paths[name]))

    def kill(self):
        name = self.random.choice(CLIENTS)
        if name in self.clients:
            self.clients.pop(name).end()

    def stop(self):
        name = self.random.choice(CLIENTS)
        if name in self.clients:
            self.clients[name].send("STOP")
            time.sleep(self.random.random())
            self.clients[name].send("CONT")

    def kill_daemon(self):
        self.counts["killDaemon"] += 1
        self.daemon.send("KILL")
        self.daemon.wait()
        self.daemon.end()
        self.start_daemon()

    # -------------------------------------------------------------------------------------------------------- checks

    def settle(self, most):
        """Removes ended steps from the pending ones, and waits if there are more than so many left."""
        while True:
            for step in [step for step in self.pending if step.ended]:
                self.counts["ended:" + " ".join(step.settle()[:1])] += 1
                if step.ended[0] == "failed":
                    self.counts["ended:" + step.ended[2]] += 1
                self.pending.remove(step)
            if len(self.pending) <= most:
                return
            self.pending[0].result()

    def check(self):
        self.settle(0)
        super().check()
        self.counts["check"] += 1

    def sample(self, now):
        process = f"/proc/{self.daemon.pid}"
        subprocess.run(["jcmd", str(self.daemon.pid), "GC.run"], capture_output=True, check=True)
        info = subprocess.run(["jcmd", str(self.daemon.pid), "GC.heap_info"], capture_output=True, text=True, check=True)
        heap = [int(line.split(" used ")[1].split("K")[0]) for line in info.stdout.splitlines()
                if "generation" in line and " used " in line]
        self.samples.append((now, {
            "descriptors": len(os.listdir(process + "/fd")),
            "threads": len(os.listdir(process + "/task")),
            "heapMiB": sum(heap) / 1024,
        }))

    def growth(self, what):
        """Returns by how much something grew while the daemon was judged, by the median of all slopes."""
        judged = self.samples[int(len(self.samples) * WARM_UP):]
        slopes = [(b[1][what] - a[1][what]) / (b[0] - a[0]) for a, b in itertools.combinations(judged, 2)]
        return statistics.median(slopes) * (judged[-1][0] - judged[0][0])


def run(soak, seconds):
    soak.start_daemon()
    for name in CLIENTS:
        soak.client(name)
    began = time.monotonic()
    next_sample = next_check = 0.0
    kills = sorted(soak.random.random() * seconds / 4 for _ in range(max(1, int(seconds / 120))))
    while (now := time.monotonic() - began) < seconds:
        if kills and now > kills[0]:
            kills.pop(0)
            soak.kill_daemon()
        if now > next_sample:
            soak.sample(now)
            next_sample = now + SAMPLE_S
        if now > next_check:
            soak.check()
            next_check = now + CHECK_S
        soak.act()
        soak.settle(MOST_PENDING)
        time.sleep(soak.random.random() * 0.03)
    soak.check()
    soak.sample(time.monotonic() - began)


def judge(soak):
    """Prints the daemon's samples, and returns the quantities that grew."""
    trouble = []
    for what, tolerance in TOLERANCE.items():
        values = [sample[what] for _, sample in soak.samples]
        growth = soak.growth(what)
        print(f"{what}: first={values[0]:.1f} last={values[-1]:.1f} min={min(values):.1f} max={max(values):.1f}"
              f" growth={growth:.2f} tolerance={tolerance}")
        if growth > tolerance:
            trouble.append(f"{what} of the daemon grow: {growth:.2f}")
    return trouble


def play(java, options, folder):
    soak = Soak(java, options, folder)
    trouble = []
    began = time.monotonic()
    try:
        run(soak, options.minutes * 60)
        trouble += judge(soak)
        soak.client("boss").tell("stop", "all").done()
        soak.daemon.wait(30)
        trouble += soak.leftovers()
    except Trouble as e:
        trouble.append(str(e))
    finally:
        soak.end()
    print(f"seed={options.seed} seconds={time.monotonic() - began:.0f} " + " ".join(
        f"{what}={count}" for what, count in sorted(soak.counts.items())))
    return trouble


def main():
    parser = crew.parser("soak", __doc__)
    parser.add_argument("--minutes", type=float, default=30)
    return crew.play("soak", parser.parse_args(), play)


if __name__ == "__main__":
    sys.exit(main())
