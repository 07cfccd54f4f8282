/* The numbers of the methods that solve a world's problem. */
#ifndef SAPWOOD_KERNELS_DATA_METHODS_H
#define SAPWOOD_KERNELS_DATA_METHODS_H

#include "kernels/data/lists.h"

/* SAP_METHOD_newton, ... */
enum {
#define METHOD(name) SAP_METHOD_##name,
    SAP_METHODS(METHOD)
#undef METHOD
        SAP_NUM_METHODS
};

#endif
