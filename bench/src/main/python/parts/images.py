"""JPEG images on their way into a batch, next to libjpeg-turbo alone and torchvision."""
from harness import lines, markdown, median, verdict

BARS = {"torchvision": 1.5, "decode": 0.8}  # the least multiple of these that the loader's rate has to be


def tables(folder, pace):
    rows = lines(folder, "images.jsonl")
    measured = {(row["what"], row["threads"]): row for row in rows if "absent" not in row}
    decoder = next(row["decoder"] for row in rows if row["what"] == "loader")
    names = {
        "loader": f"loader: decode, randomResizedCrop(224), randomFlip, normalize, channelsFirst ({decoder})",
        "decode": "libjpeg-turbo alone, whole images at scale 1, to RGBX",
        "torchvision": "the same steps, " + next((row["versions"] for row in rows if "versions" in row), "torchvision"),
    }
    yield "JPEG files of about 500×375, shuffled, batches of 64 to float32; medians of rounds in turns. Of the loader's threads one is the consumer's\n"
    cells = []
    for threads in sorted({threads for _, threads in measured}):
        rate, work = (median(measured["loader", threads][key]) for key in ("imagesPerSecond", "processorMs"))
        for what, name in names.items():
            row = measured.get((what, threads))
            if row:
                peer_rate, peer_work = median(row["imagesPerSecond"]), median(row["processorMs"])
                bar = BARS.get(what)
                ratio = rate / peer_rate
                compared = [f"{ratio:.2f} (bar {bar}: {verdict(ratio >= bar)})", f"{peer_work / work:.2f}"] if bar else ["", ""]
                cells.append([name, threads, f"{peer_rate:,.0f}", f"{peer_work:.2f}", *compared])
    yield markdown(["", "threads or workers", "images/s", "processor ms an image", "images/s, loader / this", "processor, this / loader"], cells)
    for reason in [row["absent"] for row in rows if "absent" in row][:1]:
        yield f"\ntorchvision was not measured: {reason}"
