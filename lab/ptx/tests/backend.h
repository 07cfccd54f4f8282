/* What the tests of the CUDA backend share. Each is a program that ends with 0, or says what is wrong and ends with 1;
 * it runs with the stand-in driver, and the same programs run on a real GPU. */
#ifndef PTX_TESTS_BACKEND_H
#define PTX_TESTS_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include <sapwood/sapwood.h>

/* Ends the program unless the call succeeds. */
#define NEED(call) backend_need((call), #call, __FILE__, __LINE__)
void backend_need(SapStatus status, const char *call, const char *file, int line);

/* Ends the program unless the condition holds; the rest is a message. */
#define CHECK(condition, ...) backend_check((condition), #condition, __FILE__, __LINE__, __VA_ARGS__)
void backend_check(bool condition, const char *text, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A scene of bench/scenes or tests/scenes, by its path in the project. */
SapScene *backend_scene(const char *path);

SapBatch *backend_batch(const SapModel *model, int worlds, const SapOptions *options, SapDevice device);

/* Whether the batch has a field; its law may not record it. */
bool backend_has(SapBatch *batch, SapBatchField field);
/* Bytes of a field, and a copy of it to free. */
size_t backend_bytes(SapBatch *batch, SapBatchField field);
void *backend_read(SapBatch *batch, SapBatchField field);

/* Ends the program unless every array that they have of the worlds of `got` has the bits of the first ones of
 * `expected`. */
void backend_same(SapBatch *expected, SapBatch *got, const char *what);
/* The same without sensors, which only sap_batch_step reads. */
void backend_same_without_sensors(SapBatch *expected, SapBatch *got, const char *what);

/* Velocities, coordinates and controls of all worlds, each of them different: a function of seed, world and index. */
void backend_disturb(SapBatch *batch, uint64_t seed);
/* Writes joint_q, joint_qd and control of the first worlds of `from` over the arrays of `to`, whatever their types. */
void backend_copy_worlds(SapBatch *from, SapBatch *to);

#endif
