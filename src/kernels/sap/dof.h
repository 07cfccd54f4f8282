/* Potentials of the velocity v of one dof: PD drive, limits, Coulomb friction. docs/joint_law.md. Each is a row (row.h)
 * whose Jacobian is a unit vector:
 *
 *   drive      vhat = a/g, R = 1/(h g), |gamma| <= h e;      g = h kp + kd, a = kp (q_d - q0) + kd v_d + u
 *   limit      lower: vhat = -gap/(h + kd/ke), gamma >= 0;   upper: vhat = gap/(h + kd/ke), gamma <= 0
 *   friction   vhat = 0, R = sigma w, |gamma| <= h F
 *
 * A drive or limit that is too stiff for the step is softened to the near-rigid bound R >= (0.1/(2 pi))^2 w,
 * w = 1/A_ii. */

/* The numbers of the rows that their kind does not imply. inv_R = 0: the row does not act. In scratch a dof that can
 * have friction only has only its numbers. */
typedef struct JointLaw {
    real friction_inv_R, friction_bound;                /* bound: h F */
    real drive_vhat, drive_inv_R, drive_R, drive_bound; /* bound: h e, may be infinite */
    real lower_vhat, lower_inv_R;
    real upper_vhat, upper_inv_R;
} JointLaw;
static_assert(sizeof(JointLaw) == SAP_DOF_LAW_SIZE * sizeof(real), "data/layouts.h has another size for dofs");

KERNEL_FN JointLaw joint_law_none(void) {
    real zero = real_of(0);
    JointLaw none = {zero, zero, zero, zero, zero, zero, zero, zero, zero, zero};
    return none;
}

/* Kinds of terms. A kind that acts in no world of the pack is not evaluated; it would add 0. */
enum { JOINT_DRIVE = 1, JOINT_LIMIT = 2, JOINT_FRICTION = 4, JOINT_ALL = 7 };
/* Beside the kinds that are evaluated: the cost of the drive is 0 at its target, as in SAP Warp, and not at rest. */
enum { JOINT_COST_AT_TARGET = 8 };

/* ---- the rows ---- */

/* The rows of a dof. */
enum { JOINT_ROW_DRIVE, JOINT_ROW_LOWER, JOINT_ROW_UPPER, JOINT_ROW_FRICTION, JOINT_ROWS };

/* Row `row` of the dof. Limits need no R: their only finite bound is 0. */
KERNEL_FN RowLaw joint_row(const JointLaw *t, int row) {
    real zero = real_of(0), inf = real_infinity();
    if (row == JOINT_ROW_DRIVE) {
        RowLaw drive = {t->drive_vhat, t->drive_inv_R, t->drive_R, -t->drive_bound, t->drive_bound};
        return drive;
    }
    if (row == JOINT_ROW_LOWER) {
        RowLaw lower = {t->lower_vhat, t->lower_inv_R, zero, zero, inf};
        return lower;
    }
    if (row == JOINT_ROW_UPPER) {
        RowLaw upper = {t->upper_vhat, t->upper_inv_R, zero, -inf, zero};
        return upper;
    }
    real inv_R = t->friction_inv_R, R = K(1.0) / real_select(inv_R > K(0.0), inv_R, real_of(1));
    RowLaw friction = {zero, inv_R, R, -t->friction_bound, t->friction_bound};
    return friction;
}

/* Worlds in which a row of the kinds in `acts` acts. */
KERNEL_FN mask joint_law_active(const JointLaw *t, int acts) {
    mask active = mask_none();
    if (acts & JOINT_DRIVE)
        active = active | (t->drive_inv_R > K(0.0));
    if (acts & JOINT_LIMIT)
        active = active | (t->lower_inv_R > K(0.0)) | (t->upper_inv_R > K(0.0));
    if (acts & JOINT_FRICTION)
        active = active | (t->friction_inv_R > K(0.0));
    return active;
}

/* The kinds that act in some world of the pack. */
KERNEL_FN int joint_law_acts(const JointLaw *t) {
    bool drive = mask_any(t->drive_inv_R > K(0.0)), friction = mask_any(t->friction_inv_R > K(0.0));
    bool limit = mask_any((t->lower_inv_R > K(0.0)) | (t->upper_inv_R > K(0.0)));
    return (drive ? JOINT_DRIVE : 0) | (limit ? JOINT_LIMIT : 0) | (friction ? JOINT_FRICTION : 0);
}

/* ---- values ---- */

KERNEL_FN real joint_row_add(const JointLaw *t, int row, real v, RowValue *sum) {
    RowLaw law = joint_row(t, row);
    return row_law_add(&law, v, sum);
}

KERNEL_FN real joint_drive_add(const JointLaw *t, int acts, real v, RowValue *sum) {
    RowLaw law = joint_row(t, JOINT_ROW_DRIVE);
    return acts & JOINT_COST_AT_TARGET ? row_law_add(&law, v, sum) : row_law_add_from_rest(&law, v, sum);
}

/* Evaluates the kinds of terms in `acts` at v. */
KERNEL_FN JointTerms joint_law_evaluate(const JointLaw *t, int acts, real v) {
    JointTerms out;
    RowValue sum = row_value_none();
    out.drive = out.limit = out.friction = real_of(0);
    if (acts & JOINT_DRIVE)
        out.drive = joint_drive_add(t, acts, v, &sum);
    if (acts & JOINT_LIMIT) {
        real lower = joint_row_add(t, JOINT_ROW_LOWER, v, &sum);
        out.limit = lower + joint_row_add(t, JOINT_ROW_UPPER, v, &sum);
    }
    if (acts & JOINT_FRICTION)
        out.friction = joint_row_add(t, JOINT_ROW_FRICTION, v, &sum);
    out.cost = sum.cost;
    out.hessian = sum.G;
    return out;
}

KERNEL_FN mask joint_row_keeps(const JointLaw *t, int row, real v, real u) {
    RowLaw law = joint_row(t, row);
    return row_law_keeps(&law, v, u);
}

/* Worlds in which every row of the kinds in `acts` keeps its region between the velocities v and u. */
KERNEL_FN mask joint_law_keeps(const JointLaw *t, int acts, real v, real u) {
    mask same = mask_all();
    if (acts & JOINT_DRIVE)
        same = same & joint_row_keeps(t, JOINT_ROW_DRIVE, v, u);
    if (acts & JOINT_LIMIT)
        same = same & joint_row_keeps(t, JOINT_ROW_LOWER, v, u) & joint_row_keeps(t, JOINT_ROW_UPPER, v, u);
    if (acts & JOINT_FRICTION)
        same = same & joint_row_keeps(t, JOINT_ROW_FRICTION, v, u);
    return same;
}
