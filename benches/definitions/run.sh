#!/usr/bin/env bash
# Where a result stands below another tool's at what looks like the same definition: the pieces of each, compiled one by
# one and run in turn. Needs gcc; files of 64 MB are made in the given directory. CPU time, so other work matters little.
#   benches/definitions/run.sh [DIRECTORY] [ROUNDS]
set -eu
here=$(dirname "$(realpath "$0")") files=${1:-.} rounds=${2:-7}
place=$(mktemp -d)
trap 'rm -rf "$place"; rm -f "$files"/prony-laid-*' EXIT

fast="-O3 -ffast-math -march=native"
gcc $fast -DAPART -o "$place/dhrystone-apart" "$here/dhrystone.c"
gcc $fast -DHALF=1 -c -o "$place/1.o" "$here/dhrystone.c"
gcc $fast -DHALF=2 -c -o "$place/2.o" "$here/dhrystone.c"
gcc $fast -o "$place/dhrystone-two-files" "$place/1.o" "$place/2.o"
gcc $fast -o "$place/dhrystone-one-file" "$here/dhrystone.c"
gcc -O3 -DAPART -o "$place/whetstone-apart" "$here/whetstone.c" -lm
gcc -O3 -o "$place/whetstone-O3" "$here/whetstone.c" -lm
gcc $fast -o "$place/whetstone-fast-math" "$here/whetstone.c" -lm
gcc -O3 -o "$place/mapped" "$here/mapped.c"

echo "Dhrystone, ns a run"
for ((round = 0; round < rounds; round++)); do
    for one in apart two-files one-file; do printf '%s %s  ' $one "$("$place/dhrystone-$one" 5000000)"; done
    echo
done
echo "Whetstone, ns a loop: modules 1 to 5, 6 of 1976 and of 1987, 7, 8"
for ((round = 0; round < rounds; round++)); do
    for one in apart O3 fast-math; do printf '%-10s %s\n' $one "$("$place/whetstone-$one" 20000)"; done
done
echo "mapped files of 64 MB by how they were written, GB/s: every word, sixteen a turn"
head -c 64M /dev/urandom >"$place/data"
for block in 4k 64k 64M; do dd if="$place/data" of="$files/prony-laid-$block" bs=$block status=none; done
for ((round = 0; round < rounds; round++)); do "$place/mapped" "$files"/prony-laid-{4k,64k,64M}; done
