/* The methods that solve a world's problem, one row each: METHOD(name). solve/method.h calls name_solve of the chosen one;
 * solve/methods.h includes the headers that define them. */
#ifndef SAPWOOD_KERNELS_DATA_METHODS_H
#define SAPWOOD_KERNELS_DATA_METHODS_H

#define SAP_METHODS(METHOD) METHOD(newton) METHOD(descent)

/* SAP_METHOD_newton, ... */
enum {
#define METHOD(name) SAP_METHOD_##name,
    SAP_METHODS(METHOD)
#undef METHOD
        SAP_NUM_METHODS
};

#endif
