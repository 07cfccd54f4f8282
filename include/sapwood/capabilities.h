/* What the library can do, by formulation and device: one answer for each capability, each value of the option
 * contact_solver and each value of the option device. A call that a formulation or a device does not have fails with
 * SAP_ERROR_UNSUPPORTED, and its message ends with the reason that the table gives. docs/capabilities.md shows the
 * whole table. */
#ifndef SAPWOOD_CAPABILITIES_H
#define SAPWOOD_CAPABILITIES_H

#include <sapwood/error.h>
#include <sapwood/options.h>

SAP_BEGIN_DECLS

typedef enum SapSupport {
    SAP_SUPPORT_NO = 0,            /* refused, for the reason given */
    SAP_SUPPORT_YES = 1,           /* it works */
    SAP_SUPPORT_NOT_APPLICABLE = 2 /* it has no meaning there: a request has no effect, or cannot be made */
} SapSupport;

/* One cell of the table. All texts are static. */
typedef struct SapCapability {
    const char *name;   /* "guard"; of a parameter or an array its own name, "body_mass", "contact_impulse" */
    const char *group;  /* the part of the table: "Options", "Models", ... */
    const char *what;   /* a description in one line; "" for parameters and arrays, which their headers describe */
    SapSupport support; /* the answer */
    const char *reason; /* why it is not YES, as messages give it; "" for YES */
} SapCapability;

/* Answers whether `solver` on `device` has the capability. An unknown name, solver or device is an error. No pointer may
 * be NULL. An answer of YES does not promise that this build or machine can do it: a library without GPU kernels gives
 * the same answers. */
SAP_API SapStatus sap_capability(const char *name, SapContactSolver solver, SapDevice device, SapCapability *out);

/* The names of all capabilities, in the order of the table; NULL-terminated, static. */
SAP_API const char *const *sap_capability_names(void);

/* The formulations: "sap", "cone", ... in the order of SapContactSolver; NULL-terminated, static. */
SAP_API const char *const *sap_contact_solver_names(void);

/* "cpu", "cuda": in the order of SapDevice; NULL-terminated, static. */
SAP_API const char *const *sap_device_names(void);

SAP_END_DECLS

#endif
