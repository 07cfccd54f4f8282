#include "host/cli/probe.h"

#include "host/cli/statistics.h"

/* Contact slots of the probe. A world that needs more is counted in full, but moves with its deepest contacts only. */
enum { TRIAL_SLOTS = 1024, MOST_CONTACTS = 65535 };

static void count_contacts(const CliBatch *batch, CliCount *needed) {
    const SapContacts *contacts = batch->contacts;
    for (int w = 0; w < batch->state->num_worlds; w++)
        if (!batch->failed[w])
            cli_count_add(needed, contacts->count[w] + contacts->dropped[w]);
}

static bool step_worlds(CliBatch *batch, CliProbe *probe, CliCount *needed) {
    if (!cli_batch_perturb(batch, probe->seed, probe->noise))
        return false;
    for (int step = 0; step < probe->steps; step++) {
        if (!cli_batch_step(batch, 1) || !cli_batch_gather(batch))
            return false;
        count_contacts(batch, needed);
    }
    probe->failed = cli_batch_failures(batch).total;
    return true;
}

/* A quarter more than the largest number seen, rounded up to a multiple of four. */
static int propose(int most) {
    int wanted = (most + most / 4 + 3) / 4 * 4;
    return wanted < 4 ? 4 : wanted < MOST_CONTACTS ? wanted : MOST_CONTACTS;
}

bool cli_probe_run(const SapScene *scene, CliProbe *probe) {
    SapOptions o = scene->options;
    o.max_contacts = o.max_contacts > TRIAL_SLOTS ? o.max_contacts : TRIAL_SLOTS;
    CliBatch batch = {0};
    CliCount needed = {0};
    bool ok = cli_batch_create(scene, &o, probe->worlds, cli_default_dtype(&o), false, &batch) &&
              step_worlds(&batch, probe, &needed);
    if (ok) {
        probe->mean = needed.samples > 0 ? cli_count_mean(&needed) : 0;
        probe->p95 = cli_count_quantile(&needed, 95);
        probe->most = needed.largest;
        probe->proposal = propose(needed.largest);
    }
    cli_batch_free(&batch);
    return ok;
}

void cli_probe_print(const CliProbe *p, int slots, int width) {
    printf("%-*s %d worlds, %d steps, noise %g", width, "probe", p->worlds, p->steps, p->noise);
    if (p->failed)
        printf("; %d worlds FAILED", p->failed);
    printf("\n%-*s mean %.4g, p95 %d, max %d per world\n", width, "contacts", p->mean, p->p95, p->most);
    printf("%-*s max_contacts=%d; it is %d%s\n", width, "proposal", p->proposal, slots,
           p->most > slots ? ", TOO FEW: contacts are dropped" : "");
}

json_t *cli_probe_json(const CliProbe *p) {
    return json_pack("{si si so s{so si si} si si}", "worlds", p->worlds, "steps", p->steps, "noise",
                     cli_json_real(p->noise), "contacts", "mean", cli_json_real(p->mean), "p95", p->p95, "largest",
                     p->most, "max_contacts", p->proposal, "failed", p->failed);
}
