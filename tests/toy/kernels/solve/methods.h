/* The methods (data/lists.h) and the headers that each consists of. */
#include "kernels/solve/linear.h"
#include "kernels/solve/line_search.h"
#include "kernels/solve/newton.h"
#include "toy/descent.h"
