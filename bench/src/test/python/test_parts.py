"""What the parts of ops/bench share, and what runs them one after the other, with a part that measures nothing."""
import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4))
PATIENCE_S = 60

# It has measured one of its rows; then it does what $THEN says. What it makes in shared memory is a fake, too.
PART = """#!/usr/bin/env bash
set -euo pipefail
cd "$ROOT"
source bench/src/main/sh/common
prefer_java() { :; }
java() { echo 'version "17"' >&2; }
part=$1
shift
options "$@"
tables() {
  echo "rows: $(wc -l <"$work/rows.jsonl")"
}
tidy() { rm -r "$beside"; }
prepare
store=$TMPDIR/store beside="$TMPDIR/be side $$"
mkdir "$beside"
echo '{"row": 1}' >"$work/rows.jsonl"
: >"$work/begun.json"
eval "$THEN"
echo '{"row": 2}' >>"$work/rows.jsonl"
report
"""
# What whole does with the parts that it names.
RUNNER = """#!/usr/bin/env bash
set -euo pipefail
keep=$1 quick=(--quick) ended='' running=''
cd "$2"
eval "$(sed -n '/^trap /p; /^end() {/,/^}/p; /^run() {/,/^}/p' "$ROOT/bench/src/main/sh/whole")"
for part in one two; do
  [ -z "$ended" ] || break
  run "$part"
done
echo "ended: $ended"
"""
WAIT = """echo "here: $pace" >&2; sh -c 'echo >"$TMPDIR/waits"; exec tail -f /dev/null'"""


def alive(word):
    """Returns the ids of processes that have been told to use this folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ") as file:
            found += [pid] if word in file.read() else []
    return found


def default_signals():
    """Undoes what a script that starts the tests with & or nohup leaves to all its processes: that some signals are ignored."""
    for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)


class PartsCase(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(os.path.realpath(tempfile.mkdtemp()), "with space")
        self.addCleanup(shutil.rmtree, os.path.dirname(self.folder))
        self.temporary, self.keep = os.path.join(self.folder, "tmp"), os.path.join(self.folder, "kept")
        os.makedirs(self.temporary)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def start(self, words, then):
        names = os.environ | {"ROOT": ROOT, "TMPDIR": self.temporary, "LARDER_BENCH_BUILT": "1", "THEN": then}
        process = subprocess.Popen(words, env=names, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   preexec_fn=default_signals)
        self.addCleanup(process.communicate)
        self.addCleanup(self.kill, process)
        return process

    def kill(self, process):
        """Kills it with all that it has started, in whatever group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        while left := alive("TMPDIR=" + self.temporary):
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def end_when_it_waits(self, process, number, end=os.kill):
        self.until(lambda: os.path.exists(os.path.join(self.temporary, "waits")))
        os.remove(os.path.join(self.temporary, "waits"))
        end(process.pid, number)
        return process.communicate(timeout=PATIENCE_S)

    def kept(self, *path):
        with open(os.path.join(self.keep, *path)) as file:
            return file.read()

    def assert_nothing_left(self):
        self.until(lambda: not alive("TMPDIR=" + self.temporary))
        self.assertEqual(os.listdir(self.temporary), [])


class BuildTest(PartsCase):
    """Whether Maven is asked, in a checkout that has one source of each kind."""

    def setUp(self):
        super().setUp()
        for name in "java-flags", "build-dist", "launcher":
            self.link(f"ops/{name}")
        self.link("bench/src/main/sh/common")
        self.source, self.test = self.write("root/cache-server/src/main/java/A.java", ""), self.write("root/cache-client/src/test/java/T.java", "")
        for name in "pom.xml", "bench/pom.xml", "bench/src/main/java/B.java", "bench/src/main/resources/logback.xml", "loader/pom.xml":
            self.write(f"root/{name}", "")
        self.write("bin/mvn", "#!/bin/sh\nmkdir -p bench/target\nexit $MAVEN_ENDS\n")

    def link(self, name):
        path = os.path.join(self.folder, "root", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.path.join(ROOT, name), path)

    def built(self, ends=0):
        """Tells whether Maven was asked, which then ended so."""
        traced = subprocess.run(
            ["bash", "-c", "set -euo pipefail; source bench/src/main/sh/common; set -x; build"], cwd=os.path.join(self.folder, "root"),
            env=os.environ | {"PATH": os.path.join(self.folder, "bin") + ":" + os.environ["PATH"], "MAVEN_ENDS": str(ends)},
            capture_output=True, text=True,
        )
        asked = "+ mvn " in traced.stderr
        self.assertEqual(traced.returncode, ends if asked else 0, traced.stderr)
        return asked

    def test_it_builds_once(self):
        self.assertEqual([self.built(), self.built()], [True, False])

    def test_it_builds_again_where_a_source_has_changed_come_or_gone(self):
        self.built()
        os.utime(self.source, (0, 0))  # older, too
        self.assertEqual([self.built(), self.built()], [True, False])
        os.remove(self.test)
        self.assertEqual([self.built(), self.built()], [True, False])
        self.write("root/bench/src/main/resources/more.xml", "")
        self.assertEqual([self.built(), self.built()], [True, False])
        self.write("root/bench/results/today/report.md", "")
        self.assertFalse(self.built())

    def test_it_builds_again_where_that_failed(self):
        self.built()
        self.write("root/pom.xml", "<!-- wrong -->")
        self.assertEqual([self.built(ends=1), self.built(ends=1), self.built(), self.built()], [True, True, True, False])


class PythonWithTest(PartsCase):
    def found(self, *modules):
        """Returns what a script with `set -e` prints of the python3 that has some modules; it must go on where none has."""
        done = subprocess.run(
            ["bash", "-c", "set -euo pipefail; source bench/src/main/sh/common; found=${UNSET:-$(python_with \"$@\")}; echo \"found: $found\"", "-", *modules],
            cwd=ROOT, env={name: value for name, value in os.environ.items() if name != "UNSET"}, capture_output=True, text=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_a_script_goes_on_where_no_python_has_a_module(self):
        self.assertEqual(self.found("json", "no_such_module"), "found: \n")

    def test_the_first_python_that_has_all_modules_is_taken(self):
        self.assertEqual(self.found("json", "os"), "found: python3\n")


class PartTest(PartsCase):
    def part(self, then):
        return self.start([self.write("part", PART), "fake", "--quick", "--keep", self.keep], then)

    def test_a_part_keeps_its_rows_and_its_tables(self):
        said, _ = self.part(":").communicate(timeout=PATIENCE_S)
        self.assertRegex(said, r"java 17, .*\n\nrows: 2\n$")
        self.assertEqual((self.kept("rows.jsonl").count("\n"), self.kept("report.md")), (2, said))
        self.assert_nothing_left()

    def test_a_part_that_fails_keeps_what_it_had_measured_and_its_exit_code(self):
        process = self.part("(exit 3)")
        said, _ = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 3)
        self.assertRegex(said, r"\nrows: 1\n$")
        self.assertEqual(sorted(os.listdir(self.keep)), ["report.md", "rows.jsonl"])
        self.assert_nothing_left()

    def test_a_part_that_is_ended_leaves_nothing_but_what_it_had_measured(self):
        for number, end, code in (signal.SIGTERM, os.kill, -15), (signal.SIGHUP, os.kill, -1), (signal.SIGINT, os.killpg, 130):
            with self.subTest(number):
                process = self.part(WAIT)
                self.end_when_it_waits(process, number, end)  # Ctrl-C goes to all
                self.assertEqual(process.returncode, code)
                self.assertEqual(self.kept("rows.jsonl"), '{"row": 1}\n')
                self.assert_nothing_left()

    def test_what_does_not_end_is_killed(self):
        process = self.part("patience_s=1; bash -c 'trap \"\" TERM; echo > \"$TMPDIR/waits\"; while :; do read; done < <(tail -f /dev/null)'")
        self.end_when_it_waits(process, signal.SIGTERM)
        self.assertEqual(self.kept("report.md").splitlines()[-1], "rows: 1")
        self.until(lambda: not alive("TMPDIR=" + self.temporary))

    def test_a_table_that_cannot_be_made_fails_the_part(self):
        process = self.part("tables() { echo half; false; echo other half; }")
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, self.kept("rows.jsonl").count("\n")), (1, 2))
        self.assertNotIn("other half", self.kept("report.md"))

    def test_a_folder_that_cannot_be_is_named_before_anything_is_measured(self):
        self.keep = self.write("file", "") + "/kept"
        process = self.part(WAIT)
        _, said = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, "Not a directory" in said), (1, True))
        self.assert_nothing_left()


class WholeTest(PartsCase):
    def whole(self, then):
        self.write("root/bench/src/main/sh/part", PART)
        return self.start([self.write("runner", RUNNER), self.keep, os.path.join(self.folder, "root")], then)

    def ended(self):
        return [(row["part"], row["exitCode"]) for row in map(json.loads, self.kept("parts.jsonl").splitlines())]

    def test_parts_run_one_after_the_other_though_one_fails(self):
        _, said = self.whole('[[ $part == two ]] || { echo "no luck" >&2; exit 3; }').communicate(timeout=PATIENCE_S)
        self.assertEqual(self.ended(), [("one", 3), ("two", 0)])
        self.assertRegex(said, r"== one: \d+ s, failed: exitCode=3 log=.*/one/log\.txt\n== two: \d+ s\n")
        self.assertIn("no luck\n", self.kept("one", "log.txt"))
        self.assertFalse(os.path.exists(os.path.join(self.keep, "two", "log.txt")))

    def test_a_signal_ends_the_part_that_runs_with_all_it_has_started_and_no_other_follows(self):
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129):
            with self.subTest(number):
                said, _ = self.end_when_it_waits(self.whole(WAIT), number)
                self.assertEqual((said, self.ended()), (f"ended: {code}\n", [("one", 143)]))
                self.assertEqual(self.kept("one", "rows.jsonl"), '{"row": 1}\n')
                self.assertTrue(self.kept("one", "log.txt").startswith("here: quick\n"))
                self.assert_nothing_left()
                shutil.rmtree(self.keep)

    def test_what_a_killed_part_leaves_is_cleared_away(self):
        self.whole('[[ $part == two ]] || { mkdir "/dev/shm/larder-one-$$"; tail -f /dev/null & kill -9 $$; }').communicate(timeout=PATIENCE_S)
        self.assertEqual(self.ended(), [("one", 137), ("two", 0)])
        self.until(lambda: not alive("TMPDIR=" + self.temporary))
        self.assertEqual(glob.glob("/dev/shm/larder-one-*"), [])

    def test_a_part_that_does_not_end_is_killed_at_the_second_signal(self):
        process = self.whole("trap '' TERM; " + WAIT)
        self.until(lambda: os.path.exists(os.path.join(self.temporary, "waits")))
        process.send_signal(signal.SIGINT)
        self.assertRaises(subprocess.TimeoutExpired, process.wait, 0.2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(self.ended(), [("one", 137)])
        self.until(lambda: not alive("TMPDIR=" + self.temporary))


if __name__ == "__main__":
    unittest.main()
