"""Progress of calls to the daemon, as text."""

import sys
import time
import warnings

from ._units import _duration_text, _size_text

_BETWEEN_LINES_S = 0.1
_LONGEST_LINE = 79
_ANOTHER_SOURCE = " has another source: "  # in a note of the daemon


class _ProgressLine:
    """One line on standard error that updates, on a terminal or in a notebook; nothing elsewhere. Use it in ``with``."""

    def __init__(self):
        self._stream = sys.stderr if _is_watched(sys.stderr) else None
        self._length, self._next, self._phase, self._message = 0, 0.0, None, ""

    def __call__(self, step):
        if self._stream is None:
            return
        message, phase, now = step.get("message") or "", (step.get("phase"), step.get("name")), time.monotonic()
        if message and message != self._message:
            self._message = message
            self.note(message)
        if phase != self._phase or now >= self._next:
            self._phase, self._next = phase, now + _BETWEEN_LINES_S
            self._show("larder: " + _progress_text(step))

    def note(self, message):
        """Show a message on a line of its own; as a warning if there is no progress line."""
        if self._stream is None:
            warnings.warn(message, stacklevel=5)
        else:
            self._show("")
            self._stream.write(f"\rlarder: {message}\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._stream is not None and self._length:
            self._show("")

    def done(self, done):
        """Show the notes of the daemon at the end of a call, such as the names of evicted datasets. Elsewhere only a load from another source is a warning."""
        lines = (done.get("message") or "").splitlines()
        if self._stream is None:
            for line in lines:
                if _ANOTHER_SOURCE in line:
                    warnings.warn(line, stacklevel=4)
        elif lines:
            self._show("")
            for line in lines:
                self._stream.write(f"\rlarder: {line}\n")

    def _show(self, line):
        line = line[:_LONGEST_LINE]
        self._stream.write("\r" + line.ljust(self._length) + ("" if line else "\r"))
        self._stream.flush()
        self._length = len(line)


def _is_watched(stream):
    try:
        return stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel."))
    except (AttributeError, ValueError):  # replaced by the program, or closed
        return False


def _progress_text(step, seconds=0.0, rate=0.0):
    """Return the progress of a call as a short text, as in the output of the command. `rate` is in bytes a second, over `seconds`."""
    phase, name = step.get("phase") or "working", step.get("name") or ""
    done, total, files = step.get("bytesDone", 0), step.get("bytesTotal", -1), step.get("filesDone", 0)
    text = f"{phase} {name}" if name else phase
    if total <= 0:
        return text + (f": {_size_text(done)}" if done > 0 else f": {files} files" if files > 0 else "")
    text += f": {_size_text(done)} of {_size_text(total)} ({100 * done // total} %)"
    if seconds < 1:
        return text
    if step.get("filesTotal", -1) > 1:
        text += f", {files} of {step['filesTotal']} files"
    return text + f", {_size_text(int(rate))}/s" + (f", {_duration_text((total - done) / rate)} left" if rate > 0 else "")
