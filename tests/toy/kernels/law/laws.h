/* The laws of contacts (data/laws.h), one header each. */
#include "kernels/law/sap_contact.h"
#include "toy/spring.h"
