#include "host/cli/info_robot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/model.h"

/* ---- the tree ---- */

/* The joints in depth-first order: each after its parent and before its siblings' subtrees. */
typedef struct Tree {
    int *order; /* [nj] */
    int *depth; /* [nj] by joint */
    int *memory;
} Tree;

/* Visits `joint` and its subtree: down to the first child, otherwise to the next sibling of the nearest ancestor that
 * has one. */
static int visit(const int *first, const int *next, const int *up, int joint, int count, Tree *tree) {
    for (int at = joint;;) {
        tree->depth[at] = up[at] < 0 ? 0 : tree->depth[up[at]] + 1;
        tree->order[count++] = at;
        if (first[at] >= 0) {
            at = first[at];
            continue;
        }
        while (at != joint && next[at] < 0)
            at = up[at];
        if (at == joint)
            return count;
        at = next[at];
    }
}

static bool tree_create(const SapModelArrays *a, Tree *tree) {
    size_t n = (size_t)a->num_joints;
    tree->memory = cli_allocate(6 * n, sizeof *tree->memory);
    if (tree->memory == NULL)
        return false;
    tree->order = tree->memory;
    tree->depth = tree->memory + n;
    int *first = tree->memory + 2 * n, *next = first + n, *up = next + n, *joint_of = up + n;
    for (int j = 0; j < a->num_joints; j++) {
        joint_of[a->joint_child[j]] = j;
        first[j] = next[j] = up[j] = -1;
    }
    for (int j = a->num_joints - 1; j >= 0; j--)
        if (a->joint_parent[j] >= 0) {
            up[j] = joint_of[a->joint_parent[j]];
            next[j] = first[up[j]];
            first[up[j]] = j;
        }
    int count = 0;
    for (int j = 0; j < a->num_joints; j++)
        if (up[j] < 0)
            count = visit(first, next, up, j, count, tree);
    return true;
}

/* ---- cells ---- */

CliText cli_mass_text(double mass) {
    CliText out;
    snprintf(out.text, sizeof out.text,
             mass >= 1      ? "%.4g kg"
             : mass >= 1e-3 ? "%.3g g"
                            : "%.3g mg",
             mass * (mass >= 1      ? 1
                     : mass >= 1e-3 ? 1e3
                                    : 1e6));
    return out;
}

/* The range of a joint with one axis, in degrees, mm or m; the number of axes of others. */
static CliText range_text(const SapModelArrays *a, int joint) {
    CliText out = {""};
    int dof = a->joint_qd_start[joint], dofs = a->joint_qd_start[joint + 1] - dof;
    bool angular = a->joint_dof_dim[2 * joint + 1] > 0;
    double lower = a->joint_limit_lower[dof], upper = a->joint_limit_upper[dof];
    if (dofs > 1)
        snprintf(out.text, sizeof out.text, "%d axes", dofs);
    if (dofs != 1 || (isinf(lower) && isinf(upper)))
        return out;
    bool small = fmax(fabs(lower), fabs(upper)) < 1;
    double unit = angular ? 180 / 3.141592653589793 : small ? 1000 : 1;
    snprintf(out.text, sizeof out.text, "%.4g .. %.4g %s", unit * lower, unit * upper,
             angular ? "deg"
             : small ? "mm"
                     : "m");
    return out;
}

/* The largest force of a drive, or its gain if that is not bounded, of the first axis. */
static CliText drive_text(const SapModelArrays *a, int joint) {
    CliText out = {""};
    int dof = a->joint_qd_start[joint];
    bool angular = a->joint_dof_dim[2 * joint] == 0;
    if (a->joint_qd_start[joint + 1] == dof)
        return out;
    double ke = a->joint_target_ke[dof], kd = a->joint_target_kd[dof], most = a->joint_effort_limit[dof];
    if ((ke > 0 || kd > 0) && isfinite(most))
        snprintf(out.text, sizeof out.text, "%.4g %s", most, angular ? "N m" : "N");
    else if (ke > 0)
        snprintf(out.text, sizeof out.text, "%.4g %s", ke, angular ? "N m/rad" : "N/m");
    else if (kd > 0)
        snprintf(out.text, sizeof out.text, "%.4g %s", kd, angular ? "N m s/rad" : "N s/m");
    return out;
}

/* The whole extents of a shape; returns their number. */
static int extents(const SapModelArrays *a, int shape, double out[3]) {
    const double *size = a->shape_scale + 3 * shape;
    int type = a->shape_type[shape];
    for (int i = 0; i < 3; i++)
        out[i] = 2 * size[i];
    switch (type) {
    case SAP_SHAPE_SPHERE: return 1;
    case SAP_SHAPE_CAPSULE: out[1] += out[0]; return 2;
    case SAP_SHAPE_CYLINDER:
    case SAP_SHAPE_CONE:
    case SAP_SHAPE_HEIGHT_FIELD: return 2;
    case SAP_SHAPE_ELLIPSOID:
    case SAP_SHAPE_BOX: return 3;
    default: return 0;
    }
}

/* "capsule 40 x 253 mm" */
static CliText shape_text(const SapModelArrays *a, int shape) {
    CliText out;
    double size[3];
    int n = extents(a, shape, size);
    bool small = n > 0 && size[0] < 1 && size[n > 1] < 1 && size[n - 1] < 1;
    int used = snprintf(out.text, sizeof out.text, "%s", cli_shape_type(a->shape_type[shape]));
    for (int i = 0; i < n; i++)
        used += snprintf(out.text + used, sizeof out.text - (size_t)used, "%s%.3g", i ? " x " : " ",
                         size[i] * (small ? 1000 : 1));
    snprintf(out.text + used, sizeof out.text - (size_t)used, "%s", n == 0 ? "" : small ? " mm" : " m");
    return out;
}

static bool has_shapes(const SapModelArrays *a, int body) {
    for (int s = 0; s < a->num_shapes; s++)
        if (a->shape_body[s] == body)
            return true;
    return false;
}

/* Prints the shapes of a body; equal ones that follow each other are counted. */
static void print_shapes(const SapModelArrays *a, int body) {
    CliText last = {""};
    const char *separator = "";
    for (int s = 0, count = 0; s <= a->num_shapes; s++) {
        CliText text = {""};
        if (s < a->num_shapes && a->shape_body[s] != body)
            continue;
        if (s < a->num_shapes)
            text = shape_text(a, s);
        if (count > 0 && strcmp(text.text, last.text) == 0) {
            count++;
            continue;
        }
        if (count > 0) {
            printf(count > 1 ? "%s%s (%d)" : "%s%s", separator, last.text, count);
            separator = ", ";
        }
        last = text;
        count = 1;
    }
    putchar('\n');
}

/* ---- the table ---- */

enum { MAX_INDENT = 24, MAX_NAME = 40 }; /* a deeper level has the indent of the last; longer names shift the line */

static int indent(const Tree *tree, int joint) {
    return 2 * tree->depth[joint] < MAX_INDENT ? 2 * tree->depth[joint] : MAX_INDENT;
}

static int wider(int width, int other) {
    return other > width && other <= MAX_INDENT + MAX_NAME ? other : width;
}

static void print_joint(const SapModelArrays *a, const Tree *tree, int j, int joint_width, int body_width) {
    int body = a->joint_child[j], left = indent(tree, j);
    CliText mass = cli_mass_text(a->body_mass[body]);
    printf("%*s%-*s  %-10s %-18s %-13s %-*s %9s  ", left, "", joint_width - left, cli_shown(a->joint_name[j]).text,
           cli_joint_type(a->joint_type[j]), range_text(a, j).text, drive_text(a, j).text, body_width,
           cli_shown(a->body_name[body]).text, mass.text);
    print_shapes(a, body);
}

bool cli_robot_print(const SapModelArrays *a) {
    Tree tree;
    int joints = (int)strlen("joint"), bodies = (int)strlen("(world)");
    if (!tree_create(a, &tree))
        return false;
    for (int j = 0; j < a->num_joints; j++) {
        joints = wider(joints, indent(&tree, j) + (int)strlen(a->joint_name[j]));
        bodies = wider(bodies, (int)strlen(a->body_name[a->joint_child[j]]));
    }
    printf("%-*s  %-10s %-18s %-13s %-*s %9s  %s\n", joints, "joint", "type", "range", "drive", bodies, "body", "mass",
           "shapes");
    if (has_shapes(a, -1)) {
        printf("%-*s  %-10s %-18s %-13s %-*s %9s  ", joints, "", "", "", "", bodies, "(world)", "");
        print_shapes(a, -1);
    }
    for (int i = 0; i < a->num_joints; i++)
        print_joint(a, &tree, tree.order[i], joints, bodies);
    free(tree.memory);
    return true;
}
