/* The public functions of gradients.h: checks, and the inputs by name. */
#include <sapwood/sapwood.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/batch/backend.h"
#include "host/model/parameters.h"
#include "host/options/capabilities.h"
#include "host/plan/step_args.h"

void sap_gradient_options_default(SapGradientOptions *out) {
    if (out)
        *out = (SapGradientOptions){.tolerance = 1e-10, .max_iterations = 100, .kink = 1e-6};
}

/* ---- inputs ---- */

/* In the order of SAP_INPUT_..., then the parameters that have derivatives. */
static const char *const controls[] = {"joint_f",  "joint_target_pos",  "joint_target_vel",  "joint_act", "body_f",
                                       "tendon_f", "tendon_target_pos", "tendon_target_vel", "tendon_act"};
enum { NUM_CONTROLS = sizeof controls / sizeof controls[0] };

static const SapParameter differentiable[] = {
    SAP_PARAMETER_GRAVITY,           SAP_PARAMETER_BODY_MASS,          SAP_PARAMETER_BODY_COM,
    SAP_PARAMETER_BODY_INERTIA,      SAP_PARAMETER_BODY_GRAVCOMP,      SAP_PARAMETER_JOINT_ARMATURE,
    SAP_PARAMETER_JOINT_DAMPING,     SAP_PARAMETER_JOINT_FRICTION,     SAP_PARAMETER_JOINT_TARGET_KE,
    SAP_PARAMETER_JOINT_TARGET_KD,   SAP_PARAMETER_JOINT_EFFORT_LIMIT, SAP_PARAMETER_JOINT_LIMIT_LOWER,
    SAP_PARAMETER_JOINT_LIMIT_UPPER, SAP_PARAMETER_JOINT_LIMIT_KE,     SAP_PARAMETER_JOINT_LIMIT_KD,
    SAP_PARAMETER_SHAPE_MATERIAL_MU, SAP_PARAMETER_SHAPE_MATERIAL_KE,  SAP_PARAMETER_SHAPE_MATERIAL_TAU,
    SAP_PARAMETER_SHAPE_MARGIN,      SAP_PARAMETER_SHAPE_GAP,          SAP_PARAMETER_CONSTRAINT_LENGTH,
    SAP_PARAMETER_CONSTRAINT_KE,     SAP_PARAMETER_CONSTRAINT_KD};
enum {
    NUM_DIFFERENTIABLE = sizeof differentiable / sizeof differentiable[0],
    MAX_NAMES = NUM_CONTROLS + NUM_DIFFERENTIABLE
};

static const char *parameter_name(SapParameter p) {
    return sap_parameter_names()[p];
}

static int control_size(const SapBatch *b, int kind) {
    return kind == SAP_INPUT_BODY_F ? 6 * b->nb : kind >= SAP_INPUT_TENDON_F ? b->num_tendons : b->nv;
}

/* Finds the input of a name. */
static SapStatus find_input(const SapBatch *b, const char *what, const char *name, SapInput *out) {
    const char *names[MAX_NAMES + 1];
    for (int i = 0; i < NUM_CONTROLS; i++) {
        names[i] = controls[i];
        if (strcmp(name, controls[i]) == 0) {
            *out = (SapInput){.kind = i, .count = control_size(b, i)};
            return SAP_OK;
        }
    }
    const SapNumbers *numbers = &b->backend->per_world(b)->numbers;
    for (int i = 0; i < NUM_DIFFERENTIABLE; i++) {
        SapParameter p = differentiable[i];
        names[NUM_CONTROLS + i] = parameter_name(p);
        if (strcmp(name, parameter_name(p)) == 0) {
            *out = (SapInput){.kind = SAP_INPUT_PARAMETER + (int)p,
                              .count = sap_parameter_rows(numbers, p) * sap_parameter_columns(p)};
            return SAP_OK;
        }
    }
    names[MAX_NAMES] = NULL;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (strcmp(name, parameter_name((SapParameter)p)) == 0)
            SAP_REQUIRE(&b->options, SAP_CAN_GRADIENTS_ALL_PARAMETERS, "%s: input '%s'", what, name);
    const char *near = sap_nearest_name(name, names);
    return sap_fail(SAP_ERROR_ARGUMENT, "%s: input '%s' is not a control or parameter with derivatives%s%s%s", what,
                    name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static SapStatus check_supported(const SapBatch *b, const char *what) {
    SAP_REQUIRE(&b->options, SAP_CAN_GRADIENTS, "%s", what);
    if (b->options.sleep_steps > 0)
        SAP_REQUIRE(&b->options, SAP_CAN_GRADIENTS_SLEEP, "%s", what);
    if (b->options.velocity_forces == SAP_VELOCITY_MEAN)
        SAP_REQUIRE(&b->options, SAP_CAN_GRADIENTS_MEAN, "%s", what);
    if (b->options.compat != SAP_COMPAT_NONE)
        SAP_REQUIRE(&b->options, SAP_CAN_GRADIENTS_COMPAT, "%s", what);
    if (b->options.contact_approximation != SAP_APPROXIMATION_SAP)
        SAP_REQUIRE(&b->options, SAP_CAN_GRADIENTS_APPROXIMATION, "%s", what);
    return SAP_OK;
}

SapStatus sap_gradient_input_size(const SapBatch *batch, const char *name, int *size) {
    SapInput input;
    SAP_NEED(batch);
    SAP_NEED(name);
    SAP_NEED(size);
    SAP_TRY(check_supported(batch, __func__));
    SAP_TRY(find_input(batch, __func__, name, &input));
    *size = input.count;
    return SAP_OK;
}

static SapStatus find_inputs(const SapBatch *b, SapGradientCall *call) {
    const SapGradientSteps *steps = call->steps;
    if (steps->num_inputs < 0 || steps->num_inputs > SAP_MAX_INPUTS)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: num_inputs is %d; it must be in 0 .. %d", call->what,
                        steps->num_inputs, SAP_MAX_INPUTS);
    if (steps->num_inputs > 0 && !steps->inputs)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: inputs is NULL and num_inputs is %d", call->what, steps->num_inputs);
    int first = 0;
    for (int i = 0; i < steps->num_inputs; i++) {
        const SapGradientInput *in = &steps->inputs[i];
        if (!in->name || !in->data)
            return sap_fail(SAP_ERROR_ARGUMENT, "%s: inputs[%d]: %s is NULL", call->what, i,
                            in->name ? "data" : "name");
        SapInput *out = &call->array[i];
        SAP_TRY(find_input(b, call->what, in->name, out));
        out->first = first;
        out->out = in->data;
        first += out->count;
    }
    call->num_arrays = steps->num_inputs;
    return SAP_OK;
}

/* ---- calls ---- */

static SapStatus check_options(const char *what, const SapGradientOptions *o) {
    if (!(o->tolerance > 0 && isfinite(o->tolerance)))
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: tolerance is %g; it must be finite and > 0", what, o->tolerance);
    if (o->max_iterations < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: max_iterations is %d; it must be at least 1", what, o->max_iterations);
    if (!(o->kink >= 0))
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: kink is %g; it must be >= 0", what, o->kink);
    return SAP_OK;
}

static SapStatus differentiate(SapBatch *b, SapGradientCall *call) {
    const SapGradientSteps *steps = call->steps;
    sap_gradient_options_default(&call->options);
    if (steps->options)
        call->options = *steps->options;
    SAP_TRY(check_supported(b, call->what));
    SAP_TRY(check_options(call->what, &call->options));
    SAP_TRY(sap_check_timestep(call->what, steps->h));
    if (steps->steps < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: steps is %d; it must be at least 1", call->what, steps->steps);
    if (call->kind != SAP_GRADIENT_STEP)
        SAP_TRY(find_inputs(b, call));
    return b->backend->differentiate(b, call);
}

SapStatus sap_batch_linearize(SapBatch *batch, const SapGradientSteps *steps, double *A) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(steps);
    SAP_NEED(A);
    SapGradientCall call = {.what = __func__, .kind = SAP_GRADIENT_MATRICES, .steps = steps, .A = A};
    return differentiate(batch, &call);
}

SapStatus sap_batch_vjp(SapBatch *batch, const SapGradientSteps *steps, const double *end, double *start) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(steps);
    SAP_NEED(end);
    SAP_NEED(start);
    SapGradientCall call = {
        .what = __func__, .kind = SAP_GRADIENT_COTANGENTS, .steps = steps, .end = end, .start = start};
    return differentiate(batch, &call);
}

SapStatus sap_batch_jvp(SapBatch *batch, const SapGradientSteps *steps, double *tangent) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(steps);
    SAP_NEED(tangent);
    SapGradientCall call = {.what = __func__, .kind = SAP_GRADIENT_TANGENTS, .steps = steps, .tangent = tangent};
    return differentiate(batch, &call);
}

SapStatus sap_batch_step_exactly(SapBatch *batch, const SapGradientSteps *steps) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(steps);
    SapGradientCall call = {.what = __func__, .kind = SAP_GRADIENT_STEP, .steps = steps};
    return differentiate(batch, &call);
}
