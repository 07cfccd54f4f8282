/* Predicted world-steps per second under moving targets, written by make roofline-table (lab/ptx/roofline.py);
 * docs/gpu.md has the model. X(scene, preset, worlds, A100, H100, RTX 4090, B200) */
#define CLI_PREDICTED_GPUS "A100", "H100", "RTX 4090", "B200"
#define CLI_PREDICTIONS(X)                                                                                             \
    X("quadruped", "approx32", 4096, 4.5e+06, 1.3e+07, 5.4e+06, 1.3e+07)                                               \
    X("quadruped", "approx32", 65536, 8.6e+06, 1.7e+07, 1.1e+07, 2.3e+07)                                              \
    X("quadruped", "fast32", 4096, 4.8e+06, 1.3e+07, 8.5e+06, 1.3e+07)                                                 \
    X("quadruped", "fast32", 65536, 1.1e+07, 2.1e+07, 1.7e+07, 3.1e+07)                                                \
    X("quadruped", "drake", 4096, 1.9e+06, 5.4e+06, 3.4e+06, 5.3e+06)                                                  \
    X("quadruped", "drake", 65536, 4.8e+06, 9.3e+06, 8.6e+06, 1.3e+07)                                                 \
    X("humanoid", "approx32", 4096, 1.8e+06, 3.8e+06, 2.4e+06, 3.8e+06)                                                \
    X("humanoid", "approx32", 65536, 3.2e+06, 7.4e+06, 4.4e+06, 8.3e+06)                                               \
    X("humanoid", "fast32", 4096, 2.7e+06, 7.5e+06, 3.3e+06, 7.4e+06)                                                  \
    X("humanoid", "fast32", 65536, 4.1e+06, 8.9e+06, 6.1e+06, 1e+07)                                                   \
    X("humanoid", "drake", 4096, 1.1e+06, 3e+06, 1.8e+06, 3e+06)                                                       \
    X("humanoid", "drake", 65536, 1.4e+06, 3.1e+06, 1.8e+06, 3.5e+06)
