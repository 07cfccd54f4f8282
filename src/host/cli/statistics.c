#include "host/cli/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "host/cli/cluster/cluster.h"

/* ---- counts ---- */

void cli_count_add(CliCount *count, int value) {
    count->sum += value;
    count->samples++;
    count->largest = value > count->largest ? value : count->largest;
    count->of[value < CLI_COUNT_ROOM ? value : CLI_COUNT_ROOM - 1]++;
}

double cli_count_mean(const CliCount *count) {
    return count->samples > 0 ? count->sum / count->samples : (double)NAN;
}

int cli_count_quantile(const CliCount *count, int percent) {
    double below = 0;
    for (int value = 0; value < CLI_COUNT_ROOM - 1; value++) {
        below += (double)count->of[value];
        if (100 * below >= percent * count->samples)
            return value;
    }
    return count->largest;
}

json_t *cli_count_json(const CliCount *count) {
    return json_pack("{so si si}", "mean", cli_json_real(cli_count_mean(count)), "p95", cli_count_quantile(count, 95),
                     "largest", count->largest);
}

/* ---- gaps ---- */

static const double least_depth = 1e-9, bin_ratio = 1.05;

void cli_gaps_add(CliGaps *gaps, double gap) {
    int bin = -gap > least_depth ? 1 + (int)fmin(log(-gap / least_depth) / log(bin_ratio), CLI_GAP_ROOM - 2) : 0;
    gaps->depth[bin]++;
    gaps->smallest = gaps->samples++ > 0 ? fmin(gaps->smallest, gap) : gap;
}

/* The upper end of the bin, but not more than the largest depth. */
double cli_gaps_depth(const CliGaps *gaps, int percent) {
    double below = 0;
    int bin = -1;
    if (gaps->samples == 0)
        return (double)NAN;
    do
        below += (double)gaps->depth[++bin];
    while (bin < CLI_GAP_ROOM - 1 && 100 * below < percent * (double)gaps->samples);
    return bin == 0 ? 0 : fmin(least_depth * pow(bin_ratio, bin), fmax(0, -gaps->smallest));
}

/* ---- sampling ---- */

const CliFailure cli_ends[CLI_NUM_ENDS] = {
    {SAP_WORLD_ITERATION_LIMIT, "iteration_limit", "iteration limit"},
    {SAP_WORLD_LINE_SEARCH_FAILED, "line_search_failed", "line search failed"},
    {SAP_WORLD_NO_DESCENT, "no_descent", "no descent"},
    {SAP_WORLD_COST_STALLED, "cost_stalled", "stalled above a residual of 1e-2"}};

const CliStop cli_stops[CLI_NUM_STOPS] = {[CLI_STOP_OPTIMAL] = {"optimality", "optimality"},
                                          [CLI_STOP_COST] = {"cost", "cost"},
                                          [CLI_STOP_NOTHING] = {"nothing_active", "nothing active"},
                                          [CLI_STOP_STALLED] = {"cost_stalled", "cost at a residual above 1e-2"},
                                          [CLI_STOP_NOT_CONVERGED] = {"not_converged", "not converged"}};

static int stop_of(uint32_t status) {
    if (status & SAP_WORLD_COST_STALLED)
        return CLI_STOP_STALLED;
    if (status & SAP_WORLD_NOT_CONVERGED)
        return CLI_STOP_NOT_CONVERGED;
    return status & SAP_WORLD_OPTIMAL        ? CLI_STOP_OPTIMAL
           : status & SAP_WORLD_COST_SETTLED ? CLI_STOP_COST
                                             : CLI_STOP_NOTHING;
}

bool cli_statistics_look(CliStatistics *s, const CliBatch *batch) {
    const SapContacts *contacts = batch->contacts;
    const SapWorldReport report = batch->report;
    s->steps++;
    for (int w = 0; w < batch->state->num_worlds; w++) {
        if (report.status[w] & SAP_WORLD_FAILED)
            continue;
        cli_count_add(&s->contacts, contacts->count[w]);
        cli_count_add(&s->needed, contacts->count[w] + contacts->dropped[w]);
        cli_count_add(&s->newton, report.iterations[w]);
        cli_count_add(&s->line, report.line_iterations[w]);
        s->stops[stop_of(report.status[w])]++;
    }
    return true;
}

double cli_statistics_share(const CliStatistics *s, int stop) {
    return s->contacts.samples > 0 ? s->stops[stop] / s->contacts.samples : (double)NAN;
}

bool cli_statistics_record_gaps(CliBatch *batch) {
    SapArray view;
    return cli_check(sap_batch_array(batch->batch, SAP_BATCH_CONTACT_GAP, &view));
}

bool cli_statistics_look_at_gaps(CliStatistics *s, CliBatch *batch) {
    const SapContacts *contacts = batch->contacts;
    size_t count = (size_t)contacts->num_worlds * (size_t)contacts->capacity;
    double *gaps = cli_allocate(count, sizeof *gaps);
    bool ok = gaps && cli_check(sap_batch_read(batch->batch, SAP_BATCH_CONTACT_GAP, gaps, count * sizeof *gaps));
    for (int w = 0; w < contacts->num_worlds && ok; w++)
        for (int c = 0; c < contacts->count[w] && !batch->failed[w]; c++)
            cli_gaps_add(&s->gaps, gaps[(size_t)w * (size_t)contacts->capacity + (size_t)c]);
    free(gaps);
    return ok;
}

void cli_statistics_finish(CliStatistics *s, const CliBatch *batch) {
    for (int w = 0; w < batch->state->num_worlds; w++) {
        s->not_converged += (batch->seen[w] & SAP_WORLD_NOT_CONVERGED) != 0;
        s->truncated += (batch->seen[w] & SAP_WORLD_CONTACTS_TRUNCATED) != 0;
        s->fast_spins += (batch->seen[w] & SAP_WORLD_FAST_SPIN) != 0;
        s->tunnels += (batch->seen[w] & SAP_WORLD_MAY_TUNNEL) != 0;
        s->deep += (batch->seen[w] & SAP_WORLD_DEEP_CONTACT) != 0;
        s->unbounded += (batch->seen[w] & SAP_WORLD_UNBOUNDED) != 0;
        s->not_coulomb += (batch->seen[w] & SAP_WORLD_COULOMB_NOT_CONVERGED) != 0;
        for (int i = 0; i < CLI_NUM_ENDS; i++)
            s->by_end[i] += (batch->seen[w] & cli_ends[i].bit) != 0;
    }
}

/* ---- several ranks ---- */

static void merge_counts(CliCount *to, const CliCount *from) {
    to->sum += from->sum;
    to->samples += from->samples;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
    for (int i = 0; i < CLI_COUNT_ROOM; i++)
        to->of[i] += from->of[i];
}

static void merge_gaps(CliGaps *to, const CliGaps *from) {
    if (from->samples > 0)
        to->smallest = to->samples > 0 ? fmin(to->smallest, from->smallest) : from->smallest;
    to->samples += from->samples;
    for (int i = 0; i < CLI_GAP_ROOM; i++)
        to->depth[i] += from->depth[i];
}

static void merge(void *state, void *mine) {
    CliStatistics *to = state;
    const CliStatistics *from = mine;
    to->steps = from->steps > to->steps ? from->steps : to->steps;
    merge_counts(&to->contacts, &from->contacts);
    merge_counts(&to->needed, &from->needed);
    merge_counts(&to->newton, &from->newton);
    merge_counts(&to->line, &from->line);
    to->not_converged += from->not_converged;
    for (int i = 0; i < CLI_NUM_ENDS; i++)
        to->by_end[i] += from->by_end[i];
    to->truncated += from->truncated;
    to->fast_spins += from->fast_spins;
    to->tunnels += from->tunnels;
    to->deep += from->deep;
    to->unbounded += from->unbounded;
    to->not_coulomb += from->not_coulomb;
    for (int i = 0; i < CLI_NUM_STOPS; i++)
        to->stops[i] += from->stops[i];
    merge_gaps(&to->gaps, &from->gaps);
}

void cli_statistics_gather(CliStatistics *s) {
    if (cli_cluster_size() == 1)
        return;
    static CliStatistics mine; /* too large for a stack */
    mine = *s;
    *s = (CliStatistics){0};
    cli_cluster_chain(s, sizeof *s, merge, &mine);
}

/* ---- as text ---- */

static void print_ends(const CliStatistics *s, int worlds, int width) {
    printf("%-*s %d of %d", width, "not converged", s->not_converged, worlds);
    cli_counts_print(cli_ends, s->by_end, CLI_NUM_ENDS);
    putchar('\n');
}

/* A step that was not sampled may have needed more. */
static void print_truncated(const CliStatistics *s, const CliBatch *batch, int width) {
    int worlds = batch->total, capacity = batch->contacts->capacity;
    printf("%-*s contacts were dropped in %d of %d worlds: max_contacts is %d", width, "WARNING", s->truncated, worlds,
           capacity);
    if (s->needed.largest > capacity)
        printf("; a world needed %d", s->needed.largest);
    puts("; `sapwood info --probe` proposes a value");
}

void cli_statistics_print(const CliStatistics *s, const CliBatch *batch, int width) {
    if (s->steps == 0)
        return;
    printf("%-*s mean %.4g, max %d per world, in %d slots (sampled in %d steps)", width, "contacts",
           cli_count_mean(&s->contacts), s->contacts.largest, batch->contacts->capacity, s->steps);
    if (s->gaps.samples > 0)
        printf("; smallest gap %.3g m in the last step", s->gaps.smallest);
    printf("\n%-*s Newton: mean %.4g, max %d; line search: mean %.4g, max %d\n", width, "iterations",
           cli_count_mean(&s->newton), s->newton.largest, cli_count_mean(&s->line), s->line.largest);
    print_ends(s, batch->total, width);
    if (s->truncated)
        print_truncated(s, batch, width);
    if (s->fast_spins)
        printf("%-*s a body spins too fast for the time step in %d of %d worlds: the explicit gyroscopic torque adds "
               "energy; take a shorter step, or gyroscopic=implicit\n",
               width, "WARNING", s->fast_spins, batch->total);
    if (s->tunnels)
        printf("%-*s a free body moves by more than its thickness in a step in %d of %d worlds: it may pass through "
               "others; take a shorter step\n",
               width, "WARNING", s->tunnels, batch->total);
    if (s->deep)
        printf("%-*s a contact is deeper than half of a body in %d of %d worlds: a heavy body presses a light one, or "
               "contacts are soft\n",
               width, "WARNING", s->deep, batch->total);
    if (s->unbounded)
        printf("%-*s contact targets that contradict each other in %d of %d worlds: solved with compliance instead\n",
               width, "note", s->unbounded, batch->total);
    if (s->not_coulomb)
        printf("%-*s no solution of Coulomb's law found in %d of %d worlds: solved with the convex law instead\n",
               width, "note", s->not_coulomb, batch->total);
}

/* ---- as JSON ---- */

void cli_statistics_put(const CliStatistics *s, const CliBatch *batch, json_t **json) {
    json_t *contacts = cli_count_json(&s->contacts);
    cli_json_put(&contacts, "needed", cli_count_json(&s->needed));
    cli_json_put(&contacts, "slots", json_integer(batch->contacts->capacity));
    cli_json_put(&contacts, "steps_looked_at", json_integer(s->steps));
    cli_json_put(&contacts, "truncated_worlds", json_integer(s->truncated));
    cli_json_put(&contacts, "smallest_gap", cli_json_real(s->gaps.samples ? s->gaps.smallest : (double)NAN));
    cli_json_put(json, "contacts", contacts);
    cli_json_put(json, "newton_iterations", cli_count_json(&s->newton));
    cli_json_put(json, "line_search_iterations", cli_count_json(&s->line));
    cli_json_put(json, "not_converged", cli_counts_json(s->not_converged, cli_ends, s->by_end, CLI_NUM_ENDS));
    cli_json_put(json, "fast_spin_worlds", json_integer(s->fast_spins));
    cli_json_put(json, "may_tunnel_worlds", json_integer(s->tunnels));
    cli_json_put(json, "deep_contact_worlds", json_integer(s->deep));
    cli_json_put(json, "unbounded_worlds", json_integer(s->unbounded));
    cli_json_put(json, "coulomb_not_converged_worlds", json_integer(s->not_coulomb));
}
