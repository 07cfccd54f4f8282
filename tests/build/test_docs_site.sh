#!/usr/bin/env bash
# test_docs_site.sh SOURCE_DIR LIBRARY
# `make docs` builds the site without a warning, and the pages of the guide, of C and of Python are in it. Skipped (77) if
# the packages that it needs were not installed by `make docs`.
set -euo pipefail
source=$1 library=$2
fail() { echo "docs: $*" >&2; exit 1; }

cd "$source"
command -v doxygen >/dev/null && cmp -s docs/site/requirements.txt build/docs-venv/requirements.txt || exit 77
rm -rf build/docs/doctrees # a page that did not change warns only when it is read
SAPWOOD_LIBRARY=$library scripts/docs

html=build/docs/html
grep -q 'sap_batch_step' $html/docs/site/c_api.html || fail "the C reference has no sap_batch_step"
grep -q 'sapwood.Batch.step' $html/docs/site/python_api.html || fail "the Python reference has no Batch.step"
for page in docs/*.md; do
    [ -s "$html/${page%.md}.html" ] || fail "$page is not in the site"
    [ "$page" = docs/README.md ] || grep -q "href=\"[^\"]*$(basename "${page%.md}").html" $html/docs/README.html ||
        fail "the navigation has no link to $page"
done
[ -s $html/searchindex.js ] || fail "the site has no search index"
