/* Numbers and tables that kernels made for one batch know when they are compiled (target/cuda_specialized.cu). A struct
 * with such numbers is written as
 *
 *   typedef struct SAP_SPECIALIZABLE(SapPlan) { int nv; const SapLink *link; ... } SAP_SPECIALIZABLE(SapPlan);
 *   SAP_SPECIALIZED_TABLES(SapPlan), or SAP_SPECIALIZED(...) if it has no tables
 *
 * which is a plain struct SapPlan everywhere else. In kernels made for a batch, SapPlan has the same memory, but
 * constants hide fields of the same name: plan.nv is then a constant wherever kernels read it, and plan.link points to
 * an array whose contents the compiler knows, so that plan.link[3].parent is a constant too.
 * host/cuda/specialized_header.c writes the constants of each struct as the macros SAP_SPECIALIZED_SapPlan,
 * SAP_TABLES_SapPlan (the arrays) and SAP_POINTERS_SapPlan. */
#ifndef SAPWOOD_KERNELS_DATA_FIXED_H
#define SAPWOOD_KERNELS_DATA_FIXED_H

#ifdef SAP_SPECIALIZED_BUILD
#define SAP_SPECIALIZABLE(name) name##Fields
#define SAP_SPECIALIZED(name)                                                                                          \
    struct name : name##Fields {                                                                                       \
        SAP_SPECIALIZED_##name                                                                                         \
    };
#define SAP_SPECIALIZED_TABLES(name)                                                                                   \
    SAP_TABLES_##name struct name : name##Fields { SAP_SPECIALIZED_##name SAP_POINTERS_##name };
#else
#define SAP_SPECIALIZABLE(name) name
#define SAP_SPECIALIZED(name)
#define SAP_SPECIALIZED_TABLES(name)
#endif

#endif
