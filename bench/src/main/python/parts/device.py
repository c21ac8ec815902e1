"""Batches on a device next to those of the host: rounds of the GPU check."""
import glob
import os

from harness import load, markdown, median


def shown(number):
    if number is None:
        return ""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def tables(folder, pace):
    rounds = [load(path) for path in sorted(glob.glob(os.path.join(glob.escape(folder), "round-*.json")))]
    machine = rounds[0]["machine"]
    loads = ", ".join(each["machine"]["load before"].split(" ")[0] for each in rounds)
    yield f"java {machine['java']}; {machine['processor']}; {machine['system']}; {machine.get('device', 'no device')};"
    yield f"{machine.get('driver', '')}; load (1 min) before each of {len(rounds)} rounds: {loads}\n"
    by_figure = {}
    for finding in (finding for each in rounds for finding in each["findings"]):
        by_figure.setdefault((finding["part"], finding["what"]), []).append(finding)
    heads = ["part", "figure", "median", "least", "most", "unit", "limit (median)", "target", ""]
    yield markdown(heads, [[*key, *cells(findings)] for key, findings in by_figure.items()])


def cells(findings):
    """Returns the cells of a figure over all rounds."""
    first = findings[0]
    values, limits = ([finding[key] for finding in findings if finding[key] is not None] for key in ("value", "limit"))
    numbers = [median(values), min(values), max(values)] if values else [None] * 3
    limit = f"{shown(median(limits))} {first['limitName']}" if limits else ""
    verdicts = [finding["verdict"].replace("_", " ") for finding in findings]
    verdict = " ".join(f"{verdicts.count(name)}× {name}" for name in dict.fromkeys(verdicts) if name != "reported")
    reason = first["note"] if "not applicable" in verdicts else ""
    return [*map(shown, numbers), first["unit"], limit, first["target"], f"{verdict} {reason}".strip()]
