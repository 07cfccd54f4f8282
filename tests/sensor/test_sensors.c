/* Sensors of a batch (sapwood/sensors.h): sites on a pendulum and in a fall against closed forms, contact sensors
 * against weight and time of fall, torques and accelerations of dofs; what does not change the state, and the same bits
 * for any batch. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/model_parts.h"
#include "support/need.h"
#include "support/shape_model.h"

static const double g = 9.81;

static SapBatch *batch_of(SapModel *model, int worlds, const char *preset) {
    SapOptions options;
    SapBatch *batch;
    need(sap_options_preset(preset, &options));
    options.threads = 1;
    need(sap_batch_create_as(model, worlds, &options, SAP_F64, &batch));
    sap_model_destroy(model);
    return batch;
}

static double *reals(SapBatch *batch, SapBatchField field) {
    SapArray view;
    need(sap_batch_array(batch, field, &view));
    cr_assert_eq(view.type, SAP_TYPE_F64);
    return view.data;
}

static int32_t *ints(SapBatch *batch, SapBatchField field) {
    SapArray view;
    need(sap_batch_array(batch, field, &view));
    return view.data;
}

static void expect_vector(const double *got, double x, double y, double z, double tolerance) {
    const double want[3] = {x, y, z};
    for (int k = 0; k < 3; k++)
        cr_assert_float_eq(got[k], want[k], tolerance, "component %d is %.12g, not %.12g", k, got[k], want[k]);
}

/* ---- a pendulum ---- */

static const double arm = 0.5, mass = 2,
                    inertia = 0.03; /* m, kg, kg m^2 about the centre of mass, at the end of the arm */

/* About y; it hangs along -z. Site 0 is at its end, site 1 at the pivot, turned by a quarter about z. */
static SapBatch *pendulum(double angle, double speed) {
    static const int32_t body[2] = {0, 0};
    const double half = sqrt(0.5), pose[2][7] = {{0, 0, -arm, 0, 0, 0, 1}, {0, 0, 0, 0, 0, half, half}};
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 1);
    parts_set_axis(&parts, 0, 0, 1, 0);
    parts_set_com(&parts, 0, 0, 0, -arm);
    parts_set_inertia(&parts, 0, inertia, inertia, inertia);
    parts.mass[0] = mass;
    parts.q[0] = angle;
    parts.qd[0] = speed;
    SapBatch *batch = batch_of(parts_model(&parts), 1, "approx64");
    need(sap_batch_set_sensors(batch,
                               &(SapSensors){.num_sites = 2, .site_body = body, .site_pose = pose[0], .num_touch = 0}));
    return batch;
}

/* theta'' = -m g l sin(theta)/(I + m l^2) */
static double pendulum_acceleration(double angle) {
    return -mass * g * arm * sin(angle) / (inertia + mass * arm * arm);
}

Test(sensors, of_a_pendulum_read_the_closed_form) {
    const double h = 1e-5;
    SapBatch *batch = pendulum(0.7, 1.3);
    double *accelerometer = reals(batch, SAP_BATCH_SITE_ACCELEROMETER), *gyro = reals(batch, SAP_BATCH_SITE_GYRO);
    double *site_q = reals(batch, SAP_BATCH_SITE_Q), *site_qd = reals(batch, SAP_BATCH_SITE_QD);
    double *qacc = reals(batch, SAP_BATCH_QACC), *torque = reals(batch, SAP_BATCH_JOINT_TORQUE);
    for (int call = 0; call < 20; call++) {
        need(sap_batch_step(batch, h, 1));
        SapState *state = sap_batch_state(batch);
        double a = *(double *)state->joint_q, w = *(double *)state->joint_qd, alpha = pendulum_acceleration(a);
        /* the acceleration is the mean over the step: it is off by a step's change, some 10 h */
        cr_assert_float_eq(qacc[0], alpha, 20 * h, "%.12g, not %.12g", qacc[0], alpha);
        expect_vector(accelerometer, -arm * alpha - g * sin(a), 0, arm * w * w + g * cos(a), 50 * h);
        expect_vector(accelerometer + 3, 0, g * sin(a), g * cos(a), 1e-9); /* at the pivot, turned; rounding over h */
        expect_vector(gyro, 0, w, 0, 1e-13);
        expect_vector(gyro + 3, w, 0, 0, 1e-13);
        expect_vector(site_q, -arm * sin(a), 0, -arm * cos(a), 1e-13);
        expect_vector(site_qd, -arm * w * cos(a), 0, arm * w * sin(a), 1e-12);
        expect_vector(site_qd + 3, 0, w, 0, 1e-13);
        cr_assert_eq(torque[0], 0);
    }
    sap_batch_destroy(batch);
}

/* Pose, velocity and acceleration of the start of the last step, whatever the integration does afterwards. */
Test(sensors, have_the_motion_of_bodies_where_the_last_step_began) {
    SapBatch *batch = pendulum(0.7, 1.3);
    double *q = reals(batch, SAP_BATCH_STEP_START), *qd = q + 1, *body = q + 2;
    for (int call = 0; call < 3; call++) {
        SapState *state = sap_batch_state(batch);
        need(sap_batch_step(batch, 0.01, 2));
        double a = *(double *)state->joint_q, w = *(double *)state->joint_qd;
        need(sap_batch_step(batch, 0.01, 1));
        double alpha = pendulum_acceleration(a), s = sin(a), c = cos(a);
        cr_assert(q[0] == a && qd[0] == w);
        expect_vector(body, 0, 0, 0, 1e-13);
        expect_vector(body + 3, 0, sin(a / 2), 0, 1e-13);
        expect_vector(body + 7, -arm * w * c, 0, arm * w * s, 1e-12);
        expect_vector(body + 10, 0, w, 0, 1e-13);
        expect_vector(body + 13, arm * (w * w * s - alpha * c), 0, arm * (w * w * c + alpha * s), 1e-11);
        expect_vector(body + 16, 0, alpha, 0, 1e-11);
    }
    need(sap_batch_reset(batch, NULL, 0));
    cr_assert(q[0] == 0 && body[6] == 0 && body[17] == 0, "there was no step yet");
    sap_batch_destroy(batch);
}

Test(sensors, read_the_mean_acceleration_of_a_call_with_many_steps) {
    SapBatch *batch = pendulum(0.7, 0);
    double *qacc = reals(batch, SAP_BATCH_QACC), before = *(double *)sap_batch_state(batch)->joint_qd;
    need(sap_batch_step(batch, 0.001, 100));
    double after = *(double *)sap_batch_state(batch)->joint_qd;
    cr_assert_float_eq(qacc[0], (after - before) / 0.1, 1e-13);
    sap_batch_destroy(batch);
}

Test(sensors, read_the_torque_that_the_control_applies) {
    SapBatch *batch = pendulum(0.7, 0);
    double *torque = reals(batch, SAP_BATCH_JOINT_TORQUE), *qacc = reals(batch, SAP_BATCH_QACC);
    *(double *)sap_batch_control(batch)->joint_f = mass * g * arm * sin(0.7);
    need(sap_batch_step(batch, 0.001, 1));
    cr_assert_float_eq(torque[0], mass * g * arm * sin(0.7), 1e-13);
    cr_assert_float_eq(qacc[0], 0, 1e-12); /* it holds the arm */
    sap_batch_destroy(batch);
}

/* The drive of a dof that is within its bounds: ke (target - q) - kd v at the end of the step. */
Test(sensors, read_the_torque_that_drives_apply) {
    SapScene *scene = NULL;
    SapBatch *batch = NULL;
    need(sap_scene_load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &scene));
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapOptions options;
    need(sap_options_preset("approx64", &options));
    need(sap_batch_create_as(scene->model, 1, &options, SAP_F64, &batch));
    double *torque = reals(batch, SAP_BATCH_JOINT_TORQUE), most = 0;
    need(sap_batch_step(batch, scene->dt, 100));
    const double *q = sap_batch_state(batch)->joint_q, *v = sap_batch_state(batch)->joint_qd;
    const double *target = sap_batch_control(batch)->joint_target_pos;
    for (int i = 6; i < a->num_dofs; i++) {
        double expected = a->joint_target_ke[i] * (target[i] - q[i + 1]) - a->joint_target_kd[i] * v[i];
        cr_expect_float_eq(torque[i], expected, 1e-3 * (1 + fabs(expected)), "dof %d: %g, not %g", i, torque[i],
                           expected);
        most = fmax(most, fabs(torque[i]));
    }
    cr_expect_gt(most, 1, "the legs carry the body");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(sensors, begin_anew_after_a_reset_and_new_coordinates) {
    SapBatch *batch = pendulum(0, 0);
    double *accelerometer = reals(batch, SAP_BATCH_SITE_ACCELEROMETER), *qacc = reals(batch, SAP_BATCH_QACC);
    expect_vector(accelerometer, 0, 0, g, 1e-13); /* at the request */
    double *q = sap_batch_state(batch)->joint_q, *qd = sap_batch_state(batch)->joint_qd;
    *q = 1;
    *qd = 100;
    need(sap_batch_forward_kinematics(batch, NULL));
    expect_vector(accelerometer, -g * sin(1), 0, g * cos(1), 1e-12);
    need(sap_batch_step(batch, 1e-5, 1));
    cr_assert(fabs(qacc[0]) < 100, "the jump of the velocity is no acceleration: %g", qacc[0]);
    need(sap_batch_reset(batch, NULL, 0));
    expect_vector(accelerometer, 0, 0, g, 1e-13);
    cr_assert_eq(qacc[0], 0);
    sap_batch_destroy(batch);
}

/* ---- boxes on the ground ---- */

static ShapeModel boxes;

/* A box of 1 kg at height z above the ground, and a second one on it or beside it. */
static SapBatch *stack(double z, double second_x, double second_z, int worlds, const char *preset) {
    static const int32_t body[4] = {0, 1, 0, 0}, with[4] = {SAP_TOUCH_ANY, SAP_TOUCH_ANY, SAP_TOUCH_STATIC, 1};
    static const int32_t site[1] = {0};
    shape_model_init(&boxes);
    shape_model_shape(&boxes, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&boxes, shape_model_body(&boxes, 0, 0, z + 0.1), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    shape_model_shape(&boxes, shape_model_body(&boxes, second_x, 0, second_z + 0.1), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    SapBatch *batch = batch_of(shape_model_create(&boxes), worlds, preset);
    need(sap_batch_set_sensors(
        batch,
        &(SapSensors){.num_sites = 1, .site_body = site, .num_touch = 4, .touch_body = body, .touch_with = with}));
    return batch;
}

Test(sensors, of_contact_sum_to_the_weight_of_what_rests) {
    SapBatch *batch = stack(0, 0, 0.2, 2, "approx64");
    double *force = reals(batch, SAP_BATCH_TOUCH_FORCE), *pressure = reals(batch, SAP_BATCH_TOUCH_PRESSURE);
    double *accelerometer = reals(batch, SAP_BATCH_SITE_ACCELEROMETER), *most = reals(batch, SAP_BATCH_TOUCH_MOST);
    double *friction = reals(batch, SAP_BATCH_TOUCH_FRICTION);
    int32_t *found = ints(batch, SAP_BATCH_TOUCH_FOUND);
    need(sap_batch_step(batch, 0.002, 1000));
    need(sap_batch_step(batch, 0.002, 10));
    for (int w = 0; w < 2; w++) {
        const double *f = force + 12 * w, *p = pressure + 4 * w;
        /* at rest to the tolerance of the solve */
        expect_vector(f, 0, 0, g, 1e-4); /* the lower box: two weights from below, one from above */
        expect_vector(f + 3, 0, 0, g, 1e-4);
        expect_vector(f + 6, 0, 0, 2 * g, 1e-4); /* the ground alone */
        expect_vector(f + 9, 0, 0, -g, 1e-4);    /* the upper box alone */
        cr_assert_float_eq(p[0], 3 * g, 1e-4);
        cr_assert_float_eq(p[2], 2 * g, 1e-4);
        cr_assert_float_eq(p[2] + p[3], p[0], 1e-9);
        cr_assert_float_eq(most[4 * w + 2], 2 * g, 1e-4);
        cr_assert(friction[4 * w + 2] < 1e-3);
        cr_assert_eq(found[4 * w + 2] + found[4 * w + 3], found[4 * w]);
        cr_assert(found[4 * w + 1] >= 3);
        expect_vector(accelerometer + 3 * w, 0, 0, g, 1e-3);
    }
    sap_batch_destroy(batch);
}

/* A beam with a foot at each end, on two pads: a sensor per pair of a foot and a pad. */
Test(sensors, of_contact_tell_the_shapes_of_a_body_apart) {
    enum { COUNT = 6 };
    shape_model_init(&boxes);
    int pad[2], foot[2], beam = shape_model_body(&boxes, 0, 0, 0.15);
    for (int side = 0; side < 2; side++) {
        pad[side] = shape_model_shape(&boxes, -1, SAP_SHAPE_BOX, 0.1, 0.1, 0.05);
        foot[side] = shape_model_shape(&boxes, beam, SAP_SHAPE_SPHERE, 0.1, 0, 0);
        boxes.pose[pad[side]][0] = boxes.pose[foot[side]][0] = side ? 0.3 : -0.3;
    }
    SapBatch *batch = batch_of(shape_model_create(&boxes), 1, "approx64");
    const int32_t body[COUNT] = {beam, beam, beam, beam, beam, beam};
    const int32_t own[COUNT] = {-1, foot[0], foot[1], -1, foot[0], foot[0]};
    const int32_t other[COUNT] = {-1, -1, -1, pad[1], pad[0], pad[1]};
    need(sap_batch_set_sensors(
        batch, &(SapSensors){.num_touch = COUNT, .touch_body = body, .touch_shape = own, .touch_with_shape = other}));
    double *force = reals(batch, SAP_BATCH_TOUCH_FORCE);
    int32_t *found = ints(batch, SAP_BATCH_TOUCH_FOUND);
    need(sap_batch_step(batch, 0.002, 1000));
    need(sap_batch_step(batch, 0.002, 10));
    static const int feet[COUNT] = {2, 1, 1, 1, 1, 0}; /* each bears half of the weight of 1 kg */
    for (int i = 0; i < COUNT; i++) {
        expect_vector(force + 3 * i, 0, 0, 0.5 * feet[i] * g, 1e-4);
        cr_assert_eq(found[i], feet[i], "sensor %d", i);
    }
    sap_batch_destroy(batch);
}

/* A beam that slides along x on two feet; a zone at each place that the first foot may have, and at other places. */
Test(sensors, of_contact_with_a_zone_measure_what_is_in_it_where_the_step_began) {
    enum { COUNT = 5 };
    static const int32_t types[COUNT] = {SAP_SHAPE_SPHERE, SAP_SHAPE_BOX, -1, SAP_SHAPE_CYLINDER, SAP_SHAPE_SPHERE};
    static const double sizes[COUNT][3] = {{0.03}, {0.02, 0.02, 0.02}, {0}, {0.01, 0.01}, {0.04}};
    static const double pose[COUNT][7] = {{-0.3, 0, -0.1, 0, 0, 0, 1}, /* around the contact of one foot */
                                          {0.3, 0, -0.1, 0, 0, 0, 1},  /* around the other's */
                                          {0, 0, 0, 0, 0, 0, 1},
                                          {0.3, 0, -0.5, 0.6, 0, 0, 0.8}, /* below it, where its normal leads */
                                          {0.3, 0, 0.05, 0, 0, 0, 1}};    /* above it */
    static const int feet[COUNT] = {1, 1, 2, 1, 0};
    shape_model_init(&boxes);
    int beam = shape_model_body(&boxes, 0, 0, 0.1);
    shape_model_shape(&boxes, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    for (int side = 0; side < 2; side++) {
        int foot = shape_model_shape(&boxes, beam, SAP_SHAPE_SPHERE, 0.1, 0, 0);
        boxes.pose[foot][0] = side ? 0.3 : -0.3;
    }
    static const double smooth[3] = {0, 0, 0};
    boxes.a.shape_material_mu = smooth;
    SapBatch *batch = batch_of(shape_model_create(&boxes), 1, "approx64");
    const int32_t body[COUNT] = {beam, beam, beam, beam, beam};
    need(sap_batch_set_sensors(batch, &(SapSensors){.num_touch = COUNT,
                                                    .touch_body = body,
                                                    .touch_zone = types,
                                                    .touch_zone_size = sizes[0],
                                                    .touch_zone_pose = pose[0]}));
    double *force = reals(batch, SAP_BATCH_TOUCH_FORCE);
    int32_t *found = ints(batch, SAP_BATCH_TOUCH_FOUND);
    need(sap_batch_step(batch, 0.002, 1000));
    *(double *)sap_batch_state(batch)->joint_qd = 25; /* m/s: 5 cm per step, more than the zones are wide */
    for (int call = 0; call < 5; call++) {
        need(sap_batch_step(batch, 0.002, 1 + call));
        for (int i = 0; i < COUNT; i++) {
            expect_vector(force + 3 * i, 0, 0, 0.5 * feet[i] * g, 1e-3);
            cr_assert_eq(found[i], feet[i], "sensor %d", i);
        }
    }
    sap_batch_destroy(batch);
}

Test(sensors, of_contact_time_a_fall_and_a_landing) {
    const double h = 0.001, height = 0.2, fall = sqrt(2 * height / g); /* 0.2019 s */
    SapBatch *batch = stack(height, 5, 0, 1, "approx64");
    double *contact = reals(batch, SAP_BATCH_TOUCH_CONTACT_TIME), *air = reals(batch, SAP_BATCH_TOUCH_AIR_TIME);
    double *last = reals(batch, SAP_BATCH_TOUCH_LAST_AIR_TIME), *most = reals(batch, SAP_BATCH_TOUCH_MOST);
    double *force = reals(batch, SAP_BATCH_TOUCH_FORCE), *accelerometer = reals(batch, SAP_BATCH_SITE_ACCELEROMETER);
    int32_t *first = ints(batch, SAP_BATCH_TOUCH_FIRST), *found = ints(batch, SAP_BATCH_TOUCH_FOUND);
    need(sap_batch_step(batch, h, 150));
    cr_assert_float_eq(air[0], 0.15, 1e-12);
    cr_assert_eq(contact[0], 0);
    cr_assert_eq(found[0] + first[0], 0);
    expect_vector(accelerometer, 0, 0, 0, 1e-9); /* in free fall */
    need(sap_batch_step(batch, h, 100));
    cr_assert_eq(first[0], 1);
    cr_assert_eq(air[0], 0);
    cr_assert_float_eq(last[0], fall, 5 * h, "%g", last[0]);
    cr_assert_float_eq(contact[0] + last[0], 0.25, 1e-9);
    /* the mean force of the landing gives back the momentum: F T = m v + m g (T - t) */
    cr_assert_float_eq(force[2] * 0.1, g * 0.25, 0.02);
    cr_assert(most[0] > 3 * force[2], "%g %g", most[0], force[2]);
    need(sap_batch_step(batch, h, 1)); /* the largest force of this call, not of the landing */
    cr_assert_float_eq(most[0], sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]), 1e-12);
    need(sap_batch_step(batch, h, 10));
    cr_assert_eq(first[0], 0);
    cr_assert_float_eq(last[0], fall, 5 * h);
    sap_batch_destroy(batch);
}

Test(sensors, that_are_turned_on_later_leave_the_readings_of_others) {
    SapBatch *batch = stack(0.2, 5, 0, 1, "approx64");
    double *air = reals(batch, SAP_BATCH_TOUCH_AIR_TIME), *accelerometer = reals(batch, SAP_BATCH_SITE_ACCELEROMETER);
    need(sap_batch_step(batch, 0.001, 50));
    reals(batch, SAP_BATCH_SITE_GYRO);
    reals(batch, SAP_BATCH_QACC);
    reals(batch, SAP_BATCH_JOINT_TORQUE);
    cr_assert_float_eq(air[0], 0.05, 1e-12);
    expect_vector(accelerometer, 0, 0, 0, 1e-9);
    sap_batch_destroy(batch);
}

/* ---- what sensors do not do ---- */

static void compare_states(SapBatch *a, SapBatch *b, int worlds) {
    cr_assert_arr_eq(sap_batch_state(a)->joint_q, sap_batch_state(b)->joint_q, (size_t)worlds * 14 * sizeof(double));
    cr_assert_arr_eq(sap_batch_state(a)->joint_qd, sap_batch_state(b)->joint_qd, (size_t)worlds * 12 * sizeof(double));
}

Test(sensors, do_not_change_states_and_statuses) {
    SapBatch *with = stack(0.01, 0, 0.25, 2, "approx32"), *without = stack(0.01, 0, 0.25, 2, "approx32");
    reals(with, SAP_BATCH_TOUCH_FORCE);
    reals(with, SAP_BATCH_SITE_ACCELEROMETER);
    reals(with, SAP_BATCH_JOINT_TORQUE);
    for (int call = 0; call < 5; call++) {
        need(sap_batch_step(with, 0.002, 20));
        need(sap_batch_step(without, 0.002, 20));
        compare_states(with, without, 2);
        for (int w = 0; w < 2; w++)
            cr_assert_eq(ints(with, SAP_BATCH_STATUS)[w], ints(without, SAP_BATCH_STATUS)[w]);
    }
    /* a failure in one of several steps stays in the status */
    for (int i = 0; i < 2; i++)
        *(double *)sap_batch_control(i ? with : without)->joint_f = NAN;
    need(sap_batch_step(with, 0.002, 3));
    need(sap_batch_step(without, 0.002, 3));
    cr_assert(ints(with, SAP_BATCH_STATUS)[0] & SAP_WORLD_NONFINITE_CONTROL);
    for (int w = 0; w < 2; w++)
        cr_assert_eq(ints(with, SAP_BATCH_STATUS)[w], ints(without, SAP_BATCH_STATUS)[w]);
    compare_states(with, without, 2);
    sap_batch_destroy(with);
    sap_batch_destroy(without);
}

/* ---- rays ---- */

enum { RAY_WORLDS = 3, DOWN = 2, RAYS = DOWN + 1 };

/* Down beside the first box, and along x in the world. */
static const double down_origin[DOWN][3] = {{0.3, 0, 0}, {0, 0.4, 0.2}}, down[DOWN][3] = {{0, 0, -2}, {0, 0, -1}};
static const float along_origin[3] = {-2, 0, 0.1f}, along[3] = {1, 0, 0};

static void declare_rays(SapRays rays[2]) {
    sap_rays_default(&rays[0]);
    rays[0].num_rays = DOWN;
    rays[0].shared = 1;
    rays[0].origin = down_origin;
    rays[0].direction = down;
    rays[0].body = 0;
    rays[0].sees = SAP_RAY_SEES_STATIC;
    sap_rays_default(&rays[1]);
    rays[1].num_rays = 1;
    rays[1].shared = 1;
    rays[1].dtype = SAP_F32;
    rays[1].origin = along_origin;
    rays[1].direction = along;
}

/* Two boxes of 0.1 m above a plane, world w higher by 0.1 w. */
static SapBatch *boxes_with_rays(const SapRays rays[2]) {
    shape_model_init(&boxes);
    shape_model_shape(&boxes, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&boxes, shape_model_body(&boxes, 0, 0, 0.5), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    shape_model_shape(&boxes, shape_model_body(&boxes, 1, 0, 0.1), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    SapBatch *batch = batch_of(shape_model_create(&boxes), RAY_WORLDS, "approx64");
    double *q = sap_batch_state(batch)->joint_q;
    for (int w = 0; w < RAY_WORLDS; w++)
        q[14 * w + 2] += 0.1 * w;
    need(sap_batch_set_sensors(batch, &(SapSensors){.num_ray_sensors = 2, .ray_sensor = rays}));
    need(sap_batch_forward_kinematics(batch, NULL));
    return batch;
}

/* The readings are what calls of sap_batch_raycast return at the same state. */
static void expect_casts(SapBatch *batch, const SapRays rays[2], const char *when) {
    const double *distance = reals(batch, SAP_BATCH_RAY_DISTANCE), *normal = reals(batch, SAP_BATCH_RAY_NORMAL);
    const int32_t *shape = ints(batch, SAP_BATCH_RAY_SHAPE);
    for (int i = 0, first = 0; i < 2; first += rays[i++].num_rays) {
        double cast_distance[RAY_WORLDS * DOWN], cast_normal[RAY_WORLDS * DOWN * 3], origin[DOWN][3], toward[DOWN][3];
        int32_t cast_shape[RAY_WORLDS * DOWN];
        SapRays call = rays[i];
        for (int k = 0; k < 3 * call.num_rays; k++) {
            origin[k / 3][k % 3] = i ? (double)along_origin[k] : down_origin[k / 3][k % 3];
            toward[k / 3][k % 3] = i ? (double)along[k] : down[k / 3][k % 3];
        }
        call.dtype = SAP_F64;
        call.origin = origin;
        call.direction = toward;
        call.distance = cast_distance;
        call.normal = cast_normal;
        call.shape = cast_shape;
        need(sap_batch_raycast(batch, &call));
        for (int w = 0; w < RAY_WORLDS; w++)
            for (int k = 0; k < call.num_rays; k++) {
                int got = w * RAYS + first + k, want = w * call.num_rays + k;
                cr_assert_eq(distance[got], cast_distance[want], "%s: world %d, sensor %d, ray %d", when, w, i, k);
                cr_assert_arr_eq(&normal[3 * got], &cast_normal[3 * want], 3 * sizeof(double), "%s", when);
                cr_assert_eq(shape[got], cast_shape[want], "%s", when);
            }
    }
}

Test(sensors, of_rays_read_what_casts_return_after_steps_and_resets) {
    SapRays rays[2];
    declare_rays(rays);
    SapBatch *batch = boxes_with_rays(rays);
    const double *distance = reals(batch, SAP_BATCH_RAY_DISTANCE);
    for (int w = 0; w < RAY_WORLDS; w++) {
        cr_assert_float_eq(distance[w * RAYS], 0.5 + 0.1 * w, 1e-14, "down to the plane");
        cr_assert_float_eq(distance[w * RAYS + 1], 0.7 + 0.1 * w, 1e-14);
        cr_assert_float_eq(distance[w * RAYS + 2], 2.9, 1e-7, "along x to the second box");
    }
    expect_casts(batch, rays, "at the request");
    need(sap_batch_step(batch, 0.01, 7));
    cr_assert_lt(distance[0], 0.5, "it falls");
    expect_casts(batch, rays, "after a step");
    double before[RAY_WORLDS * RAYS];
    memcpy(before, distance, sizeof before);
    need(sap_batch_reset(batch, (const uint8_t[RAY_WORLDS]){0, 1, 0}, 0));
    cr_assert_arr_eq(distance, before, RAYS * sizeof *before);
    cr_assert_arr_eq(distance + 2 * RAYS, before + 2 * RAYS, RAYS * sizeof *before);
    cr_assert_float_eq(distance[RAYS], 0.5, 1e-14, "the initial state");
    expect_casts(batch, rays, "after a reset");
    sap_batch_state(batch)->body_q = NULL;
    cr_assert_eq(sap_batch_reset(batch, NULL, 0), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "rays need it"), "%s", sap_error_message());
    sap_batch_destroy(batch);
}

Test(sensors, of_rays_do_not_change_states) {
    SapRays rays[2];
    declare_rays(rays);
    SapBatch *batch = boxes_with_rays(rays), *other = boxes_with_rays(rays);
    ints(batch, SAP_BATCH_RAY_SHAPE);
    for (int call = 0; call < 20; call++) {
        need(sap_batch_step(batch, 0.01, 3));
        need(sap_batch_step(other, 0.01, 3));
    }
    cr_assert_arr_eq(sap_batch_state(batch)->joint_q, sap_batch_state(other)->joint_q,
                     14 * RAY_WORLDS * sizeof(double));
    sap_batch_destroy(batch);
    sap_batch_destroy(other);
}

/* ---- arguments ---- */

#define REFUSED(text, ...)                                                                                             \
    do {                                                                                                               \
        cr_assert_eq(sap_batch_set_sensors(batch, &(SapSensors){__VA_ARGS__}), SAP_ERROR_ARGUMENT);                    \
        cr_assert(strstr(sap_error_message(), text), "%s", sap_error_message());                                       \
    } while (0)

Test(sensors, refuse_wrong_declarations_by_name) {
    static const int32_t good[1] = {0}, bad[1] = {7}, low[1] = {-3};
    static const double pose[7] = {0, 0, 0, 0, 0, 0, 2}, nan_pose[7] = {NAN, 0, 0, 0, 0, 0, 1};
    shape_model_init(&boxes);
    shape_model_shape(&boxes, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&boxes, shape_model_body(&boxes, 0, 0, 1), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    SapBatch *batch = batch_of(shape_model_create(&boxes), 1, "approx64");
    cr_assert_eq(sap_batch_set_sensors(NULL, &(SapSensors){.num_sites = 0}), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_set_sensors(batch, NULL), SAP_ERROR_ARGUMENT);
    REFUSED("num_sites is -1", .num_sites = -1);
    REFUSED("site_body is NULL", .num_sites = 1);
    REFUSED("site_body[0] is 7; it must be in -1 .. 0", .num_sites = 1, .site_body = bad);
    REFUSED("the quaternion has length 2", .num_sites = 1, .site_body = good, .site_pose = pose);
    REFUSED("not finite", .num_sites = 1, .site_body = good, .site_pose = nan_pose);
    REFUSED("touch_body[0] is 7", .num_touch = 1, .touch_body = bad);
    REFUSED("touch_with[0] is -3; it must be in -2 .. 0", .num_touch = 1, .touch_body = good, .touch_with = low);
    REFUSED("touch_shape[0] is 7; it must be in -1 .. 1", .num_touch = 1, .touch_body = good, .touch_shape = bad);
    REFUSED("touch_shape[0] is 0, a shape of body -1; it must be one of touch_body[0], 0", .num_touch = 1,
            .touch_body = good, .touch_shape = good);
    REFUSED("touch_with_shape[0] is 0, a shape of body -1; touch_with[0], 0, must allow it", .num_touch = 1,
            .touch_body = good, .touch_with = good, .touch_with_shape = good);
    static const int32_t box[1] = {SAP_SHAPE_BOX}, plane[1] = {SAP_SHAPE_PLANE};
    static const double size[3] = {1, -1, 1};
    REFUSED("touch_zone_size is NULL", .num_touch = 1, .touch_body = good, .touch_zone = box);
    REFUSED("touch_zone[0] is 1; it must be -1 or the type of a sphere", .num_touch = 1, .touch_body = good,
            .touch_zone = plane, .touch_zone_size = size);
    REFUSED("touch_zone_size[0][1] is -1; it must be finite and > 0", .num_touch = 1, .touch_body = good,
            .touch_zone = box, .touch_zone_size = size);
    REFUSED("touch_zone_pose[0]: the quaternion has length 2", .num_touch = 1, .touch_body = good,
            .touch_zone_pose = pose);
    REFUSED("touch_with_shape[0] is -3", .num_touch = 1, .touch_body = good, .touch_with_shape = low);
    SapRays rays[2];
    double distance[RAYS];
    declare_rays(rays);
    REFUSED("num_ray_sensors is 9; it must be in 0 .. 8", .num_ray_sensors = 9, .ray_sensor = rays);
    REFUSED("ray_sensor is NULL", .num_ray_sensors = 1);
    rays[1].body = 5;
    REFUSED("ray_sensor[1]: body is 5; it must be in -1 .. 0", .num_ray_sensors = 2, .ray_sensor = rays);
    rays[0].distance = distance;
    REFUSED("ray_sensor[0]: distance, normal and shape must be NULL", .num_ray_sensors = 1, .ray_sensor = rays);
    need(sap_batch_set_sensors(batch, &(SapSensors){.num_sites = 1, .site_body = good}));
    REFUSED("declared once", .num_sites = 1, .site_body = good);
    sap_batch_destroy(batch);
}

Test(sensors, of_a_batch_without_declarations_are_empty) {
    shape_model_init(&boxes);
    shape_model_shape(&boxes, shape_model_body(&boxes, 0, 0, 1), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    SapBatch *batch = batch_of(shape_model_create(&boxes), 1, "approx64");
    SapArray view;
    need(sap_batch_array(batch, SAP_BATCH_SITE_Q, &view));
    cr_assert_eq(view.shape[1], 0);
    need(sap_batch_array(batch, SAP_BATCH_TOUCH_FORCE, &view));
    cr_assert_eq(view.shape[1], 0);
    need(sap_batch_step(batch, 0.01, 2));
    sap_batch_destroy(batch);
}
