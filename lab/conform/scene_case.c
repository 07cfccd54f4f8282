#include "lab/conform/scene_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/common.h"
#include "lab/conform/reference_file.h"

void conform_worst(ConformWorst *w, const char *what, double error, double tolerance) {
    if (error / tolerance <= w->ratio) /* false for NaN */
        return;
    *w = (ConformWorst){isnan(error) ? INFINITY : error / tolerance, error, what};
}

void conform_tally(const char *path, const char *name, const ConformWorst *w, bool verbose, ConformCount *count) {
    bool passed = w->ratio <= 1;
    count->passed += passed;
    count->failed += !passed;
    if (!passed || verbose)
        printf("%-4s %s %s: %s %.1e, %.2g of its tolerance\n", passed ? "ok" : "FAIL", path, name,
               w->what ? w->what : "-", w->error, w->ratio);
}

bool conform_open_scene(const char *path, const json_t *file, SapScene **out) {
    char name[1024];
    const char *slash = strrchr(path, '/'), *scene = json_string_value(json_object_get(file, "scene"));
    int n = snprintf(name, sizeof name, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, scene);
    if (n < 0 || n >= (int)sizeof name)
        return cli_fail("%s: its path is too long", path);
    return cli_check(sap_scene_load(name, out));
}

void conform_set_state(const SapModelArrays *m, SapState *state, const double *q, const double *v) {
    double *to = state->joint_qd;
    memcpy(state->joint_q, q, (size_t)m->num_coords * sizeof *q);
    memcpy(to, v, (size_t)m->num_dofs * sizeof *v);
    for (int j = 0; j < m->num_joints; j++) {
        if (m->joint_type[j] != SAP_JOINT_FREE)
            continue;
        const double *omega = v + m->joint_qd_start[j], *r = q + m->joint_q_start[j] + 3;
        const double *c = m->body_com + 3 * m->joint_child[j];
        double t[3] = {2 * (r[1] * c[2] - r[2] * c[1]), 2 * (r[2] * c[0] - r[0] * c[2]),
                       2 * (r[0] * c[1] - r[1] * c[0])};
        double arm[3] = {c[0] + r[3] * t[0] + r[1] * t[2] - r[2] * t[1], c[1] + r[3] * t[1] + r[2] * t[0] - r[0] * t[2],
                         c[2] + r[3] * t[2] + r[0] * t[1] - r[1] * t[0]};
        double *out = to + m->joint_qd_start[j];
        for (int i = 0; i < 3; i++) {
            int k = (i + 1) % 3, l = (i + 2) % 3;
            out[i] = omega[3 + i] + omega[k] * arm[l] - omega[l] * arm[k];
            out[3 + i] = omega[i];
        }
    }
}

double conform_coordinate_error(const SapModelArrays *m, const double *ours, const double *theirs) {
    double largest = 0;
    for (int j = 0; j < m->num_joints; j++) {
        int first = m->joint_q_start[j], end = m->joint_q_start[j + 1];
        int quaternion = m->joint_type[j] == SAP_JOINT_FREE   ? first + 3
                         : m->joint_type[j] == SAP_JOINT_BALL ? first
                                                              : end;
        double dot = 0;
        for (int i = quaternion; i < end; i++)
            dot += ours[i] * theirs[i];
        for (int i = first; i < end; i++)
            largest = fmax(largest, fabs(ours[i] - (i >= quaternion && dot < 0 ? -theirs[i] : theirs[i])));
    }
    return largest;
}

/* The largest difference between numbers of the file and ours; NaN if the file has another number of them. *scale is
 * the largest number of the file. */
static double difference(const json_t *node, const double *ours, int count, double *scale) {
    size_t n = 0;
    double *theirs = reference_doubles(node, &n), error = theirs && (int)n == count ? 0 : NAN;
    *scale = 0;
    for (int i = 0; error >= 0 && i < count; i++) {
        error = isnan(ours[i]) ? NAN : fmax(error, fabs(theirs[i] - ours[i]));
        *scale = fmax(*scale, fabs(theirs[i]));
    }
    free(theirs);
    return error;
}

double conform_absolute(const json_t *node, const double *ours, int count) {
    double scale;
    return difference(node, ours, count, &scale);
}

double conform_relative(const json_t *node, const double *ours, int count, double least) {
    double scale, error = difference(node, ours, count, &scale);
    return error == 0 ? 0 : error / fmax(scale, least);
}
