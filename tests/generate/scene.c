/* Scenes: see scene.h. A scene is planned as links of trees, and then written section by section. */
#define _POSIX_C_SOURCE 200809L

#include "generate/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

enum { MOST_LINKS = 24, MOST_DOFS_OF_LINK = 6, KEYFRAMES = 2, WORLD = -1 };

/* In the order of the levels of FACTOR_JOINT and FACTOR_SHAPE. */
typedef enum Joint { FIXED, PRISMATIC, REVOLUTE, BALL, FREE, D6, NUM_JOINTS } Joint;
typedef enum Shape { SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, CONE, MESH, NUM_SHAPES } Shape;

typedef struct Link {
    int parent, tree; /* parent: a link or WORLD */
    int rigid;        /* links joined by fixed joints have one number; links of the world WORLD */
    Joint joint;
    int nlin, nang; /* axes of a d6 joint */
    double at[3];   /* of the root of a tree */
} Link;

/* A scene under construction. */
typedef struct Plan {
    FILE *out;
    Random random;
    const Case *c;
    Link link[MOST_LINKS];
    int num_links, num_trees, num_tendons; /* tendons: of joints, which couplers can use */
} Plan;

static double between(Plan *p, double low, double high) {
    return random_between(&p->random, low, high);
}
static int below(Plan *p, int n) {
    return random_below(&p->random, n);
}
static bool chance(Plan *p, int one_in) {
    return below(p, one_in) == 0;
}
static double one_of(Plan *p, double a, double b, double c) {
    return (const double[]){a, b, c}[below(p, 3)];
}

/* ---- the links ---- */

static int add_link(Plan *p, int parent, int tree, Joint joint) {
    Link *l = &p->link[p->num_links];
    *l = (Link){.parent = parent, .tree = tree, .joint = parent == WORLD || joint != FREE ? joint : BALL};
    int above = parent == WORLD ? WORLD : p->link[parent].rigid;
    l->rigid = l->joint == FIXED ? above : p->num_links;
    if (joint == D6) {
        l->nlin = below(p, 4);
        l->nang = l->nlin == 0 ? 1 + below(p, 3) : below(p, 4);
    }
    return p->num_links++;
}

/* A tree on any joint, with up to three branches. */
static void add_tree(Plan *p, int tree, int most) {
    int root = add_link(p, WORLD, tree, chance(p, 2) ? FREE : (Joint)below(p, NUM_JOINTS));
    double *at = p->link[root].at;
    at[0] = 0.22 * (tree % 3) + between(p, -0.03, 0.03);
    at[1] = 0.22 * (tree / 3 % 3) + between(p, -0.03, 0.03);
    at[2] = between(p, 0.08, 0.25) + 0.15 * (tree / 9);
    for (int k = 1; k < most && p->num_links < MOST_LINKS; k++) {
        int last = p->num_links - 1, parent = chance(p, 3) ? root + below(p, last - root + 1) : last;
        add_link(p, parent, tree, (Joint)below(p, NUM_JOINTS));
    }
}

/* A model has dofs; couplers and tendons need joints of one axis: the first tree has a hinge and a slide at its end. */
static void plan_links(Plan *p) {
    static const int trees[] = {1, 2, 3, 7}, links[] = {7, 4, 3, 2};
    int level = p->c->level[FACTOR_TREES];
    p->num_trees = trees[level];
    for (int tree = 0; tree < p->num_trees; tree++) {
        add_tree(p, tree, 1 + below(p, links[level]));
        if (tree == 0 || (tree == 1 && chance(p, 2))) {
            int wanted = p->c->level[FACTOR_JOINT], last = p->num_links - 1;
            last = add_link(p, wanted == FREE ? WORLD : last, tree, (Joint)wanted);
            last = add_link(p, last, tree, REVOLUTE);
            add_link(p, chance(p, 2) ? last : last - 1, tree, PRISMATIC);
        }
    }
}

/* ---- writing ---- */

static void write_vector(Plan *p, double scale) {
    double v[3];
    random_numbers(&p->random, scale, v, 3);
    fprintf(p->out, "[%.6g, %.6g, %.6g]", v[0], v[1], v[2]);
}

static void write_pose(Plan *p, double scale) {
    double q[4];
    fprintf(p->out, "{p: ");
    write_vector(p, scale);
    random_quaternion(&p->random, q);
    if (chance(p, 2))
        fprintf(p->out, ", q: [%.17g, %.17g, %.17g, %.17g]", q[0], q[1], q[2], q[3]);
    fprintf(p->out, "}");
}

static void write_mesh(Plan *p, double size) {
    fprintf(p->out, "{type: mesh, vertices: [[0, 0, %.6g], [%.6g, 0, 0], [0, %.6g, 0], ", -size, size, size);
    for (int n = below(p, 8); n > 0; n--) {
        write_vector(p, size);
        fprintf(p->out, ", ");
    }
    fprintf(p->out, "[%.6g, %.6g, %.6g]]", -0.5 * size, -0.5 * size, 0.5 * size);
}

static void write_shape(Plan *p, Shape shape) {
    double a = between(p, 0.03, 0.09), b = between(p, 0.03, 0.09), c = between(p, 0.03, 0.09);
    switch (shape) {
    case SPHERE: fprintf(p->out, "{type: sphere, radius: %.6g", a); break;
    case CAPSULE: fprintf(p->out, "{type: capsule, radius: %.6g, half_height: %.6g", a, b); break;
    case ELLIPSOID: fprintf(p->out, "{type: ellipsoid, a: %.6g, b: %.6g, c: %.6g", a, b, c); break;
    case CYLINDER: fprintf(p->out, "{type: cylinder, radius: %.6g, half_height: %.6g", a, b); break;
    case BOX: fprintf(p->out, "{type: box, hx: %.6g, hy: %.6g, hz: %.6g", a, b, c); break;
    case CONE: fprintf(p->out, "{type: cone, radius: %.6g, half_height: %.6g", a, b); break;
    default: write_mesh(p, a); break;
    }
    if (chance(p, 3)) {
        fprintf(p->out, ", transform: ");
        write_pose(p, 0.04);
    }
    if (chance(p, 4))
        fprintf(p->out, ", mu: %g, density: %.4g", one_of(p, 0, 0.3, 1.5), between(p, 200, 4000));
    fprintf(p->out, "}");
}

static void write_bodies(Plan *p) {
    fprintf(p->out, "bodies:\n");
    for (int l = 0; l < p->num_links; l++) {
        const Link *link = &p->link[l];
        fprintf(p->out, "- {id: b%d, transform: {p: [%.6g, %.6g, %.6g]}, shapes: [", l, link->at[0], link->at[1],
                link->at[2]);
        write_shape(p, l == 0 ? (Shape)p->c->level[FACTOR_SHAPE] : (Shape)below(p, NUM_SHAPES));
        if (chance(p, 3)) {
            fprintf(p->out, ", ");
            write_shape(p, (Shape)below(p, NUM_SHAPES));
        }
        fprintf(p->out, "]}\n");
    }
}

/* Fields of the dofs of one joint; limits and springs only where the dofs have coordinates. */
static void write_dof_fields(Plan *p, Joint joint) {
    bool all = case_has(p->c, FACTOR_DOFS, "all"), coordinates = joint != BALL;
    if (chance(p, 3))
        fprintf(p->out, ", armature: %.4g, damping: %.4g", between(p, 0, 0.05), between(p, 0, 0.2));
    if (coordinates && (all || case_has(p->c, FACTOR_DOFS, "limits")))
        fprintf(p->out, ", limit_lower: %.4g, limit_upper: %.4g, limit_ke: %.4g, limit_kd: %.4g", between(p, -0.5, 0),
                between(p, 0, 0.5), one_of(p, 100, 1e4, 1e6), one_of(p, 0, 1, 10));
    bool drives = coordinates || !case_has(p->c, FACTOR_SOLVER, "mujoco");
    if (drives && (all || case_has(p->c, FACTOR_DOFS, "drives"))) {
        fprintf(p->out, ", actuator_mode: position_velocity, target_kd: %.4g", one_of(p, 0.1, 1, 10));
        if (coordinates)
            fprintf(p->out, ", target_ke: %.4g", one_of(p, 0, 10, 1000));
        if (chance(p, 2))
            fprintf(p->out, ", effort_limit: %.4g", one_of(p, 0.5, 5, 50));
    }
    if (all || case_has(p->c, FACTOR_DOFS, "friction"))
        fprintf(p->out, ", friction: %.4g", one_of(p, 0.01, 0.2, 2));
}

static void write_d6_axes(Plan *p, const Link *link) {
    int linear = below(p, 3), angular = below(p, 3);
    fprintf(p->out, ", linear_axes: [");
    for (int k = 0; k < link->nlin; k++)
        fprintf(p->out, "%s%c", k ? ", " : "", "xyz"[(linear + k) % 3]);
    fprintf(p->out, "], angular_axes: [");
    for (int k = 0; k < link->nang; k++)
        fprintf(p->out, "%s%c", k ? ", " : "", "xyz"[(angular + k) % 3]);
    fprintf(p->out, "]");
}

static void write_joint(Plan *p, int l) {
    static const char *const names[NUM_JOINTS] = {"fixed", "prismatic", "revolute", "ball", "free", "d6"};
    const Link *link = &p->link[l];
    fprintf(p->out, "- {id: j%d, type: %s, child: b%d, parent: ", l, names[link->joint], l);
    if (link->parent == WORLD)
        fprintf(p->out, "world");
    else
        fprintf(p->out, "b%d", link->parent);
    if (link->joint != FREE && link->parent == WORLD)
        fprintf(p->out, ", parent_xform: {p: [%.6g, %.6g, %.6g]}", link->at[0], link->at[1], link->at[2]);
    if (link->joint != FREE && link->parent != WORLD) {
        fprintf(p->out, ", parent_xform: ");
        write_pose(p, 0.1);
        fprintf(p->out, ", child_xform: ");
        write_pose(p, 0.05);
        if (chance(p, 3))
            fprintf(p->out, ", collision_filter_parent: false");
    }
    if (link->joint == PRISMATIC || link->joint == REVOLUTE) {
        double axis[3];
        random_unit(&p->random, axis, 3);
        fprintf(p->out, ", axis: [%.17g, %.17g, %.17g]", axis[0], axis[1], axis[2]);
    }
    if (link->joint == D6)
        write_d6_axes(p, link);
    if (link->joint != FREE && link->joint != FIXED)
        write_dof_fields(p, link->joint);
    fprintf(p->out, "}\n");
}

/* The joints tree by tree, in their order; one articulation for each tree. */
static void write_joints(Plan *p) {
    fprintf(p->out, "joints:\n");
    for (int l = 0; l < p->num_links; l++)
        write_joint(p, l);
    fprintf(p->out, "articulations:\n");
    for (int tree = 0; tree < p->num_trees; tree++) {
        const char *before = "";
        fprintf(p->out, "- {joints: [");
        for (int l = 0; l < p->num_links; l++)
            if (p->link[l].tree == tree) {
                fprintf(p->out, "%sj%d", before, l);
                before = ", ";
            }
        fprintf(p->out, "]}\n");
    }
}

/* ---- constraints and tendons ---- */

/* The axes of a link that have a coordinate of their own. */
static int num_axes(const Link *link) {
    return link->joint == D6 ? link->nlin + link->nang : link->joint == PRISMATIC || link->joint == REVOLUTE;
}

/* A link whose joint has such an axis, other than `not_this`. */
static int any_with_axis(Plan *p, int not_this) {
    int l = below(p, p->num_links);
    while (l == not_this || num_axes(&p->link[l]) == 0)
        l = (l + 1) % p->num_links;
    return l;
}

/* A joint by `key`, and one of its axes by `axis` if it has a choice. */
static void write_axis(Plan *p, const char *key, const char *axis, int l) {
    fprintf(p->out, "%s: j%d", key, l);
    if (p->link[l].joint == D6)
        fprintf(p->out, ", %s: %d", axis, below(p, num_axes(&p->link[l])));
}

static void write_compliance(Plan *p, const char *prefix) {
    double ke = case_has(p->c, FACTOR_STIFFNESS, "soft") ? 300 : 1e5;
    if (!case_has(p->c, FACTOR_STIFFNESS, "rigid"))
        fprintf(p->out, ", %ske: %g, %skd: %.4g", prefix, ke, prefix, between(p, 0, 5));
}

static void write_tendon_fields(Plan *p) {
    bool mujoco = case_has(p->c, FACTOR_SOLVER, "mujoco");
    if (chance(p, 2)) {
        fprintf(p->out, ", limit_lower: %.4g, limit_upper: %.4g", between(p, -0.1, 0.05), between(p, 0.05, 0.3));
        write_compliance(p, "limit_");
    }
    if (!mujoco && chance(p, 2))
        fprintf(p->out, ", spring_ke: %.4g, damping: %.4g", one_of(p, 0, 20, 500), one_of(p, 0, 0.1, 2));
    if (!mujoco && chance(p, 4))
        fprintf(p->out, ", armature: %.4g", between(p, 0, 0.1));
    if (!mujoco && chance(p, 3))
        fprintf(p->out, ", actuator_mode: position, target_ke: 50, target_kd: 1, effort_limit: %.4g",
                one_of(p, 1, 10, 100));
    if (chance(p, 3))
        fprintf(p->out, ", friction: %.4g", one_of(p, 0.05, 0.5, 2));
}

static void write_fixed_tendon(Plan *p, int id) {
    int a = any_with_axis(p, -1), b = any_with_axis(p, a);
    fprintf(p->out, "- {id: t%d, joints: [{", id);
    write_axis(p, "joint", "axis", a);
    fprintf(p->out, "}, {");
    write_axis(p, "joint", "axis", b);
    fprintf(p->out, "}], coefficients: [1, %.4g]", between(p, 0.2, 1.5));
    write_tendon_fields(p);
    fprintf(p->out, "}\n");
}

static void write_point(Plan *p, int body) {
    if (body == WORLD)
        fprintf(p->out, "{body: world, point: [%.4g, %.4g, %.4g]}", between(p, -0.2, 0.2), between(p, -0.2, 0.2),
                between(p, 0.3, 0.6));
    else {
        fprintf(p->out, "{body: b%d, point: ", body);
        write_vector(p, 0.05);
        fprintf(p->out, "}");
    }
}

/* From the world to a link and on to others, or over a pulley back to it. */
static void write_spatial_tendon(Plan *p, int id) {
    int first = any_with_axis(p, -1);
    fprintf(p->out, "- {id: s%d, path: [", id);
    write_point(p, WORLD);
    fprintf(p->out, ", ");
    write_point(p, first);
    if (chance(p, 2)) {
        fprintf(p->out, ", ");
        write_point(p, any_with_axis(p, first));
    } else if (chance(p, 2)) {
        fprintf(p->out, ", {pulley: 2}, ");
        write_point(p, first);
        fprintf(p->out, ", ");
        write_point(p, any_with_axis(p, first));
    }
    fprintf(p->out, "]");
    write_tendon_fields(p);
    fprintf(p->out, "}\n");
}

static void write_tendons(Plan *p) {
    bool fixed = case_has(p->c, FACTOR_TENDON, "fixed"), spatial = case_has(p->c, FACTOR_TENDON, "spatial");
    if (!fixed && !spatial)
        return;
    fprintf(p->out, "tendons:\n");
    for (int k = 1 + below(p, 2); k > 0; k--)
        if (spatial && !case_has(p->c, FACTOR_SOLVER, "mujoco"))
            write_spatial_tendon(p, k);
        else
            write_fixed_tendon(p, p->num_tendons++);
}

/* Two bodies that no fixed joints join, the first perhaps the world. */
static void choose_bodies(Plan *p, int *a, int *b) {
    *b = any_with_axis(p, -1); /* its joint moves it */
    *a = chance(p, 3) ? WORLD : below(p, p->num_links);
    if (*a != WORLD && p->link[*a].rigid == p->link[*b].rigid)
        *a = WORLD;
}

static void write_coupler(Plan *p) {
    int a = any_with_axis(p, -1), b = any_with_axis(p, a);
    if (p->num_tendons > 0 && chance(p, 2))
        fprintf(p->out, "tendon: t%d", below(p, p->num_tendons));
    else
        write_axis(p, "joint", "axis", a);
    if (chance(p, 3)) {
        fprintf(p->out, ", offset: %.4g", between(p, -0.01, 0.01));
        return;
    }
    write_axis(p, ", of", "of_axis", b);
    fprintf(p->out, ", polynomial: [%.4g, %.4g, %.4g]", between(p, -0.01, 0.01), between(p, -1, 1),
            one_of(p, 0, 0.3, -0.3));
}

static void write_bodies_of_constraint(Plan *p, const char *part) {
    int a, b;
    choose_bodies(p, &a, &b);
    fprintf(p->out, "body_a: ");
    if (a == WORLD)
        fprintf(p->out, "world, %s_a: [%.4g, %.4g, 0.4]", part, between(p, -0.2, 0.2), between(p, -0.2, 0.2));
    else {
        fprintf(p->out, "b%d, %s_a: ", a, part);
        write_vector(p, 0.05);
    }
    fprintf(p->out, ", body_b: b%d", b);
}

static void write_constraint(Plan *p, int id, const char *type) {
    bool mujoco = case_has(p->c, FACTOR_SOLVER, "mujoco");
    fprintf(p->out, "- {id: c%d, type: %s, ", id, type);
    if (strcmp(type, "coupler") == 0)
        write_coupler(p);
    else if (strcmp(type, "weld") == 0) {
        int a, b;
        choose_bodies(p, &a, &b);
        fprintf(p->out, a == WORLD ? "body_a: world" : "body_a: b%d", a);
        fprintf(p->out, ", body_b: b%d", b);
    } else
        write_bodies_of_constraint(p, "point");
    write_compliance(p, "");
    if (!mujoco && (strcmp(type, "distance") == 0 || strcmp(type, "coupler") == 0) && chance(p, 2))
        fprintf(p->out, ", side: %s", chance(p, 2) ? "upper" : "lower");
    if (chance(p, 4))
        fprintf(p->out, ", active: false");
    fprintf(p->out, "}\n");
}

static void write_constraints(Plan *p) {
    bool mujoco = case_has(p->c, FACTOR_SOLVER, "mujoco");
    const char *type = case_text(p->c, FACTOR_CONSTRAINT);
    if (strcmp(type, "none") == 0)
        return;
    if (mujoco && strcmp(type, "distance") == 0)
        type = "ball";
    fprintf(p->out, "constraints:\n");
    write_constraint(p, 0, type);
    if (chance(p, 2))
        write_constraint(p, 1, factor_level(FACTOR_CONSTRAINT, chance(p, 2) ? 1 : mujoco ? 2 : 1 + below(p, 4)));
}

/* ---- the rest ---- */

/* Without a bound of their speed, constraints correct an error in one step: coordinates are then near the start. */
static void write_coordinates(Plan *p, const Link *link) {
    double q[4], size = case_has(p->c, FACTOR_CONSTRAINT_SPEED, "none") ? 0.001 : 0.3;
    random_quaternion(&p->random, q);
    if (size < 0.01)
        memcpy(q, (const double[]){0, 0, 0, 1}, sizeof q);
    if (link->joint == FREE)
        fprintf(p->out, "%.6g, %.6g, %.6g, ", link->at[0], link->at[1], link->at[2] + between(p, 0, size));
    if (link->joint == FREE || link->joint == BALL)
        fprintf(p->out, "%.17g, %.17g, %.17g, %.17g, ", q[0], q[1], q[2], q[3]);
    for (int k = num_axes(link); k > 0; k--)
        fprintf(p->out, "%.6g, ", between(p, -size, size));
}

static void write_keyframes(Plan *p) {
    fprintf(p->out, "keyframes:\n");
    for (int k = 0; k < KEYFRAMES; k++) {
        fprintf(p->out, "- {name: k%d, joint_q: [", k);
        for (int l = 0; l < p->num_links; l++)
            write_coordinates(p, &p->link[l]);
        fprintf(p->out, "]}\n");
    }
}

static void write_field(Plan *p) {
    fprintf(p->out, "- {op: add_shape, type: height_field, hx: 1, hy: 1, heights: [");
    for (int row = 0; row < 6; row++) {
        fprintf(p->out, "%s[", row ? ", " : "");
        for (int column = 0; column < 7; column++)
            fprintf(p->out, "%s%.4g", column ? ", " : "", between(p, -0.05, 0.08));
        fprintf(p->out, "]");
    }
    fprintf(p->out, "]}\n");
}

static void write_ground(Plan *p) {
    if (case_has(p->c, FACTOR_GROUND, "field")) {
        fprintf(p->out, "ground: false\npost_build:\n");
        write_field(p);
    }
    if (case_has(p->c, FACTOR_GROUND, "boxes")) {
        fprintf(p->out, "post_build:\n");
        for (int k = 0; k < 3; k++)
            fprintf(p->out,
                    "- {op: add_shape, type: box, hx: 0.2, hy: 0.2, hz: %.4g, transform: {p: [%.4g, %.4g, 0]}}\n",
                    between(p, 0.02, 0.08), between(p, -0.2, 0.5), between(p, -0.2, 0.5));
    }
}

/* MuJoCo's law has presets of its own, one per precision. */
static const char *preset_of(const Case *c) {
    if (!case_has(c, FACTOR_SOLVER, "mujoco"))
        return case_text(c, FACTOR_PRESET);
    return case_has(c, FACTOR_PRESET, "fast32") || case_has(c, FACTOR_PRESET, "approx32") ? "mujoco32" : "mujoco64";
}

static void write_head(Plan *p, uint64_t seed) {
    fprintf(p->out, "schema_version: 1\nname: generated_%llu\nsimulation:\n  dt: %g\n  solver:\n",
            (unsigned long long)seed, one_of(p, 0.002, 0.005, 0.01));
    for (int f = FIRST_OPTION; f < NUM_FACTORS; f++)
        fprintf(p->out, "    %s: %s\n", factor_name((Factor)f),
                f == FACTOR_PRESET ? preset_of(p->c) : case_text(p->c, (Factor)f));
    double ke = case_has(p->c, FACTOR_STIFFNESS, "soft") ? 2e3 : 1e6;
    fprintf(p->out,
            "builder:\n  gravity: [%.4g, %.4g, -9.81]\n  rigid_gap: %g\n  defaults: {shape: {density: 1000, mu: %g, ",
            between(p, -2, 2), between(p, -2, 2), one_of(p, 0, 0.002, 0.01), one_of(p, 0, 0.5, 1));
    if (case_has(p->c, FACTOR_STIFFNESS, "rigid"))
        fprintf(p->out, "ke: inf, tau: %g}}\n", one_of(p, 0, 0.01, 0.05));
    else
        fprintf(p->out, "ke: %g, tau: %g}}\n", ke, one_of(p, 0, 0.01, 0.05));
}

char *scene_text(uint64_t seed, const Case *c) {
    char *text = NULL;
    size_t size;
    Plan p = {.random = random_seed(seed * 0x2545f4914f6cdd1du + 7), .c = c, .out = open_memstream(&text, &size)};
    if (!p.out)
        return NULL;
    plan_links(&p);
    write_head(&p, seed);
    write_bodies(&p);
    write_joints(&p);
    write_tendons(&p);
    write_constraints(&p);
    write_ground(&p);
    write_keyframes(&p);
    return fclose(p.out) == 0 ? text : NULL;
}
