/* fork: a child process has none of the pool's threads. There a call that needs them fails at once with a message, and
 * destroying frees without waiting; objects of one thread work in both processes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/scene_batch.h"

/* The exit code of `work` in a child process; -1 if it does not end in ten seconds. */
static int run_in_child(int (*work)(SapBatch *), SapBatch *batch) {
    pid_t child = fork();
    if (child == 0)
        _exit(work(batch));
    for (int i = 0, status; i < 1000; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return -1;
}

static SapBatch *batch_of(int threads) {
    SapScene *scene = load("quadruped");
    scene->options.threads = threads;
    SapBatch *batch = create(scene, 64, &scene->options);
    sap_scene_destroy(scene);
    need(sap_batch_step(batch, 0.002, 3));
    return batch;
}

static int refused(SapStatus status, const char *function) {
    const char *says = sap_error_message();
    return status == SAP_ERROR_UNSUPPORTED && strncmp(says, function, strlen(function)) == 0 &&
           strstr(says, "fork") != NULL;
}

static int calls_are_refused(SapBatch *batch) {
    SapSolver *solver = sap_batch_solver(batch);
    SapState *state = sap_batch_state(batch);
    const SapFreeMotion nothing = {0};
    int ok = refused(sap_batch_step(batch, 0.002, 1), "sap_batch_step:") &&
             refused(sap_batch_forward_kinematics(batch, NULL), "sap_batch_forward_kinematics:") &&
             refused(sap_step(solver, state, NULL, NULL, 0.002, state), "sap_step:") &&
             refused(sap_collide(solver, state, (SapContacts *)sap_batch_contacts(batch)), "sap_collide:") &&
             refused(sap_free_motion(solver, state, NULL, 0.002, &nothing), "sap_free_motion:") &&
             refused(sap_forward_kinematics(solver, state), "sap_forward_kinematics:");
    return ok ? 0 : 1;
}

Test(fork, calls_of_several_threads_are_refused_in_a_child) {
    for (int threads = 2; threads <= 4; threads++) {
        SapBatch *batch = batch_of(threads);
        cr_expect_eq(run_in_child(calls_are_refused, batch), 0);
        need(sap_batch_step(batch, 0.002, 3)); /* the parent is unaffected */
        sap_batch_destroy(batch);
    }
}

static int destroys(SapBatch *batch) {
    sap_batch_destroy(batch);
    return 0;
}

Test(fork, destroying_does_not_wait_in_a_child) {
    SapBatch *batch = batch_of(3);
    cr_expect_eq(run_in_child(destroys, batch), 0);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* the workers are asleep now */
    cr_expect_eq(run_in_child(destroys, batch), 0);
    sap_batch_destroy(batch);
}

static int steps_and_destroys(SapBatch *batch) {
    int ok = sap_batch_step(batch, 0.002, 3) == SAP_OK;
    sap_batch_destroy(batch);
    return ok ? 0 : 1;
}

Test(fork, one_thread_works_in_a_child) {
    SapBatch *batch = batch_of(1);
    cr_expect_eq(run_in_child(steps_and_destroys, batch), 0);
    need(sap_batch_step(batch, 0.002, 3));
    sap_batch_destroy(batch);
}

static int makes_its_own(SapBatch *parents) {
    SapBatch *batch = batch_of(3);
    sap_batch_destroy(parents);
    return steps_and_destroys(batch);
}

Test(fork, a_child_can_create_a_batch_of_its_own) {
    SapBatch *batch = batch_of(3);
    cr_expect_eq(run_in_child(makes_its_own, batch), 0);
    sap_batch_destroy(batch);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled_by_caller;
static pthread_t caller;

static void note_thread(int number) {
    (void)number;
    handled_by_caller = pthread_equal(pthread_self(), caller) ? 1 : -1;
}

/* A thread blocks the signal while another, which does not, waits for it: the system picks one that does not. */
Test(fork, signals_are_handled_by_the_threads_of_the_caller) {
    struct sigaction action = {.sa_handler = note_thread};
    sigset_t usr1;
    SapBatch *batch = batch_of(4);
    caller = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    kill(getpid(), SIGUSR1); /* a worker that did not block it would take it now */
    need(sap_batch_step(batch, 0.002, 10));
    cr_expect_eq(handled_by_caller, 0);
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
    cr_expect_eq(handled_by_caller, 1);
    sap_batch_destroy(batch);
}
