#define _GNU_SOURCE /* dladdr */
#include "host/cli/cluster/same_inputs.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

#include "host/cli/cluster/cluster.h"
#include "host/cli/machine.h"

typedef struct Text {
    char text[1 << 14];
    size_t used;
} Text;

static void add(Text *t, const char *format, ...) SAP_PRINTF(2, 3);
static void add(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(t->text + t->used, sizeof t->text - t->used, format, args);
    va_end(args);
    t->used += length > 0 ? (size_t)length : 0;
    t->used = t->used < sizeof t->text ? t->used : sizeof t->text - 1;
}

/* FNV-1a of the bytes of the library's file; 0 if it cannot be read. */
static uint64_t library_hash(void) {
    Dl_info info;
    union { /* ISO C has no conversion of a function to an address */
        const char *(*function)(void);
        void *address;
    } of = {.function = sap_version};
    FILE *file = dladdr(of.address, &info) != 0 ? fopen(info.dli_fname, "rbe") : NULL;
    unsigned char bytes[1 << 16];
    uint64_t hash = 0xcbf29ce484222325u;
    if (file == NULL)
        return 0;
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;)
        for (size_t i = 0; i < count; i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
    fclose(file);
    return hash;
}

static void add_program(Text *t, const char *command) {
    add(t, "command: %s\nversion: %s\ncommit: %s\n", command, sap_version(), cli_commit());
    add(t, "library: a file with hash %016llx\n", (unsigned long long)library_hash());
}

static void add_options(Text *t, const SapOptions *options) {
    for (const char *const *name = sap_options_names(); *name != NULL; name++)
        add(t, "option %s: %s\n", *name, cli_option(options, *name).text);
}

static void add_model(Text *t, const SapModel *model) {
    uint64_t hash;
    const char *name;
    for (int i = 0; (name = sap_model_array_hash(model, i, &hash)) != NULL; i++)
        add(t, "model %s: an array with hash %016llx\n", name, (unsigned long long)hash);
}

bool cli_same_inputs(const char *command, const CliScene *scene, const SapOptions *options, const char *more) {
    if (cli_cluster_size() == 1)
        return true;
    Text *t = cli_allocate(1, sizeof *t);
    if (t == NULL)
        return false;
    add_program(t, command);
    add(t, "%s", more);
    add_model(t, scene->scene->model);
    add_options(t, options);
    bool same = cli_cluster_check_same(t->text);
    free(t);
    return same;
}
