/* The table of capabilities: a row for each, with the rules by which a formulation or a device does not have it. */
#include "host/options/capabilities.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "host/base/fail.h"

/* ---- formulations and devices ---- */

enum { NUM_DEVICES = SAP_DEVICE_CUDA + 1, MOST_RULES = 4 };

static const char *const solver_names[SAP_NUM_CONTACT_SOLVERS + 1] = {
    [SAP_SOLVER_SAP] = "sap",
    [SAP_SOLVER_CONE] = "cone",
    [SAP_SOLVER_PGS] = "pgs",
    [SAP_SOLVER_PGS_ROWS] = "pgs_rows",
    [SAP_SOLVER_ACTIVE_SET] = "active_set",
    [SAP_SOLVER_MUJOCO] = "mujoco",
};
static const char *const device_names[NUM_DEVICES + 1] = {[SAP_DEVICE_CPU] = "cpu", [SAP_DEVICE_CUDA] = "cuda"};

const char *const *sap_contact_solver_names(void) {
    return solver_names;
}

const char *const *sap_device_names(void) {
    return device_names;
}

/* Sets of formulations and of devices, as bits. */
enum {
    SAP = 1 << SAP_SOLVER_SAP,
    CONE = 1 << SAP_SOLVER_CONE,
    PGS = 1 << SAP_SOLVER_PGS,
    PGS_ROWS = 1 << SAP_SOLVER_PGS_ROWS,
    ACTIVE_SET = 1 << SAP_SOLVER_ACTIVE_SET,
    MUJOCO = 1 << SAP_SOLVER_MUJOCO,
    IMPULSES = CONE | PGS | PGS_ROWS | ACTIVE_SET,
    ALL = SAP | IMPULSES | MUJOCO,
    CPU = 1 << SAP_DEVICE_CPU,
    GPU = 1 << SAP_DEVICE_CUDA,
    BOTH = CPU | GPU
};

/* ---- the table ---- */

/* The answer of some formulations on some devices. */
typedef struct Rule {
    unsigned solvers, devices;
    SapSupport support;
    const char *reason;
} Rule;

/* The first rule that holds answers; without one the answer is yes. */
typedef struct Row {
    const char *name, *group, *what;
    Rule rule[MOST_RULES];
} Row;

#define NO(solvers, devices, reason)                                                                                   \
    { solvers, devices, SAP_SUPPORT_NO, reason }
#define NONE(solvers, devices, reason)                                                                                 \
    { solvers, devices, SAP_SUPPORT_NOT_APPLICABLE, reason }
#define ROW(row, name, what, ...) [SAP_CAN_##row] = {name, GROUP, what, {__VA_ARGS__}}
#define NOT_READ                  "the option is not read"
#define NOT_IMPLEMENTED           "not implemented"
#define ONLY_MUJOCO               "only MuJoCo's law has it"
#define NO_INTEGRATOR             "the integrator is position_integration"
#define NO_SOLVER_ON_GPU          "a SapSolver runs on the cpu only, a SapBatch on both"
#define NO_GRADIENTS              "there are no analytic derivatives"
#define IS_A_GPU_OPTION           "an option of the device cuda"

static const Row rows[SAP_CAN_NUM_ROWS] = {
#define GROUP "Options"
    ROW(CONTACT_SOLVE_FP32, "contact_solve_fp32", "the contact solve in single precision",
        NONE(IMPULSES, BOTH, "the solve is in f64, whatever contact_solve_precision is")),
    ROW(FREE_MOTION_FP32, "free_motion_fp32", "kinematics and free motion in single precision", {0}),
    ROW(MIDPOINT, "midpoint", "position_integration = midpoint",
        NONE(MUJOCO, BOTH, "the model's MuJoCo parameters choose the integrator")),
    ROW(GYROSCOPIC_IMPLICIT, "gyroscopic_implicit", "gyroscopic = implicit",
        NONE(MUJOCO, BOTH, "the integrator implicitfast has it")),
    ROW(VELOCITY_FORCES_MEAN, "velocity_forces_mean", "velocity_forces = mean",
        NO(MUJOCO, BOTH, "MuJoCo evaluates forces of the velocity once per stage")),
    ROW(MAX_JOINT_SPEED, "max_joint_speed", "a world that is too fast fails before its numbers overflow", {0}),
    ROW(LINE_SEARCH, "line_search", "a choice of line searches",
        NONE(IMPULSES, BOTH, "the methods in impulses have no line search"),
        NONE(MUJOCO, BOTH, "the line search is MuJoCo's")),
    ROW(APPROXIMATION, "contact_approximation", "contact_approximation = similar and lagged",
        NO(IMPULSES, BOTH, "the methods in impulses have the law sap"),
        NO(MUJOCO, BOTH, "it is a choice of laws for SAP's contacts")),
    ROW(FACTOR_DENSE, "factor_dense", "factor_plan = dense",
        NONE(IMPULSES, BOTH, "there is no Newton matrix of the dofs")),
    ROW(FACTOR_LIBRARY, "factor_library", "factor_plan = library",
        NO(IMPULSES, BOTH, "a library is for Newton's method, and the methods in impulses are others"),
        NO(MUJOCO, BOTH, NOT_IMPLEMENTED),
        NO(ALL, CPU, "a library needs device cuda; allowed on a cpu: sparse, dense, auto")),
    ROW(COMPAT_SAP_WARP, "compat_sap_warp", "compat = sap_warp",
        NO(MUJOCO, BOTH, "SAP Warp does not have MuJoCo's law")),
    ROW(FRICTION_COULOMB, "friction_coulomb", "friction_law = coulomb", NONE(SAP, BOTH, NOT_READ),
        NO(PGS_ROWS | ACTIVE_SET | MUJOCO, BOTH, "only cone and pgs have Coulomb's law")),
    ROW(PGS_OMEGA, "pgs_omega", "over-relaxation", NONE(SAP | CONE | ACTIVE_SET | MUJOCO, BOTH, NOT_READ)),
    ROW(COMPLIANCE_MATERIAL, "compliance_material", "contact_compliance = material",
        NONE(SAP | MUJOCO, BOTH, NOT_READ)),
    ROW(COMPLIANCE_SAP, "compliance_sap", "contact_compliance = sap", NONE(SAP | MUJOCO, BOTH, NOT_READ)),
    ROW(RESTITUTION, "restitution", "impacts return a part of the velocity", NONE(SAP | MUJOCO, BOTH, NOT_READ)),
    ROW(WARM_START, "warm_start", "the solve starts from the forces of the last step", NONE(SAP, BOTH, NOT_READ),
        NONE(MUJOCO, BOTH, "every solve starts from the accelerations of the last step")),
    ROW(SLEEP, "sleep", "worlds at rest take no steps (sleep_steps)", NO(MUJOCO, BOTH, NOT_IMPLEMENTED),
        NO(ALL, GPU, NOT_IMPLEMENTED ": worlds sleep on the cpu only")),
    ROW(SLEEP_TREES, "sleep_trees", "islands at rest take no steps while others move",
        NO(MUJOCO, BOTH, NOT_IMPLEMENTED), NO(ALL, GPU, NOT_IMPLEMENTED ": worlds sleep on the cpu only")),
    ROW(LANES, "lanes", "1, 4 or 8 worlds per SIMD pack, where isa has them",
        NONE(ALL, GPU, "an option of the device cpu")),
    ROW(LANES_16, "lanes_16", "16 worlds per SIMD pack, with isa avx512",
        NO(IMPULSES, CPU, "16 lanes are for contact_solver sap and mujoco"),
        NONE(ALL, GPU, "an option of the device cpu")),
    ROW(THREAD_PER_WORLD, "thread_per_world", "one thread of a GPU steps a world (team_size = 1)",
        NONE(ALL, CPU, IS_A_GPU_OPTION),
        NO(IMPULSES | MUJOCO, GPU, "a team per world: only the solver sap has kernels with a thread per world")),
    ROW(SPECIALIZE, "specialize", "kernels compiled for the batch", NONE(ALL, CPU, IS_A_GPU_OPTION),
        NONE(IMPULSES | MUJOCO, GPU, "only steps of the solver sap can be made for a batch")),
#undef GROUP
#define GROUP "Integrators of MuJoCo's law"
    ROW(INTEGRATOR_EULER, "integrator_euler", "Euler", NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR)),
    ROW(INTEGRATOR_RK4, "integrator_rk4", "RK4", NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR)),
    ROW(INTEGRATOR_IMPLICITFAST, "integrator_implicitfast", "implicitfast", NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR)),
    ROW(INTEGRATOR_DISCRETE, "integrator_discrete", "discrete", NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR)),
#undef GROUP
#define GROUP "Models"
    ROW(CONSTRAINT_BALL, "constraint_ball", "ball constraints", {0}),
    ROW(CONSTRAINT_WELD, "constraint_weld", "welds", {0}),
    ROW(CONSTRAINT_COUPLER, "constraint_coupler", "couplers of joints and tendons", {0}),
    ROW(CONSTRAINT_DISTANCE, "constraint_distance", "distance constraints", NO(MUJOCO, BOTH, "MuJoCo has none")),
    ROW(CONSTRAINT_ONE_SIDED, "constraint_one_sided", "constraints with one side", NO(MUJOCO, BOTH, "MuJoCo has none")),
    ROW(DRIVE, "drive", "drives of joints", {0}),
    ROW(DRIVE_BALL, "drive_ball", "drives of ball and free joints",
        NO(MUJOCO, BOTH, "a servo acts on a dof that has a coordinate")),
    ROW(FRICTION, "friction", "friction of contacts", NONE(ACTIVE_SET, BOTH, "contacts have no friction")),
    ROW(SPIN_FRICTION, "spin_friction", "friction of contacts against spinning and rolling (condim 4, 6)",
        NONE(SAP | IMPULSES, BOTH, ONLY_MUJOCO)),
    ROW(TENDON_JOINTS, "tendons_over_joints", "tendons over joints", {0}),
    ROW(TENDON_PATH, "tendons_through_points", "tendons through points and over pulleys",
        NO(MUJOCO, BOTH, NOT_IMPLEMENTED)),
    ROW(TENDON_LIMIT, "tendons_with_limit", "limits of tendons", {0}),
    ROW(TENDON_FRICTION, "tendons_with_friction", "friction of tendons", {0}),
    ROW(TENDON_ARMATURE, "tendons_with_armature", "armature of tendons", NO(MUJOCO, BOTH, NOT_IMPLEMENTED)),
    ROW(TENDON_SPRING, "tendons_with_spring", "springs of tendons", {0}),
    ROW(TENDON_SPRING_DISCRETE, "tendons_with_spring_discrete", "springs of tendons with the integrator discrete",
        NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR), NO(MUJOCO, BOTH, NOT_IMPLEMENTED)),
    ROW(TENDON_DAMPING, "tendons_with_damping", "damping of tendons", {0}),
    ROW(TENDON_DAMPING_DISCRETE, "tendons_with_damping_discrete", "damping of tendons with the integrator discrete",
        NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR), NO(MUJOCO, BOTH, NOT_IMPLEMENTED)),
    ROW(TENDON_DAMPING_IMPLICITFAST, "tendons_with_damping_implicitfast",
        "damping of tendons with the integrator implicitfast", NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR),
        NO(MUJOCO, BOTH, NOT_IMPLEMENTED)),
    ROW(TENDON_DRIVE, "tendons_with_drive", "drives of tendons", {0}),
    ROW(TENDON_DRIVE_DISCRETE, "tendons_with_drive_discrete", "drives of tendons with the integrator discrete",
        NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR), NO(MUJOCO, BOTH, NOT_IMPLEMENTED)),
    ROW(TENDON_DRIVE_KD_IMPLICITFAST, "tendons_with_drive_kd_implicitfast",
        "drives of tendons with kd and the integrator implicitfast", NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR),
        NO(MUJOCO, BOTH, NOT_IMPLEMENTED)),
    ROW(ACTUATORS, "actuators", "general actuators of MuJoCo", NO(SAP | IMPULSES, BOTH, ONLY_MUJOCO)),
    ROW(ACTUATOR_COUPLED_DISCRETE, "actuator_coupled_discrete",
        "an actuator on several dofs whose force depends on them, with the integrator discrete",
        NONE(SAP | IMPULSES, BOTH, ONLY_MUJOCO),
        NO(MUJOCO, BOTH, "the matrix of a discrete step has the pattern of the tree; use Euler, RK4 or implicitfast")),
#undef GROUP
#define GROUP "Batches"
    ROW(RESET, "reset", "resets of worlds to keyframes", {0}),
    ROW(CONTACTS_OF_CALLER, "contacts_of_caller", "steps with contacts of the caller (sap_batch_step_contacts)", {0}),
    ROW(CONTACTS_OF_CALLER_GUARD, "contacts_of_caller_with_guard", "contacts of the caller, with a guard",
        NO(ALL, BOTH, NOT_IMPLEMENTED ": a guard does not keep contacts of the caller")),
    ROW(CONTACTS_OF_CALLER_SLEEP, "contacts_of_caller_with_sleep", "contacts of the caller, in worlds that may sleep",
        NONE(MUJOCO, BOTH, "worlds do not sleep"), NONE(ALL, GPU, "worlds do not sleep"),
        NO(ALL, BOTH, "worlds that may sleep find their contacts themselves")),
    ROW(CONTACTS_OF_CALLER_RK4, "contacts_of_caller_with_rk4", "the same with the integrator RK4",
        NONE(SAP | IMPULSES, BOTH, NO_INTEGRATOR),
        NO(MUJOCO, BOTH, "the integrator is RK4, which finds the contacts of each stage: use sap_batch_step")),
    ROW(GUARD, "guard", "the inputs of the last calls are kept, dumped to a file and replayed (sap_batch_guard)", {0}),
    ROW(GUARD_WARM_START, "guard_with_warm_start", "the same with warm_start", NONE(SAP | MUJOCO, BOTH, NOT_READ),
        NO(ALL, BOTH, NOT_IMPLEMENTED ": with warm_start a step depends on earlier ones, which a dump does not keep")),
    ROW(GUARD_SLEEP, "guard_with_sleep", "a guard, in worlds that may sleep", NONE(MUJOCO, BOTH, "worlds do not sleep"),
        NONE(ALL, GPU, "worlds do not sleep"),
        NO(ALL, BOTH, NOT_IMPLEMENTED ": with sleep_steps a step depends on earlier ones, which a dump does not keep")),
    ROW(ASSEMBLE, "assemble", "coordinates are moved onto the constraints (sap_batch_assemble)", {0}),
    ROW(ATTACH, "attach", "a weld holds the present pose (sap_batch_attach)", {0}),
    ROW(PARAMETERS_LIBRARY, "parameters_with_library", "parameters of worlds with factor_plan = library",
        NONE(IMPULSES | MUJOCO, BOTH, "there is no library"), NONE(ALL, CPU, "there is no library"),
        NO(ALL, GPU, NOT_IMPLEMENTED ": worlds share the parameters of the model; use sparse or dense")),
    ROW(RAYCAST, "raycast", "rays of the caller (sap_batch_raycast)", {0}),
    ROW(SET_SENSORS, "set_sensors", "sites, contact sensors and ray sensors (sap_batch_set_sensors)", {0}),
    ROW(SET_STREAM, "set_stream", "a stream of the caller (sap_batch_set_stream)",
        NO(ALL, CPU, "the batch is on the CPU, which has no streams")),
    ROW(HOST_STRUCTS, "host_structs", "arrays as structs in host memory (sap_batch_state, _control, _contacts)",
        NO(ALL, GPU,
           "the batch is on a GPU; sap_batch_array gives its arrays, sap_batch_read and sap_batch_write copy them")),
    ROW(GRADIENTS, "gradients", "analytic derivatives of a step (sap_batch_linearize, _vjp, _jvp)",
        NO(IMPULSES, BOTH, NOT_IMPLEMENTED ": linearize has differences"),
        NO(MUJOCO, BOTH, NOT_IMPLEMENTED ": linearize has differences"),
        NO(ALL, GPU, NOT_IMPLEMENTED ": derivatives are computed on the cpu only")),
    ROW(GRADIENTS_ALL_PARAMETERS, "gradients_of_all_parameters",
        "the same with respect to frames, polynomials and references of constraints, parameters of tendons, "
        "dissipation of shapes, and grids",
        NONE(IMPULSES | MUJOCO, BOTH, NO_GRADIENTS), NONE(ALL, GPU, NO_GRADIENTS), NO(ALL, BOTH, NOT_IMPLEMENTED)),
    ROW(GRADIENTS_SLEEP, "gradients_with_sleep", "the same in worlds that may sleep",
        NONE(IMPULSES | MUJOCO, BOTH, NO_GRADIENTS), NONE(ALL, GPU, NO_GRADIENTS),
        NO(ALL, BOTH, NOT_IMPLEMENTED ": with sleep_steps a step depends on earlier ones")),
    ROW(GRADIENTS_MEAN, "gradients_with_mean_velocity_forces", "the same with velocity_forces = mean",
        NONE(IMPULSES | MUJOCO, BOTH, NO_GRADIENTS), NONE(ALL, GPU, NO_GRADIENTS),
        NO(ALL, BOTH, NOT_IMPLEMENTED ": with velocity_forces = mean")),
    ROW(GRADIENTS_COMPAT, "gradients_with_compat", "the same with compat = sap_warp",
        NONE(IMPULSES | MUJOCO, BOTH, NO_GRADIENTS), NONE(ALL, GPU, NO_GRADIENTS),
        NO(ALL, BOTH, NOT_IMPLEMENTED ": with compat = sap_warp")),
    ROW(GRADIENTS_APPROXIMATION, "gradients_with_contact_approximation",
        "the same with contact_approximation = similar and lagged", NONE(IMPULSES | MUJOCO, BOTH, NO_GRADIENTS),
        NONE(ALL, GPU, NO_GRADIENTS), NO(ALL, BOTH, NOT_IMPLEMENTED ": the contact law must be sap")),
#undef GROUP
#define GROUP "Solvers without a batch"
    ROW(SOLVER, "solver", "a SapSolver", NO(ALL, GPU, NO_SOLVER_ON_GPU)),
    ROW(SOLVER_OF_BATCH, "solver_of_batch", "the SapSolver of a batch (sap_batch_solver)",
        NO(ALL, GPU, "the batch is on a GPU, where there is no SapSolver")),
    ROW(RECORD_PAIR, "record_pair", "mu, stiffness and dissipation time of contacts (SapContactReport.pair)",
        NONE(ALL, GPU, NO_SOLVER_ON_GPU),
        NO(MUJOCO, CPU,
           "contacts have no pair: no mu, stiffness and dissipation time; sap_solver_record_rows has the parameters of "
           "their rows")),
    ROW(RECORD_CACHE_KEY, "record_cache_key", "the contact cache (SapContactReport.cache_key)",
        NONE(ALL, GPU, NO_SOLVER_ON_GPU),
        NO(MUJOCO, CPU, "a step starts from the accelerations of the last one, not from contacts")),
    ROW(RECORD_CONSTRAINTS, "record_constraints", "rows of constraints and tendons (sap_solver_record_constraints)",
        NONE(ALL, GPU, NO_SOLVER_ON_GPU)),
    ROW(RECORD_PROBLEM, "record_problem", "the problem in impulses (sap_solver_record_problem)",
        NONE(ALL, GPU, NO_SOLVER_ON_GPU), NO(SAP | MUJOCO, CPU, "there is no problem in impulses")),
    ROW(RECORD_ROWS, "record_rows", "the rows of MuJoCo's law (sap_solver_record_rows)",
        NONE(ALL, GPU, NO_SOLVER_ON_GPU), NO(SAP | IMPULSES, CPU, "only MuJoCo's law has these rows")),
#undef GROUP
#define GROUP "Python"
    ROW(GET_STATE, "get_state", "saved states that continue bit for bit (get_state, set_state)", {0}),
    ROW(LINEARIZE, "linearize", "derivatives of a step (linearize)", {0}),
    ROW(DECOMPOSE, "decompose", "meshes of an MJCF file divided into convex parts",
        NO(MUJOCO, BOTH, "decompose divides geoms; with law='mujoco' every geom must be one shape")),
    ROW(NUMPY, "numpy", "arrays that are numpy's, without a copy",
        NO(ALL, GPU, "an array of a GPU cannot be one of numpy without a copy")),
    ROW(CONTACTS_ON_GPU, "contacts_in_gpu_memory", "contacts of the caller in GPU memory",
        NO(ALL, CPU, "the contacts are in GPU memory, and the worlds are on the CPU; a batch runs on both")),
#undef GROUP
#define GROUP "Parameters of worlds"
    ROW(PARAMETER, NULL, "", {0}),
    ROW(PARAMETER_SAP, NULL, "",
        NO(MUJOCO, BOTH, "MuJoCo's law does not read it: its rows and servos have the parameters mujoco_...")),
    ROW(PARAMETER_TENDON_ARMATURE, NULL, "", NO(MUJOCO, BOTH, NOT_IMPLEMENTED ": tendons have no armature")),
    ROW(PARAMETER_MUJOCO, NULL, "", NO(SAP | IMPULSES, BOTH, ONLY_MUJOCO)),
#undef GROUP
#define GROUP "Arrays"
    ROW(ARRAY, NULL, "", {0}),
    ROW(ARRAY_CONTACT_CACHE, NULL, "",
        NO(MUJOCO, BOTH, "steps start from the accelerations of the last step (dof_cache) and not from its contacts")),
    ROW(ARRAY_JOINT_CONSTRAINT_FORCE, NULL, "",
        NO(IMPULSES, BOTH,
           "velocities come from impulses without the sum over the constraints of a dof; use sap or mujoco")),
    ROW(ARRAY_TREES, NULL, "", NO(MUJOCO, BOTH, "worlds do not sleep"), NO(ALL, GPU, "worlds do not sleep")),
    ROW(ARRAY_ROWS, NULL, "",
        NO(SAP | IMPULSES, BOTH,
           "only MuJoCo's law has these rows; contact_, constraint_, joint_ and tendon_ arrays have the forces of "
           "every solver")),
    ROW(ARRAY_ACTUATORS, NULL, "", NONE(SAP | IMPULSES, BOTH, "there are no actuators: the array is empty")),
#undef GROUP
#define GROUP "Sensors"
    ROW(SENSOR, NULL, "", {0}),
#undef GROUP
};

/* ---- answers ---- */

/* The rule that answers; NULL: yes. */
static const Rule *find_rule(SapCan row, SapContactSolver solver, SapDevice device) {
    for (const Rule *r = rows[row].rule; r < rows[row].rule + MOST_RULES; r++)
        if (r->solvers >> solver & 1 && r->devices >> device & 1)
            return r;
    return NULL;
}

SapCapability sap_can(SapCan row, SapContactSolver solver, SapDevice device) {
    const Rule *rule = find_rule(row, solver, device);
    return (SapCapability){.name = rows[row].name,
                           .group = rows[row].group,
                           .what = rows[row].what,
                           .support = rule ? rule->support : SAP_SUPPORT_YES,
                           .reason = rule ? rule->reason : ""};
}

const char *sap_refusal(SapCan row, SapContactSolver solver, SapDevice device) {
    const Rule *rule = find_rule(row, solver, device);
    return rule && rule->support == SAP_SUPPORT_NO ? rule->reason : NULL;
}

SapStatus sap_require(SapCan row, SapContactSolver solver, SapDevice device, const char *format, ...) {
    enum { SIZE = 512 };
    char request[SIZE];
    const Rule *rule = find_rule(row, solver, device);
    va_list arguments;
    if (!rule || rule->support != SAP_SUPPORT_NO)
        return SAP_OK;
    va_start(arguments, format);
    vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    /* Name what another choice would change. */
    bool by_solver = rule->solvers != ALL, by_device = rule->devices != BOTH;
    return sap_fail(SAP_ERROR_UNSUPPORTED, "%s%s%s%s%s%s: %s", request, by_solver || by_device ? ": not" : "",
                    by_solver ? " with contact_solver " : "", by_solver ? solver_names[solver] : "",
                    by_device ? " on device " : "", by_device ? device_names[device] : "", rule->reason);
}

/* What the contact laws `similar` and `lagged` are not combined with. */
static SapStatus require_law(const SapOptions *o) {
    const char *other = o->compat == SAP_COMPAT_SAP_WARP       ? "compat sap_warp: SAP Warp has the law sap only"
                        : o->factor_plan == SAP_FACTOR_LIBRARY ? "factor_plan library: " NOT_IMPLEMENTED
                                                               : NULL;
    if (o->contact_approximation == SAP_APPROXIMATION_SAP || !other)
        return SAP_OK;
    return sap_fail(SAP_ERROR_UNSUPPORTED, "option contact_approximation is %s: not with %s",
                    o->contact_approximation == SAP_APPROXIMATION_LAGGED ? "lagged" : "similar", other);
}

SapStatus sap_require_options(const SapOptions *o) {
    const struct {
        bool set;
        SapCan row;
        const char *option;
    } checks[] = {
        {o->factor_plan == SAP_FACTOR_LIBRARY, SAP_CAN_FACTOR_LIBRARY, "factor_plan is library"},
        {o->compat == SAP_COMPAT_SAP_WARP, SAP_CAN_COMPAT_SAP_WARP, "compat is sap_warp"},
        {o->velocity_forces == SAP_VELOCITY_MEAN, SAP_CAN_VELOCITY_FORCES_MEAN, "velocity_forces is mean"},
        {o->friction_law == SAP_FRICTION_COULOMB, SAP_CAN_FRICTION_COULOMB, "friction_law is coulomb"},
        {o->contact_approximation == SAP_APPROXIMATION_SIMILAR, SAP_CAN_APPROXIMATION,
         "contact_approximation is similar"},
        {o->contact_approximation == SAP_APPROXIMATION_LAGGED, SAP_CAN_APPROXIMATION,
         "contact_approximation is lagged"},
        {o->sleep_steps > 0, SAP_CAN_SLEEP, "sleep_steps is above 0"},
        {o->team_size == 1, SAP_CAN_THREAD_PER_WORLD, "team_size is 1"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].set)
            SAP_REQUIRE(o, checks[i].row, "option %s", checks[i].option);
    return require_law(o);
}
