/* Which factor Newton's method has (option factor_plan), and what a library computes of its systems. docs/gpu.md. */
#ifndef SAPWOOD_HOST_PLAN_FACTOR_PLAN_H
#define SAPWOOD_HOST_PLAN_FACTOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/options.h>

#include "kernels/data/args.h"

/* Replaces `auto` by `library` or `sparse` in the options of a batch of worlds of nv dofs. find: looks for the library
 * of a GPU; its failure is no error here. Returns the choice and its reason, for SapBatchInfo.factor; static. */
const char *sap_factor_plan_choose(SapOptions *options, int nv, SapStatus (*find)(void));

/* Whether the library adds the contacts to H, as a product of dense matrices. It does where they touch most dofs: the
 * kernels visit only those that a contact touches. */
bool sap_library_adds_contacts(const SapStepArgs *args);

/* Numbers of J, and of G J, of a world. */
size_t sap_library_rows(const SapStepArgs *args);

#endif
