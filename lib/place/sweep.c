/* sweep.c - see sweep.h */
#include "place/sweep.h"
#include "base/message.h"
#include "place/placing.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOO_SMALL = 3 };                                  /* what a child ends with whose limit is */
struct child { pid_t pid; int from; };

static _Noreturn void plan_one(const struct graph *g, const struct profile *profile, const struct effort *effort,
                               struct sweep_cell *c, int to)
{
    limit_status = TOO_SMALL;
    struct plan *p = make_plan(g, profile, c->form, c->limit, effort);
    c->planned = true;
    c->objective = p->objective;
    c->bound = p->bound;
    c->limit = p->limit;
    for (int i = 0; i < p->nmove; i++) c->moved += g->tensor[p->move[i].tensor].bytes;
    _exit(write(to, c, sizeof *c) == (ssize_t)sizeof *c ? 0 : 1);
}

static struct child start(const struct graph *g, const struct profile *profile, const struct effort *effort,
                          struct sweep_cell *c)
{
    int ends[2];
    if (pipe(ends)) die_errno("pipe");
    struct child k = { fork(), ends[0] };
    if (k.pid < 0) die_errno("fork");
    if (k.pid == 0) {
        close(ends[0]);
        plan_one(g, profile, effort, c, ends[1]);
    }
    close(ends[1]);
    return k;
}

static void finish(struct child *k, struct sweep_cell *c)
{
    struct sweep_cell got;
    size_t n = 0;
    for (ssize_t more; n < sizeof got; n += (size_t)more) {
        more = read(k->from, (char *)&got + n, sizeof got - n);
        if (more < 0 && errno == EINTR) more = 0;
        else if (more <= 0) break;
    }
    close(k->from);
    int status = 0;
    while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) die("planning below %llu bytes ended by signal %d", (unsigned long long)c->limit,
                                 WTERMSIG(status));
    if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != TOO_SMALL)
        die("planning below %llu bytes failed", (unsigned long long)c->limit);
    if (n == sizeof got && status == 0) *c = got;
}

void sweep_run(const struct graph *g, const struct profile *profile, const struct effort *effort, struct sweep_cell *c,
               int n, int jobs)
{
    struct child *k = xcalloc((size_t)n + 1, sizeof *k);
    int started = 0;
    for (int i = 0; i < n; i++) {
        for (; started < n && started < i + jobs; started++) k[started] = start(g, profile, effort, &c[started]);
        finish(&k[i], &c[i]);
    }
    free(k);
}
