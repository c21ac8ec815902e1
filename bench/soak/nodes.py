"""Faults of runs on several machines, with real processes, drawn at random by a seed."""

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

SECRET = "0123456789abcdef0123456789abcdef"
RANK = "echo rank $RANK of $WORLD_SIZE attempt $TORCHELASTIC_RESTART_COUNT pid $$; exec sleep 600"
PATIENCE_S = 90

CHATTY = "head -c 30000000 /dev/zero | tr '\\0' x | fold -w 200; echo rank $RANK of $WORLD_SIZE attempt $TORCHELASTIC_RESTART_COUNT pid $$"
SOURCE_BYTES = 4 << 20

FAULTS = ("rank", "launcher", "leader", "node", "stop", "link", "interrupt", "secret", "twice", "changed", "full", "daemon", "delay", "shaped", "again")
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

    def shape(self, node):
        run("tc", "-n", self.names[node], "qdisc", "add", "dev", "wire", "root", "tbf", "rate", "50mbit", "burst", "32kbit", "latency", "400ms")

    def mend(self, node):
        run("ip", "-n", self.names[node], "link", "set", "wire", "up")


def run(*words):
    subprocess.run(words, check=True)


class Node:
    """One launcher with its output."""

    def __init__(self, larder, place, node, folder, nnodes, restarts, *, secret=SECRET, endpoint=None, extra=("--no-forward",), script=RANK, store=None,
                 times=("--node-timeout=3s", "--join-timeout=2s")):
        self.store = store or f"/dev/shm/larder-nodes-{os.getpid()}-{node}"
        self.log = open(os.path.join(folder, f"node-{node}-{time.monotonic_ns()}.log"), "w+", encoding="utf-8")
        words = [
            *place.starter(node), larder, "--store", self.store, "launch", f"--nnodes={nnodes}", f"--node-rank={node}",
            f"--rdzv-endpoint={endpoint or place.endpoint()}", *times, "--rdzv-timeout=60s", "--grace=2s",
            f"--max-restarts={restarts}", *extra, "-n", "2", "--", "sh", "-c", script,
        ]
        self.process = subprocess.Popen(
            words, stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, "LARDER_RDZV_SECRET": secret}, start_new_session=True)

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
    crew.await_true(condition, what, node.text, PATIENCE_S, lambda: node.process.poll() is not None)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def await_gone(pids):
    crew.await_true(lambda: not any(map(is_running, pids)), "the end of processes", lambda: str([pid for pid in pids if is_running(pid)]), 30)


def expect(node, *patterns):
    for pattern in patterns:
        assert re.search(pattern, node.text()), f"no line matches {pattern!r}:\n{node.text()}"


def play(larder, place, folder, fault, rng):
    """Runs two or three nodes, causes one fault, and checks the result."""
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
                node.await_ranks(2, world - 2)  # continued with the other nodes
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


def wait_and_end(nodes, code, *patterns):
    for node in nodes:
        assert node.end() == code, node.text()
        expect(node, *patterns)


def interrupt(nodes, world, starts=2):
    """Ends a run in order once all ranks are up."""
    for node in nodes:
        node.await_ranks(starts, world)
    nodes[0].process.send_signal(signal.SIGINT)
    wait_and_end(nodes, 130)


def source(folder, name, fill):
    """Writes an array of equal bytes."""
    path = os.path.join(folder, name)
    os.makedirs(path)
    with open(os.path.join(path, "a.npy"), "wb") as file:
        file.write(crew.npy(bytes([fill]) * SOURCE_BYTES, (SOURCE_BYTES >> 10, 1024)))
    return path


def play_stranger(larder, place, folder, fault, rng):
    """A node with another secret, or a second launcher for a node rank, is refused by name, and the run continues."""
    count, world = place.count, 2 * place.count
    nodes = [Node(larder, place, node, folder, str(count), 0) for node in range(count if fault == "twice" else count - 1)]
    try:
        for node in nodes[1:]:
            await_true(lambda node=node: "joined the run" in node.text(), "joining", node)
        if fault == "twice":
            other = Node(larder, place, count - 1, folder, str(count), 0, store=nodes[-1].store + "-other")
            wait_and_end([other], 7, rf"this node rank is taken: nodeRank={count - 1} by=node .*; give every node its own --node-rank")
        else:
            other = Node(larder, place, count - 1, folder, str(count), 0, secret="f" * 32)
            wait_and_end([other], 7, "does not lead this run: .* reason=it has another secret")
            expect(nodes[0], "a caller was turned away: address=.* reason=it has another secret")
            nodes.append(Node(larder, place, count - 1, folder, str(count), 0))
        interrupt(nodes, world)
    finally:
        clear(nodes)


def clear(nodes):
    if sys.exc_info()[0] is not None:
        for node in nodes:
            node.process.kill()
    for node in nodes:
        node.end()
    await_gone([pid for node in nodes for pid in node.pids()])


def play_data(larder, place, folder, fault, rng):
    """The data of a node differ, do not fit, or lose their daemon."""
    count, world = place.count, 2 * place.count
    victim = rng.randrange(1, count)
    way = rng.choice((",shard", ",whole"))
    paths = [source(folder, f"source-{node}", 9 if fault == "changed" and node == victim else 7) for node in range(count)]
    stores = [f"/dev/shm/larder-nodes-{os.getpid()}-{node}" for node in range(count)]

    def start():
        return [Node(larder, place, node, folder, str(count), 0, extra=("--no-forward", f"--data=train={paths[node]}{way}")) for node in range(count)]

    def stop(node, *words):
        subprocess.run([*place.starter(node), larder, "--store", stores[node], "stop", *words], check=False, capture_output=True)

    try:
        if fault == "full":
            run_quietly(*place.starter(victim), larder, "--store", stores[victim], "serve", "--detach", "--capacity", "1m")
        nodes = start()
        try:
            if fault == "daemon":
                for node in nodes:
                    node.await_ranks(2, world)
                os.kill(daemon_pid(stores[victim]), signal.SIGKILL)
                time.sleep(0.5)
                assert all(is_running(pid) for node in nodes for pid in node.pids()), "ranks ended with a daemon"
                interrupt(nodes, world)
                clear(nodes)
                nodes = start()  # takes over the store of the daemon, and loads again
                interrupt(nodes, world)
            else:
                code, reason = (6, r".*") if fault == "changed" else (5, "not enough space")
                wait_and_end(nodes, code, rf"node=node {victim} \(.*{reason}")
                assert not any(node.pids() for node in nodes), "a rank started"
        finally:
            clear(nodes)
    finally:
        for node in range(count):
            if os.path.exists(stores[node]):
                stop(node, "--force")
    left = [store for store in stores if os.path.exists(store)]
    assert not left, f"stores are left: {left}"


def run_quietly(*words):
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def daemon_pid(store):
    with open(os.path.join(store, "daemon.lock"), encoding="utf-8", errors="replace") as file:
        return int(re.search(r"pid\D{0,4}(\d+)", file.read()).group(1))


def play_wire(larder, place, folder, fault, rng):
    """A node behind a slow or late wire does not count as lost."""
    count, world = place.count, 2 * place.count
    victim = rng.randrange(1, count)
    proxy = None
    endpoints = [None] * count
    if fault == "delay":
        host, port = place.endpoint().split(":")
        near = crew.free_ports(1)[0]
        proxy = subprocess.Popen([*place.starter(victim), sys.executable, __file__, "--delay", str(near), host, port])
        endpoints[victim] = f"127.0.0.1:{near}"
    else:
        place.shape(victim)
    script, extra = (CHATTY, ()) if fault == "shaped" else (RANK, ("--no-forward",))
    nodes = []
    try:
        nodes = [Node(larder, place, node, folder, str(count), 1, endpoint=endpoints[node], extra=extra, script=script) for node in range(count)]
        if fault == "shaped":
            wait_and_end(nodes, 0)
        else:
            for node in nodes:
                node.await_ranks(2, world)
            os.kill(rng.choice(nodes[victim].pids()), signal.SIGKILL)
            interrupt(nodes, world, 4)
        for node in nodes:
            assert "is lost" not in node.text(), node.text()[-4000:]
    finally:
        clear(nodes)
        if proxy is not None:
            proxy.kill()
            proxy.wait()


def play_again(larder, place, folder, fault, rng):
    """A new launcher takes the place of a stopped one before that one counts as lost."""
    count, world = place.count, 2 * place.count
    victim = rng.randrange(1, count)
    patient = ("--node-timeout=20s", "--join-timeout=60s")
    nodes = [Node(larder, place, node, folder, str(count), 0, times=patient) for node in range(count)]
    old = nodes[victim]
    try:
        for node in nodes:
            node.await_ranks(2, world)
        os.killpg(old.launcher_pid(), signal.SIGSTOP)
        begin = time.monotonic()
        nodes[victim] = Node(larder, place, victim, folder, str(count), 0, times=patient)
        nodes[victim].await_ranks(2, world)
        assert time.monotonic() - begin < 18, "it waited until the old one was lost"
        expect(nodes[0], rf"a node is lost: node=node {victim} \(.* cause=its machine has come again")
        os.killpg(old.launcher_pid(), signal.SIGCONT)
        old.end()
        nodes[0].process.send_signal(signal.SIGINT)
        wait_and_end(nodes, 130)
    finally:
        os.killpg(old.launcher_pid(), signal.SIGCONT) if old.process.poll() is None else None
        clear([*nodes, old])


SCENES = {"secret": play_stranger, "twice": play_stranger, "changed": play_data, "full": play_data, "daemon": play_data, "delay": play_wire,
          "shaped": play_wire, "again": play_again}


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
    if sys.argv[1:2] == ["--delay"]:
        delay(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
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
            if fault in ROOTS and not place.is_apart:
                print(f"round {number}: {fault}: skipped, as only root can do it", flush=True)
                continue
            begin = time.monotonic()
            SCENES.get(fault, play)(options.larder, place, folder, fault, rng)
            if options.verbose:
                print(f"round {number}: {fault}, {place.count} nodes: {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{options.rounds} rounds went as they should")


if __name__ == "__main__":
    main()
