"""Prints what rounds of the GPU check found: python3 device_report.py round-1.json …"""

import json
import statistics
import sys


def shown(number):
    if number is None:
        return ""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def main(paths):
    rounds = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rounds.append(json.load(file))
    machine = rounds[0]["machine"]
    loads = ", ".join(each["machine"]["load before"].split(" ")[0] for each in rounds)
    print(f"java {machine['java']}; {machine['processor']}; {machine['system']}; {machine.get('device', 'no device')};")
    print(f"{machine.get('driver', '')}; load (1 min) before each of {len(rounds)} rounds: {loads}")
    print()
    print("| part | figure | median | least | most | unit | limit (median) | target | |")
    print("|---|---|---|---|---|---|---|---|---|")
    by_figure = {}
    for each in rounds:
        for finding in each["findings"]:
            by_figure.setdefault((finding["part"], finding["what"]), []).append(finding)
    for (part, what), findings in by_figure.items():
        values = [finding["value"] for finding in findings if finding["value"] is not None]
        limits = [finding["limit"] for finding in findings if finding["limit"] is not None]
        numbers = [statistics.median(values), min(values), max(values)] if values else [None, None, None]
        limit = f"{shown(statistics.median(limits))} {findings[0]['limitName']}" if limits else ""
        verdicts = [finding["verdict"].replace("_", " ") for finding in findings]
        verdict = " ".join(f"{verdicts.count(name)}× {name}" for name in dict.fromkeys(verdicts) if name != "reported")
        reason = findings[0]["note"] if "not applicable" in verdicts else ""
        cells = [part, what, *map(shown, numbers), findings[0]["unit"], limit, findings[0]["target"], f"{verdict} {reason}".strip()]
        print("| " + " | ".join(cells) + " |")


main(sys.argv[1:])
