#!/usr/bin/env bash
# test_capabilities_page.sh PROGRAM PAGE: the page is what the program prints.
set -euo pipefail
if ! diff "$2" <("$1" info --capabilities); then
    echo "$2 differs from the library; write it with: sapwood info --capabilities > docs/capabilities.md"
    exit 1
fi
