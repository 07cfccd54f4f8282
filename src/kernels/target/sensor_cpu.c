/* Entry file of the sensors on a CPU, compiled once per instruction set and precision, with one lane: rays follow their
 * own numbers. It exports one table, sap_sensor_kernels_<isa>_f<precision>. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/sensors.h>

#include "kernels/data/context.h"
#include "kernels/data/rays.h"
#include "kernels/dialect/team.h"

#include "kernels/sensor/sensors.h"

#define PASTE_OF(isa, precision) sap_sensor_kernels_##isa##_f##precision
#define PASTE(isa, precision)    PASTE_OF(isa, precision)
#define TABLE                    PASTE(SAP_ISA_NAME, SAP_PRECISION)

static void place_shapes(const SapRayArgs *args, long long begin, long long end) {
    for (long long i = begin; i < end; i++)
        place_shape(args, i);
}

static void cast_rays(const SapRayArgs *args, long long begin, long long end) {
    for (long long i = begin; i < end; i++)
        cast_ray(args, i);
}

static void sense(const SapSenseArgs *args, long long begin, long long end) {
    for (long long i = begin; i < end; i++)
        sense_item(args, i);
}

extern const SapSensorKernels TABLE;
const SapSensorKernels TABLE = {.place_shapes = place_shapes, .cast_rays = cast_rays, .sense = sense};
