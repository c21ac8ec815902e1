"""Sums among JVMs of this machine, next to plain copies and Gloo."""
from harness import LIMIT, OURS, PEER, Chart, figure, lines, size, table


def tables(folder, pace):
    rows = lines(folder, "collectives.jsonl")
    ours = {(row["what"], row["ranks"], row["bytes"]): row["medianUs"] for row in rows if row["engine"] == "larder"}
    shown = []
    for row in sorted(rows, key=lambda row: (row["what"], row["ranks"], row["bytes"], row["engine"] != "larder")):
        own = ours.get((row["what"], row["ranks"], row["bytes"]))
        shown.append(row | {
            "size": size(row["bytes"]) if row["bytes"] else "", "speed": f"{row['bytes'] / row['medianUs'] / 1e3:.2f}" if row["bytes"] else "",
            "cpu": f"{row['cpuUs']:.2f}" if row.get("cpuUs") else "",
            "ratio": f"{row['medianUs'] / own:.2f}" if own and row["engine"] != "larder" else "",
        })
    yield table(shown, {"what": "{what}", "ranks": "{ranks}", "bytes": "{size}", "engine": "{engine}", "best µs": "{bestUs:.2f}",
                        "median µs": "{medianUs:.2f}", "median GB/s": "{speed}", "processor µs": "{cpu}", "larder is faster by": "{ratio}"})


def figures(folder):
    us = {(row["what"], row["ranks"], row["bytes"], row["engine"]): row["medianUs"] for row in lines(folder, "collectives.jsonl")}
    large, what = us["allReduce", 2, 100 << 20, "larder"] / 1e3, "allReduce of 100 MiB of floats, 2 ranks"
    for key, peer, other in (("gloo", "Gloo on loopback", ("allReduce", "gloo")), ("copy", "a plain copy by both ranks", ("copy", "larder"))):
        theirs = us.get((other[0], 2, 100 << 20, other[1]))
        if theirs:
            yield figure(f"collectives.{key}", what, large, "ms", peer, theirs / 1e3, less=True)
    yield figure("collectives.small", "allReduce of 4 KiB, 2 ranks", us["allReduce", 2, 4096, "larder"], "µs", less=True)
    yield figure("collectives.barrier", "barrier, 2 ranks", us["barrier", 2, 0, "larder"], "µs", less=True)


def charts(folder):
    rows = [row for row in lines(folder, "collectives.jsonl") if row["ranks"] == 2 and row["bytes"]]
    drawn = []
    for what, engine, label, color in (
            ("allReduce", "larder", "larder", OURS), ("allReduce", "gloo", "Gloo on loopback", PEER), ("copy", "larder", "a plain copy by both", LIMIT)):
        points = sorted((row["bytes"], row["bytes"] / row["medianUs"] / 1e3) for row in rows if (row["what"], row["engine"]) == (what, engine))
        drawn += [(label, color, "o-", points)] if points else []
    ticks = {length: size(length) for _, _, _, points in drawn for length, _ in points}
    yield Chart("all-reduce", "allReduce of floats, two ranks", "bytes", "GB/s", drawn, ticks, log_x=2, log_y=True)
