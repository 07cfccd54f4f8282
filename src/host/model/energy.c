#include "host/model/energy.h"

static void cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Rotates v by the unit quaternion q = (u, w), or by its inverse: v + w t + u x t, t = 2 u x v. */
static void rotate(const double *q, double direction, const double *v, double *out) {
    double u[3] = {direction * q[0], direction * q[1], direction * q[2]}, t[3], ut[3];
    cross(u, v, t);
    for (int i = 0; i < 3; i++)
        t[i] *= 2;
    cross(u, t, ut);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + ut[i];
}

void sap_energy(const SapModelArrays *m, const double *pose, const double *velocity, double *energy) {
    energy[0] = energy[1] = 0;
    for (int b = 0; b < m->num_bodies; b++, pose += 7, velocity += 6) {
        double r[3], x_C[3], v_C[3], w_B[3], I_w[3];
        const double *I = m->body_inertia + 9 * b;
        rotate(pose + 3, 1, m->body_com + 3 * b, r);
        cross(velocity, r, v_C);
        for (int i = 0; i < 3; i++) {
            x_C[i] = pose[i] + r[i];
            v_C[i] += velocity[3 + i];
        }
        rotate(pose + 3, -1, velocity, w_B); /* omega in body axes, the axes of the inertia */
        for (int i = 0; i < 3; i++)
            I_w[i] = dot(I + 3 * i, w_B);
        energy[0] += 0.5 * (m->body_mass[b] * dot(v_C, v_C) + dot(w_B, I_w));
        energy[1] -= (1 - m->body_gravcomp[b]) * m->body_mass[b] * dot(m->gravity, x_C);
    }
}
