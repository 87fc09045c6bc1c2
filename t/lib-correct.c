/* what a call of each hook costs, as a calibration says */
#include "prof/correct.h"
#include "tap.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    char path[] = "/tmp/lib-correct-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) return 99;
    fputs("(calibration (cost (hook wrap) (mean_ns 10) (inside_ns 4)) (cost (hook tick) (mean_ns 6))\n", f);
    fputs("  (cost (hook far) (mean_ns 5) (inside_ns 9)))\n", f);
    fclose(f);
    static const char *const hook[] = { "tick", "wrap", "other", "far" };
    struct hook_cost c[4];
    correct_costs(path, hook, 4, c);
    near(c[0].mean, 6, 0, "a hook's mean");
    near(c[0].inside, 3, 0, "half of it is inside where nothing is said");
    near(c[1].inside, 4, 0, "what is said to be inside");
    ok(c[2].mean == 0 && c[2].inside == 0, "a hook that was not calibrated costs nothing");
    near(c[3].inside, 5, 0, "no more than all of it is inside");
    f = fopen(path, "w");
    fputs("(calibration (cost (hook any) (mean_ns 8)) (cost (hook wrap) (mean_ns 10)))\n", f);
    fclose(f);
    correct_costs(path, hook, 4, c);
    ok(c[1].mean == 10 && c[2].mean == 8, "any is every hook that has no cost of its own");
    unlink(path);
    return done();
}
