"""Tests of redirect/sitecustomize.py, against a daemon: $LARDER_TEST_STORE is its store, $LARDER_COMMAND the command.

    LARDER_TEST_STORE=... LARDER_COMMAND=ops/larder python3 -W error -m unittest test_redirect
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
STORE = os.environ.get("LARDER_TEST_STORE", "")
LARDER = os.environ.get("LARDER_COMMAND", "")
A_MINUTE_AGO = -60

ARRAYS = {
    "c": np.arange(12, dtype="<f4").reshape(3, 4),
    "fortran": np.asfortranarray(np.arange(12, dtype="<i8").reshape(3, 4)),
    "big": np.arange(5, dtype=">i2"),
    "scalar": np.array(7.5),
    "empty": np.zeros((0, 3)),
    "2MiB": np.arange((2 << 20) // 8, dtype="<f8"),  # from here on files are mapped aligned
    "more-than-2MiB": np.asfortranarray(np.arange(3 << 18, dtype="<f4").reshape(3, -1)),
    "fields": np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i4"), ("b", "<f8", ())]),
}


def larder(*words, **options):
    return subprocess.run([LARDER, "--store", STORE, *map(str, words)], check=True, capture_output=True, text=True,
                          **options)


def save(file, array):
    np.save(file, array)
    now = os.stat(file).st_mtime
    os.utime(file, (now + A_MINUTE_AGO, now + A_MINUTE_AGO))  # of a younger file the time says nothing


def environment(held="", **more):
    """Makes the environment that `larder run --redirect` makes."""
    path = os.path.join(HERE, "redirect")
    return {**os.environ, "PYTHONPATH": path, "LARDER_REDIRECT": held, "LARDER_STORE": STORE, **more}


@unittest.skipUnless(STORE and LARDER, "needs a daemon")
class RedirectTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name, array in ARRAYS.items():
            save(os.path.join(cls.folder, name + ".npy"), array)
        np.savez(os.path.join(cls.folder, "two.npz"), a=np.arange(3))
        larder("load", f"d={cls.folder}")
        cls.addClassCleanup(larder, "evict", "d")
        save(os.path.join(cls.folder, "other.npy"), np.arange(3))

    def script(self, code, env=None, words=(), **options):
        code = "import sys, numpy as np\ndef cached(a): print(getattr(a, 'filename', None) or '')\n" + textwrap.dedent(code)
        done = subprocess.run([sys.executable, *words, "-c", code], env=env or environment(), cwd=self.folder,
                              capture_output=True, text=True, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def assertFromStore(self, line):
        self.assertTrue(line.startswith(STORE), line)

    def test_source_is_read_from_the_store_however_it_is_named(self):
        lines = self.script("""
            import pathlib, os
            for file in "c.npy", pathlib.Path("c.npy"), os.path.abspath("c.npy"), "../" + os.path.basename(os.getcwd()) + "/c.npy":
                for options in {}, {"mmap_mode": "r"}, {"mmap_mode": None, "allow_pickle": False}:
                    a = np.load(file, **options)
                    assert type(a) is np.memmap and not a.flags.writeable and a.sum() == 66
                    cached(a)
            """)
        self.assertEqual(len(lines), 12)
        for line in lines:
            self.assertFromStore(line)

    def test_arrays_are_what_numpy_reads(self):
        self.script("""
            for name in sys.argv[1:]:
                a, b = np.load(name + ".npy"), np.load(open(name + ".npy", "rb"))
                assert (a.dtype, a.shape) == (b.dtype, b.shape), name
                assert a.flags.f_contiguous == b.flags.f_contiguous and a.tobytes() == b.tobytes(), name
            """.replace("sys.argv[1:]", repr(list(ARRAYS))))

    def test_arrays_live_and_pickle_as_those_of_numpy_do(self):
        lines = self.script("""
            import copy, pickle
            a, mapped = np.load("c.npy"), np.load("other.npy", mmap_mode="r")
            for use in (lambda x: x[:1], lambda x: x + 1, lambda x: x.copy(), copy.deepcopy,
                        lambda x: pickle.loads(pickle.dumps(x)), np.asarray, lambda x: x[[0, 1]]):
                one, other = use(a), use(mapped)
                assert type(one) is type(other) and one.flags.writeable == other.flags.writeable
            assert (pickle.loads(pickle.dumps(a)) == a).all() and repr(a).startswith("memmap(")
            try:
                a[0] = 1
            except ValueError as e:
                print(e)
            """)
        self.assertIn("read-only", lines[0])

    def test_many_arrays_at_once_leave_the_program_files_to_open(self):
        folder = os.path.join(self.folder, "many")
        os.mkdir(folder)
        for i in range(60):
            save(os.path.join(folder, f"{i}.npy"), np.full(3, i))
        larder("load", f"many={folder}", "--pack-below", "0")
        self.addCleanup(larder, "evict", "many")
        lines = self.script("""
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, 80))
            arrays = [np.load(f"many/{i}.npy") for i in range(60)]
            assert [int(a[0]) for a in arrays] == list(range(60))
            files = [open("c.npy") for _ in range(10)]
            print(sum(isinstance(a, np.memmap) for a in arrays))
            """)
        self.assertEqual(lines, ["60" if sys.version_info >= (3, 13) else "40"])
        self.script("""
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, 4096))
            arrays = [np.load(f"many/{i}.npy") for i in range(30)]
            assert all(isinstance(a, np.memmap) for a in arrays)
            files = [open("c.npy") for _ in range(30)]
            """)

    def test_everything_else_is_left_to_numpy(self):
        lines = self.script("""
            for a in (np.load("c.npy", allow_pickle=True), np.load("c.npy", None, True), np.load(open("c.npy", "rb")),
                      np.load("two.npz")["a"], np.load("c.npy", "c"), np.load("c.npy", mmap_mode="r+"),
                      np.load("other.npy"), np.load("other.npy", mmap_mode="r"), np.load(b"c.npy")):
                cached(a)
            try:
                np.load("absent.npy")
            except FileNotFoundError as e:
                print(e.filename)
            """)
        self.assertEqual([line for line in lines if line.startswith(STORE)], [])
        self.assertEqual(lines[-1], "absent.npy")

    def test_changed_file_is_read_itself(self):
        file = os.path.join(self.folder, "changing.npy")
        save(file, np.zeros(4))
        larder("load", f"changing={file}")
        self.addCleanup(larder, "evict", "changing")
        self.assertFromStore(self.script("cached(np.load('changing.npy'))")[0])
        np.save(file, np.ones(4))
        self.assertEqual(self.script("a = np.load('changing.npy'); print(a.sum()); cached(a)"), ["4.0", ""])

    def test_file_whose_bytes_changed_and_whose_time_was_set_back_is_read_itself(self):
        file = os.path.join(self.folder, "set-back.npy")
        save(file, np.zeros(1 << 20))
        larder("load", f"back={file}")
        self.addCleanup(larder, "evict", "back")
        read = "a = np.load('set-back.npy'); print(a.sum()); cached(a)"
        self.assertFromStore(self.script(read)[1])
        before = os.stat(file)
        with open(file, "r+b") as opened:
            opened.seek((1 << 20) + 128)
            opened.write(np.ones(1).tobytes())
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(self.script(read), ["1.0", ""])

        os.utime(file)
        larder("load", f"back={file}")
        lines = self.script(read)
        self.assertEqual(lines[0], "1.0")
        self.assertFromStore(lines[1])

    def test_file_that_was_touched_is_redirected_when_the_daemon_has_compared_it(self):
        file = os.path.join(self.folder, "touched.npy")
        save(file, np.zeros(4))
        larder("load", f"touched={file}")
        self.addCleanup(larder, "evict", "touched")
        os.chmod(file, 0o600)
        self.assertEqual(self.script("cached(np.load('touched.npy'))"), [""])
        save(file, np.zeros(4))
        larder("load", f"touched={file}")
        self.assertFromStore(self.script("cached(np.load('touched.npy'))")[0])

    def test_manifest_of_an_earlier_release_has_to_be_younger_than_the_last_change_of_a_file(self):
        file = os.path.join(self.folder, "early.npy")
        save(file, np.zeros(4))
        larder("load", f"early={file}")
        self.addCleanup(larder, "evict", "early")
        manifest = pathlib.Path(STORE, "data", "early", "1", "manifest.json")
        earlier = re.sub('"changed": ?[0-9]+,', "", manifest.read_text())
        self.assertNotIn('"changed"', earlier)
        manifest.chmod(0o600)
        manifest.write_text(earlier)
        self.assertFromStore(self.script("cached(np.load('early.npy'))")[0])
        os.chmod(file, 0o600)
        self.assertEqual(self.script("cached(np.load('early.npy'))"), [""])

    def test_damaged_manifest_leaves_the_others_redirected(self):
        larder("load", f"a={os.path.join(self.folder, 'other.npy')}")  # before d, the way they are looked at
        self.addCleanup(larder, "evict", "a")
        manifest = os.path.join(STORE, "data", "a", os.readlink(os.path.join(STORE, "data", "a", "current")), "manifest.json")
        whole = pathlib.Path(manifest).read_text()
        os.chmod(manifest, 0o600)
        self.addCleanup(os.chmod, manifest, 0o400)
        self.addCleanup(pathlib.Path(manifest).write_text, whole)
        for damaged in "", "[]", "{}", whole.replace('"sources"', '"others"'):
            pathlib.Path(manifest).write_text(damaged)
            lines = self.script("cached(np.load('c.npy')); cached(np.load('other.npy'))")
            self.assertFromStore(lines[0])
            self.assertEqual(lines[1], "")

    def test_only_held_versions_are_redirected_to(self):
        newest = os.readlink(os.path.join(STORE, "data", "d", "current"))
        self.assertFromStore(self.script("cached(np.load('c.npy'))", environment("d/" + newest))[0])
        self.assertEqual(self.script("cached(np.load('c.npy'))", environment("e/1")), [""])

    def test_processes_that_a_program_starts_are_redirected_too(self):
        worker = os.path.join(self.folder, "worker.py")
        pathlib.Path(worker).write_text(textwrap.dedent("""
            import multiprocessing, subprocess, sys
            import numpy as np
            def name(file): return np.load(file).filename
            if __name__ == "__main__":
                for method in "fork", "spawn":
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        print(pool.apply(name, ("c.npy",)))
                subprocess.run([sys.executable, "-c", "import numpy as np; print(np.load('c.npy').filename)"], check=True)
            """))
        done = subprocess.run([sys.executable, worker], env=environment(), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(len(done.stdout.splitlines()), 3)
        for line in done.stdout.splitlines():
            self.assertFromStore(line)

    def test_program_that_larder_runs_leases_what_it_reads_until_it_ends(self):
        code = "import sys, numpy as np; a = np.load('c.npy'); del a; print('up', flush=True); sys.stdin.read()"
        with subprocess.Popen([LARDER, "--store", STORE, "run", "--redirect", sys.executable, "-c", code], cwd=self.folder,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "up\n")
            refused = subprocess.run([LARDER, "--store", STORE, "evict", "d"], capture_output=True, text=True)
            self.assertEqual(refused.returncode, 7, refused.stderr)
            self.assertIn(str(program.pid), refused.stderr)
            program.stdin.close()
        self.assertEqual(program.returncode, 0)

    def test_another_sitecustomize_runs_as_it_would_have(self):
        with tempfile.TemporaryDirectory() as other:
            pathlib.Path(other, "sitecustomize.py").write_text("import sys\nprint('other', __name__)\nhere = 1\n")
            env = environment()
            env["PYTHONPATH"] += os.pathsep + other
            lines = self.script("import sitecustomize; print(sitecustomize.here); cached(np.load('c.npy'))", env)
        self.assertEqual(lines[:2], ["other sitecustomize", "1"])
        self.assertFromStore(lines[2])

    def test_without_a_store_programs_go_on(self):
        for store in "/absent", self.folder, "/proc/1/cwd/x":
            self.assertEqual(self.script("cached(np.load('c.npy'))", environment(LARDER_STORE=store)), [""])

    def test_program_without_numpy_gets_nothing_but_a_watch(self):
        code = "import sys; print([m for m in ('numpy', 'json', '_larder_redirect') if m in sys.modules], sys.path)"
        done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertTrue(done.stdout.startswith("[]"))
        self.assertNotIn("redirect", done.stdout)

    def test_python_without_site_is_not_redirected(self):
        for word in "-S", "-E", "-I":
            code = "import sys; print('_NumpyWatch' in str(sys.meta_path))"
            done = subprocess.run([sys.executable, word, "-c", code], env=environment(), capture_output=True, text=True)
            self.assertEqual((done.stdout, done.stderr), ("False\n", ""))


if __name__ == "__main__":
    unittest.main()
