"""Tests of what ops/release checks and lists; what it makes takes minutes, and is looked at when a release is made."""

import hashlib
import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from xml.etree import ElementTree

sys.dont_write_bytecode = True
PROGRAM = Path(__file__).resolve().parents[1] / "release"
_LOADER = importlib.machinery.SourceFileLoader("release", str(PROGRAM))
release = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", _LOADER))
_LOADER.exec_module(release)
CHECKOUT = release.ROOT  # tests replace that of the module


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

    def test_the_versions_to_import_are_those_of_all_libraries_that_are_published(self):
        bom = ElementTree.parse(release.ROOT / release.BOM / "pom.xml")

        managed = [part.findtext(f"{release.POM}artifactId") for part in bom.iter(f"{release.POM}dependency")]

        self.assertEqual(managed, sorted(map(release.artifact_of, release.LIBRARIES)))
        self.assertEqual(bom.findtext(f"{release.POM}version"), release.version_of(release.ROOT))

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

        for name in ("artifacts", "dependencies", "command", "wheels", "components", "sums", "installs"):
            self.assertEqual(states[name], "failed", name)
        self.assertEqual(states["debian"], "skipped")

    def repository(self, version="0.1.0-SNAPSHOT", heading="## [0.1.0] - 2026-11-23\n\n### Upgrading\n"):
        """Makes a repository of one commit, and has the checks look at it."""
        root = self.out / "repository"
        (root / "ops/docs").mkdir(parents=True)
        (root / "pom.xml").write_text(f"<project>\n  <version>{version}</version>\n</project>\n")
        (root / "ops/docs/CHANGELOG.md").write_text(f"# Changes\n\n{heading}")
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "All"]):
            subprocess.run(["git", *words], cwd=root, check=True)
        patched = unittest.mock.patch.object(release, "ROOT", root)
        patched.start()
        self.addCleanup(patched.stop)
        return root

    def test_the_version_is_set_wherever_it_is_written(self):
        root, version = self.repository(), release.version_of(CHECKOUT)
        texts = {"pom.xml": f"  <version>{version}</version>\n", "a/pom.xml": f"<parent>{version}</parent>\n",
                 "ops/docs/a/CLIENT.md": f"<version>{version}</version>\n", "ops/container/Containerfile": f"ARG VERSION={version}\n",
                 "ops/python/larder/__init__.py": (CHECKOUT / "ops/python/larder/__init__.py").read_text()}
        for name, text in texts.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for words in (["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "All"]):
            subprocess.run(["git", *words], cwd=root, check=True)
        source = self.out / "exported"
        source.mkdir()

        release.export(source, "7.0.0")

        for name in texts:
            text = (source / name).read_text()
            self.assertIn("7.0.0", text, name)
            self.assertNotRegex(text, "SNAPSHOT|dev0", name)

    def before(self):
        return {row["check"]: (row["state"], row["said"]) for row in self.checks.before()}

    def test_a_clean_tree_with_its_version_may_be_released(self):
        self.repository()

        self.assertEqual({state for state, _ in self.before().values()}, {"ok"})

    def test_a_change_that_is_not_committed_is_named(self):
        root = self.repository()
        (root / "pom.xml").write_text((root / "pom.xml").read_text() + "\n")
        (root / "new").write_text("")

        self.assertEqual(self.before()["clean"], ("failed", "not committed, so not in the release: pom.xml, new; commit or stash it"))

    def test_a_version_that_the_pom_does_not_lead_to_or_that_has_a_tag_is_refused(self):
        root = self.repository(version="0.2.0-SNAPSHOT")
        self.assertIn("pom.xml leads to 0.2.0", self.before()["number"][1])

        self.checks.version = "0.2.0-rc.1"
        self.assertEqual(self.before()["number"][0], "ok")
        subprocess.run(["git", "tag", "v0.2.0-rc.1"], cwd=root, check=True)
        self.assertIn("has a tag", self.before()["number"][1])

    def test_a_change_log_without_the_version_or_without_its_upgrade_is_refused(self):
        root = self.repository(heading="## [Unreleased]: 0.1.0\n\n### Upgrading\n")
        self.assertIn("no heading '## [0.1.0] - YYYY-MM-DD'", self.before()["changes"][1])

        (root / "ops/docs/CHANGELOG.md").write_text("## [0.1.0] - 2026-11-23\n\n### Added\n\n## [0.0.9] - 2026-01-01\n\n### Upgrading\n")
        self.assertIn("no '### Upgrading'", self.before()["changes"][1])

    def test_a_library_of_ours_that_is_needed_and_not_published_is_found(self):
        need = '<dependency><groupId>dev.larder</groupId><artifactId>{}</artifactId>{}</dependency>'
        pom = '<project xmlns="http://maven.apache.org/POM/4.0.0"><dependencies>{}</dependencies></project>'
        self.write("maven/dev/larder/b/0.1.0/b-0.1.0.pom", pom.format(need.format("only-for-tests", "<scope>test</scope>")))
        of_a = self.write("maven/dev/larder/a/0.1.0/a-0.1.0.pom", pom.format(need.format("b", "")))
        self.assertEqual(self.checks.dependencies(), "2 poms")
        of_a.write_text(pom.format(need.format("c", "")))

        with self.assertRaisesRegex(release.Failed, "a needs c"):
            self.checks.dependencies()

    def test_nothing_is_built_where_something_stands_in_the_way(self):
        ended = subprocess.run([PROGRAM, "--version", "7.0.0", "--json", "--out", str(self.out / "none")], capture_output=True, text=True)

        self.assertEqual(ended.returncode, 1)
        self.assertIn("pom.xml leads to", json.loads(ended.stdout)["checks"][0]["said"])
        self.assertIn("nothing has been built", ended.stderr)
        self.assertFalse((self.out / "none").exists())

    def test_a_bad_version_and_a_folder_without_a_release_are_refused(self):
        for words, code in ((["--version", "1"], 2), (["--again", "--out", str(self.out / "none")], 1)):
            ended = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
            self.assertEqual(ended.returncode, code, ended.stderr)


if __name__ == "__main__":
    unittest.main()
