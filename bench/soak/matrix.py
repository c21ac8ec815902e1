"""The fault matrix: real processes, each killed, stopped or ended in each situation; after each round the store is checked.

{daemon, builder, reader, waiter, holder, wrapper} x {KILL, STOP, TERM} x {idle, loading, publishing, evicting, reloading,
restarting}, in an order that the seed decides; every cell once before any repeats. Meanwhile a reader outside the faults checks every byte
that it reads, and a client requests the status of the daemon.
"""

import itertools
import os
import random
import subprocess
import sys
import tempfile
import time

import crew
from crew import Crew, Sources, Trouble, fields

VICTIMS = ["daemon", "builder", "reader", "waiter", "holder", "wrapper"]
SIGNALS = ["KILL", "STOP", "TERM"]
SITUATIONS = ["idle", "loading", "publishing", "evicting", "reloading", "restarting"]

MIB = 1 << 20
COUNT = MIB // 2  # 2 MiB, and 0.5 MiB for the second array
BIG = 3 * MIB  # 12 MiB, and 3 MiB for the second array
CAPACITY = 34 * MIB
OWN_DEADLINE_S = 10  # of requests to a silent daemon, and of waits
GRACE_S = 5
STOP_BOUND_S = 2.5  # 2 s, and 0.2 s for each GiB, of which there are few here
WATCHED = ["pinned", "made"]


class World(Crew):
    """A store in use: a daemon, the clients, and the data that must be there."""

    def __init__(self, java, options, folder):
        super().__init__(java, options.store, CAPACITY)
        self.options = options
        self.random = random.Random(options.seed)
        sources = Sources(folder)
        generations = {name: [sources.make(f"{name}-{i}", COUNT) for i in range(3)] for name in ("src0", "src1", "pinned")}
        generations["big"] = [sources.make(f"big-{i}", BIG, zipped=True) for i in range(2)]
        self.turns = {name: itertools.cycle(paths) for name, paths in generations.items()}
        self.key = 7
        self.restarts_ms, self.stops_ms, self.ping_ms, self.read_ms = [], [], [], []
        self.reads = 0

    def launch_daemon(self):
        return super().launch_daemon(keep=self.random.random() < 0.5)

    def next_key(self):
        self.key = (self.key + 50_000_017) % (1 << 30)
        return self.key

    def start_build(self, client, name="made", rest_ms=0, count=COUNT):
        return client.tell("build", name, self.next_key(), count, rest_ms)

    def load(self, client, name):
        return client.tell("load", name, next(self.turns[name]), *(["pin"] if name == "pinned" else []))

    def ensure_data(self):
        """Loads the data that a round begins with."""
        boss = self.client("boss")
        versions = self.versions()
        for name in ("src0", "src1", "big"):
            if name not in versions:
                self.load(boss, name).done()
        if "pinned" not in versions:
            self.load(boss, "pinned").done()
        if "made" not in versions:
            self.start_build(boss).done()

    def versions(self):
        """Returns the datasets that can be opened, or loaded again."""
        data = os.path.join(self.store, "data")
        return {name for name in os.listdir(data)
                if {"current", "registered"} & set(os.listdir(os.path.join(data, name)))}


class Watch:
    """Reads, and requests the daemon's status, all the time, from processes outside the faults."""

    def __init__(self, world):
        self.world = world
        self.reading = None

    def begin(self):
        watcher = self.world.client("watcher")
        self.reading = watcher.tell("read", OWN_DEADLINE_S * 1000, *WATCHED)
        self.seen = 0
        self.reading.await_word("read")

    def look(self, may_refuse):
        """Checks the reads since the last look."""
        lines = self.reading.lines
        for words in lines[self.seen:]:
            kind, millis = words[0], int(words[1]) if len(words) > 1 else 0
            if kind in ("WRONG", "gone", "failed"):  # it reads until the command halt
                raise Trouble(f"the watcher: {self.reading}")
            if kind == "refused" and not may_refuse:
                raise Trouble(f"the watcher was refused: {' '.join(words)}")
            if millis > (OWN_DEADLINE_S + GRACE_S) * 1000:
                raise Trouble(f"the watcher was blocked: {' '.join(words)}")
            if kind == "read":
                self.world.reads += 1
                self.world.read_ms.append(millis)
        self.seen = len(lines)

    def ping(self, daemon_is_well):
        step = self.world.clients["watcher"].tell("status")
        words = step.result(OWN_DEADLINE_S + GRACE_S)
        if daemon_is_well:
            step.done()
            self.world.ping_ms.append(int(words[1]))

    def end(self):
        self.world.clients["watcher"].tell("halt").done()
        self.reading.done()


class Round:
    """One victim, one signal, one situation."""

    def __init__(self, world, number, victim, signal, situation):
        self.world = world
        self.name = f"round={number} victim={victim} signal={signal} situation={situation}"
        self.victim, self.signal, self.situation = victim, signal, situation
        self.random = random.Random(f"{world.options.seed}/{number}/{victim}/{signal}/{situation}")
        self.steps = []  # that must end, well or not
        self.held = None
        self.wrapper = None
        self.reading = None
        self.store_may_go = False

    def run(self):
        world = self.world
        before = world.versions()
        watch = Watch(world)
        watch.begin()
        target = self.prepare_victim()
        target = self.prepare_situation(target)
        watch.look(self.store_may_go)
        self.strike(target, watch)
        self.recover()
        watch.look(self.store_may_go)
        watch.end()
        for step in self.steps:
            step.settle()
        if self.held and self.held.client.is_alive():
            self.held.client.tell("check").done()  # also if the store is gone
            if os.path.isdir(world.store) and not self.store_may_go:
                self.require_held()
        self.let_go()
        self.check(before)

    # ------------------------------------------------------------------------------------------------------- victims

    def prepare_victim(self):
        """Starts the work of the victim, and returns the process that gets the signal."""
        world = self.world
        if self.victim == "daemon":
            holder = world.client("holder")
            self.held = holder.tell("hold", "src0")
            self.held.done()
            return world.daemon
        if self.victim == "wrapper":
            self.wrapper = subprocess.Popen(
                world.java.words("dev.larder.command.LarderCommand", "run", "--store", world.store, "--hold", "src0",
                                 "--", "sh", "-c", "echo held; exec sleep 600", flags=["-Xmx128m"]),
                stdout=subprocess.PIPE, text=True)
            if self.wrapper.stdout.readline() != "held\n":
                raise Trouble(f"the wrapper did not start: code={self.wrapper.wait()}")
            return self.wrapper
        client = world.client(self.victim)
        if self.victim == "builder":
            step = world.start_build(client, rest_ms=self.random.choice([1, 5, 20]))
            step.await_word("building")
        elif self.victim == "reader":
            step = client.tell("read", OWN_DEADLINE_S * 1000, "src0", "src1", "pinned", "made")
            step.await_word("read")
            self.reading = step
            return client
        elif self.victim == "waiter":
            other = world.start_build(world.client("other"), name="awaited", rest_ms=15)
            other.await_word("building")
            step = client.tell("open", "awaited", OWN_DEADLINE_S * 1000)
            self.steps.append(other)
        else:
            step = self.held = client.tell("hold", "src0")
            self.held.done()
        self.steps.append(step)
        return client

    # ---------------------------------------------------------------------------------------------------- situations

    def prepare_situation(self, target):
        world = self.world
        boss = world.client("boss")
        if self.situation == "loading":
            step = world.load(boss, "big")
            self.steps.append(step)
            step.await_word("progress")
            self.linger(0.15)
        elif self.situation == "publishing":
            steps = [world.load(boss, "src1"), world.start_build(world.client("second"), name="also")]
            self.steps += steps
            self.await_incoming(steps, "manifest.json")
        elif self.situation == "evicting":
            self.steps.append(boss.tell("evict", "src1"))
            self.steps.append(world.load(boss, "big"))
            self.linger(0.05)
        elif self.situation == "reloading":
            boss.tell("evict", "big").settle()
            step = world.client("second").tell("open", "big", OWN_DEADLINE_S * 1000)
            self.steps.append(step)
            self.await_incoming([step], "")
            self.linger(0.05)
        elif self.situation == "restarting":
            world.daemon.send("KILL")
            world.daemon.wait()
            world.daemon.end()
            daemon = world.launch_daemon()
            self.linger(1.0)
            return daemon if self.victim == "daemon" else target
        return target

    def linger(self, longest_s):
        time.sleep(self.random.random() * longest_s)

    def await_incoming(self, steps, file):
        """Waits until a folder of incoming contains this file, which is true for a moment only, or until the steps are over."""
        incoming = os.path.join(self.world.store, "incoming")
        end = time.monotonic() + OWN_DEADLINE_S
        while time.monotonic() < end and not all(step.ended for step in steps):
            try:
                if any(os.path.exists(os.path.join(incoming, entry, file)) for entry in os.listdir(incoming)):
                    return
            except FileNotFoundError:
                return

    # -------------------------------------------------------------------------------------------------------- faults

    def strike(self, target, watch):
        """Sends the signal, and checks that no other process suffers."""
        world = self.world
        is_daemon = self.victim == "daemon"
        struck = time.monotonic()
        if is_daemon and self.signal == "TERM":
            self.store_may_go = True
        if isinstance(target, subprocess.Popen):
            target.send_signal(getattr(crew.signal, "SIG" + self.signal))
        else:
            target.send(self.signal)
        if self.signal == "STOP":
            end = struck + world.options.stop_seconds
            while time.monotonic() < end:
                time.sleep(min(0.1, max(0.0, end - time.monotonic())))
                if not is_daemon and self.situation != "restarting":
                    watch.ping(True)
                watch.look(False)
            if isinstance(target, subprocess.Popen):
                target.send_signal(crew.signal.SIGCONT)
            else:
                target.send("CONT")
        elif is_daemon:
            code = target.wait(OWN_DEADLINE_S + GRACE_S)
            if self.signal == "TERM":
                self.check_stopped(target, code, time.monotonic() - struck)
        else:
            process = target if isinstance(target, subprocess.Popen) else target.process
            process.wait(crew.PATIENCE_S)
            if self.situation != "restarting":
                watch.ping(True)

    def check_stopped(self, daemon, code, seconds):
        world = self.world
        world.stops_ms.append(seconds * 1000)
        if self.situation == "restarting" and code in (143, -15):
            return  # the JVM had not reached our code yet, or not even its own handlers
        if code != 0:
            raise Trouble(f"a daemon that was ended in order: code={code} out={daemon.out} err={daemon.errors}")
        if seconds > STOP_BOUND_S and os.getloadavg()[0] < os.cpu_count():
            raise Trouble(f"the daemon took {seconds:.1f} s to stop")
        if daemon.keep:
            return
        if os.path.lexists(world.store):
            raise Trouble(f"the store is still there: {os.listdir(world.store)}")
        if self.held and self.held.client.is_alive() and self.situation != "restarting":
            pid = str(self.held.client.pid)
            if "heldUntilExit=" not in "".join(daemon.out) or pid not in daemon.out[-1].split("pids=")[-1]:
                raise Trouble(f"the daemon does not name its reader: pid={pid} out={daemon.out}")

    def recover(self):
        world = self.world
        daemon = world.daemon
        if self.victim == "daemon" and self.signal != "STOP":
            daemon.end()
            began = time.monotonic()
            world.launch_daemon().ready()
            world.restarts_ms.append((time.monotonic() - began) * 1000)
        elif self.situation == "restarting":
            daemon.ready()

    # -------------------------------------------------------------------------------------------------------- checks

    def require_held(self):
        version = fields(" ".join(self.held.ended))["version"]
        if not os.path.isdir(os.path.join(self.world.store, "data", "src0", version)):
            raise Trouble(f"a leased version is gone: src0/{version}")

    def let_go(self):
        """Ends the reading and the hold, which have no end."""
        if self.reading and self.reading.client.is_alive():
            self.reading.client.tell("halt").done()
            self.reading.settle()
        if self.held and self.held.client.is_alive():
            self.held.client.tell("release").done()
        if self.wrapper:
            self.wrapper.kill()
            self.wrapper.wait(crew.PATIENCE_S)
            self.wrapper.stdout.close()

    def check(self, before):
        world = self.world
        if not self.store_may_go:
            lost = before - world.versions()
            if lost:
                raise Trouble(f"datasets were lost: {sorted(lost)}")
        world.ensure_data()
        world.check(expected=["pinned", "made"], pinned=["pinned"])


def wrapper_exists(java):
    help_text = subprocess.run(java.words("dev.larder.command.LarderCommand", "run", "--help"), capture_output=True, text=True)
    return help_text.returncode == 0 and "--hold" in help_text.stdout


def cells(seed, victims):
    """Deals all cells in random order, again and again."""
    order = random.Random(seed)
    while True:
        deck = list(itertools.product(victims, SIGNALS, SITUATIONS))
        order.shuffle(deck)
        yield from deck


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else 0


def play(java, options, folder):
    victims = VICTIMS if wrapper_exists(java) else VICTIMS[:-1]
    world = World(java, options, folder)
    shared_before = crew.shared_memory()
    began = time.monotonic()
    done = 0
    trouble = []
    try:
        world.launch_daemon().ready()
        world.ensure_data()
        wanted = ([tuple(options.cell.split(","))] * options.rounds) if options.cell else cells(options.seed, victims)
        for number, cell in zip(range(options.rounds), wanted):
            if options.seconds and time.monotonic() - began > options.seconds:
                break
            current = Round(world, number, *cell)
            start = time.monotonic()
            try:
                current.run()
            except Trouble as e:
                trouble.append(f"{current.name}: {e}")
                print(f"TROUBLE {trouble[-1]}", flush=True)
                if not options.go_on:
                    break
                world.end()
                world = World(java, options, tempfile.mkdtemp(dir=folder))
                world.launch_daemon().ready()
                world.ensure_data()
            done += 1
            if options.verbose:
                print(f"{time.monotonic() - began:7.1f} s {current.name} took={time.monotonic() - start:.1f}", flush=True)
        if not trouble:
            trouble += finish(world)
    finally:
        world.end()
    left = crew.shared_memory() - shared_before
    trouble += [f"left in /dev/shm: {entry}" for entry in left if os.path.basename(options.store) in entry]
    report(world, options, victims, done, time.monotonic() - began, trouble)
    return trouble


def finish(world):
    """Stops the daemon as a user does, and returns leftovers."""
    world.daemon.keep = False
    world.client("boss").tell("stop", "all").done()
    world.daemon.wait(STOP_BOUND_S + OWN_DEADLINE_S)
    return world.leftovers()


def report(world, options, victims, done, seconds, trouble):
    print(f"seed={options.seed} rounds={done} cells={len(victims) * len(SIGNALS) * len(SITUATIONS)}"
          f" victims={','.join(victims)} stopSeconds={options.stop_seconds} seconds={seconds:.0f} trouble={len(trouble)}")
    print(f"reads={world.reads} readMs p50={percentile(world.read_ms, 0.5)} p99={percentile(world.read_ms, 0.99)}"
          f" max={percentile(world.read_ms, 1)}")
    print(f"pings={len(world.ping_ms)} pingMs p50={percentile(world.ping_ms, 0.5)} p99={percentile(world.ping_ms, 0.99)}"
          f" max={percentile(world.ping_ms, 1)}")
    print(f"restartMs n={len(world.restarts_ms)} max={percentile(world.restarts_ms, 1):.0f}"
          f" stopMs n={len(world.stops_ms)} max={percentile(world.stops_ms, 1):.0f}")


def main():
    parser = crew.parser("matrix", __doc__)
    parser.add_argument("--rounds", type=int, default=210)
    parser.add_argument("--seconds", type=float, default=0, help="begin no round after this long")
    parser.add_argument("--stop-seconds", type=float, default=30)
    parser.add_argument("--cell", help="VICTIM,SIGNAL,SITUATION: only this one")
    parser.add_argument("--go-on", action="store_true", help="do not end with the first trouble")
    parser.add_argument("--verbose", action="store_true")
    return crew.play("matrix", parser.parse_args(), play)


if __name__ == "__main__":
    sys.exit(main())
