#include "lab/bench/newton_model.h"

#include <math.h>

#include "host/cli/batch.h"
#include "host/cli/number.h"

/* ---- the model ---- */

enum { MAX_LINKS = CLI_NEWTON_MAX_DOFS };

typedef struct Arrays {
    int32_t type[MAX_LINKS], parent[MAX_LINKS], child[MAX_LINKS];
    double X_p[MAX_LINKS][7], axis[CLI_NEWTON_MAX_DOFS][3], mass[MAX_LINKS], com[MAX_LINKS][3], inertia[MAX_LINKS][9];
} Arrays;

/* Link l below `parent`, with the mass and size of a rod of 1 kg and 0.2 m. */
static void add_link(Arrays *a, int l, int parent, double x, double y, double z) {
    const double pose[7] = {x, y, z, 0, 0, 0, 1};
    a->type[l] = parent < 0 ? SAP_JOINT_FREE : SAP_JOINT_REVOLUTE;
    a->parent[l] = parent;
    a->child[l] = l;
    a->mass[l] = parent < 0 ? 5 : 1;
    a->com[l][2] = parent < 0 ? 0 : -0.1;
    for (int i = 0; i < 7; i++)
        a->X_p[l][i] = pose[i];
    for (int i = 0; i < 3; i++)
        a->inertia[l][4 * i] = parent < 0 ? 0.1 : 0.01;
    if (parent >= 0)
        a->axis[5 + l][l % 3] = 1;
}

static void add_branch(Arrays *a, int *next, int length, int k, int branches, CliNewtonModel *out) {
    double angle = 2 * 3.14159265358979 * k / branches;
    for (int i = 0; i < length; i++) {
        int l = (*next)++;
        if (i == 0)
            add_link(a, l, 0, 0.2 * cos(angle), 0.2 * sin(angle), 0);
        else
            add_link(a, l, l - 1, 0, 0, -0.2);
    }
    out->end[out->num_ends] = *next - 1;
    out->end_depth[out->num_ends++] = 6 + length;
}

bool cli_newton_model(int nv, CliNewtonModel *out) {
    /* A floating base with branches. */
    Arrays a = {0};
    SapModelArrays m;
    int joints = nv - 6, branches = nv < 30 ? 4 : CLI_NEWTON_BRANCHES, next = 1;
    *out = (CliNewtonModel){.nv = nv};
    add_link(&a, 0, -1, 0, 0, 0);
    for (int k = 0; k < branches && joints > 0; k++)
        add_branch(&a, &next, joints / branches + (k < joints % branches), k, branches, out);
    /* Without branches the base itself is the end. */
    if (joints == 0) {
        out->num_ends = 1;
        out->end_depth[0] = 6;
    }
    /* The model. */
    sap_model_arrays_default(&m);
    m.num_bodies = m.num_joints = next;
    m.num_dofs = nv;
    m.num_coords = nv + 1;
    m.joint_type = a.type;
    m.joint_parent = a.parent;
    m.joint_child = a.child;
    m.joint_X_p = a.X_p[0];
    m.joint_axis = a.axis[0];
    m.body_mass = a.mass;
    m.body_com = a.com[0];
    m.body_inertia = a.inertia[0];
    return cli_check(sap_model_create(&m, &out->model));
}

/* ---- states and contacts ---- */

void cli_newton_state(const CliNewtonModel *m, uint64_t seed, SapState *state) {
    size_t nv = (size_t)m->nv, nq = nv + 1;
    for (size_t w = 0; w < (size_t)state->num_worlds; w++) {
        for (size_t i = 7; i < nq; i++)
            cli_put_number(state->joint_q, state->dtype, w * nq + i, 0.5 * cli_random_unit(seed, w, i));
        for (size_t i = 0; i < nv; i++)
            cli_put_number(state->joint_qd, state->dtype, w * nv + i, cli_random_unit(seed + 1, w, i));
    }
}

/* A point of the body, 0.2 m below its joint plus noise, penetrates slightly tilted ground by up to 5 mm. */
static void put_contact(const CliNewtonModel *m, const SapState *state, SapContacts *c, uint64_t seed, int world,
                        int slot) {
    int body = m->end[slot % m->num_ends], bodies = m->nv - 5;
    size_t at = (size_t)world * (size_t)c->capacity + (size_t)slot, w = (size_t)world, i0 = 16 * (size_t)slot;
    double X[7], *p0 = (double *)c->point0 + 3 * at, *p1 = (double *)c->point1 + 3 * at, t[3];
    double *n = (double *)c->normal + 3 * at;
    for (size_t i = 0; i < 7; i++)
        X[i] = cli_number_at(state->body_q, state->dtype, 7 * (w * (size_t)bodies + (size_t)body) + i);
    for (size_t i = 0; i < 3; i++) {
        p1[i] = 0.1 * cli_random_unit(seed, w, i0 + i) - (i == 2 ? 0.2 : 0);
        n[i] = 0.2 * cli_random_unit(seed, w, i0 + 3 + i) + (i == 2 ? 1 : 0);
    }
    const double *u = X + 3; /* p0 = p + p1 + q_w t + u x t, t = 2 u x p1 */
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (u[(i + 1) % 3] * p1[(i + 2) % 3] - u[(i + 2) % 3] * p1[(i + 1) % 3]);
    double depth = 0.0025 + 0.0025 * cli_random_unit(seed, w, i0 + 6);
    for (int i = 0; i < 3; i++)
        p0[i] = X[i] + p1[i] + u[3] * t[i] + u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3] +
                depth * n[i];
    c->body1[at] = body;
    ((double *)c->mu)[at] = 0.6 + 0.3 * cli_random_unit(seed, w, i0 + 7);
    ((double *)c->stiffness)[at] = 1e5;
    ((double *)c->tau)[at] = 0.01;
}

bool cli_newton_contacts(const CliNewtonModel *m, const SapState *state, int nc, uint64_t seed, SapContacts **out) {
    if (!cli_check(sap_contacts_create(state->num_worlds, nc, SAP_F64, out)))
        return false;
    for (int w = 0; w < state->num_worlds; w++) {
        (*out)->count[w] = nc;
        for (int c = 0; c < nc; c++)
            put_contact(m, state, *out, seed, w, c);
    }
    return true;
}

/* ---- cost ---- */

/* Sum over the dofs of depth^p, on the tree or on one chain of all dofs. */
static double depth_sum(const CliNewtonModel *m, bool dense, int p) {
    double sum = 0;
    for (int d = 1; d <= (dense ? m->nv : 6); d++)
        sum += pow(d, p);
    for (int k = 0; k < m->num_ends && !dense; k++)
        for (int d = 7; d <= m->end_depth[k]; d++)
            sum += pow(d, p);
    return sum;
}

double cli_newton_flops(const CliNewtonModel *m, int nc, double evaluations, bool dense) {
    double nv = m->nv, A = 4 * depth_sum(m, false, 1) - 2 * nv; /* one product with A */
    double flops = 2 * A + (97 + 44 * evaluations) * nv + (58 + 82 * evaluations) * nc;
    for (int c = 0; c < nc; c++) {
        double n = m->end_depth[c % m->num_ends];
        flops += 18 * n + 15 * n + 3 * n * (n + 1); /* J v, J' gamma, J d; G J; J' G J */
    }
    return flops + depth_sum(m, dense, 2) + 4 * depth_sum(m, dense, 1) - 2 * nv; /* factor and solve */
}
