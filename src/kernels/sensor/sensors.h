/* Every sensor in one precision and with one lane, in order of dependence. An entry file defines SAP_PRECISION (and
 * SAP_LANES = 1 on a CPU) and includes this file once per precision. */
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"

#include "kernels/sensor/frame.h"
#include "kernels/sensor/ray_shapes.h"
#include "kernels/sensor/ray_height_field.h"
#include "kernels/sensor/rays.h"

#include "kernels/sensor/sites.h"
#include "kernels/sensor/dofs.h"
#include "kernels/sensor/touch.h"
#include "kernels/sensor/sense.h"
