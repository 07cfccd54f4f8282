/* Derivatives of a step from C: the products are those of the matrices, and bad arguments are named. Numbers are tested
 * against other programs in python/tests/test_gradients.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

enum { WORLDS = 3 };

typedef struct Fixture {
    SapScene *scene;
    SapBatch *batch;
    size_t rows, nv;
    double *A, *B;
} Fixture;

static double *numbers(size_t count) {
    double *x = calloc(count, sizeof *x);
    cr_assert_not_null(x);
    return x;
}

static Fixture fixture(const char *path) {
    Fixture f;
    SapOptions o;
    cr_assert_eq(sap_scene_load(path, &f.scene), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_options_preset("fast64", &o), SAP_OK);
    cr_assert_eq(sap_batch_create(f.scene->model, WORLDS, &o, &f.batch), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_batch_step(f.batch, 0.005, 20), SAP_OK);
    f.nv = (size_t)sap_model_arrays(f.scene->model)->num_dofs;
    f.rows = 2 * f.nv;
    f.A = numbers(WORLDS * f.rows * f.rows);
    f.B = numbers(WORLDS * f.rows * f.nv);
    return f;
}

static void end(Fixture *f) {
    free(f->A);
    free(f->B);
    sap_batch_destroy(f->batch);
    sap_scene_destroy(f->scene);
}

/* A vector without symmetry. */
static double *vector(size_t count) {
    double *x = numbers(count);
    for (size_t i = 0; i < count; i++)
        x[i] = sin(1.7 * (double)i + 0.3);
    return x;
}

Test(gradients, products_from_both_sides_are_those_of_the_matrices) {
    Fixture f = fixture("bench/scenes/quadruped.yaml");
    SapGradientInput input = {"joint_f", f.B};
    uint32_t status[WORLDS];
    double margin[WORLDS];
    SapGradientSteps steps = {
        .h = 0.005, .steps = 2, .inputs = &input, .num_inputs = 1, .status = status, .margin = margin};
    cr_assert_eq(sap_batch_linearize(f.batch, &steps, f.A), SAP_OK, "%s", sap_error_message());
    double *x = vector(WORLDS * f.rows), *u = vector(WORLDS * f.nv), *y = numbers(WORLDS * f.rows);
    double *back = numbers(WORLDS * f.rows), *of_u = numbers(WORLDS * f.nv);
    memcpy(y, x, WORLDS * f.rows * sizeof *y);
    input.data = u;
    cr_assert_eq(sap_batch_jvp(f.batch, &steps, y), SAP_OK, "%s", sap_error_message());
    input.data = of_u;
    cr_assert_eq(sap_batch_vjp(f.batch, &steps, x, back), SAP_OK, "%s", sap_error_message());
    for (size_t w = 0; w < WORLDS; w++) {
        double forwards = 0, backwards = 0;
        cr_expect(status[w] == 0 && margin[w] > 0 && margin[w] <= 1);
        for (size_t i = 0; i < f.rows; i++) {
            double sum = 0;
            for (size_t j = 0; j < f.rows; j++)
                sum += f.A[(w * f.rows + i) * f.rows + j] * x[w * f.rows + j];
            for (size_t j = 0; j < f.nv; j++)
                sum += f.B[(w * f.rows + i) * f.nv + j] * u[w * f.nv + j];
            cr_expect(fabs(sum - y[w * f.rows + i]) < 1e-11 * (1 + fabs(sum)), "world %zu row %zu: %g, %g", w, i, sum,
                      y[w * f.rows + i]);
            forwards += x[w * f.rows + i] * y[w * f.rows + i];
            backwards += back[w * f.rows + i] * x[w * f.rows + i];
        }
        for (size_t j = 0; j < f.nv; j++)
            backwards += of_u[w * f.nv + j] * u[w * f.nv + j];
        cr_expect(fabs(forwards - backwards) < 1e-10 * (1 + fabs(forwards)), "%.17g, %.17g", forwards, backwards);
    }
    free(x);
    free(u);
    free(y);
    free(back);
    free(of_u);
    end(&f);
}

Test(gradients, a_step_solved_tightly_ends_where_the_derivatives_begin) {
    Fixture f = fixture("bench/scenes/cartpole.yaml");
    SapGradientSteps one = {.h = 0.005, .steps = 1}, two = {.h = 0.005, .steps = 2};
    double *product = numbers(WORLDS * f.rows * f.rows), *second = numbers(WORLDS * f.rows * f.rows);
    cr_assert_eq(sap_batch_linearize(f.batch, &two, product), SAP_OK);
    cr_assert_eq(sap_batch_linearize(f.batch, &one, f.A), SAP_OK);
    cr_assert_eq(sap_batch_step_exactly(f.batch, &one), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_batch_linearize(f.batch, &one, second), SAP_OK);
    for (size_t i = 0; i < f.rows; i++)
        for (size_t j = 0; j < f.rows; j++) {
            double sum = 0;
            for (size_t k = 0; k < f.rows; k++)
                sum += second[i * f.rows + k] * f.A[k * f.rows + j];
            cr_expect(fabs(sum - product[i * f.rows + j]) < 1e-13);
        }
    free(product);
    free(second);
    end(&f);
}

static void expect(Fixture *f, SapGradientSteps steps, SapStatus wanted, const char *text) {
    SapStatus status = sap_batch_linearize(f->batch, &steps, f->A);
    cr_expect_eq(status, wanted, "%s: %s", text, sap_status_string(status));
    cr_expect(strstr(sap_error_message(), text), "'%s' lacks '%s'", sap_error_message(), text);
}

Test(gradients, bad_arguments_are_named_with_their_value) {
    Fixture f = fixture("bench/scenes/cartpole.yaml");
    SapGradientOptions loose = {.tolerance = 0, .max_iterations = 100}, few = {.tolerance = 1, .max_iterations = 0};
    SapGradientOptions sharp = {.tolerance = 1, .max_iterations = 1, .kink = -1};
    SapGradientInput unknown = {"joint_ff", f.B}, nameless = {NULL, f.B}, empty = {"joint_f", NULL};
    SapGradientInput refused = {"constraint_X", f.B};
    expect(&f, (SapGradientSteps){.h = 0, .steps = 1}, SAP_ERROR_ARGUMENT, "h is 0");
    expect(&f, (SapGradientSteps){.h = 0.01}, SAP_ERROR_ARGUMENT, "steps is 0");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .options = &loose}, SAP_ERROR_ARGUMENT, "tolerance is 0");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .options = &few}, SAP_ERROR_ARGUMENT, "max_iterations is 0");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .options = &sharp}, SAP_ERROR_ARGUMENT, "kink is -1");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .num_inputs = 99}, SAP_ERROR_ARGUMENT, "num_inputs is 99");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .num_inputs = 1}, SAP_ERROR_ARGUMENT, "inputs is NULL");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .num_inputs = 1, .inputs = &unknown}, SAP_ERROR_ARGUMENT,
           "did you mean 'joint_f'");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .num_inputs = 1, .inputs = &nameless}, SAP_ERROR_ARGUMENT,
           "inputs[0]: name is NULL");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .num_inputs = 1, .inputs = &empty}, SAP_ERROR_ARGUMENT,
           "inputs[0]: data is NULL");
    expect(&f, (SapGradientSteps){.h = 0.01, .steps = 1, .num_inputs = 1, .inputs = &refused}, SAP_ERROR_UNSUPPORTED,
           "input 'constraint_X'");
    cr_expect_eq(sap_batch_vjp(f.batch, NULL, f.A, f.A), SAP_ERROR_ARGUMENT);
    end(&f);
}
