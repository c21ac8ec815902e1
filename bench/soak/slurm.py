#!/usr/bin/env -S python3 -B
"""Runs ops/slurm/larder-nodes.sbatch under a real Slurm of two nodes on this machine: queues the job again, kills processes of a node and its slurmd, and
sees that each job goes on or ends with one message that names the node and the cause, and that nothing is left.

Needs root, and Debian's slurmctld, slurmd, slurm-client and munge. Each node has a /dev/shm of its own, and only this program resolves the names n1 and n2.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import crew
from crew import children, require

PATIENCE_S = 180
SLURMD_TIMEOUT_S = 10
NODES = ("n1", "n2")
SCRIPT = os.path.join(crew.ROOT, "ops", "slurm", "larder-nodes.sbatch")
TRAINER = """#!/bin/sh
echo "rank $RANK of $WORLD_SIZE life ${SLURM_RESTART_COUNT:-0} pid $$"
[ "${SLURM_RESTART_COUNT:-0}" -ge "$LIVES" ] || exec sleep 600
"""
SETTINGS = """
ClusterName=larder
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdTimeout={slurmd_timeout}
KillWait=5
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=8 RealMemory=100000
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """A controller and two nodes, each with a /dev/shm of its own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="larder-slurm-")
        self.started = []
        self.slurmd = {}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        ports = crew.free_ports(3)
        hosts = os.path.join(self.folder, "hosts")
        with open("/etc/hosts", encoding="utf-8") as known, open(hosts, "w", encoding="utf-8") as file:
            file.write(known.read() + "\n127.0.0.1 " + " ".join(NODES) + "\n")
        subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
        first = ports[1] if ports[2] == ports[1] + 1 else free_pair()
        settings = SETTINGS.format(
            host=socket.gethostname(), port=ports[0], folder=self.folder, first=first, last=first + 1, slurmd_timeout=SLURMD_TIMEOUT_S)
        os.environ["SLURM_CONF"] = os.path.join(self.folder, "slurm.conf")
        with open(os.environ["SLURM_CONF"], "w", encoding="utf-8") as file:
            file.write(settings)
        os.mkdir(os.path.join(self.folder, "state"))
        self.start_munge()
        self.begin("slurmctld", "-D")
        for node in NODES:
            self.start_node(node)
        await_true(lambda: output("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "2", "two idle nodes")

    def start_munge(self):
        key = os.path.join(self.folder, "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o400)
        at = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self.begin("munged", "--foreground", "--force", *(f"--{option}={self.folder}/munge.{end}" for option, end in at.items()))
        await_true(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munge")

    def start_node(self, node):
        """Starts a slurmd. A sleeping process keeps the node's /dev/shm for the next slurmd."""
        if node not in self.slurmd:
            keeper = self.begin("unshare", "--mount", "--propagation", "private", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm; exec sleep infinity")
            self.slurmd[node] = [keeper, None]
            await_true(lambda: "/dev/shm tmpfs" in mounts(keeper.pid) and is_called(keeper.pid, "sleep"), "a /dev/shm")
        keeper = self.slurmd[node][0]
        self.slurmd[node][1] = self.begin("nsenter", "--mount", f"--target={keeper.pid}", "slurmd", "-D", "-N", node)

    def begin(self, *words):
        log = open(os.path.join(self.folder, "started.log"), "a", encoding="utf-8")
        process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        self.started.append(process)
        return process

    def submit(self, lives):
        """Queues a job with ranks that end by themselves in life number `lives`. Returns its number."""
        environment = {**os.environ, "LARDER": crew.LARDER, "DATA": self.folder + "/data", "TRAINER": self.folder + "/trainer", "RANKS": "2",
                       "LIVES": str(lives), "USER": "root"}
        words = ["sbatch", "--parsable", "--cpus-per-task=2", "--mem=1G", "--open-mode=append", f"--output={self.folder}/job-%j.log", SCRIPT]
        return subprocess.run(words, check=True, text=True, capture_output=True, env=environment, cwd=self.folder).stdout.strip()

    def text(self, job):
        try:
            with open(f"{self.folder}/job-{job}.log", encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def await_ranks(self, job, life):
        await_true(lambda: len(re.findall(rf"rank \d of 4 life {life} ", self.text(job))) == 4, f"ranks of life {life}", lambda: self.shown(job))

    def state(self, job):
        return (re.search(r"JobState=(\w+)", output("scontrol", "show", "job", job)) or ["", ""])[1]

    def await_end(self, job, expected):
        ended = ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT")
        await_true(lambda: self.state(job) in ended, "the end of the job", lambda: self.shown(job))
        require(self.state(job) == expected, f"the job ended: state={self.state(job)} expected={expected}\n{self.shown(job)}")

    def begin_at_once(self, job):
        """Slurm waits two minutes before it starts a job again."""
        await_true(lambda: self.state(job) == "PENDING", "a job that is queued again", lambda: self.shown(job))
        subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=True)

    def shown(self, job):
        return output("scontrol", "show", "job", job) + self.text(job)

    def processes(self, node):
        """Returns the processes of a node: all that see its /dev/shm but the keeper and slurmd."""
        keeper, slurmd = self.slurmd[node]
        own = os.readlink(f"/proc/{keeper.pid}/ns/mnt")
        known = {keeper.pid, slurmd.pid if slurmd else 0}
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if int(pid) not in known and os.readlink(f"/proc/{pid}/ns/mnt") == own:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        found[int(pid)] = file.read().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
        return {pid: words for pid, words in found.items() if words}

    def require_nothing_left(self, stores=False):
        """With `stores` only that no rank and no launcher is left: a daemon and its store stay for ten minutes after a failure."""
        for node in NODES:
            def left(node=node):
                return {pid: words for pid, words in self.processes(node).items() if not (stores and " serve" in words)}
            await_true(lambda: not left(), f"the end of all processes of {node}", lambda: str(left()))
            shm = f"/proc/{self.slurmd[node][0].pid}/root/dev/shm"
            require(stores or not os.listdir(shm), f"left in /dev/shm of {node}: {os.listdir(shm)}")

    def clear(self):
        """Ends daemons that wait for the next life of the job."""
        for node in NODES:
            for pid in self.processes(node):
                crew.kill(pid, signal.SIGTERM)
            await_true(lambda node=node: not self.processes(node), f"the end of the daemons of {node}", lambda node=node: str(self.processes(node)))

    def __exit__(self, *unused):
        for node, (keeper, _) in self.slurmd.items():
            for pid in self.processes(node) if keeper.poll() is None else ():
                crew.kill(pid, signal.SIGKILL)
        for process in reversed(self.started):
            process.kill()
            process.wait()
        subprocess.run(["umount", "/etc/hosts"], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def is_called(pid, name):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read().strip() == name


def mounts(pid):
    with open(f"/proc/{pid}/mounts", encoding="utf-8") as file:
        return file.read()


def free_pair():
    while True:
        first = crew.free_ports(1)[0]
        try:
            with socket.socket() as next_one:
                next_one.bind(("127.0.0.1", first + 1))
                return first
        except OSError:
            continue


def output(*words):
    return subprocess.run(words, check=False, text=True, capture_output=True).stdout


def await_true(condition, what, shown=lambda: ""):
    crew.await_true(condition, what, shown, PATIENCE_S)


def plain(cluster):
    job = cluster.submit(0)
    cluster.await_end(job, "COMPLETED")
    cluster.await_ranks(job, 0)
    return job


def requeue(cluster):
    """The job is queued again while its ranks run: its second life finds the data in the same store."""
    job = cluster.submit(1)
    cluster.await_ranks(job, 0)
    subprocess.run(["scontrol", "requeue", job], check=True)
    cluster.begin_at_once(job)
    cluster.await_end(job, "COMPLETED")
    cluster.await_ranks(job, 1)
    return job


def cancel(cluster):
    job = cluster.submit(1)
    cluster.await_ranks(job, 0)
    subprocess.run(["scancel", job], check=True)
    cluster.await_end(job, "CANCELLED")
    return job


def rank(cluster):
    job = cluster.submit(1)
    cluster.await_ranks(job, 0)
    crew.kill(int(re.search(r"rank 3 of 4 life 0 pid (\d+)", cluster.text(job))[1]), signal.SIGKILL)
    cluster.await_end(job, "FAILED")
    require(re.search(r"a rank failed: rank=3 .* node=node 1 \(", cluster.text(job)), f"no message names rank 3 of node 1:\n{cluster.text(job)}")
    return job


def processes(cluster):
    """The launcher and the ranks of the second node are killed: the first reports it, and the step ends."""
    job = cluster.submit(1)
    cluster.await_ranks(job, 0)
    for pid, words in cluster.processes("n2").items():
        if "slurmstepd" not in words:
            crew.kill(pid, signal.SIGKILL)
    cluster.await_end(job, "FAILED")
    require("node=node 1 (" in cluster.text(job), f"no message names node 1:\n{cluster.text(job)}")
    return job


def slurmd(cluster):
    """The second node's slurmd and all of its processes are killed: Slurm queues the job again, and it continues when the node is back."""
    job = cluster.submit(1)
    cluster.await_ranks(job, 0)
    cluster.slurmd["n2"][1].kill()
    cluster.slurmd["n2"][1].wait()
    for pid in cluster.processes("n2"):
        crew.kill(pid, signal.SIGKILL)
    await_true(lambda: "Restarts=1" in cluster.shown(job) or cluster.state(job) == "FAILED", "a job that is queued again", lambda: cluster.shown(job))
    cluster.start_node("n2")
    cluster.begin_at_once(job)
    cluster.await_end(job, "COMPLETED")
    cluster.await_ranks(job, 1)
    return job


FAULTS = {"plain": plain, "requeue": requeue, "cancel": cancel, "rank": rank, "processes": processes, "slurmd": slurmd}
LEAVE_DAEMONS = ("rank", "processes", "slurmd")  # started for a life that failed, they wait for the next


def main():
    if sys.argv[1:2] != ["--apart"]:
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", __file__, "--apart", *sys.argv[1:]])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apart", action="store_true", help="in a mount namespace of its own, as it starts itself")
    parser.add_argument("--only", action="append", choices=FAULTS)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    crew.build()
    with children.interruptible(), Cluster() as cluster:
        os.mkdir(cluster.folder + "/data")
        with open(cluster.folder + "/data/x.csv", "w", encoding="utf-8") as file:
            file.write("a,b\n" + "1,2\n" * 1000)
        with open(cluster.folder + "/trainer", "w", encoding="utf-8") as file:
            file.write(TRAINER)
        os.chmod(cluster.folder + "/trainer", 0o755)
        for name in options.only or FAULTS:
            begin = time.monotonic()
            job = FAULTS[name](cluster)
            if options.verbose:
                print(cluster.text(job), flush=True)
            cluster.require_nothing_left(stores=name in LEAVE_DAEMONS)
            cluster.clear()
            print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
