#!/usr/bin/env -S python3 -B
"""Lets a real Prometheus scrape a daemon under load, and evaluates the expressions of all panels of the dashboard and of all alerts.

Needs prometheus and promtool (apt-get install prometheus).
"""

import argparse
import contextlib
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import crew
from crew import Trouble, children

ROOT = Path(crew.ROOT)
RULES = ROOT / "ops/prometheus/larder.rules.yaml"
DASHBOARD = ROOT / "ops/prometheus/larder.dashboard.json"
# The values that Grafana fills in.
VARIABLES = {"$__rate_interval": "20s", "$job": ".*", "$instance": ".*"}


def await_true(what, condition, seconds=crew.PATIENCE_S):
    def found():
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            return condition()

    return crew.await_true(found, what, seconds=seconds)


class Work:
    """Makes hits, misses, waits, loads that fail, refusals, evictions, replaced versions and protocol errors."""

    def __init__(self, daemon, folder):
        self.daemon, self.folder = daemon, folder

    def npy(self, name, length):
        file = self.folder / f"{name}.npy"
        file.write_bytes(crew.npy(bytes(length), (length,)))
        return file

    def turn(self, turn):
        ask = self.daemon.ask
        ask("load", f"d{turn % 3}={self.npy(f'd{turn}', 4096 + turn)}")
        ask("wait", f"d{turn % 3}")
        ask("register", f"later{turn}={self.npy('later', 1000 + turn)}")
        ask("wait", f"later{turn}")
        ask("wait", "nobody", "--timeout", "50ms", code=9)
        ask("evict", f"later{turn}")
        ask("load", f"bad={self.folder}/absent.npy", code=6)
        ask("load", f"huge={self.npy('huge', 80 << 20)}", code=5)
        with socket.socket(socket.AF_UNIX) as rubbish:
            rubbish.connect(os.path.join(self.daemon.store, "control.sock"))
            rubbish.sendall(b"\xff" * 64)


class Prometheus:
    """A Prometheus with the documented configuration, but for a shorter interval."""

    def __init__(self, folder, token, target):
        self.port = crew.free_ports(1)[0]
        config = folder / "prometheus.yml"
        config.write_text(f"""
global: {{ scrape_interval: 1s, evaluation_interval: 1s }}
rule_files: [ {RULES} ]
scrape_configs:
  - job_name: larder
    authorization: {{ credentials_file: {token} }}
    static_configs: [ {{ targets: [ "127.0.0.1:{target}" ] }} ]
""")
        self.log = folder / "prometheus.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)
        try:
            await_true("prometheus", lambda: self.series("up == 1"))
        except BaseException:
            self.stop()
            raise

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            raise Trouble(f"{path} {parameters}: {refused.read().decode()}") from None

    def series(self, expression):
        return self.get("query", query=expression)["result"]

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def panels():
    """Returns the expressions of all panels, with the values that Grafana fills in."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            if "$" in expression:
                raise Trouble(f"a variable that nothing fills in: panel={panel['title']} expr={expression}")
            yield panel["title"], expression


def check(prometheus):
    failures = asked = 0
    for title, expression in panels():
        asked += 1
        values = [float(series["value"][1]) for series in prometheus.series(expression)]
        shown = [value for value in values if math.isfinite(value)]
        if not shown:
            failures += 1
            print(f"FAILED  {title}: nothing to show: expr={expression} values={values}")
        else:
            print(f"ok      {title}: {len(shown)} series, largest {max(shown):g}")
    # The work above makes these greater than zero.
    for expression in ("sum(larder_leased_bytes)", "sum(larder_evictions_total)", "sum(larder_space_refusals_total)",
                       "sum(larder_protocol_errors_total)", 'sum(larder_loads_total{outcome="failed"})', "sum(larder_version_clients)",
                       'sum(larder_asks_total{outcome="miss"})', "sum(larder_wait_seconds_count)"):
        asked += 1
        if not any(float(series["value"][1]) > 0 for series in prometheus.series(expression)):
            failures += 1
            print(f"FAILED  zero under load: expr={expression}")
    groups = await_true("alerts were evaluated", lambda: [
        group for group in prometheus.get("rules")["groups"] if all(rule["health"] != "unknown" for rule in group["rules"])])
    for rule in groups[0]["rules"]:
        asked += 1
        print(f"{'ok     ' if rule['health'] == 'ok' else 'FAILED '} alert {rule['name']}: {rule['state']} {rule.get('lastError', '')}")
        failures += rule["health"] != "ok"
    firing = {rule["name"] for rule in groups[0]["rules"] if rule["state"] == "firing"}
    if not {"LarderRefusesForSpace", "LarderLoadsFail"} <= firing:
        failures += 1
        print(f"FAILED  alerts that have to fire do not: firing={sorted(firing)}")
    return asked, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    crew.build()
    for words in (["check", "rules", RULES], ["test", "rules", RULES.with_name("larder.test.yaml")]):
        subprocess.run(["promtool", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    with children.interruptible(), tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        daemon = stack.enter_context(crew.Served("prometheus", name, "--http", "0", "--capacity", "64m"))
        work = Work(daemon, folder)
        daemon.ask("load", f"d0={work.npy('d0', 4096)}")
        stack.enter_context(crew.held(name, daemon.lease("d0")))
        port = re.search(r"Metrics: http://127\.0\.0\.1:(\d+)/", daemon.text()).group(1)
        prometheus = Prometheus(folder, Path(daemon.store) / "http.token", port)
        stack.callback(prometheus.stop)
        end, turn = time.monotonic() + options.seconds, 0
        while time.monotonic() < end or turn < 3:
            work.turn(turn)
            turn += 1
        time.sleep(2)  # one more scrape
        asked, failures = check(prometheus)
        daemon.stop()
        await_true("up is 0 once the daemon has ended", lambda: prometheus.series('up{job="larder"} == 0'), 15)
    print(f"{asked} questions after {turn} turns of work, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
