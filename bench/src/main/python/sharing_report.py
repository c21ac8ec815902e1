"""Prints what the benchmarks of sharing measured, as Markdown."""
import json
import sys


def load(path):
    with open(path) as file:
        return json.load(file)


def cells(times):
    return " | ".join(f"{times[key]:.1f}" for key in ("p50Ms", "p99Ms", "maxMs"))


def main(many_path, disturbed_path, collapse_path, *restart_paths):
    many = load(many_path)
    print(f"## {many['readers']} processes open {many['bytes']} bytes at once, {many['rounds']} times, and read them all\n")
    print("| ms | p50 | p99 | max |\n|---|---|---|---|")
    print(f"| first open, with classes to load | {cells(many['first'])} |")
    print(f"| open again | {cells(many['open'])} |")
    print(f"| map the same file without Larder | {cells(many['map'])} |")
    print(f"\nProcessor time of the daemon over {many['seconds']:.1f} s: {many['daemonCpuSeconds']:.2f} s.\n")

    disturbed = load(disturbed_path)
    print(
        f"## Requests while the daemon loads ({disturbed['loads']}) and evicts ({disturbed['evictions']}),"
        f" {disturbed['readers']} readers\n"
    )
    print("| ms | p50 | p99 | max |\n|---|---|---|---|")
    print(f"| readers come and go | {cells(disturbed['calm'])} |")
    print(f"| as many are killed ({disturbed['kills']}), others stopped ({disturbed['stops']}) | {cells(disturbed['disturbed'])} |")
    print(f"\nRatio of p99: {disturbed['p99Ratio']:.2f}\n")

    collapse = load(collapse_path)
    print(
        f"## A reader while its dataset ({collapse['bytes'] >> 20} MiB, rows of {collapse['rowBytes']} bytes) is moved to huge pages,"
        f" in {collapse['seconds']:.1f} s\n"
    )
    print("| ms for 256 random rows | p50 | p99 | max |\n|---|---|---|---|")
    for phase, what in ("before", "before, on small pages"), ("during", "meanwhile"), ("after", "after, on huge pages"):
        print(f"| {what} | {' | '.join(f'{collapse[phase][key]:.3f}' for key in ('p50Ms', 'p99Ms', 'maxMs'))} |")
    print()

    print("## From the start of a process to the first answer\n")
    print("| ms | p50 | p99 | max |\n|---|---|---|---|")
    for path in restart_paths:
        restart = load(path)
        print(f"| empty store | {cells(restart['emptyStart'])} |")
        print(
            f"| after kill -9: {restart['arrays']} arrays in {restart['datasets']} datasets, {restart['usedBytes']} bytes"
            f" | {cells(restart['warmStart'])} |"
        )
    for path in restart_paths:
        restart = load(path)
        print(
            f"\nProcessor time up to the first answer, {restart['datasets']} datasets: {restart['warmCpuSeconds']:.2f} s,"
            f" on an empty store {restart['emptyCpuSeconds']:.2f} s."
        )


main(*sys.argv[1:])
