"""The habits that make English hard to read, and which files may have how many of them."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest

import english

PLAIN = "/** Returns the slot. It is refilled once every fence has been signalled. */\nclass A {}\n"
HARD = "/** Tells what whoever closed it was told. */\nclass A {}\n"


def habits(path, text):
    return sorted({habit for _, habit, _ in english.hits(path, text)})


class HabitsTest(unittest.TestCase):
    def test_each_habit_is_found_where_it_stands(self):
        for habit, sentence in {
            "a clause as the subject": "Whether it is open is checked.",
            "what": "Returns what is left over there.",
            "where instead of if": "Returns null where there is none.",
            "whoever, nobody": "Nobody else can write to it.",
            "things that tell, say, know": "The index knows the place.",
            "of which": "Returns the list of which it is part.",
            "so, too, alone at the end": "The daemon stays in its place, too.",
        }.items():
            with self.subTest(habit):
                self.assertEqual(habits("A.java", f"int i;\n/** {sentence} */"), [habit])
                self.assertEqual(english.hits("A.java", f"int i;\n/** {sentence} */")[0][0], 2)

    def test_plain_sentences_have_no_hit(self):
        for path, text in {"A.java": PLAIN, "a.py": '"""Return the slot of the caller."""\n', "a.md": "The daemon returns the slot.\n"}.items():
            self.assertEqual(english.hits(path, text), [])

    def test_code_strings_and_names_are_not_read(self):
        self.assertEqual(english.hits("A.java", 'String s = "/** what it tells nobody at all */"; // where\n'), [])
        self.assertEqual(english.hits("a.py", 'x = "what it tells nobody at all"  # where it is\n'), [])
        self.assertEqual(english.hits("a.md", "```sh\nwhat it tells nobody at all\n```\n\nUse `what it tells nobody at all` here and there.\n"), [])

    def test_a_tag_of_javadoc_begins_a_sentence(self):
        self.assertEqual(habits("A.java", "/**\n * Opens it for one caller.\n *\n * @param name where it lies on the disk\n */"), ["where instead of if"])


class SinceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="larder english ")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.git("init", "-q")
        self.write("src/A.java", PLAIN + HARD)
        self.git("add", ".")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True, stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("commit", "-q", "-a", "-m", "x")

    def write(self, path, text):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def since(self, revision="HEAD"):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            return english.main(["--since", revision]), out.getvalue()

    def test_a_file_may_have_as_many_hits_as_before(self):
        self.write("src/A.java", HARD + PLAIN + PLAIN)

        self.assertEqual(self.since(), (0, ""))

    def test_one_more_hit_fails_and_is_named(self):
        self.write("src/A.java", PLAIN + HARD + "// Nobody else may write to it.\n")

        code, out = self.since()

        self.assertEqual(code, 1)
        self.assertIn("src/A.java:5: whoever, nobody: Nobody else may write to it.", out)
        self.assertNotIn("Tells what whoever", out)

    def test_commits_since_the_revision_count(self):
        self.write("src/A.java", PLAIN + HARD + "// Nobody else may write to it.\n")
        self.commit()

        self.assertEqual(self.since()[0], 0)
        self.assertEqual(self.since("HEAD^")[0], 1)

    def test_a_file_that_was_moved_is_compared_with_what_it_was(self):
        self.git("mv", "src", "room")
        self.commit()

        self.assertEqual(self.since("HEAD^"), (0, ""))

    def test_a_new_file_may_have_one_hit_in_25_sentences(self):
        few = PLAIN * 12
        self.write("src/B.java", few + "// Nobody else may write to it.\n")
        self.assertEqual(self.since(), (0, ""))

        self.write("src/B.java", few + HARD)
        self.assertEqual(self.since()[0], 1)

    def test_code_of_tests_and_removed_files_are_not_read(self):
        self.write("src/test/A.java", HARD)
        self.write("ops/test_a.py", '"""Whether nobody tells what it is."""\n')
        os.remove("src/A.java")

        self.assertEqual(self.since(), (0, ""))


if __name__ == "__main__":
    unittest.main()
