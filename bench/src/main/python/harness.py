"""Rows, figures and tables: the code that all parts of ops/bench share."""
import contextlib
import dataclasses
import json
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WIDE = 0.5
median = statistics.median


def import_larder():
    """Puts the package larder of this checkout, and its helpers for tests, on the path."""
    sys.path.insert(0, os.path.join(HERE, *[".."] * 4, "ops", "python"))


# -------------------------------------------------------------------------------------------------------------------- rows


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def lines(*path):
    """Returns the rows of a file with one JSON object a line."""
    with open(os.path.join(*path), encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def lines_if_any(*path):
    """Returns the rows of a file, or none if the file does not exist."""
    return lines(*path) if os.path.exists(os.path.join(*path)) else []


def iterations(entry):
    """Returns the values of JMH's iterations; the mean of each iteration if JMH kept samples."""
    metric = entry["primaryMetric"]
    samples = [iteration for fork in metric.get("rawDataHistogram", []) for iteration in fork]
    means = [sum(value * count for value, count in each) / sum(count for _, count in each) for each in samples]
    return means or [value for fork in metric.get("rawData", []) for value in fork]


class Run:
    """One of JMH's benchmarks with its parameters, over one or several rounds."""

    def __init__(self):
        self.entries = []

    @property
    def score(self):
        return self.entries[0]["primaryMetric"]["score"]

    @property
    def values(self):
        return [value for entry in self.entries for value in iterations(entry)]

    @property
    def median(self):
        return median(self.values)

    @property
    def best(self):
        return max(self.values) if self.entries[0]["mode"] == "thrpt" else min(self.values)

    @property
    def alloc(self):
        """Returns the bytes that an operation allocates."""
        return median(value for entry in self.entries for fork in entry["secondaryMetrics"]["gc.alloc.rate.norm"]["rawData"] for value in fork)

    @property
    def processor_us(self):
        """Returns the processor time for a batch."""
        more = [entry["secondaryMetrics"] for entry in self.entries]
        forks = [pair for each in more for pair in zip(each["processorUs"]["rawData"], each["batches"]["rawData"])]
        return median(time / count for times, counts in forks for time, count in zip(times, counts) if count)


class Jmh:
    """JMH's benchmarks of one or several files: `runs("Class.method", parameter="value")`."""

    def __init__(self, *paths):
        self.runs = {}
        for path in paths:
            for entry in load(path):
                name = ".".join(entry["benchmark"].split(".")[-2:])
                self.runs.setdefault((name, frozenset(entry.get("params", {}).items())), Run()).entries.append(entry)

    def __call__(self, name, **params):
        return self.runs[name, frozenset(params.items())]

    def find(self, name, **params):
        """Returns a benchmark, or None if it did not run."""
        return self.runs.get((name, frozenset(params.items())))

    def values_of(self, name, param):
        """Returns the numbers that a parameter of a benchmark had, in order."""
        return sorted(int(dict(params)[param]) for each, params in self.runs if each == name)


# ----------------------------------------------------------------------------------------------------------------- figures


def spread(values):
    """Returns (most - least) / median, or None if there is nothing to compare."""
    if len(values) < 2:
        return None
    middle = median(values)
    return (max(values) - min(values)) / middle if middle else 0.0 if max(values) == min(values) else None


def widest(*spreads):
    """Returns the widest of some spreads, or None if one is unknown."""
    return None if None in spreads else max(spreads)


def ratios(ours, theirs):
    """Returns the quotient of each round."""
    return [one / other for one, other in zip(ours, theirs)]


def verdict(reached):
    return "reached" if reached else "**missed**"


@dataclasses.dataclass
class Figure:
    """A number of the summary: a ratio to a peer of the same run, where more is better, or a value if there is no peer.

    The spread is (most - least) / median of the repetitions in this run, ours or the peer's, whichever is wider; None if either side
    was not repeated. A figure of wide or unknown spread counts as not measured, and README does not quote it. A figure that begins to
    measure something else gets another key.
    """

    key: str
    what: str
    value: float
    unit: str
    less_is_better: bool = False
    peer: str = ""
    peer_value: float = 0.0
    spread: float = None
    times: float = 0.0
    command: str = ""

    @property
    def measured(self):
        """Returns whether there were repetitions that agree well enough for a statement."""
        return self.spread is not None and self.spread <= WIDE

    @property
    def ratio(self):
        """Returns how many times better ours is: the median over rounds if they are known; None if there is no peer."""
        if self.times:
            return self.times
        if not self.peer_value or not self.value:
            return None
        return self.peer_value / self.value if self.less_is_better else self.value / self.peer_value

    def json(self):
        return dataclasses.asdict(self) | {"ratio": self.ratio, "measured": self.measured}


def value_and_spread(side):
    """Returns both for one of JMH's runs, a list of repetitions, or a number that was not repeated."""
    if isinstance(side, Run):
        return side.score, spread(side.values)
    return (median(side), spread(side)) if isinstance(side, list) else (side, None)


def figure(key, what, ours, unit, peer="", theirs=None, less=False, own_spread=..., times=0.0):
    """Makes a figure of our side and, if there is one, of the peer's."""
    sides = [value_and_spread(side) for side in (ours, theirs) if side is not None]
    found = widest(*(each for _, each in sides)) if own_spread is ... else own_spread
    return Figure(key, what, sides[0][0], unit, less, peer, sides[1][0] if theirs is not None else 0.0, found, times)


def of_rounds(key, what, ours, unit, peer, theirs):
    """Makes a figure of times that were measured in turns: its ratio is the median of the rounds, and its spread is that of their ratios."""
    times = ratios(theirs, ours)
    return figure(key, what, ours, unit, peer, theirs, less=True, own_spread=spread(times), times=median(times))


# ------------------------------------------------------------------------------------------------------------------ tables


def markdown(heads, rows):
    """Returns a Markdown table with numbers at the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    numeric = [all(re.match(r"[-+\d.]|$", row[i]) for row in rows) for i in range(len(heads))]
    return "\n".join([bar(heads).replace("|  |", "| |"), "|" + "".join("--:|" if each else "---|" for each in numeric), *map(bar, rows)])


def bar(cells):
    return "| " + " | ".join(cells) + " |"


def table(rows, columns):
    """Returns a table of rows; columns are heads with the formats of their cells, which take the values of a row by name."""
    return markdown(list(columns), [[cell.format(**row) for cell in columns.values()] for row in rows])


# ------------------------------------------------------------------------------------------------------------------ charts

OURS, PEER, OTHER, LIMIT = "#0b6e4f", "#c0392b", "#e08e0b", "#7f8c8d"


@dataclasses.dataclass
class Chart:
    """Lines, as (label, color, style, points), and levels, as (label, color, value), over the ticks of the x axis, as {value: label}."""

    name: str
    title: str
    x: str
    y: str
    lines: list
    ticks: dict
    levels: list = ()
    log_x: int = 0
    log_y: bool = False
    top: float = None


def size(count):
    for unit, length in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= length:
            return f"{count / length:.4g} {unit}"
    return f"{count} B"


@contextlib.contextmanager
def json_lines(path):
    """Yields a function that appends a row to a file."""
    with open(path, "a", encoding="utf-8", buffering=1) as file:
        yield lambda row: file.write(json.dumps(row) + "\n")
