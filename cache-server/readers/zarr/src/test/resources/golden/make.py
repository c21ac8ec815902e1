"""Makes the golden folders of Zarr, as ZIP files, and what zarr reads from them: make.py (zarr 2.13 for v2.zip, else zarr 3.1)."""

import pathlib
import shutil
import tempfile
import zipfile
import zlib

import numcodecs
import numpy as np
import zarr

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(7)
TYPES = "b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split()


def text(value):
    """Say what is expected of an array as the test does."""
    data = np.ascontiguousarray(value).tobytes()
    words = data.hex() if len(data) <= 64 else "crc " + format(zlib.crc32(data), "x")
    kind = str(value.dtype.descr) if value.dtype.names else value.dtype.str
    return f"{kind} {list(value.shape)} {words}"


def put_texts(expected, name, array):
    """Say what is expected of a column of texts or bytes."""
    rows = [value.encode() if isinstance(value, str) else bytes(value or b"") for value in array[...]]
    expected[name + ("/values" if name.endswith("bytes") else "/bytes")] = text(np.frombuffer(b"".join(rows), "u1"))
    expected[name + "/offsets"] = text(np.cumsum([0] + [len(row) for row in rows]).astype("<i8"))


def numbers(shape, dtype):
    dtype = np.dtype(dtype)
    return RNG.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)


def grid():
    """Return numbers that pack well, in several blocks of Blosc and with a rest."""
    count = np.arange(101 * 203, dtype="<i4").reshape(101, 203)
    return count // 7 + (count % 97 == 5)


def odd():
    """Return elements of seven bytes, in a number that eight does not divide."""
    return np.frombuffer((np.arange(35_007) // 11 % 251).astype("u1").tobytes(), dtype="V7")


def pack(folder, name):
    with zipfile.ZipFile(HERE / (name + ".zip"), "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if file.is_file():
                out.writestr(zipfile.ZipInfo(str(file.relative_to(folder))), file.read_bytes(), zipfile.ZIP_DEFLATED)


def version_2(root):
    group = zarr.open_group(root, "w")
    expected = {}

    def put(name, value, **options):
        array = group.create_dataset(name, data=value, **options)
        expected[name] = text(array[...])
        return array

    for kind in TYPES:
        for order in "<>":
            dtype = np.dtype(order + kind)
            if order == "<" or dtype.itemsize > 1:
                put(f"types/{'be' if order == '>' else 'le'}/{kind}", numbers((3, 4), dtype), chunks=(3, 4), compressor=None)
    put("types/times", np.array(["2026-01-01", "NaT"], "<M8[ns]"), chunks=2, fill_value=None)
    put("types/spans", np.array([1, 2], ">m8[10s]"), chunks=1)
    put("types/S", np.array([b"a", b"bcd", b""]), chunks=2)
    put("types/U", np.array(["a", "bcd", "\u4e2d"]), chunks=2)
    put("types/V", np.frombuffer(b"abcdef", "V3"), chunks=1)
    rows = np.array([(1, 2.5, [1, 2]), (3, 4.5, [3, 4])], [("a", "<i4"), ("b", ">f8"), ("c", "u1", (2,))])
    put("types/rows", rows, chunks=2, compressor=numcodecs.Zlib())
    for codec in [numcodecs.GZip(), numcodecs.Zlib(), numcodecs.Zstd(), numcodecs.LZ4()]:
        put("codecs/" + codec.codec_id, grid(), chunks=(40, 203), compressor=codec)
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in [0, 1, 2]:
            put(f"blosc/{cname}/{shuffle}", grid(), chunks=(60, 203), compressor=numcodecs.Blosc(cname, 5, shuffle))
    for shuffle in [0, 1, 2]:
        codec = numcodecs.Blosc("lz4", 5, shuffle, blocksize=4096)
        put(f"blosc/blocks/{shuffle}", grid(), chunks=(101, 203), compressor=codec)
        put(f"blosc/noise/{shuffle}", np.frombuffer(RNG.bytes(3000), "u1"), chunks=3000, compressor=codec)
        put(f"blosc/odd/{shuffle}", odd(), chunks=5001, compressor=codec)
    put("filters/shuffle", grid(), chunks=(60, 203), filters=[numcodecs.Shuffle(4)], compressor=numcodecs.Zlib())
    put("order/F", numbers((7, 5, 4), "<i2"), chunks=(3, 2, 4), order="F")
    put("order/F-noise", numbers((7, 5), "<i2"), chunks=(7, 5), order="F", compressor=None)
    put("keys/slash", numbers((7, 5), "<i2"), chunks=(3, 2), dimension_separator="/")
    put("edges/scalar", np.float32(2.5))
    put("edges/empty", np.zeros((0, 3), "<f4"), chunks=(2, 3))
    fills = {"i4": 7, "f4": np.nan, "f8": np.inf, "f2": -1.5, "u8": 2**64 - 1, "c8": 1 + 2j, "b1": True, "S3": b"ab", "U2": "x", "M8[s]": 5}
    for kind, fill in fills.items():
        array = group.create_dataset("fills/" + kind[:2], shape=(7, 5), chunks=(3, 2), dtype=kind, fill_value=fill)
        array[4:5, 1:3] = array[0:1, 0:2]
        array[0] = numbers(5, "i1").astype(kind)
        expected["fills/" + kind[:2]] = text(array[...])
    for name, kind, fill in [("utf8", str, "missing"), ("bytes", bytes, None)]:
        array = group.create_dataset("texts/" + name, shape=(7,), chunks=3, dtype=kind, fill_value=fill)
        array[:2] = np.array(["a", "\u4e2d\u6587"] if kind is str else [b"ab", b"c"], dtype=object)
        put_texts(expected, "texts/" + name, array)
    zarr.consolidate_metadata(root)
    return expected


def version_3(root):
    from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

    group = zarr.open_group(root, mode="w")
    expected = {}

    def put(name, value, dtype=None, **options):
        options = {"compressors": None, **options}
        value = np.asarray(value)
        array = group.create_array(name, shape=value.shape, dtype=dtype or value.dtype, **options)
        array[...] = value
        expected[name] = text(np.asarray(array[...]).astype(array.dtype.newbyteorder("<")))

    for kind in TYPES:
        put("types/" + kind, numbers((3, 4), "<" + kind), chunks=(3, 4))
    put("types/times", np.array(["2026-01-01", "NaT"], "<M8[ns]"), chunks=(2,))
    put("types/spans", np.array([1, 2], "<m8[10s]"), chunks=(1,))
    put("types/S", np.array([b"a", b"bcd", b""]), chunks=(2,))
    put("types/U", np.array(["a", "bcd", "\u4e2d"]), chunks=(2,))
    put("types/V", np.frombuffer(b"abcdef", "V3"), chunks=(1,))
    put("types/rows", np.array([(1, 2.5), (3, 4.5)], [("a", "<i4"), ("b", "<f8")]), chunks=(2,))
    for kind in ["i2", "f8", "c8"]:
        put("big/" + kind, numbers((7, 5), "<" + kind), chunks=(3, 2), serializer=BytesCodec(endian="big"), compressors=ZstdCodec())
    for codec in [GzipCodec(), ZstdCodec(), ZstdCodec(checksum=True), Crc32cCodec(), BloscCodec(), BloscCodec(cname="blosclz", shuffle="bitshuffle")]:
        name = f"codecs/{len(expected)}-{type(codec).__name__}"
        put(name, grid(), chunks=(40, 203), compressors=codec)
    put("codecs/several", grid(), chunks=(40, 203), compressors=[ZstdCodec(), GzipCodec(), Crc32cCodec()])
    put("order/transposed", numbers((7, 5, 4), "<i2"), chunks=(3, 2, 4), filters=TransposeCodec(order=(2, 0, 1)))
    put("order/twice", numbers((7, 5, 4), "<i4"), chunks=(3, 2, 4), filters=[TransposeCodec(order=(2, 0, 1)), TransposeCodec(order=(1, 0, 2))])
    put("keys/v2", numbers((7, 5), "<i2"), chunks=(3, 2), chunk_key_encoding={"name": "v2", "separator": "."})
    put("keys/dots", numbers((7, 5), "<i2"), chunks=(3, 2), chunk_key_encoding={"name": "default", "separator": "."})
    put("edges/scalar", np.float32(2.5))
    put("edges/empty", np.zeros((0, 3), "<f4"), chunks=(2, 3))
    put("shards/plain", numbers((10, 9), "<i4"), chunks=(2, 3), shards=(4, 6), compressors=ZstdCodec())
    put("shards/none", numbers((10, 9), "<i4"), chunks=(2, 3), shards=(10, 9))
    put("shards/deep", grid(), chunks=(10, 29), shards=(50, 203), compressors=[BloscCodec(), Crc32cCodec()], filters=TransposeCodec(order=(1, 0)))
    start = group.create_array("shards/start", shape=(10, 9), dtype="<i4", chunks=(4, 6), fill_value=5, compressors=None,
        serializer=ShardingCodec(chunk_shape=(2, 3), codecs=[BytesCodec(endian="big"), GzipCodec()], index_location="start"))
    start[1:3, 2:8] = 9
    expected["shards/start"] = text(start[...])
    fills = {"i4": 7, "f4": np.nan, "f8": -np.inf, "f2": -1.5, "u8": 2**64 - 1, "c8": 1 + 2j, "b1": True, "S3": b"ab", "U2": "x", "M8[s]": np.datetime64(5, "s")}
    for kind, fill in fills.items():
        array = group.create_array("fills/" + kind[:2], shape=(7, 5), chunks=(3, 2), dtype=kind, fill_value=fill)
        array[0] = numbers(5, "i1").astype(kind)
        expected["fills/" + kind[:2]] = text(array[...])
    for name, kind, fill in [("utf8", "string", "missing"), ("bytes", "variable_length_bytes", b"")]:
        array = group.create_array("texts/" + name, shape=(7,), chunks=(3,), dtype=kind, fill_value=fill)
        array[:2] = np.array(["a", "\u4e2d\u6587"] if kind == "string" else [b"ab", b"c"], dtype=object)
        put_texts(expected, "texts/" + name, array)
    zarr.consolidate_metadata(root)
    return expected


def main():
    is_old = zarr.__version__.startswith("2.")
    version = 2 if is_old else 3
    with tempfile.TemporaryDirectory() as folder:
        expected = version_2(folder) if is_old else version_3(folder)
        pack(folder, f"v{version}")
    with open(HERE / f"v{version}.tsv", "w") as out:
        for name, words in sorted(expected.items()):
            out.write(f"{name}\t{words}\n")


main()
