#include "host/model/warnings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/model/inertia.h"
#include "host/model/label.h"
#include "host/model/shape_types.h"

/* ---- small inertias ---- */

/* Mass properties of a shape in the frame of its body, as a solid of density 1; mass 0 for planes and height fields. */
static SapMassProperties solid_of(const SapModel *model, int shape) {
    const SapModelArrays *a = &model->arrays;
    SapShapeType type = (SapShapeType)a->shape_type[shape];
    int mesh = a->shape_mesh[shape];
    SapMassProperties solid = sap_shape_mass(type, a->shape_scale + 3 * shape, 1);
    if (sap_shape_data(type) == SAP_SHAPE_DATA_MESH)
        solid = sap_hull_mass(sap_model_hull(model, mesh), a->mesh_vertices + 3 * a->mesh_start[mesh],
                              a->shape_scale + 3 * shape, 1);
    return sap_mass_moved(&solid, a->shape_transform + 7 * shape);
}

/* The squared radius of gyration of a solid about the line along axis k through `point`: I_kk / m + distance^2. */
static double gyration2(const SapMassProperties *solid, const double point[3], int k) {
    double distance2 = 0;
    for (int i = 0; i < 3; i++)
        distance2 += i == k ? 0 : (solid->com[i] - point[i]) * (solid->com[i] - point[i]);
    return solid->inertia[4 * k] / solid->mass + distance2;
}

/* Raises the ratios of a shape's body: how many times smaller its moments are than the shape's with its mass. */
static void compare_with_shape(const SapModel *model, int shape, double (*ratio)[3]) {
    const SapModelArrays *a = &model->arrays;
    int body = a->shape_body[shape];
    SapMassProperties solid = solid_of(model, shape);
    for (int k = 0; k < 3 && solid.mass > 0; k++) {
        double moment = a->body_mass[body] * gyration2(&solid, a->body_com + 3 * body, k);
        ratio[body][k] = fmax(ratio[body][k], moment / a->body_inertia[9 * body + 4 * k]);
    }
}

static char *small_inertia_text(const SapModelArrays *a, int body, const double ratio[3]) {
    int k = ratio[1] > ratio[0];
    if (ratio[2] > ratio[k])
        k = 2;
    char text[512], axis = "xyz"[k];
    snprintf(text, sizeof text,
             "%s: its moment of inertia about %c is %.3g kg m^2, %.3g times less than for a solid of its shapes with "
             "its mass, %g kg; above %g contacts are so soft that it may sink through the ground (docs/faq.md)",
             sap_body_label(a, body).text, axis, a->body_inertia[9 * body + 4 * k], ratio[k], a->body_mass[body],
             SAP_SMALL_INERTIA);
    return strdup(text);
}

static bool is_small(const double ratio[3]) {
    return fmax(ratio[0], fmax(ratio[1], ratio[2])) > SAP_SMALL_INERTIA;
}

/* ---- the list ---- */

static SapStatus list_warnings(SapModel *model, double (*ratio)[3]) {
    int count = 0;
    for (int body = 0; body < model->arrays.num_bodies; body++)
        count += is_small(ratio[body]);
    model->warnings = calloc((size_t)count + 1, sizeof *model->warnings);
    if (model->warnings == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory for %d warnings", count);
    for (int body = 0; body < model->arrays.num_bodies; body++) {
        if (!is_small(ratio[body]))
            continue;
        char *text = small_inertia_text(&model->arrays, body, ratio[body]);
        if (text == NULL)
            return sap_fail(SAP_ERROR_MEMORY, "no memory for %d warnings", count);
        model->warnings[model->num_warnings++] = text;
    }
    return SAP_OK;
}

SapStatus sap_model_find_warnings(SapModel *model) {
    const SapModelArrays *a = &model->arrays;
    double(*ratio)[3] = calloc((size_t)a->num_bodies, sizeof *ratio);
    if (ratio == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory to compare %d inertias", a->num_bodies);
    for (int s = 0; s < a->num_shapes; s++)
        if (a->shape_body[s] >= 0 && (a->shape_flags[s] & SAP_SHAPE_COLLIDES))
            compare_with_shape(model, s, ratio);
    SapStatus status = list_warnings(model, ratio);
    free(ratio);
    return status;
}

void sap_model_free_warnings(SapModel *model) {
    for (int i = 0; i < model->num_warnings; i++)
        free(model->warnings[i]);
    free(model->warnings);
}

const char *sap_model_warning(const SapModel *model, int i) {
    return model == NULL || i < 0 || i >= model->num_warnings ? NULL : model->warnings[i];
}
