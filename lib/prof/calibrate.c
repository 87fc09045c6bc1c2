/* calibrate.c - see calibrate.h */
#include "prof/calibrate.h"
#include "base/message.h"
#include "prof/import/logfiles.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct cost { double n, mean, square, least, inside; };  /* square: sum of squared deviations (Welford) */

static void write_cost(sexpw *w, str hook, const struct cost *c, bool inside, double max_spread)
{
    double std = c->n ? sqrt(c->square / c->n) : 0;
    if (c->mean < 0) warn("hook %s: the cost came out as %g ns, taken as 0", hook.s, c->mean);
    else if (max_spread > 0 && std > max_spread * c->mean)
        die("hook %s: repeats differ by %.3g %% of the mean, more than %g %%", hook.s, 100 * std / c->mean,
            100 * max_spread);
    sexpw_line(w);
    sexpw_begin(w, "cost");
    sexpw_pair_str(w, "hook", hook);
    sexpw_pair(w, "mean_ns", fmax(0, c->mean));
    sexpw_pair(w, "std_ns", std);
    sexpw_pair(w, "min_ns", c->n ? fmax(0, c->least) : 0);
    if (inside) sexpw_pair(w, "inside_ns", fmax(0, c->inside));
    sexpw_pair(w, "n", c->n);
    sexpw_end(w);
}

void calibration_write(sexpw *w, csv *t, double max_spread)
{
    struct intern hooks = { 0 };
    struct cost *cost = NULL;
    size_t cap = 0;
    int hook = csv_need(t, "hook"), calls = csv_need(t, "calls"), on = csv_need(t, "instrumented_ns");
    int twice = csv_find(t, "doubled_ns"), off = twice < 0 ? csv_need(t, "uninstrumented_ns") : -1;
    int inside = csv_find(t, "inside_ns");
    while (csv_next(t)) {
        size_t known = hooks.n;
        uint32_t h = intern(&hooks, csv_str(t, hook));
        if (hooks.n > known) {
            cost = grow(cost, hooks.n, &cap, sizeof *cost);
            cost[h] = (struct cost){ .least = INFINITY };
        }
        double n = csv_num(t, calls);
        if (n < 0) csv_die(t, calls, "a number of calls");
        if (n == 0) continue;
        double v = (off < 0 ? csv_num(t, twice) - csv_num(t, on) : csv_num(t, on) - csv_num(t, off)) / n;
        struct cost *c = &cost[h];
        double d = v - c->mean;
        c->n++;
        c->mean += d / c->n;
        c->square += d * (v - c->mean);
        c->least = fmin(c->least, v);
        c->inside += (csv_num_or(t, inside, 0) / n - c->inside) / c->n;
    }
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    sexpw_begin(w, "calibration");
    sexpw_pair_str(w, "host", str_of(host));
    for (size_t h = 0; h < hooks.n; h++) write_cost(w, hooks.name[h], &cost[h], inside >= 0, max_spread);
    sexpw_end(w);
    free(cost);
    intern_free(&hooks);
}

/* ---- pairs from runs of a program */

static void set(const char *name, const char *value)
{
    if (value ? setenv(name, value, 1) != 0 : unsetenv(name) != 0) die_errno("%s", name);
}

/* the exit status; 128 and the signal's number if it was killed */
static int run(char *const command[], bool hooked, bool last)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) die_errno("fork");
    if (child == 0) {
        if (!hooked) {
            set("MILLRACE_PROF_RULES", "");
            set("MILLRACE_PROF_TREE", "0");
            set("MILLRACE_PROF_DEFAULTS", "0");
        }
        int null = last ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0) dup2(null, STDOUT_FILENO);
        execvp(command[0], command);
        warn("%s: %s", command[0], strerror(errno));
        _exit(127);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) if (errno != EINTR) die_errno("%s", command[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct log_spent one_run(const char *dir, char *const command[], bool hooked, bool last, int *status)
{
    log_remove(dir);
    *status = run(command, hooked, last);
    if (*status && !last) die("%s: exit status %d while calibrating", command[0], *status);
    struct log_spent s = log_spent(dir);
    if (!s.threads) die("%s: no log in %s; only Python programs can be calibrated", command[0], dir);
    if (s.unclean) die("%s: %zu threads did not end in order, so that nobody knows what they cost", dir, s.unclean);
    return s;
}

int calibrate_program(const char *dir, char *const command[], int rounds)
{
    int status = 0;
    char *pairs = xformat("%s/pairs.csv", dir), *calibration = xformat("%s/calibration.sexp", dir);
    csvw *w = csvw_open(pairs);
    csvw_names(w, "hook,calls,uninstrumented_ns,instrumented_ns");
    csvw_end(w);
    for (int i = 0; i < rounds; i++) {
        struct log_spent off = one_run(dir, command, false, false, &status);
        struct log_spent on = one_run(dir, command, true, i == rounds - 1, &status);
        csvw_cstr(w, "any");
        csvw_int(w, on.begun > off.begun ? (int64_t)(on.begun - off.begun) : 0);
        csvw_int(w, off.cpu_ns);
        csvw_int(w, on.cpu_ns);
        csvw_end(w);
    }
    csvw_close(w);
    sexpw *s = sexpw_open(calibration);
    calibration_write(s, csv_open(pairs), 0);
    sexpw_close(s);
    free(pairs);
    free(calibration);
    return status;
}
