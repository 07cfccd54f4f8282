# Chooses clang where it is installed, unless the caller names a compiler ($CC, CMAKE_C_COMPILER) or builds Sapwood inside
# another project. Under pip $CC is the compiler of Python's own build and not a wish. Included before project().
if(NOT CMAKE_C_COMPILER AND (SKBUILD OR NOT DEFINED ENV{CC}) AND CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    find_program(SAPWOOD_CLANG clang)
    mark_as_advanced(SAPWOOD_CLANG)
    if(SAPWOOD_CLANG)
        set(CMAKE_C_COMPILER ${SAPWOOD_CLANG} CACHE FILEPATH "C compiler")
    endif()
endif()
