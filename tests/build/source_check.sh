# shellcheck shell=bash
# What the checks of the source text share: test_rooms.sh and test_seams.sh read it with `source`.

# strip_comments: reads names of files; prints lines "file:line:code" without comments and texts in quotes. Lines of
# #include stay as they are.
strip_comments() {
    xargs awk '
        FNR == 1 { inside = 0 }
        {
            line = $0
            if (!inside && line ~ /^[ \t]*#[ \t]*include/) {
                print FILENAME ":" FNR ":" line
                next
            }
            code = ""
            while (line != "") {
                if (inside) {
                    end = index(line, "*/")
                    if (end == 0)
                        break
                    line = substr(line, end + 2)
                    inside = 0
                } else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"/)) {
                    what = substr(line, RSTART, 2)
                    code = code substr(line, 1, RSTART - 1) " "
                    line = substr(line, RSTART + RLENGTH)
                    if (what == "//")
                        break
                    inside = what == "/*"
                } else {
                    code = code line
                    break
                }
            }
            print FILENAME ":" FNR ":" code
        }'
}

# report_findings KNOWN ALLOWED: reads findings, lines "key<TAB>file:line<TAB>text". KNOWN and ALLOWED are lists, lines
# "key | reason". Prints each finding that is in neither list and each entry of a list that does not occur, and returns 1
# if there are any. What is known and to be removed is printed too.
report_findings() {
    known=$1 allowed=$2 awk -F '\t' '
        function read_list(text, name,    n, i, line, key) {
            n = split(text, lines, "\n")
            for (i = 1; i <= n; i++) {
                line = lines[i]
                gsub(/^[ \t]+|[ \t]+$/, "", line)
                if (line == "")
                    continue
                key = line
                sub(/[ \t]*\|.*/, "", key)
                list[key] = name
                keys[++num_keys] = key
            }
        }
        BEGIN {
            read_list(ENVIRON["known"], "known and to be removed")
            read_list(ENVIRON["allowed"], "allowed")
        }
        $1 in list { seen[$1]++; next }
        NF > 1 { print $2 ": " $3; wrong = 1 }
        END {
            for (i = 1; i <= num_keys; i++) {
                key = keys[i]
                if (!(key in seen)) {
                    print "the list \"" list[key] "\" has \"" key "\", which does not occur: take it out"
                    wrong = 1
                } else if (list[key] != "allowed")
                    print list[key] ": " key
            }
            exit wrong
        }'
}
