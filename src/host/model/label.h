/* Labels of the parts of a model in messages. */
#ifndef SAPWOOD_HOST_MODEL_LABEL_H
#define SAPWOOD_HOST_MODEL_LABEL_H

#include "host/model/model.h"

/* "joint 3 ('knee')" */
typedef struct SapLabel {
    char text[128];
} SapLabel;

SapLabel sap_body_label(const SapModelArrays *arrays, int body);
SapLabel sap_joint_label(const SapModelArrays *arrays, int joint);
SapLabel sap_shape_label(const SapModelArrays *arrays, int shape);
SapLabel sap_keyframe_label(const SapModelArrays *arrays, int keyframe);
SapLabel sap_constraint_label(const SapModelArrays *arrays, int constraint);
SapLabel sap_tendon_label(const SapModelArrays *arrays, int tendon);

/* The label of the owner of row i of such an array. */
SapLabel sap_row_label(const SapModelArrays *arrays, SapModelRows rows, int i);

#endif
