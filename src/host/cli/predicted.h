/* Predicted world-steps per second under moving targets, written by make roofline-table (tests/ptx/roofline.py);
 * docs/gpu.md has the model. X(scene, preset, worlds, A100, H100, RTX 4090, B200) */
#define CLI_PREDICTED_GPUS "A100", "H100", "RTX 4090", "B200"
#define CLI_PREDICTIONS(X)                                                                                             \
    X("quadruped", "approx32", 4096, 4.9e+06, 1.4e+07, 5.9e+06, 1.4e+07)                                               \
    X("quadruped", "approx32", 65536, 8.7e+06, 1.8e+07, 1.3e+07, 2.3e+07)                                              \
    X("quadruped", "fast32", 4096, 5.1e+06, 1.4e+07, 9.1e+06, 1.4e+07)                                                 \
    X("quadruped", "fast32", 65536, 1.1e+07, 2.1e+07, 1.9e+07, 3e+07)                                                  \
    X("quadruped", "drake", 4096, 2.2e+06, 6.2e+06, 4e+06, 6.2e+06)                                                    \
    X("quadruped", "drake", 65536, 4.6e+06, 8.9e+06, 9.4e+06, 1.3e+07)                                                 \
    X("humanoid", "approx32", 4096, 2.2e+06, 4.6e+06, 3e+06, 4.6e+06)                                                  \
    X("humanoid", "approx32", 65536, 3.7e+06, 8.3e+06, 5.8e+06, 9.6e+06)                                               \
    X("humanoid", "fast32", 4096, 3.3e+06, 9.1e+06, 4e+06, 9e+06)                                                      \
    X("humanoid", "fast32", 65536, 4.7e+06, 1e+07, 8.2e+06, 1.2e+07)                                                   \
    X("humanoid", "drake", 4096, 1.5e+06, 4.2e+06, 2.5e+06, 4.1e+06)                                                   \
    X("humanoid", "drake", 65536, 1.9e+06, 4.3e+06, 2.5e+06, 4.9e+06)
