# Debian packages of the laboratories, sourced by each of them: what is missing is installed where that may be.
# shellcheck shell=bash

# Prints the packages of programs that are not there: lacking PROGRAM:PACKAGE...
lacking() {
    local need
    for need in "$@"; do
        command -v "${need%%:*}" >/dev/null || [ -x "/usr/sbin/${need%%:*}" ] || printf ' %s' "${need##*:}"
    done
}

# Installs packages, if any are named. One laboratory at a time: apt-get waits for the lock of packages, and fails at that of
# its lists while another updates them.
provide() {
    [ $# -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "needs $*, and there is no apt-get to install it"
    (
        flock 9
        export DEBIAN_FRONTEND=noninteractive
        apt-get -o DPkg::Lock::Timeout=300 -qq update
        apt-get -o DPkg::Lock::Timeout=300 -qq install -y --no-install-recommends "$@"
    ) 9>/tmp/prony-packages.lock >/dev/null 2>&1 || fail "could not install $*"
}
