#!/usr/bin/env bash
# help_pages.sh PROGRAM FOLDER
# Writes sapwood.1 (the man page), sapwood.bash and _sapwood (completion in bash and zsh) to FOLDER, from what
# `PROGRAM help` and `PROGRAM help COMMAND` print.
set -euo pipefail
program=$1 folder=$2
export ARGP_HELP_FMT=rmargin=10000 LC_ALL=C # one line per paragraph and option
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" help >"$work/help"
"$program" --version >"$work/version"
sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\).*/\1/p' "$work/help" >"$work/commands"
[ -s "$work/commands" ] || { echo "help_pages.sh: '$program help' lists no command" >&2; exit 1; }
while read -r command; do
    "$program" help "$command" >"$work/help.$command"
done <"$work/commands"
"$program" info cube --options 2>/dev/null | sed -n '/^options/,$s/^  \([a-z_0-9]*\) .*/\1/p' >"$work/options" || true

# A line per option of a help text: -s or -, --name, value or -, meaning; separated by tabs. [VALUE] may be left out.
list_options() {
    awk '/^ +(-.,? )?-/ {
        text = $0; sub(/^ +/, "", text)
        short = ""
        if (text ~ /^-[^-], /) { short = substr(text, 1, 2); text = substr(text, 5) }
        at = match(text, /  +/)
        name = at ? substr(text, 1, at - 1) : text
        meaning = at ? substr(text, at + RLENGTH) : ""
        value = ""
        if (equals = index(name, "[=")) { value = "[" substr(name, equals + 2); name = substr(name, 1, equals - 1) }
        else if (equals = index(name, "=")) { value = substr(name, equals + 1); name = substr(name, 1, equals - 1) }
        print short "\t" name "\t" value "\t" meaning
    }' "$1" | sed 's/\t\t/\t-\t/g; s/^\t/-\t/'
}

# ---- the man page ----

# Text for roff: no line begins with a control character, and hyphens are those of commands.
roff() { sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\\([.']\\)/\\\\\\&\\1/"; }

man_options() {
    list_options "$1" | while IFS=$'\t' read -r short name value meaning; do
        [ "$short" = - ] && short= || short="$short, "
        case $value in
        -) value= ;;
        "["*) value="[=${value#[}" ;;
        *) value="=$value" ;;
        esac
        printf '.TP\n.B %s\n%s\n' "$(roff <<<"$short$name$value")" "$(roff <<<"$meaning")"
    done
}

{
    echo ".TH SAPWOOD 1 \"\" \"$(sed 's/ (.*//' "$work/version")\" \"Sapwood\""
    echo ".SH NAME"
    echo "sapwood \\- $(sed -n '2{s/\.$//;s/^S/s/;p}' "$work/help" | roff)"
    echo ".SH SYNOPSIS"
    echo ".B sapwood"
    sed -n '1s/^Usage: sapwood //p' "$work/help" | roff
    echo ".SH COMMANDS"
    sed -n '/^Commands:/,/^$/s/^  \([^ ].*\)$/\1/p' "$work/help" | while read -r line; do
        printf '.TP\n.B %s\n%s\n' "$(sed 's/   *.*//' <<<"$line" | roff)" "$(sed 's/^.*   *//' <<<"$line" | roff)"
    done
    echo ".SH OPTIONS"
    man_options "$work/help"
    while read -r command; do
        echo ".SH $(tr a-z A-Z <<<"sapwood $command" | roff)"
        sed -n '1{s/^Usage: /.B /p;q}' "$work/help.$command" | sed 's/-/\\-/g'
        echo ".PP"
        sed -n '2,/^$/p' "$work/help.$command" | sed '/^$/d' | roff
        man_options "$work/help.$command" | awk '/^\.TP/ { item = $0; next } # those that all commands have are above
            item { skip = /\\-\\-(help|usage|version)$/; if (!skip) print item; item = "" } !skip { print }'
    done <"$work/commands"
    echo ".SH EXIT STATUS"
    sed -n 's/^.*Exit status: //p' "$work/help" | roff
} >"$folder/sapwood.1"

# ---- completion ----

# The values of an option, if its help lists them: as a|b, or after a colon.
values_of() { # name, value, meaning
    case $1 in
    --device) echo "cpu cuda" ;;
    --preset | --isa) sed 's/^[^:]*: //; s/;.*//; s/,//g' <<<"$3" ;;
    *) [[ $2 == *"|"* ]] && tr '|' ' ' <<<"$2" || true ;;
    esac
}

commands=$(tr '\n' ' ' <"$work/commands")
takes_scene=$(grep -l '^Usage: .*SCENE' "$work"/help.* | sed 's/.*help\.//' | tr '\n' '|' | sed 's/|$//')
{
    echo "# Completion of sapwood in bash, made from its help."
    echo "_sapwood() {"
    echo '    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words='
    echo '    # The word after "=" is the value of the option before it.'
    echo '    [ "$word" != = ] || word='
    echo '    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD-2]}'
    echo '    if [ "$COMP_CWORD" -eq 1 ]; then'
    echo "        words=\"$commands help $(list_options "$work/help" | cut -f2 | tr '\n' ' ')\""
    echo '    elif [ "$command" = help ]; then'
    echo "        words=\"$commands\""
    echo '    else'
    echo '        case $command,$option in'
    cat "$work"/help.* | list_options /dev/stdin | sort -u -t$'\t' -k2,3 | while IFS=$'\t' read -r _ name value meaning; do
        values=$(values_of "$name" "$value" "$meaning")
        [ -z "$values" ] || echo "        *,$name) words=\"$values\" ;;"
    done | sort -u
    echo "        *,--set) compopt -o nospace; words=\"$(sed 's/$/=/' "$work/options" | tr '\n' ' ')\" ;;"
    while read -r command; do
        names=$(list_options "$work/help.$command" | awk -F'\t' '{ printf "%s%s ", $2, $3 ~ /^(-$|\[)/ ? "" : "=" }')
        echo "        $command,*) [[ \$word != -* ]] || { compopt -o nospace; words=\"$names\"; } ;;"
    done <"$work/commands"
    echo '        esac'
    echo '        case $command in'
    echo "        $takes_scene)"
    echo '            if [ -z "$words" ]; then words=$("${COMP_WORDS[0]}" info --list 2>/dev/null | sed "s/ .*//"); fi ;;'
    echo '        esac'
    echo '    fi'
    echo '    COMPREPLY=($(compgen -W "$words" -- "$word"))'
    echo '    # A space follows what is complete.'
    echo '    [ ${#COMPREPLY[@]} -ne 1 ] || [[ ${COMPREPLY[0]} == *= ]] || compopt +o nospace 2>/dev/null || true'
    echo '}'
    echo 'complete -o default -F _sapwood sapwood'
} >"$folder/sapwood.bash"

# Text within '...[...]' of zsh.
zsh_text() { sed "s/'/’/g; s/[][]//g; s/:/\\\\:/g" <<<"$1"; }
{
    echo "#compdef sapwood"
    echo "# Completion of sapwood in zsh, made from its help."
    echo '_sapwood_scenes() { local -a names=(${(f)"$(sapwood info --list 2>/dev/null | sed "s/ .*//")"}); _describe scene names; _files }'
    echo '_sapwood() {'
    echo '    local state line; local -a commands=('
    sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\).*   *\(.*\)$/\1\t\2/p' "$work/help" | while IFS=$'\t' read -r name about; do
        echo "        '$name:$(zsh_text "$about")'"
    done
    echo '    )'
    echo "    _arguments -C '(-V --version)'{-V,--version}'[Print program version]' '--json[With --version\\: print it as JSON]' \\"
    echo "        '1:command:->command' '*::argument:->rest' && return"
    echo '    case $state in'
    echo '    command) _describe command commands ;;'
    echo '    rest)'
    echo '        case $words[1] in'
    while read -r command; do
        echo "        $command) _arguments \\"
        list_options "$work/help.$command" | while IFS=$'\t' read -r _ name value meaning; do
            values=$(values_of "$name" "$value" "$meaning")
            [ "$name" != --set ] || values=$(sed 's/$/=/' "$work/options" | tr '\n' ' ')
            action=' '
            [[ $value != *FILE* && $value != DIR ]] || action=_files
            [ -z "$values" ] || action="($values)"
            [ "$value" = - ] && ending= || ending="="
            [ "$value" = - ] && argument= || argument=":$(zsh_text "$value"):$action"
            [[ $value != "["* ]] || argument=":$argument" # of two colons: it may be left out
            echo "            '*$name$ending[$(zsh_text "$meaning")]$argument' \\"
        done
        case "|$takes_scene|" in
        *"|$command|"*) echo "            '*:scene:_sapwood_scenes' ;;" ;;
        *) echo "            '*:file:_files' ;;" ;;
        esac
    done <"$work/commands"
    echo '        esac ;;'
    echo '    esac'
    echo '}'
    echo '_sapwood "$@"'
} >"$folder/_sapwood"
