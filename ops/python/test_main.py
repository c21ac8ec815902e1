"""Tests of ``python -m larder``, against a fake daemon."""

import contextlib
import fcntl
import io
import json
import os
import struct
import subprocess
import sys
import unittest
from unittest import mock
import zlib

import numpy as np

import larder
from larder import __main__ as commands
import make_store

from test_control import TalkCase
from test_larder import HERE

ROW = {"name": "mnist/x", "dtype": "|u1", "shape": [60000, 28, 28], "order": "C", "bytes": 47_040_000, "version": 1, "digest": "ab" * 32, "state": "resident",
       "pinned": False, "leases": 2, "path": "/s/data/mnist/1/x.npy", "offset": 4288, "crc32c": "0badcafe", "source": "/raw/x.npy", "part": "none"}
LABELS = {**ROW, "name": "mnist/labels", "dtype": '[["a","<i4"]]', "shape": [10], "bytes": 80, "path": "/s/data/mnist/1/pack-0000", "offset": 64}
KEYS = [{**ROW, "name": "scan/key/" + part, "part": "index_" + part, "shape": [shape], "dtype": "<u8", "bytes": 8 * shape} for part, shape in
        (("slots", 8), ("records", 99), ("positions", 5))]
RAGGED = [{**ROW, "name": "scan/feat/" + part, "part": "ragged_" + part, "shape": shape, "dtype": "<f4"} for part, shape in
          (("values", [77]), ("offsets", [2]), ("shapes", [1, 2]))]
KNOWN = {**ROW, "name": "cold", "dtype": "", "shape": [], "bytes": 0, "version": 0, "digest": "", "state": "registered", "path": "", "offset": 0,
         "crc32c": "", "leases": 0}
STATUS = {"store": "/s", "pid": 7, "version": "0.1.0", "capacityBytes": 1 << 30, "usedBytes": 1 << 20, "leasedBytes": 0, "pinnedBytes": 0, "retiredBytes": 0,
          "reservedBytes": 3 << 20, "arrays": 2, "clients": 1, "hugePages": "never", "hugeBytes": 1 << 20, "hugeRefusedBytes": 5 << 20, "memoryPolicy": "interleave:0-1", "uptimeMs": 200_400, "statusPage": ""}


class MainCase(TalkCase):
    def setUp(self):
        super().setUp()
        self.calls = []

    def daemon(self, **answers):
        """Have a daemon that answers calls by their method."""
        def talk(client):
            for call in iter(client.call, None):
                self.calls.append(call)
                answer = answers.get(call[0])
                if callable(answer):
                    answer(client, call[1])
                else:
                    client.answer(**(answer or {"done": {"files": 0, "bytes": 0, "heldBytes": 0, "holders": "", "message": ""}}))
        self.talk(talk)

    def run_main(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.object(commands, "_hand_over", lambda words: "handed over"):
            try:
                code = commands.main(list(words))
            except SystemExit as e:
                code = e.code
        return code, out.getvalue(), err.getvalue()


class LookTest(MainCase):
    def test_ls_lists_arrays_and_columns_in_aligned_lines(self):
        self.daemon(List={"arrays": [LABELS, ROW, *KEYS, *RAGGED]})

        code, out, _ = self.run_main("ls")
        self.assertEqual((code, out), (0, "NAME          DTYPE          SHAPE\n"
                                          'mnist/labels  [["a","<i4"]]  (10,)\n'
                                          "mnist/x       |u1            (60000,28,28)\n"
                                          "scan/key      index          5 keys\n"
                                          "scan/feat     ragged <f4     1 row\n"))
        self.assertEqual(self.calls, [("List", {"prefix": "", "includeRetired": False, "mostArrays": 20})])

    def test_ls_all_has_every_fact_and_datasets_that_are_only_known(self):
        self.daemon(List={"arrays": [ROW, KNOWN, {**KNOWN, "name": "left", "version": 3, "digest": "cd" * 32}]})

        _, out, _ = self.run_main("ls", "--all")
        self.assertEqual([line.split("  ") for line in out.splitlines()][1][:2], ["mnist/x", "|u1"])
        self.assertRegex(out, "mnist/x .*C +44.9 MiB +1  resident +no +2 +4288  0badcafe  abababababab  /s/data/mnist/1/x.npy  /raw/x.npy\n")
        self.assertRegex(out, "cold +- +registered +- +0 B +-  registered  no ")
        self.assertRegex(out, "left +- +evicted +- +0 B +3  registered .* cdcdcdcdcdcd")

    def test_a_dataset_of_many_arrays_is_one_line_with_a_note(self):
        self.daemon(List={"arrays": [{**ROW, "name": f"many/a{i:02}"} for i in range(21)] + KEYS})

        _, out, err = self.run_main("ls")
        self.assertEqual(out.splitlines()[1:], ["many/     |u1    21 arrays", "scan/key  index  5 keys"])
        self.assertEqual(err, "larder: note: a name that ends in / is a dataset of many arrays; larder ls many/ lists them\n")

    def test_a_dataset_whose_arrays_the_daemon_has_counted_is_the_same_line(self):
        many = {**ROW, "name": "many/", "shape": [100_000]}
        self.daemon(List={"arrays": [many, {**many, "name": "mixed/", "dtype": ""}, LABELS]})

        _, out, err = self.run_main("ls")
        self.assertEqual(out.splitlines()[1:], ["many/         |u1            100000 arrays", "mixed/        -              100000 arrays",
                                                'mnist/labels  [["a","<i4"]]  (10,)'])
        self.assertIn("larder ls many/ lists them", err)

    def test_patterns_mean_datasets_arrays_columns_and_levels(self):
        rows = [LABELS, ROW, {**ROW, "name": "mnist/deep/x"}, *KEYS, {**ROW, "name": "mnist/old", "state": "retired"}]
        self.daemon(List={"arrays": rows}, Info=lambda client, _: client.error("NotFound", 4, "no such dataset", "did you mean mnist?", name="mnits"))
        for pattern, names in (("mnist", ["mnist/labels", "mnist/x", "mnist/deep/x"]), ("mnist/", ["mnist/labels", "mnist/x", "mnist/deep/x"]),
                               ("mnist/*x", ["mnist/x", "mnist/deep/x"]), ("mnist/[l-m]*", ["mnist/labels"]), ("mnist/[!l]", ["mnist/x"]),
                               ("scan/key", ["scan/key"]), ("scan/key/slots", ["scan/key/slots"]), ("*/deep/?", ["mnist/deep/x"])):
            with self.subTest(pattern):
                code, out, _ = self.run_main("ls", pattern)
                self.assertEqual((code, [line.split()[0] for line in out.splitlines()[1:]]), (0, names))
        self.assertEqual(self.run_main("ls", "mnits")[::2], (4, "larder: no such dataset: name=mnits; did you mean mnist?\n"))
        self.assertEqual(self.run_main("ls", "m*q")[::2], (4, f"larder: no array matches: pattern=m*q store={self.store}; larder ls lists all\n"))

    def test_json_documents_have_the_keys_of_the_command(self):
        self.daemon(List={"arrays": [ROW, *KEYS]}, Info={"arrays": [LABELS]}, Status={"status": STATUS}, Loads={"loads": []})

        listed = json.loads(self.run_main("ls", "--json")[1])
        self.assertEqual(list(listed[0]), "name dtype shape order bytes version digest state pinned leases path offset crc32c source column columnKind".split())
        self.assertEqual((listed[0]["columnKind"], listed[1]["column"], listed[1]["columnKind"]), (None, "scan/key", "index"))
        self.assertEqual(json.loads(self.run_main("info", "mnist/labels", "--json")[1])["dtype"], [["a", "<i4"]])
        self.assertEqual(list(json.loads(self.run_main("status", "--json")[1])), (
            "store pid version capacityBytes usedBytes leasedBytes pinnedBytes retiredBytes reservedBytes arrays clients hugePages hugeBytes hugeRefusedBytes memoryPolicy statusPage "
            "uptimeSeconds feeds loads").split())

    def test_info_has_a_line_for_each_fact(self):
        self.daemon(Info={"arrays": [ROW, *KEYS, KNOWN]})

        _, out, _ = self.run_main("info", "mnist/")
        array, column, known = out.split("\n\n")
        self.assertEqual(array, "name     mnist/x\ndtype    |u1\nshape    (60000,28,28)\norder    C\nbytes    47040000 (44.9 MiB)\nversion  1\n"
                         f"digest   {'ab' * 32}\nstate    resident\npinned   no\nleases   2\npath     /s/data/mnist/1/x.npy\noffset   4288\n"
                         "crc32c   0badcafe\nsource   /raw/x.npy")
        self.assertRegex(column, "^name     scan/key\ncolumn   index\nkeys     5\nbytes    896\n(.*\n)+arrays   scan/key/slots scan/key/records scan/key/positions\n")
        self.assertEqual(known, "name     cold\nstate    registered: loaded when a process opens it, or by larder wait cold\nsource   /raw/x.npy\n")
        self.assertEqual(self.calls, [("Info", {"name": "mnist"})])

    def test_path_is_that_of_one_array(self):
        found = {"mnist": [ROW, LABELS], "mnist/x": [ROW], "mnist/labels": [LABELS], "scan/key": KEYS, "cold": [KNOWN]}
        self.daemon(Info=lambda client, call: client.answer(arrays=found[call["name"]]))

        self.assertEqual(self.run_main("path", "mnist/x"), (0, "/s/data/mnist/1/x.npy\n", ""))
        self.assertRegex(self.run_main("path", "mnist/labels")[2], "note: many arrays share this file; the data of mnist/labels starts at offset=64")
        self.assertRegex(self.run_main("path", "mnist")[2], "the dataset has several arrays: dataset=mnist arrays=2 .*; name one: mnist/x, mnist/labels\n")
        self.assertRegex(self.run_main("path", "scan/key")[2], "a column has one file for each of its arrays: column=scan/key ")
        self.assertEqual(self.run_main("path", "cold")[::2], (4, "larder: the array has no file yet: array=cold state=registered; wait for it with larder wait cold\n"))

    def test_status_shows_totals_and_loads(self):
        load = {"phase": "loading", "name": "a,b", "bytesDone": 1 << 20, "bytesTotal": 4 << 20, "filesDone": 1, "filesTotal": -1, "message": ""}
        self.daemon(Status={"status": STATUS}, Loads=lambda client, _: client.answer(loads=[{**load, "bytesDone": (1 << 20) * len(self.calls) // 2}]))

        _, out, _ = self.run_main("status")
        self.assertIn("retired     0 B\nreserved    3.0 MiB\n", out)
        self.assertIn("huge pages  1.0 MiB (mount: huge=never; 5.0 MiB refused by the kernel, asked again later)\nmemory      interleave:0-1\nuptime      3 min 20 s\n\n", out)
        self.assertRegex(out, "LOADING  PHASE +DONE +OF +% +PER SECOND +LEFT\na,b +loading +1.5 MiB  4.0 MiB  37 +[0-9.]+ [KM]iB +[0-9.]+ s\n$")
        loads = json.loads(self.run_main("status", "--json")[1])["loads"]
        self.assertEqual((loads[0]["datasets"], loads[0]["phase"], loads[0]["filesTotal"]), (["a", "b"], "loading", None))

    def test_status_names_a_file_of_the_token_that_the_caller_can_read(self):
        token = os.path.join(self.store, "http.token")
        self.daemon(Status={"status": {**STATUS, "store": self.store, "statusPage": "http://127.0.0.1:9/"}}, Loads={"loads": []})

        self.assertIn("status page http://127.0.0.1:9/?token=TOKEN (for TOKEN ask the store's owner, or read the file of --http-token-file)\n", self.run_main("status")[1])
        open(token, "w").close()
        self.assertIn(f"(TOKEN is in {token})\n", self.run_main("status")[1])


class DoTest(MainCase):
    def test_a_load_has_the_options_of_the_command_and_says_what_was_loaded(self):
        def load(client, _):
            client.progress(phase="scanning", filesDone=3)
            client.progress(bytesDone=1 << 20, bytesTotal=2 << 20)
            client.done(files=3, bytes=2 << 20, message="evicted to make room: datasets=v")
        self.daemon(Load=load)

        code, out, err = self.run_main("load", "a=/x", "b=y=z", "--columns", "p,q", "--keys=r", "--as", "bytes", "--exclude", "*.a", "--exclude", "*.b", "--pin",
                                       "--ttl=2h", "--workers", "auto", "--pack-below", "1m", "--strict")
        self.assertEqual((code, out), (0, ""))
        self.assertEqual(err, "larder: scanning d: 3 files\nlarder: loading d: 1.0 MiB of 2.0 MiB (50 %)\nlarder: evicted to make room: datasets=v\n"
                              "larder: loaded: files=3 bytes=2097152 (2.0 MiB)\n")
        call = self.calls[0][1]
        self.assertEqual(call["sources"], [{"name": "a", "path": "/x"}, {"name": "b", "path": os.path.join(os.getcwd(), "y=z")}])
        self.assertEqual(call["options"], {"keys": ["p", "q", "r"], "exclude": ["*.a", "*.b"], "strict": True, "inPlace": False, "as": "bytes",
                                           "packBelowBytes": 1 << 20})
        self.assertEqual((call["retention"], call["workers"], call["registerOnly"]), ({"pinned": True, "ttlMs": 7_200_000}, 0, False))

    def test_progress_as_json_is_one_object_a_line(self):
        def load(client, _):
            client.progress(bytesDone=1, bytesTotal=-1)
            client.error("NoSpace", 5, "not enough space", needed="9")
        self.daemon(Load=load, Wait=lambda client, _: client.done(message="version 1"))

        code, _, err = self.run_main("load", "a=/x", "--json")
        events = list(map(json.loads, err.splitlines()))
        self.assertEqual(list(events[0]), "event phase name bytesDone bytesTotal filesDone filesTotal bytesPerSecond etaSeconds message".split())
        self.assertEqual((code, events[0]["bytesTotal"], events[1]), (5, None, {"event": "error", "code": 5, "message": "not enough space: needed=9"}))
        self.assertEqual(json.loads(self.run_main("wait", "a", "--json")[2]), {"event": "done", "files": 0, "bytes": 0, "message": "version 1"})

    def test_each_command_is_its_call(self):
        self.daemon(Evict=lambda client, _: client.done(files=2, bytes=3000, heldBytes=1000, holders="7,8", message="it comes back"),
                    Verify=lambda client, _: client.done(files=2, bytes=1023))

        self.assertEqual(self.run_main("evict", "a/", "--forget"), (
            0, "Evicted a: files=2 bytes=2000 (2.0 KiB); freed when their readers end: heldUntilExit=1000 pids=7,8\n", "larder: it comes back\n"))
        self.assertEqual(self.run_main("verify"), (0, "Verified: files=2 bytes=1023\n", ""))
        self.assertEqual(self.run_main("verify", "a", "--source")[1], "Verified with sources: files=2 bytes=1023\n")
        for words in ("pin", "a"), ("unpin", "a"), ("reload", "a"), ("wait", "a/x", "--timeout", "1500ms"):
            self.assertEqual(self.run_main(*words), (0, "", ""))
        self.assertEqual(self.calls, [
            ("Evict", {"name": "a", "forget": True}), ("Verify", {"againstSources": False}), ("Verify", {"againstSources": True, "name": "a"}),
            ("Pin", {"name": "a", "pinned": True}), ("Pin", {"name": "a", "pinned": False}), ("Reload", {"name": "a"}),
            ("Wait", {"name": "a/x", "timeoutMs": 1500, "evenIfUnknown": True})])

    def test_without_a_daemon_the_files_of_the_store_are_listed_with_a_note(self):
        make_store.write_version(self.store, "pets", {"legs": np.arange(3)}, {"names": make_store.strings(["cat", "ant"])})
        make_store.write_version(self.store, "many", {f"a{i:02}": np.arange(i) for i in range(21)})
        folder = make_store.write_version(self.store, "torn", {"x": np.arange(3)})
        with open(os.path.join(folder, "index"), "r+b") as index:
            index.truncate(100)
        spoiled = []
        for name, change in ("nested", lambda text: "[" * 100_000), ("other", lambda text: text.replace('"shape"', '"form"')), ("less", lambda text: text.replace('"sources"', '"s"')):
            spoiled.append(make_store.write_version(self.store, name, {"x": np.arange(3)}))
            manifest = os.path.join(spoiled[-1], "manifest.json")
            with open(manifest, encoding="utf-8") as file:
                text = change(file.read())
            with open(manifest, "w", encoding="utf-8") as file:
                file.write(text)

        code, out, err = self.run_main("ls")
        self.assertEqual((code, out), (0, "NAME        DTYPE    SHAPE\n"
                                          "many/       <i8      21 arrays\n"
                                          "pets/legs   <i8      (3,)\n"
                                          "pets/names  strings  2 rows\n"))
        self.assertTrue(err.startswith(f"larder: note: no daemon runs, so this is read from the files of the store: store={self.store}; to serve it: "))
        for folder in folder, *spoiled:
            self.assertIn(f"larder: note: not listed: version is damaged: folder={folder} reason=", err)
        self.assertEqual(self.run_main("path", "pets/legs")[:2], (0, os.path.join(self.store, "data/pets/1/legs.npy\n")))
        self.assertEqual(self.run_main("info", "pest")[0], 4)
        for name in "torn", "torn/x", "nested":
            code, out, err = self.run_main("info", name)
            self.assertEqual((code, out), (8, ""))
            self.assertRegex(err.splitlines()[-1], f"^larder: version is damaged: folder={self.store}/data/{name.partition('/')[0]}/1 reason=")
        with self.assertWarnsRegex(UserWarning, "no daemon runs"):
            self.assertEqual(larder.ls("pets/l")[0]["path"], os.path.join(self.store, "data/pets/1/legs.npy"))

    def test_without_a_daemon_the_exit_code_is_3(self):
        code, out, err = self.run_main("ls")

        self.assertEqual((code, out), (3, ""))
        self.assertEqual(err, f"larder: no daemon at the store: store={self.store}; start a daemon: larder serve --detach, or name another store: --store DIR "
                              "or $LARDER_STORE\n")


class HandOverTest(MainCase):
    def test_what_is_not_done_here_is_handed_over(self):
        self.daemon()
        for words in ((), ("top",), ("ls", "--help"), ("ls", "a", "b"), ("info",), ("load", "/x"), ("load", "a=-"), ("load", "a=/x", "--as", "rows"),
                      ("load", "s3://b/k=1"), ("load", "a=/x", "--debug"), ("wait", "a", "--timeout", "soon"), ("wait", "a", "--timeout"), ("status", "--json=yes")):
            with self.subTest(words):
                self.assertEqual(self.run_main(*words), ("handed over", "", ""))
        self.assertEqual(self.calls, [])

    def test_a_load_into_the_store_of_another_user_is(self):
        with mock.patch("os.getuid", return_value=4711):
            self.assertEqual(self.run_main("load", "a=/x")[0], "handed over")

    def test_status_while_a_feed_runs_is(self):
        self.daemon(Status={"status": STATUS}, Loads={"loads": []})
        os.makedirs(os.path.join(self.store, "rings", "run1"))
        with open(os.path.join(self.store, "rings", "run1", "producer.lock"), "w") as lock:
            self.assertEqual(self.run_main("status")[0], 0)
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertEqual(self.run_main("status")[0], "handed over")

    def test_computed_rows_are_unless_they_are_only_looked_at(self):
        self.daemon(Info=lambda client, call: client.error("NotFound", 4, "no such dataset"), List={"arrays": [ROW]})
        os.mkdir(os.path.join(self.store, "regions"))
        self.write_rows("doubled")

        for words in ("evict", "doubled"), ("verify", "doubled.0123456789abcdef"):
            self.assertEqual(self.run_main(*words)[0], "handed over")
        self.assertEqual([self.run_main(*words)[0] for words in (("evict", "mnist"), ("verify", "mnist"), ("verify",), ("verify", "doubled", "--source"))], [0] * 4)
        self.assertEqual(self.run_main("ls")[1], "NAME                      DTYPE  SHAPE\nmnist/x                   |u1    (60000,28,28)\n"
                                                 "doubled.0123456789abcdef  <f4    (5,2)\n")
        self.assertEqual(self.run_main("ls", "doubl*")[1].count("\n"), 2)
        path = os.path.join(self.store, "regions", "doubled.0123456789abcdef@00000000000000a0")
        self.assertEqual(self.run_main("info", "doubled")[1], (
            "name     doubled.0123456789abcdef\ndtype    <f4\nshape    (5,2)\nbytes    40\nstate    computed: published 2 of 5 rows\ndigest   dd\narrays   x,y\n"
            f"steps    toFloat\nkey      0123456789abcdef01\npath     {path}\noffset   8384\n"))
        found = json.loads(self.run_main("info", "doubled", "--json")[1])
        self.assertEqual([found[key] for key in ("state", "digest", "source", "rows", "published", "ofDigest", "steps")],
                         ["computed", "0123456789abcdef01", "x,y", 5, 2, "dd", "toFloat"])
        self.assertEqual(self.run_main("info", "nothing")[::2], (4, "larder: no such dataset\n"))

    def test_regions_that_have_no_rows_are_left_out(self):
        self.daemon(List={"arrays": [ROW]})
        os.mkdir(os.path.join(self.store, "regions"))
        for name, change in (("kind", lambda data: data.replace(b"computed-rows", b"shared-array\0")), ("new", lambda data: data[:12] + bytes(4) + data[16:]),
                             ("text", lambda data: data.replace(b"toFloat", b"toFlout")), ("short", lambda data: data[:70]), ("none", lambda data: b"")):
            self.write_rows(name, change)
        os.mkfifo(os.path.join(self.store, "regions", "pipe@00000000000000a1"))

        self.assertEqual(self.run_main("ls")[1].count("\n"), 2)

    def write_rows(self, name, change=lambda data: data):
        text = f"name={name}\nkey=0123456789abcdef01\ndigest=dd\narrays=x,y\ndtype=<f4\nshape=2\nsteps=toFloat\n".encode()
        header = struct.pack("<8siiqqqqI", b"LARDERCR", 1, len(text), 5, 8, 256, 4288, zlib.crc32(text)).ljust(64, b"\0") + text
        data = struct.pack("<8siiqq32s", b"LARDERRE", 1, 2, 0xa0, 8384 + 40, b"computed-rows").ljust(4096, b"\0") + header.ljust(256, b"\0")
        data += struct.pack("<5q", 0, 1 << 32, 0, 7 << 32, 0)
        with open(os.path.join(self.store, "regions", f"{name}.0123456789abcdef@00000000000000a0"), "wb") as file:
            file.write(change(data))


class ProcessTest(MainCase):
    def python(self, *words, **environment):
        return subprocess.run([sys.executable, *words], capture_output=True, encoding="utf-8", cwd=HERE, env={**os.environ, **environment})

    def test_no_numpy_is_imported(self):
        self.daemon(List={"arrays": [ROW]})

        done = self.python("-X", "importtime", "-m", "larder", "ls")
        self.assertEqual((done.returncode, done.stdout), (0, "NAME     DTYPE  SHAPE\nmnist/x  |u1    (60000,28,28)\n"))
        for heavy in "numpy", "argparse", "subprocess", "ctypes", "tempfile", "shutil":
            self.assertNotRegex(done.stderr.partition("| site\n")[2], rf"\| +{heavy}\n", "it takes longer than the command")

    def test_the_command_has_the_words_as_they_are(self):
        command = os.path.join(self.store, "fake")
        with open(command, "w") as file:
            file.write('#!/bin/sh\nfor word; do echo "<$word>"; done\nexit 42\n')
        os.chmod(command, 0o700)

        done = self.python("-m", "larder", "show", "a b", "--store", "", "--rows=0:2", LARDER_COMMAND=command)
        self.assertEqual((done.returncode, done.stdout), (42, "<show>\n<a b>\n<--store>\n<>\n<--rows=0:2>\n"))
        done = self.python("-m", "larder", "show", "a", LARDER_COMMAND="/nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^larder: not a command line of python -m larder, which has ls, .*: words=show a; put larder on the PATH")

    def test_folders_that_are_skipped_are_named_in_a_line(self):
        program = ("import larder._store as s, runpy; s._chosen = lambda: (%r, [('/dev/shm/x', 'reason=it is not a folder')]); "
                   "runpy.run_module('larder', run_name='__main__')" % self.store)
        done = subprocess.run([sys.executable, "-c", program, "ls"], capture_output=True, encoding="utf-8", cwd=HERE,
                              env={key: value for key, value in os.environ.items() if key != "LARDER_STORE"})

        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.splitlines()[0], "larder: a store is skipped: store=/dev/shm/x reason=it is not a folder")

    def test_an_interrupt_ends_with_130(self):
        running = subprocess.Popen([sys.executable, "-m", "larder", "verify"], stderr=subprocess.PIPE, encoding="utf-8", cwd=HERE)

        def interrupt(client, _):
            running.send_signal(2)
            self.assertIsNone(client.call())
        self.daemon(Verify=interrupt)
        _, err = running.communicate()

        self.assertEqual((running.returncode, err.splitlines()[-1]), (130, "larder: verify was interrupted; the daemon cancels a load that no client waits "
                                                                           "for; check it with larder ls --all"))

    def test_a_reader_that_has_seen_enough_ends_it_quietly(self):
        def many(client, _):
            for i in range(100):
                client.answer(True, arrays=[{**ROW, "name": f"d{i}-{j}/{'x' * 100}"} for j in range(50)])
            client.answer()
        self.daemon(List=many)

        listed = subprocess.run(f"{sys.executable} -m larder ls | head -1", shell=True, capture_output=True, encoding="utf-8", cwd=HERE)
        self.assertEqual((listed.stdout.split(), listed.stderr), (["NAME", "DTYPE", "SHAPE"], ""))

    def test_output_that_cannot_be_written_ends_with_1_and_one_line(self):
        self.daemon(List=lambda client, _: client.answer(arrays=[ROW] * 100))
        for words in ("ls", "ls --json"):
            listed = subprocess.run(f"{sys.executable} -m larder {words} > /dev/full", shell=True, stderr=subprocess.PIPE, encoding="utf-8", cwd=HERE)

            self.assertEqual((listed.returncode, listed.stderr), (1, "larder: standard output cannot be written: reason=No space left on device; "
                                                                     "free some space, and run the command again\n"))


if __name__ == "__main__":
    unittest.main()
