#!/usr/bin/env bash
# A folder over the network on any host with FUSE: a real sshd with throw-away keys, and sshfs. Needs root and Debian's sshfs
# and openssh-server, which it installs where it may. Network, mounts and processes are in namespaces that end with it.
#
#   sshfs.sh run COMMAND...   runs a command; LAB/export is seen over the network at LAB/mount, uncached
#
# A mount that fails is an error, never a folder of the local disk. LAB: folder of the laboratory (default /tmp/prony-sshfs),
# which stays; what it made in it for itself goes.
set -euo pipefail
LAB=${LAB:-/tmp/prony-sshfs}
PATH=$PATH:/usr/sbin:/sbin
fail() { echo "sshfs.sh: $*" >&2; exit 1; }
# shellcheck source=tests/labs/packages.sh
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

if [ "${1:-}" != run ] || [ $# -lt 2 ]; then sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; fi
[ "$(id -u)" = 0 ] || fail "needs root"
[ -e /dev/fuse ] || fail "could not mount: there is no /dev/fuse"
if [ -z "${INSIDE:-}" ]; then
    # shellcheck disable=SC2046  # a list of packages
    provide $(lacking sshfs:sshfs sshd:openssh-server ssh:openssh-client)
    mkdir -p "$LAB/export" "$LAB/mount" "$LAB/ssh"; chmod 700 "$LAB/ssh"
    code=0
    INSIDE=1 LAB=$LAB unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" "$@" || code=$?
    rm -rf "$LAB/ssh"; rmdir "$LAB/mount" 2>/dev/null || true
    exit "$code"
fi
shift
ip link set lo up
mkdir -p /run/sshd
for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "$LAB/ssh/$key"; done
cat >"$LAB/ssh/config" <<C
Port 22022
ListenAddress 127.0.0.1
HostKey $LAB/ssh/host
PidFile none
AuthorizedKeysFile $LAB/ssh/user.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
C
/usr/sbin/sshd -f "$LAB/ssh/config" -E "$LAB/ssh/log"
sshfs -p 22022 -F none -o "IdentityFile=$LAB/ssh/user,IdentitiesOnly=yes,StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null,LogLevel=ERROR,dir_cache=no,direct_io" \
    "$(id -un)@127.0.0.1:$LAB/export" "$LAB/mount" || fail "could not mount: $(tail -3 "$LAB/ssh/log")"
grep -q " $LAB/mount fuse.sshfs " /proc/mounts || fail "the folder is not a mount of sshfs"
code=0
"$@" || code=$?
umount "$LAB/mount" 2>/dev/null || umount -l "$LAB/mount"
exit "$code"
