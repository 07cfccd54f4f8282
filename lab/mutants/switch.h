/* Included before every source of the build with mutants: MUTANT(k) is true in the run that chose mutant k. */
extern char *getenv(const char *name);
extern int atoi(const char *text);

static int sapwood_mutant;

__attribute__((constructor, unused)) static void sapwood_mutant_read(void) {
    const char *text = getenv("SAPWOOD_MUTANT");
    sapwood_mutant = text ? atoi(text) : 0;
}

#define MUTANT(k) (__builtin_expect(sapwood_mutant == (k), 0))
