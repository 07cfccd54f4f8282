/* The narrow phase for one world at a time: any two convex shapes (convex_pair.h), and a height field with a convex
 * shape (height_field.h). Reads a task and writes its contacts; a pose that is not finite gives none. */

KERNEL_FN Pose convex_pose(const SapConvexTask *task) {
    scalar x[7];
    for (int i = 0; i < 7; i++)
        x[i] = (scalar)task->pose[i];
    Pose X = pose_load(x);
    X.q = quat_normalise(X.q);
    return X;
}

KERNEL_FN mask pose_finite(Pose X) {
    return real_finite(X.p.x + X.p.y + X.p.z) & real_finite(X.q.x + X.q.y + X.q.z + X.q.w);
}

KERNEL_FN void task_store(SapConvexTask *task, const Manifold *m) {
    task->count = 0;
    for (int i = 0; i < m->count && m->at[i].valid; i++) {
        const ContactPoint *c = &m->at[i];
        const real p[3] = {c->p.x, c->p.y, c->p.z}, n[3] = {c->n.x, c->n.y, c->n.z};
        for (int k = 0; k < 3; k++) {
            task->p[i][k] = (double)p[k];
            task->n[i][k] = (double)n[k];
        }
        task->d[i] = (double)c->d;
        task->count++;
    }
}

static_assert((int)CONVEX_END <= (int)(SAP_PRECISION == 64 ? SAP_CONVEX_BYTES_F64 : SAP_CONVEX_BYTES_F32),
              "the workspace is too small");

/* Finds the contacts of one pair in one world. */
STAGE_FN void stage_convex(SapConvexTask *task) {
    Pose X = convex_pose(task), origin;
    task->count = 0;
    if (!pose_finite(X))
        return;
    origin.p = vec3_zero();
    origin.q = quat(K(0.0), K(0.0), K(0.0), K(1.0));
    WORKSPACE(Candidates, list, task->work, LIST_AT);
    Convex b;
    list->count = 0;
    WORKSPACE_PASS(list, task);
    convex_load(&b, task, 1, X);
    list->by.turns = task->type[0] == SAP_SHAPE_HEIGHT_FIELD;
    if (task->type[0] == SAP_SHAPE_HEIGHT_FIELD) {
        height_field_pair(task, &b, (scalar)task->reach, list);
    } else {
        Convex a;
        convex_load(&a, task, 0, origin);
        convex_pair(&a, &b, (scalar)task->reach, list);
    }
    WORKSPACE(Manifold, m, task->work, MANIFOLD_AT);
    candidates_reduce(list, task->max_contacts, m);
    task_store(task, m);
}
