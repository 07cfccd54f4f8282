/* Live handles. When the process ends, what was not released is named on standard error; with PTX_LEAKS=fail the
 * process then ends with status 86. */
#include "driver.h"

#include <string.h>
#include <unistd.h>

typedef struct Object {
    struct Object *next;
    ObjectKind kind;
    _Alignas(64) unsigned char data[];
} Object;

static Object *objects;

void *object_create(ObjectKind kind, size_t size) {
    size_t total = (sizeof(Object) + size + 63) / 64 * 64;
    Object *o = aligned_alloc(64, total);
    if (!o)
        return NULL;
    memset(o, 0, total);
    o->kind = kind;
    o->next = objects;
    objects = o;
    return o->data;
}

static Object **find(ObjectKind kind, const void *object) {
    Object **o = &objects;
    while (*o && !((*o)->kind == kind && (void *)(*o)->data == object))
        o = &(*o)->next;
    return o;
}

int object_is_live(ObjectKind kind, const void *object) {
    return object && *find(kind, object);
}

void object_destroy(ObjectKind kind, void *object) {
    Object **place = find(kind, object), *o = *place;
    if (!o)
        return;
    *place = o->next;
    free(o);
}

static size_t append_count(char *text, size_t used, size_t size, unsigned count, const char *name) {
    if (count == 0)
        return used;
    int written = snprintf(text + used, size - used, "%s%u %s%s", used ? ", " : "", count, name, count > 1 ? "s" : "");
    return used + (size_t)written;
}

static __attribute__((destructor)) void report_leaks(void) {
    static const char *const names[NUM_OBJECT_KINDS] = {
        "stream", "event", "module", "graph", "body of a graph's node", "graph executable", "pinned allocation"};
    char text[512] = "";
    size_t used = 0;
    unsigned count[NUM_OBJECT_KINDS] = {0};
    for (const Object *o = objects; o; o = o->next)
        count[o->kind]++;
    for (int k = 0; k < NUM_OBJECT_KINDS; k++)
        used = append_count(text, used, sizeof text, count[k], names[k]);
    used = append_count(text, used, sizeof text, ptx_num_allocations(), "device allocation");
    used = append_count(text, used, sizeof text, (unsigned)context_num_retained(), "context");
    if (!used)
        return;
    complain("not released: %s", text);
    const char *leaks = getenv("PTX_LEAKS");
    if (leaks && !strcmp(leaks, "fail")) {
        fflush(NULL);
        _exit(86);
    }
}
