# How all our C is compiled: link a target to sapwood_flags. Private to the build; users of the library do not see it.

add_library(sapwood_flags INTERFACE)
target_compile_options(sapwood_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    # Results are the same bits for every compiler: a fused multiply-add is where it is written, nowhere else.
    -ffp-contract=off
    $<$<BOOL:${SAPWOOD_WERROR}>:-Werror>)
# As `#define _GNU_SOURCE` at the top of each file would do: thread affinity, argp. Empty, so that such a line is no clash.
target_compile_definitions(sapwood_flags INTERFACE _GNU_SOURCE=)

if(SAPWOOD_SANITIZE)
    target_compile_options(sapwood_flags INTERFACE
        -fsanitize=${SAPWOOD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(sapwood_flags INTERFACE -fsanitize=${SAPWOOD_SANITIZE})
endif()
