#include "host/cli/run.h"

#include <math.h>
#include <stdio.h>

#include "host/cli/cluster/cluster.h"

double cli_run_rate(const Run *r) {
    return r->done ? (double)r->done * r->batch.total / r->seconds : (double)NAN;
}

static const char *dtype_name(const Run *r) {
    return r->batch.state->dtype == SAP_F64 ? "f64" : "f32";
}

/* ---- as text ---- */

static void print_energy(const char *label, const double start[2], const double end[2]) {
    printf("%-16s start %.5g J (kinetic %.4g, potential %.5g), end %.5g J (kinetic %.4g, potential %.5g)\n", label,
           start[0] + start[1], start[0], start[1], end[0] + end[1], end[0], end[1]);
}

static void print_time(const Run *r) {
    double worlds = r->batch.total;
    if (r->done)
        printf("%-16s first step done %.2g s after program start\n", "start", r->first_step);
    printf("%-16s %.4g s", "time", r->seconds);
    if (r->done)
        printf(": %s world-steps/s, %.4g ns per world-step, %s times real time", cli_si(cli_run_rate(r)).text,
               1e9 / cli_run_rate(r), cli_si(cli_run_rate(r) * r->batch.dt).text);
    printf("\n%-16s %s, %.0f B per world\n", "memory", cli_bytes(r->bytes).text, r->bytes / worlds);
}

static void print_human(const Run *r) {
    const SapModelArrays *a = r->scene.arrays;
    const SapOptions *o = &r->scene.scene->options;
    int worlds = r->batch.total;
    printf("%-16s %s (%s: bodies %d, dofs %d)\n", "scene", cli_shown(r->scene.path).text, cli_shown(a->name).text,
           a->num_bodies, a->num_dofs);
    printf("%-16s %d\n", "worlds", worlds);
    printf("%-16s %d of %g s, %g s simulated", "steps", r->done, r->batch.dt, r->done * r->batch.dt);
    if (r->done < r->args->steps)
        printf("; INTERRUPTED before %d", r->args->steps);
    printf("\n%-16s preset %s, free motion %s, states %s\n", "solver", cli_option(o, "preset").text,
           cli_option(o, "free_motion_precision").text, dtype_name(r));
    printf("%-16s ", "run on");
    if (cli_cluster_size() > 1)
        printf("%d ranks, each with ", cli_cluster_size());
    cli_batch_print_where(&r->batch);
    putchar('\n');
    print_time(r);
    printf("%-16s ", "worlds failed");
    cli_failures_print(&r->failures, worlds);
    cli_statistics_print(&r->statistics, &r->batch, 16);
    print_energy("energy, world 0", r->start.world, r->end.world);
    print_energy("energy, mean", r->start.mean, r->end.mean);
    printf("%-16s %016llx\n", "state hash", (unsigned long long)r->hash);
}

/* ---- as JSON ---- */

static json_t *energy_json(const double start[2], const double end[2]) {
    return json_pack("{s{so so} s{so so}}", "start", "kinetic", cli_json_real(start[0]), "potential",
                     cli_json_real(start[1]), "end", "kinetic", cli_json_real(end[0]), "potential",
                     cli_json_real(end[1]));
}

static json_t *hash_json(uint64_t hash) {
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    return json_string(text);
}

static json_t *report_json(const Run *r) {
    /* Run. */
    const SapOptions *o = &r->scene.scene->options;
    json_t *json = json_object();
    cli_json_put(&json, "scene", cli_json_text(r->scene.path));
    cli_json_put(&json, "name", cli_json_text(r->scene.arrays->name));
    cli_json_put(&json, "worlds", json_integer(r->batch.total));
    cli_json_put(&json, "steps", json_integer(r->done));
    cli_json_put(&json, "interrupted", json_boolean(r->done < r->args->steps));
    cli_json_put(&json, "dt", cli_json_real(r->batch.dt));
    /* Solver and device. */
    cli_json_put(&json, "preset", json_string(cli_option(o, "preset").text));
    cli_json_put(&json, "precision", json_string(cli_option(o, "free_motion_precision").text));
    cli_json_put(&json, "dtype", json_string(dtype_name(r)));
    cli_batch_put_where(&r->batch, &json);
    cli_json_put(&json, "ranks", json_integer(cli_cluster_size()));
    /* Speed and memory. */
    cli_json_put(&json, "seconds", cli_json_real(r->seconds));
    cli_json_put(&json, "bytes_per_world", cli_json_real(r->bytes / r->batch.total));
    cli_json_put(&json, "first_step_seconds", cli_json_real(r->done ? r->first_step : (double)NAN));
    cli_json_put(&json, "world_steps_per_second", cli_json_real(cli_run_rate(r)));
    cli_json_put(&json, "ns_per_world_step", cli_json_real(1e9 / cli_run_rate(r)));
    /* Results. */
    cli_json_put(&json, "failed", cli_failures_json(&r->failures));
    cli_statistics_put(&r->statistics, &r->batch, &json);
    cli_json_put(&json, "energy",
                 json_pack("{so so}", "world_0", energy_json(r->start.world, r->end.world), "mean",
                           energy_json(r->start.mean, r->end.mean)));
    cli_json_put(&json, "state_hash", hash_json(r->hash));
    return json;
}

bool cli_run_report(const Run *r) {
    if (r->args->json)
        return cli_json_print(report_json(r));
    print_human(r);
    return true;
}
