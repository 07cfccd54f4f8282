/* Random numbers: see random.h. */
#include "support/random.h"

#include <math.h>

Random random_seed(uint64_t seed) {
    return (Random){seed};
}

/* splitmix64 */
uint64_t random_bits(Random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_between(Random *random, double low, double high) {
    return low + (high - low) * ((double)(random_bits(random) >> 11) * 0x1p-53);
}

int random_below(Random *random, int n) {
    return (int)(random_bits(random) % (uint64_t)n);
}

void random_unit(Random *random, double *v, int n) {
    double norm2;
    do { /* a point of the unit ball that is not too near its centre */
        norm2 = 0;
        for (int i = 0; i < n; i++) {
            v[i] = random_between(random, -1, 1);
            norm2 += v[i] * v[i];
        }
    } while (norm2 > 1 || norm2 < 0.01);
    for (int i = 0; i < n; i++)
        v[i] /= sqrt(norm2);
}

void random_quaternion(Random *random, double *q) {
    random_unit(random, q, 4);
}

void random_numbers(Random *random, double scale, double *x, int n) {
    for (int i = 0; i < n; i++)
        x[i] = random_between(random, -scale, scale);
}
