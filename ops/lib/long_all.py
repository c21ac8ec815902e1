"""Runs long tests one after the other, and records their results with a hash of the files; ops/test --long all.

    long_all.py [--table] [--only NAME]... PROGRAM PART...

A part is the name of a long test and its options, as one word; "PROGRAM --long PART" runs it. Its result becomes a line of
.larder/long-tests.tsv when it ends, so a run that is killed loses only the part that was running, and the next one goes on from there.
A part that passed is not run again before a file of the checkout changes, other than a page of documentation (*.md): ops/test runs the
commands and snippets of those. Ends with a table, and with 1 if any part failed.
--table prints the table and runs nothing; --only runs only the parts with these names.
"""

import argparse
import fcntl
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

FOLDER = ".larder"
RESULTS = f"{FOLDER}/long-tests.tsv"
LOGS = f"{FOLDER}/long"
LOCK = f"{FOLDER}/test.lock"
LOCK_DEADLINE_S = 60
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
BECAUSE = "         because "


class Result(NamedTuple):
    """The result of a part. The tree is the hash of the files that it ran on; a commit with other files has a plus."""

    part: str
    tree: str
    commit: str
    outcome: str
    seconds: str
    reason: str


def git(*words, **environment):
    return subprocess.run(["git", *words], env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def checkout():
    """Returns the hash of all files but pages that git does not ignore, and the commit they belong to."""
    with tempfile.TemporaryDirectory() as folder:
        index = os.path.join(folder, "index")
        git("read-tree", "HEAD", GIT_INDEX_FILE=index)
        git("add", "--all", GIT_INDEX_FILE=index)
        changed = git("write-tree", GIT_INDEX_FILE=index) != git("rev-parse", "HEAD^{tree}")
        git("rm", "--cached", "-r", "--quiet", "--ignore-unmatch", "*.md", GIT_INDEX_FILE=index)
        tree = git("write-tree", GIT_INDEX_FILE=index)
    return tree, git("rev-parse", "--short", "HEAD") + "+" * changed


def read_results(tree):
    """Returns the last result of each part on these files."""
    results = {}
    with open(RESULTS, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == len(Result._fields) and line.endswith("\n") and fields[1] == tree:
                results[fields[0]] = Result(*fields)
    return results


def await_lock():
    """Waits until no ops/test runs in this checkout: after a kill, the last part takes a moment to clean up."""
    with open(LOCK, "a", encoding="utf-8") as file:
        deadline = time.monotonic() + LOCK_DEADLINE_S
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SystemExit(f"larder: another ops/test runs in this checkout: lock={os.path.abspath(LOCK)}; wait for it") from None
            time.sleep(0.1)


def run(program, part, log):
    """Runs a part and returns its exit code. The part ends with this process, however that ends."""
    words = ["setpriv", "--pdeathsig", "TERM", "--", program, "--long", *shlex.split(part)]
    with open(log, "w", encoding="utf-8") as file, subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file) as child:
        try:
            return child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise


def outcome(code, lines):
    """Returns the outcome of a part and the reason, from its exit code and the lines that it printed."""
    summary = SUMMARY.match(lines[-1]) if lines else None
    if code < 0:
        return "failed", f"killed by signal {-code}"
    if code or not summary:
        failed = [line.removeprefix("FAILED: ") for line in lines if line.startswith("FAILED: ")] or lines[-1:] or ["it printed nothing"]
        return "failed", failed[0] + (f"; and {len(failed) - 1} more" if len(failed) > 1 else "")
    skipped = [line.removeprefix(BECAUSE) for line in lines if line.startswith(BECAUSE)]
    if skipped and summary.group(1) == "0":
        return "skipped", skipped[0]
    return "passed", f"{len(skipped)} skipped, the first because {skipped[0]}" if skipped else ""


def run_part(program, part):
    tree, commit = checkout()
    log = os.path.join(LOGS, part.split()[0] + ".log")
    await_lock()
    print(f"== {part}, on {commit}; log={log}", flush=True)
    start = time.monotonic()
    code = run(program, part, log)
    seconds = time.monotonic() - start
    with open(log, encoding="utf-8", errors="replace") as file:
        result, reason = outcome(code, file.read().splitlines())
    if checkout()[0] != tree:
        result, reason = "failed", "files of the checkout changed while it ran"
    print(f"   {result} after {seconds:.0f} s{': ' * bool(reason)}{reason}", flush=True)
    return Result(part, tree, commit, result, f"{seconds:.0f}", " ".join(reason.split())[:200])


def table(parts, results):
    rows = [("part", "commit", "result", "seconds", "")]
    rows += [(part, *results[part][2:]) if part in results else (part, "", "not run", "", "") for part in parts]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for part, commit, result, seconds, reason in rows:
        print(f"{part:{widths[0]}}  {commit:{widths[1]}}  {result:{widths[2]}}  {seconds:>{widths[3]}}  {reason}".rstrip())


def run_all(program, parts, file):
    """Runs the parts that have not passed yet, and appends their results to the file."""
    file.write("\n" * bool(file.tell()))  # the last line may have been cut short
    for part in parts:
        known = read_results(checkout()[0]).get(part)
        if known and known.outcome == "passed":
            print(f"== {part}: passed before, on {known.commit}", flush=True)
            continue
        file.write("\t".join(run_part(program, part)) + "\n")
        file.flush()
        os.fsync(file.fileno())


def ended(number, _frame):
    raise SystemExit(128 + number)


def main():
    parser = argparse.ArgumentParser("ops/test --long all", description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the table and run nothing")
    parser.add_argument("--only", metavar="NAME", action="append", help="run only this part, or these")
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("parts", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [part.split()[0] for part in options.parts]
    unknown = set(options.only or []) - set(names)
    if unknown:
        parser.error(f"no such part: name={min(unknown)} parts={','.join(names)}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)
    os.makedirs(LOGS, exist_ok=True)
    with open(RESULTS, "a", encoding="utf-8") as file:
        try:
            if not options.table:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise SystemExit(f"larder: another ops/test --long all runs in this checkout: file={os.path.abspath(RESULTS)}; wait for it") from None
                run_all(options.program, [part for part, name in zip(options.parts, names) if name in (options.only or names)], file)
        finally:
            print()
            results = read_results(checkout()[0])
            table(options.parts, results)
    return 1 if any(results[part].outcome == "failed" for part in options.parts if part in results) else 0


if __name__ == "__main__":
    sys.exit(main())
