#!/usr/bin/env python3
"""Prony beside other tools at the same definition, in alternation, both pinned to the last CPU.

    cargo build --release && benches/peers.py target/release/prony [--rounds 12] [--directory DIR] [ROW ...]

Without rows it lists them. A row alternates ours and the peer's so many times and prints both medians, and the median of the paired
ratios (ours over theirs) with its order-statistic interval of at least 95%; whatever disturbs a pair disturbs both. Servers are
children of this program. The file results are measured in DIR. Rows whose peer is not installed say so.
Needs, for all rows: perf, mbw, sysbench, fio, sockperf, qperf, cyclictest (rt-tests), and the example `patterns` for rows of that
name: cargo build --release -p prony-kernels --example patterns."""

import argparse, json, math, os, re, shutil, statistics, subprocess, sys, tempfile, time

LAST = max(os.sched_getaffinity(0))
PINNED = ["taskset", "-c", str(LAST)]
OPTIONS = None


class Absent(Exception):
    pass


def output(command, pinned=True):
    if not shutil.which(command[0]):
        raise Absent(f"{command[0]} is not installed")
    done = subprocess.run((PINNED if pinned else []) + command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise Absent(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def ours(selection, quantile=None):
    """Median of the launches' values of a short run, or of their quantile of single operations, in base units; ten launches at
    least."""
    def measure(work):
        file = os.path.join(work, "run.json")
        output([OPTIONS.prony, "run", "--benchmark", selection, "--target", "100", "--quiet", "--no-store", "--output", file,
                "--directory", OPTIONS.directory], pinned=False)
        result, = json.load(open(file))["results"]
        valid = [launch for launch in result["samples"] if not launch.get("invalid")]
        values = [launch["value"] if quantile is None else dict(launch["quantiles"])[quantile] for launch in valid]
        if not values:
            raise Absent(f"{selection}: {result['outcome']}")
        return statistics.median(values)
    return measure


def pattern(*words):
    """What the peer does, done by our own means."""
    return lambda work: float(output([os.path.join(os.path.dirname(OPTIONS.prony), "examples", "patterns"), *words]))


def number(command, pattern, scale):
    return lambda work: scale(float(re.search(pattern, output(command)).group(1)))


def perf(words, scale):
    return lambda work: scale(float(output(["perf", "bench", "--format=simple", *words]).split()[-1]))


def mbw(kind):
    return number(["mbw", "-q", "-n", "10", kind, "128"], r"AVG.*Copy:\s*([0-9.]+) MiB/s", lambda rate: rate * 2**20)


def sysbench(oper, block):
    command = ["sysbench", "memory", "--threads=1", "--memory-block-size=" + block, "--memory-total-size=2T", "--time=1",
               "--memory-oper=" + oper, "run"]
    return number(command, r"\(([0-9.]+) MiB/sec\)", lambda rate: rate * 2**20)


def fio(words, find):
    def measure(work):
        name = os.path.join(OPTIONS.directory, "peers.fio")
        text = output(["fio", "--name=peer", "--filename=" + name, "--ioengine=psync", "--output-format=json", "--randrepeat=0",
                       *words])
        return find(json.loads(text[text.index("{"):])["jobs"][0])
    return measure


def timed(loops):
    # A file of its own each time, as ours: where its pages lie decides which caches hold them.
    return ["--time_based", "--runtime=1", "--size=64m", "--unlink=1"] + loops


def qperf(test):
    # qperf tells half a round trip.
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    def measure(work):
        found = re.search(r"latency\s*=\s*([0-9.]+) (\w+)", output(["qperf", "127.0.0.1", "-lp", "19999", "-t", "1", "-m", "1" if
                                                                    test == "tcp_lat" else "4", test]))
        return 2 * float(found.group(1)) * units[found.group(2)]
    return measure


def sockperf(words):
    return number(["sockperf", "ping-pong", "-i", "127.0.0.1", "-m", "14", "-t", "1", "--full-rtt", *words],
                  r"percentile 50\.000 =\s*([0-9.]+)", lambda micros: micros * 1e-6)


def cyclictest(words):
    """Median of the histogram, whose steps of 1 us are cut down: half of one is added."""
    def measure(work):
        text = output(["cyclictest", "-q", "-t1", "-p0", "--policy=other", "-i1000", "-l800", "-h2000", *words], pinned=False)
        counts = [(int(at), int(count)) for at, count in re.findall(r"^(\d+) (\d+)", text, re.M)]
        half = sum(count for _, count in counts) / 2
        for at, count in counts:
            half -= count
            if half <= 0:
                return (at + 0.5) * 1e-6
    return measure


def of_each(loops):
    return lambda seconds: seconds / loops


SERVERS = {"qperf": [["qperf", "-lp", "19999"]], "sockperf": [["sockperf", "server", "--tcp", "-p", "11999"],
                                                             ["sockperf", "server", "-p", "11998"]]}
SAME = "placement=same_cpu"
APPEND = ["--rw=write", "--bs=4k", "--size=2m", "--fsync=1", "--fallocate=none", "--unlink=1", "--overwrite=0"]
READ = "memory.read:working_set=1MiB,threads=1,width=integer,pages=base"
WRITE = "memory.write:working_set=1MiB,threads=1,width=integer,stores=normal,pages=base"
PIPE = perf(["sched", "pipe", "-l", "300000"], of_each(300000))
FUTEX = number(["perf", "bench", "futex", "hash", "-t", "1", "-f", "1", "-r", "1"], r"Averaged (\d+) operations/sec",
                            lambda rate: 1 / rate)
# Name, unit, factor to it, ours, the peer's, what the peer is.
ROWS = [
    ("syscall", "ns", 1e9, ours("os.syscall_getppid"), perf(["syscall", "basic", "-l", "5000000"], of_each(5e6)),
     "perf bench syscall basic"),
    ("pipe", "us", 1e6, ours("ipc.pipe_latency:" + SAME), PIPE, "perf bench sched pipe"),
    ("pipe_switch", "us", 1e6, lambda work: 1 / ours("os.pipe_switch:" + SAME)(work), PIPE, "perf bench sched pipe"),
    ("memcpy", "GB/s", 1e-9, ours("memory.memcpy:working_set=256MiB"),
     perf(["mem", "memcpy", "-s", "128MB", "-l", "10", "-f", "default"], float), "perf bench mem memcpy"),
    ("futex_pattern", "ns", 1e9, pattern("futex"), FUTEX, "perf bench futex hash, one futex"),
    # mbw 1.2.2 gives its numbers the wrong names: -t0, "MEMCPY", is a loop of words, and -t1, "DUMB", calls memcpy.
    ("mbw", "GB/s", 1e-9, ours("memory.memcpy:working_set=256MiB"), mbw("-t1"), "mbw -t1 128"),
    ("mbw_words", "GB/s", 1e-9, ours("memory.memcpy_unrolled:working_set=256MiB"), mbw("-t0"), "mbw -t0 128"),
    ("sysbench_write", "GB/s", 1e-9, ours(WRITE), sysbench("write", "1M"), "sysbench memory write"),
    ("sysbench_write_pattern", "GB/s", 1e-9, pattern("write", "1048576"), sysbench("write", "1M"), "sysbench memory write"),
    ("sysbench_store_pattern", "GB/s", 1e-9, pattern("store", "1048576"), sysbench("write", "1M"), "sysbench memory write"),
    ("sysbench_read", "GB/s", 1e-9, ours(READ), sysbench("read", "1M"), "sysbench memory read"),
    ("sysbench_read_pattern", "GB/s", 1e-9, pattern("read", "1048576"), sysbench("read", "1M"), "sysbench memory read"),
    ("fio_cached", "GB/s", 1e-9, ours("file.read_cached:data=copied,place=target"),
     fio(timed(["--rw=read", "--bs=64k", "--invalidate=0", "--pre_read=1"]), lambda job: job["read"]["bw_bytes"]),
     "fio read of 64 KiB, cached"),
    ("fio_small", "GB/s", 1e-9, ours("file.read:buffer=4KiB,place=target"),
     fio(["--time_based", "--runtime=1", "--size=8000k", "--unlink=1", "--rw=read", "--bs=4k", "--invalidate=0", "--pre_read=1",
          "--gtod_reduce=1"], lambda job: job["read"]["bw_bytes"]), "fio read of 4 KiB, cached, clock seldom read"),
    ("fio_direct_read", "GB/s", 1e-9, ours("file.sequential_read:block=1MiB,format=plain,medium=file,length=64MiB"),
     fio(timed(["--rw=read", "--bs=1m", "--direct=1"]), lambda job: job["read"]["bw_bytes"]), "fio read of 1 MiB, direct"),
    ("fio_direct_write", "GB/s", 1e-9, ours("file.sequential_write:block=1MiB,format=plain,medium=file,length=64MiB"),
     fio(timed(["--rw=write", "--bs=1m", "--direct=1"]), lambda job: job["write"]["bw_bytes"]), "fio write of 1 MiB, direct"),
    ("fio_direct_write_plain", "GB/s", 1e-9, ours("file.sequential_write:block=1MiB,format=plain,medium=file,length=64MiB"),
     fio(timed(["--rw=write", "--bs=1m", "--direct=1", "--scramble_buffers=0"]), lambda job: job["write"]["bw_bytes"]),
     "fio write of 1 MiB, direct, buffers not scrambled"),
    ("fio_fsync", "us", 1e6, ours("file.fsync"),
     fio(APPEND, lambda job: job["write"]["runtime"] * 1e-3 / job["write"]["total_ios"]), "fio append of 4 KiB, fsync, mean"),
    ("fio_fsync_median", "us", 1e6, ours("file.fsync"),
     fio(APPEND, lambda job: 1e-9 * (job["sync"]["lat_ns"]["percentile"]["50.000000"] +
                                     job["write"]["clat_ns"]["percentile"]["50.000000"])), "fio append of 4 KiB, fsync, medians"),
    ("sockperf_tcp", "us", 1e6, ours("ipc.tcp_latency:" + SAME), sockperf(["--tcp", "-p", "11999"]), "sockperf, TCP, 14 bytes"),
    ("sockperf_tcp_single", "us", 1e6, ours("ipc.tcp_latency:" + SAME, quantile=0.5), sockperf(["--tcp", "-p", "11999"]),
     "sockperf, TCP, 14 bytes; ours is the median of single round trips too"),
    ("sockperf_udp", "us", 1e6, ours("ipc.udp_latency:" + SAME), sockperf(["-p", "11998"]), "sockperf, UDP, 14 bytes"),
    ("qperf_tcp", "us", 1e6, ours("ipc.tcp_latency:" + SAME), qperf("tcp_lat"), "qperf tcp_lat, 1 byte"),
    ("qperf_udp", "us", 1e6, ours("ipc.udp_latency:" + SAME), qperf("udp_lat"), "qperf udp_lat, 4 bytes"),
    ("cyclictest", "us", 1e6, ours("os.timer_wakeup:load=idle"), cyclictest(["--laptop", f"-a{LAST}"]), "cyclictest --laptop"),
]


def interval(values):
    """Median with the narrowest symmetric pair of order statistics that covers it with at least 95%."""
    values = sorted(values)
    n, low = len(values), 0
    while 1 - 2 * sum(math.comb(n, k) for k in range(low + 2)) / 2**n >= 0.95:
        low += 1
    return statistics.median(values), values[low], values[n - 1 - low]


def row(name, unit, factor, mine, theirs, peer, work):
    pairs = []
    for turn in range(OPTIONS.rounds):
        order = [mine, theirs] if turn % 2 == 0 else [theirs, mine]
        found = {measure: measure(work) for measure in order}
        pairs.append((found[mine], found[theirs]))
    ratio, low, high = interval([a / b for a, b in pairs])
    a, b = (statistics.median(side) * factor for side in zip(*pairs))
    print(f"| {name} | {a:.4g} {unit} | {peer}: {b:.4g} {unit} | {ratio:.3f} ({low:.3f} – {high:.3f}) |", flush=True)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prony")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--directory", default=".")
    OPTIONS = parser.parse_intermixed_args()
    OPTIONS.prony = os.path.abspath(OPTIONS.prony)
    known = [one[0] for one in ROWS]
    if not OPTIONS.rows or set(OPTIONS.rows) - set(known):
        sys.exit("rows: " + " ".join(known))
    if OPTIONS.rounds < 6:
        sys.exit("an interval of 95% takes six rounds at least")
    wanted = [command for tool, commands in SERVERS.items() if any(name.startswith(tool) for name in OPTIONS.rows)
              for command in commands if shutil.which(command[0])]
    servers = [subprocess.Popen(PINNED + command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in wanted]
    time.sleep(1 if servers else 0)
    try:
        with tempfile.TemporaryDirectory() as work:
            for one in ROWS:
                if one[0] in OPTIONS.rows:
                    try:
                        row(*one, work)
                    except Absent as reason:
                        print(f"| {one[0]} | not measured: {reason} |", flush=True)
    finally:
        for server in servers:
            server.kill()
            server.wait()
        if os.path.exists(os.path.join(OPTIONS.directory, "peers.fio")):
            os.remove(os.path.join(OPTIONS.directory, "peers.fio"))


main()
