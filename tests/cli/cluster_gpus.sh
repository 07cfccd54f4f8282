#!/usr/bin/env bash
# cluster_gpus.sh PROGRAM MPIRUN FOLDER_OF_THE_DRIVER
# One GPU per rank of a node, with the stand-in driver of lab/ptx: two ranks with two GPUs have the hash of one process on
# the CPU; so do two ranks that see the same GPU, or each its own as GPU 0.
set -uo pipefail
program=$1 mpirun=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
export SAPWOOD_CUDA_DRIVER=$3/libcuda.so.1

run=(run cube --worlds 3 --steps 4 --json)
hash() { sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p'; }
ranks() { # ranks GPUS ARGUMENTS...: standard output and error in files
    PTX_DEVICES=$1 timeout 300 "$mpirun" -n 2 "$program" "${run[@]}" --device cuda "${@:2}" >"$work/out" 2>"$work/err"
}
expected=$("$program" "${run[@]}" | hash)
[ ${#expected} -eq 16 ] || fail "no hash on the CPU"
ranks 2 || fail "two ranks, two GPUs: $(cat "$work/err")"
[ "$(hash <"$work/out")" = "$expected" ] || fail "two GPUs have another hash: $(cat "$work/out")"
ranks 1 || fail "two ranks, one GPU: $(cat "$work/err")"
[ "$(hash <"$work/out")" = "$expected" ] || fail "one GPU has another hash: $(cat "$work/out")"
ranks 2 --set cuda_device=2 && fail "a GPU that is not there"
grep -q "cuda_device is '2'; .*0 \.\. 1" "$work/err" || fail "the message does not name the GPUs: $(cat "$work/err")"
ranks 2 --set cuda_device=1 || fail "a GPU that the user chose: $(cat "$work/err")"

[ $failures -eq 0 ] && echo "ok"
exit $failures
