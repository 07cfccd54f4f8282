"""Environments in the forms of learners: sapwood.rl.sb3.VecEnv, sapwood.rl.rsl_rl.VecEnv, sapwood.rl.torchrl.Env; for
loops of your own in torch, sapwood.rl.tensors.Tensors.

skrl reads a gymnasium VectorEnv with autoreset_mode SAME_STEP as it is:

skrl.envs.wrappers.torch.wrap_env(env, wrapper="gymnasium")
"""
