/* Our models of a reference file: one joint per joint of MuJoCo. */
#include "lab/conform/mujoco_draft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/common.h"
#include "lab/conform/mujoco_math.h"

/* Between two joints of one body MuJoCo has no mass; our bodies need one. It does not change a digit. */
static const double NO_MASS = 1e-30;

/* ---- the model under construction ---- */

/* X(type, array, elements): of joints and bodies, of dofs, of constraints (c), tendons (t) and shapes (s). */
#define DRAFT_ARRAYS(X)                                                                                                \
    X(int32_t, type, nj)                                                                                               \
    X(int32_t, parent, nj)                                                                                             \
    X(int32_t, child, nj)                                                                                              \
    X(int32_t, j_filter, nj)                                                                                           \
    X(double, X_p, 7 * nj)                                                                                             \
    X(double, X_c, 7 * nj)                                                                                             \
    X(double, mass, nj)                                                                                                \
    X(double, com, 3 * nj)                                                                                             \
    X(double, inertia, 9 * nj)                                                                                         \
    X(double, invweight, 2 * nj)                                                                                       \
    X(double, ball_limit, nj)                                                                                          \
    X(double, axis, 3 * nv)                                                                                            \
    X(double, lower, nv)                                                                                               \
    X(double, upper, nv)                                                                                               \
    X(double, stiffness, nv)                                                                                           \
    X(double, spring, nv)                                                                                              \
    X(double, margin, nv)                                                                                              \
    X(double, solref, 2 * nv)                                                                                          \
    X(double, solimp, 5 * nv)                                                                                          \
    X(int32_t, c_type, nc)                                                                                             \
    X(int32_t, c_body, 2 * nc)                                                                                         \
    X(int32_t, c_coordinate, 2 * nc)                                                                                   \
    X(int32_t, c_active, nc)                                                                                           \
    X(double, c_X, 14 * nc)                                                                                            \
    X(double, c_polynomial, 5 * nc)                                                                                    \
    X(double, c_reference, 2 * nc)                                                                                     \
    X(double, c_scale, nc)                                                                                             \
    X(int32_t, t_start, nt + 1)                                                                                        \
    X(int32_t, t_type, nw)                                                                                             \
    X(int32_t, t_index, nw)                                                                                            \
    X(double, t_value, 3 * nw)                                                                                         \
    X(double, t_offset, nt)                                                                                            \
    X(double, t_lower, nt)                                                                                             \
    X(double, t_upper, nt)                                                                                             \
    X(int32_t, s_type, ns)                                                                                             \
    X(int32_t, s_body, ns)                                                                                             \
    X(int32_t, s_filter, ns *ns)                                                                                       \
    X(double, s_pose, 7 * ns)                                                                                          \
    X(double, s_size, 3 * ns)                                                                                          \
    X(double, s_gap, ns)

typedef struct Draft {
    int nj;          /* joints and bodies so far */
    int num_filters; /* pairs in s_filter so far */
#define ARRAY(type, name, count) type *name;
    DRAFT_ARRAYS(ARRAY)
#undef ARRAY
} Draft;

static bool draft_allocate(const MujocoFile *f, Draft *d) {
    size_t nj = (size_t)(f->njnt + f->nbody), nv = (size_t)f->nv, nc = (size_t)f->neq, nt = (size_t)f->ntendon,
           ns = (size_t)f->ngeom, nw = (size_t)f->nwrap;
    bool ok = true;
#define ALLOCATE(type, name, count) ok = ok && (d->name = cli_allocate((count) + 1, sizeof *d->name));
    DRAFT_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return ok;
}

static void draft_free(Draft *d) {
#define FREE(type, name, count) free(d->name);
    DRAFT_ARRAYS(FREE)
#undef FREE
}

/* A joint of `type` below our body `parent` at pose X_p, and its body without mass at `anchor` before the joint. */
static int draft_joint(Draft *d, int type, int parent, const double *X_p, const double *anchor) {
    static const double identity[7] = {0, 0, 0, 0, 0, 0, 1};
    int j = d->nj++;
    d->type[j] = type;
    d->parent[j] = parent;
    d->child[j] = j;
    d->ball_limit[j] = INFINITY;
    memcpy(d->X_p + 7 * j, X_p, sizeof identity);
    memcpy(d->X_c + 7 * j, identity, sizeof identity);
    memcpy(d->X_c + 7 * j, anchor, 3 * sizeof *anchor);
    d->mass[j] = NO_MASS;
    for (int i = 0; i < 3; i++)
        d->inertia[9 * j + 4 * i] = NO_MASS;
    return j;
}

static void draft_mass(const MujocoFile *f, int b, int body, Draft *d) {
    double q[4], R[9];
    quat_of(f->body_iquat + 4 * b, q);
    matrix_of(q, R);
    d->mass[body] = fmax(f->body_mass[b], NO_MASS);
    memcpy(d->com + 3 * body, f->body_ipos + 3 * b, 3 * sizeof(double));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int a = 0; a < 3; a++)
                sum += R[3 * i + a] * fmax(f->body_inertia[3 * b + a], NO_MASS) * R[3 * k + a];
            d->inertia[9 * body + 3 * i + k] = sum;
        }
    memcpy(d->invweight + 2 * body, f->body_invweight0 + 2 * b, 2 * sizeof(double));
}

/* Limits, springs and softness of the dofs of joint j. Coordinates of ours are 0 at qpos0. */
static void draft_dofs(const MujocoFile *f, int j, int joint, Draft *d) {
    int v = f->jnt_dofadr[j], type = f->jnt_type[j], n = type == JOINT_FREE ? 6 : type == JOINT_BALL ? 3 : 1;
    double q0 = f->qpos0[f->jnt_qposadr[j]];
    bool scalar = n == 1, limited = f->jnt_limited[j];
    for (int i = v; i < v + n; i++) {
        memcpy(d->axis + 3 * i, f->jnt_axis + 3 * j, 3 * sizeof(double));
        d->lower[i] = scalar && limited ? f->jnt_range[2 * j] - q0 : -INFINITY;
        d->upper[i] = scalar && limited ? f->jnt_range[2 * j + 1] - q0 : INFINITY;
        d->stiffness[i] = scalar ? f->jnt_stiffness[j] : 0;
        d->spring[i] = scalar ? f->qpos_spring[f->jnt_qposadr[j]] - q0 : 0;
        d->margin[i] = f->jnt_margin[j];
        memcpy(d->solref + 2 * i, f->jnt_solref + 2 * j, 2 * sizeof(double));
        memcpy(d->solimp + 5 * i, f->jnt_solimp + 5 * j, 5 * sizeof(double));
    }
    if (type == JOINT_BALL && limited)
        d->ball_limit[joint] = fmax(f->jnt_range[2 * j], f->jnt_range[2 * j + 1]);
}

/* The joints of body b: each turns or moves the body about its anchor, in the frame that the joints before left. */
static void draft_body(MujocoFile *f, int b, Draft *d) {
    static const int types[] = {SAP_JOINT_FREE, SAP_JOINT_BALL, SAP_JOINT_PRISMATIC, SAP_JOINT_REVOLUTE};
    static const double none[3] = {0}, identity[7] = {0, 0, 0, 0, 0, 0, 1};
    double X[7], anchor[7];
    int up = f->body_parentid[b], parent = f->body[up], last = -1;
    /* its pose in our body above it, or in the world */
    pose_of(f->body_pos + 3 * b, f->body_quat + 4 * b, X);
    if (parent < 0)
        pose_product(f->pose + 7 * up, X, X);
    if (f->body_weldid[b] == 0) {
        memcpy(f->pose + 7 * b, X, sizeof X);
        f->body[b] = -1;
        return;
    }
    /* one joint of ours for each of its joints */
    for (int j = 0; j < f->njnt; j++) {
        if (f->jnt_bodyid[j] != b)
            continue;
        bool is_free = f->jnt_type[j] == JOINT_FREE;
        memcpy(anchor, identity, sizeof anchor);
        memcpy(anchor, f->jnt_pos + 3 * j, 3 * sizeof *anchor);
        pose_product(X, anchor, X);
        last = draft_joint(d, types[f->jnt_type[j]], is_free ? -1 : parent, is_free ? identity : X,
                           is_free ? none : f->jnt_pos + 3 * j);
        draft_dofs(f, j, last, d);
        parent = last;
        memcpy(X, identity, sizeof X);
    }
    /* a body without joints is fixed to the one above */
    if (last < 0)
        last = draft_joint(d, SAP_JOINT_FIXED, parent, X, none);
    f->body[b] = last;
    draft_mass(f, b, last, d);
}

/* ---- equalities and tendons ---- */

/* Our body and frame of side `i` (0 or 1) of an equality. */
static bool draft_side(const MujocoFile *f, int e, int i, int32_t *body, double *X) {
    int id = (i == 0 ? f->eq_obj1id : f->eq_obj2id)[e], b = id;
    bool weld = f->eq_type[e] == EQUALITY_WELD, site = f->eq_objtype[e] == OBJECT_SITE;
    static const double unit[4] = {1, 0, 0, 0};
    const double *data = f->eq_data + 12 * e, *anchor = data + ((i == 0) == weld ? 3 : 0);
    if (id < 0 || id >= (site ? f->nsite : f->nbody))
        return cli_fail("%s: equality %d has an object out of range", f->path, e);
    if (site) {
        b = f->site_bodyid[id];
        pose_of(f->site_pos + 3 * id, f->site_quat + 4 * id, X);
    } else {
        pose_of(anchor, weld && i == 0 ? data + 6 : unit, X);
    }
    *body = f->body[b];
    if (*body < 0)
        pose_product(f->pose + 7 * b, X, X);
    return true;
}

/* The coordinate of a joint or tendon. */
static int draft_coordinate(const MujocoFile *f, int e, int id) {
    if (id < 0)
        return -1;
    return f->eq_type[e] == EQUALITY_TENDON ? f->nv + id : f->jnt_dofadr[id];
}

static bool draft_equality(const MujocoFile *f, int e, Draft *d) {
    int type = f->eq_type[e], ids[2] = {f->eq_obj1id[e], f->eq_obj2id[e]};
    d->c_active[e] = f->eq_active0[e];
    d->c_body[2 * e] = d->c_body[2 * e + 1] = -1;
    d->c_coordinate[2 * e] = d->c_coordinate[2 * e + 1] = -1;
    d->c_X[14 * e + 6] = d->c_X[14 * e + 13] = 1;
    d->c_scale[e] = f->eq_data[12 * e + 10];
    memcpy(d->c_polynomial + 5 * e, f->eq_data + 12 * e, 5 * sizeof(double));
    if (type == EQUALITY_CONNECT || type == EQUALITY_WELD) { /* the first body is our b */
        d->c_type[e] = type == EQUALITY_WELD ? SAP_CONSTRAINT_WELD : SAP_CONSTRAINT_BALL;
        return draft_side(f, e, 0, &d->c_body[2 * e + 1], d->c_X + 14 * e + 7) &&
               draft_side(f, e, 1, &d->c_body[2 * e], d->c_X + 14 * e);
    }
    if (type != EQUALITY_JOINT && type != EQUALITY_TENDON)
        return cli_fail("%s: equality %d has type %d; allowed: 0 .. 3", f->path, e, type);
    d->c_type[e] = SAP_CONSTRAINT_COUPLER;
    for (int i = 0; i < 2; i++) {
        if (ids[i] >= (type == EQUALITY_TENDON ? f->ntendon : f->njnt))
            return cli_fail("%s: equality %d has an object out of range", f->path, e);
        d->c_coordinate[2 * e + i] = draft_coordinate(f, e, ids[i]);
        d->c_reference[2 * e + i] = type == EQUALITY_TENDON && ids[i] >= 0 ? f->tendon_length0[ids[i]] : 0;
    }
    return true;
}

static bool draft_tendon(const MujocoFile *f, int t, Draft *d) {
    int first = f->tendon_adr[t], end = first + f->tendon_num[t];
    d->t_lower[t] = f->tendon_limited[t] ? f->tendon_range[2 * t] : -INFINITY;
    d->t_upper[t] = f->tendon_limited[t] ? f->tendon_range[2 * t + 1] : INFINITY;
    d->t_start[t] = first;
    d->t_start[t + 1] = end;
    for (int k = first; k < end; k++) {
        if (k < 0 || k >= f->nwrap || f->wrap_type[k] != WRAP_JOINT || f->wrap_objid[k] < 0 ||
            f->wrap_objid[k] >= f->njnt)
            return cli_fail("%s: tendon %d is not a sum of joints", f->path, t);
        int joint = f->wrap_objid[k];
        d->t_type[k] = SAP_TENDON_JOINT;
        d->t_index[k] = f->jnt_dofadr[joint];
        d->t_value[3 * k] = f->wrap_prm[k];
        d->t_offset[t] += f->wrap_prm[k] * f->qpos0[f->jnt_qposadr[joint]];
    }
    return true;
}

/* ---- geoms ---- */

static bool geoms_collide(const MujocoFile *f, int a, int b) {
    int body_a = f->body_weldid[f->geom_bodyid[a]], body_b = f->body_weldid[f->geom_bodyid[b]];
    int up_a = f->body_weldid[f->body_parentid[body_a]], up_b = f->body_weldid[f->body_parentid[body_b]];
    bool related = body_a == body_b || (body_a != 0 && body_b != 0 && (up_a == body_b || up_b == body_a));
    bool wanted = (f->geom_contype[a] & f->geom_conaffinity[b]) || (f->geom_contype[b] & f->geom_conaffinity[a]);
    return wanted && !related;
}

/* Shapes of the geoms that we have; others do not collide. Pairs that MuJoCo leaves out are filtered one by one. */
static void draft_geoms(const MujocoFile *f, Draft *d) {
    static const int types[] = {
        SAP_SHAPE_PLANE, 0, SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE, SAP_SHAPE_ELLIPSOID, SAP_SHAPE_CYLINDER,
        SAP_SHAPE_BOX};
    enum { NUM_TYPES = sizeof types / sizeof *types };
    for (int g = 0; g < f->ngeom; g++) {
        int type = f->geom_type[g], b = f->geom_bodyid[g];
        bool known = type >= 0 && type < NUM_TYPES && types[type] != 0;
        d->s_type[g] = known ? types[type] : SAP_SHAPE_SPHERE;
        d->s_body[g] = f->body[b];
        d->s_gap[g] = fmax(0, f->geom_margin[g] + f->geom_gap[g]);
        pose_of(f->geom_pos + 3 * g, f->geom_quat + 4 * g, d->s_pose + 7 * g);
        if (f->body[b] < 0)
            pose_product(f->pose + 7 * b, d->s_pose + 7 * g, d->s_pose + 7 * g);
        for (int i = 0; i < 3; i++)
            d->s_size[3 * g + i] = known && f->geom_size[3 * g + i] > 0 ? f->geom_size[3 * g + i] : 1;
        for (int k = 0; k < g; k++)
            if (!geoms_collide(f, k, g)) {
                d->s_filter[2 * d->num_filters] = k;
                d->s_filter[2 * d->num_filters++ + 1] = g;
            }
    }
}

bool mujoco_file_has_contacts(const MujocoFile *f) {
    enum { PLANE = 0, SPHERE = 2, CAPSULE = 3 };
    bool all = f->npair == 0;
    for (int a = 0; a < f->ngeom; a++)
        for (int b = 0; b < a; b++) {
            int type_a = f->geom_type[a], type_b = f->geom_type[b];
            bool simple = (type_a == PLANE || type_a == SPHERE || type_a == CAPSULE) &&
                          (type_b == PLANE || type_b == SPHERE || type_b == CAPSULE);
            all = all && (simple || !geoms_collide(f, a, b));
        }
    return all;
}

/* ---- the models ---- */

static bool set_options(const MujocoFile *f, double tolerance, SapMujocoParameters *a) {
    int disabled = (int)mujoco_file_option(f, "disableflags");
    if (disabled & ~(DISABLE_REFSAFE | DISABLE_EULERDAMP))
        return cli_fail("%s: opt.disableflags is %d; allowed: refsafe and eulerdamp", f->path, disabled);
    sap_mujoco_arrays_default(a);
    a->cone = mujoco_file_option(f, "cone") != 0 ? SAP_CONE_ELLIPTIC : SAP_CONE_PYRAMIDAL;
    a->impratio = mujoco_file_option(f, "impratio");
    a->tolerance = tolerance;
    a->iterations = 100; /* as the file was made: the humanoid's file has 50 iterations of PGS */
    a->ls_iterations = (int)mujoco_file_option(f, "ls_iterations");
    a->ls_tolerance = mujoco_file_option(f, "ls_tolerance");
    a->refsafe = !(disabled & DISABLE_REFSAFE);
    a->eulerdamp = !(disabled & DISABLE_EULERDAMP);
    return true;
}

static void set_materials(const MujocoFile *f, SapMujocoParameters *a) {
    a->shape_condim = f->geom_condim;
    a->shape_priority = f->geom_priority;
    a->shape_solmix = f->geom_solmix;
    a->shape_margin = f->geom_margin;
    a->shape_friction = f->geom_friction;
    a->shape_solref = f->geom_solref;
    a->shape_solimp = f->geom_solimp;
}

static void set_law(const MujocoFile *f, const Draft *d, SapMujocoParameters *a) {
    a->body_invweight = d->invweight;
    a->dof_invweight = f->dof_invweight0;
    a->dof_stiffness = d->stiffness;
    a->dof_spring_ref = d->spring;
    a->dof_limit_margin = d->margin;
    a->dof_limit_solref = d->solref;
    a->dof_limit_solimp = d->solimp;
    a->dof_friction_solref = f->dof_solref;
    a->dof_friction_solimp = f->dof_solimp;
    a->joint_ball_limit = d->ball_limit;
    a->constraint_solref = f->eq_solref;
    a->constraint_solimp = f->eq_solimp;
    a->constraint_torquescale = d->c_scale;
    a->tendon_invweight = f->tendon_invweight0;
    a->tendon_limit_margin = f->tendon_margin;
    a->tendon_limit_solref = f->tendon_solref_lim;
    a->tendon_limit_solimp = f->tendon_solimp_lim;
    a->tendon_friction_solref = f->tendon_solref_fri;
    a->tendon_friction_solimp = f->tendon_solimp_fri;
}

static void set_constraints(const MujocoFile *f, const Draft *d, SapModelArrays *m) {
    m->num_constraints = f->neq;
    m->constraint_type = d->c_type;
    m->constraint_body = d->c_body;
    m->constraint_X = d->c_X;
    m->constraint_coordinate = d->c_coordinate;
    m->constraint_polynomial = d->c_polynomial;
    m->constraint_reference = d->c_reference;
    m->constraint_active = d->c_active;
    m->num_tendons = f->ntendon;
    m->num_tendon_terms = f->nwrap;
    m->tendon_start = d->t_start;
    m->tendon_term_type = d->t_type;
    m->tendon_term_index = d->t_index;
    m->tendon_term_value = d->t_value;
    m->tendon_offset = d->t_offset;
    m->tendon_limit_lower = d->t_lower;
    m->tendon_limit_upper = d->t_upper;
    m->tendon_friction = f->tendon_frictionloss;
}

static void set_shapes(const MujocoFile *f, const Draft *d, SapModelArrays *m) {
    m->joint_filter_parent = d->j_filter; /* 0: the pairs below are all that do not collide */
    m->num_shapes = f->ngeom;
    m->shape_type = d->s_type;
    m->shape_body = d->s_body;
    m->shape_transform = d->s_pose;
    m->shape_scale = d->s_size;
    m->shape_gap = d->s_gap;
    m->num_shape_filter_pairs = d->num_filters;
    m->shape_filter_pairs = d->s_filter;
}

static void set_arrays(const MujocoFile *f, const Draft *d, SapModelArrays *m) {
    sap_model_arrays_default(m);
    m->num_bodies = m->num_joints = d->nj;
    m->num_dofs = f->nv;
    m->num_coords = f->nq;
    m->joint_type = d->type;
    m->joint_parent = d->parent;
    m->joint_child = d->child;
    m->joint_X_p = d->X_p;
    m->joint_X_c = d->X_c;
    m->joint_axis = d->axis;
    m->joint_armature = f->dof_armature;
    m->joint_damping = f->dof_damping;
    m->joint_friction = f->dof_frictionloss;
    m->joint_limit_lower = d->lower;
    m->joint_limit_upper = d->upper;
    m->body_mass = d->mass;
    m->body_com = d->com;
    m->body_inertia = d->inertia;
    set_constraints(f, d, m);
    set_shapes(f, d, m);
}

static bool make_models(MujocoFile *f, Draft *d) {
    bool ok = true;
    for (int b = 1; b < f->nbody; b++)
        draft_body(f, b, d);
    for (int e = 0; ok && e < f->neq; e++)
        ok = draft_equality(f, e, d);
    for (int t = 0; ok && t < f->ntendon; t++)
        ok = draft_tendon(f, t, d);
    draft_geoms(f, d);
    SapModelArrays m;
    set_arrays(f, d, &m);
    const json_t *gravity = json_object_get(json_object_get(json_object_get(f->json, "constants"), "opt"), "gravity");
    for (size_t i = 0; i < 3; i++)
        m.gravity[i] = json_number_value(json_array_get(gravity, i));
    static const SapMujocoIntegrator integrators[MUJOCO_NUM_MODELS] = {SAP_INTEGRATOR_EULER, SAP_INTEGRATOR_EULER,
                                                                       SAP_INTEGRATOR_IMPLICITFAST,
                                                                       SAP_INTEGRATOR_DISCRETE, SAP_INTEGRATOR_RK4};
    for (int i = 0; ok && i < MUJOCO_NUM_MODELS; i++) {
        SapMujocoParameters a;
        ok = set_options(f, i == MUJOCO_LOOSE ? mujoco_file_option(f, "tolerance") : 0, &a);
        a.integrator = integrators[i];
        set_law(f, d, &a);
        set_materials(f, &a);
        ok = ok && cli_check(sap_model_create_mujoco(&m, &a, &f->model[i]));
    }
    return ok;
}

bool mujoco_draft_models(MujocoFile *f) {
    Draft d = {0};
    bool ok = draft_allocate(f, &d) && make_models(f, &d);
    draft_free(&d);
    return ok;
}
