"""Tests of larder.py, the one file that one_file.py makes of the package: those of readers, with it in the package's place."""

import ast
import collections
import os
import subprocess
import sys
import tempfile
import unittest

import one_file

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = "test_larder", "test_arrays", "test_batches", "test_loader"


class OneFileTest(unittest.TestCase):
    def test_a_copied_file_passes_the_tests_of_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "larder.py")
            subprocess.run([sys.executable, "-W", "error", os.path.join(HERE, "one_file.py"), path], check=True)
            found = self.run_with(folder, "-c", "import test_larder; print(test_larder.larder.__file__)")

            done = self.run_with(folder, "-m", "unittest", *TESTS)

        self.assertEqual((found.stdout, found.stderr), (path + "\n", ""))
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_with(self, folder, *words):
        return subprocess.run([sys.executable, "-B", "-W", "error", *words], cwd=HERE, text=True, capture_output=True,
                              env={**os.environ, "LARDER_PYTHON": folder})

    def test_as_a_program_it_is_the_command_or_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            command = os.path.join(folder, "command")
            with open(command, "w") as file:
                file.write('#!/bin/sh\necho "$@"; exit 4\n')
            os.chmod(command, 0o700)
            with open(os.path.join(folder, "larder.py"), "w") as file:
                file.write(one_file.one_file())
            done, failed = (subprocess.run([sys.executable, "-m", "larder", "path", "a b"], cwd=folder, text=True, capture_output=True,
                                           env={**os.environ, "LARDER_COMMAND": name}) for name in (command, "/nowhere"))

        self.assertEqual((done.stdout, done.returncode), ("path a b\n", 4))
        self.assertEqual((failed.stdout, failed.returncode), ("", 1))
        self.assertIn("larder: no larder command: command=/nowhere; put larder on the PATH", failed.stderr)

    def test_a_file_that_cannot_be_written_is_named(self):
        done = subprocess.run([sys.executable, os.path.join(HERE, "one_file.py"), "/nope/x.py"], text=True, capture_output=True)

        self.assertEqual((done.returncode, done.stderr), (1, "one_file.py: cannot write the file: file=/nope/x.py reason=No such file or directory\n"))

    def test_it_needs_nothing_but_numpy_and_the_standard_library(self):
        tree = ast.parse(one_file.one_file())
        imports = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]

        self.assertIn("numpy", imports)
        self.assertEqual([node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level], [])

    def test_no_two_rooms_define_one_name(self):
        tree = ast.parse(one_file.one_file())
        names = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        names += [target.id for node in tree.body if isinstance(node, ast.Assign) for target in ast.walk(node)
                  if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)]

        self.assertEqual([name for name, count in collections.Counter(names).items() if count > 1], [])


if __name__ == "__main__":
    unittest.main()
