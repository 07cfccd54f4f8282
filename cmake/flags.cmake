# Compiler flags of all C code of the project: link a target to sapwood_flags. They do not propagate to users.

add_library(sapwood_flags INTERFACE)
target_compile_options(sapwood_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    # Compilers must not fuse multiplications and additions, so that results have the same bits with every compiler.
    -ffp-contract=off
    $<$<BOOL:${SAPWOOD_WERROR}>:-Werror>)
# For thread affinity and argp. The empty value does not conflict with `#define _GNU_SOURCE` in a file.
target_compile_definitions(sapwood_flags INTERFACE _GNU_SOURCE=)

if(SAPWOOD_SANITIZE)
    target_compile_options(sapwood_flags INTERFACE
        -fsanitize=${SAPWOOD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(sapwood_flags INTERFACE -fsanitize=${SAPWOOD_SANITIZE})
endif()
