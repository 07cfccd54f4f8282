/* A batch with contacts for tests: see contact_bench.h. */
#include "support/contact_bench.h"

SapOptions options_of(const char *preset, SapLineSearch line_search) {
    SapOptions o;
    need(sap_options_preset(preset, &o));
    o.line_search = line_search;
    o.max_contacts = SLOTS;
    o.threads = 1;
    return o;
}

static double *doubles(int n) {
    double *x = calloc((size_t)n, sizeof *x);
    cr_assert_not_null(x);
    return x;
}

Fixture bench_create(SapModel *model, int n, const SapOptions *options) {
    Fixture b = {.w = worlds_create(model, n, options)};
    int slots = n * SLOTS;
    need(sap_contacts_create(n, SLOTS, SAP_F64, &b.c));
    b.report = (SapContactReport){.impulse = doubles(3 * slots),
                                  .velocity = doubles(3 * slots),
                                  .position = doubles(3 * slots),
                                  .frame = doubles(9 * slots),
                                  .gap = doubles(slots),
                                  .weight = doubles(slots),
                                  .pair = doubles(3 * slots),
                                  .jacobian = doubles(3 * slots * b.w->nv),
                                  .region = calloc((size_t)slots, sizeof(int32_t)),
                                  .drive = doubles(n * b.w->nv),
                                  .limit = doubles(n * b.w->nv),
                                  .friction = doubles(n * b.w->nv)};
    need(sap_solver_record(b.w->solver, &b.report));
    return b;
}

void bench_destroy(Fixture *b) {
    double *const arrays[] = {b->report.impulse, b->report.velocity, b->report.position, b->report.frame,
                              b->report.gap,     b->report.weight,   b->report.pair,     b->report.jacobian,
                              b->report.drive,   b->report.limit,    b->report.friction};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(b->report.region);
    sap_contacts_destroy(b->c);
    worlds_destroy(b->w);
}

void bench_step(Fixture *b, double h) {
    need(sap_step(b->w->solver, b->w->state, b->w->control, b->c, h, b->w->state));
    need(sap_solver_report(b->w->solver, &b->world));
    for (int i = 0; i < b->w->n; i++) {
        uint32_t status = b->world.status[i] & ~(uint32_t)SAP_WORLD_FAST_SPIN; /* random velocities may be fast */
        cr_assert(status == SAP_WORLD_OPTIMAL || status == SAP_WORLD_COST_SETTLED ||
                      status == SAP_WORLD_COST_STALLED || /* with compat the cost test ends at any residual */
                      status == (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED),
                  "world %d of %d reports %#x", i, b->w->n, (unsigned)status);
    }
}

void com_arm(const SapModelArrays *m, int body, const double *q, double *r) {
    rotate(q, m->body_com + 3 * body, r);
}

void internal_velocity(const Fixture *b, int world, double *out) {
    const SapModelArrays *m = b->w->m;
    const double *v = b->w->v + world * b->w->nv, *q = b->w->q + world * b->w->nq;
    memcpy(out, v, (size_t)b->w->nv * sizeof *out);
    for (int j = 0; j < m->num_joints; j++) {
        int at = m->joint_qd_start[j];
        if (m->joint_type[j] != SAP_JOINT_FREE)
            continue;
        double r[3], s[3];
        com_arm(m, m->joint_child[j], q + m->joint_q_start[j] + 3, r);
        cross(v + at + 3, r, s);
        for (int i = 0; i < 3; i++) {
            out[at + i] = v[at + 3 + i];
            out[at + 3 + i] = v[at + i] - s[i];
        }
    }
}

void put_plane_contact(Fixture *b, int world, int c, const double *point, const double *normal, double k, double tau,
                       double mu) {
    const double *X = b->w->body_q + 7 * world * b->w->nb;
    int slot = world * SLOTS + c;
    double x[3], distance = 0;
    rotate(X + 3, point, x);
    b->c->body0[slot] = -1;
    b->c->body1[slot] = 0;
    for (int i = 0; i < 3; i++) {
        x[i] += X[i];
        distance += x[i] * normal[i];
    }
    for (int i = 0; i < 3; i++) {
        vector3(b->c->point0, slot)[i] = x[i] - distance * normal[i];
        vector3(b->c->point1, slot)[i] = point[i];
        vector3(b->c->normal, slot)[i] = normal[i];
    }
    ((double *)b->c->stiffness)[slot] = k;
    ((double *)b->c->tau)[slot] = tau;
    ((double *)b->c->mu)[slot] = mu;
    if (b->c->count[world] <= c)
        b->c->count[world] = c + 1;
}

void body_pose(const Fixture *b, int world, int body, double *pose) {
    static const double identity[7] = {0, 0, 0, 0, 0, 0, 1};
    memcpy(pose, body < 0 ? identity : b->w->out.body_pose + 7 * (world * b->w->nb + body), sizeof identity);
}

SapModel *remade(SapModel *old, const SapModelArrays *a) {
    SapModel *model;
    need(sap_model_create(a, &model));
    sap_model_destroy(old);
    return model;
}

SapModel *golden_body(void) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts.mass[0] = 2;
    parts.gravity[2] = -9.8125;
    parts_set_inertia(&parts, 0, 1.0 / 8, 1.0 / 4, 3.0 / 8);
    parts_set_com(&parts, 0, 1.0 / 64, -1.0 / 32, 1.0 / 32);
    SapModel *model = parts_model(&parts);
    SapModelArrays a = *sap_model_arrays(model);
    a.num_shapes = 2;
    a.shape_type = (const int32_t[]){SAP_SHAPE_SPHERE, SAP_SHAPE_SPHERE};
    a.shape_body = (const int32_t[]){-1, 0};
    a.shape_scale = (const double[]){0.1, 0, 0, 0.1, 0, 0};
    a.shape_material_mu = (const double[]){0.5, 1};
    a.shape_material_ke = (const double[]){1e5, 1e4};
    a.shape_material_tau = (const double[]){1.0 / 64, 1.0 / 32};
    a.shape_transform = NULL;
    a.shape_margin = a.shape_gap = NULL;
    a.shape_collision_group = a.shape_flags = a.shape_mesh = NULL;
    a.shape_name = NULL;
    return remade(model, &a);
}

Fixture golden_bench(const char *preset, SapLineSearch line_search) {
    SapOptions o = options_of(preset, line_search);
    o.compat = SAP_COMPAT_SAP_WARP; /* witnesses on the core */
    Fixture b = bench_create(golden_body(), 1, &o);
    static const double q[7] = {0.125, 0.25, 0.5, 0.1, 0.3, 0.3, 0.9}, v[6] = {0.3, -0.2, 0.5, 0.4, 0.1, -0.6},
                        f[6] = {0.5, -0.25, 0.125, 1, 2, -0.5};
    double r[3], wr[3], rf[3];
    memcpy(b.w->q, q, sizeof q);
    com_arm(b.w->m, 0, q + 3, r);
    cross(v, r, wr);
    cross(r, f + 3, rf);
    for (int i = 0; i < 3; i++) {
        b.w->v[i] = v[3 + i] + wr[i];
        b.w->v[3 + i] = v[i];
        b.w->joint_f[i] = f[3 + i];
        b.w->joint_f[3 + i] = f[i] - rf[i];
    }
    b.c->count[0] = 1;
    b.c->shape0[0] = 0;
    b.c->shape1[0] = 1;
    set3(b.c->point0, 0.125, 0.25, 0);
    set3(b.c->point1, 1.0 / 32, -1.0 / 16, -0.5);
    set3(b.c->normal, 0, 0, 1);
    *(double *)b.c->margin0 = 1.0 / 16;
    *(double *)b.c->margin1 = 1.0 / 32;
    return b;
}

static int random_body(Random *random, int nb) {
    return random_below(random, 3) ? random_below(random, nb) : -1;
}

static void random_direction(Random *random, double *n) {
    double q[4], norm;
    random_quaternion(random, q);
    norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    for (int i = 0; i < 3; i++)
        n[i] = q[i] / norm;
}

void put_random_contact(Fixture *b, Random *random, int world, int c, double gap) {
    int slot = world * SLOTS + c, body[2];
    double n[3], X0[7], X1[7], x[3], inverse[4], margin[2];
    do {
        body[0] = random_body(random, b->w->nb);
        body[1] = random_body(random, b->w->nb);
    } while (body[0] == body[1]);
    b->c->body0[slot] = body[0];
    b->c->body1[slot] = body[1];
    body_pose(b, world, body[0], X0);
    body_pose(b, world, body[1], X1);
    random_direction(random, n);
    random_numbers(random, 0.05, margin, 2);
    random_numbers(random, 0.5, vector3(b->c->point0, slot), 3);
    rotate(X0 + 3, vector3(b->c->point0, slot), x);
    for (int i = 0; i < 3; i++) {
        x[i] += X0[i] + (gap + margin[0] + margin[1]) * n[i] - X1[i];
        inverse[i] = -X1[3 + i];
        vector3(b->c->normal, slot)[i] = n[i] * 3; /* any length */
    }
    inverse[3] = X1[6];
    rotate(inverse, x, vector3(b->c->point1, slot));
    ((double *)b->c->margin0)[slot] = margin[0];
    ((double *)b->c->margin1)[slot] = margin[1];
    ((double *)b->c->stiffness)[slot] = pow(10, random_between(random, 3, 7));
    ((double *)b->c->tau)[slot] = random_between(random, 0, 0.05);
    ((double *)b->c->mu)[slot] = random_below(random, 5) ? random_between(random, 0, 1.2) : 0;
    b->c->count[world] = c + 1;
}

typedef struct JointNumbers {
    int32_t mode[PARTS_DOFS];
    double ke[PARTS_DOFS], kd[PARTS_DOFS], effort[PARTS_DOFS], lower[PARTS_DOFS], upper[PARTS_DOFS],
        limit_ke[PARTS_DOFS], limit_kd[PARTS_DOFS], friction[PARTS_DOFS], target[PARTS_DOFS], rate[PARTS_DOFS],
        act[PARTS_DOFS];
} JointNumbers;

int joint_axes(const SapModelArrays *m, int j) {
    return m->joint_qd_start[j + 1] - m->joint_qd_start[j];
}

bool has_coordinates(const SapModelArrays *m, int j) {
    return m->joint_type[j] != SAP_JOINT_BALL && m->joint_type[j] != SAP_JOINT_FREE;
}

/* Drives, limits and friction on some of the dofs. */
static SapModel *with_joint_terms(SapModel *model, Random *random) {
    JointNumbers *t = calloc(1, sizeof *t);
    SapModelArrays a = *sap_model_arrays(model);
    for (int j = 0; j < a.num_joints; j++)
        for (int i = a.joint_qd_start[j]; i < a.joint_qd_start[j + 1]; i++) {
            t->mode[i] = random_below(random, 3) == 0;
            t->ke[i] = has_coordinates(&a, j) ? pow(10, random_between(random, 0, 6)) : 0;
            t->kd[i] = random_between(random, 0, 5);
            t->effort[i] = random_below(random, 2) ? random_between(random, 0.5, 20) : INFINITY;
            t->lower[i] = -INFINITY;
            t->upper[i] = INFINITY;
            if (joint_axes(&a, j) == 1 && random_below(random, 2)) {
                t->lower[i] = random_between(random, -2, 0);
                t->upper[i] = random_between(random, 0, 2);
                t->limit_ke[i] = pow(10, random_between(random, 2, 7));
                t->limit_kd[i] = random_between(random, 0, 10);
            }
            t->friction[i] = random_below(random, 4) ? 0 : random_between(random, 0, 2);
            t->target[i] = random_between(random, -1, 1);
            t->rate[i] = random_between(random, -1, 1);
            t->act[i] = random_between(random, -1, 1);
        }
    a.joint_target_mode = t->mode;
    a.joint_target_ke = t->ke;
    a.joint_target_kd = t->kd;
    a.joint_effort_limit = t->effort;
    a.joint_limit_lower = t->lower;
    a.joint_limit_upper = t->upper;
    a.joint_limit_ke = t->limit_ke;
    a.joint_limit_kd = t->limit_kd;
    a.joint_friction = t->friction;
    a.joint_target_pos = t->target;
    a.joint_target_vel = t->rate;
    a.joint_act = t->act;
    model = remade(model, &a);
    free(t);
    return model;
}

/* Row `from` of an array of `width` columns over the `copies` rows after it. */
static void spread(double *rows, int width, int from, int copies) {
    for (int i = 1; i < copies; i++)
        memcpy(rows + (from + i) * width, rows + from * width, (size_t)width * sizeof *rows);
}

static void random_problem_contacts(Fixture *b, Random *random, int first, int copies) {
    int contacts = 1 + random_below(random, 5);
    for (int c = 0; c < contacts; c++) {
        double gap = random_between(random, -1e-2, 2e-3);
        Random same = *random;
        for (int i = 0; i < copies; i++) {
            *random = same;
            put_random_contact(b, random, first + i, c, gap);
        }
    }
}

Fixture random_bench(uint64_t seed, int problems, int copies, const SapOptions *o, double h, bool joint_terms) {
    Random random = random_seed(seed);
    SapModel *model = random_forest(seed, 2 + random_below(&random, 4));
    if (joint_terms)
        model = with_joint_terms(model, &random);
    Fixture b = bench_create(model, problems * copies, o);
    Worlds *w = b.w;
    for (int p = 0; p < problems; p++) {
        int first = p * copies;
        random_coordinates(&random, w->m, w->q + first * w->nq);
        random_numbers(&random, 2, w->v + first * w->nv, w->nv);
        random_numbers(&random, 2, w->joint_f + first * w->nv, w->nv);
        spread(w->q, w->nq, first, copies);
        spread(w->v, w->nv, first, copies);
        spread(w->joint_f, w->nv, first, copies);
    }
    need(sap_free_motion(w->solver, w->state, w->control, h, &w->out));
    for (int p = 0; p < problems; p++)
        random_problem_contacts(&b, &random, p * copies, copies);
    return b;
}

SapOptions tight_options(uint64_t seed) {
    SapOptions o = options_of(seed % 2 ? "drake" : "approx64", SAP_EXACT_ROOT);
    o.cost_abs_tol = o.cost_rel_tol = 0; /* only the optimality test ends a solve */
    return o;
}
