"""The ``larder`` command, which runs daemons and feeds."""

import os

from ._errors import _START_DAEMON, LarderError, _failure, _in_python, _message
from ._store import _location


def _command_line(arguments, store):
    return [_command(), *map(str, arguments), "--store", _location(store)]


def _command(what="no larder command", error=LarderError, **values):
    """Return the path of the command; raise `error` with this summary if there is none."""
    beside = os.path.join(os.path.dirname(_folder()), "larder")
    import shutil  # imported when used: it takes memory, and most processes only read

    command = os.environ.get("LARDER_COMMAND") or shutil.which("larder") or _installed() or beside
    if not (os.path.isfile(command) and os.access(command, os.X_OK)):  # a folder next to a copy of this file may have this name
        raise error(_message(what, "put larder on the PATH, or name it with LARDER_COMMAND", **values, command=command))
    return command


def _folder():
    """Return the folder of the package, or of the single file."""
    folder, name = os.path.split(os.path.abspath(__file__))
    return os.path.dirname(folder) if name == "_command.py" else folder


def _installed():
    """Find the command of the wheel larder-cache-daemon: its scripts are in this Python's scripts folder, which may not be on the PATH."""
    import shutil
    import sysconfig

    folders = sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user")
    return shutil.which("larder", path=os.pathsep.join(folders))


def _require_success(code, errors):
    if code:
        text = ("\n" + errors.strip()).rpartition("\nlarder: ")[2].strip()  # without the progress before it
        if text.startswith("no daemon at the store: "):
            text = text.partition("; start a daemon")[0] + "; " + _START_DAEMON  # the remedy of the command contains its options
        raise _failure(code, _in_python(text) or f"larder ended with {code}")
