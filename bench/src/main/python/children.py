"""Programs that a benchmark starts, and the memory that they use; with the standard library only."""
import contextlib
import ctypes
import itertools
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import time

PATIENCE_S = 300
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4)
LARDER = os.path.join(ROOT, "ops", "larder")


class Child:
    """A program that prints lines. `with` kills it at the end if it still runs."""

    def __init__(self, words, **options):
        self.words = words
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.pid = self.process.pid
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def line(self, timeout_s=PATIENCE_S):
        """Returns the next line, or raises an error with the program's end."""
        deadline = time.monotonic() + timeout_s
        output = self.process.stdout
        while b"\n" not in self.buffer:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([output], [], [], left_s)[0]:
                raise TimeoutError(f"printed nothing for {timeout_s} s: {self.words}")
            more = os.read(output.fileno(), 65536)
            if not more:
                raise ChildProcessError(f"ended with {self.process.wait(timeout_s)}: {self.words}")
            self.buffer += more
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def answer(self, beginning):
        """Returns the rest of the next line after this word."""
        line = self.line()
        if not line.startswith(beginning + " "):
            raise ChildProcessError(f"printed {line!r}, not {beginning}: {self.words}")
        return line[len(beginning) + 1 :]

    def tell(self, line):
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()

    def ended(self):
        """Waits for its end, and returns its exit code."""
        try:
            self.process.stdin.close()
            return self.process.wait(PATIENCE_S)
        finally:
            self.kill()

    def signal(self, number):
        """Sends a signal, and waits for the end."""
        self.process.send_signal(number)
        return self.ended()

    def kill_after(self, timeout_s):
        """Kills it unless it ends in this time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout_s)
        self.kill()

    def kill(self):
        self.process.kill()  # does nothing once the end was waited for
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


def serve_words(store, folder):
    """Returns the words that start a daemon, which loads a folder as the dataset of the trainers."""
    return [LARDER, "serve", "--store", store, "--load", "training=" + folder]


def daemon(store, folder):
    """Starts a daemon, and waits until it has loaded."""
    child = Child(serve_words(store, folder))
    try:
        while not child.line().startswith("Done caching."):
            pass
        return child
    except BaseException:
        child.process.terminate()  # lets it clean up
        child.kill_after(PATIENCE_S)
        raise


def crowd(work, count, *words, start="fork", context=multiprocessing):
    """Runs work(meet, number, *words) in so many processes, and `meet` waits for all of them; returns their results. All live until all have one."""
    context = context.get_context(start)
    there, over, found = context.Barrier(count), context.Barrier(count + 1), context.SimpleQueue()
    members = [context.Process(target=_member, args=(work, number, there, over, found, words)) for number in range(count)]
    results = []
    try:
        for member in members:
            member.start()
        while len(results) < count:
            if not found.empty():
                results.append(found.get())
            elif any(member.exitcode for member in members):
                raise ChildProcessError(f"a process failed: start={start} exitCodes={[member.exitcode for member in members]}")
            else:
                time.sleep(0.01)
        over.wait(PATIENCE_S)
        return results
    finally:
        for member in members:
            if member.pid:
                if len(results) < count:
                    member.kill()
                member.join(PATIENCE_S)


def _member(work, number, there, over, found, words):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    found.put(work(lambda: there.wait(PATIENCE_S), number, *words))
    over.wait(PATIENCE_S)


@contextlib.contextmanager
def interruptible():
    """Lets SIGINT, SIGTERM and SIGHUP end the body of `with` through every `finally`; only the first of them counts."""

    def interrupt(number, _):
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        received.append(number)
        raise KeyboardInterrupt

    received = []
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for each in signals:
        signal.signal(each, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        number = signal.Signals(received[0])
        print(f"interrupted: {number.name}", file=sys.stderr)
        sys.exit(128 + number)


def meminfo():
    """Returns /proc/meminfo as a dict of bytes."""
    with open("/proc/meminfo") as file:
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file}


def available():
    return meminfo()["MemAvailable"]


def load_average():
    with open("/proc/loadavg") as file:
        return " ".join(file.read().split()[:3])


def mappings(pid):
    """Yields path ("" if there is none), length and PSS of each mapping of a process, both in bytes."""
    path = length = None
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            words = line.split(None, 5)
            if not words[0].endswith(":"):
                begin, end = (int(part, 16) for part in words[0].split("-"))
                path, length = (words[5].strip() if len(words) > 5 else ""), end - begin
            elif words[0] == "Pss:":
                yield path, length, int(words[1]) * 1024


def anonymous_bytes(pid):
    """Returns the resident memory that belongs to no file; 0 if the process is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return 0


def files(folder):
    """Yields the status of each file below a folder."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                yield os.lstat(os.path.join(parent, name))


def stored(folder):
    """Returns how much memory the files below a folder take."""
    return sum(file.st_blocks for file in files(folder)) * 512


def below(pids):
    """Returns the ids of all processes below these."""
    started = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/stat") as file:
            started.setdefault(int(file.read().rpartition(")")[2].split()[1]), []).append(int(pid))
    found, left = [], list(pids)
    while left:
        left = [child for pid in left for child in started.get(pid, ())]
        found += left
    return found


def processor_s():
    """Returns the processor time of this process and of those below it that run. Fast enough to be called between measurements."""
    ticks, left = 0, [os.getpid()]
    while left:
        pid = left.pop()
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    left += map(int, file.read().split())
            if pid != os.getpid():
                with open(f"/proc/{pid}/stat") as file:
                    ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


def adopt_orphans():
    """Makes orphans children of this process, so that it can end them."""
    subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(subreaper, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def end_orphans():
    """Kills all processes below this one."""
    while left := below([os.getpid()]):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):  # not ours yet
                os.waitpid(pid, 0)


def nameless_files(pids):
    """Returns paths to the files in memory that programs have open and that have no name any more; each file once."""
    found = {}
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):
            for number in os.listdir(folder):
                path = os.path.join(folder, number)
                with contextlib.suppress(FileNotFoundError):
                    name = os.readlink(path)
                    if name.startswith(("/dev/shm/", "/memfd:")) and name.endswith(" (deleted)"):
                        file = os.stat(path)
                        found.setdefault((file.st_dev, file.st_ino), path)
    return list(found.values())


def allocated(path):
    """Returns how much memory a file takes; 0 if it is gone."""
    try:
        return os.stat(path).st_blocks * 512
    except (FileNotFoundError, ProcessLookupError):
        return 0


class PeakMemory:
    """Samples every few milliseconds how far the machine's available memory falls, and the memory of programs and files.

    The first includes other programs. The second is RssAnon of the named programs and of all processes below them, and the bytes of files
    below a folder and of the files in memory that the programs unlinked.
    """

    INTERVAL_S = 0.02
    LOOKS_EVERY = 12  # samples, for other programs and files

    def __init__(self, folder):
        self.folder = folder
        self.pids = set()
        self.drop = self.own = 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self.before = available()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join(PATIENCE_S)

    def _sample(self):
        started, nameless = [], []
        for count in itertools.count():
            if self.done.wait(self.INTERVAL_S):
                return
            pids = list(self.pids)
            if count % self.LOOKS_EVERY == 0:
                started = below(pids)
                nameless = nameless_files({*pids, *started})
            self.drop = max(self.drop, self.before - available())
            self.own = max(self.own, sum(map(anonymous_bytes, {*pids, *started})) + stored(self.folder) + sum(map(allocated, nameless)))
