#!/usr/bin/env python3
"""Finds habits that make our English hard to read: in comments of Java, in docstrings and comments of Python, and in Markdown.

    english.py PATH...             prints each hit as file:line: habit: sentence, then hits per 1,000 sentences for each kind of text
    english.py --since REVISION    fails if a file that differs from REVISION has more hits than it had there

A hit is a place to look at, and a few are right. So a changed file is compared with itself, and a new file may have as many hits as the
code bases that we learn from: 40 in 1,000 sentences. Code of tests is not read.
"""

import math
import os
import re
import subprocess
import sys

HABITS = {
    "a clause as the subject": r"^(?-i:What|Whatever|Whether|Who|Whoever|Whom|Where|Wherever|How|That which|That)\b(?!.*\?$)",
    "what": r"(?<!^)\bwhat(?:ever)?\b",
    "where instead of if": r"\bwhere(?:ver)? (?:it|there|none|no|one|that|an?|the|they|nothing|nobody|somebody|something|this|he|its|all|any|some|both)\b",
    "whoever, nobody": r"\b(?:whoever|whom|whomever|nobody|somebody|anybody|whose)\b",
    "things that tell, say, know": r"\b(?:tells?|told|says?|said|knows?|known of|asks?|asked|hears?|believes?|believed)\b",
    "of which": r"\b(?:of|for|in|by|to|from|with|on) which\b",
    "so, too, alone at the end": r"\b(?:so|too|either|then|alone|anew|thus|likewise|thereby)[.;,]?$",
}
HABITS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in HABITS.items()}
NEW_FILE_HITS = 40 / 1000
SHORTEST_WORDS = 4
NOT_READ = {".git", ".larder", "target", "test", "node_modules"}

JAVA = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*\*?(?P<block>.*?)\*/|//(?P<line>[^\n]*)', re.DOTALL)
PYTHON = re.compile(r'"""(?P<block>.*?)"""|^[ \t]*#(?!!)(?P<line>[^\n]*)', re.DOTALL | re.MULTILINE)
CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[|#*-])")


def java_texts(text):
    for found in JAVA.finditer(text):
        comment = found["block"] or found["line"]
        if comment:
            comment = re.sub(r"^\s*\*", "", comment, flags=re.MULTILINE)
            comment = re.sub(r"@(?:param|return|throws)\s*\S*", ". ", re.sub(r"\{@\w+\s+([^}]*)\}", r"\1", comment))
            yield found.start(), re.sub(r"<[^>]+>", " ", comment)


def python_texts(text):
    for found in PYTHON.finditer(text):
        yield found.start(), found["block"] or found["line"] or ""


def markdown_texts(text):
    text = CODE_BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    begin = 0
    for end in [*PARAGRAPH.finditer(text), None]:
        paragraph = text[begin:end.start() if end else len(text)]
        plain = re.sub(r"`[^`]*`", "x", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)).replace("|", ". ")
        yield begin, plain.strip(" #*-\n")
        begin = end.end() if end else len(text)


KINDS = {".java": java_texts, ".py": python_texts, ".md": markdown_texts}


def sentences(path, text):
    """Yields (line, sentence)."""
    for start, words in KINDS[os.path.splitext(path)[1]](text):
        if "Copyright" in words:
            continue
        for sentence in re.split(r"(?<=[.;:!?])\s+", " ".join(words.split())):
            if len(sentence.split()) >= SHORTEST_WORDS:
                yield text.count("\n", 0, start) + 1, sentence


def hits(path, text):
    """Returns [(line, habit, sentence)]."""
    return [(line, habit, sentence) for line, sentence in sentences(path, text)
            for habit, pattern in HABITS.items() if pattern.search(sentence)]


def is_read(path):
    folders, name = os.path.split(path)
    return os.path.splitext(path)[1] in KINDS and not NOT_READ & set(folders.split("/")) and not name.startswith("test_")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        sys.exit(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout


def changed(revision):
    """Yields (path, its path in the revision or None) of files that differ there from the working tree; untracked ones too."""
    entries = iter(git("diff", "--name-status", "-z", "-M", "--diff-filter=AMR", "--relative", revision).split("\0"))
    for status in entries:
        if status:
            before = next(entries)
            yield (next(entries), before) if status[0] == "R" else (before, None if status == "A" else before)
    for path in git("ls-files", "-z", "--others", "--exclude-standard").split("\0"):
        if path:
            yield path, None


def worse(revision):
    """Returns a line for each file that has more hits than it may."""
    lines = []
    for path, before in changed(revision):
        if not is_read(path) or not os.path.exists(path):
            continue
        text = read(path)
        found = hits(path, text)
        old = git("show", f"{revision}:./{before}") if before else None
        most = len(hits(before, old)) if old is not None else math.ceil(NEW_FILE_HITS * sum(1 for _ in sentences(path, text)))
        if len(found) > most:
            known = {(habit, sentence) for _, habit, sentence in (hits(before, old) if old is not None else [])}
            lines.append(f"{path}: hits={len(found)} atMost={most}; write these sentences again:")
            lines += [f"  {path}:{line}: {habit}: {sentence[:160]}" for line, habit, sentence in found if (habit, sentence) not in known]
    return lines


def files(paths):
    for path in paths:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(set(folders) - NOT_READ)
                yield from (file for file in (os.path.join(folder, name) for name in sorted(names)) if is_read(os.path.relpath(file, path)))
        else:
            yield path


def main(words):
    if words[:1] == ["--since"] and len(words) == 2:
        lines = worse(words[1])
        print("\n".join(lines), end="\n" if lines else "")
        return 1 if lines else 0
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    counts = {}
    for path in files(words):
        text = read(path)
        found = hits(path, text)
        for line, habit, sentence in found:
            print(f"{path}:{line}: {habit}: {sentence[:160]}")
        kind = os.path.splitext(path)[1]
        before = counts.get(kind, (0, 0))
        counts[kind] = before[0] + len(found), before[1] + sum(1 for _ in sentences(path, text))
    for kind, (found, all_of_them) in sorted(counts.items()):
        print(f"{kind}: {1000 * found / max(1, all_of_them):.0f} hits in 1,000 of {all_of_them} sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
