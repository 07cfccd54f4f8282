/* The conditions that define the solution, on random problems, checked by code of its own in long double. */
#include <stdio.h>

#include "support/contact_bench.h"

/* ---- the momentum balance ---- */

/* The contact's impulse by the law, in long double. */
static void law_impulse(const Fixture *b, int slot, double h_, const long double *v, long double *gamma) {
    long double mu = b->report.pair[3 * slot], k = b->report.pair[3 * slot + 1], tau = b->report.pair[3 * slot + 2];
    long double w = b->report.weight[slot], h = h_, pi = acosl(-1), phi = b->report.gap[slot];
    long double R_t = 1e-3L * w, R_n = fmaxl(w / (4 * pi * pi), 1 / (h * k * (h + tau)));
    long double y[3] = {-v[0] / R_t, -v[1] / R_t, (-phi / (h + tau) - v[2]) / R_n};
    long double y_r = sqrtl(y[0] * y[0] + y[1] * y[1] + 1e-14L), mu_hat = mu * R_t / R_n;
    gamma[0] = gamma[1] = gamma[2] = 0;
    if (mu <= 1e-12L) {
        gamma[2] = fmaxl(y[2], 0);
    } else if (y_r <= mu * y[2]) {
        memcpy(gamma, y, sizeof y);
    } else if (y[2] > -mu_hat * y_r) {
        gamma[2] = (y[2] + mu_hat * y_r) / (1 + mu * mu_hat);
        gamma[0] = mu * gamma[2] * y[0] / y_r;
        gamma[1] = mu * gamma[2] * y[1] / y_r;
    }
}

static long double clamp(long double x, long double bound) {
    return x > bound ? bound : x < -bound ? -bound : x;
}

/* The joint terms' impulse on internal dof i of joint j of a world, in long double. q0 is before the step. */
static long double joint_impulse(const Fixture *b, int world, int j, int i, double h_, const double *q0, double v) {
    const SapModelArrays *m = b->w->m;
    int nv = b->w->nv, row = world * nv;
    int first = m->joint_qd_start[j], public_dof = i;
    if (m->joint_type[j] == SAP_JOINT_FREE)
        public_dof = first + (i - first + 3) % 6;
    long double h = h_, pi = acosl(-1), w = 1 / (long double)b->w->out.A[(row + i) * nv + i], total = 0;
    long double near_rigid = 0.01L / (4 * pi * pi) * w;
    long double q = has_coordinates(m, j) ? q0[m->joint_q_start[j] + i - first] : 0;
    long double kp = m->joint_target_ke[public_dof], kd = m->joint_target_kd[public_dof];
    if (m->joint_target_mode[public_dof] && (kp > 0 || kd > 0) && (has_coordinates(m, j) || kp == 0)) {
        long double soften = fminl(1, 1 / (h * (h * kp + kd) * near_rigid));
        long double g = soften * (h * kp + kd);
        long double a = soften * (kp * (m->joint_target_pos[public_dof] - q) + kd * m->joint_target_vel[public_dof]) +
                        m->joint_act[public_dof];
        total += h * clamp(a - g * v, m->joint_effort_limit[public_dof]);
    }
    if (joint_axes(m, j) == 1 && m->joint_limit_ke[i] > 0) {
        long double ke = m->joint_limit_ke[i], dissipation = h + m->joint_limit_kd[i] / ke;
        long double R = fmaxl(near_rigid, 1 / (h * ke * dissipation));
        long double window = 2 * h * fmaxl(fabsl(b->w->out.joint_qd[row + i]), fabsl(b->w->out.v_star[row + i]));
        long double lower = q - m->joint_limit_lower[i], upper = m->joint_limit_upper[i] - q;
        if (lower <= window)
            total += fmaxl((-lower / dissipation - v) / R, 0);
        if (upper <= window)
            total -= fmaxl((-upper / dissipation + v) / R, 0);
    }
    if (m->joint_friction[public_dof] > 0)
        total += clamp(-v / (1e-3L * w), h * m->joint_friction[public_dof]);
    return total;
}

/* j = J' gamma + the joint terms' impulses at the velocity v of a world. */
static void total_impulse(const Fixture *b, int world, double h, const double *q0, const double *v, long double *j) {
    const SapModelArrays *m = b->w->m;
    int nv = b->w->nv;
    for (int k = 0; k < m->num_joints; k++)
        for (int i = m->joint_qd_start[k]; i < m->joint_qd_start[k + 1]; i++)
            j[i] = joint_impulse(b, world, k, i, h, q0, v[i]);
    for (int c = 0; c < b->c->count[world]; c++) {
        int slot = world * SLOTS + c;
        const double *J = b->report.jacobian + 3 * slot * nv;
        long double v_c[3] = {0}, gamma[3];
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < nv; i++)
                v_c[axis] += (long double)J[axis * nv + i] * v[i];
        law_impulse(b, slot, h, v_c, gamma);
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < nv; i++)
                j[i] += J[axis * nv + i] * gamma[axis];
    }
}

/* |s (A (v - v*) - j)| / max(|s A v|, |s j|) of a world, s = 1/sqrt(A_ii). */
static double optimality_residual(const Fixture *b, int world, double h, const double *q0) {
    int nv = b->w->nv;
    const double *A = b->w->out.A + world * nv * nv, *v_star = b->w->out.v_star + world * nv;
    double v[PARTS_DOFS];
    long double j[PARTS_DOFS], residual = 0, scale_p = 0, scale_j = 0;
    internal_velocity(b, world, v);
    total_impulse(b, world, h, q0, v, j);
    for (int i = 0; i < nv; i++) {
        long double r = 0, p = 0, s = 1 / sqrtl(A[i * nv + i]);
        for (int k = 0; k < nv; k++) {
            r += A[i * nv + k] * ((long double)v[k] - v_star[k]);
            p += (long double)A[i * nv + k] * v[k];
        }
        residual += s * s * (r - j[i]) * (r - j[i]);
        scale_p += s * s * p * p;
        scale_j += s * s * j[i] * j[i];
    }
    return (double)sqrtl(residual / fmaxl(scale_p, scale_j));
}

Test(contact_problem, the_solution_balances_momentum) {
    const double h = 0.005;
    int seen[4] = {0}, n = cases(400);
    double terms[3] = {0}; /* largest impulses of drives, limits, friction */
    for (uint64_t seed = 0; seed < (uint64_t)n; seed++) {
        SapOptions o = tight_options(seed);
        Fixture b = random_bench(seed, 1, 1, &o, h, true);
        double q0[PARTS_COORDS];
        memcpy(q0, b.w->q, (size_t)b.w->nq * sizeof *q0);
        bench_step(&b, h);
        double residual = optimality_residual(&b, 0, h, q0);
        cr_assert_leq(residual, 1.1e-6, "the momentum of problem %d is off by %g", (int)seed, residual);
        cr_assert_leq(b.world.residual[0], 1e-6);
        for (int c = 0; c < b.c->count[0]; c++)
            seen[b.report.region[c]]++;
        for (int i = 0; i < b.w->nv; i++) {
            terms[0] = fmax(terms[0], fabs(b.report.drive[i]));
            terms[1] = fmax(terms[1], fabs(b.report.limit[i]));
            terms[2] = fmax(terms[2], fabs(b.report.friction[i]));
        }
        bench_destroy(&b);
    }
    for (int r = 0; r < 4 && n >= 40; r++)
        cr_assert_gt(seen[r], 0, "no contact was in region %d", r);
    for (int k = 0; k < 3 && n >= 40; k++)
        cr_assert_gt(terms[k], 0, "no joint had a term of kind %d", k);
}

/* J v0 against the velocities of the bodies' points. */
Test(contact_problem, contact_velocities_are_those_of_the_bodies) {
    const double h = 0.005;
    for (uint64_t seed = 0; seed < (uint64_t)cases(100); seed++) {
        SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
        Fixture b = random_bench(seed, 1, 1, &o, h, false);
        bench_step(&b, h);
        for (int c = 0; c < b.c->count[0]; c++) {
            const double *C = b.report.frame + 9 * c, *J = b.report.jacobian + 3 * c * b.w->nv;
            const int32_t body[2] = {b.c->body0[c], b.c->body1[c]};
            double u[3] = {0};
            for (int side = 0; side < 2; side++) {
                double X[7], r[3], s[3], margin = ((double *)(side ? b.c->margin1 : b.c->margin0))[c];
                if (body[side] < 0)
                    continue;
                const double *V = b.w->out.body_velocity + 6 * body[side];
                body_pose(&b, 0, body[side], X);
                rotate(X + 3, vector3(side ? b.c->point1 : b.c->point0, c), r);
                for (int i = 0; i < 3; i++)
                    r[i] += (side ? -margin : margin) * C[6 + i];
                cross(V, r, s);
                for (int i = 0; i < 3; i++)
                    u[i] += (side ? 1 : -1) * (V[3 + i] + s[i]);
            }
            for (int axis = 0; axis < 3; axis++) {
                double expected = 0, v_c = 0;
                for (int i = 0; i < 3; i++)
                    expected += C[3 * axis + i] * u[i];
                for (int i = 0; i < b.w->nv; i++)
                    v_c += J[axis * b.w->nv + i] * b.w->out.joint_qd[i];
                check_near(v_c, expected, 1e-12 * 20, "a contact velocity");
            }
        }
        bench_destroy(&b);
    }
}

/* ---- one minimum ---- */

enum { PROBLEMS = 50, GUESSES = 10 };

/* All copies of problem p at the same velocity, which fulfils the optimality condition. */
static void check_one_minimum(const Fixture *b, int p, double h, const double *q0, const char *what) {
    int nv = b->w->nv, first = p * GUESSES;
    const double *v = b->w->v + first * nv;
    double scale = 1;
    for (int i = 0; i < nv; i++)
        scale = fmax(scale, fabs(v[i]));
    for (int k = 0; k < GUESSES; k++) {
        for (int i = 0; i < nv; i++)
            cr_assert(fabs(v[k * nv + i] - v[i]) <= 1e-8 * scale, "%s: guess %d leads to v[%d] = %.12g, not %.12g",
                      what, k, i, v[k * nv + i], v[i]);
        double residual = optimality_residual(b, first + k, h, q0 + (first + k) * b->w->nq);
        cr_assert_leq(residual, 1e-10, "%s: the momentum of guess %d is off by %g", what, k, residual);
    }
}

/* PROBLEMS problems of one model, from GUESSES guesses each. */
static void check_guesses(uint64_t seed) {
    const double h = 0.005;
    SapOptions o = tight_options(seed);
    o.optimality_rel_tol = 1e-11;
    Fixture b = random_bench(1000 + seed, PROBLEMS, GUESSES, &o, h, true);
    Random random = random_seed(seed);
    double *guess = calloc((size_t)(b.w->n * b.w->nv), sizeof *guess), *q0;
    random_numbers(&random, 3, guess, b.w->n * b.w->nv);
    b.w->control->guess = guess;
    size_t q_bytes = (size_t)(b.w->n * b.w->nq) * sizeof *q0;
    q0 = malloc(q_bytes);
    memcpy(q0, b.w->q, q_bytes);
    bench_step(&b, h);
    for (int p = 0; p < PROBLEMS; p++) {
        char what[64];
        snprintf(what, sizeof what, "model %d, problem %d", (int)seed, p);
        check_one_minimum(&b, p, h, q0, what);
    }
    free(q0);
    free(guess);
    bench_destroy(&b);
}

Test(contact_problem, ten_guesses_of_ten_thousand_problems_lead_to_the_same_solution) {
    for (uint64_t seed = 0; seed < (uint64_t)cases(10000 / PROBLEMS); seed++)
        check_guesses(seed);
}

Test(contact_problem, the_solution_as_guess_takes_no_iteration) {
    const double h = 0.005;
    for (uint64_t seed = 0; seed < (uint64_t)cases(50); seed++) {
        SapOptions o = tight_options(seed);
        o.optimality_rel_tol = 1e-9; /* a solution to more digits than the second solve asks for */
        double guess[PARTS_DOFS];
        for (int pass = 0; pass < 2; pass++) {
            Fixture b = random_bench(seed, 1, 1, &o, h, true);
            if (pass)
                b.w->control->guess = guess;
            bench_step(&b, h);
            internal_velocity(&b, 0, guess);
            if (pass)
                cr_assert(b.world.iterations[0] == 0 && b.world.line_iterations[0] == 0,
                          "problem %d took %d more iterations", (int)seed, b.world.iterations[0]);
            o.optimality_rel_tol = 1e-6;
            bench_destroy(&b);
        }
    }
}
