#!/usr/bin/env bash
# Records of 16 B beside iperf3 and qperf over loopback, in alternation, at one definition: each record is one write, and
# each read takes one record at most. All are pinned the same: the sender to the last CPU, the receiver to the one before,
# and a connection lasts 3 s.
#   cargo build --release && benches/small_records.sh target/release/prony [ROUNDS]
# Prints bytes per second of each round, and Prony's median over each peer's. netperf is used too where it is installed.
set -euo pipefail
prony=$1 rounds=${2:-7}
last=$(($(nproc) - 1)) before=$(($(nproc) - 2))
work=$(mktemp -d)
children=()
trap 'kill "${children[@]}" 2>/dev/null || true; rm -r "$work"' EXIT
peers="iperf3 qperf"
for program in $peers; do
    command -v "$program" >/dev/null || { echo "could not find $program; install it" >&2; exit 2; }
done
taskset -c $before iperf3 -s -p 5997 >/dev/null 2>&1 & children+=($!)
taskset -c $before qperf -lp 19997 >/dev/null 2>&1 & children+=($!)
if command -v netserver >/dev/null; then
    peers="$peers netperf"
    taskset -c $before netserver -D -p 12997 >/dev/null 2>&1 & children+=($!)
fi
sleep 1
there="taskset -c $last"
rate_of() { case $1 in
    prony) "$prony" net stream --size 16B --read 16B --block 370ms --max-samples 8 --target 50 -q --no-store \
        --output "$work/run.json" >/dev/null
        python3 -c 'import json,statistics,sys
result = json.load(open(sys.argv[1]))["results"][0]
print(statistics.median(sample["value"] for sample in result["samples"]))' "$work/run.json" ;;
    iperf3) $there iperf3 -c 127.0.0.1 -p 5997 -t 3 -l 16 -J |
        python3 -c 'import json,sys; print(json.load(sys.stdin)["end"]["sum_received"]["bits_per_second"] / 8)' ;;
    qperf) $there qperf 127.0.0.1 -lp 19997 -t 3 -m 16 tcp_bw |
        awk '$1 == "bw" { v = $3; if ($4 ~ /^GB/) v *= 1e9; else if ($4 ~ /^MB/) v *= 1e6; else if ($4 ~ /^KB/) v *= 1e3; print v }' ;;
    netperf) $there netperf -H 127.0.0.1 -p 12997 -l 3 -P 0 -f B -- -m 16 -M 16 | awk 'NF == 5 { print $5 }' ;;
esac; }
for round in $(seq "$rounds"); do
    order="prony $peers"
    [ $((round % 2)) = 1 ] || order=$(printf '%s\n' $order | tac)
    for program in $order; do echo "$round $program $(rate_of "$program")" | tee -a "$work/all"; done
done
python3 - "$work/all" <<'PYTHON'
import statistics, sys
rates = {}
for line in open(sys.argv[1]):
    _, program, rate = line.split()
    rates.setdefault(program, []).append(float(rate))
for peer in rates:
    if peer != "prony":
        ratios = [own / other for own, other in zip(rates["prony"], rates[peer])]
        print(f"prony / {peer}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
PYTHON
