#!/usr/bin/env bash
# valgrind.sh PROGRAM
# Runs the program under valgrind on one lane and one thread without SIMD: no value that was never written may decide
# anything, no access may be out of bounds, and nothing may leak.
set -euo pipefail
program=$1
suppressions=$(dirname "${BASH_SOURCE[0]}")/valgrind.supp
check() {
    echo "$*"
    valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        --suppressions="$suppressions" "$program" "$@" >/dev/null
}
plain=(--isa generic --set lanes=1 --set threads=1)
for scene in cube gripper stack5 quadruped; do
    for preset in approx32 drake; do
        check run $scene --worlds 2 --steps 5 --preset $preset "${plain[@]}"
    done
done
for scene in tests/scenes/*.yaml; do
    check run "$scene" --worlds 2 --steps 3 "${plain[@]}"
done
check run quadruped --worlds 2 --steps 3 --noise 1e30 "${plain[@]}" || [ $? = 1 ]
check info humanoid
check conform --compat tests/data/reference/f64/arm3.json.gz
echo "ok"
