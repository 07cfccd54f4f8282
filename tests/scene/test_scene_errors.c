/* Scene files that are refused: each message names the file, the line, the value and what is allowed. */
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/scene_text.h"

Test(scene, refuses_unknown_keys_and_lists_the_known_ones) {
    EXPECT_FAILURES({HEAD "bodys: []\n", "scene.yaml:2: ", {"'bodys' (did you mean 'bodies'?)", "allowed: ", "bodies"}},
                    {HEAD "simulation: {dt: 1,\n  step: 2}\n", "scene.yaml:3: ", {"'step'", "num_worlds"}},
                    {HEAD "builder:\n  defaults:\n    shape: {nu: 1}\n", "scene.yaml:4: ", {"'nu'", "relaxation_time"}},
                    {HEAD "builder: {defaults: {joint: {damp: 1}}}\n", "scene.yaml:2: ", {"'damp'", "damping"}},
                    {HEAD "bodies:\n- id: a\n  weight: 2\n", "scene.yaml:4: ", {"'weight'", "mass"}},
                    {HEAD "bodies:\n- {id: a, shapes: [{type: box, hx: 1, hy: 1, hz: 1,\n  radius: 2}]}\n",
                     "scene.yaml:4: ",
                     {"'radius'", "hx, hy, hz"}},
                    {HEAD BALL "joints: [{id: j, type: fixed, parent: world, child: ball, axis: x}]\n",
                     "scene.yaml:3: ",
                     {"'axis'", "parent_xform"}},
                    {HEAD BALL "joints: [{id: j, type: free, child: ball, limit_ke: 1}]\n",
                     "scene.yaml:3: ",
                     {"'limit_ke'", "armature"}},
                    {HEAD BALL FREE "ground: {height: 1}\n", "scene.yaml:4: ", {"'height'", "enabled"}},
                    {HEAD BALL FREE "replicate: {count: 2}\n", "scene.yaml:4: ", {"'count'", "spacing"}},
                    {HEAD BALL FREE "initial_joint_q: [{joint: j, q: 1}]\n", "scene.yaml:4: ", {"'q'", "offset"}},
                    {HEAD BALL FREE "post_build:\n- {op: set_attr, key: x}\n", "scene.yaml:5: ", {"'key'", "attr"}},
                    {HEAD BALL FREE "simulation: {solver: {speed: 1}}\n", "scene.yaml:4: ", {"speed", "rho"}},
                    {HEAD BALL FREE "simulation: {solver: {speed: null}}\n", "scene.yaml:4: ", {"speed"}},
                    {HEAD BALL FREE "<<: {a: 1}\n", "scene.yaml:4: ", {"'<<'"}}, );
}

/* The weights that MuJoCo's law needs of one free body. */
#define WEIGHTS "body_invweight: [1, 2], dof_invweight: [1, 1, 1, 2, 2, 2]"

Test(scene, refuses_parameters_of_mujocos_law_by_their_names) {
    EXPECT_FAILURES(
        {HEAD BALL FREE "mujoco: {" WEIGHTS ", stiffnes: [1]}\n", "scene.yaml:4: ", {"'stiffnes'"}},
        {HEAD BALL FREE "mujoco: {" WEIGHTS ",\n cone: round}\n",
         "scene.yaml:5: cone: ",
         {"'round'", "pyramidal, elliptic"}},
        {HEAD BALL FREE "mujoco: {" WEIGHTS ", integrator: Verlet}\n",
         "scene.yaml:4: integrator: ",
         {"'Verlet'", "Euler, RK4, implicitfast, discrete"}},
        {HEAD BALL FREE "mujoco: {" WEIGHTS ", dof_limit_margin: [1, 2]}\n",
         "scene.yaml:4: dof_limit_margin: ",
         {"a list of 2", "a list of 6 numbers"}},
        {HEAD BALL FREE "mujoco: {" WEIGHTS ", shape_condim: [3, 2.5]}\n",
         "scene.yaml:4: shape_condim",
         {"'2.5'", "whole number"}},
        {HEAD BALL FREE "mujoco: {" WEIGHTS ", iterations: 1.5}\n", "scene.yaml:4: iterations: ", {"'1.5'"}},
        {HEAD BALL FREE "mujoco: {" WEIGHTS ", dof_limit_margin: [1, 2, x, 4, 5, 6]}\n",
         "scene.yaml:4: dof_limit_margin",
         {"'x'"}},
        {HEAD BALL FREE "mujoco: []\n", "scene.yaml:4: mujoco: ", {"a list", "a map"}}, );
}

Test(scene, refuses_a_wrong_schema_version) {
    EXPECT_FAILURES({"name: x\n", "scene.yaml:1: ", {"'schema_version' is missing"}},
                    {"schema_version: one\n", "scene.yaml:1: schema_version: ", {"'one'"}}, );
    EXPECT_UNSUPPORTED({"name: x\nschema_version: 2\n", "scene.yaml:2: schema_version: 2", {"allowed: 1"}}, );
}

Test(scene, refuses_what_is_not_a_map_or_list) {
    EXPECT_FAILURES({"[1, 2]\n", "scene.yaml:1: ", {"a list", "allowed: a map"}},
                    {"just text\n", "scene.yaml:1: ", {"'just text'"}}, {"", "scene.yaml:1: ", {"empty"}},
                    {HEAD "bodies: {id: a}\n", "scene.yaml:2: bodies: ", {"a map", "allowed: a list"}},
                    {HEAD "bodies: [3]\n", "scene.yaml:2: bodies[0]: ", {"'3'", "a map"}},
                    {HEAD "joints: 3\n", "scene.yaml:2: joints: ", {"'3'", "a list"}},
                    {HEAD "builder: [1]\n", "scene.yaml:2: builder: ", {"a list", "a map"}},
                    {HEAD "simulation: fast\n", "scene.yaml:2: simulation: ", {"'fast'", "a map"}},
                    {HEAD BALL FREE "simulation: {solver: 3}\n", "scene.yaml:4: solver: ", {"'3'", "a map"}},
                    {HEAD BALL FREE "simulation: {solver: {rho: [1]}}\n", "scene.yaml:4: rho: ", {"a list"}},
                    {HEAD BALL FREE "ground: 7\n", "scene.yaml:4: ground: ", {"'7'", "true, false or a map"}},
                    {HEAD "name: [x]\n", "scene.yaml:2: name: ", {"a list", "a text"}}, );
}

Test(scene, refuses_numbers_that_are_none_or_out_of_range) {
    EXPECT_FAILURES(
        {HEAD "simulation:\n  dt: soon\n", "scene.yaml:3: dt: ", {"'soon'", "column 1", "> 0"}},
        {HEAD "simulation:\n  dt: 1 / 0\n", "scene.yaml:3: dt: ", {"'1 / 0'", "column 5", "division by zero"}},
        {HEAD "simulation:\n  dt: -1\n", "scene.yaml:3: dt: ", {"'-1'", "a finite number > 0"}},
        {HEAD "simulation:\n  dt: .inf\n", "scene.yaml:3: dt: ", {"'.inf'", "finite"}},
        {HEAD "simulation:\n  dt: .nan\n", "scene.yaml:3: dt: ", {"'.nan'", "finite"}},
        {HEAD "simulation:\n  dt:\n", "scene.yaml:3: dt: ", {"null"}},
        {HEAD "simulation: {num_worlds: 0}\n", "scene.yaml:2: num_worlds: ", {"'0'", "from 1 to 16777216"}},
        {HEAD "simulation: {num_worlds: 1e30}\n", "scene.yaml:2: num_worlds: ", {"'1e30'"}},
        {HEAD "simulation: {num_worlds: 1.5}\n", "scene.yaml:2: num_worlds: ", {"'1.5'", "whole number"}},
        {HEAD BALL FREE "simulation: {max_contacts: -1}\n", "scene.yaml:4: max_contacts: ", {"65535"}},
        {HEAD BALL FREE "simulation: {solver: {rho: 2}}\n", "scene.yaml:4: rho: ", {"2"}},
        {HEAD BALL FREE "simulation: {solver: {preset: best}}\n", "scene.yaml:4: preset: ", {"best", "approx32"}},
        {HEAD "builder: {rigid_gap: -1}\n", "scene.yaml:2: rigid_gap: ", {"'-1'", ">= 0"}},
        {HEAD "builder: {gravity: [0, 0]}\n", "scene.yaml:2: gravity: ", {"a list of 2", "3 numbers"}},
        {HEAD "builder: {gravity: [0, 0, inf]}\n", "scene.yaml:2: gravity[2]: ", {"'inf'", "finite"}},
        {HEAD "bodies: [{id: a, shapes: [{type: sphere, radius: 0}]}]\n", "scene.yaml:2: radius: ", {"'0'", "> 0"}},
        {HEAD "bodies: [{id: a, mass: -2}]\n", "scene.yaml:2: mass: ", {"'-2'", ">= 0"}},
        {HEAD "bodies: [{id: a, mu: -1}]\n", "scene.yaml:2: mu: ", {"'-1'", ">= 0"}},
        {HEAD "bodies: [{id: a, ke: 0}]\n", "scene.yaml:2: ke: ", {"'0'", "> 0"}},
        {HEAD "bodies: [{id: a, collision_group: 0.5}]\n", "scene.yaml:2: collision_group: ", {"'0.5'", "whole"}},
        {HEAD "bodies: [{id: a, is_site: 1}]\n", "scene.yaml:2: is_site: ", {"'1'", "true or false"}},
        {HEAD BALL FREE "replicate: {spacing: 2}\n", "scene.yaml:4: spacing: ", {"'2'", "3 numbers"}}, );
}

Test(scene, refuses_wrong_poses_and_axes) {
    EXPECT_FAILURES(
        {HEAD "bodies: [{id: a, transform: up}]\n", "scene.yaml:2: transform: ", {"'up'", "identity"}},
        {HEAD "bodies: [{id: a, transform: {p: [0, 0, 0],\n  r: 1}}]\n", "scene.yaml:3: ", {"'r'", "p, q"}},
        {HEAD "bodies: [{id: a, transform: {p: [0, x, 0]}}]\n", "scene.yaml:2: p[1]: ", {"'x'"}},
        {HEAD "bodies: [{id: a, transform: {q: [0, 0, 0, 2]}}]\n", "scene.yaml:2: q: ", {"length 2", "1e-06"}},
        {HEAD "bodies: [{id: a, transform: {q: [0, 0, 0, 0]}}]\n", "scene.yaml:2: q: ", {"length 0"}},
        {HEAD "bodies: [{id: a, transform: {q: [0, 0, 1]}}]\n", "scene.yaml:2: q: ", {"a list of 3", "4 numbers"}},
        {HEAD "bodies: [{id: a, transform: {q: {axis_angle: {axis: x}}}}]\n",
         "scene.yaml:2: axis_angle: ",
         {"'angle' is missing"}},
        {HEAD "bodies: [{id: a, transform: {q: {axis_angle: {axis: [0, 0, 0], angle: 1}}}}]\n",
         "scene.yaml:2: axis: ",
         {"zero vector"}},
        {HEAD "bodies: [{id: a, transform: {}, xform: {}}]\n", "scene.yaml:2: xform: ", {"second time", "'transform'"}},
        {HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball, axis: xy}]\n",
         "scene.yaml:3: axis: ",
         {"'xy'", "x, y, z"}},
        {HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball, axis: -}]\n",
         "scene.yaml:3: axis: ",
         {"x, y, z"}},
        {HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball, axis: w}]\n",
         "scene.yaml:3: axis: ",
         {"'w'", "x, y, z"}},
        {HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball}]\n",
         "scene.yaml:3: joints[0]: ",
         {"'axis' is missing"}}, );
}

Test(scene, refuses_wrong_types_and_names) {
    EXPECT_FAILURES(
        {HEAD "bodies: [{shapes: []}]\n", "scene.yaml:2: bodies[0]: ", {"'id' is missing"}},
        {HEAD "bodies: [{id: world}]\n", "scene.yaml:2: bodies[0]: ", {"'world'"}},
        {HEAD "bodies: [{id: a, shapes: [{radius: 1}]}]\n", "scene.yaml:2: shapes[0]: ", {"'type' is missing"}},
        {HEAD "bodies: [{id: a, shapes: [{type: ball}]}]\n", "scene.yaml:2: type: ", {"'ball'", "sphere"}},
        {HEAD "bodies: [{id: a, shapes: [{type: box, hx: 1, hy: 1}]}]\n",
         "scene.yaml:2: shapes[0]: ",
         {"'hz' is missing"}},
        {HEAD BALL "joints: [{id: j, type: weld, parent: world, child: ball}]\n",
         "scene.yaml:3: type: ",
         {"'weld'", "revolute (hinge)"}},
        {HEAD BALL "joints: [{id: j, type: ball, parent: world, child: moon}]\n",
         "scene.yaml:3: child: ",
         {"'moon'", "id or label of a body"}},
        {HEAD BALL "joints: [{id: j, type: ball, parent: mars, child: ball}]\n", "scene.yaml:3: parent: ", {"'mars'"}},
        {HEAD BALL "joints: [{id: j, type: ball, child: ball}]\n",
         "scene.yaml:3: joints[0]: ",
         {"'parent' is missing"}},
        {HEAD BALL "joints: [{id: j, type: ball, parent: ball, child: ball}]\n", "scene.yaml:3: child: ", {"'ball'"}},
        {HEAD BALL "joints: [{id: j, type: free, parent: world, child: ball, parent_xform: {p: [1, 0, 0]}}]\n",
         "scene.yaml:3: parent_xform: ",
         {"identity"}},
        {HEAD BALL "joints: [{id: j, type: free, parent: world, child: ball, parent_xform: {q: [0, 0, 1, 0]}}]\n",
         "scene.yaml:3: parent_xform: ",
         {"identity"}},
        {HEAD BALL "joints: [{id: j, type: free, parent: world, child: ball, child_xform: {q: [1, 0, 0, 0]}}]\n",
         "scene.yaml:3: child_xform: ",
         {"identity"}},
        {HEAD BALL "joints: [{id: j, type: d6, parent: world, child: ball}]\n",
         "scene.yaml:3: joints[0]: ",
         {"linear_axes"}},
        {HEAD BALL "joints: [{id: j, type: d6, parent: world, child: ball, linear_axes: [x, y, z, x]}]\n",
         "scene.yaml:3: linear_axes: ",
         {"a list of 4", "3 axes"}},
        {HEAD "builder: {defaults: {joint: {axis: x}}}\n" BALL
              "joints: [{id: j, type: d6, parent: world, child: ball, angular_axes: [{armature: 1}]}]\n",
         "scene.yaml:4: angular_axes[0]: ",
         {"'axis' is missing"}},
        {HEAD BALL "joints: [{id: j, type: d6, parent: world, child: ball, angular_axes: [{armature: 1}]}]\n",
         "scene.yaml:3: angular_axes[0]: ",
         {"'axis' is missing"}},
        {HEAD BALL "joints: [{id: j, type: revolute, axis: x, parent: world, child: ball, actuator_mode: fast}]\n",
         "scene.yaml:3: actuator_mode: ",
         {"'fast'", "position (1)"}},
        {HEAD BALL
         "joints: [{id: j, type: revolute, axis: x, parent: world, child: ball, limit_lower: 2, limit_upper: 1}]\n",
         "scene.yaml:3: joints[0]: ",
         {"limit_lower 2", "limit_upper 1"}},
        {HEAD BALL FREE "articulations: [{id: a, joints: [wing]}]\n", "scene.yaml:4: joints[0]: ", {"'wing'"}},
        {HEAD BALL FREE "initial_joint_q: [{joint: wing, value: 1}]\n", "scene.yaml:4: joint: ", {"'wing'"}}, );
}

Test(scene, refuses_names_that_are_taken) {
    EXPECT_FAILURES(
        {HEAD "bodies:\n- {id: a, mass: 1}\n- {id: a, mass: 1}\n", "scene.yaml:4: bodies[1]: ", {"'a'", "bodies[0]"}},
        {HEAD "bodies:\n- {id: a, mass: 1}\n- {id: b, label: a}\n", "scene.yaml:4: bodies[1]: ", {"'a'", "bodies[0]"}},
        {CHAIN "- {id: x, label: turn, type: free, child: c}\n", "scene.yaml:10: joints[3]: ", {"'turn'", "joints[0]"}},
        {HEAD "bodies: [{id: a, mu: 1, shape_mu: 2}]\n", "scene.yaml:2: shape_mu: ", {"second time", "'mu'"}},
        {HEAD "name: a\nname: b\n", "scene.yaml:3: ", {"'name'", "line 2"}},
        {HEAD BALL FREE "simulation: {max_contacts: 1, solver: {max_contacts: 1}}\n",
         "scene.yaml:4: max_contacts: ",
         {"second time"}},
        {HEAD BALL FREE "simulation: {max_contacts: 1, solver: {max_rigid_contact: 1}}\n",
         "scene.yaml:4: max_rigid_contact: ",
         {"second time"}},
        {HEAD BALL FREE "simulation: {max_contacts: 1, max_rigid_contact: 1}\n",
         "scene.yaml:4: max_rigid_contact: ",
         {"second time"}},
        {HEAD BALL FREE "simulation:\n  solver:\n    rho: 0.5\n    RHO: 0.5\n",
         "scene.yaml:7: RHO: ",
         {"second time", "line 6"}},
        {HEAD BALL FREE "simulation:\n  solver:\n    rho: 0.5\n    armijo_rho: 0.5\n",
         "scene.yaml:7: armijo_rho: ",
         {"second time", "line 6"}},
        {HEAD BALL FREE "simulation: {num_worlds: 2}\nreplicate: {num_worlds: 3}\n",
         "scene.yaml:5: num_worlds: ",
         {"3", "line 4", "2"}}, );
}

Test(scene, refuses_broken_trees) {
    EXPECT_FAILURES({HEAD BALL, "scene.yaml:2: bodies[0]: ", {"'ball'", "no joint"}},
                    {HEAD, "scene.yaml:1: ", {"nothing can move"}},
                    {HEAD BALL "joints: [{id: j, type: fixed, parent: world, child: ball}]\n",
                     "scene.yaml:1: ",
                     {"nothing can move"}},
                    {CHAIN "- {id: again, type: free, child: a}\n", "scene.yaml:10: child: ", {"'a'", "joints[0]"}},
                    {HEAD "bodies: [{id: a, mass: 1}, {id: b, mass: 1}]\n"
                          "joints:\n- {id: j, type: ball, parent: b, child: a}\n- {id: k, type: free, child: b}\n",
                     "scene.yaml:4: parent: ",
                     {"'b'", "earlier joint"}},
                    {CHAIN "articulations: [{joints: [push, turn]}, {joints: [fly]}]\n",
                     "scene.yaml:10: joints[0]: ",
                     {"'push'", "expected 'turn'"}},
                    {CHAIN "articulations: [{joints: [turn]}, {joints: [push, fly]}]\n",
                     "scene.yaml:10: articulations[1]: ",
                     {"'push'", "another articulation"}},
                    {CHAIN "articulations: [{joints: [turn, push]}]\n",
                     "scene.yaml:10: articulations: ",
                     {"'fly'", "no articulation"}},
                    {CHAIN "articulations: [{joints: [turn, push, fly, fly]}]\n",
                     "scene.yaml:10: joints[3]: ",
                     {"'fly'", "already"}},
                    {CHAIN "articulations: [{joints: []}]\n", "scene.yaml:10: joints: ", {"without joints"}}, );
}

Test(scene, refuses_bodies_that_cannot_be_moved) {
    EXPECT_FAILURES(
        {HEAD "bodies:\n- id: a\njoints: [{id: j, type: free, child: a}]\n",
         "scene.yaml:3: bodies[0]: ",
         {"'a'", "no mass", "density"}},
        {HEAD "bodies:\n- {id: a, mass: 2}\njoints: [{id: j, type: free, child: a}]\n",
         "scene.yaml:3: bodies[0]: ",
         {"'a'", "mass 2", "inertia"}},
        {HEAD "bodies:\n- {id: a, mass: 2, inertia: [1, 2]}\n", "scene.yaml:3: inertia: ", {"3 moments"}},
        {HEAD "bodies:\n- {id: a, mass: 2, inertia: [1, 2, -1]}\n", "scene.yaml:3: inertia[2]: ", {"'-1'", "> 0"}}, );
}

Test(scene, refused_by_the_model_names_file_and_body) {
    const char *text =
        HEAD "bodies: [{id: lump, mass: 1, inertia: [1, 1, 5]}]\njoints: [{id: j, type: free, child: lump}]\n";
    SapScene *scene;
    cr_expect_eq(sap_scene_parse(text, strlen(text), "scene.yaml", &scene), SAP_ERROR_MODEL);
    cr_expect(strncmp(sap_error_message(), "scene.yaml: ", 12) == 0, "%s", sap_error_message());
    cr_expect_not_null(strstr(sap_error_message(), "lump"), "%s", sap_error_message());
}

Test(scene, refuses_joint_names_that_could_be_two) {
    EXPECT_FAILURES({HEAD "bodies: [{id: a, mass: 1, inertia: [1, 1, 1]}, {id: b, mass: 1, inertia: [1, 1, 1]}]\n"
                          "joints:\n- {id: j, label: left/hip, type: free, child: a}\n"
                          "- {id: k, label: right/hip, type: free, child: b}\n"
                          "initial_joint_q:\n- {joint: hip, value: 1}\n",
                     "scene.yaml:7: joint: ",
                     {"'hip'", "'left/hip'", "'right/hip'"}}, );
}

Test(scene, says_what_this_version_lacks) {
    EXPECT_UNSUPPORTED(
        {HEAD "assets:\n- {id: robot, type: usd, source: robot.usda}\n", "scene.yaml:2: assets: ", {"not supported"}},
        {HEAD "bodies: [{id: a, is_hydroelastic: true}]\n", "scene.yaml:2: is_hydroelastic: ", {"not supported"}},
        {HEAD "bodies: [{id: a, restitution: 0.5}]\n", "scene.yaml:2: restitution: ", {"only 0"}},
        {HEAD "builder: {up_axis: y}\n", "scene.yaml:2: up_axis: ", {"only z"}},
        {HEAD BALL "joints: [{id: j, type: revolute, axis: x, parent: world, child: ball, velocity_limit: 20}]\n",
         "scene.yaml:3: velocity_limit: ",
         {"1e6"}},
        {CHAIN "post_build: [{op: approximate_meshes, method: bounding_box}]\n",
         "scene.yaml:10: op: ",
         {"'approximate_meshes'"}},
        {CHAIN "post_build: [{op: set_array, array: shape_material_kh, value: 1}]\n",
         "scene.yaml:10: array: ",
         {"'shape_material_kh'", "not supported"}}, );
}

Test(scene, accepts_an_empty_list_of_assets) {
    sap_scene_destroy(parse(HEAD BALL FREE "assets: []\n"));
}

Test(scene, quotes_no_control_characters) {
    const char *text = HEAD "\"na\\e[31mme\": \"\\a\"\n";
    SapScene *scene;
    cr_expect_eq(sap_scene_parse(text, strlen(text), "scene.yaml", &scene), SAP_ERROR_PARSE);
    cr_expect(strchr(sap_error_message(), '\033') == NULL && strchr(sap_error_message(), '\a') == NULL);
}
