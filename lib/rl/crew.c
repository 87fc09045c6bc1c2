#include "rl/crew.h"
#include "base/mem.h"
#include "base/message.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker { pid_t pid; int fd; char *in, *out; };
struct crew { int n; size_t in, out; struct worker w[CREW_MAX]; };

static size_t pages(size_t n)
{
    return (n + 4095) & ~(size_t)4095;
}

/* false when nobody is at the other end */
static bool get(int fd, void *p, size_t n)
{
    ssize_t k;
    do k = recv(fd, p, n, MSG_WAITALL);
    while (k < 0 && errno == EINTR);
    return k == (ssize_t)n;
}

static bool put(int fd, const void *p, size_t n)
{
    ssize_t k;
    do k = send(fd, p, n, MSG_NOSIGNAL);
    while (k < 0 && errno == EINTR);
    return k == (ssize_t)n;
}

_Noreturn static void serve(struct crew *c, int i, int fd, pid_t parent, crew_work *work, void *self)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);                   /* it died before */
    for (int k = 0; k < i; k++) close(c->w[k].fd);
    for (long turn; get(fd, &turn, sizeof turn); ) {
        work(self, i, turn, c->w[i].in, c->w[i].out);
        if (!put(fd, &turn, sizeof turn)) break;
    }
    _exit(0);
}

struct crew *crew_new(int n, size_t in, size_t out, crew_work *work, void *self)
{
    if (n < 1 || n > CREW_MAX) die("crew: %d processes, 1 to %d can be", n, CREW_MAX);
    struct crew *c = xcalloc(1, sizeof *c);
    c->n = n, c->in = pages(in), c->out = pages(out);
    pid_t parent = getpid();
    for (int i = 0; i < n; i++) {
        struct worker *w = &c->w[i];
        int fd[2];
        w->in = mmap(NULL, c->in + c->out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (w->in == MAP_FAILED) die_errno("shared memory of %zu bytes", c->in + c->out);
        w->out = w->in + c->in;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) die_errno("socketpair");
        w->pid = fork();
        if (w->pid < 0) die_errno("fork");
        if (w->pid == 0) {
            close(fd[0]);
            serve(c, i, fd[1], parent, work, self);
        }
        close(fd[1]);
        w->fd = fd[0];
    }
    return c;
}

void *crew_in(struct crew *c, int i)
{
    return c->w[i].in;
}

void *crew_out(struct crew *c, int i)
{
    return c->w[i].out;
}

_Noreturn static void ended(const struct crew *c, int i)
{
    int status = 0;
    waitpid(c->w[i].pid, &status, 0);
    die(WIFSIGNALED(status) ? "worker %d was killed by signal %d" : "worker %d ended with status %d", i,
        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void crew_go(struct crew *c, int i, long turn)
{
    if (!put(c->w[i].fd, &turn, sizeof turn)) ended(c, i);
}

void crew_wait(struct crew *c, int i)
{
    long turn;
    if (!get(c->w[i].fd, &turn, sizeof turn)) ended(c, i);
}

void crew_free(struct crew *c)
{
    if (!c) return;
    for (int i = 0; i < c->n; i++) {
        shutdown(c->w[i].fd, SHUT_RDWR);                 /* reaches it also when others hold a copy of the descriptor */
        close(c->w[i].fd);
        waitpid(c->w[i].pid, NULL, 0);
        munmap(c->w[i].in, c->in + c->out);
    }
    free(c);
}
