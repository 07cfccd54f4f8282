/* Kernels made for a batch.
 *
 * backend_specialized          what becomes of NVRTC's result, and of the files in the cache. A stand-in for NVRTC
 *                       (library/nvrtc.c) returns kernels that do nothing, so the state shows which kernels ran
 * backend_specialized nvrtc    with NVRTC itself: the bits of the CPU, with a team and with a thread per world */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"

enum { WORLDS = 2, PATH = 1024 };
static char folder[] = "/tmp/sapwood_made_XXXXXX", cache[PATH], image[PATH], calls[PATH];
static SapScene *cube;

/* ---- files ---- */

static void write_kernels(const char *first, const char *second) {
    FILE *file = fopen(image, "w");
    fprintf(file,
            ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry %s() { ret; }\n"
            ".visible .entry %s() { ret; }\n",
            first, second);
    fclose(file);
}

/* The first file of the cache by name; its size in *size. */
static void first_file(char path[2 * PATH], long *size) {
    struct dirent **items;
    struct stat info;
    int count = scandir(cache, &items, NULL, alphasort);
    CHECK(count > 2, "the cache has no file");
    snprintf(path, 2 * PATH, "%s/%s", cache, items[2]->d_name); /* after . and .. */
    CHECK(stat(path, &info) == 0 && (info.st_mode & 077) == 0, "%s is open to others", path);
    *size = (long)info.st_size;
    while (count-- > 0)
        free(items[count]);
    free(items);
}

static void empty_cache(void) {
    char command[2 * PATH];
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    CHECK(system(command) == 0, "%s", command);
}

/* Programs that NVRTC was given since the last call. */
static int programs(void) {
    FILE *file = fopen(calls, "r");
    int lines = 0;
    for (int c; file && (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    unlink(calls);
    return lines;
}

/* ---- batches ---- */

static SapOptions options_of(const char *name, const char *value) {
    SapOptions o = cube->options;
    o.specialize = SAP_SPECIALIZE_ON;
    o.max_contacts = 8;
    o.broad_phase = SAP_BROAD_PHASE_SWEEP; /* collision is a kernel of its own */
    if (name)
        NEED(sap_options_set(&o, name, value));
    return o;
}

/* Creates a batch and takes a step. It must say this of its kernels; idle: those that do nothing run. */
static void expect(SapOptions o, const char *text, bool idle, int num_programs) {
    SapBatch *batch = backend_batch(cube->model, WORLDS, &o, SAP_DEVICE_CUDA);
    SapBatchInfo info;
    double *before = backend_read(batch, SAP_BATCH_JOINT_Q);
    NEED(sap_batch_step(batch, cube->dt, 1));
    double *after = backend_read(batch, SAP_BATCH_JOINT_Q);
    bool same = memcmp(before, after, backend_bytes(batch, SAP_BATCH_JOINT_Q)) == 0;
    NEED(sap_batch_info(batch, &info));
    CHECK(strstr(info.kernels, text) == info.kernels, "the batch says '%s' and not '%s'", info.kernels, text);
    CHECK(same == idle, "'%s': the state %s", text, same ? "did not move" : "moved");
    int got = programs();
    CHECK(got == num_programs, "'%s': NVRTC had %d programs and not %d", text, got, num_programs);
    free(before);
    free(after);
    sap_batch_destroy(batch);
}

static const char made[] = "made for this batch by NVRTC", cached[] = "made for this batch, from the cache",
                  replaced[] = "made for this batch by NVRTC; an unusable file in the cache was replaced";

static void check_cache(void) {
    expect(options_of("specialize", "off"), "compiled with the library", false, 0);
    expect(options_of(NULL, NULL), made, true, 2);
    expect(options_of(NULL, NULL), cached, true, 0);
    /* other options, another team and machine code are other kernels; the first ones are still there */
    expect(options_of("max_contacts_per_pair", "2"), made, true, 2);
    expect(options_of("team_size", "1"), made, true, 1);        /* collision has a team, as before */
    expect(options_of("broad_phase", "listed"), made, true, 1); /* closed forms: the step finds its contacts */
    setenv("SAPWOOD_NVRTC_PTX", "", 1);
    expect(options_of(NULL, NULL), made, true, 2);
    setenv("SAPWOOD_NVRTC_PTX", "1", 1);
    expect(options_of(NULL, NULL), cached, true, 0);
}

static void check_damaged_files(void) {
    char path[2 * PATH];
    long size;
    empty_cache();
    expect(options_of(NULL, NULL), made, true, 2);
    first_file(path, &size);
    CHECK(truncate(path, size - 5) == 0, "%s", path);
    expect(options_of(NULL, NULL), replaced, true, 1);
    CHECK(rename(image, path) == 0, "%s", path); /* PTX, but no file of ours */
    write_kernels("sap_kernel_step_specialized", "sap_kernel_collide_specialized");
    expect(options_of(NULL, NULL), replaced, true, 1);
    expect(options_of(NULL, NULL), cached, true, 0);
}

static void check_no_cache(void) {
    setenv("SAPWOOD_CACHE", "/dev/null/no", 1);
    expect(options_of(NULL, NULL),
           "made for this batch by NVRTC; the cache '/dev/null/no' cannot be written: Not a directory", true, 2);
    setenv("SAPWOOD_CACHE", "relative", 1);
    expect(options_of(NULL, NULL), "made for this batch by NVRTC; there is no folder for a cache", true, 2);
    setenv("SAPWOOD_CACHE", cache, 1);
}

static void check_refusals(void) {
    empty_cache();
    setenv("PTX_NVRTC_ERROR", "x\na.h(3): error: no\ny", 1);
    expect(options_of(NULL, NULL), "compiled with the library: NVRTC cannot compile the kernels: a.h(3): error: no",
           false, 1);
    unsetenv("PTX_NVRTC_ERROR");
    write_kernels("sap_kernel_step_specialized", "sap_kernel_of_another_kind");
    expect(options_of(NULL, NULL), "compiled with the library: device cuda: cuModuleGetFunction failed", false, 2);
    expect(options_of("specialize", "auto"), "compiled with the library: a team per world gains little", false, 0);
}

/* Parameters of worlds that change a constant: the batch goes on with the library's kernels. */
static void check_changed_constants(void) {
    SapOptions o = options_of(NULL, NULL);
    SapArray view;
    SapBatchInfo info;
    empty_cache();
    write_kernels("sap_kernel_step_specialized", "sap_kernel_collide_specialized");
    SapBatch *batch = backend_batch(cube->model, WORLDS, &o, SAP_DEVICE_CUDA);
    NEED(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, &view)); /* no constant */
    NEED(sap_batch_info(batch, &info));
    CHECK(strcmp(info.kernels, made) == 0, "%s", info.kernels);
    NEED(sap_batch_expand(batch, SAP_PARAMETER_BODY_GRAVCOMP, &view));
    NEED(sap_batch_info(batch, &info));
    CHECK(strstr(info.kernels, "compiled with the library: parameters of worlds changed"), "%s", info.kernels);
    double *before = backend_read(batch, SAP_BATCH_JOINT_Q);
    NEED(sap_batch_step(batch, cube->dt, 1));
    double *after = backend_read(batch, SAP_BATCH_JOINT_Q);
    CHECK(memcmp(before, after, backend_bytes(batch, SAP_BATCH_JOINT_Q)) != 0, "the state did not move");
    free(before);
    free(after);
    sap_batch_destroy(batch);
}

static void check_stand_in(void) {
    write_kernels("sap_kernel_step_specialized", "sap_kernel_collide_specialized");
    setenv("PTX_NVRTC_IMAGE", image, 1);
    setenv("PTX_NVRTC_CALLS", calls, 1);
    SapOptions o = options_of("specialize", "off");
    SapBatch *holder = backend_batch(cube->model, WORLDS, &o, SAP_DEVICE_CUDA); /* keeps the library's kernels loaded */
    check_cache();
    check_damaged_files();
    check_no_cache();
    check_refusals();
    check_changed_constants();
    sap_batch_destroy(holder);
}

/* ---- NVRTC itself ---- */

static void check_bits(const char *path, const char *preset, int team, int worlds) {
    SapScene *scene = backend_scene(path);
    SapOptions o = scene->options;
    SapBatchInfo info;
    char what[512];
    NEED(sap_options_set(&o, "preset", preset));
    o.max_contacts = 16;
    SapBatch *cpu = backend_batch(scene->model, worlds, &o, SAP_DEVICE_CPU);
    o.team_size = team;
    o.specialize = SAP_SPECIALIZE_ON;
    SapBatch *gpu = backend_batch(scene->model, worlds, &o, SAP_DEVICE_CUDA);
    NEED(sap_batch_info(gpu, &info));
    snprintf(what, sizeof what, "%s, %s, team %d, %d worlds, kernels %s", path, preset, team, worlds, info.kernels);
    CHECK(strncmp(info.kernels, "made for this batch", 19) == 0, "%s", what);
    backend_disturb(cpu, 7);
    backend_disturb(gpu, 7);
    for (int call = 0; call < 3; call++) {
        NEED(sap_batch_step(cpu, scene->dt, 20));
        NEED(sap_batch_step(gpu, scene->dt, 20));
        backend_same(cpu, gpu, what);
    }
    printf("same bits: %s\n", what);
    sap_batch_destroy(gpu);
    sap_batch_destroy(cpu);
    sap_scene_destroy(scene);
}

int main(int argc, char **argv) {
    CHECK(mkdtemp(folder), "%s", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(image, sizeof image, "%s/made.ptx", folder);
    snprintf(calls, sizeof calls, "%s/calls", folder);
    setenv("SAPWOOD_NVRTC_PTX", "1", 1);
    setenv("SAPWOOD_CACHE", cache, 1);
    cube = backend_scene("bench/scenes/cube.yaml");
    if (argc == 1) {
        check_stand_in();
    } else {
        check_bits("bench/scenes/quadruped.yaml", "approx32", 1, 33);
        check_bits("bench/scenes/quadruped.yaml", "fast32", 1, 33);
        check_bits("bench/scenes/humanoid.yaml", "fast32", 1, 33); /* pairs of boxes: collision has a team */
        check_bits("bench/scenes/quadruped.yaml", "approx32", 8, 3);
        check_bits("tests/scenes/linkages.yaml", "drake", 16, 3);
    }
    (void)argv;
    sap_scene_destroy(cube);
    empty_cache();
    unlink(image);
    unlink(calls);
    rmdir(folder);
    printf("ok\n");
    return 0;
}
