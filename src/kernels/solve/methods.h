/* The methods (data/lists.h), each with the headers it is made of. */
#include "kernels/solve/linear.h"
#include "kernels/solve/line_search.h"
#include "kernels/solve/newton.h"
