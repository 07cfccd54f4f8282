/* Between the caller's row-major arrays [world][n] (f32 or f64) and lanes, and the reading of model constants.
 * Values are converted where they are read and written; nothing else knows of storage types. */

typedef SapContext Context;

/* An f64 array [num_worlds][n] of the caller. */
KERNEL_FN SapBuffer buffer_f64(double *data, long long n) {
    SapBuffer buffer;
    buffer.data = data;
    buffer.stride = n;
    buffer.is_f64 = 1;
    return buffer;
}

KERNEL_FN real buffer_get(SapBuffer buffer, int i, const SapPack *pack) {
    real r;
    if (buffer.is_f64) {
        const double *data = (const double *)buffer.data;
        FOR_LANES(l) LANE(r, l) = (scalar)data[pack->world[l] * buffer.stride + i];
    } else {
        const float *data = (const float *)buffer.data;
        FOR_LANES(l) LANE(r, l) = (scalar)data[pack->world[l] * buffer.stride + i];
    }
    return r;
}

/* Element `at` of buffer, for code that works on one world. */
KERNEL_FN double buffer_read(SapBuffer buffer, long long at) {
    return !buffer.data    ? 0
           : buffer.is_f64 ? ((const double *)buffer.data)[at]
                           : (double)((const float *)buffer.data)[at];
}
KERNEL_FN void buffer_write(SapBuffer buffer, long long at, double value) {
    if (!buffer.data)
        return;
    if (buffer.is_f64)
        ((double *)buffer.data)[at] = value;
    else
        ((float *)buffer.data)[at] = (float)value;
}

/* Writes the lanes of `which` only. */
KERNEL_FN void buffer_put(SapBuffer buffer, int i, real value, mask which, const SapPack *pack) {
    FOR_LANES(l) {
        if (!mask_lane(which, l))
            continue;
        long long at = pack->world[l] * buffer.stride + i;
        if (buffer.is_f64)
            ((double *)buffer.data)[at] = (double)LANE(value, l);
        else
            ((float *)buffer.data)[at] = (float)LANE(value, l);
    }
}

/* What buffer_get will find after buffer_put: a number can be too large for the array it goes to. */
KERNEL_FN real buffer_stored(SapBuffer buffer, real value) {
    real r = value;
    if (buffer.data && !buffer.is_f64)
        FOR_LANES(l) LANE(r, l) = (scalar)(float)LANE(value, l);
    return r;
}

/* Copies the lanes of `which` without passing through the precision of the kernels. */
KERNEL_FN void buffer_copy(SapBuffer to, SapBuffer from, int i, mask which, const SapPack *pack) {
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

/* Entry index[l] * n + i of a row in each lane; where index[l] < 0, of the first. The buffer are there. */
KERNEL_FN real buffer_gather(SapBuffer buffer, const int *index, int n, int i, const SapPack *pack) {
    real r;
    if (buffer.is_f64) {
        const double *data = (const double *)buffer.data;
        FOR_LANES(l)
        LANE(r, l) = (scalar)data[pack->world[l] * buffer.stride + (index[l] < 0 ? 0 : index[l]) * (long long)n + i];
    } else {
        const float *data = (const float *)buffer.data;
        FOR_LANES(l)
        LANE(r, l) = (scalar)data[pack->world[l] * buffer.stride + (index[l] < 0 ? 0 : index[l]) * (long long)n + i];
    }
    return r;
}

KERNEL_FN Vec3 buffer_gather_vec3(SapBuffer buffer, const int *index, const SapPack *pack) {
    return vec3(buffer_gather(buffer, index, 3, 0, pack), buffer_gather(buffer, index, 3, 1, pack),
                buffer_gather(buffer, index, 3, 2, pack));
}

/* Entry index[l], or `absent` where there are no buffer. */
KERNEL_FN real buffer_gather_or(SapBuffer buffer, const int *index, real absent, const SapPack *pack) {
    return buffer.data ? buffer_gather(buffer, index, 1, 0, pack) : absent;
}

/* Entry index[l] where it is a number, else the value given. */
KERNEL_FN real buffer_override(SapBuffer buffer, const int *index, real value, const SapPack *pack) {
    real own = buffer_gather_or(buffer, index, value, pack);
    return real_select(own == own, own, value);
}

/* Writes entry index[l] * n + i of a row in the lanes of `which`. */
KERNEL_FN void buffer_scatter(SapBuffer buffer, const int *index, int n, int i, real value, mask which,
                              const SapPack *pack) {
    FOR_LANES(l) {
        if (mask_lane(which, l))
            buffer_write(buffer, pack->world[l] * buffer.stride + (long long)index[l] * n + i, (double)LANE(value, l));
    }
}

KERNEL_FN real vec3_check(Vec3 v) {
    return check_of(v.x) + check_of(v.y) + check_of(v.z);
}

/* 0, or NaN where v is not finite as it is stored. */
KERNEL_FN real buffer_check_vec3(SapBuffer buffer, Vec3 v) {
    return check_of(buffer_stored(buffer, v.x)) + check_of(buffer_stored(buffer, v.y)) +
           check_of(buffer_stored(buffer, v.z));
}
