/* The contact laws (data/lists.h), one header each. */
#include "kernels/law/sap_contact.h"
#include "toy/spring.h"
