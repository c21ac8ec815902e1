#!/usr/bin/env -S python3 -B
"""Kills, stops, cuts off, slows down and misleads nodes of runs on several machines, and sees that each run goes on or ends with a message that names
node and cause, and that nothing is left.

As root each node has a network namespace of its own, joined by a wire, else all are on the loopback interface.
"""

import argparse
import os
import queue
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import crew
from crew import Trouble, children, require, require_equal

SECRET = "0123456789abcdef0123456789abcdef"
RANK = "echo rank $RANK of $WORLD_SIZE attempt $TORCHELASTIC_RESTART_COUNT pid $$; exec sleep 600"
CHATTY = "head -c 30000000 /dev/zero | tr '\\0' x | fold -w 200; echo rank $RANK of $WORLD_SIZE attempt $TORCHELASTIC_RESTART_COUNT pid $$"
PATIENCE_S = 90
SOURCE_BYTES = 4 << 20
ROOTS = ("link", "shaped")


class Place:
    """The place of the nodes: network namespaces with a wire between them for root, else the loopback interface."""

    def __init__(self, count):
        self.count = count
        self.names = [f"larder-{os.getpid()}-{node}" for node in range(count)]
        self.is_apart = os.geteuid() == 0 and shutil.which("ip") is not None
        self.bridge = f"larder-{os.getpid()}-hub"
        self.port = crew.free_ports(1)[0]

    def __enter__(self):
        try:
            self.join()
        except BaseException:
            self.__exit__()
            raise
        return self

    def join(self):
        if self.is_apart:
            checked("ip", "netns", "add", self.bridge)
            checked("ip", "-n", self.bridge, "link", "add", "name", "hub", "type", "bridge")
            checked("ip", "-n", self.bridge, "link", "set", "hub", "up")
            for node, name in enumerate(self.names):
                checked("ip", "netns", "add", name)
                checked("ip", "link", "add", "wire", "netns", name, "type", "veth", "peer", "name", f"wire{node}", "netns", self.bridge)
                checked("ip", "-n", self.bridge, "link", "set", f"wire{node}", "master", "hub", "up")
                checked("ip", "-n", name, "addr", "add", f"10.78.0.{node + 1}/24", "dev", "wire")
                checked("ip", "-n", name, "link", "set", "wire", "up")
                checked("ip", "-n", name, "link", "set", "lo", "up")

    def __exit__(self, *unused):
        if self.is_apart:
            for name in [*self.names, self.bridge]:
                subprocess.run(["ip", "netns", "del", name], check=False)

    def endpoint(self):
        return f"{'10.78.0.1' if self.is_apart else '127.0.0.1'}:{self.port}"

    def starter(self, node):
        return ["ip", "netns", "exec", self.names[node]] if self.is_apart else []

    def cut(self, node):
        checked("ip", "-n", self.names[node], "link", "set", "wire", "down")

    def shape(self, node):
        checked("tc", "-n", self.names[node], "qdisc", "add", "dev", "wire", "root", "tbf", "rate", "50mbit", "burst", "32kbit", "latency", "400ms")

    def mend(self, node):
        checked("ip", "-n", self.names[node], "link", "set", "wire", "up")


def checked(*words):
    subprocess.run(words, check=True)


class Node:
    """One launcher with its output."""

    def __init__(self, run, number, nnodes, restarts, *, secret=SECRET, endpoint=None, extra=("--no-forward",), script=RANK, store=None,
                 times=("--node-timeout=3s", "--join-timeout=2s")):
        self.store = store or run.stores[number]
        self.log = os.path.join(run.folder, f"node-{number}-{time.monotonic_ns()}.log")
        words = [
            *run.place.starter(number), crew.LARDER, "--store", self.store, "launch", f"--nnodes={nnodes}", f"--node-rank={number}",
            f"--rdzv-endpoint={endpoint or run.place.endpoint()}", *times, "--rdzv-timeout=60s", "--grace=2s",
            f"--max-restarts={restarts}", *extra, "-n", "2", "--", "sh", "-c", script,
        ]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "LARDER_RDZV_SECRET": secret},
                                            start_new_session=True)

    def text(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def pids(self):
        return [int(pid) for pid in re.findall(r"pid (\d+)$", self.text(), re.MULTILINE)]

    def await_true(self, condition, what):
        crew.await_true(condition, what, self.text, PATIENCE_S, lambda: self.process.poll() is not None)

    def await_ranks(self, count, world):
        self.await_true(lambda: len(re.findall(rf"rank \d+ of {world} ", self.text())) >= count, f"{count} ranks of {world}")

    def signal_all(self, number):
        """Sends a signal to the launcher's process group, which its ranks have left."""
        os.killpg(self.process.pid, number)

    def end(self, code=None, *patterns):
        """Waits for its end, with this code and with lines that match, if any are named."""
        try:
            found = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Trouble(f"a launcher does not end:\n{self.text()}") from None
        require(code in (None, found), lambda: f"a launcher ended: code={found} expected={code}\n{self.text()}")
        self.expect(*patterns)

    def expect(self, *patterns):
        for pattern in patterns:
            require(re.search(pattern, self.text()), lambda pattern=pattern: f"no line matches {pattern!r}:\n{self.text()}")


class Run:
    """The nodes of a run that one fault befalls. `with` waits for the end of all, and fails if anything is left."""

    def __init__(self, place, folder, fault, rng):
        self.place, self.folder, self.fault, self.rng = place, folder, fault, rng
        self.count, self.world = place.count, 2 * place.count
        self.victim = 0 if fault == "leader" else rng.randrange(1, self.count)
        self.stores = [f"/dev/shm/larder-nodes-{os.getpid()}-{node}" for node in range(self.count)]
        self.nodes, self.started = [], []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.clear(kind is not None)
        left = [node.store for node in self.started if os.path.exists(node.store)]
        require(kind or not left, f"stores are left: {left}")

    def clear(self, kills=False):
        """Waits for the ends of all launchers, and of their ranks."""
        for node in self.started:
            if kills:
                node.process.kill()
        for node in self.started:
            node.end()
        crew.await_gone([pid for node in self.started for pid in node.pids()])

    def node(self, number, restarts=0, nnodes=None, **options):
        """Starts a launcher."""
        self.started.append(Node(self, number, nnodes or str(self.count), restarts, **options))
        return self.started[-1]

    def start(self, restarts=0, count=None, **options):
        """Starts a launcher for each node."""
        self.nodes = [self.node(number, restarts, **options) for number in range(count or self.count)]

    def await_ranks(self, count=2, world=None, but=None):
        for number, node in enumerate(self.nodes):
            if number != but:
                node.await_ranks(count, world or self.world)

    def interrupt(self, count=2):
        """Ends a run in order once all ranks are up."""
        self.await_ranks(count)
        self.nodes[0].process.send_signal(signal.SIGINT)
        self.end_all(130)

    def end_all(self, code, *patterns):
        for node in self.nodes:
            node.end(code, *patterns)


def play(run):
    """Causes one fault of nodes that run, and checks the result."""
    fault, victim = run.fault, run.victim
    is_elastic = fault in ("launcher", "node", "stop", "link") and run.rng.random() < 0.6
    run.start(1, nnodes=f"1:{run.count}" if is_elastic else None)
    run.await_ranks()
    time.sleep(run.rng.random() * 0.2)
    named = rf"node {victim} \("
    lost = run.nodes[victim]
    rest = [node for node in run.nodes if node is not lost]
    try:
        strike(run, lost)
        if fault == "rank":
            run.await_ranks(4)  # all started again
            os.kill(run.rng.choice(lost.pids()[-2:]), signal.SIGKILL)
            run.end_all(137, rf"a rank failed: rank=\d+ pid=\d+ cause=.*SIGKILL.* node={named}")
        elif fault == "interrupt":
            run.end_all(130)
            for node in rest:
                node.expect(rf"the run was stopped: by=SIGINT at {named}")
        elif is_elastic:
            run.await_ranks(2, run.world - 2, victim)  # continued with the other nodes
            run.nodes[0].expect(rf"a node is lost: node={named}.* cause=")
            run.nodes[0].process.send_signal(signal.SIGINT)
            for node in rest:
                node.end(130)
        else:
            said = (r"the leader of the run is lost: node=0 endpoint=\S+ cause=" if fault == "leader"
                    else rf"too few nodes are left: nodes={run.count - 1} min={run.count} .*lost={named}.* cause=")
            for node in rest:
                node.end(9, said)
    finally:
        if fault == "stop":
            lost.signal_all(signal.SIGCONT)
        if fault == "link":
            run.place.mend(victim)
    if fault in ("stop", "link"):
        lost.end(None, "the leader of the run is lost: node=0")


def strike(run, node):
    if run.fault == "rank":
        os.kill(run.rng.choice(node.pids()), signal.SIGKILL)
    elif run.fault in ("launcher", "leader"):
        node.process.kill()
    elif run.fault == "node":
        for pid in [node.process.pid, *node.pids()]:
            os.kill(pid, signal.SIGKILL)
    elif run.fault == "stop":
        node.signal_all(signal.SIGSTOP)
    elif run.fault == "link":
        run.place.cut(run.victim)
    elif run.fault == "interrupt":
        node.process.send_signal(signal.SIGINT)


def play_stranger(run):
    """A node with another secret, or a second launcher for a node rank, is refused by name, and the run continues."""
    last = run.count - 1
    run.start(count=run.count if run.fault == "twice" else last)
    for node in run.nodes[1:]:
        node.await_true(lambda node=node: "joined the run" in node.text(), "joining")
    if run.fault == "twice":
        run.node(last, store=run.stores[last] + "-other").end(
            7, rf"this node rank is taken: nodeRank={last} by=node .*; give every node its own --node-rank")
    else:
        run.node(last, secret="f" * 32).end(7, "does not lead this run: .* reason=it has another secret")
        run.nodes[0].expect("a caller was turned away: address=.* reason=it has another secret")
        run.nodes.append(run.node(last))
    run.interrupt()


def play_data(run):
    """The data of a node differ, do not fit, or lose their daemon."""
    fault, victim = run.fault, run.victim
    way = run.rng.choice((",shard", ",whole"))
    paths = [source(run.folder, f"source-{node}", 9 if fault == "changed" and node == victim else 7) for node in range(run.count)]

    def start():
        run.nodes = [run.node(node, extra=("--no-forward", f"--data=train={paths[node]}{way}")) for node in range(run.count)]

    def larder(node, *words):
        done = subprocess.run([*run.place.starter(node), crew.LARDER, "--store", run.stores[node], *words], check=False, capture_output=True, text=True)
        require_equal(done.returncode, 0, f"larder {words[0]}: {done.stdout}{done.stderr}")

    try:
        if fault == "full":
            larder(victim, "serve", "--detach", "--capacity", "1m")
        start()
        if fault == "daemon":
            run.await_ranks()
            os.kill(daemon_pid(run.stores[victim]), signal.SIGKILL)
            time.sleep(0.5)
            require(all(crew.is_running(pid) for node in run.nodes for pid in node.pids()), "ranks ended with a daemon")
            run.interrupt()
            run.clear()
            start()  # takes over the store of the daemon, and loads again
            run.interrupt()
        else:
            code, reason = (6, r".*") if fault == "changed" else (5, "not enough space")
            run.end_all(code, rf"node=node {victim} \(.*{reason}")
            require(not any(node.pids() for node in run.nodes), "a rank started")
    finally:
        run.clear(sys.exc_info()[0] is not None)
        for node, store in enumerate(run.stores):
            if os.path.exists(store):
                larder(node, "stop", "--force")


def source(folder, name, fill):
    """Writes an array of equal bytes."""
    path = os.path.join(folder, name)
    os.makedirs(path)
    with open(os.path.join(path, "a.npy"), "wb") as file:
        file.write(crew.npy(bytes([fill]) * SOURCE_BYTES, (SOURCE_BYTES >> 10, 1024)))
    return path


def daemon_pid(store):
    with open(os.path.join(store, "daemon.lock"), encoding="utf-8", errors="replace") as file:
        return int(re.search(r"pid\D{0,4}(\d+)", file.read()).group(1))


def play_wire(run):
    """A node behind a slow or late wire does not count as lost."""
    if run.fault == "shaped":
        run.place.shape(run.victim)
        run.start(1, extra=(), script=CHATTY)
        run.end_all(0)
    else:
        near = crew.free_ports(1)[0]
        with subprocess.Popen([*run.place.starter(run.victim), sys.executable, __file__, "--delay", str(near), *run.place.endpoint().split(":")]) as proxy:
            try:
                run.nodes = [run.node(node, 1, endpoint=f"127.0.0.1:{near}" if node == run.victim else None) for node in range(run.count)]
                run.await_ranks()
                os.kill(run.rng.choice(run.nodes[run.victim].pids()), signal.SIGKILL)
                run.interrupt(4)
            finally:
                proxy.kill()
    for node in run.nodes:
        require("is lost" not in node.text(), node.text()[-4000:])


def play_again(run):
    """A new launcher takes the place of a stopped one before that one counts as lost."""
    patient = ("--node-timeout=20s", "--join-timeout=60s")
    run.start(times=patient)
    old = run.nodes[run.victim]
    run.await_ranks()
    old.signal_all(signal.SIGSTOP)
    try:
        begin = time.monotonic()
        run.nodes[run.victim] = run.node(run.victim, times=patient)
        run.nodes[run.victim].await_ranks(2, run.world)
        require(time.monotonic() - begin < 18, "it waited until the old one was lost")
        run.nodes[0].expect(rf"a node is lost: node=node {run.victim} \(.* cause=its machine has come again")
    finally:
        old.signal_all(signal.SIGCONT)
    old.end()
    run.nodes[0].process.send_signal(signal.SIGINT)
    run.end_all(130)


FAULTS = {
    "rank": play, "launcher": play, "leader": play, "node": play, "stop": play, "link": play, "interrupt": play, "secret": play_stranger,
    "twice": play_stranger, "changed": play_data, "full": play_data, "daemon": play_data, "delay": play_wire, "shaped": play_wire, "again": play_again,
}


def delay(near, host, port):
    """Carries bytes between a port here and another, 0.2 s late, in their order."""
    listener = socket.create_server(("127.0.0.1", near))
    while True:
        one, _ = listener.accept()
        try:
            other = socket.create_connection((host, port))
        except OSError:
            one.close()
            continue
        for source_end, target_end in ((one, other), (other, one)):
            late = queue.Queue()
            threading.Thread(target=take, args=(source_end, late), daemon=True).start()
            threading.Thread(target=give, args=(late, target_end), daemon=True).start()


def take(source_end, late):
    try:
        while data := source_end.recv(65536):
            late.put((time.monotonic() + 0.2, data))
    except OSError:
        pass
    late.put((time.monotonic() + 0.2, b""))


def give(late, target_end):
    while True:
        due, data = late.get()
        time.sleep(max(0, due - time.monotonic()))
        try:
            if not data:
                target_end.shutdown(socket.SHUT_RDWR)
                return
            target_end.sendall(data)
        except OSError:
            return


def main():
    if sys.argv[1:2] == ["--delay"]:
        delay(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    crew.build()
    print(f"seed {options.seed}", flush=True)
    with children.interruptible():
        rounds(options)
    print(f"{options.rounds} rounds went as they should")


def rounds(options):
    rng, faults = random.Random(options.seed), options.faults.split(",")
    for number in range(options.rounds):
        fault = faults[number % len(faults)]
        with Place(rng.choice((2, 3))) as place, tempfile.TemporaryDirectory() as folder:
            if fault in ROOTS and not place.is_apart:
                print(f"round {number}: {fault}: skipped, as only root can do it", flush=True)
                continue
            begin = time.monotonic()
            with Run(place, folder, fault, rng) as run:
                FAULTS[fault](run)
            if options.verbose:
                print(f"round {number}: {fault}, {place.count} nodes: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
