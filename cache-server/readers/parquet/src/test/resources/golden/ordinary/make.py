"""Makes files of ordinary types, and the arrays that pyarrow's values of them become: make.py (numpy, pyarrow, pandas, polars, duckdb).

Each file is read back by pyarrow, and what it has is compared with what was written, before expected.tsv says it to the test.
"""

import datetime
import decimal
import pathlib
import shutil
import zlib

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
LINES = []
CENTS = [decimal.Decimal(v).scaleb(-2) for v in (-(10**9) + 1, 12345, 0, -1, 999_999_999)]


def text(value):
    """Say what is expected of an array as the test does."""
    data = np.ascontiguousarray(value).tobytes()
    words = data.hex() if len(data) <= 64 else "crc " + format(zlib.crc32(data), "x")
    return f"{value.dtype.str} {list(value.shape)} {words}"


def expect(file, **arrays):
    for name, value in arrays.items():
        LINES.append(f"{file}\t{name.replace('__', '/').replace('_dot_', '.')}\t{text(np.asarray(value))}")


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype("<i8")


def texts(rows):
    return np.frombuffer("".join(rows).encode(), "u1"), offsets([len(r.encode()) for r in rows])


def values(file, name):
    return pq.read_table(HERE / file, partitioning=None).column(name).to_pylist()


def scaled(file, name, digits):
    """Return the decimals that pyarrow reads, without the point."""
    return np.array([0 if v is None else int(v.scaleb(digits)) for v in values(file, name)], "<i8")


def write_decimals():
    table = pa.table({"small": pa.array(CENTS, pa.decimal128(9, 2)), "medium": pa.array(CENTS, pa.decimal128(18, 2)),
                      "large": pa.array([None, *CENTS[1:]], pa.decimal128(38, 2))})
    for file, options in ("decimals.parquet", {}), ("decimals-as-integers.parquet", {"store_decimal_as_integer": True}):
        pq.write_table(table, HERE / file, **options)
        assert values(file, "medium") == CENTS
        for name in table.column_names:
            expect(file, **{name: scaled(file, name, 2), f"{name}_dot_scale": np.int64(2)})
        expect(file, large_dot_mask=np.arange(5) == 0)
    pl.DataFrame({"price": CENTS}, schema={"price": pl.Decimal(20, 2)}).write_parquet(HERE / "decimals-of-polars.parquet")
    expect("decimals-of-polars.parquet", price=scaled("decimals-of-polars.parquet", "price", 2), price_dot_scale=np.int64(2))
    duckdb.sql("SELECT (i * 12.5)::DECIMAL(4, 1) a, (i * 12.5)::DECIMAL(18, 3) b, (i * -12.5)::DECIMAL(38, 10) c FROM range(5) t(i)"
               ).write_parquet(str(HERE / "decimals-of-duckdb.parquet"))
    for name, digits in ("a", 1), ("b", 3), ("c", 10):
        expect("decimals-of-duckdb.parquet", **{name: scaled("decimals-of-duckdb.parquet", name, digits), f"{name}_dot_scale": np.int64(digits)})


def write_times():
    """Write times of twelve bytes: with nulls, in lists, and at both ends of what nanoseconds reach."""
    least, most = np.datetime64(-(2**63) + 1, "ns"), np.datetime64(2**63 - 1, "ns")
    at = np.array([least, most, "1969-12-31T23:59:59.999999999", "2024-02-29T12:00:00.000000001"], "<M8[ns]")
    table = pa.table({"at": pa.array(at), "hole": pa.array([at[2], None, at[3], at[1]]),
                      "list": pa.ListArray.from_arrays(pa.array([0, 2, None, 2, 4], pa.int32()), pa.array([at[0], at[1], at[3], None]))})
    pq.write_table(table, HERE / "int96.parquet", use_deprecated_int96_timestamps=True)
    assert pq.read_table(HERE / "int96.parquet").equals(table)
    assert pq.read_schema(HERE / "int96.parquet").field("at").type == pa.timestamp("ns")
    listed = np.array([at[0], at[1], at[3], np.datetime64(0, "ns")])
    expect("int96.parquet", at=at, hole=np.array([at[2], 0, at[3], at[1]], "<M8[ns]"), hole_dot_mask=np.array([False, True, False, False]),
           list__values=listed, list__offsets=offsets([2, 0, 0, 2]), list__shapes=np.array([[2], [0], [0], [2]]),
           list_dot_mask=np.array([False, False, True, False]), list_dot_items_dot_mask=np.array([False, False, False, True]))
    early = pa.table({"early": pa.array([datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)], pa.timestamp("us"))})
    pq.write_table(early, HERE / "int96-early.parquet", use_deprecated_int96_timestamps=True)


def write_nulls():
    """Write columns without a type, and files of one table of which only one has it."""
    pd.DataFrame({"a": [None, None, None], "b": [1, 2, 3]}).to_parquet(HERE / "nulls.parquet")
    assert pq.read_schema(HERE / "nulls.parquet").field("a").type == pa.null()
    expect("nulls.parquet", a__values=np.zeros(0, "u1"), a__offsets=np.zeros(4, "<i8"), a_dot_mask=np.full(3, True), b=np.arange(1, 4))
    kinds = {"word": (["x", None], pa.string()), "number": ([1.5, -2], pa.float64()), "code": (["b", "a"], pa.dictionary(pa.int8(), pa.string())),
             "cents": (CENTS[:2], pa.decimal128(10, 2))}
    pq.write_table(pa.table({name: pa.nulls(2) for name in kinds}), HERE / "some-0.parquet")
    pq.write_table(pa.table({name: pa.array(rows, kind) for name, (rows, kind) in kinds.items()}), HERE / "some-1.parquet")
    first = np.array([True, True, False, False])
    expect("some", word__bytes=np.frombuffer(b"x", "u1"), word__offsets=np.array([0, 0, 0, 1, 1]), word_dot_mask=np.array([True, True, False, True]),
           number=np.array([0, 0, 1.5, -2]), number_dot_mask=first, code=np.array([0, 0, 0, 1], "i1"), code_dot_mask=first,
           code_dot_classes__bytes=np.frombuffer(b"ba", "u1"), code_dot_classes__offsets=np.array([0, 1, 2]),
           cents=np.array([0, 0, *(int(v.scaleb(2)) for v in CENTS[:2])]), cents_dot_mask=first, cents_dot_scale=np.int64(2))


def write_empty():
    """Write row groups without rows: those have no pages."""
    table = pa.table({"x": pa.array([1, 2], pa.int64()), "list": pa.array([[1, 2], None], pa.list_(pa.int16())), "word": ["a", "bc"]})
    with pq.ParquetWriter(HERE / "empty-groups.parquet", table.schema, use_dictionary=False) as writer:
        for rows in 0, 1, 0:
            writer.write_table(table.slice(0, rows))
        writer.write_table(table.slice(1))
    groups = pq.ParquetFile(HERE / "empty-groups.parquet").metadata
    assert [groups.row_group(i).num_rows for i in range(4)] == [0, 1, 0, 1]
    assert pq.read_table(HERE / "empty-groups.parquet").equals(table)
    word_bytes, word_offsets = texts(["a", "bc"])
    expect("empty-groups.parquet", x=np.array([1, 2]), list__values=np.array([1, 2], "<i2"), list__offsets=offsets([2, 0]),
           list__shapes=np.array([[2], [0]]), list_dot_mask=np.array([False, True]), word__bytes=word_bytes, word__offsets=word_offsets)


def write_geometry():
    """Write a geometry of the reference system that GeoParquet has by default."""

    class Geometry(pa.ExtensionType):
        def __init__(self):
            pa.ExtensionType.__init__(self, pa.binary(), "geoarrow.wkb")

        def __arrow_ext_serialize__(self):
            return b"{}"

        @classmethod
        def __arrow_ext_deserialize__(cls, storage_type, serialized):
            return cls()

    points = [b"\x01\x01\x00\x00\x00" + np.array([i, -i], "<f8").tobytes() for i in range(3)]
    geometry = pa.ExtensionArray.from_storage(Geometry(), pa.array([*points, None]))
    pq.write_table(pa.table({"geometry": geometry}), HERE / "geometry.parquet", store_schema=False)
    assert "Geometry" in str(pq.ParquetFile(HERE / "geometry.parquet").schema)
    expect("geometry.parquet", geometry__values=np.frombuffer(b"".join(points), "u1"), geometry__offsets=offsets([21, 21, 21, 0]),
           geometry_dot_mask=np.arange(4) == 3)


def write_partitions():
    """Write folders of partitions, as Hive, Spark and others name them."""
    table = pa.table({"x": range(6), "year": [2021, 2020, 2021, 2020, 2020, 2021], "city": ["New York/1", "Zürich", None, "New York/1", None, "Zürich"]})
    for folder in ("hive", "train"):
        shutil.rmtree(HERE / folder, ignore_errors=True)
    pq.write_to_dataset(table, HERE / "hive", partition_cols=["year", "city"], basename_template="part-{i}.parquet")
    keys = ds.partitioning(pa.schema([("year", pa.int32()), ("city", pa.string())]), flavor="hive")
    found = pq.read_table(HERE / "hive", partitioning=keys).sort_by("x")
    assert found.column("year").to_pylist() == table.column("year").to_pylist()
    assert found.column("city").to_pylist() == table.column("city").to_pylist()
    files = sorted(str(path.relative_to(HERE / "hive")) for path in (HERE / "hive").rglob("*.parquet"))
    (HERE / "hive.tsv").write_text("\n".join(files) + "\n")
    xs = [x for file in files for x in pq.read_table(HERE / "hive" / file, partitioning=None).column("x").to_pylist()]
    cities = [table.column("city")[x].as_py() for x in xs]
    words = list(dict.fromkeys(city for city in cities if city is not None))
    word_bytes, word_offsets = texts(words)
    expect("hive", x=np.array(xs), year=np.array([table.column("year")[x].as_py() for x in xs]),
           city=np.array([0 if city is None else words.index(city) for city in cities], "<i4"),
           city_dot_mask=np.array([city is None for city in cities]), city_dot_classes__bytes=word_bytes, city_dot_classes__offsets=word_offsets)


def main():
    write_decimals()
    write_times()
    write_nulls()
    write_empty()
    write_geometry()
    write_partitions()
    (HERE / "expected.tsv").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
