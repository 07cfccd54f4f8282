/* Warnings: values of a model that its rules allow and that make its motion unrealistic. */
#ifndef SAPWOOD_HOST_MODEL_WARNINGS_H
#define SAPWOOD_HOST_MODEL_WARNINGS_H

#include "host/model/model.h"

/* A moment of inertia this many times less than for a solid of the body's shapes gives a warning. Evenly filled
 * bodies are near 1, shells below. At 100 a sphere rests 5 mm deep at h = 5 ms (docs/faq.md). */
#define SAP_SMALL_INERTIA 100.0

/* Fills model->warnings; the model is valid and has its hulls. */
SapStatus sap_model_find_warnings(SapModel *model);

void sap_model_free_warnings(SapModel *model);

#endif
