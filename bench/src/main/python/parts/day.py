"""A user's day: the first step, a grid search, the leftovers, and eight runs over slow sources."""
from harness import figure, lines, lines_if_any, markdown, median

WAYS = ("plain-python", "plain-java", "map-python", "script-python", "larder-python", "larder-java")
NAMES = {"plain": "each loads for itself", "map": 'np.load(mmap_mode="r")', "script": "script with np.save and a lock file", "larder": "Larder"}
NOTES = """
Own memory is RssAnon of the runs and the daemon, and the files in /dev/shm. Pages of files that are mapped in place are not counted: the
page cache keeps them until other programs need the memory. An epoch only gathers rows and adds them up, so loading is a large part of a run.
With longer epochs the times of all ways converge; their memory does not.
"""
COMPARED = (
    ("larder-java", "plain-java", "each process loads for itself"),
    ("larder-python", "plain-python", "each process loads for itself"),
    ("larder-python", "script-python", "a script that caches in /dev/shm"),
    ("larder-python", "map-python", "np.load(mmap_mode=\"r\") in each process"),
)
SOURCES = {
    "remote": ("an array behind a server of 50 MB/s", "behind a server that sends 50 MB/s"),
    "images": ("a folder of many small images", "in PNG files of 3 kB"),
    "parquet": ("a table of Parquet", "in a file of Parquet"),
}
# The ways of eight runs, next to Larder: their names in the summary, and in the table.
RUN_WAYS = {
    ("remote", "plain"): ("each run fetches for itself", "each run fetches for itself"),
    ("remote", "disk"): ("a script that fetches to the disk, then np.load(mmap_mode=\"r\")",
                         "script that fetches to the disk once, then np.load(mmap_mode=\"r\"): the page cache"),
    ("remote", "script"): ("a script that fetches to /dev/shm, then np.load(mmap_mode=\"r\")",
                           "script that fetches to /dev/shm once, then np.load(mmap_mode=\"r\")"),
    ("remote", "ray"): ("Ray, a driver and eight actors", "Ray, from starting it: one driver fetches, ray.put, eight actors"),
    ("images", "plain"): ("each run opens the files, every epoch", "each run opens the files, every epoch: the page cache"),
    ("images", "samples"): ("each run keeps what it has opened, as MONAI's CacheDataset does",
                            "each run keeps what it has opened, as MONAI's CacheDataset does"),
    ("images", "script"): ("a script with np.save of all files in /dev/shm", "script with np.save of all files in /dev/shm"),
    ("images", "huggingface"): ("Hugging Face's imagefolder with its bytes embedded",
                                "Hugging Face: imagefolder with its bytes embedded once, the Arrow file on the disk mapped"),
    ("images", "ray"): ("Ray, a driver and eight actors", "Ray, from starting it: one driver opens the files, ray.put, eight actors"),
    ("parquet", "plain"): ("each run reads the file with pyarrow", "each run reads the file with pyarrow's read_table"),
    ("parquet", "disk"): ("a script with np.save of each column on the disk",
                          "script with np.save of each column on the disk, then np.load(mmap_mode=\"r\"): the page cache"),
    ("parquet", "script"): ("a script with np.save of each column in /dev/shm",
                            "script with np.save of each column in /dev/shm, then np.load(mmap_mode=\"r\")"),
    ("parquet", "huggingface"): ("Hugging Face's Dataset.from_parquet",
                                 "Hugging Face: Dataset.from_parquet, its Arrow file on the disk mapped, with_format(\"numpy\")[rows]"),
    ("parquet", "ray"): ("Ray, a driver and eight actors", "Ray, from starting it: one driver reads the file, ray.put, eight actors"),
}


def tables(folder, pace):
    rows = lines(folder, "rows.jsonl")
    yield first_steps(rows)
    yield "\n" + grids(rows)
    yield NOTES
    yield markdown(["what happened", "way", "left in /dev/shm, MiB", "files", "the next run"],
                   [[row["event"], name_of(row["way"]), f"{row['bytes'] / 2**20:.0f}", row["files"], row.get("next", "")] for row in of(rows, "left-behind")])
    rows = lines_if_any(folder, "sources.jsonl")
    if rows:
        yield ""
        yield from source_tables(rows)


def ways_of(kind):
    return [*(way for each, way in RUN_WAYS if each == kind), "larder"]


def of(rows, kind):
    return [row for row in rows if row["figure"] == kind]


def name_of(way):
    kind, language = way.split("-")
    return f"{NAMES[kind]}, {language.capitalize()}"


def first_steps(rows):
    cells = []
    for way in WAYS:
        mine = [row for row in of(rows, "first-step") if row["way"] == way]
        cold = "".join(f"{row['seconds']:.2f}" for row in mine if row["cache"] == "cold")
        first = [row for row in mine if row["cache"] == "warm" and row["run"] == 1]
        later = [row["seconds"] for row in mine if row["run"] > 1]
        if later:
            warm = ["".join(f"{row[key]:.2f}" for row in first) for key in ("seconds", "setUpSeconds")]
            cells.append([name_of(way), cold, *warm, f"{median(later):.2f}", f"{max(later):.2f}"])
    return markdown(["from Enter to the first training step, s", "files not in memory, run 1", "files in page cache, run 1",
                     "of that, starting and loading the daemon", "runs 2 and later, median", "slowest"], cells)


def grids(rows):
    rows, cells = of(rows, "grid"), []
    for row in rows:
        fewer = "" if row["atOnce"] == row["wantedAtOnce"] else f" (memory does not do for {row['wantedAtOnce']})"
        cells.append([name_of(row["way"]), f"{row['atOnce']}{fewer}", f"{row['seconds']:.1f}", f"{row['peakOwnBytes'] / 2**30:.2f}",
                      f"{row['peakAvailableDropBytes'] / 2**30:.2f}"])
    runs = "".join(f" of {row['runs']} runs" for row in rows[:1])
    return markdown([f"grid{runs}, one short epoch each", "at once", "s", "peak of memory, GiB: own", "MemAvailable fell"], cells)


def source_tables(rows):
    for kind, (_, where) in SOURCES.items():
        mine = [row for row in rows if row["kind"] == kind]
        if not mine:
            continue
        heads = [f"eight Python runs at once, {mine[0]['epochs']} epochs, {mine[0]['bytes'] / 2**20:.0f} MiB, {where}", "all done, s: median", "least to most",
                 "first batch, s", "eight more runs, s", "own memory at its peak, MiB", "sent, MiB"]
        cells = []
        for way in ways_of(kind):
            each = [row for row in mine if row["way"] == way]
            if each:
                seconds = [row["seconds"] for row in each]
                middle = {key: median(row[key] for row in each) for key in ("stepSeconds", "againSeconds", "peakOwnBytes", "sentBytes")}
                cells.append([RUN_WAYS[kind, way][1] if way != "larder" else "Larder, from starting the daemon", f"{median(seconds):.1f}",
                              f"{min(seconds):.1f} to {max(seconds):.1f}", f"{middle['stepSeconds']:.1f}", f"{middle['againSeconds']:.1f}",
                              f"{middle['peakOwnBytes'] / 2**20:.0f}", f"{middle['sentBytes'] / 2**20:.0f}"])
        count = len(heads) - (kind != "remote")
        yield markdown(heads[:count], [row[:count] for row in cells]) + "\n"
    for row in rows:
        if row["kind"] == "modules":
            yield modules(row)


def modules(row):
    """Returns the versions of the imported modules, and why ways are left out."""
    had = f"Python {row['python']} with " + ", ".join(f"{module} {version}" for module, version in row["versions"].items()) + "."
    if not row["absent"]:
        return had
    return f"{had} Left out is what needs {', '.join(row['absent'])}; LARDER_ARROW_PYTHON names a python3 that can import modules."


def figures(folder):
    rows = lines(folder, "rows.jsonl")
    grid = {row["way"]: row for row in of(rows, "grid") if row["wantedAtOnce"] == row["runs"]}
    for ours, peer, label in COMPARED:
        language = ours.split("-")[1].capitalize()
        mine, theirs = ([row["seconds"] for row in of(rows, "first-step") if row["way"] == way and row["run"] > 1] for way in (ours, peer))
        yield figure(f"day.step.{peer}", f"from Enter to the first training step, second and later runs, {language}", mine, "s", label, theirs, less=True)
        yield figure(f"day.grid.{peer}", f"a grid of {grid[ours]['runs']} runs at once, {language}", grid[ours]["seconds"], "s", label, grid[peer]["seconds"],
                     less=True)
        yield figure(f"day.memory.{peer}", f"peak memory of a grid of runs at once, {language}", grid[ours]["peakOwnBytes"] / (1 << 30), "GiB",
                     f"{label} ({grid[peer]['atOnce']} at once)", grid[peer]["peakOwnBytes"] / (1 << 30), less=True)
    rows = [row for row in lines_if_any(folder, "sources.jsonl") if row["kind"] in SOURCES]
    for kind, way in dict.fromkeys((row["kind"], row["way"]) for row in rows if row["way"] != "larder"):
        mine, theirs = ([row for row in rows if (row["kind"], row["way"]) == (kind, each)] for each in ("larder", way))
        for key, words, name in (("seconds", "{} Python runs over {}, from nothing", "all"), ("againSeconds", "{} more Python runs over {}", "again")):
            yield figure(f"day.{kind}.{name}.{way}", words.format(mine[0]["runs"], SOURCES[kind][0]), [row[key] for row in mine], "s", RUN_WAYS[kind, way][0],
                         [row[key] for row in theirs], less=True)
