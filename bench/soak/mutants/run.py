#!/usr/bin/env -S python3 -B
"""Plants the mistake of each patch in a copy of the sources, and requires that one of its tests fails.

    run.py [NAME]...            all patches, or those with names that start with NAME, such as 07
    run.py --check              checks only that the patches apply and that their tests exist

The first line of a patch states the rule that it breaks. The second has the module and the tests that must find it: Class#method, or names
for Python's unittest. Builds the classes first, unless LARDER_NO_BUILD is set. Without a mistake all these tests must pass.
"""
import argparse
import collections
import contextlib
import glob
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PYTHON = "ops/python"
CLASS_PATH, CONSOLE = "target/mutants.classpath", "junit-platform-console-standalone"
CONSOLE_JAR = os.path.join(ROOT, "target", "mutants", CONSOLE + ".jar")
LIMIT_S = 600
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin", "") if os.environ.get("JAVA_HOME") else ""

runs = itertools.count(1)  # each marks its processes and stores with its number

Mutant = collections.namedtuple("Mutant", "name patch module tests files")


def mutants(names):
    for patch in sorted(glob.glob(os.path.join(HERE, "*.patch"))):
        name = os.path.basename(patch)[:-len(".patch")]
        if not names or name.startswith(tuple(names)):
            with open(patch, encoding="utf-8") as file:
                _, found_by, *lines = file.read().splitlines()
            module, *tests = found_by.split()
            yield Mutant(name, patch, module, tests, [line[len("+++ b/"):] for line in lines if line.startswith("+++ ")])


def source_of(module, test):
    """Returns the file of a test, or None."""
    name, folder = re.split("[#.]", test)[0], os.path.join(ROOT, module)
    if module == PYTHON:
        return next(glob.iglob(os.path.join(folder, name + ".py")), None)
    return next(glob.iglob(os.path.join(folder, "src", "test", "java", "**", name + ".java"), recursive=True), None)


def trouble(mutant):
    """Returns the reason why a mutant cannot run, or None."""
    applies = subprocess.run(["git", "apply", "--check", mutant.patch], cwd=ROOT, capture_output=True, text=True)
    if applies.returncode:
        return "patch does not apply: " + applies.stderr.strip().splitlines()[-1]
    for test in mutant.tests:
        source = source_of(mutant.module, test)
        if source:
            with open(source, encoding="utf-8") as file:
                source = re.search(rf"\b{re.split('[#.]', test)[-1]}\b", file.read())
        if not source:
            return "no such test: " + test
    return None


def build(modules):
    """Compiles modules with Maven, writes their class paths, and fetches JUnit's console."""
    maven = ["mvn", "-B", "-q"]
    with open(os.path.join(ROOT, "pom.xml"), encoding="utf-8") as pom:
        version = re.search("<junit.version>(.*?)<", pom.read())[1]
    if modules:
        subprocess.run([*maven, "-pl", ",".join(modules), "-am", "-Dspotless.check.skip", "-Dcheckstyle.skip", "-Derror.prone=-Werror",
                        "-Derror.prone.tests=-Werror", "test-compile", "dependency:build-classpath", "-Dmdep.outputFile=" + CLASS_PATH], cwd=ROOT, check=True)
        subprocess.run([*maven, "-N", "dependency:copy", f"-Dartifact=org.junit.platform:{CONSOLE}:{version}", "-Dmdep.stripVersion",
                        "-DoutputDirectory=" + os.path.dirname(CONSOLE_JAR)], cwd=ROOT, check=True)


def class_path(module):
    with open(os.path.join(ROOT, module, CLASS_PATH)) as file:
        dependencies = file.read().strip()
    return ":".join([*(os.path.join(ROOT, module, "target", kind) for kind in ("test-classes", "classes")), dependencies])


def jvm_flags(module):
    """Returns the flags of a module's tests, from its POM or the parent."""
    found = {}
    for folder in ROOT, os.path.join(ROOT, module):
        with open(os.path.join(folder, "pom.xml"), encoding="utf-8") as pom:
            found.update(re.findall(r"<((?:larder\.test|quick|chronicle)\.flags)>(.*?)</", pom.read()))
    return re.sub(r"\$\{(.*?)}", lambda match: found[match[1]], found["larder.test.flags"]).split()


def run_tests(module, tests, copy, overlay=None):
    """Runs tests, with the classes of `overlay` before others. Returns the exit code, or None after the time limit, and the output."""
    folder = os.path.join(copy if module == PYTHON else ROOT, module)
    if module == PYTHON:
        command = [sys.executable, "-B", "-W", "error", "-m", "unittest", *tests]
    else:
        sources = {os.path.relpath(source_of(module, test), os.path.join(folder, "src", "test", "java")) for test in tests}
        methods = "|".join({test.partition("#")[2] for test in tests})
        flags = [*jvm_flags(module), f"-Djava.io.tmpdir={folder}/target", f"-Dbasedir={folder}", "-XX:ErrorFile=/dev/null", "-XX:-CreateCoredumpOnCrash"]
        command = [JAVA + "java", *flags, "-cp", ":".join(filter(None, [overlay, class_path(module), CONSOLE_JAR])),
                   "org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--fail-if-no-tests", "--details=summary",
                   "--include-classname=.*", f"--include-methodname=.*#({methods})(\\(.*)?",
                   *("--select-class=" + source[:-len(".java")].replace("/", ".") for source in sources)]
    mark = f"{os.getpid()}m{next(runs)}"
    with tempfile.TemporaryDirectory(prefix="larder-mutant-") as scratch:
        environment = {**os.environ, "POCL_SIGFPE_HANDLER": "0", "LARDER_TEST_RUN": mark, "TMPDIR": scratch}
        try:
            done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=LIMIT_S, env=environment)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            clean_up(mark)


def clean_up(mark):
    """Kills the processes that a run has left, and removes its stores: with a mistake, tests may leave both."""
    deadline = time.monotonic() + 30
    while (left := [file for file in glob.glob("/proc/[0-9]*/environ") if is_marked(file, mark)]) and time.monotonic() < deadline:
        for file in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(file.split("/")[2]), signal.SIGKILL)
        time.sleep(0.05)
    for store in glob.glob(f"/dev/shm/larder-*-{mark}-*") + glob.glob(f"/var/tmp/larder-*-{mark}-*"):
        shutil.rmtree(store, ignore_errors=True)


def is_marked(environ, mark):
    try:
        with open(environ, "rb") as file:
            return f"LARDER_TEST_RUN={mark}".encode() in file.read().split(b"\0")
    except OSError:  # the process has ended, or belongs to another user
        return False


def compile_into(overlay, mutant, copy):
    """Compiles the changed files of a mutant. Returns the errors of the compiler, or an empty text."""
    sources = [os.path.join(copy, file) for file in mutant.files if file.endswith(".java")]
    if not sources:
        return ""
    quick = "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-nowarn", "-proc:none"
    done = subprocess.run([JAVA + "javac", *quick, "-parameters", "-g", "-XDstringConcat=inline", "-d", overlay, "-cp", class_path(mutant.module), *sources],
                          capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


def verdict(mutant, copy):
    """Returns whether a test finds the mutant, and a line about that."""
    reason = trouble(mutant)
    if reason:
        return False, reason
    patch = ["git", "apply", mutant.patch]
    subprocess.run(patch, cwd=copy, check=True)
    try:
        with tempfile.TemporaryDirectory(prefix="larder-mutant-") as overlay:
            errors = compile_into(overlay, mutant, copy)
            if errors:
                return False, "does not compile: " + errors
            code, output = run_tests(mutant.module, mutant.tests, copy, overlay)
    finally:
        subprocess.run([*patch, "-R"], cwd=copy, check=True)
    if not code:
        is_skipped = re.search(r"\[ +[1-9]\d* tests (?:skipped|aborted)|skipped=", output)
        return False, "NOT FOUND" + (f" within {LIMIT_S} s" if code is None else ": its tests are skipped here" if is_skipped else "")
    failed = re.findall(r"JUnit Jupiter:(\w+):(\w+)|^(?:FAIL|ERROR): (\w+)", output, re.M)
    names = dict.fromkeys("#".join(filter(None, names)) for names in failed)
    return True, "found by " + (", ".join(names) or f"{mutant.tests[0]}, which ended with code {code}")


def copy_sources(copy):
    """Copies the tracked files with their present contents."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if os.path.lexists(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(copy, name), follow_symlinks=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    chosen = list(mutants(options.names))
    if options.check:
        sys.exit("\n".join(f"{mutant.name}: {reason}" for mutant in chosen if (reason := trouble(mutant))) or 0)
    tests = collections.defaultdict(dict)
    for mutant in chosen:
        tests[mutant.module].update(dict.fromkeys(mutant.tests))
    if not os.environ.get("LARDER_NO_BUILD"):
        build(sorted(tests.keys() - {PYTHON}))
    found = 0
    with tempfile.TemporaryDirectory(prefix="larder-mutants-") as copy:
        os.environ["GIT_CEILING_DIRECTORIES"] = os.path.dirname(copy)  # the copy has no repository, even if a folder above it has one
        copy_sources(copy)
        for module, names in tests.items():
            code, output = run_tests(module, list(names), copy)
            if code != 0:
                sys.exit(f"{output}\ntests of {module} fail without a mistake: code {code}")
        for mutant in chosen:
            is_found, line = verdict(mutant, copy)
            found += is_found
            print(f"{mutant.name}: {line}", flush=True)
    print(f"{found} of {len(chosen)} found")
    sys.exit(found < len(chosen))


if __name__ == "__main__":
    main()
