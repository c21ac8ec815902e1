"""Tests of ops/test --long all: its interruptions, and the table that it prints."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LIB = os.path.dirname(os.path.abspath(__file__))
DEADLINE_S = 60
# The long tests of these tests: each notes that it ran, and "waits" never ends.
PROGRAM = """#!/usr/bin/env bash
exec {lock}>.larder/test.lock
flock -n "$lock" || { echo "larder: another ops/test runs in this checkout"; exit 1; }
shift
echo "$*" >>"$RAN"
case $1 in
  fails) [[ -e $RAN.mended ]] || { printf '%s\\n' "FAILED: a.OneTest.itFails" "FAILED: two" "1 passed, 2 failed, 0 skipped"; exit 1; } ;;
  cannot) printf '%s\\n' "skipped: jobs" "         because no slurmctld" "0 passed, 0 failed, 1 skipped"; exit ;;
  partly) printf '%s\\n' "skipped: one" "         because it needs root" "5 passed, 0 failed, 1 skipped"; exit ;;
  waits) trap 'rm "$RAN.pid"; exit 143' TERM; echo $$ >"$RAN.pid"; while :; do sleep 0.05; done ;;
  edits) echo more >>file ;;
  dies) kill -KILL $$ ;;
  is-silent) exit ;;
esac
echo "1 passed, 0 failed, 0 skipped"
"""


class LongAllTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="larder long ")
        self.addCleanup(folder.cleanup)
        self.checkout = os.path.join(folder.name, "checkout")
        self.ran = os.path.join(folder.name, "ran")
        os.mkdir(self.checkout)
        self.write("program", PROGRAM)
        os.chmod(os.path.join(self.checkout, "program"), 0o755)
        self.write("file", "one")
        self.write(".gitignore", ".larder/\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.checkout, check=True, stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "a commit")

    def write(self, name, text):
        with open(os.path.join(self.checkout, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, *words):
        process = subprocess.Popen([sys.executable, "-B", os.path.join(LIB, "long_all.py"), *words], cwd=self.checkout, text=True,
                                   env=os.environ | {"RAN": self.ran}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def ended(self, *parts, options=()):
        """Returns the exit code, and the rows of the table without commit and seconds."""
        process = self.start(*options, "./program", *parts)
        printed, _ = process.communicate(timeout=DEADLINE_S)
        return process.returncode, [self.cells(line) for line in printed.splitlines()[-len(parts):]]

    @staticmethod
    def cells(line):
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        return cells if cells[-1] == "not run" else [cells[0], *cells[2:3], *cells[4:]]

    def runs(self):
        with contextlib.suppress(FileNotFoundError), open(self.ran, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]
        return []

    def until(self, condition):
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_a_part_that_passed_is_not_run_again_and_one_that_failed_is(self):
        self.assertEqual(self.ended("works --times 3", "fails", "cannot"), (1, [
            ["works --times 3", "passed"], ["fails", "failed", "a.OneTest.itFails; and 1 more"], ["cannot", "skipped", "no slurmctld"]]))
        open(self.ran + ".mended", "w", encoding="utf-8").close()

        self.assertEqual(self.ended("works --times 3", "fails")[0], 0)

        self.assertEqual(self.runs(), ["works --times 3", "fails", "cannot", "fails"])

    def test_what_passed_runs_again_once_any_file_has_changed_and_not_for_a_commit_of_the_same_files(self):
        self.ended("works")
        self.commit()
        self.ended("works")
        self.write("new", "a file that git does not have yet")
        self.ended("works")
        self.commit()
        self.assertEqual(self.ended("works"), (0, [["works", "passed"]]))

        self.assertEqual(self.runs(), ["works"] * 2)

    def test_a_page_may_change_without_another_run(self):
        self.ended("works")
        self.write("PAGE.md", "a page that is new")
        self.ended("works")
        os.mkdir(os.path.join(self.checkout, "docs"))
        self.write("docs/PAGE.md", "another")
        self.commit()
        self.write("docs/PAGE.md", "and changed")
        self.assertEqual(self.ended("works"), (0, [["works", "passed"]]))

        self.assertEqual(self.runs(), ["works"])

    def test_a_part_that_passed_says_what_it_skipped(self):
        self.assertEqual(self.ended("partly"), (0, [["partly", "passed", "1 skipped, the first because it needs root"]]))

    def test_a_part_that_changes_files_dies_or_says_nothing_has_not_passed(self):
        self.assertEqual(self.ended("edits", "dies", "is-silent"), (1, [
            ["edits", "not run"], ["dies", "failed", "killed by signal 9"], ["is-silent", "failed", "it printed nothing"]]))

    def test_a_run_that_is_killed_loses_only_the_part_that_ran(self):
        process = self.start("./program", "works", "waits", "last")
        self.until(lambda: os.path.exists(self.ran + ".pid"))

        process.kill()
        process.wait(DEADLINE_S)
        self.until(lambda: not os.path.exists(self.ran + ".pid"))  # it has cleaned up

        self.assertEqual(self.ended("works", "last"), (0, [["works", "passed"], ["last", "passed"]]))
        self.assertEqual(self.runs(), ["works", "waits", "last"])

    def test_a_line_that_was_cut_short_is_not_a_result(self):
        self.ended("works")
        path = os.path.join(self.checkout, ".larder/long-tests.tsv")
        os.truncate(path, os.path.getsize(path) - 1)

        self.ended("works")

        self.assertEqual(self.ended("works", options=["--table"]), (0, [["works", "passed"]]))
        self.assertEqual(self.runs(), ["works"] * 2)

    def test_an_interrupted_run_ends_its_part_and_prints_the_table(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = self.start("./program", "waits", "last")
                self.until(lambda: os.path.exists(self.ran + ".pid"))
                process.send_signal(number)
                printed, _ = process.communicate(timeout=DEADLINE_S)
                self.assertEqual((process.returncode, os.path.exists(self.ran + ".pid")), (128 + number, False))
                self.assertEqual([self.cells(line) for line in printed.splitlines()[-2:]], [["waits", "not run"], ["last", "not run"]])

    def test_a_second_run_beside_it_is_refused(self):
        first = self.start("./program", "waits")
        self.until(lambda: os.path.exists(self.ran + ".pid"))
        second = self.start("./program", "works")
        printed, _ = second.communicate(timeout=DEADLINE_S)
        self.assertEqual(second.returncode, 1)
        self.assertIn("larder: another ops/test --long all runs in this checkout", printed)
        first.terminate()
        first.communicate(timeout=DEADLINE_S)

    def test_only_the_parts_that_are_named_run(self):
        self.assertEqual(self.ended("works", "fails", "last", options=["--only", "works", "--only", "last", "--"]), (0, [
            ["works", "passed"], ["fails", "not run"], ["last", "passed"]]))

    def test_every_part_is_a_long_test(self):
        script = 'source "$1/long-tests"; for part in "${parts_of_all[@]}"; do is_long_test "${part%% *}" || echo "$part"; done'
        unknown = subprocess.run(["bash", "-c", script, "bash", LIB], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(unknown, "")


if __name__ == "__main__":
    unittest.main()
