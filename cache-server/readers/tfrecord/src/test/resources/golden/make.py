"""Makes the golden files of TFRecord, written by hand from TensorFlow's documentation: make.py (numpy).

The bytes of a record and of a tf.train.Example are what tf.io.TFRecordWriter and SerializeToString write.
"""

import gzip
import pathlib
import struct
import zlib

import numpy as np

HERE = pathlib.Path(__file__).parent
ROWS = 40
TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc(head)) + data + struct.pack("<I", masked_crc(data))


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(values, packed=True):
    if values and isinstance(values[0], bytes):
        return field(1, b"".join(field(1, value) for value in values))
    if values and isinstance(values[0], float):
        floats = [struct.pack("<f", value) for value in values]
        return field(2, field(1, b"".join(floats)) if packed else b"".join(varint(1 << 3 | 5) + f for f in floats))
    whole = [varint(value) for value in values]
    return field(3, field(1, b"".join(whole)) if packed else b"".join(varint(1 << 3) + w for w in whole))


def example(features, packed=True):
    entries = [field(1, field(1, name.encode()) + field(2, feature(values, packed))) for name, values in features.items()]
    return field(1, b"".join(entries))


def text(value):
    """Say what is expected of an array as the test does."""
    data = np.ascontiguousarray(value).tobytes()
    words = data.hex() if len(data) <= 64 else "crc " + format(zlib.crc32(data), "x")
    return f"{value.dtype.str} {list(value.shape)} {words}"


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype("<i8")


def main():
    rows = []
    for i in range(ROWS):
        row = {"image/encoded": [bytes([i]) * (i * 7 % 300)], "image/label": [i - 5], "box": [i * 0.5, 1.0, 2.0, -i * 1.0],
               "tokens": list(range(i % 4))}
        if i % 4:
            row["tags"] = [b"t" * (k + i % 2) for k in range(i % 4)]
        if i % 3:
            row["name"] = [f"n{i}".encode()]
        rows.append(row)
    data = [example(row, packed=i % 2 == 0) for i, row in enumerate(rows)]
    (HERE / "all.tfrecord").write_bytes(b"".join(map(record, data)))
    (HERE / "all.tfrecord.gz").write_bytes(gzip.compress(b"".join(map(record, data)), mtime=0))
    (HERE / "table").mkdir(exist_ok=True)
    for part, (start, end) in enumerate([(0, 0), (0, 15), (15, 40)]):
        (HERE / f"table/t.tfrecord-{part:05}-of-00003").write_bytes(b"".join(map(record, data[start:end])))
    images = [row["image/encoded"][0] for row in rows]
    names = [row.get("name", [b""])[0] for row in rows]
    tokens = [row["tokens"] for row in rows]
    tags = [row.get("tags", []) for row in rows]
    expected = {
        "image/encoded/values": np.frombuffer(b"".join(images), "u1"),
        "image/encoded/offsets": offsets([len(image) for image in images]),
        "image/label": np.arange(ROWS, dtype="<i8") - 5,
        "box": np.array([row["box"] for row in rows], "<f4"),
        "tokens/values": np.concatenate([np.array(t, "<i8") for t in tokens]),
        "tokens/offsets": offsets([len(t) for t in tokens]),
        "tokens/shapes": np.array([[len(t)] for t in tokens], "<i8"),
        "tags.offsets": offsets([len(t) for t in tags]),
        "tags.items/values": np.frombuffer(b"".join(tag for t in tags for tag in t), "u1"),
        "tags.items/offsets": offsets([len(tag) for t in tags for tag in t]),
        "name/values": np.frombuffer(b"".join(names), "u1"),
        "name/offsets": offsets([len(name) for name in names]),
        "name.mask": np.array([not i % 3 for i in range(ROWS)]),
    }
    raw = {"record/values": np.frombuffer(b"".join(data), "u1"), "record/offsets": offsets([len(d) for d in data])}
    lines = [f"arrays\t{name}\t{text(value)}" for name, value in expected.items()]
    lines += [f"bytes\t{name}\t{text(value)}" for name, value in raw.items()]
    (HERE / "expected.tsv").write_text("\n".join(lines) + "\n")
    (HERE / "other.tfrecord").write_bytes(record(b"\x0anot an example"))
    (HERE / "mixed.tfrecord").write_bytes(record(example({"a": [1]})) + record(example({"a": [1.5]})))
    empty = field(1, field(1, field(1, b"none") + field(2, b"")) + field(1, field(1, b"n") + field(2, feature([1]))))
    (HERE / "empty.tfrecord").write_bytes(record(empty) * 2)
    sequence = example({"a": [1]}) + field(2, field(1, field(1, b"f") + field(2, field(1, feature([1])))))
    (HERE / "sequence.tfrecord").write_bytes(record(example({"a": [1]})) + record(sequence))


if __name__ == "__main__":
    main()
