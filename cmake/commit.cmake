# cmake -DSOURCE=<folder> -DOUTPUT=<file.h> -P commit.cmake
# Writes the commit of the build as SAPWOOD_COMMIT. An unchanged file is not rewritten, to avoid a rebuild.

execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR commit STREQUAL "")
    set(commit unknown)
endif()
set(text "/* Made by cmake/commit.cmake. */\n#define SAPWOOD_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" before)
endif()
if(NOT text STREQUAL before)
    file(WRITE "${OUTPUT}" "${text}")
endif()
