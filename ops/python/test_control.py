"""Tests of the control plane in Python, against a fake daemon that answers as each test says."""

import contextlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock
import warnings

import numpy as np

import make_store
from fake_daemon import INTERFACE, FakeDaemon, builds
from test_larder import HERE, StoreCase, larder, room, same

CALLS = {"Evict": lambda: larder.evict("d"), "Load": lambda: larder.load("d", "/x"), "Wait": lambda: larder.wait("d", 1), "Status": larder.status,
         "List": larder.ls}


class TalkCase(StoreCase):
    def talk(self, talk):
        self.daemon = FakeDaemon(self.store, talk)
        self.addCleanup(self.daemon.close)
        return self.daemon

    def answer(self, *answers):
        """Have a daemon that sends these bytes for the first call of each client, and closes the connection."""
        def talk(client):
            client.call()
            for data in answers:
                client.send(data)
        return self.talk(talk)

    def asked(self, act, finish=lambda client: client.done()):
        """Return the calls that a function makes of a daemon that is done with all."""
        calls = []

        def talk(client):
            for call in iter(client.call, None):
                calls.append(call)
                finish(client)
        self.talk(talk)
        act()
        return calls


class CallsTest(TalkCase):
    def test_each_request_is_a_call_with_the_names_of_the_interface(self):
        self.publish()

        calls = self.asked(lambda: (larder.evict("d"), larder.evict("d", forget=True), larder.pin("d"), larder.unpin("d"), larder.verify(),
                                    larder.verify("d/x", source=True), larder.reload("d"), larder.wait("d", 2.5)))

        self.assertEqual(calls[:7], [("Evict", {"name": "d", "forget": False}), ("Evict", {"name": "d", "forget": True}),
                                     ("Pin", {"name": "d", "pinned": True}), ("Pin", {"name": "d", "pinned": False}),
                                     ("Verify", {"againstSources": False}), ("Verify", {"againstSources": True, "name": "d/x"}),
                                     ("Reload", {"name": "d"})])
        self.assertEqual(calls[7:], [("Wait", {"name": "d", "timeoutMs": 2500, "evenIfUnknown": True})])

    def test_a_load_has_the_options_of_the_command(self):
        self.publish()
        os.symlink(self.store, os.path.join(self.store, "link"))

        calls = self.asked(lambda: (
            larder.load("d", "a/../b", columns="rgb,depth", as_="ragged", workers=2, pin=True, ttl="2h"),
            larder.load("d", ["s3://b/k?x=1", "/a//b/./c/"], keys=["x"], dtype=np.float32, shape=(-1, 28), pack_below="1m", strict=True, in_place=True,
                        exclude="*.tmp", shard=(1, 4), workers="auto", ttl=1.5),
            larder.register("d", "/x", dtype=np.dtype(">i2"), exclude=["a", "b"])))

        loads = [parameters for method, parameters in calls if method == "Load"]
        self.assertEqual(loads[0], {
            "sources": [{"name": "d", "path": os.path.join(os.getcwd(), "a/../b")}], "workers": 2, "retention": {"pinned": True, "ttlMs": 7_200_000},
            "options": {"keys": ["rgb", "depth"], "exclude": [], "strict": False, "inPlace": False, "as": "ragged"}, "registerOnly": False})
        self.assertEqual([source["path"] for source in loads[1]["sources"]], ["s3://b/k?x=1", "/a/b/c"])
        self.assertEqual(loads[1]["options"], {"keys": ["x"], "exclude": ["*.tmp"], "strict": True, "inPlace": True, "dtype": "float32",
                                               "shape": "-1,28", "packBelowBytes": 1 << 20, "shard": {"index": 1, "count": 4}})
        self.assertEqual((loads[1]["workers"], loads[1]["retention"]["ttlMs"]), (0, 1500))
        self.assertEqual((loads[2]["options"]["dtype"], loads[2]["options"]["exclude"], loads[2]["registerOnly"]), (">i2", ["a", "b"], True))

    def test_options_that_cannot_be_are_refused_in_the_words_of_the_command(self):
        for options, words in (({"as_": "rows"}, r"not a kind: 'rows' \(kinds are arrays, ragged, strings, index, bytes, images\)"),
                               ({"workers": 0}, r"not a number of workers: '0' \(1 to 65534, -1 or auto\)"),
                               ({"pack_below": "1x"}, r"not a size: '1x' \(a size is 4096, 512m or 10g\)"),
                               ({"ttl": "soon"}, r"not a duration: 'soon' \(a duration is 500ms, 30s, 5m or 2h\)"),
                               ({"pack_below": "9999999999g"}, "size is too large")):
            with self.assertRaisesRegex(ValueError, words):
                larder.load("d", "/x", **options)
        with self.assertRaisesRegex(TypeError, "^no such option of a load: option=asd, colums; help"):
            larder.load("d", "/x", colums="a", asd=1)
        with self.assertRaisesRegex(ValueError, "^a load has no sources: dataset=d; give at least one path$"):
            larder.load("d", [])
        for data, kind in ((np.zeros(3), "ndarray"), ([np.zeros(3)], "list"), ({"x": "/x"}, "dict"), (5, "int")):
            with self.assertRaisesRegex(TypeError, f"^a load reads files: type={kind}; give their paths; larder.cache.* and larder.create.* store data in memory$"):
                larder.load("d", data)
        with self.assertRaisesRegex(TypeError, "give one of them"):
            larder.load("d", "/x", columns="a", keys="a")

    def test_sources_that_do_not_fit_into_a_call_come_in_several(self):
        self.publish()
        paths = [f"/data/{'é' * 40}/{i}" for i in range(50_000)]

        calls = self.asked(lambda: larder.load("d", paths))

        sent = [source for _, parameters in calls for source in parameters.get("sources", ())]
        self.assertEqual([source["path"] for source in sent], paths)
        self.assertGreater(len(calls), 10)
        self.assertEqual({method for method, _ in calls[:-1]}, {"Sources"})
        self.assertEqual(calls[-1][0], "Load")

    def test_what_comes_in_several_answers_is_one_list(self):
        row = {"name": "d/x", "dtype": "<i8", "shape": [3], "order": "C", "bytes": 24, "version": 1, "digest": "ab", "state": "resident", "pinned": False,
               "leases": 0, "path": "/p", "offset": 4288, "crc32c": "00", "source": "", "part": "none", "novelty": 1}
        part = {**row, "name": "d/t/offsets", "part": "strings_offsets", "dtype": '[["a", "<i4"]]'}

        def talk(client):
            client.call()
            client.progress(phase="waiting")
            client.answer(True, arrays=[row])
            client.answer(True, arrays=[part])
            client.answer(arrays=[])
        self.talk(talk)
        found = larder.ls("d", all=True)

        self.assertEqual([list(one) for one in found], [[key for key in row if key not in ("part", "novelty")] + ["column", "columnKind"]] * 2)
        self.assertEqual([(one["dtype"], one["column"], one["columnKind"]) for one in found], [("<i8", None, None), ([["a", "<i4"]], "d/t", "strings")])

    def test_totals_are_those_of_the_commands_json(self):
        self.talk(lambda client: (client.call(), client.answer(status={"store": self.store, "pid": 7, "uptimeMs": 61_900, "statusPage": "", "arrays": 2})))

        found = larder.status()
        self.assertEqual((found["store"], found["pid"], found["arrays"], found["uptimeSeconds"], found["statusPage"]), (self.store, 7, 2, 61, None))

    def test_a_load_into_the_store_of_another_user_names_the_command(self):
        with mock.patch("os.getuid", return_value=4711), mock.patch.dict(os.environ, LARDER_SERVICE_USER="root"):
            with self.assertRaisesRegex(larder.Refused, f"run larder load d=/x --store {self.store}, then larder.dataset"):
                larder.load("d", "/x")


class FailuresTest(TalkCase):
    def test_each_error_of_the_daemon_is_one_of_python(self):
        for name, code, kind in (("NoDaemon", 3, larder.NoStore), ("NotFound", 4, larder.NotFound), ("Refused", 7, larder.Refused),
                                 ("Deadline", 9, larder.TimedOut), ("NoSpace", 5, larder.RequestFailed), ("Novel", 77, larder.RequestFailed)):
            with self.subTest(name):
                daemon = FakeDaemon(self.store, lambda client: (client.call(), client.error(name, code, "not enough space", "evict some", needed="12", free="3")))
                with self.assertRaises(kind) as caught:
                    larder.evict("d")
                daemon.close()
                self.assertEqual((str(caught.exception), caught.exception.code), ("not enough space: needed=12 free=3; evict some", code))

    def test_who_evicts_what_its_own_process_has_open_hears_that(self):
        for pids, words in ((f"[17, {os.getpid()}]", "; this process is one of them: close its datasets"), (f"[1{os.getpid()}]", "end$")):
            daemon = FakeDaemon(self.store, lambda client: (client.call(), client.error("Refused", 7, "dataset is in use", "evict it at the end", pids=pids)))
            with self.assertRaisesRegex(larder.Refused, f"^dataset is in use: pids=.*{words}"):
                larder.evict("d")
            daemon.close()

    def test_a_message_has_only_the_parts_that_there_are(self):
        for parts, text in (({"values": {"a": "1"}}, "it failed: a=1"), ({"remedy": "wait"}, "it failed; wait"), ({}, "it failed")):
            answer = {"error": INTERFACE + "Unexpected", "parameters": {"code": 1, "message": "it failed", **parts}}
            daemon = self.answer(json.dumps(answer).encode() + b"\0")
            with self.assertRaisesRegex(larder.RequestFailed, f"^{text}$"):
                larder.pin("d")
            daemon.close()

    def test_the_remedy_of_a_load_has_the_settings_of_python(self):
        for remedy, words in (("add --as images", 'add as_="images"'), ("give --dtype and --shape", "give dtype= and shape="), ("load it without --in-place", "load it without in_place=True"),
                              ("as in --dtype uint8 or --dtype '>f4'", 'as in dtype="uint8" or dtype=">f4"'), ("as in --shape -1,28,28", "as in shape=(-1,28,28)"),
                              ("load the others with --columns a,b, or convert them", "load the others with columns=['a', 'b'], or convert them"),
                              ("leave it out with --exclude", "leave it out with exclude="), ("run larder load --pin again", "run larder load --pin again"),
                              ("load others with --columns good", 'load others with columns="good"'), ("with --in-place arrays stay", "with in_place=True arrays stay"),
                              ("file=/data/my--keys/x--as.npy mode=--strict-loads", "file=/data/my--keys/x--as.npy mode=--strict-loads"),
                              ("evict some, raise --capacity, or use a store on a disk: --store /var/tmp/larder-a.b; then load", 'evict some, raise capacity= of larder.serve, '
                               'or use a store on a disk: store="/var/tmp/larder-a.b"; then load'),
                              ("look rows up with Field.rows(…).lookup(…)", "look rows up with transform={array: 'lookup(keys,index)'}"),
                              ("it has (--as images) no --storey", 'it has (as_="images") no --storey')):
            daemon = FakeDaemon(self.store, lambda client: (client.call(), client.error("BadInput", 6, "cannot load", remedy)))
            with self.assertRaises(larder.RequestFailed) as caught:
                larder.reload("d")
            daemon.close()
            self.assertEqual((str(caught.exception), caught.exception.code), (f"cannot load; {words}", 6))

    def test_no_space_for_a_result_has_the_settings_of_python(self):
        self.publish()
        self.talk(lambda client: (client.call(), client.error("NoSpace", 5, "not enough space", "raise --capacity, or use a larger mount", needed="9")))

        for act in (lambda: larder.cache("c", dict), lambda: larder.create("c"), lambda: larder.rows("r", "d", abs, dtype="u1", version=1),
                    lambda: larder.shared("s", "<i4", (3,))):
            with self.assertRaisesRegex(larder.RequestFailed, "^not enough space: needed=9; raise capacity= of larder.serve, or use a larger mount$") as caught:
                act()
            self.assertEqual(caught.exception.code, 5)

    def test_a_daemon_that_does_not_know_a_call_is_of_another_release(self):
        for name, parameters, fact in (("MethodNotFound", {"method": "Evict"}, "error=org.varlink.service.MethodNotFound detail=Evict"),
                                       ("InvalidParameter", {"parameter": "forget"}, "detail=forget"), ("InterfaceNotFound", {}, "detail=none")):
            daemon = self.answer(json.dumps({"error": "org.varlink.service." + name, "parameters": parameters}).encode() + b"\0")
            with self.assertRaisesRegex(larder.Refused, f"the daemon does not understand the call: .*{fact}; use one release of Larder for both; or stop"):
                larder.evict("d")
            daemon.close()

    def test_a_daemon_that_knows_better_words_for_it_is_quoted(self):
        parameters = {"parameter": "forget", "code": 6, "message": "parameter of the call is refused", "values": {"parameter": "forget"}, "remedy": "leave it out"}
        self.answer(json.dumps({"error": "org.varlink.service.InvalidParameter", "parameters": parameters}).encode() + b"\0")

        with self.assertRaisesRegex(larder.RequestFailed, "^parameter of the call is refused: parameter=forget; leave it out$") as caught:
            larder.evict("d")
        self.assertEqual(caught.exception.code, 6)

    def test_characters_that_terminals_obey_are_not_shown_and_no_line_looks_like_a_message(self):
        parameters = {"code": 6, "message": "cannot read", "values": {"file": "a\x1b[31m\r\x9b1mü\nlarder: b"}, "remedy": 7}
        self.answer(json.dumps({"error": "dev.larder.Store.BadInput", "parameters": parameters}).encode() + b"\0")

        with self.assertRaisesRegex(larder.RequestFailed, "^cannot read: file=a\\?\\[31m\\?\\?1mü\n  larder: b; 7$"):
            larder.evict("d")

    def test_a_daemon_of_the_release_before_is_refused_by_name(self):
        for data in (b"\xa6\x03\x00\x00\x04\x00\x1e\x00malformed frame", b"\0", b"[]\0"):
            daemon = self.answer(data)
            for call in CALLS.values():
                with self.assertRaisesRegex(larder.Refused, "the daemon uses another protocol: store=.* pid=[0-9]+; .*larder stop --keep of its own release"):
                    call()
            daemon.close()

    def test_what_is_no_message_is_an_error_that_says_so(self):
        for data, reason in ((b'{"parameters": \xff}\0', "codec can't decode"), (b'{"parameters": {}\0', "delimiter"), (b"{" * 100_000 + b"\0", "reason="),
                             (b"{" + b" " * (1 << 20), "more than 1 MiB"), (b'{"a": ' + b"9" * 100_000 + b"x}\0", "reason="),
                             (b'{"parameters": [1]}\0', "its parameters are no object")):
            with self.subTest(data[:20]):
                daemon = self.answer(data)
                with self.assertRaisesRegex(larder.RequestFailed, f"the daemon sent an unexpected message: .*{reason}"):
                    larder.evict("d")
                daemon.close()

    def test_a_daemon_that_closes_the_connection_in_the_middle_of_an_answer_is_no_daemon(self):
        for data in b"", b"{", b'{"parameters": {"progress": {}}, "continues": true}\0{"par':
            daemon = self.answer(data)
            for call in CALLS["Evict"], CALLS["Load"], CALLS["Status"]:
                with self.assertRaisesRegex(larder.NoStore, "the daemon closed the connection without an answer: .*larder status"):
                    call()
            daemon.close()

    def test_a_daemon_that_refuses_before_it_has_read_the_call_is_heard(self):
        self.talk(lambda client: client.error("Refused", 7, "too many connections", "try again"))

        for _ in range(20):
            with self.assertRaisesRegex(larder.Refused, "^too many connections; try again$"):
                larder.evict("d")

    def test_a_silent_daemon_is_not_waited_for_longer_than_its_reports_may_be_apart(self):
        going_on = threading.Event()
        self.talk(lambda client: (client.call(), client.progress(), going_on.wait(60)))
        self.addCleanup(going_on.set)

        with mock.patch.object(room("_control"), "_SILENCE_S", 0.2):
            with self.assertRaisesRegex(larder.TimedOut, f"the daemon sent nothing: .* waitedMs=200; the daemon may be overloaded; .*top -p {os.getpid()}"):
                larder.verify("d")

    def test_one_byte_at_a_time_is_silence_too(self):
        def talk(client):
            client.call()
            for _ in range(100_000):
                client.send(b"{")
                if going_on.wait(0.01):
                    break
        going_on = threading.Event()
        self.talk(talk)
        self.addCleanup(going_on.set)

        with mock.patch.object(room("_control"), "_SILENCE_S", 0.2), self.assertRaisesRegex(larder.TimedOut, "the daemon sent nothing"):
            larder.verify("d")

    def test_reports_do_not_put_a_deadline_off(self):
        def talk(client):
            client.call()
            while not going_on.wait(0.01):
                client.progress(phase="waiting")
        going_on = threading.Event()
        self.talk(talk)
        self.addCleanup(going_on.set)

        with mock.patch.object(room("_control"), "_GRACE_S", 0), self.assertRaisesRegex(larder.TimedOut, "the deadline passed"):
            larder.wait("d", 0.2)

    def test_who_waits_goes_on_with_the_next_daemon(self):
        self.publish()
        clients = []

        def talk(client):
            clients.append(client.call())
            if len(clients) > 3:  # those before were of daemons that were killed
                client.done()
        self.talk(talk)

        with self.assertWarnsRegex(UserWarning, f"^the daemon is gone, waiting for another: store={self.store} atMost=1 min 0 s; ") as caught:
            self.assertEqual(larder.wait("d", 60).version, 1)
        self.assertEqual((len(clients), len(caught.warnings)), (4, 1))

    def test_who_waits_goes_on_if_the_daemon_dies_before_the_call(self):
        self.publish()
        starter = threading.Timer(0.2, lambda: self.talk(lambda client: (client.call(), client.done())))
        with mock.patch.object(room("_cache"), "_await_daemon", lambda *_: starter.start()):  # it was there, and is gone
            with self.assertWarnsRegex(UserWarning, "^the daemon is gone, waiting for another"):
                self.assertEqual(larder.wait("d", 60).version, 1)

    def test_what_is_no_path_of_a_store_is_named(self):
        for act, message in ((lambda: larder.create("x", np.zeros((2, 2))), "create takes no data: dataset=x type=ndarray; with larder.create"),
                             (lambda: larder.create("x", {"a": 1}), "create takes no data: dataset=x type=dict; "),
                             (lambda: larder.dataset("x", np.zeros(2)), "a store is the path of its folder: store=ndarray; "),
                             (lambda: larder.load("x", "/y", 7), "a store is the path of its folder: store=int; "),
                             (lambda: larder.ls("", store=["/x"]), "a store is the path of its folder: store=list; ")):
            with self.subTest(message=message), self.assertRaisesRegex(TypeError, "^" + message):
                act()

    def test_who_waited_for_a_build_that_was_given_up_hears_that(self):
        self.talk(lambda client: (client.call(), client.error("NotFound", 4, "dataset did not arrive", "build or load it again", dataset="d",
                                                              reason="build was abandoned")))

        with self.assertRaisesRegex(larder.NotFound, "^dataset did not arrive: dataset=d reason=build was abandoned; build or load it again$"):
            larder.dataset("d")

    def test_who_waits_for_a_daemon_that_never_comes_back_gives_up_in_time(self):
        def talk(client):
            client.call()
            os.unlink(os.path.join(self.store, "control.sock"))
        self.talk(talk)

        with self.assertRaises(larder.NoStore), self.assertWarnsRegex(UserWarning, "waiting for another"):
            room("_control")._await(self.store, "d", 0.3)

    def test_names_that_are_no_text_are_refused_before_anything_is_sent(self):
        self.asked(lambda: None)

        with self.assertRaisesRegex(larder.RequestFailed, "a name or path is not UTF-8: method=.*Load near=.*/a.udcff'; rename it"):
            larder.load("d", b"/a\xff")

    def test_a_call_that_is_too_long_is_refused(self):
        self.asked(lambda: None)

        with self.assertRaisesRegex(larder.RequestFailed, "a request is too long: method=.*Load bytes=.* limit=1048576"):
            larder.load("d", "/x", exclude=["x" * 1000] * 2000)

    def test_a_store_with_too_long_a_path_or_a_dead_daemon_is_named(self):
        long = os.path.join(self.store, "x" * 100)
        os.mkdir(long)
        with self.assertRaisesRegex(larder.RequestFailed, "path of the control socket is too long: .* limit=107"):
            larder.status(long)
        dead = socket.socket(socket.AF_UNIX)
        dead.bind(os.path.join(self.store, "control.sock"))
        dead.close()
        with self.assertRaisesRegex(larder.NoStore, "no daemon at the store: .* reason=Connection refused; start a daemon: .*; it takes over"):
            larder.status()


class SignalsTest(TalkCase):
    """What a signal handler raises ends a call, whatever it is: programs set deadlines of their own so."""

    def interrupt(self, kind, act):
        """Call a function, and return what a handler raises while it runs. It may call ``signal.pthread_kill(..., SIGALRM)``, as the daemon does."""
        def handle(*_):
            raise kind("of the program")
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, handle))
        with self.assertRaisesRegex(kind, "of the program") as caught:
            act()
        return caught.exception

    def test_each_call_that_waits_for_the_daemon_ends_with_it(self):
        going_on = threading.Event()

        def talk(client):
            client.call()
            client.progress()
            signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
            while not going_on.wait(1):  # a signal that comes just before the system call does not interrupt it: the next report does
                client.progress()
        self.talk(talk)
        self.addCleanup(going_on.set)

        for kind in TimeoutError, OSError, ConnectionError, BlockingIOError, ValueError:
            for act in (lambda: larder.wait("d"), lambda: larder.load("d", "/x"), lambda: larder.verify(), lambda: larder.dataset("d"),
                        lambda: larder.cache("d", lambda: 1), lambda: larder.create("d"), lambda: larder.status()):
                with self.subTest(kind):
                    self.assertIs(type(self.interrupt(kind, act)), kind)

    def test_a_call_that_the_daemon_does_not_take_ends_with_it(self):
        def talk(_):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
            going_on.wait(60)
        going_on = threading.Event()
        self.talk(talk)
        self.addCleanup(going_on.set)

        self.interrupt(TimeoutError, lambda: larder.load("d", ["/x" + "x" * 1000] * 5000))

    def test_an_input_that_is_being_read_ends_with_it(self):
        read = os.read

        def interrupted(*arguments):
            found = read(*arguments)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
            return found
        with mock.patch("os.read", interrupted):
            self.interrupt(OSError, lambda: room("_inputs")._path_digest(__file__))

    def test_an_array_that_is_being_written_ends_with_it(self):
        def interrupted(_):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
            return True
        with mock.patch.object(room("_memory"), "_populate_huge", interrupted), tempfile.TemporaryFile(dir=self.store) as file:
            self.interrupt(OSError, lambda: room("_memory")._reserve_huge(file.fileno(), 8 << 20))


class UnitsTest(unittest.TestCase):
    def test_sizes_and_durations_are_written_as_the_command_writes_them(self):
        units = room("_units")

        self.assertEqual([units._size_text(size) for size in (0, 1023, 1024, 800_000, (1 << 20) - 1, 1 << 20, 5 << 40, 5000 << 40)],
                         ["0 B", "1023 B", "1.0 KiB", "781.3 KiB", "1.0 MiB", "1.0 MiB", "5.0 TiB", "5000.0 TiB"])
        self.assertEqual([units._duration_text(seconds) for seconds in (0.25, 59.96, 60, 200, 7500)], ["0.3 s", "60.0 s", "1 min 0 s", "3 min 20 s", "2 h 5 min"])
        self.assertEqual([units._size_of(text) for text in ("0", "512m", "10G", 7)], [0, 512 << 20, 10 << 30, 7])
        self.assertEqual([units._seconds_of(text) for text in ("500ms", "30s", "5m", "2h", "1d", 1.5)], [0.5, 30, 300, 7200, 86400, 1.5])


class ProgressTest(TalkCase):
    def shown(self, stream, message="evicted to make room: datasets=v"):
        self.publish()

        def talk(client):
            client.call()
            client.progress(message="s3 is slow")
            client.progress(bytesDone=12 << 20, bytesTotal=50 << 20, phase="publishing")
            client.done(message=message)
        self.talk(talk)
        with contextlib.redirect_stderr(stream):
            larder.load("d", "/x")
        return stream.getvalue()

    def test_a_terminal_has_one_line_that_updates(self):
        stream = io.StringIO()
        stream.isatty = lambda: True

        shown = self.shown(stream)

        self.assertEqual(shown.count("\n"), 2)
        self.assertIn("\rlarder: s3 is slow\n", shown)
        self.assertIn("\rlarder: publishing d: 12.0 MiB of 50.0 MiB (24 %)", shown)
        self.assertRegex(shown, "\r *\r\rlarder: evicted to make room: datasets=v\n$")

    def test_elsewhere_nothing_is_shown(self):
        self.assertEqual(self.shown(io.StringIO()), "")

    def test_a_load_from_another_source_is_a_warning_without_a_terminal(self):
        note = "d has another source: version=2 replaces=1 source=/x before=/y; readers of the old one keep it"

        with self.assertWarns(UserWarning) as warned:
            self.assertEqual(self.shown(io.StringIO(), f"skipped 1 file of no known kind\n{note}"), "")

        self.assertEqual((str(warned.warning), len(warned.warnings), warned.filename), (note, 1, __file__))


class LostDaemonTest(TalkCase):
    """The daemon dies while a program computes: the connection of its build ends, and another daemon may answer the next."""

    def setUp(self):
        super().setUp()
        self.made, self.clients, self.deaths, self.answered, its_builds = [], 0, 1, 0, builds(self.store)

        def talk(client):
            self.clients += 1
            if self.clients > self.deaths:
                return its_builds(client)
            client.call()
            self.folder = tempfile.mkdtemp(dir=self.store)
            client.answer(build={"folder": self.folder})
            for _ in range(self.answered):
                client.call()
                client.done()
            return client.call()
        self.talk(talk)

    def make(self):
        self.made.append(1)
        return {"x": np.arange(5), "texts": ["a", "bc"]}

    def test_cache_keeps_the_result_and_builds_it_with_the_next_daemon(self):
        found = larder.cache("d", self.make)

        self.assertEqual((found["x"].tolist(), list(found["texts"]), len(self.made), self.clients), ([0, 1, 2, 3, 4], ["a", "bc"], 1, 2))

    def test_cache_waits_for_the_next_daemon_if_it_may_start_none(self):
        def make():
            self.daemon.close()
            threading.Timer(0.2, lambda: self.talk(builds(self.store))).start()
            return self.make()

        with self.assertWarnsRegex(UserWarning, "the daemon is gone, waiting for another"):
            found = larder.cache("d", make)

        self.assertEqual((found["x"].tolist(), len(self.made)), ([0, 1, 2, 3, 4], 1))

    def test_cache_takes_what_another_process_has_built_meanwhile(self):
        def make():
            make_store.write_version(self.store, "d", {"x": np.arange(3)})
            return self.make()

        self.assertEqual(larder.cache("d", make)["x"].tolist(), [0, 1, 2])

    def test_a_second_death_is_an_error(self):
        self.deaths = 2

        with self.assertRaisesRegex(larder.NoStore, "^the daemon of this build is gone, and the build with it: dataset=d arrays=0; build the dataset again"):
            larder.cache("d", self.make)
        self.assertEqual(len(self.made), 1)

    def test_create_names_what_is_lost(self):
        self.answered = 1
        with self.assertRaisesRegex(larder.NoStore, "the daemon of this build is gone.* arrays=1; .*with all its arrays: none is kept"):
            with larder.create("d") as dataset:
                dataset["x"] = [1]
                for _ in range(2):
                    with self.assertRaises(larder.NoStore):
                        dataset["y"] = np.zeros(1 << 20)

    def test_a_folder_that_the_next_daemon_has_removed_is_the_same_loss(self):
        self.answered = 2
        with self.assertRaisesRegex(larder.NoStore, "the daemon of this build is gone"), larder.create("d") as dataset:
            dataset["x"] = [1]
            os.unlink(os.path.join(self.folder, "x.npy"))
            os.rmdir(self.folder)
            dataset["y"] = [1]


class BuilderTest(TalkCase):
    def setUp(self):
        super().setUp()
        self.calls, self.ended = [], threading.Event()

        def talk(client):
            for call in iter(client.call, None):
                self.calls.append(call)
                if call[0] == "Create":
                    self.folder = tempfile.mkdtemp(dir=self.store)
                    client.answer(build={"folder": self.folder})
                else:
                    client.done()
            self.ended.set()
        self.talk(talk)

    def test_arrays_and_columns_are_published_at_the_end_of_the_block(self):
        with larder.create("d", pin=True, timeout=5) as dataset:
            dataset["a/x"] = np.arange(6.0).reshape(2, 3)
            dataset["texts"] = ["a", "bc"]

        self.assertEqual([method for method, _ in self.calls], ["Create", "Room", "Room", "Part", "Publish"])
        self.assertEqual(self.calls[0][1], {"name": "d", "timeoutMs": 5000, "evenIfResident": True, "retention": {"pinned": True, "ttlMs": 0}})
        self.assertEqual(self.calls[3][1]["parts"], [{"array": "texts/bytes", "part": "strings_bytes"}, {"array": "texts/offsets", "part": "strings_offsets"}])
        self.assertEqual(np.load(os.path.join(self.folder, "a/x.npy")).tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_many_small_arrays_do_not_ask_for_room_one_by_one(self):
        with larder.create("d") as dataset:
            for i in range(300):
                dataset[f"a{i}"] = np.array([i])

        rooms = [parameters["bytes"] for method, parameters in self.calls if method == "Room"]
        self.assertLess(len(rooms), 60)
        self.assertTrue(300 * 4096 <= rooms[-1] <= 300 * 4096 * 9 // 8)

    def test_a_block_that_raises_publishes_nothing(self):
        with self.assertRaises(ZeroDivisionError), larder.create("d") as dataset:
            dataset["x"] = np.zeros(1 // 0)

        self.assertTrue(self.ended.wait(60))
        self.assertEqual([method for method, _ in self.calls], ["Create"])
        with self.assertRaisesRegex(ValueError, "the builder is closed: dataset=d"):
            dataset["x"] = np.zeros(1)

    def test_a_build_that_is_dropped_with_arrays_warns_that_they_are_lost(self):
        dataset = larder.create("d")
        dataset["x"] = [1]
        with self.assertWarnsRegex(UserWarning, r"a build was dropped before it was published: dataset=d arrays=1; use it in with, or call its publish\(\)"):
            del dataset

        self.assertTrue(self.ended.wait(60))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            larder.create("d")  # which has lost nothing
        self.assertEqual([str(one.message) for one in caught], [])

    def test_a_program_that_ends_without_publishing_warns(self):
        program = "import larder; dataset = larder.create('d'); dataset['x'] = [1]"
        done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, env={**os.environ, "PYTHONPATH": HERE})

        self.assertIn("a build was dropped before it was published: dataset=d arrays=1", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_who_would_wait_for_a_build_of_its_own_thread_is_refused_at_once(self):
        acts = (lambda: larder.dataset("d"), lambda: larder.open("d/x"), lambda: larder.wait("d"), lambda: larder.cache("d", lambda: 1), lambda: larder.create("d"))
        with larder.create("d") as dataset:
            dataset["x"] = [1]
            for act in acts:
                with self.assertRaisesRegex(larder.Refused, r"this thread would wait for its own build: name=d.*store=.*; publish it first"):
                    act()
            elsewhere = threading.Thread(target=lambda: room("_control")._await(self.store, "d"))
            elsewhere.start()  # it waits as it should
            elsewhere.join()
        with self.assertRaisesRegex(larder.Refused, "this thread would wait for its own build"):
            larder.cache("c", lambda: larder.dataset("c"))

        self.assertEqual([method for method, _ in self.calls].count("Create"), 2)
        self.assertEqual([method for method, _ in self.calls].count("Wait"), 1)

    def test_a_forked_child_waits_for_the_build_of_its_parent_and_warns_of_nothing(self):
        with larder.create("d") as dataset:
            dataset["x"] = [1]
            pid = os.fork()
            if pid == 0:
                try:
                    warnings.simplefilter("error")
                    room("_control")._await(self.store, "d")
                    dataset._drop()
                    os._exit(0)
                finally:
                    os._exit(1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_an_array_that_cannot_be_written_whole_gives_the_build_up(self):
        dataset = larder.create("d")
        with mock.patch.object(room("_build"), "_write_data", side_effect=OSError(28, "No space left on device")), self.assertRaises(OSError):
            dataset["x"] = np.zeros(9)

        self.assertTrue(self.ended.wait(60))
        with self.assertRaisesRegex(ValueError, "the builder is closed"):
            dataset.publish()

    def test_what_cannot_be_stored_is_refused(self):
        for name, value, words in (("../x", 1, "bad array name"), ("x", object(), "type=object"), ("a", 2, "two arrays have the same name")):
            with self.assertRaisesRegex(larder.LarderError, words) as caught, larder.create("d") as dataset:
                dataset["a"] = 1
                dataset[name] = value
            self.assertEqual(caught.exception.code, 6)
        for name, stored in (("a b", "a_b"), ("größe (1)/x", "größe_1_/x"), ("e\u0301", "e_"), ("x²", "x_"), ("日本\n1", "日本_1")):
            with self.assertRaisesRegex(larder.LarderError, f"cannot keep its name: name={re.escape(repr(name))}; call it '{stored}': names have letters"):
                larder.cache("d", lambda name=name: {name: 1})
        with self.assertRaisesRegex(larder.LarderError, "nothing to cache"), larder.create("d"):
            pass
        self.assertNotIn("Publish", [method for method, _ in self.calls])

    def test_files_begin_as_those_of_the_store_and_numpy_reads_them(self):
        arrays = {"plain": np.arange(5), "f": np.asfortranarray(np.ones((3, 4))), "strided": np.arange(60).reshape(3, 4, 5)[:, ::2, 1:], "scalar": np.float32(3),
                  "empty": np.zeros((0, 3)), "fields": np.zeros(3, [("größe", "<i4"), ("名", "U3", (2,))]),
                  "many": np.zeros(2, [(f"field{i:05}", "<i4") for i in range(200)]), "large": np.ones((2, 1 << 16)),
                  "large f": np.asfortranarray(np.ones((1 << 16, 2))), "large many": np.zeros(2000, [(f"field{i:05}", "<i4") for i in range(200)])}
        arrays = {name.replace(" ", "-"): array for name, array in arrays.items()}
        with larder.create("d") as dataset:
            for name, array in arrays.items():
                dataset[name] = array

        for name, array in arrays.items():
            found = np.load(os.path.join(self.folder, name + ".npy"), mmap_mode="r" if array.size else None)
            same(self, np.ascontiguousarray(found), np.ascontiguousarray(array))
            header = os.path.getsize(os.path.join(self.folder, name + ".npy")) - array.nbytes
            if array.nbytes < 1 << 20:  # the daemon copies it
                self.assertTrue(header % 64 == 0 and header < (512 if name != "many" else 8384), (name, header))
            else:
                self.assertEqual(header, 4288 if name != "large-many" else 8384, name)
        self.assertTrue(np.load(os.path.join(self.folder, "f.npy")).flags.f_contiguous)

    def test_a_child_does_not_keep_a_build_alive_and_cannot_go_on_with_it(self):
        dataset = larder.create("d")
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(writer)
            os.read(reader, 1)
            try:
                dataset["x"] = 1
            except larder.LarderError as e:
                os._exit(0 if "belongs to the process that began it" in str(e) else 2)
            os._exit(1)
        dataset.close()

        self.assertTrue(self.ended.wait(60))  # while the child lives
        os.close(writer)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.close(reader)


class InterruptTest(TalkCase):
    def test_a_call_that_was_left_gives_its_answers_to_no_other(self):
        def talk(client):
            for _ in iter(client.call, None):
                client.progress()
                client.done()
        self.talk(talk)

        with room("_control")._Connection(self.store) as connection:
            connection.call("Room", {"bytes": 1})
            with self.assertRaises(KeyError):
                connection.call("Room", {"bytes": 2}, progress=lambda step: step["nothing"])
            with self.assertRaisesRegex(larder.LarderError, "the connection to the daemon is closed"):
                connection.call("Room", {"bytes": 3})


    def test_an_interrupt_ends_a_call_and_closes_its_connection(self):
        ended = threading.Event()

        def talk(client):
            client.call()
            os.kill(os.getpid(), signal.SIGINT)
            self.assertIsNone(client.call())
            ended.set()
        self.talk(talk)

        with self.assertRaises(KeyboardInterrupt):
            larder.verify()
        self.assertTrue(ended.wait(60))


if __name__ == "__main__":
    sys.exit(unittest.main())
