/* The derivatives of a step with SAP's law, in order of dependence. docs/gradients.md. */
#include "kernels/gradient/scratch.h"

#include "kernels/gradient/maps.h"
#include "kernels/gradient/gyroscopic.h"
#include "kernels/gradient/twists.h"
#include "kernels/gradient/smooth.h"
#include "kernels/gradient/features.h"
#include "kernels/gradient/contacts.h"
#include "kernels/gradient/rows.h"
#include "kernels/gradient/blocks.h"
#include "kernels/gradient/inputs.h"
#include "kernels/gradient/differentiate.h"
