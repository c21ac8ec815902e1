"""Shared arrays next to Java's own, queues of handles next to a socket."""
from harness import figure, lines, median, table

# Each writes 4 KiB, hands them over, and reads them on the other side.
WAYS = {"socket": "Unix socket that blocks", "polling-socket": "Unix socket that polls", "queue": "HandleQueue, which polls"}
QUANTILES = ("handOverP50Ns", "handOverP90Ns", "handOverP99Ns")


def trials(folder, what):
    return [row for row in lines(folder, "handle-queue.jsonl") if row["what"] == what]


def tables(folder, pace):
    yield table(lines(folder, "shared-array.jsonl"), {"": "{what}", "elements": "{count:,}", "ns each": "{nanosecondsForEach:.2f}"})
    rows = [{"name": name} | {key: median(row[key] for row in trials(folder, what)) for key in QUANTILES} for what, name in WAYS.items()]
    yield "\n" + table(rows, {"handing over between two processes": "{name}", "p50, ns": "{handOverP50Ns:,.0f}", "p90": "{handOverP90Ns:,.0f}",
                              "p99": "{handOverP99Ns:,.0f}"})
    arrays = trials(folder, "array")
    times = sorted(row["thereAndBackMicroseconds"] for row in arrays[2::2])  # without the first, and without those that look at their memory
    yield (f"\nAn array of {arrays[0]['bytes'] >> 20:,} MiB, sent there and back: {arrays[0]['thereAndBackMicroseconds']:,} µs the first time,"
           f" then {times[0]:,}–{times[-1]:,} µs, median {median(times):,.0f}."
           f" The receiver's memory grew by {max(row['receiverRssGrowthKiB'] for row in arrays)} KiB at the most.")


def figures(folder):
    p50 = {what: [row["handOverP50Ns"] for row in trials(folder, what)] for what in WAYS}
    for key, what, peer in ("polled", "polling-socket", "a polling Unix socket"), ("blocked", "socket", "a blocking Unix socket"):
        yield figure(f"handles.{key}", "write 4 KiB, hand the buffer to another process, read it there, p50", p50["queue"], "ns", peer, p50[what], less=True)
