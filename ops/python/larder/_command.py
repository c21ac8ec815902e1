"""The ``larder`` command, which runs daemons and feeds."""

import os

from ._errors import _START_DAEMON, LarderError, _failure, _in_python, _message
from ._store import _location


def _command_line(arguments, store):
    return [_command(), *map(str, arguments), "--store", _location(store)]


def _command(what="no larder command", error=LarderError, **values):
    """Return the path of the command; raise `error` with this summary if there is none."""
    import shutil  # imported when used: it takes memory, and most processes only read

    command = os.environ.get("LARDER_COMMAND") or shutil.which("larder") or _installed() or _of_checkout()
    if command is None or not (os.path.isfile(command) and os.access(command, os.X_OK)):
        raise error(_message(what, "put larder on the PATH, or name it with LARDER_COMMAND", **values, **({"command": command} if command else {})))
    return command


def _of_checkout():
    """Return the command of the checkout that the package is in. A copy elsewhere has none: other users may write next to it."""
    package = os.path.dirname(os.path.abspath(__file__))
    return package.removesuffix("/python/larder") + "/larder" if package.endswith("/ops/python/larder") else None


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
