#!/bin/bash
# The same bits from every compiler and optimisation: builds hash_world.c, the kernels and the host code it needs with gcc and
# clang (those that are installed), with -O2 and with -O0, and compares what the programs print with each other and with
# tests/data/hash_world.txt.
#
# test_compilers.sh <project> <work folder> [--all | --update | --aarch64]
# --all builds with -O0, -O2 and -O3 of both compilers, which takes minutes (make slow-test).
# --update writes the file again from what the builds agree on: after a change of the kernels that is meant to change bits.
# --aarch64 cross-compiles with -O2 and runs the programs under qemu: one lane, and with clang four lanes of NEON. It needs
# the packages of `scripts/setup aarch64`.
set -u
project=$1 work=$2
golden=$project/tests/data/hash_world.txt
jobs=$(nproc)
host=(host/base/{eigen3,error,keyword,memory,new_file,nearest,read_file,records,stack}
    host/options/capabilities
    host/model/{check,check_bodies,check_constraints,check_joints,check_shapes,check_tendons,constraint_types,fields,hull}
    host/model/{inertia,joint_types,label,mesh_hulls,model,parameters,shape_types,warnings}
    host/plan/{constants,constraints,directions,formulation,hulls,layout,nodes,pairs,parameters,pattern,plan}
    host/plan/{shapes,static_tree,step_args}
    host/mujoco/{args,parameters,plan,records,weights}
    host/cpu/{context,programs,work_ranges})
flags=(-std=c17 -D_GNU_SOURCE= -ffp-contract=off -Wno-psabi -I"$project/include" -I"$project/src"
    -I"$project/tests/plain" -I"$project/tests")
kernel_flags=(-fno-math-errno -fno-trapping-math)

die() {
    echo "test_compilers: $*" >&2
    exit 1
}

# Only what this machine can run.
avx2=0 neon=0 run="" libraries="-lqhull_r -lm"
declare -A optimisations=([gcc]=-O2 [clang]=-O0) # the library itself has -O2 of clang
grep -qsw avx2 /proc/cpuinfo && grep -qsw fma /proc/cpuinfo && avx2=1
[ "${3:-}" = --all ] && optimisations=([gcc]="-O0 -O2 -O3" [clang]="-O0 -O2 -O3")
if [ "${3:-}" = --aarch64 ]; then
    avx2=0 neon=1 run=qemu-aarch64 optimisations=([gcc]=-O2 [clang]=-O2)
    # No mesh is made here, so that qhull is not called: its headers suffice.
    libraries="-static -lm -Wl,--unresolved-symbols=ignore-all"
    flags+=(-I"$work/include")
fi

# The command of a compiler.
command_of() {
    case $1$neon in
    gcc1) echo aarch64-linux-gnu-gcc ;;
    clang1) echo clang --target=aarch64-linux-gnu -DHASH_NEON ;;
    *) echo "$1" ;;
    esac
}

# The commands that build one program's objects, one per line.
object_commands() { # <compiler> <optimisation> <folder>
    local base="$1 $2 ${flags[*]} -DHASH_AVX2=$avx2" name precision
    for name in "${host[@]}"; do
        echo "$base -c $project/src/$name.c -o $3/${name//\//_}.o"
    done
    for name in tests/support/{hash_world,random,random_model,model_parts}; do
        echo "$base -c $project/$name.c -o $3/${name//\//_}.o"
    done
    for precision in 32 64; do
        local kernel
        kernel="$base ${kernel_flags[*]} -DSAP_PRECISION=$precision -c $project/src/kernels/target/cpu.c"
        echo "$kernel -DSAP_ISA_NAME=generic -DSAP_LANES=1 -o $3/generic_$precision.o"
        [[ $1 = *HASH_NEON* ]] && echo "$kernel -DSAP_ISA_NAME=generic -DSAP_LANES=4 -o $3/neon_$precision.o"
        [ $avx2 = 1 ] && echo "$kernel -march=x86-64-v3 -DSAP_ISA_NAME=avx2 -DSAP_LANES=4 -o $3/avx2_$precision.o"
    done
}

rm -rf "$work" && mkdir -p "$work/include" || die "cannot write $work"
[ $neon = 0 ] || ln -s /usr/include/libqhull_r "$work/include/libqhull_r"
built=()
for compiler in gcc clang; do
    command=$(command_of $compiler)
    if ! command -v ${command%% *} >/dev/null; then
        echo "skipped: ${command%% *} is not installed"
        continue
    fi
    for optimisation in ${optimisations[$compiler]}; do
        name=$compiler$optimisation
        mkdir "$work/$name"
        object_commands "$command" $optimisation "$work/$name" >>"$work/commands"
        built+=("$name")
    done
done
[ ${#built[@]} -gt 0 ] || die "neither gcc nor clang is installed"
xargs -P "$jobs" -d '\n' -n 1 sh -c <"$work/commands" || die "a compilation failed"

if [ "${3:-}" = --update ]; then
    golden=$work/${built[0]}.hashes
fi
failures=0
for name in "${built[@]}"; do
    $(command_of ${name%-O*}) "$work/$name"/*.o $libraries -o "$work/$name/hash_world" || die "cannot link $name"
    $run "$work/$name/hash_world" >"$work/$name.txt" || die "$name: the program failed"
    # Without the first column, the kernels' build: all builds of the kernels must agree too.
    cut -c 12- "$work/$name.txt" | sort -u >"$work/$name.hashes"
    if cmp -s "$work/$name.hashes" "$golden"; then
        echo "ok: $name"
    else
        echo "$name differs from $golden:"
        diff "$golden" "$work/$name.hashes"
        failures=$((failures + 1))
    fi
done
[ $failures = 0 ] || die "$failures of ${#built[@]} builds differ"
if [ "${3:-}" = --update ]; then
    cp "$golden" "$project/tests/data/hash_world.txt"
fi
rm -rf "$work"
