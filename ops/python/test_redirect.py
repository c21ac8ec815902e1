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
MEMBERS = {"a": np.arange(3), "level/b": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "two words": np.ones(2, "u1")}

SHARED = """
    np.load("c.npy", allow_pickle=True)
    np.load("c.npy", None, True, True, "latin1")
    np.load(pathlib.Path("c.npy"), mmap_mode="r")
    np.load("two.npz")["a"]
    [archive.f.a for archive in [np.load("two.npz")]][0]
    np.load("two.npz")["a.npy"]
    np.load("two.npz").get("level/b")
    list(np.load("deep/packed.npz", allow_pickle=True).values())[2]
    dict(np.load("deep/../deep/packed.npz"))["level/b"]
    np.lib.format.open_memmap("c.npy", mode="r")
    np.lib.format.open_memmap(pathlib.Path("fortran.npy"), "r")
    np.lib.format.open_memmap("fields.npy", mode="r")["b"]
    np.memmap("tokens.bin", dtype=np.uint16, mode="r")
    np.memmap("tokens.bin", "u2", "readonly", 6)
    np.memmap("tokens.bin", mode="r")
    np.memmap("tokens.bin", dtype=">i4", mode="r", offset=np.int64(1), shape=(5, 4), order="F")
    np.memmap("tokens.bin", dtype="u2", mode="r", shape=60)
    np.memmap("tokens.bin", None, mode="r")
    np.memmap(pathlib.Path("tokens.bin"), dtype="u2", mode="r", shape=(3, 20))[1:, ::-2]
    np.memmap(os.path.abspath("tokens.bin"), dtype="u2,u4", mode="r")
    np.memmap("link.bin", dtype="u2", mode="r")
    np.memmap("c.npy", dtype="<f4", mode="r", offset=128, shape=(4, 3))
    np.memmap("c.npy", dtype="<u2", mode="r", offset=130)
    """

LEFT = """
    np.load("c.npy", "c")
    np.load("c.npy", mmap_mode="r+")
    np.load("c.npy", mmap_mode="x")
    np.load("c.npy", encoding="utf-8")
    np.load("c.npy", max_header_size=10)
    np.load("c.npy", bogus=1)
    np.load(b"c.npy")
    np.load(open("c.npy", "rb"))
    np.load("tokens.bin")
    np.load("absent.npy")
    np.load("two.npz")
    np.load("two.npz")["b"]
    np.load("two.npz")[0]
    np.load(open("two.npz", "rb"))["a"]
    closed(np.load("two.npz"))["a"]
    np.load("two.npz").files
    np.lib.format.open_memmap("c.npy")
    np.lib.format.open_memmap("c.npy", "c")
    np.lib.format.open_memmap(open("c.npy", "rb"), "r")
    np.lib.format.open_memmap("new.npy", "w+", "u2", (2, 3), True)
    np.memmap("tokens.bin", dtype="u2", mode="c", shape=3)
    np.memmap("tokens.bin", "u2")
    np.memmap("new.bin", "u2", "w+", shape=3)
    np.memmap("tokens.bin", mode="bogus")
    np.memmap("tokens.bin", dtype="u4", mode="r", offset=2)
    np.memmap("tokens.bin", dtype="u2", mode="r", offset=120)
    np.memmap("tokens.bin", dtype="u2", mode="r", offset=122)
    np.memmap("tokens.bin", dtype="u2", mode="r", offset=-2, shape=3)
    np.memmap("tokens.bin", dtype="u2", mode="r", offset=2.5)
    np.memmap("tokens.bin", dtype="u2", mode="r", shape=61)
    np.memmap("tokens.bin", dtype="u2", mode="r", shape=(-2, -3))
    np.memmap("tokens.bin", dtype="u2", mode="r", shape=[3, 4])
    np.memmap("tokens.bin", dtype="u2", mode="r", shape=(2.5,))
    np.memmap("tokens.bin", dtype="u2", mode="r", shape=0)
    np.memmap("tokens.bin", dtype="O", mode="r")
    np.memmap("tokens.bin", dtype="V0", mode="r")
    np.memmap("tokens.bin", dtype="u2", mode="r", order="x")
    np.memmap("tokens.bin", dtype="u2", mode="r", bogus=1)
    np.memmap(b"tokens.bin", dtype="u2", mode="r")
    np.memmap(open("tokens.bin", "rb"), dtype="u2", mode="r")
    np.memmap("c.npy", mode="r")
    np.memmap("two.npz", mode="r")
    np.memmap("absent.bin", mode="r")
    np.memmap(7.5, mode="r")
    np.memmap()
    """

# Prints for each call where its result comes from, and the result; the second part is the same with and without --redirect.
CALLS = """
import os, pathlib, re
def closed(archive):
    archive.close()
    return archive
for call in %r.split("\\n"):
    try:
        a = eval(call)
        is_array = isinstance(a, np.ndarray)
        result = (a.dtype, a.shape, a.strides, a.tobytes()) if is_array else a
        place = (getattr(a, "filename", None) or "numpy", a.flags.writeable, type(a).__name__) if is_array else "none"
    except Exception as e:
        result, place = (type(e).__name__, str(e)), "none"
    print(place, re.sub("0x[0-9a-f]+", "0x", repr(result)), sep="\\t")
"""


def larder(*words, **options):
    return subprocess.run([LARDER, "--store", STORE, *map(str, words)], check=True, capture_output=True, text=True,
                          **options)


def save(file, array):
    np.save(file, array)
    make_older(file)


def make_older(file):
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
        np.savez(os.path.join(cls.folder, "two.npz"), **MEMBERS)
        os.mkdir(os.path.join(cls.folder, "deep"))
        np.savez_compressed(os.path.join(cls.folder, "deep", "packed.npz"), **MEMBERS)
        np.arange(60, dtype="u2").tofile(os.path.join(cls.folder, "tokens.bin"))
        for name in "two.npz", "deep/packed.npz", "tokens.bin":
            make_older(os.path.join(cls.folder, name))
        larder("load", f"d={cls.folder}", "--exclude", "tokens.bin")
        larder("load", f"tokens={cls.folder}/tokens.bin", "--dtype", "uint16")
        cls.addClassCleanup(larder, "evict", "tokens")
        cls.addClassCleanup(larder, "evict", "d")
        os.symlink("tokens.bin", os.path.join(cls.folder, "link.bin"))
        save(os.path.join(cls.folder, "other.npy"), np.arange(3))

    def script(self, code, env=None, words=(), changed=None):
        """Runs a program, and requires that it reports a changed file of a dataset once, or none."""
        code = "import sys, numpy as np\ndef cached(a): print(getattr(a, 'filename', None) or '')\n" + textwrap.dedent(code)
        done = subprocess.run([sys.executable, *words, "-c", code], env=env or environment(), cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        if changed:
            self.assertRegex(done.stderr, rf"^larder: a file may have changed since it was loaded, .* dataset={changed} .*\n$")
        else:
            self.assertEqual(done.stderr, "")
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

    def calls(self, table, env=None):
        calls = [line.strip() for line in table.strip().splitlines()]
        lines = self.script(CALLS % "\n".join(calls), env, words=["-W", "ignore"])
        self.assertEqual(len(lines), len(calls))
        return dict(zip(calls, (line.split("\t", 1) for line in lines)))

    def without(self):
        return {name: value for name, value in environment().items() if name != "LARDER_REDIRECT"}

    def test_calls_that_only_read_get_the_shared_array_with_the_values_of_numpy(self):
        redirected, plain = self.calls(SHARED), self.calls(SHARED, self.without())
        for call, (place, result) in redirected.items():
            self.assertIn(STORE, place, call)
            self.assertIn("False, 'memmap'", place, call)
            self.assertEqual(result, plain[call][1], call)

    def test_everything_else_is_left_to_numpy(self):
        redirected, plain = self.calls(LEFT), self.calls(LEFT, self.without())
        for call, (place, _) in redirected.items():
            self.assertNotIn(STORE, place, call)
            self.assertEqual(redirected[call], plain[call], call)

    def test_archive_that_is_the_source_itself_has_no_level(self):
        file = os.path.join(self.folder, "alone.npz")
        np.savez(file, **{"alone/a": np.zeros(3), "a": np.ones(3), "deep": np.arange(3)})
        make_older(file)
        read = "z = np.load('alone.npz'); [print(float(a.sum()), a.filename if isinstance(a, np.memmap) else '') for a in map(z.get, z.files)]"
        for keys, shared in ((), 3), (("--keys", "alone/a"), 1), (("--keys", "deep"), 1):
            larder("load", f"alone={file}", *keys)
            lines = [line.split(" ", 1) for line in self.script(read, environment("alone/" + self.newest("alone")))]
            larder("evict", "alone")
            self.assertEqual([line[0] for line in lines], ["0.0", "3.0", "3.0"])
            self.assertEqual(sum(line[1].startswith(STORE) for line in lines), shared)

    def test_names_that_would_be_equal_in_the_store_are_refused_by_the_daemon(self):
        file = os.path.join(self.folder, "names.npz")
        for other in np.zeros(3), np.array([None, 7], "O"):
            np.savez(file, **{"a b": np.zeros(3), "a_b": other})
            for keys in (), ("--keys", "a_b"):
                with self.assertRaises(subprocess.CalledProcessError):
                    larder("load", f"names={file}", *keys)

    def test_rows_of_one_node_are_not_the_file(self):
        file = os.path.join(self.folder, "part.npy")
        save(file, np.zeros(4))
        larder("load", f"part={file}")
        self.addCleanup(larder, "evict", "part")
        manifest = pathlib.Path(STORE, "data", "part", self.newest("part"), "manifest.json")
        whole = manifest.read_text()
        self.assertFromStore(self.script("cached(np.load('part.npy'))")[0])
        manifest.chmod(0o600)
        manifest.write_text(whole.replace('"options": {', '"options": {"shard": {"index": 0, "count": 2}, '))
        self.assertEqual(self.script("cached(np.load('part.npy'))"), [""])

    def newest(self, dataset):
        return os.readlink(os.path.join(STORE, "data", dataset, "current"))

    def test_changed_file_is_read_itself(self):
        file = os.path.join(self.folder, "changing.npy")
        save(file, np.zeros(4))
        larder("load", f"changing={file}")
        self.addCleanup(larder, "evict", "changing")
        self.assertFromStore(self.script("cached(np.load('changing.npy'))")[0])
        np.save(file, np.ones(4))
        read = "for _ in range(2): a = np.load('changing.npy'); np.load('changing.npy', 'r'); print(a.sum()); cached(a)"
        self.assertEqual(self.script(read, changed="changing"), ["4.0", "", "4.0", ""])

    def test_file_that_another_has_replaced_is_read_itself(self):
        for name, write, read in (("replaced.npy", np.save, "np.load('replaced.npy', 'r')"),
                                  ("replaced.npz", np.savez, "np.load('replaced.npz')['arr_0']"),
                                  ("replaced.bin", lambda file, a: a.tofile(file), "np.memmap('replaced.bin', 'f8', 'r')")):
            file = os.path.join(self.folder, name)
            write(file, np.zeros(4))
            make_older(file)
            larder("load", f"replaced={file}", *(["--dtype", "f8"] if name.endswith("bin") else []))
            self.assertFromStore(self.script(f"cached({read})")[0])
            write(os.path.join(self.folder, "other-" + name), np.ones(4))
            os.replace(os.path.join(self.folder, "other-" + name), file)
            self.assertEqual(self.script(f"print({read}.sum(), {read}.sum())", changed="replaced"), ["4.0 4.0"])
            larder("evict", "replaced")

    def test_file_that_is_loaded_again_is_shared_without_a_report(self):
        file = os.path.join(self.folder, "again.npy")
        save(file, np.zeros(4))
        larder("load", f"again={file}")
        self.addCleanup(larder, "evict", "again")
        lines = self.script("""
            import subprocess
            cached(np.load("again.npy"))
            np.save("again.npy", np.ones(4))
            import os
            os.utime("again.npy", (1e9, 1e9))
            subprocess.run([os.environ["LARDER_COMMAND"], "load", "again=again.npy"], check=True, capture_output=True)
            a = np.load("again.npy")
            print(a.sum())
            cached(a)
            """)
        self.assertFromStore(lines[0])
        self.assertEqual(lines[1], "4.0")
        self.assertFromStore(lines[2])

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
        self.assertEqual(self.script(read, changed="back"), ["1.0", ""])

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
        self.assertEqual(self.script("cached(np.load('touched.npy'))", changed="touched"), [""])
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
        self.assertEqual(self.script("cached(np.load('early.npy'))", changed="early"), [""])

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
