#!/usr/bin/env bash
# test_install.sh SOURCE_DIR BUILD_DIR CMAKE CC
# What `cmake --install` leaves is complete and can be moved: a C program finds the library through CMake and through
# pkg-config, the program runs, and the library exports what the headers declare and nothing else.
set -euo pipefail
source=$1 build=$2 cmake=$3 cc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install: $*" >&2; exit 1; }

"$cmake" --install "$build" --prefix "$work/first" >"$work/log" || fail "cmake --install: $(cat "$work/log")"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
library=$(find "$prefix" -name libsapwood.so)
libdir=$(dirname "$library")

# All public headers are there.
diff <(ls "$source/include/sapwood") <(ls "$prefix/include/sapwood") || fail "the installed headers differ"

# The name that programs are linked to carries the version of the binary interface: the major version, and before 1.0
# also the minor one.
version_of() { sed -n "s/^#define SAP_VERSION_$1 //p" "$source/include/sapwood/export.h"; }
soversion=$(version_of MAJOR)
[ "$soversion" != 0 ] || soversion=0.$(version_of MINOR)
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = "libsapwood.so.$soversion" ] || fail "the soname is '$soname', not libsapwood.so.$soversion"

# Exported symbols and declared functions are the same set.
declared=$(sed -n 's/^SAP_API .*[ *]\(sap_[a-z0-9_]*\)(.*/\1/p' "$source"/include/sapwood/*.h | sort)
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort)
[ -n "$exported" ] || fail "nothing is exported"
diff <(echo "$declared") <(echo "$exported") || fail "declared (<) and exported (>) functions differ"

# A program that uses find_package.
"$cmake" -G Ninja -S "$source/tests/build/install" -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
    >"$work/log" 2>&1 && "$cmake" --build "$work/cmake" >>"$work/log" 2>&1 || fail "find_package: $(cat "$work/log")"
"$work/cmake/consumer" || fail "the program built with find_package fails"

# The same program with pkg-config.
flags=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs sapwood) || fail "pkg-config does not know sapwood"
"$cc" -o "$work/consumer" "$source/tests/build/install/consumer.c" $flags || fail "the flags '$flags' do not build a program"
LD_LIBRARY_PATH=$libdir "$work/consumer" || fail "the program built with pkg-config fails"

# The command line program finds the moved library by itself.
"$prefix/bin/sapwood" info "$source/bench/scenes/quadruped.yaml" >"$work/log" 2>&1 ||
    fail "the installed program: $(cat "$work/log")"

# Its man page and its completions are where man, bash and zsh look for them.
for page in man/man1/sapwood.1 bash-completion/completions/sapwood zsh/site-functions/_sapwood; do
    [ -s "$prefix/share/$page" ] || fail "share/$page is missing"
done

# It finds the separate programs, which find the library too.
for command in conform selftest dump-problem bench-newton bench-collision compare-solvers; do
    (cd / && "$prefix/bin/sapwood" "$command" --version >"$work/log" 2>&1) || fail "$command: $(cat "$work/log")"
done
