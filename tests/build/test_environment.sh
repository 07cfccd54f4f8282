#!/usr/bin/env bash
# test_environment.sh SOURCE_DIR
# The environment chooses libraries and kernels to load. A program with more rights than its user must not follow it, so
# every variable is read with secure_getenv.
set -euo pipefail
cd "$1"
found=$(grep -rnw --include='*.[ch]' getenv . || true)
[ -z "$found" ] || { echo "use secure_getenv:"; echo "$found"; exit 1; }
grep -rqw --include='*.c' secure_getenv . || { echo "no variable is read; remove this test"; exit 1; }
echo "ok"
