/* Free motion: closed forms of small systems, and independence of trees. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/accuracy.h"
#include "support/model_parts.h"
#include "support/random_model.h"
#include "support/worlds.h"

/* ---- free bodies ---- */

/* One free body, spinning. */
static void spinning_body(ModelParts *parts) {
    parts_init(parts);
    parts_add(parts, -1, SAP_JOINT_FREE, 0, 0);
    parts->mass[0] = 2.5;
    parts_set_inertia(parts, 0, 0.1, 0.2, 0.25);
    static const double qd[6] = {1, -2, 0.5, 0.3, 2, -1}, q[7] = {0.1, 0.2, 3, 0.5, 0.5, 0.5, 0.5};
    memcpy(parts->qd, qd, sizeof qd);
    memcpy(parts->q, q, sizeof q);
}

Test(free_motion, a_falling_body_with_its_origin_at_the_centre_of_mass_gains_h_g_however_it_spins) {
    const double h = 0.01;
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        ModelParts parts;
        spinning_body(&parts);
        Worlds *w = worlds_of(&parts, &accuracies[a]);
        for (int step = 1; step <= 5; step++) {
            worlds_step(w, h, 1);
            all_near(w, w->v, 6, 0, 1, accuracies[a].tolerance, "vx");
            all_near(w, w->v, 6, 1, -2, accuracies[a].tolerance, "vy");
            all_near(w, w->v, 6, 2, 0.5 - 9.81 * h * step, accuracies[a].tolerance, "vz");
        }
        worlds_destroy(w);
    }
}

Test(free_motion, a_falling_body_with_offset_centre_of_mass_and_no_spin_gains_h_g) {
    const double h = 0.01;
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        ModelParts parts;
        spinning_body(&parts);
        parts_set_com(&parts, 0, 0.2, -0.1, 0.3);
        memset(parts.qd + 3, 0, 3 * sizeof *parts.qd);
        Worlds *w = worlds_of(&parts, &accuracies[a]);
        worlds_step(w, h, 1);
        const double expected[6] = {1, -2, 0.5 - 9.81 * h, 0, 0, 0};
        for (int i = 0; i < 6; i++)
            all_near(w, w->v, 6, i, expected[i], 10 * accuracies[a].tolerance, "velocity");
        worlds_destroy(w);
    }
}

/* How far the velocity of the centre of mass of a spinning body with offset centre is from v + h g after one step. */
static double offset_body_defect(double h) {
    ModelParts parts;
    spinning_body(&parts);
    parts_set_com(&parts, 0, 0.2, -0.1, 0.3);
    Worlds *w = worlds_of(&parts, &accuracies[0]);
    worlds_step(w, h, 1);
    const double expected[3] = {1, -2, 0.5 - 9.81 * h};
    double defect = relative_error(w->v, expected, 3);
    worlds_destroy(w);
    return defect;
}

/* The explicit update is done at the body's origin, so the centre of mass is off by the curvature of its path, h^2. */
Test(free_motion, a_spinning_body_with_offset_centre_of_mass_gains_h_g_to_second_order) {
    double coarse = offset_body_defect(1e-3), fine = offset_body_defect(5e-4);
    cr_expect(coarse < 1e-5, "%.3g", coarse);
    cr_expect(fabs(coarse / fine - 4) < 0.05, "halving h divides the defect by %.4f", coarse / fine);
}

Test(free_motion, forces_on_a_free_body_accelerate_its_centre_of_mass_by_F_over_m) {
    const double h = 0.01, q[4] = {0.1, -0.7, 0.5, 0.5}, force[3] = {3, -4, 5};
    for (int a = 0; a < NUM_ACCURACIES; a++)
        for (int as_body_f = 0; as_body_f < 2; as_body_f++) {
            ModelParts parts;
            spinning_body(&parts);
            parts_set_com(&parts, 0, 0.2, -0.1, 0.3);
            memcpy(parts.q + 3, q, sizeof q);
            memset(parts.qd, 0, 6 * sizeof *parts.qd);
            memset(parts.gravity, 0, sizeof parts.gravity);
            Worlds *w = worlds_of(&parts, &accuracies[a]);
            for (int world = 0; world < w->n; world++)
                memcpy((as_body_f ? w->body_f : w->joint_f) + 6 * world, force, sizeof force);
            worlds_step(w, h, 1);
            for (int i = 0; i < 3; i++) {
                all_near(w, w->v, 6, i, h * force[i] / 2.5, 10 * accuracies[a].tolerance, "v");
                all_near(w, w->v, 6, 3 + i, 0, 10 * accuracies[a].tolerance, "omega");
            }
            worlds_destroy(w);
        }
}

Test(free_motion, a_torque_on_a_free_body_turns_it_by_I_inverse_torque_about_its_centre_of_mass) {
    const double h = 0.01, torque[3] = {0.3, -0.4, 0.5}, inertia[3] = {0.1, 0.2, 0.25};
    for (int a = 0; a < NUM_ACCURACIES; a++)
        for (int as_body_f = 0; as_body_f < 2; as_body_f++) {
            ModelParts parts;
            spinning_body(&parts);
            parts_set_com(&parts, 0, 0.2, -0.1, 0.3);
            memset(parts.q + 3, 0, 3 * sizeof *parts.q);
            parts.q[6] = 1;
            memset(parts.qd, 0, 6 * sizeof *parts.qd);
            memset(parts.gravity, 0, sizeof parts.gravity);
            Worlds *w = worlds_of(&parts, &accuracies[a]);
            for (int world = 0; world < w->n; world++)
                memcpy((as_body_f ? w->body_f : w->joint_f) + 6 * world + 3, torque, sizeof torque);
            worlds_step(w, h, 1);
            for (int i = 0; i < 3; i++) {
                all_near(w, w->v, 6, 3 + i, h * torque[i] / inertia[i], 10 * accuracies[a].tolerance, "omega");
                /* the centre stands still, but for h^2: the origin's velocity is turned with the body */
                all_near(w, w->v, 6, i, 0, 1e-3, "v");
            }
            worlds_destroy(w);
        }
}

/* [omega ; v_origin] and A of one free body: numbers of the reference implementation. */
Test(free_motion, one_free_body_has_the_golden_numbers) {
    static const double v_star[6] = {0.31737448125,      -0.2062328125,      0.4952427979166666,
                                     0.4041040090169271, 0.1081131048177083, -0.6786716194335937};
    static const double diagonal[6] = {0.24436640625, 0.20890625, 0.30551640625, 2, 2, 2};
    static const double q[7] = {0.125, 0.25, 0.5, 0.1, 0.3, 0.3, 0.9};
    const double omega[3] = {0.3, -0.2, 0.5}, v_O[3] = {0.4, 0.1, -0.6}, tau_O[3] = {0.5, -0.25, 0.125},
                 f[3] = {1, 2, -0.5}, com[3] = {1.0 / 64, -1.0 / 32, 1.0 / 32};
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts.mass[0] = 2;
    parts.gravity[2] = -9.8125;
    parts_set_inertia(&parts, 0, 1.0 / 8, 1.0 / 4, 3.0 / 8);
    parts_set_com(&parts, 0, com[0], com[1], com[2]);
    memcpy(parts.q, q, sizeof q); /* of unit length */
    /* r = R com; public: [v_O + omega x r ; omega] and [f ; tau_O - r x f] */
    double x = q[3], y = q[4], z = q[5], s = q[6];
    const double R[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)},
                            {2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)},
                            {2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)}};
    double r[3] = {0};
    for (int i = 0; i < 9; i++)
        r[i / 3] += R[i / 3][i % 3] * com[i % 3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        parts.qd[i] = v_O[i] + omega[j] * r[k] - omega[k] * r[j];
        parts.qd[3 + i] = omega[i];
        parts.f[i] = f[i];
        parts.f[3 + i] = tau_O[i] - (r[j] * f[k] - r[k] * f[j]);
    }
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        Worlds *w = worlds_of(&parts, &accuracies[a]);
        worlds_free_motion(w, 1.0 / 128);
        for (int i = 0; i < 6; i++) {
            all_near(w, w->out.v_star, 6, i, v_star[i], 10 * accuracies[a].tolerance, "v*");
            all_near(w, w->out.A, 36, 7 * i, diagonal[i], 10 * accuracies[a].tolerance, "A");
        }
        worlds_destroy(w);
    }
}

Test(free_motion, a_body_spinning_about_a_principal_axis_without_gravity_keeps_its_velocity) {
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        ModelParts parts;
        spinning_body(&parts);
        memset(parts.gravity, 0, sizeof parts.gravity);
        static const double omega[3] = {0, 3, 0}, upright[4] = {0, 0, 0, 1};
        memcpy(parts.qd + 3, omega, sizeof omega);
        memcpy(parts.q + 3, upright, sizeof upright);
        Worlds *w = worlds_of(&parts, &accuracies[a]);
        worlds_step(w, 0.01, 100);
        for (int i = 0; i < 6; i++)
            all_near(w, w->v, 6, i, parts.qd[i], 10 * accuracies[a].tolerance, "velocity");
        worlds_destroy(w);
    }
}

/* ---- one dof ---- */

Test(free_motion, a_pendulum_accelerates_by_gravity_over_its_inertia) {
    const double h = 0.01, m = 1.5, length = 0.7, I = 0.2, armature = 0.05;
    for (int a = 0; a < NUM_ACCURACIES; a++)
        for (int by_X_c = 0; by_X_c < 2; by_X_c++) { /* the centre of mass away from the axis in either of two ways */
            ModelParts parts;
            parts_init(&parts);
            parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 0);
            parts_set_axis(&parts, 0, 0, 1, 0);
            parts.mass[0] = m;
            parts_set_inertia(&parts, 0, 0.15, I, 0.15);
            if (by_X_c)
                parts.X_c[0][2] = length; /* M above the body's origin */
            else
                parts_set_com(&parts, 0, 0, 0, -length);
            parts.armature[0] = armature;
            parts.qd[0] = 0.4;
            Worlds *w = worlds_of(&parts, &accuracies[a]);
            for (int world = 0; world < w->n; world++)
                w->q[world] = 0.3 * world - 1;
            worlds_free_motion(w, h);
            for (int world = 0; world < w->n; world++) {
                double expected = 0.4 - h * m * 9.81 * length * sin(w->q[world]) / (I + m * length * length + armature);
                cr_expect(fabs(w->out.v_star[world] - expected) < accuracies[a].tolerance, "angle %g: %.17g, not %.17g",
                          w->q[world], w->out.v_star[world], expected);
            }
            worlds_destroy(w);
        }
}

Test(free_motion, damping_is_implicit_v_over_one_plus_h_d_over_m) {
    const double h = 0.01, m = 1.5, armature = 0.25, v = 0.8;
    const double dampings[] = {0, 0.5, 20, 1e4, 1e9}; /* explicit damping would diverge from 350 on */
    for (int a = 0; a < NUM_ACCURACIES; a++)
        for (int d = 0; d < 5; d++) {
            ModelParts parts;
            slider(&parts);
            parts.mass[0] = m;
            parts.armature[0] = armature;
            parts.damping[0] = dampings[d];
            parts.qd[0] = v;
            Worlds *w = worlds_of(&parts, &accuracies[a]);
            double expected = v / (1 + h * dampings[d] / (m + armature));
            worlds_step(w, h, 1);
            all_near(w, w->v, 1, 0, expected, accuracies[a].tolerance, "v");
            worlds_destroy(w);
        }
}

/* The numbers of a slider of the reference implementation. */
Test(free_motion, armature_adds_to_the_mass_of_a_slider) {
    ModelParts parts;
    slider(&parts);
    parts.armature[0] = 0.25;
    parts.qd[0] = 0.25;
    parts.f[0] = 0.125;
    parts.q[0] = 0.0615234375;
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        Worlds *w = worlds_of(&parts, &accuracies[a]);
        worlds_free_motion(w, 1.0 / 128);
        all_near(w, w->out.v_star, 1, 0, 0.25078125, accuracies[a].tolerance, "v*");
        all_near(w, w->out.A, 1, 0, 1.25, accuracies[a].tolerance, "A");
        worlds_destroy(w);
    }
}

/* A free joint's armature and damping are given linear first, as its dofs are; A has them angular first. */
Test(free_motion, armature_and_damping_of_a_free_joint_act_on_the_dofs_they_are_given_for) {
    const double h = 0.01;
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    for (int i = 0; i < 6; i++) {
        parts.armature[i] = 1 + i;
        parts.damping[i] = 10 * (1 + i);
    }
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        Worlds *w = worlds_of(&parts, &accuracies[a]);
        worlds_free_motion(w, h);
        for (int i = 0; i < 6; i++) {
            int given = (i + 3) % 6;
            double inertia = i < 3 ? 0.1 : 1;
            all_near(w, w->out.A, 36, 7 * i, inertia + 1 + given + h * 10 * (1 + given), accuracies[a].tolerance, "A");
        }
        worlds_destroy(w);
    }
}

/* ---- trees ---- */

Test(free_motion, v_star_solves_A_times_its_change_equals_h_tau) {
    const Accuracy accuracy[] = {{SAP_FP64, 1e-12}, {SAP_FP32, 1e-4}};
    const double h = 0.01;
    for (int a = 0; a < 2; a++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            SapOptions options = worlds_options(accuracy[a].precision);
            Worlds *w = worlds_create(random_forest(seed, 12), WORLDS, &options);
            worlds_randomise(w, seed);
            worlds_free_motion(w, h);
            double *left = calloc((size_t)w->nv, sizeof *left), *right = calloc((size_t)w->nv, sizeof *right);
            for (int world = 0; world < w->n; world++) {
                int at = world * w->nv;
                for (int i = 0; i < w->nv; i++) {
                    right[i] = h * w->out.tau[at + i];
                    left[i] = 0;
                    for (int j = 0; j < w->nv; j++)
                        left[i] += w->out.A[(at + i) * w->nv + j] * (w->out.v_star[at + j] - w->out.joint_qd[at + j]);
                }
                double error = relative_error(left, right, w->nv);
                cr_expect(error < accuracy[a].tolerance, "seed %d, world %d: %.3g", (int)seed, world, error);
            }
            free(left);
            free(right);
            worlds_destroy(w);
        }
}

/* A random forest of COMPENSATED links whose bodies have these compensations, or none. */
enum { COMPENSATED = 12 };
static Worlds *compensated_worlds(uint64_t seed, const double *gravcomp, SapPrecision precision) {
    SapModel *forest = random_forest(seed, COMPENSATED), *model = NULL;
    SapModelArrays a = *sap_model_arrays(forest);
    a.body_gravcomp = gravcomp;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(forest);
    SapOptions options = worlds_options(precision);
    Worlds *w = worlds_create(model, WORLDS, &options);
    worlds_randomise(w, seed);
    return w;
}

Test(free_motion, gravity_compensation_is_a_force_against_gravity_at_the_centre_of_mass) {
    const Accuracy accuracy[] = {{SAP_FP64, 1e-13}, {SAP_FP32, 1e-5}};
    for (int a = 0; a < 2; a++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            Random random = random_seed(seed);
            double gravcomp[COMPENSATED];
            random_numbers(&random, 2, gravcomp, COMPENSATED);
            Worlds *w = compensated_worlds(seed, gravcomp, accuracy[a].precision),
                   *pushed = compensated_worlds(seed, NULL, accuracy[a].precision);
            for (int i = 0; i < 3 * pushed->n * pushed->nb; i++) {
                int b = i / 3 % pushed->nb;
                pushed->body_f[6 * (i / 3) + i % 3] -=
                    gravcomp[b] * pushed->m->body_mass[b] * pushed->m->gravity[i % 3];
            }
            worlds_free_motion(w, 0.01);
            worlds_free_motion(pushed, 0.01);
            double error = relative_error(w->out.tau, pushed->out.tau, w->n * w->nv);
            cr_expect(error < accuracy[a].tolerance, "seed %d: %.3g", (int)seed, error);
            worlds_destroy(w);
            worlds_destroy(pushed);
        }
}

Test(free_motion, a_chain_of_fixed_joints_is_one_frame) {
    /* world - fixed - fixed - fixed - revolute, and the same hinge placed by one X_p */
    ModelParts chain, hinge;
    parts_init(&chain);
    for (int i = 0; i < 3; i++) {
        parts_add(&chain, i - 1, SAP_JOINT_FIXED, 0, 0);
        chain.X_p[i][0] = 0.5; /* forward, then a quarter turn about z */
        chain.X_p[i][5] = chain.X_p[i][6] = sqrt(0.5);
    }
    parts_add(&chain, 2, SAP_JOINT_REVOLUTE, 0, 0);
    parts_init(&hinge);
    parts_add(&hinge, -1, SAP_JOINT_REVOLUTE, 0, 0);
    /* (0.5, 0), (0.5, 0.5), (0, 0.5), turned by 270 degrees */
    hinge.X_p[0][1] = 0.5;
    hinge.X_p[0][5] = sqrt(0.5);
    hinge.X_p[0][6] = -sqrt(0.5);
    ModelParts *both[2] = {&chain, &hinge};
    for (int i = 0; i < 2; i++) {
        int l = both[i]->nl - 1;
        parts_set_axis(both[i], 0, 0.6, 0, 0.8);
        parts_set_com(both[i], l, 0.1, 0.2, 0.3);
        both[i]->mass[l] = 2;
        both[i]->q[0] = 0.7;
        both[i]->qd[0] = -1.3;
    }
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        Worlds *w = worlds_of(&chain, &accuracies[a]), *v = worlds_of(&hinge, &accuracies[a]);
        worlds_free_motion(w, 0.01);
        worlds_free_motion(v, 0.01);
        all_near(w, w->out.A, 1, 0, v->out.A[0], 10 * accuracies[a].tolerance, "A");
        all_near(w, w->out.v_star, 1, 0, v->out.v_star[0], 10 * accuracies[a].tolerance, "v*");
        for (int i = 0; i < 3; i++)
            all_near(w, w->out.body_pose, 28, 21 + i, v->out.body_pose[i], 10 * accuracies[a].tolerance, "position");
        for (int i = 0; i < 6; i++) {
            all_near(w, w->out.body_velocity, 24, 18 + i, v->out.body_velocity[i], 10 * accuracies[a].tolerance,
                     "velocity");
            all_near(w, w->out.body_velocity, 24, 12 + i, 0, 0, "velocity of a fixed body");
        }
        worlds_destroy(w);
        worlds_destroy(v);
    }
}

/* The joint of the world that a joint hangs on. */
static int root_of(const SapModelArrays *m, int joint) {
    while (m->joint_parent[joint] >= 0) {
        int parent = m->joint_parent[joint];
        for (joint = 0; m->joint_child[joint] != parent; joint++)
            ;
    }
    return joint;
}

Test(free_motion, trees_of_one_world_do_not_couple) {
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        SapOptions options = worlds_options(accuracies[a].precision);
        Worlds *w = worlds_create(random_forest(5, 20), WORLDS, &options);
        worlds_randomise(w, 6);
        worlds_free_motion(w, 0.01);
        int num_zero = 0;
        for (int i = 0; i < w->m->num_joints; i++)
            for (int j = 0; j < w->m->num_joints; j++)
                for (int r = w->m->joint_qd_start[i]; r < w->m->joint_qd_start[i + 1]; r++)
                    for (int c = w->m->joint_qd_start[j]; c < w->m->joint_qd_start[j + 1]; c++)
                        if (root_of(w->m, i) != root_of(w->m, j)) {
                            all_near(w, w->out.A, w->nv * w->nv, r * w->nv + c, 0, 0, "A");
                            num_zero++;
                        }
        cr_assert(num_zero > 0, "the model has one tree only");
        worlds_destroy(w);
    }
}

Test(free_motion, a_tree_moves_the_same_bits_alone_and_beside_another) {
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        ModelParts alone, beside;
        parts_init(&alone);
        parts_add(&alone, -1, SAP_JOINT_FREE, 0, 0);
        parts_add(&alone, 0, SAP_JOINT_REVOLUTE, 0, 0);
        parts_set_com(&alone, 1, 0.1, 0.2, 0.3);
        for (int i = 0; i < alone.nv; i++)
            alone.qd[i] = 0.1 * (i + 1);
        beside = alone;
        parts_add(&beside, -1, SAP_JOINT_BALL, 0, 0);
        parts_set_com(&beside, 2, 0.3, 0.1, 0);
        beside.qd[8] = 1.5;
        Worlds *w = worlds_of(&alone, &accuracies[a]), *v = worlds_of(&beside, &accuracies[a]);
        worlds_step(w, 0.01, 20);
        worlds_step(v, 0.01, 20);
        for (int world = 0; world < WORLDS; world++) {
            cr_expect_arr_eq(w->q + world * w->nq, v->q + world * v->nq, (size_t)w->nq * sizeof(double));
            cr_expect_arr_eq(w->v + world * w->nv, v->v + world * v->nv, (size_t)w->nv * sizeof(double));
        }
        worlds_destroy(w);
        worlds_destroy(v);
    }
}
