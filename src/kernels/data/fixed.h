/* Numbers and tables that kernels made for one batch know when they are compiled (target/cuda_made.cu). A struct with
 * such numbers is written as
 *
 *   typedef struct SAP_FIELDS(SapPlan) { int nv; const SapLink *link; ... } SAP_FIELDS(SapPlan);
 *   SAP_FIXED_TABLES(SapPlan), or SAP_FIXED(...) if it has no tables
 *
 * which is a plain struct SapPlan everywhere else. In kernels made for a batch, SapPlan has the same memory, but
 * constants hide fields of the same name: plan.nv is then a constant wherever kernels read it, and plan.link points to
 * an array whose contents the compiler knows, so that plan.link[3].parent is a constant too. host/cuda/made_header.c
 * writes the constants of each struct as the macros SAP_FIXED_SapPlan, SAP_TABLES_SapPlan (the arrays) and
 * SAP_POINTERS_SapPlan. */
#ifndef SAPWOOD_KERNELS_DATA_FIXED_H
#define SAPWOOD_KERNELS_DATA_FIXED_H

#ifdef SAP_MADE_FOR_BATCH
#define SAP_FIELDS(name) name##Fields
#define SAP_FIXED(name)                                                                                                \
    struct name : name##Fields {                                                                                       \
        SAP_FIXED_##name                                                                                               \
    };
#define SAP_FIXED_TABLES(name)                                                                                         \
    SAP_TABLES_##name struct name : name##Fields { SAP_FIXED_##name SAP_POINTERS_##name };
#else
#define SAP_FIELDS(name) name
#define SAP_FIXED(name)
#define SAP_FIXED_TABLES(name)
#endif

#endif
