#!/usr/bin/env bash
# Prony beside iperf3, qperf and sockperf over loopback, in alternation: throughput at 16 B, 1 KiB and 128 KiB a write, and
# round trips over TCP and UDP; of streams at 1 KiB and 128 KiB also the CPU time that a byte costs each end. All are pinned the same:
# the asking side to the last CPU, the serving side to the one before.
#   cargo build --release && benches/network_peers.sh target/release/prony [ROUNDS]
# Prints one line a measurement (round, what, program, value) and the medians at the end. Needs iperf3, qperf and sockperf.
set -euo pipefail
prony=$1 rounds=${2:-5} seconds=${SECONDS_EACH:-1}
last=$(($(nproc) - 1)) before=$(($(nproc) - 2))
work=$(mktemp -d)
children=()
trap 'kill "${children[@]}" 2>/dev/null || true; rm -r "$work"' EXIT
for program in iperf3 qperf sockperf; do
    command -v $program >/dev/null || { echo "could not find $program; install it" >&2; exit 2; }
done
taskset -c $before iperf3 -s -p 5999 >/dev/null 2>&1 & children+=($!); iperf_server=$!
taskset -c $before qperf -lp 19999 >/dev/null 2>&1 & children+=($!); qperf_server=$!
taskset -c $before sockperf server --tcp -p 11999 >/dev/null 2>&1 & children+=($!)
taskset -c $before sockperf server -p 11998 >/dev/null 2>&1 & children+=($!)
sleep 1
there="taskset -c $last"
say() { printf '%s %s %s %s\n' "$1" "$2" "$3" "$4" | tee -a "$work/all"; }
value() { python3 -c 'import json,sys
for result in json.load(open(sys.argv[1]))["results"]:
    if result["benchmark"] == sys.argv[2] and result["parameters"].get(sys.argv[3]) == sys.argv[4] and result["samples"]:
        values = sorted(launch["value"] for launch in result["samples"])
        print(values[len(values) // 2]); break' "$@"; }
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 + $14 + $15 }' "/proc/$1/stat"; }
# Runs a client beside its server and leaves what both used of CPU time, in seconds: all of the processes, beginning and end too.
costed() { local server=$1 ticks; shift; ticks=$(ticks "$server")
    $there python3 -c 'import resource,subprocess,sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, file=open(sys.argv[1], "w")); sys.exit(code)' "$work/sender" "$@"
    sleep 0.2; awk -v t="$(($(ticks "$server") - ticks))" -v hz="$(getconf CLK_TCK)" 'BEGIN { print t / hz }' >"$work/receiver"; }
# Nanoseconds of a byte at both ends, of a connection of so many bytes.
say_cost() { local end; for end in sender receiver; do
    say "$1" "cpu_ns_byte_$2_$end" "$3" "$(awk -v bytes="$4" '{ printf "%.4g\n", $1 / bytes * 1e9 }' "$work/$end")"; done; }
own_cost() { python3 -c 'import json,sys
for result in json.load(open(sys.argv[1]))["results"]:
    parameters = result["parameters"]
    if result["benchmark"] == "network.tcp_cpu_byte" and parameters["record"] == sys.argv[2] and parameters["end"] == sys.argv[3]:
        print("%.4g" % (result["outcome"]["measured"]["value"] * 1e9))' "$@"; }
quantity() { awk -v what="$1" '$1 == what { v = $3; u = $4; if (u ~ /^GB/) v *= 1e9; else if (u ~ /^MB/) v *= 1e6; else if (u ~ /^KB/) v *= 1e3;
    else if (u == "us") v *= 1e-6; else if (u == "ns") v *= 1e-9; else if (u == "ms") v *= 1e-3; print v }'; }
# The programs of a row in the order of a round: every second one goes back, so that none is always first.
turns() { if [ $(($1 % 2)) = 1 ]; then shift; echo "$@"; else shift; printf '%s\n' "$@" | tac; fi; }
size_of() { case $1 in 16B) echo 16 ;; 1KiB) echo 1024 ;; *) echo 131072 ;; esac; }
stream_prony() {
    "$prony" net stream --size 16B,1KiB,128KiB --max-samples 10 --target 50 -q --no-store --output "$work/stream.json" >/dev/null
    local name end; for name in 16B 1KiB 128KiB; do
        say "$1" "stream_$name" prony "$(value "$work/stream.json" network.tcp_stream record $name)"
        [ $name = 16B ] || for end in sender receiver; do
            say "$1" "cpu_ns_byte_${name}_$end" prony "$(own_cost "$work/stream.json" $name $end)"
        done
    done
}
stream_iperf3() {
    local name rate bytes; for name in 16B 1KiB 128KiB; do
        costed $iperf_server iperf3 -c 127.0.0.1 -p 5999 -t "$seconds" -l "$(size_of $name)" -J >"$work/iperf3.json"
        read -r rate bytes < <(python3 -c 'import json,sys
end = json.load(open(sys.argv[1]))["end"]["sum_received"]; print(end["bits_per_second"] / 8, end["bytes"])' "$work/iperf3.json")
        say "$1" "stream_$name" iperf3 "$rate"
        [ $name = 16B ] || say_cost "$1" "$name" iperf3 "$bytes"
    done
}
stream_qperf() {
    local name rate; for name in 16B 1KiB 128KiB; do
        costed $qperf_server qperf 127.0.0.1 -lp 19999 -t "$seconds" -m "$(size_of $name)" tcp_bw >"$work/qperf"
        rate=$(quantity bw <"$work/qperf")
        say "$1" "stream_$name" qperf "$rate"
        [ $name = 16B ] || say_cost "$1" "$name" qperf "$(awk -v rate="$rate" -v s="$seconds" 'BEGIN { print rate * s }')"
    done
}
trip_prony() {
    "$prony" net rr --kind tcp,udp --size 16B --max-samples 10 --target 50 -q --no-store --output "$work/rr.json" >/dev/null
    local kind; for kind in tcp udp; do
        say "$1" "round_trip_$kind" prony "$(value "$work/rr.json" network.${kind}_latency size 16B)"
    done
}
# qperf tells half a round trip.
trip_qperf() {
    local kind half; for kind in tcp udp; do
        half=$($there qperf 127.0.0.1 -lp 19999 -t "$seconds" -m 16 ${kind}_lat | quantity latency)
        say "$1" "round_trip_$kind" qperf "$(awk -v half="$half" 'BEGIN { print 2 * half }')"
    done
}
trip_sockperf() {
    local kind port; for kind in tcp udp; do
        port=$([ $kind = tcp ] && echo "--tcp -p 11999" || echo "-p 11998")
        # shellcheck disable=SC2086  # two words
        say "$1" "round_trip_$kind" sockperf "$($there sockperf ping-pong -i 127.0.0.1 $port -m 16 -t "$seconds" --full-rtt 2>/dev/null |
            sed 's/\x1b\[[0-9;]*m//g' | awk '/percentile 50.000/ { print $NF * 1e-6 }')"
    done
}
for round in $(seq "$rounds"); do
    for program in $(turns "$round" prony iperf3 qperf); do "stream_$program" "$round"; done
    for program in $(turns "$round" prony qperf sockperf); do "trip_$program" "$round"; done
done
echo "medians of $rounds rounds"
sort -k2,3 "$work/all" | awk '{ key = $2 " " $3; v[key] = v[key] " " $4 } END { for (key in v) { n = split(v[key], x, " "); for (i = 1; i <= n; i++)
    for (j = i + 1; j <= n; j++) if (x[j] + 0 < x[i] + 0) { t = x[i]; x[i] = x[j]; x[j] = t } printf "%s %.4g (%.4g to %.4g)\n", key, x[int((n + 1) / 2)], x[1], x[n] } }' | sort
