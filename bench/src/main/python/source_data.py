"""Data that a user has to fetch or open first: a file behind a slow network, small images, a table of Parquet."""
import http.server
import os
import random
import threading
import time
import zlib

import numpy as np

ROW_BYTES = 3072
SENT_A_SECOND = 50_000_000  # as parts/day.py has it in words
FEATURES = 125  # with target and group 512 bytes a row


class Slow(http.server.BaseHTTPRequestHandler):
    """Serves one file, and parts of it, at the server's pace."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, with_body):
        data = self.server.data
        first, last, code = 0, len(data) - 1, 200
        part = self.headers.get("Range", "")
        if self.path != "/rows.npy":
            self.send_error(404)
            return
        if part.startswith("bytes=") and with_body:
            begin, _, end = part[6:].partition("-")
            first, last, code = int(begin), min(int(end or last), last), 206
        self.send_response(code)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"1"')
        if code == 206:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        for begin in range(first, last + 1, 1 << 18) if with_body else ():
            chunk = data[begin : min(begin + (1 << 18), last + 1)]
            self.server.wait_for(len(chunk))
            self.wfile.write(chunk)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, data):
        super().__init__(("127.0.0.1", 0), Slow)
        self.data, self.sent, self.free_at, self.guard = data, 0, 0.0, threading.Lock()

    def wait_for(self, count):
        with self.guard:
            self.sent += count
            self.free_at = max(self.free_at, time.monotonic()) + count / SENT_A_SECOND
            left = self.free_at - time.monotonic()
        time.sleep(max(0.0, left))

    def handle_error(self, *_):
        pass  # a client that ends early


def png(randomness):
    """Makes a valid picture of 32×32 pixels of noise, some 3 kB long."""

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    header = (32).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    lines = b"".join(b"\0" + randomness.randbytes(96) for _ in range(32))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b"")


def write_rows(path, size):
    """Writes an array of so many bytes."""
    np.save(path, np.random.default_rng(42).integers(0, 256, (size // ROW_BYTES, ROW_BYTES), np.uint8))


def write_images(folder, count):
    """Writes pictures into ten folders, and returns their bytes."""
    total, randomness = 0, random.Random(42)
    for number in range(count):
        inside = os.path.join(folder, f"class-{number % 10}")
        os.makedirs(inside, exist_ok=True)
        picture = png(randomness)
        total += len(picture)
        with open(os.path.join(inside, f"{number:05}.png"), "wb") as file:
            file.write(picture)
    return total


def write_table(path, size):
    """Writes features, a target and a group, by pyarrow with its defaults, and returns their bytes as arrays."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, rows = np.random.default_rng(42), size // (4 * FEATURES + 4 + 8)
    features = pa.FixedSizeListArray.from_arrays(rng.standard_normal(rows * FEATURES, np.float32), FEATURES)
    columns = {"features": features, "target": rng.standard_normal(rows, np.float32), "group": rng.integers(0, 1000, rows)}
    pq.write_table(pa.table(columns), path)
    return rows * (4 * FEATURES + 4 + 8)
