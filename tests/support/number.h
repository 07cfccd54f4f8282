/* Numbers of arrays in either dtype. */
#ifndef SAPWOOD_TESTS_SUPPORT_NUMBER_H
#define SAPWOOD_TESTS_SUPPORT_NUMBER_H

#include <stddef.h>

#include <sapwood/state.h>

static inline size_t number_width(SapDtype dtype) {
    return dtype == SAP_F64 ? sizeof(double) : sizeof(float);
}

static inline double number_get(const void *data, SapDtype dtype, size_t i) {
    return dtype == SAP_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static inline void number_put(void *data, SapDtype dtype, size_t i, double value) {
    if (dtype == SAP_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

#endif
