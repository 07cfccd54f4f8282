#include "executor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_memory.h"

enum { MAX_PRINTED = 20, MAX_PAIRS = 256 };

static char last[1024];
static u32 num_printed, num_pairs;
static u32 pairs[MAX_PAIRS][2];

static const char *const space_names[NUM_SPACES] = {"global", "shared", "local", "parameter"};
static const char *const access_names[] = {"read", "write", "atomic"};

const char *ptx_last_report(void) {
    return last;
}

void ptx_reset_reports(void) {
    num_printed = num_pairs = 0;
}

void ptx_describe_site(u32 site, char *text, u32 size) {
    const DeviceModule *m = ptx_executor.module;
    const Site *s = &m->sites[site];
    if (s->source_line && s->call_line)
        snprintf(text, size, "%s:%u (inlined in %s:%u, ptx line %u)", m->files[s->file], s->source_line,
                 m->files[s->call_file], s->call_line, s->line);
    else if (s->source_line)
        snprintf(text, size, "%s:%u (ptx line %u)", m->files[s->file], s->source_line, s->line);
    else
        snprintf(text, size, "ptx line %u", s->line);
}

static void report(Thread *t, u32 site, const char *format, va_list arguments) {
    const Executor *e = &ptx_executor;
    char text[512], place[512];
    vsnprintf(text, sizeof text, format, arguments);
    ptx_describe_site(site, place, sizeof place);
    snprintf(last, sizeof last, "%s: %.400s: %.400s, block (%u,%u,%u) thread (%u,%u,%u)", e->kernel->name, place, text,
             e->block.ctaid[0], e->block.ctaid[1], e->block.ctaid[2], t->tid[0], t->tid[1], t->tid[2]);
    if (ptx_executor.failure == PTX_OK)
        ptx_executor.failure = PTX_REPORTED;
    if (num_printed++ < MAX_PRINTED)
        fprintf(stderr, "ptx: %s\n", last);
}

void ptx_report(Thread *t, u32 site, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(t, site, format, arguments);
    va_end(arguments);
}

static int is_new_pair(u32 a, u32 b) {
    for (u32 i = 0; i < num_pairs; i++)
        if (pairs[i][0] == a && pairs[i][1] == b)
            return 0;
    if (num_pairs < MAX_PAIRS) {
        pairs[num_pairs][0] = a;
        pairs[num_pairs++][1] = b;
    }
    return 1;
}

void ptx_report_once(Thread *t, u32 site, u32 other_site, const char *format, ...) {
    if (!is_new_pair(site, other_site))
        return;
    va_list arguments;
    va_start(arguments, format);
    report(t, site, format, arguments);
    va_end(arguments);
}

void ptx_fault(Thread *t, Space space, u64 address, u32 width, u32 site, Access kind) {
    char where[128] = "";
    if (space == SPACE_GLOBAL)
        ptx_describe_address(address, where, sizeof where);
    else if (space == SPACE_SHARED)
        snprintf(where, sizeof where, "offset %d of %u bytes", (int)(address - SHARED_BASE),
                 t->shared_size - SHARED_BASE);
    else if (space == SPACE_PARAM)
        snprintf(where, sizeof where, "offset %d of %u bytes", (int)address, t->params_size);
    int misaligned = address % width != 0;
    ptx_report(t, site, "%s %s of %u bytes at 0x%llx %s%s%s", space_names[space], access_names[kind], width,
               (unsigned long long)address, misaligned ? "is misaligned" : "is out of bounds", *where ? ": " : "",
               where);
    ptx_fail(t, misaligned ? PTX_MISALIGNED : PTX_BAD_ADDRESS);
}

/* PTX_IGNORE=unwritten: for programs that read what they then select away. */
void ptx_read_unwritten(Thread *t, Space space, u64 address, u32 width, u32 site) {
    const char *ignored = getenv("PTX_IGNORE");
    if (ignored && strstr(ignored, "unwritten"))
        return;
    ptx_report_once(t, site, 0, "%s read of %u bytes at 0x%llx that were never written", space_names[space], width,
                    (unsigned long long)(space == SPACE_SHARED ? address - SHARED_BASE : address));
}

void ptx_trap(Thread *t, u32 site, const char *what) {
    ptx_report(t, site, "%s", what);
    ptx_fail(t, PTX_TRAP);
}

void ptx_assert_fail(Thread *t, u32 site, u8 *message, u8 *file, u8 *line, u8 *function, u8 *char_size) {
    (void)function, (void)char_size;
    ptx_report(t, site, "assertion failed: %s (%s:%u)", *(const char **)message, *(const char **)file, *(u32 *)line);
    ptx_fail(t, PTX_ASSERT);
}
