/* Access between stages of different precision. A stage reads its own scratch directly. It reads and writes the scratch
 * of another stage, which may have the other precision, through a StageView, which converts each value. */

typedef struct StageView {
    void *data; /* reals of one precision */
    int is_f64; /* that precision */
    int start;  /* offset of the part, in reals */
} StageView;

KERNEL_FN StageView view_at(void *data, int is_f64, int start) {
    StageView s;
    s.data = data;
    s.is_f64 = is_f64;
    s.start = start;
    return s;
}

KERNEL_FN real view_get(StageView s, int i) {
    return s.is_f64 ? CONVERT(((const real_f64 *)s.data)[s.start + i], real)
                    : CONVERT(((const real_f32 *)s.data)[s.start + i], real);
}

/* The same view from the beginning of its part on, so that a loop adds no offset to its indices. A thread of a team has
 * no register to spare for that. */
KERNEL_FN StageView view_begin(StageView s, int is_f64) {
    if (!TEAM_OF_ONE)
        return view_at(s.data, is_f64, s.start);
    return view_at(is_f64 ? (void *)((real_f64 *)s.data + s.start) : (void *)((real_f32 *)s.data + s.start), is_f64, 0);
}

/* Runs a statement that reads `view` with the precision of the view as a constant: loops in it have no branch. */
#define VIEW_CASES(view, statement)                                                                                    \
    do {                                                                                                               \
        if ((view).is_f64) {                                                                                           \
            view = view_begin(view, 1);                                                                                \
            statement;                                                                                                 \
        } else {                                                                                                       \
            view = view_begin(view, 0);                                                                                \
            statement;                                                                                                 \
        }                                                                                                              \
    } while (0)

KERNEL_FN void view_put(StageView s, int i, real x) {
    if (s.is_f64)
        ((real_f64 *)s.data)[s.start + i] = CONVERT(x, real_f64);
    else
        ((real_f32 *)s.data)[s.start + i] = CONVERT(x, real_f32);
}

KERNEL_FN Vec3 view_get_vec3(StageView s, int i) {
    s.start += i;
    s = view_begin(s, s.is_f64);
    return vec3(view_get(s, 0), view_get(s, 1), view_get(s, 2));
}

KERNEL_FN void view_put_vec3(StageView s, int i, Vec3 v) {
    view_put(s, i, v.x);
    view_put(s, i + 1, v.y);
    view_put(s, i + 2, v.z);
}

KERNEL_FN Pose view_get_pose(StageView s, int i) {
    Pose pose;
    pose.p = view_get_vec3(s, i);
    pose.q = quat(view_get(s, i + 3), view_get(s, i + 4), view_get(s, i + 5), view_get(s, i + 6));
    return pose;
}
