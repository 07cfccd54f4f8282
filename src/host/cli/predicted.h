/* Predicted world-steps per second under moving targets, written by make roofline-table (tests/ptx/roofline.py);
 * docs/gpu.md has the model. X(scene, preset, worlds, A100, H100, RTX 4090, B200) */
#define CLI_PREDICTED_GPUS "A100", "H100", "RTX 4090", "B200"
#define CLI_PREDICTIONS(X)                                                                                             \
    X("quadruped", "approx32", 4096, 3e+06, 6.3e+06, 4e+06, 6.2e+06)                                                   \
    X("quadruped", "approx32", 65536, 7.2e+06, 1.6e+07, 1e+07, 1.9e+07)                                                \
    X("quadruped", "fast32", 4096, 4.5e+06, 1.2e+07, 5.5e+06, 1.2e+07)                                                 \
    X("quadruped", "fast32", 65536, 9.5e+06, 1.9e+07, 1.5e+07, 2.6e+07)                                                \
    X("quadruped", "drake", 4096, 2e+06, 5.4e+06, 1.7e+06, 5.3e+06)                                                    \
    X("quadruped", "drake", 65536, 4.1e+06, 8.1e+06, 7.4e+06, 1.1e+07)                                                 \
    X("humanoid", "approx32", 4096, 1.4e+06, 4e+06, 2.5e+06, 3.9e+06)                                                  \
    X("humanoid", "approx32", 65536, 3.2e+06, 7.7e+06, 5e+06, 8.7e+06)                                                 \
    X("humanoid", "fast32", 4096, 1.9e+06, 4.1e+06, 2.6e+06, 4e+06)                                                    \
    X("humanoid", "fast32", 65536, 4.1e+06, 9.3e+06, 7.1e+06, 1.1e+07)                                                 \
    X("humanoid", "drake", 4096, 1.1e+06, 2.5e+06, 1.2e+06, 2.4e+06)                                                   \
    X("humanoid", "drake", 65536, 1.1e+06, 2.9e+06, 1.2e+06, 3.2e+06)
