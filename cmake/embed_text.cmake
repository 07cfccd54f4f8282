# Embeds text files as C strings, so that the library needs no data files at run time.
#
# sapwood_embed_text(<output.c> <symbol> <file>...) adds the command that writes output.c with two NULL-terminated
# arrays:
#   const char *const <symbol>_names[]   the file names without folder and extension
#   const char *const <symbol>_texts[]   their contents
# This file is also the script that the command runs.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    function(sapwood_embed_text output symbol)
        cmake_path(GET output PARENT_PATH folder)
        file(MAKE_DIRECTORY ${folder})
        set(script ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake)
        add_custom_command(OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} "-DFILES=${ARGN}" -P ${script}
            DEPENDS ${ARGN} ${script}
            COMMENT "Embedding ${symbol}"
            VERBATIM)
    endfunction()
    return()
endif()

set(arrays "")
set(names "")
set(texts "")
foreach(file IN LISTS FILES)
    cmake_path(GET file STEM name)
    file(READ "${file}" hex HEX)
    # A byte array instead of a string literal needs no escapes and has no length limit.
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REPLACE "0x0a," "0x0a,\n    " bytes "${bytes}")
    string(APPEND arrays "static const unsigned char text_${name}[] = {\n    ${bytes}0};\n")
    string(APPEND names "\"${name}\", ")
    string(APPEND texts "(const char *)text_${name}, ")
endforeach()
file(WRITE "${OUTPUT}"
    "/* Made by cmake/embed_text.cmake. */\n#include <stddef.h>\n\n"
    "extern const char *const ${SYMBOL}_names[];\nextern const char *const ${SYMBOL}_texts[];\n\n"
    "${arrays}\n"
    "const char *const ${SYMBOL}_names[] = {${names}NULL};\n"
    "const char *const ${SYMBOL}_texts[] = {${texts}NULL};\n")
