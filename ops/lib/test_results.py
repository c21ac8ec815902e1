"""What ops/test prints at its end, from Surefire's reports and the logs of steps."""

import contextlib
import io
import os
import tempfile
import unittest

import results

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="a.OneTest">
  <testcase name="itWorks" classname="a.OneTest"/>
  <testcase name="itFails" classname="a.OneTest"><failure message="FAIL: test_x (test_parts.PartTest.test_x)&#10;more"/></testcase>
  <testcase name="itDies" classname="a.OneTest"><error type="x">trace</error></testcase>
  <testcase name="itCannot" classname="a.OneTest"><skipped message="needs  root"/></testcase>
</testsuite>
"""
NOT_COMPILED = """[ERROR] COMPILATION ERROR :
[ERROR] /home/ada/larder/cache-client/src/main/java/dev/larder/client/View.java:[12,3] cannot find symbol
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.15.0:compile (default-compile) on project larder-cache-client: Compilation failure
[ERROR] -> [Help 1]
"""
TESTS_FAILED = """[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.6.1:test (default-test) on project larder-x: There are test failures.
"""
FORK_DIED = """[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.6.1:test (default-test) on project larder-x: 
[ERROR] 
[ERROR] See /x/target/surefire-reports for the individual test results.
[ERROR] The forked VM terminated without properly saying goodbye. VM crash or System.exit called?
"""
NOT_FORMATTED = """[ERROR] Failed to execute goal com.diffplug.spotless:spotless-maven-plugin:3.11.0:check (format) on project larder-x: The following files had format violations:
"""


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="larder results ")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.steps = []

    def write(self, path, text):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def step(self, code, name, log=""):
        path = f"{len(self.steps)}.log"
        self.write(path, log)
        self.steps.append(f"{code}\t3\t{name}\t{path}\n")

    def ended(self, *options):
        """Returns the exit code and what is printed, in lines."""
        self.write("steps", "".join(self.steps))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = results.main(["steps", *options])
        return code, out.getvalue().splitlines()

    def test_failed_tests_are_named_last_and_so_are_the_python_tests_within(self):
        self.write("m/target/surefire-reports/TEST-a.OneTest.xml", REPORT)
        self.step(0, "tests", TESTS_FAILED)  # Maven goes on, and ends well
        code, lines = self.ended()
        self.assertEqual((code, lines[-4:]), (1, [
            "FAILED: a.OneTest.itFails", "FAILED:     test_x (test_parts.PartTest.test_x)", "FAILED: a.OneTest.itDies",
            "1 passed, 2 failed, 1 skipped"]))

    def test_skipped_tests_and_steps_are_named_with_their_reason(self):
        self.write("m/target/surefire-reports/TEST-a.OneTest.xml", REPORT)
        self.steps.append("skip\tmany files\tno room\n")
        _, lines = self.ended()
        self.assertIn("skipped: a.OneTest.itCannot\n         because needs root", "\n".join(lines))
        self.assertIn("skipped: many files\n         because no room", "\n".join(lines))

    def test_a_reason_that_stands_only_in_the_stack_trace_is_found(self):
        skipped = "<skipped type='x'>org.opentest4j.TestAbortedException: Assumption failed: root may read everything\n\tat x.Y\n</skipped>"
        self.write("m/target/surefire-reports/TEST-a.OneTest.xml",
                   f"<testsuite><testcase name='itCannot' classname='a.OneTest'>{skipped}</testcase></testsuite>")
        _, lines = self.ended()
        self.assertIn("skipped: a.OneTest.itCannot\n         because root may read everything", "\n".join(lines))

    def test_what_does_not_compile_is_named_and_so_is_what_did_not_run_for_it(self):
        self.write("m/src/test/java/a/OneTest.java", "package a;\nclass OneTest {}\n")
        self.write("m/src/test/java/a/SharedTest.java", "package a;\nabstract class SharedTest {}\n")
        self.step(1, "tests", NOT_COMPILED)
        code, lines = self.ended("--every-class")
        self.assertEqual((code, lines[-3:]), (1, [
            "FAILED: tests: View.java:[12,3] cannot find symbol", "FAILED: not run: a.OneTest", "0 passed, 2 failed, 0 skipped"]))

    def test_a_class_that_junit_left_out_as_a_whole_is_skipped_by_name(self):
        source = 'package a;\n@EnabledIfSystemProperty(\n        named = "x", matches = ".+")\nclass {} {{}}\n'
        self.write("m/src/test/java/a/OneTest.java", "package a;\nclass OneTest {\n    @Disabled\n    void x() {}\n}\n")
        self.write("m/src/test/java/a/LeftOutTest.java", source.format("LeftOutTest"))
        self.write("m/src/test/java/a/RanTest.java", source.format("RanTest"))
        self.write("other/src/test/java/a/NotRunTest.java", source.format("NotRunTest"))
        for name in "OneTest", "RanTest":
            self.write(f"m/target/surefire-reports/TEST-a.{name}.xml", f'<testsuite><testcase name="x" classname="a.{name}"/></testsuite>')
        self.step(0, "tests")
        code, lines = self.ended("--every-class")
        self.assertEqual((code, lines[-3:]), (0, [
            "skipped: a.LeftOutTest", '         because JUnit left out the whole class: @EnabledIfSystemProperty( named = "x", matches = ".+")',
            "2 passed, 0 failed, 1 skipped"]))

    def test_a_gate_that_refuses_is_named_with_its_module(self):
        self.step(1, "tests", NOT_FORMATTED)
        self.assertIn("FAILED: tests: larder-x: spotless-maven-plugin: The following files had format violations:", self.ended()[1])

    def test_a_jvm_that_died_is_a_reason_and_failed_tests_are_one_without_it(self):
        self.step(1, "tests", FORK_DIED)
        self.assertIn("FAILED: tests: The forked VM terminated without properly saying goodbye. VM crash or System.exit called?", self.ended()[1])
        self.assertEqual(results.reasons(FORK_DIED[:FORK_DIED.index("[ERROR] The forked")]), [])

    def test_a_test_that_passes_only_in_a_second_try_is_named(self):
        self.write("m/target/surefire-reports/TEST-a.OneTest.xml",
                   '<testsuite><testcase name="itWorks" classname="a.OneTest"/><testcase name="itStumbles" classname="a.OneTest">'
                   '<flakyFailure message="m">trace</flakyFailure></testcase><testcase name="itFails" classname="a.OneTest">'
                   '<failure message="m"/><rerunFailure message="m"/></testcase></testsuite>')
        self.step(1, "tests", TESTS_FAILED)

        code, lines = self.ended()

        self.assertEqual((code, lines[-3:]), (1, ["passed only in a second try: a.OneTest.itStumbles", "FAILED: a.OneTest.itFails",
                                                  "2 passed, 1 failed, 0 skipped"]))

    def test_a_report_that_was_cut_short_is_a_failure(self):
        self.write("m/target/surefire-reports/TEST-a.OneTest.xml", REPORT[:200])
        self.step(0, "tests")
        code, lines = self.ended()
        self.assertEqual((code, lines[-2]), (1, "FAILED: a.OneTest: its report is incomplete"))

    def test_a_report_of_a_second_run_counts_for_the_class(self):
        self.write("m/src/test/java/a/OneTest.java", "package a;\nclass OneTest {}\n")
        self.write("m/target/surefire-reports/TEST-a.OneTest-agrona2.xml", '<testsuite><testcase name="x" classname="a.OneTest"/></testsuite>')
        self.step(0, "tests")
        self.assertEqual(self.ended("--every-class"), (0, self.ended()[1]))

    def test_a_step_without_reports_is_named_with_the_last_thing_it_said(self):
        self.step(0, "soak")
        self.step(1, "matrix", "seed=1\nFAILED; again with --seed 1\n\n")
        code, lines = self.ended()
        self.assertEqual((code, lines[-2:]), (1, ["FAILED: matrix: FAILED; again with --seed 1", "1 passed, 1 failed, 0 skipped"]))


if __name__ == "__main__":
    unittest.main()
