"""One large file next to cp; the copying alone, with and without a checksum; a plain loop in C."""
import glob
import os

from harness import LIMIT, OURS, PEER, Chart, figure, load, median, ratios, size, spread, table


def read(path):
    """Returns a row: the word of huge=, GB/s of each contender, and ratios of the rounds."""
    run = load(path)
    row = {name: run["bytes"] / median(run[name]) / 1e9 for name in ("cp", "larder", "checksummed", "unchecked", "plain") if run.get(name)}
    row |= {"ratios": ratios(run["cp"], run["larder"]), "plainRatios": ratios(run.get("plain", []), run["unchecked"])}
    row |= {"ratio": median(row["ratios"]), "plainRatio": median(row["plainRatios"]) if row["plainRatios"] else None}
    return row | {"huge": os.path.basename(path).removesuffix(".json").split("-", 1)[1].rpartition("-")[0], "bytes": run["bytes"], "mib": run["bytes"] >> 20,
                  "rounds": len(run["cp"]), "threads": run["threads"], "percent": 100 * median(ratios(run["checksummed"], run["unchecked"])) - 100}


def rows(folder):
    return sorted(map(read, glob.glob(os.path.join(glob.escape(folder), "ingest-*.json"))), key=lambda row: (row["huge"], row["bytes"]))


def tables(folder, pace):
    found = rows(folder)
    yield f"One .npy file in page cache, {found[0]['threads']} threads, medians, GB/s\n"
    shown = [row | {"plainShown": f"{row['plain']:.2f}" if "plain" in row else "-", "plainRatioShown": f"{row['plainRatio']:.2f}" if "plain" in row else "-"}
             for row in found]
    yield table(shown, {
        "tmpfs huge=": "{huge}", "MiB": "{mib:,}", "rounds": "{rounds}", "cp": "{cp:.2f}", "larder load": "{larder:.2f}", "ratio": "{ratio:.2f}",
        "copying alone": "{checksummed:.2f}", "without checksum": "{unchecked:.2f}", "checksum costs": "{percent:.0f} %", "plain C": "{plainShown}",
        "without checksum / plain C": "{plainRatioShown}",
    })


def figures(folder):
    for key, words in ("ingest.large", ("advise", "as-is")), ("ingest.never", ("never",)):
        row = max((row for row in rows(folder) if row["huge"] in words), key=lambda row: row["bytes"], default=None)
        if row:
            file = f"one file of {row['mib']:,} MiB, tmpfs huge={row['huge']}"
            yield figure(key, f"load {file}", row["larder"], "GB/s", "cp", row["cp"], own_spread=spread(row["ratios"]), times=row["ratio"])
            if "plain" in row:
                yield figure(f"{key}.plain", f"copy {file}, without a checksum", row["unchecked"], "GB/s", "a plain loop in C", row["plain"],
                             own_spread=spread(row["plainRatios"]), times=row["plainRatio"])


def charts(folder):
    found = rows(folder)
    word = "advise" if any(row["huge"] == "advise" for row in found) else found[0]["huge"]
    found = [row for row in found if row["huge"] == word]
    drawn = [(label, color, style, [(row["bytes"], row[name]) for row in found]) for name, label, color, style in (
        ("larder", "larder load, whole", OURS, "o-"), ("cp", "cp", PEER, "s-"), ("unchecked", "larder's copying alone, without checksum", LIMIT, ":"))]
    yield Chart("ingest", f"Loading one file, tmpfs huge={word}", "size of the file", "GB/s", drawn, {row["bytes"]: size(row["bytes"]) for row in found}, log_x=2)
