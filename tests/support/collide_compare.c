/* Contacts of pairs of shapes against expected distances and normals: see collide_compare.h. */
#include "support/collide_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

/* Below this depth (m) a contact counts as touching: whether it is seen as penetration is a matter of rounding. */
#define TOUCHING 1e-6

typedef struct Row {
    const PoseSet *set;
    const ExpectedContact *expected;
    double X[2][7];
} Row;

/* ---- texts ---- */

static void write_shape(FILE *out, const TestShape *shape, const double *X) {
    fprintf(out, "\n  %s, sizes %.17g %.17g %.17g", shape_type_name(shape->type), shape->size[0], shape->size[1],
            shape->size[2]);
    for (int v = 0; v < shape->num_vertices; v++)
        fprintf(out, "%s[%.17g, %.17g, %.17g]", v ? ", " : ", vertices ", shape->vertex[v][0], shape->vertex[v][1],
                shape->vertex[v][2]);
    fprintf(out, "\n    at [%.17g, %.17g, %.17g], q [%.17g, %.17g, %.17g, %.17g]", X[0], X[1], X[2], X[3], X[4], X[5],
            X[6]);
}

/* The row, so that it can be repeated alone; contact NULL = there is none. */
static void describe(char *text, const Row *row, const PairContact *contact) {
    FILE *out = fmemopen(text, COMPARE_TEXT, "w");
    const ExpectedContact *e = row->expected;
    fprintf(out, "expected distance %.10g, normal %.6f %.6f %.6f;", e->distance, e->n[0], e->n[1], e->n[2]);
    if (contact == NULL)
        fprintf(out, " there is no contact");
    else
        fprintf(out, " got %.10g, normal %.6f %.6f %.6f", contact->gap, contact->n[0], contact->n[1], contact->n[2]);
    for (int side = 0; side < 2; side++)
        write_shape(out, &row->set->shape[side], row->X[side]);
    fclose(out);
}

/* ---- comparison ---- */

static double normal_error(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* The larger of both, with its text; a NaN is larger than anything. */
static void keep_worst(double *worst, char *text, double error, const Row *row, const PairContact *contact) {
    if (error <= *worst)
        return;
    *worst = isnan(error) ? INFINITY : error;
    describe(text, row, contact);
}

static void compare_row(Comparison *c, const Row *row, const PairWorlds *worlds, int world) {
    const ExpectedContact *e = row->expected;
    int deepest = pair_worlds_deepest(worlds, world);
    c->rows++;
    PairContact contact = {0};
    if (deepest >= 0)
        contact = pair_worlds_contact(worlds, world, deepest);
    if (e->distance < -TOUCHING && (deepest < 0 || !(contact.gap < 0)) && c->missed++ == 0)
        describe(c->first_missed, row, deepest < 0 ? NULL : &contact);
    if (deepest < 0) {
        if (c->absent++ == 0 && c->missed == 0)
            describe(c->first_missed, row, NULL);
        return;
    }
    keep_worst(&c->gap_error, c->worst_gap, fabs(contact.gap - e->distance), row, &contact);
    if (e->compare_normal) {
        c->normals++;
        keep_worst(&c->normal_error, c->worst_normal, normal_error(contact.n, e->n), row, &contact);
    }
}

void compare_set(Comparison *c, const PoseSet *set, const ExpectedContact *expected, int rows, bool wrong) {
    PoseSet stream = *set;
    bool plane = set->shape[0].type == SAP_SHAPE_PLANE;
    Row *row = calloc((size_t)rows, sizeof *row);
    cr_assert_not_null(row);
    PairWorlds worlds = pair_worlds_create((const TestShape *const[]){&set->shape[0], &set->shape[1]},
                                           (const double *const[]){plane ? set->plane : NULL, NULL}, rows);
    for (int w = 0; w < rows; w++) {
        row[w] = (Row){.set = set, .expected = &expected[w]};
        pose_set_next(&stream, row[w].X[0], row[w].X[1]);
        for (int side = plane ? 1 : 0; side < 2; side++)
            pair_worlds_set(&worlds, w, side, row[w].X[side]);
    }
    pair_worlds_collide(&worlds);
    for (int w = 0; w < rows; w++) {
        if (expected[w].wrong == wrong)
            compare_row(c, &row[w], &worlds, w);
        else
            c->left_out++;
    }
    pair_worlds_destroy(&worlds);
    free(row);
}

void check_comparison(const Comparison *c, const char *name, double gap_tolerance, double normal_tolerance) {
    printf("%-20s %5d rows, %5d normals, %3d left out: gap to %.1e m, normal to %.1e\n", name, c->rows, c->normals,
           c->left_out, c->gap_error, c->normal_error);
    cr_expect(c->missed == 0, "%s: %d penetrations missed, the first: %s", name, c->missed, c->first_missed);
    cr_expect(c->absent == 0, "%s: %d rows without contact, the first: %s", name, c->absent, c->first_missed);
    cr_expect(c->gap_error <= gap_tolerance, "%s: a gap is off by %.3g m: %s", name, c->gap_error, c->worst_gap);
    cr_expect(c->normal_error <= normal_tolerance, "%s: a normal is off by %.3g: %s", name, c->normal_error,
              c->worst_normal);
}
