"""The processes of a run: daemons, and clients that do as they are told; and the files that they load."""

import array
import gzip
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_store  # noqa: E402

PATIENCE_S = 60
QUIET_FLAGS = ["-Xlog:disable", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1"]

# What the daemon's libraries want, as ops/java-flags has it.
DAEMON_FLAGS = os.environ.get("LARDER_SOAK_DAEMON_FLAGS", "").split()

# How a request may end when somebody is killed, stopped, or in the way.
HARMLESS = {"NO_DAEMON", "DEADLINE", "NO_SPACE", "REFUSED", "INTERRUPTED", "NOT_FOUND"}


def store_name(test):
    """Returns a name for the store of a test; ops/test finds by its mark in it what a run has left."""
    return "/dev/shm/" + "-".join(filter(None, ["larder", test, os.environ.get("LARDER_TEST_RUN"), str(os.getpid())]))


def let_sigterm_clean_up():
    """Ends this program by way of every `finally` when it gets SIGTERM; only the first one counts."""

    def end(number, _):
        signal.signal(number, signal.SIG_IGN)
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


class Trouble(Exception):
    """A rule was broken."""


class Java:
    """How to start the programs: a class path that has the command, and the clients of the tests."""

    def __init__(self, class_path, java="java"):
        self.class_path = class_path
        self.java = java

    def words(self, main, *arguments, flags=()):
        if os.environ.get("LARDER_SOAK_ARCHIVE"):
            flags = [*flags, "-XX:SharedArchiveFile=" + os.environ["LARDER_SOAK_ARCHIVE"]]
        return [self.java, *QUIET_FLAGS, *flags, "-cp", self.class_path, main, *arguments]


class Step:
    """One thing that a client was told to do."""

    def __init__(self, client, words):
        self.client = client
        self.words = words
        self.began = time.monotonic()
        self.ended = None
        self.lines = []
        self._changed = threading.Condition()

    def hear(self, words):
        with self._changed:
            self.lines.append(words)
            if words[0] in ("done", "failed", "WRONG", "gone"):
                self.ended = words
            self._changed.notify_all()

    def await_word(self, word, timeout=PATIENCE_S):
        """Waits until it says this word; false where it ends without."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended or any(line[0] == word for line in self.lines), timeout)
            return any(line[0] == word for line in self.lines)

    def result(self, timeout=PATIENCE_S):
        """Waits for the end and returns its words; a client that died has ended all of its steps with `gone`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.ended, timeout):
                raise Trouble(f"no end within {timeout} s: {self}")
        if self.ended[0] == "WRONG":
            raise Trouble(f"wrong bytes were read: {self}")
        return self.ended

    def done(self, timeout=PATIENCE_S):
        """Waits for an end that has to be good, and returns what it says."""
        words = self.result(timeout)
        if words[0] != "done":
            raise Trouble(f"not done: {self}")
        return " ".join(words[2:])

    def settle(self, timeout=PATIENCE_S):
        """Waits for an end that may be any that a fault explains."""
        words = self.result(timeout)
        if words[0] == "failed" and words[2] not in HARMLESS:
            raise Trouble(f"failed for no good reason: {self}")
        return words

    def __str__(self):
        return f"{self.client.name}[{self.client.pid}] {' '.join(self.words)} -> {' '.join(self.lines[-1]) if self.lines else 'nothing'}"


class Client:
    """A client JVM (ScriptedClient), and what it has said."""

    def __init__(self, java, store, name):
        self.name = name
        self.process = subprocess.Popen(
            java.words("dev.larder.testing.ScriptedClient", store, flags=["-Xmx128m"]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.pid = self.process.pid
        self.steps = {}
        self.errors = []
        self._count = 0
        self.steps["0"] = Step(self, ["start"])
        self._threads = [threading.Thread(target=self._listen, daemon=True),
                         threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)]
        for thread in self._threads:
            thread.start()

    def _listen(self):
        for line in self.process.stdout:
            words = line.rstrip("\n").split(" ")
            step = self.steps.get(words[0])
            if step:
                step.hear(words[1:])
        for step in list(self.steps.values()):
            if not step.ended:
                step.hear(["gone"])

    def ready(self):
        if not self.steps["0"].await_word("ready"):
            raise Trouble(f"client did not start: {''.join(self.errors)}")
        return self

    def tell(self, verb, *arguments):
        self._count += 1
        if len(self.steps) > 200:
            self.steps = {key: step for key, step in self.steps.items() if not step.ended}
        step = Step(self, [verb, *map(str, arguments)])
        self.steps[str(self._count)] = step
        try:
            self.process.stdin.write(f"{self._count} {' '.join(step.words)}\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            step.hear(["gone"])
        if not self.is_alive() and not step.ended:
            step.hear(["gone"])
        return step

    def is_alive(self):
        return self.process.poll() is None

    def send(self, name):
        if self.is_alive():
            self.process.send_signal(getattr(signal, "SIG" + name))

    def end(self):
        if self.is_alive():
            self.process.kill()
        self.process.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass


class Daemon:
    """`larder serve` in a process of its own."""

    def __init__(self, java, store, capacity, keep=False):
        self.keep = keep
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            java.words("dev.larder.command.LarderCommand", "serve", "--store", store, "--capacity", str(capacity),
                       *(["--keep"] if keep else []), flags=["-Xmx256m", *DAEMON_FLAGS]),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.out = []
        self.err = []
        self._said = queue.Queue()
        self._threads = [threading.Thread(target=self._listen, daemon=True),
                         threading.Thread(target=lambda: self.err.extend(self.process.stderr), daemon=True)]
        for thread in self._threads:
            thread.start()

    def _listen(self):
        for line in self.process.stdout:
            self.out.append(line)
            self._said.put(line)
        self._said.put("")

    def ready(self):
        line = self._said.get(timeout=PATIENCE_S)
        if not line.startswith("Done caching."):
            raise Trouble(f"daemon did not start: out={self.out} err={self.err}")
        return self

    def is_alive(self):
        return self.process.poll() is None

    def send(self, name):
        if self.is_alive():
            self.process.send_signal(getattr(signal, "SIG" + name))

    def wait(self, timeout=PATIENCE_S):
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Trouble(f"daemon does not end: pid={self.pid} within={timeout} s out={self.out} err={self.err}") from None
        for thread in self._threads:
            thread.join(PATIENCE_S)
        return code

    def end(self):
        if self.is_alive():
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self.process.stdout.close()
        self.process.stderr.close()


def npy(key, count):
    """Returns a .npy file of `count` numbers from `key` upwards."""
    header = f"{{'descr': '<u4', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * ((64 - (10 + len(header) + 1)) % 64) + "\n"
    data = array.array("I", range(key, key + count))
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data.tobytes()


class Sources:
    """Folders to load from. Arrays of one folder count from the same number, each folder from another."""

    def __init__(self, folder):
        self.folder = folder
        self._keys = 0

    def make(self, name, count, zipped=False):
        self._keys += 1
        key = self._keys * 1_000_003 % (1 << 30)
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        for stem, length in (("a", count), ("b", count // 4)):
            data = npy(key, length)
            file = os.path.join(path, stem + (".npy.gz" if zipped else ".npy"))
            with open(file, "wb") as out:
                out.write(gzip.compress(data, 1) if zipped else data)
            os.utime(file, (1_700_000_000, 1_700_000_000))  # old enough to be known by its time
        return path


def fields(text):
    """Reads `key=value` pairs."""
    return dict(re.findall(r"(\w+)=(\S*)", text))


def shared_memory():
    return set(os.listdir("/dev/shm"))


def settle_store(client, store, seconds=10, **expectations):
    """Checks a store that is idle, or about to be: what is still on its way may take some seconds. Returns the problems."""
    end = time.monotonic() + seconds
    while True:
        used = int(fields(client.tell("status").done(20))["used"])
        try:
            found = check_store.problems(store, used, **expectations)
        except FileNotFoundError as e:
            found = [f"vanished while it was looked at: {e.filename}"]
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.1)
