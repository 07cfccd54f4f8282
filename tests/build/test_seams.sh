#!/usr/bin/env bash
# test_seams.sh SOURCE_DIR
# The seam between methods and terms: in kernels/solve only terms.h and the reports know that there are contacts and joints, and
# formulation.h, which declares their functions. In kernels/dual the step, delassus.h, cache.h and bounce.h do. The code of the other files,
# comments aside, says neither SLOT, num_slots, contact_ nor joint_. Names file and line of what does.
set -euo pipefail
shopt -s inherit_errexit
. "$(dirname "${BASH_SOURCE[0]}")/source_check.sh"
cd "$1"

words='SLOT num_slots contact_ joint_'

# Exceptions that stay, "finding | reason".
allowed='
'
# Known and to be removed, "finding | cure".
known='
'

# Prints lines "key<TAB>file:line<TAB>text".
check_words() {
    local files
    files=$(find kernels/solve kernels/dual -type f ! -name terms.h ! -name formulation.h ! -name 'report*.h' \
        ! -path kernels/dual/step.h ! -name delassus.h ! -name cache.h ! -name bounce.h ! -name stages.h | sort)
    [ -n "$files" ] || { printf 'solve\tkernels/solve:1\thas no files\n'; return; }
    strip_comments <<<"$files" | awk -v words="$words" '
        {
            match($0, /^[^:]*:[0-9]+:/)
            place = substr($0, 1, RLENGTH - 1)
            code = substr($0, RLENGTH + 1)
            file = place
            sub(/:.*/, "", file)
            n = split(words, word, " ")
            for (i = 1; i <= n; i++)
                if (index(code, word[i]))
                    print file " says " word[i] "\t" place "\ta method may not say " word[i] ":" code
        }'
}

findings=$(check_words)
report_findings "$known" "$allowed" <<<"$findings" || exit 1
echo "ok"
