#include "host/base/symbol.h"

#include <dlfcn.h>
#include <string.h>

/* ISO C has no cast from void * to a function pointer; POSIX guarantees the same representation. */
bool sap_find_symbol(void *library, const char *symbol, void *pointer) {
    void *address = dlsym(library, symbol);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}
