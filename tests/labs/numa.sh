#!/usr/bin/env bash
# A guest of several packages and NUMA nodes under an emulator: it shows plans, bindings and that everything runs there, not
# speed. qemu without hardware acceleration, Debian's cloud kernel, busybox.
#
#   numa.sh run SCRIPT      boots the guest, runs SCRIPT in it and gives its output
#
# The guest has the program in PROGRAM as `prony`, MACHINE's packages and nodes, and nothing else: no disk and no network.
# LAB: folder of the laboratory (default /tmp/prony-numa), removed unless KEEP is set. LIMIT (300): seconds for the guest,
# BOOT (120): for it to come up, in each of three attempts.
# MACHINE: arguments of qemu that make the topology (default: 8 CPUs, 2 packages of 2 cores of 2 threads, 2 nodes of 1 GiB).
set -euo pipefail
LAB=${LAB:-/tmp/prony-numa}
PATH=$PATH:/usr/sbin:/sbin
MACHINE=${MACHINE:-"-smp 8,sockets=2,cores=2,threads=2 -m 2048 -object memory-backend-ram,id=m0,size=1024M -object memory-backend-ram,id=m1,size=1024M -numa node,nodeid=0,cpus=0-3,memdev=m0 -numa node,nodeid=1,cpus=4-7,memdev=m1 -numa dist,src=0,dst=1,val=21"}
fail() { echo "numa.sh: $*" >&2; exit 1; }
# shellcheck source=tests/labs/packages.sh
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

install() {
    local missing
    missing=$(lacking qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio)
    ls /boot/vmlinuz-*cloud* >/dev/null 2>&1 || missing="$missing linux-image-cloud-amd64"
    # shellcheck disable=SC2086  # a list of packages
    provide $missing
}

# The guest's files: busybox, the program with its libraries, the script, and the first process.
pack() {
    local root=$LAB/root name library
    mkdir -p "$root"/{bin,proc,sys,dev,tmp,root,lib64}
    cp "$(command -v busybox)" "$root/bin/busybox"
    for name in sh mount cat grep ls echo sleep poweroff mkdir head tail tr base64 gzip taskset; do ln -s busybox "$root/bin/$name"; done
    for library in $(ldd "$PROGRAM" | grep -o '/[^ ]*'); do mkdir -p "$root$(dirname "$library")"; cp -L "$library" "$root$library"; done
    # Names of functions are of no use there, and make most of the file.
    strip -o "$root/bin/prony" "$PROGRAM" 2>/dev/null || cp "$PROGRAM" "$root/bin/prony"
    cp "$1" "$root/script"
    cat >"$root/init" <<'I'
#!/bin/sh
export PATH=/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mkdir -p /dev/shm; mount -t tmpfs shm /dev/shm; mount -t tmpfs tmp /tmp
echo "guest: up" >/dev/console
cd /tmp && sh /script >/tmp/out 2>/tmp/err; code=$?
# The console is the only way out; its lines are kept from mixing with the kernel's by their marks.
gzip -c /tmp/out | base64 >/tmp/out64; gzip -c /tmp/err | base64 >/tmp/err64
for kind in out err; do while read -r line; do echo "guest-$kind:$line" >/dev/console; done </tmp/${kind}64; done
echo "guest-code:$code" >/dev/console
poweroff -f
I
    chmod +x "$root/init"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$LAB/initrd"
}

if [ "${1:-}" != run ] || [ $# -lt 2 ]; then sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; fi
[ "$(uname -m)" = x86_64 ] || fail "knows Debian's kernel for x86_64 only"
install
rm -rf "$LAB/root"; mkdir -p "$LAB"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$LAB"' EXIT
pack "$2"
kernel=$(ls -1 /boot/vmlinuz-*cloud* | sort -V | tail -1)
# Boots the guest and waits for its end; fails where it does not come up, as one boot of many under an emulator does not on
# a loaded host: it would stand until its limit.
boot() {
    # shellcheck disable=SC2086  # a list of arguments
    timeout -k 1 "${LIMIT:-300}" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max,vendor=GenuineIntel $MACHINE -nographic -no-reboot \
        -kernel "$kernel" -initrd "$LAB/initrd" -append "console=ttyS0 quiet panic=-1 loglevel=1" -nic none \
        </dev/null >"$LAB/console" 2>"$LAB/qemu" &
    local guest=$! end=$((SECONDS + ${BOOT:-120}))
    while ! grep -q 'guest: up' "$LAB/console" && kill -0 "$guest" 2>/dev/null; do
        if [ "$SECONDS" -ge "$end" ]; then
            kill "$guest"
            wait "$guest" || true
            return 1
        fi
        sleep 0.2
    done
    wait "$guest" || true
}
boot || boot || boot || true
said() { tr -d '\r' <"$LAB/console" | sed -n "s/^.*guest-$1:\(.*\)$/\1/p"; }
code=$(said code | tail -1)
[ -n "$code" ] || fail "the guest did not come to its end: $(tail -3 "$LAB/qemu") $(tr -d '\r' <"$LAB/console" | tail -5)"
said out | base64 -d | gzip -dc
said err | base64 -d | gzip -dc >&2
exit "$code"
