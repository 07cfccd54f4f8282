/* The step as nvcc compiled it gives the bits of the CPU build: every array of a batch is compared byte for byte after steps of
 * models with joints, drives, limits, friction and contacts, in f32 and f64, with teams of several sizes.
 *
 * step_bits FILE.ptx [team sizes ...] */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <criterion/criterion.h>
#include <sapwood/sapwood.h>

#include "hash_contacts.h"
#include "kernel_batch.h"
#include "random_model.h"

#include "mirror.h"

enum { WORLDS = 5, STEPS = 3, MAX_ARRAYS = 32 };
static const double H = 0.005;
extern const SapKernels sap_kernels_generic_x1_f32, sap_kernels_generic_x1_f64;
static const SapKernels *const kernels[2] = {&sap_kernels_generic_x1_f32, &sap_kernels_generic_x1_f64};

/* The models are made by code that reports through Criterion; here a failure is the end. */
void plain_fail(bool fatal, const char *file, int line, const char *what, const char *format, ...) {
    va_list args;
    (void)fatal;
    va_start(args, format);
    fprintf(stderr, "%s:%d: %s: ", file, line, what);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

/* A batch with contacts and everything a step can report. */
typedef struct Case {
    KernelBatch k;
    SapContacts *contacts;
    struct {
        const char *name;
        void *data;
        size_t size;
    } output[MAX_ARRAYS];
    int num_outputs;
} Case;

static void *add_output(Case *c, const char *name, size_t count, size_t size) {
    void *data = calloc(count, size);
    c->output[c->num_outputs].name = name;
    c->output[c->num_outputs].data = data;
    c->output[c->num_outputs++].size = count * size;
    return data;
}

#define INTS(field, per_world)    r->field = add_output(c, #field, (size_t)(WORLDS * (per_world)), sizeof(int))
#define DOUBLES(field, per_world) r->field = add_output(c, #field, (size_t)(WORLDS * (per_world)), sizeof(double))

static void add_reports(Case *c) {
    SapReportArgs *r = &c->k.args.report;
    int slots = c->k.args.contacts.capacity, nv = c->k.args.plan.nv;
    INTS(iterations, 1);
    INTS(line_iterations, 1);
    INTS(refactored, 1);
    INTS(num_contacts, 1);
    INTS(region, slots);
    DOUBLES(cost, 1);
    DOUBLES(residual, 1);
    DOUBLES(impulse, 3 * slots);
    DOUBLES(velocity, 3 * slots);
    DOUBLES(frame, 9 * slots);
    DOUBLES(gap, slots);
    DOUBLES(weight, slots);
    DOUBLES(pair, 3 * slots);
    DOUBLES(position, 3 * slots);
    DOUBLES(jacobian, 3 * slots * nv);
    DOUBLES(drive, nv);
    DOUBLES(limit, nv);
    DOUBLES(friction, nv);
}

static void name_output(Case *c, const char *name, void *data, int per_world, SapDtype dtype) {
    c->output[c->num_outputs].name = name;
    c->output[c->num_outputs].data = data;
    c->output[c->num_outputs++].size = (size_t)(WORLDS * per_world) * hash_width(dtype);
}

static void set_contacts(Case *c) {
    const SapContacts *s = c->contacts;
    SapContactArgs *a = &c->k.args.contacts;
    int n = s->capacity;
    a->given_capacity = n;
    a->count = s->count;
    a->dropped = s->dropped;
    a->shape[0] = s->shape0;
    a->shape[1] = s->shape1;
    a->body[0] = s->body0;
    a->body[1] = s->body1;
    a->point[0] = kernel_rows(s->point0, 3 * n, s->dtype);
    a->point[1] = kernel_rows(s->point1, 3 * n, s->dtype);
    a->normal = kernel_rows(s->normal, 3 * n, s->dtype);
    a->margin[0] = kernel_rows(s->margin0, n, s->dtype);
    a->margin[1] = kernel_rows(s->margin1, n, s->dtype);
    a->stiffness = kernel_rows(s->stiffness, n, s->dtype);
    a->tau = kernel_rows(s->tau, n, s->dtype);
    a->mu = kernel_rows(s->mu, n, s->dtype);
}

/* Where a team's arenas begin; the sizes are those of sap_scratch_create. */
static void set_arenas(SapStepArgs *a) {
    int top = 0, real[2] = {sizeof(float), sizeof(double)};
#define PLACE(field, bytes) a->arena.field = top, top = (top + (bytes) + 63) / 64 * 64
    PLACE(fm, a->plan.layout.size * real[a->fm_is_f64]);
    PLACE(solve, a->solve.size * real[a->solve_is_f64]);
    PLACE(linear[0], a->linear.size * real[0]);
    PLACE(linear[1], a->linear.size * real[1]);
    PLACE(ints, a->slot_ints.size * a->contacts.capacity * (int)sizeof(int));
#undef PLACE
    a->arena.size = top;
}

static Case create_case(const SapModelArrays *m, int precision) {
    Case c = {.k = kernel_batch_create(m, WORLDS, precision, kernels, H)};
    SapDtype dtype = precision == 64 ? SAP_F64 : SAP_F32;
    if (sap_contacts_create(WORLDS, HASH_SLOTS, dtype, &c.contacts) != SAP_OK)
        abort();
    set_contacts(&c);
    set_arenas(&c.k.args);
    add_reports(&c);
    SapState *s = &c.k.batch.state;
    name_output(&c, "joint_q", s->joint_q, m->num_coords, dtype);
    name_output(&c, "joint_qd", s->joint_qd, m->num_dofs, dtype);
    name_output(&c, "body_q", s->body_q, 7 * m->num_bodies, dtype);
    name_output(&c, "body_qd", s->body_qd, 6 * m->num_bodies, dtype);
    name_output(&c, "status", c.k.status, 1, SAP_F32);
    return c;
}

static void destroy_case(Case *c) {
    for (int i = 0; i < c->num_outputs - 5; i++) /* the last five belong to the batch */
        free(c->output[i].data);
    sap_contacts_destroy(c->contacts);
    kernel_batch_destroy(&c->k);
}

/* ---- the device */

typedef struct Device {
    CUmodule module;
    CUfunction step, kinematics;
    double seconds;
    int world_steps;
} Device;

static void mirror_contacts(Mirror *m, const SapContacts *c) {
    size_t records = (size_t)(c->num_worlds * c->capacity), real = hash_width(c->dtype);
    int *const ints[] = {c->shape0, c->shape1, c->body0, c->body1};
    void *const reals[] = {c->margin0, c->margin1, c->stiffness, c->tau, c->mu}, *const vectors[] = {
                                                                                     c->point0, c->point1, c->normal};
    mirror_add(m, c->count, (size_t)c->num_worlds * sizeof(int));
    mirror_add(m, c->dropped, (size_t)c->num_worlds * sizeof(int));
    for (int i = 0; i < 4; i++)
        mirror_add(m, ints[i], records * sizeof(int));
    for (int i = 0; i < 5; i++)
        mirror_add(m, reals[i], records * real);
    for (int i = 0; i < 3; i++)
        mirror_add(m, vectors[i], 3 * records * real);
}

static void mirror_case(Mirror *m, const Case *c, const void *const targets[3]) {
    for (int i = 0; i < 3; i++) {
        mirror_add_block(m, c->k.plan.memory[i]);
        mirror_add_block(m, targets[i]);
    }
    mirror_add_block(m, c->k.constants[0].memory);
    mirror_add_block(m, c->k.constants[1].memory);
    mirror_add_block(m, c->k.batch.control.joint_f);
    mirror_add_block(m, c->k.batch.control.body_f);
    mirror_contacts(m, c->contacts);
    for (int i = 0; i < c->num_outputs; i++)
        mirror_add(m, c->output[i].data, c->output[i].size);
}

static void launch(CUfunction f, const SapStepArgs *args, int team, int per_block) {
    void *params[] = {(void *)args};
    unsigned grid = (unsigned)((args->num_worlds + per_block - 1) / per_block);
    unsigned shared = (unsigned)(per_block * args->arena.size);
    if (shared > 49152)
        NEED(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    NEED(cuLaunchKernel(f, grid, 1, 1, (unsigned)team, (unsigned)per_block, 1, shared, NULL, params, NULL));
    NEED(cuCtxSynchronize());
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_device(Device *d, Case *c, CUfunction f, int team, const void *const targets[3]) {
    Mirror mirror = {.count = 0};
    mirror_case(&mirror, c, targets);
    SapStepArgs args = c->k.args;
    args.end_step = args.num_steps;
    mirror_translate(&mirror, &args, sizeof args);
    mirror_upload(&mirror);
    double start = now();
    launch(f, &args, team, team < 32 ? 32 / team < 4 ? 32 / team : 4 : 1);
    d->seconds += now() - start;
    d->world_steps += WORLDS;
    mirror_download(&mirror);
    mirror_free(&mirror);
}

static void run_host(const Case *c, SapProgram *program) {
    for (int w = 0; w < WORLDS; w++)
        kernel_batch_run(&c->k, program, w);
}

/* ---- comparison */

static int compare(const Case *a, const Case *b, const char *what) {
    int bad = 0;
    for (int i = 0; i < a->num_outputs; i++)
        if (memcmp(a->output[i].data, b->output[i].data, a->output[i].size) != 0) {
            printf("%s: %s differs\n", what, a->output[i].name);
            bad = 1;
        }
    return bad;
}

static int check(Device *d, const SapModelArrays *m, const char *name, int precision, int team) {
    Case host = create_case(m, precision), device = create_case(m, precision);
    const size_t nv = (size_t)m->num_dofs * sizeof(double);
    const double *const sources[3] = {m->joint_target_pos, m->joint_target_vel, m->joint_act};
    void *targets[3];
    SapRows *const rows[3] = {&device.k.args.target_pos, &device.k.args.target_vel, &device.k.args.act};
    for (int i = 0; i < 3; i++) {
        targets[i] = malloc(nv);
        memcpy(targets[i], sources[i], nv);
        rows[i]->data = targets[i];
    }
    int bad = 0, contacts = 0, iterations = 0;
    char what[128];
    snprintf(what, sizeof what, "%s f%d team %d", name, precision, team);
    run_host(&host, sap_program_kinematics);
    run_device(d, &device, d->kinematics, team, (const void *const *)targets);
    bad |= compare(&host, &device, what);
    for (int step = 0; step < STEPS && !bad; step++) {
        for (int w = 0; w < WORLDS; w++) {
            hash_fill_contacts(&host.k.batch, host.contacts, w, (uint64_t)w + 1, step);
            hash_fill_contacts(&device.k.batch, device.contacts, w, (uint64_t)w + 1, step);
        }
        run_host(&host, sap_program_step);
        run_device(d, &device, d->step, team, (const void *const *)targets);
        bad |= compare(&host, &device, what);
        for (int w = 0; w < WORLDS; w++)
            contacts += host.contacts->count[w], iterations += host.k.args.report.iterations[w];
    }
    printf("%-24s %s  (%d dofs, %d contacts, %d Newton iterations, %d bytes shared per world)\n", what,
           bad ? "DIFFERS" : "same bits", m->num_dofs, contacts, iterations, host.k.args.arena.size);
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        free(targets[i]);
    destroy_case(&host);
    destroy_case(&device);
    return bad;
}

static int check_model(Device *d, const char *name, SapModel *model, const int *teams, int num_teams) {
    int bad = 0;
    for (int precision = 32; precision <= 64; precision += 32)
        for (int i = 0; i < num_teams; i++)
            bad += check(d, sap_model_arrays(model), name, precision, teams[i]);
    sap_model_destroy(model);
    return bad;
}

int main(int argc, char **argv) {
    int teams[8] = {8, 32, 64}, num_teams = 3, bad = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: step_bits FILE.ptx [team sizes ...]\n");
        return 2;
    }
    if (argc > 2)
        for (num_teams = 0; num_teams + 2 < argc && num_teams < 8; num_teams++)
            teams[num_teams] = atoi(argv[num_teams + 2]);
    CUcontext context;
    Device d = {.seconds = 0};
    NEED(cuInit(0));
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    NEED(cuCtxSetCurrent(context));
    NEED(cuModuleLoad(&d.module, argv[1]));
    NEED(cuModuleGetFunction(&d.step, d.module, "sap_kernel_step"));
    NEED(cuModuleGetFunction(&d.kinematics, d.module, "sap_kernel_kinematics"));
    const JointKind kinds[] = {{SAP_JOINT_FREE, 0, 0},
                               {SAP_JOINT_REVOLUTE, 0, 0},
                               {SAP_JOINT_D6, 2, 3},
                               {SAP_JOINT_BALL, 0, 0},
                               {SAP_JOINT_PRISMATIC, 0, 0}};
    bad += check_model(&d, "chain", hash_model_with_terms(random_chain(11, kinds, 5), 3), teams, num_teams);
    bad += check_model(&d, "forest", hash_model_with_terms(random_forest(5, 6), 4), teams, num_teams);
    printf("%d launches of worlds, %.3f ms of CPU time each\n", d.world_steps, 1e3 * d.seconds / d.world_steps);
    NEED(cuModuleUnload(d.module));
    NEED(cuDevicePrimaryCtxRelease(0));
    return bad ? 1 : 0;
}
