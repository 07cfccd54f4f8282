/* The headers of the methods. */
#include "kernels/solve/linear.h"
#include "kernels/sap/line_search.h"
#include "kernels/sap/newton.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/mujoco/finish.h"
#include "kernels/mujoco/problem.h"
#include "kernels/mujoco/line.h"
#include "kernels/mujoco/newton.h"
#endif
