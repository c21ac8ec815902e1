"""Reads what the parts of a run have left, and picks the figures that a report begins with and that two reports are compared by.

A figure has a ratio to a peer of the same run, in which more is better, or where it has no peer, a value. Its spread says by how much
repetitions in the same run differ, its own or the peer's, whichever more: (most - least) / middle; None, unknown, where either side
was not repeated, or its repetitions were not kept. A figure whose spread is wide was disturbed, or its peer was. That figure, and one of
unknown spread, counts as not measured, and README does not quote it.
A figure that begins to measure something else gets another key.
"""
import contextlib
import dataclasses
import json
import operator
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import arrays_report
import fan_out_report
import handles_report
import ingest_report
import torch_peer

RUN_WAYS = {
    ("remote", "plain"): "each run fetches for itself",
    ("remote", "disk"): "a script that fetches to the disk, then np.load(mmap_mode=\"r\")",
    ("remote", "script"): "a script that fetches to /dev/shm, then np.load(mmap_mode=\"r\")",
    ("remote", "ray"): "Ray, a driver and eight actors",
    ("images", "plain"): "each run opens the files, every epoch",
    ("images", "samples"): "each run keeps what it has opened, as MONAI's CacheDataset does",
    ("images", "script"): "a script with np.save of all files in /dev/shm",
    ("images", "huggingface"): "Hugging Face's imagefolder with its bytes embedded",
    ("images", "ray"): "Ray, a driver and eight actors",
    ("parquet", "plain"): "each run reads the file with pyarrow",
    ("parquet", "disk"): "a script with np.save of each column on the disk",
    ("parquet", "script"): "a script with np.save of each column in /dev/shm",
    ("parquet", "huggingface"): "Hugging Face's Dataset.from_parquet",
    ("parquet", "ray"): "Ray, a driver and eight actors",
}
SOURCES = {"remote": "an array behind a server of 50 MB/s", "images": "a folder of many small images", "parquet": "a table of Parquet"}
RESUMED_ROWS = 100_000_000
STARTS = {"first": "first command after unpacking", "ls": "larder ls", "ready": "larder serve --detach"}
PACKAGES = {"checkout": "checkout", "archive": "archive without Java", "with-java": "archive with Java"}
GATHERED = (784, 3072)
WIDE = 0.5
# What the keys of figures begin or end with that need a peer or memory that not every machine has.
OPTIONAL = ("gather.memcpy.", "loader.torch.", "collectives.gloo", "one-copy.java", "one-copy.python", "day.parquet.")
OPTIONAL_ENDS = (".huggingface", ".ray")


@dataclasses.dataclass
class Figure:
    key: str
    what: str
    value: float
    unit: str
    less_is_better: bool = False
    peer: str = ""
    peer_value: float = 0.0
    spread: float = None  # unknown
    times: float = 0.0
    command: str = ""

    @property
    def measured(self):
        """Whether there were repetitions, and they agree well enough for a statement."""
        return self.spread is not None and self.spread <= WIDE

    @property
    def ratio(self):
        """How many times better than the peer, by rounds in turns where there were such; None where there is no peer."""
        if self.times:
            return self.times
        if not self.peer_value or not self.value:
            return None
        return self.peer_value / self.value if self.less_is_better else self.value / self.peer_value

    def json(self):
        return dataclasses.asdict(self) | {"ratio": self.ratio, "measured": self.measured}


def load(*path):
    with open(os.path.join(*path)) as file:
        return json.load(file)


def lines(*path):
    with open(os.path.join(*path)) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def spread(values):
    """Returns (most - least) / middle, and None where there is nothing to compare."""
    if len(values) < 2:
        return None
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if middle else 0.0 if max(values) == min(values) else None


def widest(*spreads):
    """Returns the widest of some spreads; None where one is unknown."""
    return None if None in spreads else max(spreads)


def jmh(path):
    """Returns {benchmark method, parameter values...: entry}."""
    return {
        (run["benchmark"].rsplit(".", 2)[-2] + "." + run["benchmark"].rsplit(".", 1)[-1], *run.get("params", {}).values()): run
        for run in load(path)
    }


def iterations(run):
    """Returns what each of JMH's iterations measured; where JMH kept samples, their means."""
    metric = run["primaryMetric"]
    samples = [iteration for fork in metric.get("rawDataHistogram", []) for iteration in fork]
    means = [sum(value * count for value, count in each) / sum(count for _, count in each) for each in samples]
    return means or [value for fork in metric.get("rawData", []) for value in fork]


def own_spread(*runs):
    """Returns the widest spread of JMH's iterations of some benchmarks."""
    return widest(*(spread(iterations(run)) for run in runs))


def turns(rows):
    """Yields how Larder gathers rows of usual lengths on both kinds of pages, beside others in turns."""
    for row in rows:
        if row.get("rowBytes") in GATHERED and row["bytes"] == max(other.get("bytes", 0) for other in rows):
            for key, names in ("", ("numpy", "torch")), ("memcpy.", "memcpy"):
                rates, peer = row["rates"], arrays_report.fastest(row["rates"], names)
                if peer:
                    yield Figure(
                        f"gather.{key}{row['pages']}.{row['rowBytes']}",
                        f"random rows of {row['rowBytes']} B out of {row['bytes'] >> 20} MiB on {row['pages']} pages, one thread",
                        statistics.median(rates["larder"]) / 1e9, "GB/s", peer=peer, peer_value=statistics.median(rates[peer]) / 1e9,
                        times=arrays_report.median_ratio(rates["larder"], rates[peer]), spread=widest(spread(rates["larder"]), spread(rates[peer])),
                    )


def arrays(folder):
    one, _, peers = arrays_report.read(folder)
    raw = jmh(os.path.join(folder, "jmh.json"))
    for row in arrays_report.row_bytes(one):
        clip = [p["gather"][row]["takeClip"] for p in peers]
        yield Figure(
            f"gather.{row}", f"gather 256 random rows of {row} B, one thread", one[f"GatherBenchmark.larder:{row}"][0], "batches/s",
            peer="numpy's fastest call, take(out=, mode=\"clip\")", peer_value=statistics.mean(clip),
            spread=widest(own_spread(raw["GatherBenchmark.larder", row]), spread(clip)),
        )
    yield from turns(lines(folder, "gather.jsonl"))
    ours = raw["GatherBenchmark.larder", "784"]
    for key, peer, name in (("heap", "rows in a Java heap array", "heapArray"), ("channel", "FileChannel", "fileChannel")):
        other = raw["GatherBenchmark." + name, "784"]
        yield Figure(
            f"gather.{key}", "gather 256 random rows of 784 B, one thread", one["GatherBenchmark.larder:784"][0], "batches/s",
            peer=peer, peer_value=other["primaryMetric"]["score"], spread=own_spread(ours, other),
        )
    opened = [p["openMicros"] for p in peers]
    open_read = jmh(os.path.join(folder, "jmh-open.json"))["OpenBenchmark.openRead",]
    yield Figure(
        "open", "open an array, read one element and close, mean", one["OpenBenchmark.openRead"][0], "µs", True,
        peer='np.load(mmap_mode="r"), without a lease', peer_value=statistics.mean(opened),
        spread=widest(own_spread(open_read), spread(opened)),
    )
    yield Figure("open.again", "get an array of an open dataset", one["OpenBenchmark.repeated"][0], "µs", True,
                 spread=own_spread(raw["OpenBenchmark.repeated",]))
    yield Figure(
        "element", "read one float at a random index", one["ElementBenchmark.view"][0], "ns", True,
        peer="UnsafeBuffer, index computed by hand", peer_value=one["ElementBenchmark.unsafeBuffer"][0],
        spread=own_spread(raw["ElementBenchmark.view",], raw["ElementBenchmark.unsafeBuffer",]),
    )


def columns(folder):
    table = jmh(os.path.join(folder, "jmh-index.json"))
    keys = max(int(key[1]) for key in table)
    for name, peer, label in (("text", "textHashMap", "HashMap<String, Long>"), ("integer", "integerAgrona", "Agrona Long2LongHashMap")):
        ours, theirs = table["IndexBenchmark." + name, str(keys)], table["IndexBenchmark." + peer, str(keys)]
        yield Figure(
            f"index.{name}", f"look up one of {keys:,} {name} keys", ours["primaryMetric"]["score"], "ns", True,
            peer=label, peer_value=theirs["primaryMetric"]["score"], spread=own_spread(ours, theirs),
        )
    small = load(folder, "small-files.json")
    ratios = [theirs / ours for ours, theirs in zip(small["larder"], small["python"])]
    yield Figure(
        "ingest.small", f"load {small['files']:,} small files", statistics.median(small["larder"]), "s", True,
        peer="np.save(np.load()) in as many processes", peer_value=statistics.median(small["python"]),
        spread=spread(ratios), times=statistics.median(ratios),
    )


def ingest_rows(folder):
    paths = (os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("ingest-"))
    return sorted((ingest_report.read(path) for path in paths), key=lambda row: (row["huge"], row["bytes"]))


def ingest(folder):
    for key, words in ("ingest.large", ("advise", "as-is")), ("ingest.never", ("never",)):
        row = max((row for row in ingest_rows(folder) if row["huge"] in words), key=operator.itemgetter("bytes"), default=None)
        if row is None:
            continue
        file = f"one file of {row['bytes'] >> 20:,} MiB, tmpfs huge={row['huge']}"
        yield Figure(
            key, f"load {file}", row["larder"], "GB/s", peer="cp", peer_value=row["cp"], spread=spread(row["ratios"]), times=row["ratio"],
        )
        if row["plain"] is not None:
            yield Figure(
                f"{key}.plain", f"copy {file}, without a checksum", row["unchecked"], "GB/s", peer="a plain loop in C",
                peer_value=row["plain"], spread=spread(row["plainRatios"]), times=row["plainRatio"],
            )


def loader(folder):
    table = jmh(os.path.join(folder, "round-1.json"))
    ahead, alone = (table["EpochBenchmark.loader", threads] for threads in ("default", "0"))
    shape = "shuffled batches of 256×784 floats"
    for key, peer, other in (
        ("loader.alone.djl", "DJL ArrayDataset", table["EpochBenchmark.djlArrayDataset",]),
        ("loader.alone.bare", "the copies alone", table["EpochBenchmark.bareGather",]),
    ):
        yield Figure(
            key, f"{shape}, one thread", alone["primaryMetric"]["score"], "batches/s", peer=peer, peer_value=other["primaryMetric"]["score"],
            spread=own_spread(alone, other),
        )
    with contextlib.suppress(FileNotFoundError):
        for row in load(folder, "torch.json").get("ways", []):
            ours, threads = (ahead, "prefetching") if row["workers"] else (alone, "one thread")
            workers = f", {row['workers']} workers" if row["workers"] else ""
            yield Figure(
                f"loader.torch.{row['way']}.{row['workers']}", f"{shape}, {threads}", ours["primaryMetric"]["score"], "batches/s",
                peer=f"{torch_peer.WAYS[row['way']]}{workers}", peer_value=statistics.median(row["batchesPerSecond"]),
                spread=widest(own_spread(ours), spread(row["batchesPerSecond"])),
            )
    first = table["FirstBatchBenchmark.fromConnect",]
    yield Figure("loader.first", "connect, open, shuffle and get the first batch", first["primaryMetric"]["score"], "ms", True, spread=own_spread(first))
    young = lines(folder, "first-second.jsonl")
    yield Figure(
        "loader.first-second", f"{shape}, one thread, 0.4 to 0.5 s after a JVM began to gather", statistics.median(row["batchesPerSecond"][4] for row in young),
        "batches/s", peer="in its third second", peer_value=statistics.median(row["later"] for row in young),
        spread=widest(spread([row["batchesPerSecond"][4] for row in young]), spread([row["later"] for row in young])),
    )
    for order in "shuffle", "permuted":
        resumed = table.get(("FirstBatchBenchmark.buildAndResume", order))
        if resumed:
            yield Figure(
                f"loader.resume.{order}", f"resume in the middle of {RESUMED_ROWS:,} samples with a new loader, {order}(seed)",
                resumed["primaryMetric"]["score"], "ms", True, spread=own_spread(resumed),
            )


def growth(folder):
    rows = {row["arrays"]: row for row in lines(folder, "arrays.jsonl")}
    few, many = rows[min(rows)], rows[max(rows)]
    yield Figure(
        "growth.arrays", f"open a dataset of {many['arrays']:,} arrays and read one", 1e3 * many["openAndRead"]["p50Ms"], "µs", True,
        peer=f"the same with {few['arrays']:,} arrays", peer_value=1e3 * few["openAndRead"]["p50Ms"],
    )
    clients = lines(folder, "clients.jsonl")[-1]
    yield Figure(
        "growth.clients", f"{clients['readers']} processes open a dataset at once", clients["open"]["p50Ms"], "ms", True,
        peer="mapping the file without Larder", peer_value=clients["map"]["p50Ms"],
    )


def collectives(folder):
    rows = {(row["what"], row["ranks"], row["bytes"], row["engine"]): row for row in lines(folder, "collectives.jsonl")}
    large = rows["allReduce", 2, 100 << 20, "larder"]
    gloo = rows.get(("allReduce", 2, 100 << 20, "gloo"))
    if gloo:
        yield Figure("collectives.gloo", "allReduce of 100 MiB of floats, 2 ranks", large["medianUs"] / 1e3, "ms", True,
                     peer="Gloo on loopback", peer_value=gloo["medianUs"] / 1e3)
    yield Figure("collectives.copy", "allReduce of 100 MiB of floats, 2 ranks", large["medianUs"] / 1e3, "ms", True,
                 peer="a plain copy by both ranks", peer_value=rows["copy", 2, 100 << 20, "larder"]["medianUs"] / 1e3)
    yield Figure("collectives.small", "allReduce of 4 KiB, 2 ranks", rows["allReduce", 2, 4096, "larder"]["medianUs"], "µs", True)
    yield Figure("collectives.barrier", "barrier, 2 ranks", rows["barrier", 2, 0, "larder"]["medianUs"], "µs", True)


def handles(folder):
    found = handles_report.hand_over(lines(folder, "handle-queue.jsonl"))
    for key, peer, name in (("polled", "polling-socket", "a polling Unix socket"), ("blocked", "socket", "a blocking Unix socket")):
        yield Figure(f"handles.{key}", "write 4 KiB, hand the buffer to another process, read it there, p50", found["queue"]["handOverP50Ns"], "ns",
                     True, peer=name, peer_value=found[peer]["handOverP50Ns"],
                     spread=widest(spread(found["queue"]["trials"]), spread(found[peer]["trials"])))


def fan_out(folder):
    for row in fan_out_report.rows(os.path.join(folder, "fan-out.jsonl")):
        if row["array"] != "rows-64" and row["reads"] == "all" and row["consumers"] in (1, 4):
            readers = "1 process that reads" if row["consumers"] == 1 else f"{row['consumers']} processes that read"
            yield Figure(
                f"fan-out.read.{row['array'].removeprefix('rows-')}.{row['consumers']}", f"publish a batch of {row['bytes']:,} B to {readers} every byte",
                row["microseconds"], "µs", True, peer="a plain copy of the same bytes", peer_value=row["copyMicroseconds"],
            )
    feeds = fan_out_report.feeds(os.path.join(folder, "fan-out.jsonl"))
    yield Figure("fan-out.feed", "batches a second of one gather thread, published to a process that reads every byte", statistics.median(feeds["in place"]),
                 "batches/s", peer="read by a thread of the same process", peer_value=statistics.median(feeds["alone"]),
                 spread=widest(spread(feeds["in place"]), spread(feeds["alone"])))


def one_copy(folder):
    rows = [row for row in lines(folder, "rows.jsonl") if row["figure"] == "one-copy" and "copies" in row]
    copies = {(row["engine"], row["processes"]): row["copies"] for row in rows}
    for language in ("java", "python"):
        if not {("larder-" + language, 1), ("plain-" + language, 1)} <= copies.keys():
            continue  # there was not enough memory
        most = max(count for engine, count in copies if engine == "larder-" + language)
        yield Figure(f"one-copy.{language}", f"copies in memory with {most} {language.capitalize()} trainers", copies["larder-" + language, most],
                     "copies", True, spread=spread([held for (engine, _), held in copies.items() if engine == "larder-" + language]))
        both = max(count for engine, count in copies if engine == "plain-" + language)
        # Every number of trainers is a measurement of the same: of one copy for all, or of one copy for each.
        ours, theirs = ([held / (count if way == "plain-" else 1) for (engine, count), held in copies.items() if engine == way + language]
                        for way in ("larder-", "plain-"))
        yield Figure(
            f"one-copy.{language}.plain", f"copies in memory with {both} {language.capitalize()} trainers", copies["larder-" + language, both],
            "copies", True, peer="each loads for itself", peer_value=copies["plain-" + language, both], spread=widest(spread(ours), spread(theirs)),
        )
    forks = [row for row in lines(folder, "rows.jsonl") if row["figure"] == "fork"]
    most = max(row["processes"] for row in forks)
    grown = {row["engine"]: row["privateBytes"] / (1 << 20) for row in forks if row["processes"] == most}
    yield Figure("one-copy.fork", f"memory that {most} forked Python readers add with an index column", grown["index"], "MiB", True,
                 peer="with a dict", peer_value=grown["dict"])


def day(folder):
    rows = lines(folder, "rows.jsonl")
    for ours, peer, label in (
        ("larder-java", "plain-java", "each process loads for itself"),
        ("larder-python", "plain-python", "each process loads for itself"),
        ("larder-python", "script-python", "a script that caches in /dev/shm"),
        ("larder-python", "map-python", "np.load(mmap_mode=\"r\") in each process"),
    ):
        language = ours.split("-")[1].capitalize()
        steps = {
            way: [row["seconds"] for row in rows if row["figure"] == "first-step" and row["way"] == way and row["run"] > 1]
            for way in (ours, peer)
        }
        yield Figure(
            f"day.step.{peer}", f"from Enter to the first training step, second and later runs, {language}", statistics.median(steps[ours]), "s", True,
            peer=label, peer_value=statistics.median(steps[peer]), spread=widest(spread(steps[ours]), spread(steps[peer])),
        )
        grids = {row["way"]: row for row in rows if row["figure"] == "grid" and row["wantedAtOnce"] == row["runs"]}
        yield Figure(f"day.grid.{peer}", f"a grid of {grids[ours]['runs']} runs at once, {language}", grids[ours]["seconds"], "s", True,
                     peer=label, peer_value=grids[peer]["seconds"])
        yield Figure(
            f"day.memory.{peer}", f"peak memory of a grid of runs at once, {language}", grids[ours]["peakOwnBytes"] / (1 << 30), "GiB", True,
            peer=f"{label} ({grids[peer]['atOnce']} at once)", peer_value=grids[peer]["peakOwnBytes"] / (1 << 30),
        )
    yield from day_sources(folder)


def day_sources(folder):
    """Eight runs over a slow server, many small files and a table of Parquet; nothing where a report has no such rows."""
    rows = lines(folder, "sources.jsonl") if os.path.exists(os.path.join(folder, "sources.jsonl")) else []
    for kind, what in SOURCES.items():
        by_way = {}
        for row in rows:
            if row["kind"] == kind:
                by_way.setdefault(row["way"], []).append(row)
        ours = by_way.pop("larder", [])
        for way, peers in by_way.items():
            for key, of, name in (("seconds", f"{ours[0]['runs']} Python runs over {what}, from nothing", "all"),
                                  ("againSeconds", f"{ours[0]['runs']} more Python runs over {what}", "again")):
                values, peer_values = ([row[key] for row in side] for side in (ours, peers))
                yield Figure(f"day.{kind}.{name}.{way}", of, statistics.median(values), "s", True, peer=RUN_WAYS[kind, way],
                             peer_value=statistics.median(peer_values), spread=widest(spread(values), spread(peer_values)))


def startup(folder):
    for row in lines(folder, "rows.jsonl"):
        what = f"{STARTS[row['what']]}, {PACKAGES[row['package']]}"
        yield Figure(f"startup.{row['what']}.{row['package']}", what, statistics.median(row["seconds"]), "s", True, spread=spread(row["seconds"]))


PARTS = {
    "arrays": arrays,
    "columns": columns,
    "ingest": ingest,
    "loader": loader,
    "growth": growth,
    "collectives": collectives,
    "handles": handles,
    "fan-out": fan_out,
    "one-copy": one_copy,
    "day": day,
    "startup": startup,
}


def all_of(run):
    """Returns the figures of a run's folder in the order of its parts, and what is wrong with parts that lack some: {part: error}."""
    found, wrong = [], {}
    for name, part in PARTS.items():
        folder = os.path.join(run, name)
        if os.path.isdir(folder):
            try:
                for figure in part(folder):
                    found.append(dataclasses.replace(figure, command=f"ops/bench --{name}"))
            except (OSError, ValueError, LookupError, ArithmeticError) as e:
                wrong[name] = f"{type(e).__name__}: {e}"
    return found, wrong
