"""Makes the wheels larder-cache and larder-cache-daemon of what is staged: wheels.py ROOT TARGET VERSION

A wheel is a zip file of a known form, so neither a builder of wheels nor a network is needed. The same input gives the
same bytes.
"""

import base64
import hashlib
import os
import pathlib
import sys
import zipfile

WRITTEN = 2026, 1, 1, 0, 0, 0  # as in the archives: project.build.outputTimestamp
PROGRAMS = "runtime/bin/java", "runtime/lib/jspawnhelper", "runtime/lib/jexec"
ABOUT = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
License: Apache-2.0
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
"""


class Wheel:
    """One wheel: files are added, then it is written with a list of them and of their hashes."""

    def __init__(self, name, version, tag, summary, more=""):
        self._stem = f"{name.replace('-', '_')}-{version}"
        self._file = f"{self._stem}-{tag}.whl"
        self._entries = {}
        self._info("METADATA", ABOUT.format(name=name, version=version, summary=summary) + more)
        pure = "true" if tag.endswith("-any") else "false"
        self._info("WHEEL", f"Wheel-Version: 1.0\nGenerator: larder\nRoot-Is-Purelib: {pure}\nTag: {tag}\n")

    def _info(self, name, text):
        self._entries[f"{self._stem}.dist-info/{name}"] = text.encode(), 0o644

    def add(self, source, name, mode=0o644):
        """Add a file to what is imported."""
        self._entries[name] = source.read_bytes(), mode

    def add_data(self, source, scheme, name, mode=0o644):
        """Add a file to a folder of the installation: ``scripts``, or ``data`` for its root."""
        self.add(source, f"{self._stem}.data/{scheme}/{name}", mode)

    def add_license(self, source):
        self.add(source, f"{self._stem}.dist-info/{source.name}")

    def write(self, folder):
        record = f"{self._stem}.dist-info/RECORD"
        for old in folder.glob(self._file.split("-")[0] + "-*.whl"):
            old.unlink()
        rows = [f"{name},sha256={digest(data)},{len(data)}" for name, (data, _) in sorted(self._entries.items())]
        self._entries[record] = "\n".join([*rows, f"{record},,", ""]).encode(), 0o644
        with zipfile.ZipFile(folder / self._file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (data, mode) in sorted(self._entries.items(), key=lambda entry: (".dist-info/" in entry[0], entry[0])):
                entry = zipfile.ZipInfo(name, WRITTEN)
                entry.external_attr = (0o100000 | mode) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, whose modes these are
                archive.writestr(entry, data)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def reader(root, target, version):
    """Make the wheel that needs numpy alone."""
    wheel = Wheel("larder-cache", version, "py3-none-any", "Datasets that all processes of a machine share, in shared memory",
                  "Requires-Dist: numpy>=1.23\nProvides-Extra: daemon\n"
                  f"Requires-Dist: larder-cache-daemon=={version}; extra == \"daemon\"\n")
    package = target / "stage/python/larder"
    for path in files(package):
        wheel.add(path, f"larder/{path.relative_to(package)}")
    wheel.add_license(root / "LICENSE")
    return wheel


def daemon(root, target, version):
    """Make the wheel that has the command, with all that it needs but bash."""
    wheel = Wheel("larder-cache-daemon", version, f"py3-none-{platform()}", "The daemon and the command of Larder, with their own Java")
    stage, runtime = target / "stage", target / "runtime"
    for folder in "lib", "libexec", "python":
        for path in files(stage / folder):
            wheel.add_data(path, "data", f"lib/larder/{path.relative_to(stage)}")
    for path in files(runtime):
        name = f"runtime/{path.relative_to(runtime)}"
        if not name.startswith("runtime/bin/") or name in PROGRAMS:
            wheel.add_data(path, "data", f"lib/larder/{name}", 0o755 if name in PROGRAMS else 0o644)
    for path in files(stage / "man"):
        wheel.add_data(path, "data", f"share/{path.relative_to(stage)}")
    wheel.add_data(stage / "completions/larder.bash", "data", "share/bash-completion/completions/larder")
    wheel.add_data(stage / "completions/larder.fish", "data", "share/fish/vendor_completions.d/larder.fish")
    wheel.add_data(stage / "completions/_larder", "data", "share/zsh/site-functions/_larder")
    wheel.add_data(root / "cache-server/distribution/src/main/sh/larder-of-wheel", "scripts", "larder", 0o755)
    for name in "LICENSE", "THIRD-PARTY.txt":
        wheel.add_license(stage / name)
    return wheel


def platform():
    """Name the systems that the Java runs on: those whose C library is as new as this one's, by which it was linked."""
    release = os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")
    return "manylinux_{}_{}_{}".format(*release[:2], os.uname().machine)


def main(root, target, version):
    version = version.replace("-SNAPSHOT", ".dev0")
    root, target = pathlib.Path(root), pathlib.Path(target)
    reader(root, target, version).write(target)
    daemon(root, target, version).write(target)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
