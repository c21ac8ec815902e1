"""The table of mutation scores, from reports of PIT."""

import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import mutation


def mutant(status, name="a.b.Plan", line=7):
    return (
        f"<mutation detected='{str(status == 'KILLED').lower()}' status='{status}'><sourceFile>Plan.java</sourceFile>"
        f"<mutatedClass>{name}</mutatedClass><mutatedMethod>size</mutatedMethod><lineNumber>{line}</lineNumber>"
        "<description>removed call to a/b/Plan::check</description></mutation>"
    )


class MutationTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="larder mutants ")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def report(self, place, *mutants):
        folder = pathlib.Path(place, "target", "pit-reports", "set")
        folder.mkdir(parents=True)
        (folder / "mutations.xml").write_text(f"<mutations>{''.join(mutants)}</mutations>", encoding="utf-8")

    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = mutation.main(arguments)
        return code, [line.split() for line in out.getvalue().splitlines()], err.getvalue()

    def test_a_score_is_the_detected_share_of_covered_mutants(self):
        self.report("one", *[mutant("KILLED")] * 84, mutant("TIMED_OUT"), *[mutant("SURVIVED")] * 15, mutant("NO_COVERAGE"), mutant("NON_VIABLE"))
        code, rows, _ = self.run_main()
        self.assertEqual(["a.b", "100", "85", "85.0", "%", "1", "1"], rows[1])
        self.assertEqual(0, code)

    def test_one_low_package_fails_though_all_together_are_good(self):
        self.report("one", *[mutant("KILLED")] * 99)
        self.report("two/deep", *[mutant("KILLED", "a.c.Ring$Slot")] * 84, *[mutant("SURVIVED", "a.c.Ring")] * 16)
        code, rows, err = self.run_main()
        self.assertEqual(1, code)
        self.assertEqual(["a.c", "100", "84", "84.0", "%", "0", "0", "too", "low"], rows[2])
        self.assertEqual(["all", "199", "183", "92.0", "%", "0", "0"], rows[3])
        self.assertIn("packages=a.c;", err)

    def test_a_mutant_that_could_not_run_is_not_detected(self):
        self.report("one", mutant("RUN_ERROR"))
        self.assertEqual(1, self.run_main()[0])

    def test_no_report_is_a_failure(self):
        code, rows, err = self.run_main()
        self.assertEqual((1, []), (code, rows))
        self.assertIn("no mutants found", err)

    def test_survivors_have_their_line_and_change(self):
        self.report("one", mutant("SURVIVED"), mutant("KILLED"), mutant("NO_COVERAGE", line=9), mutant("SURVIVED", "a.c.Ring"))
        _, rows, _ = self.run_main("--survivors", "a.b")
        self.assertEqual(
            ["Plan.java:7 size: removed call to Plan::check", "Plan.java:9 size: removed call to Plan::check, uncovered"],
            [" ".join(row) for row in rows],
        )


if __name__ == "__main__":
    unittest.main()
