#include "lab/selftest/speed.h"

#include <stdio.h>
#include <string.h>

#include "host/cli/bench/bench.h"
#include "host/cli/control.h"
#include "lab/selftest/predicted.h"

enum { NUM_GPUS = 4 };
static const char *const gpus[NUM_GPUS] = {CLI_PREDICTED_GPUS};

typedef struct Prediction {
    const char *scene, *preset;
    int worlds;
    double rate[NUM_GPUS]; /* world-steps per second */
} Prediction;

static const Prediction predictions[] = {
#define ROW(scene, preset, worlds, a, b, c, d) {scene, preset, worlds, {a, b, c, d}},
    CLI_PREDICTIONS(ROW)
#undef ROW
};
enum { NUM_PREDICTIONS = sizeof predictions / sizeof *predictions };

/* The steps that the predictions count. */
static const BenchPlan plan = {.steps = 40, .warmup = 20, .repeat = 1, .call = CLI_CONTROL_STEPS, .control_noise = 0.3};

static bool is_new(void *arg, const BenchRow *row) {
    (void)arg;
    (void)row;
    return false;
}

/* The GPU of the predictions that the device is; -1 = none. */
static int find_gpu(const char *device) {
    for (int i = 0; i < NUM_GPUS; i++)
        if (strstr(device, gpus[i]))
            return i;
    return -1;
}

static bool measure(const CliSettings *settings, const Prediction *p, int worlds, BenchRow *row) {
    const CliSettings none = {.asset_root = settings->asset_root};
    CliScene scene = {.scene = NULL};
    bool ok = cli_scene_open(p->scene, &none, &scene);
    row->worlds = worlds;
    snprintf(row->scene, sizeof row->scene, "%s", p->scene);
    if (ok) {
        row->options = scene.scene->options;
        ok = cli_check(sap_options_set(&row->options, "preset", p->preset)) &&
             cli_settings_apply(settings, &row->options) && bench_case(&plan, &scene, is_new, NULL, row);
    }
    cli_scene_close(&scene);
    return ok;
}

int selftest_num_speeds(void) {
    return NUM_PREDICTIONS;
}

static json_t *row_json(const Prediction *p, const BenchRow *row) {
    json_t *predicted = json_object();
    for (int i = 0; i < NUM_GPUS; i++)
        json_object_set_new(predicted, gpus[i], cli_json_real(p->rate[i]));
    return json_pack("{ss ss si si so so}", "scene", p->scene, "preset", p->preset, "worlds", row->worlds, "team_size",
                     row->where.team_size, "world_steps_per_second", cli_json_real(1e9 / row->ns), "predicted",
                     predicted);
}

json_t *selftest_speed(const CliSettings *settings, int index, int worlds) {
    const Prediction *p = &predictions[index];
    BenchRow row = {.worlds = 0};
    return measure(settings, p, worlds > 0 ? worlds : p->worlds, &row) ? row_json(p, &row) : NULL;
}

void selftest_print_speed_head(const char *device) {
    printf("speed under moving targets, world-steps/s, measured and predicted for some GPUs%s\n",
           find_gpu(device) >= 0 ? " (*: this one)" : "");
    printf("%-10s %-9s %7s %6s %10s", "scene", "preset", "worlds", "team", "measured");
    for (int i = 0; i < NUM_GPUS; i++)
        printf(" %9s ", gpus[i]);
    puts("");
}

void selftest_print_speed(const char *device, const json_t *row) {
    const json_t *predicted = json_object_get(row, "predicted");
    int gpu = find_gpu(device);
    printf("%-10s %-9s %7d %6d %10s", json_string_value(json_object_get(row, "scene")),
           json_string_value(json_object_get(row, "preset")), (int)json_integer_value(json_object_get(row, "worlds")),
           (int)json_integer_value(json_object_get(row, "team_size")),
           cli_si(json_number_value(json_object_get(row, "world_steps_per_second"))).text);
    for (int i = 0; i < NUM_GPUS; i++)
        printf(" %9s%c", cli_si(json_number_value(json_object_get(predicted, gpus[i]))).text, i == gpu ? '*' : ' ');
    puts("");
    fflush(stdout);
}
