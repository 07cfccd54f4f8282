/* The stages of a step with MuJoCo's law in one precision, in order of dependence. An entry file defines SAP_PRECISION
 * (and SAP_LANES on a CPU) and includes this file once per precision. */
#include "kernels/mujoco/choices.h"

#include "kernels/math/all.h"
#include "kernels/solve/formulation.h"
#include "kernels/motion/all.h"
#include "kernels/mujoco/rk4.h"
#include "kernels/mujoco/actuators.h"
#include "kernels/mujoco/forces.h"
#include "kernels/mujoco/free_body.h"
#include "kernels/collide/all.h"

#include "kernels/contact/all.h"
#include "kernels/mujoco/row.h"
#include "kernels/mujoco/contact_law.h"
#include "kernels/mujoco/dofs.h"
#include "kernels/mujoco/weight.h"
#include "kernels/mujoco/contact.h"
#include "kernels/mujoco/blocks.h"

#include "kernels/solve/all.h"
#include "kernels/mujoco/columns.h"
#include "kernels/mujoco/finish.h"
#include "kernels/mujoco/problem.h"
#include "kernels/mujoco/line.h"
#include "kernels/mujoco/newton.h"
#include "kernels/mujoco/report.h"
#include "kernels/mujoco/velocity.h"

#include "kernels/step/measure.h"
#include "kernels/step/finish.h"
