/* What a formulation of the contact problem provides. docs/solve.md#to-add-a-formulation.
 *
 * A formulation is a folder beside the rooms, such as kernels/sap. Its stages.h lists its headers among the
 * rooms', in order of dependence. The rooms call the functions below and know no formulation; an entry file of target
 * has one. A function that a formulation does not define is a compile error.
 *
 * Constants of a formulation are macros in its choices.h:
 *
 *   CONTACT_ROWS      rows of a contact slot
 *   CONTACT_LAW       the law of contacts, if it has several (Constraint.law)
 *   HAS_DOF_TERMS     whether dofs have terms; else the loops over them vanish
 *   LINES_HAVE_COST   whether a line search reads costs of model constraints
 *   IDLE_BLOCKS_MOVE  whether model constraints that do not act have a velocity too, for reports
 *   IS_FIRST_STAGE    whether this is the first or only Runge-Kutta stage of a step
 *   IS_LAST_STAGE     whether it is the last: its solve is the one that is reported
 *   NORMS_ARE_READ    whether a report has the norms of this solve
 *   ADVANCES_WITH_V   whether coordinates advance with the velocity at the end of the step
 *   REPORTS_ROWS      whether a report of constraints has the rows of contacts too
 *
 * All functions run in every thread of the team. Those with an index c, i, l or b are called by the thread that owns
 * it; a result of type mask or real has a value per world of the pack. */

typedef struct BlockFrames BlockFrames;
typedef struct Constraint Constraint;
typedef struct Curvature Curvature;
typedef struct DofTerms DofTerms;
typedef struct JointTerms JointTerms;
typedef struct ProblemChecks ProblemChecks;
typedef struct RowValue RowValue;
typedef struct SolveResult SolveResult;
typedef struct TendonForces TendonForces;

/* ---- motion ---- */

/* Takes state and control from scratch, where formulation_remember left them in the first stage of the step; returns
 * true if it did. */
FORMULATION_FN bool formulation_recall(const Context *ctx);
FORMULATION_FN void formulation_remember(const Context *ctx);
/* Replaces the state at the start of the step by this stage's. */
FORMULATION_FN void formulation_set_state(const Context *ctx);
/* Adds forces of the formulation to the joint forces FM(f). */
FORMULATION_FN void formulation_add_forces(const Context *ctx);
/* The damping of dof i that is part of A. */
FORMULATION_FN real formulation_damping(const Context *ctx, int i);
/* A stage after the solve: the velocity FM(v) at the end of the step from the solve's. */
FORMULATION_FN void stage_velocity(const Context *ctx);
/* FM(q1), and FM(v) where it is not the solve's: the state of link l at the end of the step. */
FORMULATION_FN void formulation_advance(const Context *ctx, int l);

/* State of the formulation itself, such as activations of actuators: how many numbers; their report at the start of a
 * step, at the end of the rows of `out`; and their values at its end, in the worlds of `ok`, or at its start in those
 * of `unchanged`. */
FORMULATION_FN int formulation_num_activations(const Context *ctx);
FORMULATION_FN void formulation_measure(const Context *ctx, SapBuffer out, mask mine);
FORMULATION_FN void formulation_store(const Context *ctx, mask ok, mask unchanged);

/* ---- stages that set up the terms ---- */

/* Geometry (SLOT_SETUP, J) and weight w of all contact slots; of all model constraints (g, J and check; w). */
FORMULATION_FN void stage_contact_geometry(const Context *ctx);
FORMULATION_FN void stage_contact_weight(const Context *ctx);
FORMULATION_FN void stage_constraint_geometry(const Context *ctx);
FORMULATION_FN void stage_constraint_weight(const Context *ctx);

/* ---- contacts: constraint c, whose numbers constraint_at finds (contact/columns.h) ---- */

/* Makes the law data of contact c from geometry, weight and material. Its velocity is 0 until it is set. */
FORMULATION_FN void constraint_make(const Context *ctx, int c);
/* v_c = J v; v_c += a J d; J d. The first two in the worlds of `which`. */
FORMULATION_FN void constraint_set_velocity(const Constraint *k, const real *v, mask which);
FORMULATION_FN void constraint_move(const Constraint *k, real a, mask which);
FORMULATION_FN void constraint_line_start(const Constraint *k, const real *d);
/* Impulse gamma, cost and curvature G at v_c. */
FORMULATION_FN void constraint_evaluate(const Constraint *k);
/* k->line at v + a d: the change of cost from v, and as many of gamma.(J d) and (J d)'G (J d) as `derivatives` says. */
FORMULATION_FN void constraint_line(const Constraint *k, real a, int derivatives);
/* (J' gamma) of one column. */
FORMULATION_FN real constraint_Jt_mul(const Constraint *k, int column);
/* What H needs of contact c, in the precision of this stage, and J' G J of one column and those before it, added to the
 * row H of that column. */
FORMULATION_FN Curvature curvature_at(const Context *ctx, int c);
FORMULATION_FN void curvature_add(const Curvature *k, int column, const SapPattern *pattern, bool is_tree, real *H);
/* Sums that a formulation may have a faster way for: impulse += J' gamma of all contacts; H, complete, on the pattern
 * of the tree. They return whether they did it. */
FORMULATION_FN bool constraints_add_impulse(const Context *ctx, real *impulse);
FORMULATION_FN bool constraints_hessian_on_tree(const Context *ctx, real *H);

/* ---- model constraints: blocks of rows (contact/blocks.h) ---- */

/* Makes the laws of the rows of b, and whether they act. */
FORMULATION_FN void block_make(const Context *ctx, const SapModelConstraint *b);
/* Cost, impulse and curvature of the row with these laws at velocity v, and at v + a d. */
FORMULATION_FN RowValue block_row_at(const SapModelConstraint *b, const real *laws, real v);
FORMULATION_FN RowValue block_row_ahead(const SapModelConstraint *b, const real *laws, real v, real a, real d);

/* ---- dofs ---- */

/* Makes the terms of dof i, DOF_ACTS(i) and SOLVE(dof_check)[i]. */
FORMULATION_FN void dof_terms_make(const Context *ctx, int i);
/* Worlds in which a term of dof i acts. */
FORMULATION_FN mask dof_terms_active(const Context *ctx, int i);
/* All terms of dofs, for loops; terms of dof i at velocity v; and the worlds in which they are one parabola between
 * v and u. */
FORMULATION_FN DofTerms dof_terms(const Context *ctx);
FORMULATION_FN JointTerms dof_terms_at(const DofTerms *terms, int i, real v);
FORMULATION_FN mask dof_terms_keep(const DofTerms *terms, int i, real v, real u);

/* ---- solve ---- */

/* Solves the problem of the worlds of is->constrained: in, what problem_begin left in scratch; out, SOLVE(v), all terms
 * at v, and the result. `which`: worlds of the pack that this solve is for. */
FORMULATION_FN void formulation_solve(const Context *ctx, const ProblemChecks *is, mask which, SolveResult *result);
/* After the solve, in the worlds of `which`; FM(v) has its velocity. */
FORMULATION_FN void formulation_finish(const Context *ctx, mask which);

/* ---- reports, at the velocity that the solve returns ---- */

/* The region of contact c (SapContactRegion). */
FORMULATION_FN real report_region(const Context *ctx, int c);
/* The normal impulse at the start of the step, N s, and the width of the ramp of friction, m/s, of contact c; false: the
 * law has neither. */
FORMULATION_FN bool report_slip(const Context *ctx, int c, real *impulse, real *width);
/* Point, frame and distance of contact c in the worlds of the result: those where it is within its gap and so does not
 * act. */
FORMULATION_FN mask report_gap(const Context *ctx, int c, real position[3], real frame[9], real *gap);
/* Impulses of drive, limits and friction of dof i. */
FORMULATION_FN JointTerms report_joint_terms(const Context *ctx, int i);
/* The row of b that is row r of its constraint, and J v of a row of b. */
FORMULATION_FN int report_block_row(const SapModelConstraint *b, int r);
FORMULATION_FN real report_block_velocity(const Context *ctx, const SapModelConstraint *b, int r);
/* The impulse of a weld on the body of `side`, its moment, and where the impulse acts. */
FORMULATION_FN void report_weld(const Context *ctx, const SapModelConstraint *b, const BlockFrames *f, int side,
                                Vec3 *impulse, Vec3 *moment, Vec3 *at);
/* The force of a tendon and its parts. */
FORMULATION_FN TendonForces report_tendon_forces(const Context *ctx, const SapModelConstraint *b);
/* Reports of the formulation itself, in the worlds of `which`. */
FORMULATION_FN void formulation_report(const Context *ctx, mask which);
