/* A ray and a height field, in the frame of the field. docs/sensors.md.
 *
 * Along a ray, the height above the surface,
 *   g(t) = z(t) - surface(x(t), y(t)),
 * is continuous, and linear between the lines of the grid and the diagonals of its cells. The ray meets the surface in
 * the first piece whose ends have different signs. The end of a piece is the beginning of the next, so no ray slips
 * through between two triangles. A walk visits at most rows + columns cells. */

typedef struct RayField {
    const scalar *height; /* [rows][columns] */
    int rows, columns;
    Vec3 o, d; /* the ray in cells: x counts columns, y rows; z in metres */
} RayField;

/* The height above the surface at x(t), which is in cell (row, column). */
KERNEL_FN real field_above(const RayField *f, int row, int column, real t) {
    const scalar *h = f->height + (long long)row * f->columns + column;
    real u = real_fma(t, f->d.x, f->o.x) - (scalar)column, v = real_fma(t, f->d.y, f->o.y) - (scalar)row;
    real near = h[0], far = h[f->columns + 1], side = u > v ? h[1] : h[f->columns];
    /* both triangles contain the diagonal from `near` to `far` */
    real surface = near + real_min(u, v) * (far - side) + real_max(u, v) * (side - near);
    return real_fma(t, f->d.z, f->o.z) - surface;
}

/* Where a coordinate leaves cell i; RAY_FAR if it does not. */
KERNEL_FN real cell_end(real o, real d, int i) {
    if (d == K(0.0))
        return K(RAY_FAR);
    return ((scalar)(d > K(0.0) ? i + 1 : i) - o) / d;
}

/* The cell of the coordinate x among n, clamped; NaN gives 0. */
KERNEL_FN int cell_at(real x, int n) {
    if (!(x > K(0.0)))
        return 0;
    return x < (scalar)n ? (int)x : n - 1;
}

/* The walk of a ray through the cells: the current cell and piece. */
typedef struct RayWalk {
    int row, column;
    real t, g; /* beginning of the piece, and g there */
} RayWalk;

/* Ends the piece at t = end. Returns whether the ray meets the surface in it, at walk->t then. */
KERNEL_FN bool walk_to(const RayField *f, RayWalk *walk, real end) {
    real g = field_above(f, walk->row, walk->column, end);
    bool meets = (walk->g > K(0.0)) != (g > K(0.0));
    walk->t = meets ? walk->t + (end - walk->t) * (walk->g / (walk->g - g)) : end;
    walk->g = g;
    return meets;
}

/* Where the ray crosses the diagonal of the cell, between low and high; else low. */
KERNEL_FN real diagonal_at(const RayField *f, const RayWalk *walk, real low, real high) {
    real w = (f->o.y - (scalar)walk->row) - (f->o.x - (scalar)walk->column), along = f->d.x - f->d.y;
    real t = along == K(0.0) ? low : w / along;
    return t > low && t < high ? t : low;
}

/* Goes to the neighbour in which the ray is after `across` (columns) or `up` (rows); false at the border. */
KERNEL_FN bool walk_on(const RayField *f, RayWalk *walk, real across, real up) {
    if (across <= up)
        walk->column += f->d.x > K(0.0) ? 1 : -1;
    else
        walk->row += f->d.y > K(0.0) ? 1 : -1;
    return walk->row >= 0 && walk->row < f->rows - 1 && walk->column >= 0 && walk->column < f->columns - 1;
}

/* Whether the ray meets the surface at low <= t <= high; *t is where, *surface 2 (cell) + (1: above the diagonal). The
 * walk ends where t + nearest exceeds `least`, the distance of a nearer hit. Pieces do not end there, so that t does
 * not depend on that hit. */
STAGE_FN bool field_meets(const RayField *f, real low, real high, real nearest, real least, real *t, int *surface) {
    RayWalk walk;
    walk.t = low;
    walk.row = cell_at(real_fma(low, f->d.y, f->o.y), f->rows - 1);
    walk.column = cell_at(real_fma(low, f->d.x, f->o.x), f->columns - 1);
    walk.g = field_above(f, walk.row, walk.column, low);
    bool meets = false, inside = true;
    for (int i = 0; i < f->rows + f->columns && inside && !meets && walk.t < high && walk.t + nearest <= least; i++) {
        /* to the diagonal, if the ray crosses it, then to the border of the cell */
        real across = cell_end(f->o.x, f->d.x, walk.column), up = cell_end(f->o.y, f->d.y, walk.row);
        real begin = walk.t, end = real_max(begin, real_min(high, real_min(across, up)));
        real diagonal = diagonal_at(f, &walk, begin, end);
        if (diagonal > begin) {
            meets = walk_to(f, &walk, diagonal);
            end = meets ? diagonal : end;
            begin = meets ? begin : diagonal;
        }
        meets = meets || walk_to(f, &walk, end);
        /* the triangle of this piece */
        real middle = K(0.5) * (begin + end);
        real u = real_fma(middle, f->d.x, f->o.x) - (scalar)walk.column;
        real v = real_fma(middle, f->d.y, f->o.y) - (scalar)walk.row;
        *surface = 2 * (walk.row * f->columns + walk.column) + (v > u);
        inside = meets || walk_on(f, &walk, across, up);
    }
    *t = walk.t;
    return meets;
}

/* The ray in cells; the grid covers |x| <= size.x, |y| <= size.y. */
KERNEL_FN RayField ray_field(const SapRayArgs *args, int grid, Vec3 size, Ray ray) {
    const SapHeightField *h = &args->plan.height_field[grid];
    RayField f;
    f.height = (const scalar *)args->constants.height.data + h->height;
    f.rows = h->rows;
    f.columns = h->columns;
    real x = (scalar)(h->columns - 1) / (K(2.0) * size.x), y = (scalar)(h->rows - 1) / (K(2.0) * size.y);
    f.o = vec3((ray.o.x + size.x) * x, (ray.o.y + size.y) * y, ray.o.z);
    f.d = vec3(ray.d.x * x, ray.d.y * y, ray.d.z);
    return f;
}

/* The upward normal, not of unit length, of the triangle `surface`. */
KERNEL_FN Vec3 field_normal(const SapRayArgs *args, int grid, Vec3 size, int surface) {
    const SapHeightField *f = &args->plan.height_field[grid];
    const scalar *h = (const scalar *)args->constants.height.data + f->height + surface / 2;
    real dx = K(2.0) * size.x / (scalar)(f->columns - 1), dy = K(2.0) * size.y / (scalar)(f->rows - 1);
    real side = surface % 2 ? h[f->columns] : h[1], near = h[0], far = h[f->columns + 1];
    real slope_x = (surface % 2 ? far - side : side - near) / dx,
         slope_y = (surface % 2 ? side - near : far - side) / dy;
    return vec3(-slope_x, -slope_y, real_of(1));
}
