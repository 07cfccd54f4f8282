/* Cases: see case.h. */
#include "generate/case.h"

#include <string.h>

#include "support/random.h"

enum { MOST_LEVELS = 8, MOST_COVERING = 512, CANDIDATES = 12, TRIES = 40 };

static const struct {
    const char *name, *levels[MOST_LEVELS];
} factors[NUM_FACTORS] = {
    [FACTOR_JOINT] = {"joint", {"fixed", "prismatic", "revolute", "ball", "free", "d6"}},
    [FACTOR_SHAPE] = {"shape", {"sphere", "capsule", "ellipsoid", "cylinder", "box", "cone", "mesh"}},
    [FACTOR_GROUND] = {"ground", {"plane", "field", "boxes"}},
    [FACTOR_CONSTRAINT] = {"constraint", {"none", "ball", "weld", "distance", "coupler"}},
    [FACTOR_TENDON] = {"tendon", {"none", "fixed", "spatial"}},
    [FACTOR_TREES] = {"trees", {"one", "two", "three", "many"}},
    [FACTOR_DOFS] = {"dofs", {"bare", "limits", "drives", "friction", "all"}},
    [FACTOR_STIFFNESS] = {"stiffness", {"soft", "stiff", "rigid"}},
    [FACTOR_PARAMETERS] = {"parameters", {"model", "own"}},
    [FACTOR_DTYPE] = {"dtype", {"preset", "f32", "f64"}},
    [FACTOR_SOLVER] = {"contact_solver", {"sap", "cone", "pgs", "pgs_rows", "active_set", "mujoco"}},
    [FACTOR_PRESET] = {"preset", {"fast32", "fast64", "approx32", "approx64", "drake"}},
    [FACTOR_LINE_SEARCH] = {"line_search", {"none", "monotone_decay", "armijo_decay", "exact_root", "wolfe"}},
    [FACTOR_FRICTION_LAW] = {"friction_law", {"convex", "coulomb"}},
    [FACTOR_COMPLIANCE] = {"contact_compliance", {"rigid", "material", "sap"}},
    [FACTOR_RESTITUTION] = {"restitution", {"0", "0.5"}},
    [FACTOR_WARM_START] = {"warm_start", {"false", "true"}},
    [FACTOR_GYROSCOPIC] = {"gyroscopic", {"none", "explicit", "implicit"}},
    [FACTOR_VELOCITY_FORCES] = {"velocity_forces", {"start", "mean"}},
    [FACTOR_INTEGRATION] = {"position_integration", {"none", "midpoint", "sap_euler"}},
    [FACTOR_CONTACT_WEIGHT] = {"contact_weight", {"none", "body_inertia", "diag_delassus"}},
    [FACTOR_CONTACT_POINT] = {"contact_point", {"none", "witness_point", "contact_midpoint"}},
    [FACTOR_CONSTRAINT_WEIGHT] = {"constraint_weight", {"none", "split", "mixed"}},
    [FACTOR_TENDON_WINDOW] = {"tendon_limit_window", {"none", "reach", "violated"}},
    [FACTOR_CONSTRAINT_SPEED] = {"constraint_speed", {"1", "none"}},
    [FACTOR_SLOTS] = {"max_contacts", {"16", "6"}},
    [FACTOR_POINTS_PER_PAIR] = {"max_contacts_per_pair", {"4", "1", "8"}},
    [FACTOR_SLEEP] = {"sleep_steps", {"0", "3"}},
};

const char *factor_name(Factor factor) {
    return factors[factor].name;
}

const char *factor_level(Factor factor, int level) {
    return level < MOST_LEVELS ? factors[factor].levels[level] : NULL;
}

const char *case_text(const Case *c, Factor factor) {
    return factors[factor].levels[c->level[factor]];
}

bool case_has(const Case *c, Factor factor, const char *text) {
    return strcmp(case_text(c, factor), text) == 0;
}

static int num_levels(Factor factor) {
    int n = 0;
    while (factor_level(factor, n))
        n++;
    return n;
}

/* Sets a factor to a level by its text. */
static void put(Case *c, Factor factor, const char *text) {
    for (int i = 0; factor_level(factor, i); i++)
        if (strcmp(factor_level(factor, i), text) == 0)
            c->level[factor] = i;
}

/* Combinations that the library refuses get the level that it allows. */
static void make_legal(Case *c) {
    bool mujoco = case_has(c, FACTOR_SOLVER, "mujoco");
    if (mujoco) {
        put(c, FACTOR_VELOCITY_FORCES, "start");
        put(c, FACTOR_SLEEP, "0");
        put(c, FACTOR_PARAMETERS, "model");
    }
    if (!case_has(c, FACTOR_SOLVER, "cone") && !case_has(c, FACTOR_SOLVER, "pgs"))
        put(c, FACTOR_FRICTION_LAW, "convex");
    if (case_has(c, FACTOR_COMPLIANCE, "sap"))
        put(c, FACTOR_RESTITUTION, "0");
}

static Case random_case(Random *random) {
    Case c;
    for (int f = 0; f < NUM_FACTORS; f++)
        c.level[f] = random_below(random, num_levels((Factor)f));
    make_legal(&c);
    return c;
}

/* ---- pairs ---- */

typedef struct Pairs {
    bool seen[NUM_FACTORS][MOST_LEVELS][NUM_FACTORS][MOST_LEVELS];
    int count;
} Pairs;

/* The number of pairs of c that `pairs` does not have; they are added if `add`. */
static int new_pairs(Pairs *pairs, const Case *c, bool add) {
    int found = 0;
    for (int f = 0; f < NUM_FACTORS; f++)
        for (int g = 0; g < f; g++) {
            bool *seen = &pairs->seen[f][c->level[f]][g][c->level[g]];
            found += !*seen;
            *seen |= add;
        }
    pairs->count += add ? found : 0;
    return found;
}

/* Sets c to a case with this pair, if the pair is not covered and some case can have it. */
static bool try_pair(const Pairs *pairs, Random *random, Case *c, int f, int i, int g, int j) {
    if (pairs->seen[f][i][g][j])
        return false;
    for (int k = 0; k < TRIES; k++) {
        *c = random_case(random);
        c->level[f] = i;
        c->level[g] = j;
        make_legal(c);
        if (c->level[f] == i && c->level[g] == j)
            return true;
    }
    return false;
}

/* Sets c to a case with some pair that is not covered; false if there is none. */
static bool seed_with_pair(const Pairs *pairs, Random *random, Case *c) {
    for (int f = 0; f < NUM_FACTORS; f++)
        for (int g = 0; g < f; g++)
            for (int i = 0; factor_level((Factor)f, i); i++)
                for (int j = 0; factor_level((Factor)g, j); j++)
                    if (try_pair(pairs, random, c, f, i, g, j))
                        return true;
    return false;
}

/* Changes one factor after the other to the level that adds most pairs. */
static void improve(Pairs *pairs, Case *c) {
    for (int f = 0; f < NUM_FACTORS; f++) {
        Case best = *c;
        int most = new_pairs(pairs, c, false);
        for (int i = 0; factor_level((Factor)f, i); i++) {
            Case trial = *c;
            trial.level[f] = i;
            make_legal(&trial);
            int found = new_pairs(pairs, &trial, false);
            if (found > most) {
                best = trial;
                most = found;
            }
        }
        *c = best;
    }
}

/* The covering cases, made once. */
typedef struct Covering {
    Pairs pairs;
    Case cases[MOST_COVERING];
    int count;
} Covering;

static const Covering *covering(void) {
    static Covering all;
    Random random = random_seed(1);
    Case c;
    while (all.count < MOST_COVERING && seed_with_pair(&all.pairs, &random, &c)) {
        int most = -1;
        for (int k = 0; k < CANDIDATES; k++) {
            Case trial = c;
            if (k > 0)
                seed_with_pair(&all.pairs, &random, &trial);
            improve(&all.pairs, &trial);
            int found = new_pairs(&all.pairs, &trial, false);
            if (found > most) {
                all.cases[all.count] = trial;
                most = found;
            }
        }
        new_pairs(&all.pairs, &all.cases[all.count++], true);
    }
    return &all;
}

int case_covering(void) {
    return covering()->count;
}

int case_pairs(void) {
    return covering()->pairs.count;
}

Case case_of_seed(uint64_t seed) {
    const Covering *all = covering();
    if (seed < (uint64_t)all->count)
        return all->cases[seed];
    Random random = random_seed(seed * 0xd1342543de82ef95u);
    return random_case(&random);
}
