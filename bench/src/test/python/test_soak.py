"""What the long tests in bench/soak clean up, with a command that is made up."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOAK = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "soak"))
sys.path.insert(0, SOAK)

import crew

PATIENCE_S = 60
# It serves until it is ended in order, without a store, unless it does what $THEN says.
COMMAND = """#!/bin/sh
[ "$1" = serve ] || { echo "[$LARDER_STORE]"; exit 3; }
trap 'exit 0' TERM
eval "$THEN"
echo "Done caching."
while :; do sleep 0.05; done
"""
# It cleans up for as long as its standard input is open.
PROGRAM = """
import sys
from crew import children
with children.interruptible():
    try:
        print("begun", flush=True)
        sys.stdin.readline()
    finally:
        print("cleaning", flush=True)
        sys.stdin.readline()
        print("cleaned", flush=True)
"""


class StoreNameTest(unittest.TestCase):
    def test_a_store_bears_the_mark_of_the_run_that_it_belongs_to(self):
        with mock.patch.dict(os.environ, {"LARDER_TEST_RUN": "12x34"}):
            self.assertEqual(crew.store_name("soak"), f"/dev/shm/larder-soak-12x34-{os.getpid()}")

    def test_a_store_of_no_run_has_the_number_of_its_process(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("LARDER_TEST_RUN", None)
            self.assertEqual(crew.store_name("matrix"), f"/dev/shm/larder-matrix-{os.getpid()}")


class SigtermTest(unittest.TestCase):
    def test_a_program_that_is_ended_cleans_up_whole(self):
        program = subprocess.Popen([sys.executable, "-B", "-c", PROGRAM], cwd=SOAK, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "begun\n")
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.stdout.readline(), "cleaning\n")
        program.send_signal(signal.SIGTERM)
        said, _ = program.communicate("\n", timeout=PATIENCE_S)
        self.assertEqual((said, program.returncode), ("cleaned\ninterrupted: SIGTERM\n", 143))


class ServedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.command = os.path.join(folder.name, "larder")
        with open(self.command, "w") as file:
            file.write(COMMAND)
        os.chmod(self.command, 0o755)

    def served(self, then=":"):
        return crew.Served("test", self.folder, larder=self.command, env={**os.environ, "THEN": then})

    def test_a_daemon_is_ended_in_order(self):
        with self.served() as daemon:
            self.assertTrue(crew.is_running(daemon.process.pid))

        self.assertEqual(daemon.process.returncode, 0)

    def test_a_daemon_that_does_not_start_is_an_error_with_its_output(self):
        with self.assertRaisesRegex(crew.Trouble, "no room"):
            self.served("echo no room; exit 5")

    def test_a_command_that_fails_ends_the_daemon_and_removes_its_store(self):
        with self.assertRaisesRegex(crew.Trouble, "larder ls.*actual=3 expected=0"), self.served('mkdir "$LARDER_STORE"') as daemon:
            daemon.ask("ls")

        self.assertFalse(crew.is_running(daemon.process.pid))
        self.assertFalse(os.path.exists(daemon.store))

    def test_a_store_that_a_daemon_leaves_is_an_error(self):
        daemon = self.served('mkdir "$LARDER_STORE"')
        self.addCleanup(os.rmdir, daemon.store)

        self.assertRaisesRegex(crew.Trouble, "a store is left", daemon.stop)


if __name__ == "__main__":
    unittest.main()
