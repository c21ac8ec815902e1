"""Keys next to maps on the heap, many small files next to numpy, columns next to dicts of Python."""
from harness import Jmh, figure, load, markdown, median, of_rounds, ratios, table

LABELS = {
    "text": "larder: text, shared memory", "textHashMap": "HashMap<String, Long>",
    "integer": "larder: integer, shared memory", "integerAgrona": "Agrona Long2LongHashMap",
}


def tables(folder, pace):
    runs = Jmh(f"{folder}/jmh-index.json")
    sizes = runs.values_of("IndexBenchmark.text", "keys")
    found = {name: [runs("IndexBenchmark." + name, keys=str(keys)) for keys in sizes] for name in LABELS}
    yield "\n" + markdown(["look-up of a random key", *(head for keys in sizes for head in (f"{keys:,} keys, ns", "B"))],
                          [[label, *(cell for run in found[name] for cell in (f"{run.score:,.1f}", f"{run.alloc:.2f}"))] for name, label in LABELS.items()])
    run = load(folder, "small-files.json")
    row = {key: median(run[key]) for key in ("larder", "python", "scanning", "loading", "publishing")}
    row["ratio"] = median(ratios(run["python"], run["larder"]))
    yield f"\n{run['files']:,} small .npy files, {run['workers']} threads or processes, median of {len(run['larder'])}\n"
    yield table([row], {"larder load, s": "{larder:.3f}", "scan": "{scanning:.3f}", "copy": "{loading:.3f}", "publish": "{publishing:.3f}",
                        "np.save(np.load()), s": "{python:.3f}", "ratio, median of rounds": "{ratio:.2f}"})
    run = load(folder, "memory.json")
    rows = [[name, f"{sum(run[name]['privateBytes']) / run['workers'] / 1024:,.0f}", f"{run[name]['microsEach']:.2f}"] for name in ("index", "dict")]
    what = f"Python, {run['workers']} forked workers, each {run['lookups']:,} look-ups of {run['keys']:,} keys"
    yield "\n" + markdown([what, "growth of private memory, KiB per worker", "µs per look-up, including making the key"],
                          [*rows, ["index / dict", f"{run['ratio']:.4f}", ""]])


def figures(folder):
    runs = Jmh(f"{folder}/jmh-index.json")
    keys = max(runs.values_of("IndexBenchmark.text", "keys"))
    for name, peer in ("text", "textHashMap"), ("integer", "integerAgrona"):
        ours, theirs = (runs("IndexBenchmark." + each, keys=str(keys)) for each in (name, peer))
        yield figure(f"index.{name}", f"look up one of {keys:,} {name} keys", ours, "ns", LABELS[peer], theirs, less=True)
    small = load(folder, "small-files.json")
    yield of_rounds("ingest.small", f"load {small['files']:,} small files", small["larder"], "s", "np.save(np.load()) in as many processes", small["python"])

