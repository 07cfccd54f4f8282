/* Levels of links, and the properties of each dof. */
#include "host/plan/plan.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/eigen3.h"
#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/sort_by_key.h"
#include "host/model/joint_types.h"
#include "host/model/shape_types.h"
#include "host/plan/formulation.h"
#include "host/plan/layout.h"

/* The arrays of the plan under construction, and the planner's scratch. */
typedef struct Fill {
    SapLink *link;
    int *child, *level_start, *level_link, *body_link, *shape_link;
    int *dof_public, *dof_coord, *dof_driven, *dof_limited, *dof_law;
} Fill;

typedef struct Work {
    int *body_link;  /* [nb] */
    int *level;      /* [nl] */
    int *parent_dof; /* [nv] the next dof on the path to the root, or -1 */
    int *closed;     /* [nv] parent_dof of the elimination tree */
    int *scratch;    /* [nv] */
    int levels;
} Work;

static void find_levels(const SapModelArrays *m, Work *w) {
    for (int j = 0; j < m->num_joints; j++)
        w->body_link[m->joint_child[j]] = j;
    for (int j = 0; j < m->num_joints; j++) {
        int parent = m->joint_parent[j];
        w->level[j] = parent < 0 ? 0 : w->level[w->body_link[parent]] + 1;
        w->levels = w->level[j] + 1 > w->levels ? w->level[j] + 1 : w->levels;
    }
}

/* The last dof on the path from the world to body `parent`, or -1. Fixed joints have none and are skipped. */
static int last_dof_above(const SapModelArrays *m, const Work *w, int parent) {
    while (parent >= 0) {
        int j = w->body_link[parent];
        if (m->joint_qd_start[j + 1] > m->joint_qd_start[j])
            return m->joint_qd_start[j + 1] - 1;
        parent = m->joint_parent[j];
    }
    return -1;
}

/* The dofs of a joint form a chain below the dofs of the joint's parent. */
static void find_parent_dofs(const SapModelArrays *m, Work *w) {
    for (int j = 0; j < m->num_joints; j++) {
        int above = last_dof_above(m, w, m->joint_parent[j]);
        for (int i = m->joint_qd_start[j]; i < m->joint_qd_start[j + 1]; i++) {
            w->parent_dof[i] = above;
            above = i;
        }
    }
}

static int is_identity_rotation(const double *pose) {
    return pose[3] == 0 && pose[4] == 0 && pose[5] == 0 && pose[6] == 1;
}

static int is_identity(const double *pose) {
    return pose[0] == 0 && pose[1] == 0 && pose[2] == 0 && is_identity_rotation(pose);
}

/* The wobble of a body that spins at omega about a principal axis c has the rate rho omega,
 * rho^2 = |(J_c - J_a)(J_c - J_b)| / (J_a J_b). Returns the largest rho of the three axes; the triangle inequality of
 * moments keeps it below 1, and a body with three equal moments has 0. */
static double wobble_rate(const double inertia[9]) {
    double J[3], largest = 0;
    sap_eigen3_symmetric(inertia, J);
    for (int c = 0; c < 3; c++) {
        double a = J[(c + 1) % 3], b = J[(c + 2) % 3];
        largest = fmax(largest, fabs((J[c] - a) / a * ((J[c] - b) / b)));
    }
    return sqrt(largest);
}

/* The explicit gyroscopic torque multiplies the energy of a wobble by at least 1 + (h rho omega)^2 in a step; the bound
 * is 1 % (docs/free_motion.md). Bodies with nearly equal moments have no bound. */
static float max_turn_of(const SapModelArrays *m, int joint) {
    const double growth = 0.01, least_rate = 1e-3;
    if (m->joint_type[joint] != SAP_JOINT_FREE && m->joint_type[joint] != SAP_JOINT_BALL)
        return 0;
    double rate = wobble_rate(m->body_inertia + 9 * m->joint_child[joint]);
    return rate > least_rate ? (float)(sqrt(growth) / rate) : 0;
}

/* Bounds of the motion of a body in a step and of the depth of its contacts, from the thickness of its shapes: a free
 * body that moves by more than its thinnest shape may pass through another between two steps, and beyond half of its
 * thickest shape a contact may turn to its other side. */
static void bound_links(const SapModelArrays *m, const Work *w, SapLink *link) {
    for (int s = 0; s < m->num_shapes; s++) {
        float thickness = (float)fmin(sap_shape_thickness(m, s), FLT_MAX);
        if (m->shape_body[s] < 0 || !(m->shape_flags[s] & SAP_SHAPE_COLLIDES) || thickness == FLT_MAX)
            continue;
        SapLink *of = &link[w->body_link[m->shape_body[s]]];
        if (of->type == SAP_JOINT_FREE && !(of->max_shift > 0 && of->max_shift <= thickness))
            of->max_shift = thickness;
        of->max_depth = fmaxf(of->max_depth, thickness / 2);
    }
}

static void fill_links(const SapModelArrays *m, const Work *w, SapLink *link, int *child) {
    /* Links, and the number of children of each. */
    for (int j = 0; j < m->num_joints; j++) {
        int parent = m->joint_parent[j] < 0 ? -1 : w->body_link[m->joint_parent[j]];
        link[j] = (SapLink){.type = m->joint_type[j],
                            .parent = parent,
                            .root = parent < 0 ? j : link[parent].root,
                            .body = m->joint_child[j],
                            .q = m->joint_q_start[j],
                            .v = m->joint_qd_start[j],
                            .nlin = m->joint_dof_dim[2 * j],
                            .nang = m->joint_dof_dim[2 * j + 1],
                            .plain_X_p = is_identity_rotation(m->joint_X_p + 7 * j),
                            .plain_X_c = is_identity(m->joint_X_c + 7 * j),
                            .last_dof = last_dof_above(m, w, m->joint_child[j]),
                            .max_turn = max_turn_of(m, j)};
        if (parent >= 0)
            link[parent].num_children++;
    }
    /* Start of each list of children; num_children becomes the insertion position. */
    for (int j = 0, next = 0; j < m->num_joints; j++) {
        link[j].first_child = next;
        next += link[j].num_children;
        link[j].num_children = 0;
    }
    /* Lists of children. */
    for (int j = 0; j < m->num_joints; j++) {
        SapLink *parent = link[j].parent < 0 ? NULL : &link[link[j].parent];
        if (parent)
            child[parent->first_child + parent->num_children++] = j;
    }
}

static void fill_articulations(const SapModelArrays *m, SapLink *link) {
    for (int a = 0; a < m->num_articulations; a++)
        for (int j = m->articulation_start[a]; j < m->articulation_start[a + 1]; j++)
            link[j].articulation = a;
}

/* The dofs of a free joint are linear first in the public order and angular first in the internal order. Limits exist
 * only for joints with a single axis. A drive may be on any dof; without a coordinate only its velocity gain acts.
 * A formulation may have none of them as terms of dofs. */
static void fill_dofs(const SapModelArrays *m, bool has_terms, const Fill *f) {
    for (int j = 0; j < m->num_joints; j++) {
        int v = m->joint_qd_start[j], n = m->joint_qd_start[j + 1] - v;
        const SapJointTypeRow *type = sap_joint_type(m->joint_type[j]);
        bool has_coords = sap_joint_has_plain_coords(type);
        for (int i = v; i < v + n; i++) {
            int given = type->is_pose ? v + (i - v + 3) % 6 : i;
            f->dof_public[i] = given;
            f->dof_coord[i] = has_coords ? m->joint_q_start[j] + i - v : -1;
            f->dof_driven[i] = has_terms && m->joint_target_mode[given] != SAP_TARGET_NONE;
            f->dof_limited[i] = has_terms && has_coords && n == 1;
        }
    }
}

static void fill_shapes(const SapModelArrays *m, const Work *w, const Fill *f) {
    for (int b = 0; b < m->num_bodies; b++)
        f->body_link[b] = w->body_link[b];
    for (int i = 0; i < m->num_shapes; i++)
        f->shape_link[i] = m->shape_body[i] < 0 ? -1 : w->body_link[m->shape_body[i]];
}

void sap_plan_own(SapPlanOwner *out, int block, void *memory, size_t bytes) {
    free(out->memory[block]);
    out->bytes += bytes - out->block_bytes[block];
    out->memory[block] = memory;
    out->block_bytes[block] = bytes;
}

static SapStatus carve_plan(const SapModelArrays *m, const Work *w, Fill *f, SapPlanOwner *out) {
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "plan", SAP_PART(f->link, m->num_joints), SAP_PART(f->child, m->num_joints),
                          SAP_PART(f->level_start, w->levels + 1), SAP_PART(f->level_link, m->num_joints),
                          SAP_PART(f->body_link, m->num_bodies), SAP_PART(f->shape_link, m->num_shapes),
                          SAP_PART(f->dof_public, m->num_dofs), SAP_PART(f->dof_coord, m->num_dofs),
                          SAP_PART(f->dof_driven, m->num_dofs), SAP_PART(f->dof_limited, m->num_dofs),
                          SAP_PART(f->dof_law, m->num_dofs)));
    sap_plan_own(out, SAP_PLAN_LINKS, arena.base, arena.used);
    return SAP_OK;
}

/* Links of the rows of the tree pattern. */
static void link_rows(const SapModelArrays *m, const SapPattern *tree) {
    for (int j = 0; j < m->num_joints; j++)
        for (int i = m->joint_qd_start[j]; i < m->joint_qd_start[j + 1]; i++)
            ((SapPatternRow *)tree->row)[i].link = j;
}

static SapStatus own_pattern(int nv, const int *parent_dof, SapPattern *pattern, int block, SapPlanOwner *out) {
    void *memory;
    size_t bytes;
    SAP_TRY(sap_pattern_create(nv, parent_dof, pattern, &memory, &bytes));
    sap_plan_own(out, block, memory, bytes);
    return SAP_OK;
}

/* The pattern of H without contacts: the tree's, unless a constraint or tendon adds entries. */
static SapStatus add_closed(Work *w, SapPlanOwner *out) {
    SapPlan *plan = &out->plan;
    plan->closed = plan->tree;
    if (plan->num_blocks == 0)
        return SAP_OK;
    sap_elimination_tree(plan, w->parent_dof, w->closed, w->scratch);
    if (plan->nv == 0 || memcmp(w->closed, w->parent_dof, (size_t)plan->nv * sizeof *w->closed) == 0)
        return SAP_OK;
    return own_pattern(plan->nv, w->closed, &plan->closed, SAP_PLAN_CLOSED, out);
}

/* Links, dofs and shapes. */
static SapStatus fill_plan(const SapModel *model, int formulation, Work *w, SapPlanOwner *out) {
    const SapModelArrays *m = sap_model_arrays(model);
    const SapFormulation *of = sap_formulation(formulation);
    Fill f;
    find_levels(m, w);
    find_parent_dofs(m, w);
    SAP_TRY(carve_plan(m, w, &f, out));
    fill_links(m, w, f.link, f.child);
    fill_articulations(m, f.link);
    bound_links(m, w, f.link);
    sap_sort_by_key(m->num_joints, w->level, w->levels, f.level_start, f.level_link);
    /* The plan points to these arrays. */
    fill_dofs(m, of->dof_terms, &f);
    fill_shapes(m, w, &f);
    out->plan = (SapPlan){.nl = m->num_joints,
                          .nb = m->num_bodies,
                          .nq = m->num_coords,
                          .nv = m->num_dofs,
                          .ns = m->num_shapes,
                          .num_articulations = m->num_articulations,
                          .num_levels = w->levels,
                          .link = f.link,
                          .child = f.child,
                          .level_start = f.level_start,
                          .level_link = f.level_link,
                          .body_link = f.body_link,
                          .shape_link = f.shape_link,
                          .dof_public = f.dof_public,
                          .dof_coord = f.dof_coord,
                          .dof_driven = f.dof_driven,
                          .dof_limited = f.dof_limited,
                          .dof_law = f.dof_law,
                          .formulation = formulation,
                          .contact_rows = of->contact_rows ? of->contact_rows(model) : 3,
                          .rk4 = of->is_rk4 && of->is_rk4(model)};
    /* Patterns of the tree, and of the tree and the constraints; branches; the layout of free motion. */
    SAP_TRY(own_pattern(m->num_dofs, w->parent_dof, &out->plan.tree, SAP_PLAN_TREE, out));
    SAP_TRY(sap_plan_add_constraints(model, out));
    SAP_TRY(add_closed(w, out));
    SAP_TRY(sap_plan_add_nodes(w->parent_dof, out));
    link_rows(m, &out->plan.tree);
    out->plan.dof_law_size = sap_place_dof_laws(&out->plan, f.dof_law);
    out->plan.layout = sap_motion_layout(&out->plan, true);
    return sap_plan_add_shapes(model, out);
}

SapStatus sap_plan_create(const SapModel *model, int formulation, SapPlanOwner *out) {
    const SapModelArrays *m = sap_model_arrays(model);
    *out = (SapPlanOwner){0};
    if (sap_formulation(formulation)->check_model)
        SAP_TRY(sap_formulation(formulation)->check_model(model));
    SapArena arena = {0};
    Work w = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "plan", SAP_PART(w.body_link, m->num_bodies), SAP_PART(w.level, m->num_joints),
                          SAP_PART(w.parent_dof, m->num_dofs), SAP_PART(w.closed, m->num_dofs),
                          SAP_PART(w.scratch, m->num_dofs)));
    SapStatus status = fill_plan(model, formulation, &w, out);
    free(arena.base);
    if (status != SAP_OK)
        sap_plan_free(out);
    return status;
}

void sap_plan_free(SapPlanOwner *plan) {
    for (int i = 0; i < SAP_PLAN_NUM_BLOCKS; i++)
        free(plan->memory[i]);
    *plan = (SapPlanOwner){0};
}
