#!/usr/bin/env bash
# A real NFS client of the kernel, and a local disk beside it, in a guest: qemu, Debian's cloud kernel, nfs-ganesha as server.
# Needs root and the Debian packages that it installs where it may. Everything runs in namespaces of its own: no port of the
# host is taken, no folder of it but LAB is written, and nothing is left when it ends.
#
#   nfs.sh run SCRIPT [FILE...]   boots the guest, runs SCRIPT in it and gives its output; FILEs are on its disk in /disk
#
# The guest has /disk (ext4 on a virtual disk), /nfs3 and /nfs4 (the same export, NFS 3 and 4.1 over TCP), the program in
# PROGRAM as `prony`, busybox, and LAB/export is what it sees in /nfs3 and /nfs4. A mount that fails ends it with an error.
# LAB: folder of the laboratory (default /tmp/prony-nfs), removed unless KEEP is set. LIMIT (500): seconds for the guest.
# NAME: what it mounts as NFS 4 (default: the export; another name is a mount that fails).
# ACCELERATOR: kvm or tcg (default: kvm where it works).
set -euo pipefail
LAB=${LAB:-/tmp/prony-nfs}
PATH=$PATH:/usr/sbin:/sbin
fail() { echo "nfs.sh: $*" >&2; exit 1; }
# shellcheck source=tests/labs/packages.sh
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

install() {
    local missing
    missing=$(lacking ganesha.nfsd:nfs-ganesha rpcbind:rpcbind qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio mkfs.ext4:e2fsprogs modprobe:kmod xz:xz-utils)
    ls /usr/lib/*/ganesha/libfsalvfs.so >/dev/null 2>&1 || missing="$missing nfs-ganesha-vfs"
    ls /boot/vmlinuz-*cloud* >/dev/null 2>&1 || missing="$missing linux-image-cloud-amd64"
    # shellcheck disable=SC2086  # a list of packages
    provide $missing
}

serve() {
    mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /var/lib/nfs
    mkdir -p /run/rpcbind /run/ganesha /var/lib/nfs/ganesha
    cat >"$LAB/ganesha.conf" <<C
NFS_CORE_PARAM { NFS_Port = 22049; MNT_Port = 22050; NLM_Port = 22051; Rquota_Port = 22052; Enable_NLM = false; Enable_RQUOTA = false; Protocols = 3,4; }
NFSV4 { Graceless = true; Lease_Lifetime = 10; Grace_Period = 2; RecoveryBackend = fs; }
NFS_KRB5 { Active_krb5 = false; }
EXPORT { Export_Id = 1; Path = $LAB/export; Pseudo = /export; Access_Type = RW; Squash = No_Root_Squash; Protocols = 3,4; Transports = TCP; SecType = sys; FSAL { Name = VFS; } }
LOG { Default_Log_Level = EVENT; }
C
    rpcbind -w
    ganesha.nfsd -f "$LAB/ganesha.conf" -L "$LAB/ganesha.log" -p "$LAB/ganesha.pid" -N NIV_EVENT
    for _ in $(seq 1 100); do
        (exec 3<>/dev/tcp/127.0.0.1/22049) 2>/dev/null && return 0
        sleep 0.1
    done
    fail "the server does not come up: $(tail -3 "$LAB/ganesha.log")"
}

# The guest's first files: busybox, the C library, modules in the order in which they need each other, and its first process.
pack() {
    local kernel=$1 root=$LAB/root number=0 module name library
    mkdir -p "$root"/{bin,proc,sys,dev,tmp,root,run,disk,nfs3,nfs4,modules,lib64}
    cp "$(command -v busybox)" "$root/bin/busybox"
    for name in sh mount umount ip insmod cat grep cut sleep poweroff ls ln rm cp mkdir sync dmesg tail head uname mv touch; do ln -s busybox "$root/bin/$name"; done
    for name in virtio_net virtio_blk virtio_pci ext4 crc32c_generic nfsv3 nfsv4; do modprobe -S "$kernel" -D --ignore-install "$name" 2>/dev/null || true; done |
        awk '/^insmod/ && !seen[$2]++ {print $2}' >"$LAB/modules"
    while read -r module; do
        number=$((number + 1)); name=$(printf '%03d_%s' "$number" "$(basename "$module")")
        case $module in *.xz) xz -dc "$module" >"$root/modules/${name%.xz}" ;; *) cp "$module" "$root/modules/$name" ;; esac
    done <"$LAB/modules"
    for library in $(ldd "$PROGRAM" | grep -o '/[^ ]*'); do mkdir -p "$root$(dirname "$library")"; cp -L "$library" "$root$library"; done
    cat >"$root/init" <<'I'
#!/bin/sh
export PATH=/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mkdir -p /dev/shm; mount -t tmpfs shm /dev/shm; mount -t tmpfs tmp /tmp
echo "guest: up" >/dev/console
over() { echo "guest: $1" >/dev/console; sync; poweroff -f; }
for module in /modules/*; do insmod "$module" 2>/dev/null; done
ip link set lo up; ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0; ip route add default via 10.0.2.2
for i in 1 2 3 4 5 6 7 8 9 10; do [ -e /dev/vda ] && break; sleep 0.2; done
mount -t ext4 /dev/vda /disk || over "no disk"
common=addr=10.0.2.2,port=22049,proto=tcp,sec=sys
mount -t nfs -o "vers=3,nolock,mountaddr=10.0.2.2,mountport=22050,mountproto=tcp,mountvers=3,$common" 10.0.2.2:@EXPORT@ /nfs3 || over "NFS 3 is not mounted"
mount -t nfs4 -o "vers=4.1,clientaddr=10.0.2.15,$common" 10.0.2.2:@NAME@ /nfs4 || over "NFS 4 is not mounted"
# A folder whose mount failed is a folder of the first files, and would be read as fast.
grep -q ' /disk ext4 ' /proc/mounts && grep -q ' /nfs3 nfs ' /proc/mounts && grep -q ' /nfs4 nfs4 ' /proc/mounts || over "a mount is missing"
cp /disk/prony /tmp/prony && ln -s /tmp/prony /bin/prony
cd /tmp && sh /disk/script >/tmp/out 2>/tmp/err; code=$?
cp /tmp/out /tmp/err /nfs3/.guest/; echo "$code" >/nfs3/.guest/code
over done
I
    sed -i "s#@EXPORT@#$LAB/export#; s#@NAME@#${NAME:-/export}#" "$root/init"; chmod +x "$root/init"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$LAB/initrd"
}

disk() {
    local folder=$LAB/disk; mkdir -p "$folder"
    cp "$1" "$folder/script"; shift
    # Names of functions are of no use there, and make most of the file.
    strip -o "$folder/prony" "$PROGRAM" 2>/dev/null || cp "$PROGRAM" "$folder/prony"
    for file in "$@"; do cp -a "$file" "$folder/"; done
    local size; size=$(($(du -sm "$folder" | cut -f1) + 64))
    truncate -s "${size}M" "$LAB/disk.img"
    mkfs.ext4 -q -F -d "$folder" "$LAB/disk.img"
}

boot() {
    local kernel=$1 accelerator=$2 cpu=max machine; [ "$accelerator" = kvm ] && cpu=host
    timeout -k 1 "${LIMIT:-500}" qemu-system-x86_64 -machine "q35,accel=$accelerator" -cpu "$cpu" -smp 2 -m 1024 -nographic -no-reboot \
        -kernel "/boot/vmlinuz-$kernel" -initrd "$LAB/initrd" -append "console=ttyS0 quiet panic=-1" \
        -netdev user,id=net -device virtio-net-pci,netdev=net -drive "file=$LAB/disk.img,format=raw,if=virtio,cache=none" \
        </dev/null >"$LAB/console" 2>&1 &
    machine=$!
    # Where this host is a guest itself, KVM may be there and yet never get a kernel off the ground. An emulator beside
    # compilers takes most of a minute for it.
    for _ in $(seq 1 "${PATIENCE:-480}"); do
        grep -q "guest: up" "$LAB/console" && break
        kill -0 "$machine" 2>/dev/null || return 1
        sleep 0.5
    done
    grep -q "guest: up" "$LAB/console" || { kill "$machine"; wait "$machine" || true; return 1; }
    wait "$machine" || true
}

if [ "${1:-}" != run ] || [ $# -lt 2 ]; then sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 2; fi
[ "$(id -u)" = 0 ] || fail "needs root"
[ "$(uname -m)" = x86_64 ] || fail "knows Debian's kernel for x86_64 only"
if [ -z "${INSIDE:-}" ]; then
    install
    rm -rf "$LAB/root" "$LAB/disk" "$LAB/export/.guest"; mkdir -p "$LAB/export/.guest"
    code=0
    INSIDE=1 LAB=$LAB unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" "$@" || code=$?
    [ -n "${KEEP:-}" ] || rm -rf "$LAB"
    exit "$code"
fi
shift
ip link set lo up
kernel=$(ls -1 /lib/modules | grep cloud | sort -V | tail -1)
serve
pack "$kernel"
disk "$@"
accelerator=${ACCELERATOR:-$([ -w /dev/kvm ] && echo kvm || echo tcg)}
{ [ "$accelerator" = kvm ] && PATIENCE=6 boot "$kernel" kvm; } || boot "$kernel" tcg || fail "the guest does not come up"
[ -s "$LAB/export/.guest/code" ] ||
    fail "the guest did not come to its end: $(tr -d '\r' <"$LAB/console" | tail -5)"
cat "$LAB/export/.guest/out"; cat "$LAB/export/.guest/err" >&2
exit "$(cat "$LAB/export/.guest/code")"
