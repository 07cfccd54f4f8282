#!/usr/bin/env bash
# test_refusals.sh SOURCE_DIR
# A formulation or a device refuses through the table of capabilities (host/options/capabilities.c), so that the table is
# complete. Names every line of the host rooms that raises SAP_ERROR_UNSUPPORTED itself, unless the reason is the
# environment, and every message that names a contact_solver.
set -euo pipefail
shopt -s inherit_errexit
cd "$1"

# Files that raise it for other reasons, and how often.
allowed='
host/base/error.c 1           the name of the status
host/batch/dump.c 1           a dump of another version
host/batch/fields.c 1         trees of a batch with sleep_steps = 0
host/cpu/dual.c 1             lanes that the machine or the build does not have
host/cpu/pool.c 1             a batch in the child of a fork
host/cpu/solver.c 1           lanes that the machine or the build does not have
host/cuda/arrays.c 1          a capture that would have to copy parameters of worlds
host/cuda/backend.c 1         two streams of which one captures a graph
host/cuda/device.c 1          a GPU in the child of a fork
host/cuda/library.c 1         no cuSOLVER
host/cuda/choose.c 1          a world that a thread cannot step
host/cuda/nvrtc.c 4           no NVRTC, or what it cannot compile
host/cuda/specialized.c 2     no sources, or a kernel that does not fit the GPU
host/model/check.c 1          a joint type that nothing here has
host/model/mesh_file.c 1      a format that nothing here reads
host/options/capabilities.c 2 the refusals of the table, and of options that exclude each other
host/options/options.c 1      keywords of SAP Warp
'
# Messages that name a contact_solver without refusing a capability, "file | part of the message".
named='
host/options/capabilities.c | not with contact_solver
host/options/capabilities.c |  with contact_solver
host/options/capabilities.c | 16 lanes are for contact_solver sap and mujoco
host/options/options.c | 
host/options/presets.c | 
host/mujoco/plan.c | contact_solver is mujoco; model
host/mujoco/weights.c | contact_solver is mujoco; model
host/plan/step_args.c | the world can have
'
rooms="host/base host/options host/model host/plan host/cpu host/cuda host/batch"
[ -d host/mujoco ] && rooms+=" host/mujoco"

failed=0
# shellcheck disable=SC2086
while IFS=: read -r file count; do
    limit=$(awk -v file="$file" '$1 == file { print $2 }' <<<"$allowed")
    [ "$count" -le "${limit:-0}" ] && continue
    echo "$file: raises SAP_ERROR_UNSUPPORTED $count times, ${limit:-0} allowed; use sap_require:"
    grep -n SAP_ERROR_UNSUPPORTED "$file"
    failed=1
done < <(grep -rc SAP_ERROR_UNSUPPORTED $rooms --include='*.c' | grep -v ':0$')

is_named() { # FILE LINE
    while IFS='|' read -r file part; do
        file=${file% }
        [ -n "$file" ] && [ "$file" = "$1" ] && [[ $2 == *"${part# }"* ]] && return 0
    done <<<"$named"
    return 1
}
# shellcheck disable=SC2086
while IFS=: read -r file line text; do
    is_named "$file" "$text" && continue
    echo "$file:$line: names a contact_solver in a message; a refusal of a formulation is a row of the table:$text"
    failed=1
done < <(grep -rnE '"[^"]*contact_solver' $rooms --include='*.c')
exit "$failed"
