"""Says what a run of ops/test was: what ran, what was skipped and why, and last, by name, what failed.

    results.py STEPS [--every-class]

STEPS has a line for each step: exit code, seconds, name and log, with tabs between; "skip", its name and the reason for one
that did not run. Surefire's reports are read from below the current folder. --every-class: a test class without a report is
a failure. Ends with 1 where anything failed.
"""

import collections
import os
import re
import sys
import xml.etree.ElementTree

NOT_SEARCHED = {".git", ".larder", "node_modules"}
TEST_CLASS = re.compile(r"(Test.*|.*Test|.*Tests|.*TestCase)\.java")
NO_TESTS_INSIDE = re.compile(r"^(public )?(abstract class|interface|@interface|enum|record) ", re.MULTILINE)
# A class of which ops/test --long runs all, and ops/test nothing.
SLOW = re.compile(r'^@Tag\("slow"\)', re.MULTILINE)
# The annotation by which JUnit may leave out a class as a whole, of which Surefire then writes nothing.
CONDITION = re.compile(r"^@((?:Enabled|Disabled)\w*(?:\([^)]*\))?)", re.MULTILINE)
PYTHON_FAILURE = re.compile(r"^(?:FAIL|ERROR): (\S+ \([\w.]+\))", re.MULTILINE)
LINT_FAILURE = re.compile(r"^FAILED +(\S.*)$", re.MULTILINE)
COMPILE_ERROR = re.compile(r"^\[ERROR\] (?:.*/)?(\w+\.java:\[\d+,\d+\] .*)$", re.MULTILINE)
GOAL = re.compile(r"^\[ERROR\] (?:Failed to execute goal|Could not|The build could not)\s*(\S*).*?(?:on project (\S+?))?: ?(.*)$", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FORK_DIED = re.compile(r"^\[ERROR\] (?:ExecutionException )?(The forked VM terminated .*)$", re.MULTILINE)
GOALS_OF_TESTS = ("There are test failures", "There was a timeout or other error in the fork", "ExecutionException")
MOST_REASONS = 12
MOST_CLASSES = 5


def reason(skipped):
    """Returns why a test was skipped: Surefire has it as an attribute, or only in the first line of the stack trace."""
    first = (skipped.text or "").strip().split("\n")[0]
    return skipped.get("message") or first.rpartition("Assumption failed: ")[2] or "no reason given"


class Results:
    """What Surefire's reports say."""

    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []
        self.flaky = []
        self.classes = collections.Counter()
        self.reported = set()

    def read(self, path):
        module = path.split("/target/")[0]
        name = os.path.basename(path)[len("TEST-"):-len(".xml")]
        self.reported.add((module, name.split("-")[0]))
        self.classes[module] += 1
        try:
            suite = xml.etree.ElementTree.parse(path).getroot()
        except (OSError, xml.etree.ElementTree.ParseError):
            self.failed.append(f"{name}: its report is incomplete")
            return
        for case in suite.iter("testcase"):
            self.take(case)

    def take(self, case):
        name = f"{case.get('classname')}.{case.get('name')}".rstrip(".")
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped")
        if bad is not None:
            self.failed.append(name)
            inner = sorted(set(PYTHON_FAILURE.findall(bad.get("message") or bad.text or "")))
            self.failed += [f"    {each}" for each in inner]
        elif skipped is not None:
            self.skipped.append((name, reason(skipped)))
        else:
            self.passed += 1
            if case.find("flakyFailure") is not None or case.find("flakyError") is not None:
                self.flaky.append(name)


def walk(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - NOT_SEARCHED)
        yield os.path.relpath(folder, root), files


def read_reports(root):
    results = Results()
    for folder, files in walk(root):
        if "target" in folder.split("/"):
            for file in sorted(files):
                if file.startswith("TEST-") and file.endswith(".xml"):
                    results.read(os.path.join(folder, file))
    return results


def test_classes(root):
    """Yields (module, class, condition) for each test class that Surefire should run; the condition is None where it always should."""
    for folder, files in walk(root):
        module, found, package = folder.partition("/src/test/java")
        if not found or "/target/" in f"/{module}/":
            continue
        for file in filter(TEST_CLASS.fullmatch, files):
            with open(os.path.join(root, folder, file), encoding="utf-8") as source:
                text = source.read()
            if not NO_TESTS_INSIDE.search(text) and not SLOW.search(text):
                condition = CONDITION.search(text)
                name = ".".join([*filter(None, package.split("/")), file[:-len(".java")]])
                yield module, name, " ".join(condition.group(1).split()) if condition else None


def not_reported(results, root):
    """Returns lines that name test classes without a report: a module's that did not run, or one whose JVM died."""
    missing = collections.defaultdict(list)
    for module, name, condition in test_classes(root):
        if (module, name) not in results.reported and not condition:
            missing[module].append(name)
    lines = []
    for module, names in sorted(missing.items()):
        if len(names) > MOST_CLASSES:
            lines.append(f"not run: {len(names)} test classes of {module}")
        else:
            lines += [f"not run: {name}" for name in sorted(names)]
    return lines


def left_out(results, root):
    """Returns (class, why) for each class without a report whose module ran and that has a condition."""
    return sorted(
        (name, f"JUnit left out the whole class: @{condition}") for module, name, condition in test_classes(root)
        if condition and (module, name) not in results.reported and module in results.classes)


def reasons(log):
    """Returns why a step failed, as far as its log says so in lines that are known; [] where failed tests are the reason."""
    found, only_tests = [], False
    log = COLOUR.sub("", log)
    for goal, project, why in GOAL.findall(log):
        if "surefire" in goal and (not why.strip() or why.startswith(GOALS_OF_TESTS)):
            only_tests = True
        elif not COMPILE_ERROR.search(log) or "Compilation failure" not in why:
            found.append(f"{project or 'Maven'}: {goal.split(':')[0] if goal.count(':') < 2 else goal.split(':')[1]}: {why}")
    found += FORK_DIED.findall(log) + COMPILE_ERROR.findall(log) + LINT_FAILURE.findall(log) + PYTHON_FAILURE.findall(log)
    found = list(dict.fromkeys(line[:300] for line in found))
    if not found and not only_tests:
        said = [line for line in log.splitlines() if line.strip()]
        found = said[-1:] or ["it said nothing"]
    return found[:MOST_REASONS]


def read_steps(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def failures(steps, results, every_class):
    """Returns the lines that name what failed, and how many failures they are."""
    lines, count = list(results.failed), sum(not line.startswith(" ") for line in results.failed)
    for code, _, name, log in (step for step in steps if step[0] not in ("0", "skip")):
        with open(log, encoding="utf-8", errors="replace") as file:
            why = reasons(file.read())
        if why or not results.failed:
            lines += [f"{name}: {reason}" for reason in why] or [f"{name}: exit={code}"]
            count += max(1, len(why))
    if every_class:
        missing = not_reported(results, ".")
        lines, count = lines + missing, count + len(missing)
    return lines, count


def main(arguments):
    steps, results = read_steps(arguments[0]), read_reports(".")
    results.skipped += left_out(results, ".")
    print("\n== what ran")
    for code, seconds, name, _ in (step for step in steps if step[0] != "skip"):
        print(f"{seconds:>5} s  {name}{'' if code == '0' else ': failed'}")
    for module, number in sorted(results.classes.items()):
        print(f"{number:>5} test classes of {module}")
    for name, why in results.skipped:
        print(f"skipped: {name}\n         because {' '.join(why.split())}")
    skips = [step for step in steps if step[0] == "skip"]
    for _, name, why in skips:
        print(f"skipped: {name}\n         because {why}")
    for name in results.flaky:
        print(f"passed only in a second try: {name}")
    lines, count = failures(steps, results, "--every-class" in arguments[1:])
    print("".join(f"FAILED: {line}\n" for line in lines), end="")
    # A step without reports of its own counts as one test.
    passed = results.passed or sum(step[0] == "0" for step in steps)
    print(f"{passed} passed, {count} failed, {len(results.skipped) + len(skips)} skipped")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
