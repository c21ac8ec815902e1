"""The parts of ops/bench, a module each. `tables(folder, pace)` yields the text of the part's report from the rows in a folder. Parts of the
whole report also have `figures(folder)` for its summary, and some have `charts(folder)`."""
import importlib
import os

TITLES = {
    "arrays": "Reading arrays",
    "columns": "Columns and small files",
    "ingest": "Loading one large file",
    "loader": "Batches",
    "growth": "Many arrays, many clients",
    "collectives": "Collectives",
    "handles": "Shared arrays and queues",
    "fan-out": "Batches for other processes",
    "one-copy": "One copy, however many trainers",
    "day": "A user's day",
    "startup": "Starting up",
}


def of(name):
    """Returns the module of a part."""
    return importlib.import_module("parts." + name.replace("-", "_"))


def collected(run, kind, use=lambda item: item):
    """Returns the figures or charts of a run's folder by part, and errors by part: {part: items}, {part: error}."""
    found, wrong = {}, {}
    for name in TITLES:
        folder, items = os.path.join(run, name), getattr(of(name), kind, None)
        if items and os.path.isdir(folder):
            try:
                for item in items(folder):
                    found.setdefault(name, []).append(use(item))
            except (OSError, ValueError, LookupError, ArithmeticError) as e:
                wrong[name] = f"{type(e).__name__}: {e}"
    return found, wrong
