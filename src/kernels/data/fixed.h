/* Numbers that kernels made for one batch know when they are compiled (target/cuda_made.cu). A struct with such numbers is
 * written as
 *
 *   typedef struct SAP_FIELDS(SapPlan) { int nv; ... } SAP_FIELDS(SapPlan);
 *   SAP_FIXED(SapPlan)
 *
 * which is a plain struct SapPlan everywhere else. In kernels made for a batch, SapPlan has the same memory, but constants
 * hide fields of the same name: plan.nv is then a constant wherever kernels read it. host/cuda/made_header.c writes the
 * constants of each struct as the macro SAP_FIXED_SapPlan. */
#ifndef SAPWOOD_KERNELS_DATA_FIXED_H
#define SAPWOOD_KERNELS_DATA_FIXED_H

#ifdef SAP_MADE_FOR_BATCH
#define SAP_FIELDS(name) name##Fields
#define SAP_FIXED(name)                                                                                                \
    struct name : name##Fields {                                                                                       \
        SAP_FIXED_##name                                                                                               \
    };
#else
#define SAP_FIELDS(name) name
#define SAP_FIXED(name)
#endif

#endif
