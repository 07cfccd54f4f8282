/* Rules of constraints and tendons in a model: each broken rule has a message with array, index, name, value and what
 * is allowed; what is left out takes its default. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

/* Bodies: 0 on a hinge, 1 fixed to it, 2 fixed to the world, 3 on a ball joint, 4 on a slider. */
static SapModelArrays base(void) {
    static const int32_t type[] = {SAP_JOINT_REVOLUTE, SAP_JOINT_FIXED, SAP_JOINT_FIXED, SAP_JOINT_BALL,
                                   SAP_JOINT_PRISMATIC},
                         parent[] = {-1, 0, -1, -1, -1}, child[] = {0, 1, 2, 3, 4};
    static const double axis[15] = {0, 1, 0, [12] = 1}, mass[] = {1, 1, 1, 1, 1};
    static double inertia[45];
    for (int i = 0; i < 45; i++)
        inertia[i] = i % 9 % 4 == 0;
    SapModelArrays a;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = 5;
    a.num_dofs = 5;
    a.num_coords = 6;
    a.joint_type = type;
    a.joint_parent = parent;
    a.joint_child = child;
    a.joint_axis = axis;
    a.body_mass = mass;
    a.body_inertia = inertia;
    return a;
}

static void expect_refused(const SapModelArrays *a, const char *part) {
    SapModel *model = (SapModel *)&model;
    cr_expect_eq(sap_model_create(a, &model), SAP_ERROR_MODEL, "%s", part);
    cr_expect(strstr(sap_error_message(), part), "'%s' is not in: %s", part, sap_error_message());
    cr_expect_null(model);
    if (model)
        sap_model_destroy(model);
}

Test(model_constraints, of_a_model_that_gives_none_have_defaults) {
    SapModelArrays a = base();
    static const int32_t type[] = {SAP_CONSTRAINT_COUPLER}, coordinate[] = {0, 4}, start[] = {0, 1}, zero[] = {0};
    static const double value[] = {2, 0, 0};
    a.num_constraints = a.num_tendons = a.num_tendon_terms = 1;
    a.constraint_type = type;
    a.constraint_coordinate = coordinate;
    a.tendon_start = start;
    a.tendon_term_type = a.tendon_term_index = zero;
    a.tendon_term_value = value;
    SapModel *model = NULL;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    const SapModelArrays *m = sap_model_arrays(model);
    cr_expect(m->constraint_body[0] == -1 && m->constraint_X[6] == 1 && m->constraint_X[13] == 1);
    cr_expect(m->constraint_polynomial[1] == 1 && isinf(m->constraint_ke[1]) && m->constraint_active[0] == 1);
    cr_expect(isinf(m->tendon_limit_ke[0]) && m->tendon_limit_lower[0] == -INFINITY &&
              isinf(m->tendon_effort_limit[0]));
    cr_expect_str_eq(m->constraint_name[0], "constraint_0");
    cr_expect_str_eq(m->tendon_name[0], "tendon_0");
    cr_expect_eq(sap_model_find_tendon(model, "tendon_0"), 0);
    cr_expect_eq(sap_model_find_constraint(model, "none"), -1);
    sap_model_destroy(model);
}

typedef struct Bad {
    int32_t type, body[2], coordinate[2], side;
    double length, ke, kd, q;
    const char *message;
} Bad;

Test(model_constraints, that_break_a_rule_are_refused) {
    static const Bad bad[] = {
        {4,
         {0, -1},
         {-1, -1},
         0,
         1,
         1,
         0,
         1,
         "constraint_type[0] of constraint 0 ('constraint_0') is 4; allowed: 0 ball"},
        {0, {0, 0}, {-1, -1}, 0, 1, 1, 0, 1, "both bodies are 'body_0'; a constraint joins two bodies"},
        {0, {5, 0}, {-1, -1}, 0, 1, 1, 0, 1, "constraint_body[0][0]"},
        {1, {2, -1}, {-1, -1}, 0, 1, 1, 0, 1, "neither 'body_2' nor 'world' can move"},
        {1, {0, 1}, {-1, -1}, 0, 1, 1, 0, 1, "'body_0' and 'body_1' are joined by fixed joints"},
        {0,
         {0, -1},
         {-1, -1},
         1,
         1,
         1,
         0,
         1,
         "constraint_side[0] of constraint 0 ('constraint_0') is 1; a ball has both sides"},
        {2, {0, -1}, {-1, -1}, 2, 1, 1, 0, 1, "it must be -1 lower, 0 both, or 1 upper"},
        {2,
         {0, -1},
         {-1, -1},
         0,
         0,
         1,
         0,
         1,
         "constraint_length[0] of constraint 0 ('constraint_0') is 0; it must be > 0"},
        {2, {0, -1}, {-1, -1}, 0, 1, 0, 0, 1, "constraint_ke[0][0]"},
        {2, {0, -1}, {-1, -1}, 0, 1, INFINITY, 3, 1, "constraint_kd[0][0] of constraint 0 ('constraint_0') is 3"},
        {1, {0, -1}, {-1, -1}, 0, 1, 1, 0, 2, "constraint_X[0] of constraint 0 ('constraint_0') has the quaternion"},
        {3, {-1, -1}, {-1, 0}, 0, 1, 1, 0, 1, "constraint_coordinate[0][0]"},
        {3, {-1, -1}, {0, 5}, 0, 1, 1, 0, 1, "constraint_coordinate[0][1] of constraint 0 ('constraint_0') is 5"},
        {3, {-1, -1}, {2, 0}, 0, 1, 1, 0, 1, "is dof 2 of joint 3 ('joint_3'), a ball joint"},
        {3, {-1, -1}, {4, 4}, 0, 1, 1, 0, 1, "(4, 4); the two must differ"},
        {3, {0, -1}, {4, 0}, 0, 1, 1, 0, 1, "a coupler has (-1, -1)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SapModelArrays a = base();
        double X[14] = {[6] = bad[i].q, [13] = 1}, ke[2] = {bad[i].ke, 1}, kd[2] = {bad[i].kd, 0};
        a.num_constraints = 1;
        a.constraint_type = &bad[i].type;
        a.constraint_body = bad[i].body;
        a.constraint_coordinate = bad[i].coordinate;
        a.constraint_side = &bad[i].side;
        a.constraint_length = &bad[i].length;
        a.constraint_X = X;
        a.constraint_ke = ke;
        a.constraint_kd = kd;
        expect_refused(&a, bad[i].message);
    }
}

typedef struct BadTendon {
    int n;
    int32_t type[4], index[4];
    double value[4], lower, upper;
    const char *message;
} BadTendon;

Test(model_constraints, tendons_that_break_a_rule_are_refused) {
    static const BadTendon bad[] = {
        {0, {0}, {0}, {0}, 0, 1, "it must be greater than the one before, 0: tendon 0 ('tendon_0') has no terms"},
        {1, {0}, {5}, {1}, 0, 1, "tendon_term_index[0] of tendon 0 ('tendon_0') is 5; it must be a dof, 0 .. 4"},
        {1, {0}, {1}, {1}, 0, 1, "is dof 1 of joint 3 ('joint_3'), a ball joint"},
        {2, {0, 0}, {4, 4}, {1, 1}, 0, 1, "a second time; add its coefficients"},
        {2, {0, 1}, {4, 0}, {1, 1}, 0, 1, "tendon_term_type[1] of tendon 0 ('tendon_0') is 1 after a joint"},
        {1, {1}, {0}, {1}, 0, 1, "branch 1 has 1 point; a branch has 2 or more"},
        {4, {1, 1, 2, 1}, {0, 4, 0, 0}, {1, 1, 1, 1}, 0, 1, "branch 2 has 1 point"},
        {2, {1, 1}, {0, 7}, {1, 1}, 0, 1, "tendon_term_index[1] of tendon 0 ('tendon_0') is 7"},
        {2, {1, 1}, {0, 1}, {1, 1}, 0, 1, "all points of a branch lie on 'body_1'; its length cannot change"},
        {3,
         {2, 1, 1},
         {0, 0, 4},
         {0, 1, 1},
         0,
         1,
         "tendon_term_value[0][0] of tendon 0 ('tendon_0') is 0; the divisor"},
        {1, {0}, {4}, {1}, 2, 1, "tendon_limit_lower[0] of tendon 0 ('tendon_0') is 2, above tendon_limit_upper, 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SapModelArrays a = base();
        int32_t start[2] = {0, bad[i].n};
        double value[12] = {0};
        for (int k = 0; k < 4; k++)
            value[3 * k] = bad[i].value[k];
        a.num_tendons = 1;
        a.num_tendon_terms = bad[i].n;
        a.tendon_start = start;
        a.tendon_term_type = bad[i].type;
        a.tendon_term_index = bad[i].index;
        a.tendon_term_value = value;
        a.tendon_limit_lower = &bad[i].lower;
        a.tendon_limit_upper = &bad[i].upper;
        expect_refused(&a, bad[i].message);
    }
}
