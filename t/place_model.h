/* place_model.h - for tests: a profile of every placement of every kernel by a machine model, and of copies. */
#include "place/cost.h"
#include "place/profile.h"
#include "table/csvio.h"
#include <stdio.h>
#include <unistd.h>

/* fetch, write_out: bytes a second; copies of `least` bytes and of four times as many, up to `most` */
static struct profile *model_profile(const struct graph *g, const char *machine, double fetch, double write_out,
                                     uint64_t least, uint64_t most)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/place-model-%ld.csv", (long)getpid());
    csvw *w = csvw_open(path);
    csvw_names(w, PROFILE_COLUMNS);
    csvw_end(w);
    for (int k = 0; k < g->nkernel; k++) {
        uint32_t slow = 0;
        do {
            char in[64], out[64];
            profile_tiers(g, k, slow, in, out);
            profile_row(w, g, k, in, out, slow ? 1 : 0, slow ? 8192 : 0,
                        machine_time(machine_find(machine), g, g->kernel[k].node, slow), 0, "model", "simulated");
            csvw_end(w);
            slow = (slow - g->kernel[k].movable) & g->kernel[k].movable;
        } while (slow);
    }
    for (uint64_t bytes = least; bytes <= most; bytes *= 4)
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            profile_move_row(w, bytes, to_fast, (double)bytes / (to_fast ? fetch : write_out), 0, "model", "simulated");
            csvw_end(w);
        }
    csvw_close(w);
    struct profile *p = profile_read(path);
    unlink(path);
    return p;
}
