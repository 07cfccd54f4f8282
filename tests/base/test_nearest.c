/* Names that misspelt words are nearest to. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/base/nearest.h"

static const char *const names[] = {"threads", "lanes", "isa", "max_iterations", "joint_q", "joint_qd", "device", NULL};

Test(nearest, finds_the_name_with_the_fewest_edits) {
    const struct {
        const char *word, *name;
    } cases[] = {
        {"thread", "threads"},
        {"threda", "threads"},
        {"thraeds", "threads"},
        {"THREADS", "threads"},
        {"max-iteration", "max_iterations"},
        {"joint_", "joint_q"},
        {"jonit_qd", "joint_qd"},
        {"ias", "isa"},
        {"devise", "device"},
        {"threads", "threads"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = sap_nearest_name(cases[i].word, names);
        cr_expect(found != NULL && strcmp(found, cases[i].name) == 0, "'%s' is near '%s', not '%s'", cases[i].word,
                  found != NULL ? found : "nothing", cases[i].name);
    }
}

Test(nearest, finds_nothing_for_a_word_that_is_far_from_all_names) {
    const char *const words[] = {"", "x", "colour", "gravity", "zzzzzzz"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        cr_expect_null(sap_nearest_name(words[i], names), "'%s'", words[i]);
    cr_expect_null(sap_nearest_name(NULL, names));
    cr_expect_null(sap_nearest_name("threads", NULL));
}

Test(nearest, knows_words_that_mean_another_name_than_the_nearest) {
    const char *const devices[] = {"cpu", "cuda", NULL};
    cr_expect_str_eq(sap_nearest_name("gpu", devices), "cuda");
    cr_expect_str_eq(sap_nearest_name("cpx", devices), "cpu");
    cr_expect_str_eq(sap_hint("gpu", "cpu, cuda").text, " (did you mean 'cuda'?)");
}

Test(nearest, takes_words_and_names_of_any_length) {
    char long_word[4096], long_name[200];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    memset(long_name, 'b', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    const char *const some[] = {long_name, "threads", NULL};
    cr_expect_null(sap_nearest_name(long_word, some));
    cr_expect_str_eq(sap_nearest_name("thread", some), "threads");
    for (size_t n = 60; n < 70; n++) {
        char word[80] = "", name[80] = "";
        memset(word, 'c', n);
        memset(name, 'c', n - 1);
        const char *const one[] = {name, NULL};
        const char *found = sap_nearest_name(word, one);
        cr_expect_eq(found != NULL, n < SAP_KEYWORD_SIZE, "%zu characters", n);
    }
}

Test(nearest, reads_the_words_of_a_list) {
    cr_expect_str_eq(sap_hint("positon", "none (0), position (1), velocity (2)").text, " (did you mean 'position'?)");
    cr_expect_str_eq(sap_hint("flase", "true or false").text, " (did you mean 'false'?)");
    cr_expect_str_eq(sap_hint("17", "a whole number from 1 to 9").text, "");
    cr_expect_str_eq(sap_hint("", "a, b").text, "");
}
