#!/usr/bin/env python3
"""Prints, as JSON, the machine that figures are of: what they depend on, and nothing that names it.

usage: machine.py quick|short    how they are measured
"""
import json
import os
import platform
import re
import subprocess
import sys


def output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except OSError:
        return ""
    return (done.stdout or done.stderr).strip() if done.returncode == 0 else ""


def field(path, pattern):
    try:
        with open(path) as file:
            found = re.search(pattern, file.read(), re.M)
    except OSError:
        return ""
    return found.group(1).strip() if found else ""


def main():
    java = re.search(r'version "([^"]+)"', output("java", "-version"))
    mount = next((line for line in open("/proc/self/mounts") if line.split()[1] == "/dev/shm"), "")
    facts = {
        "processor": field("/proc/cpuinfo", r"^model name\s*:(.*)$") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memoryGiB": round(int(field("/proc/meminfo", r"^MemTotal:\s*(\d+)") or 0) / (1 << 20), 1),
        "kernel": platform.release(),
        "java": java.group(1) if java else "?",
        "python": platform.python_version(),
        "shm": mount.split()[3] if mount else "not mounted",
        "hugePages": field("/sys/kernel/mm/transparent_hugepage/shmem_enabled", r"\[(\w+)\]"),
        "commit": output("git", "rev-parse", "--short=12", "HEAD"),
        "changed": bool(output("git", "status", "--porcelain", "--untracked-files=no")),
        "loadBefore": os.getloadavg()[0],
        "pace": sys.argv[1],
    }
    json.dump(facts, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
