# The CUDA kernels, compiled if nvcc is found; a GPU is not needed. The results are a fatbin of PTX, which every driver from
# CUDA 11.7 on reads, and one of machine code assembled from that PTX. Custom commands are used instead of CMake's CUDA language, which links a test program and the
# CUDA run-time library; neither is needed here.

# 80 is the A100, also for L4, L40 and RTX 40, which are 8.9; 90 the H100, 100 the B200, 120 RTX 50. ptxas takes minutes for
# each, so that a build has the machine code of one and leaves the others to the driver, which compiles the PTX; `make cuda-all`
# has all four. `native` is the GPUs of this machine. An architecture that nvcc does not know is skipped with a message.
set(SAPWOOD_CUDA_CODE 80 CACHE STRING "Architectures of the machine code, such as 80;90;100;120, or native; empty: PTX only, which the driver compiles")
# The oldest architecture, that of a T4. Its PTX is the source of all machine code, because the kernels use no newer features,
# and one run of the front end is enough. The driver compiles the PTX for all other architectures.
set(SAPWOOD_CUDA_PTX 75)
# The oldest version of PTX that has what the kernels need (CUDA 11.7, drivers from r515 on). nvcc writes the newest, which older
# drivers refuse, for the sake of a hint about loads alone.
set(SAPWOOD_CUDA_PTX_VERSION 7.7)

set(SAPWOOD_NVCC "")
if(SAPWOOD_CUDA STREQUAL "OFF")
    message(STATUS "CUDA: off (SAPWOOD_CUDA=OFF)")
else()
    find_program(SAPWOOD_NVCC_PROGRAM nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(SAPWOOD_NVCC_PROGRAM)
        set(SAPWOOD_NVCC ${SAPWOOD_NVCC_PROGRAM})
    elseif(SAPWOOD_CUDA STREQUAL "AUTO")
        message(STATUS "CUDA: off (nvcc not found)")
    else()
        message(FATAL_ERROR "SAPWOOD_CUDA is ${SAPWOOD_CUDA}, but nvcc is neither in PATH nor in /usr/local/cuda/bin")
    endif()
endif()

if(SAPWOOD_NVCC AND SAPWOOD_CUDA_CODE STREQUAL "native")
    set(SAPWOOD_CUDA_CODE "")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE native ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
        string(REPLACE "." "" native "${native}")
        string(REGEX MATCHALL "[0-9]+" SAPWOOD_CUDA_CODE "${native}")
        list(REMOVE_DUPLICATES SAPWOOD_CUDA_CODE)
    endif()
    message(STATUS "CUDA: the architectures of this machine: ${SAPWOOD_CUDA_CODE}")
endif()

if(SAPWOOD_NVCC)
    execute_process(COMMAND ${SAPWOOD_NVCC} --list-gpu-code OUTPUT_VARIABLE SAPWOOD_CUDA_KNOWN COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[0-9]+" SAPWOOD_CUDA_KNOWN "${SAPWOOD_CUDA_KNOWN}")
    set(too_new ${SAPWOOD_CUDA_CODE})
    list(REMOVE_ITEM too_new ${SAPWOOD_CUDA_KNOWN})
    # Older toolkits have one kind of compression.
    execute_process(COMMAND ${SAPWOOD_NVCC} --help OUTPUT_VARIABLE help)
    if(help MATCHES "--compress-mode")
        set(SAPWOOD_CUDA_COMPRESS_PTX --compress-mode=speed)
        set(SAPWOOD_CUDA_COMPRESS_CODE --compress-mode=size)
    else()
        set(SAPWOOD_CUDA_COMPRESS_PTX --compress-all)
        set(SAPWOOD_CUDA_COMPRESS_CODE --compress-all)
    endif()
    if(too_new)
        message(STATUS "CUDA: ${SAPWOOD_NVCC}, which is too old for sm_${too_new}")
        list(REMOVE_ITEM SAPWOOD_CUDA_CODE ${too_new})
    else()
        message(STATUS "CUDA: ${SAPWOOD_NVCC}")
    endif()
endif()

# sapwood_cuda_tool(<output> INPUTS <file>... [DEPFILE <file>] COMMAND <argument>... [THEN <argument>...]): runs a tool of the
# toolkit, and a second command; the tool's messages are in <output>.log.
function(sapwood_cuda_tool output)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "DEPFILE" "INPUTS;COMMAND;THEN")
    set(then "")
    if(arg_THEN)
        set(then COMMAND ${arg_THEN})
    endif()
    set(depfile "")
    if(arg_DEPFILE)
        set(depfile DEPFILE ${arg_DEPFILE})
    endif()
    cmake_path(GET output FILENAME name)
    add_custom_command(OUTPUT ${output} BYPRODUCTS ${output}.log
        COMMAND ${CMAKE_COMMAND} -DLOG=${output}.log -P ${PROJECT_SOURCE_DIR}/cmake/run_logged.cmake -- ${arg_COMMAND}
        ${then}
        DEPENDS ${arg_INPUTS} ${PROJECT_SOURCE_DIR}/cmake/run_logged.cmake
        ${depfile}
        COMMENT "CUDA ${name}"
        COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# sapwood_cuda_ptx(<output> <source> <arch>): the PTX of a source; up to 9.0 in the oldest version that suffices.
function(sapwood_cuda_ptx output source arch)
    set(then "")
    if(arch LESS_EQUAL 90)
        set(then THEN sed -i -e "/\\.pragma \"used_bytes_mask/d" -e "s/^\\.version .*/.version ${SAPWOOD_CUDA_PTX_VERSION}/" ${output})
    endif()
    sapwood_cuda_tool(${output} INPUTS ${source} DEPFILE ${output}.d
        COMMAND ${SAPWOOD_NVCC} -ptx -arch=compute_${arch} -O3 --fmad=false -Wno-deprecated-gpu-targets
            -Xcompiler -Wall "$<$<BOOL:${SAPWOOD_WERROR}>:-Werror;all-warnings>"
            -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
            -MD -MF ${output}.d -MT ${output} -o ${output} ${source}
        ${then})
endfunction()

# sapwood_cuda_cubin(<output> <ptx> <arch>): the machine code of an architecture; the log is ptxas's report of registers and
# spills.
function(sapwood_cuda_cubin output ptx arch)
    cmake_path(GET SAPWOOD_NVCC PARENT_PATH tools)
    sapwood_cuda_tool(${output} INPUTS ${ptx} COMMAND ${tools}/ptxas -v -O3 -arch=sm_${arch} -o ${output} ${ptx})
endfunction()

# sapwood_add_cuda_kernels(<target> <name> <source> <variable> <arch>...): the PTX, the machine code of each architecture
# (<name>_<arch>.cubin), and their fatbins, in <build>/cuda. Sets <variable>_PTX to the path of that with the PTX, and
# <variable>_CODE to that with the machine code, which is empty without architectures.
function(sapwood_add_cuda_kernels target name source variable)
    set(folder ${PROJECT_BINARY_DIR}/cuda)
    file(MAKE_DIRECTORY ${folder})
    cmake_path(GET SAPWOOD_NVCC PARENT_PATH tools)

    set(ptx ${folder}/${name}_${SAPWOOD_CUDA_PTX}.ptx)
    sapwood_cuda_ptx(${ptx} ${source} ${SAPWOOD_CUDA_PTX})
    # All drivers can read this compression, and those that run machine code of CUDA 12.4 or later the smaller one.
    set(ptx_fatbin ${folder}/${name}_ptx.fatbin)
    sapwood_cuda_tool(${ptx_fatbin} INPUTS ${ptx} COMMAND ${tools}/fatbinary -64 ${SAPWOOD_CUDA_COMPRESS_PTX}
        --create=${ptx_fatbin} --image3=kind=ptx,sm=${SAPWOOD_CUDA_PTX},file=${ptx})

    set(images "")
    set(cubins "")
    foreach(arch IN LISTS ARGN)
        set(cubin ${folder}/${name}_${arch}.cubin)
        sapwood_cuda_cubin(${cubin} ${ptx} ${arch})
        list(APPEND images --image3=kind=elf,sm=${arch},file=${cubin})
        list(APPEND cubins ${cubin})
    endforeach()
    set(code_fatbin "")
    if(cubins)
        set(code_fatbin ${folder}/${name}_code.fatbin)
        sapwood_cuda_tool(${code_fatbin} INPUTS ${cubins} COMMAND ${tools}/fatbinary -64 ${SAPWOOD_CUDA_COMPRESS_CODE}
            --create=${code_fatbin} ${images})
    endif()
    add_custom_target(${target} ALL DEPENDS ${ptx_fatbin} ${code_fatbin})
    set(${variable}_PTX ${ptx_fatbin} PARENT_SCOPE)
    set(${variable}_CODE "${code_fatbin}" PARENT_SCOPE)
endfunction()

# sapwood_embed_kernel_sources(<source>): lists the sources of kernels that a batch can have made for it in a file that <source>
# includes: SOURCE(number, name in includes, path). The kernels of MuJoCo's law, of the dual solvers, of derivatives and of sensors
# are not among them.
function(sapwood_embed_kernel_sources source)
    set(list ${PROJECT_BINARY_DIR}/generated/cuda_sources.h)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/*.h ${PROJECT_SOURCE_DIR}/src/kernels/*.cuh
        ${PROJECT_SOURCE_DIR}/include/sapwood/*.h)
    list(FILTER files EXCLUDE REGEX "kernels/(mujoco/|dual/|gradient/|.*(mujoco|dual|gradient|sensor|_cpu|compact))")
    list(APPEND files ${PROJECT_SOURCE_DIR}/src/kernels/target/cuda_specialized.cu)
    set(lines "")
    set(number 0)
    foreach(file IN LISTS files)
        string(REGEX REPLACE "^.*/(src|include)/" "" name ${file})
        string(APPEND lines "SOURCE(${number}, \"${name}\", \"${file}\")\n")
        math(EXPR number "${number} + 1")
    endforeach()
    file(CONFIGURE OUTPUT ${list} CONTENT "${lines}" @ONLY)
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files};${list}"
        COMPILE_DEFINITIONS SAPWOOD_CUDA_SOURCES_LIST="${list}")
endfunction()
