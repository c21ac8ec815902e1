"""How ops/test runs its steps, and that it clears away what they leave, however it is started and ended."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
import unittest

LIB = os.path.dirname(os.path.abspath(__file__))
DEADLINE_S = 60
SCRIPT = """set -euo pipefail
source "$LIB/steps"
begin_steps
echo "run=$LARDER_TEST_RUN" >"$SAID"
{}
end_steps
"""


def running(run):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ") as file:
            found += [pid] if f"LARDER_TEST_RUN={run}\0" in file.read() else []
    return found


class StepsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="larder steps ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)

    def start(self, steps, starter=()):
        environment = os.environ | {"LIB": LIB, "SAID": os.path.join(self.folder, "said"), "TMPDIR": self.temporary}
        process = subprocess.Popen([*starter, "bash", "-c", SCRIPT.format(steps)], cwd=self.folder, env=environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def start_and_wait(self, first):
        """Starts a run whose step never ends, and returns when it is there. Signals are as in a terminal, wherever this test runs."""
        waits = os.path.join(self.folder, "waits")
        process = self.start(f"run one bash -c '{first}\n>waits; exec tail -f /dev/null'", ["env", "--default-signal=INT,TERM,HUP"])
        self.until(lambda: os.path.exists(waits))
        os.remove(waits)
        return process

    def ended(self, *words, **options):
        process = self.start(*words, **options)
        said, _ = process.communicate(timeout=DEADLINE_S)
        return process.returncode, said.splitlines()

    def run_mark(self):
        with open(os.path.join(self.folder, "said")) as file:
            return file.read().strip().partition("=")[2]

    def until(self, condition):
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def assert_nothing_left(self):
        run = self.run_mark()
        stores = [entry for place in ("/dev/shm", "/var/tmp") for entry in os.listdir(place) if run in entry]
        self.assertEqual((running(run), stores, os.listdir(self.temporary)),
                         ([], [], []))

    def test_steps_that_end_well(self):
        code, lines = self.ended('run one echo hello\nbegin beside two sh -c "echo beside"\nrun three true\nfinish beside\nskip four "no room"')
        self.assertEqual((code, lines[-1]), (0, "3 passed, 0 failed, 1 skipped"))
        self.assertEqual([line for line in lines if line in ("hello", "beside", "== one", "== two", "         because no room")],
                         ["== one", "hello", "== two", "beside", "         because no room"])
        self.assert_nothing_left()

    def test_a_step_that_fails_is_named_and_the_next_one_runs(self):
        code, lines = self.ended('run one sh -c "echo no luck; exit 3"\nrun two true')
        self.assertEqual((code, lines[-2:]), (1, ["FAILED: one: no luck", "1 passed, 1 failed, 0 skipped"]))

    def test_a_process_and_a_store_that_are_left_are_failures_and_go(self):
        code, lines = self.ended('run one bash -c "mkdir {/dev/shm,/var/tmp}/larder-test-$LARDER_TEST_RUN-1; setsid tail -f /dev/null & :"')
        self.assertEqual(code, 1)
        self.assertRegex(lines[-4], "^FAILED: clean end: still running: pid=[0-9]+ tail -f /dev/null")
        self.assertEqual(lines[-3:-1], [f"FAILED: clean end: left behind: {place}/larder-test-{self.run_mark()}-1"
                                        for place in ("/dev/shm", "/var/tmp")])
        self.assert_nothing_left()

    def test_an_interrupted_run_leaves_nothing(self):
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129):
            with self.subTest(number):
                process = self.start_and_wait("mkdir /dev/shm/larder-test-$LARDER_TEST_RUN-1; setsid tail -f /dev/null &")
                process.send_signal(number)
                process.communicate(timeout=DEADLINE_S)
                self.assertEqual(process.returncode, code)
                self.assert_nothing_left()

    def test_two_runs_in_one_checkout_are_refused(self):
        process = self.start_and_wait(":")
        code, lines = self.ended("run two true")
        self.assertEqual((code, lines[0][:37]), (1, "larder: another ops/test runs in this"))
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


if __name__ == "__main__":
    unittest.main()
