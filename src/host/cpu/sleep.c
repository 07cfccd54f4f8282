#include "host/cpu/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/cpu/run.h"
#include "host/model/model.h"

/* The arrays of a call that wake a world: state, control of joints and bodies, control of constraints and tendons. */
enum { NUM_WATCHED = 12 };

/* Rows of an array; 0 bytes: the worlds share it, or it is absent. */
typedef struct Watched {
    const char *data;
    size_t bytes;
} Watched;

struct SapSleep {
    int steps;       /* steps at rest after which a world sleeps */
    double speed;    /* m/s, below which it rests */
    double *length;  /* [nv] m, of each public dof: speed per velocity */
    int32_t *asleep; /* [num_worlds] of the batch */
    int *quiet;      /* [num_worlds] steps at rest */
    int *awake;      /* [num_worlds] the worlds that are awake, in their order */
    uint32_t *seen;  /* [num_worlds] status bits that last for a call */
    char *kept;      /* [num_worlds][kept_bytes] the watched rows of sleeping worlds; NULL before the first call */
    size_t kept_bytes, bytes;
};

/* ---- creation ---- */

/* Mass of the links below each link, itself included; children have larger numbers than their parents. */
static void subtree_masses(const SapPlan *plan, const double *body_mass, double *mass) {
    for (int l = 0; l < plan->nl; l++)
        mass[l] = body_mass[plan->link[l].body];
    for (int l = plan->nl - 1; l >= 0; l--)
        if (plan->link[l].parent >= 0)
            mass[plan->link[l].parent] += mass[l];
}

/* sqrt(A_ii/m) in the model's initial state, m the mass that dof i moves: 1 for a linear dof, for an angular one the radius of
 * gyration about its axis. */
static SapStatus find_lengths(const SapSolver *s, double *length) {
    const SapPlan *plan = &s->args.plan;
    const SapModelArrays *m = sap_model_arrays(s->model);
    size_t nv = (size_t)plan->nv;
    SapOptions o = s->options;
    o.threads = o.lanes = o.max_rigid_contact = 1;
    o.sleep_steps = 0;
    SapSolver *one = NULL;
    double *A = sap_allocate(nv * nv + (size_t)plan->nl, sizeof *A, "sleeping worlds"), *mass = A + nv * nv;
    SapState state = {
        .num_worlds = 1, .dtype = SAP_F64, .joint_q = (void *)m->joint_q, .joint_qd = (void *)m->joint_qd};
    SapStatus status = A ? sap_solver_create(s->model, 1, &o, &one) : SAP_ERROR_MEMORY;
    if (status == SAP_OK)
        status = sap_free_motion(one, &state, NULL, 1e-3, &(SapFreeMotion){.A = A});
    if (status == SAP_OK) {
        subtree_masses(plan, m->body_mass, mass);
        for (size_t i = 0; i < nv; i++) {
            double moved = mass[plan->tree.row[i].link];
            length[plan->dof_public[i]] = moved > 0 ? sqrt(A[i * nv + i] / moved) : 1;
        }
    }
    sap_solver_destroy(one);
    free(A);
    return status;
}

SapStatus sap_sleep_create(const SapSolver *s, int32_t *asleep, SapSleep **out) {
    size_t n = (size_t)s->num_worlds;
    SapSleep *sleep = *out = sap_allocate(1, sizeof *sleep, "sleeping worlds");
    if (!sleep)
        return SAP_ERROR_MEMORY;
    sleep->steps = s->options.sleep_steps;
    sleep->speed = s->options.sleep_speed;
    sleep->asleep = asleep;
    sleep->length = sap_allocate((size_t)s->args.plan.nv + 1, sizeof *sleep->length, "sleeping worlds");
    sleep->quiet = sap_allocate(n, sizeof *sleep->quiet, "sleeping worlds");
    sleep->awake = sap_allocate(n, sizeof *sleep->awake, "sleeping worlds");
    sleep->seen = sap_allocate(n, sizeof *sleep->seen, "sleeping worlds");
    if (!sleep->length || !sleep->quiet || !sleep->awake || !sleep->seen)
        return SAP_ERROR_MEMORY;
    /* room for copies of all rows in f64, whatever the type of the batch */
    const SapPlan *p = &s->args.plan;
    size_t numbers = (size_t)p->nq + 5 * (size_t)p->nv + 6 * (size_t)p->nb + 4 * (size_t)p->num_tendons;
    sleep->kept_bytes = numbers * sizeof(double) + (size_t)p->num_constraints * sizeof(int32_t);
    sleep->kept = sap_allocate(n, sleep->kept_bytes + 1, "sleeping worlds");
    if (!sleep->kept)
        return SAP_ERROR_MEMORY;
    sleep->bytes = sizeof *sleep + n * (2 * sizeof(int) + sizeof(uint32_t) + sleep->kept_bytes + 1);
    return find_lengths(s, sleep->length);
}

void sap_sleep_destroy(SapSleep *sleep) {
    if (!sleep)
        return;
    free(sleep->length);
    free(sleep->quiet);
    free(sleep->awake);
    free(sleep->seen);
    free(sleep->kept);
    free(sleep);
}

size_t sap_sleep_bytes(const SapSleep *sleep) {
    return sleep ? sleep->bytes : 0;
}

/* ---- waking ---- */

static Watched watch(SapBuffer b, int width) {
    size_t element = b.is_f64 ? sizeof(double) : sizeof(float);
    return (Watched){b.data, b.data && b.stride ? (size_t)width * element : 0};
}

static void watch_all(const SapStepArgs *a, Watched out[NUM_WATCHED]) {
    const SapConstraintArgs *c = &a->constraints;
    int nv = a->plan.nv, nt = a->plan.num_tendons;
    const Watched all[NUM_WATCHED] = {
        watch(a->q_in, a->plan.nq),
        watch(a->qd_in, nv),
        watch(a->joint_f, nv),
        watch(a->body_f, 6 * a->plan.nb),
        watch(a->target_pos, nv),
        watch(a->target_vel, nv),
        watch(a->act, nv),
        watch(c->target_pos, nt),
        watch(c->target_vel, nt),
        watch(c->act, nt),
        watch(c->f, nt),
        {(const char *)c->active, c->active_stride ? (size_t)c->active_stride * sizeof(int32_t) : 0}};
    memcpy(out, all, sizeof all);
}

/* Copies the watched rows of a world. */
static void keep_rows(SapSleep *sleep, const Watched *watched, int world) {
    char *to = sleep->kept + (size_t)world * (sleep->kept_bytes + 1);
    for (int i = 0; i < NUM_WATCHED; i++)
        if (watched[i].bytes) {
            memcpy(to, watched[i].data + (size_t)world * watched[i].bytes, watched[i].bytes);
            to += watched[i].bytes;
        }
}

/* Whether a bit of them changed since. */
static bool rows_changed(const SapSleep *sleep, const Watched *watched, int world) {
    const char *kept = sleep->kept + (size_t)world * (sleep->kept_bytes + 1);
    for (int i = 0; i < NUM_WATCHED; i++)
        if (watched[i].bytes) {
            if (memcmp(kept, watched[i].data + (size_t)world * watched[i].bytes, watched[i].bytes) != 0)
                return true;
            kept += watched[i].bytes;
        }
    return false;
}

/* Wakes the worlds whose numbers changed since they fell asleep. */
static void wake(SapSolver *s, const Watched *watched) {
    SapSleep *sleep = s->sleep;
    for (int w = 0; w < s->num_worlds; w++) {
        if (!sleep->asleep[w] && sleep->quiet[w] >= sleep->steps) /* the caller or a reset woke it */
            sleep->quiet[w] = 0;
        if (!sleep->asleep[w])
            continue;
        bool changed = rows_changed(sleep, watched, w);
        if (s->parameters.count > 0 && sap_world_parameters_refresh(&s->parameters, w))
            changed = true;
        if (changed)
            sleep->asleep[w] = sleep->quiet[w] = 0;
    }
}

/* ---- falling asleep ---- */

static double number_at(SapBuffer b, long long i) {
    return b.is_f64 ? ((const double *)b.data)[i] : (double)((const float *)b.data)[i];
}

static void zero_row(SapBuffer b, int world, int width) {
    size_t element = b.is_f64 ? sizeof(double) : sizeof(float);
    if (b.data)
        memset((char *)b.data + (size_t)world * (size_t)width * element, 0, (size_t)width * element);
}

/* The largest speed of a dof, m/s. */
static double world_speed(const SapSleep *sleep, const SapStepArgs *a, int world) {
    double speed = 0;
    for (int i = 0; i < a->plan.nv; i++)
        speed = fmax(speed, sleep->length[i] * fabs(number_at(a->qd_out, (long long)world * a->qd_out.stride + i)));
    return speed;
}

/* After a step: counts the steps at rest. A world that has rested for long enough stops, with velocities of 0. */
static void settle(SapSolver *s, const SapStepArgs *a, const Watched *watched, int num_awake) {
    SapSleep *sleep = s->sleep;
    for (int k = 0; k < num_awake; k++) {
        int w = sleep->awake[k];
        sleep->seen[w] |= a->status[w];
        bool rests = !(a->status[w] & SAP_WORLD_FAILED) && world_speed(sleep, a, w) < sleep->speed;
        sleep->quiet[w] = rests ? sleep->quiet[w] + 1 : 0;
        if (sleep->quiet[w] < sleep->steps)
            continue;
        zero_row(a->qd_out, w, a->plan.nv);
        zero_row(a->body_qd, w, 6 * a->plan.nb);
        keep_rows(sleep, watched, w);
        sleep->asleep[w] = 1;
    }
}

/* ---- steps ---- */

static int list_awake(SapSolver *s) {
    int count = 0;
    for (int w = 0; w < s->num_worlds; w++)
        if (!s->sleep->asleep[w])
            s->sleep->awake[count++] = w;
    return count;
}

void sap_sleep_steps(SapSolver *s, const SapStepArgs *args, int num_steps) {
    const uint32_t lasting = SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED | SAP_WORLD_CONTACTS_TRUNCATED |
                             SAP_WORLD_FAST_SPIN | SAP_WORLD_UNBOUNDED | SAP_WORLD_COULOMB_NOT_CONVERGED;
    SapSleep *sleep = s->sleep;
    SapStepArgs one = *args;
    Watched watched[NUM_WATCHED];
    one.num_steps = 1;
    watch_all(args, watched);
    wake(s, watched);
    memset(sleep->seen, 0, (size_t)s->num_worlds * sizeof *sleep->seen);
    for (int step = 0; step < num_steps; step++) {
        int count = list_awake(s);
        if (count == 0)
            break;
        sap_solver_run_listed(s, &one, sleep->awake, count);
        settle(s, &one, watched, count);
    }
    for (int w = 0; w < s->num_worlds; w++)
        args->status[w] |= sleep->seen[w] & lasting;
}
