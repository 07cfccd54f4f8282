#include "host/cli/machine_report.h"

#include <gnu/libc-version.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/cli/machine.h"

json_t *cli_version_json(void) {
    return json_pack("{ss ss ss ss}", "name", "sapwood", "version", sap_version(), "commit", cli_commit(), "compiler",
                     cli_compiler());
}

/* ---- what is reported ---- */

/* The smallest world: which kernels and how many threads a batch of it gets does not depend on a scene. */
static const char body[] = "schema_version: 1\nbodies: [{id: b, shapes: [{type: sphere, radius: 1}]}]\n"
                           "joints: [{id: j, type: free, child: b}]\n";
enum { WORLDS = 4096 }; /* fills lanes and threads */

/* Describes a solver with this instruction set; false, with the message of the library, if there is none. */
static bool describe(SapIsa isa, SapSolverInfo *out) {
    SapScene *scene = NULL;
    SapSolver *solver = NULL;
    bool ok = sap_scene_parse(body, strlen(body), "the smallest world", &scene) == SAP_OK;
    if (ok)
        scene->options.isa = isa;
    ok = ok && sap_solver_create(scene->model, WORLDS, &scene->options, &solver) == SAP_OK &&
         sap_solver_info(solver, out) == SAP_OK;
    sap_solver_destroy(solver);
    sap_scene_destroy(scene);
    return ok;
}

static json_t *isas_json(void) {
    static const SapIsa isas[] = {SAP_ISA_GENERIC, SAP_ISA_AVX2, SAP_ISA_AVX512};
    json_t *json = json_object();
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        SapSolverInfo info;
        bool available = describe(isas[i], &info);
        cli_json_put(&json, cli_isa(isas[i]).text, available ? json_string("yes") : cli_json_text(sap_error_message()));
    }
    return json;
}

static json_t *system_json(void) {
    struct utsname system;
    if (uname(&system) != 0)
        return json_null();
    return json_pack("{so so so ss}", "kernel", cli_json_text(system.sysname), "release", cli_json_text(system.release),
                     "machine", cli_json_text(system.machine), "c_library", gnu_get_libc_version());
}

static json_t *cpu_json(void) {
    SapSolverInfo info = {0};
    json_t *json = json_object();
    cli_json_put(&json, "name", cli_json_text(cli_cpu_name().text));
    cli_json_put(&json, "cpus", json_integer(cli_num_cpus()));
    cli_json_put(&json, "memory_bytes", json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
    cli_json_put(&json, "isa", describe(SAP_ISA_AUTO, &info) ? json_string(cli_isa(info.isa).text) : json_null());
    cli_json_put(&json, "lanes", json_integer(info.lanes));
    cli_json_put(&json, "threads", json_integer(info.threads));
    cli_json_put(&json, "instruction_sets", isas_json());
    return json;
}

/* GPUs in the order of the option cuda_device; without one, why. */
static json_t *gpus_json(void) {
    json_t *list = json_array();
    SapDeviceInfo gpu;
    for (int i = 0; sap_device_info(i, &gpu) == SAP_OK; i++)
        json_array_append_new(list, json_pack("{so si si si sI}", "name", cli_json_text(gpu.name), "compute_capability",
                                              gpu.capability, "driver", gpu.driver_version, "multiprocessors",
                                              gpu.multiprocessors, "memory_bytes", (json_int_t)gpu.memory_bytes));
    if (json_array_size(list) > 0)
        return list;
    json_decref(list);
    return cli_json_text(sap_error_message());
}

/* The variables that begin with SAPWOOD_. */
static json_t *environment_json(void) {
    json_t *json = json_object();
    for (char **variable = environ; *variable; variable++) {
        const char *equals = strchr(*variable, '=');
        char name[CLI_TEXT_SIZE];
        if (strncmp(*variable, "SAPWOOD_", strlen("SAPWOOD_")) != 0 || equals == NULL)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - *variable), *variable);
        cli_json_put(&json, cli_shown(name).text, cli_json_text(equals + 1));
    }
    return json;
}

/* ---- printing ---- */

/* One line per value: members of members are indented. */
static void print_members(json_t *json, int indent) {
    const char *name;
    json_t *value;
    json_object_foreach(json, name, value) {
        bool heading = json_object_size(value) + json_array_size(value) > 0;
        printf("%*s%-*s", indent, "", heading ? 0 : 22 - indent, name);
        if (heading) {
            putchar('\n');
            size_t i;
            json_t *item;
            json_array_foreach(value, i, item) print_members(item, indent + 2);
            print_members(value, indent + 2);
        } else if (json_is_string(value))
            printf("%s\n", cli_shown(json_string_value(value)).text);
        else if (json_is_integer(value) && strstr(name, "_bytes"))
            printf("%s\n", cli_bytes(json_number_value(value)).text);
        else if (json_is_integer(value))
            printf("%lld\n", (long long)json_integer_value(value));
        else
            puts(json_is_null(value) ? "unknown" : "none");
    }
}

int cli_machine_report(bool json) {
    json_t *report = cli_version_json();
    cli_json_put(&report, "system", system_json());
    cli_json_put(&report, "cpu", cpu_json());
    cli_json_put(&report, "gpus", gpus_json());
    cli_json_put(&report, "environment", environment_json());
    if (json || report == NULL)
        return cli_json_print(report) ? CLI_EXIT_OK : CLI_EXIT_BAD;
    print_members(report, 0);
    json_decref(report);
    return CLI_EXIT_OK;
}
