#!/bin/bash
# The kernels refuse to compile with any flag that lets a compiler reorder operations, drop NaN or flush denormals: results
# would depend on the compiler.
#
# test_fast_math.sh <project>
set -u
project=$1
failures=0 tried=0

# compile <compiler> <flag>: prints the messages.
compile() {
    "$1" -std=c17 -D_GNU_SOURCE= "$2" -fsyntax-only -w -Wno-psabi -I"$project/include" -I"$project/src" \
        -DSAP_ISA_NAME=generic -DSAP_LANES=1 -DSAP_PRECISION=64 "$project/src/kernels/target/cpu.c" 2>&1
}

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    flags="-ffast-math -Ofast -ffinite-math-only"
    [ $compiler = gcc ] && flags="$flags -funsafe-math-optimizations -freciprocal-math"
    compile $compiler -O2 >/dev/null || { echo "$compiler -O2 is refused"; failures=$((failures + 1)); }
    for flag in $flags; do
        tried=$((tried + 1))
        [[ $(compile $compiler $flag) == *"need IEEE arithmetic"* ]] && continue
        echo "$compiler $flag is accepted"
        failures=$((failures + 1))
    done
done
[ $tried -gt 0 ] || { echo "neither gcc nor clang is installed"; exit 1; }
[ $failures = 0 ] && echo "ok: $tried refused"
exit $((failures > 0))
