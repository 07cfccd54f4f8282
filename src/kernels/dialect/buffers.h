/* Conversion between the caller's row-major arrays [world][n] (f32 or f64) and lanes, and access to model constants.
 * Values are converted here when they are read and written; no other file depends on storage types. */

typedef SapContext Context;

/* A caller's f64 array [num_worlds][n]. */
KERNEL_FN SapBuffer buffer_f64(double *data, int n) {
    SapBuffer buffer;
    buffer.data = data;
    buffer.stride = n;
    buffer.is_f64 = 1;
    return buffer;
}

/* Where element i of the row of lane l is. */
KERNEL_FN long long buffer_at(SapBuffer buffer, const SapPack *pack, int l, long long i) {
    return (long long)pack->world[l] * buffer.stride + i;
}

/* Element i of the row of each lane's world. */
KERNEL_FN real buffer_get(SapBuffer buffer, int i, const SapPack *pack) {
    real r;
    if (buffer.is_f64) {
        const double *data = (const double *)buffer.data;
        FOR_LANES(l) LANE(r, l) = (scalar)data[buffer_at(buffer, pack, l, i)];
    } else {
        const float *data = (const float *)buffer.data;
        FOR_LANES(l) LANE(r, l) = (scalar)data[buffer_at(buffer, pack, l, i)];
    }
    return r;
}

/* Element `at` of the buffer, for code that processes one world; 0 if the buffer is absent. */
KERNEL_FN double buffer_read(SapBuffer buffer, long long at) {
    return !buffer.data    ? 0
           : buffer.is_f64 ? ((const double *)buffer.data)[at]
                           : (double)((const float *)buffer.data)[at];
}
/* Writes element `at`, for code that processes one world; does nothing if the buffer is absent. */
KERNEL_FN void buffer_write(SapBuffer buffer, long long at, double value) {
    if (!buffer.data)
        return;
    if (buffer.is_f64)
        ((double *)buffer.data)[at] = value;
    else
        ((float *)buffer.data)[at] = (float)value;
}

/* Writes element i of the rows of the lanes in `which`. */
KERNEL_FN void buffer_put(SapBuffer buffer, int i, real value, mask which, const SapPack *pack) {
    FOR_LANES(l) {
        if (!mask_lane(which, l))
            continue;
        long long at = buffer_at(buffer, pack, l, i);
        if (buffer.is_f64)
            ((double *)buffer.data)[at] = (double)LANE(value, l);
        else
            ((float *)buffer.data)[at] = (float)LANE(value, l);
    }
}

/* The value that buffer_get returns after buffer_put: a number can overflow the type of the array. */
KERNEL_FN real buffer_stored(SapBuffer buffer, real value) {
    real r = value;
    if (buffer.data && !buffer.is_f64)
        FOR_LANES(l) LANE(r, l) = (scalar)(float)LANE(value, l);
    return r;
}

/* Copies element i in the lanes of `which` without conversion to the precision of the kernels. */
KERNEL_FN void buffer_copy(SapBuffer to, SapBuffer from, int i, mask which, const SapPack *pack) {
    FOR_LANES(l) {
        if (!mask_lane(which, l))
            continue;
        long long at = buffer_at(from, pack, l, i);
        double value = from.is_f64 ? ((const double *)from.data)[at] : (double)((const float *)from.data)[at];
        at = buffer_at(to, pack, l, i);
        if (to.is_f64)
            ((double *)to.data)[at] = value;
        else
            ((float *)to.data)[at] = (float)value;
    }
}

KERNEL_FN Vec3 buffer_get_vec3(SapBuffer buffer, int i, const SapPack *pack) {
    return vec3(buffer_get(buffer, i, pack), buffer_get(buffer, i + 1, pack), buffer_get(buffer, i + 2, pack));
}

KERNEL_FN void buffer_put_vec3(SapBuffer buffer, int i, Vec3 v, mask which, const SapPack *pack) {
    buffer_put(buffer, i, v.x, which, pack);
    buffer_put(buffer, i + 1, v.y, which, pack);
    buffer_put(buffer, i + 2, v.z, which, pack);
}

KERNEL_FN void buffer_put_quat(SapBuffer buffer, int i, Quat q, mask which, const SapPack *pack) {
    buffer_put(buffer, i, q.x, which, pack);
    buffer_put(buffer, i + 1, q.y, which, pack);
    buffer_put(buffer, i + 2, q.z, which, pack);
    buffer_put(buffer, i + 3, q.w, which, pack);
}

/* Lanes below pack->count; the others repeat the last world of the pack. */
KERNEL_FN mask pack_lanes(const SapPack *pack) {
    mask m;
    FOR_LANES(l) LANE(m, l) = -(l < pack->count);
    return m;
}

/* Element i of a model constant. */
KERNEL_FN real field_get(SapField field, int i, const SapPack *pack) {
    const scalar *data = (const scalar *)field.data;
    if (!TABLES_KNOWN && field.stride == 0) /* there every address has a world, without a branch */
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

/* 0 where a is finite, else NaN. The sum of checks is 0 only where all of them are 0. */
KERNEL_FN real check_of(real a) {
    return a - a;
}

/* 0 if all n checks are 0, else NaN. */
KERNEL_FN real check_sum(const real *check, int n) {
    real sum = real_of(0);
    for (int i = 0; i < n; i++)
        sum = sum + check[i];
    return sum;
}

/* Worlds in which all n checks are 0. Every thread of the team computes the same sum. */
KERNEL_FN mask checks_pass(const real *check, int n) {
    return check_sum(check, n) == K(0.0);
}

/* Element i of a field, or `absent` for i < 0. */
KERNEL_FN real field_get_or(SapField field, int i, real absent, const SapPack *pack) {
    return i < 0 ? absent : field_get(field, i, pack);
}

/* Element index[l] * n + i of the row of lane l; index[l] < 0 reads as 0. The buffer must be present. */
KERNEL_FN real buffer_gather(SapBuffer buffer, const int *index, int n, int i, const SapPack *pack) {
    real r;
    if (buffer.is_f64) {
        const double *data = (const double *)buffer.data;
        FOR_LANES(l)
        LANE(r, l) = (scalar)data[buffer_at(buffer, pack, l, (long long)n * (index[l] < 0 ? 0 : index[l]) + i)];
    } else {
        const float *data = (const float *)buffer.data;
        FOR_LANES(l)
        LANE(r, l) = (scalar)data[buffer_at(buffer, pack, l, (long long)n * (index[l] < 0 ? 0 : index[l]) + i)];
    }
    return r;
}

KERNEL_FN Vec3 buffer_gather_vec3(SapBuffer buffer, const int *index, const SapPack *pack) {
    return vec3(buffer_gather(buffer, index, 3, 0, pack), buffer_gather(buffer, index, 3, 1, pack),
                buffer_gather(buffer, index, 3, 2, pack));
}

/* Element index[l] of the row of lane l, or `absent` if the buffer is absent. */
KERNEL_FN real buffer_gather_or(SapBuffer buffer, const int *index, real absent, const SapPack *pack) {
    return buffer.data ? buffer_gather(buffer, index, 1, 0, pack) : absent;
}

/* Element index[l] of the row of lane l; `value` if the buffer is absent or the element is NaN. */
KERNEL_FN real buffer_override(SapBuffer buffer, const int *index, real value, const SapPack *pack) {
    real own = buffer_gather_or(buffer, index, value, pack);
    return real_select(own == own, own, value);
}

/* Writes element index[l] * n + i of the rows of the lanes in `which`. */
KERNEL_FN void buffer_scatter(SapBuffer buffer, const int *index, int n, int i, real value, mask which,
                              const SapPack *pack) {
    FOR_LANES(l) {
        if (mask_lane(which, l))
            buffer_write(buffer, buffer_at(buffer, pack, l, (long long)n * index[l] + i), (double)LANE(value, l));
    }
}

/* 0, or NaN where v is not finite. */
KERNEL_FN real vec3_check(Vec3 v) {
    return check_of(v.x) + check_of(v.y) + check_of(v.z);
}

/* 0, or NaN where v is not finite in the type of the buffer. */
KERNEL_FN real buffer_check_vec3(SapBuffer buffer, Vec3 v) {
    return check_of(buffer_stored(buffer, v.x)) + check_of(buffer_stored(buffer, v.y)) +
           check_of(buffer_stored(buffer, v.z));
}
