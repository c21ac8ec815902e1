"""Tests of what ops/release checks and lists; what it makes takes minutes, and is looked at when a release is made."""

import hashlib
import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
PROGRAM = Path(__file__).resolve().parents[1] / "release"
_LOADER = importlib.machinery.SourceFileLoader("release", str(PROGRAM))
release = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", _LOADER))
_LOADER.exec_module(release)


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        self.checks = release.Checks(self.out, "0.1.0")

    def write(self, name, text="x"):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_every_file_has_a_place_where_it_goes_and_its_sum(self):
        for name in ("larder_0.1.0_amd64.deb", "larder_cache-0.1.0-py3-none-any.whl", "Containerfile", "larder-0.1.0.tar.gz",
                     "maven/dev/larder/a/0.1.0/a-0.1.0.jar", "maven/dev/larder/a/0.1.0/a-0.1.0.jar.sha1"):
            self.write(name)

        rows = release.listed(self.out)

        self.assertEqual([row["destination"] for row in rows], ["maven", "pypi", "debian", "downloads", "image"])
        self.assertEqual({row["sha256"] for row in rows}, {hashlib.sha256(b"x").hexdigest()})

    def test_a_snapshot_is_found_wherever_it_lies(self):
        self.write("maven/dev/larder/a/0.1.0-SNAPSHOT/a.jar")

        with self.assertRaisesRegex(release.Failed, "0.1.0-SNAPSHOT"):
            self.checks.names()

    def test_a_file_that_was_changed_after_it_was_made_is_found(self):
        path = self.write("larder-0.1.0.tar.gz")
        self.write("SHA256SUMS", f"{release.sha256(path)}  {path.name}\n")
        self.assertEqual(self.checks.sums(), "1 files")
        path.write_text("y")

        with self.assertRaises(release.Failed):
            self.checks.sums()

    def test_a_library_of_the_archive_that_is_not_among_the_components_is_found(self):
        self.write("stage/larder-0.1.0/lib/gson-2.15.0.jar")
        subprocess.run(["tar", "-czf", self.out / "larder-0.1.0.tar.gz", "-C", self.out / "stage", "larder-0.1.0"], check=True)
        sbom = self.write("larder-0.1.0-sbom.cdx.json", json.dumps({"components": [{"name": "gson", "version": "2.15.0"}]}))
        self.assertEqual(self.checks.components(), "1 components, 1 jars in the archive")
        sbom.write_text(json.dumps({"components": []}))

        with self.assertRaisesRegex(release.Failed, "gson-2.15.0.jar"):
            self.checks.components()

    def test_what_is_missing_is_said_and_nothing_counts_as_checked(self):
        states = {row["check"]: row["state"] for row in self.checks.all()}

        for name in ("artifacts", "command", "wheels", "components", "sums"):
            self.assertEqual(states[name], "failed", name)
        self.assertEqual(states["debian"], "skipped")

    def test_a_bad_version_and_a_folder_without_a_release_are_refused(self):
        for words, code in ((["--version", "1"], 2), (["--again", "--out", str(self.out / "none")], 1)):
            ended = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
            self.assertEqual(ended.returncode, code, ended.stderr)


if __name__ == "__main__":
    unittest.main()
