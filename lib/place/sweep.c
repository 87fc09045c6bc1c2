/* sweep.c - see sweep.h */
#include "place/sweep.h"
#include "base/message.h"
#include "base/out.h"
#include "base/progress.h"
#include "place/placing.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOO_SMALL = 3, SAID = 2048 };                     /* what a child ends with whose limit is */
struct child { pid_t pid; int from, said; };      /* its answer; its stderr */

static _Noreturn void plan_one(const struct graph *g, const struct profile *profile, const struct effort *effort,
                               struct sweep_cell *c, int to)
{
    limit_status = TOO_SMALL;
    struct plan *p = make_plan_offloading(g, profile, c->form, c->limit, effort, c->offloaded);
    c->planned = true;
    c->objective = p->objective;
    c->bound = p->bound;
    c->limit = p->limit;
    c->reached = plan_ratio(p);
    for (int i = 0; i < p->nmove; i++) c->moved += g->tensor[p->move[i].tensor].bytes;
    if (c->text) {
        if (dup2(c->text, STDOUT_FILENO) < 0) die_errno("dup2");
        plan_write(p, "-");
    }
    _exit(write_all(to, c, sizeof *c) ? 0 : 1);
}

static struct child start(const struct graph *g, const struct profile *profile, const struct effort *effort,
                          struct sweep_cell *c)
{
    int ends[2], says[2];
    if (pipe(ends) || pipe(says)) die_errno("pipe");
    struct child k = { fork(), ends[0], says[0] };
    if (k.pid < 0) die_errno("fork");
    if (k.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);                /* nobody waits for a plan any more */
        close(ends[0]);
        close(says[0]);
        if (dup2(says[1], STDERR_FILENO) < 0) die_errno("dup2");
        plan_one(g, profile, effort, c, ends[1]);
    }
    close(ends[1]);
    close(says[1]);
    return k;
}

/* all of it, as far as it fits: what a planning process writes is far less than a pipe holds */
static size_t read_all(int fd, void *to, size_t room)
{
    size_t n = 0;
    for (ssize_t more; n < room; n += (size_t)more) {
        more = read(fd, (char *)to + n, room - n);
        if (more == 0) break;
        if (more < 0 && errno != EINTR) die_errno("what a planning process found");
        if (more < 0) more = 0;
    }
    close(fd);
    return n;
}

/* false: the limit is too small, and `said` why */
static bool ended(struct child *k, struct sweep_cell *c, char *said, size_t room)
{
    struct sweep_cell got;
    size_t n = read_all(k->from, &got, sizeof got), length = read_all(k->said, said, room - 1);
    int status = 0;
    said[length] = '\0';
    while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != TOO_SMALL) fputs(said, stderr);
    if (WIFSIGNALED(status)) die("planning below %llu bytes ended by signal %d", (unsigned long long)c->limit,
                                 WTERMSIG(status));
    if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != TOO_SMALL)
        die("planning below %llu bytes failed", (unsigned long long)c->limit);
    if (n == sizeof got && status == 0) *c = got;
    return status == 0;
}

void sweep_run(const struct graph *g, const struct profile *profile, const struct effort *effort, struct sweep_cell *c,
               int n, int jobs, bool say)
{
    struct child *k = xcalloc((size_t)n + 1, sizeof *k);
    char said[SAID], why[SAID] = "";                     /* of the largest limit that is too small */
    int started = 0, small = 0;
    uint64_t largest = 0;
    progress_start(prog, n);
    for (int i = 0; i < n; i++) {
        progress(i, "plans of %s", g->name);
        for (; started < n && started < i + jobs; started++) k[started] = start(g, profile, effort, &c[started]);
        if (ended(&k[i], &c[i], said, sizeof said)) continue;
        small++;
        if (c[i].limit < largest) continue;
        largest = c[i].limit;
        memcpy(why, said, sizeof why);
    }
    progress_end();
    if (small && say) {
        size_t head = strlen(prog) + 2;                  /* "prog: " is said again */
        const char *text = strlen(why) > head ? why + head : why;
        int length = (int)strcspn(text, "\n");
        warn("%d of %d plans have too little fast memory, the largest of them: %.*s", small, n, length, text);
    }
    free(k);
}

struct plan *sweep_plan(const struct graph *g, const struct profile *profile, const struct effort *effort,
                        enum formulation form, uint64_t limit, double want)
{
    enum { HALVINGS = 10, AROUND = 16 };                 /* then both ways from the limit's own ratio, ever farther */
    static const double NEAR = 0.05, LEAST = 0.02, STEP = 0.06;   /* of the ratio: near enough; the least step */
    struct effort quick = *effort;
    quick.exact = 0;
    struct plan *plan = make_plan(g, profile, form, limit, &quick);
    uint64_t best = limit;
    char file[32];
    double got = plan_ratio(plan), ratio = want, low = 0, high = INFINITY, off = fabs(got / want - 1);
    for (int i = 0; i < HALVINGS + AROUND && off > NEAR; i++) {
        if (got < want) low = ratio;
        else high = ratio;
        double step = fmax(1 + LEAST, isfinite(got) ? fmax(want / got, got / want) : 2);
        bool bracketed = low > 0 && isfinite(high);
        ratio = bracketed ? sqrt(low * high) : got < want ? ratio * step : ratio / step;
        int out = i - HALVINGS;
        if (out >= 0) ratio = want * exp(STEP * (out % 2 ? -1 : 1) * (out / 2 + 1));
        struct sweep_cell c = { .form = form, .limit = (uint64_t)((double)graph_peak(g) / (ratio + 1)),
                                .text = memfd_create("plan", MFD_CLOEXEC) };
        if (c.text < 0) die_errno("a file for a plan");
        struct child k = start(g, profile, &quick, &c);
        char said[SAID];
        got = ended(&k, &c, said, sizeof said) ? c.reached : INFINITY;   /* no plan: too little memory */
        if (fabs(got / want - 1) < off) {
            off = fabs(got / want - 1);
            best = c.limit;
            plan_free(plan);
            snprintf(file, sizeof file, "/proc/self/fd/%d", c.text);
            plan = plan_read(file, g);
        }
        close(c.text);
    }
    if (effort->exact <= 0) return plan;
    plan_free(plan);
    return make_plan(g, profile, form, best, effort);
}
