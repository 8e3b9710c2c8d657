#!/usr/bin/env python3
"""scatter.py [--rounds N] PRONY: how far repetitions of a benchmark differ, ours and the peers', in one table.

Every round runs all of them once, in an order drawn anew: ours as one run of a few results, lmbench, perf bench and
stress-ng for about as long each, pinned to the last CPU. Printed are the median over the rounds, the coefficient of
variation, and the range from the least to the most in per cent of the median. What is not installed is left out, and
said. Fixed seed: the order is the same each time.
"""
import argparse
import glob
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile

LAST = str(max(os.sched_getaffinity(0)))
LMBENCH = (glob.glob("/usr/lib/lmbench/bin/*/") or [""])[0]

# Results, each with what it is compared with.
OURS = {
    "os.syscall_getppid": "getppid",
    "ipc.pipe_latency:placement=same_cpu": "pipe",
    "os.pipe_switch:placement=same_cpu": "pipe loop",
    "os.context_switch:processes=2,placement=same_cpu": "switch",
    "cpu.arithmetic:type=int": "integers",
    "memory.read:working_set=256MiB,threads=1,width=integer": "read, 256 MiB",
}

# Name, subject, command, where the number stands.
PEERS = [
    ("lmbench lat_syscall null", "getppid", [LMBENCH + "lat_syscall", "-N", "5", "null"], r"([0-9.]+) micro"),
    ("perf bench syscall basic", "getppid", ["perf", "bench", "--format=simple", "syscall", "basic"], r"([0-9.]+)\s*$"),
    ("lmbench lat_pipe", "pipe", [LMBENCH + "lat_pipe", "-N", "5"], r"([0-9.]+) micro"),
    ("stress-ng --pipe", "pipe", ["stress-ng", "--pipe", "1", "-t", "2", "--metrics-brief"], r"pipe +\d+ +\S+ +\S+ +\S+ +([0-9.]+)"),
    ("perf bench sched pipe", "pipe loop", ["perf", "bench", "--format=simple", "sched", "pipe", "-l", "200000"], r"([0-9.]+)\s*$"),
    ("lmbench lat_ctx 2", "switch", [LMBENCH + "lat_ctx", "-N", "5", "-s", "0", "2"], r"\n2 ([0-9.]+)"),
    ("stress-ng --switch", "switch", ["stress-ng", "--switch", "1", "-t", "2", "--metrics-brief"], r"switch +\d+ +\S+ +\S+ +\S+ +([0-9.]+)"),
    ("stress-ng --cpu int32", "integers", ["stress-ng", "--cpu", "1", "--cpu-method", "int32", "-t", "2", "--metrics-brief"], r"cpu +\d+ +\S+ +\S+ +\S+ +([0-9.]+)"),
    ("lmbench bw_mem 256m frd", "read, 256 MiB", [LMBENCH + "bw_mem", "-N", "5", "256m", "frd"], r"[0-9.]+ ([0-9.]+)"),
]


def ours(prony):
    """Values of one run, by result."""
    with tempfile.TemporaryDirectory() as work:
        file = os.path.join(work, "run.json")
        benchmarks = [word for result in OURS for word in ("--benchmark", result)]
        subprocess.run([prony, "run", *benchmarks, "--time-limit", "15s", "--quiet", "--no-store", "--output", file],
                       check=True, capture_output=True)
        results = json.load(open(file))["results"]
    found = {}
    for wanted in OURS:
        result, = [one for one in results if one["benchmark"] == wanted.split(":")[0]]
        launches = [launch["value"] for launch in result["samples"] if not launch.get("invalid")]
        # Values in modes have no single one: their median then, as a peer would print it.
        found["prony " + wanted] = result["outcome"].get("measured", {}).get("value") or statistics.median(launches)
        seen = [launch.get("clean") or {} for launch in result["samples"] if not launch.get("invalid")]
        cycles = [one["cycles"] for one in seen if one.get("cycles")]
        if len(cycles) == len(launches):
            found["prony " + wanted + ", in cycles"] = statistics.median(cycles)
    return found


def peer(command, place):
    # What lmbench's own scripts find out once and hand to its programs: its harness repeats for at least 0.1 s.
    known = {**os.environ, "ENOUGH": "100000", "TIMING_O": "0", "LOOP_O": "0"}
    done = subprocess.run(["taskset", "-c", LAST, *command], capture_output=True, text=True, timeout=120, env=known)
    return float(re.search(place, done.stdout + "\n" + done.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prony")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    prony = os.path.abspath(options.prony)
    peers = [one for one in PEERS if shutil.which(one[2][0])]
    for name in sorted({one[0].split()[0] for one in PEERS} - {one[0].split()[0] for one in peers}):
        print(f"not here: {name}")
    rows, subjects = {}, {"prony " + result: subject for result, subject in OURS.items()}
    for turn in range(options.rounds):
        order = [None, *peers]
        random.Random(turn).shuffle(order)
        for one in order:
            found = ours(prony) if one is None else {one[0]: peer(one[2], one[3])}
            for name, value in found.items():
                rows.setdefault(name, []).append(value)
    subjects.update({name + ", in cycles": subject for name, subject in list(subjects.items())})
    subjects.update({one[0]: one[1] for one in peers})
    print(f"{options.rounds} rounds, load at the end {os.getloadavg()[0]:.1f}\n")
    print("| subject | benchmark | median | variation | range |\n|---|---|---|---|---|")
    for name, values in sorted(rows.items(), key=lambda row: (list(OURS.values()).index(subjects[row[0]]), row[0])):
        middle = statistics.median(values)
        variation = statistics.stdev(values) / statistics.mean(values) if len(values) > 1 else float("nan")
        print(f"| {subjects[name]} | {name} | {middle:.4g} | {variation:.2%} | {(max(values) - min(values)) / middle:.1%} |")


main()
