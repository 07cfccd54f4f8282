#include "host/cli/trajectory.h"

#include <errno.h>
#include <string.h>

#include "host/cli/model.h"

static bool fail(CliTrajectory *t) {
    if (t->failed)
        return false;
    t->failed = true;
    return cli_fail("--trajectory: cannot write '%s': %s", t->path, strerror(errno));
}

static void put_column(FILE *file, const char *joint, const char *suffix) {
    char name[1024]; /* longer names are truncated */
    snprintf(name, sizeof name, "%s%s", joint, suffix);
    fputc(',', file);
    cli_csv_text(file, cli_printable(name));
}

static void put_header(FILE *file, const SapModelArrays *a) {
    fputs("step,time", file);
    for (int j = 0; j < a->num_joints; j++)
        for (int i = 0; i < a->joint_q_start[j + 1] - a->joint_q_start[j]; i++)
            put_column(file, a->joint_name[j], cli_coord_suffix(a, j, i));
    for (int j = 0; j < a->num_joints; j++)
        for (int i = 0; i < a->joint_qd_start[j + 1] - a->joint_qd_start[j]; i++)
            put_column(file, a->joint_name[j], cli_dof_suffix(a, j, i));
    fputc('\n', file);
}

bool cli_trajectory_open(const char *path, int world, const SapModelArrays *arrays, CliTrajectory *out) {
    *out = (CliTrajectory){.path = path, .world = world, .file = fopen(path, "w")};
    if (out->file == NULL)
        return fail(out);
    put_header(out->file, arrays);
    return !ferror(out->file) || fail(out);
}

/* Enough digits to parse to the same number. */
static void put_numbers(FILE *file, const void *data, size_t first, int count, SapDtype dtype) {
    for (size_t i = first; i < first + (size_t)count; i++)
        if (dtype == SAP_F32)
            fprintf(file, ",%.9g", (double)((const float *)data)[i]);
        else
            fprintf(file, ",%.17g", ((const double *)data)[i]);
}

bool cli_trajectory_row(CliTrajectory *t, const CliBatch *batch, int step) {
    const SapState *state = batch->state;
    int nq = batch->arrays->num_coords, nv = batch->arrays->num_dofs;
    fprintf(t->file, "%d,%.12g", step, step * batch->dt);
    put_numbers(t->file, state->joint_q, (size_t)t->world * (size_t)nq, nq, state->dtype);
    put_numbers(t->file, state->joint_qd, (size_t)t->world * (size_t)nv, nv, state->dtype);
    fputc('\n', t->file);
    return !ferror(t->file) || fail(t);
}

bool cli_trajectory_close(CliTrajectory *t) {
    FILE *file = t->file;
    t->file = NULL;
    return file == NULL || fclose(file) == 0 || fail(t);
}
