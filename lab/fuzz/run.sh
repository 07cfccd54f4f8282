#!/bin/bash
# run.sh <harness> <work folder> <corpus folder>...
# Runs a libFuzzer harness on the corpus, on what earlier runs found, and on mutations of both, for FUZZ_SECONDS (default 1).
# New inputs stay in the work folder. A crash, a hang of 10 s, a leak or 2 GB of memory fails, and its input is kept there.
set -u
harness=$1 work=$2
shift 2
name=$(basename "$harness")
mkdir -p "$work/found" || exit 1
dictionary=$(dirname "$0")/${name#fuzz_}.dict
options=(-max_total_time="${FUZZ_SECONDS:-1}" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -close_fd_mask=2
    -print_final_stats=1 -artifact_prefix="$work/")
[ -f "$dictionary" ] && options+=(-dict="$dictionary")
if ! "$harness" "${options[@]}" "$work/found" "$@" >"$work/log" 2>&1; then
    grep -v '^#' "$work/log" | tail -60
    echo "$name failed; the input is in $work"
    exit 1
fi
grep -E 'number_of_executed_units|peak_rss_mb' "$work/log" | sed "s/^stat::/$name /"
