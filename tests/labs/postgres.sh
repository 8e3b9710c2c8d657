#!/usr/bin/env bash
# A PostgreSQL server of its own, in a folder, on a socket in it: no port is taken, nothing outlives it.
# Needs Debian's postgresql (initdb and postgres); as root the server runs as the user postgres, or nobody.
#
#   postgres.sh start     boots it
#   postgres.sh new NAME  makes an empty database and says its address
#   postgres.sh sql NAME  does in it what standard input says
#   postgres.sh kill      kill -9 of the whole server;   again   starts it from what is on the disk
#   postgres.sh freeze    stops every process of it;     thaw    lets them go on
#   postgres.sh stop      ends it and removes the folder
#
# LAB: folder of the laboratory (default /tmp/prony-postgres). OWNER: process whose end ends the laboratory too.
# FSYNC (off): whether the server waits for the disk; what it promises is its own business, tests need not wait for it.
set -euo pipefail
LAB=${LAB:-/tmp/prony-postgres}

fail() { echo "postgres.sh: $*" >&2; exit 1; }

programs() {
    local place
    for place in /usr/lib/postgresql/*/bin "$(dirname "$(command -v initdb 2>/dev/null || echo /nowhere/initdb)")"; do
        [ -x "$place/initdb" ] && [ -x "$place/postgres" ] && { echo "$place"; return; }
    done
    fail "initdb and postgres are not installed"
}

# The server refuses root.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid="$(user)" --regid="$(id -g "$(user)")" --clear-groups "$@"
    else
        "$@"
    fi
}
user() { id -u postgres >/dev/null 2>&1 && echo postgres || echo nobody; }
first() { head -1 "$LAB/data/postmaster.pid" 2>/dev/null || true; }
all() { local at; at=$(first); [ -n "$at" ] && echo "$at" "$(cat "/proc/$at/task/$at/children" 2>/dev/null || true)"; }

boot() {
    local place; place=$(programs)
    # A shell that waits for it would hold on to whatever this script writes to.
    (exec </dev/null >>"$LAB/log" 2>&1; cd "$LAB"
        as_server setsid "$place/postgres" -D "$LAB/data" -k "$LAB" -h '' -c "fsync=${FSYNC:-off}") &
    for _ in $(seq 1 600); do
        grep -q ready "$LAB/data/postmaster.pid" 2>/dev/null && return 0
        sleep 0.05
    done
    fail "the server does not start: $(tail -3 "$LAB/log")"
}

stop() {
    local at; at=$(first)
    # Numbers are used again: only ours has our folder in its command.
    if [ -n "$at" ] && tr '\0' ' ' <"/proc/$at/cmdline" 2>/dev/null | grep -q "$LAB/data"; then
        # shellcheck disable=SC2046  # a list of numbers
        kill -CONT $(all) 2>/dev/null || true
        kill -QUIT "$at" 2>/dev/null || true
        for _ in $(seq 1 100); do kill -0 "$at" 2>/dev/null || break; sleep 0.05; done
    fi
    rm -rf "$LAB"
}

case "${1:-}" in
start)
    place=$(programs)
    stop
    mkdir -p "$LAB"
    [ "$(id -u)" != 0 ] || chown "$(user)" "$LAB"
    (cd "$LAB" && as_server "$place/initdb" -D "$LAB/data" -U prony -A trust -N -E UTF8 --locale=C >"$LAB/initdb.log" 2>&1) ||
        fail "initdb failed: $(tail -3 "$LAB/initdb.log")"
    boot
    # A laboratory whose owner is gone goes too.
    if [ -n "${OWNER:-}" ]; then
        setsid bash -c "while kill -0 $OWNER 2>/dev/null && [ -d '$LAB' ]; do sleep 0.5; done
            [ -d '$LAB' ] && LAB='$LAB' '$(realpath "$0")' stop" </dev/null >/dev/null 2>&1 &
    fi
    ;;
new) "$(programs)/createdb" -h "$LAB" -U prony -T template0 "$2" && echo "postgres://prony@${LAB//\//%2F}/$2" ;;
sql) "$(programs)/psql" -h "$LAB" -U prony -d "$2" -qAt -v ON_ERROR_STOP=1 ;;
kill)
    at=$(first)
    # shellcheck disable=SC2046  # a list of numbers
    kill -9 $(all)
    while kill -0 "$at" 2>/dev/null && [ "$(sed 's/.*) //' "/proc/$at/stat" 2>/dev/null | cut -c1)" != Z ]; do sleep 0.02; done
    rm -f "$LAB/data/postmaster.pid" "$LAB"/.s.PGSQL.*.lock
    ;;
again) boot ;;
# shellcheck disable=SC2046  # a list of numbers
freeze) kill -STOP $(all) ;;
# shellcheck disable=SC2046  # a list of numbers
thaw) kill -CONT $(all) ;;
stop) stop ;;
*) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
