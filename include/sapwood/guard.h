/* The guard: a batch that keeps the inputs of its last steps, and files (dumps) from which a world that failed can be
 * stepped again, bit for bit.
 *
 * A call of sap_batch_step is a function of the world's joint_q, joint_qd, control and parameters, of h, num_steps, the
 * model and the options. A dump holds all of them, so any process on any machine repeats the call with the same bits,
 * with any number of threads and lanes (docs/guard.md; factor_plan = library is the exception that options.h names).
 * A dump can be read only by the version that wrote it: another one may compute other bits. */
#ifndef SAPWOOD_GUARD_H
#define SAPWOOD_GUARD_H

#include <sapwood/batch.h>

SAP_BEGIN_DECLS

/* Keeps the inputs of the last `calls` (1 .. 1024) calls of sap_batch_step with num_steps > 0: copies of joint_q,
 * joint_qd and the control arrays of all worlds before the call, and their status after it; with MuJoCo's law also what
 * it remembers of earlier steps, activations and accelerations. A batch has one guard: a second call with the same
 * number does nothing, and with another number it fails. The call allocates calls * n * (nq +
 * 5 nv + 6 nb) numbers of the batch's type, and 8 bytes per world and call; steps allocate nothing. SapControl.guess is
 * not kept. On a GPU the copies stay in its memory and do not wait; a captured step writes to the place that it had
 * when it was captured. */
SAP_API SapStatus sap_batch_guard(SapBatch *batch, int calls);

/* Writes world `world` to a new file: model, options, the kept calls, the parameters that the world had in the last
 * call, and the results of the last call. Call it before the world is reset or written to. Needs a guard and at least
 * one step. On failure there is no file. On a GPU the call waits. */
SAP_API SapStatus sap_batch_dump(SapBatch *batch, int world, const char *path);

/* ---- reading ---- */

/* One call of sap_batch_step. */
typedef struct SapDumpCall {
    double h;        /* s */
    int num_steps;   /* > 0 */
    uint32_t status; /* bits SAP_WORLD_... of the world after the call */
} SapDumpCall;

/* The contents of a dump. All memory is host memory and belongs to the dump. */
typedef struct SapDump {
    const SapModel *model;    /* the model of the batch */
    SapOptions options;       /* the options of the batch */
    int world;                /* index of the world in the batch */
    int num_worlds;           /* number of worlds of the batch */
    int num_calls;            /* c, 1 .. 1024 */
    const SapDumpCall *calls; /* [c], oldest first; the last one is the call before the dump */
    SapState inputs;          /* joint_q and joint_qd before each call: c "worlds"; body_q and body_qd are NULL */
    SapControl controls;      /* of each call: c "worlds"; guess is NULL */
    SapState results;         /* joint_q and joint_qd after the last call: one world */
    int32_t iterations, line_iterations, contact_count; /* of the last call, as in SapBatchField */
    double cost, residual;                              /* likewise */
} SapDump;

/* Reads a dump, which the caller owns. SAP_ERROR_IO or SAP_ERROR_PARSE for a file that cannot be read or is not a whole
 * dump, SAP_ERROR_UNSUPPORTED for one of another version; the message names both versions. */
SAP_API SapStatus sap_dump_load(const char *path, SapDump **out);
/* The same from `size` bytes in memory, which stay the caller's; `name` is the file name in messages. */
SAP_API SapStatus sap_dump_parse(const void *bytes, size_t size, const char *name, SapDump **out);
/* Frees a dump; NULL is allowed. */
SAP_API void sap_dump_destroy(SapDump *dump);

/* Creates a batch of num_worlds >= 1 copies of the world, with its parameters and the inputs of call `call`
 * (0 .. num_calls - 1): sap_batch_step(batch, calls[call].h, calls[call].num_steps) repeats that call. options NULL =
 * the dump's, on a CPU; options that only choose how to run (threads, lanes, ...) do not change bits. The
 * parameters are from the last call. The caller owns *out, which does not need the dump. */
SAP_API SapStatus sap_dump_batch(const SapDump *dump, int call, int num_worlds, const SapOptions *options,
                                 SapBatch **out);

SAP_END_DECLS

#endif
