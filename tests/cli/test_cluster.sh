#!/usr/bin/env bash
# test_cluster.sh PROGRAM [MPIRUN]
# Several processes under mpirun: one hash and one report for any number of ranks, errors that name a difference or a rank,
# and no hang when a rank dies. Without MPIRUN the build has no MPI and says so.
set -uo pipefail
program=$1 mpirun=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }

if [ -z "$mpirun" ]; then
    OMPI_COMM_WORLD_SIZE=2 "$program" run cube --worlds 4 --steps 1 >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "a build without MPI runs under mpirun"
    grep -q 'this build has no MPI' "$work/err" || fail "no word about MPI: $(cat "$work/err")"
    [ $failures -eq 0 ] && echo "ok (without MPI)"
    exit $failures
fi

# More ranks than CPUs, as any user, and without spinning where a rank waits.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
ranks() { # ranks N COMMAND...: standard output and error in files
    timeout 120 "$mpirun" -n "$@" >"$work/out" 2>"$work/err"
}
key() { sed -n "s/^ *\"$1\": \"\\{0,1\\}\\([^\",]*\\).*/\\1/p" "$2" | head -1; }

# ---- the same results ----

run=(run quadruped --worlds 13 --steps 60 --json)
"$program" "${run[@]}" >"$work/one" || fail "a run in one process"
bench=(bench --scene quadruped --worlds 13 --steps 8 --warmup 8 --repeat 1 --format json)
"$program" "${bench[@]}" >"$work/bench_one" || fail "a bench in one process"
hash=$(key state_hash "$work/one") bench_hash=$(key state_hash "$work/bench_one")
[ ${#hash} -eq 16 ] && [ ${#bench_hash} -eq 16 ] || fail "no hash: '$hash' '$bench_hash'"
energy=$(grep -A 20 '"energy"' "$work/one")
for n in 1 2 3 4; do
    ranks $n "$program" "${run[@]}" || fail "run with $n ranks: $(cat "$work/err")"
    [ "$(key state_hash "$work/out")" = "$hash" ] || fail "run with $n ranks has another hash: $(cat "$work/out" "$work/err")"
    [ "$(key ranks "$work/out")" = $n ] && [ "$(key worlds "$work/out")" = 13 ] || fail "$n ranks are not reported"
    [ "$(grep -A 20 '"energy"' "$work/out")" = "$energy" ] || fail "run with $n ranks has other energies"
    [ "$(grep -c '"state_hash"' "$work/out")" = 1 ] || fail "run with $n ranks prints more than one report"
done
for n in 2 3 4; do
    ranks $n "$program" "${bench[@]}" || fail "bench with $n ranks: $(cat "$work/err")"
    [ "$(key state_hash "$work/out")" = "$bench_hash" ] || fail "bench with $n ranks has another hash: $(cat "$work/out" "$work/err")"
    diff <(sed -n '/"contacts"/,/}/p; /"newton_iterations"/,/}/p' "$work/bench_one") \
        <(sed -n '/"contacts"/,/}/p; /"newton_iterations"/,/}/p' "$work/out") || fail "bench with $n ranks has other statistics"
done

# A trajectory is written by the rank that has the world.
"$program" run cube --worlds 6 --steps 5 --trajectory "$work/a.csv" --trajectory-world 4 >/dev/null
ranks 3 "$program" run cube --worlds 6 --steps 5 --trajectory "$work/b.csv" --trajectory-world 4 || fail "trajectory: $(cat "$work/err")"
cmp -s "$work/a.csv" "$work/b.csv" || fail "the trajectory of a world depends on the ranks"

# ---- ranks that differ ----

differ() { # differ WORDS ARGUMENTS_OF_RANK_0 -- ARGUMENTS_OF_RANK_1
    local words=$1 first=()
    shift
    while [ "$1" != -- ]; do first+=("$1"); shift; done
    shift
    timeout 60 "$mpirun" -n 1 "$program" "${first[@]}" : -n 1 "$program" "$@" >"$work/out" 2>"$work/err"
    local code=$?
    [ $code -ne 0 ] && [ $code -ne 124 ] || fail "ranks with another $words: status $code"
    grep -q "the ranks differ.*$words" "$work/err" || fail "no word about $words: $(cat "$work/err")"
    ! grep -q 'state hash' "$work/out" || fail "ranks with another $words print a report"
}
differ 'worlds: 8.*worlds: 9' run cube --worlds 8 --steps 2 -- run cube --worlds 9 --steps 2
differ 'option friction_regularization' run cube --worlds 8 --steps 2 -- run cube --worlds 8 --steps 2 --set friction_regularization=0.01
differ 'model ' run cube --worlds 8 --steps 2 -- run stack5 --worlds 8 --steps 2
differ 'seed: 0.*seed: 1' bench --scene cube --worlds 8 --repeat 1 -- bench --scene cube --worlds 8 --repeat 1 --seed 1
differ 'command: run.*command: bench' run cube --worlds 8 -- bench --scene cube --worlds 8
mkdir "$work/other"
soname=$(readelf -d "$program" | sed -n 's/.*\[\(libsapwood[^]]*\)\]/\1/p')
cp "$(dirname "$program")/src/$soname" "$work/other/$soname" && echo >>"$work/other/$soname"
timeout 60 "$mpirun" -n 1 "$program" run cube --worlds 8 --steps 2 : -n 1 env LD_LIBRARY_PATH="$work/other" \
    "$program" run cube --worlds 8 --steps 2 >"$work/out" 2>"$work/err"
if readelf -d "$program" | grep -q RPATH; then echo "skipped: another library (RPATH)"
else grep -q 'the ranks differ.*library' "$work/err" || fail "another library: $(cat "$work/err")"; fi

# ---- mistakes and accidents ----

ranks 4 "$program" run cube --worlds 3 --steps 1 && fail "four ranks take three worlds"
grep -q 'there are 3 worlds and 4 ranks' "$work/err" || fail "too few worlds: $(cat "$work/err")"
[ "$(grep -c 'there are 3 worlds' "$work/err")" = 1 ] || fail "too few worlds is said more than once"
ranks 2 "$program" info cube && fail "info runs under mpirun"
grep -q 'mpirun is for the commands run and bench' "$work/err" || fail "info: $(cat "$work/err")"
ranks 2 "$program" bench-newton && fail "bench-newton runs under mpirun"
timeout 60 "$mpirun" -n 1 "$program" run cube --worlds 4 --steps 2 : -n 1 "$program" run no_such_scene --worlds 4 \
    >"$work/out" 2>"$work/err" && fail "a rank without its scene"
grep -q 'rank 1: .*no_such_scene' "$work/err" || fail "a rank that fails is not named: $(cat "$work/err")"

children() { grep -l "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status 2>/dev/null | sed 's|/proc/\([0-9]*\)/.*|\1|'; }

# A rank is killed while all run: the job ends at once, with a message.
timeout 120 "$mpirun" -n 3 "$program" run quadruped --worlds 64 --steps 1000000 >"$work/out" 2>"$work/err" &
job=$!
sleep 3
victim=$(children "$(children $job | head -1)" | tail -1) # timeout, mpirun, rank
kill -9 "$victim"
start=$SECONDS
wait $job
code=$?
[ $code -ne 0 ] && [ $code -ne 124 ] && [ $((SECONDS - start)) -lt 20 ] || fail "a killed rank: status $code after $((SECONDS - start)) s"
grep -q 'Killed' "$work/err" || fail "a killed rank is not named: $(cat "$work/err")"

[ $failures -eq 0 ] && echo "ok"
exit $failures
