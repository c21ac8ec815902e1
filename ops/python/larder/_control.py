"""The control plane: calls to the daemon of a store. The interface is dev.larder.Store, in the protocol of https://varlink.org."""

import errno
import json
import os
import select
import socket
import sys
import threading
import time
import warnings
import weakref

from ._errors import _START_DAEMON, LarderError, NoStore, Refused, TimedOut, _failure, _message, _text
from ._store import _current, _io_open, _trusted
from ._units import _duration_text

_INTERFACE = "dev.larder.Store."
_LONGEST_CONTROL_MESSAGE = 1 << 20
_LONGEST_PAGE = 900_000  # characters of a list in one call
_LONGEST_SOCKET_PATH = 107
_SILENCE_S = 10  # the daemon sends a report at least once a second
_ANSWER_S = 60  # for lists and totals, despite progress reports
_GRACE_S = 1
_LONGEST_WAIT_S = 600  # the default
_USAGE, _UNEXPECTED, _BAD_INPUT = 2, 1, 6
_USE_ONE_RELEASE = ("use one release of Larder for both; or stop the daemon with larder stop --keep of its own release and run larder serve, which "
                    "takes its data over")
_CHECK_DAEMON = "check whether the daemon still runs: larder status"

_open_connections = weakref.WeakSet()
_own_builds = {}  # maps the stores and datasets of running builds to their threads


class _Connection:
    """A connection to the daemon of a store, for one call at a time. Closing it cancels a call and abandons a build."""

    def __init__(self, store):
        self.store, self.is_lost = store, False
        self._received = bytearray()
        self._socket = _connected(store)
        _open_connections.add(self)

    def call(self, method, parameters=None, progress=None, end=None):
        """Call a method, and return its answers without progress reports. `end` is the deadline on the monotonic clock."""
        is_over = False
        try:
            self._send({"method": _INTERFACE + method, "parameters": parameters or {}, "more": True})
            answers = []
            while not is_over:
                answer = self._receive(end)
                found = answer.get("parameters") or {}
                if not isinstance(found, dict):
                    raise self._unexpected("its parameters are no object")
                is_over = not answer.get("continues")
                if "error" in answer:
                    raise _error(self.store, answer["error"], found)
                step = found.get("progress")
                if step is None:
                    answers.append(found)
                elif progress is not None:
                    progress(step)
            return answers
        finally:
            if not is_over:
                self.close()  # otherwise the next call would receive the rest of these answers

    def is_open(self):
        """Return whether the connection is open in this process."""
        return self._socket is not None

    def close(self):
        """Close the connection. Idempotent."""
        channel, self._socket = self._socket, None
        if channel is not None:
            channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _send(self, call):
        try:
            message = json.dumps(call, ensure_ascii=False).encode() + b"\0"
        except UnicodeEncodeError as e:
            raise _failure(_BAD_INPUT, _message("a name or path is not UTF-8", "rename it", method=call["method"],
                                                near=ascii(e.object[max(0, e.start - 20):e.start + 1]))) from None
        if len(message) > _LONGEST_CONTROL_MESSAGE:
            raise _failure(_USAGE, _message("a request is too long", "give it fewer values", method=call["method"], bytes=len(message),
                                            limit=_LONGEST_CONTROL_MESSAGE))
        if self._socket is None:
            raise LarderError(_message("the connection to the daemon is closed", "a build belongs to the process that began it: begin another one",
                                       store=self.store))
        end, rest = time.monotonic() + _SILENCE_S, memoryview(message)
        while rest:
            if not self._await_ready(select.POLLOUT, end):
                raise self._late("the daemon accepted no request", _SILENCE_S)
            try:
                rest = rest[self._socket.send(rest):]
            except OSError as e:
                if not _is_not_ready(e):
                    self._raise_reason(e)

    def _await_ready(self, event, end):
        """Wait for the socket, and return whether it is ready. Must not be inside a `try`, because a signal handler may raise any exception here."""
        left, poll = end - time.monotonic(), select.poll()
        poll.register(self._socket, event)
        return left > 0 and bool(poll.poll(1000 * left))

    def _raise_reason(self, broken):
        """Raise the daemon's refusal if it sent one before it closed the connection, else an error about the closed connection."""
        answer = self._receive(None)
        if "error" in answer:
            raise _error(self.store, answer["error"], answer.get("parameters") or {})
        raise self._gone(broken)

    def _receive(self, end):
        limit = time.monotonic() + _SILENCE_S
        what = "the daemon sent nothing"
        if end is not None and end < limit:
            limit, what = end, "the deadline passed"
        begun, searched = time.monotonic(), 0
        while True:
            length = self._received.find(0, searched)
            if length >= 0:
                message = bytes(self._received[:length])
                del self._received[:length + 1]
                return self._parsed(message)
            searched = len(self._received)
            if searched and self._received[0] != b"{"[0]:
                raise _other_protocol(self.store, self._socket)
            if searched >= _LONGEST_CONTROL_MESSAGE:
                raise self._unexpected("it has more than 1 MiB")
            if not self._await_ready(select.POLLIN, limit):
                raise self._late(what, limit - begun)
            try:
                more = self._socket.recv(1 << 16)
            except OSError as e:
                if _is_not_ready(e):
                    continue
                raise self._gone(e) from None
            if not more:
                raise self._gone(None)
            self._received += more

    def _parsed(self, message):
        if not message.startswith(b"{"):
            raise _other_protocol(self.store, self._socket)
        try:
            return json.loads(message.decode())
        except (ValueError, RecursionError) as e:
            raise self._unexpected(e) from None

    def _unexpected(self, reason):
        return _failure(_UNEXPECTED, _message("the daemon sent an unexpected message", "restart the daemon: its version may differ from the client's",
                                              store=self.store, reason=reason))

    def _gone(self, cause):
        self.is_lost = True
        reason = {} if cause is None else {"reason": cause.strerror}
        return NoStore(_message("the daemon closed the connection without an answer", _CHECK_DAEMON, store=self.store, **reason))

    def _late(self, what, waited):
        return TimedOut(_message(what, _silent_remedy(self._socket), store=self.store, waitedMs=max(0, round(waited * 1000))))


def _close_inherited_connections():
    """Close the connections in a forked child. Otherwise its parent's builds and loads would last until the last child ends."""
    for connection in list(_open_connections):
        connection.close()
    _own_builds.clear()


os.register_at_fork(after_in_child=_close_inherited_connections)


def _connected(store):
    path = os.path.join(_trusted(store), "control.sock")
    length = len(os.fsencode(path))
    if length > _LONGEST_SOCKET_PATH:
        raise _failure(_USAGE, _message("path of the control socket is too long", "choose a store with a shorter path", path=path, bytes=length,
                                        limit=_LONGEST_SOCKET_PATH))
    end = time.monotonic() + _SILENCE_S
    while True:
        channel = socket.socket(socket.AF_UNIX)
        try:
            channel.setblocking(False)
            channel.connect(path)
            return channel
        except OSError as e:
            channel.close()
            if not _is_not_ready(e):
                raise _no_daemon(store, path, e) from None
            if time.monotonic() >= end:  # too many clients are connecting, or the daemon is stopped
                raise TimedOut(_message("the daemon accepted no connection", _silent_remedy(None), store=store, waitedMs=_SILENCE_S * 1000)) from None
            time.sleep(0.01)
        except BaseException:
            channel.close()
            raise


def _is_not_ready(failure):
    """Return whether the caller has to wait for a socket. Raises an exception without an error number again, because a signal handler raised it."""
    if failure.errno is None:
        raise failure
    return failure.errno == errno.EAGAIN


def _no_daemon(store, path, cause):
    is_there = os.path.exists(path)
    if is_there and not os.access(path, os.W_OK):
        return Refused(_message("this user may not use the daemon of the store", "run as the user who started it, or start your own: larder serve "
                                "--store DIR", store=store, reason=cause.strerror))
    reason = {"reason": cause.strerror} if is_there else {}
    return NoStore(_message("no daemon at the store", _START_DAEMON + ("; it takes over the data of a killed daemon" if is_there else ""), store=store,
                            **reason))


def _silent_remedy(channel):
    """Return the remedy for a daemon that does not respond, by the state of its process."""
    pid = _daemon_pid(channel)
    try:
        with _io_open(f"/proc/{pid}/stat") as file:  # there is none for pid 0
            state = file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError, UnicodeDecodeError):
        return "check the daemon's process: it may be stopped or overloaded"
    if state in ("T", "t"):
        return f"the daemon was stopped by a signal; to resume it: kill -CONT {pid}"
    return f"the daemon may be overloaded; to look at its process: top -p {pid}"


def _other_protocol(store, channel):
    pid = _daemon_pid(channel)
    return Refused(_message("the daemon uses another protocol", _USE_ONE_RELEASE, store=store, **({"pid": pid} if pid else {})))


def _daemon_pid(channel):
    """Return the pid of the daemon, or 0 if it is unknown or in another namespace."""
    try:
        return int.from_bytes(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)
    except (OSError, AttributeError):
        return 0


def _error(store, name, found):
    """Return the exception for an error of the daemon."""
    code, values, message = found.get("code"), found.get("values"), found.get("message")
    if not message:  # an error of the protocol itself, which has only a name
        detail = next((value for value in found.values() if isinstance(value, str)), "none")
        return Refused(_message("the daemon does not understand the call", _USE_ONE_RELEASE, store=store, error=name, detail=detail))
    return _failure(code if isinstance(code, int) else _UNEXPECTED, _text(str(message), values if isinstance(values, dict) else {}, str(found.get("remedy") or "")))


def _called(store, method, parameters=None, progress=None, within=None):
    """Call a method on a new connection, and return the answers."""
    with _Connection(store) as connection:
        return connection.call(method, parameters, progress, None if within is None else time.monotonic() + within)


def _done(answers):
    """Return the result of a call: files, bytes, heldBytes, holders, message."""
    found = answers[-1].get("done") if answers else None
    return found if isinstance(found, dict) else {}


def _listed_rows(answers, key):
    return [row for answer in answers for row in answer.get(key) or ()]


def _pages(items):
    """Split a list into parts that fit into a call. There is at least one part."""
    pages, length = [[]], 0
    for item in items:
        size = len(json.dumps(item))  # with escapes, which are longer than UTF-8
        if pages[-1] and length + size > _LONGEST_PAGE:
            pages.append([])
            length = 0
        pages[-1].append(item)
        length += size + 2
    return pages


def _milliseconds(seconds):
    return max(0, int(min(seconds, 1e12) * 1000))


def _persistently(store, timeout, attempt, note, was_connected=False):
    """Call ``attempt(connection, seconds left)``; repeat it if the daemon dies, because another one may take its store over."""
    timeout = _LONGEST_WAIT_S if timeout is None else timeout
    end, pause, has_noted = time.monotonic() + timeout, 0.005, False
    left = timeout
    while True:
        connection = None
        try:
            connection = _Connection(store)
            was_connected = True
            return attempt(connection, left)
        except BaseException as e:
            is_lost = was_connected if connection is None else connection.is_lost
            if connection is not None:
                connection.close()
            if not isinstance(e, NoStore) or not is_lost or time.monotonic() >= end:
                raise
        if not has_noted:
            has_noted = True
            note(_message("the daemon is gone, waiting for another", "larder serve --detach starts one", store=store, atMost=_duration_text(left)))
        time.sleep(min(pause, max(0, end - time.monotonic())))
        pause = min(2 * pause, 0.5)
        left = max(0, end - time.monotonic())


def _await_daemon(store, timeout):
    """Wait briefly for a daemon that is starting."""
    end = time.monotonic() + timeout
    while True:
        try:
            return _Connection(store).close()
        except NoStore:
            if time.monotonic() >= end:
                raise
        time.sleep(0.05)


def _require_not_own(store, name):
    """Refuse to wait for a build of this thread, which would never end."""
    if _own_builds.get((store, name.partition("/")[0])) is threading.current_thread():
        raise Refused(_message("this thread would wait for its own build", "publish it first: leave its with block, or call publish(); a function that "
                               "cache calls cannot open its own result", name=name, store=store))


def _await(store, name, timeout=None, even_if_unknown=False, progress=None, was_connected=False):
    """Wait until a dataset or an array is resident. With `was_connected`, a missing daemon has just died, and another one may come."""
    if _current(store, name.partition("/")[0]) is None:
        _require_not_own(store, name)

    def attempt(connection, left):
        with connection:
            call = {"name": name, "timeoutMs": _milliseconds(left), "evenIfUnknown": even_if_unknown}
            return _done(connection.call("Wait", call, progress, time.monotonic() + left + _GRACE_S))

    return _persistently(store, timeout, attempt, warnings.warn if progress is None else progress.note, was_connected)
