/* What the driver needs of the runtime: to run a kernel. */
#ifndef PTX_LAUNCH_H
#define PTX_LAUNCH_H

#include "device.h"

typedef enum PtxFailure {
    PTX_OK,
    PTX_BAD_ADDRESS,
    PTX_MISALIGNED,
    PTX_ASSERT,
    PTX_TRAP,
    PTX_REPORTED /* ran to its end, but something was wrong: a race, an unwritten read, a barrier */
} PtxFailure;

typedef struct PtxLaunch {
    u32 grid[3], block[3];
    u32 dynamic_shared;
    const u8 *params;
} PtxLaunch;

PtxFailure ptx_launch(const DeviceModule *module, const Kernel *kernel, const PtxLaunch *launch);
extern const Runtime ptx_runtime_functions;

/* The last report. */
const char *ptx_last_report(void);

#endif
