/* gpu_rows.h - what place-gpu writes: a profile, and rows of steps, in the columns of place-profile and place-run */
#ifndef MILLRACE_PLACE_GPU_ROWS_H
#define MILLRACE_PLACE_GPU_ROWS_H
#include "place/gpu.h"

struct gpu_setting {
    int device;
    long steps, warm, runs;
    uint64_t seed;
    bool managed;
    uint64_t limit;                                      /* of managed memory */
    uint64_t workspace;                                  /* algorithms that need more are not taken */
    const char *machine;
};
/* Both return the exit status of csvw_close. */
int gpu_profile(struct gpu *, const struct graph *, const struct gpu_setting *);
int gpu_steps(struct gpu *, const struct graph *, const struct plan *, const struct gpu_setting *, const char *kernels);
#endif
