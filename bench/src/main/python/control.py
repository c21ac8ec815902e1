"""Calls to a daemon from scripts that time them, and the quantiles of these times."""
import os

import harness

harness.import_larder()

from larder._control import _called, _done


class Daemon:
    def __init__(self, store):
        self.store = os.path.abspath(store)

    def call(self, method, progress=None, **parameters):
        return _called(self.store, method, parameters, progress)

    def load(self, name, path, workers=0, progress=None, **options):
        """Loads one source, and returns how that ended."""
        return self.load_all({name: path}, workers, progress, **options)

    def load_all(self, paths, workers=0, progress=None, **options):
        sources = [{"name": name, "path": os.path.abspath(path) if "://" not in path else path} for name, path in paths.items()]
        return _done(self.call("Load", progress, sources=sources, options=options, workers=workers))

    def evict(self, name):
        self.call("Evict", name=name)

    def status(self):
        return self.call("Status")[-1]["status"]

    def arrays(self, prefix=""):
        return [row for answer in self.call("List", prefix=prefix) for row in answer.get("arrays") or ()]


def quantiles(seconds):
    """Returns quantiles in milliseconds."""
    ordered = sorted(seconds) or [0.0]

    def at(percent):
        return 1e3 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]

    return {"count": len(seconds), "p50Ms": at(50), "p99Ms": at(99), "maxMs": at(100)}


def processor_s(pid):
    """Returns the processor time that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
