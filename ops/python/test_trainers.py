"""Runs the programs of trainers/ with and without `larder run --redirect`, against a daemon: $LARDER_TEST_STORE is its store.

    LARDER_TEST_STORE=... LARDER_COMMAND=ops/larder python3 -W error -m unittest test_trainers
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np

from test_redirect import HERE, LARDER, STORE, larder, save

SCRIPTS = os.path.join(HERE, "trainers")
ALONE = "linear", "archive", "tokens", "spawned", *(["workers"] if importlib.util.find_spec("torch") else [])
AT_ONCE = 8

# The sitecustomize of the user, which --redirect runs as well: it notes the files that each process opens and maps.
WATCH = """
    import atexit, os, sys
    log, watched = os.open(os.environ.get("WATCH_LOG", os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT), tuple(os.environ.get("WATCHED", "/absent").split(":"))
    def note(kind, path):
        if isinstance(path, str) and os.path.realpath(path).startswith(watched):
            os.write(log, f"{kind} {os.path.realpath(path)}\\n".encode())
    def hook(event, words):
        if event == "open":
            note("open", words[0])
        elif event == "mmap.__new__" and words[0] >= 0:
            note("map", os.readlink(f"/proc/self/fd/{words[0]}"))
    sys.addaudithook(hook)
    """

EACH = """
    cd "$1"
    export OPENBLAS_NUM_THREADS=1
    start() { WATCH_LOG="$2/$3.log" "$PYTHON" "$SCRIPTS/$1.py" $4 >"$2/$3.out" 2>"$2/$3.err" || echo "exit $?" >>"$2/$3.err"; }
    for script in $SCRIPTS_ALONE; do start $script "$2" $script; done
    for seed in $SEEDS; do start seeded "$2" seeded-$seed $seed & done
    wait
    """


@unittest.skipUnless(STORE and LARDER, "needs a daemon")
class TrainersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(os.path.realpath(folder.name))
        random = np.random.default_rng(1)
        data = cls.folder / "data"
        (data / "text").mkdir(parents=True)
        x = random.normal(size=(4096, 32)).astype("f4")
        save(data / "x.npy", x)
        save(data / "y.npy", (x @ random.normal(size=32) + random.normal(size=4096)).astype("f4"))
        np.savez_compressed(data / "train.npz", images=random.integers(0, 256, (4096, 64), "u1"), labels=random.integers(0, 10, 4096))
        random.integers(0, 64, 1 << 17).astype("u2").tofile(data / "text" / "train.bin")
        for file in data / "train.npz", data / "text" / "train.bin":
            os.utime(file, (1e9, 1e9))
        larder("load", f"t={data}", "--pack-below", "0")
        larder("load", f"text={data / 'text' / 'train.bin'}", "--dtype", "uint16", "--pack-below", "0")
        cls.addClassCleanup(larder, "evict", "t")
        cls.addClassCleanup(larder, "evict", "text")
        (cls.folder / "watch").mkdir()
        (cls.folder / "watch" / "sitecustomize.py").write_text(textwrap.dedent(WATCH))
        cls.plain = cls.run_all("plain")
        cls.redirected = cls.run_all("redirected", LARDER, "--store", STORE, "run", "--redirect", "--")

    @classmethod
    def run_all(cls, name, *words):
        out = cls.folder / name
        out.mkdir()
        seeds = " ".join(map(str, range(AT_ONCE)))
        environment = {**os.environ, "PYTHON": sys.executable, "SCRIPTS": SCRIPTS, "SCRIPTS_ALONE": " ".join(ALONE), "SEEDS": seeds,
                       "PYTHONPATH": str(cls.folder / "watch"), "WATCHED": f"{os.path.realpath(STORE)}/data/:{cls.folder}/data/"}
        subprocess.run([*words, "sh", "-c", textwrap.dedent(EACH), "sh", cls.folder, out], env=environment, check=True)
        return out

    def stored(self, array):
        dataset, _, name = array.partition("/")
        version = pathlib.Path(os.path.realpath(STORE), "data", dataset, "current").resolve()
        manifest = json.loads((version / "manifest.json").read_text())
        return str(version / next(found["file"] for found in manifest["arrays"] if found["name"] == name))

    def require_equal(self, run, arrays, opened=()):
        """Requires equal losses, the only maps to be those of the store, and no file to be opened but for its header or directory."""
        for end in "out", "err":
            self.assertEqual((self.redirected / f"{run}.{end}").read_text(), (self.plain / f"{run}.{end}").read_text())
        self.assertEqual((self.plain / f"{run}.err").read_text(), "")
        self.assertGreater((self.plain / f"{run}.out").read_text().count("loss"), 2)
        events = {tuple(line.split(" ", 1)) for line in (self.redirected / f"{run}.log").read_text().splitlines()}
        mapped = {path for kind, path in events if kind == "map" and not path.endswith("/index")}
        self.assertEqual(mapped, {self.stored(array) for array in arrays})
        own = f"{self.folder}/data/"
        self.assertEqual({path[len(own):] for kind, path in events if kind == "open" and path.startswith(own)}, set(opened))

    def test_arrays_in_files_of_their_own(self):
        self.require_equal("linear", ["t/x", "t/y"])

    def test_members_of_an_archive(self):
        self.require_equal("archive", ["t/train/images", "t/train/labels"], ["train.npz"])

    def test_tokens_that_are_mapped_again_for_each_batch(self):
        self.require_equal("tokens", ["text/train"])

    @unittest.skipUnless("workers" in ALONE, "needs torch")
    def test_workers_of_a_data_loader(self):
        self.require_equal("workers", ["t/x", "t/y"])

    def test_spawned_processes(self):
        self.require_equal("spawned", ["t/x", "t/y"])

    def test_eight_at_once(self):
        for seed in range(AT_ONCE):
            with self.subTest(seed=seed):
                self.require_equal(f"seeded-{seed}", ["t/x", "t/y"], ["x.npy"])


if __name__ == "__main__":
    unittest.main()
