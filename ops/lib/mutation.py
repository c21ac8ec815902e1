"""Prints the mutation score of each package, from the reports of PIT below the current folder.

    mutation.py [--survivors PACKAGE]

A mutant is one small change of the compiled code. The score of a package is the share of its covered mutants that a test
detects. Mutants that no chosen test covers are counted, and do not lower the score. Ends with 1 if a score is below LEAST.
--survivors: lists the mutants of this package that no test detects, also those without coverage.
"""

import argparse
import collections
import glob
import re
import sys
import xml.etree.ElementTree

LEAST = 85  # percent
REPORTS = "**/target/pit-reports/*/mutations.xml"
ENDED = {"KILLED", "SURVIVED", "TIMED_OUT", "MEMORY_ERROR", "NO_COVERAGE", "RUN_ERROR"}


class Score:
    """The mutants of one package, by their end."""

    def __init__(self):
        self.ends = collections.Counter()

    @property
    def covered(self):
        return sum(self.ends.values()) - self.ends["NO_COVERAGE"]

    @property
    def detected(self):
        return self.covered - self.ends["SURVIVED"] - self.ends["RUN_ERROR"]

    @property
    def percent(self):
        return 100 * self.detected / self.covered

    @property
    def is_low(self):
        return self.covered > 0 and self.percent < LEAST

    def __add__(self, other):
        total = Score()
        total.ends = self.ends + other.ends
        return total

    def row(self, name):
        percent = f"{self.percent:.1f} %" if self.covered else "-"
        numbers = (self.covered, self.detected, percent, self.ends["TIMED_OUT"], self.ends["NO_COVERAGE"])
        return f"{name:<42}" + "".join(f"{number:>11}" for number in numbers) + ("  too low" if self.is_low else "")


def package(mutant):
    """Returns the package of a mutant's class."""
    return mutant.findtext("mutatedClass").rpartition(".")[0]


def mutants():
    """Yields all mutants of the reports that could be run."""
    for report in sorted(glob.glob(REPORTS, recursive=True)):
        try:
            tree = xml.etree.ElementTree.parse(report)
        except xml.etree.ElementTree.ParseError:
            sys.exit(f"larder: report of mutants is incomplete: report={report}; run ops/test --long mutation again")
        for mutant in tree.iter("mutation"):
            if mutant.get("status") in ENDED:
                yield mutant


def table(scores):
    """Returns the lines of a table: a row for each package, and one for all."""
    head = f"{'package':<42}" + "".join(f"{name:>11}" for name in ("covered", "detected", "score", "timed out", "uncovered"))
    rows = [score.row(name) for name, score in sorted(scores.items())]
    return [head, *rows, sum(scores.values(), Score()).row("all")]


def survivors(of):
    """Yields a line for each mutant of a package that no test detects."""
    for mutant in mutants():
        if package(mutant) == of and mutant.get("status") in ("SURVIVED", "NO_COVERAGE"):
            where = f"{mutant.findtext('sourceFile')}:{mutant.findtext('lineNumber')}"
            change = re.sub(r"[\w.$/]*[./](?=\w+::)", "", mutant.findtext("description"))
            yield f"{where} {mutant.findtext('mutatedMethod')}: {change}" + (", uncovered" if mutant.get("status") == "NO_COVERAGE" else "")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--survivors", metavar="PACKAGE")
    options = parser.parse_args(arguments)
    if options.survivors:
        print("\n".join(survivors(options.survivors)))
        return 0
    scores = collections.defaultdict(Score)
    for mutant in mutants():
        scores[package(mutant)].ends[mutant.get("status")] += 1
    if not scores:
        print(f"larder: no mutants found: reports={REPORTS}; run ops/test --long mutation", file=sys.stderr)
        return 1
    print("\n".join(table(scores)))
    low = [name for name, score in sorted(scores.items()) if score.is_low]
    if low:
        print(f"larder: mutation score too low: least={LEAST} packages={','.join(low)}; list what tests miss:"
              f" python3 ops/lib/mutation.py --survivors {low[0]}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
