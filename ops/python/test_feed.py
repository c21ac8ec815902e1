"""Tests of larder.feed with a real daemon and the real command, started by whoever sets LARDER_TEST_STORE: see test_with_daemon.py."""

import contextlib
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import numpy as np

from test_larder import larder, room

STORE = os.environ.get("LARDER_TEST_STORE")
ROWS = 1000
ARRAYS = ["image", "label"]

# One red pixel.
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
                      "0000000049454e44ae426082")

TRAINER = """
import os, sys, time
import larder
with larder.feed("pictures", ["image"], epochs=None, name=sys.argv[1]) as batches:
    next(batches)
    if sys.argv[2] == "fork" and os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    print(batches._process.command.pid, flush=True)
    for batch in batches:
        if sys.argv[2] == "exit":
            sys.exit()
"""


def images():
    return np.random.default_rng(1).integers(0, 256, (ROWS, 8, 8, 3), dtype=np.uint8)


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it does not happen")
        time.sleep(0.02)


@unittest.skipUnless(STORE, "needs a daemon: LARDER_TEST_STORE")
class FeedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["LARDER_STORE"] = STORE
        cls.addClassCleanup(os.environ.pop, "LARDER_STORE")
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        np.save(os.path.join(folder, "image"), images())
        np.save(os.path.join(folder, "label"), np.arange(ROWS))
        larder.load("pictures", folder).close()

    def tearDown(self):
        gc.collect()
        wait_until(lambda: os.listdir(os.path.join(STORE, "rings")) == [])

    def feed(self, arrays=ARRAYS, **options):
        return larder.feed("pictures", arrays, **{"batch_size": 100, "timeout": 60, **options})

    def pid_of(self, name):
        with open(os.path.join(STORE, "rings", name, "producer.lock")) as lock:
            return int(re.match("pid=([0-9]+)", lock.read())[1])

    @contextlib.contextmanager
    def trainer(self, name, what):
        """Starts a trainer that has a feed, and waits until that and the trainer itself are gone."""
        words = ["env", "--default-signal=INT", sys.executable, "-c", TRAINER, name, what]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(larder.__file__))},
                                   start_new_session=True)
        with process:
            try:
                pid = int(process.stdout.readline())
                yield process
                wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def test_batches_are_those_of_the_loader(self):
        with self.feed(shuffle=3, epochs=range(1, 3), shard=(1, 2), transform={"image": ["flip", "toFloat"]}) as batches, \
                larder.Loader("pictures", ARRAYS, batch_size=100, shuffle=3, shard=(1, 2)) as loader:
            for _ in loader:
                pass
            for epoch in 1, 2:
                for number, expected in enumerate(loader):
                    found = next(batches)
                    self.assertEqual((found.epoch, found.number, found.size), (epoch, number, 100))
                    self.assertEqual(found["label"].tolist(), expected["label"].tolist())
                    flipped = expected["image"][:, :, ::-1].astype("<f4")
                    np.testing.assert_array_max_ulp(found["image"], flipped / np.float32(255), 1)
            self.assertRaises(StopIteration, next, batches)

    def test_others_attach_by_name(self):
        program = "import larder, sys; print(sum(int(b['label'].sum()) for b in larder.batches(sys.argv[1], timeout=60)))"
        path = os.path.dirname(os.path.dirname(larder.__file__))
        with subprocess.Popen([sys.executable, "-W", "ignore:waiting", "-c", program, "ours"], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": path}) as other, \
                self.feed(name="ours", consumers=2, epochs=3) as batches:
            self.assertEqual(batches.name, "ours")
            self.assertEqual(sum(int(batch["label"].sum()) for batch in batches), 3 * sum(range(ROWS)))
            self.assertEqual(other.stdout.read(), f"{3 * sum(range(ROWS))}\n")

    def test_a_last_batch_that_is_shorter_can_be_left_out(self):
        with self.feed(["label"], batch_size=300, drop_last=True) as batches:
            self.assertEqual([batch.size for batch in batches], [300] * 3)

    def test_a_feed_that_is_over_as_soon_as_its_consumer_sits_is_read_to_its_end(self):
        ring = room("_ring")._Ring
        begin = ring.begin

        def begin_late(taken, at_newest):
            first = begin(taken, at_newest)
            wait_until(lambda: not os.path.exists(taken.folder))
            return first

        with mock.patch.object(ring, "begin", begin_late), self.feed(["label"], batch_size=ROWS // 2) as batches:
            self.assertEqual([batch.size for batch in batches], [ROWS // 2] * 2)

    def test_what_is_wrong_is_the_error_of_the_command(self):
        with self.assertRaisesRegex(larder.NotFound, "no such array: dataset=pictures version=1 array=imag"):
            self.feed(["imag"])
        with self.assertRaisesRegex(larder.RequestFailed, "no such step: array=image step=normalise; did you mean normalize") as failed:
            self.feed(transform={"image": "normalise(1,2)"})
        self.assertEqual(failed.exception.code, 2)
        with self.assertRaises(larder.NotFound):
            larder.feed("picture", ["image"])
        with self.assertRaisesRegex(ValueError, "consumers=0"):
            self.feed(consumers=0)
        with self.assertRaisesRegex(ValueError, "epochs=0"):
            self.feed(epochs=0)
        with self.feed(name="taken", epochs=None):
            with self.assertRaisesRegex(larder.Refused, "a ring of this name has a live producer: ring=taken producer=pid="):
                self.feed(name="taken")

    def test_what_is_no_seed_and_no_transform_is_said_before_anything_starts(self):
        with self.assertRaisesRegex(ValueError, "shuffle is not an integer: shuffle=True; it is a seed"):
            larder.feed("mnist", ["image"], shuffle=True)
        with self.assertRaisesRegex(TypeError, "transform has steps by the names of arrays: transform=decode; write transform={"):
            larder.feed("mnist", ["image"], transform="decode")
        for transform in len, {"image": len}, {"image": ["decode", len]}:
            with self.assertRaisesRegex(TypeError, r"no functions of this one: .*; larder\.Loader\('mnist', \['image'\], batch_size=\.\.\., transform=\.\.\.\) runs them"):
                larder.feed("mnist", ["image"], transform=transform)
        with self.assertRaisesRegex(TypeError, r"a feed has dicts of the arrays of a list: arrays='image'; write arrays=\['image'\]"):
            larder.feed("mnist", "image")
        for wrong, message in ({"batch": 3}, "batch=3; use batch_size="), ({"sampler": [1]}, r"sampler=\[1\]; larder\.Loader has sampler="), ({"consumer": 2}, "consumer=2; did you mean consumers"):
            with self.assertRaisesRegex(TypeError, "a feed has no such setting: " + message):
                larder.feed("mnist", ["image"], **wrong)
        for wrong in {"retries": -1}, {"max_skipped": 1.5}, {"batch_size": 0}:
            with self.assertRaisesRegex(ValueError, f"{[*wrong][0]} is not an integer of at least"):
                larder.feed("mnist", ["image"], **wrong)

    def test_an_error_of_the_command_has_the_settings_of_python(self):
        with self.assertRaisesRegex(larder.RequestFailed, "an epoch has no batches: rows=1000 batchSize=2000; choose a smaller batch_size=, or omit drop_last="):
            with self.feed(["label"], batch_size=2 * ROWS, drop_last=True) as batches:
                list(batches)
        larder.cache("uneven", lambda: {"x": np.arange(3), "y": np.arange(4)}).close()
        with self.assertRaisesRegex(larder.RequestFailed, r"differ in rows: .* x=3 y=4; .* look rows up with transform={array: 'lookup\(keys,index\)'}$"):
            larder.feed("uneven", ["x", "y"])
        with self.assertRaisesRegex(larder.NotFound, "no such array to transform: .*; did you mean label. arrays= names label"):
            self.feed(["label"], transform={"labels": "toFloat"})

    def test_ragged_rows_texts_and_files_are_padded_or_back_to_back(self):
        tokens, texts = [[1, 2, 3], [], [4], [5, 6]], ["one", "", "drei \u00e4", "4"]
        larder.cache("said", lambda: {"tokens": [np.array(row, "<i4") for row in tokens], "text": texts, "label": np.arange(4)}).close()
        with larder.feed("said", ["tokens", "text", "label"], batch_size=3, timeout=60) as batches:
            first, last = batches
        self.assertEqual((first["tokens"].tolist(), first["tokens.mask"].sum(), last["tokens"].shape), ([[1, 2, 3], [0, 0, 0], [4, 0, 0]], 4, (1, 2)))
        self.assertEqual(([row.tolist() for row in first.rows("tokens")], first.texts("text"), last.texts("text")), (tokens[:3], texts[:3], texts[3:]))
        self.assertEqual([int(label) for label in first.rows("label")], [0, 1, 2])
        steps = {"tokens": "truncate(2),padLeft,toMultipleOf(4),fillValue(-1),cast(<i8)", "text": "padded"}
        with larder.feed("said", ["tokens", "text"], batch_size=4, transform=steps, timeout=60) as batches:
            batch, = batches
        self.assertEqual(batch["tokens"].tolist(), [[-1, -1, 1, 2], [-1, -1, -1, -1], [-1, -1, -1, 4], [-1, -1, 5, 6]])
        self.assertEqual((batch["tokens"].dtype, batch.texts("text"), "text.mask" in batch), (np.int64, texts, True))
        with larder.feed("said", ["tokens"], batch_size=4, transform={"tokens": "packed"}, timeout=60) as batches:
            batch, = batches
        self.assertEqual((batch["tokens"].tolist(), [row.tolist() for row in batch.rows("tokens")]), ([1, 2, 3, 4, 5, 6], tokens))
        with larder.feed("said", ["tokens/values"], batch_size=2, transform={"tokens/values": "window(3),stride(1),offset(1)"}, timeout=60) as batches:
            self.assertEqual(sum([batch["tokens/values"].tolist() for batch in batches], []), [[2, 3, 4], [3, 4, 5], [4, 5, 6]])
        with self.assertRaisesRegex(larder.RequestFailed, "a step has to come first: array=tokens step=packed"):
            larder.feed("said", ["tokens"], transform={"tokens": "padded,packed"})
        with self.assertRaisesRegex(larder.RequestFailed, "texts and files cannot be transformed: field=text"):
            larder.feed("said", ["text"], transform={"text": "toFloat"})

    def test_a_transform_that_fails_raises_its_cause_behind_what_was_published(self):
        with self.feed(["label"], transform={"label": "oneHot(250)"}) as batches:
            self.assertEqual([next(batches).number for _ in range(2)], [0, 1])
            with self.assertRaisesRegex(larder.RequestFailed, "label is outside the classes: label=250 classes=250") as failed:
                next(batches)
        self.assertEqual(failed.exception.code, 6)

    def test_rows_that_cannot_be_transformed_are_left_out_and_counted_where_that_is_allowed(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for name in ("1.png", "2.png", "3.png"):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(b"no image" if name == "2.png" else PIXEL)
        larder.load("pixels", folder, as_="bytes").close()
        wanted = dict(batch_size=3, transform={"files": "decode,resize(1,1)"})

        with self.assertRaisesRegex(larder.RequestFailed, r"file=2\.png source=\S*/2\.png; check the sample, or skip such samples: max_skipped=N$"):
            with larder.feed("pixels", ["files"], **wanted) as batches:
                list(batches)
        with self.assertWarnsRegex(UserWarning, r"the feed left out samples: skipped=1 first=.*file=2\.png"):
            with larder.feed("pixels", ["files"], retries=1, max_skipped=1, **wanted) as batches:
                self.assertEqual([len(batch["files"]) for batch in batches], [2])

    def test_a_feed_that_is_killed_is_said_to_be(self):
        with self.feed(epochs=None) as batches:
            next(batches)
            os.kill(self.pid_of(batches.name), signal.SIGKILL)
            with self.assertRaisesRegex(larder.RequestFailed, "the feed was killed by SIGKILL: pid="):
                for _ in batches:
                    pass

    def test_a_feed_that_somebody_ends_says_who(self):
        with self.feed(epochs=None) as batches:
            next(batches)
            os.kill(self.pid_of(batches.name), signal.SIGTERM)
            with self.assertRaisesRegex(larder.RequestFailed, "the feed was interrupted: feed=.* by=SIGTERM") as failed:
                for _ in batches:
                    pass
        self.assertEqual(failed.exception.code, 130)

    def test_a_feed_that_ends_well_before_anybody_sits_is_an_error(self):
        feeds = room("_feed")
        process = feeds._FeedProcess(["sh", "-c", "echo ended"])
        with self.assertRaisesRegex(larder.RequestFailed, "the feed ended before this process had a seat: pid="):
            feeds.Feed(STORE, "ended", 60, True, process)

    def test_whoever_leaves_the_loop_ends_the_feed(self):
        with self.feed(epochs=None) as batches:
            next(batches)
            pid = self.pid_of(batches.name)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.assertRaises(ValueError, next, batches)
        batches = self.feed(epochs=None)
        pid = self.pid_of(batches.name)
        del batches
        gc.collect()
        self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_a_feed_ends_with_its_starter(self):
        with self.trainer("interrupted", "go") as process:
            process.send_signal(signal.SIGINT)
            self.assertIn("KeyboardInterrupt", process.stderr.read())
        with self.trainer("exit", "exit") as process:
            self.assertEqual(process.wait(60), 0)
        with self.trainer("killed", "go") as process:
            process.kill()
        with self.trainer("forked", "fork") as process:
            process.kill()


if __name__ == "__main__":
    unittest.main()
