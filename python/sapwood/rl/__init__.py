"""Environments in the forms of learners: sapwood.rl.sb3.VecEnv and sapwood.rl.rsl_rl.VecEnv; for loops of your own in
torch, sapwood.rl.tensors.Tensors.

skrl and TorchRL read a gymnasium VectorEnv with autoreset_mode SAME_STEP as it is:

skrl.envs.wrappers.torch.wrap_env(env, wrapper="gymnasium")
torchrl.envs.GymWrapper(env)
"""
