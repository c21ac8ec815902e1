"""Makes the golden folder numcodecs.zip, with chunks of numcodecs and metadata by hand, and its values: make_numcodecs.py (numcodecs 0.16)."""

import json
import pathlib
import zipfile
import zlib

import numcodecs
import numpy as np

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(11)
FILES, EXPECTED = {".zgroup": '{"zarr_format": 2}'}, {}


def text(value):
    """Say what is expected of an array as the test does."""
    data = np.ascontiguousarray(value).tobytes()
    words = data.hex() if len(data) <= 64 else "crc " + format(zlib.crc32(data), "x")
    return f"{value.dtype.str} {list(value.shape)} {words}"


def expect(name, value):
    """Say what is expected of an array, or of a column of texts or bytes: lists of lists, if it has several dimensions."""
    if value.dtype != object:
        EXPECTED[name] = text(value)
        return
    items = 1
    for axis in range(value.ndim - 1):
        items *= value.shape[axis]
        EXPECTED[name + ".offsets"] = text(np.arange(items + 1) * value.shape[axis + 1])
        name += ".items"
    rows = [row.encode() if isinstance(row, str) else row for row in value.reshape(-1)]
    EXPECTED[name + ("/values" if "bytes" in name else "/bytes")] = text(np.frombuffer(b"".join(rows), "u1"))
    EXPECTED[name + "/offsets"] = text(np.cumsum([0] + [len(row) for row in rows]).astype("<i8"))


def chunks_of(value, chunk, fill):
    """Yield the place of each chunk, and its elements; those at the ends are filled up."""
    for place in np.ndindex(*(-(-length // step) for length, step in zip(value.shape, chunk))):
        start = [number * step for number, step in zip(place, chunk)]
        part = value[(*(slice(first, first + step) for first, step in zip(start, chunk)), ...)]
        whole = np.full(chunk, fill, value.dtype)
        whole[(*map(slice, part.shape), ...)] = part
        yield place, whole


def put_2(name, value, chunk, codecs, dtype=None, order="C", fill=0):
    """Put an array of version 2; the last codec is the compressor."""
    expect(name, value)
    configs = [codec.get_config() for codec in codecs]
    FILES[name + "/.zarray"] = json.dumps({"zarr_format": 2, "shape": value.shape, "chunks": chunk, "dtype": dtype or value.dtype.str, "order": order,
                                           "fill_value": fill, "filters": configs[:-1] or None, "compressor": configs[-1]}, indent=4)
    for place, data in chunks_of(value, chunk, fill):
        data = np.asarray(data, order=order)
        for codec in codecs:
            data = codec.encode(data)
        FILES[f"{name}/" + (".".join(map(str, place)) or "0")] = bytes(data)


def put_3(name, value, chunk, codecs, names, dtype, fill=0):
    """Put an array of version 3, with the names and configurations of its codecs."""
    expect(name, value)
    FILES[name + "/zarr.json"] = json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": value.shape, "data_type": dtype, "fill_value": fill, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}}, "chunk_key_encoding": {"name": "default"},
        "codecs": names}, indent=4)
    for place, data in chunks_of(value, chunk, fill):
        for codec in codecs:
            data = codec.encode(data)
        FILES["/".join([name, "c", *map(str, place)])] = bytes(data)


def grid(dtype):
    """Return numbers that pack well."""
    count = np.arange(101 * 203).reshape(101, 203)
    return (count // 7 + (count % 97 == 5)).astype(dtype)


def runs():
    """Return bytes with runs of all lengths around those that bzip2 counts, and noise."""
    lengths = [*range(1, 20), 254, 255, 256, 258, 259, 260, 600, 70_000, 1_000_000]
    parts = [np.full(length, number % 3, "u1") for number, length in enumerate(lengths)]
    return np.concatenate([*parts, np.frombuffer(RNG.bytes(5_000), "u1")])


class Streams:
    """bzip2 in several streams, as parallel programs write it."""

    def encode(self, data):
        data = bytes(data)
        return b"".join(numcodecs.BZ2(1).encode(data[start:start + 50_000]) for start in range(0, len(data), 50_000))

    def get_config(self):
        return numcodecs.BZ2(1).get_config()


def numbers():
    for level in 1, 9:
        put_2(f"bz2/{level}", grid("<i8"), (101, 203), [numcodecs.BZ2(level)])
        put_2(f"bz2/runs/{level}", runs(), (1 << 21,), [numcodecs.BZ2(level)])
    put_2("bz2/streams", grid("<i8"), (101, 203), [Streams()])
    put_2("bz2/small", np.arange(7, dtype="u1"), (3,), [numcodecs.BZ2()])
    put_2("lzma/xz", grid("<i4"), (40, 203), [numcodecs.LZMA()])
    put_2("lzma/alone", grid("<i4"), (40, 203), [numcodecs.LZMA(format=2)])
    put_2("lzma/filters", grid("<i4"), (40, 203), [numcodecs.LZMA(filters=[{"id": 3, "dist": 4}, {"id": 0x21, "preset": 1}])])
    for dtype in "<i1", "<u2", ">i4", "<u8", "<f4", ">f8":
        put_2(f"delta/{np.dtype(dtype).name}", grid(dtype), (60, 203), [numcodecs.Delta(dtype), numcodecs.Zlib()])
    put_2("delta/narrow", grid("<i8"), (60, 203), [numcodecs.Delta("<i8", "<i2"), numcodecs.Zlib()])
    put_2("delta/F", grid("<i4"), (60, 50), [numcodecs.Delta("<i4"), numcodecs.BZ2()], order="F")
    put_2("delta/shuffled", grid("<i4"), (60, 203), [numcodecs.Delta("<i4"), numcodecs.Shuffle(4), numcodecs.LZMA()])
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    for name, codec in ("bz2", numcodecs.BZ2(3)), ("lzma", numcodecs.LZMA()):
        configuration = {key: value for key, value in codec.get_config().items() if key != "id"}
        put_3("v3/" + name, grid("<i4"), (60, 203), [codec], [little, {"name": "numcodecs." + name, "configuration": configuration}], "int32")
    delta = {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i4"}}
    put_3("v3/delta", grid("<i4"), (60, 203), [numcodecs.Delta("<i4")], [delta, little], "int32")


def words(shape, fill=""):
    """Return texts of several lengths, in which the chunks of the first rows of some columns have nothing but fill values."""
    found = np.empty(shape, object)
    for number, place in enumerate(np.ndindex(*shape), 1):
        found[place] = "\u4e2d" * (number % 4) + str(number) * (number % 3)
    if len(shape) > 1:
        found[:3, :2] = fill
    return found


def texts():
    utf8, raw = numcodecs.VLenUTF8(), numcodecs.VLenBytes()
    for name, shape, chunk in ("2", (7, 5), (3, 2)), ("3", (4, 3, 5), (2, 2, 5)), ("empty", (3, 0), (3, 1)), ("0", (), ()), ("1", (7,), (3,)):
        put_2("texts/v2/" + name, words(shape), chunk, [utf8, numcodecs.Zlib()], "|O", fill="")
        names = [{"name": "vlen-utf8"}, {"name": "zstd", "configuration": {"level": 1, "checksum": False}}]
        put_3("texts/v3/" + name, words(shape), chunk, [utf8, numcodecs.Zstd()], names, "string", fill="")
    put_2("texts/F", words((7, 5)), (3, 2), [utf8, numcodecs.Zlib()], "|O", "F", "")
    put_2("texts/bytes", np.vectorize(str.encode, otypes=[object])(words((7, 5))), (3, 2), [raw, numcodecs.Zlib()], "|O", fill=None)
    put_2("texts/filled", words((7, 5), "missing"), (3, 2), [utf8, numcodecs.Zlib()], "|O", fill="missing")
    for place in "0.0", "1.2":
        del FILES["texts/filled/" + place]
    value = words((7, 5), "missing")
    value[3:6, 4:] = "missing"
    expect("texts/filled", value)
    shards()


def shards():
    """Put texts in shards of two by two chunks, the first of which was never written."""
    value, name = words((7, 5), "missing"), "texts/shards"
    put_3(name, value, (3, 2), [numcodecs.VLenUTF8()], [], "string", "missing")
    inner = {"chunk_shape": (3, 2), "codecs": [{"name": "vlen-utf8"}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
    metadata = json.loads(FILES[name + "/zarr.json"])
    metadata["chunk_grid"]["configuration"]["chunk_shape"] = 6, 4
    metadata["codecs"] = [{"name": "sharding_indexed", "configuration": inner}]
    FILES[name + "/zarr.json"] = json.dumps(metadata, indent=4)
    del FILES[name + "/c/0/0"]
    for shard in np.ndindex(2, 2):
        data, index = b"", []
        for place in np.ndindex(2, 2):
            chunk = FILES.pop(f"{name}/c/{shard[0] * 2 + place[0]}/{shard[1] * 2 + place[1]}", None)
            index += [2**64 - 1, 2**64 - 1] if chunk is None else [len(data), len(chunk)]
            data += chunk or b""
        FILES[f"{name}/s/{shard[0]}/{shard[1]}"] = data + np.array(index, "<u8").tobytes()
    for key in [key for key in FILES if key.startswith(name + "/s/")]:
        FILES[key.replace("/s/", "/c/")] = FILES.pop(key)


def main():
    texts()
    numbers()
    with zipfile.ZipFile(HERE / "numcodecs.zip", "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in sorted(FILES.items()):
            out.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    with open(HERE / "numcodecs.tsv", "w") as out:
        for name, words in sorted(EXPECTED.items()):
            out.write(f"{name}\t{words}\n")


main()
