/* Between the caller's row-major arrays [world][n] (f32 or f64) and lanes, and the reading of model constants.
 * Values are converted where they are read and written; nothing else knows of storage types. */

typedef SapContext Context;

/* Parts of scratch, in the precision of this stage. */
#define SCRATCH(part)        ((real *)ctx->fm + ctx->args->plan.layout.part)
#define DOF(part)            ((real *)ctx->solve + ctx->args->solve.part)
#define SLOT_OFFSET(part, c) (ctx->args->solve.slots + (c)*ctx->args->solve.slot_size + ctx->args->slot.part)
#define SLOT(part, c)        ((real *)ctx->solve + SLOT_OFFSET(part, c))
#define NUM_SLOTS            (ctx->ints) /* how many are in use, then the slots, then what follows them */
#define FIRST_TOUCH(i)       ((SapTouch *)(ctx->ints + ctx->args->slot_ints.first) + (i))
#define JOINT_ACTS(i)        ((ctx->ints + ctx->args->slot_ints.acts)[i])
#define NEXT_TOUCH(c, k)     ((SapTouch *)SLOT_INTS(next, c) + (k))
#define SLOT_INTS(part, c)   (ctx->ints + 1 + (c)*ctx->args->slot_ints.size + ctx->args->slot_ints.part)
#define LINEAR(part)         ((real *)ctx->linear[SAP_PRECISION == 64] + ctx->args->linear.part)

/* The model's constants and the time step in the precision of this stage. */
#define STAGE_CONSTANTS (&ctx->args->constants[SAP_PRECISION == 64])
#define STAGE_H         real_of((scalar)ctx->args->h)

KERNEL_FN real row_get(SapRows rows, int i, const SapPack *pack) {
    real r;
    if (rows.is_f64) {
        const double *data = (const double *)rows.data;
        FOR_LANES(l) LANE(r, l) = (scalar)data[pack->world[l] * rows.stride + i];
    } else {
        const float *data = (const float *)rows.data;
        FOR_LANES(l) LANE(r, l) = (scalar)data[pack->world[l] * rows.stride + i];
    }
    return r;
}

/* Element `at` of rows, for code that works on one world. */
KERNEL_FN double row_read(SapRows rows, long long at) {
    return !rows.data ? 0 : rows.is_f64 ? ((const double *)rows.data)[at] : (double)((const float *)rows.data)[at];
}
KERNEL_FN void row_write(SapRows rows, long long at, double value) {
    if (!rows.data)
        return;
    if (rows.is_f64)
        ((double *)rows.data)[at] = value;
    else
        ((float *)rows.data)[at] = (float)value;
}

/* Writes the lanes of `which` only. */
KERNEL_FN void row_put(SapRows rows, int i, real value, mask which, const SapPack *pack) {
    FOR_LANES(l) {
        if (!mask_lane(which, l))
            continue;
        long long at = pack->world[l] * rows.stride + i;
        if (rows.is_f64)
            ((double *)rows.data)[at] = (double)LANE(value, l);
        else
            ((float *)rows.data)[at] = (float)LANE(value, l);
    }
}

/* What row_get will find after row_put: a number can be too large for the array it goes to. */
KERNEL_FN real row_stored(SapRows rows, real value) {
    real r = value;
    if (rows.data && !rows.is_f64)
        FOR_LANES(l) LANE(r, l) = (scalar)(float)LANE(value, l);
    return r;
}

/* Copies the lanes of `which` without passing through the precision of the kernels. */
KERNEL_FN void row_copy(SapRows to, SapRows from, int i, mask which, const SapPack *pack) {
    FOR_LANES(l) {
        if (!mask_lane(which, l))
            continue;
        long long at = pack->world[l] * from.stride + i;
        double value = from.is_f64 ? ((const double *)from.data)[at] : (double)((const float *)from.data)[at];
        at = pack->world[l] * to.stride + i;
        if (to.is_f64)
            ((double *)to.data)[at] = value;
        else
            ((float *)to.data)[at] = (float)value;
    }
}

KERNEL_FN Vec3 row_get_vec3(SapRows rows, int i, const SapPack *pack) {
    return vec3(row_get(rows, i, pack), row_get(rows, i + 1, pack), row_get(rows, i + 2, pack));
}

KERNEL_FN void row_put_vec3(SapRows rows, int i, Vec3 v, mask which, const SapPack *pack) {
    row_put(rows, i, v.x, which, pack);
    row_put(rows, i + 1, v.y, which, pack);
    row_put(rows, i + 2, v.z, which, pack);
}

KERNEL_FN void row_put_quat(SapRows rows, int i, Quat q, mask which, const SapPack *pack) {
    row_put(rows, i, q.x, which, pack);
    row_put(rows, i + 1, q.y, which, pack);
    row_put(rows, i + 2, q.z, which, pack);
    row_put(rows, i + 3, q.w, which, pack);
}

/* Lanes that hold a world of their own; those past the end of the batch repeat the last one. */
KERNEL_FN mask pack_lanes(const SapPack *pack) {
    mask m;
    FOR_LANES(l) LANE(m, l) = -(l < pack->count);
    return m;
}

KERNEL_FN real field_get(SapField field, int i, const SapPack *pack) {
    const scalar *data = (const scalar *)field.data;
    if (field.stride == 0)
        return real_of(data[i]);
    real r;
    FOR_LANES(l) LANE(r, l) = data[pack->world[l] * field.stride + i];
    return r;
}

KERNEL_FN Vec3 field_get_vec3(SapField field, int i, const SapPack *pack) {
    return vec3(field_get(field, i, pack), field_get(field, i + 1, pack), field_get(field, i + 2, pack));
}

KERNEL_FN Quat field_get_quat(SapField field, int i, const SapPack *pack) {
    return quat(field_get(field, i, pack), field_get(field, i + 1, pack), field_get(field, i + 2, pack),
                field_get(field, i + 3, pack));
}

/* 0 where a is finite, NaN where it is not: checks add up. */
KERNEL_FN real check_of(real a) {
    return a - a;
}

/* Every thread of the team reads all n checks, so nothing needs to be agreed upon. */
KERNEL_FN mask checks_pass(const real *check, int n) {
    real sum = real_of(0);
    for (int i = 0; i < n; i++)
        sum = sum + check[i];
    return sum == K(0.0);
}

/* Entry i of a field, or `absent` for i < 0. */
KERNEL_FN real field_get_or(SapField field, int i, real absent, const SapPack *pack) {
    return i < 0 ? absent : field_get(field, i, pack);
}

/* Entry index[l] * n + i of a row in each lane; where index[l] < 0, of the first. The rows are there. */
KERNEL_FN real row_gather(SapRows rows, const int *index, int n, int i, const SapPack *pack) {
    real r;
    if (rows.is_f64) {
        const double *data = (const double *)rows.data;
        FOR_LANES(l)
        LANE(r, l) = (scalar)data[pack->world[l] * rows.stride + (index[l] < 0 ? 0 : index[l]) * (long long)n + i];
    } else {
        const float *data = (const float *)rows.data;
        FOR_LANES(l)
        LANE(r, l) = (scalar)data[pack->world[l] * rows.stride + (index[l] < 0 ? 0 : index[l]) * (long long)n + i];
    }
    return r;
}

KERNEL_FN Vec3 row_gather_vec3(SapRows rows, const int *index, const SapPack *pack) {
    return vec3(row_gather(rows, index, 3, 0, pack), row_gather(rows, index, 3, 1, pack),
                row_gather(rows, index, 3, 2, pack));
}

/* Entry index[l], or `absent` where there are no rows. */
KERNEL_FN real row_gather_or(SapRows rows, const int *index, real absent, const SapPack *pack) {
    return rows.data ? row_gather(rows, index, 1, 0, pack) : absent;
}

/* Entry index[l] where it is a number, else the value given. */
KERNEL_FN real row_override(SapRows rows, const int *index, real value, const SapPack *pack) {
    real own = row_gather_or(rows, index, value, pack);
    return real_select(own == own, own, value);
}

/* Writes entry index[l] * n + i of a row in the lanes of `which`. */
KERNEL_FN void row_scatter(SapRows rows, const int *index, int n, int i, real value, mask which, const SapPack *pack) {
    FOR_LANES(l) {
        if (mask_lane(which, l))
            row_write(rows, pack->world[l] * rows.stride + (long long)index[l] * n + i, (double)LANE(value, l));
    }
}

KERNEL_FN real vec3_check(Vec3 v) {
    return check_of(v.x) + check_of(v.y) + check_of(v.z);
}

/* 0, or NaN where v is not finite as it is stored. */
KERNEL_FN real rows_check_vec3(SapRows rows, Vec3 v) {
    return check_of(row_stored(rows, v.x)) + check_of(row_stored(rows, v.y)) + check_of(row_stored(rows, v.z));
}
