/* Terms of the problem in one precision, in order of dependence: what contacts and model constraints of all laws have
 * in common. */
#include "kernels/contact/value.h"
#include "kernels/contact/row.h"

#include "kernels/contact/slots.h"
#include "kernels/contact/slot_columns.h"
#include "kernels/contact/columns.h"
#include "kernels/contact/contact_geometry.h"

#include "kernels/contact/block_geometry.h"
#include "kernels/contact/block_rows.h"
#include "kernels/contact/blocks.h"
