"""Random rows, opening and elements, next to memcpy, numpy, torch and plain Java."""
from harness import LIMIT, OTHER, OURS, PEER, Chart, Jmh, figure, lines, load, markdown, median, ratios, size, table

OPENS = {
    "first": "first in a JVM, including class loading", "connectOpenRead": "connect, open, read, close", "openRead": "open, read, close",
    "repeated": "array of an open dataset",
}
ELEMENTS = {"unsafeBuffer": "UnsafeBuffer, index computed by hand", "view": "view.getFloat(i, j)", "window": "row window"}
# The key of a figure, the beginning of its peer's name, and the lengths of rows.
PEERS = (
    ("", ("numpy", "torch"), (64, 256, 784, 3072, 153600)), ("memcpy.", "memcpy", (784, 3072)), ("heap.", "heap array", (784,)),
    ("channel.", "FileChannel", (784,)),
)
SHARES = (0, 50, 90, 95, 99, 99.9, 100)
# The beginning of a contender's name, and its line; "larder-" is another JDK.
STYLES = {
    "larder-": (OURS, "o--"), "larder": (OURS, "o-"), "memcpy": (LIMIT, ":"), "numpy take": (PEER, "s-"), "numpy index": (PEER, "s--"),
    "torch": (OTHER, "^-"), "heap array": (OTHER, "v--"), "FileChannel": (OTHER, "v:"),
}


def read(folder):
    """Returns JMH's runs and numpy's figures before and after them: a drift of the machine affects both sides."""
    return Jmh(*(f"{folder}/{name}.json" for name in ("jmh", "jmh-open", "jmh-first"))), [load(folder, f"numpy-{when}.json") for when in ("before", "after")]


def fastest(rates, names):
    """Returns the fastest contender with such a name, or None if none ran."""
    return max((name for name in rates if name.startswith(names)), key=lambda name: median(rates[name]), default=None)


def largest(rows):
    """Returns the rows of the largest array."""
    return [row for row in rows if "rates" in row and row["bytes"] == max(other.get("bytes", 0) for other in rows)]


def tables(folder, pace):
    runs, peers = read(folder)
    opens = [[f"larder: {label}", f"{runs('OpenBenchmark.' + name).score:,.2f}"] for name, label in OPENS.items()]
    opens.append(['numpy: np.load(mmap_mode="r")', f"{median(p['openMicros'] for p in peers):,.2f}"])
    yield f"numpy {peers[0]['numpy']}\n"
    yield markdown(["open and read one element", "µs"], opens)
    base = runs("ElementBenchmark.unsafeBuffer").score
    yield "\n" + table([{"label": label, "ns": runs("ElementBenchmark." + name).score, "base": base, "more": runs("ElementBenchmark." + name).score - base}
                        for name, label in ELEMENTS.items()],
                       {"read one float at a random index": "{label}", "ns": "{ns:.2f}", "more than UnsafeBuffer": "{more:+.2f}"})
    yield ""
    yield from turns(lines(folder, "gather.jsonl"))


def turns(rows):
    """Yields why contenders are absent, and a table for each size and kind of pages."""
    for row in rows:
        if "absent" in row:
            yield f"Not there: {row['absent']}.\n"
    rows = [row for row in rows if "rates" in row]
    for length, pages in dict.fromkeys((row["bytes"], row["pages"]) for row in rows):
        these = [row for row in rows if (row["bytes"], row["pages"]) == (length, pages)]
        names = list(dict.fromkeys(name for row in these for name in row["rates"]))
        ours = [name for name in names if name.startswith("larder")]
        yield f"Random rows of {length >> 20} MiB on {pages} pages, one thread, GB/s; order of seed {these[0]['seed']}:\n"
        heads = [head for name in ours for head in (f"{name} / memcpy", f"{name} / fastest of numpy and torch")]
        yield markdown(["bytes of a row", *names, *heads], [cells(row, names, ours) for row in these]) + "\n"


def cells(row, names, ours):
    rates = row["rates"]
    found = [row["rowBytes"], *(f"{median(rates[name]) / 1e9:.2f}" if name in rates else "" for name in names)]
    for name in ours:
        for peer in fastest(rates, "memcpy"), fastest(rates, ("numpy", "torch")):
            found.append(f"{median(ratios(rates[name], rates[peer])):.2f}" if peer and name in rates else "")
    return found


def figures(folder):
    runs, peers = read(folder)
    for row in largest(lines(folder, "gather.jsonl")):
        for key, names, lengths in PEERS:
            rates, peer = row["rates"], fastest(row["rates"], names)
            if peer and row["rowBytes"] in lengths:
                ours, theirs = ([rate / 1e9 for rate in rates[name]] for name in ("larder", peer))
                what = f"random rows of {row['rowBytes']} B out of {row['bytes'] >> 20} MiB on {row['pages']} pages, one thread"
                yield figure(f"gather.{key}{row['pages']}.{row['rowBytes']}", what, ours, "GB/s", peer, theirs, times=median(ratios(ours, theirs)))
    yield figure("open", "open an array, read one element and close, mean", runs("OpenBenchmark.openRead"), "µs", 'np.load(mmap_mode="r"), without a lease',
                 [p["openMicros"] for p in peers], less=True)
    yield figure("open.again", "get an array of an open dataset", runs("OpenBenchmark.repeated"), "µs", less=True)
    yield figure("element", "read one float at a random index", runs("ElementBenchmark.view"), "ns", "UnsafeBuffer, index computed by hand",
                 runs("ElementBenchmark.unsafeBuffer"), less=True)


def charts(folder):
    """Yields GB/s by the length of a row on both kinds of pages, with one scale, and the time to open an array."""
    rows = largest(lines(folder, "gather.jsonl"))
    most = max(median(values) for row in rows for values in row["rates"].values()) / 1e9
    for pages in "huge", "small":
        these = [row for row in rows if row["pages"] == pages]
        if len(these) > 1:
            names = dict.fromkeys(name for row in these for name in row["rates"])
            drawn = [(name, *next(STYLES[start] for start in STYLES if name.startswith(start)),
                      [(row["rowBytes"], median(row["rates"][name]) / 1e9) for row in these if name in row["rates"]]) for name in names]
            yield Chart(f"gather-{pages}", f"Gathering random rows of {size(these[0]['bytes'])} on {pages} pages, one thread", "bytes of a row", "GB/s", drawn,
                        {row["rowBytes"]: size(row["rowBytes"]) for row in these}, log_x=10, top=1.05 * most)
    runs, peers = read(folder)
    drawn = []
    for name, label, color in (("openRead", "lease, map, read, close", OURS), ("connectOpenRead", "with connecting before and after", OTHER)):
        percentiles = runs("OpenBenchmark." + name).entries[0]["primaryMetric"]["scorePercentiles"]
        drawn.append((label, color, "o-", [(i, percentiles[str(float(share))]) for i, share in enumerate(SHARES)]))
    yield Chart("open", "Opening an array and reading one element", "share of opens that are faster, %", "µs", drawn,
                {i: f"{share:g}" for i, share in enumerate(SHARES)},
                [('np.load(mmap_mode="r"), mean', PEER, median(p["openMicros"] for p in peers))], log_y=True)
