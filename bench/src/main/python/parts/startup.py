"""Commands and the daemon, from a checkout and from the packages."""
from harness import figure, lines, markdown, median

WHAT = {
    "first": "first command after unpacking (without the archive of loaded classes)",
    "ls": "`larder ls`",
    "ready": "`larder serve --detach`, nothing to load",
}
STARTS = {"first": "first command after unpacking", "ls": "larder ls", "ready": "larder serve --detach"}
PACKAGES = {"checkout": "checkout", "archive": "archive without Java", "with-java": "archive with Java"}


def tables(folder, pace):
    rows = lines(folder, "rows.jsonl")
    found = {(row["what"], row["package"]): row["seconds"] for row in rows}
    packages = list(dict.fromkeys(row["package"] for row in rows if row["what"] == "ls"))
    yield (f"Seconds from call to end, script included: median (minimum to maximum) of {max(map(len, found.values()))}, packages in turns.\n")
    cells = [[label, *(cell(found.get((what, package))) for package in packages)] for what, label in WHAT.items()]
    yield markdown(["", *packages], [row for row in cells if any(row[1:])])


def cell(seconds):
    if not seconds:
        return ""
    return f"{seconds[0]:.2f}" if len(seconds) == 1 else f"{median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})"


def figures(folder):
    for row in lines(folder, "rows.jsonl"):
        yield figure(f"startup.{row['what']}.{row['package']}", f"{STARTS[row['what']]}, {PACKAGES[row['package']]}", row["seconds"], "s", less=True)
