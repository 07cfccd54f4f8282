/* The laws of SAP in one precision, in order of dependence: terms, hooks and reports, which its formulation and the
 * dual solvers have in common. */
#include "kernels/sap/hooks.h"

#include "kernels/sap/contact.h"
#include "kernels/sap/hunt_crossley.h"
#include "kernels/sap/contact_laws.h"
#include "kernels/sap/weight.h"
#include "kernels/sap/material.h"
#include "kernels/sap/constraint.h"
#include "kernels/sap/dof.h"
#include "kernels/sap/dof_terms.h"
#include "kernels/sap/geometry_stages.h"
#include "kernels/sap/block_weight.h"
#include "kernels/sap/block_laws.h"
#include "kernels/sap/report_blocks.h"
