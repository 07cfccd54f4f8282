#include "host/cuda/launch.h"

#include <stdio.h>

#include "host/base/fail.h"
#include "host/cuda/arrays.h"
#include "host/cuda/choose.h"
#include "host/cuda/deferred.h"
#include "host/plan/layout.h"
#include "host/plan/step_args.h"

/* ---- kernels and grids ---- */

static SapCudaRequest request_of(const SapBatch *b) {
    const SapCudaBatch *c = b->own;
    return (SapCudaRequest){&b->options, &c->args, b->num_worlds, c->device->multiprocessors, c->lockstep != NULL};
}

/* The kernel of that name if there is one, otherwise the general one. */
static SapStatus find_kernel(const SapCudaBatch *c, const char *name, CuFunction general, CuFunction *out) {
    SAP_TRY(sap_cuda_device_find(c->device, name, out));
    if (!*out)
        *out = general;
    return SAP_OK;
}

/* Finds the kernels of teams. */
static SapStatus find_kernels(SapCudaBatch *c) {
    SapCudaProgram *program = &c->program;
    SapCudaImage image = c->formulation->own_kernels ? SAP_CUDA_IMAGE_FORMULATION : SAP_CUDA_IMAGE_DUAL;
    c->report.kernel = c->device->step;
    if (c->formulation->own_kernels)
        SAP_TRY(sap_cuda_device_find_in(c->device, image, program->collide, &c->collide.kernel));
    else
        SAP_TRY(find_kernel(c, program->collide, c->device->collide, &c->collide.kernel));
    if (c->formulation->own_kernels || c->args.dual)
        return sap_cuda_device_find_in(c->device, image, program->step, &c->step.kernel);
    if (c->args.contacts.approximation != SAP_APPROXIMATION_SAP) {
        SAP_TRY(sap_cuda_device_find_in(c->device, SAP_CUDA_IMAGE_LAW, "sap_kernel_step_law", &c->report.kernel));
        return sap_cuda_device_find_in(c->device, SAP_CUDA_IMAGE_LAW, program->step, &c->step.kernel);
    }
    SAP_TRY(find_kernel(c, program->step, c->device->step, &c->step.kernel));
    program->is_preset = c->step.kernel != c->device->step;
    if (!program->is_preset)
        program->kind = SAP_CUDA_STEP;
    return SAP_OK;
}

static SapStatus allow_shared(const SapCudaBatch *c, CuFunction kernel) {
    const SapCuda *cuda = c->device->cuda;
    enum { ALL_SHARED = 100 }; /* percent; the rest is cache */
    SAP_CU_TRY(cuda, function_set, "device cuda: shared memory",
               (kernel, CU_FUNC_MAX_DYNAMIC_SHARED, c->device->shared_per_block));
    SAP_CU_TRY(cuda, function_set, "device cuda: shared memory", (kernel, CU_FUNC_SHARED_CARVEOUT, ALL_SHARED));
    return SAP_OK;
}

/* A kernel without shared memory has all of it as a cache. */
static SapStatus prefer_cache(const SapCudaBatch *c, CuFunction kernel) {
    SAP_CU_TRY(c->device->cuda, function_set, "device cuda: cache", (kernel, CU_FUNC_SHARED_CARVEOUT, 0));
    return SAP_OK;
}

SapStatus sap_cuda_set_cache(const SapCudaBatch *c, const SapCudaShape *shape, CuFunction kernel) {
    return shape->team == 1 ? prefer_cache(c, kernel) : allow_shared(c, kernel);
}

/* Takes the thread per world back after a call has failed, whose message becomes the reason. */
static SapStatus give_up_threads(const SapBatch *b, const char *why) {
    SapCudaBatch *c = b->own;
    SapCudaRequest request = request_of(b);
    snprintf(c->mapping, sizeof c->mapping, "a team per world: %s: %s", why, sap_error_message());
    return sap_cuda_refuse_thread(&request, c->mapping, &c->program);
}

/* Chooses between a team and a thread per world. Without the kernel, or if the driver cannot load it, a batch can still
 * use teams. */
static SapStatus choose_thread(const SapBatch *b) {
    SapCudaBatch *c = b->own;
    SapCudaProgram *program = &c->program;
    SapCudaRequest request = request_of(b);
    SAP_TRY(sap_cuda_choose_thread(&request, &c->thread.arenas, &c->thread.shape, program));
    if (!program->has_threads)
        return SAP_OK;
    SapStatus status = sap_cuda_device_find_in(c->device, SAP_CUDA_IMAGE_THREAD, program->thread, &c->thread.kernel);
    return status == SAP_OK ? prefer_cache(c, c->thread.kernel)
                            : give_up_threads(b, "the kernels with a thread per world cannot be loaded");
}

SapStatus sap_cuda_choose_kernels(const SapBatch *b) {
    SapCudaBatch *c = b->own;
    SapCudaRequest request = request_of(b);
    sap_cuda_choose_step(&request, &c->program);
    SAP_TRY(find_kernels(c));
    /* Lockstep scratch persists between launches, so it is not in shared memory. */
    int most = c->device->shared_per_block, of_step = c->lockstep ? 0 : most;
    SAP_TRY(sap_cuda_launch_shape(&b->options, of_step, SAP_CUDA_STEP, &c->args, &c->report.arenas, &c->report.shape));
    c->report_layout = c->args.plan.layout;
    if (c->program.overlaps_poses)
        c->args.plan.layout = sap_motion_layout(&c->args.plan, false);
    SAP_TRY(
        sap_cuda_launch_shape(&b->options, most, SAP_CUDA_COLLIDE, &c->args, &c->collide.arenas, &c->collide.shape));
    SAP_TRY(sap_cuda_launch_shape(&b->options, of_step, c->program.kind, &c->args, &c->step.arenas, &c->step.shape));
    SAP_TRY(sap_cuda_choose_deferred(c, b->num_worlds));
    SAP_TRY(choose_thread(b));
    SAP_TRY(allow_shared(c, c->step.kernel));
    SAP_TRY(allow_shared(c, c->report.kernel));
    SAP_TRY(allow_shared(c, c->collide.kernel));
    return allow_shared(c, c->device->kinematics);
}

/* One team per world. If teams need workspace, launch only as many as are resident at the same time; each processes
 * several worlds. With lockstep (`all`) every world needs its own workspace. */
static SapStatus choose_grid(const SapBatch *b, const SapCudaBatch *c, bool all, SapCudaPhase *p) {
    int per_block = p->shape.worlds_per_block, resident;
    p->blocks = ((unsigned)b->num_worlds - 1) / (unsigned)per_block + 1;
    if (p->shape.workspace_size == 0 || all)
        return SAP_OK;
    SAP_CU_TRY(c->device->cuda, occupancy, "device cuda",
               (&resident, p->kernel, p->shape.team * per_block, (size_t)p->shape.shared_bytes));
    unsigned most = (unsigned)(resident > 0 ? resident : 1) * (unsigned)c->device->multiprocessors;
    p->blocks = p->blocks < most ? p->blocks : most;
    return SAP_OK;
}

static size_t workspace_of(const SapCudaPhase *p) {
    return (size_t)p->blocks * (size_t)p->shape.worlds_per_block * (size_t)p->shape.workspace_size;
}

/* The kernels of a step run one after the other and share the workspace. */
static SapStatus create_workspace(SapCudaBatch *c) {
    SapCudaPhase *const phases[] = {&c->step, &c->thread, &c->report, &c->collide};
    int num_phases = c->args.collide.deferred.most > 0 ? 3 : 4; /* collision has the pool then */
    for (int i = 0; i < num_phases; i++)
        if (workspace_of(phases[i]) > c->workspace_bytes)
            c->workspace_bytes = workspace_of(phases[i]);
    if (c->workspace_bytes > 0)
        SAP_TRY(sap_cuda_take_memory(c, "scratch", c->workspace_bytes, &c->workspace));
    for (int i = 0; i < num_phases; i++)
        phases[i]->arenas.workspace = sap_cuda_pointer(c->workspace);
    return SAP_OK;
}

/* Threads need more workspace than teams, each for a world with many contacts. */
static void limit_threads(const SapBatch *b, SapCudaBatch *c) {
    if (b->options.team_size == 0 && workspace_of(&c->thread) > c->device->memory_bytes / 4) {
        const SapCudaRequest request = request_of(b);
        c->thread.blocks = 0;
        sap_cuda_refuse_thread(
            &request, "a team per world: with a thread each the workspace would take a quarter of the GPU's memory",
            &c->program);
    }
}

SapStatus sap_cuda_choose_grids(const SapBatch *b) {
    SapCudaBatch *c = b->own;
    SAP_TRY(choose_grid(b, c, false, &c->collide));
    SAP_TRY(choose_grid(b, c, c->lockstep != NULL, &c->step));
    SAP_TRY(choose_grid(b, c, c->lockstep != NULL, &c->report));
    if (c->program.has_threads)
        SAP_TRY(choose_grid(b, c, false, &c->thread));
    limit_threads(b, c);
    SAP_TRY(create_workspace(c));
    return sap_cuda_create_pool(c);
}

/* ---- launches ---- */

/* The kernel of a phase; specialized: the one made for the batch, if there is one. */
static CuFunction kernel_of(const SapCudaPhase *p, bool specialized) {
    return specialized && p->specialized ? p->specialized : p->kernel;
}

/* Launches a kernel with one team per world of a block. */
static SapStatus launch(const SapCudaBatch *c, const char *what, CuFunction kernel, const SapCudaShape *shape,
                        unsigned blocks, int shared, void **parameters) {
    SAP_CU_TRY(c->device->cuda, launch, what,
               (kernel, blocks, 1, 1, (unsigned)shape->team, (unsigned)shape->worlds_per_block, 1, (unsigned)shared,
                c->stream, parameters, NULL));
    return SAP_OK;
}

/* Launches a kernel with the scratch of a phase. stage: the second parameter, which own kernels of a formulation have. */
static SapStatus launch_stage(SapCudaBatch *c, const char *what, const SapCudaPhase *p, CuFunction kernel, int stage) {
    void *parameters[] = {&c->args, &stage};
    c->args.arena = p->arenas;
    return launch(c, what, kernel, &p->shape, p->blocks, p->shape.shared_bytes, parameters);
}

static SapStatus launch_program(SapCudaBatch *c, const char *what, const SapCudaPhase *p, CuFunction kernel) {
    return launch_stage(c, what, p, kernel, 0);
}

/* Launches steps that report contacts. */
static SapStatus launch_reported(SapCudaBatch *c, const char *what) {
    SapMotionLayout layout = c->args.plan.layout;
    c->args.plan.layout = c->report_layout;
    SapStatus status = launch_program(c, what, &c->report, c->report.kernel);
    c->args.plan.layout = layout;
    return status;
}

/* Collision: pairs of shapes that need the general narrow phase wait for a second launch, and a third one adds their
 * contacts to the records. */
static SapStatus launch_collision(SapCudaBatch *c, const char *what, CuFunction kernel, int stage) {
    SAP_TRY(launch_stage(c, what, &c->collide, kernel, stage));
    if (c->args.collide.deferred.most == 0)
        return SAP_OK;
    SAP_TRY(launch_program(c, what, &c->convex, c->convex.kernel));
    return launch_program(c, what, &c->merge, c->merge.kernel);
}

/* Newton's method on all worlds together, with the host in the loop; worlds that have converged wait for the others. */
static SapStatus launch_iterations(SapCudaBatch *c, const char *what) {
    int *count = c->staging;
    for (;;) {
        SAP_TRY(launch_program(c, what, &c->step, c->lockstep->assemble));
        SAP_TRY(sap_cuda_lockstep_solve(c->lockstep, c->device, c->stream, what, count));
        if (*count == 0)
            return SAP_OK;
        SAP_TRY(launch_program(c, what, &c->step, c->lockstep->advance));
    }
}

/* One step without collision. */
static SapStatus launch_stages(SapCudaBatch *c, const char *what) {
    SAP_TRY(launch_program(c, what, &c->step, c->lockstep->begin));
    /* a batch always has contact slots */
    SAP_TRY(launch_iterations(c, what));
    return launch_program(c, what, &c->step, c->lockstep->finish);
}

/* Whether a step reports more than its counters, which only the general kernel does. */
static bool has_reports(const SapReportArgs *r) {
#define OR(name) || r->name
    return r->step_start || r->extra SAP_EACH_CONTACT_REPORT(OR);
#undef OR
}

/* Where the launch that begins with first_step ends. A thousand steps of many worlds take seconds, after which a GPU with a
 * display ends the kernel, and the context with it. */
static int end_of_launch(const SapCudaBatch *c, bool one_by_one) {
    enum { WATCHDOG_STEPS = 64 };
    int left = c->args.num_steps - c->args.first_step, most = one_by_one                ? 1
                                                              : c->device->has_watchdog ? WATCHDOG_STEPS
                                                                                        : left;
    return c->args.first_step + (left < most ? left : most);
}

/* Steps of a formulation with its own kernels, each of which has one stage or the four of RK4. */
static SapStatus launch_own_steps(SapCudaBatch *c, const char *what) {
    SapStepArgs *args = &c->args;
    bool collides = args->collide.enabled && sap_cuda_can_touch(&args->plan);
    bool one_by_one = collides || !args->collide.enabled; /* they have contacts */
    int stages = args->plan.rk4 ? 4 : 1;
    for (args->first_step = 0; args->first_step < args->num_steps; args->first_step = args->end_step) {
        args->end_step = end_of_launch(c, one_by_one || stages > 1);
        for (int stage = 0; stage < stages; stage++) {
            if (collides)
                SAP_TRY(launch_collision(c, what, c->collide.kernel, stage));
            SAP_TRY(launch_stage(c, what, &c->step, c->step.kernel, stage));
        }
    }
    return SAP_OK;
}

SapStatus sap_cuda_launch_steps(SapCudaBatch *c, const char *what) {
    SapStepArgs *args = &c->args;
    SAP_TRY(sap_cuda_refresh(c, what));
    if (c->formulation->own_kernels)
        return launch_own_steps(c, what);
    bool collides = args->collide.enabled && sap_cuda_can_touch(&args->plan),
         specialized = sap_cuda_specialized_is_valid(&c->specialized, args);
    bool general = has_reports(&args->report) && !args->dual;
    const SapCudaPhase *phase = c->program.has_threads && !general ? &c->thread : &c->step;
    CuFunction step = kernel_of(phase, specialized), collide = kernel_of(&c->collide, specialized);
    if (!general && phase->arenas.in_step)
        collides = false; /* the step does it */
    for (args->first_step = 0; args->first_step < args->num_steps; args->first_step = args->end_step) {
        args->end_step = end_of_launch(c, collides || !args->collide.enabled || c->lockstep);
        if (collides)
            SAP_TRY(launch_collision(c, what, collide, 0));
        SAP_TRY(c->lockstep ? launch_stages(c, what)
                : general   ? launch_reported(c, what)
                            : launch_program(c, what, phase, step));
    }
    return SAP_OK;
}

/* ---- local memory ---- */

/* A launch without worlds: the driver takes the local memory of a kernel, for all threads that can be resident, at its
 * first launch. With a thread per world that is gigabytes. */
static SapStatus launch_nothing(SapCudaBatch *c, const SapCudaPhase *p) {
    SapCudaPhase one = *p;
    int num_worlds = c->args.num_worlds;
    one.blocks = 1;
    c->args.num_worlds = 0;
    SapStatus status = launch_program(c, "device cuda: local memory of the kernels", &one, kernel_of(p, true));
    c->args.num_worlds = num_worlds;
    return status;
}

static SapStatus launch_all_without_worlds(const SapBatch *b) {
    SapCudaBatch *c = b->own;
    bool collides = sap_cuda_can_touch(&c->args.plan);
    if (c->program.has_threads && launch_nothing(c, &c->thread) != SAP_OK) {
        SAP_TRY(give_up_threads(b, "local memory for a thread each cannot be had"));
        sap_cuda_specialized_unload(&c->specialized, c->device->cuda);
        c->collide.specialized = NULL;
    }
    if (!c->program.has_threads)
        SAP_TRY(launch_nothing(c, &c->step));
    if (!c->formulation->own_kernels && !c->args.dual)
        SAP_TRY(launch_nothing(c, &c->report));
    if (collides)
        SAP_TRY(launch_nothing(c, &c->collide));
    return collides && c->args.collide.deferred.most > 0 ? launch_nothing(c, &c->convex) : SAP_OK;
}

SapStatus sap_cuda_take_local_memory(const SapBatch *b) {
    static const char what[] = "device cuda: local memory of the kernels";
    SapCudaBatch *c = b->own;
    const SapCuda *cuda = c->device->cuda;
    size_t before, after, total;
    SAP_CU_TRY(cuda, memory_info, what, (&before, &total));
    SAP_TRY(launch_all_without_worlds(b));
    SAP_CU_TRY(cuda, stream_synchronize, what, (c->stream));
    SAP_CU_TRY(cuda, memory_info, what, (&after, &total));
    c->local_bytes = before > after ? before - after : 0;
    return SAP_OK;
}

/* ---- masks ---- */

SapStatus sap_cuda_is_on_device(const SapCudaBatch *c, const char *what, const void *pointer, bool *out) {
    unsigned type = CU_MEMORY_HOST;
    CuResult result = c->device->cuda->pointer_attribute(&type, CU_POINTER_MEMORY_TYPE, sap_cuda_address(pointer));
    *out = result == CU_SUCCESS && type != CU_MEMORY_HOST;
    if (result == CU_INVALID_VALUE)
        return SAP_OK;
    return sap_cuda_status(c->device->cuda, result, sap_cu_name_pointer_attribute, what);
}

static SapStatus send_mask(const SapCudaBatch *c, const char *what, const uint8_t *mask, int num_worlds) {
    enum { PER_LAUNCH = 32 * SAP_MASK_WORDS, BLOCK = 128 };
    for (int first = 0; first < num_worlds; first += PER_LAUNCH) {
        int left = num_worlds - first;
        SapMaskArgs args = {.count = left < PER_LAUNCH ? left : PER_LAUNCH, .to = c->mask + first};
        void *parameters[] = {&args};
        for (int i = 0; i < args.count; i++)
            args.bits[i / 32] |= mask[first + i] ? 1u << (i % 32) : 0;
        SAP_CU_TRY(c->device->cuda, launch, what,
                   (c->device->mask, (unsigned)((args.count - 1) / BLOCK + 1), 1, 1, BLOCK, 1, 1, 0, c->stream,
                    parameters, NULL));
    }
    return SAP_OK;
}

SapStatus sap_cuda_find_mask(const SapBatch *b, const char *what, const uint8_t *mask, const uint8_t **out) {
    const SapCudaBatch *c = b->own;
    bool on_device = false;
    *out = mask;
    if (mask)
        SAP_TRY(sap_cuda_is_on_device(c, what, mask, &on_device));
    if (!mask || on_device)
        return SAP_OK;
    *out = c->mask;
    return send_mask(c, what, mask, b->num_worlds);
}

SapStatus sap_cuda_launch_kinematics(const SapBatch *b, const char *what, const uint8_t *mask) {
    SapCudaBatch *c = b->own;
    const uint8_t *chosen;
    SAP_TRY(sap_cuda_refresh(c, what));
    SAP_TRY(sap_cuda_find_mask(b, what, mask, &chosen));
    SapStepArgs args = c->args;
    args.num_steps = 0;
    args.collide.enabled = 0; /* contacts stay unchanged */
    args.arena = c->step.arenas;
    void *parameters[] = {&args, &chosen};
    return launch(c, what, c->device->kinematics, &c->step.shape, c->step.blocks, c->step.shape.shared_bytes,
                  parameters);
}

SapStatus sap_cuda_launch_reset(const SapBatch *b, const char *what, const uint8_t *mask, SapResetArgs *args) {
    const SapCudaBatch *c = b->own;
    void *parameters[] = {args};
    SAP_TRY(sap_cuda_find_mask(b, what, mask, &args->mask));
    unsigned blocks = ((unsigned)b->num_worlds - 1) / (unsigned)c->step.shape.worlds_per_block + 1;
    return launch(c, what, c->device->reset, &c->step.shape, blocks, 0, parameters);
}

SapStatus sap_cuda_launch_take(const SapBatch *b, const char *what, SapTakeArgs *args) {
    const SapCudaBatch *c = b->own;
    void *parameters[] = {args};
    unsigned blocks = ((unsigned)b->num_worlds - 1) / (unsigned)c->step.shape.worlds_per_block + 1;
    return launch(c, what, c->device->take_contacts, &c->step.shape, blocks, 0, parameters);
}
