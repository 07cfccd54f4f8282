#!/usr/bin/env bash
# test_readme.sh SOURCE_DIR QUICKSTART
# The README's C example is examples/quickstart.c to the letter and runs; the targets and files it names are there. The
# changelog and the citation know the version.
set -euo pipefail
source=$1 quickstart=$2
readme=$source/README.md
fail() { echo "readme: $*" >&2; exit 1; }

diff <(sed -n '/^```c$/,/^```$/{/^```/d;p}' "$readme") "$source/examples/quickstart.c" ||
    fail "the example in README.md (<) is not examples/quickstart.c (>)"

cd "$source" # the example names its scene relative to the project
output=$("$quickstart") || fail "the example fails"
echo "$output"
grep -Eq '[0-9]' <<<"$output" || fail "the example prints no number: '$output'"
if grep -Eqi 'nan|inf' <<<"$output"; then fail "the example prints '$output'"; fi

# A loop that never resets shows nobody how.
grep -Eq '(^| )[1-9][0-9]* resets' <<<"$output" || fail "the example resets no world: '$output'"

for target in $(grep -oE '(^|`)make [a-z-]+' "$readme" | sed 's/.*make //' | sort -u); do
    grep -qE "^$target:" "$source/Makefile" || fail "README.md names 'make $target', which the Makefile does not have"
done
for path in $(sed -n '/^| folder /,/^$/s/^| `\([^`]*\)` .*/\1/p' "$readme"); do
    [ -e "$source/$path" ] || fail "README.md names $path, which is not there"
done

number() { sed -n "s/^#define SAP_VERSION_$1 //p" "$source/include/sapwood/export.h"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
grep -q "^## $version[, ]" "$source/CHANGELOG.md" || fail "CHANGELOG.md has no section $version"
grep -qx "version: $version" "$source/CITATION.cff" || fail "CITATION.cff does not have the version $version"
