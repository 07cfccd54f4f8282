/* The constants of MuJoCo's law (solve/formulation.h). */
#ifndef SAPWOOD_KERNELS_MUJOCO_CHOICES_H
#define SAPWOOD_KERNELS_MUJOCO_CHOICES_H

#define CONTACT_ROWS     ctx->args->plan.contact_rows
#define CONTACT_LAW      ctx->args->mujoco->elliptic
#define HAS_DOF_TERMS    0
#define LINES_HAVE_COST  (SAP_PRECISION == 64) /* mujoco/line.h */
#define IDLE_BLOCKS_MOVE 0
#define IS_FIRST_STAGE   (ctx->rk_stage == 0)
#define IS_LAST_STAGE    (!ctx->args->plan.rk4 || ctx->rk_stage == 3)
#define NORMS_ARE_READ   (IS_LAST_STAGE && ctx->step == ctx->args->num_steps - 1) /* of the last step of a call */
#define ADVANCES_WITH_V  1
#define REPORTS_ROWS     1

#endif
