"""Compares made-up reports."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 2, "main", "python", "whole")
BENCH = os.path.realpath(os.path.join(MAIN, *[".."] * 5, "ops", "bench"))
MACHINE = {"processor": "P", "cores": 2, "java": "17", "commit": "abc"}


def figure(key, value, ratio=None, spread=0.01, less_is_better=False, what="w"):
    return {"key": key, "what": what, "value": value, "ratio": ratio, "spread": spread, "less_is_better": less_is_better, "unit": "ms"}


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def report(self, name, *figures, machine=None):
        folder = os.path.join(self.folder.name, name)
        os.mkdir(folder)
        with open(os.path.join(folder, "figures.json"), "w") as file:
            json.dump({"machine": machine or MACHINE, "figures": figures}, file)
        return folder

    def compare(self, *arguments):
        return subprocess.run([sys.executable, os.path.join(MAIN, "compare.py"), *arguments], capture_output=True, text=True)

    def test_a_ratio_that_falls_beyond_tolerance_and_spread_fails(self):
        old = self.report("old", figure("a", 10, ratio=4.0), figure("b", 10, ratio=2.0, spread=0.1))
        new = self.report("new", figure("a", 10, ratio=4.1), figure("b", 10, ratio=1.4, spread=0.1))
        done = self.compare(old, new)
        self.assertEqual(done.returncode, 1)
        self.assertIn("| a | 4.00× | 4.10× | 1.02 | the same |", done.stdout)
        self.assertIn("| b | 2.00× | 1.40× | 0.70 | **worse** |", done.stdout)
        self.assertIn("1 figures are worse or gone", done.stderr)

    def test_what_differs_by_less_than_its_spread_is_the_same(self):
        old = self.report("old", figure("a", 10, ratio=2.0, spread=0.45))
        new = self.report("new", figure("a", 10, ratio=1.4))
        self.assertEqual(self.compare(old, new).returncode, 0)

    def test_values_are_compared_on_one_kind_of_machine_alone(self):
        ratio, slower = figure("a", 1, ratio=2.0), figure("time", 20, less_is_better=True)
        old = self.report("old", figure("time", 10, less_is_better=True), ratio)
        self.assertEqual(self.compare(old, self.report("same", slower, ratio)).returncode, 1)
        other = self.compare(old, self.report("other", slower, ratio, machine=MACHINE | {"cores": 8}))
        self.assertEqual(other.returncode, 0)
        self.assertIn("not compared: another machine", other.stdout)

    def test_what_was_not_repeated_has_more_room(self):
        old = self.report("old", figure("a", 1, ratio=1.4, spread=None))
        self.assertEqual(self.compare(old, self.report("near", figure("a", 1, ratio=1.0, spread=None))).returncode, 0)
        self.assertEqual(self.compare(old, self.report("one", figure("a", 1, ratio=1.0, spread=0.01))).returncode, 0)
        self.assertEqual(self.compare(old, self.report("far", figure("a", 1, ratio=0.9, spread=None))).returncode, 1)

    def test_repetitions_that_do_not_differ_at_all_have_no_more_room_than_the_tolerance(self):
        old, new = self.report("old", figure("a", 1, ratio=1.4, spread=0.0)), self.report("new", figure("a", 1, ratio=1.0, spread=0.0))
        self.assertEqual(self.compare(old, new).returncode, 1)

    def test_a_figure_that_was_disturbed_in_either_run_is_not_compared(self):
        good, bad, other = figure("a", 1, ratio=8.0), figure("a", 1, ratio=1.0, spread=0.6), figure("b", 1, ratio=1.0)
        calm, disturbed = self.report("calm", good, other), self.report("disturbed", bad, other)
        for pair in (calm, disturbed), (disturbed, calm):
            done = self.compare(*pair)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\| a \| \S+ \| \S+ \|  \| not measured \|")

    def test_a_peer_that_only_some_machines_have_may_be_gone(self):
        old = self.report("old", figure("loader.torch.samples.0", 1, ratio=2.0), figure("collectives.gloo", 1, ratio=2.0),
                          figure("day.remote.all.ray", 1, ratio=2.0), figure("b", 1))
        done = self.compare(old, self.report("new", figure("b", 1)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| loader.torch.samples.0 | 2.00× |  |  | not there |", done.stdout)

    def test_a_figure_that_another_one_has_replaced_is_not_gone(self):
        old = self.report("old", figure("gather.784", 1, ratio=2.0), figure("b", 1))
        done = self.compare(old, self.report("new", figure("gather.small.784", 1, ratio=1.0), figure("b", 1)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| gather.784 | 2.00× |  |  | not compared: now gather.small.784 |", done.stdout)
        self.assertEqual(self.compare(old, self.report("none", figure("b", 1))).returncode, 1)

    def test_figures_of_another_size_are_not_compared(self):
        old = self.report("old", figure("a", 1, ratio=4.0, what="of 1,000 arrays"), figure("b", 1))
        done = self.compare(old, self.report("quick", figure("a", 1, ratio=1.0, what="of 10 arrays"), figure("b", 1)))
        self.assertEqual(done.returncode, 0)
        self.assertIn("not compared: of another size", done.stdout)

    def test_a_number_of_another_unit_is_another_size(self):
        old = self.report("old", figure("a", 1, ratio=4.0, what="send 4 KiB"), figure("b", 1, what="send 4 KiB"))
        done = self.compare(old, self.report("new", figure("a", 1, ratio=1.0, what="send 4 MiB"), figure("b", 1, what="4 KiB, sent")))
        self.assertIn("| a | 4.00× | 1.00× |  | not compared: of another size |", done.stdout)
        self.assertIn("| b | 1 ms | 1 ms | 1.00 | the same |", done.stdout)

    def test_figures_that_are_described_in_other_words_are_compared(self):
        old = self.report("old", figure("a", 1, ratio=2.0, what="load 1,000 files, huge=never"))
        done = self.compare(old, self.report("new", figure("a", 1, ratio=1.0, what="files loaded: 1,000, tmpfs huge=never")))
        self.assertEqual(done.returncode, 1)
        self.assertIn("| a | 2.00× | 1.00× |", done.stdout)

    def test_a_value_of_nothing_is_not_compared(self):
        old = self.report("old", figure("a", 0), figure("b", 1))
        done = self.compare(old, self.report("new", figure("a", 5), figure("b", 1)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not compared: nothing to divide by", done.stdout)

    def test_reports_of_which_nothing_can_be_compared_fail(self):
        old = self.report("old", figure("a", 1, what="of 1,000 arrays"))
        done = self.compare(old, self.report("new", figure("a", 1, what="of 10 arrays")))
        self.assertEqual(done.returncode, 1)
        self.assertIn("no figure of one can be compared with one of the other", done.stderr)

    def test_folders_are_meant_from_where_the_caller_is(self):
        self.report("old", figure("a", 1, ratio=2.0))
        self.report("the new", figure("a", 1, ratio=1.0))
        for words, exit_code in (("old", "the new"), 1), (("--tolerance", "300", "old", "the new"), 0), (("old", "--tolerance", "300", "the new"), 0):
            done = subprocess.run([BENCH, "--compare", *words], cwd=self.folder.name, capture_output=True, text=True)
            self.assertEqual(done.returncode, exit_code, done.stderr)

    def test_a_figure_that_is_gone_fails_and_a_new_one_does_not(self):
        old, new = self.report("old", figure("a", 1, ratio=2.0)), self.report("new", figure("b", 1, ratio=2.0))
        done = self.compare(old, new)
        self.assertEqual(done.returncode, 1)
        self.assertIn("| a | 2.00× |  |  | gone |", done.stdout)
        self.assertIn("| b |  | 2.00× |  | new |", done.stdout)

    def test_a_quick_report_is_compared_with_its_like_alone(self):
        quick = self.report("quick", figure("a", 1, ratio=2.0), machine=MACHINE | {"pace": "quick"})
        again = self.report("again", figure("a", 1, ratio=2.0), machine=MACHINE | {"pace": "quick"})
        whole = self.report("whole", figure("a", 1, ratio=2.0), machine=MACHINE | {"pace": "short"})
        self.assertEqual(self.compare(quick, again).returncode, 0)
        for pair in (quick, whole), (whole, quick):
            done = self.compare(*pair)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"quick={quick} whole={whole}; compare two of a kind", done.stderr)

    def test_a_folder_without_a_report_is_named(self):
        done = self.compare("/nowhere", "/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ops/bench: no report: folder=/nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main()
