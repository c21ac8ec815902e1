"""A daemon for tests: it serves the control plane at the socket of a store, and a test defines its answers.

    python3 ops/python/fake_daemon.py STORE     # lets clients build datasets, one at a time, until its standard input ends
"""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import sys
import tempfile
import threading

from interface import interface

INTERFACE = "dev.larder.Store."
DESCRIBED = interface()


class Client:
    """A connected client. It sends one message at a time."""

    def __init__(self, channel):
        self.channel, self._received = channel, b""

    def call(self):
        """Return the name of the next method and its parameters; None if the client has closed the connection."""
        while b"\0" not in self._received:
            more = self.channel.recv(1 << 16)
            if not more:
                return None
            self._received += more
        message, _, self._received = self._received.partition(b"\0")
        assert len(message) < 1 << 20
        call = json.loads(message)
        assert call["method"].startswith(INTERFACE) and call["more"] is True, call
        method, parameters = call["method"][len(INTERFACE):], call["parameters"]
        assert DESCRIBED is None or not DESCRIBED.objections(method, parameters), DESCRIBED.objections(method, parameters)
        return method, parameters

    def send(self, data):
        self.channel.sendall(data)

    def answer(self, continues=False, **parameters):
        self.send(json.dumps({"parameters": parameters, **({"continues": True} if continues else {})}).encode() + b"\0")

    def done(self, **values):
        self.answer(done={"files": 0, "bytes": 0, "heldBytes": 0, "holders": "", "message": "", **values})

    def progress(self, **values):
        self.answer(True, progress={"phase": "loading", "name": "d", "bytesDone": 0, "bytesTotal": -1, "filesDone": 0, "filesTotal": -1,
                                    "message": "", **values})

    def error(self, name, code, message, remedy="", /, **values):
        parameters = {"code": code, "message": message, "values": values, "remedy": remedy}
        self.send(json.dumps({"error": INTERFACE + name, "parameters": parameters}).encode() + b"\0")


class FakeDaemon:
    """Serves each client of a store on a thread of its own with ``talk(client)``, until it is closed."""

    def __init__(self, store, talk):
        self._talk, self._clients = talk, []
        self.failures = []
        self._listening = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(store, "control.sock"))
        self._listening.bind(os.path.join(store, "control.sock"))
        self._listening.listen(100)
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self):
        while True:
            try:
                channel, _ = self._listening.accept()
            except OSError:
                return
            self._clients.append(channel)
            self._threads.append(threading.Thread(target=self._serve, args=(channel,)))
            self._threads[-1].start()

    def _serve(self, channel):
        try:
            self._talk(Client(channel))
        except ConnectionError:
            pass  # the client has closed the connection
        except Exception as e:
            self.failures.append(e)
        finally:
            with contextlib.suppress(OSError):  # a forked process may also have the descriptor
                channel.shutdown(socket.SHUT_RDWR)
            channel.close()

    def close(self):
        if self._listening.fileno() < 0:
            return
        self._listening.shutdown(socket.SHUT_RDWR)
        for channel in self._clients:
            with contextlib.suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)
        self._listening.close()
        self._clients.clear()
        assert not self.failures, self.failures


def builds(store):
    """Return a behaviour that lets clients build datasets, one at a time for each name, and refuses all other calls."""
    import numpy as np

    import make_store

    def build(client, name):
        if os.path.lexists(os.path.join(store, "data", name, "current")):
            return client.done()
        folder = tempfile.mkdtemp(dir=store)
        try:
            client.answer(build={"folder": folder})
            parts = {}
            while True:
                call = client.call()
                if call is None:
                    return None
                method, parameters = call
                if method == "Room" and parameters["bytes"] > 1 << 40:
                    client.error("NoSpace", 5, "not enough space", "raise --capacity", needed=str(parameters["bytes"]))
                    continue
                if method == "Part":
                    parts.update({part["array"]: part["part"] for part in parameters["parts"]})
                if method == "Publish":
                    files = [os.path.join(top, file) for top, _, names in os.walk(folder) for file in names]
                    arrays = {os.path.relpath(file, folder)[:-4]: np.load(file) for file in files}
                    columns = {}
                    for array, part in parts.items():
                        columns.setdefault(array.rpartition("/")[0], {})[part] = arrays.pop(array)
                    make_store.write_version(store, name, arrays, columns)
                    return client.done(message="version 1")
                client.done()
        finally:
            shutil.rmtree(folder)

    def talk(client):
        for method, parameters in iter(client.call, None):
            if method == "Create":
                with open(os.path.join(store, "building-" + parameters["name"]), "w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    build(client, parameters["name"])
            elif method == "Wait":
                client.error("NotFound", 4, "no such dataset", dataset=parameters["name"])
            else:
                client.error("Usage", 2, "no such thing", "try another", method=method)

    return talk


if __name__ == "__main__":
    daemon = FakeDaemon(sys.argv[1], builds(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.read()
    daemon.close()
