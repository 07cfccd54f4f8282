# The CPU kernels: one source, compiled once per instruction set, number of lanes and precision.

include(CheckCCompilerFlag)

set(march_avx2 -march=x86-64-v3)
set(march_avx512 -march=x86-64-v4)
# CPU features that an instruction set requires, as named in /proc/cpuinfo; same as machine_has in cpu/dispatch.c.
set(cpu_flags_avx2 avx2 fma bmi2)
set(cpu_flags_avx512 avx512f avx512vl avx512dq avx512bw avx512cd)

# sapwood_this_machine_has(<isa> <variable>)
function(sapwood_this_machine_has isa out)
    set(flags "")
    if(EXISTS /proc/cpuinfo)
        file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
    endif()
    set(${out} ON PARENT_SCOPE)
    foreach(flag IN LISTS cpu_flags_${isa})
        if(NOT "${flags} " MATCHES " ${flag} ")
            set(${out} OFF PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# The generic build, and those of SAPWOOD_ISAS that the compiler supports. `native` stands for the best instruction set of
# this machine.
set(SAPWOOD_KERNEL_ISAS generic)
set(isas ${SAPWOOD_ISAS})
if(SAPWOOD_ISAS STREQUAL "native")
    if(CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "SAPWOOD_ISAS is native, but this build is for another machine; allowed: avx2;avx512")
    endif()
    set(isas "")
    foreach(isa avx2 avx512)
        sapwood_this_machine_has(${isa} has)
        if(has)
            set(isas ${isa})
        endif()
    endforeach()
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    foreach(isa IN LISTS isas)
        string(TOUPPER ${isa} ISA)
        check_c_compiler_flag(${march_${isa}} SAPWOOD_COMPILER_HAS_${ISA})
        if(SAPWOOD_COMPILER_HAS_${ISA})
            list(APPEND SAPWOOD_KERNEL_ISAS ${isa})
        endif()
    endforeach()
endif()

# Lanes of each instruction set. 16 lanes are for presets in f32, whose reals fill a register of 512 bits; reals in f64 then
# have two registers, which gcc would keep in memory. A library with AVX2 has packs of 1 and 4 worlds for AVX2 only: a single
# world runs faster so than with AVX-512, four worlds a little slower. The generic kernels of a library with AVX2 are for old
# machines, whose registers 8 lanes exceed.
set(narrow_lanes 1 4)
set(lanes_generic ${narrow_lanes})
if(SAPWOOD_KERNEL_ISAS STREQUAL "generic")
    list(APPEND lanes_generic 8)
endif()
set(lanes_avx2 ${narrow_lanes} 8)
set(lanes_avx512 8)
if(NOT "avx2" IN_LIST SAPWOOD_KERNEL_ISAS)
    list(PREPEND lanes_avx512 ${narrow_lanes})
endif()
if(SAPWOOD_WIDE_LANES AND CMAKE_C_COMPILER_ID MATCHES "Clang")
    list(APPEND lanes_avx512 16)
endif()
# A build for this machine runs its generic kernels only if `isa` names them.
if(SAPWOOD_ISAS STREQUAL "native" AND NOT SAPWOOD_KERNEL_ISAS STREQUAL "generic")
    set(lanes_generic 1)
    set(opt_generic -O0)
endif()
message(STATUS "CPU kernels: ${SAPWOOD_KERNEL_ISAS}, ${SAPWOOD_KERNEL_OPT}, ${CMAKE_C_COMPILER_ID}")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    message(WARNING "gcc compiles the CPU kernels. On a CPU without AVX-512 the preset approx32 takes 1.4 times and fast32 "
        "1.9 times as long as with clang; with AVX-512 up to 1.1 and 1.4 times as long (docs/bench.md, Compilers). Install "
        "clang, or set CC=clang.")
endif()

# Adds the object library `kernel`, which exports the tables sap_kernels_<isa>_x<lanes>_f<precision> and
# sap_dual_kernels_<isa>_x<lanes>_f<precision>, in f64 sap_gradient_kernels_<isa>_x<lanes>, and with one lane
# sap_sensor_kernels_<isa>_f<precision>. They are sources of their own, so that they do not change the code of the step.
function(sapwood_add_cpu_kernel kernel isa lanes precision opt)
    # gcc 12 ends with an internal error here at -O3; the other kernels compile.
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND opt STREQUAL "-O3" AND kernel MATCHES "avx2_x8_f64$")
        set(opt -O2)
    endif()
    add_library(${kernel} OBJECT ${PROJECT_SOURCE_DIR}/src/kernels/target/cpu.c)
    if(lanes LESS_EQUAL 8) # the dual solvers compute in f64
        target_sources(${kernel} PRIVATE ${PROJECT_SOURCE_DIR}/src/kernels/target/dual_cpu.c)
        if(precision EQUAL 64) # as do derivatives
            target_sources(${kernel} PRIVATE ${PROJECT_SOURCE_DIR}/src/kernels/target/gradient_cpu.c)
        endif()
    endif()
    if(lanes EQUAL 1)
        target_sources(${kernel} PRIVATE ${PROJECT_SOURCE_DIR}/src/kernels/target/sensor_cpu.c)
    endif()
    target_compile_definitions(${kernel} PRIVATE SAP_ISA_NAME=${isa} SAP_LANES=${lanes} SAP_PRECISION=${precision})
    target_include_directories(${kernel} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${kernel} PRIVATE sapwood_flags sapwood_kernel_checks)
    # errno and floating-point traps are not used; without them sqrt and selects compile to one instruction.
    # psabi: no vector is passed between files, so the calling convention of vectors does not matter.
    target_compile_options(${kernel} PRIVATE ${opt} -fno-math-errno -fno-trapping-math -Wno-psabi ${march_${isa}})
    set_target_properties(${kernel} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
endfunction()

# Adds all kernels as <prefix>_<isa>_x<lanes>_f<precision> with the optimisation level `opt`, and stores their objects
# in the variable `out`. cpu/dispatch.c has them from the list generated/cpu_kernels.h: KERNELS(ISA, isa, lanes) for SAP, its
# other contact laws and MuJoCo's law, DUAL_KERNELS(ISA, isa, lanes) for the dual solvers, SENSOR_KERNELS(ISA, isa).
function(sapwood_add_cpu_kernels prefix opt out)
    set(objects "")
    set(list "/* Made by cmake/kernels.cmake. */\n")
    foreach(isa IN LISTS SAPWOOD_KERNEL_ISAS)
        string(TOUPPER ${isa} ISA)
        set(isa_opt ${opt})
        if(opt_${isa})
            set(isa_opt ${opt_${isa}})
        endif()
        foreach(lanes IN LISTS lanes_${isa})
            string(APPEND list "KERNELS(${ISA}, ${isa}, ${lanes})\n")
            if(lanes LESS_EQUAL 8)
                string(APPEND list "DUAL_KERNELS(${ISA}, ${isa}, ${lanes})\n")
            endif()
            if(lanes EQUAL 1)
                string(APPEND list "SENSOR_KERNELS(${ISA}, ${isa})\n")
            endif()
            foreach(precision 32 64)
                set(kernel ${prefix}_${isa}_x${lanes}_f${precision})
                sapwood_add_cpu_kernel(${kernel} ${isa} ${lanes} ${precision} ${isa_opt})
                target_sources(${kernel} PRIVATE ${PROJECT_SOURCE_DIR}/src/kernels/target/mujoco_cpu.c
                    ${PROJECT_SOURCE_DIR}/src/kernels/target/law_cpu.c)
                list(APPEND objects $<TARGET_OBJECTS:${kernel}>)
            endforeach()
        endforeach()
    endforeach()
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cpu_kernels.h CONTENT "${list}" @ONLY)
    set(${out} ${objects} PARENT_SCOPE)
endfunction()
