/* Sensors: rays, sites (pose, velocity, gyroscope, accelerometer), dofs (acceleration, torque) and contacts of bodies
 * and shapes. docs/sensors.md.
 *
 * ---- rays ----
 *
 * A call casts the same number of rays in every world of a batch, at the poses of body_q. It changes no other array of
 * the batch. Results are the same bits on every device, for any number of threads, lanes and worlds.
 *
 * ---- sensors that a batch has ----
 *
 * sap_batch_set_sensors declares sites, contact sensors and rays of sensors. Readings are arrays of the batch, from
 * SAP_BATCH_SITE_Q on; the first request for one (sap_batch_array) turns it on and measures at the present state. From
 * then on every call of sap_batch_step measures at its end, and sap_batch_reset and sap_batch_forward_kinematics
 * restart the measurement: accelerations, torques, contact forces and times are 0, and an accelerometer reads -g.
 * Readings of a world that fails describe the state that it keeps. */
#ifndef SAPWOOD_SENSORS_H
#define SAPWOOD_SENSORS_H

#include <sapwood/batch.h>

SAP_BEGIN_DECLS

/* How the axes in which rays are given turn with the body that carries them. */
typedef enum SapRayAxes {
    SAP_RAY_AXES_BODY = 0,    /* they are the body's axes */
    SAP_RAY_AXES_HEADING = 1, /* z is up; x is the body's x axis without its z component, or the world's x if there is
                                 nothing left: for a height scan */
    SAP_RAY_AXES_WORLD = 2    /* they are the world's axes; only the origin moves with the body */
} SapRayAxes;

/* Which shapes a ray sees. Shapes that do not collide (SAP_SHAPE_COLLIDES) are never seen. */
typedef enum SapRaySight {
    SAP_RAY_SEES_ALL = 0,
    SAP_RAY_SEES_STATIC = 1, /* shapes of the world: terrain, without any robot */
    SAP_RAY_SEES_BODIES = 2  /* shapes of bodies */
} SapRaySight;

/* Values of SapRays.shape that are no shape. */
enum {
    SAP_RAY_MISS = -1, /* nothing within max_distance */
    SAP_RAY_INVALID =
        -2 /* no ray: an origin, a direction or the pose of `body` is not finite, or a direction is zero */
};

/* Rays and their results. n = num_worlds of the batch, m = num_rays. The caller owns all arrays; they are row-major. On
 * a CPU they are in host memory. On a GPU they are all in device memory, or all in host memory. */
typedef struct SapRays {
    int num_rays;          /* m, rays per world, >= 1 */
    SapDtype dtype;        /* element type of origin, direction, distance and normal */
    const void *origin;    /* [n][m][3] m, or [m][3] if `shared`; required */
    const void *direction; /* [n][m][3] or [m][3] any length but 0; required */
    int shared;            /* 1: all worlds have the same rays; 0: each its own; default 0 */
    int body;            /* the body that carries the rays: they are given in its frame, 0 .. nb - 1; -1 = the world */
    SapRayAxes axes;     /* axes of the rays if body >= 0; default SAP_RAY_AXES_BODY */
    SapRaySight sees;    /* default SAP_RAY_SEES_ALL */
    int exclude_body;    /* the shapes of this body are not seen, 0 .. nb - 1; -1 = none are left out */
    double max_distance; /* m, > 0; INFINITY = any distance */

    void *distance; /* [n][m] m, from the origin to the surface; -1 where shape < 0; required */
    void *normal; /* [n][m][3] unit, world axes, out of the shape that was met; 0 where shape < 0; NULL = not wanted */
    int32_t *shape; /* [n][m] the shape that was met, or SAP_RAY_...; NULL = not wanted */
} SapRays;

/* Sets every field to its default: body and exclude_body -1, max_distance INFINITY, f64, the others 0 or NULL. */
SAP_API void sap_rays_default(SapRays *rays);

/* Casts rays in all worlds. A ray that starts inside a shape meets the surface where it leaves it; a plane is met from
 * the front only, and a height field from above and from below. Of two shapes at the same distance the one with the
 * smaller index is reported. A world whose state is not finite has invalid rays, or shapes that are not seen; other
 * worlds are unaffected. The computation has the precision of collision (contact_geometry_f64).
 *
 * The first call allocates room for the poses of shapes; later ones allocate nothing. On a GPU with arrays in device
 * memory the call queues its work and returns, and later calls can be captured into a CUDA graph. With arrays in host
 * memory it allocates, copies and waits. The state of the batch must have body_q. */
SAP_API SapStatus sap_batch_raycast(SapBatch *batch, const SapRays *rays);

/* ---- sensors that a batch has ---- */

/* Values of touch_with that are no body. */
enum {
    SAP_TOUCH_STATIC = -1, /* shapes of the world */
    SAP_TOUCH_ANY = -2     /* everything */
};

enum { SAP_MAX_RAY_SENSORS = 8 };

/* The sensors of a batch. The caller owns the arrays, in host memory; sap_batch_set_sensors copies them. An array of no
 * elements may be NULL. */
typedef struct SapSensors {
    int num_sites;            /* >= 0 */
    const int32_t *site_body; /* [num_sites] body that carries the site, 0 .. nb - 1; -1 = the world */
    const double *site_pose; /* [num_sites][7] position (m) and quaternion x y z w of length 1 in the frame of the body;
                                  NULL = the frames of the bodies */
    int num_touch;           /* contact sensors, >= 0 */
    const int32_t *touch_body; /* [num_touch] body whose contacts are measured, 0 .. nb - 1; -1 = static shapes */
    const int32_t *touch_with; /* [num_touch] contacts with this body only, 0 .. nb - 1, or SAP_TOUCH_...; NULL = any */
    const int32_t *touch_shape;      /* [num_touch] contacts of this shape of touch_body only; -1 = all; NULL = all */
    const int32_t *touch_with_shape; /* [num_touch] contacts with this shape only, 0 .. num_shapes - 1, which touch_with
                                        must allow; -1 = all; NULL = all */
    const int32_t *touch_zone;     /* [num_touch] contacts in a zone only, a solid that touch_body carries: SapShapeType
                                      sphere, capsule, ellipsoid, cylinder, box or cone; -1 = everywhere; NULL =
                                      everywhere. A contact counts if it lies in the zone, or if a ray from it along its
                                      normal, out of touch_body, meets the zone */
    const double *touch_zone_size; /* [num_touch][3] m, as shape_scale (model.h); required with touch_zone */
    const double *touch_zone_pose; /* [num_touch][7] of the zone in the frame of touch_body, as site_pose; NULL = the
                                      frames of the bodies */
    int num_ray_sensors;           /* 0 .. SAP_MAX_RAY_SENSORS: height scans, lidars */
    const SapRays *ray_sensor; /* [num_ray_sensors] their rays, one sensor after the other in the arrays of readings;
                                  distance, normal and shape are NULL */
} SapSensors;

/* Declares the sensors of a batch, once, before one of their arrays is requested. Allocates. */
SAP_API SapStatus sap_batch_set_sensors(SapBatch *batch, const SapSensors *sensors);

/* Sensors of the worlds with mask[w] != 0 (NULL = all) begin again from the state, body_q and body_qd, as after
 * sap_batch_reset: velocities are 0 s old, and no contact has begun. On a GPU the mask may be on the device. */
SAP_API SapStatus sap_batch_begin_sensors(SapBatch *batch, const uint8_t *mask);

SAP_END_DECLS

#endif
