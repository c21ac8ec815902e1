"""Makes larder.py, the single file for programs that only read and build. It contains the modules of the package larder, one after
another.

    python3 ops/python/one_file.py FILE
"""

import ast
import os
import sys
import textwrap

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "larder")
NOTE = "# Made by one_file.py from the package larder: change that instead.\n"
COMMAND = '''if __name__ == "__main__":  # python3 -m larder: the single file has no commands
    try:
        os.execv(_command(), [_command(), *sys.argv[1:]])
    except LarderError as e:
        sys.exit(f"larder: {e}")
'''


def room(name):
    """Return the text of a module, its statements, and the names of the modules that it needs."""
    with open(os.path.join(PACKAGE, name + ".py"), encoding="utf-8") as file:
        text = file.read()
    if name == "__init__":
        text = unconditional(text)
    body = ast.parse(text).body
    return text, body, [node.module for node in body if isinstance(node, ast.ImportFrom) and node.level]


def unconditional(text):
    """Return the text of the package with all imports at the top level: the single file has no command that could skip some."""
    body, lines = ast.parse(text).body, text.split("\n")
    asked = next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == "_is_command")
    imports = next(node for node in body if isinstance(node, ast.If) and any(isinstance(inner, ast.ImportFrom) for inner in node.body))
    return "\n".join([*lines[:asked.lineno - 1], textwrap.dedent("\n".join(lines[imports.lineno:imports.end_lineno])), *lines[imports.end_lineno:]])


def in_order(name, done):
    """List the modules that a module needs, each after those that it needs itself."""
    for needed in room(name)[2]:
        if needed not in done:
            in_order(needed, done)
            done.append(needed)
    return done


def is_plain_import(node):
    return isinstance(node, ast.Import) or isinstance(node, ast.ImportFrom) and not node.level


def each_name(node):
    """Yield an import as one line for each name, so that imports shared by two modules occur once."""
    before = "" if isinstance(node, ast.Import) else f"from {node.module} "
    return (f"{before}import {ast.unparse(alias)}" for alias in node.names)


def source(lines, nodes):
    """Return the source of statements with the comments between them, without imports and docstring."""
    kept, last = [], 0
    for node in nodes:
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_docstring(node):
            kept += lines[last:node.end_lineno]
        last = node.end_lineno
    return "\n".join(kept + lines[last:]).strip("\n")


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def one_file():
    """Return the text of the file."""
    text, body, _ = room("__init__")
    lines = text.split("\n")
    first_room, *_, last_room = [node for node in body if isinstance(node, ast.ImportFrom) and node.level]
    first_check = next(node for node in body[1:] if not is_plain_import(node))
    rooms = [room(name) for name in in_order("__init__", [])]
    imports = {line for _, nodes, _ in [(text, body, []), *rooms] for node in nodes if is_plain_import(node) for line in each_name(node)}
    future = sorted(line for line in imports if line.startswith("from __future__"))
    imports = sorted(imports.difference(future, ["import numpy as np"]))  # numpy is imported and checked after the check of Python
    head = [*lines[:body[0].end_lineno], "", *future, "", *imports, "", *lines[first_check.lineno - 1:first_room.lineno - 1]]
    parts = ["\n".join(head).rstrip("\n"), *(source(text.split("\n"), nodes) for text, nodes, _ in rooms),
             "\n".join(lines[last_room.end_lineno:]).strip("\n")]
    return NOTE + "\n\n\n".join([*parts, COMMAND])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], "w", encoding="utf-8") as target:
            target.write(one_file())
    except OSError as e:
        sys.exit(f"one_file.py: cannot write the file: file={sys.argv[1]} reason={e.strerror}")
