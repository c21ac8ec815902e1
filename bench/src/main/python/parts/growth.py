"""Datasets of many arrays, and many processes at once."""
from harness import LIMIT, OTHER, OURS, PEER, Chart, figure, lines, table


def tables(folder, pace):
    yield table([row | {"ofOpenUs": 1e3 * row["arrayOfOpen"]["p50Ms"]} for row in lines(folder, "arrays.jsonl")], {
        "arrays": "{arrays:,}", "load, s": "{loadSeconds:.3f}", "load the same files again, ms p50": "{loadAgain[p50Ms]:.1f}", "open and read one, ms p50": "{openAndRead[p50Ms]:.3f}", "p99": "{openAndRead[p99Ms]:.3f}",
        "a random array of an open dataset, the first time, µs p50": "{ofOpenUs:.2f}", "list all, ms p50": "{list[p50Ms]:.2f}", "mappings": "{maps}",
    })
    yield "\n" + table(lines(folder, "clients.jsonl"), {
        "processes that open at once": "{readers}", "ms p50": "{open[p50Ms]:.3f}", "p99": "{open[p99Ms]:.3f}", "max": "{open[maxMs]:.3f}",
        "mapping the file without Larder, ms p50": "{map[p50Ms]:.3f}", "first open, ms p50": "{first[p50Ms]:.1f}",
    })


def figures(folder):
    rows = sorted(lines(folder, "arrays.jsonl"), key=lambda row: row["arrays"])
    few, many = ({**row, "us": 1e3 * row["openAndRead"]["p50Ms"]} for row in (rows[0], rows[-1]))
    yield figure("growth.arrays", f"open a dataset of {many['arrays']:,} arrays and read one", many["us"], "µs", f"the same with {few['arrays']:,} arrays",
                 few["us"], less=True)
    clients = lines(folder, "clients.jsonl")[-1]
    yield figure("growth.clients", f"{clients['readers']} processes open a dataset at once", clients["open"]["p50Ms"], "ms", "mapping the file without Larder",
                 clients["map"]["p50Ms"], less=True)


def charts(folder):
    rows = lines(folder, "arrays.jsonl")
    yield Chart("arrays", "As a dataset has more arrays", "arrays", "ms, median", [
        ("open it and read one array", OURS, "o-", [(row["arrays"], row["openAndRead"]["p50Ms"]) for row in rows]),
        ("a random array of an open dataset, the first time", OTHER, "s-", [(row["arrays"], row["arrayOfOpen"]["p50Ms"]) for row in rows]),
        ("list all arrays", LIMIT, "^-", [(row["arrays"], row["list"]["p50Ms"]) for row in rows]),
        ("load the folder", PEER, "v-", [(row["arrays"], 1e3 * row["loadSeconds"]) for row in rows]),
    ], {row["arrays"]: f"{row['arrays']:,}" for row in rows}, log_x=10, log_y=True)
    rows = lines(folder, "clients.jsonl")
    yield Chart("clients", "As more processes open a dataset at once", "processes", "ms", [
        (label, color, style, [(row["readers"], row[key][quantile]) for row in rows]) for label, color, style, key, quantile in (
            ("larder, median", OURS, "o-", "open", "p50Ms"), ("larder, p99", OURS, "o:", "open", "p99Ms"),
            ("mapping the file without Larder, median", PEER, "s-", "map", "p50Ms"))
    ], {row["readers"]: str(row["readers"]) for row in rows}, log_x=2, log_y=True)
