"""The memory of trainers that share a dataset, next to a copy for each; forked readers of an index, next to a dict."""
from harness import LIMIT, OTHER, OURS, PEER, Chart, figure, lines, markdown, size, spread, widest

FLOOR_GIB = 3
NAMES = {"larder": "Larder", "plain": "each loads for itself", "index": "index column", "dict": "dict"}


def of(folder, kind):
    return [row for row in lines(folder, "rows.jsonl") if row["figure"] == kind]


def held(folder):
    """Returns the rows of trainers that ran: some did not if memory was short."""
    return [row for row in of(folder, "one-copy") if "copies" in row]


def tables(folder, pace):
    heads = ["N trainers", "data in", "copies in memory (PSS)", "GiB of data", "GiB of other memory", "Shmem grew, GiB", "MemAvailable fell, GiB", "ready after s"]
    cells = []
    for row in of(folder, "one-copy"):
        way, language = row["engine"].split("-")
        start = [row["processes"], f"{NAMES[way]}, {language.capitalize()}"]
        if "skipped" in row:
            cells.append([*start, f"not run: {row['skipped']}, below {FLOOR_GIB}", "", "", "", "", ""])
        else:
            gib = [f"{row[key] / 2**30:.2f}" for key in ("dataPssBytes", "otherPssBytes", "shmemBytes", "availableDropBytes")]
            cells.append([*start, f"{row['copies']:.4f}", *gib, f"{row['seconds']:.1f}"])
    yield markdown(heads, cells)
    heads = ["N forked Python readers", "table", "keys", "table, MiB", "growth of private memory, MiB, all readers", "µs per look-up, including making the key"]
    yield "\n" + markdown(heads, [[row["processes"], NAMES[row["engine"]], f"{row['keys']:,}", f"{row['tableBytes'] / 2**20:.1f}",
                                   f"{row['privateBytes'] / 2**20:.1f}", f"{row['microsEach']:.2f}"] for row in of(folder, "fork")])


def figures(folder):
    copies = {(row["engine"], row["processes"]): row["copies"] for row in held(folder)}
    for language in "java", "python":
        ours, theirs = ({count: found for (engine, count), found in copies.items() if engine == f"{way}-{language}"} for way in ("larder", "plain"))
        if 1 not in ours or 1 not in theirs:
            continue  # there was not enough memory
        what, both = "copies in memory with {} " + language.capitalize() + " trainers", max(theirs)
        yield figure(f"one-copy.{language}", what.format(max(ours)), ours[max(ours)], "copies", less=True, own_spread=spread(list(ours.values())))
        # Each number of trainers measures the same: one copy for all, or one copy for each.
        own_spread = widest(spread(list(ours.values())), spread([found / count for count, found in theirs.items()]))
        yield figure(f"one-copy.{language}.plain", what.format(both), ours[both], "copies", "each loads for itself", theirs[both], less=True, own_spread=own_spread)
    forks = of(folder, "fork")
    most = max(row["processes"] for row in forks)
    grown = {row["engine"]: row["privateBytes"] / (1 << 20) for row in forks if row["processes"] == most}
    yield figure("one-copy.fork", f"memory that {most} forked Python readers add with an index column", grown["index"], "MiB", "with a dict", grown["dict"], less=True)


def charts(folder):
    rows = held(folder)
    yield Chart("one-copy", f"Memory for one dataset of {size(rows[0]['datasetBytes'])}", "trainers", "GiB (PSS of its pages)", [
        (label, color, style, [(row["processes"], row["dataPssBytes"] / (1 << 30)) for row in rows if row["engine"] == engine])
        for engine, label, color, style in (
            ("plain-python", "each loads for itself, Python", OTHER, "s-"), ("plain-java", "each loads for itself, Java", PEER, "s--"),
            ("larder-python", "Larder, Python", LIMIT, "o-"), ("larder-java", "Larder, Java", OURS, "o--"))
    ], {row["processes"]: str(row["processes"]) for row in rows})
    rows = of(folder, "fork")
    yield Chart("fork", f"Forked Python readers of {rows[0]['keys']:,} keys, each looks all up", "processes", "MiB that they add", [
        (label, color, "o-", [(row["processes"], row["privateBytes"] / (1 << 20)) for row in rows if row["engine"] == engine])
        for engine, label, color in (("dict", "a dict", PEER), ("index", "an index column", OURS))
    ], {row["processes"]: str(row["processes"]) for row in rows})
