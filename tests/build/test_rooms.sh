#!/usr/bin/env bash
# test_rooms.sh SOURCE_DIR
# Rooms depend in one direction. Reads the include lines of src/host and src/kernels and the functions that they define and
# call, and names file and line where
#   - a file lies outside the known rooms,
#   - an include is not spelled in full from src/, or its file is not there,
#   - a room includes one that it may not know; shared rooms know no formulation, formulations not each other,
#   - the list of a formulation's stages is not in the order of rooms, or a stage includes kernels on its own,
#   - a kernel calls a function of a higher room, or of a formulation, that solve/formulation.h does not declare,
#   - a room of the host names a function of a room that it may not know. Public functions belong to the room that defines them.
set -euo pipefail
shopt -s inherit_errexit
. "$(dirname "${BASH_SOURCE[0]}")/source_check.sh"
cd "$1"

# ---- the rules ----

# Rooms of the host, each with the rooms it may include.
host_rooms='
base:    base
options: base options
model:   base options model
plan:    base options model plan
mujoco:  base options model plan mujoco
scene:   base options model plan mujoco scene
cpu:     base options model plan mujoco cpu
cuda:    base options model plan cuda
batch:   base options model plan batch
cli:     cli
'
# Rooms whose public functions (include/sapwood) a room may call, although it may not include their headers.
host_calls='
batch:   cpu
'
# Rooms of the kernels, from low to high: each may know itself and those before it; target also the formulations.
kernel_rooms='data dialect math motion collide sensor contact solve step target'
# Formulations of the contact problem, each with those that it may know beside the rooms up to solve. Rooms below target know
# none of them: they call the functions that this header declares.
formulations='
sap:
mujoco:
dual:    sap
gradient: sap
'
interface=kernels/solve/formulation.h

# Headers that list others in order of dependence: of a room, of the stages of a step with a formulation, of methods, sensors.
lists='^kernels/([a-z]+/(all|stages)|dual/methods|sensor/sensors)[.]h$'

# Single headers of rooms that are otherwise closed: "room -> header". Any host room may include kernels/data, and the
# data of a formulation, kernels/<formulation>/data.h.
open_headers='
cpu -> host/batch/backend.h
cuda -> host/batch/backend.h
'
for room in base options model scene plan mujoco cpu cuda batch; do
    open_headers+="$room -> kernels/step/reset.h"$'\n'"$room -> kernels/step/take_contacts.h"$'\n'
done

# Exceptions that stay, "finding | reason".
allowed='
host/cli/machine.c -> commit.h | the build generates it, so it is not in src/
host/cpu/dispatch.c -> cpu_kernels.h | the build generates it, so it is not in src/
host/cpu/programs.c -> kernels/step/step_list.h | the list of stages, which a CPU calls through tables of kernels
host/cpu/profile.c -> kernels/dialect/profile.h | the host reads the same clock as the kernels
host/cpu/programs.c -> kernels/step/skip_world.h | the step list reads it
host/cpu/run.c -> kernels/step/skip_world.h | a CPU leaves worlds out before it makes packs of the others
host/cpu/gradients.c -> kernels/step/skip_world.h | as run.c
host/cuda/lockstep.h -> kernels/target/compact.h | arguments of a kernel that the host launches
'
# Known and to be removed, "finding | cure".
known=''

# ---- checks: each prints lines "key<TAB>file:line<TAB>text" ----

# A file outside the rooms; only cli has folders of its own.
check_places() {
    find . -type f | sed 's|^\./||' | sort | host=$host_rooms formulations=$formulations awk -v kernels="$kernel_rooms" '
        BEGIN {
            n = split(ENVIRON["host"], lines, "\n")
            for (i = 1; i <= n; i++)
                if (sub(/:.*/, "", lines[i]))
                    room["host/" lines[i]] = 1
            n = split(kernels, names, " ")
            for (i = 1; i <= n; i++)
                room["kernels/" names[i]] = 1
            n = split(ENVIRON["formulations"], lines, "\n")
            for (i = 1; i <= n; i++)
                if (sub(/:.*/, "", lines[i]))
                    room["kernels/" lines[i]] = 1
            room["host/cli/cluster"] = 1
            room["host/cli/bench"] = room["host/cli/compare"] = room["host/cli/conform"] = 1
        }
        {
            folder = $0
            if (!sub(/\/[^\/]*$/, "", folder))
                folder = ""
            if (!(folder in room) && $0 != "CMakeLists.txt")
                print $0 "\t" $0 ":1\tlies in no known room"
        }'
}

# Lines "file:line:path" of includes in quotes, and of those in angle brackets that are ours. "file -> path" is the finding's key.
includes() {
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+("|<(host|kernels)/)' host kernels |
        sed -E 's/^([^:]*:[0-9]+):[^"<]*["<]([^">]*).*/\1:\2/'
}

# Functions of awk: which rooms a file may know. They read kernels, and host and formulations in the environment.
knows='
    function room_of(path,    part) { split(path, part, "/"); return part[2] }
    function read_rooms(text, may,    n, i, m, k, lines, word) {
        n = split(text, lines, "\n")
        for (i = 1; i <= n; i++) {
            m = split(lines[i], word, /[: ]+/)
            for (k = 2; k <= m; k++)
                may[word[1] " " word[k]] = 1
        }
    }
    BEGIN {
        read_rooms(ENVIRON["host"], host_may)
        read_rooms(ENVIRON["formulations"], formulation_may)
        num_rooms = split(kernels, kernel_room, " ")
        for (i = 1; i <= num_rooms; i++)
            level[kernel_room[i]] = i
    }
    function host_knows(from, to) { return (from " " to) in host_may }
    # Whether a kernel may know a room or a formulation. The list of a formulation has the end of the step too.
    function kernel_knows(file, to,    from) {
        from = room_of(file)
        if (from in level)
            return to in level ? level[to] <= level[from] : from == "target"
        if (to in level)
            return level[to] <= level[file ~ /\/stages\.h$/ ? "step" : "solve"]
        return from == to || (from " " to) in formulation_may
    }
'

check_includes() {
    includes | host=$host_rooms formulations=$formulations open=$open_headers awk -F : -v kernels="$kernel_rooms" "$knows"'
        function finding(text) { print $1 " -> " $3 "\t" $1 ":" $2 "\t" text " \"" $3 "\"" }
        BEGIN {
            n = split(ENVIRON["open"], lines, "\n")
            for (i = 1; i <= n; i++)
                is_open[lines[i]] = 1
        }
        $3 !~ /^(host|kernels)\/[a-z_0-9]+\/.*\.(h|cuh)$/ { finding("is not spelled in full from src/:"); next }
        (getline line < $3) < 0 { finding("there is no"); next }
        { close($3); from = room_of($1); to = room_of($3) }
        $1 ~ /^kernels\// && $3 ~ /^host\// { finding("kernels know nothing of the host:"); next }
        $1 ~ /^kernels\// && !kernel_knows($1, to) { finding("room " from " may not know " to ":"); next }
        $1 ~ /^kernels\// { next }
        (from " -> " $3) in is_open { next }
        $3 ~ /^kernels\/(data\/|[a-z]+\/data\.h$)/ && from != "cli" { next }
        $3 ~ /^kernels\// { finding("room " from " may not know this kernel:"); next }
        !host_knows(from, to) { finding("room " from " may not know " to ":") }'
}

# Stages are listed lower rooms first, and leave it to the lists to include other stages. The interface comes before its
# callers, wherever they are.
check_lists() {
    includes | formulations=$formulations awk -F : -v kernels="$kernel_rooms" -v interface="$interface" -v lists="$lists" "$knows"'
        { from[NR] = $1; line[NR] = $2; to[NR] = $3 }
        $1 ~ lists { is_stage[$3] = $3 !~ lists }
        $1 ~ /\/stages\.h$/ && $3 != interface && room_of($3) in level {
            if (level[room_of($3)] < highest[$1])
                print "order: " $3 "\t" $1 ":" $2 "\tcomes after a stage of " kernel_room[highest[$1]] ", a higher room: " $3
            else
                highest[$1] = level[room_of($3)]
        }
        END {
            for (i = 1; i <= NR; i++)
                if (is_stage[from[i]] && is_stage[to[i]])
                    print from[i] " -> " to[i] "\t" from[i] ":" line[i] "\ta stage leaves its includes to the lists: " to[i]
        }'
}

# Functions by name: a kernel knows a room that defines what it calls, or the interface declares it. (Stages do not include
# each other, so includes do not tell.)
check_kernel_calls() {
    find kernels -name '*.h' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' | sort | strip_comments |
        formulations=$formulations awk -v kernels="$kernel_rooms" -v interface="$interface" "$knows"'
        {
            match($0, /^[^:]*:[0-9]+:/)
            place[NR] = substr($0, 1, RLENGTH - 1)
            code[NR] = substr($0, RLENGTH + 1)
            file[NR] = place[NR]
            sub(/:.*/, "", file[NR])
        }
        code[NR] ~ /^([A-Z]+_FN|static inline) / && match(code[NR], /[A-Za-z_][A-Za-z_0-9]*\(/) {
            name = substr(code[NR], RSTART, RLENGTH - 1)
            if (file[NR] == interface)
                is_declared[name] = 1
            else if (index(definers[name] " ", " " room_of(file[NR]) " ") == 0)
                definers[name] = definers[name] " " room_of(file[NR])
        }
        END {
            for (i = 1; i <= NR; i++) {
                line = code[i]
                while (match(line, /(\.|->)?[A-Za-z_][A-Za-z_0-9]*\(/)) { # with a dot or arrow, it is a member
                    name = substr(line, RSTART, RLENGTH - 1)
                    line = substr(line, RSTART + RLENGTH)
                    if (!(name in definers) || name in is_declared)
                        continue
                    n = split(definers[name], definer, " ")
                    known = 0
                    for (k = 1; k <= n; k++)
                        known += kernel_knows(file[i], definer[k])
                    if (!known) {
                        text = "room " room_of(file[i]) " may not know " name ", a function of" definers[name]
                        print file[i] " calls " name "\t" place[i] "\t" text
                    }
                }
            }
        }'
}

# The same for functions of the library by name: a room knows the one that defines what it calls, or may include the header
# that declares it. The program calls public functions only, because it includes public headers only.
check_host_calls() {
    find host -name '*.[ch]' ! -path 'host/cli/*' | sort | strip_comments |
        host=$host_rooms$host_calls open=$open_headers awk -v kernels="$kernel_rooms" "$knows"'
        {
            match($0, /^[^:]*:[0-9]+:/)
            place[NR] = substr($0, 1, RLENGTH - 1)
            code[NR] = substr($0, RLENGTH + 1)
            room[NR] = room_of($0)
            file[NR] = place[NR]
            sub(/:.*/, "", file[NR])
            is_source = file[NR] ~ /\.c$/
        }
        code[NR] ~ /^[A-Za-z]/ && code[NR] !~ /^(static|typedef) / && match(code[NR], /[ *]sap_[a-z_0-9]*\(/) {
            name = substr(code[NR], RSTART + 1, RLENGTH - 2)
            if (!is_source)
                header[name] = file[NR]
            else if (code[NR] !~ /^extern |;[ \t]*$/)
                definer[name] = room[NR]
        }
        END {
            for (i = 1; i <= NR; i++) {
                line = code[i]
                while (file[i] ~ /\.c$/ && match(line, /(\.|->)?[A-Za-z_][A-Za-z_0-9]*/)) { # called, or passed on
                    name = substr(line, RSTART, RLENGTH)
                    line = substr(line, RSTART + RLENGTH)
                    if (!(name in definer) || host_knows(room[i], definer[name]))
                        continue
                    if (index(ENVIRON["open"], "\n" room[i] " -> " header[name] "\n") > 0)
                        continue
                    text = "room " room[i] " may not know " name ", a function of " definer[name]
                    print file[i] " calls " name "\t" place[i] "\t" text
                }
            }
        }'
}

findings=$(check_places; check_includes; check_lists; check_kernel_calls; check_host_calls)
report_findings "$known" "$allowed" <<<"$findings" || exit 1
echo "ok"
