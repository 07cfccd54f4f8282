/* The stages of a step whose contact solve is in impulses, in one precision, in order of dependence. The problem has
 * SAP's law, so this formulation has the laws of kernels/sap; its method is the dual solvers. An entry file
 * defines SAP_PRECISION (and SAP_LANES on a CPU) and includes this file once per precision. */
#include "kernels/sap/choices.h"

#include "kernels/math/all.h"
#include "kernels/solve/formulation.h"
#include "kernels/motion/all.h"
#include "kernels/collide/all.h"
#include "kernels/contact/all.h"
#include "kernels/sap/all.h"

#include "kernels/solve/all.h"
#include "kernels/dual/methods.h"
#include "kernels/dual/delassus.h"
#include "kernels/dual/step.h"
#include "kernels/dual/cache.h"
#include "kernels/dual/record.h"
#include "kernels/dual/bounce.h"
#include "kernels/dual/step_solve.h"

#include "kernels/step/measure.h"
#include "kernels/step/finish.h"
