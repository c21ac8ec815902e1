"""Shuffled rows that are not in memory, next to fio."""
from harness import lines, markdown, median, verdict

BAR = 0.8  # the least share of fio's rate
NAMES = {"cold": "nothing in memory", "group": "in a control group of a quarter of the data", "two": "two trainers of one seed", "warm": "all in memory"}


def tables(folder, pace):
    rows = lines(folder, "rows.jsonl")
    cells = []
    for size in sorted({row["rowBytes"] for row in rows}):
        of = [row for row in rows if row["rowBytes"] == size]
        peer = [row["rows"] / row["seconds"] for row in of if row["engine"] == "fio"]
        for what, engine in sorted({(row["what"], row["engine"]) for row in of}):
            same = [row for row in of if (row["what"], row["engine"]) == (what, engine)]
            rate = median([row["rows"] / row["seconds"] for row in same])
            read = sum(row.get("diskBytes", 0) for row in same) / sum(row["rows"] * size for row in same) * (2 if what == "two" else 1)
            isCompared = what in ("cold", "group") and engine != "fio" and peer
            ratio = rate / median(peer) if isCompared else 0
            cells.append([
                f"{size:,}", NAMES[what], engine, f"{rate:,.0f}",
                f"{ratio:.2f} (bar {BAR}: {verdict(ratio >= BAR)})" if isCompared else "",
                "" if engine == "fio" else f"{read:.2f}",
                "" if engine == "fio" else f"{median([row['processorMs'] * 1000 / row['rows'] for row in same]):.1f}",
            ])
    yield "Shuffled rows of files on a disk; fio reads blocks of that length with psync and 16 jobs; medians of rounds in turns\n"
    yield markdown(["bytes of a row", "", "reader", "rows/s", "of fio", "bytes read / needed", "processor µs a row"], cells)
