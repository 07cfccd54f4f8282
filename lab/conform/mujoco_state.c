/* States and forces of MuJoCo's reference files in our conventions, and back. */
#include "lab/conform/mujoco_file.h"

#include <math.h>
#include <string.h>

#include "lab/conform/mujoco_math.h"

/* ---- states ---- */

/* The rotation of a free or ball joint, and from its origin to the centre of mass, world axes. */
static void joint_rotation(const MujocoFile *f, int j, const double *qpos, double R[9], double arm[3]) {
    const double *wxyz = qpos + f->jnt_qposadr[j] + (f->jnt_type[j] == JOINT_FREE ? 3 : 0);
    double q[4], norm = sqrt(wxyz[0] * wxyz[0] + wxyz[1] * wxyz[1] + wxyz[2] * wxyz[2] + wxyz[3] * wxyz[3]);
    quat_of(wxyz, q);
    for (int i = 0; i < 4; i++)
        q[i] /= norm;
    matrix_of(q, R);
    matrix_vector(R, f->body_ipos + 3 * f->jnt_bodyid[j], arm);
}

void mujoco_file_turn(const MujocoFile *f, const double *qpos, double *T) {
    int nv = f->nv;
    memset(T, 0, (size_t)nv * (size_t)nv * sizeof *T);
    for (int j = 0; j < f->njnt; j++) {
        int v = f->jnt_dofadr[j], type = f->jnt_type[j], angular = type == JOINT_FREE ? v + 3 : v;
        double R[9], arm[3];
        if (type >= JOINT_SLIDE) {
            T[v * nv + v] = 1;
            continue;
        }
        joint_rotation(f, j, qpos, R, arm);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                T[(v + i) * nv + angular + k] = R[3 * i + k];
        for (int i = 0; type == JOINT_FREE && i < 3; i++)
            T[(v + 3 + i) * nv + v + i] = 1;
    }
}

void mujoco_file_state(const MujocoFile *f, const double *qpos, const double *v, double *joint_q, double *joint_qd) {
    memcpy(joint_qd, v, (size_t)f->nv * sizeof *v);
    for (int j = 0; j < f->njnt; j++) {
        int q = f->jnt_qposadr[j], at = f->jnt_dofadr[j], type = f->jnt_type[j];
        double R[9], arm[3], swing[3];
        if (type >= JOINT_SLIDE) {
            joint_q[q] = qpos[q] - f->qpos0[q];
            continue;
        }
        quat_of(qpos + q + (type == JOINT_FREE ? 3 : 0), joint_q + q + (type == JOINT_FREE ? 3 : 0));
        if (type == JOINT_BALL)
            continue;
        memcpy(joint_q + q, qpos + q, 3 * sizeof *qpos);
        joint_rotation(f, j, qpos, R, arm);
        cross(v + at, arm, swing);
        for (int i = 0; i < 3; i++) {
            joint_qd[at + i] = v[at + 3 + i] + swing[i];
            joint_qd[at + 3 + i] = v[at + i];
        }
    }
}

void mujoco_file_force(const MujocoFile *f, const double *qpos, const double *force, double *joint_f) {
    memcpy(joint_f, force, (size_t)f->nv * sizeof *force);
    for (int j = 0; j < f->njnt; j++) {
        int at = f->jnt_dofadr[j];
        double R[9], arm[3], moment[3];
        if (f->jnt_type[j] != JOINT_FREE)
            continue;
        joint_rotation(f, j, qpos, R, arm);
        cross(arm, force + at + 3, moment);
        for (int i = 0; i < 3; i++) {
            joint_f[at + i] = force[at + 3 + i];
            joint_f[at + 3 + i] = force[at + i] - moment[i];
        }
    }
}

void mujoco_file_from_state(const MujocoFile *f, const double *joint_q, const double *joint_qd, double *qpos,
                            double *qvel) {
    for (int j = 0; j < f->njnt; j++) {
        int q = f->jnt_qposadr[j], at = f->jnt_dofadr[j], type = f->jnt_type[j], turn = type == JOINT_FREE ? 3 : 0;
        double R[9], arm[3], swing[3];
        if (type >= JOINT_SLIDE) {
            qpos[q] = joint_q[q] + f->qpos0[q];
            qvel[at] = joint_qd[at];
            continue;
        }
        const double *quat = joint_q + q + turn, *omega = joint_qd + at + turn;
        const double wxyz[4] = {quat[3], quat[0], quat[1], quat[2]};
        memcpy(qpos + q, joint_q + q, (size_t)turn * sizeof *qpos);
        memcpy(qpos + q + turn, wxyz, sizeof wxyz);
        joint_rotation(f, j, qpos, R, arm);
        cross(omega, arm, swing);
        for (int i = 0; i < 3; i++) {
            if (type == JOINT_FREE)
                qvel[at + i] = joint_qd[at + i] - swing[i];
            qvel[at + turn + i] = R[i] * omega[0] + R[3 + i] * omega[1] + R[6 + i] * omega[2];
        }
    }
}

/* ---- actuators and tendons ---- */

static double clamp(double x, const double *range, bool limited) {
    return !limited ? x : fmin(fmax(x, range[0]), range[1]);
}

/* Length and velocity of a fixed tendon. */
static void tendon_motion(const MujocoFile *f, int t, const double *qpos, const double *qvel, double *length,
                          double *rate) {
    *length = *rate = 0;
    for (int k = f->tendon_adr[t]; k < f->tendon_adr[t] + f->tendon_num[t]; k++) {
        *length += f->wrap_prm[k] * qpos[f->jnt_qposadr[f->wrap_objid[k]]];
        *rate += f->wrap_prm[k] * qvel[f->jnt_dofadr[f->wrap_objid[k]]];
    }
}

static void tendon_push(const MujocoFile *f, int t, double force, double *out) {
    for (int k = f->tendon_adr[t]; k < f->tendon_adr[t] + f->tendon_num[t]; k++)
        out[f->jnt_dofadr[f->wrap_objid[k]]] += f->wrap_prm[k] * force;
}

void mujoco_file_actuate(const MujocoFile *f, const double *qpos, const double *qvel, const double *ctrl, double *out) {
    memset(out, 0, (size_t)f->nv * sizeof *out);
    for (int u = 0; u < f->nu;
         u++) { /* force = (g0 + g1 l + g2 l') ctrl + b0 + b1 l + b2 l', on a joint with one dof */
        int joint = f->actuator_trnid[2 * u], dof = f->jnt_dofadr[joint];
        const double *g = f->actuator_gainprm + 3 * u, *b = f->actuator_biasprm + 3 * u;
        double gear = f->actuator_gear[6 * u], l = gear * qpos[f->jnt_qposadr[joint]], rate = gear * qvel[dof];
        double input = clamp(ctrl[u], f->actuator_ctrlrange + 2 * u, f->actuator_ctrllimited[u]);
        double gain = g[0] + (f->actuator_gaintype[u] ? g[1] * l + g[2] * rate : 0);
        double bias = f->actuator_biastype[u] ? b[0] + b[1] * l + b[2] * rate : 0;
        out[dof] += gear * clamp(gain * input + bias, f->actuator_forcerange + 2 * u, f->actuator_forcelimited[u]);
    }
    for (int j = 0; j < f->njnt; j++)
        if (f->jnt_actfrclimited[j])
            out[f->jnt_dofadr[j]] = clamp(out[f->jnt_dofadr[j]], f->jnt_actfrcrange + 2 * j, true);
    for (int t = 0; t < f->ntendon; t++) {
        double l, rate;
        tendon_motion(f, t, qpos, qvel, &l, &rate);
        tendon_push(f, t, -f->tendon_damping[t] * rate, out);
    }
}

bool mujoco_file_has_forces(const MujocoFile *f, int model) {
    bool all = mujoco_file_option(f, "density") == 0 && mujoco_file_option(f, "viscosity") == 0, affine = false,
         springs = false, damped = false;
    for (int u = 0; u < f->nu; u++) {
        const double *g = f->actuator_gainprm + 3 * u, *b = f->actuator_biasprm + 3 * u;
        all = all && f->actuator_trntype[u] == 0 && f->actuator_trnid[2 * u] >= 0 &&
              f->actuator_trnid[2 * u] < f->njnt && f->jnt_type[f->actuator_trnid[2 * u]] >= JOINT_SLIDE;
        affine = affine || (f->actuator_gaintype[u] && (g[1] != 0 || g[2] != 0)) ||
                 (f->actuator_biastype[u] && (b[1] != 0 || b[2] != 0));
    }
    for (int t = 0; t < f->ntendon; t++) {
        springs = springs || f->tendon_stiffness[t] != 0;
        damped = damped || f->tendon_damping[t] != 0;
    }
    bool explicit_only = model == MUJOCO_LOOSE || model == MUJOCO_EULER;
    return all && !springs && (explicit_only || (!affine && !damped));
}
