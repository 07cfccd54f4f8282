/* Sapwood steps thousands of copies of a robot world together. This header includes all others. */
#ifndef SAPWOOD_SAPWOOD_H
#define SAPWOOD_SAPWOOD_H

#include <sapwood/batch.h>
#include <sapwood/capabilities.h>
#include <sapwood/contacts.h>
#include <sapwood/dual.h>
#include <sapwood/error.h>
#include <sapwood/gradients.h>
#include <sapwood/guard.h>
#include <sapwood/model.h>
#include <sapwood/mujoco.h>
#include <sapwood/options.h>
#include <sapwood/parameters.h>
#include <sapwood/scene.h>
#include <sapwood/sensors.h>
#include <sapwood/solver.h>
#include <sapwood/state.h>

SAP_BEGIN_DECLS

/* "major.minor.patch" of the linked library; static. */
SAP_API const char *sap_version(void);

/* Size in bytes of a public struct in the library, by name, such as "SapOptions"; 0 for NULL or an unknown name.
 * Bindings that are not compiled against these headers compare sizes and sap_version before the first call. */
SAP_API size_t sap_struct_size(const char *name);

/* The name that a misspelt word is nearest to, for messages; NULL if a third of its characters would have to change, or
 * if an argument is NULL. `names` is NULL-terminated; the result is one of them. */
SAP_API const char *sap_nearest_name(const char *word, const char *const *names);

SAP_END_DECLS

#endif
