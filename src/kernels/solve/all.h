/* The problem of a world and the end of its solve in one precision, in order of dependence. */
#include "kernels/solve/problem.h"
#include "kernels/solve/line.h"
#include "kernels/solve/linear.h"
#include "kernels/solve/result.h"
#include "kernels/solve/report.h"
#include "kernels/solve/report_constraints.h"
#include "kernels/solve/outcome.h"
#include "kernels/solve/solve.h"
