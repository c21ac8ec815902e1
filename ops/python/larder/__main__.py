"""The commands of ``larder`` that scripts call all day, without a JVM: ``python -m larder ls``.

Names, options, output and exit codes are those of the ``larder`` command. This process becomes that command for other commands and options, for a
load into the store of another user, to evict or verify computed rows, and while a feed runs.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import sys
import time
import warnings

from ._command import _command
from ._computed import _computed_rows, _is_rows_name
from ._control import _ANSWER_S, _await, _await_daemon, _called, _done, _listed_rows
from ._errors import _COMMAND_STARTS_DAEMON, _START_DAEMON, LarderError, NoStore, NotFound, _failure, _message
from ._listing import (_FEW_LISTED, _brief, _facts, _facts_of_rows, _is_pattern, _line_of_array, _lines_of, _matcher, _pattern_prefix, _table_of_arrays, _table_text,
                       _without_slashes)
from ._progress import _progress_text, _ProgressLine
from ._requests import _array_fields, _info, _is_of_another, _list, _load, _load_call, _source_path, _status_fields, _totals
from ._store import _location
from ._units import _duration_text, _seconds_of, _size_text

_INTERRUPTED = 130
_OUTPUT_ERRORS = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
_BETWEEN_LOOKS_S = 0.2
_BETWEEN_PROGRESS_S = 5
_DAEMON_STARTS_S = 5
_MANY_NAMED = 10


class _HandedOver(Exception):
    """Raised if the ``larder`` command has to do this."""


def main(words=None):
    """Run a command line, and return its exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_: print(f"larder: {message}", file=sys.stderr)  # such as folders that are not stores
        return _run(sys.argv[1:] if words is None else words)


def _run(words):
    try:
        command, values, options = _parsed(words)
        options["store"] = _location(options.get("store"))
        code = _COMMANDS[command][0](*values, **options)
        sys.stdout.flush()
        return code or 0
    except _HandedOver:
        return _hand_over(words)
    except LarderError as e:
        print("larder: " + str(e).replace(_START_DAEMON, _COMMAND_STARTS_DAEMON), file=sys.stderr)
        return e.code
    except KeyboardInterrupt:
        print(f"larder: {words[0]} was interrupted; the daemon cancels a load that no client waits for; check it with larder ls --all", file=sys.stderr)
        return _INTERRUPTED
    except OSError as e:
        if e.errno not in _OUTPUT_ERRORS:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python itself flushes at its end
        if not isinstance(e, BrokenPipeError):  # otherwise the reader has ended
            print("larder: " + _message("standard output cannot be written", "free some space, and run the command again",
                                        reason=os.strerror(e.errno)), file=sys.stderr)
        return 1


def _parsed(words):
    """Split a command line. Passes unknown options to the command, which reports errors of usage itself."""
    if not words or words[0] not in _COMMANDS:
        raise _HandedOver
    _, least, most, known = _COMMANDS[words[0]]
    values, options, rest = [], {}, list(words[1:])
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            values += rest
            break
        if not word.startswith("-") or word == "-":
            values.append(word)
            continue
        kind = {**known, "--store": str}.get(name)
        if kind is None or (kind is bool and equals) or (kind is not bool and not equals and not rest):
            raise _HandedOver
        key = name[2:].replace("-", "_")
        if kind is bool:
            options[key] = True
        elif kind is list:
            options.setdefault(key, []).append(value if equals else rest.pop(0))
        else:
            options[key] = value if equals else rest.pop(0)
    if not least <= len(values) <= most:
        raise _HandedOver
    return words[0], values, options


def _hand_over(words):
    try:
        command = _command()
    except LarderError as e:
        known = ", ".join(_COMMANDS)
        print(f"larder: not a command line of python -m larder, which has {known}: words={' '.join(words)}; {str(e).rpartition('; ')[2]}",
              file=sys.stderr)
        return 2
    sys.stdout.flush()
    os.execv(command, [command, *words])


# Commands that read.


def _ls(pattern=None, store=None, all=False, json=False):
    computed = _computed_rows(store)
    if pattern is None:
        rows = _list(store, "", all, 0 if all or json else _FEW_LISTED)
    else:
        computed = [row for row in computed if any(map(_matcher(pattern), (row["name"], row["lines"]["name"])))]
        rows = _matching(store, pattern, all, not computed)
    if json:
        return _print_json([*map(_array_fields, rows), *map(_fields_of_rows, computed)])
    lines = _lines_of(rows)
    if pattern is not None and not any(map(_is_meant(pattern), lines)):
        lines = list(map(_line_of_array, rows))
    lines += map(_line_of_array, computed)
    shown = lines if pattern is not None or all else _brief(lines)
    print("\n".join(_table_of_arrays(shown, all)))
    whole = next((line.name for line in shown if line.name.endswith("/")), None)
    if whole:
        print(f"larder: note: a name that ends in / is a dataset of many arrays; larder ls {whole} lists them", file=sys.stderr)


def _fields_of_rows(row):
    return {**_array_fields(row), "rows": row["shape"][0], "published": row["published"], "ofDigest": row["lines"]["digest"], "steps": row["lines"]["steps"]}


def _is_meant(pattern):
    matches = _matcher(pattern)
    return lambda line: matches(line.name) or matches(line.name.partition("/")[0])


def _matching(store, pattern, all, is_required):
    """Return the arrays that match a pattern, including evicted ones."""
    known = [row for row in _list(store, _pattern_prefix(pattern), True) if all or row["state"] != "retired"]
    chosen = {id(row) for line in filter(_is_meant(pattern), _lines_of(known)) for row in line.arrays}
    rows = [row for row in known if id(row) in chosen] or [row for row in known if _matcher(pattern)(row["name"])]
    if not rows and is_required:
        if not _is_pattern(pattern):
            _info(store, _without_slashes(pattern))  # the daemon suggests similar names
        raise NotFound(_message("no array matches", "larder ls lists all", pattern=pattern, store=store))
    return rows


def _describe(name, store=None, json=False):
    name = _without_slashes(name)
    try:
        rows = _info(store, name)
        fields, texts = map(_array_fields, rows), map(_facts, _lines_of(rows))
    except NotFound:
        computed = _rows_named(store, name)
        if not computed:
            raise
        fields, texts = map(_fields_of_rows, computed), map(_facts_of_rows, computed)
    if json:
        fields = list(fields)
        return _print_json(fields[0] if len(fields) == 1 else fields)
    print("\n\n".join(map("\n".join, texts)))


def _path(name, store=None):
    name = _without_slashes(name)
    rows = _info(store, name)
    if len(rows) != 1:
        if _array_fields(rows[0])["column"] == name:
            raise NotFound(_message("a column has one file for each of its arrays", f"name one of its arrays: {', '.join(row['name'] for row in rows)}",
                                    column=name, store=store))
        first = ", ".join(row["name"] for row in rows[:_MANY_NAMED]) + (", …" if len(rows) > _MANY_NAMED else "")
        raise NotFound(_message("the dataset has several arrays", f"name one: {first}", dataset=name, arrays=len(rows), store=store))
    row = rows[0]
    if not row["path"]:
        raise NotFound(_message("the array has no file yet", f"wait for it with larder wait {name}", array=row["name"], state=row["state"]))
    print(row["path"])
    if re.fullmatch("pack-[0-9]{4,}", os.path.basename(row["path"])):
        print(f"larder: note: many arrays share this file; the data of {row['name']} starts at offset={row['offset']} (larder info {row['name']})",
              file=sys.stderr)


def _show_status(store=None, json=False):
    if _has_feeds(store):
        raise _HandedOver
    try:
        found = _totals(store)
    except NoStore:
        if os.path.isdir(os.path.join(store, "data")):
            with contextlib.suppress(LarderError):
                _command()
                raise _HandedOver from None  # the larder command reads what is there
        raise
    loads = _loads(store)
    if json:
        return _print_json({**_status_fields(found), "feeds": [], "loads": [fields for fields, _ in loads]})
    refused = found.get("hugeRefusedBytes", 0)
    refused = f"; {_size_text(refused)} refused by the kernel, asked again later" if refused else ""
    facts = {"store": found["store"], "pid": found["pid"], "version": found["version"],
             **{key: _size_text(found.get(key + "Bytes", 0)) for key in ("capacity", "used", "leased", "pinned", "retired", "reserved")},
             "arrays": found["arrays"], "clients": found["clients"],
             "huge pages": f"{_size_text(found['hugeBytes'])} (mount: huge={found['hugePages']}{refused})",
             "memory": found.get("memoryPolicy") or "default", "uptime": _duration_text(found["uptimeMs"] / 1000)}
    if found.get("statusPage"):
        token = os.path.join(found["store"], "http.token")
        place = f"TOKEN is in {token}" if os.access(token, os.R_OK) else "for TOKEN ask the store's owner, or read the file of --http-token-file"
        facts["status page"] = f"{found['statusPage']}?token=TOKEN ({place})"
    print("\n".join(f"{key:<11} {value}" for key, value in facts.items()))
    if loads:
        print()
        print("\n".join(_table_text([["LOADING", "PHASE", ">DONE", ">OF", ">%", ">PER SECOND", ">LEFT"], *(cells for _, cells in loads)])))


def _loads(store):
    """Return the loads in progress, as fields and as cells. Rates need a second request."""
    before = {step["name"]: step for step in _listed_rows(_called(store, "Loads", within=_ANSWER_S), "loads")}
    if not before:
        return []
    rates = {name: _PhaseRate(step) for name, step in before.items()}
    time.sleep(_BETWEEN_LOOKS_S)
    found = []
    for step in _listed_rows(_called(store, "Loads", within=_ANSWER_S), "loads"):
        rate = rates.setdefault(step["name"], _PhaseRate(step))
        rate.update(step)
        done, total, left = step["bytesDone"], step["bytesTotal"], rate.seconds_left()
        fields = {"datasets": step["name"].split(","), "phase": step["phase"], "bytesDone": done, "bytesTotal": None if total < 0 else total,
                  "filesDone": step["filesDone"], "filesTotal": None if step["filesTotal"] < 0 else step["filesTotal"],
                  "bytesPerSecond": round(rate.bytes_a_second()), "secondsLeft": None if left is None else round(left, 1)}
        cells = [step["name"], step["phase"], _size_text(done), "-" if total < 0 else _size_text(total), "-" if total <= 0 else str(100 * done // total),
                 _size_text(int(rate.bytes_a_second())) if rate.bytes_a_second() > 0 else "-", "-" if left is None else _duration_text(left)]
        found.append((fields, cells))
    return found


class _PhaseRate:
    """The rate of a phase: its bytes since it began."""

    def __init__(self, step=None):
        self._key = None
        if step is not None:
            self.update(step)

    def update(self, step):
        key, now = (step["phase"], step["bytesTotal"]), time.monotonic()
        if key != self._key or step["bytesDone"] < self._done:
            self._key, self._began, self._start = key, now, step["bytesDone"]
        self._done, self._total, self.seconds = step["bytesDone"], step["bytesTotal"], now - self._began

    def bytes_a_second(self):
        return (self._done - self._start) / self.seconds if self.seconds > 0 else 0

    def seconds_left(self):
        rate = self.bytes_a_second()
        return None if self._total < 0 or rate <= 0 else (self._total - self._done) / rate


# Commands that change something.


def _load_sources(*sources, store=None, json=False, columns=(), keys=(), **options):
    if _is_of_another(store):
        raise _HandedOver
    named = []
    for source in sources:
        name, _, path = source.partition("=")
        if not name or not path or path == "-" or re.match("[A-Za-z][A-Za-z0-9+-]+://", source):
            raise _HandedOver
        named.append((name, _source_path(path)))
    call = _call_of(",".join((*columns, *keys)) or None, **options)
    with _Display("load", json) as display:
        display.loaded(_load(store, named, call, display))


def _call_of(keys, **options):
    try:
        return _load_call(columns=keys, as_=options.pop("as", None), **options)
    except ValueError:
        raise _HandedOver from None  # the message of the command contains the option


def _wait(name, store=None, timeout="10m", json=False):
    try:
        seconds = _seconds_of(timeout)
    except ValueError:
        raise _HandedOver from None
    with _Display("wait", json) as display:
        _await_daemon(store, min(seconds, _DAEMON_STARTS_S))
        display.done(_await(store, _without_slashes(name), seconds, True, display, was_connected=True))


def _reload(name, store=None, json=False):
    with _Display("reload", json) as display:
        display.loaded(_done(_called(store, "Reload", {"name": _without_slashes(name)}, display)))


def _verify(name="", store=None, source=False, json=False):
    name = _without_slashes(name)
    if name and not source and _rows_named(store, name):
        raise _HandedOver
    call = {"againstSources": source, **({"name": name} if name else {})}
    with _Display("verify", json) as display:
        done = _done(_called(store, "Verify", call, display))
        display.done(done)
        print(f"Verified{' with sources' if source else ''}: {_counted_files(done)}")


def _evict(name, store=None, forget=False):
    name = _without_slashes(name)
    if _rows_named(store, name):
        raise _HandedOver
    done = _done(_called(store, "Evict", {"name": name, "forget": forget}))
    held = done.get("heldBytes", 0)
    freed = _counted_files({**done, "bytes": done.get("bytes", 0) - held})
    if held:
        freed += f"; freed when their readers end: heldUntilExit={_in_units(held)} pids={done.get('holders') or 'unknown'}"
    print(f"Evicted {name}: {freed}")
    for line in done.get("message", "").splitlines():
        print("larder: " + line, file=sys.stderr)


def _pin(name, store=None):
    _called(store, "Pin", {"name": _without_slashes(name), "pinned": True})


def _unpin(name, store=None):
    _called(store, "Pin", {"name": _without_slashes(name), "pinned": False})


def _counted_files(done):
    return f"files={done.get('files', 0)} bytes={_in_units(done.get('bytes', 0))}"


def _in_units(size):
    return f"{size}" + (f" ({_size_text(size)})" if size >= 1024 else "")


class _Display:
    """Shows the progress of a call on standard error: one line on a terminal, several lines elsewhere, or JSON."""

    def __init__(self, command, as_json):
        self._command, self._json, self._rate = command, as_json, _PhaseRate()
        self._line = _ProgressLine() if not as_json and sys.stderr.isatty() else None
        self._shown, self._next, self._message = None, 0, ""

    def __call__(self, step):
        if self._line is not None:
            return self._line(step)
        self._rate.update(step)
        message, now, left = step.get("message") or "", time.monotonic(), self._rate.seconds_left()
        if self._json:
            totals = {key: None if step[key] < 0 else step[key] for key in ("bytesTotal", "filesTotal")}
            self._say({"event": "progress", "phase": step["phase"], "name": step["name"], "bytesDone": step["bytesDone"],
                       "bytesTotal": totals["bytesTotal"], "filesDone": step["filesDone"], "filesTotal": totals["filesTotal"],
                       "bytesPerSecond": round(self._rate.bytes_a_second()), "etaSeconds": None if left is None else round(left, 1), "message": message})
            return None
        if message and message != self._message:
            self._message = message
            print("larder: " + message, file=sys.stderr)
        if step["phase"] != (self._shown or (None,))[0] or now >= self._next:
            self._next = now + _BETWEEN_PROGRESS_S
            text = _progress_text(step, self._rate.seconds, self._rate.bytes_a_second())
            if (step["phase"], text) != self._shown:
                self._shown = step["phase"], text
                print("larder: " + text, file=sys.stderr)
        return None

    def note(self, message):
        """Show a message that does not come from the daemon."""
        self({"phase": "waiting", "name": "", "bytesDone": 0, "bytesTotal": -1, "filesDone": 0, "filesTotal": -1, "message": message})

    def done(self, done):
        if self._json:
            self._say({"event": "done", "files": done.get("files", 0), "bytes": done.get("bytes", 0), "message": done.get("message", "")})
        elif self._line is not None:
            self._line.done(done)
        else:
            for line in done.get("message", "").splitlines():
                print("larder: " + line, file=sys.stderr)

    def loaded(self, done):
        self.done(done)
        if done.get("files") and not self._json:
            print("larder: loaded: " + _counted_files(done), file=sys.stderr)

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, _):
        if self._line is not None:
            self._line.__exit__()
        if kind is KeyboardInterrupt:
            failure = _failure(_INTERRUPTED, f"{self._command} was interrupted; the daemon cancels a load that no client waits for; check it with "
                               "larder ls --all")
        if self._json and isinstance(failure, LarderError):
            self._say({"event": "error", "code": failure.code, "message": str(failure)})
            sys.exit(failure.code)
        if kind is KeyboardInterrupt:
            raise failure from None

    def _say(self, event):
        print(json.dumps(event, ensure_ascii=False, separators=(",", ":")), file=sys.stderr, flush=True)


def _print_json(document):
    print(json.dumps(document, indent=2, ensure_ascii=False))


def _rows_named(store, name):
    return [row for row in _computed_rows(store) if _is_rows_name(row, name)]


def _has_feeds(store):
    """Return whether a process publishes batches: it has the lock of its ring."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(os.path.join(store, "rings")):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                descriptor = os.open(os.path.join(entry.path, "producer.lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return True
                finally:
                    os.close(descriptor)
    return False


_LOAD_OPTIONS = {"--columns": list, "--keys": list, "--as": str, "--dtype": str, "--shape": str, "--pack-below": str, "--strict": bool, "--in-place": bool,
                 "--exclude": list, "--decimals": str, "--pin": bool, "--ttl": str, "--workers": str, "--json": bool}
_COMMANDS = {  # the function, the minimum and maximum number of words, the options
    "ls": (_ls, 0, 1, {"--all": bool, "--json": bool}),
    "status": (_show_status, 0, 0, {"--json": bool}),
    "info": (_describe, 1, 1, {"--json": bool}),
    "path": (_path, 1, 1, {}),
    "load": (_load_sources, 1, 1 << 30, _LOAD_OPTIONS),
    "wait": (_wait, 1, 1, {"--timeout": str, "--json": bool}),
    "evict": (_evict, 1, 1, {"--forget": bool}),
    "pin": (_pin, 1, 1, {}),
    "unpin": (_unpin, 1, 1, {}),
    "reload": (_reload, 1, 1, {"--json": bool}),
    "verify": (_verify, 0, 1, {"--source": bool, "--json": bool}),
}

if __name__ == "__main__":
    sys.exit(main())
