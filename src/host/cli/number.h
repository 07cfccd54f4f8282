/* Numbers of arrays whose type is known at run time only. */
#ifndef SAPWOOD_HOST_CLI_NUMBER_H
#define SAPWOOD_HOST_CLI_NUMBER_H

#include <stddef.h>

#include <sapwood/state.h>

static inline size_t cli_number_bytes(SapDtype dtype) {
    return dtype == SAP_F64 ? sizeof(double) : sizeof(float);
}

static inline double cli_number_at(const void *array, SapDtype dtype, size_t i) {
    return dtype == SAP_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static inline void cli_put_number(void *array, SapDtype dtype, size_t i, double value) {
    if (dtype == SAP_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

#endif
