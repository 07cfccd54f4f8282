/* Numbers of arrays whose type is known at run time only: f32 or f64. */
#ifndef SAPWOOD_HOST_BASE_NUMBER_H
#define SAPWOOD_HOST_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

static inline size_t sap_real_bytes(bool is_f64) {
    return is_f64 ? sizeof(double) : sizeof(float);
}

static inline double sap_number_at(const void *array, bool is_f64, size_t i) {
    return is_f64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static inline void sap_put_number(void *array, bool is_f64, size_t i, double value) {
    if (is_f64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

static inline void sap_put_numbers(void *array, bool is_f64, size_t first, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        sap_put_number(array, is_f64, first + i, values[i]);
}

#endif
