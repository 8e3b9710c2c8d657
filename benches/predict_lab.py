#!/usr/bin/env python3
"""Predictions of event building beside the laboratory: from 2, 3 and 4 senders for 8, and for 16 where the load is not limited.

    cargo build --release && benches/predict_lab.py target/release/prony [--setups 40] [--first 0] [--limit SECONDS]

Each set-up draws a link, a fragment, a buffer, a delay, a flow and a load. Prony measures it with few senders, predicts, and
measures it with many. Prints one line a prediction, and how many of the intervals of 90% hold. Needs the right to make network
namespaces; SECONDS ends it before the next set-up. A limit of the CPUs is none of the laboratory, so links are slow."""

import argparse, json, os, random, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("prony", type=os.path.realpath)
parser.add_argument("--setups", type=int, default=40)
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--limit", type=float, default=3600)
options = parser.parse_args()
work = tempfile.mkdtemp()
os.environ["PRONY_STORE"] = os.path.join(work, "runs.sqlite")


def prony(*words):
    done = subprocess.run([options.prony, "net", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def setup(number):
    """The words that build it, and the numbers of senders to predict."""
    draw = random.Random(number)
    link = draw.choice([20, 50, 100])
    fragment_time = draw.choice([1e-4, 2e-4, 4e-4])
    words = ["--lab", "--receivers", "1", "--link", f"{link}mbit", "--fragment", str(int(link / 8e-6 * fragment_time)),
             "--buffer", draw.choice(["30000", "160000", "1000000"]), "--delay", draw.choice(["0ms", "0ms", "0.2ms", "1ms"])]
    words += draw.choice([["--pattern", "pull", "--credits", draw.choice(["2", "4", "8"])], ["--pattern", "burst"],
                          ["--pattern", "burst", "--window", draw.choice(["8KiB", "16KiB"])]])
    load = draw.choice(["unpaced", "unpaced", "regular", "poisson"])
    # How long credits make random events wait is not known: that is refused.
    load = "regular" if load == "poisson" and "pull" in words else load
    if load != "unpaced":
        words += ["--rate", str(int(draw.choice([0.3, 0.5, 0.7]) / 8 / fragment_time))]
    words += ["--random", "poisson"] if load == "poisson" else []
    return words, [8] if load != "unpaced" else [8, 16]


def measure(words, senders):
    code, out, err = prony("build", *words, "--senders", ",".join(map(str, senders)), "--events", "120", "--max-samples", "8",
                           "--max-skew", "20ms", "--format", "json", "-q")
    if not out:
        sys.exit(f"{' '.join(words)}: {err}")
    return json.loads(out)


def rows(document):
    """Title, senders, and value with its ends, or why there is none, of each row that was not measured."""
    for section in document["sections"]:
        for row in section["blocks"][0]["table"]["groups"][0]["rows"]:
            first, second, *rest = (next(iter(cell.items())) for cell in row["cells"])
            if second[0] == "across":
                yield section["title"], first[1], second[1][0], None
            elif rest[1][1][0] != "measured":
                yield section["title"], first[1], rest[1][1][0], second[1]


def seen(run, title, senders):
    """What was measured with many senders: the rate, or the time at the quantile of the title."""
    quantile = title.split("quantile ")[1].split(":")[0] if "quantile" in title else None
    name = "network.event_latency" if quantile else "network.events"
    for result in run["results"]:
        parameters = result["parameters"]
        if result["benchmark"] == name and parameters["senders"] == str(senders) and parameters.get("quantile") == quantile:
            return result["outcome"].get("measured")


began, held, tried, refused, absent = time.monotonic(), 0, 0, 0, 0
for number in range(options.first, options.first + options.setups):
    if time.monotonic() - began > options.limit:
        print(f"ended before set-up {number}")
        break
    words, many = setup(number)
    measure(words, [2, 3, 4])
    code, out, err = prony("predict", "latest", "--senders", ",".join(map(str, many)), "--format", "json",
                           "--buffer", words[words.index("--buffer") + 1])
    if code:
        print(f"{number:3} not predicted: {err.strip()}; {' '.join(words)}")
        continue
    predictions = list(rows(json.loads(out)))
    run = measure(words, many)
    for title, senders, what, quantity in predictions:
        true = seen(run, title, senders)
        short = "rate" if title.startswith("Events") else title.split(":")[0].split()[-1]
        found = f"{true['value']:9.4g} ({true['low']:.4g} to {true['high']:.4g})" if true else "nothing"
        if quantity is None:
            refused += 1
            verdict = f"refused: {what}"
        elif not true:
            absent += 1
            verdict = "not measured"
        else:
            tried += 1
            inside = quantity["low"] <= true["value"] <= quantity["high"]
            held += inside
            verdict = f"{'holds' if inside else 'MISSES'}: {quantity['low']:.4g} to {quantity['high']:.4g}, {what}"
        print(f"{number:3} {senders:2} {short:5} seen {found}; {verdict}; {' '.join(words[5:])}", flush=True)
print(f"{held} of {tried} intervals hold ({held / max(tried, 1):.0%}), {refused} refused, {absent} not measured, "
      f"{time.monotonic() - began:.0f} s")
