/* lib/prof/calibrate: costs of hooks from pairs of runs. With --pairs it reads a table of them on standard input and
 * writes the calibration, for t/prof-oracle.t. */
#include "prof/calibrate.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *of_pairs(const char *table)
{
    static char text[4096];
    char in[] = "/tmp/pairs.XXXXXX", made[] = "/tmp/calibration.XXXXXX";
    int fd = mkstemp(in), to = mkstemp(made);
    if (fd < 0 || to < 0 || write(fd, table, strlen(table)) != (ssize_t)strlen(table)) exit(1);
    sexpw *w = sexpw_open(made);
    calibration_write(w, csv_open(in), 0);
    sexpw_close(w);
    FILE *f = fopen(made, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    close(fd);
    close(to);
    unlink(in);
    unlink(made);
    return text;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--pairs") == 0) {
        sexpw *w = sexpw_open("-");
        calibration_write(w, csv_open("-"), 0);
        return sexpw_close(w);
    }
    const char *s = of_pairs("hook,calls,uninstrumented_ns,instrumented_ns,inside_ns\nc_wrap,100,1000,1200,50\n"
                             "c_wrap,100,1000,1300,70\nop,10,100,150,0\nop,0,5,9,0\n");
    ok(strstr(s, "(cost (hook c_wrap) (mean_ns 2.5) (std_ns 0.5) (min_ns 2) (inside_ns 0.6) (n 2))"),
       "mean, population deviation, least, inside");
    ok(strstr(s, "(cost (hook op) (mean_ns 5) (std_ns 0) (min_ns 5) (inside_ns 0) (n 1))"),
       "a row without calls says nothing");
    s = of_pairs("hook,calls,instrumented_ns,doubled_ns\nc_wrap,10,1100,1200\n");
    ok(strstr(s, "(cost (hook c_wrap) (mean_ns 10) (std_ns 0) (min_ns 10) (n 1))"),
       "from a run in which every hook ran twice");
    s = of_pairs("hook,calls,uninstrumented_ns,instrumented_ns\nx,50,1000,900\n");
    ok(strstr(s, "(hook x) (mean_ns 0)"), "a negative cost is taken as 0");
    return done();
}
