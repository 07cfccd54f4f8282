#include "host/cli/capabilities.h"

#include <stdio.h>
#include <string.h>

#include <sapwood/capabilities.h>

#include "host/cli/common.h"

/* ---- the cells of a row ---- */

enum { DEVICES = SAP_DEVICE_CUDA + 1, SOLVERS = SAP_NUM_CONTACT_SOLVERS, MOST_REASONS = 128 };

typedef struct Row {
    SapCapability cell[SOLVERS][DEVICES];
} Row;

static Row row_of(const char *name) {
    Row row;
    for (int s = 0; s < SOLVERS; s++)
        for (int d = 0; d < DEVICES; d++)
            sap_capability(name, (SapContactSolver)s, (SapDevice)d, &row.cell[s][d]);
    return row;
}

static bool same_cell(const SapCapability *a, const SapCapability *b) {
    return a->support == b->support && strcmp(a->reason, b->reason) == 0;
}

/* Whether two rows of one group have the same answers and no description of their own. */
static bool same_answers(const Row *a, const Row *b) {
    bool same = strcmp(a->cell[0][0].group, b->cell[0][0].group) == 0 && !*a->cell[0][0].what && !*b->cell[0][0].what;
    for (int i = 0; i < SOLVERS * DEVICES; i++)
        same = same && same_cell(&a->cell[i / DEVICES][i % DEVICES], &b->cell[i / DEVICES][i % DEVICES]);
    return same;
}

/* ---- the page ---- */

/* Reasons in the order in which they appear. */
typedef struct Reasons {
    const char *text[MOST_REASONS];
    int count;
} Reasons;

/* The number of a reason, from 1 on. */
static int number_of(Reasons *reasons, const char *text) {
    for (int i = 0; i < reasons->count; i++)
        if (strcmp(reasons->text[i], text) == 0)
            return i + 1;
    if (reasons->count < MOST_REASONS)
        reasons->text[reasons->count++] = text;
    return reasons->count;
}

static void print_answer(const SapCapability *cell, Reasons *reasons) {
    if (cell->support == SAP_SUPPORT_YES)
        printf("yes");
    else
        printf("%s%d", cell->support == SAP_SUPPORT_NO ? "no " : "- ", number_of(reasons, cell->reason));
}

static void print_cells(const Row *row, Reasons *reasons) {
    for (int s = 0; s < SOLVERS; s++) {
        const SapCapability *cpu = &row->cell[s][SAP_DEVICE_CPU], *cuda = &row->cell[s][SAP_DEVICE_CUDA];
        printf(" | ");
        print_answer(cpu, reasons);
        if (!same_cell(cpu, cuda)) {
            printf(" / ");
            print_answer(cuda, reasons);
        }
    }
    printf(" |\n");
}

static void print_heading(const char *group) {
    printf("\n## %s\n| capability", group);
    for (int s = 0; s < SOLVERS; s++)
        printf(" | %s", sap_contact_solver_names()[s]);
    printf(" |\n|");
    for (int s = 0; s <= SOLVERS; s++)
        printf(" --- |");
    printf("\n");
}

/* Prints one line for the row at `name` and the rows after it with the same answers; returns the next name. */
static const char *const *print_rows(const char *const *name, const Row *row, Reasons *reasons) {
    printf("| `%s`", *name);
    if (*row->cell[0][0].what)
        printf(": %s", row->cell[0][0].what);
    for (name++; *name; name++) {
        Row next = row_of(*name);
        if (!same_answers(row, &next))
            break;
        printf(", `%s`", *name);
    }
    print_cells(row, reasons);
    return name;
}

static const char introduction[] =
    "# Capabilities\n"
    "\n"
    "What each formulation (the option `contact_solver`) can do on each device. `sap_capability` gives the same\n"
    "answers in C (sapwood/capabilities.h), `sapwood.capabilities()` in Python and `sapwood info --capabilities "
    "--json`\n"
    "in a program. A call that is refused ends its message with the reason of the table.\n"
    "\n"
    "This page is written by `sapwood info --capabilities > docs/capabilities.md`, and a test compares it with the\n"
    "library.\n"
    "\n"
    "**yes**: it works. **no**: it is refused, for the reason of that number below. **-**: it has no meaning there; a\n"
    "request has no effect, or cannot be made. Two answers are for `cpu` / `cuda`; one answer is for both.\n";

static void print_page(void) {
    Reasons reasons = {.count = 0};
    const char *group = "";
    fputs(introduction, stdout);
    for (const char *const *name = sap_capability_names(); *name;) {
        Row row = row_of(*name);
        if (strcmp(group, row.cell[0][0].group) != 0)
            print_heading(row.cell[0][0].group);
        group = row.cell[0][0].group;
        name = print_rows(name, &row, &reasons);
    }
    printf("\n## Reasons\n");
    for (int i = 0; i < reasons.count; i++)
        printf("%d. %s\n", i + 1, reasons.text[i]);
}

/* ---- JSON ---- */

static const char *support_name(SapSupport support) {
    static const char *const names[] = {
        [SAP_SUPPORT_NO] = "no", [SAP_SUPPORT_YES] = "yes", [SAP_SUPPORT_NOT_APPLICABLE] = "not_applicable"};
    return names[support];
}

static json_t *cells_json(const SapCapability cell[DEVICES]) {
    json_t *json = json_object();
    for (int d = 0; d < DEVICES; d++)
        cli_json_put(&json, sap_device_names()[d],
                     json_pack("{ss ss}", "support", support_name(cell[d].support), "reason", cell[d].reason));
    return json;
}

static json_t *row_json(const char *name) {
    Row row = row_of(name);
    json_t *json = json_pack("{ss ss ss}", "name", name, "group", row.cell[0][0].group, "what", row.cell[0][0].what);
    for (int s = 0; s < SOLVERS; s++)
        cli_json_put(&json, sap_contact_solver_names()[s], cells_json(row.cell[s]));
    return json;
}

int cli_capabilities(bool json) {
    if (!json) {
        print_page();
        return CLI_EXIT_OK;
    }
    json_t *list = json_array();
    for (const char *const *name = sap_capability_names(); *name; name++)
        json_array_append_new(list, row_json(*name));
    return cli_json_print(list) ? CLI_EXIT_OK : CLI_EXIT_BAD;
}
