/* The collision part of a plan: shape types, hulls, height fields and pairs. Each hull shape has its own hull, because
 * it has its own scale; the topology comes from the hull of its mesh in the model. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/model.h"
#include "host/model/shape_types.h"
#include "host/plan/hulls.h"
#include "host/plan/pairs.h"
#include "host/plan/plan.h"
#include "host/plan/static_tree.h"

/* Up to this number of shapes, or of pairs, testing all pairs lane by lane costs less than a sweep of each world
 * (docs/collision.md). */
enum { MANY_SHAPES = 1024, MANY_PAIRS = 1 << 19 };

/* The arrays under construction, and their counts. */
typedef struct Fill {
    int num_hulls;
    size_t vertices, faces, corners;
    int *shape_type, *shape_mesh;
    SapHull *hull;
    SapHullFace *hull_face;
    SapHullEdge *hull_edge;
    int *hull_corner, *hull_source;
    SapHeightField *height_field;
} Fill;

static SapStatus count_hulls(const SapModel *model, Fill *f) {
    const SapModelArrays *m = sap_model_arrays(model);
    const size_t most = INT_MAX / 8; /* row offsets must fit an int */
    for (int s = 0; s < m->num_shapes; s++) {
        if (sap_shape_data(m->shape_type[s]) != SAP_SHAPE_DATA_MESH)
            continue;
        const SapHullShape *hull = sap_model_hull(model, m->shape_mesh[s]);
        f->num_hulls++;
        f->vertices += (size_t)hull->num_vertices;
        f->faces += (size_t)hull->num_faces;
        f->corners += (size_t)hull->num_corners;
        if (f->corners > most)
            return sap_fail(SAP_ERROR_MODEL,
                            "the hulls of shapes 0 .. %d have %zu corners of faces; at most %zu are allowed", s,
                            f->corners, most);
    }
    return SAP_OK;
}

static SapStatus carve(const SapModelArrays *m, Fill *f, SapPlanOwner *out) {
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "plan", SAP_PART(f->shape_type, m->num_shapes),
                          SAP_PART(f->shape_mesh, m->num_shapes), SAP_PART(f->hull, f->num_hulls),
                          SAP_PART(f->hull_face, f->faces), SAP_PART(f->hull_corner, f->corners),
                          SAP_PART(f->hull_edge, f->corners /* twice what a closed surface needs */),
                          SAP_PART(f->hull_source, f->vertices), SAP_PART(f->height_field, m->num_height_fields)));
    sap_plan_own(out, SAP_PLAN_SHAPES, arena.base, arena.used);
    return SAP_OK;
}

/* Appends hull k; `first` is the first vertex of its mesh. */
static SapStatus fill_hull(const SapHullShape *shape, int first, int k, Fill *f) {
    const SapHull *before = k > 0 ? &f->hull[k - 1] : NULL;
    SapHull hull = {.vertex = before ? before->vertex + before->num_vertices : 0,
                    .num_vertices = shape->num_vertices,
                    .face = before ? before->face + before->num_faces : 0,
                    .num_faces = shape->num_faces,
                    .edge = before ? before->edge + before->num_edges : 0};
    const SapHullFace *last = hull.face > 0 ? &f->hull_face[hull.face - 1] : NULL;
    int corner = last ? last->corner + last->num_corners : 0;
    for (int i = 0; i < shape->num_vertices; i++)
        f->hull_source[hull.vertex + i] = first + shape->vertex[i];
    for (int i = 0; i < shape->num_faces; i++)
        f->hull_face[hull.face + i] =
            (SapHullFace){corner + shape->face_start[i], shape->face_start[i + 1] - shape->face_start[i]};
    memcpy(f->hull_corner + corner, shape->corner, (size_t)shape->num_corners * sizeof *shape->corner);
    SAP_TRY(sap_hull_edges(shape, f->hull_edge + hull.edge, &hull.num_edges));
    f->hull[k] = hull;
    return SAP_OK;
}

static SapStatus fill_shapes(const SapModel *model, Fill *f) {
    const SapModelArrays *m = sap_model_arrays(model);
    for (int s = 0, k = 0; s < m->num_shapes; s++) {
        int mesh = m->shape_mesh[s];
        f->shape_type[s] = m->shape_type[s];
        f->shape_mesh[s] = sap_shape_data(m->shape_type[s]) == SAP_SHAPE_DATA_GRID ? s : -1;
        if (sap_shape_data(m->shape_type[s]) != SAP_SHAPE_DATA_MESH)
            continue;
        SAP_TRY(fill_hull(sap_model_hull(model, mesh), m->mesh_start[mesh], k, f));
        f->shape_mesh[s] = k++;
    }
    for (int i = 0, height = 0; i < m->num_height_fields; i++) {
        int rows = m->height_field_size[2 * i], columns = m->height_field_size[2 * i + 1];
        f->height_field[i] = (SapHeightField){height, rows, columns};
        height += rows * columns;
    }
    return SAP_OK;
}

static SapStatus add_shapes(const SapModel *model, SapPlanOwner *out) {
    const SapModelArrays *m = sap_model_arrays(model);
    Fill f = {0};
    SAP_TRY(count_hulls(model, &f));
    SAP_TRY(carve(m, &f, out));
    SAP_TRY(fill_shapes(model, &f));
    SapPlan *p = &out->plan;
    p->shape_type = f.shape_type;
    p->shape_mesh = f.shape_mesh;
    p->num_hulls = f.num_hulls;
    p->num_height_fields = m->num_height_fields;
    p->hull = f.hull;
    p->hull_face = f.hull_face;
    p->hull_corner = f.hull_corner;
    p->hull_edge = f.hull_edge;
    p->hull_source = f.hull_source;
    p->height_field = f.height_field;
    return sap_plan_add_directions(m, f.hull, out);
}

SapStatus sap_plan_add_shapes(const SapModel *model, SapPlanOwner *out) {
    SAP_TRY(add_shapes(model, out));
    return sap_plan_set_broad_phase(sap_model_arrays(model), SAP_BROAD_PHASE_AUTO, out);
}

static SapStatus list_pairs(const SapModelArrays *m, SapPlanOwner *out) {
    SapPair *pair;
    SAP_TRY(sap_pairs_create(m, &out->plan.num_pairs, &pair));
    out->plan.broad_phase = SAP_BROAD_PHASE_LISTED;
    out->plan.pair = pair;
    sap_plan_own(out, SAP_PLAN_PAIRS, pair, (size_t)out->plan.num_pairs * sizeof *pair);
    return SAP_OK;
}

static SapStatus sweep_pairs(const SapModelArrays *m, SapPlanOwner *out) {
    unsigned *allowed;
    SapStatus status = sap_pairs_create_bits(m, &out->plan.row_words, &allowed);
    out->plan.broad_phase = SAP_BROAD_PHASE_SWEEP;
    out->plan.allowed = allowed;
    sap_plan_own(out, SAP_PLAN_PAIRS, allowed, (size_t)m->num_shapes * (size_t)out->plan.row_words * sizeof *allowed);
    return status;
}

/* The tree for many static shapes. A sweep also clears and reads ns^2/32 words of bits, so a list of fewer pairs
 * than words is cheaper: many shapes of one body. */
static SapStatus choose_broad_phase(const SapModelArrays *m, SapBroadPhase *out) {
    bool few = true, tree;
    SAP_TRY(sap_static_tree_pays(m, &tree));
    if (tree) {
        *out = SAP_BROAD_PHASE_TREE;
        return SAP_OK;
    }
    long long words = (long long)m->num_shapes * m->num_shapes / 32, most = words > MANY_PAIRS ? words : MANY_PAIRS;
    if (m->num_shapes > MANY_SHAPES)
        SAP_TRY(sap_pairs_are_at_most(m, most < SAP_MAX_PAIRS ? most : SAP_MAX_PAIRS, &few));
    *out = few ? SAP_BROAD_PHASE_LISTED : SAP_BROAD_PHASE_SWEEP;
    return SAP_OK;
}

SapStatus sap_plan_broad_phase(const SapModelArrays *m, SapBroadPhase option, SapBroadPhase *out) {
    *out = option;
    return option != SAP_BROAD_PHASE_AUTO ? SAP_OK : choose_broad_phase(m, out);
}

SapStatus sap_plan_set_broad_phase(const SapModelArrays *m, SapBroadPhase broad_phase, SapPlanOwner *out) {
    sap_plan_own(out, SAP_PLAN_PAIRS, NULL, 0);
    sap_plan_own(out, SAP_PLAN_STATIC, NULL, 0);
    out->plan.pair = NULL;
    out->plan.allowed = NULL;
    out->plan.statics = (SapStaticTree){0};
    out->plan.num_pairs = 0;
    SAP_TRY(sap_plan_broad_phase(m, broad_phase, &broad_phase));
    return broad_phase == SAP_BROAD_PHASE_TREE    ? sap_plan_add_static_tree(m, out)
           : broad_phase == SAP_BROAD_PHASE_SWEEP ? sweep_pairs(m, out)
                                                  : list_pairs(m, out);
}
