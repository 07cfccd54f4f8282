#!/usr/bin/env bash
# test_rooms.sh SOURCE_DIR
# Rooms depend in one direction. Reads the include lines of src/host and src/kernels and the functions that kernels define
# and call, and names file and line where
#   - a file lies outside the known rooms,
#   - an include is not spelled in full from src/, or its file is not there,
#   - a room includes one that it may not know,
#   - the list of stages (kernels/step/stages.h) is not in the order of rooms, or a stage includes kernels on its own,
#   - a kernel calls a function that only higher rooms define,
#   - the host calls a function of a room that it may not know. Public functions are part of the room that defines them.
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
scene:   base options model scene
plan:    base options model plan
mujoco:  base options model plan mujoco
cpu:     base options model plan mujoco cpu
cuda:    base options model plan cuda
batch:   base options model plan batch
cli:     cli
'
# Rooms of the kernels, from low to high: each may know itself and those before it.
kernel_rooms='data dialect math motion collide sensor contact solve step target'
# Formulations of the contact problem. They know the rooms up to solve, and step and target know them; contact and solve
# call the functions that the formulation of a build defines.
formulations='sap mujoco dual'

# Headers that list others: stages.h all stages, once per precision, the others the laws and methods among them.
stage_list=kernels/step/stages.h
lists="$stage_list kernels/solve/methods.h kernels/dual/methods.h kernels/sensor/sensors.h"

# Single headers of rooms that are otherwise closed: "room -> header". Any host room may include kernels/data, and the
# data of a formulation, kernels/<formulation>/data.h.
open_headers='
cpu -> host/batch/backend.h
cuda -> host/batch/backend.h
'
for room in base options model scene plan mujoco cpu cuda batch; do
    open_headers+="$room -> kernels/step/reset.h"$'\n'"$room -> kernels/step/take_contacts.h"$'\n'
done

# Rooms that call public functions of another one, "room room".
open_calls='
batch cpu
'

# Exceptions that stay, "finding | reason".
allowed='
host/cli/machine.c -> commit.h | the build generates it, so it is not in src/
host/cpu/dispatch.c -> cpu_kernels.h | the build generates it, so it is not in src/
host/cpu/programs.c -> kernels/step/step_list.h | the list of stages, which a CPU calls through tables of kernels
host/cpu/profile.c -> kernels/dialect/profile.h | the host reads the same clock as the kernels
host/cpu/programs.c -> kernels/step/skip_world.h | the step list reads it
host/cpu/run.c -> kernels/step/skip_world.h | a CPU leaves worlds out before it makes packs of the others
host/cuda/lockstep.h -> kernels/target/compact.h | arguments of a kernel that the host launches
'
# Known and to be removed, "finding | cure".
known=''

# ---- checks: each prints lines "key<TAB>file:line<TAB>text" ----

# A file outside the rooms; only cli has folders of its own.
check_places() {
    find . -type f | sed 's|^\./||' | sort | host=$host_rooms awk -v kernels="$kernel_rooms" -v formulations="$formulations" '
        BEGIN {
            n = split(ENVIRON["host"], lines, "\n")
            for (i = 1; i <= n; i++)
                if (sub(/:.*/, "", lines[i]))
                    room["host/" lines[i]] = 1
            n = split(kernels " " formulations, names, " ")
            for (i = 1; i <= n; i++)
                room["kernels/" names[i]] = 1
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

check_includes() {
    includes | host=$host_rooms open=$open_headers awk -F : -v kernels="$kernel_rooms" -v formulations="$formulations" '
        function finding(text) { print $1 " -> " $3 "\t" $1 ":" $2 "\t" text " \"" $3 "\"" }
        function room_of(path,    part) { split(path, part, "/"); return part[2] }
        BEGIN {
            n = split(ENVIRON["host"], lines, "\n")
            for (i = 1; i <= n; i++) {
                m = split(lines[i], word, /[: ]+/)
                for (k = 2; k <= m; k++)
                    may[word[1] " " word[k]] = 1
            }
            n = split(kernels, word, " ")
            for (i = 1; i <= n; i++)
                level[word[i]] = i
            n = split(formulations, word, " ")
            for (i = 1; i <= n; i++)
                level[word[i]] = level["solve"]
            n = split(ENVIRON["open"], lines, "\n")
            for (i = 1; i <= n; i++)
                is_open[lines[i]] = 1
        }
        $3 !~ /^(host|kernels)\/[a-z_0-9]+\/.*\.(h|cuh)$/ { finding("is not spelled in full from src/:"); next }
        (getline line < $3) < 0 { finding("there is no"); next }
        { close($3); from = room_of($1); to = room_of($3) }
        $1 ~ /^kernels\// && $3 ~ /^host\// { finding("kernels know nothing of the host:"); next }
        $1 ~ /^kernels\// && level[to] > level[from] { finding("room " from " may not know " to ":"); next }
        $1 ~ /^kernels\// { next }
        (from " -> " $3) in is_open { next }
        $3 ~ /^kernels\/(data\/|[a-z]+\/data\.h$)/ && from != "cli" { next }
        $3 ~ /^kernels\// { finding("room " from " may not know this kernel:"); next }
        !((from " " to) in may) { finding("room " from " may not know " to ":") }'
}

# Stages are listed lower rooms first, and leave it to the lists to include other stages.
check_stage_list() {
    [ -f "$stage_list" ] || { printf '%s\t%s:1\tis not there; it lists the stages\n' "$stage_list" "$stage_list"; return; }
    includes | awk -F : -v kernels="$kernel_rooms" -v formulations="$formulations" -v list="$stage_list" '
        BEGIN {
            n = split(kernels, word, " ")
            for (i = 1; i <= n; i++)
                level[word[i]] = i
        }
        $1 == list {
            split($3, part, "/")
            if (!(part[2] in level)) # a formulation has stages in every room
                next
            if (level[part[2]] < highest)
                print "order: " $3 "\t" $1 ":" $2 "\tcomes after a stage of " word[highest] ", a higher room: " $3
            else
                highest = level[part[2]]
        }'
    includes | awk -F : -v lists="$lists" '
        BEGIN {
            n = split(lists, word, " ")
            for (i = 1; i <= n; i++)
                is_list[word[i]] = 1
        }
        { from[NR] = $1; line[NR] = $2; to[NR] = $3 }
        $1 in is_list { is_stage[$3] = 1 }
        END {
            for (i = 1; i <= NR; i++)
                if (from[i] in is_stage && !(from[i] in is_list) && to[i] in is_stage)
                    print from[i] " -> " to[i] "\t" from[i] ":" line[i] "\ta stage leaves its includes to the lists: " to[i]
        }'
}

# Functions by name: what a room calls, it or a lower room defines. (Stages do not include each other, so includes do not tell.)
check_functions() {
    find kernels -name '*.h' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' | sort | strip_comments |
        awk -v kernels="$kernel_rooms" -v formulations="$formulations" '
        BEGIN {
            n = split(kernels, word, " ")
            for (i = 1; i <= n; i++)
                level[word[i]] = i
        }
        {
            match($0, /^[^:]*:[0-9]+:/)
            place[NR] = substr($0, 1, RLENGTH - 1)
            code[NR] = substr($0, RLENGTH + 1)
            split($0, part, "/")
            room[NR] = part[2] in level ? level[part[2]] : level["solve"]
            is_shared[NR] = part[2] in level
        }
        is_shared[NR] && code[NR] ~ /^([A-Z]+_FN|static inline) / && match(code[NR], /[A-Za-z_][A-Za-z_0-9]*\(/) {
            name = substr(code[NR], RSTART, RLENGTH - 1)
            if (!(name in lowest) || room[NR] < lowest[name])
                lowest[name] = room[NR]
        }
        END {
            for (i = 1; i <= NR; i++) {
                line = code[i]
                while (match(line, /(\.|->)?[A-Za-z_][A-Za-z_0-9]*\(/)) { # with a dot or arrow, it is a member
                    name = substr(line, RSTART, RLENGTH - 1)
                    line = substr(line, RSTART + RLENGTH)
                    if (name in lowest && lowest[name] > room[i]) {
                        file = place[i]
                        sub(/:.*/, "", file)
                        text = "room " word[room[i]] " may not know " name ", a function of " word[lowest[name]]
                        print file " calls " name "\t" place[i] "\t" text
                    }
                }
            }
        }'
}

# Functions of the host by name: what a room calls, it or a room that it may know defines. The program is outside: it has
# public headers only. A batch knows the solver by its public functions, and devices what batch/backend.h declares.
check_host_functions() {
    find host -name '*.c' ! -path 'host/cli/*' | sort | strip_comments |
        host=$host_rooms open=$open_calls seam=$(grep -oE 'sap_[a-z_0-9]+\(' host/batch/backend.h) awk '
        function room_of(path,    part) { split(path, part, "/"); return part[2] }
        BEGIN {
            n = split(ENVIRON["host"], lines, "\n")
            for (i = 1; i <= n; i++) {
                m = split(lines[i], word, /[: ]+/)
                for (k = 2; k <= m; k++)
                    may[word[1] " " word[k]] = 1
            }
            n = split(ENVIRON["open"], lines, "\n")
            for (i = 1; i <= n; i++)
                may[lines[i]] = 1
            n = split(ENVIRON["seam"], word, /[(\n]+/)
            for (i = 1; i <= n; i++)
                in_seam[word[i]] = 1
        }
        {
            match($0, /^[^:]*:[0-9]+:/)
            place[NR] = substr($0, 1, RLENGTH - 1)
            code[NR] = substr($0, RLENGTH + 1)
            room[NR] = room_of($0)
        }
        code[NR] ~ /^[A-Za-z]/ && code[NR] !~ /;/ && match(code[NR], /sap_[a-z_0-9]+\(/) {
            home[substr(code[NR], RSTART, RLENGTH - 1)] = room[NR]
        }
        END {
            for (i = 1; i <= NR; i++) {
                line = code[i]
                while (match(line, /sap_[a-z_0-9]+/)) {
                    name = substr(line, RSTART, RLENGTH)
                    line = substr(line, RSTART + RLENGTH)
                    if (name in home && !(name in in_seam) && home[name] != room[i] && !((room[i] " " home[name]) in may)) {
                        file = place[i]
                        sub(/:.*/, "", file)
                        print file " calls " name "\t" place[i] "\troom " room[i] " may not know " name ", a function of " home[name]
                    }
                }
            }
        }'
}

findings=$(check_places; check_includes; check_stage_list; check_functions; check_host_functions)
report_findings "$known" "$allowed" <<<"$findings" || exit 1
echo "ok"
