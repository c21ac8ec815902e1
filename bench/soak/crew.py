"""The processes of the long tests: daemons and clients that obey, the files that they load, and waits for conditions."""

import argparse
import array
import contextlib
import gzip
import itertools
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench", "soak"), os.path.join(ROOT, "bench", "src", "main", "python")]
import check_store  # noqa: E402
import children  # noqa: E402

LARDER = os.environ.get("LARDER") or children.LARDER
PATIENCE_S = 60
QUIET_FLAGS = ["-Xlog:disable", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1"]

# The flags of ops/java-flags that the daemon's libraries need.
DAEMON_FLAGS = os.environ.get("LARDER_SOAK_DAEMON_FLAGS", "").splitlines()

# Codes of requests that may fail when a process is killed, stopped, or in the way.
HARMLESS = {"NO_DAEMON", "DEADLINE", "NO_SPACE", "REFUSED", "INTERRUPTED", "NOT_FOUND"}


def build():
    """Builds the command, with its archive of classes: what follows has deadlines, and starts at once."""
    subprocess.run([LARDER, "--version"], env={**os.environ, "LARDER_CLASS_ARCHIVE": "now"}, stdout=subprocess.DEVNULL, check=True)
    os.environ["LARDER_NO_BUILD"] = "1"


def store_name(test):
    """Returns a name for the store of a test. It contains the mark of a run of ops/test, which looks for it in leftovers."""
    return "/dev/shm/" + "-".join(filter(None, ["larder", test, os.environ.get("LARDER_TEST_RUN"), str(os.getpid())]))


class Trouble(Exception):
    """A rule was broken."""


def require(holds, what):
    if not holds:
        raise Trouble(what() if callable(what) else what)


def require_equal(actual, expected, what):
    require(actual == expected, f"{what}: actual={actual!r} expected={expected!r}")


def await_true(condition, what, shown=lambda: "", seconds=PATIENCE_S, ended=lambda: False):
    """Waits for a condition and returns its value; fails after some seconds, or if the process that has to bring it about has ended."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end or ended():
            raise Trouble(f"waited in vain for {what}\n{shown()}")
        time.sleep(0.05)
    return found


def free_ports(count):
    listeners = [socket.socket() for _ in range(count)]
    for listener in listeners:
        listener.bind(("127.0.0.1", 0))
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


class Java:
    """The words that start programs of a class path with the command and the clients of the tests."""

    def __init__(self, class_path, java="java"):
        self.class_path = class_path
        self.java = java

    def words(self, main, *arguments, flags=()):
        if os.environ.get("LARDER_SOAK_ARCHIVE"):
            flags = [*flags, "-XX:SharedArchiveFile=" + os.environ["LARDER_SOAK_ARCHIVE"]]
        return [self.java, *QUIET_FLAGS, *flags, "-cp", self.class_path, main, *arguments]


class Step:
    """A command to a client."""

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
        """Waits until it prints this word; returns false if it ends without it."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended or any(line[0] == word for line in self.lines), timeout)
            return any(line[0] == word for line in self.lines)

    def result(self, timeout=PATIENCE_S):
        """Waits for the end and returns its words. A client that died has ended all of its steps with `gone`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.ended, timeout):
                raise Trouble(f"no end within {timeout} s: {self}")
        if self.ended[0] == "WRONG":
            raise Trouble(f"wrong bytes were read: {self}")
        return self.ended

    def done(self, timeout=PATIENCE_S):
        """Waits for an end that has to be good, and returns its words."""
        words = self.result(timeout)
        if words[0] != "done":
            raise Trouble(f"not done: {self}")
        return " ".join(words[2:])

    def settle(self, timeout=PATIENCE_S):
        """Waits for an end that a fault may explain."""
        words = self.result(timeout)
        if words[0] == "failed" and words[2] not in HARMLESS:
            raise Trouble(f"failed for no good reason: {self}")
        return words

    def __str__(self):
        return f"{self.client.name}[{self.client.pid}] {' '.join(self.words)} -> {' '.join(self.lines[-1]) if self.lines else 'nothing'}"


class Process:
    """A JVM with its output. It passes each line to `hear`, and calls `hear_end` at the end."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.pid = self.process.pid
        self.errors = []
        self._threads = [threading.Thread(target=self._listen, daemon=True),
                         threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)]
        for thread in self._threads:
            thread.start()

    def _listen(self):
        for line in self.process.stdout:
            self.hear(line)
        self.hear_end()

    def is_alive(self):
        return self.process.poll() is None

    def send(self, name):
        if self.is_alive():
            self.process.send_signal(getattr(signal, "SIG" + name))

    def join(self):
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def end(self):
        self.send("CONT")
        self.send("KILL")
        self.process.wait(PATIENCE_S)
        self.join()
        for stream in filter(None, (self.process.stdin, self.process.stdout, self.process.stderr)):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


class Client(Process):
    """A client JVM (ScriptedClient)."""

    def __init__(self, java, store, name):
        self.name = name
        self.steps = {"0": Step(self, ["start"])}
        self._count = 0
        super().__init__(java.words("dev.larder.testing.ScriptedClient", store, flags=["-Xmx128m"]), stdin=subprocess.PIPE, bufsize=1)

    def hear(self, line):
        words = line.rstrip("\n").split(" ")
        step = self.steps.get(words[0])
        if step:
            step.hear(words[1:])

    def hear_end(self):
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


class Daemon(Process):
    """`larder serve` in a process of its own."""

    def __init__(self, java, store, capacity, keep=False):
        self.keep = keep
        self.out = []
        self._lines = queue.Queue()
        super().__init__(
            java.words("dev.larder.command.LarderCommand", "serve", "--store", store, "--capacity", str(capacity), *(["--keep"] if keep else []),
                       flags=["-Xmx256m", *DAEMON_FLAGS]), stdin=subprocess.DEVNULL)

    def hear(self, line):
        self.out.append(line)
        self._lines.put(line)

    def hear_end(self):
        self._lines.put("")

    def ready(self):
        line = self._lines.get(timeout=PATIENCE_S)
        if not line.startswith("Done caching."):
            raise Trouble(f"daemon did not start: out={self.out} err={self.errors}")
        return self

    def wait(self, timeout=PATIENCE_S):
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Trouble(f"daemon does not end: pid={self.pid} within={timeout} s out={self.out} err={self.errors}") from None
        self.join()
        return code


class Crew:
    """A daemon and its clients, by name."""

    def __init__(self, java, store, capacity):
        self.java, self.store, self.capacity = java, store, capacity
        self.daemon, self.clients = None, {}

    def launch_daemon(self, keep):
        self.daemon = Daemon(self.java, self.store, self.capacity, keep)
        return self.daemon

    def client(self, name):
        """Returns the client of this name; starts a new one if it is dead."""
        if name in self.clients and not self.clients[name].is_alive():
            self.clients.pop(name).end()
        if name not in self.clients:
            self.clients[name] = Client(self.java, self.store, name)
        return self.clients[name].ready()

    def check(self, **expectations):
        """Fails if the store is not as it should be, or if the daemon has noted errors."""
        boss = self.client("boss")
        found = settle_store(boss, self.store, **expectations)
        if found:
            raise Trouble("\n  ".join(["the store is not as it should be:", *found]))
        errors = boss.tell("errors").done()
        if errors:
            raise Trouble(f"the daemon's error log: {errors}")

    def leftovers(self):
        """Returns a problem if the store still exists."""
        return [f"the store is still there: {os.listdir(self.store)}"] if os.path.lexists(self.store) else []

    def end(self):
        for process in [*self.clients.values(), *filter(None, [self.daemon])]:
            process.end()
        shutil.rmtree(self.store, ignore_errors=True)


def parser(test, text):
    """Returns the options that the tests with a crew share."""
    options = argparse.ArgumentParser(description=text.splitlines()[0])
    options.add_argument("--class-path", default=os.environ.get("LARDER_SOAK_CLASS_PATH"))
    options.add_argument("--java", default="java")
    options.add_argument("--store", default=store_name(test))
    options.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    return options


def play(test, options, scene):
    """Runs a scene with a folder for its files; it returns its troubles. Returns the exit code."""
    print(f"seed={options.seed}", flush=True)
    with children.interruptible(), tempfile.TemporaryDirectory(prefix=f"larder-{test}-") as folder:
        trouble = scene(Java(options.class_path, options.java), options, folder)
    for line in trouble:
        print(f"TROUBLE {line}")
    print("OK" if not trouble else f"FAILED; again with --seed {options.seed}")
    return 1 if trouble else 0


class Served:
    """A daemon that is started as users do, with a store of its own. `with` ends it in order, unless that was done, and fails if it leaves its store."""

    numbers = itertools.count()

    def __init__(self, test, folder, *words, larder=LARDER, **options):
        self.larder, self.store = larder, f"{store_name(test)}-{next(self.numbers)}"
        self.log = os.path.join(folder, os.path.basename(self.store) + ".log")
        with open(self.log, "w") as log:
            self.process = self.start("serve", *words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)
        try:
            await_true(lambda: "Done caching." in self.text(), "a daemon", self.text, ended=lambda: self.process.poll() is not None)
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.kill()
        elif self.process.returncode is None:
            self.stop()

    def text(self):
        with open(self.log) as log:
            return log.read()

    def start(self, *words, env=os.environ, **options):
        """Starts a command for its store."""
        return subprocess.Popen([self.larder, *words], env={**env, "LARDER_STORE": self.store}, **options)

    def ask(self, *words, code=0):
        """Runs a command that has to end with this code; returns its output, parsed after `--json`."""
        with self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            said, errors = process.communicate()
        require_equal(process.returncode, code, f"larder {' '.join(words[:2])}: {errors}")
        return json.loads(said) if "--json" in words else said

    def lease(self, dataset):
        return os.path.join(os.path.realpath(os.path.join(self.store, "data", dataset, "current")), "lease")

    def stop(self):
        self.process.terminate()
        require_equal(self.process.wait(PATIENCE_S), 0, "the end of the daemon: " + self.text())
        require(not os.path.lexists(self.store), f"a store is left: {self.store}")

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE_S)
        shutil.rmtree(self.store, ignore_errors=True)


HOLDER = "import fcntl, os, time; f = open(os.environ['LEASE']); fcntl.flock(f, fcntl.LOCK_SH); print('held', flush=True); time.sleep(999)"


@contextlib.contextmanager
def held(folder, lease, *words, **variables):
    """Yields a process that holds a lease, with these arguments and variables."""
    program = os.path.join(folder, "train.py")
    with open(program, "w") as file:
        file.write(HOLDER)
    # By the name that a user types.
    with subprocess.Popen(["python3", program, *words], executable=sys.executable, env={**os.environ, **variables, "LEASE": lease},
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            require_equal(process.stdout.readline(), "held\n", "a lease")
            yield process
        finally:
            process.kill()


def kill(pid, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def await_gone(pids, seconds=30):
    await_true(lambda: not any(map(is_running, pids)), "the end of processes", lambda: str([pid for pid in pids if is_running(pid)]), seconds)


def link_many(folder, count, content, suffix):
    """Makes links in folders of some thousand, as ImageNet has them; returns the seconds."""
    begin = time.monotonic()
    for number in range(count):
        if number % 2_000 == 0:
            inner = os.path.join(folder, f"class-{number // 2_000:05}")
            os.makedirs(inner)
        path = f"{inner}/sample-{number:08}{suffix}"
        if number % 20_000 == 0:  # ext4 allows 65,000 links to one file
            first = path
            with open(path, "wb") as file:
                file.write(content)
        else:
            os.link(first, path)
    return time.monotonic() - begin


def npy(data, shape, dtype="|u1"):
    """Returns a .npy file of these bytes."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00v\x00" + header.encode() + data


class Sources:
    """Folders to load from. The arrays of a folder count from the same number, which is another one in each folder."""

    def __init__(self, folder):
        self.folder = folder
        self._keys = 0

    def make(self, name, count, zipped=False):
        self._keys += 1
        key = self._keys * 1_000_003 % (1 << 30)
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        for stem, length in (("a", count), ("b", count // 4)):
            data = npy(array.array("I", range(key, key + length)).tobytes(), (length,), "<u4")
            file = os.path.join(path, stem + (".npy.gz" if zipped else ".npy"))
            with open(file, "wb") as out:
                out.write(gzip.compress(data, 1) if zipped else data)
            os.utime(file, (1_700_000_000, 1_700_000_000))  # old enough to be recognised by its time
        return path


def fields(text):
    """Reads `key=value` pairs."""
    return dict(re.findall(r"(\w+)=(\S*)", text))


def shared_memory():
    return set(os.listdir("/dev/shm"))


def settle_store(client, store, seconds=10, **expectations):
    """Checks a store that is idle, or will be in some seconds. Returns the problems."""
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
