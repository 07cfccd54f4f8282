/* A team of real threads: see team_threads.h. */
#include "support/team_threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "kernels/dialect/team_threads.h"

_Thread_local int sap_team_rank;
_Thread_local int sap_team_size;

enum { MAX_SIZE = 64 };

/* Two barriers take turns. With one, a thread that is woken late from it would, to the thread sanitizer, have waited
 * for everything up to the next one that the others have already reached, and their races with it would be hidden. */
typedef struct Barrier {
    pthread_barrier_t turn[2];
} Barrier;

static _Thread_local Barrier *barrier;
static _Thread_local int turn;

typedef struct Member {
    int rank, size;
    Barrier *barrier;
    TeamFn *fn;
    void *arg;
} Member;

static void *be_member(void *arg) {
    const Member *me = arg;
    sap_team_rank = me->rank;
    sap_team_size = me->size;
    barrier = me->barrier;
    turn = 0;
    me->fn(me->arg);
    return NULL;
}

void sap_team_sync(void) {
    pthread_barrier_wait(&barrier->turn[turn]);
    turn = !turn;
}

void team_wait(void) {
    sap_team_sync();
}

void team_run(int size, TeamFn *fn, void *arg) {
    pthread_t thread[MAX_SIZE];
    Member member[MAX_SIZE];
    Barrier shared;
    if (size > MAX_SIZE || pthread_barrier_init(&shared.turn[0], NULL, (unsigned)size) != 0 ||
        pthread_barrier_init(&shared.turn[1], NULL, (unsigned)size) != 0)
        abort();
    for (int rank = 0; rank < size; rank++) {
        member[rank] = (Member){rank, size, &shared, fn, arg};
        if (pthread_create(&thread[rank], NULL, be_member, &member[rank]) != 0)
            abort();
    }
    for (int rank = 0; rank < size; rank++)
        pthread_join(thread[rank], NULL);
    pthread_barrier_destroy(&shared.turn[0]);
    pthread_barrier_destroy(&shared.turn[1]);
}
