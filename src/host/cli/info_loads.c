#include "host/cli/info_loads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/cli/info_robot.h"

static const double pi = 3.14159265358979323846;

/* ---- shapes ---- */

static double hull_thickness(const SapModelArrays *a, int shape) {
    int mesh = a->shape_mesh[shape];
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = a->mesh_start[mesh]; i < a->mesh_start[mesh + 1]; i++) {
            low = fmin(low, a->mesh_vertices[3 * i + k]);
            high = fmax(high, a->mesh_vertices[3 * i + k]);
        }
        least = fmin(least, fabs(a->shape_scale[3 * shape + k]) * (high - low));
    }
    return least;
}

/* The smallest extent of a shape; 0 for terrain. */
static double thickness_of(const SapModelArrays *a, int shape) {
    const double *size = a->shape_scale + 3 * shape;
    switch (a->shape_type[shape]) {
    case SAP_SHAPE_SPHERE:
    case SAP_SHAPE_CAPSULE: return 2 * size[0];
    case SAP_SHAPE_CYLINDER:
    case SAP_SHAPE_CONE: return 2 * fmin(size[0], size[1]);
    case SAP_SHAPE_ELLIPSOID:
    case SAP_SHAPE_BOX: return 2 * fmin(size[0], fmin(size[1], size[2]));
    case SAP_SHAPE_HULL: return hull_thickness(a, shape);
    default: return 0;
    }
}

static bool collides(const SapModelArrays *a, int shape) {
    return (a->shape_flags[shape] & SAP_SHAPE_COLLIDES) && a->shape_collision_group[shape] != 0;
}

/* Whether the groups of two shapes let them touch. */
static bool groups_touch(int g, int h) {
    return g > 0 && h > 0 ? g == h : g != h;
}

/* ---- trees ---- */

/* Trees of bodies, by the joint at the root. */
typedef struct Trees {
    int *root;         /* [nb] of each body */
    double *mass;      /* [nj] of the tree of a root */
    int *heaviest;     /* [nj] its heaviest body */
    double *thickness; /* [nb] of the thickest shape of a body */
} Trees;

static bool trees_create(const SapModelArrays *a, Trees *t) {
    size_t nb = (size_t)a->num_bodies, nj = (size_t)a->num_joints;
    t->root = cli_allocate(nb, sizeof *t->root);
    t->mass = cli_allocate(nj, sizeof *t->mass);
    t->heaviest = cli_allocate(nj, sizeof *t->heaviest);
    t->thickness = cli_allocate(nb, sizeof *t->thickness);
    if (!t->root || !t->mass || !t->heaviest || !t->thickness)
        return false;
    for (int j = 0; j < a->num_joints; j++) { /* parents come first */
        int body = a->joint_child[j], parent = a->joint_parent[j];
        int root = t->root[body] = parent < 0 ? j : t->root[parent];
        if (root == j)
            t->mass[j] = 0, t->heaviest[j] = body;
        t->mass[root] += a->body_mass[body];
        if (a->body_mass[body] > a->body_mass[t->heaviest[root]])
            t->heaviest[root] = body;
    }
    for (int b = 0; b < a->num_bodies; b++)
        t->thickness[b] = 0;
    for (int s = 0; s < a->num_shapes; s++)
        if (a->shape_body[s] >= 0 && collides(a, s))
            t->thickness[a->shape_body[s]] = fmax(t->thickness[a->shape_body[s]], thickness_of(a, s));
    return true;
}

static void trees_destroy(Trees *t) {
    free(t->root);
    free(t->mass);
    free(t->heaviest);
    free(t->thickness);
}

/* The root of the heaviest other tree with a shape that can touch one of the body's, or -1. */
static int heaviest_load(const SapModelArrays *a, const Trees *t, int body) {
    int found = -1;
    for (int s = 0; s < a->num_shapes; s++) {
        int other = a->shape_body[s];
        if (other < 0 || !collides(a, s) || t->root[other] == t->root[body])
            continue;
        if (found >= 0 && t->mass[t->root[other]] <= t->mass[found])
            continue;
        bool touches = false;
        for (int r = 0; r < a->num_shapes && !touches; r++)
            touches = a->shape_body[r] == body && collides(a, r) &&
                      groups_touch(a->shape_collision_group[r], a->shape_collision_group[s]);
        if (touches)
            found = t->root[other];
    }
    return found;
}

/* ---- warnings ---- */

static bool has_near_rigid_bound(const SapOptions *o) {
    return o->contact_solver == SAP_SOLVER_SAP ||
           (o->contact_solver != SAP_SOLVER_MUJOCO && o->contact_compliance == SAP_COMPLIANCE_SAP);
}

bool cli_loads_warn(const SapScene *scene, void (*warn)(void *to, const char *text), void *to) {
    const SapModelArrays *a = sap_model_arrays(scene->model);
    const SapOptions *o = &scene->options;
    double g = sqrt(a->gravity[0] * a->gravity[0] + a->gravity[1] * a->gravity[1] + a->gravity[2] * a->gravity[2]);
    double per_ratio = o->near_rigid * o->near_rigid * scene->dt * scene->dt * g / (4 * pi * pi), total = 0;
    Trees t = {0};
    if (!has_near_rigid_bound(o))
        return true;
    if (!trees_create(a, &t)) {
        trees_destroy(&t);
        return false;
    }
    for (int b = 0; b < a->num_bodies; b++)
        total += a->body_mass[b];
    for (int b = 0; b < a->num_bodies; b++) {
        double bound = t.thickness[b] / 2, per_mass = per_ratio / a->body_mass[b];
        int load = bound > 0 && per_mass * total > bound ? heaviest_load(a, &t, b) : -1;
        double depth = load < 0 ? 0 : per_mass * (t.mass[load] + a->body_mass[b]);
        if (depth <= bound)
            continue;
        CliShown light = cli_shown(a->body_name[b]), heavy = cli_shown(a->body_name[t.heaviest[load]]);
        CliText mass = cli_mass_text(a->body_mass[b]), tons = cli_mass_text(t.mass[load]);
        char text[1024];
        snprintf(
            text, sizeof text,
            "body %s (%s) is pressed %.3g m into its ground where body %s (%s with its tree) rests on it, more than "
            "half of its thickness: contacts of a light body are soft; a smaller near_rigid or dt helps "
            "(docs/contact_law.md)",
            light.text, mass.text, depth, heavy.text, tons.text);
        warn(to, text);
    }
    trees_destroy(&t);
    return true;
}
