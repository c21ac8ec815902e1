"""Makes a report of the made-up rows in ../rows: well-formed, of every part, and of no machine."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, *[".."] * 4)
MAIN = os.path.join(ROOT, "bench", "src", "main")
ROWS = os.path.join(HERE, "..", "rows")
sys.path[:0] = [os.path.join(MAIN, "python", "whole"), os.path.join(MAIN, "python")]

import claims
import harness
import parts

# What a part's section begins its tables with.
TABLES = {
    "arrays": ("| open and read one element |", "| read one float at a random index |", "| bytes of a row |"),
    "columns": ("| look-up of a random key |", "| larder load, s |", "| Python, 2 forked workers"),
    "ingest": ("| tmpfs huge= |",),
    "loader": ("| | batches/s, median |", "| shape |", "| | ms, median |", "| | batches/s after 0.1 s |", "| order | rows |", "| | µs a batch, median |"),
    "growth": ("| arrays | load, s |", "| processes that open at once |"),
    "collectives": ("| what | ranks |",),
    "handles": ("| | elements |", "| handing over between two processes |"),
    "fan-out": ("| bytes of a batch | processes that read it |", "| bytes of a batch | read | batches/s | least |",),
    "one-copy": ("| N trainers |", "| N forked Python readers |"),
    "day": ("| from Enter to the first training step, s |", "| grid of 8 runs, one short epoch each |", "| what happened |",
            "| eight Python runs at once, 3 epochs, 128 MiB, behind a server that sends 50 MB/s |", "| eight Python runs at once, 3 epochs, 128 MiB, in PNG files",
            "| eight Python runs at once, 3 epochs, 128 MiB, in a file of Parquet |"),
    "startup": ("| | checkout | archive |",),
}
# A chart, and words of its legend or axes.
CHARTS = {
    "one-copy": ("trainers", "each loads for itself, Java", "Larder, Java"),
    "fork": ("processes", "a dict", "an index column"),
    "ingest": ("size of the file", "larder load, whole", "cp"),
    "gather-huge": ("bytes of a row", "numpy take", "memcpy", "larder-25", "1 KiB"),
    "gather-small": ("bytes of a row", "torch index_select", "larder"),
    "threads": ("threads of the loader", "larder", "DJL ArrayDataset"),
    "open": ("share of opens that are faster, %", "lease, map, read, close", "99.9"),
    "all-reduce": ("bytes", "larder", "Gloo on loopback", "100 MiB"),
    "arrays": ("arrays", "open it and read one array", "1,000"),
    "clients": ("processes", "larder, median", "larder, p99"),
}


def plotting_python():
    for python in sys.executable, "/usr/bin/python3":
        if os.path.exists(python) and subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
            return python
    return None


PYTHON = plotting_python()


def tables(part, folder, pace="short"):
    """Returns the tables of a part."""
    words = [sys.executable, os.path.join(MAIN, "python", "tables.py"), part, folder, pace]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Folder:
    """A folder as ops/bench fills it: with the rows of these parts, all of which ended well."""

    def __init__(self, parts=tuple(TABLES)):
        self.place = tempfile.mkdtemp()
        self.path = os.path.join(self.place, "a report")
        os.mkdir(self.path)
        shutil.copy(os.path.join(ROWS, "machine.json"), self.path)
        for part in parts:
            shutil.copytree(os.path.join(ROWS, part), os.path.join(self.path, part))
        self.ended(*parts)

    def remove(self):
        shutil.rmtree(self.place)

    def ended(self, *parts, **exit_codes):
        rows = [{"part": part, "seconds": 7, "exitCode": exit_codes.get(part, 0)} for part in parts]
        write(os.path.join(self.path, "parts.jsonl"), "".join(json.dumps(row) + "\n" for row in rows))

    def keep_lines(self, count, *path):
        path = os.path.join(self.path, *path)
        write(path, "".join(read(path).splitlines(True)[:count]))

    def keep_runs(self, wanted, *path):
        """Keeps those of JMH's runs that wanted(method, parameters) is true of."""
        path = os.path.join(self.path, *path)
        runs = json.loads(read(path))
        write(path, json.dumps([run for run in runs if wanted(run["benchmark"].rsplit(".", 2)[1:], run.get("params", {}))]))

    def figures(self):
        found, wrong = parts.collected(self.path, "figures")
        return {figure.key: figure for figures in found.values() for figure in figures}, wrong

    def report(self, pace="short"):
        """Makes the report; returns its exit code, its errors, and its sections by title."""
        for part in TABLES:
            if os.path.isdir(os.path.join(self.path, part)):
                write(os.path.join(self.path, part, "report.md"), "java 17\n\n" + tables(part, os.path.join(self.path, part), pace))
        done = subprocess.run([PYTHON, os.path.join(MAIN, "python", "whole", "report.py"), self.path], capture_output=True, text=True)
        first, *others = re.split(r"^## (.*)\n", read(self.path, "report.md"), flags=re.M)
        return done.returncode, done.stderr, {"": first, **dict(zip(others[::2], others[1::2]))}

    def charts(self):
        folder = os.path.join(self.path, "charts")
        return {name.removesuffix(".svg"): read(folder, name) for name in os.listdir(folder)}


@unittest.skipUnless(PYTHON, "needs matplotlib")
class WholeReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.addClassCleanup(cls.folder.remove)
        cls.exit_code, cls.said, cls.sections = cls.folder.report()

    def test_nothing_is_said_to_lack(self):
        self.assertEqual((self.exit_code, self.said), (0, ""))
        self.assertNotRegex("".join(self.sections.values()), r"Failed|Not run|are missing|Not everything|Traceback")

    def test_every_part_has_its_tables(self):
        self.assertEqual(len(self.sections), 1 + len(TABLES))
        for section, (part, beginnings) in zip(list(self.sections.values())[1:], TABLES.items()):
            for beginning in beginnings:
                with self.subTest(part):
                    table = section[section.index("\n" + beginning) + 1 :].split("\n\n")[0].splitlines()
                    self.assertGreater(len(table), 2)
                    self.assertEqual({line.count("|") for line in table}, {table[0].count("|")}, table)

    def test_every_chart_is_there_and_says_what_it_shows(self):
        charts = self.folder.charts()
        self.assertEqual(charts.keys(), CHARTS.keys())
        for name, words in CHARTS.items():
            with self.subTest(name):
                self.assertIn(f"](charts/{name}.svg)", "".join(self.sections.values()))
                self.assertEqual(xml.etree.ElementTree.fromstring(charts[name]).tag, "{http://www.w3.org/2000/svg}svg")
                # its text is drawn, and stands in comments
                self.assertEqual([word for word in words if f"<!-- {word} -->" not in charts[name]], [])

    def test_the_same_rows_make_the_same_bytes(self):
        again = Folder()
        self.addCleanup(again.remove)
        again.report()
        for name in "report.md", "figures.json":
            self.assertEqual(read(again.path, name), read(self.folder.path, name))
        self.assertEqual(again.charts(), self.folder.charts())

    def test_readme_can_quote_it(self):
        readme = os.path.join(self.folder.place, "README.md")
        shutil.copytree(self.folder.path, os.path.join(self.folder.place, "bench", "results", "made-up"))
        write(readme, "[report](bench/results/made-up/report.md)")
        _, lines = claims.lines(readme)
        unknown = {"day.memory.plain-python", "collectives.gloo"}
        self.assertEqual(lines.count("\n| "), 1 + len(claims.CLAIMS) - len(unknown))
        self.assertNotIn("Gloo", lines)
        self.assertIn("| load 1,000 small files: **2.0×** the speed of np.save(np.load()) in as many processes | `ops/bench --columns` |", lines)


@unittest.skipUnless(PYTHON, "needs matplotlib")
class QuickReportTest(unittest.TestCase):
    """Of fewer rows, as --quick measures them."""

    def test_nothing_is_said_to_lack(self):
        folder = Folder()
        self.addCleanup(folder.remove)
        folder.keep_lines(1, "arrays", "gather.jsonl")
        folder.keep_runs(
            lambda name, params: params.get("array") != "rows-64" and name[1] not in ("resume", "buildAndResume")
            and params.get("shape", "28x28") == "28x28" and params.get("channels", "first") == "first",
            "loader", "round-1.json",
        )
        folder.keep_runs(lambda _, params: params["threads"] == "2", "loader", "threads.json")
        for part, file, words in (("collectives", "collectives.jsonl", ('"ranks": 2',)), ("fan-out", "fan-out.jsonl", ("rows-784", "feed")), ("startup", "rows.jsonl", ('"checkout"',))):
            path = os.path.join(folder.path, part, file)
            kept = [line for line in read(path).splitlines(True) if any(word in line for word in words)]
            self.assertGreater(len(kept), 1, part)
            write(path, "".join(kept))
        machine = json.loads(read(folder.path, "machine.json"))
        write(os.path.join(folder.path, "machine.json"), json.dumps(machine | {"pace": "quick"}))
        exit_code, said, sections = folder.report("quick")
        self.assertEqual((exit_code, said), (0, ""))
        self.assertNotRegex("".join(sections.values()), r"Failed|Not run|are missing|Not everything|Traceback")
        self.assertIn("**A quick run**", sections[""])
        self.assertEqual(folder.charts().keys(), CHARTS.keys() - {"gather-huge", "gather-small"})
        self.assertNotIn("The ring", sections["Batches"])
        self.assertRegex(sections["Reading arrays"], r"--:\|\n\| 784 \|[^\n]*\n+$")  # the only row


@unittest.skipUnless(PYTHON, "needs matplotlib")
class LackingReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(("loader", "day"))
        self.addCleanup(self.folder.remove)

    def test_parts_that_did_not_run_are_said_to_be_missing(self):
        exit_code, said, sections = self.folder.report()
        self.assertEqual((exit_code, len(sections)), (1, 1 + len(TABLES)))
        missing = "not run: " + ", ".join(part for part in TABLES if part not in ("loader", "day"))
        self.assertIn(f"**Not everything was measured**: {missing}.", sections[""])
        self.assertIn("**Not run**; `ops/bench --growth` does.", sections["Many arrays, many clients"])
        self.assertIn(f"ops/bench: {missing}; report=", said)

    def test_a_part_that_failed_says_with_what_and_shows_what_it_had_measured(self):
        self.folder.ended("loader", "day", day=143)
        self.folder.keep_lines(9, "day", "rows.jsonl")
        write(os.path.join(self.folder.path, "day", "log.txt"), "early\n" * 20 + "ChildProcessError: ended with -9\n")
        exit_code, said, sections = self.folder.report()
        day = sections["A user's day"]
        self.assertIn("**Failed** after 7 s with exit code 143", day)
        self.assertIn("early\nChildProcessError: ended with -9\n```", day)
        self.assertRegex(day, r"\| each loads for itself, Python \|  \| 5\.00 \| 0\.00 \| 3\.0")
        self.assertIn("**Not everything was measured**: failed: day;", sections[""])
        self.assertEqual((exit_code, "failed: day;" in said), (1, True))

    def test_a_part_without_its_figures_is_named(self):
        os.remove(os.path.join(self.folder.path, "loader", "threads.json"))
        exit_code, said, sections = self.folder.report()
        self.assertRegex(sections["Batches"], r"\*\*Figures are missing\*\*: FileNotFoundError.*threads\.json")
        self.assertIn("without all figures: loader; report=", said)
        self.assertEqual(exit_code, 1)


class FiguresTest(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.remove)

    def test_all_claims_of_readme_have_their_figure(self):
        found, wrong = self.folder.figures()
        self.assertEqual(wrong, {})
        self.assertEqual([key for key, _ in claims.CLAIMS if key not in found], [])

    def test_ratios_say_how_many_times_better(self):
        found, _ = self.folder.figures()
        expected = {
            "gather.huge.784": 1.25, "gather.heap.huge.784": 1.25, "gather.channel.small.784": 5.0, "gather.memcpy.huge.784": 1.0, "gather.small.784": 2.0, "element": 0.5, "index.text": 0.5,
            "ingest.small": 2.0, "ingest.large": 2.5, "ingest.never.plain": 0.9, "loader.alone.djl": 2.5,
            "growth.arrays": 0.5, "growth.clients": 0.25, "collectives.gloo": 5.0, "collectives.copy": 1.0, "handles.polled": 5.0, "handles.blocked": 50.0,
            "fan-out.read.784.1": 0.25, "fan-out.feed": 0.75, "loader.first-second": 0.5, "fan-out.read.3072.4": 0.0625, "one-copy.java.plain": 15.968, "one-copy.fork": 4.0, "day.grid.plain-java": 1.25,
            "day.memory.plain-java": 8.0, "day.remote.all.plain": 3.5, "day.remote.all.disk": 0.75, "day.images.again.samples": 1.0, "day.images.all.script": 1.25,
            "day.parquet.all.plain": 0.875, "day.parquet.again.huggingface": 2.5, "day.remote.all.ray": 2.0,
        }
        for key, ratio in expected.items():
            with self.subTest(key):
                self.assertAlmostEqual(found[key].ratio, ratio, 3)

    def test_a_report_of_before_there_were_slow_sources_has_its_other_figures(self):
        os.remove(os.path.join(self.folder.path, "day", "sources.jsonl"))
        found, wrong = self.folder.figures()
        self.assertEqual(wrong, {})
        self.assertIn("day.grid.plain-java", found)
        self.assertNotIn("day.remote.all.plain", found)

    def test_values_without_a_peer_have_no_ratio(self):
        found, _ = self.folder.figures()
        for key, value in {"collectives.barrier": 0.25, "loader.first": 5.0, "one-copy.java": 1.0, "startup.ls.archive": 0.44}.items():
            with self.subTest(key):
                self.assertEqual((round(found[key].value, 3), found[key].ratio), (value, None))

    def test_a_spread_is_that_of_repetitions_by_their_middle(self):
        found, _ = self.folder.figures()
        self.assertAlmostEqual(found["loader.alone.djl"].spread, 0.1)
        self.assertAlmostEqual(found["ingest.large"].spread, (3.125 - 2.0) / 2.5)
        self.assertEqual((harness.spread([]), harness.spread([3]), harness.spread([3, 3]), harness.spread([1, 2, 4])), (None, None, 0, 1.5))

    def test_a_figure_whose_repetitions_differ_widely_is_not_measured_and_readme_does_not_quote_it(self):
        path = os.path.join(self.folder.path, "ingest", "ingest-advise-268435456.json")
        row = json.loads(read(path))
        figure = self.folder.figures()[0]["ingest.large"]
        self.assertTrue(figure.measured)
        write(path, json.dumps(row | {"cp": [0.13, 0.5, 0.17]}))
        figure = self.folder.figures()[0]["ingest.large"]
        self.assertFalse(figure.measured)
        if PYTHON:
            self.assertIn("| not measured |", self.folder.report()[2][""])
        readme = os.path.join(self.folder.place, "README.md")
        write(readme, "[report](bench/results/made-up/report.md)")
        os.makedirs(os.path.join(self.folder.place, "bench", "results", "made-up"))
        write(os.path.join(self.folder.place, "bench", "results", "made-up", "figures.json"), json.dumps({"figures": [figure.json()]}))
        self.assertNotIn("load one file", claims.lines(readme)[1])

    def test_a_peer_that_was_disturbed_makes_its_figure_one_that_is_not_measured(self):
        self.assertTrue(self.folder.figures()[0]["day.step.plain-java"].measured)
        path = os.path.join(self.folder.path, "day", "rows.jsonl")
        rows = [json.loads(line) for line in read(path).splitlines()]
        peers = [row for row in rows if row["figure"] == "first-step" and row["way"] == "plain-java"]
        peers[-1]["seconds"] *= 3
        write(path, "".join(json.dumps(row) + "\n" for row in rows))
        self.assertFalse(self.folder.figures()[0]["day.step.plain-java"].measured)

    def test_an_unknown_spread_of_either_side_is_no_spread_of_nothing(self):
        found, _ = self.folder.figures()
        for key in "growth.arrays", "collectives.gloo", "one-copy.fork", "day.grid.plain-java", "fan-out.read.784.1":
            with self.subTest(key):
                self.assertEqual((found[key].spread, found[key].measured), (None, False))
        self.assertEqual((harness.widest(0.1, None), harness.widest(0.1, 0.3), harness.widest(0.0)), (None, 0.3, 0))

    def test_samples_of_jmh_are_compared_by_the_means_of_their_iterations(self):
        run = {"primaryMetric": {"rawDataHistogram": [[[[1, 3], [5, 1]], [[4, 2]]]]}}
        self.assertEqual(harness.iterations(run), [2, 4])

    def test_a_torch_that_is_absent_is_named_in_its_row(self):
        write(os.path.join(self.folder.path, "loader", "torch.json"), json.dumps({"absent": "python3 has no torch"}))
        self.assertIn("| torch.utils.data.DataLoader | absent: python3 has no torch |", tables("loader", os.path.join(self.folder.path, "loader")))
        self.assertFalse([key for key in self.folder.figures()[0] if "torch" in key])

    def test_contenders_that_could_not_gather_are_named(self):
        self.folder.keep_lines(0, "arrays", "gather.jsonl")
        row = {"rowBytes": 784, "pages": "huge", "bytes": 1 << 30, "seed": 1, "rates": {"numpy take": [4e9, 2e9, 4e9], "larder": [4e9, 4e9, 8e9]}}
        path = os.path.join(self.folder.path, "arrays", "gather.jsonl")
        write(path, json.dumps({"absent": "memcpy: no cc"}) + "\n" + json.dumps(row) + "\n")
        table = tables("arrays", os.path.dirname(path))
        self.assertIn("Not there: memcpy: no cc.", table)
        self.assertIn("| 784 | 4.00 | 4.00 |  | 2.00 |", table)
        found, _ = self.folder.figures()
        self.assertEqual([key for key in found if key.startswith("gather.memcpy")], [])
        self.assertEqual(found["gather.huge.784"].ratio, 2.0)

    def test_figures_before_one_that_is_missing_are_kept(self):
        self.folder.keep_lines(1, "growth", "clients.jsonl")
        os.remove(os.path.join(self.folder.path, "columns", "small-files.json"))
        found, wrong = self.folder.figures()
        self.assertEqual(list(wrong), ["columns"])
        self.assertTrue({"index.text", "index.integer", "growth.clients"} <= found.keys())
        self.assertNotIn("ingest.small", found)


if __name__ == "__main__":
    unittest.main()
