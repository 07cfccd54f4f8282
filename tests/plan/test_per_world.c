/* Parameters that worlds have of their own: a world with its own values is, bit for bit, a world of a model with those
 * values, and what is written is what the next call uses. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/plan/parameters.h"
#include "support/own_parameters.h"
#include "support/presets.h"
#include "support/work.h"

/* ---- the same bits ---- */

static void check_arrangement(const SapModel *base, const char *preset, int worlds, int first, int lanes, int threads,
                              const World *expected, int contents, int steps) {
    SapOptions o = options_of(preset, lanes, threads);
    SapBatch *batch = create(base, worlds, &o);
    for (int i = 0; i < worlds; i++) {
        write_world(batch, base, ALL, (first + i) % worlds, i);
        set_velocity(batch, base, (first + i) % worlds, i);
    }
    cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
    for (int i = 0; i < contents; i++) {
        World got = read_world(batch, base, (first + i) % worlds);
        cr_assert_eq(memcmp(&got, &expected[i], sizeof got), 0, "%s, %d worlds, lanes %d, threads %d: content %d",
                     preset, worlds, lanes, threads, i);
    }
    sap_batch_destroy(batch);
}

static void check_all_parameters(const char *preset) {
    enum { CONTENTS = 3 };
    int steps = 5 + (int)(55 * work_scale());
    static World expected[CONTENTS];
    SapModel *base = base_model();
    for (int i = 0; i < CONTENTS; i++) {
        expected[i] = run_alone(base, ALL, i, preset, steps);
        cr_assert_eq(expected[i].status & SAP_WORLD_FAILED, 0u);
        cr_assert_gt(expected[i].contacts, 0);
    }
    check_arrangement(base, preset, 3, 0, 1, 1, expected, CONTENTS, steps);
    check_arrangement(base, preset, 3, 1, 4, 2, expected, CONTENTS, steps);
    check_arrangement(base, preset, 5, 3, 8, 1, expected, CONTENTS, steps);
    check_arrangement(base, preset, 19, 7, 8, 2, expected, CONTENTS, steps);
    sap_model_destroy(base);
}

ParameterizedTestParameters(expand, a_world_with_its_own_parameters_has_the_bits_of_a_model_with_them) {
    return preset_params();
}

ParameterizedTest(const int *preset, expand, a_world_with_its_own_parameters_has_the_bits_of_a_model_with_them) {
    check_all_parameters(preset_names[*preset]);
}

Test(expand, each_parameter_alone_is_that_of_a_model_and_matters) {
    SapModel *base = base_model();
    int most = 6 + (int)(24 * work_scale());
    for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++) {
        const char *name = sap_parameter_names()[p];
        options_law = p == SAP_PARAMETER_SHAPE_MATERIAL_DISSIPATION ? SAP_APPROXIMATION_LAGGED : SAP_APPROXIMATION_SAP;
        int steps = options_law == SAP_APPROXIMATION_SAP ? most : 4 * most; /* its contacts act later */
        SapOptions o = options_of("approx64", 4, 1);
        SapBatch *batch = create(base, 5, &o);
        World plain = run_alone(base, 0, 3, "approx64", steps),
              expected = run_alone(base, UINT64_C(1) << p, 3, "approx64", steps);
        write_world(batch, base, UINT64_C(1) << p, 2, 3);
        for (int w = 0; w < 5; w++)
            set_velocity(batch, base, w, 3);
        cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
        World own = read_world(batch, base, 2), other = read_world(batch, base, 1);
        cr_expect_eq(memcmp(&own, &expected, sizeof own), 0, "%s: not as in a model", name);
        cr_expect_eq(memcmp(&other, &plain, sizeof own), 0, "%s: a world that was not written has changed", name);
        cr_expect_neq(memcmp(&own, &plain, sizeof own), 0, "%s: has no effect", name);
        sap_batch_destroy(batch);
    }
    sap_model_destroy(base);
}

/* The quadruped without limits, or with limits of all its joints in [-0.1, 0.1] about where they are. */
static SapModel *model_with_limits(const SapModel *base, double half_width) {
    SapModelArrays a = *sap_model_arrays(base);
    double lower[64], upper[64];
    for (int i = 0; i < a.num_dofs; i++) {
        double q = i < 6 ? 0 : a.joint_q[i + 1];
        lower[i] = q - half_width;
        upper[i] = q + half_width;
    }
    a.joint_limit_lower = lower;
    a.joint_limit_upper = upper;
    return create_model(&a);
}

Test(expand, a_world_may_have_limits_where_the_model_has_none) {
    SapModel *base = base_model(), *without = model_with_limits(base, INFINITY), *with = model_with_limits(base, 0.001);
    SapOptions o = options_of("approx64", 4, 1);
    SapBatch *batch = create(without, 3, &o), *alone = create(with, 1, &o);
    int nv = sap_model_arrays(base)->num_dofs;
    double *lower = expand(batch, SAP_PARAMETER_JOINT_LIMIT_LOWER),
           *upper = expand(batch, SAP_PARAMETER_JOINT_LIMIT_UPPER);
    memcpy(lower + nv, sap_model_arrays(with)->joint_limit_lower, (size_t)nv * sizeof *lower);
    memcpy(upper + nv, sap_model_arrays(with)->joint_limit_upper, (size_t)nv * sizeof *upper);
    cr_assert_eq(sap_batch_step(batch, h, 20), SAP_OK);
    cr_assert_eq(sap_batch_step(alone, h, 20), SAP_OK);
    World own = read_world(batch, without, 1), expected = read_world(alone, with, 0),
          other = read_world(batch, without, 0);
    cr_expect_eq(memcmp(&own, &expected, sizeof own), 0, "not as in a model with these limits");
    cr_expect_neq(memcmp(&own, &other, sizeof own), 0, "limits have no effect");
    sap_batch_destroy(batch);
    sap_batch_destroy(alone);
    sap_model_destroy(base);
    sap_model_destroy(without);
    sap_model_destroy(with);
}

Test(expand, arrays_hold_the_models_values_and_stay_where_they_are) {
    SapModel *base = base_model();
    const SapModelArrays *a = sap_model_arrays(base);
    SapOptions o = options_of("approx32", 0, 1);
    SapBatch *batch = create(base, 9, &o), *plain = create(base, 9, &o);
    size_t before = sap_batch_bytes(batch);
    for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++) {
        SapArray view;
        cr_assert_eq(sap_batch_expand(batch, (SapParameter)p, &view), SAP_OK, "%s", sap_error_message());
        int n = size_of(a, (SapParameter)p);
        int64_t count = 1;
        for (int i = 1; i < view.ndim; i++)
            count *= view.shape[i];
        cr_assert_eq(view.shape[0], 9);
        cr_assert_eq(count, n, "%s", sap_parameter_names()[p]);
        for (int w = 0; w < 9; w++)
            cr_assert_eq(memcmp(expand_row(batch, base, (SapParameter)p, w), values_of(a, (SapParameter)p),
                                (size_t)n * sap_parameter_bytes((SapParameter)p)),
                         0);
        cr_assert_eq(expand(batch, (SapParameter)p), view.data);
    }
    cr_assert_gt(sap_batch_bytes(batch), before);
    cr_assert_eq(sap_batch_step(batch, h, 40), SAP_OK);
    cr_assert_eq(sap_batch_step(plain, h, 40), SAP_OK);
    for (int w = 0; w < 9; w++) {
        World x = read_world(batch, base, w), y = read_world(plain, base, w);
        cr_assert_eq(memcmp(&x, &y, sizeof x), 0, "world %d", w);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(plain);
    sap_model_destroy(base);
}

/* ---- what is written is what the next call uses ---- */

Test(expand, a_write_between_calls_is_noticed_by_the_next_and_so_is_taking_it_back) {
    SapModel *base = base_model();
    SapOptions o = options_of("approx64", 8, 2);
    SapBatch *batch = create(base, 11, &o);
    for (int w = 0; w < 11; w++)
        set_velocity(batch, base, w, w);
    expand(batch, SAP_PARAMETER_BODY_MASS);
    for (int round = 0; round < 6; round++) {
        /* rounds 0, 2, 4: other values; 1, 3, 5: the model's again */
        uint64_t which = round % 2 ? 0 : ALL;
        SapModel *model = varied_model(base, which, round);
        SapBatch *expected = take_over(model, batch, 11, &o);
        for (int w = 0; w < 11 && which; w++)
            write_world(batch, base, ALL, w, round);
        for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS && !which; p++)
            for (int w = 0, n = size_of(sap_model_arrays(base), (SapParameter)p); w < 11; w++)
                memcpy(expand_row(batch, base, (SapParameter)p, w), values_of(sap_model_arrays(base), (SapParameter)p),
                       (size_t)n * sap_parameter_bytes((SapParameter)p));
        cr_assert_eq(sap_batch_step(batch, h, 7), SAP_OK);
        cr_assert_eq(sap_batch_step(expected, h, 7), SAP_OK);
        for (int w = 0; w < 11; w++) {
            World x = read_world(batch, base, w), y = read_world(expected, model, w);
            cr_assert_eq(memcmp(&x, &y, sizeof x), 0, "round %d, world %d", round, w);
        }
        sap_batch_destroy(expected);
        sap_model_destroy(model);
    }
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}

Test(expand, kinematics_and_resets_use_a_worlds_own_centre_of_mass) {
    SapModel *base = base_model(), *model = varied_model(base, UINT64_C(1) << SAP_PARAMETER_BODY_COM, 4);
    SapOptions o = options_of("approx64", 4, 1);
    SapBatch *batch = create(base, 6, &o), *expected = create(model, 6, &o);
    for (int w = 0; w < 6; w++)
        set_velocity(batch, base, w, w), set_velocity(expected, base, w, w);
    for (int w = 0; w < 6; w++)
        write_world(batch, base, UINT64_C(1) << SAP_PARAMETER_BODY_COM, w, 4);
    const uint8_t some[6] = {0, 1, 0, 0, 1, 1};
    World before = read_world(batch, base, 0);
    cr_assert_eq(sap_batch_forward_kinematics(batch, some), SAP_OK);
    cr_assert_eq(sap_batch_forward_kinematics(expected, NULL), SAP_OK);
    for (int w = 0; w < 6; w++) {
        World x = read_world(batch, base, w), y = read_world(expected, model, w);
        cr_assert_eq(memcmp(&x, &y, sizeof x) == 0, some[w], "kinematics of world %d", w);
    }
    World after = read_world(batch, base, 0);
    cr_assert_eq(memcmp(&before, &after, sizeof before), 0, "world 0 was not asked for");
    cr_assert_eq(sap_batch_reset(batch, NULL, 0), SAP_OK);
    cr_assert_eq(sap_batch_reset(expected, NULL, 0), SAP_OK);
    for (int w = 0; w < 6; w++) {
        World x = read_world(batch, base, w), y = read_world(expected, model, w);
        cr_assert_eq(memcmp(&x, &y, sizeof x), 0, "reset of world %d", w);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(expected);
    sap_model_destroy(model);
    sap_model_destroy(base);
}

Test(expand, inspection_and_contacts_without_shapes_use_a_worlds_own_values) {
    SapModel *base = base_model();
    const SapModelArrays *a = sap_model_arrays(base);
    SapOptions o = options_of("approx64", 4, 1);
    SapBatch *batch = create(base, 3, &o);
    SapContacts *contacts = NULL;
    int capacity = sap_batch_contacts(batch)->capacity;
    cr_assert_eq(sap_contacts_create(3, capacity, SAP_F64, &contacts), SAP_OK);
    for (int w = 0; w < 3; w++) { /* the trunk on a static thing, sliding; neither has a shape */
        const double n[3] = {0, 0, 1}, trunk[3] = {0, 0, -0.05};
        size_t at = (size_t)w * (size_t)capacity;
        write_world(batch, base, ALL, w, w);
        contacts->count[w] = 1;
        contacts->body1[at] = 0;
        for (int i = 0; i < 3; i++) {
            ((double *)contacts->point0)[3 * at + (size_t)i] = a->joint_q[i] + trunk[i];
            ((double *)contacts->point1)[3 * at + (size_t)i] = trunk[i];
            ((double *)contacts->normal)[3 * at + (size_t)i] = n[i];
        }
    }
    double energy[3][2], expected_energy[2];
    for (int w = 0; w < 3; w++)
        set_velocity(batch, base, w, 1);
    SapFreeMotion out = {.energy = energy[0]}, expected_out = {.energy = expected_energy};
    cr_assert_eq(sap_free_motion(sap_batch_solver(batch), sap_batch_state(batch), NULL, h, &out), SAP_OK);
    cr_assert_eq(sap_step(sap_batch_solver(batch), sap_batch_state(batch), NULL, contacts, h, sap_batch_state(batch)),
                 SAP_OK);
    for (int w = 0; w < 3; w++) {
        SapModel *model = varied_model(base, ALL, w);
        SapOptions one = options_of("approx64", 1, 1);
        SapBatch *alone = create(model, 1, &one);
        set_velocity(alone, base, 0, 1);
        SapContacts mine = *contacts;
        size_t at = (size_t)w * (size_t)capacity;
        mine.num_worlds = 1;
        mine.count += w;
        mine.shape0 += at, mine.shape1 += at, mine.body0 += at, mine.body1 += at;
        mine.point0 = (double *)mine.point0 + 3 * at, mine.point1 = (double *)mine.point1 + 3 * at;
        mine.normal = (double *)mine.normal + 3 * at;
        SapSolver *solver = sap_batch_solver(alone);
        SapState *state = sap_batch_state(alone);
        cr_assert_eq(sap_free_motion(solver, state, NULL, h, &expected_out), SAP_OK);
        cr_assert_eq(memcmp(energy[w], expected_energy, sizeof expected_energy), 0, "energy of world %d", w);
        cr_assert_eq(sap_step(solver, state, NULL, &mine, h, state), SAP_OK);
        World x = read_world(batch, base, w), y = read_world(alone, model, 0);
        cr_assert_eq(memcmp(x.state, y.state, sizeof x.state), 0, "world %d with a contact without shapes", w);
        cr_assert_eq(x.status, y.status);
        sap_batch_destroy(alone);
        sap_model_destroy(model);
    }
    sap_contacts_destroy(contacts);
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}

/* ---- arguments ---- */

Test(expand, wrong_arguments_are_refused) {
    SapModel *base = base_model();
    SapBatch *batch = create(base, 2, NULL);
    SapArray view;
    cr_assert_eq(sap_batch_expand(NULL, SAP_PARAMETER_BODY_MASS, &view), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, NULL), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_expand(batch, SAP_NUM_PARAMETERS, &view), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "it must be in 0 .. 90"), "%s", sap_error_message());
    SapModelArrays a = *sap_model_arrays(base);
    a.num_shapes = 0;
    SapModel *bare = create_model(&a);
    SapBatch *without = create(bare, 2, NULL);
    cr_assert_eq(sap_batch_expand(without, SAP_PARAMETER_SHAPE_MATERIAL_MU, &view), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "shape_material_mu has no rows"), "%s", sap_error_message());
    sap_batch_destroy(without);
    sap_model_destroy(bare);
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}

Test(expand, names_are_those_of_the_models_arrays) {
    const char *const *names = sap_parameter_names();
    for (int p = 1; p < SAP_NUM_MODEL_PARAMETERS; p++)
        cr_assert_neq(sap_model_field(names[p]), NULL, "%s", names[p]);
    for (int p = SAP_NUM_MODEL_PARAMETERS; p < SAP_NUM_PARAMETERS; p++)
        cr_assert_eq(strncmp(names[p], "mujoco_", 7), 0, "%s", names[p]);
    cr_assert_eq(names[SAP_NUM_PARAMETERS], NULL);
}
