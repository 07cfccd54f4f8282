#!/usr/bin/env bash
# test_headers.sh INCLUDE_DIR
# Every public header compiles on its own, twice over, as C11 and as C++17, with each compiler there is and nothing but the
# system's headers beside ours.
set -euo pipefail
include=$1
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH

# check KIND STANDARD COMPILER...
check() {
    local kind=$1 standard=$2 compiler header name tried=0
    shift 2
    for compiler in "$@"; do
        command -v "$compiler" >/dev/null || continue
        tried=1
        for header in "$include"/sapwood/*.h; do
            name=sapwood/$(basename "$header")
            printf '#include <%s>\n#include <%s>\nextern int not_empty;\n' "$name" "$name" |
                "$compiler" -x "$kind" -std="$standard" -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$include" - || {
                echo "$name does not compile with $compiler -std=$standard" >&2
                exit 1
            }
        done
        echo "$compiler -std=$standard: ok"
    done
    [ $tried = 1 ] || { echo "none of these compilers is there: $*" >&2; exit 1; }
}

check c c11 cc gcc clang
check c++ c++17 c++ g++ clang++
