#include "host/batch/sensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/batch/rays.h"
#include "host/model/shape_types.h"

/* ---- declaration ---- */

static SapStatus check_range(const char *name, const int32_t *value, int count, int low, int high) {
    if (!value)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: %s is NULL", name);
    for (int i = 0; i < count; i++)
        if (value[i] < low || value[i] > high)
            return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: %s[%d] is %d; it must be in %d .. %d", name, i,
                            (int)value[i], low, high);
    return SAP_OK;
}

/* poses may be NULL. */
static SapStatus check_poses(const char *name, const double *poses, int count) {
    for (int i = 0; poses && i < count; i++) {
        const double *X = poses + 7 * i;
        double norm = sqrt(X[3] * X[3] + X[4] * X[4] + X[5] * X[5] + X[6] * X[6]);
        if (!isfinite(X[0] + X[1] + X[2]))
            return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: %s[%d]: a position is not finite", name, i);
        if (!(fabs(norm - 1) <= 1e-3))
            return sap_fail(SAP_ERROR_ARGUMENT,
                            "sap_batch_set_sensors: %s[%d]: the quaternion has length %g; it must be 1", name, i, norm);
    }
    return SAP_OK;
}

static SapStatus check_counts(const SapBatch *b, const SapSensors *s) {
    enum { MOST = 1 << 16 };
    const SapSensedArrays *a = &b->arrays.sensed;
    if (s->num_sites < 0 || s->num_sites > MOST || s->num_touch < 0 || s->num_touch > MOST)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "sap_batch_set_sensors: num_sites is %d and num_touch %d; they must be in 0 .. %d",
                        s->num_sites, s->num_touch, (int)MOST);
    if (s->num_ray_sensors < 0 || s->num_ray_sensors > SAP_MAX_RAY_SENSORS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: num_ray_sensors is %d; it must be in 0 .. %d",
                        s->num_ray_sensors, (int)SAP_MAX_RAY_SENSORS);
    if (b->sensors.ints || a->site_q || a->site_qd || a->site_gyro || a->site_accelerometer || a->touch_found ||
        a->ray_distance)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: the batch has its sensors; they are declared once, "
                                            "before one of their arrays is requested");
    return SAP_OK;
}

static SapStatus check_rays(const SapBatch *b, const SapSensors *s) {
    char what[64];
    long long rays = 0;
    if (s->num_ray_sensors > 0 && !s->ray_sensor)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: ray_sensor is NULL");
    for (int i = 0; i < s->num_ray_sensors; i++) {
        const SapRays *r = &s->ray_sensor[i];
        snprintf(what, sizeof what, "sap_batch_set_sensors: ray_sensor[%d]", i);
        SAP_TRY(sap_rays_check(b, what, r));
        if (r->distance || r->normal || r->shape)
            return sap_fail(SAP_ERROR_ARGUMENT,
                            "%s: distance, normal and shape must be NULL; results are arrays of the batch", what);
        rays += r->num_rays;
    }
    return rays <= SAP_MOST_RAYS
               ? SAP_OK
               : sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: %lld rays; at most %d are allowed", rays,
                          (int)SAP_MOST_RAYS);
}

/* The shapes of contact sensors belong to the bodies that their sensors name. */
static SapStatus check_touch_shapes(const SapSensors *s, const SapModelArrays *m) {
    if (s->touch_shape)
        SAP_TRY(check_range("touch_shape", s->touch_shape, s->num_touch, -1, m->num_shapes - 1));
    if (s->touch_with_shape)
        SAP_TRY(check_range("touch_with_shape", s->touch_with_shape, s->num_touch, -1, m->num_shapes - 1));
    for (int i = 0; i < s->num_touch; i++) {
        int own = s->touch_shape ? s->touch_shape[i] : -1, other = s->touch_with_shape ? s->touch_with_shape[i] : -1;
        int with = s->touch_with ? s->touch_with[i] : SAP_TOUCH_ANY;
        if (own >= 0 && m->shape_body[own] != s->touch_body[i])
            return sap_fail(SAP_ERROR_ARGUMENT,
                            "sap_batch_set_sensors: touch_shape[%d] is %d, a shape of body %d; it must be one of "
                            "touch_body[%d], %d",
                            i, own, (int)m->shape_body[own], i, (int)s->touch_body[i]);
        if (other >= 0 && with != SAP_TOUCH_ANY && with != m->shape_body[other])
            return sap_fail(
                SAP_ERROR_ARGUMENT,
                "sap_batch_set_sensors: touch_with_shape[%d] is %d, a shape of body %d; touch_with[%d], %d, "
                "must allow it",
                i, other, (int)m->shape_body[other], i, with);
    }
    return SAP_OK;
}

/* Sizes of a solid that a zone can be; 0: none. */
static int sizes_of_zone(int type) {
    const SapShapeTypeRow *row = sap_shape_type(type);
    return row != NULL && row->data == SAP_SHAPE_DATA_NONE ? row->num_sizes : 0;
}

static SapStatus check_zones(const SapSensors *s) {
    if (s->touch_zone && !s->touch_zone_size)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_set_sensors: touch_zone_size is NULL; touch_zone needs it");
    for (int i = 0; s->touch_zone && i < s->num_touch; i++) {
        int type = s->touch_zone[i], sizes = sizes_of_zone(type);
        if (type != -1 && sizes == 0)
            return sap_fail(
                SAP_ERROR_ARGUMENT,
                "sap_batch_set_sensors: touch_zone[%d] is %d; it must be -1 or the type of a sphere, capsule, "
                "ellipsoid, cylinder, box or cone",
                i, type);
        for (int k = 0; k < sizes; k++)
            if (!(s->touch_zone_size[3 * i + k] > 0 && isfinite(s->touch_zone_size[3 * i + k])))
                return sap_fail(SAP_ERROR_ARGUMENT,
                                "sap_batch_set_sensors: touch_zone_size[%d][%d] is %g; it must be finite and > 0", i, k,
                                s->touch_zone_size[3 * i + k]);
    }
    return check_poses("touch_zone_pose", s->touch_zone_pose, s->num_touch);
}

static SapStatus check_touch(const SapBatch *b, const SapSensors *s) {
    if (s->num_touch == 0)
        return SAP_OK;
    SAP_TRY(check_range("touch_body", s->touch_body, s->num_touch, -1, b->nb - 1));
    SAP_TRY(check_zones(s));
    if (s->touch_with)
        SAP_TRY(check_range("touch_with", s->touch_with, s->num_touch, SAP_TOUCH_ANY, b->nb - 1));
    return check_touch_shapes(s, sap_model_arrays(b->model));
}

static SapStatus check(const SapBatch *b, const SapSensors *s) {
    SAP_TRY(check_counts(b, s));
    if (s->num_sites > 0)
        SAP_TRY(check_range("site_body", s->site_body, s->num_sites, -1, b->nb - 1));
    SAP_TRY(check_poses("site_pose", s->site_pose, s->num_sites));
    SAP_TRY(check_touch(b, s));
    return check_rays(b, s);
}

/* The lists as the kernels read them. */
static void fill_lists(const SapSensors *s, int *ints, double *pose) {
    for (int i = 0; i < s->num_sites; i++) {
        const double origin[7] = {[6] = 1};
        memcpy(pose + 7 * i, s->site_pose ? s->site_pose + 7 * i : origin, sizeof origin);
        ints[i] = s->site_body[i];
    }
    int n = s->num_touch, *touch = ints + s->num_sites;
    for (int i = 0; i < n; i++) {
        touch[i] = s->touch_body[i];
        touch[n + i] = s->touch_with ? s->touch_with[i] : SAP_TOUCH_ANY;
        touch[2 * n + i] = s->touch_shape ? s->touch_shape[i] : -1;
        touch[3 * n + i] = s->touch_with_shape ? s->touch_with_shape[i] : -1;
        touch[4 * n + i] = s->touch_zone ? s->touch_zone[i] : -1;
    }
}

/* Sizes and poses of zones, as the kernels read them. */
static void fill_zones(const SapSensors *s, double *zone) {
    for (int i = 0; i < s->num_touch; i++, zone += 10) {
        zone[9] = 1;
        if (s->touch_zone && s->touch_zone[i] >= 0)
            memcpy(zone, s->touch_zone_size + 3 * i, (size_t)sizes_of_zone(s->touch_zone[i]) * sizeof *zone);
        if (s->touch_zone_pose)
            memcpy(zone + 3, s->touch_zone_pose + 7 * i, 7 * sizeof *zone);
    }
}

static bool has_zones(const SapSensors *s) {
    bool some = false;
    for (int i = 0; s->touch_zone && i < s->num_touch; i++)
        some = some || s->touch_zone[i] >= 0;
    return some;
}

/* Numbers of the origins of a ray sensor, or of its directions. */
static size_t ray_numbers(const SapBatch *b, const SapRays *r) {
    return 3 * (size_t)r->num_rays * (r->shared ? 1 : (size_t)b->num_worlds);
}

/* Copies numbers of either type as f64. */
static void copy_numbers(const void *from, SapDtype dtype, size_t count, double *to) {
    for (size_t i = 0; i < count; i++)
        to[i] = sap_number_at(from, dtype == SAP_F64, i);
}

/* Fills the origins and directions of all ray sensors at `host`, which will be at `device`. */
static void fill_rays(const SapBatch *b, const SapSensors *s, double *host, double *device, SapSensorLists *lists) {
    for (int i = 0; i < s->num_ray_sensors; i++) {
        const SapRays *given = &s->ray_sensor[i];
        SapRays *r = &lists->ray_sensor[i];
        size_t count = ray_numbers(b, given);
        *r = *given;
        r->dtype = SAP_F64;
        r->origin = device;
        r->direction = device + count;
        copy_numbers(given->origin, given->dtype, count, host);
        copy_numbers(given->direction, given->dtype, count, host + count);
        host += 2 * count;
        device += 2 * count;
        lists->num_rays += r->num_rays;
    }
}

/* The lists of the kernels: poses, zones, rays, then bodies, in one block, so that a failure leaves nothing behind. */
static SapStatus upload(SapBatch *b, const SapSensors *s, size_t numbers, size_t bytes, char *host) {
    SapSensorLists lists = {.num_sites = s->num_sites,
                            .num_touch = s->num_touch,
                            .num_ray_sensors = s->num_ray_sensors,
                            .has_zones = has_zones(s)};
    void *device;
    size_t poses = 7 * (size_t)s->num_sites, fixed = poses + 10 * (size_t)s->num_touch;
    if (!host)
        return SAP_ERROR_MEMORY;
    SAP_TRY(b->backend->allocate(b, 1, bytes, "sensors", &device));
    fill_lists(s, (int *)(host + numbers * sizeof(double)), (double *)host);
    fill_zones(s, (double *)host + poses);
    fill_rays(b, s, (double *)host + fixed, (double *)device + fixed, &lists);
    SAP_TRY(b->backend->write(b, "sap_batch_set_sensors", device, host, bytes));
    lists.pose = device;
    lists.zone = (double *)device + poses;
    lists.ints = (int *)((double *)device + numbers);
    b->sensors = lists;
    return SAP_OK;
}

SapStatus sap_batch_set_sensors(SapBatch *batch, const SapSensors *sensors) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(sensors);
    SAP_TRY(check(batch, sensors));
    size_t numbers = 7 * (size_t)sensors->num_sites + 10 * (size_t)sensors->num_touch;
    for (int i = 0; i < sensors->num_ray_sensors; i++)
        numbers += 2 * ray_numbers(batch, &sensors->ray_sensor[i]);
    size_t ints = (size_t)sensors->num_sites + 5 * (size_t)sensors->num_touch + 1;
    size_t bytes = numbers * sizeof(double) + ints * sizeof(int);
    char *host = sap_allocate(1, bytes, "sensors");
    SapStatus status = upload(batch, sensors, numbers, bytes, host);
    free(host);
    return status;
}

/* ---- requests ---- */

bool sap_sensors_take_part(const SapBatchRow *row) {
    return row->field >= SAP_BATCH_SITE_Q && row->field <= SAP_BATCH_RAY_SHAPE;
}

static bool is_touch(int field) {
    return field >= SAP_BATCH_TOUCH_FOUND && field <= SAP_BATCH_TOUCH_LAST_AIR_TIME;
}

static bool is_of_rays(int field) {
    return field >= SAP_BATCH_RAY_DISTANCE && field <= SAP_BATCH_RAY_SHAPE;
}

/* Allocates the array whose pointer is at `offset` of SapBatchArrays. */
static SapStatus record_at(SapBatch *b, size_t offset) {
    const SapBatchRow *row = sap_batch_rows;
    while (row->offset != offset)
        row++;
    return sap_batch_record_row(b, row);
}

/* Contact sensors are measured together. touch_found is the last array: they are on if it exists. */
static SapStatus record_touch(SapBatch *b) {
    SAP_TRY(record_at(b, offsetof(SapBatchArrays, report.force)));
    if (b->sensors.has_zones) {
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, report.position)));
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, report.step_start)));
    }
    SAP_TRY(record_at(b, offsetof(SapBatchArrays, sensed.status_before)));
    for (int f = SAP_BATCH_TOUCH_LAST_AIR_TIME; f >= SAP_BATCH_TOUCH_FOUND; f--)
        SAP_TRY(sap_batch_record_row(b, sap_batch_row((SapBatchField)f)));
    return SAP_OK;
}

/* Allocates the reading of a field, after everything else that its sensor needs: a sensor is on if its reading
 * exists. */
static SapStatus record_field(SapBatch *b, int field) {
    if (is_touch(field))
        return record_touch(b);
    if (field == SAP_BATCH_SITE_ACCELEROMETER)
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, sensed.site_before)));
    if (field == SAP_BATCH_SITE_ACCELEROMETER && b->formulation->exact_motion)
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, report.step_start)));
    if (field == SAP_BATCH_QACC)
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, sensed.qd_before)));
    if (field == SAP_BATCH_JOINT_TORQUE) {
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, extra.joint_drive)));
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, extra.joint_limit)));
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, extra.joint_friction)));
    }
    if (is_of_rays(field))
        SAP_TRY(record_at(b, offsetof(SapBatchArrays, sensed.ray_distance)));
    return sap_batch_record_row(b, sap_batch_row((SapBatchField)field));
}

/* ---- measurement ---- */

static bool has_sites(const SapSensedArrays *s) {
    return s->site_q || s->site_qd || s->site_gyro || s->site_accelerometer;
}

/* Whether there is more to measure than rays. */
static bool has_readings(const SapBatch *b) {
    const SapSensedArrays *s = &b->arrays.sensed;
    return has_sites(s) || s->qacc || s->joint_torque || s->touch_found;
}

bool sap_sensors_are_on(const SapBatch *b) {
    return has_readings(b) || b->arrays.sensed.ray_distance;
}

/* Whether the steps of a call are taken one by one. */
static bool is_by_step(const SapBatch *b) {
    return b->arrays.sensed.touch_found && b->sensors.num_touch > 0;
}

static SapBuffer buffer(const SapBatch *b, void *data, int stride) {
    return (SapBuffer){data, stride, b->dtype == SAP_F64};
}

static SapSiteArgs site_args(const SapBatch *b) {
    const SapSensedArrays *s = &b->arrays.sensed;
    int n = has_sites(s) ? b->sensors.num_sites : 0;
    return (SapSiteArgs){.count = n,
                         .body = b->sensors.ints,
                         .pose = {b->sensors.pose, 0, 1},
                         .q = buffer(b, s->site_q, 7 * n),
                         .qd = buffer(b, s->site_qd, 6 * n),
                         .gyro = buffer(b, s->site_gyro, 3 * n),
                         .accelerometer = buffer(b, s->site_accelerometer, 3 * n),
                         .before = buffer(b, s->site_before, 3 * n),
                         .is_exact = b->formulation->exact_motion};
}

static SapDofSensorArgs dof_args(const SapBatch *b) {
    const SapSensedArrays *s = &b->arrays.sensed;
    const SapExtraReport *x = &b->arrays.extra;
    return (SapDofSensorArgs){.qacc = buffer(b, s->qacc, b->nv),
                              .before = buffer(b, s->qd_before, b->nv),
                              .torque = buffer(b, s->joint_torque, b->nv),
                              .drive = x->joint_drive,
                              .limit = x->joint_limit,
                              .friction = x->joint_friction};
}

static SapTouchArgs touch_args(const SapBatch *b) {
    const SapSensedArrays *s = &b->arrays.sensed;
    const SapContacts *c = &b->arrays.contacts;
    int n = is_by_step(b) ? b->sensors.num_touch : 0;
    if (n == 0)
        return (SapTouchArgs){.count = 0};
    const int *lists = b->sensors.ints + b->sensors.num_sites;
    return (SapTouchArgs){.count = n,
                          .body = lists,
                          .with = lists + n,
                          .own_shape = lists + 2 * n,
                          .other_shape = lists + 3 * n,
                          .zone_type = lists + 4 * n,
                          .zone = {b->sensors.zone, 0, 1},
                          .capacity = c->capacity,
                          .num_contacts = c->count,
                          .shape = {c->shape0, c->shape1},
                          .normal = {c->normal, 3 * c->capacity, c->dtype == SAP_F64},
                          .contact_force = b->arrays.report.force,
                          .contact_position = b->arrays.report.position,
                          .found = s->touch_found,
                          .first = s->touch_first,
                          .force = buffer(b, s->touch_force, 3 * n),
                          .pressure = buffer(b, s->touch_pressure, n),
                          .friction = buffer(b, s->touch_friction, n),
                          .most = buffer(b, s->touch_most, n),
                          .contact_time = buffer(b, s->touch_contact_time, n),
                          .air_time = buffer(b, s->touch_air_time, n),
                          .last_air_time = buffer(b, s->touch_last_air_time, n)};
}

static SapStatus check_bodies_exist(const SapBatch *b, const char *what, const SapSenseArgs *args) {
    if (args->site.count > 0 && (!args->body_q.data || !args->body_qd.data))
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s of the batch was set to NULL; sites need it", what,
                        b->arrays.state.body_q ? "body_qd" : "body_q");
    return SAP_OK;
}

/* The motion of bodies where the last step began: a part of each row of step_start. */
static SapBuffer start_of_bodies(const SapBatch *b) {
    double *start = b->arrays.report.step_start;
    const SapBatchRow *row = sap_batch_row(SAP_BATCH_STEP_START);
    return (SapBuffer){start ? start + b->nq + b->nv : NULL, sap_batch_row_count(b, row), 1};
}

/* Arguments of a measurement after step `step` of num_steps steps of h; num_steps 0 = a beginning. */
static SapSenseArgs sense_args(const SapBatch *b, double h, int step, int num_steps) {
    const SapState *state = &b->arrays.state;
    const SapStepArgs *args = b->backend->step_args(b);
    int is_f64 = b->options.free_motion_precision == SAP_FP64;
    return (SapSenseArgs){.plan = args->plan,
                          .constants = args->constants[is_f64],
                          .is_f64 = is_f64,
                          .num_worlds = b->num_worlds,
                          .h = h,
                          .elapsed = h * num_steps,
                          .step = step,
                          .num_steps = num_steps > 0 ? num_steps : 1,
                          .ends = step == num_steps - 1 || num_steps == 0,
                          .body_q = buffer(b, state->body_q, 7 * b->nb),
                          .body_qd = buffer(b, state->body_qd, 6 * b->nb),
                          .joint_qd = buffer(b, state->joint_qd, b->nv),
                          .joint_f = buffer(b, b->arrays.control.joint_f, b->nv),
                          .start_body = start_of_bodies(b),
                          .site = site_args(b),
                          .dof = dof_args(b),
                          .touch = touch_args(b),
                          .status = b->arrays.status,
                          .status_before = is_by_step(b) ? b->arrays.sensed.status_before : NULL};
}

static SapStatus measure_fields(SapBatch *b, const char *what, const uint8_t *mask, SapSenseArgs *args) {
    args->num_dofs = args->dof.qacc.data || args->dof.torque.data ? b->nv : 0;
    args->items = args->site.count + args->num_dofs + args->touch.count + 1;
    SAP_TRY(check_bodies_exist(b, what, args));
    return b->backend->sense(b, what, mask, args);
}

/* `count` numbers of type REAL further on. */
static SapBuffer later(SapBuffer buffer, size_t count) {
    size_t number = sap_real_bytes(buffer.is_f64);
    if (buffer.data)
        buffer.data = (char *)buffer.data + count * number;
    return buffer;
}

/* Casts the rays of all ray sensors. A row of the readings has one sensor after the other. */
static SapStatus measure_rays(SapBatch *b, const char *what, const uint8_t *mask) {
    const SapSensedArrays *s = &b->arrays.sensed;
    int n = b->sensors.num_rays;
    size_t first = 0;
    for (int i = 0; s->ray_distance && i < b->sensors.num_ray_sensors; i++) {
        SapRayResults results = {later(buffer(b, s->ray_distance, n), first),
                                 later(buffer(b, s->ray_normal, 3 * n), 3 * first),
                                 s->ray_shape ? s->ray_shape + first : NULL};
        SAP_TRY(sap_rays_cast(b, what, mask, &b->sensors.ray_sensor[i], &results));
        first += (size_t)b->sensors.ray_sensor[i].num_rays;
    }
    return SAP_OK;
}

static SapStatus step_and_measure(SapBatch *b, const SapBatchSteps *steps) {
    SapBatchSteps one = *steps;
    one.num_steps = 1;
    if (!is_by_step(b)) {
        SAP_TRY(b->backend->step(b, steps));
        SapSenseArgs args = sense_args(b, steps->h, steps->num_steps - 1, steps->num_steps);
        return has_readings(b) ? measure_fields(b, steps->what, NULL, &args) : SAP_OK;
    }
    for (int k = 0; k < steps->num_steps; k++) {
        SAP_TRY(b->backend->step(b, &one));
        SapSenseArgs args = sense_args(b, steps->h, k, steps->num_steps);
        SAP_TRY(measure_fields(b, steps->what, NULL, &args));
    }
    return SAP_OK;
}

SapStatus sap_sensors_step(SapBatch *b, const SapBatchSteps *steps) {
    SAP_TRY(step_and_measure(b, steps));
    return measure_rays(b, steps->what, NULL);
}

SapStatus sap_sensors_begin(SapBatch *b, const char *what, const uint8_t *mask) {
    if (!sap_sensors_are_on(b))
        return SAP_OK;
    if (has_readings(b)) {
        SapSenseArgs args = sense_args(b, 0, 0, 0);
        SAP_TRY(measure_fields(b, what, mask, &args));
    }
    return measure_rays(b, what, mask);
}

/* Keeps a buffer if it is the field's. */
static void keep_field(SapBuffer *reading, int field, SapBatchField own) {
    if (field != (int)own)
        reading->data = NULL;
}

/* Other sensors keep their readings. Contact sensors begin with zeros. */
static SapStatus begin_one(SapBatch *b, const char *what, int field) {
    SapSenseArgs args = sense_args(b, 0, 0, 0);
    keep_field(&args.site.q, field, SAP_BATCH_SITE_Q);
    keep_field(&args.site.qd, field, SAP_BATCH_SITE_QD);
    keep_field(&args.site.gyro, field, SAP_BATCH_SITE_GYRO);
    keep_field(&args.site.accelerometer, field, SAP_BATCH_SITE_ACCELEROMETER);
    keep_field(&args.dof.qacc, field, SAP_BATCH_QACC);
    keep_field(&args.dof.torque, field, SAP_BATCH_JOINT_TORQUE);
    args.touch.count = 0;
    return measure_fields(b, what, NULL, &args);
}

SapStatus sap_sensors_request(SapBatch *b, const char *what, const SapBatchRow *row) {
    SAP_DEFAULT_FP_MODE();
    const SapBatchRow *last = is_touch(row->field) ? sap_batch_row(SAP_BATCH_TOUCH_FOUND) : row;
    if (sap_batch_row_get(&b->arrays, last))
        return SAP_OK;
    SAP_TRY(record_field(b, row->field));
    return is_of_rays(row->field) ? measure_rays(b, what, NULL) : begin_one(b, what, row->field);
}
