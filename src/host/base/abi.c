/* Struct sizes, for programs that are not compiled against these headers and check that their layouts match. */
#include <string.h>

#include <sapwood/sapwood.h>

size_t sap_struct_size(const char *name) {
#define STRUCT(type)                                                                                                   \
    { #type, sizeof(type) }
    static const struct {
        const char *name;
        size_t size;
    } structs[] = {
        STRUCT(SapModelArrays),   STRUCT(SapOptions),          STRUCT(SapScene),         STRUCT(SapState),
        STRUCT(SapControl),       STRUCT(SapContacts),         STRUCT(SapContactRecord), STRUCT(SapWorldReport),
        STRUCT(SapFreeMotion),    STRUCT(SapSolverInfo),       STRUCT(SapContactReport), STRUCT(SapArray),
        STRUCT(SapBatchInfo),     STRUCT(SapDeviceInfo),       STRUCT(SapProfile),       STRUCT(SapDualOptions),
        STRUCT(SapDualProblem),   STRUCT(SapDualSolution),     STRUCT(SapDumpCall),      STRUCT(SapDump),
        STRUCT(SapRays),          STRUCT(SapMujocoParameters), STRUCT(SapSensors),       STRUCT(SapConstraintReport),
        STRUCT(SapDualRecord),    STRUCT(SapMujocoRows),       STRUCT(SapCapability),    STRUCT(SapGradientOptions),
        STRUCT(SapGradientInput), STRUCT(SapGradientSteps)};
#undef STRUCT
    for (size_t i = 0; name && i < sizeof structs / sizeof *structs; i++)
        if (strcmp(structs[i].name, name) == 0)
            return structs[i].size;
    return 0;
}
