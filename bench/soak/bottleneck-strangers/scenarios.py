"""Trainers with a known main cause of waiting, written from the guides alone: nothing here depends on how Larder finds a cause.

`scenarios(seed)` gives all of them, with parameters drawn from the seed. `Setting` has a store and the data, and `Setting.run(scenario)`
starts the trainer as a child process and yields a `Running` with its pid. A trainer prints "begin" before its first batch, "ready" after it,
and "changed" when its cause changes; `Running.wait(word)` waits for that. Causes have the names of `larder doctor RUN --json`.
"""
import contextlib
import ctypes
import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
LARDER = os.environ.get("LARDER_COMMAND", TREE + "/ops/larder")
MARK = "LARDER_STRANGER"
SECONDS = 30                                  # a trainer that nothing stops ends by itself

PRELUDE = """
import ctypes, json, os, socket, subprocess, sys, threading, time
import numpy as np
import larder

P = json.loads(sys.argv[1])
begun = time.monotonic()
holding = ctypes.PyDLL(None)                  # calls into it keep the interpreter's lock


def seconds():
    return time.monotonic() - begun


def announce(word):
    print(word, flush=True)


def spin(cpu_seconds):
    end = time.thread_time() + cpu_seconds
    while time.thread_time() < end:
        sum(range(500))


def train(loader, step=lambda batch: None, between=lambda: None):
    announce("begin")
    ready = False
    while True:
        for batch in loader:
            if not ready:
                announce("ready")
                ready = True
            step(batch)
            del batch
            if seconds() > P["seconds"]:
                return
        between()


def train_in_proportion(loader, step_per_wait):
    # the step takes a multiple of the time that the loop waited for its batch: with threads=0 the shares are exact
    announce("begin")
    ready = False
    while True:
        batches = iter(loader)
        while seconds() < P["seconds"]:
            before = time.monotonic()
            batch = next(batches, None)
            if batch is None:
                break
            waited = time.monotonic() - before
            del batch
            time.sleep(waited * step_per_wait)
            if not ready:
                announce("ready")
                ready = True
        else:
            return
"""


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    seed: int
    expected: frozenset                       # one cause, or two if both are true
    why: str
    trainer: str                              # lines of Python after PRELUDE; None for StrangerTrainer.java
    data: str                                 # a name of Setting.DATA
    parameters: dict
    place: tuple = ()                         # names of methods of Setting, each a context around the trainer
    after: str = "ready"                      # the word after which the cause is the expected one
    settle: float = 2                         # seconds after that word before the first look
    within: float = 5                         # seconds after that word in which the answer has to be right
    first: bool = False                       # before all others where processors are short: for causes that need one
    beside: str = None                        # lines of Python of a second process, started after the word "begin"


@dataclasses.dataclass
class Running:
    pid: int
    scenario: Scenario
    words: dict                               # word: time at which the trainer printed it
    process: subprocess.Popen

    def wait(self, word, seconds=60):
        end = time.monotonic() + seconds
        while word not in self.words:
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"trainer printed no word: scenario={self.scenario.name} word={word} exit={self.process.returncode}"
                                     f" after={seconds} s")
            time.sleep(0.05)
        return self.words[word]


def scenarios(seed=1):
    """All scenarios, with parameters of this seed."""
    made = []
    for number, maker in enumerate(MAKERS):
        own = seed * 1000 + number
        fields = maker(random.Random(own))
        expected = fields.pop("expected")
        fields["trainer"] = fields["trainer"] and textwrap.dedent(fields["trainer"])
        fields["beside"] = textwrap.dedent(fields["beside"]) if fields.get("beside") else None
        fields.setdefault("data", "small")
        made.append(Scenario(name=maker.__name__, seed=own, expected=frozenset([expected] if isinstance(expected, str) else expected),
                             why=maker.__doc__.strip(), **fields))
    return made


MAKERS = []


def scenario(maker):
    MAKERS.append(maker)
    return maker


# ---- a slow function of the user -------------------------------------------------------------------------------------------------------

FUNCTION = """
    def function(batch):
        {0}
        return batch
    train(larder.Loader("small", ["x", "y"], batch_size=P.get("batch", 64), shuffle=P["shuffle"], transform=function,
                        threads=P.get("threads"), prefetch=P.get("prefetch", 4)), step=lambda batch: time.sleep(P.get("step", 0)))
"""


def with_function(body, setup="pass"):
    return setup + "\n" + textwrap.dedent(FUNCTION).replace("{0}", body)


def drawn(rng, **ranges):
    parameters = {name: round(rng.uniform(*span), 4) for name, span in ranges.items()}
    return {"seconds": SECONDS, "shuffle": rng.randrange(1000), **parameters}


@scenario
def function_sleeps(rng):
    """The function sleeps at least 8 times as long as the step, and one thread calls it."""
    return dict(expected="userCode", trainer=with_function('time.sleep(P["function"])'),
                parameters=drawn(rng, function=(0.08, 0.2), step=(0.001, 0.01)) | {"threads": 1})


@scenario
def function_computes(rng):
    """The function is a loop in Python of tens of milliseconds of processor time, and there is no step."""
    return dict(expected="userCode", trainer=with_function('spin(P["function"])'), first=True,
                parameters=drawn(rng, function=(0.04, 0.12)) | {"threads": 1})


@scenario
def function_waits_for_lock(rng):
    """The function needs a lock, which another thread of the trainer holds 95 % of the time."""
    hold = """
lock = threading.Lock()
def holder():
    while True:
        with lock:
            time.sleep(P["hold"])
        time.sleep(P["hold"] / 20)
threading.Thread(target=holder, daemon=True).start()"""
    return dict(expected="userCode", trainer=with_function("with lock: pass", hold), parameters=drawn(rng, hold=(0.1, 0.3)))


@scenario
def function_beside_gil_hog(rng):
    """The function computes in Python and another thread takes the interpreter's lock from it, so the loop waits for the function."""
    hog = """
def hog():
    while True:
        sum(range(1000))
threading.Thread(target=hog, daemon=True).start()"""
    return dict(expected="userCode", trainer=with_function('spin(P["function"])', hog), first=True,
                parameters=drawn(rng, function=(0.04, 0.1)) | {"threads": 1})


@scenario
def function_keeps_gil(rng):
    """The function sleeps in C without releasing the interpreter's lock, and the step is nothing."""
    return dict(expected="userCode", trainer=with_function('holding.usleep(int(P["function"] * 1e6))'),
                parameters=drawn(rng, function=(0.05, 0.15)) | {"threads": 1})


@scenario
def function_asks_service(rng):
    """The function sends each batch to a server on a socket, which answers late; that wait is in the user's function."""
    service = """
ours, theirs = socket.socketpair()
def serve():
    while theirs.recv(1):
        time.sleep(P["answer"])
        theirs.send(b"x")
threading.Thread(target=serve, daemon=True).start()"""
    return dict(expected="userCode", trainer=with_function('ours.send(b"x"); ours.recv(1)', service),
                parameters=drawn(rng, answer=(0.08, 0.2), step=(0, 0.01)) | {"threads": 1})


@scenario
def function_starts_program(rng):
    """The function runs a program for each batch and waits for its end."""
    return dict(expected="userCode", trainer=with_function('subprocess.run(["sleep", str(P["program"])], check=True)'),
                parameters=drawn(rng, program=(0.08, 0.2)) | {"threads": 1})


@scenario
def function_is_slow_at_times(rng):
    """Every fifth call takes half a second and more, and the other calls and the step nothing: on average the function is all."""
    body = 'calls.append(1); time.sleep(P["slow"] if len(calls) % 5 == 0 else 0)'
    return dict(expected="userCode", trainer=with_function(body, "calls = []"), parameters=drawn(rng, slow=(0.5, 0.8)) | {"threads": 1})


@scenario
def function_in_loop_thread(rng):
    """With threads=0 the function runs in the loop's thread, and takes at least 4 times as long as the step."""
    return dict(expected="userCode", trainer=with_function('time.sleep(P["function"])'),
                parameters=drawn(rng, function=(0.08, 0.15), step=(0.005, 0.02)) | {"threads": 0})


@scenario
def function_with_prefetch_of_one(rng):
    """One batch ahead and one thread: the function takes 4 times as long as the step, which it overlaps."""
    return dict(expected="userCode", trainer=with_function('time.sleep(P["function"])'),
                parameters=drawn(rng, function=(0.1, 0.15), step=(0.015, 0.025)) | {"threads": 1, "prefetch": 1})


@scenario
def function_in_three_threads(rng):
    """Three threads share the function, and a third of it is still 4 times the step."""
    return dict(expected="userCode", trainer=with_function('time.sleep(P["function"])'),
                parameters=drawn(rng, function=(0.3, 0.4), step=(0.01, 0.025)) | {"threads": 3, "prefetch": 6})


@scenario
def function_on_tiny_batches(rng):
    """Batches of one row, with a function of milliseconds and no step: very many calls, and nearly all of the time is in them."""
    return dict(expected="userCode", trainer=with_function('time.sleep(P["function"])'),
                parameters=drawn(rng, function=(0.01, 0.03)) | {"threads": 1, "batch": 1})


@scenario
def function_amid_noise(rng):
    """The function sleeps ten times as long as the step; other processes use processors and memory, and do not lengthen a sleep."""
    return dict(expected="userCode", trainer=with_function('time.sleep(P["function"])'), place=("noise",),
                parameters=drawn(rng, function=(0.12, 0.25), step=(0.001, 0.01)) | {"threads": 1})


@scenario
def function_70_step_30(rng):
    """With threads=0 nothing overlaps, and the step takes 3/7 of the time of the function."""
    body = """
    def function(batch):
        time.sleep(P["function"])
        return batch
    train_in_proportion(larder.Loader("small", batch_size=64, shuffle=P["shuffle"], threads=0, transform=function), 3 / 7)
    """
    return dict(expected="userCode", trainer=body, parameters=drawn(rng, function=(0.05, 0.15)))


@scenario
def function_in_java(rng):
    """A function of a Java trainer sleeps in each row, 160 ms and more in a batch, and the step 10 ms."""
    return dict(expected="userCode", trainer=None, parameters={"arguments": [rng.randrange(160, 320), 10, 0]})


# ---- a slow step -----------------------------------------------------------------------------------------------------------------------

def with_step(body, setup="pass", between="pass"):
    return setup + "\n" + textwrap.dedent("""
        def step(batch):
            {0}
        def between():
            {1}
        train(larder.Loader("small", ["x", "y"], batch_size=P.get("batch", 64), shuffle=P["shuffle"], drop_last=True,
                            prefetch=P.get("prefetch", 4)), step, between)
        """).replace("{0}", body).replace("{1}", between)


@scenario
def step_sleeps(rng):
    """The step sleeps, as one that waits for a device, and gathering 64 short rows is much faster."""
    return dict(expected="trainer", trainer=with_step('time.sleep(P["step"])'), parameters=drawn(rng, step=(0.05, 0.2)))


@scenario
def step_computes(rng):
    """The step computes in Python for tens of milliseconds, and gathering 64 short rows is much faster."""
    return dict(expected="trainer", trainer=with_step('spin(P["step"])'), first=True, parameters=drawn(rng, step=(0.04, 0.15)))


@scenario
def step_is_slow_every_tenth_time(rng):
    """Every tenth step takes half a second and more, as a checkpoint; the others are 5 ms, and batches are ready long before."""
    return dict(expected="trainer", trainer=with_step('steps.append(1); time.sleep(P["slow"] if len(steps) % 10 == 0 else 0.005)', "steps = []"),
                parameters=drawn(rng, slow=(0.5, 0.8)))


@scenario
def step_keeps_gil(rng):
    """The step sleeps in C without releasing the interpreter's lock: the loader can do nothing meanwhile, but it needs little."""
    return dict(expected="trainer", trainer=with_step('holding.usleep(int(P["step"] * 1e6))'), parameters=drawn(rng, step=(0.1, 0.25)))


@scenario
def step_reads_slow_disk(rng):
    """The step reads a file of its own from a slow disk; the loader's rows are in memory, so the disk is not the loader's."""
    setup = 'file = os.open(P["slow_file"], os.O_RDONLY); at = [0]'
    body = 'os.pread(file, 4096, at[0] * 262144); at[0] += 1'
    return dict(expected="trainer", trainer=with_step(body, setup), place=("slow_file",), parameters=drawn(rng, delay=(0.06, 0.15)))


@scenario
def evaluation_between_epochs(rng):
    """Epochs of few fast batches, and after each an evaluation without the loader that takes ten times as long."""
    return dict(expected="trainer", trainer=with_step("time.sleep(0.01)", between='time.sleep(P["evaluation"])'),
                parameters=drawn(rng, evaluation=(1, 1.6)) | {"batch": 2000})


@scenario
def step_waits_for_slow_rank(rng):
    """Each step ends when another process has answered, as in an all-reduce with a slow rank: the step waits and the loader is ahead."""
    setup = """
other = subprocess.Popen([sys.executable, "-c", "import sys, time\\nfor line in sys.stdin.buffer: time.sleep(float(line)); print(flush=True)"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)"""
    body = 'other.stdin.write(b"%f\\n" % P["other"]); other.stdin.flush(); other.stdout.readline()'
    return dict(expected="trainer", trainer=with_step(body, setup), parameters=drawn(rng, other=(0.08, 0.2)))


@scenario
def step_on_tiny_batches(rng):
    """Batches of one row, and a step that sleeps at least ten times as long as it takes to gather one."""
    return dict(expected="trainer", trainer=with_step('time.sleep(P["step"])'), parameters=drawn(rng, step=(0.01, 0.03)) | {"batch": 1})


@scenario
def step_with_prefetch_of_one(rng):
    """One batch ahead is enough for a step that takes far longer than a batch to gather."""
    return dict(expected="trainer", trainer=with_step('time.sleep(P["step"])'), parameters=drawn(rng, step=(0.1, 0.2)) | {"prefetch": 1})


@scenario
def step_behind_function_in_many_threads(rng):
    """A call of the function takes longer than a step, but six threads share the calls: their batches are ready and the step is slower."""
    return dict(expected="trainer", trainer=with_function('time.sleep(P["function"])'),
                parameters=drawn(rng, function=(0.12, 0.16), step=(0.08, 0.11)) | {"threads": 6, "prefetch": 12})


@scenario
def step_amid_noise(rng):
    """The step sleeps; other processes use processors and memory, and the gather of 64 short rows is still much shorter."""
    return dict(expected="trainer", trainer=with_step('time.sleep(P["step"])'), place=("noise",), parameters=drawn(rng, step=(0.15, 0.3)))


@scenario
def step_70_function_30(rng):
    """With threads=0 nothing overlaps, and the step takes 7/3 of the time of the function."""
    body = function_70_step_30(random.Random(0))["trainer"].replace("3 / 7", "7 / 3")
    return dict(expected="trainer", trainer=body, parameters=drawn(rng, function=(0.03, 0.08)))


@scenario
def step_in_java(rng):
    """The step of a Java trainer sleeps 80 ms and more, and its function does nothing."""
    return dict(expected="trainer", trainer=None, parameters={"arguments": [0, rng.randrange(80, 200), 0]})


FEED = """
    with larder.feed(P["dataset"], P["arrays"], batch_size=P["batch"], shuffle=P["shuffle"], epochs=None, transform=P.get("transform"), copy=False,
                     consumers=P.get("consumers", 1), name=P.get("name")) as batches:
        train(batches, lambda batch: time.sleep(P.get("step", 0)))
"""
OTHER_CONSUMER = """
    with larder.batches(P["name"], copy=False) as batches:
        train(batches, lambda batch: time.sleep(P["other"]))
"""


def feed(dataset, arrays, batch, **more):
    return {"dataset": dataset, "arrays": arrays, "batch": batch, **more}


@scenario
def feed_with_slow_step(rng):
    """A feed of short rows without a transform, and a step that sleeps: all slots of the feed are full."""
    return dict(expected="trainer", trainer=FEED, settle=3, parameters=drawn(rng, step=(0.06, 0.2)) | feed("small", ["x", "y"], 64))


@scenario
def feed_with_one_slow_consumer(rng):
    """Two consumers share a feed that blocks: one has no step, the other sleeps in each, and the feed waits for that one."""
    return dict(expected="trainer", trainer=FEED, beside=OTHER_CONSUMER, settle=3,
                parameters=drawn(rng, other=(0.08, 0.2)) | feed("small", ["x", "y"], 64, consumers=2, name="two-consumers"))


@scenario
def feed_with_stopped_consumer(rng):
    """The second consumer of a feed is stopped by SIGSTOP after a second, and the feed waits for it with all slots full."""
    stops = OTHER_CONSUMER.replace('time.sleep(P["other"])', 'seconds() > P["stop"] and os.kill(os.getpid(), 19)')
    return dict(expected="trainer", trainer=FEED, beside=stops, settle=4, within=8,
                parameters=drawn(rng, step=(0.01, 0.02), stop=(1, 1.5)) | feed("small", ["x", "y"], 64, consumers=2, name="stopped"))


# ---- gather ----------------------------------------------------------------------------------------------------------------------------

GATHER = """
    train(larder.Loader(P["dataset"], batch_size=P["batch"], shuffle=P["shuffle"], threads=1))
"""


@scenario
def huge_rows(rng):
    """Rows of 3 MB without a function or a step: the loop waits for copies of tens of megabytes."""
    return dict(expected="gather", trainer=GATHER, data="huge", first=True,
                parameters=drawn(rng) | {"dataset": "huge", "batch": rng.randrange(8, 24)})


@scenario
def random_short_rows(rng):
    """Batches of tens of thousands of rows of 8 bytes of thirty arrays in random order, without a function or a step: only gathers take time."""
    return dict(expected="gather", trainer=GATHER, data="numbers", first=True,
                parameters=drawn(rng) | {"dataset": "numbers", "batch": rng.randrange(10_000, 40_000)})


@scenario
def many_arrays(rng):
    """Batches of forty arrays, 2,000 rows of each, without a function or a step: only gathering is left to wait for."""
    return dict(expected="gather", trainer=GATHER, data="many", first=True,
                parameters=drawn(rng) | {"dataset": "many", "batch": rng.randrange(1500, 3000)})


@scenario
def gather_70_step_30(rng):
    """With threads=0 nothing overlaps: gathering rows of 3 MB, and a sleep of 3/7 of that time."""
    body = 'train_in_proportion(larder.Loader("huge", batch_size=P["batch"], shuffle=P["shuffle"], threads=0), 3 / 7)'
    return dict(expected="gather", trainer=body, data="huge", first=True, parameters=drawn(rng) | {"batch": rng.randrange(8, 24)})


@scenario
def feed_of_huge_rows(rng):
    """A feed copies rows of 3 MB into its slots, and its consumer looks at none of them: views, and no step."""
    return dict(expected="gather", trainer=FEED, data="huge", first=True, settle=3,
                parameters=drawn(rng) | feed("huge", ["x"], rng.randrange(4, 9)))


@scenario
def batches_of_one_row(rng):
    """Batches of one short row without a function or a step: only the loader's own work for each batch takes time."""
    return dict(expected="gather", trainer=GATHER, first=True, parameters=drawn(rng) | {"dataset": "small", "batch": 1})


# ---- no processor ----------------------------------------------------------------------------------------------------------------------

@scenario
def quota_of_processor(rng):
    """The trainer gathers without pause, and its control group gives it a tenth of a processor: for 90 % of the time it may not run."""
    return dict(expected="processor", trainer=GATHER, data="huge", place=("quota",), within=7,
                parameters=drawn(rng, processors=(0.08, 0.15)) | {"dataset": "huge", "batch": 8})


@scenario
def processor_shared_with_hogs(rng):
    """The trainer gathers without pause on one processor that six busy processes have for 19 of each 20 moments."""
    return dict(expected="processor", trainer=GATHER, data="huge", place=("hogs",), within=7,
                parameters=drawn(rng) | {"dataset": "huge", "batch": rng.randrange(4, 8)})


@scenario
def step_under_quota(rng):
    """A step that computes is alone with a quota of half a processor, and the loader needs next to nothing: only the step is slow."""
    return dict(expected="trainer", trainer=with_step('spin(P["step"])'), place=("quota",),
                parameters=drawn(rng, step=(0.04, 0.08), processors=(0.4, 0.6)))


# ---- decode and transform --------------------------------------------------------------------------------------------------------------

@scenario
def feed_decodes_jpegs(rng):
    """Large JPEGs are decoded, and only 8 by 8 pixels in their middle are used: nothing but decoding is work."""
    return dict(expected="decode", trainer=FEED, data="jpegs", first=True, settle=3,
                parameters=drawn(rng) | feed("jpegs", ["image"], rng.randrange(4, 9), transform={"image": "decode,centerCrop(8,8)"}))


@scenario
def feed_decodes_pngs(rng):
    """Large PNGs are inflated, and only 8 by 8 pixels in their middle are used: nothing but decoding is work."""
    return dict(expected="decode", trainer=FEED, data="pngs", first=True, settle=3,
                parameters=drawn(rng) | feed("pngs", ["image"], rng.randrange(4, 9), transform={"image": "decode,centerCrop(8,8)"}))


@scenario
def feed_decodes_amid_noise(rng):
    """Large JPEGs are decoded for an idle consumer; other busy processes have less right to a processor."""
    return dict(expected="decode", trainer=FEED, data="jpegs", first=True, settle=3, place=("noise",),
                parameters=drawn(rng) | feed("jpegs", ["image"], rng.randrange(4, 9), transform={"image": "decode,centerCrop(8,8)"}))


@scenario
def feed_transforms(rng):
    """Each row goes through a long chain of steps over floats, and each step costs more than the copy of its bytes."""
    steps = "toFloat," + ",".join(["scale(2,1)", "scale(0.5,0)", "normalize(0.5,0.3)"] * rng.randrange(6, 10))
    return dict(expected="transform", trainer=FEED, first=True, settle=3,
                parameters=drawn(rng) | feed("small", ["x"], rng.randrange(2000, 4000), transform={"x": steps}))


@scenario
def feed_enlarges_images(rng):
    """PNGs of 16 by 16 pixels become 600 by 600 and their colours change: decoding a few hundred pixels is nothing beside that."""
    steps = "decode,resize(600,600),colourJitter(0.4,0.4,0.4,0.1)"
    return dict(expected="transform", trainer=FEED, data="icons", first=True, settle=3,
                parameters=drawn(rng) | feed("icons", ["image"], rng.randrange(4, 9), transform={"image": steps}))


@scenario
def feed_stopped_now_and_then(rng):
    """The feed decodes, and SIGSTOP keeps it from running three quarters of the time: it has no processor, and by the clock it decodes."""
    return dict(expected=["processor", "decode"], trainer=FEED, data="jpegs", first=True, settle=3, place=("stops_of_feed",),
                parameters=drawn(rng) | feed("jpegs", ["image"], 4, transform={"image": "decode,centerCrop(8,8)"}))


# ---- disk ------------------------------------------------------------------------------------------------------------------------------

COLD = """
    train(larder.Loader("cold", ["x"], batch_size=P["batch"], shuffle=P["shuffle"], threads=1), lambda batch: time.sleep(P.get("step", 0)))
"""


@scenario
def slow_disk(rng):
    """Rows are mapped in place from a disk that gives the trainer a few megabytes a second, and none of them is in memory."""
    return dict(expected="disk", trainer=COLD, data="cold", place=("throttled",),
                parameters=drawn(rng, megabytes=(2, 4), step=(0, 0.005)) | {"batch": rng.randrange(16, 32)})


@scenario
def slow_loop_device(rng):
    """Rows are mapped in place from a file system on a loop device with a limit of reads a second, and none of them is in memory."""
    return dict(expected="disk", trainer=COLD, data="cold_loop", place=("throttled",),
                parameters=drawn(rng, operations=(30, 60)) | {"batch": rng.randrange(16, 32)})


@scenario
def slow_network_files(rng):
    """Rows are mapped in place from a file system of another process, as from a network, that delays each read."""
    return dict(expected="disk", trainer=COLD, data="cold_fuse", place=("delayed",),
                parameters=drawn(rng, delay=(0.004, 0.008)) | {"batch": rng.randrange(4, 12)})


@scenario
def disk_and_little_memory(rng):
    """The trainer's control group has less memory than the data, so pages that it has read leave it, and the disk is slow."""
    return dict(expected="disk", trainer=COLD, data="cold", place=("throttled", "little_memory"),
                settle=5, within=8, parameters=drawn(rng, megabytes=(10, 14)) | {"batch": 16})


@scenario
def disk_amid_noise(rng):
    """The disk gives the trainer three megabytes a second, while other processes use processors and memory, which it hardly needs."""
    return dict(expected="disk", trainer=COLD, data="cold", place=("throttled", "noise"), parameters=drawn(rng, megabytes=(2, 3)) | {"batch": 16})


@scenario
def disk_70_step_30(rng):
    """With threads=0 nothing overlaps: the loop waits for reads of a slow disk, and sleeps 3/7 of that time."""
    body = 'train_in_proportion(larder.Loader("cold", ["x"], batch_size=P["batch"], shuffle=P["shuffle"], threads=0), 3 / 7)'
    return dict(expected="disk", trainer=body, data="cold", place=("throttled",),
                parameters=drawn(rng, megabytes=(2, 4)) | {"batch": rng.randrange(4, 12)})


@scenario
def feed_from_slow_files(rng):
    """A feed maps rows in place from a file system that delays each read, transforms nothing, and its consumer is idle."""
    return dict(expected="disk", trainer=FEED, data="cold_fuse", place=("delayed",), settle=3,
                parameters=drawn(rng, delay=(0.004, 0.008)) | feed("cold", ["x"], rng.randrange(4, 12)))


# ---- starting --------------------------------------------------------------------------------------------------------------------------

@scenario
def order_of_very_many_rows(rng):
    """The first batch of 100,000,000 shuffled rows comes only when their order is made, after seconds."""
    return dict(expected="starting", trainer=GATHER, data="very_many", after="begin", settle=0.5,
                parameters=drawn(rng) | {"dataset": "very_many", "batch": rng.randrange(100, 1000)})


@scenario
def epochs_of_two_batches(rng):
    """Epochs of two tiny batches, without a function or a step: nearly all of the time is the start of epochs."""
    return dict(expected="starting", trainer=GATHER, data="tiny", first=True, parameters=drawn(rng) | {"dataset": "tiny", "batch": 512})


@scenario
def feed_waits_for_second_consumer(rng):
    """A feed for two consumers has batches, but the second consumer never comes: it has not started, and it is the trainers that are missing."""
    return dict(expected=["starting", "trainer"], trainer=FEED, after="begin", settle=4, within=9,
                parameters=drawn(rng) | feed("small", ["x", "y"], 64, consumers=2, name="alone"))


@scenario
def first_call_of_function_is_slow(rng):
    """The first call of the function takes 20 seconds, as one that reads a model: user code, before the first batch."""
    body = 'calls.append(1); time.sleep(20 if len(calls) == 1 else 0.001)'
    return dict(expected=["userCode", "starting"], trainer=with_function(body, "calls = []"), after="begin", settle=2.5,
                parameters=drawn(rng) | {"threads": 1})


# ---- a change --------------------------------------------------------------------------------------------------------------------------

CHANGE = """
    started, changed = threading.Event(), threading.Event()
    def change():
        started.wait()
        time.sleep(P["change"])
        {0}
        changed.set()
        announce("changed")
    threading.Thread(target=change, daemon=True).start()
    def function(batch):
        started.set()
        time.sleep(P["function_after"] if changed.is_set() else P["function_before"])
        return batch
    def step(batch):
        time.sleep(P["step_after"] if changed.is_set() else P["step_before"])
    train(larder.Loader(P["dataset"], ["x"], batch_size=P["batch"], shuffle=P["shuffle"], threads=1, transform=function), step)
"""


def change(rng, before, after, dataset="small", batch=64, **more):
    return drawn(rng, change=(3, 4), **more) | {"dataset": dataset, "batch": batch, "function_before": before[0], "step_before": before[1],
                                               "function_after": after[0], "step_after": after[1]}


@scenario
def from_slow_function_to_slow_step(rng):
    """Three seconds of a slow function, then a slow step; five seconds later only the step is slow."""
    return dict(expected="trainer", trainer=CHANGE.replace("{0}", "pass"), after="changed",
                parameters=change(rng, (rng.uniform(0.08, 0.2), 0.002), (0, rng.uniform(0.08, 0.2))))


@scenario
def from_slow_step_to_slow_function(rng):
    """Three seconds of a slow step, then a slow function; five seconds later only the function is slow."""
    return dict(expected="userCode", trainer=CHANGE.replace("{0}", "pass"), after="changed",
                parameters=change(rng, (0, rng.uniform(0.08, 0.2)), (rng.uniform(0.08, 0.2), 0.002)))


@scenario
def from_slow_files_to_slow_step(rng):
    """Three seconds of delayed reads; then reads are fast and the step is slow."""
    return dict(expected="trainer", trainer=CHANGE.replace("{0}", 'open(P["delay_file"], "w").write("0")'), data="cold_fuse", place=("delayed",),
                after="changed", parameters=change(rng, (0, 0), (0, rng.uniform(0.1, 0.2)), "cold", 4, delay=(0.004, 0.008)))


@scenario
def from_slow_step_to_slow_files(rng):
    """Three seconds of a slow step over fast files; then each read is delayed and the step does nothing."""
    body = CHANGE.replace("{0}", 'open(P["delay_file"], "w").write(str(P["later"]))')
    return dict(expected="disk", trainer=body, data="cold_fuse", place=("delayed",), after="changed",
                parameters=change(rng, (0, rng.uniform(0.1, 0.2)), (0, 0), "cold", 4, later=(0.01, 0.02)) | {"delay": 0})


@scenario
def from_slow_step_to_slow_function_in_java(rng):
    """A Java trainer sleeps in its step for four seconds, and then in its function."""
    return dict(expected="userCode", trainer=None, after="changed", parameters={"arguments": [0, rng.randrange(160, 320), 6]})


# ---- data, and the machine around a trainer --------------------------------------------------------------------------------------------

def png(pixels):
    def chunk(kind, body):
        return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], 1).tobytes()
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def jpeg(pixels):
    turbo = ctypes.CDLL("libturbojpeg.so.0")
    turbo.tjInitCompress.restype = ctypes.c_void_p
    handle, out, size = ctypes.c_void_p(turbo.tjInitCompress()), ctypes.c_void_p(), ctypes.c_ulong()
    height, width, _ = pixels.shape
    if turbo.tjCompress2(handle, pixels.ctypes.data_as(ctypes.c_void_p), width, 0, height, 0, ctypes.byref(out), ctypes.byref(size), 0, 95, 0):
        raise OSError("cannot compress a JPEG")
    encoded = ctypes.string_at(out, size.value)
    turbo.tjFree(out)
    turbo.tjDestroy(handle)
    return encoded


def photos(folder, count, side, encode, suffix):
    os.makedirs(folder + "/class")
    rng = np.random.default_rng(7)
    first = encode(np.ascontiguousarray(rng.integers(0, 255, (side, side, 3), dtype=np.uint8)))
    for number in range(count):
        with open(f"{folder}/class/{number}.{suffix}", "wb") as file:
            file.write(first)


def arrays(folder, **named):
    os.makedirs(folder)
    for name, values in named.items():
        np.save(f"{folder}/{name}.npy", values)


def make_cold(folder):
    arrays(folder, x=np.random.default_rng(7).integers(0, 255, (6000, 16384), dtype=np.uint8))


DATA = {
    "small": lambda folder: arrays(folder, x=np.random.default_rng(7).integers(0, 255, (20_000, 784), dtype=np.uint8), y=np.arange(20_000)),
    "tiny": lambda folder: arrays(folder, x=np.zeros((600, 8), np.uint8)),
    "huge": lambda folder: arrays(folder, x=np.full((64, 3 << 20), 3, np.uint8)),
    "numbers": lambda folder: arrays(folder, **{f"x{i}": np.arange(500_000, dtype=np.float64) for i in range(30)}),
    "many": lambda folder: arrays(folder, **{f"x{i}": np.full((50_000, 64), i, np.uint8) for i in range(40)}),
    "very_many": lambda folder: arrays(folder, x=np.zeros(100_000_000, np.uint8)),
    "jpegs": lambda folder: photos(folder, 40, 1600, jpeg, "jpg"),
    "pngs": lambda folder: photos(folder, 16, 1000, png, "png"),
    "icons": lambda folder: photos(folder, 400, 16, png, "png"),
    "cold": make_cold,
    "cold_loop": make_cold,
    "cold_fuse": make_cold,
}


def session(pid):
    try:
        return os.getsid(pid)
    except OSError:
        return None


class Setting:
    """A daemon with a store of its own, and everything that a scenario needs around its trainer; leaves nothing behind."""

    def __init__(self, store, python=sys.executable):
        self.store, self.python = store, python
        self.folder = tempfile.mkdtemp(prefix="larder-strangers-", dir="/var/tmp")
        self.mark = os.path.basename(self.folder)
        self.started = []
        self.environment = dict(os.environ, LARDER_STORE=store, LARDER_START="never", LARDER_CLASS_ARCHIVE="never", LARDER_COMMAND=LARDER,
                                PYTHONPATH=TREE + "/ops/python", **{MARK: self.mark})

    def __enter__(self):
        with open(self.folder + "/serve.log", "w") as log:
            self.daemon = subprocess.Popen([LARDER, "serve", "--store", self.store], stdout=log, stderr=log, env=self.environment,
                                           cwd=TREE, start_new_session=True)
        try:
            self.larder("wait-for-daemon")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure):
        self.daemon.send_signal(signal.SIGTERM)
        try:
            self.daemon.wait(60)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        self.end_trainers()
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.rmtree(self.folder)

    def larder(self, *command):
        if command == ("wait-for-daemon",):
            end = time.monotonic() + 60
            while "Done" not in open(self.folder + "/serve.log").read():
                if self.daemon.poll() is not None or time.monotonic() > end:
                    raise AssertionError("no daemon: " + open(self.folder + "/serve.log").read())
                time.sleep(0.1)
            return
        subprocess.run([self.python, "-m", "larder", *command], env=self.environment, cwd=TREE, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    @contextlib.contextmanager
    def run(self, scenario):
        """Starts the trainer of a scenario, yields a `Running`, and ends and removes all of it."""
        parameters = dict(scenario.parameters)
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.data(scenario.data, parameters))
            wrap = []
            for place in scenario.place:
                wrap += stack.enter_context(getattr(self, place)(parameters)) or []
            if scenario.first:
                wrap += stack.enter_context(self.group("cpu", shares=100_000))
            stack.callback(self.end_trainers)
            process, running = self.start(scenario, scenario.trainer, parameters, wrap, {})
            if scenario.beside:
                running.wait("begin")
                self.start(scenario, scenario.beside, parameters, wrap, {})
            yield running

    def start(self, scenario, body, parameters, wrap, words):
        if body is None:
            arguments = [str(argument) for argument in scenario.parameters["arguments"]]
            command = [*self.java(), "-XX:TieredStopAtLevel=1", HERE + "/StrangerTrainer.java", self.store, str(SECONDS), *arguments]
        else:
            script = tempfile.mkstemp(suffix=".py", dir=self.folder)[1]
            with open(script, "w") as file:
                file.write(PRELUDE + textwrap.dedent(body))
            command = [self.python, script, json.dumps(parameters)]
        process = subprocess.Popen([*wrap, *command], stdout=subprocess.PIPE, text=True, env=self.environment, cwd=TREE, start_new_session=True)
        self.started.append(process)

        def listen():
            for line in process.stdout:
                words.setdefault(line.strip(), time.monotonic())
        threading.Thread(target=listen, daemon=True).start()
        return process, Running(process.pid, scenario, words, process)

    def java(self):
        """The start of a command line: the JVM of the daemon and its class path, which also has the loader's classes."""
        with open(f"/proc/{self.daemon.pid}/cmdline") as line:
            words = line.read().split("\0")
        return words[0], "-cp", words[words.index("-cp") + 1]

    def end_trainers(self):
        """Ends the processes of this setting but the daemon, by their ids; the mark in their environment shows which they are."""
        end = time.monotonic() + 30
        while time.monotonic() < end and (left := [pid for pid in self.marked() if session(pid) != self.daemon.pid]):
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        while self.started:
            self.started.pop().wait(30)

    def marked(self):
        mine = f"{MARK}={self.mark}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if mine in file.read().split(b"\0"):
                        yield int(pid)

    # ---- data

    @contextlib.contextmanager
    def data(self, kind, parameters):
        name = "cold" if kind.startswith("cold") else kind
        source = f"{self.folder}/{kind}"
        DATA[kind](source)
        options = ["--as", "images"] if kind in ("jpegs", "pngs", "icons") else ["--in-place"] if name == "cold" else []
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, source, ignore_errors=True)
            path = source
            if kind == "cold_loop":
                path = stack.enter_context(self.loop_device(source))
            if kind == "cold_fuse":
                path = stack.enter_context(self.slow_files(source, parameters))
            parameters["path"] = path
            self.larder("load", f"{name}={path}", *options)
            stack.callback(self.larder, "evict", name, "--forget")
            if name == "cold":
                forget_pages(path + "/x.npy")
            yield

    @contextlib.contextmanager
    def loop_device(self, source):
        image, mount = self.folder + "/image", self.folder + "/mounted"
        os.makedirs(mount)
        with contextlib.ExitStack() as stack:
            with open(image, "wb") as file:
                file.truncate(160 << 20)
            stack.callback(os.remove, image)
            subprocess.run(["mkfs.ext4", "-q", image], check=True)
            subprocess.run(["mount", "-o", "loop", image, mount], check=True)
            stack.callback(os.rmdir, mount)
            stack.callback(subprocess.run, ["umount", "-l", mount], check=True)
            shutil.copy(source + "/x.npy", mount)
            os.rmdir(mount + "/lost+found")
            yield mount

    @contextlib.contextmanager
    def slow_files(self, source, parameters):
        mount, delay_file = self.folder + "/slow", self.folder + "/delay"
        os.makedirs(mount)
        with open(delay_file, "w") as file:
            file.write("0")
        process = subprocess.Popen([self.python, HERE + "/slow_files.py", source, mount, delay_file], env=os.environ, start_new_session=True)
        try:
            end = time.monotonic() + 30
            while not os.path.ismount(mount):
                if process.poll() is not None or time.monotonic() > end:
                    raise AssertionError("the slow file system was not mounted")
                time.sleep(0.05)
            parameters["delay_file"] = delay_file
            yield mount
        finally:
            with open(delay_file, "w") as file:
                file.write("0")
            subprocess.run(["umount", "-l", mount], check=False)
            process.kill()
            process.wait()
            os.rmdir(mount)

    # ---- contexts around a trainer; each may yield words to put before its command

    @contextlib.contextmanager
    def delayed(self, parameters):
        with open(parameters["delay_file"], "w") as file:
            file.write(str(parameters["delay"]))
        yield

    @contextlib.contextmanager
    def slow_file(self, parameters):
        """A slow file of the trainer's own."""
        source = self.folder + "/own"
        os.makedirs(source)
        with open(source + "/log", "wb") as file:
            file.truncate(128 << 20)
        with self.slow_files(source, parameters) as mount, self.delayed(parameters):
            parameters["slow_file"] = mount + "/log"
            yield
        shutil.rmtree(source)

    @contextlib.contextmanager
    def group(self, controller, suffix="", **settings):
        path = f"/sys/fs/cgroup/{controller}/{self.mark}{suffix}"
        os.mkdir(path)
        try:
            for name, value in settings.items():
                with open(f"{path}/{controller}.{name.replace('__', '.')}", "w") as file:
                    file.write(str(value))
            yield ["sh", "-c", f"echo $$ > {path}/cgroup.procs; exec \"$@\"", "sh"]
        finally:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
                if not os.path.exists(path):
                    break
                time.sleep(0.05)

    @contextlib.contextmanager
    def quota(self, parameters):
        with self.group("cpu", cfs_period_us=100_000, cfs_quota_us=int(parameters["processors"] * 100_000)) as wrap:
            yield wrap

    @contextlib.contextmanager
    def throttled(self, parameters):
        device = os.stat(parameters["path"]).st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        limit = ({"throttle__read_iops_device": f"{number} {int(parameters['operations'])}"} if "operations" in parameters
                 else {"throttle__read_bps_device": f"{number} {int(parameters['megabytes'] * 1e6)}"})
        with self.group("blkio", **limit) as wrap:
            yield wrap

    @contextlib.contextmanager
    def little_memory(self, parameters):
        with self.group("memory", limit_in_bytes=48 << 20) as wrap:
            yield wrap

    @contextlib.contextmanager
    def busy(self, count, *prefix, body="while True: sum(range(1000))"):
        started = [subprocess.Popen([*prefix, self.python, "-c", body], start_new_session=True) for _ in range(count)]
        try:
            yield
        finally:
            for process in started:
                process.kill()
                process.wait()

    @contextlib.contextmanager
    def noise(self, parameters):
        copies = "import numpy as np\na = np.ones(4_000_000)\nwhile True: a.copy()"
        with self.busy(2, "nice", "-n", "15"), self.busy(1, "nice", "-n", "15", body=copies):
            yield

    @contextlib.contextmanager
    def hogs(self, parameters):
        processor = str(min(os.sched_getaffinity(0)))
        with self.group("cpu", shares=20 * 1024) as wrap, self.busy(6, *wrap, "taskset", "-c", processor):
            yield ["taskset", "-c", processor]

    @contextlib.contextmanager
    def stops_of_feed(self, parameters):
        """Stops the process of the feed for 300 of each 400 ms, once it has begun."""
        over = threading.Event()
        thread = threading.Thread(target=self.stop_feed, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def stop_feed(self, over):
        pid = None
        while pid is None and not over.wait(1):
            for each in self.marked():
                with contextlib.suppress(OSError), open(f"/proc/{each}/cmdline", "rb") as command:
                    words = command.read().split(b"\0")
                    if words[0].endswith(b"java") and b"feed" in words:
                        pid = each
        over.wait(4)                          # it has started, and has published batches
        with contextlib.suppress(OSError):
            while not over.is_set():
                os.kill(pid, signal.SIGSTOP)
                over.wait(0.3)
                os.kill(pid, signal.SIGCONT)
                over.wait(0.1)


def forget_pages(path):
    """Drops a file from the page cache; pages that a process has touched in a mapping stay."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)
