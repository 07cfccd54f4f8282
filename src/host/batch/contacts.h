/* Contacts as a batch keeps them. */
#ifndef SAPWOOD_HOST_BATCH_CONTACTS_H
#define SAPWOOD_HOST_BATCH_CONTACTS_H

#include <sapwood/contacts.h>

/* sap_contacts_create without bodies and without a record's own parameters, which contacts between shapes do not need. */
SapStatus sap_contacts_create_plain(int num_worlds, int capacity, SapDtype dtype, SapContacts **out);

#endif
