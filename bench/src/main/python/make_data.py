#!/usr/bin/env python3
"""Writes the data that benchmarks read, the same for the same seed.

usage: make_data.py rows FOLDER BYTES         matrices of uint8 with rows of several lengths, BYTES each, and one of float32
       make_data.py loader FOLDER [NAME...]   the arrays of the loader's benchmarks: all, or those with these names
       make_data.py training FOLDER BYTES     images.npy (3072 bytes a row, BYTES rounded down to whole rows) and labels.npy (int64)
       make_data.py many-arrays FOLDER COUNT  small .npy files that contain their own numbers
       make_data.py small-files FOLDER SCENES the data of trainers on scenes: SCENE_KEY.npy with six keys, at most 1 KB each
       make_data.py ones FILE ROWS            rows of 4 KiB of float32
       make_data.py noise FILE BYTES          random bytes
       make_data.py images FOLDER FASHION-MNIST COUNT   JPEG files of ImageNet's usual sizes: three quarters filtered noise, one quarter enlarged
                                                        Fashion-MNIST
       make_data.py sources FOLDER BUCKET MIB  the same numbers and texts as .npy files and as Arrow files, in pairs NAME-npy and NAME-arrow:
         rows: float32 rows of 4 KiB, as one batch and as batches of 1,000 rows; table: 16 columns of float64; texts: lines of about 100 bytes.
         files-images: files of 8 to 10 kB in ten folders, which begin as JPEG does, a hundred for each MiB; parquet: twelve columns of
         random float64, two of int64 with 1,000 values, four of float32; start-parquet: a table of one row; BUCKET: eight .npy files
"""
import gzip
import io
import json
import os
import sys

import numpy as np

ROW_BYTES = (64, 256, 784, 3072, 153600)
IMAGE_BYTES, CHUNK_ROWS = 3072, 16384
ELEMENTS = 64
SCENE_KEYS = {
    "feat": ("<f4", (5, 50)),
    "label": ("<i8", (20,)),
    "obj_box": ("<f4", (12, 6)),
    "obj_feat": ("<f4", (8, 16)),
    "pose": ("<f8", (4, 4)),
    "rgb_mean": ("|u1", (16, 16, 3)),
}
RAGGED = ("label", "obj_box")
SIZES = [(500, 375), (375, 500), (500, 333), (500, 375)]  # width × height
NOISE = [(4, 60), (12, 45), (40, 35), (120, 24)]  # grains across 500 pixels, and their strength
QUALITY = 93
BATCH, OBJECTS = 1000, 8


def save(folder, name, array):
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, name + ".npy"), array)


def rows(random, folder, total):
    noise = random.integers(0, 256, int(total), dtype=np.uint8)
    for length in ROW_BYTES:
        count = len(noise) // length
        save(folder, f"rows-{length}", noise[: count * length].reshape(count, length))
    save(folder, "floats", random.random((1024, 256), dtype=np.float32))


def loader(random, folder, *names):
    def bytes_of(*shape):
        return lambda: random.integers(0, 256, shape, dtype=np.uint8)

    ids = random.integers(0, 50_000, (16_384, 1024), dtype=np.int32) if not names or "ids" in names else None
    arrays = {
        "images-f4": lambda: random.random((60_000, 784), dtype=np.float32), "pictures-28x28": bytes_of(50_000, 28, 28),
        "pictures-32x32x3": bytes_of(50_000, 32, 32, 3), "rows-64": bytes_of(1_000_000, 64), "ids": lambda: ids.ravel(), "id-rows": lambda: ids,
        "tokens": bytes_of(100_000_000),
    }
    for name in names or arrays:
        save(folder, name, arrays[name]())


def training(random, folder, total):
    count = int(total) // IMAGE_BYTES
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "images.npy"), "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (count, IMAGE_BYTES)})
        for first in range(0, count, CHUNK_ROWS):
            file.write(random.bytes(min(CHUNK_ROWS, count - first) * IMAGE_BYTES))
    save(folder, "labels", random.integers(0, 1000, count, np.int64))


def many_arrays(_, folder, count):
    os.makedirs(folder)
    image = io.BytesIO()
    np.save(image, np.zeros(ELEMENTS, np.int64))
    header = image.getvalue()[: -ELEMENTS * 8]
    for number in range(int(count)):
        with open(os.path.join(folder, f"array-{number:06d}.npy"), "wb", buffering=0) as file:
            file.write(header + np.full(ELEMENTS, number, np.int64).tobytes())


def small_files(random, folder, scenes):
    for scene in range(int(scenes)):
        for key, (dtype, shape) in SCENE_KEYS.items():
            array = (random.random(shape) * 100).astype(dtype)
            length = random.integers(1, shape[0] + 1) if key in RAGGED else shape[0]
            save(folder, f"scene{scene // 10:04d}_{scene % 10:02d}_{key}", array[:length])


def ones(_, file, count):
    np.save(file, np.ones((int(count), 1024), np.float32))


def noise(random, file, total):
    np.save(file, random.integers(0, 256, int(total), np.uint8))


# ------------------------------------------------------------------------------------------------------------------ images


def images(random, folder, source, count):
    from PIL import Image

    with gzip.open(os.path.join(source, "t10k-images-idx3-ubyte.gz")) as file:
        pictures = np.frombuffer(file.read(), "u1", offset=16).reshape(-1, 28, 28)
    os.makedirs(folder)
    total = 0
    for i in range(int(count)):
        width, height = SIZES[i % len(SIZES)]
        image = garment(Image, random, pictures[i], width, height) if i % 4 == 3 else scene(Image, random, width, height)
        path = os.path.join(folder, f"{i:05}.jpg")
        Image.fromarray(np.clip(image, 0, 255).astype("u1")).save(path, quality=QUALITY)
        total += os.path.getsize(path)
    print(f"{count} images, {total // int(count)} bytes on average", file=sys.stderr)


def scene(Image, random, width, height):
    image = np.full((height, width, 3), 120.0)
    for grains, strength in NOISE:
        shape = (max(2, height * grains // 500 + 2), max(2, width * grains // 500 + 2), 3)
        grain = random.normal(0, 1, shape).astype("f4")
        planes = [Image.fromarray(grain[..., i]).resize((width, height), Image.BICUBIC) for i in range(3)]
        image += strength * np.stack([np.asarray(plane) for plane in planes], -1)
    return image + random.normal(0, 10, (height, width, 1))  # the noise of a sensor


def garment(Image, random, picture, width, height):
    image = np.asarray(Image.fromarray(picture).resize((width, height), Image.BICUBIC)).astype("f4")
    return image[..., None] * random.uniform(0.5, 1, 3) + random.normal(0, 12, (height, width, 1))


# ----------------------------------------------------------------------------------------------------------------- sources


def sources(random, folder, bucket, mib):
    import pyarrow as pa

    total = int(mib) << 20
    bits = random.integers(0, 1 << 32, total // 4, np.uint32)
    floats = (bits >> np.uint32(8)).astype(np.float32).reshape(-1, 1024)
    save(f"{folder}/rows-npy", "x", floats)
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(floats.reshape(-1)), 1024)})
    arrow(f"{folder}/one-batch-arrow/x.arrow", table, len(floats), pa.ipc.new_file)
    shards(f"{folder}/rows-arrow", table)
    columns = {f"c{i:02}": column for i, column in enumerate(random.standard_normal((16, total // 128)))}
    for name, column in columns.items():
        save(f"{folder}/table-npy", name, column)
    shards(f"{folder}/table-arrow", pa.table(columns))
    lengths = random.integers(50, 150, total // 100)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    letters = (bits.view(np.uint8)[:offsets[-1]] & 15) + 97
    save(f"{folder}/texts-npy", "bytes", letters)
    save(f"{folder}/texts-npy", "offsets", offsets)
    texts = pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(letters))
    for i in range(int(mib) * 100):
        os.makedirs(f"{folder}/files-images/c{i % 10}", exist_ok=True)
        with open(f"{folder}/files-images/c{i % 10}/{i:06}.jpg", "wb") as file:
            file.write(b"\xff\xd8\xff" + random.bytes(random.integers(8000, 10000)))
    parquet(f"{folder}/parquet", random, total // 128)
    parquet(f"{folder}/start-parquet", random, 1)
    for i in range(OBJECTS):
        save(bucket, str(i), random.integers(0, 1 << 63, total // 8 // OBJECTS))
    shards(f"{folder}/texts-arrow", pa.table({"t": texts.cast(pa.string()) if offsets[-1] < 1 << 31 else texts}))


def arrow(path, table, batch, kind):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with kind(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch)


def shards(folder, table):
    """Writes two shards as Hugging Face's save_to_disk does."""
    import pyarrow as pa

    names = [f"data-{i:05}-of-00002.arrow" for i in range(2)]
    half = table.num_rows // 2
    for i, name in enumerate(names):
        arrow(f"{folder}/{name}", table.slice(i * half, half if i == 0 else None), BATCH, pa.ipc.new_stream)
    with open(f"{folder}/state.json", "w", encoding="utf-8") as state:
        json.dump({"_data_files": [{"filename": name} for name in names]}, state)


def parquet(folder, random, count):
    import pyarrow as pa
    import pyarrow.parquet as pq

    os.makedirs(folder)
    columns = {f"f{i:02}": random.standard_normal(count) for i in range(12)}
    columns.update({f"k{i}": random.integers(0, 1000, count) for i in range(2)})
    columns.update({f"s{i}": random.standard_normal(count, np.float32) for i in range(4)})
    pq.write_table(pa.table(columns), f"{folder}/x.parquet")


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    seed = 7 if kind == "images" else 42
    print(f"seed={seed} numpy={np.__version__}", file=sys.stderr)
    globals()[kind.replace("-", "_")](np.random.default_rng(seed), *words)
