/* Random numbers: the same for a seed on every machine. */
#ifndef SAPWOOD_TESTS_SUPPORT_RANDOM_H
#define SAPWOOD_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

typedef struct Random {
    uint64_t state;
} Random;

Random random_seed(uint64_t seed);
uint64_t random_bits(Random *random);
double random_between(Random *random, double low, double high);      /* uniform */
int random_below(Random *random, int n);                             /* 0 .. n - 1 */
void random_unit(Random *random, double *v, int n);                  /* a unit vector of n numbers */
void random_quaternion(Random *random, double *q);                   /* uniform over rotations */
void random_numbers(Random *random, double scale, double *x, int n); /* of size `scale` */

#endif
