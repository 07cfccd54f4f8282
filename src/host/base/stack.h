/* The stack of the calling thread. A thread may have a small one: the steps of a world keep vectors of all lanes there. */
#ifndef SAPWOOD_HOST_BASE_STACK_H
#define SAPWOOD_HOST_BASE_STACK_H

#include <sapwood/error.h>

/* Bytes that a call may need. The largest need in the scenes of the tests is 80 kB, for hulls with 8 lanes. */
enum { SAP_STACK_BYTES = 128 * 1024 };

/* Fails if the calling thread has less left than SAP_STACK_BYTES; the message begins with `what`. A stack that the
 * system does not know, such as that of a coroutine, is not checked. */
SapStatus sap_stack_check(const char *what);

#endif
