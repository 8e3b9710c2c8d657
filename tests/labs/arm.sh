#!/usr/bin/env bash
# The program and the kernels' tests for aarch64 on a machine of another architecture: cross-built, and run by qemu's user
# emulation. It shows that everything is right there, not how fast.
#
#   arm.sh build             builds the program and the tests of prony-kernels for aarch64
#   arm.sh run COMMAND...    runs a command in which every program for aarch64 runs; PROGRAM is that of the build
#   arm.sh kernels [FILTER]  runs the tests of prony-kernels, among them those of the kernels' machine code
#
# Installs nothing. It needs: rustup target add aarch64-unknown-linux-gnu, and Debian's gcc-aarch64-linux-gnu,
# libc6-dev-arm64-cross and qemu-user. Programs start each other, so the kernel must know their format: it is told in a user
# namespace of its own (Linux 6.7 or later), and nothing outside notices; where the format is known already, it is used as it is.
# TARGET_DIR: cargo's folder for it (default: target/cross, which keeps it apart from other builds).
set -euo pipefail
cd "$(dirname "$0")/../.."
TRIPLE=aarch64-unknown-linux-gnu
export TARGET_DIR=${TARGET_DIR:-$PWD/target/cross}
fail() { echo "arm.sh: $*" >&2; exit 1; }

need() {
    local missing="" one
    for one in aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu-objdump:binutils-aarch64-linux-gnu qemu-aarch64:qemu-user; do
        command -v "${one%%:*}" >/dev/null || missing="$missing ${one##*:}"
    done
    [ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ] || missing="$missing libc6-dev-arm64-cross"
    [ -z "$missing" ] || fail "needs the packages$missing"
    [ -d "$(rustc --print sysroot)/lib/rustlib/$TRIPLE/lib" ] || fail "needs rustup target add $TRIPLE"
}

built() {
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CARGO_TARGET_DIR=$TARGET_DIR CARGO_INCREMENTAL=0
    cargo build --locked --quiet --target "$TRIPLE" -p prony
    cargo test --locked --quiet --target "$TRIPLE" -p prony-kernels --test it --no-run
}

# Runs a command where the kernel starts programs for aarch64 through qemu.
emulated() {
    export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu PROGRAM=$TARGET_DIR/$TRIPLE/debug/prony
    # Tests of machine code call objdump.
    mkdir -p "$TARGET_DIR/tools"
    ln -sf "$(command -v aarch64-linux-gnu-objdump)" "$TARGET_DIR/tools/objdump"
    export PATH=$TARGET_DIR/tools:$PATH
    if "$PROGRAM" --version >/dev/null 2>&1; then exec "$@"; fi
    exec unshare --user --map-root-user --mount bash -c '
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null &&
            printf "%s" ":prony-aarch64:M::\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$(command -v qemu-aarch64):F" >/proc/sys/fs/binfmt_misc/register ||
            { echo "arm.sh: this kernel cannot be told of another format in a namespace of its own (Linux 6.7 or later)" >&2; exit 1; }
        exec "$@"' -- "$@"
}

case ${1:-} in
build) need; built ;;
run) shift; [ $# -gt 0 ] || fail "run what?"; need; emulated "$@" ;;
kernels)
    shift; need
    tests=$(ls -t "$TARGET_DIR/$TRIPLE/debug/deps/"it-* 2>/dev/null | grep -v '\.d$' | head -1)
    [ -n "$tests" ] || fail "build first"
    emulated "$tests" --test-threads 1 "$@"
    ;;
*) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
