#!/bin/bash
# rows.sh [-p PRONY] [-d DIRECTORY] [-t SECONDS] OUTPUT.md: what the authors of the five published evaluations would run
# today: one row of their tables and studies after the other, each with its command and the beginning of its output, as
# one page. About half an hour: a row is interrupted after SECONDS, 290 unless given. DIRECTORY is where files are measured.
set -u
prony=prony
directory=.
limit=290
while getopts p:d:t: option; do
    case $option in
    p) prony=$(realpath "$OPTARG") ;;
    d) directory=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# = 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
page=$(realpath "$1")
here=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d -p "$directory")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PRONY_STORE=$work/rows.sqlite COLUMNS=100 NO_COLOR=1
mkdir bin
ln -s "$prony" bin/prony
PATH=$work/bin:$PATH
ln -s "$here/docs/examples" examples
ln -s "$here/examples/manifests" manifests

{
    echo "# The rows of the five evaluations"
    echo
    echo "Made by \`benches/rows.sh\` on $(date -u +%F), one run of each command, load $(cut -d' ' -f1 /proc/loadavg)"
    echo "at its beginning. Long outputs end with \`...\`."
} >"$page"

# part TITLE: a group of rows.
part() { printf '\n## %s\n' "$1" >>"$page"; }

# row LINES TITLE COMMAND: runs a command; its first LINES lines of output go to the page.
row() {
    local lines=$1 title=$2 command=$3 code began=$SECONDS
    echo "$title" >&2
    timeout --signal=INT --kill-after=10 "$limit" bash -c "$command" >said 2>heard </dev/null
    code=$?
    echo "  exit code $code after $((SECONDS - began)) s" >&2
    {
        printf '\n### %s\n```console\n$ %s\n' "$title" "$command"
        { [ $code = 0 ] || head -n 4 heard; head -n "$lines" said; } | cut -c1-140 | sed "s#$work#.#g"
        [ "$(wc -l <said)" -le "$lines" ] || echo ...
        [ $code = 0 ] || echo "(exit code $code after $((SECONDS - began)) s)"
        echo '```'
    } >>"$page"
}

. "$here/benches/rows.list"
