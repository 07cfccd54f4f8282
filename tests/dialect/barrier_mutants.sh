#!/bin/bash
# Takes each TEAM_SYNC() out of a copy of the kernels in turn, and expects that the team of threads complains under the thread
# sanitizer: a race, other bits, or a hang. A barrier that nothing misses is either not needed or not tested.
#
# barrier_mutants.sh <project> <work folder> <compiler> <libsapwood_static.a> [<link argument>...]
#
# SAPWOOD_BARRIERS=<regular expression> takes only those whose "file:line" it matches, such as 'tiles|blocks'.
set -u
project=$1 work=$2 cc=$3 library=$4
shift 4
link=("$@" -lpthread -lm)
jobs=$(nproc)
timeout=120 # s; a run takes about one, on a busy machine some

# Barriers that may be taken out unnoticed, as "file: comment", each with its reason here. None so far.
redundant=()

flags=(-std=c17 -D_GNU_SOURCE= -O0 -fsanitize=thread -ffp-contract=off -Wno-psabi
    -I"$project/include" -I"$project/tests/plain" -I"$project/tests"
    "-DSAPWOOD_SOURCE_DIR=\"$project\"")
kernel_flags=(-fno-math-errno -fno-trapping-math -DSAP_TEAM_THREADS -DSAP_ISA_NAME=team -DSAP_LANES=1)
export SAPWOOD_TEST_SCALE=0.001 TSAN_OPTIONS=halt_on_error=1

die() {
    echo "barrier_mutants: $*" >&2
    exit 1
}

compile_kernels() { # <folder that holds kernels/> <entry file> <precision> <output>
    "$cc" "${flags[@]}" -I"$1" "${kernel_flags[@]}" -DSAP_PRECISION="$3" -c "$1/kernels/target/$2.c" -o "$4"
}

# A program of <test> with the kernels in <folder>, of both entry files and precisions.
link_program() { # <test> <folder> <output>
    "$cc" -fsanitize=thread "$2"/{cpu,dual_cpu}_{32,64}.o "$work"/common_*.o "$work/test_$1.o" "$library" "${link[@]}" -o "$3"
}

# The entry file that compiles a header, and the test that runs it: the dual solvers have their own of both; their part
# of a step runs in the test of steps.
entry_of() { # <file>
    if grep -q "\"kernels/$1\"" "$project/src/kernels/dual/methods.h"; then
        echo dual_cpu dual_team
    elif [[ $1 =~ ^dual/ ]]; then
        echo dual_cpu team_threads
    else
        echo cpu team_threads
    fi
}

# What the mutants share.
prepare() {
    rm -rf "$work" && mkdir -p "$work" || die "cannot write $work"
    local tests=$project/tests
    for source in "$tests"/support/{team_threads,random_model,model_parts,shape_model}.c "$tests"/plain/runner.c; do
        "$cc" "${flags[@]}" -I"$project/src" -c "$source" -o "$work/common_$(basename "$source" .c).o" || die "cannot compile $source"
    done
    for test in team_threads dual_team; do
        "$cc" "${flags[@]}" -I"$project/src" -c "$tests/dialect/test_$test.c" -o "$work/test_$test.o" || die "cannot compile $test"
    done
    for entry in cpu dual_cpu; do
        for precision in 32 64; do
            compile_kernels "$project/src" $entry $precision "$work/${entry}_$precision.o" || die "cannot compile the kernels"
        done
    done
    for test in team_threads dual_team; do
        link_program $test "$work" "$work/program_$test" || die "cannot link $test"
    done
}

# Prints "verdict" of mutant <number> <file> <line>: what was noticed, or "nothing".
try_mutant() {
    local folder=$work/$1
    mkdir "$folder" && cp -r "$project/src/kernels" "$folder"
    sed -i "$3s/TEAM_SYNC();/((void)0);/" "$folder/kernels/$2"
    cmp -s "$folder/kernels/$2" "$project/src/kernels/$2" && die "line $3 of $2 has no barrier"
    local precision=64
    local entry test
    read -r entry test <<<"$(entry_of "$2")"
    cp "$work"/{cpu,dual_cpu}_{32,64}.o "$folder"
    compile_kernels "$folder" "$entry" $precision "$folder/${entry}_$precision.o" &&
        link_program "$test" "$folder" "$folder/program" || die "mutant of $2:$3 does not compile"
    local verdict=nothing
    for repetition in 1 2 3; do # a race need not show itself the first time
        timeout $timeout "$folder/program" >"$folder/log" 2>&1
        local status=$?
        if [ $status = 124 ]; then
            verdict=hang
        elif grep -q "ThreadSanitizer: data race" "$folder/log"; then
            verdict=race
        elif [ $status != 0 ]; then
            verdict="wrong bits"
        fi
        [ "$verdict" != nothing ] && break
    done
    echo "$verdict" >"$work/verdict_$1"
}

prepare
for test in team_threads dual_team; do
    timeout $timeout "$work/program_$test" >"$work/log" 2>&1 || {
        cat "$work/log"
        die "the kernels as they are do not pass"
    }
done

# The kernels of MuJoCo's law have no team of threads in this test: on a CPU a team is one thread.
mapfile -t barriers < <(cd "$project/src/kernels" && grep -rn --include='*.h' --exclude-dir=mujoco 'TEAM_SYNC();' . |
    sed 's|^\./||' | awk -F: -v chosen="${SAPWOOD_BARRIERS:-}" '$1 ":" $2 ~ chosen' | sort)
[ ${#barriers[@]} -gt 0 ] || die "found no barriers"
for i in "${!barriers[@]}"; do
    IFS=: read -r file line _ <<<"${barriers[i]}"
    try_mutant "$i" "$file" "$line" &
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
done
wait

failures=0
printf '%-24s %-12s %s\n' barrier 'without it' 'what it protects'
for i in "${!barriers[@]}"; do
    IFS=: read -r file line text <<<"${barriers[i]}"
    comment=$(sed 's|.*/\* *||; s| *\*/.*||' <<<"$text")
    verdict=$(cat "$work/verdict_$i" 2>/dev/null || echo "not tried")
    if [ "$verdict" = nothing ] && [[ " ${redundant[*]} " == *"$file: $comment"* ]]; then
        verdict="redundant"
    elif [ "$verdict" = nothing ] || [ "$verdict" = "not tried" ]; then
        failures=$((failures + 1))
    fi
    printf '%-24s %-12s %s\n' "$file:$line" "$verdict" "$comment"
done
[ $failures = 0 ] || die "$failures barriers of ${#barriers[@]} were not missed"
rm -rf "$work"
