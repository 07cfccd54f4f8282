#include "cli_probe.h"

#include <stdlib.h>

#include "cli_batch.h"

/* Slots of the trial. A world that needs more is still counted in full, but moves as if it had the deepest only. */
enum { TRIAL_SLOTS = 1024, MOST_CONTACTS = 65535 };

/* How often each number of contacts was seen. */
typedef struct Histogram {
    long long *of; /* [MOST_CONTACTS + 1] */
    long long total, sum;
    int most;
} Histogram;

static void histogram_add(Histogram *h, int value) {
    value = value < MOST_CONTACTS ? value : MOST_CONTACTS;
    h->of[value]++;
    h->total++;
    h->sum += value;
    h->most = value > h->most ? value : h->most;
}

/* The smallest number that `percent` of the samples do not exceed. */
static int histogram_quantile(const Histogram *h, int percent) {
    long long below = 0;
    int value = -1;
    do
        below += h->of[++value];
    while (value < h->most && 100 * below < percent * h->total);
    return value;
}

static void look(const CliBatch *batch, Histogram *h) {
    const SapContacts *contacts = batch->contacts;
    for (int w = 0; w < batch->state->num_worlds; w++)
        if (!batch->failed[w])
            histogram_add(h, contacts->count[w] + contacts->dropped[w]);
}

static bool step_worlds(CliBatch *batch, CliProbe *probe, Histogram *h) {
    if (!cli_batch_perturb(batch, probe->seed, probe->noise))
        return false;
    for (int step = 0; step < probe->steps; step++) {
        if (!cli_batch_step(batch, 1) || !cli_batch_gather(batch))
            return false;
        look(batch, h);
    }
    probe->failed = cli_batch_failures(batch).total;
    return true;
}

/* A quarter more than was seen, in fours. */
static int propose(int most) {
    int wanted = (most + most / 4 + 3) / 4 * 4;
    return wanted < 4 ? 4 : wanted < MOST_CONTACTS ? wanted : MOST_CONTACTS;
}

bool cli_probe_run(const SapScene *scene, CliProbe *probe) {
    SapOptions o = scene->options;
    o.max_rigid_contact = o.max_rigid_contact > TRIAL_SLOTS ? o.max_rigid_contact : TRIAL_SLOTS;
    CliBatch batch = {0};
    Histogram h = {.of = cli_allocate(MOST_CONTACTS + 1, sizeof *h.of)};
    bool ok = h.of && cli_batch_create(scene, &o, probe->worlds, cli_default_dtype(&o), false, &batch) &&
              step_worlds(&batch, probe, &h);
    if (ok) {
        probe->mean = h.total ? (double)h.sum / (double)h.total : 0;
        probe->p95 = h.total ? histogram_quantile(&h, 95) : 0;
        probe->most = h.most;
        probe->proposal = propose(h.most);
    }
    cli_batch_free(&batch);
    free(h.of);
    return ok;
}

void cli_probe_print(const CliProbe *p, const SapOptions *options, int width) {
    printf("%-*s %d worlds, %d steps, noise %g", width, "probe", p->worlds, p->steps, p->noise);
    if (p->failed)
        printf("; %d worlds FAILED", p->failed);
    printf("\n%-*s mean %.4g, 95 %% have at most %d, most %d per world\n", width, "contacts", p->mean, p->p95, p->most);
    printf("%-*s max_rigid_contact=%d; it is %d%s\n", width, "proposal", p->proposal, options->max_rigid_contact,
           p->most > options->max_rigid_contact ? ", TOO FEW: contacts are dropped" : "");
}

json_t *cli_probe_json(const CliProbe *p) {
    return json_pack("{si si so s{so si si} si si}", "worlds", p->worlds, "steps", p->steps, "noise",
                     cli_json_real(p->noise), "contacts", "mean", cli_json_real(p->mean), "p95", p->p95, "largest",
                     p->most, "max_rigid_contact", p->proposal, "failed", p->failed);
}
