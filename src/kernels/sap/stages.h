/* The stages of a step with SAP's law in one precision, in order of dependence. An entry file defines SAP_PRECISION
 * (and SAP_LANES on a CPU) and includes this file once per precision. */
#include "kernels/sap/choices.h"

#include "kernels/math/all.h"
#include "kernels/solve/formulation.h"
#include "kernels/motion/all.h"
#include "kernels/collide/all.h"
#include "kernels/contact/all.h"
#include "kernels/sap/all.h"

#include "kernels/solve/all.h"
#include "kernels/sap/line_search.h"
#include "kernels/sap/newton.h"
#include "kernels/sap/lockstep.h"
#include "kernels/sap/report_laws.h"

#include "kernels/step/measure.h"
#include "kernels/step/finish.h"
