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
import many_files

PATIENCE_S = 60
# It writes down what it is asked, and fails at the words in $FAILS.
COMMAND = """#!/bin/sh
echo "$1" >>"$ASKED"
case " $FAILS " in *" $1 "*) exit 3 ;; esac
"""
# It cleans up for as long as its standard input is open.
PROGRAM = """
import sys
import crew
crew.let_sigterm_clean_up()
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
        program = subprocess.Popen([sys.executable, "-B", "-c", PROGRAM], cwd=SOAK, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "begun\n")
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.stdout.readline(), "cleaning\n")
        program.send_signal(signal.SIGTERM)
        said, _ = program.communicate("\n", timeout=PATIENCE_S)
        self.assertEqual((said, program.returncode), ("cleaned\n", 143))


class ManyFilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.asked = os.path.join(folder.name, "asked")
        command = os.path.join(folder.name, "larder")
        with open(command, "w") as file:
            file.write(COMMAND)
        os.chmod(command, 0o755)
        for patch in mock.patch.object(many_files, "LARDER", command), mock.patch.dict(os.environ, {"ASKED": self.asked}):
            patch.start()
            self.addCleanup(patch.stop)

    def fails(self, words):
        with mock.patch.dict(os.environ, {"FAILS": words}), self.assertRaises(subprocess.CalledProcessError) as caught:
            many_files.Larder("/dev/shm/larder-none", "")
        with open(self.asked) as file:
            return caught.exception.cmd[1], file.read().split()

    def test_a_daemon_that_cannot_be_asked_is_stopped(self):
        self.assertEqual(self.fails("status"), ("status", ["serve", "status", "stop"]))

    def test_a_stop_that_fails_too_hides_nothing(self):
        with mock.patch("sys.stderr") as err:
            self.assertEqual(self.fails("status stop"), ("status", ["serve", "status", "stop"]))
        self.assertIn("cannot stop the daemon: store=/dev/shm/larder-none", "".join(call.args[0] for call in err.write.call_args_list))


if __name__ == "__main__":
    unittest.main()
