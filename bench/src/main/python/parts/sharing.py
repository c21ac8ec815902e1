"""Many readers, readers that are killed, a daemon that is killed."""
import glob
import os

from harness import load, markdown

TIMES = ("p50Ms", "p99Ms", "maxMs")


def times(what, rows, digits=1):
    """Returns a table of (label, quantiles)."""
    return markdown([what, "p50", "p99", "max"], [[label, *(f"{found[key]:.{digits}f}" for key in TIMES)] for label, found in rows])


def tables(folder, pace):
    many = load(folder, "many-readers.json")
    yield f"## {many['readers']} processes open {many['bytes']} bytes at once, {many['rounds']} times, and read them all\n"
    yield times("ms", [("first open, with classes to load", many["first"]), ("open again", many["open"]), ("map the same file without Larder", many["map"])])
    yield f"\nProcessor time of the daemon over {many['seconds']:.1f} s: {many['daemonCpuSeconds']:.2f} s.\n"
    found = load(folder, "disturbed-readers.json")
    yield f"## Requests while the daemon loads ({found['loads']}) and evicts ({found['evictions']}), {found['readers']} readers\n"
    yield times("ms", [("readers come and go", found["calm"]),
                       (f"as many are killed ({found['kills']}), others stopped ({found['stops']})", found["disturbed"])])
    yield f"\nRatio of p99: {found['p99Ratio']:.2f}\n"
    found = load(folder, "collapse.json")
    yield (f"## A reader while its dataset ({found['bytes'] >> 20} MiB, rows of {found['rowBytes']} bytes) is moved to huge pages, in {found['seconds']:.1f} s\n")
    yield times("ms for 256 random rows", [("before, on small pages", found["before"]), ("meanwhile", found["during"]),
                                           ("after, on huge pages", found["after"])], 3)
    yield "\n## From the start of a process to the first answer\n"
    restarts = [load(path) for path in sorted(glob.glob(os.path.join(glob.escape(folder), "warm-restart-*.json")))]
    yield times("ms", [row for found in restarts for row in (
        ("empty store", found["emptyStart"]),
        (f"after kill -9: {found['arrays']} arrays in {found['datasets']} datasets, {found['usedBytes']} bytes", found["warmStart"]))])
    for found in restarts:
        yield (f"\nProcessor time up to the first answer, {found['datasets']} datasets: {found['warmCpuSeconds']:.2f} s,"
               f" on an empty store {found['emptyCpuSeconds']:.2f} s.")
