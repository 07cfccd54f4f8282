/* The methods (data/lists.h) and the headers that each consists of. */
#include "kernels/solve/linear.h"
#include "kernels/solve/line_search.h"
#include "kernels/solve/newton.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/solve/mujoco_finish.h"
#include "kernels/solve/mujoco_problem.h"
#include "kernels/solve/mujoco_line.h"
#include "kernels/solve/mujoco_pgs.h"
#include "kernels/solve/mujoco.h"
#endif
