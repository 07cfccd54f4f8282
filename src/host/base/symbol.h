/* Functions of libraries that are loaded at run time. */
#ifndef SAPWOOD_HOST_BASE_SYMBOL_H
#define SAPWOOD_HOST_BASE_SYMBOL_H

#include <stdbool.h>

/* Writes the address of a symbol of a library of dlopen to the function pointer at `pointer`. False: there is none. */
bool sap_find_symbol(void *library, const char *symbol, void *pointer);

#endif
