"""Errors, and the form of their messages."""

from __future__ import annotations

import contextlib
import re

_COMMANDS_OF_TERMINALS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NAMES_SHOWN = 10
_NEAR_SHOWN = 3
_START_DAEMON = "start a daemon: larder.serve(), larder.load(...) or larder serve --detach; or name another store: store= or $LARDER_STORE"
_COMMAND_STARTS_DAEMON = "start a daemon: larder serve --detach, or name another store: --store DIR or $LARDER_STORE"


# An option of `larder load` or `larder feed`, and its value if the text has one. A command that the text shows keeps its options, as do paths.
_VALUE = r"/[\w./+@-]*[\w/]|arrays|ragged|strings|index|bytes|images|f8|uint8|'[^']*'|-?\d[\d,-]*|[\w./+-]+(?:,[\w./+-]+)+|[\w./+-]+$"
_OPTION = re.compile(r"(larder [a-z]+\b[^;,]*)|(?<![^\s(])--(as|columns|keys|exclude|dtype|shape|decimals|in-place|strict|pack-below|pin|ttl|workers|arrays|batch-size|"
                     r"shuffle|shard|drop-last|epochs|transform|consumers|on-slow|timeout|retries|max-skipped|store)(?![\w-])(?: (" + _VALUE + r")(?!\w))?", re.MULTILINE)
_FLAGS = "in_place", "strict", "pin", "drop_last"
_IN_PYTHON = {  # words of Java and of the command, and those of Python
    "onFailure(FailurePolicy.skip(N)) in Java, --max-skipped N of larder feed, max_skipped=N in Python": "max_skipped=N",
    "batchSize(…)": "batch_size=", "Field.rows(…).lookup(…)": "transform={array: 'lookup(keys,index)'}",
    "raise --capacity": "raise capacity= of larder.serve"}


class LarderError(Exception):
    """A failure, with its values and a remedy. The base of this module's errors. `code` is the exit code of the command for it."""

    code: int = 1


class NoStore(LarderError):
    """There is no store, or the store has no daemon."""

    code = 3


class NotFound(LarderError, KeyError):
    """There is no such dataset, array or column; the message has similar names."""

    code = 4
    __str__ = Exception.__str__  # KeyError prints the repr of the message


class Refused(LarderError):
    """The store belongs to another user who is not trusted, or the daemon refused a request."""

    code = 7


class TimedOut(LarderError, TimeoutError):
    """Another process did not answer or finish in time."""

    code = 9


class RequestFailed(LarderError):
    """A request failed for another reason. `code` is 2 for wrong use, 5 for not enough space, 6 for bad input, 8 for a different checksum."""


_ERRORS = {kind.code: kind for kind in (NoStore, NotFound, Refused, TimedOut)}


def _failure(code, text):
    """Return the error for an exit code of the command, which is also the code of the daemon's error."""
    failure = _ERRORS.get(code, RequestFailed)(text)
    failure.code = code
    return failure


def _bad_input(text):
    """Return the error for a value of the caller that cannot be stored."""
    failure = LarderError(text)
    failure.code = 6
    return failure


@contextlib.contextmanager
def _settings_of_python():
    """Give errors of the daemon and the command the settings of Python instead of options."""
    try:
        yield
    except LarderError as e:
        e.args = (_in_python(str(e)),)
        raise


def _in_python(text):
    """Return a message of the daemon or the command with the settings that Python has for options."""
    for words, of_python in _IN_PYTHON.items():
        text = text.replace(words, of_python)
    return _OPTION.sub(_setting, text)


def _setting(found):
    command, option, value = found.groups()
    if command:
        return command
    name = option.replace("-", "_") + ("_" if option == "as" else "")
    if name in _FLAGS:
        return f"{name}=True" + ("" if value is None else f" {value}")
    if value is None:
        return f"{name}="
    if "," in value:
        return f"{name}=({value})" if value[0] in "-0123456789" else f"{name}={value.split(',')}"
    return f'{name}="{value}"'.replace("'", "")


def _message(what, remedy, **values):
    return _text(what, values, remedy)


def _text(what, values, remedy):
    facts = " ".join(f"{key}={value}" for key, value in values.items())
    facts = re.sub("\n(?!  )", "\n  ", _COMMANDS_OF_TERMINALS.sub("?", facts))  # the name of a file may contain some, and lines that look like messages
    return what + (": " + facts if facts else "") + ("; " + remedy if remedy else "")


def _require_function(value, remedy, **values):
    if not callable(value):
        raise TypeError(_message("not a function", remedy, **values, found=type(value).__name__))


def _note(error, what, **values):
    """Add the location to an exception of the caller's code, which keeps its type."""
    text = what + ": " + " ".join(f"{key}={value}" for key, value in values.items())
    if hasattr(error, "add_note"):
        error.add_note(text)
    elif error.__cause__ is None:  # before Python 3.11
        error.__cause__ = LarderError(text)


def _near(name, names):
    """Describe the existing names, as Java's NearNames does: similar names, and all of them if they are few."""
    import difflib  # imported here, because most programs never need it

    names = list(names)
    near = difflib.get_close_matches(str(name), names, _NEAR_SHOWN, 0.5)
    question = f"did you mean {', '.join(near)}?" if near else ""
    if near and len(names) > _NAMES_SHOWN:
        return f"{question} there are {len(names)}"
    if near and len(near) == len(names):
        return question
    more = f", … ({len(names)})" if len(names) > _NAMES_SHOWN else ""
    return f"{question} there {'is' if len(names) == 1 else 'are'} {', '.join(names[:_NAMES_SHOWN]) or 'none'}{more}".lstrip()
