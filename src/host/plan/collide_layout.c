#include "host/plan/collide_layout.h"

#include <limits.h>

int sap_collide_layout(const SapPlan *plan, int capacity, SapCollideArgs *args) {
    SapCollideLayout *out = &args->layout;
    long long words = plan->sweep ? (long long)plan->ns * plan->row_words : ((long long)plan->num_pairs + 31) / 32;
    long long reals = 11LL * plan->ns + (long long)args->chunk * args->max_contacts * SAP_CANDIDATE_SIZE + capacity;
    long long ints = 2 + 3LL * args->chunk + words + (plan->sweep ? plan->ns : 0);
    if (reals > INT_MAX || ints > INT_MAX)
        return 0;
    out->pose = 0;
    out->ball = out->pose + 7 * plan->ns;
    out->candidate = out->ball + 4 * plan->ns;
    out->gap = out->candidate + args->chunk * args->max_contacts * SAP_CANDIDATE_SIZE;
    out->size = (int)reals;
    out->num_chunk = 0;
    out->cursor = 1;
    out->chunk = 2;
    out->num_candidates = out->chunk + 2 * args->chunk;
    out->near = out->num_candidates + args->chunk;
    out->num_words = (int)words;
    out->order = out->near + (int)words;
    out->ints = (int)ints;
    return 1;
}
