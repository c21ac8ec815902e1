"""Tests of daemons that programs start, with a fake command that starts a fake daemon."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from test_larder import HERE, larder, room

FAKE_COMMAND = f"""#!{sys.executable}
import os, subprocess, sys, time
store = sys.argv[sys.argv.index("--store") + 1]
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if os.environ.get("FAKE_BUILDS"):
    print("larder: building (once, the last build took 90 s; log: build.log)", file=sys.stderr, flush=True)
    with open(os.environ["FAKE_BUILDS"]) as built:
        built.read()
if os.environ.get("FAKE_FAILS"):
    sys.exit("larder: no java found; install JDK 17 or later")
os.makedirs(store, exist_ok=True)
time.sleep(0.5)  # as a JVM does
try:
    os.close(os.open(os.path.join(store, "owner"), os.O_CREAT | os.O_EXCL))
except FileExistsError:
    print("larder: another daemon owns the store: store=" + store, file=sys.stderr)
    sys.exit(7)
with open(os.environ["FAKE_LIFE"]) as life:
    daemon = subprocess.Popen([sys.executable, {os.path.join(HERE, "fake_daemon.py")!r}, store], stdin=life, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, start_new_session=True)
    daemon.stdout.readline()
os._exit(0)
"""
PROGRAM = "import larder, sys, time; time.sleep(max(0, float(sys.argv[1]) - time.time())); print(larder.cache('x', lambda: list(range(9))).sum())"


class ServeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="larder-test-" + os.environ.get("LARDER_TEST_RUN", "python") + "-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.folder)
        self.store, self.log, life = (os.path.join(self.folder, name) for name in ("store", "log", "life"))
        command = os.path.join(self.folder, "larder")
        with open(command, "w") as file:
            file.write(FAKE_COMMAND)
        os.chmod(command, 0o700)
        os.mkfifo(life)
        self.life = os.open(life, os.O_RDWR)  # the daemon's standard input ends with this
        self.environment = {"FAKE_LOG": self.log, "FAKE_LIFE": life, "LARDER_COMMAND": command, "LARDER_STORE": self.store, "LARDER_START": ""}
        patched = mock.patch.dict(os.environ, self.environment)
        patched.start()
        self.addCleanup(patched.stop)
        self.addCleanup(self.end_daemon)

    def end_daemon(self):
        os.close(self.life)
        end = time.monotonic() + 60
        while room("_store")._has_daemon(self.store) and time.monotonic() < end:
            time.sleep(0.01)

    def started(self):
        with open(self.log) as log:
            return log.read().splitlines()

    def program(self, begin=0.0, **environment):
        return subprocess.Popen([sys.executable, "-c", PROGRAM, str(begin)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                env={**os.environ, "PYTHONPATH": os.environ.get("LARDER_PYTHON", HERE), **environment})

    def test_the_first_call_starts_a_daemon_and_says_so(self):
        out, err = self.program().communicate()

        self.assertEqual((out, err), ("36\n", f"larder: started a daemon: store={self.store} untilIdle=10m; LARDER_START=never forbids it\n"))
        self.assertEqual(self.started(), [f"serve --detach --until-idle 10m --store {self.store}"])
        self.assertEqual(self.program().communicate(), ("36\n", ""))
        self.assertEqual(len(self.started()), 1)

    def test_eight_first_calls_at_once_start_one_daemon(self):
        begin = time.time() + 1
        programs = [self.program(begin) for _ in range(8)]
        ended = [program.communicate() for program in programs]

        self.assertEqual([out for out, _ in ended], ["36\n"] * 8)
        self.assertEqual(len(self.started()), 1)
        self.assertEqual(sum(len(err.splitlines()) for _, err in ended), 1)

    def test_who_starts_one_beside_another_program_goes_on_with_its_daemon(self):
        other = subprocess.Popen([self.environment["LARDER_COMMAND"], "serve", "--store", self.store])

        self.assertEqual(self.program().communicate()[0], "36\n")
        self.assertIn(other.wait(), (0, 7))

    def test_one_that_dies_while_it_starts_a_daemon_leaves_that_to_the_next(self):
        os.mkdir(self.store, 0o700)
        lock = os.open(os.path.join(self.store, "daemon.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        self.assertTrue(room("_serve")._lock_byte(lock, fcntl.F_WRLCK, 0))
        program = self.program()
        with self.assertRaises(subprocess.TimeoutExpired):
            program.wait(1)
        os.close(lock)

        self.assertEqual(program.communicate()[0], "36\n")

    def test_none_is_started_if_that_is_forbidden_or_the_store_is_another_users(self):
        with mock.patch.dict(os.environ, LARDER_START="never"):
            for call in (lambda: larder.cache("x", dict), lambda: larder.load("x", "/x"), lambda: larder.create("x"),
                         lambda: larder.rows("x", "d", abs, dtype="u1", version=1), lambda: larder.feed("x", ["a"])):
                with self.assertRaisesRegex(larder.NoStore, r"no daemon at the store: .*start a daemon: larder.serve\(\), larder.load"):
                    call()
        os.mkdir(self.store)
        with mock.patch("os.getuid", return_value=4711), self.assertRaises(larder.Refused):
            larder.cache("x", dict)
        self.assertFalse(os.path.exists(self.log))

    def test_a_value_in_place_of_a_function_starts_none(self):
        for call in (lambda: larder.cache("x", 5), lambda: larder.cached("x"), lambda: larder.cached(5, version=1),
                     lambda: larder.rows("x", "d", 5, dtype="u1", version=1)):
            with self.assertRaisesRegex(TypeError, "^not a function: .*found=(int|str); (give a|write @)"):
                call()
        self.assertFalse(os.path.exists(self.log))

    def test_reading_starts_none(self):
        for call in lambda: larder.dataset("x"), lambda: larder.wait("x", 0.1), larder.status, larder.ls, lambda: larder.evict("x"):
            with self.assertRaises(larder.NoStore):
                call()
        self.assertFalse(os.path.exists(self.log))

    def test_one_that_cannot_be_started_is_an_error_and_leaves_nothing(self):
        with mock.patch.dict(os.environ, FAKE_FAILS="1"):
            with self.assertRaisesRegex(larder.RequestFailed, "^no java found; install JDK 17 or later$"):
                larder.cache("x", dict)
        self.assertFalse(os.path.exists(self.store))
        words = f"^no daemon at the store, and no larder command to start one: store={self.store} command=/nowhere; put larder on the PATH, or name it with"
        with mock.patch.dict(os.environ, LARDER_COMMAND="/nowhere"), self.assertRaisesRegex(larder.NoStore, words):
            larder.cache("x", dict)
        self.assertFalse(os.path.exists(self.store))

    def test_a_checkout_that_is_built_first_says_so_meanwhile(self):
        built = os.path.join(self.folder, "built")
        os.mkfifo(built)
        with mock.patch.dict(os.environ, FAKE_BUILDS=built):
            program = subprocess.Popen([sys.executable, "-c", PROGRAM, "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", cwd=HERE)

        self.assertEqual(program.stderr.readline(), "larder: building (once, the last build took 90 s; log: build.log)\n")
        with open(built, "w"):
            pass
        self.assertEqual(program.communicate()[0], "36\n")

    def test_serve_passes_its_options_and_returns_the_store(self):
        found = larder.serve(self.store, until_idle=None, capacity="8g", keep=True, group=None, load=["a=/x", "b=/y"], http=0, verify=False)

        self.assertEqual(found, self.store)
        self.assertEqual(self.started(), [f"serve --detach --capacity 8g --keep --load a=/x --load b=/y --http 0 --store {self.store}"])
        with self.assertRaisesRegex(larder.Refused, "another daemon owns the store"):
            larder.serve()


if __name__ == "__main__":
    unittest.main()
