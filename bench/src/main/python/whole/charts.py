"""Draws the charts of a report as SVG, with matplotlib. Each says in its title what it shows, and nothing that the raw figures do not have."""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams |= {
    "svg.hashsalt": "larder",  # the same figures give the same bytes
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.figsize": (6.4, 4.4),
    "lines.linewidth": 2,
    "lines.markersize": 5,
}

import figures
import ingest_report
from matplotlib import pyplot

OURS, PEER, OTHER, LIMIT = "#0b6e4f", "#c0392b", "#e08e0b", "#7f8c8d"
GIB = 1 << 30
SHARES = (0, 50, 90, 95, 99, 99.9, 100)


def chart(folder, name, title, x, y, log_x=False, log_y=False):
    """Returns axes, and a function that writes the chart."""
    drawing, axes = pyplot.subplots()
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if log_x:
        axes.set_xscale("log", base=log_x)
    if log_y:
        axes.set_yscale("log")

    def write():
        if not log_y:
            axes.set_ylim(bottom=0)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=2)
        drawing.tight_layout()
        drawing.savefig(os.path.join(folder, name + ".svg"), metadata={"Date": None})
        pyplot.close(drawing)
        return name + ".svg", title

    return axes, write


def ticks(axes, values, labels):
    axes.set_xticks(values)
    axes.set_xticklabels(labels)
    axes.minorticks_off()


def size(count):
    for unit, length in (("GiB", GIB), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= length:
            return f"{count / length:.4g} {unit}"
    return f"{count} B"


def arrays(run, folder):
    _, _, peers = figures.arrays_report.read(run)
    yield from gathering(figures.lines(run, "gather.jsonl"), folder)
    yield opening(run, folder, peers)


# A contender's name begins with one of these; the last of the styles is of another JDK.
GATHERERS = {
    "larder-": (OURS, "o--"), "larder": (OURS, "o-"), "memcpy": (LIMIT, ":"), "numpy take": (PEER, "s-"), "numpy index": (PEER, "s--"),
    "torch": (OTHER, "^-"),
}


def gathering(rows, folder):
    """Draws GB/s by the length of a row, for the largest array, on each kind of pages; the same scale on both."""
    rows = [row for row in rows if "rates" in row and row["bytes"] == max(other.get("bytes", 0) for other in rows)]
    most = max(statistics.median(values) for row in rows for values in row["rates"].values()) / 1e9
    for pages in "huge", "small":
        these = [row for row in rows if row["pages"] == pages]
        if len(these) > 1:
            title = f"Gathering random rows of {size(these[0]['bytes'])} on {pages} pages, one thread"
            axes, write = chart(folder, f"gather-{pages}", title, "bytes of a row", "GB/s", log_x=10)
            for name in dict.fromkeys(name for row in these for name in row["rates"]):
                color, style = next(GATHERERS[start] for start in GATHERERS if name.startswith(start))
                points = [(row["rowBytes"], statistics.median(row["rates"][name]) / 1e9) for row in these if name in row["rates"]]
                axes.plot(*zip(*points), style, color=color, label=name)
            axes.set_ylim(top=1.05 * most)
            ticks(axes, [row["rowBytes"] for row in these], [size(row["rowBytes"]) for row in these])
            yield write()


def opening(run, folder, peers):
    axes, write = chart(folder, "open", "Opening an array and reading one element", "share of opens that are faster, %", "µs", log_y=True)
    for name, label, color in (("openRead", "lease, map, read, close", OURS), ("connectOpenRead", "with connecting before and after", OTHER)):
        entry = figures.jmh(os.path.join(run, "jmh-open.json"))["OpenBenchmark." + name,]
        points = sorted((float(share), value) for share, value in entry["primaryMetric"]["scorePercentiles"].items())
        points = [point for point in points if point[0] in SHARES]
        axes.plot(range(len(points)), [value for _, value in points], "o-", color=color, label=label)
        ticks(axes, range(len(points)), [f"{share:g}" for share, _ in points])
    axes.axhline(statistics.mean(p["openMicros"] for p in peers), color=PEER, linestyle="--", label='np.load(mmap_mode="r"), mean')
    return write()


def ingest(run, folder):
    rows = figures.ingest_rows(run)
    word = "advise" if any(row["huge"] == "advise" for row in rows) else rows[0]["huge"]
    rows = [row for row in rows if row["huge"] == word]
    axes, write = chart(folder, "ingest", f"Loading one file, tmpfs huge={word}", "size of the file", "GB/s", log_x=2)
    sizes = [row["bytes"] for row in rows]
    for name, label, color, style in (
        ("larder", "larder load, whole", OURS, "o-"),
        ("cp", "cp", PEER, "s-"),
        ("unchecked", "larder's copying alone, without checksum", LIMIT, ":"),
    ):
        axes.plot(sizes, [row[name] for row in rows], style, color=color, label=label)
    ticks(axes, sizes, [size(each) for each in sizes])
    yield write()


def threads(run, folder):
    axes, write = chart(folder, "threads", "Shuffled batches of 256×784 floats", "threads of the loader", "batches/s")
    rates = {key[1]: entry for key, entry in figures.jmh(os.path.join(run, "threads.json")).items()}
    one = figures.jmh(os.path.join(run, "round-1.json"))
    rates["0"] = one["EpochBenchmark.loader", "0"]
    counts = sorted(rates, key=int)
    scores = [rates[count]["primaryMetric"]["score"] for count in counts]
    axes.plot([int(count) for count in counts], scores, "o-", color=OURS, label="larder")
    for name, label, color in (("bareGather", "the copies alone, one thread", LIMIT), ("djlArrayDataset", "DJL ArrayDataset", PEER)):
        axes.axhline(one["EpochBenchmark." + name,]["primaryMetric"]["score"], color=color, linestyle="--", label=label)
    ticks(axes, [int(count) for count in counts], counts)
    yield write()


def growth(run, folder):
    rows = figures.lines(run, "arrays.jsonl")
    axes, write = chart(folder, "arrays", "As a dataset has more arrays", "arrays", "ms, median", log_x=10, log_y=True)
    counts = [row["arrays"] for row in rows]
    axes.plot(counts, [row["openAndRead"]["p50Ms"] for row in rows], "o-", color=OURS, label="open it and read one array")
    axes.plot(counts, [row["arrayOfOpen"]["p50Ms"] for row in rows], "s-", color=OTHER, label="a random array of an open dataset, the first time")
    axes.plot(counts, [row["list"]["p50Ms"] for row in rows], "^-", color=LIMIT, label="list all arrays")
    axes.plot(counts, [1e3 * row["loadSeconds"] for row in rows], "v-", color=PEER, label="load the folder")
    ticks(axes, counts, [f"{count:,}" for count in counts])
    yield write()

    rows = figures.lines(run, "clients.jsonl")
    axes, write = chart(folder, "clients", "As more processes open a dataset at once", "processes", "ms", log_x=2, log_y=True)
    counts = [row["readers"] for row in rows]
    axes.plot(counts, [row["open"]["p50Ms"] for row in rows], "o-", color=OURS, label="larder, median")
    axes.plot(counts, [row["open"]["p99Ms"] for row in rows], "o:", color=OURS, label="larder, p99")
    axes.plot(counts, [row["map"]["p50Ms"] for row in rows], "s-", color=PEER, label="mapping the file without Larder, median")
    ticks(axes, counts, counts)
    yield write()


def collectives(run, folder):
    rows = figures.lines(run, "collectives.jsonl")
    axes, write = chart(folder, "all-reduce", "allReduce of floats, two ranks", "bytes", "GB/s", log_x=2, log_y=True)
    for what, engine, label, color in (
        ("allReduce", "larder", "larder", OURS),
        ("allReduce", "gloo", "Gloo on loopback", PEER),
        ("copy", "larder", "a plain copy by both", LIMIT),
    ):
        points = sorted(
            (row["bytes"], row["bytes"] / row["medianUs"] / 1e3)
            for row in rows
            if (row["what"], row["engine"], row["ranks"]) == (what, engine, 2)
        )
        if points:
            axes.plot(*zip(*points), "o-", color=color, label=label)
            ticks(axes, [point[0] for point in points], [size(point[0]) for point in points])
    yield write()


def one_copy(run, folder):
    rows = figures.lines(run, "rows.jsonl")
    held = [row for row in rows if row["figure"] == "one-copy" and "copies" in row]
    axes, write = chart(folder, "one-copy", f"Memory for one dataset of {size(held[0]['datasetBytes'])}", "trainers", "GiB (PSS of its pages)")
    for engine, label, color, style in (
        ("plain-python", "each loads for itself, Python", OTHER, "s-"),
        ("plain-java", "each loads for itself, Java", PEER, "s--"),
        ("larder-python", "Larder, Python", LIMIT, "o-"),
        ("larder-java", "Larder, Java", OURS, "o--"),
    ):
        points = [(row["processes"], row["dataPssBytes"] / GIB) for row in held if row["engine"] == engine]
        axes.plot(*zip(*points), style, color=color, label=label)
    counts = sorted({row["processes"] for row in held})
    ticks(axes, counts, counts)
    yield write()

    forks = [row for row in rows if row["figure"] == "fork"]
    axes, write = chart(folder, "fork", f"Forked Python readers of {forks[0]['keys']:,} keys, each looks all up", "processes", "MiB that they add")
    for engine, label, color in (("dict", "a dict", PEER), ("index", "an index column", OURS)):
        points = [(row["processes"], row["privateBytes"] / (1 << 20)) for row in forks if row["engine"] == engine]
        axes.plot(*zip(*points), "o-", color=color, label=label)
    counts = sorted({row["processes"] for row in forks})
    ticks(axes, counts, counts)
    yield write()


DRAWN = {"arrays": arrays, "ingest": ingest, "loader": threads, "growth": growth, "collectives": collectives, "one-copy": one_copy}


def draw_all(run):
    """Draws what a run's folder has figures for; returns [(file, title)] by part, and what is wrong with parts: {part: error}."""
    folder = os.path.join(run, "charts")
    os.makedirs(folder, exist_ok=True)
    found, wrong = {}, {}
    for part, drawn in DRAWN.items():
        if os.path.isdir(os.path.join(run, part)):
            try:
                for one in drawn(os.path.join(run, part), folder):
                    found.setdefault(part, []).append(one)
            except (OSError, ValueError, LookupError, ArithmeticError) as e:
                wrong[part] = f"{type(e).__name__}: {e}"
    return found, wrong
