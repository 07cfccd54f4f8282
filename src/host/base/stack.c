#define _GNU_SOURCE /* pthread_getattr_np */
#include "host/base/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/fail.h"

/* The stack of a thread, asked for once: for the main thread the system reads a file. */
typedef struct Stack {
    bool known;
    uintptr_t lowest;
    size_t size;
} Stack;

static Stack find_stack(void) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    Stack stack = {.known = true};
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return stack;
    if (pthread_attr_getstack(&attributes, &lowest, &stack.size) != 0)
        stack.size = 0;
    stack.lowest = (uintptr_t)lowest;
    pthread_attr_destroy(&attributes);
    return stack;
}

SapStatus sap_stack_check(const char *what) {
    static _Thread_local Stack stack;
    if (!stack.known)
        stack = find_stack();
    size_t left = (uintptr_t)__builtin_frame_address(0) - stack.lowest;
    if (left >= SAP_STACK_BYTES || left >= stack.size)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MEMORY, "%s: the calling thread has %zu bytes of stack left; it must have at least %d",
                    what, left, (int)SAP_STACK_BYTES);
}
