/* The plan of a model: levels of links, rows, ancestors and descendants of dofs, and the layout of scratch. Known trees
 * are written out; random ones are compared with what follows from the definitions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host/plan/layout.h"
#include "host/plan/plan.h"
#include "host/plan/step_args.h"
#include "support/random_model.h"
#include "support/sample_model.h"
#include "support/scene_text.h"

static SapPlanOwner plan_of(const SapModel *model) {
    SapPlanOwner owner;
    cr_assert_eq(sap_plan_create(model, 0, &owner), SAP_OK, "%s", sap_error_message());
    return owner;
}

static SapModel *chain(SapJointType type, int links) {
    JointKind kinds[48];
    for (int l = 0; l < links; l++)
        kinds[l] = (JointKind){type, 0, 0};
    return random_chain(1, kinds, links);
}

#define check_ints(actual, ...)                                                                                        \
    do {                                                                                                               \
        const int expected_[] = {__VA_ARGS__};                                                                         \
        for (size_t i_ = 0; i_ < sizeof expected_ / sizeof *expected_; i_++)                                           \
            cr_assert_eq((actual)[i_], expected_[i_], #actual "[%zu] is %d, not %d", i_, (actual)[i_], expected_[i_]); \
    } while (0)

/* ---- the sample model, drawn in sample_model.h ----
 * dofs: base 0..5, hip 6, ankle 7..9, shoulder 10..14, wrist none, rail 15, hinge 16 */

Test(plan, sample_has_its_counts) {
    SapModel *model = sample_model_create();
    SapPlanOwner owner = plan_of(model);
    const SapPlan *p = &owner.plan;
    cr_assert(p->nl == 7 && p->nb == 7 && p->nq == SAMPLE_NQ && p->nv == SAMPLE_NV);
    cr_assert_eq(p->num_levels, 3);
    cr_assert_eq(p->tree.num_depths, 11); /* base, then the five dofs of the shoulder */
    /* 1+..+6 base, 7 hip, 8+9+10 ankle, 7+..+11 shoulder, 1 rail, 2 hinge */
    cr_assert_eq(p->tree.nnz, 21 + 7 + 27 + 45 + 1 + 2);
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

Test(plan, sample_has_its_links_and_levels) {
    SapModel *model = sample_model_create();
    SapPlanOwner owner = plan_of(model);
    const SapPlan *p = &owner.plan;
    check_ints(p->level_start, 0, 2, 5, 7);
    check_ints(p->level_link, SAMPLE_BASE, SAMPLE_RAIL, SAMPLE_HIP, SAMPLE_SHOULDER, SAMPLE_HINGE, SAMPLE_ANKLE,
               SAMPLE_WRIST);
    const int parent[] = {-1, 0, 1, 0, 3, -1, 5}, root[] = {0, 0, 0, 0, 0, 5, 5}, body[] = {0, 1, 2, 3, 4, 6, 5};
    const int q[] = {0, 7, 8, 12, 17, 17, 18}, v[] = {0, 6, 7, 10, 15, 15, 16}, children[] = {2, 1, 0, 1, 0, 1, 0};
    for (int l = 0; l < 7; l++) {
        const SapLink *link = &p->link[l];
        cr_assert(link->parent == parent[l] && link->root == root[l] && link->body == body[l], "link %d", l);
        cr_assert(link->q == q[l] && link->v == v[l] && link->num_children == children[l], "link %d", l);
    }
    check_ints(p->child + p->link[SAMPLE_BASE].first_child, SAMPLE_HIP, SAMPLE_SHOULDER);
    check_ints(p->child + p->link[SAMPLE_RAIL].first_child, SAMPLE_HINGE);
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

Test(plan, sample_has_its_rows) {
    SapModel *model = sample_model_create();
    SapPlanOwner owner = plan_of(model);
    const SapPlan *p = &owner.plan;
    check_ints(p->tree.ancestor + p->tree.row[9].start, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    check_ints(p->tree.ancestor + p->tree.row[12].start, 0, 1, 2, 3, 4, 5, 10, 11, 12);
    check_ints(p->tree.ancestor + p->tree.row[16].start, 15, 16);
    cr_assert(p->tree.row[9].depth == 9 && p->tree.row[12].depth == 8 && p->tree.row[15].depth == 0 &&
              p->tree.row[16].depth == 1);
    cr_assert(p->tree.row[12].link == SAMPLE_SHOULDER && p->tree.row[16].link == SAMPLE_HINGE);
    /* below dof 5: hip, ankle, shoulder; below dof 8: dof 9; below the rail: the hinge */
    cr_assert(p->tree.row[5].num_desc == 9 && p->tree.row[0].num_desc == 14 && p->tree.row[14].num_desc == 0);
    cr_assert(p->tree.row[8].num_desc == 1 && p->tree.descendant[p->tree.row[8].desc_start].dof == 9);
    cr_assert(p->tree.row[15].num_desc == 1 && p->tree.descendant[p->tree.row[15].desc_start].dof == 16);
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

/* Hip and ankle are one branch. It and the shoulder are too large together for one node; the rail is another tree. */
Test(plan, sample_has_its_nodes) {
    SapModel *model = sample_model_create();
    SapPlanOwner owner = plan_of(model);
    const SapNodes *nodes = &owner.plan.nodes;
    cr_assert(nodes->count == 4 && nodes->words == 1);
    check_ints(nodes->start, 0, 6, 10, 15, 17);
    check_ints(nodes->of_dof, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3);
    check_ints((const int *)nodes->couples, 0, 1, 1, 0);
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

/* Linear dofs come first for the public, angular ones inside. */
Test(plan, only_the_dofs_of_free_joints_change_places) {
    SapModel *model = sample_model_create();
    SapPlanOwner owner = plan_of(model);
    check_ints(owner.plan.dof_public, 3, 4, 5, 0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

/* ---- formulas ---- */

Test(plan, a_chain_is_dense) {
    for (int n = 1; n <= 48; n += 7) {
        SapModel *model = chain(SAP_JOINT_REVOLUTE, n);
        SapPlanOwner owner = plan_of(model);
        cr_assert_eq(owner.plan.tree.nnz, n * (n + 1) / 2);
        cr_assert(owner.plan.num_levels == n && owner.plan.tree.num_depths == n);
        sap_plan_free(&owner);
        sap_model_destroy(model);
    }
}

/* A base of six dofs and k legs of three: 21 entries, and 7 + 8 + 9 for each leg. */
Test(plan, a_walker_has_no_entries_between_its_legs) {
    enum { LEGS = 4, LINKS = 1 + 3 * LEGS };
    int32_t type[LINKS] = {SAP_JOINT_FREE}, parent[LINKS] = {-1}, child[LINKS] = {0};
    double axis[6 + 3 * LEGS][3] = {{0}}, mass[LINKS], inertia[LINKS][9] = {{0}};
    for (int l = 0; l < LINKS; l++) {
        if (l > 0) {
            type[l] = SAP_JOINT_REVOLUTE;
            parent[l] = (l - 1) % 3 == 0 ? 0 : l - 1;
            child[l] = l;
            axis[5 + l][1] = 1;
        }
        mass[l] = inertia[l][0] = inertia[l][4] = inertia[l][8] = 1;
    }
    SapModelArrays arrays;
    sap_model_arrays_default(&arrays);
    arrays.num_bodies = arrays.num_joints = LINKS;
    arrays.num_dofs = 6 + 3 * LEGS;
    arrays.num_coords = 7 + 3 * LEGS;
    arrays.joint_type = type;
    arrays.joint_parent = parent;
    arrays.joint_child = child;
    arrays.joint_axis = axis[0];
    arrays.body_mass = mass;
    arrays.body_inertia = inertia[0];
    SapModel *model;
    cr_assert_eq(sap_model_create(&arrays, &model), SAP_OK, "%s", sap_error_message());
    SapPlanOwner owner = plan_of(model);
    cr_assert_eq(owner.plan.tree.nnz, 21 + LEGS * (7 + 8 + 9));
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

/* ---- definitions, on random trees ---- */

/* The dof above dof i on the way to the world, or -1, straight from the model. */
static int dof_above(const SapModelArrays *m, int i) {
    int joint = 0;
    while (m->joint_qd_start[joint + 1] <= i)
        joint++;
    if (i > m->joint_qd_start[joint])
        return i - 1;
    for (int body = m->joint_parent[joint]; body >= 0; body = m->joint_parent[joint]) {
        joint = 0;
        while (m->joint_child[joint] != body)
            joint++;
        if (m->joint_qd_start[joint + 1] > m->joint_qd_start[joint])
            return m->joint_qd_start[joint + 1] - 1;
    }
    return -1;
}

static int path_length(const SapModelArrays *m, int i) {
    int n = 0;
    for (; i >= 0; i = dof_above(m, i))
        n++;
    return n;
}

static bool is_above(const SapModelArrays *m, int above, int i) {
    for (i = dof_above(m, i); i >= 0; i = dof_above(m, i))
        if (i == above)
            return true;
    return false;
}

static void check_rows(const SapModelArrays *m, const SapPlan *p) {
    int start = 0;
    for (int i = 0; i < p->nv; i++) {
        cr_assert(p->tree.row[i].start == start && p->tree.row[i].depth == path_length(m, i) - 1, "row %d", i);
        int t = p->tree.row[i].depth;
        for (int k = i; k >= 0; k = dof_above(m, k), t--)
            cr_assert_eq(p->tree.ancestor[start + t], k, "row %d entry %d", i, t);
        start += p->tree.row[i].depth + 1;
    }
    cr_assert_eq(p->tree.nnz, start);
}

static void check_descendants(const SapModelArrays *m, const SapPlan *p) {
    for (int i = 0; i < p->nv; i++) {
        int n = 0;
        for (int k = 0; k < p->nv; k++) {
            if (!is_above(m, i, k))
                continue;
            cr_assert_lt(n, p->tree.row[i].num_desc);
            const SapDescendant *d = &p->tree.descendant[p->tree.row[i].desc_start + n++];
            cr_assert(d->dof == k && d->at == p->tree.row[k].start + p->tree.row[i].depth, "descendant %d of %d", k, i);
        }
        cr_assert_eq(n, p->tree.row[i].num_desc);
        /* before them, the entries of row i */
        for (int t = 0; t <= p->tree.row[i].depth; t++) {
            int at = p->tree.row[i].start + t;
            const SapDescendant *d = &p->tree.descendant[p->tree.row[i].desc_start - p->tree.row[i].depth - 1 + t];
            cr_assert(d->at == at && d->dof == p->tree.ancestor[at], "entry %d of %d", t, i);
        }
    }
}

/* Every dof once, in the group of its depth. */
static void check_groups(const SapPlan *p) {
    bool *seen = calloc((size_t)p->nv, sizeof *seen);
    for (int depth = 0; depth < p->tree.num_depths; depth++)
        for (int j = p->tree.depth_start[depth]; j < p->tree.depth_start[depth + 1]; j++) {
            int i = p->tree.depth_dof[j];
            cr_assert(p->tree.row[i].depth == depth && !seen[i]);
            seen[i] = true;
        }
    cr_assert_eq(p->tree.depth_start[p->tree.num_depths], p->nv);
    free(seen);
}

static void check_levels(const SapPlan *p) {
    for (int level = 0; level < p->num_levels; level++) {
        for (int j = p->level_start[level]; j < p->level_start[level + 1]; j++) {
            int n = 0;
            for (int l = p->link[p->level_link[j]].parent; l >= 0; l = p->link[l].parent)
                n++;
            cr_assert_eq(n, level);
        }
    }
    cr_assert_eq(p->level_start[p->num_levels], p->nl);
    for (int l = 0; l < p->nl; l++) {
        for (int j = 0; j < p->link[l].num_children; j++) {
            int child = p->child[p->link[l].first_child + j];
            cr_assert(p->link[child].parent == l && (j == 0 || child > p->child[p->link[l].first_child + j - 1]));
        }
    }
}

Test(plan, random_forests_have_the_tables_of_their_definition) {
    for (uint64_t seed = 0; seed < 60; seed++) {
        SapModel *model = random_forest(seed, 1 + (int)(seed % 40));
        SapPlanOwner owner = plan_of(model);
        check_rows(sap_model_arrays(model), &owner.plan);
        check_descendants(sap_model_arrays(model), &owner.plan);
        check_groups(&owner.plan);
        check_levels(&owner.plan);
        sap_plan_free(&owner);
        sap_model_destroy(model);
    }
}

/* ---- scratch ---- */

typedef struct Part {
    int at, size;
} Part;

static int by_place(const void *a, const void *b) {
    return ((const Part *)a)->at - ((const Part *)b)->at;
}

Test(plan, parts_of_scratch_do_not_overlap_and_fill_it) {
    SapModel *model = sample_model_create();
    SapPlanOwner owner = plan_of(model);
    const SapPlan *p = &owner.plan;
    const SapMotionLayout *at = &p->layout;
    int inertias = 10 * p->nl > p->tree.nnz ? 10 * p->nl : p->tree.nnz,
        wrenches = 6 * p->nl > p->nq ? 6 * p->nl : p->nq;
    Part part[] = {{at->q, p->nq},
                   {at->v0, p->nv},
                   {at->state_check, p->nl},
                   {at->control_check, p->nl},
                   {at->X, 7 * p->nl},
                   {at->f, p->nv},
                   {at->V, 6 * p->nl},
                   {at->a, 6 * p->nl},
                   {at->I, inertias},
                   {at->F, wrenches},
                   {at->S, 6 * p->nv},
                   {at->A, p->tree.nnz},
                   {at->v, p->nv},
                   {at->inverse, p->nv},
                   {at->checks, SAP_MOTION_CHECKS}};
    int n = sizeof part / sizeof *part, end = 0;
    qsort(part, (size_t)n, sizeof *part, by_place);
    for (int i = 0; i < n; i++) {
        cr_assert_eq(part[i].at, end, "a gap or an overlap at %d", end);
        end += part[i].size;
    }
    cr_assert_eq(at->size, end);
    /* the factor and the coordinates at the end have memory of which nothing is read any more */
    cr_assert_eq(at->L, at->I);
    cr_assert_eq(at->q1, at->F);
    /* what the solve and the end of a step read of free motion is not in the memory of the solve */
    const int kept[] = {at->q, at->v0, at->checks, at->X, at->A, at->v};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        cr_assert_lt(kept[i], at->overlap_begin);
    /* the poses of bodies are, if nothing reads them later; no part moves for that */
    SapMotionLayout less = sap_motion_layout(p, false);
    cr_assert_eq(less.overlap_begin, at->X);
    less.overlap_begin = at->overlap_begin;
    cr_assert_arr_eq(&less, at, sizeof less);
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

/* ---- terms of dofs ---- */

static int has_dof_terms(const char *joint) {
    char text[512];
    snprintf(text, sizeof text, HEAD BALL "joints: [{id: j, parent: world, child: ball, %s}]\n", joint);
    SapScene *scene = parse(text);
    SapPlanOwner owner = plan_of(scene->model);
    static const SapConstants constants[2];
    SapDualStepArgs dual;
    SapStepArgs args;
    SapStatus status = sap_step_args_init(arrays_of(scene), &owner.plan, constants, &scene->options, 1, &dual, &args);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    sap_plan_free(&owner);
    sap_scene_destroy(scene);
    return args.has_dof_terms;
}

/* A world in free flight is then not solved at all. */
Test(plan, only_drives_limits_and_friction_are_terms_of_dofs) {
#define HINGE "type: revolute, axis: z, "
    cr_expect_eq(has_dof_terms("type: free"), 0);
    cr_expect_eq(has_dof_terms(HINGE "limit_ke: 0, friction: 0, armature: 1, target_kd: 1"), 0);
    cr_expect_eq(has_dof_terms(HINGE "limit_ke: 1, limit_lower: -inf, limit_upper: inf"), 0);
    cr_expect_eq(has_dof_terms(HINGE "limit_ke: 0, friction: 1e-3"), 1);
    cr_expect_eq(has_dof_terms(HINGE "limit_ke: 1, limit_lower: -1, limit_upper: inf"), 1);
    cr_expect_eq(has_dof_terms(HINGE "limit_ke: 1, limit_lower: -inf, limit_upper: 1"), 1);
    cr_expect_eq(has_dof_terms(HINGE "limit_ke: 0, actuator_mode: velocity, target_kd: 1"), 1);
}

Test(plan, an_empty_plan_can_be_freed) {
    SapPlanOwner owner = {0};
    sap_plan_free(&owner);
    sap_plan_free(&owner);
}
