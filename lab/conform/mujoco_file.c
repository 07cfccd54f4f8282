#include "lab/conform/mujoco_file.h"

#include <stdlib.h>

#include "host/cli/common.h"
#include "lab/conform/mujoco_draft.h"
#include "lab/conform/mujoco_math.h"
#include "lab/conform/reference_file.h"

/* ---- reading ---- */

bool mujoco_file_is(const json_t *json) {
    return json_is_string(json_object_get(json, "mujoco")) && json_is_object(json_object_get(json, "constants"));
}

static bool read_doubles(const MujocoFile *f, const char *name, int count, double **out) {
    size_t n;
    *out = reference_doubles(json_object_get(json_object_get(f->json, "constants"), name), &n);
    return (*out && (int)n == count) || cli_fail("%s: constants.%s does not have %d numbers", f->path, name, count);
}

static bool read_ints(const MujocoFile *f, const char *name, int count, int **out) {
    size_t n;
    *out = reference_ints(json_object_get(json_object_get(f->json, "constants"), name), &n);
    return (*out && (int)n == count) || cli_fail("%s: constants.%s does not have %d integers", f->path, name, count);
}

static bool read_count(const MujocoFile *f, const char *name, int *out) {
    enum { MOST = 4096 };
    const json_t *node = json_object_get(json_object_get(f->json, "constants"), name);
    json_int_t n = json_is_array(node) ? (json_int_t)json_array_size(node) : json_integer_value(node);
    *out = (int)n;
    return (node && n >= 0 && n <= MOST) || cli_fail("%s: constants.%s is missing or too large", f->path, name);
}

static bool read_counts(MujocoFile *f) {
    return read_count(f, "nq", &f->nq) && read_count(f, "nv", &f->nv) && read_count(f, "nbody", &f->nbody) &&
           read_count(f, "njnt", &f->njnt) && read_count(f, "ngeom", &f->ngeom) && read_count(f, "neq", &f->neq) &&
           read_count(f, "ntendon", &f->ntendon) && read_count(f, "site_bodyid", &f->nsite) &&
           read_count(f, "wrap_type", &f->nwrap) && read_count(f, "nu", &f->nu) && read_count(f, "npair", &f->npair);
}

/* The first three numbers of each actuator. */
static bool read_affine(const MujocoFile *f, const char *name, double **out) {
    size_t n;
    double *all = reference_doubles(json_object_get(json_object_get(f->json, "constants"), name), &n);
    size_t nu = (size_t)f->nu, width = nu ? n / nu : 3;
    *out = cli_allocate(3 * nu + 1, sizeof **out);
    bool ok = all && *out && width >= 3 && width * nu == n;
    for (size_t i = 0; ok && i < 3 * nu; i++)
        (*out)[i] = all[i / 3 * width + i % 3];
    free(all);
    return ok || cli_fail("%s: constants.%s does not have 3 numbers per actuator", f->path, name);
}

static bool read_arrays(MujocoFile *f) {
    bool ok = true;
#define DOUBLES(name, rows, columns) ok = ok && read_doubles(f, #name, f->rows * columns, &f->name);
    MUJOCO_DOUBLES(DOUBLES)
#undef DOUBLES
#define INTS(name, rows, columns) ok = ok && read_ints(f, #name, f->rows * columns, &f->name);
    MUJOCO_INTS(INTS)
#undef INTS
    return ok && read_affine(f, "actuator_gainprm", &f->actuator_gainprm) &&
           read_affine(f, "actuator_biasprm", &f->actuator_biasprm) &&
           read_doubles(f, "site_pos", 3 * f->nsite, &f->site_pos) &&
           read_doubles(f, "site_quat", 4 * f->nsite, &f->site_quat) &&
           read_doubles(f, "wrap_prm", f->nwrap, &f->wrap_prm) &&
           read_ints(f, "site_bodyid", f->nsite, &f->site_bodyid) &&
           read_ints(f, "wrap_type", f->nwrap, &f->wrap_type) && read_ints(f, "wrap_objid", f->nwrap, &f->wrap_objid);
}

double mujoco_file_option(const MujocoFile *f, const char *name) {
    return json_number_value(json_object_get(json_object_get(json_object_get(f->json, "constants"), "opt"), name));
}

static bool check_indices(const MujocoFile *f) {
    bool ok = f->nbody > 0;
    for (int b = 1; ok && b < f->nbody; b++)
        ok = f->body_parentid[b] >= 0 && f->body_parentid[b] < b;
    for (int j = 0; ok && j < f->njnt; j++) {
        int type = f->jnt_type[j];
        ok = type >= JOINT_FREE && type <= JOINT_HINGE && f->jnt_bodyid[j] > 0 && f->jnt_bodyid[j] < f->nbody;
        int dofs = type == JOINT_FREE ? 6 : type == JOINT_BALL ? 3 : 1, coords = dofs == 6 ? 7 : dofs == 3 ? 4 : 1;
        ok = ok && f->jnt_dofadr[j] >= 0 && f->jnt_dofadr[j] + dofs <= f->nv && f->jnt_qposadr[j] >= 0 &&
             f->jnt_qposadr[j] + coords <= f->nq;
    }
    for (int g = 0; ok && g < f->ngeom; g++)
        ok = f->geom_bodyid[g] >= 0 && f->geom_bodyid[g] < f->nbody;
    for (int s = 0; ok && s < f->nsite; s++)
        ok = f->site_bodyid[s] >= 0 && f->site_bodyid[s] < f->nbody;
    return ok || cli_fail("%s: constants has an index out of range", f->path);
}

/* ---- files ---- */

bool mujoco_file_open(const char *path, const json_t *json, MujocoFile *f) {
    *f = (MujocoFile){.path = path, .json = json};
    if (!read_counts(f) || !read_arrays(f) || !check_indices(f))
        return false;
    f->h = mujoco_file_option(f, "timestep");
    f->body = cli_allocate((size_t)f->nbody, sizeof *f->body);
    f->pose = cli_allocate((size_t)f->nbody, 7 * sizeof *f->pose);
    if (!f->body || !f->pose)
        return false;
    f->body[0] = -1;
    f->pose[6] = 1;
    return mujoco_draft_models(f);
}

void mujoco_file_close(MujocoFile *f) {
#define FREE(name, rows, columns) free(f->name);
    MUJOCO_DOUBLES(FREE)
    MUJOCO_INTS(FREE)
#undef FREE
    free(f->site_pos);
    free(f->site_quat);
    free(f->wrap_prm);
    free(f->site_bodyid);
    free(f->wrap_type);
    free(f->wrap_objid);
    free(f->body);
    free(f->pose);
    free(f->actuator_gainprm);
    free(f->actuator_biasprm);
    for (int i = 0; i < MUJOCO_NUM_MODELS; i++)
        sap_model_destroy(f->model[i]);
    *f = (MujocoFile){0};
}
