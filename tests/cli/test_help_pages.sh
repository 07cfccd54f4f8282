#!/usr/bin/env bash
# test_help_pages.sh PROGRAM HELP_PAGES
# The man page has every command and option of the help, and the completions offer them: commands, the options of the
# command, the values of an option, and scenes.
set -euo pipefail
program=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "help_pages: $*" >&2; exit 1; }
bash "$2" "$program" "$work"

man=$(sed 's/\\-/-/g' "$work/sapwood.1")
commands=$("$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\).*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 11 ] || fail "the help lists the commands '$commands'"
for command in $commands; do
    section=$(sed -n "/^\.SH SAPWOOD ${command^^}\$/,/^\.SH/p" <<<"$man")
    [ -n "$section" ] || fail "the man page has no section of $command"
    options=$("$program" help "$command" | sed -n 's/^      \(--[a-z-]*\).*/\1/p' | grep -vx -- --usage)
    [ -n "$options" ] || fail "the help of $command has no options"
    for option in $options; do
        grep -qE "^\.B $option(=.*|\[=.*\])?\$" <<<"$section" || fail "the man page has no $option of $command"
    done
done
if command -v groff >/dev/null; then
    complaints=$(groff -man -ww -Tutf8 "$work/sapwood.1" 2>&1 >/dev/null)
    [ -z "$complaints" ] || fail "groff: $complaints"
fi

# What bash offers for the words of a command line, the last one unfinished; "=" is a word of its own.
mkdir "$work/bin"
ln -s "$program" "$work/bin/sapwood"
PATH=$work/bin:$PATH
compopt() { :; } # outside a real completion it fails
source "$work/sapwood.bash"
offers() { # expected, word...
    local expected=$1
    COMP_WORDS=("${@:2}")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _sapwood || true # without a match compgen fails
    [ "${COMPREPLY[*]}" = "$expected" ] || fail "bash offers '${COMPREPLY[*]}', not '$expected', for: ${*:2}"
}
offers "replay" sapwood repl
offers "--version" sapwood --v
offers "selftest" sapwood help self
offers "quadruped" sapwood run quadr
offers "gripper" sapwood info --json gri
offers "--trajectory= --trajectory-world=" sapwood run cube --traj
offers "" sapwood info --traj
offers "--kinds" sapwood selftest --ki
offers "drake" sapwood run cube --preset = dr
offers "fast32 fast64" sapwood run --preset fast
offers "cpu cuda" sapwood selftest --device =
offers "avx2 avx512" sapwood replay --isa = avx
offers "f32 f64" sapwood run --dtype = f
offers "max_contacts= max_contacts_per_pair=" sapwood run --set = max_contacts
offers "" sapwood run --steps = 4 --threads = 2x

if command -v zsh >/dev/null; then
    zsh -n "$work/_sapwood" || fail "zsh cannot read _sapwood"
fi
