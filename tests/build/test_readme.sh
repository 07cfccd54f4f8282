#!/usr/bin/env bash
# test_readme.sh SOURCE_DIR QUICKSTART
# The README fits in 150 lines, and begins with a picture that moves and what runs it; the targets and folders that it and
# docs/building.md name are there. The C example of docs/c.md is examples/quickstart.c to the letter and runs. The
# changelog and the citation know the version.
set -euo pipefail
source=$1 quickstart=$2
readme=$source/README.md
fail() { echo "readme: $*" >&2; exit 1; }

[ "$(wc -l <"$readme")" -le 150 ] || fail "README.md has $(wc -l <"$readme") lines; allowed: 150"
first=$(head -n 24 "$readme")
for part in '!\[' 'pip install' 'sapwood demo' 'import sapwood' 'batch.step'; do
    grep -q -- "$part" <<<"$first" || fail "the first 24 lines of README.md have no '$part'"
done
picture=$(sed -n 's/^!\[[^]]*\](\(.*\))$/\1/p' <<<"$first" | head -n 1)
grep -q '<animate ' "$source/$picture" || fail "the first picture, '$picture', does not move"
diff <(sed -n '/^```c$/,/^```$/{/^```/d;p}' "$source/docs/c.md") "$source/examples/quickstart.c" ||
    fail "the example in docs/c.md (<) is not examples/quickstart.c (>)"

cd "$source" # the example names its scene relative to the project
output=$("$quickstart") || fail "the example fails"
echo "$output"
grep -Eq '[0-9]' <<<"$output" || fail "the example prints no number: '$output'"
if grep -Eqi 'nan|inf' <<<"$output"; then fail "the example prints '$output'"; fi

# A loop that never resets shows nobody how.
grep -Eq '(^| )[1-9][0-9]* resets' <<<"$output" || fail "the example resets no world: '$output'"

for target in $(grep -hoE '(^|`)make [a-z-]+' "$readme" "$source/docs/building.md" | sed 's/.*make //' | sort -u); do
    grep -qE "^$target:" "$source/Makefile" || fail "README.md or docs/building.md names 'make $target', which the Makefile does not have"
done
folders=$(sed -n '/^| folder /,/^$/s/^| \(`[^|]*`\) .*/\1/p' "$readme" | tr -d '`,')
[ -n "$folders" ] || fail "README.md lists no folder"
for path in $folders; do
    [ -e "$source/$path" ] || fail "README.md names $path, which is not there"
done

number() { sed -n "s/^#define SAP_VERSION_$1 //p" "$source/include/sapwood/export.h"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
grep -q "^## $version[, ]" "$source/CHANGELOG.md" || fail "CHANGELOG.md has no section $version"
grep -qx "version: $version" "$source/CITATION.cff" || fail "CITATION.cff does not have the version $version"
