/* The whole problem of a world as the kernels evaluate it: the gradient they form is the derivative of the cost they
 * form, and Newton's matrix the Jacobian of the gradient,
 *
 *   grad.e = d l(v + a e)/da      H e = d grad(v + a e)/da      at a = 0
 *
 * by differences of fourth order, on random problems with many contacts, drives, limits and joint friction in all their
 * regions at once. Along lines through the solution, where sticking contacts are, every boundary between two regions is
 * found by bisection and both of its sides are checked; a difference never reaches over a boundary. Kernels of one
 * lane, f64. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/kernel_contacts.h"
#include "support/random_model.h"
#include "support/work.h"

#define SAP_LANES     1
#define SAP_PRECISION 64
#include "kernels/data/table.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/sap/stages.h"

extern const SapKernels sap_kernels_generic_x1_f32, sap_kernels_generic_x1_f64;
static const SapKernels *const plain[2] = {&sap_kernels_generic_x1_f32, &sap_kernels_generic_x1_f64};

enum { MAX_DOFS = 96, MAX_TERMS = HASH_SLOTS + 4 * MAX_DOFS };

/* ---- the problem at a velocity ---- */

/* Which region every term is in: contacts, then for every dof its drive (-1, 0, 1: clamped, inside, clamped), its
 * limits (0 or 1 each) and its friction (as the drive). */
typedef struct Regions {
    int count, term[MAX_TERMS];
} Regions;

typedef struct Value {
    double cost, cost_size, grad[MAX_DOFS]; /* cost_size: sum of the sizes of its terms */
    double size[MAX_DOFS];                  /* |r_i| + |j_i|: what grad_i is the difference of */
    Regions regions;
} Value;

static int row_region(const RowLaw *row, double v) {
    double y = (row->vhat - v) * row->inv_R;
    return y > row->upper ? 1 : y < row->lower ? -1 : 0;
}

static Regions regions_at(const Context *ctx, const double *v) {
    Regions out = {0};
    for (int c = 0; c < ctx->num_slots; c++) {
        ContactLaw law = *(const ContactLaw *)SLOT(law, c);
        ContactTrial trial = sap_contact_trial(&law, vec3_load(SLOT(vc, c)));
        out.term[out.count++] = (int)sap_contact_trial_region(&trial);
    }
    for (int i = 0; i < ctx->args->plan.nv; i++) {
        JointLaw law = dof_law(ctx, i);
        for (int r = 0; r < JOINT_ROWS; r++) {
            RowLaw row = joint_row(&law, r);
            out.term[out.count++] = row_region(&row, v[i]);
        }
    }
    return out;
}

static Value value_at(const Context *ctx, const double *v) {
    int nv = ctx->args->plan.nv;
    Value out;
    memcpy(SOLVE(v), v, (size_t)nv * sizeof *v);
    out.cost = problem_evaluate(ctx);
    out.cost_size = fabs(out.cost);
    for (int i = 0; i < nv; i++) {
        out.cost_size += 2 * fabs(SOLVE(dof_cost)[i]);
        out.grad[i] = SOLVE(grad)[i];
        out.size[i] = fabs(SOLVE(r)[i]) + fabs(SOLVE(impulse)[i]);
    }
    out.regions = regions_at(ctx, v);
    return out;
}

/* Newton's matrix at the velocity of the last value, in full. */
static void matrix(const Context *ctx, double H[MAX_DOFS][MAX_DOFS]) {
    const SapPattern *pattern = linear_pattern(ctx);
    linear_assemble(ctx, pattern, true);
    Tiles tiles = tiles_of(ctx);
    int nv = ctx->args->plan.nv;
    for (int i = 0; i < nv; i++)
        memset(H[i], 0, (size_t)nv * sizeof **H);
    for (int i = 0; i < nv; i++)
        for (int t = 0, end = pattern ? pattern->row[i].depth : i; t <= end; t++) {
            int k = pattern ? pattern->ancestor[pattern->row[i].start + t] : t;
            if (pattern || tiles.node[k] == tiles.node[i] ||
                bit_get(tile_couples(&tiles, tiles.node[i]), tiles.node[k]))
                H[i][k] = H[k][i] = LINEAR(L)[row_start(pattern, i) + t];
        }
}

static bool same_regions(const Regions *a, const Regions *b) {
    return memcmp(a->term, b->term, (size_t)a->count * sizeof *a->term) == 0;
}

/* ---- derivatives ---- */

/* x + a e */
static void along(const double *x, double a, const double *e, int n, double *out) {
    for (int i = 0; i < n; i++)
        out[i] = x[i] + a * e[i];
}

/* Compares grad and H at v, along e, with differences of step a. False if these would leave the regions of v. */
static bool check_derivatives(const Context *ctx, const double *v, const double *e, double a, const char *what) {
    static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
    static double H[MAX_DOFS][MAX_DOFS];
    int nv = ctx->args->plan.nv;
    double x[MAX_DOFS], slope = 0, rate[MAX_DOFS] = {0};
    for (int k = 0; k < 4; k++) {
        along(v, a * at[k], e, nv, x);
        Value there = value_at(ctx, x), here = value_at(ctx, v);
        if (!same_regions(&there.regions, &here.regions))
            return false;
        slope += weight[k] * there.cost / a;
        for (int i = 0; i < nv; i++)
            rate[i] += weight[k] * there.grad[i] / a;
    }
    Value value = value_at(ctx, v);
    matrix(ctx, H);
    double expected = 0, size = 0;
    for (int i = 0; i < nv; i++) {
        expected += value.grad[i] * e[i];
        size += value.size[i] * fabs(e[i]);
    }
    cr_assert_leq(fabs(slope - expected), 1e-7 * size + 1e-14 * value.cost_size / a,
                  "%s: grad.e is %.12g, the cost has %.12g", what, expected, slope);
    for (int i = 0; i < nv; i++) {
        expected = size = 0;
        for (int k = 0; k < nv; k++) {
            expected += H[i][k] * e[k];
            size += fabs(H[i][k] * e[k]);
        }
        cr_assert_leq(fabs(rate[i] - expected), 1e-6 * size + 1e-14 * value.size[i] / a,
                      "%s: row %d of H e is %.12g, the gradient has %.12g", what, i, expected, rate[i]);
    }
    return true;
}

/* ---- problems ---- */

enum { CONTACT, DRIVE, LIMIT, FRICTION_BOUND, NUM_KINDS };

/* How many derivatives were checked. */
typedef struct Tally {
    int region[4];                 /* of contacts */
    int boundary[NUM_KINDS][4][4]; /* by regions on the side that was checked and across; joints: 0 and 1 */
    int inside, refused;
} Tally;

static int term_kind(const Context *ctx, int term) {
    if (term < ctx->num_slots)
        return CONTACT;
    switch ((term - ctx->num_slots) % 4) {
    case 0: return DRIVE;
    case 3: return FRICTION_BOUND;
    default: return LIMIT;
    }
}

/* The only term whose regions differ, or -1. */
static int only_difference(const Regions *a, const Regions *b) {
    int found = -1;
    for (int i = 0; i < a->count; i++)
        if (a->term[i] != b->term[i]) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

/* A direction of dofs of the size that a unit of sqrt(J) has: multiples of 1/sqrt(A_ii). */
static void random_direction(const Context *ctx, Random *random, double *e) {
    int nv = ctx->args->plan.nv;
    const SapPatternRow *row = ctx->args->plan.tree.row;
    StageView A = FM_VIEW(A);
    random_numbers(random, 1, e, nv);
    for (int i = 0; i < nv; i++)
        e[i] *= sqrt(1 / view_get(A, row[i].start + row[i].depth));
}

/* Both sides of a boundary that lies between a0 and a1 of the line x + a e. */
static void check_boundary(const Context *ctx, const double *x, const double *e, double a0, double a1, Random *random,
                           Tally *tally, const char *what) {
    int nv = ctx->args->plan.nv;
    double v[MAX_DOFS], f[MAX_DOFS];
    along(x, a0, e, nv, v);
    Regions before = value_at(ctx, v).regions;
    for (int k = 0; k < 60; k++) {
        along(x, 0.5 * (a0 + a1), e, nv, v);
        Regions middle = value_at(ctx, v).regions;
        *(same_regions(&before, &middle) ? &a0 : &a1) = 0.5 * (a0 + a1);
    }
    double distance = 0.01 * fmin(a0, 1);
    Regions side[2];
    for (int s = 0; s < 2; s++) {
        along(x, a0 + (s ? distance : -distance), e, nv, v);
        side[s] = value_at(ctx, v).regions;
    }
    int term = only_difference(&side[0], &side[1]);
    if (term < 0)
        return;
    for (int s = 0; s < 2; s++) {
        along(x, a0 + (s ? distance : -distance), e, nv, v);
        random_direction(ctx, random, f);
        int kind = term_kind(ctx, term), own = abs(side[s].term[term]), other = abs(side[!s].term[term]);
        if (check_derivatives(ctx, v, f, 0.01 * distance, what))
            tally->boundary[kind][own][other]++;
        else
            tally->refused++;
    }
}

/* Points on a line through x, ever further out, and the boundaries between them. */
static void check_line(const Context *ctx, const double *x, Random *random, Tally *tally, const char *what) {
    int nv = ctx->args->plan.nv;
    double e[MAX_DOFS], f[MAX_DOFS], v[MAX_DOFS], last = 0;
    Regions regions = value_at(ctx, x).regions;
    random_direction(ctx, random, e);
    for (double a = 1e-4; a < 1000; last = a, a *= 1.5) {
        along(x, a, e, nv, v);
        Regions here = value_at(ctx, v).regions;
        random_direction(ctx, random, f);
        if (check_derivatives(ctx, v, f, 1e-4 * fmin(a, 1), what)) {
            tally->inside++;
            for (int c = 0; c < ctx->num_slots; c++)
                tally->region[here.term[c]]++;
        } else {
            tally->refused++;
        }
        if (last > 0 && !same_regions(&regions, &here))
            check_boundary(ctx, x, e, last, a, random, tally, what);
        regions = here;
    }
}

static Context context_of(const KernelBatch *k, const SapPack *pack) {
    SapKernelSet set = kernel_set(k->kernels);
    return sap_context(&k->args, pack, &set, &k->scratch);
}

/* Sets the problem up and solves it; its scratch stays. */
static void solve_world(Context *ctx) {
    double v_star[MAX_DOFS];
    size_t bytes = (size_t)ctx->args->plan.nv * sizeof *v_star;
    stage_free_motion(ctx);
    memcpy(v_star, FM(v), bytes);
    ctx->num_slots = stage_fill_slots(ctx);
    stage_contact_geometry(ctx);
    stage_contact_weight(ctx);
    stage_solve(ctx);
    memcpy(FM(v), v_star, bytes); /* where the problem reads it, and the solve leaves v */
}

/* A random model with drives, limits and friction, which is strong: where it holds a joint the velocity is then not too
 * small for differences. */
static SapModel *make_model(uint64_t seed) {
    double friction[MAX_DOFS];
    SapModel *model = hash_model_with_terms(random_forest(seed, 3 + (int)(seed % 6)), seed), *out;
    SapModelArrays a = *sap_model_arrays(model);
    cr_assert_leq(a.num_dofs, MAX_DOFS);
    for (int i = 0; i < a.num_dofs; i++)
        friction[i] = 200 * a.joint_friction[i];
    a.joint_friction = friction;
    cr_assert_eq(sap_model_create(&a, &out), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(model);
    return out;
}

typedef void CheckWorld(const Context *ctx, uint64_t seed, Tally *tally);

/* Every world of a model, with contacts. */
static void check_model(uint64_t seed, CheckWorld *check, Tally *tally) {
    enum { WORLDS = 4 };
    SapModel *model = make_model(seed);
    KernelBatch k = kernel_batch_create(model, WORLDS, 64, plain, 0.005);
    SapContacts *contacts = kernel_batch_add_contacts(&k, 100 * seed, plain);
    for (int w = 0; w < WORLDS; w++) {
        SapPack pack = sap_pack_at(w, WORLDS, 1);
        Context ctx = context_of(&k, &pack);
        solve_world(&ctx);
        cr_assert_eq(k.status[w] & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0, "model %d, world %d: status %#x",
                     (int)seed, w, (unsigned)k.status[w]);
        check(&ctx, WORLDS * seed + (uint64_t)w, tally);
    }
    kernel_batch_destroy(&k);
    sap_contacts_destroy(contacts);
    sap_model_destroy(model);
}

static int num_models(int n) {
    int scaled = (int)(n * work_scale());
    return scaled < 2 ? 2 : scaled;
}

static void check_lines(const Context *ctx, uint64_t seed, Tally *tally) {
    char what[64];
    double x[MAX_DOFS];
    Random random = random_seed(seed);
    snprintf(what, sizeof what, "problem %d", (int)seed);
    memcpy(x, SOLVE(v), (size_t)ctx->args->plan.nv * sizeof *x);
    for (int line = 0; line < 2; line++)
        check_line(ctx, x, &random, tally, what);
}

Test(contact_derivatives, gradient_and_hessian_are_those_of_the_cost_in_every_region_and_beside_every_boundary) {
    static const char *const kind[] = {"contact", "drive", "limit", "joint friction"};
    /* contacts: none - sliding, sliding - stiction, none - frictionless; joint terms: off or inside - on or clamped */
    static const int boundaries[][3] = {{CONTACT, 0, 2}, {CONTACT, 1, 2}, {CONTACT, 0, 3},
                                        {DRIVE, 0, 1},   {LIMIT, 0, 1},   {FRICTION_BOUND, 0, 1}};
    Tally tally = {0};
    int n = num_models(100);
    for (int seed = 0; seed < n; seed++)
        check_model((uint64_t)seed, check_lines, &tally);
    for (int r = 0; r < 4 && n >= 50; r++)
        cr_assert_gt(tally.region[r], 50, "contacts were in region %d only %d times", r, tally.region[r]);
    for (int b = 0; b < 6 && n >= 50; b++)
        for (int s = 1; s <= 2; s++) {
            int own = boundaries[b][s], other = boundaries[b][3 - s];
            int count = tally.boundary[boundaries[b][0]][own][other];
            cr_assert_gt(count, 20, "%s: region %d beside %d was checked only %d times", kind[boundaries[b][0]], own,
                         other, count);
        }
    cr_assert_leq(tally.refused, tally.inside / 20);
}

/* ---- the two patterns ---- */

static void check_patterns(const Context *given, uint64_t seed, Tally *tally) {
    static double H[2][MAX_DOFS][MAX_DOFS];
    int nv = given->args->plan.nv;
    bool coupled = false;
    for (int dense = 0; dense < 2; dense++) {
        SapStepArgs args = *given->args;
        Context copy = *given, *ctx = &copy;
        args.newton.dense = dense;
        copy.args = &args;
        solve_world(ctx);
        matrix(ctx, H[dense]);
        for (int c = 0; c < ctx->num_slots; c++)
            coupled |= *SLOT_INTS(couples, c) != 0;
    }
    tally->region[coupled]++;
    for (int i = 0; i < nv; i++)
        cr_assert_arr_eq(H[1][i], H[0][i], (size_t)nv * sizeof **H[0], "problem %d: row %d differs", (int)seed, i);
}

Test(contact_derivatives, newtons_matrix_has_the_same_entries_on_the_tree_and_dense) {
    Tally tally = {0};
    int n = num_models(100);
    for (int seed = 0; seed < n; seed++)
        check_model((uint64_t)seed, check_patterns, &tally);
    cr_assert(n < 50 || (tally.region[0] > 10 && tally.region[1] > 10), "%d problems on the tree, %d dense",
              tally.region[0], tally.region[1]);
}
