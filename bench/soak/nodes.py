"""Faults of runs on several machines, with real processes, drawn at random by a seed."""

import argparse
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SECRET = "0123456789abcdef0123456789abcdef"
RANK = "echo rank $RANK of $WORLD_SIZE attempt $TORCHELASTIC_RESTART_COUNT pid $$; exec sleep 600"
PATIENCE_S = 90

FAULTS = ("rank", "launcher", "leader", "node", "stop", "link", "interrupt")


class Place:
    """Where nodes are: network namespaces with a wire between them where this is root, else the loopback interface."""

    def __init__(self, count):
        self.count = count
        self.names = [f"larder-{os.getpid()}-{node}" for node in range(count)]
        self.is_apart = os.geteuid() == 0 and shutil.which("ip") is not None
        self.bridge = f"larder-{os.getpid()}-hub"
        self.port = free_port()

    def __enter__(self):
        try:
            self.join()
        except BaseException:
            self.__exit__()
            raise
        return self

    def join(self):
        if self.is_apart:
            run("ip", "netns", "add", self.bridge)
            run("ip", "-n", self.bridge, "link", "add", "name", "hub", "type", "bridge")
            run("ip", "-n", self.bridge, "link", "set", "hub", "up")
            for node, name in enumerate(self.names):
                run("ip", "netns", "add", name)
                run("ip", "link", "add", "wire", "netns", name, "type", "veth", "peer", "name", f"wire{node}", "netns", self.bridge)
                run("ip", "-n", self.bridge, "link", "set", f"wire{node}", "master", "hub", "up")
                run("ip", "-n", name, "addr", "add", f"10.78.0.{node + 1}/24", "dev", "wire")
                run("ip", "-n", name, "link", "set", "wire", "up")
                run("ip", "-n", name, "link", "set", "lo", "up")

    def __exit__(self, *unused):
        if self.is_apart:
            for name in [*self.names, self.bridge]:
                subprocess.run(["ip", "netns", "del", name], check=False)

    def endpoint(self):
        return f"{'10.78.0.1' if self.is_apart else '127.0.0.1'}:{self.port}"

    def starter(self, node):
        return ["ip", "netns", "exec", self.names[node]] if self.is_apart else []

    def cut(self, node):
        run("ip", "-n", self.names[node], "link", "set", "wire", "down")

    def mend(self, node):
        run("ip", "-n", self.names[node], "link", "set", "wire", "up")


def run(*words):
    subprocess.run(words, check=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Node:
    """One launcher, and what it said."""

    def __init__(self, larder, place, node, folder, nnodes, restarts):
        self.store = f"/dev/shm/larder-nodes-{os.getpid()}-{node}"
        self.log = open(os.path.join(folder, f"node-{node}-{time.monotonic_ns()}.log"), "w+", encoding="utf-8")
        words = [
            *place.starter(node), larder, "--store", self.store, "launch", f"--nnodes={nnodes}", f"--node-rank={node}",
            f"--rdzv-endpoint={place.endpoint()}", "--node-timeout=3s", "--join-timeout=2s", "--rdzv-timeout=60s", "--grace=2s",
            f"--max-restarts={restarts}", "--no-forward", "-n", "2", "--", "sh", "-c", RANK,
        ]
        self.process = subprocess.Popen(
            words, stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, "LARDER_RDZV_SECRET": SECRET}, start_new_session=True)

    def text(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8") as file:
            return file.read()

    def pids(self):
        return [int(pid) for pid in re.findall(r"pid (\d+)$", self.text(), re.MULTILINE)]

    def await_ranks(self, count, world):
        def are_up():
            return len(re.findall(rf"rank \d+ of {world} ", self.text())) >= count
        await_true(are_up, f"{count} ranks of {world}", self)

    def launcher_pid(self):
        return self.process.pid

    def end(self):
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"a launcher does not end:\n{self.text()}") from None


def await_true(condition, what, node):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end or node.process.poll() not in (None,):
            raise AssertionError(f"waited in vain for {what}:\n{node.text()}")
        time.sleep(0.05)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def await_gone(pids):
    end = time.monotonic() + 30
    left = list(pids)
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left = [pid for pid in left if is_running(pid)]
    assert not left, f"processes are left: {left}"


def expect(node, *patterns):
    for pattern in patterns:
        assert re.search(pattern, node.text()), f"nothing says {pattern!r}:\n{node.text()}"


def play(larder, place, folder, fault, rng):
    """Runs two or three nodes, does one thing to them, and looks at what follows."""
    count = place.count
    is_elastic = fault in ("launcher", "node", "stop", "link") and rng.random() < 0.6
    nodes = [Node(larder, place, node, folder, f"1:{count}" if is_elastic else str(count), 1) for node in range(count)]
    world = 2 * count
    victim = 0 if fault == "leader" else rng.randrange(1, count)
    try:
        for node in nodes:
            node.await_ranks(2, world)
        time.sleep(rng.random() * 0.2)
        strike(place, nodes[victim], fault, rng, victim)
        rest = [node for number, node in enumerate(nodes) if number != victim]
        if fault == "rank":
            for node in nodes:
                node.await_ranks(4, world)  # all started again
            os.kill(rng.choice(nodes[victim].pids()[-2:]), signal.SIGKILL)
            for node in nodes:
                assert node.end() == 137, node.text()
                expect(node, rf"a rank failed: rank=\d+ pid=\d+ cause=.*SIGKILL.* node=node {victim} \(")
        elif fault == "interrupt":
            for node in nodes:
                assert node.end() == 130, node.text()
            for node in rest:
                expect(node, rf"the run was stopped: by=SIGINT at node {victim} \(")
        elif fault == "leader":
            for node in rest:
                assert node.end() == 9, node.text()
                expect(node, r"the leader of the run is lost: node=0 endpoint=\S+ cause=")
        elif is_elastic:
            for node in rest:
                node.await_ranks(2, world - 2)  # went on with what is left
            expect(nodes[0], rf"a node is lost: node=node {victim} \(.* cause=")
            nodes[0].process.send_signal(signal.SIGINT)
            for node in rest:
                assert node.end() == 130, node.text()
        else:
            for node in rest:
                assert node.end() == 9, node.text()
                expect(node, rf"too few nodes are left: nodes={count - 1} min={count} .*lost=node {victim} \(.* cause=")
    finally:
        if fault == "stop":
            os.killpg(nodes[victim].launcher_pid(), signal.SIGCONT)
        if fault == "link" and place.is_apart:
            place.mend(victim)
        pids = [pid for node in nodes for pid in node.pids()]
        for node in nodes:
            if sys.exc_info()[0] is not None:
                node.process.kill()
            node.end()
    await_gone(pids)
    if fault in ("stop", "link"):
        expect(nodes[victim], "the leader of the run is lost: node=0")
    left = [node.store for node in nodes if os.path.exists(node.store)]
    assert not left, f"stores are left: {left}"


def strike(place, node, fault, rng, victim):
    if fault == "rank":
        os.kill(rng.choice(node.pids()), signal.SIGKILL)
    elif fault in ("launcher", "leader"):
        os.kill(node.launcher_pid(), signal.SIGKILL)
    elif fault == "node":
        for pid in [node.launcher_pid(), *node.pids()]:
            os.kill(pid, signal.SIGKILL)
    elif fault == "stop":
        os.killpg(node.launcher_pid(), signal.SIGSTOP)
    elif fault == "link":
        place.cut(victim)
    elif fault == "interrupt":
        node.process.send_signal(signal.SIGINT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--larder", required=True)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    faults = options.faults.split(",")
    for number in range(options.rounds):
        fault = faults[number % len(faults)]
        with Place(rng.choice((2, 3))) as place, tempfile.TemporaryDirectory() as folder:
            if fault == "link" and not place.is_apart:
                print(f"round {number}: link: skipped, as only root can cut one", flush=True)
                continue
            begin = time.monotonic()
            play(options.larder, place, folder, fault, rng)
            if options.verbose:
                print(f"round {number}: {fault}, {place.count} nodes: {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{options.rounds} rounds went as they should")


if __name__ == "__main__":
    main()
