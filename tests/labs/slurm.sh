#!/usr/bin/env bash
# A real Slurm cluster on one host: munge, slurmctld and N slurmd, each node with network, host name and processes of its own.
# Needs root and Debian's slurmctld slurmd slurm-client munge, which it installs where it may.
#
#   slurm.sh start [N]        boots N nodes n1..nN (default 4): head 10.77.0.1, node i 10.77.0.(10+i)
#   slurm.sh stop             ends everything and removes the folder
#   slurm.sh exec COMMAND...  runs a command at the head (its network, SLURM_CONF set); the process becomes the command
#   slurm.sh at I COMMAND...  the same at node I
#   slurm.sh kill-node I      power cut: the node's cable goes silent, then every process of it is killed
#   slurm.sh start-node I     boots it again
#   slurm.sh freeze I         stops slurmd alone: its jobs go on;   thaw I lets it go on
#   slurm.sh partition I      takes the cable out: all of it goes on, unheard;   heal I puts it back
#   slurm.sh kill-controller  kill -9 of slurmctld;   start-controller starts it from its saved state
#   slurm.sh nodes            one line a node with Slurm's state and reason
#
# LAB: folder of the laboratory (default /tmp/prony-slurm); several may run at once in different folders.
# OWNER: process whose end ends the laboratory too. SLURMD_TIMEOUT (5): seconds after which a silent node is DOWN.
# CRED_EXPIRE (5, the least): life of a credential, seconds, and so the delay of a requeued job. CPUS (2): CPUs of a node.
#
# The head is a network and process namespace with a bridge in it; nodes are such namespaces inside of it. One kill of the
# head's first process therefore ends all, and nothing on the host has a name that could be left behind.
set -euo pipefail
LAB=${LAB:-/tmp/prony-slurm}
export SLURM_CONF=$LAB/slurm.conf

fail() { echo "slurm.sh: $*" >&2; exit 1; }
# shellcheck source=tests/labs/packages.sh
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

install() {
    local missing
    missing=$(lacking slurmctld:slurmctld slurmd:slurmd srun:slurm-client munged:munge ip:iproute2)
    # shellcheck disable=SC2086  # a list of packages
    provide $missing
}

# Number, as this process sees it, of the first process of the head or of a node.
first() { cat "$LAB/run/$1.first" 2>/dev/null || fail "no $1 runs in $LAB"; }
alive() { [ -s "$LAB/run/$1.first" ] && kill -0 "$(cat "$LAB/run/$1.first")" 2>/dev/null; }
inside() { local at; at=$(first "$1"); shift; nsenter --target "$at" --net --uts --pid --mount "$@"; }

configuration() {
    cat <<C
ClusterName=prony
SlurmctldHost=head(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$LAB/munge/socket,cred_expire=${CRED_EXPIRE:-5}
StateSaveLocation=$LAB/state
SlurmdSpoolDir=$LAB/spool/%n
SlurmctldPidFile=$LAB/run/slurmctld.pid
SlurmdPidFile=$LAB/run/slurmd.%n.pid
SlurmctldLogFile=$LAB/log/slurmctld.log
SlurmdLogFile=$LAB/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdTimeout=${SLURMD_TIMEOUT:-5}
SlurmctldTimeout=10
InactiveLimit=0
KillWait=2
MinJobAge=3600
MessageTimeout=3
TCPTimeout=1
TreeWidth=1000
ReturnToService=2
JobRequeue=1
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=5,bf_interval=5
PropagateResourceLimits=NONE
C
    local i
    for i in $(seq 1 "$1"); do
        echo "NodeName=n$i NodeAddr=10.77.0.$((10 + i)) CPUs=${CPUS:-2} RealMemory=${MEMORY:-1000} State=UNKNOWN"
    done
    echo "PartitionName=all Nodes=n[1-$1] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"
}

# Writes down the first process of new namespaces: the last of the chain of only children that begins with the waiting process.
find_first() {
    local at=$1 name=$2 depth=$3 child
    for _ in $(seq 1 "$depth"); do
        for _ in $(seq 1 500); do
            child=$(cat "/proc/$at/task/$at/children" 2>/dev/null || true); child=${child%% *}
            [ -n "$child" ] && break
            sleep 0.02
        done
        [ -n "$child" ] || fail "$name does not come up: $(tail -3 "$LAB/log/$name.out" 2>/dev/null)"
        at=$child
    done
    echo "$at" >"$LAB/run/$name.first"
}

# As process 1 of a namespace, bash waits for whatever loses its parent.
IDLE='sleep infinity & while :; do wait; done'

start_head() {
    setsid unshare --fork --kill-child --pid --mount-proc --net --uts bash -c "
        hostname head; ip link set lo up
        ip link add lab0 type bridge forward_delay 0 && ip addr add 10.77.0.1/24 dev lab0 && ip link set lab0 up
        touch $LAB/run/head.up; $IDLE" </dev/null >"$LAB/log/head.out" 2>&1 &
    local waiter=$!
    echo "$waiter" >"$LAB/run/head.waiter"
    find_first "$waiter" head 1
    # A laboratory whose owner is gone goes too.
    if [ -n "${OWNER:-}" ]; then
        setsid bash -c "while kill -0 $OWNER 2>/dev/null && kill -0 $waiter 2>/dev/null; do sleep 0.5; done
            kill -9 $waiter 2>/dev/null; sleep 0.3; rm -rf '$LAB'" </dev/null >/dev/null 2>&1 &
    fi
    for _ in $(seq 1 500); do [ -e "$LAB/run/head.up" ] && break; sleep 0.02; done
}

start_controller() { inside head slurmctld "$@" </dev/null >>"$LAB/log/head.out" 2>&1 || fail "slurmctld does not start: $(tail -3 "$LAB/log/slurmctld.log")"; }

start_munge() {
    mkdir -p "$LAB/munge"
    head -c 128 /dev/urandom >"$LAB/munge/key"
    chmod 711 "$LAB"; chmod 755 "$LAB/munge"; chmod 600 "$LAB/munge/key"; chown -R munge:munge "$LAB/munge"
    inside head runuser -u munge -- munged --key-file="$LAB/munge/key" --socket="$LAB/munge/socket" \
        --pid-file="$LAB/munge/pid" --log-file="$LAB/munge/log" --seed-file="$LAB/munge/seed" 2>"$LAB/log/munged" || fail "munged does not start: $(cat "$LAB/log/munged")"
}

start_node() {
    local i=$1; mkdir -p "$LAB/spool/n$i"; rm -f "$LAB/run/n$i.up" "$LAB/run/slurmd.n$i.pid"
    inside head ip link del "port$i" 2>/dev/null || true
    # Nothing may be asked for on the next line: whoever it starts would be taken for the node.
    local head; head=$(first head)
    setsid nsenter --target "$head" --net --uts --pid --mount \
        unshare --fork --kill-child --pid --mount-proc --net --uts bash -c "
        hostname n$i; ip link set lo up; touch $LAB/run/n$i.up
        for _ in \$(seq 1 200); do ip link show eth0 >/dev/null 2>&1 && break; sleep 0.02; done
        ip addr add 10.77.0.$((10 + i))/24 dev eth0; ip link set eth0 up
        slurmd -D -N n$i & 
        $IDLE" </dev/null >"$LAB/log/n$i.out" 2>&1 &
    find_first $! "n$i" 2
    for _ in $(seq 1 500); do [ -e "$LAB/run/n$i.up" ] && break; sleep 0.02; done
    # The number of the node's first process inside of the head is what ip needs there.
    local there; there=$(awk '/^NSpid:/{print $(NF-1)}' "/proc/$(first "n$i")/status")
    inside head ip link add "port$i" type veth peer name eth0 netns "$there"
    inside head ip link set "port$i" master lab0 up
}

wait_idle() {
    for _ in $(seq 1 300); do
        [ "$(at_head sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" -ge "$1" ] && return 0
        sleep 0.1
    done
    at_head sinfo -N -l >&2 || true
    tail -5 "$LAB"/log/*.log >&2 || true
    fail "not all nodes are idle"
}

at_head() { nsenter --net="/proc/$(first head)/ns/net" "$@"; }
slurmd_of() { inside "n$1" bash -c 'for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" = slurmd ] && echo ${p#/proc/}; done' || true; }

stop() {
    if [ -s "$LAB/run/head.first" ]; then
        local head waiter; head=$(cat "$LAB/run/head.first"); waiter=$(cat "$LAB/run/head.waiter" 2>/dev/null || echo 0)
        # Numbers are used again: only ours has our folder in its command.
        if tr '\0' ' ' <"/proc/$head/cmdline" 2>/dev/null | grep -q "$LAB/run/head.up"; then
            kill -9 "$head" 2>/dev/null || true
            for _ in $(seq 1 500); do kill -0 "$waiter" 2>/dev/null || break; sleep 0.02; done
        fi
    fi
    for _ in $(seq 1 20); do rm -rf "$LAB" 2>/dev/null && break; sleep 0.1; done
}

command=${1:-}; shift || true
case "$command" in
start)
    [ "$(id -u)" = 0 ] || fail "needs root"
    install
    stop
    mkdir -p "$LAB"/{state,spool,run,log}
    nodes=${1:-4}; configuration "$nodes" >"$SLURM_CONF"
    start_head; start_munge; start_controller -c
    for i in $(seq 1 "$nodes"); do start_node "$i"; done
    wait_idle "$nodes"
    echo "$nodes nodes are idle; SLURM_CONF=$SLURM_CONF"
    ;;
stop) stop ;;
exec) exec nsenter --net="/proc/$(first head)/ns/net" -- "$@" ;;
at) i=$1; shift; exec nsenter --net="/proc/$(first "n$i")/ns/net" -- "$@" ;;
kill-node) inside head ip link set "port$1" down; kill -9 "$(first "n$1")"; rm -f "$LAB/run/n$1.first" ;;
start-node) alive "n$1" && fail "n$1 runs"; start_node "$1" ;;
freeze) inside "n$1" kill -STOP $(slurmd_of "$1") ;;
thaw) inside "n$1" kill -CONT $(slurmd_of "$1") ;;
partition) inside head ip link set "port$1" down ;;
heal) inside head ip link set "port$1" up ;;
kill-controller) inside head bash -c 'kill -9 $(cat "$0")' "$LAB/run/slurmctld.pid" ;;
start-controller) start_controller ;;
nodes) at_head sinfo -h -N -o '%N %T %E' | sort -u ;;
*) sed -n '2,21s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
