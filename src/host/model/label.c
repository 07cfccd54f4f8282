#include "host/model/label.h"

#include <stdio.h>

/* "joint 3 ('knee')"; long names are shortened so that the rest of the message fits. */
static SapLabel label(const char *kind, const char *const *names, int i) {
    SapLabel out;
    if (names != NULL && names[i] != NULL)
        snprintf(out.text, sizeof out.text, "%s %d ('%.64s')", kind, i, names[i]);
    else
        snprintf(out.text, sizeof out.text, "%s %d", kind, i);
    return out;
}

SapLabel sap_body_label(const SapModelArrays *a, int i) {
    return label("body", a->body_name, i);
}

SapLabel sap_joint_label(const SapModelArrays *a, int j) {
    return label("joint", a->joint_name, j);
}

SapLabel sap_shape_label(const SapModelArrays *a, int s) {
    return label("shape", a->shape_name, s);
}

/* The joint that owns entry i of an array indexed by these starts. */
static SapLabel owner_label(const SapModelArrays *a, const int32_t *start, int i) {
    int j = 0;
    while (j + 1 < a->num_joints && start[j + 1] <= i)
        j++;
    return sap_joint_label(a, j);
}

SapLabel sap_keyframe_label(const SapModelArrays *a, int k) {
    return label("keyframe", a->keyframe_name, k);
}

/* The mesh of a vertex. */
static int mesh_of(const SapModelArrays *a, int vertex) {
    int mesh = 0;
    while (mesh + 1 < a->num_meshes && a->mesh_start[mesh + 1] <= vertex)
        mesh++;
    return mesh;
}

/* The height field of a height. */
static int height_field_of(const SapModelArrays *a, int height) {
    int grid = 0;
    for (; grid + 1 < a->num_height_fields; grid++) {
        int count = a->height_field_size[2 * grid] * a->height_field_size[2 * grid + 1];
        if (height < count)
            break;
        height -= count;
    }
    return grid;
}

SapLabel sap_constraint_label(const SapModelArrays *a, int i) {
    return label("constraint", a->constraint_name, i);
}

SapLabel sap_tendon_label(const SapModelArrays *a, int i) {
    return label("tendon", a->tendon_name, i);
}

/* The tendon of a term. */
static int tendon_of(const SapModelArrays *a, int term) {
    int tendon = 0;
    while (tendon + 1 < a->num_tendons && a->tendon_start[tendon + 1] <= term)
        tendon++;
    return tendon;
}

SapLabel sap_row_label(const SapModelArrays *a, SapModelRows rows, int i) {
    switch (rows) {
    case SAP_ROWS_BODIES: return sap_body_label(a, i);
    case SAP_ROWS_JOINTS: return sap_joint_label(a, i);
    case SAP_ROWS_DOFS: return owner_label(a, a->joint_qd_start, i);
    case SAP_ROWS_COORDS: return owner_label(a, a->joint_q_start, i);
    case SAP_ROWS_SHAPES: return sap_shape_label(a, i);
    case SAP_ROWS_ARTICULATIONS: return label("articulation", a->articulation_name, i);
    case SAP_ROWS_FILTER_PAIRS:
    case SAP_ROWS_SHAPE_FILTER_PAIRS: return label("pair", NULL, i);
    case SAP_ROWS_MESH_VERTICES: return label("mesh", NULL, mesh_of(a, i));
    case SAP_ROWS_HEIGHT_FIELDS: return label("height field", NULL, i);
    case SAP_ROWS_HEIGHTS: return label("height field", NULL, height_field_of(a, i));
    case SAP_ROWS_CONSTRAINTS: return sap_constraint_label(a, i);
    case SAP_ROWS_TENDONS: return sap_tendon_label(a, i);
    case SAP_ROWS_TENDON_TERMS: return sap_tendon_label(a, tendon_of(a, i));
    case SAP_ROWS_KEYFRAMES: return sap_keyframe_label(a, i);
    case SAP_ROWS_KEYFRAME_COORDS: return sap_keyframe_label(a, i / a->num_coords);
    case SAP_ROWS_KEYFRAME_DOFS: return sap_keyframe_label(a, i / a->num_dofs);
    case SAP_ROWS_JOINT_STARTS:
    case SAP_ROWS_ARTICULATION_STARTS:
    case SAP_ROWS_MESH_STARTS:
    case SAP_ROWS_TENDON_STARTS:
    case SAP_NUM_ROWS: break;
    }
    return label("entry", NULL, i);
}
