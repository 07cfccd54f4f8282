/* Tendons couple trees, and contacts couple their branches: the matrix of Newton's method is then on tiles that both
 * mark. A world has the same bits on those tiles, in the full matrix, and beside any other worlds of its pack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/random_model.h"
#include "support/scene_text.h"
#include "support/work.h"

enum { WORLDS = 9, STEPS = 80 };

/* The text of a scene under construction. */
typedef struct Text {
    char bodies[4096], joints[8192], articulations[1024], tendons[1024], all[16384];
    int links;
} Text;

#define ADD(to, ...) snprintf((to) + strlen(to), sizeof(to) - strlen(to), __VA_ARGS__)

static char random_axis(Random *random) {
    return "xyz"[random_below(random, 3)];
}

static void add_link(Random *random, Text *t, const char *parent) {
    int id = t->links++;
    double x = random_between(random, -0.08, 0.08), y = random_between(random, -0.08, 0.08);
    ADD(t->bodies, "- {id: l%d, shapes: [{type: sphere, radius: 0.06}]}\n", id);
    ADD(t->joints,
        "- {id: j%d, type: revolute, parent: %s, child: l%d, axis: %c, parent_xform: {p: [%.17g, %.17g, -0.06]}, "
        "child_xform: {p: [0, 0, 0.06]}}\n",
        id, parent, id, random_axis(random), x, y);
    ADD(t->articulations, ", j%d", id);
}

/* A tree on a free joint or on a hinge, with one to three branches of one to three links. */
static void add_tree(Random *random, Text *t, int k) {
    char parent[16];
    ADD(t->bodies, "- {id: r%d, transform: {p: [%g, 0, 0.45]}, shapes: [{type: sphere, radius: 0.08}]}\n", k, 0.5 * k);
    if (random_below(random, 2))
        ADD(t->joints, "- {id: f%d, type: free, parent: world, child: r%d}\n", k, k);
    else
        ADD(t->joints,
            "- {id: f%d, type: revolute, axis: %c, parent: world, child: r%d, parent_xform: {p: [%g, 0, 0.45]}}\n", k,
            random_axis(random), k, 0.5 * k);
    ADD(t->articulations, "- {joints: [f%d", k);
    for (int branch = random_below(random, 3); branch >= 0; branch--) {
        snprintf(parent, sizeof parent, "r%d", k);
        for (int link = random_below(random, 3); link >= 0; link--) {
            add_link(random, t, parent);
            snprintf(parent, sizeof parent, "l%d", t->links - 1);
        }
    }
    ADD(t->articulations, "]}\n");
}

/* Two joints of any trees, or one joint twice as far. */
static void add_tendon(Random *random, Text *t, int k) {
    int a = random_below(random, t->links), b = random_below(random, t->links);
    if (a == b)
        b = (a + 1) % t->links;
    ADD(t->tendons, "- {id: t%d, joints: [j%d, j%d], coefficients: [1, %g], spring_ke: %d, damping: 0.1}\n", k, a, b,
        random_between(random, -1, 1), 5 * random_below(random, 2));
}

static SapScene *random_scene(uint64_t seed) {
    static Text t;
    Random random = random_seed(seed);
    memset(&t, 0, sizeof t);
    int trees = 2 + random_below(&random, 2);
    for (int k = 0; k < trees; k++)
        add_tree(&random, &t, k);
    for (int k = t.links > 1 ? random_below(&random, 2) : -1; k >= 0; k--)
        add_tendon(&random, &t, k);
    snprintf(t.all, sizeof t.all,
             HEAD "simulation: {dt: 0.005, max_rigid_contact: 32}\n"
                  "builder: {gravity: -9.81, rigid_gap: 0.005, defaults: {shape: {density: 1000, mu: 0.6}}}\n"
                  "bodies:\n%sjoints:\n%sarticulations:\n%s%s%s",
             t.bodies, t.joints, t.articulations, t.tendons[0] ? "tendons:\n" : "", t.tendons);
    return parse(t.all);
}

/* Coordinates and velocities of all worlds after a run; the caller frees them. */
static double *run(const SapScene *scene, const char *preset, int lanes, SapFactorPlan plan, size_t *count) {
    SapOptions o;
    SapBatch *batch;
    need(sap_options_preset(preset, &o));
    o.lanes = lanes;
    o.factor_plan = plan;
    o.threads = 1;
    o.max_rigid_contact = 32;
    need(sap_batch_create_as(scene->model, WORLDS, &o, SAP_F64, &batch));
    const SapModelArrays *a = sap_model_arrays(scene->model);
    const SapState *state = sap_batch_state(batch);
    size_t nq = (size_t)(WORLDS * a->num_coords), nv = (size_t)(WORLDS * a->num_dofs);
    Random random = random_seed(1);
    for (size_t i = 0; i < nv; i++)
        ((double *)state->joint_qd)[i] = random_between(&random, -1, 1);
    need(sap_batch_step(batch, scene->dt, STEPS));
    double *out = malloc((nq + nv) * sizeof *out);
    cr_assert_not_null(out);
    memcpy(out, state->joint_q, nq * sizeof *out);
    memcpy(out + nq, state->joint_qd, nv * sizeof *out);
    *count = nq + nv;
    sap_batch_destroy(batch);
    return out;
}

static void check_scene(uint64_t seed, const char *preset) {
    SapScene *scene = random_scene(seed);
    size_t count;
    double *expected = run(scene, preset, 1, SAP_FACTOR_DENSE, &count);
    static const int lanes[] = {1, 4, 8};
    for (int k = 0; k < 3; k++)
        for (int plan = SAP_FACTOR_SPARSE; plan <= SAP_FACTOR_DENSE; plan++) {
            double *got = run(scene, preset, lanes[k], (SapFactorPlan)plan, &count);
            cr_expect_eq(memcmp(got, expected, count * sizeof *got), 0, "seed %d, %s, %d lanes, %s plan", (int)seed,
                         preset, lanes[k], plan == SAP_FACTOR_DENSE ? "dense" : "sparse");
            free(got);
        }
    free(expected);
    sap_scene_destroy(scene);
}

Test(coupled_trees, have_the_same_bits_on_tiles_and_in_the_full_matrix_for_any_lanes) {
    static const char *const presets[] = {"approx64", "fast32", "drake"};
    for (int seed = 0; seed < work_count(60, 3); seed++)
        check_scene((uint64_t)seed, presets[seed % 3]);
}
