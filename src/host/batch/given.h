/* Contacts of the caller (sap_batch_step_contacts): what a batch allows, and how it takes them into its arrays. */
#ifndef SAPWOOD_HOST_BATCH_GIVEN_H
#define SAPWOOD_HOST_BATCH_GIVEN_H

#include "host/batch/backend.h"

/* Checks the contacts, NULL or the caller's, and sets has_key and own_form of *steps. */
SapStatus sap_batch_check_given(SapBatch *batch, const SapContacts *contacts, SapBatchSteps *steps);

/* Copies contacts that were checked into the arrays of the batch. */
SapStatus sap_batch_take_given(SapBatch *batch, const SapContacts *contacts, const SapBatchSteps *steps);

#endif
