/* Boxes around shapes, to find out cheaply that two shapes are apart: all worlds of the pack at once, before the
 * general method, which processes one world at a time.
 *
 * Boxes with half extents a and b, the second with the axes R_j and the centre p in the frame of the first, are farther
 * apart than `reach` if for one of the 15 directions L of narrow_box.h
 *   |p.L| - sum a_k |L.e_k| - sum b_k |L.R_k| > reach |L|
 * BOX_SLACK of the sizes is added to reach for rounding. The general method then finds no contact either, so the test
 * does not change a result. */

/* Rounding of the test and of the general method, relative to sizes and distance: some tens of roundings in f32. */
#define BOX_SLACK 2e-5

/* A box in the frame of its shape. */
typedef struct OrientedBox {
    Vec3 p; /* centre */
    Mat3 R; /* axes */
    Vec3 half;
} OrientedBox;

KERNEL_FN Mat3 mat3_identity(void) {
    Mat3 E;
    E.x = vec3(real_of(1), real_of(0), real_of(0));
    E.y = vec3(real_of(0), real_of(1), real_of(0));
    E.z = vec3_unit_z();
    return E;
}

/* Half extents of the shapes that are centred in their frame and have their axes along it. */
KERNEL_FN Vec3 solid_half(const Solid *s) {
    Vec3 size = s->size;
    switch (s->type) {
    case SAP_SHAPE_SPHERE: return vec3(size.x, size.x, size.x);
    case SAP_SHAPE_CAPSULE: return vec3(size.x, size.x, size.x + size.y);
    case SAP_SHAPE_CYLINDER:
    case SAP_SHAPE_CONE: return vec3(size.x, size.x, size.y);
    default: return size; /* box, ellipsoid */
    }
}

/* The box around a convex shape. */
KERNEL_FN OrientedBox solid_box(const Context *ctx, const Solid *s) {
    OrientedBox box;
    if (s->type == SAP_SHAPE_HULL) {
        SapField data = STAGE_CONSTANTS->hull_box;
        int first = 15 * s->mesh;
        box.p = field_get_vec3(data, first, ctx->pack);
        box.R.x = field_get_vec3(data, first + 3, ctx->pack);
        box.R.y = field_get_vec3(data, first + 6, ctx->pack);
        box.R.z = field_get_vec3(data, first + 9, ctx->pack);
        box.half = field_get_vec3(data, first + 12, ctx->pack);
    } else {
        box.p = vec3_zero();
        box.R = mat3_identity();
        box.half = solid_half(s);
    }
    return box;
}

/* sum size_k |v_k| */
KERNEL_FN real box_radius(Vec3 size, Vec3 v) {
    return real_fma(size.z, real_abs(v.z), real_fma(size.y, real_abs(v.y), size.x * real_abs(v.x)));
}
KERNEL_FN Vec3 mat3_column(const Mat3 *R, int i) {
    return i == 0 ? R->x : i == 1 ? R->y : R->z;
}
KERNEL_FN real vec3_component(Vec3 v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

/* Worlds in which the boxes are farther apart than reach: half extents a and b, R the axes of b and p its centre in the
 * frame of a. */
STAGE_FN mask boxes_apart(Vec3 a, Vec3 b, const Mat3 *R, Vec3 p, real reach) {
    Vec3 q = mat3_mul_transposed(*R, p);
    mask apart = mask_none();
    for (int i = 0; i < 3; i++) {
        Vec3 row = vec3(vec3_component(R->x, i), vec3_component(R->y, i), vec3_component(R->z, i));
        apart = apart | (real_abs(vec3_component(p, i)) - vec3_component(a, i) - box_radius(b, row) > reach);
        real gap = real_abs(vec3_component(q, i)) - vec3_component(b, i) - box_radius(a, mat3_column(R, i));
        apart = apart | (gap > reach);
    }
    /* edges: L = e_i x R_j, |L| <= 1 */
    for (int i = 0; i < 3; i++) {
        Vec3 e = vec3(real_of(i == 0), real_of(i == 1), real_of(i == 2));
        for (int j = 0; j < 3; j++) {
            Vec3 L = vec3_cross(e, mat3_column(R, j));
            real gap = real_abs(vec3_dot(L, p)) - box_radius(a, L) - box_radius(b, mat3_mul_transposed(*R, L));
            apart = apart | (gap > reach);
        }
    }
    return apart;
}

/* Worlds in which the boxes around two shapes are farther apart than reach. X is the pose of b in the frame of a. */
STAGE_FN mask solids_apart(const Context *ctx, const Solid *a, const Solid *b, Pose X, real reach) {
    if (a->type == SAP_SHAPE_HEIGHT_FIELD)
        return mask_none();
    OrientedBox box_a = solid_box(ctx, a), box_b = solid_box(ctx, b);
    Mat3 turn = quat_matrix(X.q), R;
    /* the box of b in the frame of a, then in the frame of the box of a */
    Vec3 p = vec3_sub(vec3_add(X.p, mat3_mul(turn, box_b.p)), box_a.p);
    R.x = mat3_mul_transposed(box_a.R, mat3_mul(turn, box_b.R.x));
    R.y = mat3_mul_transposed(box_a.R, mat3_mul(turn, box_b.R.y));
    R.z = mat3_mul_transposed(box_a.R, mat3_mul(turn, box_b.R.z));
    p = mat3_mul_transposed(box_a.R, p);
    real sizes = box_a.half.x + box_a.half.y + box_a.half.z + box_b.half.x + box_b.half.y + box_b.half.z;
    real distance = real_abs(p.x) + real_abs(p.y) + real_abs(p.z);
    reach = real_max(reach, real_of(0)) + K(BOX_SLACK) * (sizes + distance);
    return boxes_apart(box_a.half, box_b.half, &R, p, reach);
}
