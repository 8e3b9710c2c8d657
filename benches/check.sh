#!/bin/sh
# Prints the tables of validation/check.txt: what `prony check` calls low, and which causes it names.
# Usage: benches/check.sh >validation/check.txt
set -eu
cd "$(dirname "$0")/.."
rows() {
    PRONY_TEST_SLOW=1 cargo test -q "$@" -- --nocapture --test-threads=1 | grep '^|'
}
echo '| judged | of them | result |'
echo '|---|---|---|'
rows -p prony-check --test it fleet::bad_nodes
rows -p prony-check --test it healthy::nothing
rows -p prony-check --test it public::at_most
rows -p prony --test it check::a_node_slowed
echo
rows -p prony-check --test it planted::twenty
