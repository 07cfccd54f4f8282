/* The narrow phase: selects the closed form of a pair of shapes, or the general method. docs/collision.md.
 *
 * Closed forms process all worlds of the pack at once. The general method (convex.h: GJK, EPA, height fields) branches
 * on numbers, so it processes one world at a time, in the build with one lane. */

/* The hull of a shape, or the grid that the world of lane l has chosen for a height field. */
KERNEL_FN int solid_mesh(const Context *ctx, const Solid *s, int l) {
    if (s->type != SAP_SHAPE_HEIGHT_FIELD)
        return s->mesh;
    SapField grid = STAGE_CONSTANTS->shape_mesh;
    return (int)((const scalar *)grid.data)[ctx->pack->world[l] * grid.stride + s->mesh];
}

/* Fills the task of lane l. */
STAGE_FN void narrow_task(const Context *ctx, const Solid *a, const Solid *b, Pose X, real reach, int l,
                          SapConvexTask *task) {
    const Solid *solid[2] = {a, b};
    for (int side = 0; side < 2; side++) {
        const Solid *s = solid[side];
        task->type[side] = s->type;
        task->mesh[side] = solid_mesh(ctx, s, l);
        task->size[side][0] = (double)LANE(s->size.x, l);
        task->size[side][1] = (double)LANE(s->size.y, l);
        task->size[side][2] = (double)LANE(s->size.z, l);
    }
    task->pose[0] = (double)LANE(X.p.x, l);
    task->pose[1] = (double)LANE(X.p.y, l);
    task->pose[2] = (double)LANE(X.p.z, l);
    task->pose[3] = (double)LANE(X.q.x, l);
    task->pose[4] = (double)LANE(X.q.y, l);
    task->pose[5] = (double)LANE(X.q.z, l);
    task->pose[6] = (double)LANE(X.q.w, l);
    task->reach = (double)LANE(reach, l);
}

/* Copies the result of the task to lane l of *m. */
STAGE_FN void narrow_task_result(const SapConvexTask *task, int l, Manifold *m) {
    (void)l;
    for (int k = 0; k < m->count; k++) {
        ContactPoint *at = &m->at[k];
        LANE(at->valid, l) = -(k < task->count);
        if (k >= task->count)
            continue;
        LANE(at->p.x, l) = (scalar)task->p[k][0];
        LANE(at->p.y, l) = (scalar)task->p[k][1];
        LANE(at->p.z, l) = (scalar)task->p[k][2];
        LANE(at->n.x, l) = (scalar)task->n[k][0];
        LANE(at->n.y, l) = (scalar)task->n[k][1];
        LANE(at->n.z, l) = (scalar)task->n[k][2];
        LANE(at->d, l) = (scalar)task->d[k];
    }
}

/* The general method in the lanes of `which`; the other lanes keep their points. */
STAGE_FN void narrow_solve(const Context *ctx, const Solid *a, const Solid *b, Pose X, real reach, mask which,
                           Manifold *m) {
    WORKSPACE(SapConvexTask, task, CONVEX_WORK(ctx), TASK_AT);
    task->args = ctx->args;
    task->max_contacts = ctx->args->collide.max_contacts;
    manifold_extend(m, task->max_contacts);
    for (int l = 0; l < SAP_LANES; l++) {
        if (!mask_lane(which, l))
            continue;
        narrow_task(ctx, a, b, X, reach, l, task);
        CONVEX(ctx, task);
        narrow_task_result(task, l, m);
    }
}

/* The number of points of a manifold whose pair waits. */
enum { NARROW_DEFERRED = -1 };

/* The same unless boxes around the shapes are apart. */
STAGE_FN void narrow_convex(const Context *ctx, const Solid *a, const Solid *b, Pose X, real reach, mask which,
                            Manifold *m) {
    which = which & mask_not(solids_apart(ctx, a, b, X, reach));
    if (!mask_any(which))
        return;
    if (CONVEX_DEFERRED)
        m->count = NARROW_DEFERRED;
    else
        narrow_solve(ctx, a, b, X, reach, which, m);
}

/* Two boxes. Where the closed form does not apply (`redo`), the general method replaces its result. */
STAGE_FN void narrow_boxes(const Context *ctx, const Solid *a, const Solid *b, Pose X, real reach, mask near,
                           Manifold *m) {
    mask redo;
    narrow_box_box(ctx, a, b, X, m, ctx->args->collide.max_contacts, &redo);
    mask again = near & redo;
    if (mask_any(again))
        narrow_convex(ctx, a, b, X, reach, again, m);
}

#define SHAPES(first, second) ((first)*SAP_SHAPE_KINDS + (second))
/* A case of the switch below. Kernels made for a batch have only the cases of its pairs. */
#define PAIR(first, second) SHAPES(first, second) : if (HAS_PAIR(first, second))

/* Contact points of the worlds in `near`; the results of other lanes are not used. */
STAGE_FN void narrow_phase(const Context *ctx, const Solid *a, const Solid *b, Pose X, real reach, mask near,
                           Manifold *m) {
    m->count = 0;
    switch (SHAPES(a->type, b->type)) {
    case PAIR(SAP_SHAPE_PLANE, SAP_SHAPE_SPHERE) narrow_plane_sphere(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_PLANE, SAP_SHAPE_CAPSULE) narrow_plane_capsule(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_PLANE, SAP_SHAPE_ELLIPSOID) narrow_plane_ellipsoid(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_PLANE, SAP_SHAPE_CYLINDER) narrow_plane_cylinder(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_PLANE, SAP_SHAPE_BOX) narrow_plane_box(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_PLANE, SAP_SHAPE_CONE) narrow_plane_cone(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_PLANE, SAP_SHAPE_HULL) {
            narrow_plane_hull(ctx, a, b, X, reach, near, m, ctx->args->collide.max_contacts);
        } break;
        case PAIR(SAP_SHAPE_SPHERE, SAP_SHAPE_SPHERE) narrow_sphere_sphere(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE) narrow_sphere_capsule(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_SPHERE, SAP_SHAPE_ELLIPSOID) narrow_sphere_ellipsoid(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_SPHERE, SAP_SHAPE_CYLINDER) narrow_sphere_cylinder(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_SPHERE, SAP_SHAPE_BOX) narrow_sphere_box(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_SPHERE, SAP_SHAPE_CONE) narrow_sphere_cone(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE) narrow_capsule_capsule(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_CAPSULE, SAP_SHAPE_BOX) narrow_capsule_box(ctx, a, b, X, m); break;
        case PAIR(SAP_SHAPE_BOX, SAP_SHAPE_BOX) {
            if (!CLOSED_FORMS_ONLY) narrow_boxes(ctx, a, b, X, reach, near, m);
        } break;
        default:
        if (!CLOSED_FORMS_ONLY)
            narrow_convex(ctx, a, b, X, reach, near, m);
        break;
    }
}
