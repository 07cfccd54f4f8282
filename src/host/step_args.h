/* The part of the kernels' arguments that a model and options fix once: precisions, tolerances, layouts of scratch. */
#ifndef SAPWOOD_HOST_STEP_ARGS_H
#define SAPWOOD_HOST_STEP_ARGS_H

#include <sapwood/model.h>
#include <sapwood/options.h>

#include "kernels/args.h"

/* Fills *args; `constants` are the model's in f32 and f64. State, control, contacts, reports, status, num_worlds and h are left 0. */
SapStatus sap_step_args_init(const SapModelArrays *model, const SapPlan *plan, const SapConstants constants[2],
                             const SapOptions *options, int lanes, SapStepArgs *args);

/* What a side of a contact has that has no shape. */
double sap_fallback_mu(const SapModelArrays *model, const SapOptions *options);
double sap_fallback_tau(const SapModelArrays *model, const SapOptions *options);

#endif
