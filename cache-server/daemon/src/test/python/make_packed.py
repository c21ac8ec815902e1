#!/usr/bin/env python3
"""Writes some of the golden Arrow files once more, with packed buffers; and frames of the codecs for the reader that unpacks them.

    python3 make_packed.py ../resources/arrow ../../../../readers/packed/src/test/resources/golden

Made with pyarrow 25.0.1. arrow/packed/NAME.arrow has the columns of arrow/NAME.npz.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

ARROW, FRAMES = Path(sys.argv[1]), Path(sys.argv[2])
NAMES = {"numbers-file": "lz4", "columns-stream": "zstd", "lists-file": "lz4", "dictionaries-stream": "lz4", "replaced": "zstd",
         "nulls": "lz4", "times": "zstd"}


def rewrite(name, codec):
    data = (ARROW / f"{name}.arrow").read_bytes()
    is_file = data.startswith(b"ARROW1")
    with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(data) as source:
        batches = [source.get_batch(i) for i in range(source.num_record_batches)] if is_file else list(source)
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(ARROW / "packed" / f"{name}.arrow", source.schema, options=options) as sink:
            for batch in batches:
                sink.write_batch(batch)


def main():
    (ARROW / "packed").mkdir(exist_ok=True)
    for name, codec in NAMES.items():
        rewrite(name, codec)
    # Of more than one block each, which refer to those before them.
    numbers = (np.arange(100_000, dtype="<i8") // 7).tobytes()
    for codec in "lz4", "zstd":
        (FRAMES / f"numbers.{codec}").write_bytes(pa.compress(numbers, codec=codec, asbytes=True))


main()
