# The CUDA kernels, compiled by nvcc where there is one, GPU or not: one fatbin, and PTX files for the tests that run it.
# Plain commands rather than CMake's CUDA language: that links a program to test the compiler and brings a run-time library,
# and we need neither.

# What the fatbin holds machine code for: A100 (L4, L40 and RTX 40, 8.9, run it too), H100, B200. An nvcc that is too old for one
# leaves it out and says so. Without any, the driver compiles the PTX at the first run, and the build is five times as fast.
set(SAPWOOD_CUDA_CODE 80 90 100 CACHE STRING "Compute capabilities to make machine code for")
# Compiled by the driver on whatever comes in between and after.
set(SAPWOOD_CUDA_FATBIN_PTX 80 100 CACHE STRING "Compute capabilities whose PTX goes into the library")
set(SAPWOOD_CUDA_PTX_FILES 80 90 100 CACHE STRING "Compute capabilities whose PTX the tests run")
mark_as_advanced(SAPWOOD_CUDA_CODE SAPWOOD_CUDA_FATBIN_PTX SAPWOOD_CUDA_PTX_FILES)

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

if(SAPWOOD_NVCC)
    execute_process(COMMAND ${SAPWOOD_NVCC} --list-gpu-code OUTPUT_VARIABLE known COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[0-9]+" known "${known}")
    set(too_new ${SAPWOOD_CUDA_CODE})
    list(REMOVE_ITEM too_new ${known})
    if(too_new)
        message(STATUS "CUDA: ${SAPWOOD_NVCC}, which is too old for sm_${too_new}")
        list(REMOVE_ITEM SAPWOOD_CUDA_CODE ${too_new})
        list(REMOVE_ITEM SAPWOOD_CUDA_FATBIN_PTX ${too_new})
        list(REMOVE_ITEM SAPWOOD_CUDA_PTX_FILES ${too_new})
    else()
        message(STATUS "CUDA: ${SAPWOOD_NVCC}")
    endif()
endif()

# sapwood_nvcc(<output> <source> [LOG <file>] FLAGS <flag>...): one run of nvcc; headers are followed by its depfile.
function(sapwood_nvcc output source)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "LOG" "FLAGS")
    if(NOT arg_LOG)
        set(arg_LOG ${output}.log)
    endif()
    add_custom_command(OUTPUT ${output} BYPRODUCTS ${arg_LOG}
        COMMAND ${CMAKE_COMMAND} -DLOG=${arg_LOG} -P ${PROJECT_SOURCE_DIR}/cmake/run_logged.cmake --
            ${SAPWOOD_NVCC} ${arg_FLAGS} -O3 --fmad=false -Wno-deprecated-gpu-targets -Xcompiler -Wall
            "$<$<BOOL:${SAPWOOD_WERROR}>:-Werror;all-warnings>"
            -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
            -MD -MF ${output}.d -MT ${output} -o ${output} ${source}
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/run_logged.cmake
        DEPFILE ${output}.d
        COMMENT "nvcc ${output}"
        COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# sapwood_add_cuda_kernels(<target> <source>): the fatbin, the PTX files and what ptxas says of registers and spills,
# in <build>/cuda. SAPWOOD_CUDA_FATBIN becomes the path of the fatbin.
function(sapwood_add_cuda_kernels target source)
    set(folder ${PROJECT_BINARY_DIR}/cuda)
    file(MAKE_DIRECTORY ${folder})
    cmake_path(GET source STEM name)

    set(code "")
    foreach(arch IN LISTS SAPWOOD_CUDA_CODE)
        list(APPEND code -gencode arch=compute_${arch},code=sm_${arch})
    endforeach()
    foreach(arch IN LISTS SAPWOOD_CUDA_FATBIN_PTX)
        list(APPEND code -gencode arch=compute_${arch},code=compute_${arch})
    endforeach()
    sapwood_nvcc(${folder}/${name}.fatbin ${source} LOG ${folder}/ptxas.txt FLAGS
        # not compressed: the tests' executor reads the PTX in it
        -fatbin --no-compress --threads 0 --ptxas-options=-v ${code})

    set(outputs ${folder}/${name}.fatbin)
    set(SAPWOOD_CUDA_FATBIN ${folder}/${name}.fatbin PARENT_SCOPE)
    foreach(arch IN LISTS SAPWOOD_CUDA_PTX_FILES)
        sapwood_nvcc(${folder}/${name}_${arch}.ptx ${source} FLAGS -ptx -arch=compute_${arch})
        list(APPEND outputs ${folder}/${name}_${arch}.ptx)
    endforeach()
    add_custom_target(${target} ALL DEPENDS ${outputs})
endfunction()
