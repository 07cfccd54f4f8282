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
        -fsanitize=${SAPWOOD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    if(SAPWOOD_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID MATCHES "Clang")
        # The check of an address as a call in place of inline code: a third of the time to compile a kernel.
        target_compile_options(sapwood_flags INTERFACE "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
    endif()
    target_link_options(sapwood_flags INTERFACE -fsanitize=${SAPWOOD_SANITIZE})
endif()

# For code that includes kernels; link it after sapwood_flags, because the last option decides. pointer-overflow triples the
# time to compile a kernel, and the other three double it. The address sanitizer finds what null and object-size would, and
# vectors are loaded by instructions that trap if an address is not aligned.
add_library(sapwood_kernel_checks INTERFACE)
if(SAPWOOD_SANITIZE MATCHES "undefined")
    target_compile_options(sapwood_kernel_checks INTERFACE -fno-sanitize=pointer-overflow,null,alignment,object-size)
endif()
