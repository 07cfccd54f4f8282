/* The model's constants in the order and precision of the kernels: by link, dofs in internal order. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "fail.h"
#include "host_memory.h"
#include "plan.h"

/* Writes element i of a field being built. */
static void put(void *data, int f64, int i, double value) {
    if (f64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

static void put_all(void *data, int f64, int first, const double *values, int n) {
    for (int i = 0; i < n; i++)
        put(data, f64, first + i, values[i]);
}

/* The inverse of a pose: (-R' p, q*). A model made as given may have quaternions that are not quite unit. */
static void invert_pose(const double *X, double *inverse) {
    double length = sqrt(X[3] * X[3] + X[4] * X[4] + X[5] * X[5] + X[6] * X[6]);
    if (fabs(length - 1) <= 4 * DBL_EPSILON)
        length = 1;
    double u[3] = {-X[3] / length, -X[4] / length, -X[5] / length}, w = X[6] / length, p[3] = {-X[0], -X[1], -X[2]};
    /* rot(q, p) = p + w t + u x t, t = 2 u x p */
    double t[3] = {2 * (u[1] * p[2] - u[2] * p[1]), 2 * (u[2] * p[0] - u[0] * p[2]), 2 * (u[0] * p[1] - u[1] * p[0])};
    inverse[0] = p[0] + w * t[0] + (u[1] * t[2] - u[2] * t[1]);
    inverse[1] = p[1] + w * t[1] + (u[2] * t[0] - u[0] * t[2]);
    inverse[2] = p[2] + w * t[2] + (u[0] * t[1] - u[1] * t[0]);
    for (int i = 0; i < 3; i++)
        inverse[3 + i] = u[i];
    inverse[6] = w;
}

static void fill_link(const SapModelArrays *m, const SapConstants *c, int f64, int l, int body) {
    double X_c_inv[7];
    invert_pose(m->joint_X_c + 7 * l, X_c_inv);
    put_all((void *)c->X_p.data, f64, 7 * l, m->joint_X_p + 7 * l, 7);
    put_all((void *)c->X_c_inv.data, f64, 7 * l, X_c_inv, 7);
    put_all((void *)c->mass.data, f64, l, m->body_mass + body, 1);
    put_all((void *)c->com.data, f64, 3 * l, m->body_com + 3 * body, 3);
    const double *I = m->body_inertia + 9 * body;
    const double packed[6] = {I[0], I[4], I[8], I[1], I[2], I[5]};
    put_all((void *)c->inertia.data, f64, 6 * l, packed, 6);
}

SapStatus sap_constants_create(const SapModelArrays *m, const SapPlan *plan, int f64, SapConstantsOwner *out) {
    *out = (SapConstantsOwner){0};
    SapConstants *c = &out->constants;
    size_t size = f64 ? sizeof(double) : sizeof(float);
    SapArena arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        c->gravity.data = sap_arena_carve(&arena, 3, size);
        c->X_p.data = sap_arena_carve(&arena, 7 * (size_t)plan->nl, size);
        c->X_c_inv.data = sap_arena_carve(&arena, 7 * (size_t)plan->nl, size);
        c->axis.data = sap_arena_carve(&arena, 3 * (size_t)plan->nv, size);
        c->mass.data = sap_arena_carve(&arena, (size_t)plan->nl, size);
        c->com.data = sap_arena_carve(&arena, 3 * (size_t)plan->nl, size);
        c->inertia.data = sap_arena_carve(&arena, 6 * (size_t)plan->nl, size);
        c->armature.data = sap_arena_carve(&arena, (size_t)plan->nv, size);
        c->damping.data = sap_arena_carve(&arena, (size_t)plan->nv, size);
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "constants"));
    }
    out->memory = arena.base;
    out->bytes = arena.used;

    put_all((void *)c->gravity.data, f64, 0, m->gravity, 3);
    for (int l = 0; l < plan->nl; l++)
        fill_link(m, c, f64, l, plan->link[l].body);
    for (int i = 0; i < plan->nv; i++) {
        int public_dof = plan->dof_public[i];
        put_all((void *)c->axis.data, f64, 3 * i, m->joint_axis + 3 * i, 3);
        put((void *)c->armature.data, f64, i, m->joint_armature[public_dof]);
        put((void *)c->damping.data, f64, i, m->joint_damping[public_dof]);
    }
    return SAP_OK;
}

void sap_constants_free(SapConstantsOwner *constants) {
    free(constants->memory);
    *constants = (SapConstantsOwner){0};
}
