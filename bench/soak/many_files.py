"""Loads very many files through ops/larder; see many-files."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crew  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LARDER = os.path.join(ROOT, "ops", "larder")
FOLDER_FILES = 2_000
LINKS = 20_000  # ext4 allows 65,000 for one file
ROW_BYTES = 100


def make(folder, count, content, suffix):
    """Makes links in folders of some thousand, as ImageNet has them; returns the seconds."""
    begin = time.monotonic()
    os.makedirs(folder)
    first = None
    for number in range(count):
        if number % FOLDER_FILES == 0:
            inner = os.path.join(folder, "class-%05d" % (number // FOLDER_FILES))
            os.mkdir(inner)
        path = "%s/sample-%08d%s" % (inner, number, suffix)
        if number % LINKS == 0:
            first = path
            with open(path, "wb") as file:
                file.write(content)
        else:
            os.link(first, path)
    return time.monotonic() - begin


class Peak:
    """Watches the private memory of a process while another runs."""

    def __init__(self, pid):
        self.pid = pid
        self.kib = 0

    def run(self, words):
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while True:
            self.look()
            try:
                out, err = child.communicate(timeout=0.1)
                return child.returncode, out, err
            except subprocess.TimeoutExpired:
                continue

    def look(self):
        with open("/proc/%d/status" % self.pid) as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    self.kib = max(self.kib, int(line.split()[1]))


class Larder:
    def __init__(self, store, heap):
        self.store = store
        self.environment = dict(os.environ, LARDER_STORE=store)
        if heap:
            self.environment["LARDER_DAEMON_HEAP"] = heap
        self.ask("serve", "--detach")
        try:
            self.pid = json.loads(self.ask("status", "--json"))["pid"]
        except BaseException:
            self.stop_after_failure()
            raise

    def ask(self, *words):
        return subprocess.run([LARDER, *words], env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def load(self, name, folder, *options):
        """Loads, and returns the seconds and the peak of anonymous memory in MiB."""
        peak = Peak(self.pid)
        begin = time.monotonic()
        os.environ["LARDER_STORE"] = self.store
        code, _, err = peak.run([LARDER, "load", "%s=%s" % (name, folder), *options])
        if code:
            sys.exit("many-files: load failed: exit=%d\n%s" % (code, err))
        return time.monotonic() - begin, peak.kib / 1024

    def stop(self):
        self.ask("stop")

    def stop_after_failure(self):
        """Stops the daemon; reports a second failure without hiding the first."""
        try:
            self.ask("stop", "--force")
        except (OSError, subprocess.CalledProcessError) as e:
            print("many-files: cannot stop the daemon: store=%s cause=%s; larder stop --force --store %s" % (self.store, e, self.store),
                  file=sys.stderr)


def check(actual, expected, what):
    if actual != expected:
        sys.exit("many-files: %s: expected=%s actual=%s" % (what, expected, actual))


def report(what, count, made, seconds, mib):
    print("%-28s %9d files  made %6.1f s  loaded %6.1f s  %8.0f files/s  peak anonymous %6.0f MiB"
          % (what, count, made, seconds, count / seconds, mib), flush=True)


def run(options, folder, store):
    larder = Larder(store, options.heap)
    try:
        if options.files:
            made = make(folder + "/bytes", options.files, b"x" * ROW_BYTES, ".jpg")
            seconds, mib = larder.load("bytes", folder + "/bytes", "--as", "bytes")
            rows = {row["name"]: row for row in json.loads(larder.ask("ls", "--json"))}
            check(rows["bytes/files/offsets"]["shape"], [options.files + 1], "rows of bytes")
            check(rows["bytes/files/values"]["bytes"], options.files * ROW_BYTES, "bytes of values")
            report("as bytes", options.files, made, seconds, mib)
            seconds, _ = larder.load("bytes", folder + "/bytes", "--as", "bytes")
            report("as bytes again, unchanged", options.files, 0, seconds, mib)
            shutil.rmtree(folder + "/bytes")
        if options.arrays:
            made = make(folder + "/arrays", options.arrays, crew.npy(bytes(ROW_BYTES), (ROW_BYTES,)), ".npy")
            seconds, mib = larder.load("arrays", folder + "/arrays")
            check(json.loads(larder.ask("status", "--json"))["arrays"] >= options.arrays, True, "number of arrays")
            report("as arrays", options.arrays, made, seconds, mib)
        check(larder.ask("errors").strip(), "No errors.", "errors that the daemon met")
    except BaseException:
        larder.stop_after_failure()
        raise
    larder.stop()


def main():
    parser = argparse.ArgumentParser(prog="many-files")
    parser.add_argument("--files", type=int, default=2_000_000)
    parser.add_argument("--arrays", type=int, default=500_000)
    parser.add_argument("--folder", help="where the files are made (default: the temporary folder)")
    parser.add_argument("--heap", default="", help="LARDER_DAEMON_HEAP of the daemon")
    options = parser.parse_args()
    crew.let_sigterm_clean_up()
    folder = tempfile.mkdtemp(prefix="larder-many-files-", dir=options.folder)
    store = crew.store_name("many-files")
    try:
        os.mkdir(store, 0o700)
        run(options, folder, store)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(store, ignore_errors=True)


if __name__ == "__main__":
    main()
