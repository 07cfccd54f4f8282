/* Built for each SAP_LANES and SAP_PRECISION: narrow_x<lanes>_f<precision>. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <sapwood/solver.h>

#include "kernels/data/context.h"
#include "kernels/dialect/team.h"

#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"
#include "kernels/dialect/views.h"
#include "kernels/dialect/scratch.h"
#include "kernels/collide/manifold.h"
#include "kernels/collide/oriented_box.h"
#include "kernels/collide/narrow_plane.h"
#include "kernels/collide/narrow_round.h"
#include "kernels/collide/narrow_box.h"

#include "support/narrow_kernels.h"

#define PASTE_OF(lanes, precision) narrow_x##lanes##_f##precision
#define PASTE(lanes, precision)    PASTE_OF(lanes, precision)

enum { MAX_VERTICES = 256 };
#define PAIR(a, b) (16 * SAP_SHAPE_##a + SAP_SHAPE_##b)

static void meet(const NarrowPair *pair, const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m,
                 mask *redo) {
    switch (16 * pair->type[0] + pair->type[1]) {
    case PAIR(PLANE, SPHERE): narrow_plane_sphere(ctx, a, b, X, m); break;
    case PAIR(PLANE, CAPSULE): narrow_plane_capsule(ctx, a, b, X, m); break;
    case PAIR(PLANE, ELLIPSOID): narrow_plane_ellipsoid(ctx, a, b, X, m); break;
    case PAIR(PLANE, CYLINDER): narrow_plane_cylinder(ctx, a, b, X, m); break;
    case PAIR(PLANE, BOX): narrow_plane_box(ctx, a, b, X, m); break;
    case PAIR(PLANE, CONE): narrow_plane_cone(ctx, a, b, X, m); break;
    case PAIR(PLANE, HULL): narrow_plane_hull(ctx, a, b, X, real_of(K(1e3)), mask_all(), m, pair->max_contacts); break;
    case PAIR(SPHERE, SPHERE): narrow_sphere_sphere(ctx, a, b, X, m); break;
    case PAIR(SPHERE, CAPSULE): narrow_sphere_capsule(ctx, a, b, X, m); break;
    case PAIR(SPHERE, ELLIPSOID): narrow_sphere_ellipsoid(ctx, a, b, X, m); break;
    case PAIR(SPHERE, CYLINDER): narrow_sphere_cylinder(ctx, a, b, X, m); break;
    case PAIR(SPHERE, BOX): narrow_sphere_box(ctx, a, b, X, m); break;
    case PAIR(SPHERE, CONE): narrow_sphere_cone(ctx, a, b, X, m); break;
    case PAIR(CAPSULE, CAPSULE): narrow_capsule_capsule(ctx, a, b, X, m); break;
    case PAIR(CAPSULE, BOX): narrow_capsule_box(ctx, a, b, X, m); break;
    case PAIR(BOX, BOX): narrow_box_box(ctx, a, b, X, m, pair->max_contacts, redo); break;
    default: m->count = 0; break;
    }
}

/* The valid points of one lane. */
static void read_lane(const Manifold *m, mask redo, int l, NarrowResult *r) {
    memset(r, 0, sizeof *r);
    r->redo = mask_lane(redo, l);
    for (int i = 0; i < m->count; i++) {
        const ContactPoint *c = &m->at[i];
        if (!mask_lane(c->valid, l))
            continue;
        const real *p[] = {&c->p.x, &c->p.y, &c->p.z}, *n[] = {&c->n.x, &c->n.y, &c->n.z};
        for (int k = 0; k < 3; k++) {
            r->p[r->count][k] = (double)LANE(*p[k], l);
            r->n[r->count][k] = (double)LANE(*n[k], l);
        }
        r->d[r->count++] = (double)LANE(c->d, l);
    }
    (void)l;
}

void PASTE(SAP_LANES, SAP_PRECISION)(const NarrowPair *pair, const NarrowCase *cases, int n, NarrowResult *results) {
    scalar vertex[3 * MAX_VERTICES], extent = 0;
    for (int i = 0; i < 3 * pair->num_vertices; i++) {
        vertex[i] = (scalar)pair->vertex[i];
        extent = (scalar)fabs((double)vertex[i]) > extent ? (scalar)fabs((double)vertex[i]) : extent;
    }
    scalar box[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, extent, extent, extent};
    SapHull hull = {.num_vertices = pair->num_vertices};
    SapStepArgs args = {.plan.hull = &hull};
    args.constants[SAP_PRECISION == 64].hull_vertex.data = vertex;
    args.constants[SAP_PRECISION == 64].hull_extent.data = &extent;
    args.constants[SAP_PRECISION == 64].hull_box.data = box;
    SapPack pack = {.count = SAP_LANES};
    Context ctx = {.args = &args, .pack = &pack};
    for (int first = 0; first < n; first += SAP_LANES) {
        Solid a = {.type = pair->type[0], .mesh = -1}, b = {.type = pair->type[1]};
        real pose[7];
        scalar number[7][SAP_LANES]; /* gcc does not see that lanes one by one make a whole */
        real *size[2][3] = {{&a.size.x, &a.size.y, &a.size.z}, {&b.size.x, &b.size.y, &b.size.z}};
        FOR_LANES(l) {
            const NarrowCase *c = &cases[first + l < n ? first + l : n - 1];
            for (int k = 0; k < 3; k++) {
                LANE(*size[0][k], l) = (scalar)c->size[0][k];
                LANE(*size[1][k], l) = (scalar)c->size[1][k];
            }
            for (int k = 0; k < 7; k++)
                number[k][l] = (scalar)c->pose[k];
        }
        memcpy(pose, number, sizeof pose);
        Manifold m;
        mask redo = mask_not(mask_all());
        meet(pair, &ctx, &a, &b, pose_load(pose), &m, &redo);
        for (int l = 0; l < SAP_LANES && first + l < n; l++)
            read_lane(&m, redo, l, &results[first + l]);
    }
}
